"""Random convolutions against torch: forward, transposed, and the gradients of both.

Numbers are small integers, so every sum is exact in any order and results must have equal bits,
also for complex numbers. Left out:
- dtypes without kernels in torch, and float8 and complex32, which neither library convolves;
- gradients of integers and complex numbers, for which torch's CPU has kernels only in some cases;
- results without elements, which some of torch's kernels refuse, as ftensor does, and others
  accept;
- torch's bfloat16 kernels for channels_last_3d: with both dilation and padding they crash the
  process, so torch gets contiguous inputs of this dtype;
- torch's gradient of a channels_last weight whose kernel refuses the gradient that torch made;
- sizes beyond some thousand products, because some of torch's kernels are slow.
"""

from __future__ import annotations

import random
from typing import Any

import torch

import ftensor as ft
from ftensor.ops.gradients import spatial as gradients

FLOATS = ("float32", "float64", "float16", "bfloat16", "complex64", "complex128")
DTYPES = ("float32",) * 6 + ("float64",) * 3 + FLOATS[2:] + ("int64", "int8", "uint8", "int32")
OWN_GRADIENT = "grad_weight must be contiguous"  # torch's refusal of its own tensor


def layout(draw: random.Random, name: str, shape: tuple[int, ...], lines: list[str]) -> None:
    """Returns lines that make tensor `name` of integers in a random layout."""
    n, how = len(shape), draw.randrange(8)
    text = f"{name} = whole({shape})"
    if how == 0:
        wide = tuple(s * draw.randint(1, 2) + draw.randint(0, 2) for s in shape)
        cut = ", ".join(f"{draw.randint(0, w - s)}:" for s, w in zip(shape, wide))
        ends = ", ".join(f":{s}" for s in shape)
        text = f"{name} = whole({wide})[{cut}][{ends}]"
    elif how == 1:
        steps = [draw.randint(1, 3) for _ in shape]
        wide = tuple(s * k for s, k in zip(shape, steps))
        text = f"{name} = whole({wide})[{', '.join(f'::{k}' for k in steps)}]"
    elif how == 2:
        order = draw.sample(range(n), n)
        back = tuple(order.index(d) for d in range(n))
        text = f"{name} = whole({tuple(shape[d] for d in order)}).permute({back})"
    elif how == 3 and n in (4, 5):
        form = "channels_last" if n == 4 else "channels_last_3d"
        text += f".contiguous(memory_format=lib.{form})"
    elif how == 4:
        dims = draw.sample(range(n), draw.randint(1, n))
        thin = tuple(1 if d in dims else s for d, s in enumerate(shape))
        text = f"{name} = whole({thin}).expand{shape}"
    elif how == 5:
        # At some offset in a storage, with rows that overlap or have gaps.
        steps = tuple(draw.randint(0, 9) for _ in shape)
        offset = draw.randint(0, 20)
        room = offset + sum((s - 1) * k for s, k in zip(shape, steps)) + 1
        text = f"{name} = whole(({max(room, 1)},)).as_strided({shape}, {steps}, {offset})"
    lines.append(text)


def case(draw: random.Random) -> list[str]:
    """Returns the lines of a convolution. The tensors `t0`, `t1`, ... are compared."""
    n, dtype = draw.choice((1, 1, 2, 2, 2, 3)), draw.choice(DTYPES)
    groups = draw.choice((1, 1, 1, 2, 3, 4))
    ins, outs = draw.choice((1, 2, 3, 4, 7)), draw.choice((1, 1, 2, 4, 6, 9, 17))
    if draw.random() < 0.15:
        groups, ins, outs = draw.choice((6, 12, 17)), 1, draw.choice((1, 1, 2))
    most = (40, 14, 6)[n - 1]
    transposed = draw.random() < 0.35
    kernel = tuple(draw.choice((1, 1, 2, 3, 3, 5)) for _ in range(n))
    stride = tuple(draw.choice((1, 1, 1, 2, 3, 5)) for _ in range(n))
    dilation = tuple(draw.choice((1, 1, 1, 2, 3)) for _ in range(n))
    cover = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    padding: Any = tuple(draw.randint(0, min(c, 4)) if draw.random() < 0.6 else 0 for c in cover)
    lead = () if draw.random() < 0.1 else (draw.choice((1, 1, 2, 3, 5, 16, 19)),)
    size = tuple(draw.randint(1, most) for _ in range(n))
    if not transposed and draw.random() < 0.9:  # mostly valid
        size = tuple(max(s, c - 2 * p) for s, c, p in zip(size, cover, padding))
    x = (*lead, ins * groups, *size)
    weight = (ins * groups, outs, *kernel) if transposed else (outs * groups, ins, *kernel)
    lines: list[str] = []
    layout(draw, "x", x, lines)
    layout(draw, "w", weight, lines)
    bias = draw.random() < 0.6
    if bias:
        layout(draw, "b", (outs * groups,), lines)
    call = f"x, w, {'b' if bias else 'None'}, stride={stride}"
    if transposed:
        more = tuple(draw.randint(0, max(s, d) - 1) if draw.random() < 0.5 else 0 for s, d in zip(stride, dilation))
        call += f", padding={padding}, output_padding={more}"
    else:
        if draw.random() < 0.15:
            padding = draw.choice(("same", "valid"))
            if padding == "same":
                call = call.replace(f"stride={stride}", f"stride={(1,) * n}")
        call += f", padding={padding!r}"
    name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
    call = f"lib.{name}({call}, dilation={dilation}, groups={groups})"
    lines.append(f"t0 = {call}")
    if dtype in FLOATS[:4] and not isinstance(padding, str) and lead and draw.random() < 0.6:
        form = draw.choice(("", ".transpose(0, 1).contiguous().transpose(0, 1)", ".flip(-1).contiguous().flip(-1)"))
        lines.append(f"g = whole(tuple(t0.shape)){form}")
        where = f"{stride}, {padding}, {dilation}, {transposed}"
        extra = more if transposed else (0,) * n
        mask = [draw.random() < 0.8 for _ in range(3)]
        lines.append(f"t1, t2, t3 = back(g, x, w, {where}, {extra}, {groups}, {mask})")
    return [f"dtype = '{dtype}'", *lines]


