"""`make docs`: collects the site's pages, and builds the site by Sphinx without warnings.

python pages/build.py [--out out/site]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]

from navigation import sections  # noqa: E402

# Pages outside docs/, by their names on the site.
ELSEWHERE = {
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "hls": "hls/README.md",
    "tests": "tests/README.md",
}
_FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def written() -> dict[str, Path]:
    """Returns the hand-written pages by their names on the site."""
    docs = ROOT / "docs"
    pages = {str(p.relative_to(docs).with_suffix("")): p for p in sorted(docs.rglob("*.md"))}
    return pages | {name: ROOT / file for name, file in ELSEWHERE.items()}


def linked(name: str, page: Path, source: Path) -> str:
    """Returns a page's text with the site's links. Copies linked files that are not pages, for
    download. Raises FileNotFoundError for a link without a target."""
    places = {path.resolve(): site for site, path in written().items()}
    here = (source / name).parent

    def link(match: re.Match[str]) -> str:
        target, _, anchor = match[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = (page.parent / target).resolve()
        if path in places:
            there = source / f"{places[path]}.md"
        elif ((ROOT / "docs") in path.parents and path.suffix == "") or "gallery" in target:
            there = here / target  # a generated page
        else:
            there = source / "_files" / path.relative_to(ROOT)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, there)
        relative = os.path.relpath(there, here) + (f"#{anchor}" if anchor else "")
        return f"{match[1]}{relative}{match[3]}"

    parts = _FENCED.split(page.read_text())
    return "".join(part if k % 2 else _LINK.sub(link, part) for k, part in enumerate(parts))


def assemble(source: Path) -> list[str]:
    """Writes all pages into a folder. Returns their names."""
    import gallery
    import reference

    shutil.rmtree(source, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    for name in ("own.css", "scorer.js"):
        shutil.copy(HERE / name, source / "_static")
    shutil.copy(HERE / "conf.py", source)
    texts = {name: linked(name, page, source) for name, page in written().items()}
    texts |= reference.pages() | gallery.pages(source)
    inner = [name for name in texts if re.match(r"(reference|gallery)/(?!index)", name)]
    for title, names in sections(texts.keys() - {"index", *inner}).items():
        listed = "\n".join(names)
        texts["index"] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n{listed}\n```\n"
    for name, text in texts.items():
        path = source / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(texts)


def main() -> int:
    """Builds the site. Returns the exit status: 1 if Sphinx warns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/site"), help="where the site goes")
    options = parser.parse_args()
    source = options.out.parent / f"{options.out.name}-source"
    names = assemble(source)
    print(f"{len(names)} pages, in {source}", flush=True)
    shutil.rmtree(options.out, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    words = ["-d", options.out.with_name(f"{options.out.name}-trees"), source, options.out]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    status = subprocess.run([*command, *map(str, words)], env=env).returncode
    if not status:
        print(f"the site: {options.out / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
