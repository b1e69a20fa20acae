"""Skeletons: their definitions agree, and the model reads geometries as launches pack them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor.iterator.plan import Plan, plan_reduce
from ftensor.iterator.shape import contiguous_strides
from ftensor.kernels import select, source
from ftensor.kernels.inventory_terms import InventoryRequest, Option
from ftensor.kernels.op_skeleton import OpSkeleton
from ftensor.kernels.skeleton import (
    BoardSkeleton,
    board_skeletons,
    inventory_words,
    layouts,
    options,
    skeleton_named,
    skeletons,
)
from ftensor.kernels.skeletons.elementwise import RowsGeometry
from ftensor.kernels.skeletons.fused import Fused
from ftensor.kernels.skeletons.gemm import DirectGeometry, PackGeometry, PackSide, ProductGeometry
from ftensor.kernels.skeletons.reduce import FoldGeometry
from ftensor.runtime.targets import CSIM
from ftensor.toolchain import group
from ftensor.toolchain.group import KernelGroup, arguments, call_tokens
from ftensor.toolchain.intel.target import source as intel_source
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import source as vitis_source

SIZES = st.lists(st.integers(1, 5), max_size=4).map(tuple)
# Geometries of kernels that no image has.
CPU = {
    "conv_depthwise",
    "conv_direct",
    "conv_weight",
    "extreme",
    "max_pool",
    "max_pool_back",
    "pairs",
    "radix_sort",
    "recurrent",
    "recurrent_back",
    "segments",
    "series",
    "shuffle",
    "sort_rows",
    "take",
    "triangle",
}
NUMBERS = st.integers(-(2**40), 2**40)


def lists(count: int) -> Any:
    return st.lists(NUMBERS, min_size=count, max_size=count).map(tuple)


@given(st.data(), st.integers(1, 4), SIZES)
def test_rows_are_read_as_they_are_packed(data: Any, operands: int, outer: tuple[int, ...]) -> None:
    strides = tuple(data.draw(lists(len(outer) + 1)) for _ in range(operands))
    shape = (*outer, data.draw(st.integers(1, 3 * 4096)))
    geometry = RowsGeometry.of(shape, strides, data.draw(st.integers(1, 9)))
    assert RowsGeometry.unpack(geometry.pack()) == geometry
    assert geometry.pack()[:5] == (len(outer), geometry.inner, geometry.chunk, geometry.chunks, geometry.total)


@given(st.data(), st.integers(1, 3), SIZES, SIZES)
def test_folds_are_read_as_they_are_packed(
    data: Any, operands: int, kept: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    walks = [tuple(data.draw(lists(len(s))) for _ in range(operands)) for s in (kept, shape)]
    geometry = FoldGeometry(*data.draw(lists(7)), kept, walks[0], shape, walks[1], data.draw(lists(operands)))
    assert FoldGeometry.unpack(geometry.pack()) == geometry


@given(st.data(), SIZES, SIZES)
def test_products_are_read_as_they_are_packed(data: Any, batch: tuple[int, ...], other: tuple[int, ...]) -> None:
    steps = tuple(data.draw(lists(len(batch))) for _ in range(4))
    strides = data.draw(lists(2)), data.draw(lists(2))
    product = ProductGeometry(*data.draw(lists(9)), *strides, batch, steps)
    direct = DirectGeometry(**vars(product), a=(1, 2), b=(3, 4), in_vectors=1)
    assert ProductGeometry.unpack(product.pack()) == product
    assert DirectGeometry.unpack(direct.pack()) == direct
    sides = [PackSide(*data.draw(lists(6)), s, data.draw(lists(len(s)))) for s in (batch, other)]
    both = PackGeometry(*sides)
    assert PackGeometry.unpack(both.pack()) == both


def test_launches_pack_what_the_model_reads() -> None:
    """The sizes of a plan follow from the numbers of its kernel's geometry."""
    plan = Plan((6, 70000), ((70000, 1), (1, 6)), (6, 70000), (70000, 1))
    rows = RowsGeometry.unpack(select.choose_map(plan.shape, plan.strides, 4, CSIM, 16).geometry or ())
    assert (rows.shape, rows.inner, rows.inner_strides) == ((6,), 70000, (1, 6))
    strides = contiguous_strides((3, 5, 7))
    reduced = plan_reduce((3, 5, 7), [strides], (1,), False)
    fold = FoldGeometry.unpack(select.choose_fold(reduced, 1, 1, CSIM, 16, False).geometry)
    assert fold.results == 21 and fold.work * fold.inner >= 5


