"""The holes of a skeleton: how operands are read, computed and written."""

from __future__ import annotations

from collections.abc import Sequence

from ..dtypes import bool as bool_
from ..dtypes import dtype, int32
from . import source as ctype
from .key import (
    BY_VALUE,
    COMPLEX,
    INDEX,
    LINEAR,
    LOCATED,
    MASK,
    POSITION,
    REAL,
    ROW_VECTORS,
    SINGLE,
    TRUTH,
    KernelKey,
    Port,
)
from .source import OPERAND_NAMES, indices, parameters


def hole_definitions(key: KernelKey, rows: bool) -> dict[str, list[str]]:
    """Returns the macros of the skeleton: name with parameters -> lines.

    With `rows`, the geometry buffer `g` drives the loop nest, and an operand has offset at[operand]
    and inner stride inner_strides[operand]; otherwise each operand is one contiguous run or one element.
    """
    ins = [(f"in_{OPERAND_NAMES[k]}", p) for k, p in _pointer_ins(key)]
    common, results, reads, writes = memory_holes(key.entry, parameters(key), key.outs, ins, rows)
    for part in reads:
        reads[part] = _located_last(key, reads[part])
    finish = [line for k, p in enumerate(key.outs) for line in output(key, k, p, key.body[k])]
    lets = [f"const FT_V {name} = {text};" for name, text in key.lets]
    if key.reduction is None:
        return common | {
            "FT_READ(i)": results + reads[False],
            "FT_READ_PART(i, m)": results + reads[True],
            "FT_RESULTS(count)": [result_hole(len(key.outs), [name for name, _ in ins])],
            "FT_COMPUTE": inputs(key) + lets + finish,
            "FT_WRITE(i)": writes[False],
            "FT_WRITE_PART(i, m)": writes[True],
        }
    return common | {
        "FT_READ(i)": reads[False],
        "FT_READ_PART(i, m)": reads[True],
        "FT_LIFT(position)": inputs(key) + lets + lift(key),
        "FT_RESULT": results,
        "FT_FINISH(folded)": ["const FT_S state = folded;", *state_outputs(key), *parameter_values(key), *finish],
        "FT_WRITE(i, m)": writes[True],
    }


def memory_holes(
    entry: str,
    params: Sequence[tuple[str, str, str]],
    outs: Sequence[Port],
    ins: Sequence[tuple[str, Port]],
    rows: bool,
) -> tuple[dict[str, list[str]], list[str], dict[bool, list[str]], dict[bool, list[str]]]:
    """Returns (the macros of a kernel with these outputs and named inputs in memory, the lines that
    declare the results, the reading lines, the writing lines).

    The reading and writing lines are dicts: False for whole vectors, True for partial vectors.
    """
    ports = {f"out{k}": p for k, p in enumerate(outs)} | dict(ins)
    pointers = list(ports)
    common = {
        "FT_NAME": [entry],
        "FT_PARAMS": [", ".join(f"{c}{name}" for _, c, name in params)],
        "FT_SETUP": [_shift(name, ports[name]) for name in pointers],
        "FT_OPERANDS": [str(len(pointers))],
        "FT_OUTPUTS": [str(len(outs))],
    }
    results = [f"{wide_type(p)} w_out{k};" for k, p in enumerate(outs)]
    reads, writes = (
        {part: [line(name, p, pointers, rows, part) for name, p in some] for part in (False, True)}
        for line, some in ((_read, ins), (_write, list(ports.items())[: len(outs)]))
    )
    return common, results, reads, writes


def result_hole(outs: int, ins: Sequence[str]) -> str:
    """Returns the call of the macro that declares the results: their number, and the condition
    under which an output is also an input. The condition is constant for kernels without inputs,
    which only write memory."""
    overlap = " || ".join(f"(FT_GLOBAL const void *)out{out} == {name}" for out in range(outs) for name in ins)
    return f"FT_STREAMED(count, {overlap or 1})"


def _located_last(key: KernelKey, reads: list[str]) -> list[str]:
    """Returns the lines of `reads` with index inputs first, then the offset that they locate, then
    all other inputs."""
    names = indices(key)
    if not names:
        return reads
    index_reads = [r for r in reads if any(f" w_in_{n} " in r for n in names)]
    steps = " ".join(
        f"there = ft_locate(there, {n}_index, {n}_size, {n}_stride, bad, {k});" for k, n in enumerate(names)
    )
    values = [f"const long {n}_index = {_lane_index(key, n)};" for n in names]
    rest = [r for r in reads if r not in index_reads]
    return [*index_reads, *values, "long there = 0;", steps, *rest]


