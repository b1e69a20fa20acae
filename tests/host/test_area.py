"""The area model: operators counted in the sources for v++, and their resources."""

from __future__ import annotations

import pytest

from ftensor.dtypes import complex64, dtype, float32, int32
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.kernels.skeletons.dense import DenseKey
from ftensor.kernels.workload import LocalMemory
from ftensor.toolchain.area.c_parser import functions
from ftensor.toolchain.area.count import OperatorCounter, helpers, resources_of
from ftensor.toolchain.area.fit import area
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import expand, read

HEAD = "static inline float f(float a, float b, float c, int n)"


def counted(body: str, of: object = float32) -> dict[tuple[str, str], int]:
    return dict(helpers(of, 0).counting(f"{HEAD} {{ {body} }}", {}).operators_of("f"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body, expected",
    [
        ("return a + b * c;", {("add", "float"): 1, ("mul", "float"): 1}),
        ("return a - 1.0f / (2 * 4);", {("add", "float"): 1}),  # constants cost no logic
        ("return a < b ? a : -b;", {("compare", "float"): 1, ("choose", "float"): 1, ("sign", "float"): 1}),
        ("const float x = exp(a), y = x / b; return y;", {("exp", "float"): 1, ("div", "float"): 1}),
        ("return (float)n;", {("to_float", "float"): 1}),
        ("return n * 8 + n / 3;", {("div", "int32"): 1, ("add", "int32"): 1, ("to_float", "float"): 1}),
        ("return a > b ? 1 : 0;", {("compare", "float"): 1}),  # a choice between two constants
        ("return ft_bits<float>(ft_bits<int>(a) >> 3);", {}),  # wiring only
        ("float s = a; for (int k = 0; k < 3; k++) s = s * b; return s;", {("mul", "float"): 3}),
        (
            "for (int k = 14; k > 0; k--) a = a + K(0.5 * k) / b; return a;",
            {("add", "float"): 14, ("div", "float"): 14},
        ),
        # Unrolled as often as the values ask for; no board unrolls that much.
        (
            "for (int k = 0; k < 2147483647 && a < b; k++) a = a * b; return a;",
            {("mul", "float"): 1, ("compare", "float"): 1},
        ),
        (
            "float r; switch (n) { case 0: case 2: r = a; break; default: r = b; } return r * r;",
            {("choose", "float"): 1, ("mul", "float"): 1},
        ),
        ("return ft_isnan(a) ? b : a;", {("compare", "float"): 1, ("choose", "float"): 1}),
        ("return FT_DOUBLE ? a / b : a;", {}),
    ],
)
def test_operators_of_a_function(body: str, expected: dict[tuple[str, str], int]) -> None:
    assert counted(body) == expected


def test_a_compute_type_has_its_own_helpers() -> None:
    text = "static inline int g(int a, int b) { return ftb_quotient(a, b); }"
    counts = helpers(int32, 0).counting(text, {}).operators_of("g")
    assert counts["div", "int32"] == 1 and not any(of == "float" for _, of in counts)
    assert "ft_cexp" in helpers(complex64, 0).functions
    product = "static inline ft_cfloat g(ft_cfloat a, ft_cfloat b) { return ft_cmul(a, b); }"
    counts = helpers(complex64, 0).counting(product, {}).operators_of("g")
    assert counts == {("mul", "float"): 4, ("add", "float"): 2}


@pytest.mark.parametrize("body", ["return nobody(a);", "while (a < b) a = a + b; return a;"])
def test_unreadable_source_is_an_error(body: str) -> None:
    with pytest.raises(ValueError, match=r"area model|expected"):
        counted(body)


def test_loop_without_known_trip_count_is_refused() -> None:
    with pytest.raises(ValueError, match="how often a loop turns"):
        counted("for (int k = 0; k < n; k++) a = a + b; return a;")


def test_counts_become_logic() -> None:
    one = resources_of({("mul", "float"): 1, ("add", "float"): 1})
    assert (one.dsp, one.lut) == (5, 384)
    assert resources_of({("mul", "float"): 2, ("add", "float"): 2}) == one * 2


def test_block_rams() -> None:
    for words, bits, count in ((512, 512, 7.5), (512, 32, 0.5), (513, 36, 1)):
        assert LocalMemory(words, bits).block_rams == count


def kernels(name: str) -> dict[str, KernelGroup]:
    return {group.name: group for group in expand(read(name))}


def test_area_of_a_kernel_sums_lanes_ports_and_buffers() -> None:
    groups = kernels("steps")
    loop, wide = area(groups["vadd_loop"]), area(groups["vadd_vectorized"])
    assert wide.ops[0][0] == "add" and wide.ops[0][1].dsp == 32 and loop.unit.dsp == 2
    assert wide.ports.lut > loop.ports.lut and wide.ports.bram > 0
    assert area(groups["vadd_burst"]).memories.bram > loop.memories.bram == 0
    units = area(groups["vadd_units"])
    assert units.whole == units.unit * 4


def test_members_of_one_op_share_its_operator() -> None:
    """tensor - tensor, tensor - number and number - tensor share one subtractor in each lane."""
    group = kernels("cnn")["cnn_map_4_4x4x4"]
    members = tuple(key for key in group.keys if key.name == "sub")
    assert len(members) == 3
    assert dict(area(KernelGroup("some", members)).ops)["sub"].dsp == 16 * 2


def test_every_kernel_of_every_inventory_but_full_can_be_counted() -> None:
    for name in ("minimal", "steps", "cnn", "int8", "transformer", "radio", "stats"):
        for group in expand(read(name)):
            assert area(group).unit.lut > 1000, group.name


@pytest.mark.parametrize(
    "kind, of, expected",
    [  # a reflection: a dot product along a column, one product, and a subtraction of a multiple
        ("reflect", float32, {("mul", "float"): 3, ("add", "float"): 4}),
        ("reflect", complex64, {("mul", "float"): 12, ("add", "float"): 14}),
        # in global memory, then in block RAM
        (
            "cholesky",
            float32,
            {
                ("mul", "float"): 2,
                ("add", "float"): 2,
                ("div", "float"): 2,
                ("compare", "float"): 2,
                ("sqrt", "float"): 2,
            },
        ),
        ("order", int32, {("compare", "int32"): 4}),
    ],
)
def test_factorization_kernels_cost_their_element_functions(
    kind: str, of: dtype, expected: dict[tuple[str, str], int]
) -> None:
    key = DenseKey(f"dense_{kind}", of)
    assert board_skeleton_of(key).operators(key) == expected
    assert area(KernelGroup("factors", (key,))).skeleton.lut > 0
    wide = DenseKey(f"dense_{kind}", of, 4)
    assert board_skeleton_of(wide).operators(wide) == {word: 4 * n for word, n in expected.items()}


def test_functions_are_found_in_source_text() -> None:
    parsed = functions("static inline int f(int a) { return a; } static int g() { return f(2); }")
    assert list(parsed) == ["f", "g"] and parsed["f"].parameters == (("int", "a"),)
    assert OperatorCounter(parsed).operators_of("g") == {}