@pytest.mark.parametrize(
    "skeleton",
    [s for s in skeletons() if s.name not in ("own", "staged", "linked", "network", "network_part")],
    ids=lambda s: s.name,
)
def test_skeletons_have_a_source_and_macros(skeleton: Any) -> None:
    assert skeleton_named(skeleton.name) is skeleton
    assert skeleton.text() == source.kernel_file(f"skeleton/{skeleton.name.removeprefix('fused_')}.h")
    assert "FT_KERNEL void FT_NAME(" in skeleton.text()
    if isinstance(skeleton, Fused):
        assert isinstance(skeleton, BoardSkeleton) == (skeleton.name == "feedback")
        return
    if not isinstance(skeleton, OpSkeleton):
        assert (skeleton.name in CPU) != isinstance(skeleton, BoardSkeleton)
        assert skeleton.name in CPU or skeleton.word in inventory_words()
        return
    known = [layout.word for layout in layouts()]
    for layout in skeleton.layouts:
        assert layout.word in known
        kinds = skeleton.kinds(layout.word, 1, 2)
        if kinds is not None:
            assert skeleton.layout(kinds, 1) == layout.word
            assert skeleton.serves(kinds, 1) == layout.word
    assert skeleton.layout("vxs", 1) == f"{skeleton.name} vxs"


def test_layout_letters_are_unique() -> None:
    letters = [layout.letter for layout in layouts()]
    assert len(set(letters)) == len(letters) and not set(letters) & {"n", "+"}


def test_separate_kernels_have_sources_for_both_vendors() -> None:
    asked = InventoryRequest((ft.float32, ft.complex64, ft.float16), {n: o.default for n, o in options().items()}, CSIM)
    for skeleton in [s for s in board_skeletons() if not s.shares]:
        for key in skeleton.keys(asked):
            group = KernelGroup("one", (key,))
            names = [p[2] for p in group.kind.parameters(key)]
            passed = [names[int(token)] for token in call_tokens(group, 0).split()]
            assert passed == [a.of or a.name for a in arguments(group)[:-2]]
            for text in (vitis_source(group), intel_source(group)):
                assert key.entry in text and "one(" in text


def test_members_share_a_skeleton_that_allows_it() -> None:
    groups = [g for name in ("stats", "transformer") for g in expand(read(name))]
    keys = {g.skeleton: g.members[0] for g in groups if not g.keys}
    with pytest.raises(ValueError, match="mixes"):
        KernelGroup("two", (keys["scan"], keys["gemm_direct"]))
    with pytest.raises(ValueError, match="mixes"):  # one template of one dtype
        KernelGroup("two", (keys["gemm"], replace(keys["gemm"], dtype=ft.float64)))


def test_kernels_with_equal_ports_share_an_opcode_kernel() -> None:
    """Kernels of equal port width share an opcode kernel, which has equal hardware once. For an
    argument that a member lacks, the launch passes one of the member's buffers, or zero. Numbers of
    several types are passed as bits."""
    asked = {
        "gemm_direct": ("float32", "int32", "complex64", "float64"),
        "dense_lu": ("float32",),
        "dense_qr": ("float32", "float64"),
        "sort": ("float32", "int32", "int64"),
    }
    members = [
        key
        for word, names in asked.items()
        for key in skeleton_named("gemm" if word == "gemm_direct" else word).keys(  # type: ignore[union-attr]
            InventoryRequest(tuple(getattr(ft, n) for n in names), {n: o.default for n, o in options().items()}, CSIM)
        )
        if key.skeleton == word
    ]
    groups = {group.name(part): KernelGroup("k", part) for part in group.families(members)}
    counts = {name: (len(g.members), len(g.bodies)) for name, g in groups.items()}
    assert counts == {
        "gemm_direct_4": (5, 3),
        "gemm_direct_float64": (2, 1),
        "dense_float32": (2, 2),
        "dense_qr_float64": (1, 1),
        "sort_4": (2, 2),
        "sort_int64": (1, 1),
    }
    product = groups["gemm_direct_4"]
    names = [a.name for a in arguments(product)]
    by_name = [dict(zip(names, call_tokens(product, k).split())) for k in range(5)]
    assert [c["opcode"] for c in by_name] == ["=0", "=0", "=1", "=2", "=2"]
    assert [c["alpha_re"][0] for c in by_name] == ["f", "f", "q", "f", "f"]
    assert [c["alpha_im"] == "=0" for c in by_name] == [True, True, True, False, False]
    factors = groups["dense_float32"]
    names = [a.name for a in arguments(factors)]
    assert dict(zip(names, call_tokens(factors, 1).split()))["pivots"] == "@0"
    assert not groups["sort_int64"].shares_ports and "opcode" not in {a.name for a in arguments(groups["sort_int64"])}


def test_unknown_constant_is_an_error() -> None:
    assert source.constant("vitis/gemm.cpp", "GROUP") > 1
    with pytest.raises(AssertionError, match="no constant"):
        source.constant("vitis/gemm.cpp", "FT_NONE")


def test_options_state_their_values() -> None:
    for name, option in options().items():
        assert isinstance(option, Option) and option.name == name and option.default
        assert set(option.default) <= set(option.words) or option.low <= min(option.default)
