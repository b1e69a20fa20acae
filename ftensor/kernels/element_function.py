"""Element functions: an op as a C function of elements, in one section per compute type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..dtypes import dtype
from . import holes, source
from .holes import inputs, lane_type, output, parameter_values
from .key import BY_VALUE, INDEX, LINEAR, KernelKey, Port, Reduction
from .source import OPERAND_NAMES, is_positional, scalar_parameters

_LANE = re.compile(r"FT_LANE\(w_(\w+)\)")
# Compilers merge sine and cosine of an angle into one call, which for double returns other last
# bits than separate calls. They do not merge across a function call.
_ANGLE = re.compile(r"\bft_(?:sin|cos)\(")


@dataclass(frozen=True)
class ElementFunction:
    """What an op computes per element, apart from the operands' memory layout: the dtypes, and how
    the expression sees each operand (`Port.sees`).

    An input without a dtype is a scalar passed by value. With a `reduction`, the function is a
    fold: `reduction.lift` turns the inputs into a state, and `body` computes the outputs from the
    folded state.
    """

    name: str
    compute: dtype
    outs: tuple[tuple[dtype, str], ...]
    ins: tuple[tuple[dtype | None, str], ...]
    body: tuple[str, ...]
    params: tuple[str, ...] = ()
    lets: tuple[tuple[str, str], ...] = ()
    reduction: Reduction | None = None

    @property
    def tensors(self) -> int:
        """Number of tensor inputs."""
        return sum(dtype is not None for dtype, _ in self.ins)

    @property
    def scalar_count(self) -> int:
        """Number of scalar arguments: inputs by value and the op's parameters."""
        return len(self.ins) - self.tensors + len(self.params)

    @property
    def passed(self) -> dtype:
        """Dtype of the scalar arguments."""
        return self.compute.to_real() if self.reduction else self.compute

    @property
    def passed_dtypes(self) -> tuple[dtype, ...]:
        """Dtype of each scalar argument."""
        return (self.passed,) * self.scalar_count

    @property
    def positional(self) -> bool:
        """True if the function depends on the element's position."""
        return is_positional(self.body, self.lets)

    def key(self, lanes: int = 1) -> KernelKey:
        """Returns the `map` key of the op with contiguous operands."""
        outs = tuple(Port(dtype, LINEAR, sees) for dtype, sees in self.outs)
        ins = tuple(
            Port(self.compute, BY_VALUE, sees) if dtype is None else Port(dtype, LINEAR, sees)
            for dtype, sees in self.ins
        )
        return KernelKey(
            self.name, "map", self.compute, lanes, outs, ins, self.body, self.params, self.lets, self.reduction
        )


def element_function_of(key: KernelKey) -> ElementFunction:
    """Returns the element function of a key, without the layout. Raises ValueError if index inputs
    locate operands."""
    if any(p.sees == INDEX for p in key.ins):
        raise ValueError(f"{key.name} finds elements by indices, which no element function does")
    ins = tuple((None if p.kind == BY_VALUE else p.dtype, p.sees) for p in key.ins)
    return ElementFunction(
        key.name,
        key.compute,
        tuple((p.dtype, p.sees) for p in key.outs),
        ins,
        key.body,
        key.params,
        key.lets,
        key.reduction,
    )


def with_vector_operands(key: KernelKey) -> KernelKey:
    """Returns the key with LINEAR inputs in place of inputs of any access kind; inputs by value
    remain."""
    ports = tuple(p if p.kind == BY_VALUE else replace(p, kind=LINEAR) for p in key.ins)
    return replace(key, ins=ports)


def function_text(function: ElementFunction, name: str) -> str:
    """Returns an element function as a C function of one lane or of all lanes, in macros of the
    dialects.

    The parameters are the tensors' elements, the scalars, the position if the function is
    positional, and pointers to the results.
    """
    key = function.key()
    lets = [f"const FT_V {name_of_let} = {text};" for name_of_let, text in key.lets]
    results = [line for k, p in enumerate(key.outs) for line in output(key, k, p, key.body[k])]
    parameters = _input_parameters(key)
    if function.positional:
        parameters.append("const FT_VEC(long) position")
    lines = [*inputs(key), *lets, *results]
    called = source.scalar(key.compute) == "double" and _ANGLE.search(" ".join(lines))
    return _c_function(name, parameters + _output_parameters(key), lines, "FT_NOINLINE" if called else "FT_FN_ONCE")


