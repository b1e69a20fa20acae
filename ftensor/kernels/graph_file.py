"""Parser of graph files. Each error message contains the offending value.

A graph file names rows, dtypes and scalars. Expressions in a file never reach a kernel: the parser
builds the key from the rows of the catalogue, and rejects a file that differs from them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .. import dtypes
from ..dtypes import FULL, dtype
from .element_function import ElementFunction
from .fused import MAX_OPERANDS, Call, check, kernel_name
from .graph_text import (
    ABOVE,
    EVERY_BLOCK,
    FORMAT,
    FRAMES,
    HALO,
    KIND_NAMES,
    ONE_ELEMENT,
    PER_BLOCK,
    PER_ROW,
    REFLECTED,
    ROWS,
    SCAN,
    SHARED_ROW,
    TAPS,
    function_json,
    text,
)
from .key import Port
from .network_file import FORMAT as NETWORK
from .row_loop import RowLoop, row_loop
from .signal_stages import (
    MAX_HALO,
    MAX_TAPS,
    SAMPLES,
    RowFilter,
    RowTransform,
    Window,
    filter_refusal,
    halo_refusal,
    row_filter,
    row_transform,
    slice_scatter,
    transform_refusal,
    window,
    window_refusal,
)
from .skeletons.feedback import FeedbackKey, feedback_key
from .skeletons.feedback import text as feedback_text
from .staged import ELEMENTS, MAX_PERIOD, SCATTER, WINDOW, StagedKey, above_refusal, frames_refusal, stage_kind

# Limits of a file; exported graphs are far below.
MAX_BYTES, MAX_CALLS, MAX_LENGTH = 1 << 20, 256, 1 << 20


# Returns the element functions of rows with this name, compute dtype, output and input dtypes
# (None: scalar).
RowFunctions = Callable[[str, dtype, Sequence[dtype], Sequence[dtype | None]], Iterable[ElementFunction]]


def parse_json(data: bytes) -> dict[str, Any]:
    """Returns the JSON object of a graph's or network's file. Raises ValueError for other data."""
    require(len(data) <= MAX_BYTES, f"it has {len(data)} bytes, and at most {MAX_BYTES} are read")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from None
    formats = f'its format is not "{FORMAT}" or "{NETWORK}"'
    require(isinstance(raw, dict) and raw.get("format") in (FORMAT, NETWORK, SCAN), formats)
    assert isinstance(raw, dict)
    return raw


def parse_key(raw: Mapping[str, Any], data: bytes, row_functions: RowFunctions) -> StagedKey:
    """Returns the key of a graph file; `raw` is its JSON object, `data` its bytes, `row_functions`
    builds the element functions.

    Raises ValueError with the location if `data` is no graph file: the text differs from the key's
    `text`, a value is missing, or no row has the element function.
    """
    kinds = {word: kind for kind, word in KIND_NAMES.items()}
    with named_problems():
        ins = tuple(Port(read_dtype(p["dtype"]), kinds[p["lies"]]) for p in raw["inputs"])
        outs = tuple(Port(read_dtype(p["dtype"]), kinds[p["lies"]]) for p in raw["outputs"])
        functions = [read_function(function_json, row_functions) for function_json in raw["units"]]
        calls = _read_calls(raw, functions)
        key = StagedKey(
            kernel_name(calls),
            "staged",
            read_int(raw["lanes"], 65),
            outs,
            ins,
            calls,
            tuple(p["value"] for p in raw["outputs"]),
            tuple(map(read_dtype, raw["numbers"])),
            (),
            read_int(raw["length"], MAX_LENGTH + 1),
            read_int(raw["period"], MAX_PERIOD + 1),
            _read_spans(raw["inputs"]),
            read_int(raw.get("width", 0), MAX_LENGTH + 1),
            read_int(raw.get("above", 0), MAX_HALO * MAX_LENGTH + 1),
            read_int(raw.get("signal", 0), MAX_HALO * MAX_LENGTH + 1),
        )
        require(raw["name"] == key.name, f"its name is {raw['name']!r}, and that of its calls {key.name!r}")
        require(key.length > 0, f"its rows have {key.length} elements")
        require(key.lanes > 0 and not key.lanes & (key.lanes - 1), f"it has {key.lanes} lanes")
        ports = len(ins) + len(outs)
        require(bool(outs) and ports <= MAX_OPERANDS, f"it has {ports} operands, of {MAX_OPERANDS}")
        blocks = bool(key.signal) or any(p.kind in (PER_BLOCK, EVERY_BLOCK) for p in ins)
        _check_signals(key)
        require(key.period > 0 and (key.period > 1) == blocks, f"its blocks have {key.period} rows")
        whole_beats = key.length % key.lanes == 0 if key.lanes else False
        require(whole_beats or not blocks, f"its rows of {key.length} in blocks are no whole beats")
        for k, p in enumerate(ins):
            if p.kind in (FRAMES, REFLECTED):
                hop = key.spans[k] if key.spans else 1
                refusal = frames_refusal(key.length, hop, key.lanes, p.kind == REFLECTED)
                require(not refusal, refusal)
        for k, call in enumerate(calls):
            for v in call.operands:
                read_int(v, key.first_value(k), f"what call {k} takes")
            for n in call.scalars:
                read_int(n, len(key.scalar_dtypes), f"a number of call {k}")
        for p, v in zip(outs, key.results, strict=True):
            read_int(v, len(key.dtypes), "an output")
            last = ONE_ELEMENT if key.is_per_row[v] else SHARED_ROW
            possible = (last,) if v in key.last_states else (ROWS, PER_ROW)
            require(p.kind in possible, f'an output lies "{KIND_NAMES[p.kind]}"')
        for call in calls:
            if isinstance(call.function, RowTransform):
                _check_transform(key, call)
            if isinstance(call.function, RowFilter):
                _check_filter(key, call)
            if isinstance(call.function, RowLoop):
                _check_loop(key, call)
        check(key)
        _check_lengths(key)
        _check_windows(key)
    require(text(key).encode() == data, "its text is not the one that its graph is written as")
    return key


def parse_feedback(raw: Mapping[str, Any], data: bytes, row_functions: RowFunctions) -> FeedbackKey:
    """Returns the key of a loop's file, as `parse_key` does that of a graph's."""
    with named_problems():
        key = feedback_key(_read_loop(raw, row_functions))
        require(len(key.ins) + len(key.outs) <= MAX_OPERANDS, f"it has {len(key.ins) + len(key.outs)} operands")
    require(feedback_text(key).encode() == data, "its text is not the one that its loop is written as")
    return key


def _read_calls(raw: Mapping[str, Any], functions: Sequence[ElementFunction]) -> tuple[Call, ...]:
    """Returns the calls of the members of a JSON object."""
    count = len(raw["calls"])
    require(count <= MAX_CALLS, f"it has {count} calls, more than {MAX_CALLS}")
    return tuple(
        Call(functions[read_int(c["unit"], len(functions))], tuple(c["takes"]), tuple(c["numbers"]))
        for c in raw["calls"]
    )


def _read_loop(raw: Mapping[str, Any], row_functions: RowFunctions) -> RowLoop:
    """Returns the loop with feedback of the members of a JSON object."""
    ins = tuple(read_dtype(name) for name in raw["inputs"])
    states = read_int(raw["states"], len(ins), "the number of states")
    require(all("scan" not in one for one in raw["units"]), "a loop is within a loop")
    functions = [read_function(one, row_functions) for one in raw["units"]]
    calls = _read_calls(raw, functions)
    results, numbers = tuple(raw["outputs"]), tuple(map(read_dtype, raw["numbers"]))
    require(0 < states <= len(results), f"it has {states} states and {len(results)} outputs")
    for v in results:
        read_int(v, len(ins) + sum(len(c.function.outs) for c in calls), "an output")
    key = feedback_key(row_loop(ins, calls, results, numbers, states))
    for k, call in enumerate(calls):
        elementwise = stage_kind(call.function) == ELEMENTS and not call.function.positional
        require(elementwise, f"call {k} is no element's")
        for v in call.operands:
            read_int(v, key.first_value(k), f"what call {k} takes")
        for n in call.scalars:
            read_int(n, len(numbers), f"a number of call {k}")
    before, after = ([p.dtype for p in ports[:states]] for ports in (key.ins, key.outs))
    require(before == after, f"its states change from {before} to {after}")
    check(key)
    return row_loop(ins, calls, results, numbers, states)


@contextmanager
def named_problems() -> Iterator[None]:
    """Raises ValueError with the problem where the body fails at a missing or unknown name, or at a
    value of another type."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"it has no {error}, or one that is not known") from None
    except (TypeError, AttributeError) as error:
        raise ValueError(f"a value has another type than it should: {error}") from None
    except AssertionError:
        raise ValueError("its calls' dtypes don't fit each other") from None


