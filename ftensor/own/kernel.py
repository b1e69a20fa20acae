"""A kernel of a user's own, called with tensors: a launch as any op's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from ..dtypes import uint8
from ..errors import own as errors
from ..execute.launch import Bound, Launch, Step, enqueue
from ..execute.memory import new
from ..kernels.own import OwnKey, shown
from .arguments import checked
from .given import Ints, sizes_of

if TYPE_CHECKING:
    from .._device import device
    from ..runtime.backend import Backend
    from ..runtime.opencl.own import OwnProgram
    from ..runtime.parts import OwnKernel

MOST_GRIDS = 64  # launches of OpenCL C's kernels that are kept: one for each number of work-items
Units = int | Sequence[int]


class Kernel:
    """A kernel of one's own on a device, from `ft.fpga.kernel`, `source` or `opencl_kernel`.

    `kernel(*args)` enqueues it on the current stream and returns nothing: pointers take tensors,
    contiguous ones of the pointer's dtype on the kernel's device, other parameters Python numbers.
    `print(kernel)` shows the parameters. A pickle holds the text of OpenCL C, else the file's path,
    from which the kernel is made again, on the device that is current then; a copy is the kernel.
    """

    def __init__(
        self,
        backend: Backend,
        where: device,
        key: OwnKey,
        make: Callable[[OwnKey], OwnKernel],
        again: tuple[Callable[..., Kernel], tuple[Any, ...]],
        program: OwnProgram | None = None,
    ) -> None:
        self._backend, self._where, self._key, self._make = backend, where, key, make
        self._again = again
        self._program = program  # of OpenCL C
        # What can't be launched here is found at once.
        self._most = 1 if program is not None else make(key).units
        self._launches: dict[Any, tuple[Launch, int]] = {}
        self._nothing = new((0,), uint8, where)

    @property
    def name(self) -> str:
        """The kernel's name in its file."""
        return self._key.name

    @property
    def device(self) -> device:
        """Where it runs."""
        return self._where

    def __call__(self, *args: Any) -> None:
        """As `run`, with the usual units."""
        self.run(*args)

    def run(self, *args: Any, units: Units | None = None, group: Units | None = None) -> None:
        """Enqueue it on the current stream.

        In OpenCL C `units` are the work-items, a number or one for each of up to three dims, by
        default 1, and `group` those of a work-group. In HLS C++ they are compute units, all by
        default, of a kernel whose last parameters are `int ft_unit, int ft_units`; other kernels
        run on one. TypeError, ValueError and RuntimeError for arguments that it can't take.
        """
        launch, begins = self._launch(units, group)
        called = self._backend.properties.name
        tensors, numbers = checked(self._key, args, self._where, begins, called)
        enqueue(launch, tensors or [self._nothing], numbers)

    def __repr__(self) -> str:
        return f"<kernel {shown(self.name, self._key.arguments)} on {self._where}>"

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[Any, ...]]:
        return self._again

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self

    def _launch(self, units: Units | None, group: Units | None) -> tuple[Launch, int]:
        kept = sizes_of(self.name, "units", units), sizes_of(self.name, "group", group)
        launch = self._launches.get(kept)
        if launch is None:
            if len(self._launches) >= MOST_GRIDS:
                self._launches.clear()
            launch = self._launches[kept] = self._prepared(*kept)
        return launch

    def _prepared(self, units: Ints | None, group: Ints | None) -> tuple[Launch, int]:
        key, count = self._key, len(self._key.pointers)
        if self._program is None:
            work_items = self._units(units, group)
        else:
            work_items, key = 1, replace(key, grid=self._grid(units, group), group=group)
        own = self._make(key)
        self._backend.own[key] = own.run
        places = tuple(range(count))
        step = Step(key, work_items, places, places, numbers=bool(key.numbers))
        launch = Launch((step,), max(1, count))
        launch.bind((Bound(own.run, None),))
        return launch, own.begins

    def _grid(self, units: Ints | None, group: Ints | None) -> Ints:
        """The work-items of a launch."""
        assert self._program is not None
        if units is None and self._program.asks_which:
            raise errors.needs_units(self.name)
        grid, most = units or (1,), self._program.most
        if group is not None:
            whole = len(group) == len(grid) and not any(n % m for n, m in zip(grid, group))
            if not whole or prod(group) > most:
                raise errors.bad_group(self.name, group, grid, most)
        return grid

    def _units(self, units: Ints | None, group: Ints | None) -> int:
        """The compute units of a launch."""
        if group is not None:
            raise errors.no_groups(self.name, group)
        if units is None:
            return self._most
        if len(units) > 1 or (units > (1,) and not self._key.shared):
            raise errors.no_units(self.name, units)
        return units[0]