def c_functions(function: ElementFunction, name: str) -> str:
    """Returns the C functions of an element function: one, or the functions of a fold."""
    return "\n".join(fold_functions(function, name)) if function.reduction else function_text(function, name)


def fold_functions(function: ElementFunction, name: str) -> tuple[str, ...]:
    """Returns the C text of a fold: the state, NAME_lift (elements to a state), and NAME_finish
    (the folded state to the results)."""
    key = function.key()
    lets = [f"const FT_V {name_of_let} = {text};" for name_of_let, text in key.lets]
    results = [line for k, p in enumerate(key.outs) for line in output(key, k, p, key.body[k])]
    lifting = [*inputs(key), *lets, *holes.lift(key), "*state = lifted;"]
    lift = [*_input_parameters(key), "const FT_I position", "FT_S *state"]
    words = [c + name_of_let for _, c, name_of_let in scalar_parameters(key)]
    finishing = [*holes.state_outputs(key), *parameter_values(key), *results]
    return (
        holes.state_lines(key),
        _c_function(f"{name}_lift", lift, lifting),
        _c_function(f"{name}_finish", ["const FT_S state", *words, *_output_parameters(key)], finishing),
    )


def _input_parameters(key: KernelKey) -> list[str]:
    parameters = [f"const {lane_type(p)} w_in_{OPERAND_NAMES[k]}" for k, p in enumerate(key.ins) if p.kind != BY_VALUE]
    return parameters + [c + number_name for _, c, number_name in scalar_parameters(key)]


def _output_parameters(key: KernelKey) -> list[str]:
    return [f"{lane_type(p)} *w_out{k}" for k, p in enumerate(key.outs)]


def _c_function(name: str, parameters: list[str], lines: list[str], kind: str = "FT_FN_ONCE") -> str:
    """Returns the C function with `lines` as body; lanes of vectors become parameters."""
    body = "\n".join(f"    {line}" for line in lines)
    body = body.replace("FT_POSITION", "position")
    body = _LANE.sub(lambda m: f"*w_{m[1]}" if m[1].startswith("out") else f"w_{m[1]}", body)
    return f"{kind} void {name}({', '.join(parameters)})\n{{\n{body}\n}}"


# Macros that hold for a whole file; macros that sections do not use.
FILE_SETTINGS = ("FT_LANES", "FT_N", "FT_FP64", "FT_MAX_DIMS")
UNUSED_SETTINGS = ("FT_GRID_STRIDE",)
# Helpers with the same types in every compute dtype, which a file includes once.
SHARED_HELPERS = ("unsigned.h", "float8.h")
# Names of a reduction's state, which every member defines for itself.
STATE_NAMES = ("FT_S", "ft_identity", "ft_combine", "ft_choose", "ft_rotate_state")
HELPER_NAME = re.compile(r"\b(?:ft[a-z]?_\w+|FT_C)\b")
DEFINED_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)


def helper_space(key: KernelKey) -> str:
    """Returns the name of the section that a key's helpers belong to: the compute dtype, followed
    by the output dtype if the helpers round intermediate values to it."""
    dropped = source.dropped_bits(key)
    narrow = f"_for_{key.outs[0].dtype.name}" if dropped and dropped[0] else ""
    return f"{key.compute.name}{narrow}"


def group_by_space(keys: Sequence[KernelKey]) -> dict[str, list[int]]:
    """Returns the indices of the keys of each helper section."""
    spaces: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        spaces.setdefault(helper_space(key), []).append(index)
    return spaces


def rename_helpers(text: str, suffix: str, dialect: str) -> str:
    """Returns `text` with the suffix `suffix` on the names of all helpers that are not shared."""
    kept = _dialect_text(dialect)
    return HELPER_NAME.sub(lambda m: m[0] if m[0] in kept else f"{m[0]}_{suffix}", text)


