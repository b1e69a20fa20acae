"""The site's pages before the build: sections, reference, gallery, questions, citation."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import ftensor as ft

from ..docs_pages import PAGES, ROOT, site_modules


@pytest.fixture(scope="module")
def site() -> Iterator[dict[str, ModuleType]]:
    """The modules that make the site."""
    with site_modules() as modules:
        yield modules


def test_every_page_has_its_section(site: dict[str, ModuleType]) -> None:
    """A page without a section must be added to pages/navigation.py."""
    names = site["build"].written().keys() | {"reference/index", "gallery/index"}
    sections = site["navigation"].sections(names - {"index"})
    assert sections.get(site["navigation"].MORE, []) == []
    assert sorted(name for part in sections.values() for name in part) == sorted(names - {"index"})


def test_missing_and_new_pages_are_accepted(site: dict[str, ModuleType]) -> None:
    sections = site["navigation"].sections(["faq", "tutorial", "new", "adr/0002-b", "adr/0001-a"])
    assert sections["Begin"] == ["tutorial", "faq"] and sections["More"] == ["new"]
    assert sections["Inside"] == ["adr/0001-a", "adr/0002-b"]


def test_every_public_name_is_in_the_reference(site: dict[str, ModuleType]) -> None:
    reference = site["reference"]
    text = reference.pages()
    for path, owner in reference.namespaces().items():
        for name in reference.public(owner):
            value = getattr(owner, name)
            if isinstance(value, ModuleType | reference.Namespace):
                continue
            slug = reference.slug(path)
            there = [t for n, t in text.items() if n.startswith("reference/ft-") or not path]
            there = there if not path else [text[f"reference/{slug}"]]
            head = f"\n## {name}\n".replace("_", "\\_")
            assert any(head in page or f"`{name}`" in page for page in there), (path, name)
    methods = text["reference/tensor"]
    for name in reference.public(ft.Tensor):
        assert f"`{name}`" in methods or re.search(rf"^## {name}\b".replace("_", r"\\_"), methods, re.M)


def test_each_namespace_has_an_example(site: dict[str, ModuleType]) -> None:
    """The reference's index and the gallery show it; spelling/test_examples.py runs it."""
    lines, index = site["namespaces"].LINES, site["reference"].pages()["reference/index"]
    listed = re.findall(r"^\| \[(.+?)\]\(\S+\) \| \d+ \| (.+) \| `(.+)` \|$", index, re.M)
    assert len(listed) > 25
    assert {title: lines[title] for title, _, _ in listed} == {t: (purpose, example) for t, purpose, example in listed}
    assert set(lines) - {"ftensor.torch", "ftensor.dask"} <= {title for title, _, _ in listed}
    for title, line in lines.items():
        assert f"| {title} | {line.purpose} | `{line.example}` |" in site["gallery"].each_namespace()


def test_the_reference_has_signatures_and_dtypes(site: dict[str, ModuleType]) -> None:
    reference = site["reference"]
    item = next(i for i in reference.items(ft) if i.name == "abs")
    text = reference.described(item, "")
    assert text.startswith("## abs\n") and "abs(input, *, out=None) -> Tensor" in text
    assert "`absolute`" in text and "dtypes: integers, floating point, complex" in text
    svd = reference.described(reference.Item("svd", ft.linalg.svd), "linalg")
    assert "by NumPy on the host" in svd
    assert reference.text_of("a * b of `a * b` <c>") == "a \\* b of `a * b` \\<c>"


def test_the_reference_shows_the_examples_of_docstrings(site: dict[str, ModuleType]) -> None:
    reference = site["reference"]
    item = next(i for i in reference.items(ft) if i.name == "add")
    text, (_, example) = reference.described(item, ""), reference.parted(ft.add.__doc__)
    assert ">>> ft.add(x, y)" in example and textwrap.dedent(example).strip() in text
    assert "See also `torch.add`." in text and "Example:" not in text
    methods = reference.tensor_page()
    assert ">>> x.T" in methods and ">>> x.view" in methods


def constants() -> list[str]:
    """Returns the string constants in the modules of messages."""
    trees = [ast.parse(p.read_text()) for p in (ROOT / "ftensor").rglob("errors/*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    lines = [line for p in (ROOT / "ftensor").rglob("errors/*.txt") for line in p.read_text().splitlines()]
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)] + lines


def test_faq_headings_are_messages() -> None:
    """The headings of docs/faq.md quote ftensor's messages."""
    heads = re.findall(r"^## (.*)$", (ROOT / "docs" / "faq.md").read_text(), re.M)
    assert len(heads) > 12 and heads[-1] == "Questions without a message"
    said = constants()
    assert [h for h in heads[:-1] if not any(h in text for text in said)] == []


def test_a_notebook_has_its_script(site: dict[str, ModuleType]) -> None:
    """Cells equal the script's and the gallery's page, and no example is left out."""
    gallery = site["gallery"]
    assert len(gallery.SCRIPTS) >= 6
    for script in gallery.SCRIPTS:
        notebook = gallery.notebook(script)
        code = [c["source"] for c in notebook["cells"] if c["cell_type"] == "code"]
        text = script.read_text()
        assert notebook["cells"][0]["source"].startswith("# ")
        kept = [line for line in "\n".join(code).splitlines() if line.strip()]
        assert all(line in text for line in kept)
        wanted = [x for x in text.splitlines() if x.strip() and not x.startswith("#")]
        assert len(kept) - sum(line.startswith("#") for line in kept) == len(wanted)
        assert f'savefig("{script.stem}.png"' in text
        page = gallery.page(script, "said\n")
        assert f"![{notebook['cells'][0]['source'].splitlines()[0][2:]}]({script.stem}.png)" in page
    others = {p.stem for p in (ROOT / "examples").glob("*.py")} - {"timing", "training"}
    assert others == set(gallery.PROGRAMS)


def test_links_go_to_pages_of_the_site(site: dict[str, ModuleType], tmp_path: Path) -> None:
    page = ROOT / "docs" / "add-a-kernel.md"
    text = site["build"].linked("adr/page", page, tmp_path)
    assert "](../inventory.md)" in text
    contributing = site["build"].linked("contributing", ROOT / "CONTRIBUTING.md", tmp_path)
    assert "](changelog.md)" in contributing and "](tests.md)" in contributing
    lost = tmp_path / "lost.md"
    lost.write_text("[a](nowhere.md)")
    with pytest.raises((FileNotFoundError, ValueError)):
        site["build"].linked("lost", lost, tmp_path)


def test_no_page_installs_from_a_package_index() -> None:
    """ftensor is not in a package index yet; users install it from a checkout."""
    pages = [*PAGES, ROOT / "tests" / "README.md", *(ROOT / "ftensor").rglob("*.py")]
    offending = [p for p in pages if re.search(r"pip install (-\S+ )*[\"']?ftensor", p.read_text())]
    assert offending == []


def test_the_citation_names_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {ft.__version__}\n" in text
    assert "cff-version: 1.2.0" in text and "license: Apache-2.0" in text
