"""The op catalogue: one row per op, grouped by ATen category."""

from importlib import import_module

# Every module that puts ops into the catalogue.
MODULES = (
    "memory", "conversion", "creation", "creation_data", "creation_like", "ranges", "positions",
    "tensor_types", "view", "view_dims", "view_complex", "view_split", "unary", "unary_special",
    "activation", "binary", "division", "power", "compare", "bitwise", "ternary", "index",
    "masked", "gather", "scatter", "index_write", "cat", "flip", "repeat", "triangle", "pad",
    "reduce", "reduce_truth", "reduce_arg", "reduce_stats", "reduce_norm", "matmul", "addmm",
    "contract", "einsum",
)  # fmt: skip


def load() -> None:
    """Fill the catalogue."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
