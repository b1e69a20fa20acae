"""Messages of quantized ops; see `errors`."""

from __future__ import annotations

from .message import Message

# AssertionError and ValueError are what torch's `quantized_decomposed` ops raise.
not_float32 = Message(
    AssertionError, "{op}(): input must be ftensor.float32, float16 or bfloat16, not {dtype}: convert with .float()"
)
not_integers = Message(ValueError, "{op}(): dtype must be ftensor.uint8, int8 or int16, not {dtype}")
other_dtype = Message(AssertionError, "{op}(): input is {dtype}, but dtype says {wanted}")
bounds = Message(
    AssertionError, "{op}(): quant_min={low} and quant_max={high} must lie in [{least}, {most}], which {dtype} holds"
)
scales = Message(
    RuntimeError, "{op}(): {name} must be 1-d with {wanted} elements, one for each channel, but its shape is {shape!t}"
)
scale = Message(ValueError, "{op}(): {name} must be a positive finite number, not {value!r}")
zero_point = Message(
    ValueError, "{op}(): {name}={value!r} must be an integer in [{least}, {most}], which {dtype} holds"
)
operands = Message(
    RuntimeError,
    "{op}(): expected an input of uint8 or int8 and a weight of int8, but got {input} and "
    "{weight}: ftensor.quantized.quantize_per_tensor makes them",
)
bias = Message(
    RuntimeError,
    "{op}(): bias must be ftensor.float32 of shape ({wanted},), not {dtype} of {shape!t}",
    "op wanted dtype shape",
)
pairs = Message(
    RuntimeError,
    "{op}(): input must be ftensor.int16 with a last dim of 2, (real, imag), not {dtype} of shape {shape!t}",
)
terms = Message(
    RuntimeError,
    "{op}(): both must have one dtype and shape, but are {first} of {shape!t} and {second} of {other!t}",
    "op first shape second other",
)
