"""Known differences from the CPU in torch's databases, with reasons. A test fails if one of them
passes."""

from __future__ import annotations

_SPARSE = "the device has no sparse tensors"
_EQUAL = "an unstable sort may return the index of any of several equal elements"
# By the op's name in torch's database and the dtype.
OPS: dict[str, str] = {
    "sparse.mm.reduce float32": _SPARSE,
    "sparse.sampled_addmm float32": _SPARSE,
    "sparse.sampled_addmm complex64": _SPARSE,
    "sparse.mm.reduce bfloat16": _SPARSE,
    **{f"to_sparse {dtype}": _SPARSE for dtype in ("float32", "int64", "complex64", "bfloat16")},
}
# Differences that depend on the order of sums or of equal elements: some samples fail, others pass.
EITHER: dict[str, str] = {
    "kthvalue int64": _EQUAL,
    "topk int64": _EQUAL,
    **{f"{op} bfloat16": _EQUAL for op in ("argsort", "kthvalue", "msort", "sort", "topk")},
    "nn.functional.linear_cross_entropy.chunked_none bfloat16": "rounds between its steps",
    "nn.functional.conv_transpose3d complex64": "a sum of many products",
    "nn.ConvTranspose3d train": "its weight's gradient is a sum of many products",
    "linalg.householder_product complex64": "its gradient is a sum of products that nearly cancel",
    "cummax bfloat16": "its gradient adds in bfloat16 where an element is the largest of several",
    "cummin bfloat16": "its gradient adds in bfloat16 where an element is the least of several",
}

_WINDOWS = "its gradient is a product with a matrix, so a NaN in it reaches other windows"
# By the module's name, and "train" or "eval".
MODULES: dict[str, str] = {**{f"nn.LPPool{n}d train": _WINDOWS for n in (1, 2, 3)}}
