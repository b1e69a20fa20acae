"""An image as PYNQ shows it: kernels as attributes, their registers, clocks and sensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._device import DeviceLike, detected_device, resolve
from .._tensor import Tensor
from ..errors import image as errors
from ..image import file as image_file
from ..image.info import load
from ..runtime import sensors
from ..runtime.stream import Event
from .kernel import Kernel, check_arguments, file_of, from_file

if TYPE_CHECKING:
    from ..image.contents import KernelDescription
    from ..kernels.user_kernels import UserKernelArgument
    from .kernel import File

CONTROL = 0x00  # of a kernel of Vitis HLS: the register that starts it
_STATES = ("AP_START", "AP_DONE", "AP_IDLE", "AP_READY", "AUTO_RESTART")


class Overlay:
    """The kernels of an image, like `pynq.Overlay`: `overlay.fir.call(...)`.

    `file` is an xclbin of any tool, for the board, the software device of `ftensor emulate` or the
    C simulation. Kernels are attributes by their names and by those of their compute units; the
    image is loaded at the first call. Raises FileNotFoundError if there is no such file, ImageError
    if it is damaged.
    """

    def __init__(self, file: File, *, device: DeviceLike | None = None) -> None:
        path = file_of(file)
        self._device = resolve("fpga" if device is None else device)
        image = image_file.read(path, bare=True)
        self._path, self._uuid = str(path), image.uuid
        info = load(path)
        self._clocks = {clock.name: float(clock.mhz) for clock in info.clocks}
        if not self._clocks and info.description.clock_mhz:
            self._clocks = {"KERNEL_CLK": info.description.clock_mhz}
        self._platform = image.platform
        self._kernels = {kernel.name: kernel for kernel in image.description.kernels}
        self._names = dict.fromkeys(self._kernels, "")
        for kernel in image.description.kernels:
            self._names[kernel.name] = kernel.name
            for unit in kernel.units:
                self._names.setdefault(unit.name, kernel.name)
        self._opened: dict[str, OverlayKernel] = {}

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._path

    @property
    def uuid(self) -> str:
        """The UUID of the image."""
        return self._uuid

    @property
    def platform(self) -> str:
        """The name of the platform that the image was linked for."""
        return self._platform

    @property
    def clocks(self) -> dict[str, float]:
        """The image's clocks in MHz, by name."""
        return dict(self._clocks)

    @property
    def ip_dict(self) -> dict[str, dict[str, Any]]:
        """The compute units by name: kernel, address of the registers, and the registers."""
        units: dict[str, dict[str, Any]] = {}
        for kernel in self._kernels.values():
            registers = {
                a.name: {"address_offset": a.offset, "size": 8 * a.size, "type": a.c} for a in kernel.arguments
            }
            for unit in kernel.units:
                units[unit.name] = {"type": kernel.name, "phys_addr": unit.base, "registers": registers}
        return units

    def sensors(self) -> sensors.Sensors:
        """Returns temperatures, voltages, currents and the power of the device. Raises RuntimeError
        for a device without sensors."""
        return sensors.read(detected_device(self._device))

    def __getattr__(self, name: str) -> OverlayKernel:
        names: dict[str, str] = self.__dict__.get("_names", {})
        if name not in names:
            raise errors.no_overlay_kernel(self.__dict__.get("_path", ""), name, list(names))
        kernel = names[name]
        if kernel not in self._opened:
            described = from_file(self._device, self._path, kernel, ())
            self._opened[kernel] = OverlayKernel(described, self._kernels[kernel])
        return self._opened[kernel]

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self._names])

    def __repr__(self) -> str:
        return f"<overlay {self._path} of {', '.join(self._kernels)} on {self._device}>"


