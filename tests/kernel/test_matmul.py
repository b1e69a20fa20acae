"""Matrix products against torch: shapes, layouts, dtypes, and both sides of every kernel's limits.

Sums of integer-valued floats are exact in any order, so those results are compared exactly.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor._device import backend_of, default_backend, resolve
from ftensor.execute import matmul
from ftensor.execute import matmul as gemm

from .. import oracle
from ..targets import draws, pairs, some
from .processors import processors

torch = pytest.importorskip("torch")

# Tiles are 8 x 32 (float32) or 4 x 16 (complex64); on CPUs with few registers 6 x 16 or 5 x 8.
# Blocks are 16 tiles high, and direct tiles are 4 x 16.
EDGES = (1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 129)
DTYPES = ("float32", "complex64", "int64", "bfloat16")
LAYOUTS = ("rows", "columns", "gaps", "offset")


def whole(shape: tuple[int, ...], dtype: str, layout: str = "rows", seed: int = 0) -> Any:
    """Returns a torch tensor of small integers in a layout."""
    torch.manual_seed(seed)
    t = torch.randint(-3, 4, shape)
    if dtype == "complex64":
        t = torch.complex(t.float(), torch.randint(-3, 4, shape).float())
    t = t.to(getattr(torch, dtype))
    if layout == "columns":
        return t.mT.contiguous().mT
    if layout == "gaps":
        wide = torch.zeros((*shape[:-1], 2 * shape[-1]), dtype=t.dtype)
        wide[..., ::2] = t
        return wide[..., ::2]
    if layout == "offset":
        long = torch.zeros(t.numel() + 3, dtype=t.dtype)
        long[3:] = t.reshape(-1)
        return long[3:].view(shape)
    return t


same = partial(oracle.same, strides=False, rtol=0, atol=0)


def both(function: Any, *tensors: Any, **kwargs: Any) -> None:
    """Asserts that the op of this name (or the function, in both modules) gives equal results."""
    mine = [ft.from_torch(t) for t in tensors]
    if isinstance(function, str):
        same(getattr(ft, function)(*mine, **kwargs), getattr(torch, function)(*tensors, **kwargs))
    else:
        same(function(*mine), function(*tensors))


@draws(60)
@given(
    st.sampled_from(EDGES),
    st.sampled_from(EDGES),
    st.sampled_from((*EDGES, 300)),
    st.sampled_from(DTYPES),
    st.sampled_from(LAYOUTS),
    st.sampled_from(LAYOUTS),
)
def test_matrix_sizes_at_tile_edges(m: int, n: int, k: int, dtype: str, left: str, right: str) -> None:
    """Products of every size and layout are direct or packed. bfloat16 sums are exact in
    float32."""
    a, b = whole((m, k), dtype, left), whole((k, n), dtype, right, 1)
    expected = a.double() @ b.double() if dtype == "bfloat16" else a @ b
    same(ft.from_torch(a) @ ft.from_torch(b), expected.to(a.dtype))


@draws(30)
@given(
    st.sampled_from(((), (1,), (3,), (2, 1), (2, 3))),
    st.sampled_from(((), (1,), (3,), (2, 3))),
    st.sampled_from((1, 5, 34)),
    st.sampled_from((1, 7, 33)),
    st.sampled_from((1, 9, 130)),
    st.sampled_from(LAYOUTS),
)
def test_batches(first: Any, second: Any, m: int, n: int, k: int, layout: str) -> None:
    both("matmul", whole((*first, m, k), "float32", layout), whole((*second, k, n), "float32"))


@draws(30)
@given(
    st.sampled_from((1, 90, 97, 650)),
    st.sampled_from((3, 4, 5, 8, 9, 16, 31, 96)),
    st.sampled_from((1, 2, 17, 96, 300)),
    st.sampled_from(((), (2,), (3, 2))),
    st.sampled_from(("float32", "int32", "float64")),
    st.sampled_from(LAYOUTS),
    st.sampled_from(LAYOUTS),
)
def test_many_rows(m: int, n: int, k: int, batch: Any, dtype: str, left: str, right: str) -> None:
    """The operand that all rows share stays in the cache, in vectors of all columns."""
    if dtype == "float64" and not default_backend().properties.has_float64:
        return
    a, b = whole((*batch, m, k), dtype, left), whole((*batch, k, n), dtype, right, 1)
    for processor in processors():
        with processor:
            both("matmul", a, b)
            both("matmul", b.mT, a.mT)


@pytest.mark.parametrize(("dtype", "way"), pairs(DTYPES, ["direct", "packed", "near"]))
def test_packed_and_direct_products_are_equal(way: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kernels compute the same with alpha, beta, an output with gaps, and an empty inner
    dim."""
    direct, near = (1 << 60 if way == one else -1 for one in ("direct", "near"))
    for module in (gemm, matmul):
        monkeypatch.setattr(module, "DIRECT_TERMS_GATHERED", direct)
    a, b = whole((3, 21, 37), dtype), whole((1, 37, 19), dtype, "columns", 1)
    a, b = ft.from_torch(a), ft.from_torch(b)
    for processor in processors(direct_terms=direct, near_elements=near):
        with processor:
            for alpha, beta in ((1, 1), (2, 0), (-1, 3)):
                added = whole((3, 21, 19), dtype, "gaps", 2)
                expected = torch.baddbmm(added, a.to_torch(), b.to_torch().expand(3, 37, 19), beta=beta, alpha=alpha)
                mine = ft.from_torch(added.clone(memory_format=torch.preserve_format))
                mine.baddbmm_(a, b.expand(3, 37, 19), beta=beta, alpha=alpha)
                if dtype == "bfloat16":  # torch rounds the product before the addition
                    torch.testing.assert_close(mine.to_torch(), expected)
                else:
                    same(mine, expected)
            same(a[:, :, :0] @ b[:, :0], torch.zeros((3, 21, 19), dtype=expected.dtype))


