"""Pointwise ops: `pointwise` runs an op on its operands. Copies and fills are such ops.

For the first call with some dtypes, shapes and strides, `prepare` promotes dtypes, plans the loops
and chooses the kernels. Later calls with equal ones reuse that launch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes, errors
from .._device import backend_of, current_device
from .._tensor import Tensor
from ..dtypes import can_cast, dtype, get_default_dtype, result_dtype, scalar_dtype
from ..errors import creation as errors_creation
from ..formats import memory_format, preserve_format
from ..iterator.plan import Plan, Tile, like_strides, plan_map, split, tiled
from ..iterator.shape import Ints, broadcast_shapes, contiguous_strides, has_internal_overlap, numel
from ..kernels import select
from ..kernels.key import lanes_for
from ..rows.catalogue import name_called
from ..rows.copies import COPY, FILL
from ..rows.op import Op, Promote, compute_and_result_dtypes, refuses_bare
from ..runtime.launch_cache import is_available
from .dispatch import run_uncached
from .keys import op_key
from .launch import Launch, Output, Step, check_memory
from .output import as_bits, check_device, check_dtype, check_overlap, layout_strides, new, resize_out, suggested_format

if TYPE_CHECKING:
    from .._device import device
    from ..runtime.backend import Backend


# Users' own kernels of ops (own/register.py), used unless they return NotImplemented. Their
# launches are not cached, so each call runs the user's function.
replaced: dict[Op, Callable[..., Any]] = {}


def pointwise(
    op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...] = (), out: Tensor | None = None, inplace: bool = False
) -> Tensor:
    """Runs `op` on tensors and Python numbers. Writes to `out`, if passed.

    Raises RuntimeError for shapes that don't broadcast, tensors on different devices, a result that
    cannot be cast to `out`, and an `out` that overlaps an input in part. Raises NotImplementedError
    for dtypes that the op has no expression for.
    """
    if out is not None and type(out) is not Tensor:
        raise errors.not_a_tensor(name_called(op.name), "out", out)
    first = inputs[0] if inputs else out
    if type(first) is not Tensor:
        if op.allows_only_scalars and out is None:
            inputs = _with_tensor(inputs)
        first = _first(op, inputs, out)
    storage = first._storage
    backend = storage.backend
    call_key: tuple[Any, ...] = (
        op,
        None if out is None else out._key,
        *[x._key if type(x) is Tensor else x.__class__ for x in inputs],
    )
    if params:
        call_key += tuple([p.__class__ for p in params])
    if backend.target.is_board:
        call_key += _alignments(inputs, out)
    results = backend.launches[call_key].call(inputs, params, out)
    if results is not None:
        return results[0]
    new, device = call_key not in backend.launches, storage.device
    tensors = [x for x in inputs if type(x) is Tensor]
    for x in tensors:
        if x._storage.device is not device:
            return pointwise(op, _one_device(op, inputs), params, out, inplace)
    if new:
        inputs = tuple([_as_operand(op, x) for x in inputs])
        if out is not None:
            check_dtypes(op, backend, inputs, params, out)
    if out is not None:
        check_device(op.name, out, device)
        check_overlap(op.name, out, tensors, aligned=True)
        if new and tensors and not inplace:
            shape = broadcast_shapes(*[x._shape for x in tensors])
            if out._shape != shape:  # an output that is also an input can't be resized
                fresh = planned(op, inputs, common_dtype(op, inputs)).out_strides
                resize_out(out, shape, fixed=any(x is out for x in tensors), strides=fresh)
                return pointwise(op, inputs, params, out)
    if op in replaced and device.type == "fpga":
        replacement = replaced[op](inputs, params, out)
        if replacement is not NotImplemented:
            return replacement
        call_key += ("declined",)  # a launch stored under the plain key would hide the user's function
    scalars = [x for x in inputs if type(x) is not Tensor]
    scalars += params
    args = (op, inputs, params, out, inplace)
    return run_uncached(backend, call_key, prepare, pointwise, args, tensors, scalars, out)[0]


def _first(op: Op, inputs: tuple[Any, ...], out: Tensor | None) -> Tensor:
    """Returns a tensor on the op's device. Raises TypeError if there is none."""
    for x in (*inputs, out):
        if type(x) is Tensor:
            return x
    raise errors.needs_a_tensor(name_called(op.name), inputs)