class OverlayKernel:
    """A kernel of an overlay: call it with tensors and numbers, or set its registers and start it.

    `register_map` has a register for each argument. Setting one keeps the tensor or the number, and
    `AP_START` launches the kernel with them.
    """

    def __init__(self, kernel: Kernel, description: KernelDescription) -> None:
        self._kernel = kernel
        offsets = {a.name: a.offset for a in description.arguments}
        self._arguments = {a.name: a for a in kernel._key.arguments if a.kind != "stream" and not a.is_size}
        self._registers = RegisterMap(self, {name: offsets.get(name, 0) for name in self._arguments})
        self._values: dict[str, Any] = {}
        self._event: Event | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel, as `ft.fpga.kernel` returns it."""
        return self._kernel

    @property
    def signature(self) -> str:
        """The declaration of the kernel."""
        return repr(self._kernel).removeprefix("<kernel ").rpartition(" on ")[0]

    @property
    def register_map(self) -> RegisterMap:
        """The registers by name: `CTRL` and those of the arguments."""
        return self._registers

    def start(self, *args: Any) -> OverlayKernel:
        """Enqueues the kernel on the current stream, and returns itself for `wait`.

        Without arguments the kernel gets the values of its registers. Raises TypeError, ValueError
        or RuntimeError for arguments that the kernel can't take.
        """
        if not args and self._arguments:
            missing = [name for name in self._arguments if name not in self._values]
            if missing:
                raise errors.registers_unset(self._kernel.name, missing)
            args = tuple(self._values[name] for name in self._arguments)
        self._kernel(*args)
        self._values = dict(zip(self._arguments, args, strict=True))
        self._event = Event()
        self._event.record(self._kernel._backend.current_stream())
        return self

    def call(self, *args: Any) -> None:
        """Runs the kernel and waits for its end."""
        self.start(*args).wait()

    def wait(self) -> None:
        """Waits for the end of the last launch."""
        if self._event is not None:
            self._event.synchronize()

    def write(self, offset: int, value: int) -> None:
        """Sets the register at a byte offset; bit 0 of the register at 0 starts the kernel."""
        if offset == CONTROL:
            if value & 1:
                self.start()
            return
        setattr(self._registers, self._named(offset), value)

    def read(self, offset: int) -> Any:
        """Returns the value of the register at a byte offset."""
        if offset == CONTROL:
            return sum(self.state(name) << k for k, name in enumerate(_STATES[:4]))
        return getattr(self._registers, self._named(offset))

    def state(self, name: str) -> int:
        """Returns a bit of the control register: 0 or 1."""
        done = self._event is None or self._event.query()
        started = self._event is not None
        bits = {"AP_START": not done, "AP_DONE": started and done, "AP_IDLE": done, "AP_READY": done}
        return int(bits.get(name, False))

    def _named(self, offset: int) -> str:
        if not isinstance(offset, int):
            raise errors.no_offset(self._kernel.name, offset)
        for name, place in self._registers._offsets.items():
            if place == offset:
                return name
        raise errors.no_register_at(self._kernel.name, offset, self._registers._offsets)

    def _set(self, name: str, value: Any) -> None:
        argument: UserKernelArgument = self._arguments[name]
        kernel = self._kernel
        alone = replace(kernel._key, arguments=(argument,), shared=False)
        check_arguments(alone, (value,), kernel.device, 1, kernel.name)
        self._values[name] = value

    def __call__(self, *args: Any) -> None:
        self.call(*args)

    def __repr__(self) -> str:
        return repr(self._kernel)


class RegisterMap:
    """The registers of a kernel. Reading gives what was set last, None before that."""

    _kernel: OverlayKernel
    _offsets: dict[str, int]

    def __init__(self, kernel: OverlayKernel, offsets: dict[str, int]) -> None:
        self.__dict__.update(_kernel=kernel, _offsets=offsets)

    @property
    def CTRL(self) -> ControlRegister:
        """The control register."""
        return ControlRegister(self._kernel)

    def __getattr__(self, name: str) -> Any:
        if name not in self._offsets:
            raise errors.no_register(self._kernel._kernel.name, name, list(self._offsets))
        return self._kernel._values.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "CTRL":
            self._kernel.write(CONTROL, value)
        elif name not in self._offsets:
            raise errors.no_register(self._kernel._kernel.name, name, list(self._offsets))
        else:
            self._kernel._set(name, value)

    def __dir__(self) -> list[str]:
        return ["CTRL", *self._offsets]

    def __repr__(self) -> str:
        rows = [f"  CTRL = {self.CTRL!r}"]
        for name, offset in self._offsets.items():
            value = self._kernel._values.get(name)
            shown = f"{tuple(value.shape)} {value.dtype}" if isinstance(value, Tensor) else value
            rows.append(f"  {name} = Register(value={shown}, offset={offset:#x})")
        return "RegisterMap {\n" + ",\n".join(rows) + "\n}"


class ControlRegister:
    """The bits that start a kernel and show its state."""

    AP_START: int
    AP_DONE: int
    AP_IDLE: int
    AP_READY: int
    AUTO_RESTART: int

    def __init__(self, kernel: OverlayKernel) -> None:
        self.__dict__["_kernel"] = kernel

    def __getattr__(self, name: str) -> int:
        if name not in _STATES:
            raise errors.no_register(self.__dict__["_kernel"].kernel.name, f"CTRL.{name}", list(_STATES))
        return self.__dict__["_kernel"].state(name)

    def __setattr__(self, name: str, value: int) -> None:
        if name != "AP_START":
            raise errors.control_bit(self.__dict__["_kernel"].kernel.name, name)
        if value:
            self.__dict__["_kernel"].start()

    def __repr__(self) -> str:
        return f"Register({', '.join(f'{name}={getattr(self, name)}' for name in _STATES)})"
