"""Network files: a network as canonical JSON, and its constants in a binary file beside it.

As for graphs, a network has exactly one text, and any other text is no network file. The text
contains only numbers and the SHA-256 of the constants. The constants of a loaded network are
checked, but are not part of its key.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes.limits import iinfo
from .network import (
    ADD,
    AVG_POOL,
    CAT,
    KINDS,
    LOADED,
    PRODUCTS,
    Fold,
    NetworkKey,
    NetworkLayer,
    check_inputs,
    check_layer,
    check_ports,
)

FORMAT = "ftensor network 4"
# Limits of a file.
MAX_LAYERS, MAX_INPUTS, MAX_SIZE, MAX_CONSTANTS = 256, 16, 1 << 16, 1 << 26
_PAIRS = ("kernel", "stride", "padding", "fold")
_ZEROS = ("zero_in", "zero_other", "zero", "low")
_FIELDS = ("kind", "inputs", "channels", *_PAIRS, *_ZEROS, "high", "scales", "zeros", "relu")


def text(key: NetworkKey, constants: bytes | None = None) -> str:
    """Returns the text of a network's file; `constants` are those of a loaded network."""
    data = key.constants if constants is None else constants
    layers = [{name: getattr(layer, name) for name in _FIELDS} for layer in key.layers]
    network: dict[str, Any] = {
        "format": FORMAT,
        "name": key.name,
        "dtype": key.dtype.name,
        "image": key.image,
        "layers": layers,
        "constants": {"bytes": len(data), "sha256": sha256(data).hexdigest()},
    }
    if key.loaded:
        network["weights"] = LOADED
    return json.dumps(network, sort_keys=True, indent=1) + "\n"


def parse_network(raw: Mapping[str, Any], data: bytes, constants: bytes) -> NetworkKey:
    """Returns the network of a file: its JSON object, its bytes, and the constants' bytes.

    Raises ValueError, with the location, for values that no network has, for constants with another
    digest, and for a text that differs from `text` of the network.
    """
    try:
        found = raw["constants"]["sha256"]
        digest = sha256(constants).hexdigest()
        _require(found == digest, f"its constants' SHA-256 is {digest}, not {found}")
        of = {"uint8": dtypes.uint8, "int8": dtypes.int8, "float32": dtypes.float32}.get(raw["dtype"])
        _require(of is not None, f"its dtype is {raw['dtype']!r}, not uint8, int8 or float32")
        assert of is not None
        image = tuple(_int(n, 1, MAX_SIZE, "a size of its images") for n in raw["image"])
        _require(len(image) == 3, f"its images have {len(image)} sizes, not 3")
        _require(0 < len(raw["layers"]) <= MAX_LAYERS, f"it has {len(raw['layers'])} layers, of 1 to {MAX_LAYERS}")
        layers = tuple(_layer(k, one, of) for k, one in enumerate(raw["layers"]))
        name = raw["name"]
        _require(
            isinstance(name, str) and name.isidentifier() and name.isascii() and len(name) <= 64,
            f"its name is {name!r}",
        )
        key = NetworkKey(name, of, (image[0], image[1], image[2]), layers, constants)
        for k, layer in enumerate(layers):
            images = [key.flows[value] for value in layer.inputs]
            after = layer.result(images[0])
            why = check_layer(layer, images[0]) or check_inputs(layer, images)
            if min(after.height, after.width) < 1:
                why = f"it makes {after.channels} x {after.height} x {after.width} of {images}"
            _require(not why, f"layer {k}: {why}")
        read = {value for layer in layers for value in layer.inputs}
        _require(read == set(range(len(layers))), "a value is read by no layer")
        why = check_ports(key.flows[0], key.flows[-1])
        _require(not why, why)
        weights = raw.get("weights", LOADED)
        _require(weights == LOADED, f'its weights are {weights!r}, not "{LOADED}"')
        # The kernel of a loaded network needs no constants, so they may be missing.
        size = key.constants_size * bool(constants or "weights" not in raw)
        _require(size == len(constants), f"it has {len(constants)} bytes of constants, and its layers {size}")
        tables = [one for one in key.tables if one] if constants else []
        finite = all(np.isfinite(part).all() for one in tables for part in one)
        _require(finite, "a number of a layer is not finite")
        key = key.without_constants() if "weights" in raw else key
    except KeyError as error:
        raise ValueError(f"it has no {error}") from None
    except (TypeError, AttributeError) as error:
        raise ValueError(f"a value has another type than it should: {error}") from None
    _require(text(key, constants).encode() == data, "its text is not the one that its network is written as")
    return key


def _layer(k: int, raw: Mapping[str, Any], of: dtypes.dtype) -> NetworkLayer:
    what, floats = f"layer {k}", of is dtypes.float32
    least_zero, most_zero = (0, 0) if floats else (iinfo(of).min, iinfo(of).max)
    _require(set(raw) == set(_FIELDS), f"{what} has the fields {sorted(raw)}")
    kind = raw["kind"]
    _require(kind in KINDS, f"the kind of {what} is {kind!r}")
    pairs: dict[str, Any] = {}
    for name in _PAIRS:
        _require(isinstance(raw[name], list) and len(raw[name]) == 2, f"{name} of {what} is {raw[name]!r}, not a pair")
        least = 0 if name == "padding" else 1
        pairs[name] = tuple(_int(n, least, MAX_SIZE, f"{name} of {what}") for n in raw[name])
    zeros: dict[str, Any] = {n: _int(raw[n], least_zero, most_zero, f"{n} of {what}") for n in _ZEROS}
    zeros["high"] = _int(raw["high"], zeros["low"], 255, f"high of {what}")
    relu = raw["relu"]
    kinds = (*PRODUCTS, ADD) if floats else ()
    _require(type(relu) is int and relu in ((0, 1, 6) if kind in kinds else (0,)), f"relu of {what} is {relu!r}")
    inputs = tuple(_int(value, 0, k, f"an input of {what}") for value in raw["inputs"])
    count = len(inputs)
    _require(1 < count <= MAX_INPUTS if kind == CAT else count == 1 + (kind == ADD), f"{what} has {count} inputs")
    scales = tuple(_scale(value, what) for value in raw["scales"])
    wanted = ({AVG_POOL: 1} if floats else {ADD: 3, AVG_POOL: 1, CAT: count + 1}).get(kind, 0)
    _require(len(scales) == wanted, f"{what} has {len(scales)} scales")
    points = tuple(_int(value, least_zero, most_zero, f"a zero point of {what}") for value in raw["zeros"])
    _require(len(points) == count * (kind == CAT and not floats), f"{what} has {len(points)} zero points")
    channels = _int(raw["channels"], 1, MAX_SIZE, f"channels of {what}")
    fold = Fold(*pairs.pop("fold"))
    return NetworkLayer(kind, inputs, channels, **pairs, **zeros, scales=scales, zeros=points, fold=fold, relu=relu)


def _scale(value: Any, what: str) -> float:
    fits = type(value) is float and 0 < value < math.inf and float(np.float32(value)) == value
    _require(fits, f"a scale of {what} is {value!r}, no positive number of float32")
    return float(value)


def _int(value: Any, least: int, most: int, what: str) -> int:
    _require(type(value) is int and least <= value <= most, f"{what} is {value!r}, not one from {least} to {most}")
    return int(value)


def _require(fits: bool, problem: str) -> None:
    if not fits:
        raise ValueError(problem)
