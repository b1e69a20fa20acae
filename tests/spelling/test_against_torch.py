"""Numbers out of range, factors of 0, and strides and dtypes of outputs, as in torch."""

from __future__ import annotations

from typing import Any

import pytest

import ftensor as ft

from ..oracle import agree, cases, torch

INF, NAN = float("inf"), float("nan")
LAYOUTS = [
    "L.arange(12.).reshape(3, 4).t()",
    "L.arange(12.).reshape(4, 3)",
    "L.arange(24.).reshape(4, 2, 3).permute(2, 0, 1)",
    "L.arange(24.).reshape(2, 3, 4)[:, :, ::2].permute(1, 2, 0)",
]


def both(case: str, computed: bool | None = None, setup: str = "", **how: Any) -> None:
    """Asserts that both libraries agree on an expression, or on `o` after a statement."""

    def run(lib: Any) -> Any:
        names = {"L": lib, "INF": INF, "NAN": NAN}
        exec(setup, names)
        if ";" not in case:
            return eval(case, names)
        exec(case, names)
        return names["o"]

    result = agree(lambda: run(ft), lambda: run(torch), **how)
    assert computed is None or result is computed


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "call",
    [
        "add(x, 1)",
        "neg(x)",
        "pow(x, 2)",
        "pow(2, x)",
        "clamp(x, 0, 1)",
        "lerp(x, x, 0.5)",
        "addcmul(x, x, x)",
        "div(x, 2)",
        "softmax(x, 0)",
        "amax(x, 0)",
        "round(x, decimals=1)",
    ],
)
def test_resized_output_has_the_strides_of_a_new_one(call: str, layout: str) -> None:
    setup = f"x = {layout}"
    for out in ("L.empty(0)", "L.empty(3, 5).t()"):
        both(f"o = {out}; L.{call[:-1]}, out=o)", True, setup)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", ["2", "1.", "2.5", "True"])
def test_powers_of_a_number_are_row_major(base: str, layout: str) -> None:
    both(f"L.pow({base}, {layout})", True)
    both(f"{base} ** {layout}.int()", True)


@pytest.mark.parametrize("call", ["a - b", "a < b", "L.sqrt(b)", "L.where(b > 1, a, b)", "a * 2.5"])
@pytest.mark.parametrize(
    "b",
    [
        "L.ones(8, 1, dtype=L.int32)[::2]",
        "L.ones(1, 4, dtype=L.complex64).t().real",
        "L.ones(2, 8, dtype=L.int64)[:1, ::2].t()",
        "L.ones(4, 2, dtype=L.float64)[:, :1]",
    ],
)
def test_result_strides_follow_the_converted_operands(call: str, b: str) -> None:
    for a in ("L.ones(4, 1, dtype=L.complex64)", "L.ones(1, 4).t()", "L.ones(4, 1).half()"):
        both(f"({call}).stride()", None, f"a, b = {a}, {b}")


@pytest.mark.parametrize("op", ["abs", "angle"])
@pytest.mark.parametrize("x", ["[:, ::2].t()", ".diagonal()", "[0].t()", "[:, 1:2]", ".t()"])
def test_real_results_have_the_strides_of_complex_inputs(op: str, x: str) -> None:
    for base in ("L.ones(1, 4)", "L.ones(2, 3)"):
        both(f"L.{op}(({base} * 1j){x}).stride()", True)


NUMBERS = """
L.lerp(h, h + h, 1e5)
! L.lerp(h, h, 1e39)
L.addcmul(h, h, h, value=1e5)
! L.addcmul(h, h, h, value=1e39)
L.addcdiv(h, h, h + 1, value=-1e5)
L.addcmul(f, f, f, value=2 + 0j)
! L.add(h, h, alpha=1e5)
! L.sub(h, h, alpha=65519.9)
! L.rsub(h, h, alpha=70000)
! L.add(i, i, alpha=300)
L.add(i, i, alpha=127)
! L.addmm(i[None], i[:, None], i[None], alpha=300)
L.addmm(h[None], h[:, None], h[None], beta=65519.9)
! L.addmm(h[None], h[:, None], h[None], beta=1e39)
! L.addr(h, h, h, alpha=1e5)
L.addr(h, h, h, alpha=3 + 0j)
L.addr(h, i, i, beta=0.3)
L.addr(i, h, i, beta=2, alpha=3)
L.addr(h, f, i, alpha=0.7)
! L.where(i > 1, i, 300)
! L.where(i > 1, 300, i)
L.where(i > 1, i, 100)
L.threshold(h, 1e5, 1)
! L.threshold(h, 1e39, 1)
! L.threshold(h, 0, 1e5)
! L.threshold(i, 0, 300)
! L.nn.functional.hardtanh(h, -1, 1e5)
! L.nn.functional.hardtanh(i, -1, 300)
! L.hardshrink(h, 1e5)
! L.nn.functional.softshrink(h, 1e5)
! L.nn.functional.leaky_relu(h, 1e39)
! L.nn.functional.elu(h, 1e39)
! L.nn.functional.celu(h, 1e39)
! L.nn.functional.softplus(h, 1e39)
L.threshold(h, 0, 3 + 0j)
! h.masked_fill(h > 0, 1e9)
! h.masked_fill_(h > 0, 65519.)
! h.index_fill(0, L.tensor([0]), 2**40)
! h.scatter(0, L.tensor([0]), 1e39)
! L.zeros(1).half().fill_(1j)
! L.full((1,), 1j, dtype=L.float16)
o = h.clone(); o[0] = 1e300
o = h.clone(); o[L.tensor([0])] = 1e300
! L.where(f > 0, f, 1e39)
! L.where(i > 0, 1e39, i)
L.where(h > 0, h, 1e39)
! i // 2**40
! i % 256
! L.fmod(i, 256)
! L.isclose(f, f, NAN)
! f.fill_(2**70)
! L.full((2,), 2**70)
b.fill_(1j)
b.masked_fill(b, 1j)
b.masked_fill(b, L.tensor(1j))
L.full_like(b, 1j)
b.new_full((2,), 1j)
! i.fill_(1j)
f.masked_fill(b, L.tensor(2 + 0j))
! f.masked_fill(b, L.tensor(1j))
! i.masked_fill(b, L.tensor(NAN))
! i.masked_fill(b, L.tensor(300))
! f.masked_fill(b, L.tensor(1e300, dtype=L.float64))
o = h.clone(); o[0] = 1e5
o = h.clone(); o[b] = -1e5
! o = f.clone(); o[0] = 1e39
o = f.expand(3, 4); o[0] = 1
! o = f[:, None].expand(4, 3); o[0] = 1
o = f[:, None].expand(4, 1); o[0] = 1
"""


