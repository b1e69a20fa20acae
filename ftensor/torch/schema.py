"""Generates `table.txt` from torch's schemas and the catalogue's signatures: `make torch-table`.

A line maps an overload to a call, with the overload's own argument names:

    sum.dim_IntList = sum(self, dim, keepdim, dtype=dtype)
    sum.IntList_out = sum(self, dim, keepdim, dtype=dtype, out=out)
    hardtanh_ <- nn.functional.hardtanh(self, min_val, max_val)
    elu = nn.functional.elu(self, alpha) if scale == 1 and input_scale == 1

`=` returns the result of the call, which writes its `out` itself or is an in-place method. `<-`
copies the result to the tensor that the overload writes. If the condition is false, the overload
falls back to the host. `manual.txt` holds lines written by hand for calls that don't follow from
names; these take precedence. A call "aten.x" is an internal function (`rows.catalogue.ATEN`) with
arguments in aten's order.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..rows.catalogue import ATEN, ENTRIES, Entry
from ..rows.lines import read_lines
from ..rows.spelling import without_numpy_names
from .internals import all_schemas, has_kernel, has_kernel_for

TABLE = Path(__file__).with_name("table.txt")
MANUAL_TABLE = Path(__file__).with_name("manual.txt")
# aten's prefix of the names in each namespace.
PREFIX = {"": "", "special": "special_", "linalg": "linalg_", "fft": "fft_", "nn.functional": ""}
LINE = re.compile(r"(\S+) (=|<-) ([\w.]+)\((.*)\)(?: if (.*))?")
# Arguments that determine the memory of a result, not its values; calls derive them from tensors.
PLACE = {"layout", "device", "pin_memory", "non_blocking", "async"}


@cache
def read_table(path: Path) -> dict[str, str]:
    """Returns the lines of a table by overload."""
    return {line.text.partition(" ")[0]: line.text for line in read_lines(path)}


def qualified(schema: Any) -> str:
    """Returns an overload's name without namespace, such as "add.Tensor"."""
    name: str = schema.name.partition("::")[2]
    return name + f".{schema.overload_name}" * bool(schema.overload_name)


def entry_of(call: str) -> Entry | None:
    """Returns the catalogue entry of a line's call; None for a method."""
    return ATEN[call[5:]] if call.startswith("aten.") else ENTRIES.get(call)


def function_of(call: str) -> Callable[..., Any]:
    """Returns the function or method of a line's call."""
    entry = entry_of(call)
    if entry is not None:
        return without_numpy_names(entry.call)
    return getattr(Tensor, call.removeprefix("Tensor."))


@cache
def catalogue_keys() -> dict[str, str]:
    """Returns the keys of catalogue entries by aten's names for them."""
    ops.load()
    by_name: dict[str, str] = {}
    for key, entry in ENTRIES.items():
        prefix = PREFIX.get(entry.namespace)
        if prefix is None or entry.prop:
            continue
        for name in (*entry.aten, *(prefix + n for n in (entry.name, *entry.aliases))):
            by_name.setdefault(name, key)
    return by_name


def inplace(schema: Any) -> bool:
    """True if an overload writes its first argument and is named as an in-place op ("add_")."""
    first = schema.arguments[0] if schema.arguments else None
    return bool(
        first and first.alias_info and first.alias_info.is_write and not first.is_out and schema.name.endswith("_")
    )


def needs_kernel(schema: Any) -> bool:
    """True if the device should have a kernel of an overload.

    That is the case if `manual.txt` or `ATEN` has it, if torch has a kernel for the CPU and no
    decomposition, or if torch decomposes the op below autograd but a row computes it in one launch.
    Views, overloads without results and overloads with Dimname arguments are excluded.
    """
    name = schema.name + f".{schema.overload_name}" * bool(schema.overload_name)
    if not name.startswith("aten::") or not has_kernel(name):
        return False
    if qualified(schema) in read_table(MANUAL_TABLE):
        return True
    if not any(a.is_out for a in schema.arguments) and name[6:] in ATEN:
        return True
    if has_kernel_for(name, "CompositeImplicitAutograd"):
        return False
    if any("Dimname" in str(a.type) for a in schema.arguments):
        return False
    views = [r.alias_info is not None and not r.alias_info.is_write for r in schema.returns]
    if any(views) or not schema.returns:
        return False
    if has_kernel_for(name, "CompositeExplicitAutograd"):
        # torch decomposes it; a row computes it in one launch.
        key = catalogue_keys().get(schema.name[6:].removesuffix("_"))
        return key is not None and ENTRIES[key].row is not None and "out" not in name
    return has_kernel_for(name, "CPU") or has_kernel_for(name, "CompositeExplicitAutogradNonFunctional")