@cache
def _dialect_text(dialect: str) -> frozenset[str]:
    files = (f"dialect/{dialect}.h", *SHARED_HELPERS)
    return frozenset(STATE_NAMES).union(*(HELPER_NAME.findall(source.kernel_file(n)) for n in files))


def sections(keys: Sequence[KernelKey], function: Callable[[int, KernelKey], str], dialect: str) -> Iterable[str]:
    """Yields the OpenCL C sections of the keys, one for each compute dtype (`helper_space`):
    helpers, then functions.

    `function` returns the text for a key and its index. The end of a section undefines the macros
    of its helpers.
    """
    for space, indices in group_by_space(keys).items():
        space_keys = [keys[k] for k in indices]
        heading = f"// What is computed in {space.replace('_', ' ')}."
        opening = rename_helpers("\n".join([heading, *_helpers(space_keys)]), space, dialect)
        yield opening
        for place in indices:
            yield rename_helpers(function(place, keys[place]), space, dialect)
        yield undefine_lines(opening)


def undefine_lines(text: str) -> str:
    """Returns `#undef` lines for all macros that `text` defines."""
    names = dict.fromkeys(DEFINED_MACRO.findall(text))
    return "\n".join(_BACK if name == "pow" else f"#undef {name}" for name in names)


# `pow` is the only macro with an earlier definition (see hls/dialect/opencl_lanes.h).
_BACK = '#ifdef FT_POW_BY_LANE\n#pragma pop_macro("pow")\n#endif'


def _helpers(keys: Sequence[KernelKey]) -> list[str]:
    skipped = (*FILE_SETTINGS, *UNUSED_SETTINGS)
    settings = source.settings(keys[0].compute, keys[0].lanes, True, "slab")
    lines = [line for line in settings if line.split()[1] not in skipped]
    dropped_bits = [bits for key in keys for bits in source.dropped_bits(key)][:1]
    lines += [f"#define FT_DROPPED_BITS {bits}" for bits in dropped_bits]
    helper_names = {name: None for key in keys for name in source.helper_files(key)}
    order = ("math.h", "complex.h", "locate.h", *source.HELPERS.values())
    return lines + [source.kernel_file(n) for n in order if n == "math.h" or n in helper_names]


def namespace(name: str, keys: Sequence[KernelKey]) -> list[str]:
    """Returns the opening HLS C++ lines of a namespace, with the helpers that the keys call."""
    skipped = ("FT_LANES", "FT_N", "FT_GRID_STRIDE", "FT_MAX_DIMS")
    settings = source.settings(keys[0].compute, 1, True, "slab")
    lines = [f"// What is computed in {keys[0].compute.name}."]
    lines += [line for line in settings if line.split()[1] not in skipped]
    dropped_bits = [bits for key in keys for bits in source.dropped_bits(key)]
    if dropped_bits:
        lines.append(f"#define FT_DROPPED_BITS {max(dropped_bits)}")
    helper_names = {name: None for key in keys for name in source.helper_files(key)}
    order = ("complex.h", *SHARED_HELPERS, *source.HELPERS.values())
    files = ["vitis/compute.h", "math.h", *(n for n in order if n in helper_names)]
    return [*lines, f"namespace {name} {{", *(f'#include "ftensor/{n}"' for n in files)]


END_OF_SPACE = '#include "ftensor/vitis/end_compute.h"'


def namespaces(keys: Sequence[KernelKey], function: Callable[[int, KernelKey], str]) -> Iterable[str]:
    """Yields an HLS C++ namespace for each compute dtype (`helper_space`): helpers, then functions."""
    for space, indices in group_by_space(keys).items():
        texts = [function(place, keys[place]) for place in indices]
        yield "\n".join([*namespace(f"compute_{space}", [keys[k] for k in indices]), *texts, "}", END_OF_SPACE])


def computes_in_double(compute: dtype) -> bool:
    """True if the scalars of a compute dtype are double."""
    return source.scalar(compute) == "double"