def test_products_split_into_several_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panels beyond the limit are made one after another."""
    monkeypatch.setattr(gemm, "PANEL_BYTES", 1 << 14)
    a, b = whole((3, 150, 141), "float32"), whole((141, 170), "float32", "columns", 1)
    both("matmul", a, b)
    both("matmul", b.T.contiguous(), a.mT.contiguous())


def test_accuracy_of_long_sums() -> None:
    """Terms are summed in blocks, so the error does not grow with their number."""
    torch.manual_seed(0)
    for m, n in ((40, 40), (8, 16), (3, 5)):
        a, b = torch.rand(m, 5000), torch.rand(5000, n)
        exact = (a.double() @ b.double()).float()
        mine = (ft.from_torch(a) @ ft.from_torch(b)).to_torch()
        torch.testing.assert_close(mine, exact, rtol=1e-6, atol=0)


VECTORS = [
    ((7,), (7,)),
    ((5, 7), (7,)),
    ((7,), (7, 5)),
    ((300,), (300, 40)),
    ((40, 300), (300,)),
    ((2, 5, 7), (7,)),
    ((7,), (2, 7, 5)),
    ((0,), (0,)),
    ((5, 0), (0,)),
    ((0, 7), (7, 3)),
    ((5, 0), (0, 3)),
    ((2, 0, 3), (2, 3, 4)),
]


@pytest.mark.parametrize(("first", "second"), VECTORS)
def test_vectors_and_empty_sums(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Vectors lose their dim, and an empty sum is zero."""
    both("matmul", whole(first, "float32"), whole(second, "float32", "rows", 1))


@pytest.mark.core
def test_addmm_of_matrix_and_row() -> None:
    """Adds a matrix, then a row twice. The second call with a row is cached."""
    m, n, added = (whole(s, "float32", "rows", i) for i, s in enumerate([(4, 6), (6, 5), (4, 5)]))
    for term in (added, added[0], added[0]):
        both("addmm", term, m, n)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64"])