def _with_tensor(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the inputs, with the first as a tensor if all are numbers."""
    if not all(isinstance(x, (bool, int, float, complex)) for x in inputs):
        return inputs
    first = new((), scalar_dtype(inputs[0]), current_device())
    return (pointwise(COPY, inputs[:1], (), first, True), *inputs[1:])


def _alignments(inputs: tuple[Any, ...], out: Tensor | None) -> tuple[bool, ...]:
    tensors = [x for x in (*inputs, out) if type(x) is Tensor]
    aligned = [not x._place() for x in tensors]
    return (*aligned, out is not None and in_order(inputs, out))


def _as_operand(op: Op, x: Any) -> Any:
    """Returns an input as a tensor or Python number. Raises TypeError for other types."""
    if type(x) is Tensor or isinstance(x, (bool, int, float, complex)):
        return x
    if isinstance(x, np.generic) and x.dtype.kind in "biufc":
        return x.item()
    raise errors.not_a_tensor_or_number(name_called(op.name), x)


def _one_device(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the inputs with zero-dim host tensors moved to the others' device, as in torch.
    Raises RuntimeError for other tensors on several devices."""
    tensors = [x for x in inputs if type(x) is Tensor]
    full = [x for x in tensors if x._shape or x.device.type != "cpu"]
    target = (full or tensors)[0].device
    if any(x.device != target for x in full):
        raise errors.different_devices(name_called(op.name), [x.device for x in tensors])
    return tuple(x.to(target) if type(x) is Tensor else x for x in inputs)


def common_dtype(op: Op, inputs: Sequence[Any]) -> dtype:
    """Returns the dtype that the inputs promote to, bool masks excluded."""
    return result_dtype(
        [
            (x._dtype, 0 if x._shape else 1) if type(x) is Tensor else (scalar_dtype(x), 2)
            for k, x in enumerate(inputs)
            if k not in op.masks
        ]
    )


def prepare(op: Op, inputs: Sequence[Any], params: Sequence[Any], out: Tensor | None, inplace: bool) -> Launch:
    """Returns the launch of a pointwise call. `out`, if passed, has the result's shape.

    Raises TypeError, RuntimeError and NotImplementedError for operands that the op, the device or
    the output's dtype does not support.
    """
    if op.copies_bits and out is not None:
        out, *inputs = as_bits([out, *inputs])
    tensors = [x for x in inputs if type(x) is Tensor]
    backend = (tensors[0] if out is None else out)._storage.backend
    common, compute, result = check_dtypes(op, backend, inputs, params, out)
    written = result if out is None else out._dtype
    dtypes = [written] + [x._dtype for x in tensors]
    plan = planned(op, inputs, common, out)
    scalar_dtype = common if op.round_scalars and common.compute is compute else compute
    rounded = (scalar_dtype,) * (len(inputs) - len(tensors)) + (compute,) * len(params)
    result_of = Output(written, plan.out_shape, plan.out_strides)
    outputs = check_memory(backend, result_of) if out is None else (result_of,)
    return Launch(
        steps(op, backend, inputs, out, plan, compute, dtypes),
        1 + len(tensors),
        outputs,
        rounded,
        fresh=out is None,
        arguments=tuple([type(x) is Tensor for x in inputs]),
    )


def planned(op: Op, inputs: Sequence[Any], common: dtype, out: Tensor | None = None) -> Plan:
    """Returns the loop nest over the inputs, which promote to `common`, and the output. Without
    `out` the output's strides follow the inputs."""
    tensors = [x for x in inputs if type(x) is Tensor]
    shapes, strides = [x._shape for x in tensors], [x._strides for x in tensors]
    if out is not None:
        return plan_map(shapes, strides, out=(out._shape, out._strides))
    scalars = op.numbers_affect_strides and len(tensors) < len(inputs)
    if op.promote in (Promote.COMPLEX_TO_REAL, Promote.FLOAT_REAL) and inputs[0]._dtype.is_complex:
        # torch allocates the results of these ops by `empty_like`.
        return plan_map(shapes, strides, out=(shapes[0], like_strides(shapes[0], strides[0])))
    copied = _as_converted(op, inputs, common)
    if copied == strides:
        return plan_map(shapes, strides, scalars=scalars)
    # On the CPU torch converts whole operands first; the result's layout follows the copies.
    like = plan_map(shapes, copied, scalars=scalars)
    return plan_map(shapes, strides, out=(like.out_shape, like.out_strides))


def _as_converted(op: Op, inputs: Sequence[Any], common: dtype) -> list[Ints]:
    """Returns the strides that the inputs would have after torch converted them to the common
    dtype."""
    if op.promote in (Promote.INT_TO_FLOAT, Promote.FLOAT_REAL) and common.kind in "bui":
        common = get_default_dtype()
    return [
        x._strides if x._dtype is common or k in op.masks else like_strides(x._shape, x._strides)
        for k, x in enumerate(inputs)
        if type(x) is Tensor
    ]


def check_dtypes(
    op: Op, backend: Backend, inputs: Sequence[Any], params: Sequence[Any], out: Tensor | None
) -> tuple[dtype, dtype, dtype]:
    """Returns (the inputs' common dtype, the compute dtype, the result's dtype). Raises the op's
    errors for operands that it does not support."""
    if len(inputs) > len(op.masks):
        common = common_dtype(op, inputs)
    else:
        assert out is not None
        common = out._dtype
    for k in op.tensors:
        if type(inputs[k]) is not Tensor:
            raise errors.not_a_tensor(op.name, k + 1, inputs[k])
    if op.check is not None:
        op.check(op, inputs, params, common)
    compute, result = compute_and_result_dtypes(op.promote, common, backend.properties.has_float64)
    if out is not None and not (op.exact_out or op.any_out or can_cast(result, out._dtype)):
        raise errors.cannot_cast_result(name_called(op.name), result, out._dtype)
    is_supported = op.expression(compute) and common.name not in op.refuses
    if out is not None and op.exact_out and out._dtype is not result:
        # In ops on real dtypes only, torch checks for complex numbers first.
        if is_supported or not common.is_complex or op.float_only or not op.body:
            raise errors.out_dtype(op.name, result, out._dtype)
    if not is_supported:
        raise op.refusal(op.name, common)
    if refuses_bare(op.promote, op.bare, common):
        raise errors.not_implemented_for(op.name, common)
    written = result if out is None else out._dtype
    for d in [written, *[x._dtype for x in inputs if type(x) is Tensor], compute]:
        if d.name in ("float64", "complex128") and not backend.properties.has_float64:
            raise errors.no_float64(d, backend.properties.name)
    return common, compute, result


def steps(
    op: Op, backend: Backend, inputs: Sequence[Any], out: Tensor | None, plan: Plan, compute: dtype, dtypes: list[dtype]
) -> tuple[Step, ...]:
    """Returns the steps that compute a plan: none if it is empty, one usually, several if it is
    tiled or exceeds 32-bit indexing."""
    if plan.shape == (0,):
        return ()
    target = backend.target
    lanes = lanes_for(dtypes, compute, target.lanes_bytes)
    operands = tuple([x._dtype if type(x) is Tensor else None for x in inputs])
    scalars = len(dtypes) <= len(inputs) or bool(op.params)
    steps = []
    ordered = out is not None and in_order(inputs, out)
    anywhere = target.processor and not ordered
    each = 1
    if target.processor:
        each = select.additions([op.expression(compute), *[text for _, text in op.lets]])
    if select.needs_split(plan):
        tiles = [Tile(s, plan.strides, moved) for s, moved in split(plan.shape, plan.strides)]
    elif anywhere:
        tiles = tiled(plan.shape, plan.strides)
    else:
        tiles = [Tile(plan.shape, plan.strides, None)]
    pointers = tuple(range(len(dtypes)))
    for shape, strides, moved in tiles:
        n_lanes = lanes
        pieces = False
        if target.is_board and not _in_beats(inputs, out, dtypes, shape, strides, moved, lanes):
            # A wide port would read wrong data, unless rows pass in pieces.
            pieces = target.realigns and lanes > 1
            pieces &= _in_pieces(inputs, out, dtypes[0], shape, strides, moved)
            n_lanes = lanes if pieces else 1
        if anywhere:
            shape, strides = select.long_rows(shape, strides, lanes)
        choice = select.choose_map(shape, strides, backend.units, target, n_lanes, each, ordered)
        key = op_key(op, choice.skeleton, compute, n_lanes, dtypes[0], operands, choice.kinds)
        narrow, is_built = n_lanes, is_available(backend, key)
        while narrow > 1 and not is_built:
            # The ports of an image may be narrower than the launch's vectors, as on some boards.
            narrow //= 2
            narrow_key = op_key(op, choice.skeleton, compute, narrow, dtypes[0], operands, choice.kinds)
            if is_built := is_available(backend, narrow_key):
                key = narrow_key
        if not is_built:
            strided = select.choose_strided(shape, strides, backend.units, target, ordered)
            alternatives = [(strided, 1)]
            if n_lanes > 1 and (pieces or _whole_rows(inputs, out, shape, n_lanes)):
                rows = select.as_vector_rows(strided)
                widths = [n_lanes >> k for k in range(1 if pieces else n_lanes.bit_length() - 1)]
                alternatives = [*((rows, width) for width in widths), *alternatives]
            for alternative, width in alternatives:
                narrow_key = op_key(op, "rows", compute, width, dtypes[0], operands, alternative.kinds)
                if is_available(backend, narrow_key):
                    key, choice = narrow_key, alternative
                    break
        geometry = choice.geometry
        steps.append(
            Step(
                key,
                choice.units,
                pointers,
                pointers,
                moved,
                scalars,
                n=choice.n if geometry is None else None,
                geometry=geometry or (),
                work=numel(shape),
            )
        )
    return tuple(steps)


def in_order(inputs: Sequence[Any], out: Tensor) -> bool:
    """True if the elements must be computed in order, because an input may overlap other elements
    of `out`."""
    place = out._offset, out._key
    return any(type(x) is Tensor and x._storage is out._storage and (x._offset, x._key) != place for x in inputs)


def _whole_rows(inputs: Sequence[Any], out: Tensor | None, shape: Ints, lanes: int) -> bool:
    """True if a kernel may compute row by row with vectors: rows are whole vectors, and reading
    ahead is safe."""
    return shape[-1] % lanes == 0 and (out is None or not in_order(inputs, out))


def _in_pieces(
    inputs: Sequence[Any], out: Tensor | None, written: dtype, shape: Ints, strides: Sequence[Ints], steps: Ints | None
) -> bool:
    """True if unaligned rows may be read in pieces of vectors (hls/vitis/row_pieces.h): the plan
    has two to four dims, rows are contiguous or repeat one element, and the results are contiguous
    from a 64-byte boundary on."""
    if not 2 <= len(shape) <= 4 or (out is not None and in_order(inputs, out)):
        return False
    start = (0 if out is None else out._place()) + (steps[0] * written.itemsize if steps else 0)
    dense = strides[0] == contiguous_strides(shape) and start % 64 == 0
    return dense and all(s[-1] in (0, 1) for s in strides[1:])


def _in_beats(
    inputs: Sequence[Any],
    out: Tensor | None,
    dtypes: list[dtype],
    shape: Ints,
    strides: Sequence[Ints],
    steps: Ints | None,
    lanes: int,
) -> bool:
    """True if the plan fits vectors on targets that need them aligned: all operands and all their
    rows begin on 64-byte boundaries, and rows are contiguous whole vectors. A single element that a
    row repeats may have any alignment."""
    if len(shape) > 1 and not _whole_rows(inputs, out, shape, lanes):
        return False
    tensors = [x for x in inputs if type(x) is Tensor]
    alignments = [0 if out is None else out._place()] + [x._place() for x in tensors]
    for k, (d, place) in enumerate(zip(dtypes, alignments)):
        *outer, inner = strides[k]
        if inner == 0:
            continue
        start = place + (steps[k] * d.itemsize if steps else 0)
        if inner != 1 or start % 64 or any(s % lanes for s in outer):
            return False
    return True


def copy(src: Tensor, out: Tensor) -> Tensor:
    """Writes `src`, broadcast and converted, to `out`, which may be on another device."""
    if src._storage.device is not out._storage.device:
        src = move(src, out._storage.device)
    return pointwise(COPY, (src,), (), out, True)


def fill(t: Tensor, value: Any) -> Tensor:
    """Writes a Python number that the dtype can hold to every element."""
    pointwise(FILL, (), (value,), without_expanded_dims(t), True)
    return t


def without_expanded_dims(t: Tensor) -> Tensor:
    """Returns an expanded tensor with its expanded dims at size 1, so that a write visits each
    element once."""
    if 0 not in t._strides or not has_internal_overlap(t._shape, t._strides):
        return t
    shape = tuple([1 if s == 0 and n else n for n, s in zip(t._shape, t._strides)])
    return t._view(shape, t._strides, t._offset)


def move(t: Tensor, device: device) -> Tensor:
    """Returns a copy on another device, in the same layout. The copy passes through the host unless
    both devices share a backend."""
    backend = backend_of(device)
    strides = layout_strides(t, preserve_format)
    copied = new(t._shape, t._dtype, device, strides)
    if backend is t._storage.backend:
        source = Tensor._make(t._storage, t._dtype, t._shape, t._strides, t._offset)
        copied._storage.device = t._storage.device
        pointwise(COPY, (source,), (), copied, True)
        copied._storage.device = device
    else:
        order = sorted(range(t.ndim), key=lambda d: -strides[d])  # in memory order
        backend.upload(copied._storage, 0, np.ascontiguousarray(t._host().transpose(order)))
    return copied


def convert(
    t: Tensor, dtype: dtypes.dtype, device: device, copy: bool = False, memory_format: memory_format = preserve_format
) -> Tensor:
    """Returns `t` in a dtype on a device; `t` itself if nothing changes and `copy` is False."""
    same_layout = memory_format is preserve_format or memory_format is suggested_format(t)
    if t._dtype.is_complex and not dtype.is_complex and dtype is not dtypes.bool:
        warnings.warn(errors_creation.drops_imaginary_parts(), stacklevel=3)
    if t._dtype is dtype and t._storage.device is device and not copy and same_layout:
        return t
    if t._storage.device is not device:
        t = move(t, device)
        if t._dtype is dtype and memory_format is preserve_format:
            return t
    copied = new(t._shape, dtype, device, layout_strides(t, memory_format))
    return pointwise(COPY, (t,), (), copied, True)


def clone(t: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
    """Returns a copy in its own memory."""
    copied = new(t._shape, t._dtype, t._storage.device, layout_strides(t, memory_format))
    return pointwise(COPY, (t,), (), copied, True)


def write_result(op: str, out: Tensor | None, result: Tensor, cast: bool = False, fixed: bool = False) -> Tensor:
    """Returns `result`, or `out` with the result written to it. `cast`: `out` may have any dtype
    that can hold the result. `fixed`: `out` must have the result's shape."""
    if out is None:
        return result
    check_dtype(op, out, result._dtype, cast)
    check_device(op, out, result._storage.device)
    return pointwise(COPY, (result,), (), resize_out(out, result._shape, fixed), True)