def require(condition: bool, problem: str) -> None:
    """Raises ValueError with `problem` unless the condition holds."""
    if not condition:
        raise ValueError(problem)


def read_int(value: Any, end: int, what: str = "a number") -> int:
    """Returns an integer of a file. Raises ValueError if it is none from 0 to `end` - 1."""
    require(type(value) is int and 0 <= value < end, f"{what} is {value!r}, not one from 0 to {end - 1}")
    return int(value)


def read_dtype(name: str) -> dtype:
    """Returns the dtype of this name. Raises ValueError if there is none."""
    found = getattr(dtypes, name, None)
    require(isinstance(found, dtype) and found in FULL, f"{name!r} is no dtype of graphs")
    assert isinstance(found, dtype)
    return found


def _check_signals(key: StagedKey) -> None:
    """Raises ValueError if frames are of several signals that no stage reads."""
    framed = {p.kind for p in key.ins} & {FRAMES, REFLECTED}
    require(not key.signal or framed == {FRAMES}, "it has several signals, and no frames of them")
    require(not key.lanes or key.signal % key.lanes == 0, f"signals {key.signal} elements apart begin within beats")


def _check_transform(key: StagedKey, call: Call) -> None:
    """Raises ValueError if no dataflow stage computes the transform `call`."""
    refusal = transform_refusal(key.length, key.lanes)
    require(not refusal, refusal)
    dtype = call.function.compute
    require(dtype is dtypes.complex64, f"it transforms {dtype.name}, and stages complex64")
    require(not any(key.is_per_row[v] for v in call.operands), "it transforms what is of a row")


