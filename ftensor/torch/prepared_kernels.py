"""Kernels of torch's dispatcher that run a prepared op if the arguments are known.

A kernel forms a key from shapes, strides and dtypes of torch's tensors and from the other arguments. The
key leads to a `PreparedOp`. Without one, the op's function runs; its third call with a key is observed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import torch

from ..execute.dispatch import observed
from ..execute.pointwise import replaced
from .internals import overload, parse_schema, untyped_storage
from .prepared_ops import NOT_RUN, REFUSED, Argument, OpObserver, prepare_op, tensors_of
from .registration import impl

if TYPE_CHECKING:
    from ..runtime.backend import Backend

OBSERVED_CALL = 3  # the call with equal keys that is observed; the first ones prepare its launches
MAX_REFUSALS = 16  # of an overload that had no success, until its calls form no keys any more
MAX_SEEN = 1 << 8
MAX_PAIRS = 3  # of storages that are compared one by one
NUMBERS = frozenset((bool, int, float, complex))


class _Misses:
    """Calls without an entry of an overload: the function itself, and at times an entry for later."""

    def __init__(self, function: Callable[..., Any], takes_integers: bool) -> None:
        self.function, self.takes_integers = function, takes_integers
        self.seen: dict[Any, int] = {}
        self.refusals = 0
        self.is_off: list[bool] = []  # true if not empty

    def __call__(
        self, backend: Backend, key: Any, arguments: tuple[Argument, ...], /, *args: Any, **kwargs: Any
    ) -> Any:
        count = self.seen.get(key, 0) + 1
        if count < OBSERVED_CALL:
            if len(self.seen) >= MAX_SEEN:
                self.seen.clear()
            self.seen[key] = count
            return self.function(*args, **kwargs)
        tensors = tensors_of(arguments)
        if backend.launches.find(key) or not _can_observe(backend) or _share_memory(arguments):
            return self.function(*args, **kwargs)
        del self.seen[key]
        observer = OpObserver(tensors)
        with observed(backend, observer):
            result = self.function(*args, **kwargs)
        # The parts of complex numbers may be -0.0, which equals 0.0.
        is_known = not any(x.__class__ is complex for x in (*args, *kwargs.values()))
        is_known &= self.takes_integers or not any(d.kind in "iu" for d in observer.dtypes)
        entry = prepare_op(observer, arguments, result) if is_known else REFUSED
        backend.launches.keep(key, entry)
        self.refusals = self.refusals + 1 if entry is REFUSED else -(1 << 30)
        if self.refusals == MAX_REFUSALS:
            self.is_off.append(True)
        return result


_misses: list[_Misses] = []  # of all overloads


def forget_refusals() -> None:
    """Observes calls again of the overloads whose calls were refused `MAX_REFUSALS` times."""
    for misses in _misses:
        misses.seen.clear()
        misses.refusals = 0
        misses.is_off.clear()


def _can_observe(backend: Backend) -> bool:
    """True if nobody else observes the device, it compiles kernels, and no op has a user's kernel."""
    return backend.executor is None and not backend.built_ahead and not replaced


def _share_memory(arguments: Sequence[Argument]) -> bool:
    """True if tensors of lists share memory with others: which of them a launch reads can't be told.
    Keys of single tensors that share memory have their offsets."""
    storages = [id(untyped_storage(t)._ft) for t in tensors_of(arguments) if t is not None]
    return len(set(storages)) < len(storages) and any(isinstance(a, (list, tuple)) for a in arguments)


def _sharing(storages: Sequence[Any], tensors: Sequence[Any]) -> tuple[tuple[int, int, int], ...]:
    """Returns which tensors share memory: for each one after the first with its storage their
    positions, and the elements between them."""
    found = []
    for k, storage in enumerate(storages):
        first = storages.index(storage)
        if first < k and storage is not None:
            found.append((first, k, tensors[k].storage_offset() - tensors[first].storage_offset()))
    return tuple(found)


def parameters_text(schema: Any) -> tuple[str, str]:
    """Returns (parameter list of a schema, argument list that forwards all parameters).

    Default values are read from a dict `D`.
    """
    head, forward, has_star = [], [], False
    for a in schema.arguments:
        if a.kwarg_only and not has_star:
            head.append("*")
            has_star = True
        name = a.name + "_" * iskeyword(a.name)
        head.append(f"{name}=D[{a.name!r}]" if a.has_default_value() else name)
        forward.append(f"{name}={name}" if a.kwarg_only else name)
    return ", ".join(head), ", ".join(forward)


def prepared_kernel(
    name: str, function: Callable[..., Any], integers: bool = False, after: str = ""
) -> Callable[..., Any]:
    """Returns a kernel of an overload that calls `function`, or runs its prepared op.

    `integers`: integers among the tensors are values like others, not indices, whose bounds the host may
    know. `after`: a statement that `function` ends with besides its launches. Returns `function` itself
    for ops that draw random numbers.
    """
    op = overload(name)
    return function if torch.Tag.nondeterministic_seeded in op.tags else prepared(op._schema, function, integers, after)