def parameters(call: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Returns a function's parameters without `out`; None for a function with *args."""
    named = [p for p in inspect.signature(call).parameters.values() if p.name != "out"]
    kinds = {p.kind for p in named}
    return None if kinds & {inspect.Parameter.VAR_POSITIONAL} else named


def derived(schema: Any) -> str | None:
    """Returns the line of an overload by matching argument names; None if they don't match."""
    name = schema.name[6:]
    if name in ATEN:
        return _aten_line(schema)
    own = inplace(schema)
    key = catalogue_keys().get(name.removesuffix("_") if own else name)
    if key is None:
        return None
    entry = ENTRIES[key]
    named = parameters(entry.call)
    if named is None:
        return None
    words = _match_arguments(schema, named)
    if words is None:
        return None
    arguments_text = ", ".join(words)
    condition = "generator is None" * any(a.name == "generator" for a in schema.arguments)
    if not own:
        return _writing(schema, key, arguments_text, condition)
    method = isinstance(getattr(Tensor, entry.name + "_", None), Callable)  # type: ignore[arg-type]
    call = f"= Tensor.{entry.name}_({arguments_text})" if method else f"<- {key}({arguments_text})"
    return f"{qualified(schema)} {call}" + f" if {condition}" * bool(condition)


def _aten_line(schema: Any) -> str | None:
    """Returns the line of an overload with a function in `ATEN`; None if there is none."""
    name = schema.name[6:]
    if name not in ATEN:
        return None
    words = ", ".join([_word(a, a.kwarg_only) for a in schema.arguments if not a.is_out])
    return _writing(schema, f"aten.{name}", words)


def _writing(schema: Any, call: str, words: str, condition: str | None = None) -> str:
    """Returns a line of a call; passes `out` if the function has that parameter."""
    outs, sign = [a.name for a in schema.arguments if a.is_out], "="
    if outs and "out" in inspect.signature(function_of(call)).parameters:
        words += f", out={outs[0]}" if len(outs) == 1 else f", out=({', '.join(outs)})"
    elif outs:
        sign = "<-"
    return f"{qualified(schema)} {sign} {call}({words})" + f" if {condition}" * bool(condition)


@cache
def _manual_lines() -> dict[str, str]:
    """Returns the lines of `manual.txt`, and lines for the `out` overloads of the same ops."""
    entries = dict(read_table(MANUAL_TABLE))
    by_inputs = {_inputs(s): line for s in all_schemas() if (line := entries.get(qualified(s)))}
    for schema in all_schemas():
        line = by_inputs.get(_inputs(schema))
        match = LINE.fullmatch(line) if line and any(a.is_out for a in schema.arguments) else None
        if match is not None:
            entries.setdefault(qualified(schema), _writing(schema, match[3], match[4], match[5]))
    return entries


def _inputs(schema: Any) -> tuple[str, ...]:
    return schema.name, *(a.name for a in schema.arguments if not a.is_out)


def _word(a: Any, keyword: bool, name: str = "") -> str:
    """Returns the text of a schema's argument in a call, for parameter `name` (default: same)."""
    value = f"REDUCTION[{a.name}]" if a.name == "reduction" else a.name
    return f"{name or a.name}={value}" if keyword else value


def _match_arguments(schema: Any, named: list[inspect.Parameter]) -> list[str] | None:
    """Returns a call's arguments; None if an argument or a required parameter is unmatched."""
    by_name = {p.name: p for p in named}
    words: list[str] = []
    matched = set()
    for i, a in enumerate(x for x in schema.arguments if not x.is_out):
        if a.name in PLACE or a.name == "generator":
            continue
        name = {"self": "input"}.get(a.name, a.name)
        if name not in by_name and a.name not in by_name and i == 0 and "Tensor" in str(a.type):
            name = named[0].name  # the first tensor, whatever its name
        param = by_name.get(a.name) or by_name.get(name)
        if param is None or param.name in matched:
            return None
        keyword = param.kind is param.KEYWORD_ONLY or a.kwarg_only or named.index(param) != len(words)
        words.append(_word(a, keyword, param.name))
        matched.add(param.name)
    left = [p for p in named if p.name not in matched and p.default is p.empty]
    return None if any(p.kind is not p.VAR_KEYWORD for p in left) else words


def table(written: set[str]) -> tuple[list[str], list[str]]:
    """Returns (lines, overloads that fall back to the host), sorted by name.

    Neither list contains the overloads in `written`, which have hand-written kernels.
    """
    lines, left = [], []
    for schema in sorted((s for s in all_schemas() if needs_kernel(s)), key=qualified):
        name = qualified(schema)
        if name in written:
            continue
        line = _manual_lines().get(name) or derived(schema)
        if line is None or line.endswith(" = host"):
            left.append(name)
        else:
            lines.append(line)
    return list(dict.fromkeys(lines)), list(dict.fromkeys(left))


def text(written: set[str]) -> str:
    """Returns the text of `table.txt`."""
    lines, left = table(written)
    head = (
        "# Which op of the catalogue serves which overload of aten, and with which arguments.\n"
        "# Written by `make torch-table`; schema.py tells the form, manual.txt has lines by hand.\n"
    )
    host = textwrap.fill(" ".join(left), 98, break_long_words=False, break_on_hyphens=False)
    tail = "\n\n# On the host:\n" + textwrap.indent(host, "# ")
    return head + "\n".join(lines) + tail + "\n"


def main() -> None:
    from . import registration

    TABLE.write_text(text(set(registration.written)))


if __name__ == "__main__":
    main()
