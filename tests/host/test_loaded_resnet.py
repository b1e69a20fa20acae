"""The performance target for loaded weights: ResNet-18 on a U55C, by the models."""

from __future__ import annotations

from ftensor.boards import find
from ftensor.dtypes import uint8
from ftensor.kernels.network import ADD, AVG_POOL, CONV, LINEAR, MAX_POOL, NetworkKey, NetworkLayer
from ftensor.kernels.network_processes import interval, processes_of
from ftensor.toolchain.folding import SHARE, fold_network
from ftensor.toolchain.network_dies import on_dies


def resnet_18() -> NetworkKey:
    """ResNet-18 for images of 3 x 224 x 224, with loaded weights."""
    layers = [
        NetworkLayer(CONV, (0,), 64, (7, 7), (2, 2), (3, 3)),
        NetworkLayer(MAX_POOL, (1,), 64, (3, 3), (2, 2), (1, 1)),
    ]
    value = 2
    for stage in range(4):
        c = 64 << stage
        for block in range(2):
            stride = (2, 2) if stage and not block else (1, 1)
            layers.append(NetworkLayer(CONV, (value,), c, (3, 3), stride, (1, 1)))
            layers.append(NetworkLayer(CONV, (len(layers),), c, (3, 3), (1, 1), (1, 1)))
            result = len(layers)
            if stride != (1, 1):
                layers.append(NetworkLayer(CONV, (value,), c, (1, 1), stride))
                value = len(layers)
            layers.append(NetworkLayer(ADD, (result, value), c, scales=(1.0, 1.0, 1.0)))
            value = len(layers)
    layers.append(NetworkLayer(AVG_POOL, (value,), 512, (7, 7), (7, 7), scales=(1 / 64,)))
    layers.append(NetworkLayer(LINEAR, (value + 1,), 1000))
    return NetworkKey("resnet_18", uint8, (3, 224, 224), tuple(layers), b"", loaded=True)


def test_resnet_18_takes_1000_images_a_second() -> None:
    """1,107 at 250 MHz. All 11.7 MB of weights stay on the chip; block RAM and UltraRAM are used to
    about the same share."""
    found = fold_network(resnet_18(), find("u55c"))
    assert 250e6 / interval(found.key) >= 1000
    assert all(part <= most for part, most in zip(found.shares, SHARE, strict=True))
    assert max(found.shares[3:]) < 0.70 and abs(found.shares[3] - found.shares[4]) < 0.05
    memories = [p.memories[0] for p in processes_of(found.key).processes if "products" in p.function]
    assert sum(m.words * m.bits * m.copies for m in memories) == 8 * 11_678_912


def test_resnet_18_on_three_dies() -> None:
    """One kernel on each die, split between residual blocks, takes 553 images a second."""
    network, board = resnet_18(), find("u55c")
    split = on_dies(fold_network(network, board, 451_584), network, "linked", 451_584, {})
    assert split.cuts == (15, 26) and split.fits_dies and interval(split.key) == 451_584
