"""Kernel groups and manifests: shared ports, opcodes, and the conversion of a launch's arguments."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import ftensor as ft
from ftensor.errors import image as errors_image
from ftensor.image.manifest import BEFORE_HOST, VERSION, HostRecord, Manifest, manifest_digest
from ftensor.kernels.key import KernelKey, Port, Reduction
from ftensor.kernels.skeletons.gemm import GemmKey
from ftensor.toolchain.group import KernelGroup, arguments, call_tokens, launch_parameters, manifest_record


def pointwise(
    name: str, kinds: str, of: ft.dtype = ft.float32, out: ft.dtype | None = None, **more: object
) -> KernelKey:
    ports = tuple(Port(of, k) for k in kinds[1:])
    return KernelKey(name, "map", of, 16, (Port(out or of, kinds[0]),), ports, ("a",), **more)


ADD = pointwise("add", "vvv")
SCALED = pointwise("add", "vkv", params=("alpha",))
NEG = pointwise("neg", "vv")


def test_members_share_ports() -> None:
    group = KernelGroup("ft_some", (ADD, SCALED, NEG))
    names = [a.name for a in arguments(group)]
    assert names == [
        *("out0", "in_a", "in_b", "out0_offset", "in_a_offset", "in_b_offset"),
        *("value0", "value1", "opcode", "n", "ft_unit", "ft_units"),
    ]
    assert [p[2] for p in launch_parameters(ADD)] == [
        *("out0", "in_a", "in_b", "out0_offset", "in_a_offset", "in_b_offset", "n")
    ]
    assert call_tokens(group, 0) == "0 1 2 3 4 5 =0 =0 =0 6"
    # out0 in_b out0_offset in_b_offset a_value alpha_value n
    assert call_tokens(group, 1) == "0 @0 1 2 =0 3 f4 f5 =1 6"
    assert call_tokens(group, 2) == "0 1 @0 2 3 =0 =0 =0 =2 4"


def test_a_record_names_results_and_operands() -> None:
    member = manifest_record(KernelGroup("ft_some", (pointwise("eq", "vvv", out=ft.bool),)), "0").members[0]
    assert (member.op, member.outs, member.ins) == ("eq", ("bool",), ("float32", "float32"))
    assert (member.kinds, member.compute) == ("vvv", "float32")


def test_ports_have_the_common_vector_width() -> None:
    c = {a.name: a.c for a in arguments(KernelGroup("ft_same", (ADD, NEG)))}
    assert c["in_a"] == "const hls::vector<float, 16> *"
    assert c["out0"] == "hls::vector<float, 16> *"
    mixed = KernelGroup("ft_mixed", (ADD, pointwise("add", "vvv", ft.int32)))
    assert {a.name: a.c for a in arguments(mixed)}["in_b"] == "const hls::vector<uint32_t, 16> *"
    with pytest.raises(ValueError, match=r"several widths: \['float32', 'float64'\]"):
        arguments(KernelGroup("ft_wrong", (NEG, pointwise("neg", "vv", ft.float64, ft.float32))))


def folded(*kinds: str, lanes: int = 16, of: ft.dtype = ft.float32) -> KernelKey:
    """Returns a reduction whose inputs have these layouts."""
    ports = tuple(Port(of, kind) for kind in kinds)
    words = Reduction("a", "x + y", "K(0)")
    return KernelKey("fold", "reduce_inner", ft.float32, lanes, ports[:1], ports, ("x",), reduction=words)


def test_reductions_read_vectors_if_all_members_are_contiguous() -> None:
    def ports(*members: KernelKey) -> dict[str, str]:
        return {a.name: a.c for a in arguments(KernelGroup("ft_folds", members)) if a.what == "*"}

    both = ports(folded("v", "v"), folded("v"))
    assert both["in_a"] == both["in_b"] == "const hls::vector<float, 16> *"
    assert both["out0"] == "float *"  # results are written one by one
    mixed = ports(folded("v", "v"), folded("v", "s"))
    assert mixed["in_a"] == "const hls::vector<float, 16> *"
    assert mixed["in_b"] == "const float *"
    assert ports(folded("v", lanes=1))["in_a"] == "const float *"
    assert ports(folded("x"))["in_a"] == "const float *"
    complex_ = manifest_record(KernelGroup("ft_folds", (folded("v", lanes=8, of=ft.complex64),)), "00", {})
    types = {a.name: a.c for a in complex_.arguments}
    assert types["in_a"] == "const hls::vector<ft_cfloat, 8> *"
    assert types["out0"] == "ft_cfloat *"


def test_a_product_keeps_its_own_parameters() -> None:
    group = KernelGroup("ft_gemm_float32", (GemmKey("gemm", ft.float32, 16, 8, 2, 16),))
    assert [a.name for a in arguments(group)][-5:] == [*("alpha_re", "beta_re", "geometry", "ft_unit", "ft_units")]
    assert call_tokens(group, 0) == "0 1 2 3 0 4 5 6 7 8"
    ports = [a.c for a in arguments(group) if a.what == "*"]
    assert ports[:3] == ["hls::vector<float, 16> *", "const hls::vector<float, 8> *", "const hls::vector<float, 16> *"]
    assert ports[3:5] == ["const float *", "float *"]  # the output a second time, by elements


@pytest.mark.parametrize("name", ["", "3ab", "a-b", "x" * 31])
def test_names_that_exceed_the_container_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="kernel's name"):
        KernelGroup(name, (ADD,))


def manifest() -> Manifest:
    kernels = (manifest_record(KernelGroup("ft_some", (ADD, SCALED, NEG), units=2), "00", {"out0": "DDR[0]"}),)
    return Manifest("minimal", "csim", "csim", "0" * 32, "minimal.xclbin", kernels)


def test_manifest_round_trip(tmp_path: Path) -> None:
    written = manifest()
    (tmp_path / "manifest.json").write_text(written.to_json())
    back = Manifest.read(tmp_path / "manifest.json")
    assert back == written
    entry = back.find(SCALED.entry)
    assert entry is not None
    assert (entry[0].name, entry[1].opcode, entry[1].kinds) == ("ft_some", 1, "vkv")
    assert back.find(ADD.entry + "0") is None
    assert entry[0].arguments[0].bank == "DDR[0]"


def test_manifest_without_host_steps_has_the_previous_version() -> None:
    """Older versions of ftensor, which lack host steps, can then read it."""
    raw = json.loads(manifest().to_json())
    assert raw["version"] == BEFORE_HOST and "host" not in raw
    step = HostRecord("exp", "float32(float32)", "map vv")
    written = replace(manifest(), host=(step,))
    raw = json.loads(written.to_json())
    assert (raw["version"], raw["host"]) == (VERSION, [asdict(step)])
    assert Manifest.from_json(written.to_json()) == written


def signed(raw: dict[str, Any]) -> dict[str, Any]:
    """Returns a manifest with the digest of its content."""
    said = {k: v for k, v in raw.items() if k not in ("format", "version", "digest")}
    return {**raw, "digest": manifest_digest(said)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "version 99"),
        ({"format": "other"}, "format"),
        ({"kernels": 3}, "field"),
        ({"surprise": 3}, "field"),
        ({"uuid": 3}, "uuid is 3"),
    ],
)
def test_invalid_manifest_is_refused(change: dict[str, object], message: str) -> None:
    raw = signed(json.loads(manifest().to_json()) | change)
    with pytest.raises(errors_image.ImageError, match=message):
        Manifest.from_json(json.dumps(raw))


def test_a_call_must_fit_its_kernel() -> None:
    text = manifest().to_json().replace("0 1 2 3 4 5 =0 =0 =0 6", "0 1 2")
    with pytest.raises(errors_image.ImageError, match="10 arguments"):
        Manifest.from_json(json.dumps(signed(json.loads(text))))
