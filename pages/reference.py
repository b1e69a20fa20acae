"""The API reference: a page for each namespace, and for each chapter of `ft` itself."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from namespaces import LINES

import ftensor as ft
from ftensor.ops.bind import Namespace
from ftensor.ops.examples import HEADING
from ftensor.rows.catalogue import ENTRIES, Entry
from ftensor.rows.op import Reduce
from tests.ops_page import dtypes_of, on_host

# The chapters of functions that are generated from tables.
WRITTEN_FOR = {"<ftensor factory>": "create", "<ftensor op>": "nn"}
SETTINGS = "dtypes, devices, settings"
HEAD = """\
# Reference

Every public name, from its docstring, which `help` shows, too. Tests run the examples.
"""
_FORM = re.compile(r"[\w.]+\(.*\)")


@dataclass
class Item:
    """A public name, its value, and the value's other names in the same namespace."""

    name: str
    value: Any
    others: list[str] = field(default_factory=list)

    @property
    def entry(self) -> Entry | None:
        """The op's entry in the catalogue; None if the item is not an op."""
        return BY_CALL.get(inspect.unwrap(self.value)) if callable(self.value) else None


BY_CALL = {inspect.unwrap(e.call): e for e in reversed(ENTRIES.values())}


def namespaces() -> dict[str, Any]:
    """Returns the public namespaces by their path in `ft`; "" is `ft` itself."""
    spaces: dict[str, Any] = {"": ft}
    left = [("", ft)]
    while left:
        path, owner = left.pop()
        for name in public(owner):
            value = getattr(owner, name)
            inner = f"{path}.{name}".lstrip(".")
            if isinstance(value, Namespace | ModuleType) and value not in spaces.values():
                spaces[inner] = value
                left.append((inner, value))
    # These need other libraries. The site has those that are installed.
    more = ("array_api", "distributions", "profiler", *(name for name in ("torch", "dask") if find_spec(name)))
    return spaces | {name: importlib.import_module(f"ftensor.{name}") for name in more}


def public(owner: Any) -> list[str]:
    """Returns the sorted public names of a module or class."""
    names = getattr(owner, "__all__", None) if isinstance(owner, ModuleType) else None
    return sorted(n for n in (names or dir(owner)) if n[0] != "_")


def items(owner: Any) -> list[Item]:
    """Returns a namespace's items. Names of one function are one item, with their `name_` forms."""
    members: dict[int, Item] = {}
    plain: list[Item] = []
    for name in public(owner):
        value = getattr(owner, name)
        if isinstance(value, Namespace | ModuleType):
            continue
        if not callable(value) or isinstance(value, type):
            plain.append(Item(name, value))
            continue
        key = id(inspect.unwrap(value))
        mine = members.get(key)
        if mine is None:
            members[key] = Item(name, value)
        elif mine.entry and mine.entry.name == name:
            members[key] = Item(name, value, [*mine.others, mine.name])
        else:
            mine.others.append(name)
    by_name = {item.name: item for item in members.values()}
    for name in [n for n in by_name if n[-1] == "_" and n[:-1] in by_name]:
        by_name[name[:-1]].others += [name, *by_name.pop(name).others]
    return sorted([*plain, *by_name.values()], key=lambda item: item.name)


def chapter(item: Item) -> str:
    """Returns the chapter of an item of `ft`: the op's folder, or SETTINGS if it is not an op."""
    entry = item.entry
    if entry is None:
        return SETTINGS
    if entry.row is not None:  # its function is generated, and has no file
        return "reduce" if isinstance(entry.row, Reduce) else "pointwise"
    file = file_of(entry.call)
    match = re.search(r"/ops/(\w+)/", file)
    return match[1] if match else WRITTEN_FOR.get(file, SETTINGS)


def file_of(call: Any) -> str:
    """Returns the file of a function, or of the function that the catalogue's check wraps."""
    call = inspect.unwrap(call)
    if call.__code__.co_filename.endswith("/catalogue.py"):
        call = next(c.cell_contents for c in call.__closure__ if callable(c.cell_contents))
    return inspect.unwrap(call).__code__.co_filename


def text_of(doc: str) -> str:
    """Returns a docstring as Markdown, with special characters escaped outside backquotes."""
    parts = re.split(r"(`[^`\n]+`)", doc)
    return "".join(p if k % 2 else re.sub(r"([*<\[\]|$])", r"\\\1", p) for k, p in enumerate(parts))


def block_of(example: str) -> str:
    """Returns a docstring's example as a fenced block; "" if there is none."""
    return f"```python\n{textwrap.dedent(example).strip()}\n```\n" if example else ""


def parted(doc: str) -> tuple[str, str]:
    """Returns (docstring without its example, example)."""
    text, _, example = doc.partition(f"\n\n{HEADING}\n\n")
    return text, example


