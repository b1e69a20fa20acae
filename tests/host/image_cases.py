"""A small image, described by hand."""

from __future__ import annotations

import json

from ftensor.image.contents import ArgumentDescription, Bank, ComputeUnit, Description, KernelDescription
from ftensor.image.description import pack

LIBRARY = b"\x7fELF" + bytes(60)
VADD = KernelDescription(
    "vadd",
    (
        ArgumentDescription("a", "const float *", banks=("DDR[0]",)),
        ArgumentDescription("b", "float *", banks=("DDR[1]",)),
        ArgumentDescription("scale", "double"),
        ArgumentDescription("flag", "unsigned char"),
        ArgumentDescription("n", "unsigned int"),
    ),
    (ComputeUnit("vadd_1"), ComputeUnit("vadd_2")),
)
TWO_BANKS = (Bank("DDR[0]", 4 << 30), Bank("DDR[1]", 4 << 30))
SIMPLE = Description((VADD,), TWO_BANKS, "vendor_board_gen3_1", 250.0, "demo")
# A complete file.
FILE = pack(SIMPLE, LIBRARY, json.dumps({"format": "ftensor-image", "version": 1}))