def _lane_index(key: KernelKey, name: str) -> str:
    """Returns the C text of the index that lane 0 reads; kernels with located operands have no
    other lane."""
    port = key.ins[OPERAND_NAMES.index(name)]
    return f"(long)(w_in_{name}" + ("" if port.kind == SINGLE else " FT_LANE_0") + ")"


def _pointer_ins(key: KernelKey) -> list[tuple[int, Port]]:
    return [(k, p) for k, p in enumerate(key.ins) if p.kind != BY_VALUE]


def _shift(name: str, p: Port) -> str:
    return f"{name} += {'2 * ' if p.dtype.is_complex else ''}{name}_offset;"


def wide_type(p: Port) -> str:
    """Returns the C type of the vector that a load or store moves."""
    return f"FT_WIDE_PAIR({wide_of(p)})" if p.dtype.is_complex else f"FT_WIDE({wide_of(p)})"


def wide_of(p: Port) -> str:
    """Returns the C type of a moved element; for complex elements, of one part."""
    return "float" if p.dtype.name in ctype.HALF_DTYPES else ctype.MEMORY[p.dtype.name]


def _at(name: str, p: Port, pointers: list[str], rows: bool, index: str) -> tuple[str, str]:
    """Returns (address, stride) of element `index` of the innermost dim."""
    pair = "2 * " if p.dtype.is_complex else ""
    if not rows:
        return (name if p.kind == SINGLE else f"{name} + {pair}{index}"), "1"
    k = pointers.index(name)
    if p.kind == SINGLE:
        return f"{name} + {pair}at[{k}]", "0"
    if p.kind == LINEAR:
        return f"{name} + {pair}(at[{k}] + {index})", "1"
    if p.kind == LOCATED:
        return f"{name} + {pair}(at[{k}] + {index} * inner_strides[{k}] + there)", "1"
    return f"{name} + {pair}(at[{k}] + {index} * inner_strides[{k}])", f"inner_strides[{k}]"


def _read(name: str, p: Port, pointers: list[str], rows: bool, part: bool) -> str:
    address, stride = _at(name, p, pointers, rows, "(i)")
    if p.kind == LOCATED:
        address = address.replace("there", "(there < 0 ? 0 : there)")
    wide = f"w_{name}"
    if p.kind == SINGLE:
        single = "FT_HALF_ONE({})" if p.dtype.name in ctype.HALF_DTYPES else "*({})"
        if p.dtype.is_complex:
            re, im = single.format(address), single.format(f"{address} + 1")
            return f"const {wide_of(p)} {wide}_re = {re}, {wide}_im = {im};"
        return f"const {wide_of(p)} {wide} = {single.format(address)};"
    t = wide_type(p)
    family = "_pair" if p.dtype.is_complex else ("_half" if p.dtype.name == "float16" else "")
    if p.kind in (LINEAR, ROW_VECTORS) and not part:
        word = {"_pair": "ft_load_pair", "_half": "FT_HALF_LOAD", "": "FT_VLOAD"}[family]
        value = f"{word}({address})"
        if p.kind == ROW_VECTORS:
            value = f"{stride} ? {value} : ft_load_strided{family}({address}, 0, FT_LANES)"
        return f"const {t} {wide} = {value};"
    lanes = "m" if part else "FT_LANES"
    return f"const {t} {wide} = ft_load_strided{family}({address}, {stride}, {lanes});"


def _write(name: str, p: Port, pointers: list[str], rows: bool, part: bool) -> str:
    address, stride = _at(name, p, pointers, rows, "(i)")
    family = "_pair" if p.dtype.is_complex else ("_half" if p.dtype.name == "float16" else "")
    if p.kind == LINEAR and not part:
        word = {"_pair": "ft_store_pair(", "_half": "FT_HALF_STORE("}
        return f"{word.get(family, f'FT_VSTORE_NONTEMPORAL({wide_of(p)}, ')}w_{name}, {address});"
    lanes = "m" if part else "FT_LANES"
    guard = "if (there >= 0) " if p.kind == LOCATED else ""
    return f"{guard}ft_store_strided{family}(w_{name}, {address}, {stride}, {lanes});"