def forms_and_text(item: Item, called: str) -> tuple[list[str], str]:
    """Returns (signatures of an item, its docstring without them)."""
    doc = inspect.getdoc(item.value) or ""
    head, _, rest = doc.partition("\n\n")
    if head and all(map(_FORM.match, head.split("\n"))):
        return head.split("\n"), rest
    if isinstance(item.value, type) or callable(item.value):
        try:
            signature = str(inspect.signature(item.value)).replace("ftensor.", "")
        except (TypeError, ValueError):
            signature = "(...)"
        return [called.removeprefix("ft.") + signature], doc
    return [], doc if type(item.value).__module__ != "builtins" else ""


def described(item: Item, path: str) -> str:
    """Returns the Markdown section of an item."""
    name = f"{path}.{item.name}".lstrip(".")
    forms, text = forms_and_text(item, f"ft.{name}")
    text, example = parted(text)
    parts = [f"## {item.name.replace('_', chr(92) + '_')}\n"]
    if forms:
        parts.append("```python\n" + "\n".join(forms) + "\n```\n")
    elif not callable(item.value):
        parts.append(f"`ft.{name}` is `{item.value!r}`.\n")
    parts.append(text_of(text) + "\n" if text else "")
    entry, facts = item.entry, []
    if item.others:
        facts.append("also " + ", ".join(f"`{n}`" for n in item.others))
    if entry is not None:
        if entry.method and entry.function and not entry.namespace:
            facts.append("a method of tensors, too")
        if dtypes := dtypes_of(entry):
            facts.append(f"dtypes: {dtypes}")
        if on_host(item.value, set()):
            facts.append("by NumPy on the host, always or in some cases")
    if facts:
        parts.append(f"*{'; '.join(facts)}*\n")
    if callable(item.value):  # other values have the docstring of their class
        parts.append(block_of(example))
    return "\n".join(filter(None, parts))


def tensor_page() -> str:
    """Returns the page of tensor methods and properties, with links to functions of the same name."""
    functions, own = [], []
    doc, example = parted(inspect.getdoc(ft.Tensor) or "")
    for name in public(ft.Tensor):
        value = inspect.getattr_static(ft.Tensor, name)
        call = value.fget if isinstance(value, property) else value
        if callable(getattr(ft, name, None)) and inspect.unwrap(getattr(ft, name)) in BY_CALL:
            functions.append(name)
            continue
        kind = " (property)" if isinstance(value, property) else ""
        forms, text = forms_and_text(Item(name, call), name)
        text, example = parted(inspect.getdoc(value) or "" if kind else text)
        if name[-1] == "_" and name[:-1] in functions:
            functions.append(name)
            continue
        part = [f"## {name.replace('_', chr(92) + '_')}{kind}\n"]
        part += ["```python\n" + "\n".join(forms) + "\n```\n"] if forms and not kind else []
        part += [text_of(text) + "\n"] if text else []
        part.append(block_of(example))
        own.append("\n".join(part))
    listed = ", ".join(f"`{name}`" for name in functions)
    return (
        f"# Tensor\n\n{text_of(doc)}\n\n{block_of(example)}\n"
        f"These are functions of `ft`, too, and take the tensor first: {listed}.\n\n" + "\n".join(own)
    )


def slug(words: str) -> str:
    """Returns a page's name: the words joined by hyphens."""
    return re.sub(r"\W+", "-", words)


def pages() -> dict[str, str]:
    """Returns the reference's pages by their names on the site."""
    texts: dict[str, str] = {}
    index = []
    for path, owner in namespaces().items():
        contents = items(owner)
        if path == "":
            by_chapter: dict[str, list[Item]] = {}
            for item in contents:
                by_chapter.setdefault(chapter(item), []).append(item)
            groups = [(f"ft: {w}", slug(f"ft {w}"), by_chapter[w]) for w in sorted(by_chapter)]
        else:
            groups = [(f"ftensor.{path}", slug(path), contents)] if contents else []
        for title, name, members in groups:
            doc = text_of(inspect.getdoc(owner) or "") if path else ""
            parts = [f"# {title}\n", f"{doc}\n", *(described(item, path) for item in members)]
            texts[f"reference/{name}"] = "\n".join(parts)
            index.append((name, title, len(members)))
    texts["reference/tensor"] = tensor_page()
    index.append(("tensor", "Methods of tensors", len(public(ft.Tensor))))
    rows = "".join(
        f"| [{title}]({name}.md) | {count} | {LINES[title].purpose} | `{LINES[title].example}` |\n"
        for name, title, count in index
    )
    tree = "\n".join(name for name, _, _ in index)
    heads = "| namespace | names | purpose | for example |\n|---|---|---|---|"
    texts["reference/index"] = f"{HEAD}\n{heads}\n{rows}\n```{{toctree}}\n:hidden:\n{tree}\n```\n"
    return texts