def _read_spans(inputs: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    spans = tuple(read_int(p.get("span", 1), MAX_LENGTH + 1, "a span") for p in inputs)
    require(all(spans), "a span is 0")
    return spans if any(n != 1 for n in spans) else ()


def _check_filter(key: StagedKey, call: Call) -> None:
    """Raises ValueError if no dataflow stage computes the filter `call`."""
    assert isinstance(call.function, RowFilter)
    refusal = filter_refusal(call.function, key.length, key.lanes)
    require(not refusal, refusal)
    signal, taps = call.operands
    require(not key.is_per_row[signal], "it filters what is of a row")
    from_port = taps < len(key.ins) and key.ins[taps].kind == TAPS
    require(from_port and key.taps_of(taps) == call.function.taps, f"a filter of {call.function.taps} taps has others")


def _check_loop(key: StagedKey, call: Call) -> None:
    """Raises ValueError if no dataflow stage computes the loop `call`."""
    assert isinstance(call.function, RowLoop)
    states, signals = call.function.states, call.function.signals
    require(signals in (1, key.length), f"a loop has {signals} signals, and rows {key.length} elements")
    require(
        signals > 1 or all(key.is_per_row[v] for v in call.operands[:states]), "a loop begins with what is of elements"
    )
    require(not any(key.is_per_row[v] for v in call.operands[states:]), "a loop steps over what is of a row")
    require(not any(key.is_half[v] for v in call.operands), "a loop steps over half a spectrum")


def _check_lengths(key: StagedKey) -> None:
    """Raises ValueError if a call has rows of unequal or unsuitable lengths, or misuses taps."""
    taps = {k for k, p in enumerate(key.ins) if p.kind == TAPS}
    for k, call in enumerate(key.calls):
        halves = {key.is_half[v] for v in call.operands if not key.is_per_row[v]}
        whole_rows = call.function.reduction is not None or isinstance(call.function, (RowTransform, RowFilter))
        require(halves != {True} or not whole_rows, f"call {k} takes half a spectrum, and whole rows")
        require(len(halves) <= 1, f"call {k} takes half a spectrum beside whole rows")
    for k, call in enumerate(key.calls):
        operands = call.operands[:1] if isinstance(call.function, RowFilter) else call.operands
        require(taps.isdisjoint(operands), f"call {k} takes taps, and is no filter")
        lengths = {key.factors[v] for v in operands if not key.is_per_row[v]}
        require(len(lengths) <= 1, f"call {k} takes rows of several lengths")
        if isinstance(call.function, RowFilter):
            require(max(lengths) % call.function.stride == 0, f"call {k} decimates rows that are too short")
        elif isinstance(call.function, RowTransform):
            require(lengths == {1}, f"call {k} transforms rows of another length")
    require(taps.isdisjoint(key.results), "an output has taps")
    taken = {v for call in key.calls for v in call.operands}
    require(key.last_states.isdisjoint(taken), "a call takes a loop's last state, which needs all steps first")


def _check_windows(key: StagedKey) -> None:
    """Raises ValueError if a graph with windows has other stages or operands, or no halo of an
    operand; or if one without windows has a width or a halo."""
    windows = [function for function in key.functions if isinstance(function, Window)]
    planes = [p.dtype for p in key.ins if p.kind == ROWS]
    kinds = (HALO, ABOVE) if key.scatters else (HALO,)
    beside = [Port(element, kind) for kind in kinds for element in planes]
    found = [p for p in key.ins if p.kind in (HALO, ABOVE)]
    require(key.above == 0 or bool(key.scatters), "it begins above its rows, and writes no part of a plane")
    if not windows and not key.scatters:
        require(not key.width and not found, "it has a width or a halo, and no window")
        return
    require(0 < key.width <= key.length, f"its results have {key.width} elements a row, of {key.length}")
    require(key.length % key.lanes == 0, f"its rows of {key.length} are no whole beats of {key.lanes}")
    for function in windows:
        refusal = window_refusal(function, key.length)
        require(not refusal, refusal)
    require(
        {p.kind for p in key.ins} <= {ROWS, ONE_ELEMENT, HALO, ABOVE},
        "an operand beside windows is neither rows nor one element",
    )
    first = len(key.ins) - len(beside)
    require(list(key.ins[first:]) == beside == found, "its halos are not those of its rows")
    require(all(p.kind == ROWS for p in key.outs), "a result beside windows is not of rows")
    other = {stage_kind(function) for function in key.functions} - {ELEMENTS, WINDOW, SCATTER}
    require(
        not other and not key.spans, f"it has windows beside {', '.join(sorted(other)) or 'rows of several lengths'}"
    )
    require(
        all(v >= len(key.ins) and not key.is_per_row[v] for v in key.results), "a result beside windows is an operand"
    )
    taken = {v for call in key.calls for v in call.operands}
    require(taken.isdisjoint(range(first, len(key.ins))), "a call takes a halo")
    for k, call in enumerate(key.calls):
        one_value = stage_kind(call.function) != ELEMENTS and all(key.is_per_row[v] for v in call.operands)
        require(not one_value, f"call {k} moves one value for all elements")
    refusal = halo_refusal(key.halo)
    require(not refusal, refusal)
    if key.scatters:
        require(key.above % key.lanes == 0, f"it begins {key.above} elements above its rows, no beats of {key.lanes}")
        refusal = above_refusal(key)
        require(not refusal, refusal)
        widest = max(function.columns[1] for function in key.scatters)
        require(widest <= key.length, f"it writes up to column {widest} of rows of {key.length}")
        return
    seen = max(key.reached.values())
    require(key.width + seen <= key.length, f"results of {key.width} elements reach {seen} further, of {key.length}")


def read_function(raw: Mapping[str, Any], row_functions: RowFunctions) -> ElementFunction:
    """Returns the element function, transform or filter that the JSON object `raw` describes.
    Raises ValueError if there is none."""
    name, compute = raw["name"], read_dtype(raw["compute"])
    outs = [read_dtype(dtype_name) for dtype_name, _ in raw["outs"]]
    ins = [None if dtype_name is None else read_dtype(dtype_name) for dtype_name, _ in raw["ins"]]
    candidates: list[ElementFunction] = []
    if "filter" in raw:
        candidates += _filters(raw["filter"], ins)
    elif "window" in raw:
        candidates += _windows(raw["window"], ins)
    elif "scatter" in raw:
        candidates += _scatters(raw["scatter"], ins)
    elif "scan" in raw:
        signals = read_int(raw["scan"].get("signals", 1), MAX_LENGTH + 1)
        candidates.append(replace(_read_loop(raw["scan"], row_functions), signals=signals))
    elif "transform" in raw:
        forms = [(False, False), (True, False), (False, True)] if compute is dtypes.complex64 else []
        candidates += [row_transform(compute, a, scaled, half) for a, half in forms for scaled in (False, True)]
    elif isinstance(name, str):
        candidates += row_functions(name, compute, outs, ins)
    for function in candidates:
        if function_json(function) == raw:
            return function
    for kind in ("filter", "window", "scatter", "transform", "scan"):
        if kind in raw:
            raise ValueError(f"its unit {name!r} is no {kind}")
    if candidates:
        raise ValueError(f"its unit {name!r} in {compute.name} is not what the op computes here")
    raise ValueError(
        f"its unit {name!r} in {compute.name} is no op that is known with these dtypes; the inventory has to "
        "import the module of an op of your own"
    )


def _windows(raw: Mapping[str, Any], ins: Sequence[dtype | None]) -> Iterable[ElementFunction]:
    """Returns the window that the JSON object `raw` describes; offsets are sorted and distinct."""
    offsets = tuple((read_int(row, MAX_LENGTH + 1), read_int(column, MAX_LENGTH + 1)) for row, column in raw["offsets"])
    require(bool(offsets) and list(offsets) == sorted(set(offsets)), "the offsets of a window are not in order")
    require(len(offsets) <= MAX_CALLS, f"a window has {len(offsets)} offsets, of {MAX_CALLS}")
    if len(ins) == 1 and ins[0] is not None:
        yield window(ins[0], offsets)


def _scatters(raw: Mapping[str, Any], ins: Sequence[dtype | None]) -> Iterable[ElementFunction]:
    """Returns the write to a part of a plane that the JSON object `raw` describes."""
    pairs = []
    for word in ("anchor", "rows", "columns"):
        first, second = raw[word]
        pairs.append((read_int(first, MAX_LENGTH + 1), read_int(second, MAX_LENGTH + 1)))
    if len(ins) == 2 and ins[0] is not None and ins[0] is ins[1]:
        yield slice_scatter(ins[0], *pairs)


def _filters(raw: Mapping[str, Any], ins: Sequence[dtype | None]) -> Iterable[ElementFunction]:
    """Returns the filter that the JSON object `raw` describes, or nothing if no filter has its
    dtypes."""
    counts = (
        read_int(raw["taps"], MAX_TAPS + 1),
        read_int(raw["stride"], MAX_LENGTH + 1),
        read_int(raw["before"], MAX_TAPS),
    )
    if len(ins) != 2:
        return
    samples, taps = ins
    if samples is None or taps is None or samples.name not in SAMPLES or taps not in (samples, samples.to_real()):
        return
    yield row_filter(samples, taps, *counts, read_int(raw["rows"], MAX_LENGTH + 1))