def lane_type(p: Port) -> str:
    """Returns the C type of an element as loads and stores see it, for one lane or for all
    lanes."""
    return f"ft_c{wide_of(p)}" if p.dtype.is_complex else f"FT_VEC({wide_of(p)})"


def lane(wide: str, p: Port) -> str:
    """Returns the C text of the loaded value `wide`, for one lane or for all lanes."""
    memory = wide_of(p)
    if p.kind != SINGLE:
        return f"FT_LANE({wide})"
    if p.dtype.is_complex:
        return f"FT_PAIR({memory}, (FT_VEC({memory}))({wide}_re), (FT_VEC({memory}))({wide}_im))"
    return f"(FT_VEC({memory}))({wide})"


def _lane_value(key: KernelKey, k: int, p: Port) -> str:
    """Returns the C text of input k for the expression, for one lane or for all lanes."""
    name, real = OPERAND_NAMES[k], ctype.scalar(key.compute)
    if p.kind == BY_VALUE:
        if key.compute.is_complex:
            return f"FT_PAIR({real}, (FT_V)({name}_re), (FT_V)({name}_im))"
        return f"(FT_V)({name}_value)"
    text = lane(f"w_in_{name}", p)
    if p.dtype.name in ctype.ENCODED_DTYPES:
        text = f"ft_from_{p.dtype.name}({text})"
    if p.dtype.name == "bool":  # bytes from other programs may be neither 0 nor 1
        text = f"FT_MASK_VALUE(uchar, {text} != (FT_VEC(uchar))(0))"
    return text


def inputs(key: KernelKey) -> list[str]:
    """Returns the lines that declare the input values a, b, c, ... and the parameters."""
    compute = key.compute
    value = "FT_C" if compute.is_complex else "FT_V"
    lines = []
    for k, p in enumerate(key.ins):
        if p.sees == INDEX:
            continue
        text = _lane_value(key, k, p)
        if p.sees == MASK:
            lines.append(f"const FT_M {OPERAND_NAMES[k]} = FT_VALUE_MASK({text});")
        elif p.sees == POSITION:
            lines.append(f"const FT_I {OPERAND_NAMES[k]} = {text};")
        elif p.sees == TRUTH:
            truth = f"r_{OPERAND_NAMES[k]}"
            lines += [
                f"const {_register_type(p.dtype)} v_{OPERAND_NAMES[k]} = {text};",
                f"const FT_VEC(uchar) {truth} = {ctype.cast(f'v_{OPERAND_NAMES[k]}', p.dtype, bool_)};",
                f"const {value} {OPERAND_NAMES[k]} = {ctype.cast(truth, bool_, compute)};",
            ]
        elif p.kind == BY_VALUE or _register(p.dtype) == compute.name:
            lines.append(f"const {value} {OPERAND_NAMES[k]} = {text};")
        else:
            reg = _register_type(p.dtype)
            lines.append(f"const {reg} r_{OPERAND_NAMES[k]} = {text};")
            lines.append(f"const {value} {OPERAND_NAMES[k]} = {ctype.cast(f'r_{OPERAND_NAMES[k]}', p.dtype, compute)};")
    return lines + parameter_values(key)


def parameter_values(key: KernelKey) -> list[str]:
    """Returns the lines that declare the parameters, in all lanes."""
    compute, lines = key.compute, []
    for name in key.params:
        real = ctype.scalar(compute)
        lines.append(
            f"const FT_C {name} = FT_PAIR({real}, (FT_V)({name}_re), (FT_V)({name}_im));"
            if compute.is_complex and key.reduction is None
            else f"const FT_V {name} = (FT_V)({name}_value);"
        )
    return lines


def _register(d: dtype) -> str:
    return d.compute.name


def _register_type(d: dtype) -> str:
    c = ctype.REGISTER[d.name]
    return f"ft_c{c}" if d.is_complex else f"FT_VEC({c})"