def test_products_under_other_names_are_torchs(dtype: str) -> None:
    m, n, v, w = (whole(s, dtype, "rows", i) for i, s in enumerate([(4, 6), (6, 5), (6,), (4,)]))
    x = whole((3, 4, 6), dtype)
    y = whole((3, 6, 5), dtype, "columns")
    added = whole((4, 5), dtype)
    both("addmm", added, m, n, beta=2, alpha=3)
    both("addmm", added[:1], m, n)
    both("addmv", w, m, v, beta=2, alpha=-1)
    both("addbmm", added, x, y, beta=2, alpha=3)
    both("baddbmm", added, x, y, beta=2, alpha=3)
    both("addr", whole((4, 6), dtype), w, v, beta=2, alpha=3)
    both("outer", w, v)
    both("vdot", v, v)
    both("inner", x, m)
    both("kron", m, n)
    both("tensordot", x, y, dims=([0, 2], [0, 1]))
    both("chain_matmul", m, n, n.T)
    both(lambda p, q, r: (ft if isinstance(p, ft.Tensor) else torch).linalg.multi_dot([p, q, r]), w, m, n)
    both(lambda p: (ft if isinstance(p, ft.Tensor) else torch).linalg.matrix_power(p, 5), m[:, :4])


def test_addbmm_of_a_long_batch() -> None:
    """The batch is one product."""
    x, y = whole((40, 3, 5), "float32"), whole((40, 5, 4), "float32", "columns", 1)
    both("addbmm", whole((3, 4), "float32"), x, y, beta=2, alpha=3)


@pytest.mark.parametrize("equation", some([
    "ij,jk", "ij,jk->ki", "bij,bjk->bik", "ij,ij->", "ij,kl->ijkl", "ii,ij->j", "...ij,jk->...ik",
    "ij,jk,kl->il", "ij,ik->j", "b...,b...->...", "ij->ji", "ij->i",
], 2))  # fmt: skip
def test_einsum(equation: str) -> None:
    """Each subscript has size 4."""
    terms = equation.split("->")[0].split(",")
    tensors = [whole((4,) * len(t.replace("...", "z")), "float32", "rows", k) for k, t in enumerate(terms)]
    both(lambda *x: (ft if isinstance(x[0], ft.Tensor) else torch).einsum(equation, *x), *tensors)


def test_output_that_is_an_input() -> None:
    """The inputs are not overwritten before the end."""
    a = whole((20, 20), "float32")
    mine = ft.from_torch(a.clone())
    ft.mm(mine, mine.t(), out=mine)
    same(mine, a @ a.T)
    mine = ft.from_torch(a.clone())
    same(mine.addmm_(mine, mine), a + a @ a)


