"""Queries of a tensor's dtype and device, the methods that change them, and a tensor's repr."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes
from ..._device import CPU, current_device, resolve
from ..._printing import needs_summary, summary_blocks, tensor_str
from ..._tensor import MAX_NUMPY_DIMS, Tensor, method
from ...dtypes.limits import to_computable
from ...errors import creation as errors_creation
from ...execute.output import suggested_format
from ...execute.pointwise import convert
from ...formats import contiguous_format, memory_format, preserve_format
from ...interop.host import export
from ...rows.catalogue import op
from ...rows.spelling import written
from ...terminal import size
from ..view.layout import basic_index, layout
from .conversion import resize_

if TYPE_CHECKING:
    from ..._device import DeviceLike


# torch's names of tensor types, in Tensor.type().
_NAMES = {
    dtypes.bool: "Bool", dtypes.uint8: "Byte", dtypes.uint16: "UInt16", dtypes.uint32: "UInt32",
    dtypes.uint64: "UInt64", dtypes.int8: "Char", dtypes.int16: "Short",
    dtypes.float8_e4m3fn: "Float8_e4m3fn", dtypes.float8_e5m2: "Float8_e5m2",
    dtypes.complex32: "ComplexHalf",
    dtypes.int32: "Int", dtypes.int64: "Long", dtypes.float16: "Half",
    dtypes.bfloat16: "BFloat16", dtypes.float32: "Float", dtypes.float64: "Double",
    dtypes.complex64: "ComplexFloat", dtypes.complex128: "ComplexDouble",
}  # fmt: skip
_DTYPES = {f"{name}Tensor": d for d, name in _NAMES.items()}


def _checked(input: Any, function: str) -> Tensor:
    layout(input, function)
    return input


@op(method=False)
def is_tensor(obj: Any) -> bool:
    """True if `obj` is a Tensor."""
    return isinstance(obj, Tensor)


def _enter_query(name: str, returns: str, attribute: str, doc: str) -> None:
    """Enters the function that returns an attribute of a tensor, which it checks to be one."""
    body = f"return checked(input, NAME).{attribute}"
    op(method=False)(written(name, "input: Tensor", body, doc, returns, __name__=__name__, checked=_checked))


_enter_query("numel", "int", "numel()", "Returns the number of elements.")
_enter_query("get_device", "int", "get_device()", "Returns the index of the tensor's fpga; -1 on the host.")
_enter_query(
    "is_inference", "bool", "is_inference()",
    "Returns False: ftensor records no gradients, so it has no inference tensors.",
)  # fmt: skip
_enter_query(
    "is_floating_point", "bool", "_dtype.is_floating_point", "True if the dtype is a real floating-point dtype."
)
_enter_query("is_complex", "bool", "_dtype.is_complex", "True if the dtype is complex.")
_enter_query("is_signed", "bool", "_dtype.is_signed", "True if the dtype has negative numbers.")
_enter_query("is_conj", "bool", "is_conj()", "Returns False: ftensor's conj computes at once.")
_enter_query("is_neg", "bool", "is_neg()", "Returns False: ftensor's negations are computed at once.")


@op()
def is_nonzero(input: Tensor) -> bool:
    """True if the one element is not zero. Raises RuntimeError for several elements."""
    return bool(_checked(input, "is_nonzero"))


@op(function=False, prop=True)
def is_cpu(input: Tensor) -> bool:
    """True if the tensor is on the host."""
    return input._storage.device.type == "cpu"


@op(function=False, prop=True)
def is_fpga(input: Tensor) -> bool:
    """True if the tensor is on an `fpga` device."""
    return input._storage.device.type == "fpga"


@op(
    function=False,
    prop=True,
    aliases=("is_meta", "is_mkldnn", "is_mps", "is_nested", "is_quantized", "is_sparse", "is_xpu"),
)
def is_cuda(input: Tensor) -> bool:
    """False: a tensor is strided and on `fpga` or `cpu`."""
    return False


@op(function=False, prop=True)
def data(input: Tensor) -> Tensor:
    """A new Tensor over the same elements, like `detach()`."""
    return input._view(input._shape, input._strides, input._offset)


@op(function=False, prop=True)
def is_leaf(input: Tensor) -> bool:
    """True: ftensor records no gradients, so no tensor is the result of a recorded op."""
    return True


@op(function=False, prop=True)
def grad(input: Tensor) -> None:
    """None: ftensor records no gradients."""
    return None


@op(function=False)
def requires_grad_(input: Tensor, requires_grad: bool = True) -> Tensor:
    """Returns the tensor itself. Raises RuntimeError for True: ftensor records no gradients."""
    if requires_grad:
        raise errors_creation.no_autograd("requires_grad_")
    return input


@op(function=False)
def is_pinned(input: Tensor, device: Any = None) -> bool:
    """Returns False: memory is not pinned."""
    return False


@op(function=False)
def cpu(input: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
    """Returns the tensor on the host; the tensor itself if it is there."""
    return convert(input, input._dtype, CPU, False, memory_format)


@op(function=False)
def fpga(
    input: Tensor,
    device: DeviceLike | None = None,
    non_blocking: bool = False,
    memory_format: memory_format = preserve_format,
) -> Tensor:
    """Returns the tensor on an fpga, by default the current one."""
    target_device = resolve("fpga" if device is None else device)
    return convert(input, input._dtype, target_device, False, memory_format)


@op(function=False, forms=("type() -> str", "type(dtype, non_blocking=False) -> Tensor"))
def type(input: Tensor, dtype: dtypes.dtype | str | None = None, non_blocking: bool = False) -> str | Tensor:
    """Without `dtype` returns the name of the tensor's type, such as "ftensor.FloatTensor" (on an
    fpga "ftensor.fpga.FloatTensor"). Otherwise converts the tensor to a dtype or to such a name,
    which may be torch's ("torch.FloatTensor": on the host)."""
    device = input._storage.device
    if dtype is None:
        module_prefix = "" if device.type == "cpu" else "fpga."
        return f"ftensor.{module_prefix}{_NAMES[input._dtype]}Tensor"
    if isinstance(dtype, dtypes.dtype):
        return convert(input, dtype, device)
    word: Any = dtype
    if isinstance(word, builtins.type):
        raise errors_creation.bad_type_name(word, dtypes.parse_dtype(word))
    if not isinstance(word, str):
        raise errors_creation.bad_type(word)
    package, _, name = word.rpartition(".")
    library, _, module_prefix = package.partition(".")
    if library not in ("ftensor", "torch") or module_prefix not in ("", "fpga") or name not in _DTYPES:
        raise errors_creation.bad_type_name(word, dtypes.parse_dtype(word))
    if (not module_prefix) != (device.type == "cpu"):
        device = resolve(module_prefix) if module_prefix else CPU
    return convert(input, _DTYPES[name], device)