def output(key: KernelKey, k: int, p: Port, text: str) -> list[str]:
    """Returns the lines that convert the expression `text` of output k to the stored value."""
    compute = key.compute
    if p.sees == MASK:
        value, source = f"FT_MASK_VALUE(uchar, {text})", bool_
        lines = [f"const FT_VEC(uchar) r_out{k} = {value};"]
    elif p.sees == POSITION:
        lines, source = [f"const FT_I r_out{k} = {text};"], int32
    elif p.sees == REAL:
        lines, source = [f"const FT_V r_out{k} = {text};"], compute.to_real()
    elif p.sees == COMPLEX:
        c = f"ft_c{ctype.scalar(compute)}"
        lines, source = [f"const {c} r_out{k} = {text};"], compute.to_complex()
    else:
        value = "FT_C" if compute.is_complex else "FT_V"
        lines, source = [f"const {value} r_out{k} = {text};"], compute
    value = ctype.cast(f"r_out{k}", source, p.dtype)
    if p.dtype.name in ctype.ENCODED_DTYPES:
        value = f"ft_to_{p.dtype.name}({value})"
    return lines + [f"FT_LANE(w_out{k}) = {value};"]


def state_fields(key: KernelKey) -> list[tuple[str, str]]:
    """Returns (C type, name) of the fields of a reduction state."""
    r = key.reduction
    assert r is not None
    return [("FT_C" if r.complex else "FT_V", "x")] + ([("FT_I", "i")] if r.arg else [])


def identity(key: KernelKey) -> list[str]:
    """Returns the lines that set the state r to the identity."""
    r = key.reduction
    assert r is not None
    return [f"r.x = {r.identity};"] + (["r.i = (FT_I)(0x7fffffff);"] if r.arg else [])


def combine(key: KernelKey) -> list[str]:
    """Returns the lines that combine the states p and q into r."""
    r = key.reduction
    assert r is not None
    if not r.arg:
        return [f"const {'FT_C' if r.complex else 'FT_V'} x = p.x, y = q.x;", f"r.x = {r.combine};"]
    return [
        "const FT_V x = p.x, y = q.x;",
        "const FT_I i = p.i, j = q.i;",
        f"const FT_M later = (FT_INDEX_MASK(j < i) && ({r.combine})) || ({r.beats});",
        "r.x = later ? y : x;",
        "r.i = FT_MASK_INDEX(later) ? j : i;",
    ]


def state_lines(key: KernelKey) -> str:
    """Returns the C type of the state with its identity, combine, choose and rotate functions."""
    r = key.reduction
    assert r is not None
    if r.complex:
        choose_x = "r.x.re = m ? p.x.re : q.x.re; r.x.im = m ? p.x.im : q.x.im;"
        turn_x = "r.x.re = ft_rotate(p.x.re, step); r.x.im = ft_rotate(p.x.im, step);"
    else:
        choose_x, turn_x = "r.x = m ? p.x : q.x;", "r.x = ft_rotate(p.x, step);"
    if r.arg:
        choose_x += " r.i = FT_MASK_INDEX(m) ? p.i : q.i;"
        turn_x += " r.i = ft_rotate(p.i, step);"
    fold, nothing = " ".join(combine(key)), " ".join(identity(key))
    return "\n".join(
        [
            f"#define FT_VECTORS {r.vectors}",
            "typedef struct { " + " ".join(f"{t} {n};" for t, n in state_fields(key)) + " } FT_S;",
            f"FT_FN_ONCE FT_S ft_identity(void) {{ FT_S r; {nothing} return r; }}",
            f"FT_FN_ONCE FT_S ft_combine(FT_S p, FT_S q) {{ FT_S r; {fold} return r; }}",
            f"FT_FN_ONCE FT_S ft_choose(FT_M m, FT_S p, FT_S q) {{ FT_S r; {choose_x} return r; }}",
            "#ifdef FT_ROTATES",
            f"FT_FN_ONCE FT_S ft_rotate_state(FT_S p, int step) {{ FT_S r; {turn_x} return r; }}",
            "#endif",
        ]
    )


def state_outputs(key: KernelKey) -> list[str]:
    """Returns the lines that declare the folded value x (and its position i) for the output
    expressions."""
    r = key.reduction
    assert r is not None
    lines = [f"const {'FT_C' if r.complex else 'FT_V'} x = state.x;"]
    return lines + (["const FT_I i = state.i;"] if r.arg else [])


def lift(key: KernelKey) -> list[str]:
    """Returns the lines that lift an element to a state; `position` counts along the reduced
    dims."""
    r = key.reduction
    assert r is not None
    position = ("b" if r.stage == "second" else "(position)") if r.arg else ""
    lines = ["FT_S lifted;", f"lifted.x = {r.lift};"]
    return lines + ([f"lifted.i = {position};"] if r.arg else [])
