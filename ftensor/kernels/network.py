"""Keys of networks as one dataflow kernel: layers over images, and their folds. Elements are bytes
(`ft.quantized`) or float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import gcd
from typing import NamedTuple

import numpy as np

from .. import dtypes
from ..dtypes.limits import iinfo
from .graph_text import ROWS
from .key import Port
from .workload import PORT_BYTES

CONV, DEPTHWISE, LINEAR, ADD, CAT = "conv2d", "depthwise", "linear", "add", "cat"
MAX_POOL, AVG_POOL, SOFTMAX = "max_pool2d", "avg_pool2d", "softmax"
KINDS = (CONV, DEPTHWISE, LINEAR, MAX_POOL, AVG_POOL, ADD, CAT, SOFTMAX)
POOLS = (MAX_POOL, AVG_POOL)
# The kinds that multiply by weights.
PRODUCTS = (CONV, DEPTHWISE, LINEAR)
# Where the weights are: in the kernel's text, or in a buffer that a launch passes.
TEXT, LOADED = "text", "loaded"
# Limits of a fold: bits of a FIFO's beat, and products in one iteration. Beats of whole pixels,
# which no fold widens, may have more bits.
MAX_BITS, MAX_PRODUCTS = 4096, 4096
# Most elements of the images between two layers: FIFO depths are computed from each beat.
MAX_ELEMENTS = 1 << 20
# Limits: bytes of a window in registers, and terms of a sum. The products and the zero point's
# contribution (BEGIN in the text), each up to terms * 128 * 255, must fit in int32 together.
MAX_WINDOW, MAX_TERMS = 512, (1 << 31) // (128 * 255 * 2)
# A float32 addition takes several iterations, so a loop updates a partial sum at most once in STATES
# iterations. If it has fewer sums, it has several partial sums of each.
STATES = 10


class Flow(NamedTuple):
    """The shape of images in a FIFO: (height, width, channels), with `wide` channels of a pixel in
    a beat. `bits` are those of an element."""

    height: int
    width: int
    channels: int
    wide: int
    bits: int = 8

    @property
    def pixels(self) -> int:
        """Pixels of an image."""
        return self.height * self.width

    @property
    def elements(self) -> int:
        """Elements of an image."""
        return self.pixels * self.channels

    @property
    def beats(self) -> int:
        """Beats of an image."""
        return self.elements // self.wide

    @property
    def max_window(self) -> int:
        """Limit of the elements of a window in registers."""
        return 8 * MAX_WINDOW // self.bits

    @property
    def is_float(self) -> bool:
        """True for float32, False for bytes."""
        return self.bits == 32


class Fold(NamedTuple):
    """The products of an iteration: `filters` (P, FINN's PE) times `factors` (S, SIMD). Larger is
    faster."""

    filters: int
    factors: int


ONE = Fold(1, 1)


@dataclass(frozen=True)
class NetworkLayer:
    """A layer; `check_layer` says which are possible.

    `inputs` are the indices of the values that it reads: 0 is the network's input, k + 1 the result
    of layer k. `channels` is the count of its results' channels. `zero_in` and `zero_other` are the
    zero points of its inputs, `zero` is that of its results, `low` and `high` are the smallest and
    the greatest result. `scales` are rounded to float32: for an addition and `cat` the scales of
    the inputs and the reciprocal of the result's; for an average pool the reciprocal of the
    divisor. `zeros` are the zero points of the inputs of `cat`.

    In float32 there are no zero points, and only average pools have a scale. `relu` is 1 if the
    results are at least 0, 6 if they are also at most 6; bytes have it in `low` and `high`.
    """

    kind: str
    inputs: tuple[int, ...]
    channels: int
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    zero_in: int = 0
    zero_other: int = 0
    zero: int = 0
    low: int = 0
    high: int = 255  # 127 for int8, whatever is greater
    scales: tuple[float, ...] = ()
    zeros: tuple[int, ...] = ()
    fold: Fold = ONE
    relu: int = 0

    def result(self, image: Flow) -> Flow:
        """Returns the flow of the layer's results if `image` is its first input. A layer that
        multiplies writes beats of `fold.filters` channels; other layers keep the beats of their
        input."""
        if self.kind == LINEAR:
            return Flow(1, 1, self.channels, self.fold.filters, image.bits)
        if self.kind == SOFTMAX:
            return image
        if self.kind in (ADD, CAT):
            return image._replace(channels=self.channels)
        sizes = zip((image.height, image.width), self.kernel, self.stride, self.padding)
        high, wide = ((n + 2 * p - k) // s + 1 for n, k, s, p in sizes)
        beat = self.fold.filters if self.kind in PRODUCTS else self.channels
        return Flow(high, wide, self.channels, beat, image.bits)

    def limits(self, of: dtypes.dtype) -> tuple[int, int]:
        """Returns the least and the greatest result in a dtype."""
        return self.low, min(self.high, iinfo(of).max)

    def depth(self, image: Flow) -> int:
        """Returns the number of products in the sum of a result; for a pool, the number of pixels
        in a window. `image` is the layer's input."""
        taps = self.kernel[0] * self.kernel[1]
        one = self.kind == DEPTHWISE or self.kind in POOLS
        return image.elements if self.kind == LINEAR else taps if one else taps * image.channels

    @property
    def plain(self) -> bool:
        """True if the layer reads each pixel once, so that no process makes windows: 1 x 1 kernel,
        stride 1, no padding."""
        return (self.kernel, self.stride, self.padding) == ((1, 1), (1, 1), (0, 0))

    def of_all(self, image: Flow) -> bool:
        """True if a pool has a single window that covers `image`."""
        return self.kind == AVG_POOL and self.kernel == (image.height, image.width) and self.padding == (0, 0)

    def in_rows(self, image: Flow) -> bool:
        """True if windows of `image` exceed the registers and are read from a ring buffer of rows."""
        return self.kind == CONV and not self.plain and self.depth(image) > image.max_window

    def states(self, image: Flow) -> int:
        """Returns the partial sums of a result: 1, or in float32 as many as keep STATES iterations
        between two additions to one."""
        if not image.is_float or self.kind in (DEPTHWISE, *POOLS):
            return 1
        groups, steps = self.channels // self.fold.filters, self.depth(image) // self.fold.factors
        return min(-(-STATES // groups), steps)


class Constants(NamedTuple):
    """A layer's weights (O, depth) of int8 in the order of the FIFO (row, column, channel), and
    (O,) float32 numbers of the rounding: rint((sum + added) * factor). In float32 the weights are
    float32, `added` is the bias, and `factor` has no elements."""

    weights: np.ndarray
    added: np.ndarray
    factor: np.ndarray


@dataclass(frozen=True)
class NetworkKey:
    """A network over any number of images (channels, height, width) of `dtype`: uint8, int8 or
    float32. The last layer's result is the network's; each other value is read by a later layer.

    `constants` are the bytes of all layers' `Constants`, in order; they are part of the kernel. A
    `loaded` network has none: a launch passes them (network_weights.py), so networks that differ
    only in their constants share one kernel.
    """

    name: str
    dtype: dtypes.dtype
    image: tuple[int, int, int]
    layers: tuple[NetworkLayer, ...]
    constants: bytes = field(repr=False)
    loaded: bool = False
    scalar_dtypes: tuple[dtypes.dtype, ...] = field(default=(), init=False)

    skeleton = "network"

    @property
    def element(self) -> str:
        """The C++ type of the elements."""
        return "float" if self.is_float else f"{self.dtype.name}_t"

    @property
    def lanes(self) -> int:
        """Elements of a port's beat."""
        return PORT_BYTES // self.dtype.itemsize

    @property
    def outs(self) -> tuple[Port, ...]:
        """The port of the results."""
        return (Port(self.dtype, ROWS),)

    @property
    def ins(self) -> tuple[Port, ...]:
        """The port of the images, and that of loaded weights."""
        return (Port(self.dtype, ROWS), *(Port(dtypes.int32, ROWS),) * self.loaded)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the constants, in hex."""
        return sha256(self.constants).hexdigest()

    @cached_property
    def entry(self) -> str:
        """The kernel's name in FPGA images. It does not depend on the folds, which change no
        results, or in float32 their last bits."""
        plain = [replace(layer, fold=Fold(1, 1)) for layer in self.layers]
        text = repr((self.name, self.dtype.name, self.image, plain, LOADED if self.loaded else self.digest))
        return f"ft_{self.name}_network_{sha256(text.encode()).hexdigest()[:16]}"

    @property
    def file_name(self) -> str:
        """Default name of the network's file."""
        return f"{self.name[:16]}_{self.entry[-8:]}.json"

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The data flow of the input, then of each layer's result."""
        c, h, w = self.image
        flows = [Flow(h, w, c, self._entering, 8 * self.dtype.itemsize)]
        for layer in self.layers:
            flows.append(layer.result(flows[layer.inputs[0]]))
        return tuple(flows)

    @property
    def _entering(self) -> int:
        """The channels in a beat of the first process: all channels of a pixel, or a part of a
        vector if the first layer is linear."""
        c, h, w = self.image
        first = self.layers[0]
        if h * w == 1:
            return gcd(first.fold.factors if first.kind == LINEAR else c, self.lanes)
        return c

    def image_of(self, k: int) -> Flow:
        """Returns the flow of the first input of layer k."""
        return self.flows[self.layers[k].inputs[0]]

    @cached_property
    def tables(self) -> tuple[Constants | None, ...]:
        """The constants of each layer; None where a layer has none."""
        tables: list[Constants | None] = []
        at = 0
        for k, layer in enumerate(self.layers):
            if layer.kind not in PRODUCTS:
                tables.append(None)
                continue
            o, depth = layer.channels, layer.depth(self.image_of(k))
            of, numbers = ("<f4", 1) if self.is_float else ("i1", 2)
            weights = np.frombuffer(self.constants, of, o * depth, at).reshape(o, depth)
            at += weights.nbytes
            added, factor = (
                np.frombuffer(self.constants, "<f4", o * (k < numbers), min(at + 4 * o * k, len(self.constants)))
                for k in range(2)
            )
            at += 4 * numbers * o
            tables.append(Constants(weights, added, factor))
        assert at == len(self.constants), (at, len(self.constants))
        return tuple(tables)

    @property
    def constants_size(self) -> int:
        """The size of the layers' constants in bytes."""
        each, numbers = self.dtype.itemsize, 4 if self.is_float else 8
        sizes = (
            one.channels * (one.depth(self.image_of(k)) * each + numbers) * (one.kind in PRODUCTS)
            for k, one in enumerate(self.layers)
        )
        return sum(sizes)

    @property
    def is_float(self) -> bool:
        """True for a network of float32, False for one of bytes."""
        return self.dtype is dtypes.float32

    def without_constants(self) -> NetworkKey:
        """Returns the network whose launches pass the constants."""
        return replace(self, constants=b"", loaded=True)

    def folded(self, folds: Sequence[Fold]) -> NetworkKey:
        """Returns the network with a fold for each layer."""
        pairs = zip(self.layers, folds, strict=True)
        return replace(self, layers=tuple(replace(layer, fold=fold) for layer, fold in pairs))


def fold_part(layer: NetworkLayer, image: Flow) -> int:
    """Returns the number that `Fold.factors` must divide: the elements of a window, or the channels
    of a pixel for layers that read a part of a pixel in each beat."""
    whole = layer.kind == LINEAR or layer.plain or layer.in_rows(image)
    return image.channels if whole else layer.depth(image)


def least_fold(layer: NetworkLayer, image: Flow) -> Fold:
    """Returns the smallest fold of a layer: one product per iteration; for a depthwise layer, all
    products of one filter."""
    return Fold(1, layer.depth(image)) if layer.kind == DEPTHWISE else Fold(1, 1)


def check_layer(layer: NetworkLayer, image: Flow) -> str:
    """Returns the reason why no process computes a layer of `image`; "" if one does."""
    (p, s), depth = layer.fold, layer.depth(image)
    if image.elements > MAX_ELEMENTS:
        return f"its images have {image.elements} elements, of at most {MAX_ELEMENTS}"
    if layer.kind not in PRODUCTS and layer.fold != (1, 1):
        return f"its fold is {p} x {s}, and it multiplies nothing"
    if layer.kind == SOFTMAX and (image.pixels > 1 or not image.is_float):
        return "a process computes softmax along rows of float32, behind a linear layer"
    if not layer.of_all(image) and (why := _check_windows(layer, image)):
        return why
    if depth > MAX_TERMS:
        return f"its sums have {depth} terms, of at most {MAX_TERMS} in int32"
    if layer.kind in (*POOLS, DEPTHWISE, ADD, SOFTMAX) and layer.channels != image.channels:
        return f"it has {layer.channels} channels of results and {image.channels} of images"
    if layer.kind not in PRODUCTS:
        return ""
    part = fold_part(layer, image)
    fits = s == depth and p * depth <= image.max_window if layer.kind == DEPTHWISE else part % s == 0
    if layer.channels % p or not fits or p * s > MAX_PRODUCTS or 32 * p > MAX_BITS or image.bits * s > MAX_BITS:
        return f"its fold is {p} x {s} of {layer.channels} filters and {part} factors, at most {MAX_PRODUCTS} products"
    return ""


def _check_windows(layer: NetworkLayer, image: Flow) -> str:
    """Returns the reason why no process computes the windows of a layer; "" if one does."""
    taps = layer.kernel[0] * layer.kernel[1]
    if (layer.kind == DEPTHWISE or layer.kind in POOLS) and taps > image.max_window:
        return f"a window of {taps} pixels is larger than the {image.max_window} that registers hold"
    sizes = (layer.kernel, layer.padding, layer.stride, (image.height, image.width))
    for k, padding, stride, n in zip(*sizes):
        # The last window begins at the last place of the padded image that a stride reaches.
        last = (n + 2 * padding - k) // stride * stride
        if padding > k // 2 or last > n - 1 or stride > k > 1 or k > n + 2 * padding:
            return (
                f"its kernel is {layer.kernel}, its padding {layer.padding}, its stride {layer.stride}: a line "
                "buffer takes padding up to kernel / 2 with no more windows than pixels along a side, stride up to "
                "kernel, kernels up to the image"
            )
    if layer.kernel[0] > 1 and image.width == 1:
        return "its images are one column wide, so a line buffer has no time between a write and a read"
    return ""


def check_inputs(layer: NetworkLayer, images: Sequence[Flow]) -> str:
    """Returns the reason why a layer can't read these images together; "" if it can."""
    shapes = [f"{image.channels} x {image.height} x {image.width}" for image in images]
    same = all(image[:2] == images[0][:2] for image in images)
    if layer.kind == CAT:
        same &= sum(image.channels for image in images) == layer.channels
    else:
        same &= all(image.channels == images[0].channels for image in images)
    return "" if same else f"it makes {layer.channels} channels of images of {' and '.join(shapes)}"


def check_ports(images: Flow, results: Flow) -> str:
    """Returns the reason why no process loads `images` or stores `results`; "" if processes do."""
    for name, flow in (("images", images), ("results", results)):
        if flow.pixels > 1 and flow.bits * flow.channels > MAX_BITS:
            return f"its {name} have {flow.channels} channels, of at most {MAX_BITS // flow.bits} with several pixels"
    return ""


def constant_bytes(constants: Sequence[Constants]) -> bytes:
    """Returns the bytes of layers' constants, as `NetworkKey.constants` holds them."""
    parts = []
    for one in constants:
        parts += [one.weights.astype(one.weights.dtype.newbyteorder("<")).tobytes()]
        parts += [one.added.astype("<f4").tobytes(), one.factor.astype("<f4").tobytes()]
    return b"".join(parts)


# The buffer of loaded weights, as hls/vitis/network_weights.h reads it, has beats of 64 bytes. The
# first beat has the SHA-256 of the others, by which the kernel recognizes weights that its memories
# already hold, and two checksums of the words, by which it checks a complete load. For each layer
# with weights follow: the initial value of each filter's sum, one word of 8 bytes each; the weights
# in the order of `Constants`, which does not depend on folds; for each filter a word with the two
# numbers of the rounding. In float32 a filter's initial value is its bias, and nothing follows the
# weights.
WORD, BEAT = 8, 64


def words_of(key: NetworkKey) -> int:
    """Returns the words that follow the first beat in a network's buffer, without the padding of
    the last beat."""
    layers = [
        (layer.channels, layer.depth(key.image_of(k))) for k, layer in enumerate(key.layers) if layer.kind in PRODUCTS
    ]
    numbers, each = (1, 4) if key.is_float else (2, 1)
    return sum(numbers * o + -(-o * depth * each // WORD) for o, depth in layers)


def first_sums(layer: NetworkLayer, constants: Constants) -> np.ndarray:
    """Returns the initial value of each filter's sum: the contribution of the zero point (int32), or
    the bias (float32)."""
    if constants.weights.dtype == np.float32:
        return constants.added.astype("<f4")
    return (-layer.zero_in * constants.weights.astype(np.int64).sum(1)).astype("<i4")


def buffer_of(key: NetworkKey) -> np.ndarray:
    """Returns the buffer, as int32, with the constants of `key`."""
    parts = []
    for layer, constants in zip(key.layers, key.tables, strict=True):
        if constants is None:
            continue
        starts = np.zeros((layer.channels, 2), "<i4")
        starts[:, 0] = first_sums(layer, constants).view("<i4")
        weights = constants.weights.tobytes()
        parts += [starts.tobytes(), weights, bytes(-len(weights) % WORD)]
        if not key.is_float:
            parts.append(np.stack([constants.added, constants.factor], 1).astype("<f4").tobytes())
    payload = b"".join(parts)
    payload += bytes(-len(payload) % BEAT)
    words = np.frombuffer(payload, "<u4").reshape(-1, 2)
    each = words[:, 0].cumsum(dtype=np.uint32)
    second = int(each[: words_of(key)].sum(dtype=np.uint64)) + int(words[:, 1].sum(dtype=np.uint64))
    first = int(words[:, 0].sum(dtype=np.uint64))
    sums = np.array([first % (1 << 32), second % (1 << 32)], "<u4")
    head = sha256(payload).digest() + sums.tobytes()
    return np.frombuffer(head + bytes(BEAT - len(head)) + payload, "<i4")
