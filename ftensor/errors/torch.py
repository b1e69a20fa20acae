"""Messages about torch: its names that ftensor lacks, and ftensor as a device of torch."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .graph import GraphError  # noqa: F401 (a class of torch.txt)
from .message import messages

__getattr__ = messages(__name__)


_OF_GRADIENTS = frozenset(
    """
    autograd backward grad_fn register_hook retain_grad retains_grad output_nr
    register_post_accumulate_grad_hook
    """.split()  # noqa: SIM905
)
_OF_MODELS = frozenset(
    """
    Module ModuleDict ModuleList Parameter ParameterDict ParameterList Sequential Buffer Linear
    Bilinear Embedding EmbeddingBag LSTM GRU RNN LSTMCell GRUCell RNNCell MultiheadAttention
    Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer LayerNorm RMSNorm
    TransformerDecoderLayer GroupNorm PReLU Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
    ConvTranspose3d BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d
    InstanceNorm3d SyncBatchNorm init modules parallel utils optim jit vmap func
    """.split()  # noqa: SIM905
)
_MODEL = (
    'models and what is made for them are torch\'s: model.to("fpga") runs one on the device (ftensor docs torch-device)'
)
_THREADS = "the runtime decides: `taskset -c 0-3 python ...` gives a process four processors"
_FIXED = "every op gives the same result in every run; nothing is to be set"
_PRECISE = "products of float32 are computed in float32, always"
_OWN = "ft.fpga has the same names for ftensor's devices"
_MEMORY = "x.data_ptr() and x.numpy() lead to the memory"
_ELEMENTS = "np.asarray(x) leads to the elements on the host"
# Sentences that say how to get the effect of a name.
_ADVICE = {
    **dict.fromkeys(("get_num_threads", "set_num_threads"), _THREADS),
    **dict.fromkeys(("get_num_interop_threads", "set_num_interop_threads"), _THREADS),
    **dict.fromkeys(("use_deterministic_algorithms", "set_deterministic_debug_mode"), _FIXED),
    **dict.fromkeys(("set_float32_matmul_precision", "get_float32_matmul_precision"), _PRECISE),
    **dict.fromkeys(("Stream", "Event"), _OWN),
    **dict.fromkeys(("Tensor.storage", "Tensor.untyped_storage"), _MEMORY),
    **dict.fromkeys(("Tensor.apply_", "Tensor.map_"), _ELEMENTS),
    "compile": 'ft.jit(function) is for functions of tensors, torch.compile(model, backend="ftensor") torch\'s models',
    "autocast": 'torch\'s device has it: torch.autocast("fpga")',
    "set_default_tensor_type": "ft.set_default_dtype(dtype) and ft.set_default_device(device)",
    "Tensor.to_dense": "every tensor is dense",
}
_OF_DTYPES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
    "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
}  # fmt: skip
# Code with the effect of a name.
_CODE = {
    **{f"{word}Tensor": f"ft.tensor(data, dtype=ft.{of})" for word, of in _OF_DTYPES.items()},
    "to_dlpack": "x.__dlpack__()",
    "Tensor.cuda": 'x.to("fpga")',
    "Tensor.xpu": 'x.to("fpga")',
    "Tensor.resize": "x.resize_(size)",
    "Tensor.solve": "ft.linalg.solve(A, x)",
    "Tensor.symeig": "ft.linalg.eigh(x)",
    "Tensor.eig": "ft.linalg.eig(x)",
    "Tensor.lstsq": "ft.linalg.lstsq(A, x)",
    "solve": "ft.linalg.solve(A, B)",
    "symeig": "ft.linalg.eigh(x)",
    "eig": "ft.linalg.eig(x)",
    "lstsq": "ft.linalg.lstsq(A, B)",
    "matrix_rank": "ft.linalg.matrix_rank(x)",
    "lobpcg": "ft.linalg.eigh(x)",
    "hash_tensor": "torch.hash_tensor(x.to_torch())",
    "Tensor.hash_tensor": "x.to_torch().hash_tensor()",
    "native_channel_shuffle": "ft.nn.functional.channel_shuffle(x, groups)",
}


@cache
def torch_names() -> frozenset[str]:
    """Returns torch's public names: "cumsum()", "Tensor.cumsum()", "fft", "uint16". Functions and
    methods end in brackets. `make stubs` writes the list."""
    return frozenset(Path(__file__).with_name("torch_names.txt").read_text().split())


def no_cuda(name: str) -> AttributeError:
    """Error for a name of `torch.cuda` other than the availability queries."""
    return AttributeError(f"there is no CUDA here, and no ft.cuda.{name}; {_OWN}", name=name)


def no_attribute(owner: object, path: str, name: str, alternative: str = "") -> AttributeError:
    """Error for an attribute that an object doesn't have. `path` is torch's name of the object: "",
    "linalg", "Tensor". `alternative` is code with the effect of torch's attribute.

    Python adds the nearest existing name to the traceback.
    """
    method = path == "Tensor"
    module = ".".join(filter(None, ("ftensor", path)))
    text = f"{'Tensor' if method else f'module {module!r}'} has no attribute {name!r}"
    full = ".".join(filter(None, (path, name)))
    names: frozenset[str] = frozenset() if name.startswith("_") else torch_names()
    is_torch_name = full in names or f"{full}()" in names
    alternative = alternative or _CODE.get(full, "")
    if name in _OF_GRADIENTS:
        text += "; gradients are torch's alone (ftensor docs differences)"
    elif name in _OF_MODELS and path in ("", "nn"):
        text += f"; {_MODEL}"
    elif full in _ADVICE:
        text += f"; {_ADVICE[full]}"
    elif alternative:
        text += f"; {'torch has it, and ' * is_torch_name}{alternative} is the nearest way"
    elif is_torch_name:
        text += "; torch has it, ftensor does not (ftensor docs differences)"
    return AttributeError(text, name=name, obj=owner)
