"""What a launch has to do: the bytes that it must move, the operations of arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..iterator.shape import numel
from ..kernels.skeleton import skeleton_of
from ..kernels.work import distinct

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..execute.launch import Launch


class Work(NamedTuple):
    """`nbytes`: each byte of the inputs and the outputs once, whatever caches and temporaries see.
    `flops`: operations on floating point numbers, a call of a function counted as one."""

    title: str
    shapes: str
    nbytes: int
    flops: int


def work_of(launch: Launch, tensors: Sequence[Tensor]) -> Work:
    """The work of a launch on these outputs and inputs."""
    shapes = [x._shape for x in tensors]
    titles: list[str] = []
    located: set[int] = set()
    read: set[int] = set()
    counted: set[str] = set()
    flops = 0
    for step in launch.steps:
        skeleton = skeleton_of(step.key)
        titles.append(skeleton.title(step.key))
        located |= {step.pointers[k] for k in skeleton.located(step.key)}
        unread = skeleton.unread(step.geometry)
        read |= {operand for k, operand in enumerate(step.pointers) if k not in unread}
        read |= set(step.after)
        # Steps of one kind share the operands: pieces of a launch, classes of results.
        if step.key.skeleton not in counted:
            counted.add(step.key.skeleton)
            flops += skeleton.flops(step.key, step.geometry, shapes)
    sizes = [distinct(x._shape, x._strides) * x._dtype.itemsize for x in tensors]
    # Of what is found by indices, no more than that is read or written which the others hold.
    others = [numel(shape) for k, shape in enumerate(shapes) if k not in located]
    nbytes = 0
    seen: set[tuple[int, int, int]] = set()
    for k, x in enumerate(tensors):
        size = sizes[k]
        if k in located:
            size = min(size, max(others, default=0) * x._dtype.itemsize)
        place = (id(x._storage), x._offset, x._key)
        if k in read and place not in seen:
            nbytes += size
        if launch.fresh or k not in launch.written:
            seen.add(place)  # an operand may be passed once more where there is none
    words = " ".join("x".join(map(str, shape)) or "1" for shape in shapes)
    return Work(" ".join(dict.fromkeys(titles)), words, nbytes, flops)
