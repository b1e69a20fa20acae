"""Kernels of matrix products: their programs, tile sizes, and what each launch is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..dtypes import dtype
from . import ctype, source
from .key import lanes_for
from .program import obtain

if TYPE_CHECKING:
    from ..runtime.backend import Backend, Kernel
    from ..runtime.targets import Target


@dataclass(frozen=True)
class GemmKey:
    """One kernel: its skeleton, the dtype in memory, and the shape of a tile in registers."""

    skeleton: str
    dtype: dtype
    lanes: int
    rows: int
    vectors: int
    block: int = 1  # row panels that share a column panel
    depth: int = 256  # terms summed in registers before they join the totals
    fused: bool = True  # products join the sum without being rounded first

    @property
    def columns(self) -> int:
        """The width of a tile."""
        return self.lanes * self.vectors

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        tile = f"{self.rows}x{self.columns}"
        kind = "fused" if self.fused else "rounded"
        return f"ft_{self.skeleton}_{self.dtype.name}_{tile}_{self.block}_{self.depth}_{kind}"


def packed_key(of: dtype, target: Target) -> GemmKey:
    """The kernel for matrices worth packing.

    A CPU keeps 8 rows by 2 vectors in registers and a block's totals in its first cache; a GPU's
    work-items have few registers each, and no cache of their own.
    """
    compute = of.compute
    lanes = lanes_for([compute], compute, target.lanes_bytes)
    if target.grid == "stride":
        return GemmKey("gemm", of, lanes, 4, 1)
    if compute.is_complex:
        return GemmKey("gemm", of, lanes, 4, 2, 16)
    return GemmKey("gemm", of, lanes, 8, 2, 16)


def pack_key(packed: GemmKey) -> GemmKey:
    """The kernel that makes the panels which `packed` reads."""
    return GemmKey("gemm_pack", packed.dtype, 1, packed.rows, packed.columns)


def direct_key(of: dtype, target: Target, fused: bool) -> GemmKey:
    """The kernel for small matrices."""
    lanes = lanes_for([of], of.compute, target.lanes_bytes)
    return GemmKey("gemm_direct", of, lanes, 4, 1, fused=fused or of.kind in "ui")


def kernel(backend: Backend, key: GemmKey) -> Kernel:
    """The kernel `key` on this backend."""
    found: Kernel | None = backend.kernels.get(key)
    if found is None:
        found = obtain(
            backend,
            key,
            parameter_types(key),
            lambda: program(
                key,
                backend.dialect,
                float64=backend.properties.has_float64,
                grid=backend.target.grid,
            ),
        )
    return found


def named_parameters(key: GemmKey) -> tuple[tuple[str, str, str], ...]:
    """The parameters of a kernel in order, as (what, C type, name); see the skeletons."""
    element, real = ctype.MEMORY[key.dtype.name], ctype.scalar(key.dtype)
    packs = key.skeleton == "gemm_pack"
    if packs:
        names = [("a_panels", real), ("b_panels", real), ("a", element), ("b", element)]
    elif key.skeleton == "gemm":
        names = [("out", element), ("a_panels", real), ("b_panels", real), ("added", element)]
    else:
        names = [(name, element) for name in ("out", "a", "b", "added")]
    written = 2 if packs else 1
    found = [
        ("*", f"{'' if i < written else 'const '}{of} *", name)
        for i, (name, of) in enumerate(names)
    ]
    with_offset = {"gemm_pack": ("a", "b"), "gemm": ("out", "added")}.get(
        key.skeleton, ("out", "a", "b", "added")
    )
    found += [("long", "long ", f"{name}_offset") for name in with_offset]
    if not packs:
        parts = ("_re", "_im") if key.dtype.is_complex else ("_re",)
        found += [(real, f"{real} ", f"{n}{part}") for n in ("alpha", "beta") for part in parts]
    return (*found, ("*", "const long *", "geometry"))


def parameter_types(key: GemmKey) -> tuple[str, ...]:
    """The parameters of a kernel, as `Backend.build` wants to know them."""
    return tuple(what for what, _, _ in named_parameters(key))


def program(key: GemmKey, dialect: str, *, float64: bool, grid: str) -> str:
    """The self-contained text of a kernel."""
    lines = settings(key, float64=float64, grid=grid)
    files = [f"dialect/{dialect}.h", *helpers(key), f"skeleton/{key.skeleton}.h"]
    return "\n".join(lines + [source.kernel_file(name) for name in files])


def helpers(key: GemmKey) -> list[str]:
    """The files of hls/ that the skeleton needs besides the dialect."""
    return ["math.h", "complex.h", "gemm.h"] if key.dtype.is_complex else ["math.h", "gemm.h"]


def settings(key: GemmKey, *, float64: bool, grid: str) -> list[str]:
    """What the dialect, the helpers and the skeleton are told about a kernel."""
    defines = {
        "FT_NAME": key.entry,
        "FT_E": ctype.MEMORY[key.dtype.name],
        "FT_E_HALF": int(key.dtype.name == "float16"),
        "FT_E_BFLOAT16": int(key.dtype.name == "bfloat16"),
        "FT_TILE_ROWS": key.rows,
        "FT_TILE_VECTORS": key.vectors,
        "FT_TILE_COLUMNS": key.columns,
        "FT_BLOCK": key.block,
        "FT_DEPTH": key.depth,
        "FT_FUSED": int(key.fused),
    }
    lines = source.settings(key.dtype.compute, key.lanes, float64, grid)
    return lines + [f"#define {name} {value}" for name, value in defines.items()]
