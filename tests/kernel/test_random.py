"""Random numbers: the same bits on every device, and the required distributions.

A NumPy reference gives an element's bits. Digests show that every device has the same.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pytest

import ftensor as ft

from ..targets import some

M = np.uint64(0xFFFFFFFF)


def philox(counter: np.ndarray[Any, Any], key: tuple[int, int]) -> np.ndarray[Any, Any]:
    """Returns Philox 4x32-10 of counters (n, 4), as in its paper."""
    c = [counter[:, k].astype(np.uint64) for k in range(4)]
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> np.uint64(32)) ^ c[1] ^ k0, q & M, (p >> np.uint64(32)) ^ c[3] ^ k1, p & M]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & M, (k1 + np.uint64(0xBB67AE85)) & M
    return np.stack(c, 1).astype(np.uint32)


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0, 0, 0, 0], (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, (0xFFFFFFFF, 0xFFFFFFFF), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_the_reference_has_the_known_answers(counter: list[int], key: tuple[int, int], words: str) -> None:
    """The answers are the test vectors of Random123."""
    counters = philox(np.array([counter]), key)
    assert " ".join(f"{w:08x}" for w in counters[0]) == words


def blocks(count: int, seed: int, call: int) -> np.ndarray[Any, Any]:
    """Returns the blocks of a call."""
    counter = np.zeros((count, 4), np.uint64)
    counter[:, 0] = np.arange(count)
    counter[:, 2], counter[:, 3] = call & 0xFFFFFFFF, call >> 32
    return philox(counter, (seed & 0xFFFFFFFF, seed >> 32))


SEEDS = ((0, 0), (2**64 - 1, 2**48 - 1), (0x123456789ABCDEF0, 0xFEDCBA98765))


@pytest.mark.parametrize(("seed", "call"), SEEDS)
def test_bits_of_an_element(seed: int, call: int) -> None:
    """An element uses one word of a block if it has 32 bits, two if it has 64, and a block for an
    integer."""
    n = 1003
    words = blocks(n, seed, call).astype(np.uint64)
    source = ft.Generator().manual_seed(seed)
    source.set_offset(call)
    got = ft.rand(n, generator=source)
    assert (got.numpy() * 2**24 == (words.ravel()[:n] >> np.uint64(8))).all()
    source.set_offset(call)
    got = ft.rand(n, dtype=ft.float64, generator=source)
    pairs = (words[:, 0::2] | words[:, 1::2] << np.uint64(32)).ravel()[:n]
    assert (got.numpy() * 2**53 == (pairs >> np.uint64(11))).all()
    for low, high in ((0, 10), (-(2**62), 2**62 + 12345), (-(2**63), None)):
        source.set_offset(call)
        got = ft.empty(n, dtype=ft.int64).random_(low, high, generator=source)
        whole = [sum(int(w) << 32 * k for k, w in enumerate(row)) for row in words]
        many = (2**63 if high is None else high) - low
        assert got.tolist() == [low + (w * many >> 128) for w in whole]


def test_strides_do_not_change_random_numbers() -> None:
    expected = ft.randn(7, 33, generator=ft.Generator().manual_seed(5))
    for out in (ft.empty(33, 7).t(), ft.empty(9, 40)[1:8, 3:36], ft.empty(7, 33, 2)[..., 1]):
        out.normal_(generator=ft.Generator().manual_seed(5))
        assert out.equal(expected)


FLOATS = (ft.float32, ft.float64, ft.float16, ft.bfloat16)
N = 10007


def results(of: Any) -> dict[str, ft.Tensor]:
    """Returns the results of the random rows in one floating-point dtype."""
    source = ft.Generator().manual_seed(20240229)
    drawn = {
        "uniform": ft.empty(N, dtype=of).uniform_(generator=source),
        "uniform -3 7": ft.empty(N, dtype=of).uniform_(-3, 7, generator=source),
        "normal": ft.empty(N, dtype=of).normal_(generator=source),
        "normal 1 3": ft.empty(N, dtype=of).normal_(1, 3, generator=source),
        "log_normal": ft.empty(N, dtype=of).log_normal_(-1, 0.5, generator=source),
        "exponential": ft.empty(N, dtype=of).exponential_(2, generator=source),
        "cauchy": ft.empty(N, dtype=of).cauchy_(1, 2, generator=source),
        "geometric": ft.empty(N, dtype=of).geometric_(0.125, generator=source),
        "random": ft.empty(N, dtype=of).random_(generator=source),
        "bernoulli": ft.empty(N, dtype=of).bernoulli_(0.3, generator=source),
    }
    chances = ft.empty(N, dtype=of).uniform_(generator=source)
    drawn["chances"] = ft.bernoulli(chances, generator=source)
    drawn["poisson"] = ft.poisson(chances * 20, source)
    drawn["binomial"] = ft.binomial(ft.full_like(chances, 40), chances, source)
    drawn["rrelu"] = ft.rrelu(drawn["normal"], training=True, generator=source)
    return drawn


def digest(tensors: dict[str, ft.Tensor]) -> str:
    """Returns the digest of all bits."""
    sha = sha256()
    for t in tensors.values():
        sha.update(t.view(ft.uint8).numpy().tobytes())
    return sha.hexdigest()[:16]


# tests/spelling/test_random.py tests the distributions of these results.
DIGESTS = {
    "float32": "215f878589700c2d",
    "float64": "161493843cf9e6c6",
    "float16": "da26b034cb2166ea",
    "bfloat16": "6fb69fadf0f233c5",
    "integers": "0ddbaf235d3423f3",
    "dropout": "1e0b300b8baf23ef",
}


@pytest.mark.parametrize("of", some(FLOATS, 2), ids=lambda of: of.__repr__().partition(".")[2])
def test_every_device_has_the_same_bits(of: Any) -> None:
    assert digest(results(of)) == DIGESTS[repr(of).partition(".")[2]]


def test_every_device_has_the_same_integers() -> None:
    source = ft.Generator().manual_seed(7)
    drawn = {}
    for of in (ft.bool, ft.uint8, ft.int8, ft.int16, ft.int32, ft.int64):
        drawn[f"random {of}"] = ft.empty(999, dtype=of).random_(generator=source)
        drawn[f"bernoulli {of}"] = ft.empty(999, dtype=of).bernoulli_(0.4, generator=source)
        if of is not ft.bool:
            drawn[f"geometric {of}"] = ft.empty(999, dtype=of).geometric_(0.2, generator=source)
    assert digest(drawn) == DIGESTS["integers"]


def dropped() -> dict[str, ft.Tensor]:
    """Returns dropout results, which use the default generator."""
    with ft.random.fork_rng():
        ft.manual_seed(11)
        x = ft.arange(1.0, 1000)
        return {
            "dropout": ft.dropout(x, 0.25, True),
            "alpha": ft.alpha_dropout(x, 0.25, True),
            "feature": ft.feature_dropout(x.reshape(9, 37, 3), 0.5, True),
        }


def test_every_device_drops_the_same() -> None:
    tensors = dropped()
    assert digest(tensors) == DIGESTS["dropout"]
    x = ft.arange(1.0, 1000)
    kept = tensors["dropout"] != 0
    assert tensors["dropout"].equal(ft.where(kept, x * (1 / 0.75), 0.0))
    # 999 draws with probability 3/4 have a standard deviation of 14.
    assert 680 < kept.sum().item() < 820
    channels = (tensors["feature"] != 0).sum(-1)
    assert set(channels.ravel().tolist()) == {0, 3}
