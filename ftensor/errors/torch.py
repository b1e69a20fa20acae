"""Messages about torch: its names that ftensor lacks, and ftensor as a device of torch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .graph import GraphError
from .message import Message

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
    InstanceNorm3d SyncBatchNorm init modules parallel utils optim compile jit vmap func
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
    "autocast": 'torch\'s device has it: torch.autocast("fpga")',
    "set_default_tensor_type": "ft.set_default_dtype(dtype) and ft.set_default_device(device)",
    "Tensor.to_dense": "every tensor is dense",
}
# Code with the effect of a name.
_CODE = {
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

no_gradients = Message(
    RuntimeError, "{function}: ftensor records no gradients; torch's device does (ftensor docs torch-device)"
)


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


def torch_version(version: str, tested: Sequence[str]) -> ImportError:
    """Error for a torch version whose private interface was not tested."""
    return ImportError(
        f"ftensor.torch uses parts of torch that are not public, and was tested with torch "
        f"{', '.join(tested)}, not {version}; pip install 'torch=={tested[-1]}.*' brings that, "
        f"and ftensor without its torch device works beside any"
    )


# The torch device without torch.
no_torch = Message(
    ImportError,
    "ftensor.torch makes ftensor a device of torch, which is not installed here; pip install 'torch==2.13.*'",
)
device_index = Message(
    RuntimeError,
    "fpga:{index} does not exist: torch counts the devices of a backend in Python as one, fpga:0; "
    "ftensor.torch.set_device_mapping() says what that is",
)
cannot_pin = Message(
    RuntimeError,
    "Only dense CPU tensors can be pinned: memory of the device fpga is none of the host's; leave out pin_memory",
)
negative_dimension = Message(RuntimeError, "Trying to create tensor with negative dimension: {size!l}")
two_devices = Message(
    RuntimeError, "Expected all tensors to be on the same device, but found at least two devices, fpga:0 and {other}!"
)
no_generator = Message(
    RuntimeError,
    "there is no torch.Generator of the device fpga, since torch makes these in C++; the device "
    "draws from one generator of its own: torch.manual_seed or torch.fpga.manual_seed seeds it, "
    "torch.fpga.get_rng_state and set_rng_state keep its state",
)
not_pt2e = Message(TypeError, "from_pt2e takes the GraphModule that convert_pt2e returns, not {model!k}")
not_quantized = Message(GraphError, "{op} is no quantized layer (node {node}): {why} (ftensor docs networks)")
no_quantized_input = Message(
    GraphError,
    "the model quantizes {count} inputs and has the further inputs {others}; a network has one, which is quantized",
)
no_quantized_result = Message(
    GraphError, "the model has {count} results; a network has one, which is quantized, or a layer's on quantized values"
)
not_on_the_device = Message(TypeError, "this takes a torch tensor on the device fpga, not one on {device}")
not_on_the_host = Message(TypeError, "this takes a torch tensor on the CPU, not one on {device}")
not_shared = Message(ValueError, "{device} can't share this memory: {why}; .to() copies it")
lightning_strategy = Message(
    ValueError,
    "FpgaAccelerator() was given a strategy for {device}, which would train there: leave `strategy` out, "
    'or give strategy="fpga"',
)


def lightning_precision(precision: str, device: str) -> str:
    """Returns the warning for Lightning's plugin with a precision that casts on another device."""
    return (
        f"precision={precision!r} of this strategy casts on {device} and leaves float32 on fpga: leave `strategy` "
        f'out, give strategy="fpga", or plugins=FpgaPrecision({precision!r})'
    )


def falls_back(op: str) -> str:
    """Returns the warning for an op that runs on the host because the device lacks it."""
    return (
        f"aten::{op} runs on the host, since ftensor has no kernel for it: its arguments are "
        f"brought there and its results back. ftensor.torch.fallback_report() counts this; "
        f'ftensor.set_fallback("silent") turns this warning off, "error" refuses'
    )


fallback_refused = Message(
    NotImplementedError,
    "ftensor has no kernel for aten::{op}, and set_fallback() allows nothing on the host; "
    'set_fallback("warn") or "silent" lets it',
)
# resize_ of a torch storage in a torch version that stores it differently.
storage_resize = Message(
    NotImplementedError,
    "this storage of the device fpga can't be resized, since torch keeps it in a way that ftensor "
    "does not know; resize the tensor, or make another one",
)
negative_storage = Message(RuntimeError, "resize_ takes a size of 0 bytes or more, not {size}")
not_an_ftensor = Message(TypeError, "this takes an ftensor.Tensor, not {value!k}")
# A dtype that torch has and ftensor lacks.
no_such_dtype = Message(TypeError, "ftensor has no dtype for {dtype}; convert the tensor first")
layout = Message(
    NotImplementedError,
    "the device fpga has strided tensors only, not {layout}; ftensor has no sparse kernels: compute "
    "on the CPU, or take .to_dense() to the device",
)
other_kind = Message(
    NotImplementedError,
    "aten::{op}: the device fpga has no {kind} tensors; compute on the CPU, or take dense ones to the device",
)
not_pinned = Message(
    RuntimeError,
    "a tensor on {device} is not in the host's memory and can't be pinned; x.cpu() gives one that counts as pinned, as "
    "all CPU memory does",
)
quantized = Message(
    NotImplementedError,
    "the device fpga has no quantized tensors, which a result of {dtype} would be; quantize on the CPU, or use "
    "ftensor's own quantized ops",
)
decode_cache = Message(
    ValueError,
    'decode needs a model on the device "fpga" and a static cache: generate(..., cache_implementation="static", '
    "custom_generate=decode)",
)
decode_words = Message(
    ValueError,
    "decode gives the words of a decoder alone: leave num_beams, return_dict_in_generate and synced_gpus out, or "
    "custom_generate",
)
pool_allocator = Message(
    TypeError, "torch.fpga.MemPool allocates by the device's driver and takes no allocator, not {allocator!r}"
)
mem_pool_type = Message(TypeError, "use_mem_pool takes a torch.fpga.MemPool, not {pool!k}")
no_codegen = Message(
    NotImplementedError,
    "inductor generates no code for the device fpga, so AOTInductor can't package its programs: torch.export.save "
    "keeps a program, and torch.compile(torch.export.load(path).module()) compiles it in the process that runs it",
)
# A device other than the fpga for torch.fpga.
not_the_fpga = Message(ValueError, "Expected a fpga device, but got: {device}")
no_dtype_here = Message(NotImplementedError, "ftensor has no dtype for {dtype}")
# Lists of different lengths, or empty lists, for an op on lists.
list_lengths = Message(RuntimeError, "_foreach_{op} takes lists of one length, and at least a tensor, not {lengths}")
