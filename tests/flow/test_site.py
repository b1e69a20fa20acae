"""The site is built without warnings, its examples and notebooks run, and a browser reads it."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..docs_pages import ROOT, environment, site_modules

pytestmark = pytest.mark.long
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A page that shows another one in a frame of a phone's width, or wider, light or dark.
PROBE = """<!doctype html><body><script>
const asked = new URLSearchParams(location.search);
localStorage.setItem("theme", asked.get("theme"));
const frame = document.createElement("iframe");
frame.style.cssText = "border:0;height:700px;width:" + asked.get("width") + "px";
frame.onload = () => {
  const page = frame.contentDocument, body = frame.contentWindow.getComputedStyle(page.body);
  document.body.dataset.seen = [
    page.documentElement.scrollWidth, body.backgroundColor, body.color,
    page.querySelectorAll("article img").length,
    [...page.querySelectorAll("article img")].filter(one => !one.naturalWidth).length,
  ].join(";");
};
frame.src = asked.get("page");
document.body.append(frame);
</script></body>"""


@pytest.fixture(scope="module")
def pages() -> Iterator[dict[str, ModuleType]]:
    with site_modules() as modules:
        yield modules


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    pytest.importorskip("furo", reason="needs the extra docs: pip install '.[docs]'")
    pytest.importorskip("myst_parser")
    out = tmp_path_factory.mktemp("site") / "site"
    done = subprocess.run(
        [sys.executable, "pages/build.py", "--out", str(out)],
        cwd=ROOT,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0 and "WARNING" not in done.stdout, done.stdout
    return out


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site and the probe page."""

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""

    def do_GET(self) -> None:
        if not self.path.startswith("/probe.html"):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PROBE.encode())


class Browser:
    """Headless Chromium that can reach only this machine's server."""

    def __init__(self, program: str, port: int, folder: Path) -> None:
        self.program, self.port, self.folder = program, port, folder

    def read(self, path: str) -> str:
        """Returns a page after its scripts have run."""
        command = [
            self.program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={self.folder}",
            "--virtual-time-budget=30000",
            "--dump-dom",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"http://127.0.0.1:{self.port}/{path}",
        ]
        done = subprocess.run(command, text=True, capture_output=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def seen(self, page: str, width: int, theme: str) -> list[str]:
        """Returns (the page's width, its background, its colour, pictures, missing pictures)."""
        text = self.read(f"probe.html?page=/{page}&width={width}&theme={theme}")
        match = re.search(r'data-seen="(.*?)"', text)
        assert match, text[-2000:]
        return match[1].split(";")


@pytest.fixture(scope="module")
def browser(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium with a server of the site. CI installs it, and fails if it is missing."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "there is no Chromium"
        pytest.skip("needs Chromium, to read the site: apt-get install chromium")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Browser(program, server.server_address[1], tmp_path_factory.mktemp("chromium"))
    server.shutdown()
    thread.join()


def test_every_page_is_there(site: Path, pages: dict[str, ModuleType]) -> None:
    for name in pages["build"].written():
        assert (site / f"{name}.html").is_file(), name
    for script in pages["gallery"].SCRIPTS:
        text = (site / "gallery" / f"{script.stem}.html").read_text()
        for ending in ("py", "ipynb"):
            assert re.search(rf'href="[./\w]*_downloads/\w+/{script.stem}.{ending}"', text)
        assert f"{script.stem}.png" in text


def test_every_op_has_its_example_on_the_site(site: Path, pages: dict[str, ModuleType]) -> None:
    reference = "".join(p.read_text() for p in (site.parent / "site-source/reference").glob("*.md"))
    sections = re.split(r"^## ", reference, flags=re.M)[1:]
    of_ops = [text for text in sections if "-> Tensor" in text.partition("```\n")[0]]
    without = [text.partition("\n")[0] for text in of_ops if ">>> " not in text]
    standard = len(pages["reference"].items(pages["reference"].namespaces()["array_api"]))
    assert len(of_ops) > 500
    assert len(without) <= standard, without


@pytest.mark.parametrize(
    "words, page, title",
    [
        ("linspace", "reference/ft-create.html", "linspace"),
        ("glossary", "glossary.html", "Glossary"),
        ("no device for the mapping", "faq.html", "no device for the mapping"),
    ],
)
def test_search_finds_pages(browser: Browser, words: str, page: str, title: str) -> None:
    text = browser.read(f"search.html?q={words.replace(' ', '+')}")
    results = re.search(r'<ul[^>]*class="search".*</ul>', text, re.S)
    assert results, text[-2000:]
    plain = re.sub(r"</?span[^>]*>", "", results[0])  # matches are highlighted
    links = re.findall(r'<a href="([\w./-]+\.html)[^"]*"[^>]*>(.*?)</a>', plain, re.S)
    assert any(link.endswith(page) and title in said for link, said in links[:5]), links[:5]


def test_search_finds_nothing_for_nonsense(browser: Browser) -> None:
    text = browser.read("search.html?q=xqzzwkpl")
    assert "did not match any documents" in text


def brightness(colour: str) -> float:
    """Returns the brightness of "rgb(r, g, b)", from 0 to 255."""
    red, green, blue = (float(x) for x in re.findall(r"[\d.]+", colour)[:3])
    return (red + green + blue) / 3


def test_light_and_dark(browser: Browser) -> None:
    _, light, ink, _, _ = browser.seen("index.html", 1200, "light")
    _, dark, chalk, _, _ = browser.seen("index.html", 1200, "dark")
    assert brightness(light) - brightness(ink) > 150
    assert brightness(chalk) - brightness(dark) > 150


@pytest.mark.parametrize(
    "page",
    ["index", "tutorial", "ops", "settings", "performance-model", "comparison", "gallery/index",
     "reference/nn-functional", "area", "hls"],
)  # fmt: skip
def test_no_horizontal_scrolling_on_a_phone(browser: Browser, page: str) -> None:
    """Wide tables and code scroll separately, and all pictures exist."""
    width, _, _, pictures, lacking = browser.seen(f"{page}.html", 360, "light")
    assert int(width) <= 360
    assert lacking == "0" and (pictures != "0") == (page == "gallery/index")


def scripts() -> list[Path]:
    return sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", [scripts()[-1]], ids=lambda path: path.stem)
def test_notebook_runs(script: Path, pages: dict[str, ModuleType], tmp_path: Path) -> None:
    """Every cell runs, and one of the last two draws the picture, which is also a file.

    The site runs the cells of all scripts, so one notebook is enough here.
    """
    nbformat = pytest.importorskip("nbformat", reason="needs the extra docs")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if "sklearn" in script.read_text():
        pytest.importorskip("sklearn")
    notebook = nbformat.from_dict(pages["gallery"].notebook(script))
    nbformat.validate(notebook)
    env = {**environment(), "IPYTHONDIR": str(tmp_path / "ipython")}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "IPYTHONDIR"):
            patch.setenv(name, env[name])
        client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    assert any("image/png" in out.get("data", {}) for out in outputs)
    picture = tmp_path / f"{script.stem}.png"
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 5000
