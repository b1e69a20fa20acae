"""The options that all factories share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import dtypes, formats
from ..._device import resolve
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.output import layout_strides, new
from ...rows.catalogue import op
from ..types.conversion import resize_
from ..view.layout import layout as checked_layout

if TYPE_CHECKING:
    from ..._device import DeviceLike, device

Ints = tuple[int, ...]

# Types and defaults of the options, in the order that help shows.
OPTIONS: dict[str, tuple[str, Any]] = {
    "dtype": ("dtype | None", None),
    "layout": ("Any", None),
    "device": ("DeviceLike | None", None),
    "pin_memory": ("bool | None", False),
    "requires_grad": ("bool", False),
}


class Options:
    """The resolved options of one factory call: `dtype` (None if not determined) and `device`."""

    __slots__ = ("function", "dtype", "device", "given_device")

    def __init__(
        self,
        function: str,
        dtype: Any = None,
        layout: Any = None,
        device: DeviceLike | None = None,
        pin_memory: bool | None = False,
        requires_grad: bool = False,
        default: device | None = None,
        unserved: type[Exception] = RuntimeError,
    ) -> None:
        """`default` is the device of the result if `device` is None; `unserved` is the class of the
        exception for a sparse layout.

        Raises TypeError or RuntimeError for an invalid dtype, device or layout, and for options
        that can't be honoured.
        """
        if layout is not None and layout is not formats.strided:
            if isinstance(layout, formats.layout):
                raise errors_creation.not_strided(function, layout, kind=unserved)
            raise errors_creation.not_a_layout(function, layout)
        if requires_grad:
            raise errors_creation.no_autograd(function)
        self.function = function
        self.dtype = dtypes.as_dtype(function, dtype)
        self.given_device = device
        self.device = default if device is None and default is not None else resolve(device)
        if pin_memory and self.device.type != "cpu":
            raise errors_creation.pinned_memory(function, self.device)

    def new(self, shape: Ints, strides: Ints | None = None, fallback: dtype | None = None) -> Tensor:
        """Returns a fresh tensor of the options' dtype, else of `fallback`, else of the default
        dtype."""
        result_dtype = self.dtype or fallback or dtypes.get_default_dtype()
        return new(shape, result_dtype, self.device, strides)

    def like(self, input: Tensor, memory_format: Any) -> Tensor:
        """Returns a fresh tensor of `input`'s shape in a memory format."""
        return self.new(input._shape, layout_strides(input, memory_format))

    def destination(self, shape: Ints, out: Tensor | None, fallback: dtype | None = None) -> Tensor:
        """Returns the tensor that a factory fills: a fresh one, or `out` resized to the shape."""
        if out is None:
            return self.new(shape, None, fallback)
        self.check_out(out)
        return resize_(out, shape)

    def check_out(self, out: Tensor) -> None:
        """Raises RuntimeError if `dtype` or `device` differs from those of `out`."""
        if self.dtype is not None and self.dtype is not out._dtype:
            raise errors_creation.dtype_against_out(self.function, self.dtype, out._dtype)
        device = self.given_device
        if device is not None and resolve(device) is not out._storage.device:
            raise errors_creation.device_against_out(self.function, device, out._storage.device)


def _options_like(
    function: str,
    input: Any,
    dtype: Any,
    layout: Any,
    device: DeviceLike | None,
    pin_memory: bool | None,
    requires_grad: bool,
) -> Options:
    """Returns the options of a factory whose defaults are the dtype and the device of `input`."""
    checked_layout(input, function)  # raises TypeError for anything but a tensor
    input_device = input._storage.device
    options = Options(function, dtype, layout, device, pin_memory, requires_grad, input_device)
    options.dtype = options.dtype or input._dtype
    return options


def factory(
    *, without: tuple[str, ...] = (), ways: tuple[str, ...] = (), unserved: type[Exception] = RuntimeError, **entry: Any
) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Registers a tensor factory in the catalogue and adds the options that all factories share.

    The function takes the `Options` first and its own arguments after them. If one of its arguments
    is `input`, this tensor is the default for dtype and device. `without` names options that torch
    doesn't give this factory. `ways` are the signatures of the positional arguments that help
    shows, if they say more than the parameters. `unserved` is the exception class for sparse
    layouts. `entry` holds the arguments of `op`.
    """

    def add(call: Callable[..., Tensor]) -> Callable[..., Tensor]:
        function = _with_options(call, [word for word in OPTIONS if word not in without], unserved)
        names_used = set(re.findall(r"\w+", " ".join(ways)))
        words = [f"{k}={v!r}" for k, v in (function.__kwdefaults__ or {}).items() if k not in names_used]
        stars = ["" if parameters.startswith("*") else "*, " for parameters in ways]
        name, options = call.__name__, ", ".join(words)
        signatures = [f"{name}({parameters}, {star}{options}) -> Tensor" for parameters, star in zip(ways, stars)]
        return op(forms=tuple(signatures), **entry)(function)

    return add


def _with_options(call: Callable[..., Tensor], options: list[str], unserved: type[Exception]) -> Callable[..., Tensor]:
    """Returns a function with the parameters of `call` and the options. It passes the options to
    `call` as one `Options` object."""
    name = call.__name__
    parameters = list(inspect.signature(call).parameters.values())[1:]
    names = {kind: [p.name for p in parameters if p.kind is kind] for kind in inspect._ParameterKind}
    stars = [f"*{n}" for n in names[inspect.Parameter.VAR_POSITIONAL]]
    keywords = names[inspect.Parameter.KEYWORD_ONLY]
    ordered = names[inspect.Parameter.POSITIONAL_OR_KEYWORD]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    defaults |= {word: OPTIONS[word][1] for word in options}

    def words(names: list[str]) -> list[str]:
        return [f"{n}=defaults[{n!r}]" if n in defaults else n for n in names]

    signature_text = ", ".join([*words(ordered), *(stars or ["*"]), *words(keywords), *words(options)])
    arguments = ["input"] * ("input" in ordered)
    arguments += [word if word in options else repr(default) for word, (_, default) in OPTIONS.items()]
    handed = ", ".join([*ordered, *stars, *(f"{n}={n}" for n in keywords)])
    source = f"def {name}({signature_text}):\n    return call(read({name!r}, {', '.join(arguments)}), {handed})\n"
    reader = _options_like if "input" in ordered else Options
    if unserved is not RuntimeError:
        reader = partial(Options, unserved=unserved)
    scope: dict[str, Any] = {"call": call, "read": reader, "defaults": defaults}
    exec(compile(source, "<ftensor factory>", "exec"), scope)
    function: Callable[..., Tensor] = scope[name]
    function.__doc__, function.__module__ = call.__doc__, "ftensor"
    function.__annotations__ = {k: v for k, v in call.__annotations__.items() if k != "options"}
    function.__annotations__ |= {word: OPTIONS[word][0] for word in options}
    return function