@pytest.mark.parametrize(("case", "computed"), cases(NUMBERS))
def test_numbers_out_of_range_of_the_dtype(case: str, computed: bool) -> None:
    setup = "f = L.tensor([0., 1., 2., 3.]); h = f.half(); i = f.to(L.int8); b = f > 1"
    both(case, computed, setup)


@pytest.mark.parametrize("of", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("decimals", [1, 3, 8, 37, 38, 39, 308, 309, 400, 2**40, -1, -5, -39, -400])
def test_decimals_beyond_the_range(of: str, decimals: int) -> None:
    x = f"L.tensor([0., -0., 1.25, -2.675, 6e4, -1e-3, INF, -INF, NAN, 0.15, 0.35], dtype=L.{of})"
    both(f"{x}.round(decimals={decimals})", True, zeros=True)


PRODUCTS = """
L.addmm(i, m, m, beta=BETA, alpha=0)
L.addmm(i, m, m, beta=BETA, alpha=0.)
L.addmm(i[:, :1], m, m[:, :1], beta=BETA, alpha=0)
L.addmv(i[0], m, m[:, 0], beta=BETA, alpha=0)
L.addbmm(i, m[None], m[None], beta=BETA, alpha=0)
L.addbmm(i, L.stack([m, m]), L.stack([m, m]), beta=BETA, alpha=0)
i.clone().addmm_(m, m, beta=BETA, alpha=0)
i[0].clone().addmv_(m, m[0], beta=BETA, alpha=0)
o = i.t().clone(); L.addmm(o, m, m, beta=BETA, alpha=0, out=o)
L.addmm(i, m[:, :0], m[:0], beta=BETA, alpha=0)
"""


@pytest.mark.parametrize(("case", "computed"), cases(PRODUCTS))
@pytest.mark.parametrize("beta", ["0", "1", "2"])
@pytest.mark.parametrize("of", ["float32", "float64"])
def test_product_times_0_is_not_computed(case: str, computed: bool, beta: str, of: str) -> None:
    setup = (
        f"i = L.tensor([[INF, NAN, 1], [2, 3, 4], [0, -INF, 2]], dtype=L.{of})\n"
        f"m = L.tensor([[1, INF, 1], [NAN, 0, 0], [2, 2, -INF]], dtype=L.{of})"
    )
    both(case.replace("BETA", beta), computed, setup)


UNARY = "neg abs sign sgn floor ceil round trunc frac isposinf isneginf signbit bitwise_not conj_physical exp"


@pytest.mark.parametrize("name", UNARY.split())
@pytest.mark.parametrize("of", ["float32", "int32", "bool"])
@pytest.mark.parametrize("to", ["float32", "float64", "int32", "bool", "complex64"])
def test_outputs_of_another_dtype(name: str, of: str, to: str) -> None:
    if (name, of) == ("round", "int32") and to == of:
        pytest.skip("torch's function refuses integers, its method takes them")
    both(f"L.{name}(L.ones(3, dtype=L.{of}), out=L.empty(3, dtype=L.{to}))")


def test_threshold_has_out() -> None:
    both("o = L.empty(0); L.threshold(L.arange(4.), 1, 7, out=o)", True)
    with pytest.raises(TypeError):
        ft.nn.functional.threshold(ft.ones(2), 1, 7, out=ft.empty(0))  # torch's has `inplace`


@pytest.mark.parametrize("to", ["float32", "float64", "int32", "complex64"])
def test_out_of_where_must_have_the_result_dtype(to: str) -> None:
    both(f"L.where(L.ones(3) > 0, L.ones(3), L.zeros(3), out=L.empty(3, dtype=L.{to}))", to == "float32")


@pytest.mark.parametrize("call", ["index_add_", "index_reduce_", "index_copy_"])
@pytest.mark.parametrize("source", [(), (1,), (1, 1), (2,)])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_shapes_of_index_add_sources(call: str, source: tuple[int, ...], shape: tuple[int, ...]) -> None:
    last = ", 'amax'" if call == "index_reduce_" else ""
    both(f"L.ones({shape}).{call}(0, L.tensor([0]), L.ones({source}){last})")


@pytest.mark.parametrize(
    "place, value",
    [
        ("[..., 0]", "o.unsqueeze(1)"),
        ("[0:1]", "o.unsqueeze(1)"),
        ("[:]", "o[0]"),
        ("[1:]", "o[0]"),
        ("[:]", "o"),
        ("[:2]", "o[1:]"),
        ("[0]", "o.unsqueeze(1)[0]"),
        ("[:]", "o[None]"),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_assigned_value_overlaps_the_destination(place: str, value: str, count: int) -> None:
    both(f"o = L.arange({count}) + 5; o{place} = {value}")
