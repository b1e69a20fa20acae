"""Loaded weights of networks: the buffer that a launch brings, as hls/vitis/network_weights.h reads
it.

The buffer has beats of 64 bytes. The first has the SHA-256 of the others, by which the kernel sees
whether its memories have these weights already, and two sums of the words, by which it sees whether it
has loaded them. Then each layer with weights has the start value of
each filter's sum, a word of 8 bytes each; the weights in the order of `Constants`, which does not
depend on folds; and for each filter the two numbers of the rounding, in a word.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from .network import PRODUCTS, NetworkKey

WORD, BEAT = 8, 64


def words_of(key: NetworkKey) -> int:
    """Returns the words of a network's buffer behind its first beat, without the last beat's
    rest."""
    layers = [
        (layer.channels, layer.depth(key.image_of(k))) for k, layer in enumerate(key.layers) if layer.kind in PRODUCTS
    ]
    return sum(2 * o + -(-o * depth // WORD) for o, depth in layers)


def buffer_of(key: NetworkKey) -> np.ndarray:
    """Returns the buffer, as int32, with the constants of `key`."""
    parts = []
    for layer, constants in zip(key.layers, key.tables, strict=True):
        if constants is None:
            continue
        begin = -layer.zero_in * constants.weights.astype(np.int64).sum(1)
        starts = np.zeros((layer.channels, 2), "<i4")
        starts[:, 0] = begin
        weights = constants.weights.tobytes()
        rounding = np.stack([constants.added, constants.factor], 1)
        parts += [starts.tobytes(), weights, bytes(-len(weights) % WORD), rounding.astype("<f4").tobytes()]
    payload = b"".join(parts)
    payload += bytes(-len(payload) % BEAT)
    words = np.frombuffer(payload, "<u4").reshape(-1, 2)
    each = words[:, 0].cumsum(dtype=np.uint32)
    second = int(each[: words_of(key)].sum(dtype=np.uint64)) + int(words[:, 1].sum(dtype=np.uint64))
    first = int(words[:, 0].sum(dtype=np.uint64))
    sums = np.array([first % (1 << 32), second % (1 << 32)], "<u4")
    head = sha256(payload).digest() + sums.tobytes()
    return np.frombuffer(head + bytes(BEAT - len(head)) + payload, "<i4")