def prepared(schema: Any, function: Callable[..., Any], integers: bool = False, after: str = "") -> Callable[..., Any]:
    """Like `prepared_kernel`, for the arguments of a schema."""
    head, forward = parameters_text(schema)
    keys: list[str] = []
    tensors: list[str] = []
    setup: list[str] = []
    for a in schema.arguments:
        kind, x = str(a.type), a.name
        # An index may have bounds that the host knows, so no launch follows from the key.
        if x in ("index", "indices") or x.endswith("_") or "Generator" in kind or kind == "List[Optional[Tensor]]":
            return function
        if kind in ("Tensor", "Optional[Tensor]"):
            tensors.append(x)
            whole = f"s_{x} = untyped_storage({x})._ft"
            geometry = f"{x}.shape, {x}.stride(), {x}.dtype"
            if x == "other" and kind == "Tensor":  # often a number
                setup.append(f"if {x}.__class__ in NUMBERS: s_{x} = None; k_{x} = {x}.__class__, {x} or str({x})")
                setup.append(f"else: {whole}; k_{x} = {geometry}")
                keys.append(f"*k_{x}")
            elif kind == "Tensor":
                setup.append(whole)
                keys.append(geometry)
            else:
                setup.append(f"s_{x} = None if {x} is None else untyped_storage({x})._ft")
                keys.append(f"None if {x} is None else ({geometry})")
        elif kind == "List[Tensor]":
            tensors.append(x)
            setup.append(f"s_{x} = [untyped_storage(t)._ft for t in {x}]")
            keys.append(f"len({x}), *[t.shape for t in {x}], *[t.stride() for t in {x}], *[t.dtype for t in {x}]")
        elif kind == "number" or kind == "Optional[number]":
            keys.append(f"{x}.__class__, {x} or str({x})")  # -0.0 and 0.0 are equal
        elif "List[" in kind:
            values = f"tuple(map(str, {x}))" if "float" in kind or "number" in kind else f"tuple({x})"
            keys.append(f"None if {x} is None else {values}" if "Optional" in kind else values)
        elif "float" in kind:
            keys.append(f"{x} or str({x})")
        else:
            keys.append(x)
    kinds = {a.name: str(a.type) for a in schema.arguments}
    required = [x for x in tensors if kinds[x] in ("Tensor", "List[Tensor]") and x != "other"]
    if not required:
        return function
    first = f"s_{required[0]}" + "[0]" * (kinds[required[0]] == "List[Tensor]")
    is_tensor = {x: f"None if {x}.__class__ in NUMBERS else {x}" if x == "other" else x for x in tensors}
    single = [x for x in tensors if kinds[x] != "List[Tensor]"]
    pairs = [f"s_{a} is s_{b}" for i, a in enumerate(single) for b in single[:i]]
    if len(pairs) > MAX_PAIRS:
        pairs = [f"len({{{', '.join(f's_{x}' for x in single)}}}) < {len(single)}"]
    storages = ", ".join(f"s_{x}" for x in single)
    # Names with "_" are none of a schema.
    lines = [
        f"if _off: return _function({forward})",
        "try:",
        *[f"    {line}" for line in setup],
        f"    _backend = {first}.backend",
        "except (AttributeError, IndexError, TypeError, RuntimeError):",
        f"    return _function({forward})",
        f"_key = (_NAME, {', '.join(keys)})",
        *([f"if {' or '.join(pairs)}: _key += _sharing(({storages},), ({', '.join(single)},))"] if pairs else []),
        "_op = _backend.launches.get(_key)",
        f"if _op is None: return _missed(_backend, _key, ({''.join(f'{is_tensor[x]}, ' for x in tensors)}), {forward})",
        f"_result = _op.call({', '.join(f'{x}, s_{x}' for x in tensors)})",
        f"if _result is _NOT_RUN: return _function({forward})",
        *([after] if after else []),
        "return _result",
    ]
    source = ["def make(_function, _missed, _off, _NAME, D):", f"    def kernel({head}):"]
    misses = _Misses(function, integers)
    _misses.append(misses)
    maker = _maker("\n".join([*source, *[f"        {line}" for line in lines], "    return kernel"]))
    defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    return maker(function, misses, misses.is_off, f"torch.{schema.name}.{schema.overload_name}", defaults)


@cache
def _maker(source: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {
        "NUMBERS": NUMBERS,
        "_NOT_RUN": NOT_RUN,
        "_sharing": _sharing,
        "untyped_storage": untyped_storage,
    }
    scope["increment_version"] = torch.autograd.graph.increment_version
    exec(compile(source, "<ftensor torch kernel>", "exec"), scope)
    return scope["make"]


def impl_prepared(*names: str, after: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Like `registration.impl`, with prepared ops. Returns the kernel of the first overload."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        kernels = [impl(name)(prepared_kernel(name, function, after=after)) for name in names]
        return kernels[0]

    return register


def prepared_function(schema: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator for a function on torch's tensors, which runs as prepared ops do.

    `schema` is the function's signature in torch's schema language; its name is unique.
    """
    return partial(prepared, parse_schema(f"ftensor::{schema}"))
