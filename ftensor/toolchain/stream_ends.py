"""Tensors at the ends of AXI streams, as a DMA of PYNQ provides them.

A kernel with streams gets a second function. It takes a pointer and a size in bytes for each stream. It writes the
tensors into the input streams, with TLAST in the last beat, runs the kernel, and reads the output streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..image.contents import BYTES, ENDS, ArgumentDescription, KernelDescription
from ..kernels.source import kernel_file


def with_streams(kernels: Sequence[KernelDescription]) -> list[KernelDescription]:
    """Returns the kernels that have streams among their arguments."""
    return [k for k in kernels if any(_is_stream(a) for a in k.arguments)]


def _is_stream(a: ArgumentDescription) -> bool:
    return a.is_stream and a.c.endswith("&")


def text(source: str, kernels: Sequence[KernelDescription]) -> str:
    """Returns a source that includes a file, given by its path, and a second function for each of
    `kernels`."""
    return f'#include "{source}"\n' + kernel_file("standin/stream_ends.h") + "".join(map(_function, kernels))


def _function(kernel: KernelDescription) -> str:
    name, parameters, ends, values = kernel.name, list[str](), list[str](), list[str]()
    for k, a in enumerate(kernel.arguments):
        if _is_stream(a):
            parameters += [f"void *{a.name}", f"unsigned long {BYTES}{a.name}"]
            ends.append(end_of(kernel, k))
            values.append(f"ft_end_{k}.stream")
        else:
            parameters.append(f"ft_ends::parameters<decltype({name})>::at<{k}> {a.name}")
            values.append(a.name)
    call = f"    {name}({', '.join(values)});\n"
    if len(ends) == len(kernel.arguments):  # it is free-running: it runs while beats arrive
        left = "".join(f" + (ft_end_{k}.is_input() ? ft_end_{k}.held() : 0)" for k in range(len(ends)))
        call = (
            f"    for (std::size_t before = 0, left = 1; left && left != before;) {{\n    {call}"
            f"        before = left, left = 0{left};\n    }}\n"
        )
    return f'extern "C" void {name}{ENDS}({", ".join(parameters)})\n{{\n{"".join(ends)}{call}}}\n'


def end_of(kernel: KernelDescription, k: int) -> str:
    """Returns the declaration of the end of the stream of number `k`, `ft_end_K.stream`."""
    name, of = kernel.arguments[k].name, f"ft_ends::parameters<decltype({kernel.name})>::at<{k}>"
    return f'    ft_ends::end<{of}> ft_end_{k}("{name}", {name}, {BYTES}{name});\n'


def joined(kernels: Sequence[KernelDescription]) -> tuple[KernelDescription, ...]:
    """Returns the kernels of a library; a kernel with a second function gets that function's
    arguments."""
    seconds = {k.name.removesuffix(ENDS): k for k in kernels if k.name.endswith(ENDS)}
    names = {k.name for k in kernels}
    seconds = {name: k for name, k in seconds.items() if name in names}
    taken = {k.name for k in seconds.values()}
    return tuple(
        replace(k, arguments=seconds[k.name].arguments) if k.name in seconds else k
        for k in kernels
        if k.name not in taken
    )