@op(function=False)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns the tensor in `other`'s dtype, on its device."""
    template = _checked(other, "type_as")
    return convert(input, template._dtype, template._storage.device)


@op()
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: memory_format = contiguous_format) -> Tensor:
    """Resizes the tensor to another tensor's shape; with `preserve_format` channels-last if that
    tensor is."""
    template = _checked(the_template, "resize_as_")
    target_format = suggested_format(template) if memory_format is preserve_format else memory_format
    return resize_(input, template._shape, memory_format=target_format)


@method("__repr__")
@method("__str__")
def show(t: Tensor) -> str:
    """Returns the text of `repr(t)`."""
    device = t.device
    name = None if device == current_device() else str(device)
    if not t.numel():  # some empty shapes are invalid for NumPy
        return tensor_str(t._host_values(), t._dtype, name, shape=t._shape)
    if not needs_summary(t.numel()):
        return tensor_str(t._host_values(), t._dtype, name, shape=t._shape)
    full_shape = t._shape
    if t.ndim > MAX_NUMPY_DIMS:
        long_dims = [d for d, size in enumerate(full_shape) if size > 1]
        t = t._view(tuple([full_shape[d] for d in long_dims]), tuple([t._strides[d] for d in long_dims]), t._offset)
    shape, blocks = summary_blocks(t._shape)
    small = np.empty(shape, to_computable(np.empty(0, t._dtype.numpy), t._dtype).dtype)
    for source, target in blocks:
        sample = t._view(*basic_index(t._shape, t._strides, t._offset, source))
        small[target] = sample._host_values()
    return tensor_str(small, t._dtype, name, shape=full_shape)


@method("_repr_html_")
def notebook(t: Tensor) -> str:
    """Returns the HTML that notebooks show of a tensor: shape, dtype, device, bytes, and a small
    picture of the values of one or two dims, in which large tensors are sampled at every n-th
    value. Other tensors show their text."""
    from ..._printing import POINTS, SIDE, every, tensor_html  # only notebooks need it

    facts: list[tuple[str, object]] = [
        ("shape", tuple(t._shape)),
        ("dtype", t._dtype),
        ("device", t.device),
        ("memory", size(t.nbytes)),
    ]
    if t.ndim not in (1, 2) or not t.numel():
        return tensor_html(facts, show(t), None)
    limit = POINTS if t.ndim == 1 else SIDE
    steps = [every(n, limit) for n in t._shape]
    notes = ["magnitudes"] if t._dtype.is_complex else []
    notes += ["every " + " x ".join(map(str, steps)) + " elements"] if max(steps) > 1 else []
    facts += [("picture", ", ".join(notes))] if notes else []
    index = tuple(slice(None, None, step) for step in steps)
    sample = t._view(*basic_index(t._shape, t._strides, t._offset, index))
    return tensor_html(facts, "", to_computable(export(sample, non_blocking=True)[0], t._dtype))