def torch_gradients(
    g: Any,
    x: Any,
    w: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    extra: Any,
    groups: int,
    mask: list[bool],
) -> Any:
    """Returns torch's gradients of a convolution's input, weight and bias. Some kernels compute all
    of them."""
    of = stride, padding, dilation, transposed, extra, groups
    gradients = torch.ops.aten.convolution_backward(g, x, w, [g.shape[1]], *of, mask)
    return [t if asked else None for t, asked in zip(gradients, mask)]


def ftensor_gradients(
    g: Any,
    x: Any,
    w: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    _: Any,
    groups: int,
    mask: list[bool],
) -> Any:
    """Returns the same gradients by the function that torch's device calls."""
    return gradients.convolution_backward(g, x, w, None, stride, padding, dilation, transposed, (), groups, mask)


def run(lib: Any, lines: list[str]) -> Any:
    """Returns the compared tensors, or the class of error."""
    generator = torch.Generator().manual_seed(0)

    def whole(shape: tuple[int, ...]) -> Any:
        low = 0 if space["dtype"] == "uint8" else -2
        tensor = torch.randint(low, 3, shape, generator=generator).to(getattr(torch, space["dtype"]))
        if tensor.is_complex():
            tensor = tensor + 1j * tensor.flip(0)
        return tensor if lib is torch else ft.from_torch(tensor)

    back = torch_gradients if lib is torch else ftensor_gradients
    space: dict[str, Any] = {"lib": lib, "whole": whole, "back": back}
    refused: list[Any] = []
    for line in lines:
        try:
            exec(line, space)
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
            refused.append(error)
            break
        if lib is torch and line.startswith("x") and space["dtype"] == "bfloat16":
            space["x"] = space["x"].contiguous()
    results = [space[t] for t in ("t0", "t1", "t2", "t3") if t in space]
    return [t for t in results if t is not None] + refused


def differs(mine: Any, theirs: Any) -> str:
    """Returns the difference of the two, or ""."""
    if isinstance(theirs, NotImplementedError):
        return ""
    if isinstance(theirs, RuntimeError) and OWN_GRADIENT in str(theirs):
        return ""
    if isinstance(mine, RuntimeError) and isinstance(theirs, torch.Tensor) and not theirs.numel():
        return ""
    if isinstance(mine, Exception) or isinstance(theirs, Exception):
        both = isinstance(mine, Exception) and isinstance(theirs, Exception)
        return "" if both else f"refused by one: {mine!r:.200} and {theirs!r:.200}"
    other = torch.from_dlpack(mine)
    if other.dtype != theirs.dtype or other.shape != theirs.shape:
        return f"{other.dtype} {tuple(other.shape)}, not {theirs.dtype} {tuple(theirs.shape)}"
    wrong = int((other != theirs).sum())
    return f"{wrong} of {theirs.numel()} values are wrong" if wrong else ""


def trial(draw: random.Random) -> str:
    """Draws a random convolution. Returns the disagreement with torch, or ""."""
    lines = case(draw)
    mine, theirs = run(ft, lines), run(torch, lines)
    exact: list[Any] = []
    for k, (a, b) in enumerate(zip(mine, theirs)):
        why = differs(a, b)
        wide = torch.complex128 if "values" in why and b.is_complex() else torch.float64
        if "values" in why and (b.is_complex() or b.is_floating_point()) and b.dtype is not wide:
            # torch has read uninitialized memory (16-bit gradients of weights), and mixed up groups
            # (complex64, channels_last). The exact result, rounded, decides.
            exact = exact or run(torch, [f"dtype = '{str(wide)[6:]}'", *lines[1:]])
            why = differs(a, exact[k].to(b.dtype))
        if why:
            call = next(c for c in lines if c.startswith("t0")).split("(")[0].split(".")[1]
            kind = "refused" if "refused" in why else "values" if "values" in why else "shape"
            return f"{call}, t{k}, {kind}\n# {why}\n{shown(lines)}"
    return ""


def shown(lines: list[str]) -> str:
    """Returns a program that prints both libraries' results, run from the checkout's folder."""
    head = ["import torch, ftensor", "from tests.fuzz_convolutions import run", "", "lines = ["]
    tail = ["]", "for lib in (torch, ftensor):", "    print(run(lib, lines))"]
    return "\n".join([*head, *[f"    {line!r}," for line in lines], *tail])
