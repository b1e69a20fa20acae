"""Kernels of users' own in OpenCL C: what they take, as the driver says, and their launches."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import own as errors
from ...kernels.own import DTYPES, OwnArgument, argument
from .. import cache
from ..parts import OwnKernel

if TYPE_CHECKING:
    from ...kernels.own import OwnKey
    from ..stream import Stream
    from .backend import OpenCLBackend

# With it the driver keeps the parameters' names and types.
ARGUMENT_INFO = "-cl-kernel-arg-info"
ALIGNED = 128  # bytes of the largest vector: at a multiple of it each `__local` argument begins
_ASKS_WHICH = re.compile(r"\bget_(?:global|local|group|num)_\w+\s*\(")


class OwnProgram:
    """A compiled text and its kernels."""

    def __init__(self, backend: OpenCLBackend, source: str, options: tuple[str, ...]) -> None:
        self.backend = backend
        self.most: int = backend.cl_device.max_work_group_size
        self.asks_which = _ASKS_WHICH.search(source) is not None
        self.digest = cache.key("own", source, *options)[:16]
        words = backend._all_options((ARGUMENT_INFO, *options))
        key = backend._cache_key(source, words)
        with cache.making(key):
            # Drivers forget the parameters with the text, so these are kept beside the binary.
            parameters = cache.get(_beside(key))
            program = None if parameters is None else backend._program_from_cache(key, words)
            if program is None:
                program = backend._compiled(source, "", words, _refused)
                parameters = json.dumps(_parameters(backend.cl, program)).encode()
                if parameters != b"{}":  # drivers have no binary of nothing
                    cache.put(key, backend._binary(program))
                    cache.put(_beside(key), parameters)
        assert parameters is not None
        self.program = program
        self.parameters: dict[str, list[list[Any]]] = json.loads(parameters)

    def arguments(self, name: str) -> tuple[OwnArgument, ...]:
        """The parameters of a kernel; ValueError for one that no call can pass."""
        return tuple([self._argument(name, k, *p) for k, p in enumerate(self.parameters[name])])

    def _argument(self, kernel: str, k: int, name: str, c: str, space: str, const: bool) -> Any:
        if space == "local":
            return OwnArgument(name, f"__local {c.replace('*', ' *')}", "local", k)
        if space == "private" and "*" not in c:
            own = argument(name, c, k)
        else:
            own = argument(name, f"{'const ' * const}{c}", k)
        if own is None or own.kind == "stream":
            raise errors.bad_parameter(kernel, name, c)
        return own

    def kernel(self, key: OwnKey) -> OwnKernel:
        """A kernel over the work-items of a key."""
        backend = self.backend
        alignment = backend.cl_device.mem_base_addr_align // 8
        return OwnKernel(_Launcher(self, key), 1 if backend.host_shared else alignment)


def _beside(key: str) -> str:
    return cache.key("own arguments", key)


def _refused(entry: str, device: str, log: str, source: str) -> RuntimeError:
    return errors.not_compiled(device, "the OpenCL C", log.strip())


def _parameters(cl: Any, program: Any) -> dict[str, list[list[Any]]]:
    """Of each kernel's parameters the name, C type, address space, and whether it is const."""
    about, spaces = cl.kernel_arg_info, cl.kernel_arg_address_qualifier
    names = {spaces.GLOBAL: "global", spaces.CONSTANT: "global", spaces.LOCAL: "local"}
    parameters: dict[str, list[list[Any]]] = {}
    for name in _kernel_names(cl, program):
        kernel = cl.Kernel(program, name)
        parameters[name] = []
        for k in range(kernel.num_args):
            space = kernel.get_arg_info(k, about.ADDRESS_QUALIFIER)
            const = kernel.get_arg_info(k, about.TYPE_QUALIFIER) & cl.kernel_arg_type_qualifier.CONST
            const = bool(const) or space == spaces.CONSTANT
            words = [kernel.get_arg_info(k, what) for what in (about.NAME, about.TYPE_NAME)]
            parameters[name].append([*words, names.get(space, "private"), const])
    return parameters


def _kernel_names(cl: Any, program: Any) -> list[str]:
    try:
        return [name for name in program.get_info(cl.program_info.KERNEL_NAMES).split(";") if name]
    except cl.LogicError as e:
        # What some drivers say of a text that compiles and has no kernel.
        if e.code != cl.status_code.INVALID_PROGRAM_EXECUTABLE:
            raise
        return []


class _Launcher:
    """Called as a `CompiledKernel`. A kernel object holds its arguments until it is enqueued, so each is in
    one launch at a time."""

    def __init__(self, program: OwnProgram, key: OwnKey) -> None:
        self.backend, self.key = program.backend, key
        self.cl, self.program = program.backend.cl, program.program
        self.free: list[Any] = [self._new_kernel()]
        self.locals = [k for k, a in enumerate(key.numbers) if a.kind == "local"]
        device = self.backend.cl_device
        about = self.cl.kernel_work_group_info.LOCAL_MEM_SIZE
        self.of_itself: int = self.free[0].get_work_group_info(about, device)
        self._fits(())

    def _new_kernel(self) -> Any:
        return self.cl.Kernel(self.program, self.key.name)

    def __call__(self, stream: Stream, units: int, /, *args: Any) -> None:
        queue, key = stream.queue, self.key
        count = len(key.pointers)
        # Held until the command is enqueued: a kernel object does not hold what it was given.
        buffers = [self._from(buffer, offset, a) for a, buffer, offset in zip(key.pointers, args, args[count:])]
        pointers = iter(buffers)
        if self.locals:
            self._fits([args[2 * count + k] for k in self.locals])
        numbers = iter(args[2 * count :])
        try:
            kernel = self.free.pop()
        except IndexError:
            kernel = self._new_kernel()
        for a in key.arguments:
            if a.kind == "*":
                kernel.set_arg(a.number, next(pointers))
            elif a.kind == "local":
                kernel.set_arg(a.number, self.cl.LocalMemory(next(numbers)))
            else:
                kernel.set_arg(a.number, DTYPES[a.kind].numpy.type(next(numbers)))
        try:
            stream.note(self.cl.enqueue_nd_range_kernel(queue, kernel, key.grid, key.group))
        except self.cl.LogicError as e:
            units_of = f"units={key.grid}, group={key.group}"
            name = self.backend.properties.name
            raise errors.refused(name, key.name, units_of, e) from None
        except BaseException:
            if self.backend.inline:
                stream.lose_sight()
            raise
        self.free.append(kernel)
        if not stream.launched & 1023:
            stream.throttle()

    def _fits(self, sizes: Sequence[int]) -> None:
        """ValueError where a work-group's memory is larger than the device's: some drivers end the
        process for it."""
        there: int = self.backend.cl_device.local_mem_size
        asked = self.of_itself + sum(-(-size // ALIGNED) * ALIGNED for size in sizes)
        if asked > there:
            raise errors.no_room_for_locals(self.key.name, asked, self.backend.properties.name, there)

    def _from(self, buffer: Any, offset: int, a: OwnArgument) -> Any:
        """The buffer from where a tensor begins."""
        if not offset:
            return buffer
        start = offset * (a.dtype.itemsize if a.dtype else 1)
        if not self.backend.host_shared:
            return buffer.get_sub_region(start, buffer.size - start)
        flags = self.cl.mem_flags
        access = flags.READ_ONLY if a.const else flags.READ_WRITE
        memory = buffer.hostbuf[start:]
        return self.cl.Buffer(self.backend.context, access | flags.USE_HOST_PTR, hostbuf=memory)