@pytest.mark.parametrize("size", [16, 200], ids=["direct", "packed"])
def test_rounding_of_products_follows_the_target(size: int) -> None:
    """(1 + e)(1 + e) is 1 + 2 e if the product is rounded, and one part in 2^24 more if fma adds
    it. Devices with Vitis images round products (hls/gemm.h)."""
    backend, e = backend_of(resolve()), 2.0**-12
    fused = (backend.target.kind, backend.target.dialect) != ("board", "vitis") and backend.images is None
    a, b = torch.zeros(size, size), torch.zeros(size, size)
    a[:, 0], a[:, 1], b[0], b[1] = 1, 1 + e, -1 - 2 * e, 1 + e
    expected = torch.full((size, size), 2.0**-24 if fused else 0.0)
    same(ft.from_torch(a) @ ft.from_torch(b), expected)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: t.mm(t.ones(2, 3), t.ones(4, 5)), RuntimeError),
        (lambda t: t.matmul(t.ones(2, 3), t.ones(4)), RuntimeError),
        (lambda t: t.matmul(t.ones(()), t.ones(4)), RuntimeError),
        (lambda t: t.matmul(t.ones(2, 2, 3), t.ones(3, 3, 4)), RuntimeError),
        (lambda t: t.mm(t.ones(2, 3), t.ones(3, 2, dtype=t.float64)), RuntimeError),
        (lambda t: t.mm(t.ones(2, 2, dtype=t.bool), t.ones(2, 2, dtype=t.bool)), NotImplementedError),
        (lambda t: t.mm(t.ones(2, 3), t.ones(3, 2), out=t.ones(2, 2, dtype=t.int64)), RuntimeError),
        (lambda t: t.ones(3, 1).addmm_(t.ones(3, 3), t.ones(3, 3)), RuntimeError),
        (lambda t: t.addmm(t.ones(2, 3), t.ones(3, 3), t.ones(3, 3)), RuntimeError),
        (lambda t: t.ones(3) @ 2, TypeError),
        (lambda t: t.einsum("ij,jk", t.ones(2, 3), t.ones(4, 4)), RuntimeError),
        (lambda t: t.einsum("ij->k", t.ones(2, 3)), RuntimeError),
        (lambda t: t.einsum("i"), ValueError),
        (lambda t: t.tensordot(t.ones(3, 4), t.ones(4, 5), dims=3), RuntimeError),
    ],
)
def test_operands_that_do_not_fit_raise_torchs_errors(call: Any, error: type[Exception]) -> None:
    for module in (torch, ft):
        with pytest.raises(error):
            call(module)


@pytest.mark.skipif(
    not default_backend().target.processor, reason="only CPUs choose between a product and its transpose"
)
@pytest.mark.parametrize("depth, transposed", [(64, False), (4096, True)])
def test_transposed_products_save_more_than_strided_results_cost(
    depth: int, transposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matmul, "HALF_PACKED_FACTOR", 0)
    backend = default_backend()
    tile = matmul.packed_key(ft.float32, backend.target)
    m = 4 * tile.rows * tile.columns
    out, a, b = ft.empty(m, m + tile.rows), ft.empty(m, depth), ft.empty(depth, m + tile.rows)
    packing, product = matmul.prepare(out, a, b, None, 1, 1).steps
    assert product.key == tile
    assert packing.pointers[-2:] == ((matmul.B, matmul.A) if transposed else (matmul.A, matmul.B))


@pytest.mark.skipif(not default_backend().target.processor, reason="boards pack both matrices")
@pytest.mark.parametrize("of", ["rows", "columns", "batches", "another layout"])
def test_one_matrix_is_packed_if_it_fits_the_l2_cache(of: str) -> None:
    """The other matrix's rows are read in place. All edges are partial tiles."""
    depth = 131
    a, b = whole((203, depth), "float32"), whole((depth, 331), "float32")
    c, d = whole((2, 203, depth), "float32"), whole((331, depth), "float32")
    x, y = {"rows": (a, b), "columns": (a, d.mT), "batches": (c, b), "another layout": (c[0].mT.contiguous().mT, b)}[of]
    mine = [ft.from_torch(x), ft.from_torch(y)]
    same(mine[0] @ mine[1], x @ y)
    if of != "batches":
        product = matmul.prepare(ft.empty(203, 331), *mine, None, 1, 1).steps[-1]
        assert product.key.skeleton == ("gemm" if of == "another layout" else "gemm_direct")


@pytest.mark.parametrize("columns", [1, 0, 2])
def test_addends_of_any_stride_and_alignment(columns: int) -> None:
    a, b, wide = whole((20, 24), "float32"), whole((24, 49), "float32"), whole((20, 99), "float32")
    addend = wide.as_strided((20, 49), (99, columns), 1)
    mine = ft.addmm(ft.from_torch(wide).as_strided((20, 49), (99, columns), 1), ft.from_torch(a), ft.from_torch(b))
    same(mine, torch.addmm(addend, a, b))
