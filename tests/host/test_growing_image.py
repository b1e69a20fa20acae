"""The kernels of an image that grows as programs request more of them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ftensor.kernels.key import Key
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.toolchain import emulate
from ftensor.toolchain.group import MAX_UNITS, KernelGroup
from ftensor.toolchain.inventory import read

TRAINING = str(Path(__file__).parents[1] / "flow" / "training.toml")


@pytest.fixture(scope="module")
def keys() -> list[Key]:
    groups = read.expand(read.read(TRAINING))
    return [member for group in groups for member in group.members]


def keys_of(groups: tuple[KernelGroup, ...]) -> list[Key]:
    return [member for group in groups for member in group.members]


@pytest.mark.parametrize("at_once", [1, 12])
def test_every_key_is_kept_within_the_limits(keys: list[Key], at_once: int) -> None:
    """Kernels with their own parameter list come first. They are not recompiled while there is
    room."""
    groups: tuple[KernelGroup, ...] = ()
    shared = 0
    for first in range(0, len(keys), at_once):
        before, groups = groups, emulate.extend_groups(groups, keys[first : first + at_once])
        assert sum(group.units for group in groups) <= MAX_UNITS
        assert len({group.name for group in groups}) == len(groups)
        if groups[: len(before)] != before:
            shared += 1
            assert len(groups) <= MAX_UNITS - emulate.MAX_SHARED_MEMBERS
        assert set(keys_of(groups)) == set(keys[: first + at_once])
        assert len(keys_of(groups)) == len(keys[: first + at_once])
    assert len(keys) > 2 * MAX_UNITS and shared <= len(keys) / 10
    assert shared or at_once > 1  # neighbours share kernels from the start


def test_keys_requested_together_share_a_kernel(keys: list[Key]) -> None:
    """A single request gets its own kernel. Existing kernels stay unchanged."""
    group = next(group for group in read.expand(read.read(TRAINING)) if len(group.members) > 3)
    one, two, three, four = group.members[:4]
    alone = emulate.extend_groups((), [one])
    assert len(alone) == 1 and alone[0].members == (one,)
    assert alone[0].name == f"ft_{board_skeleton_of(one).suffix(one)}"
    more = emulate.extend_groups(alone, [two, three, four])
    assert more[:1] == alone and more[1].members == (two, three, four)
    assert more[1].name != alone[0].name


def test_full_image_starts_again(keys: list[Key], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulate, "MAX_UNITS", 4)
    monkeypatch.setattr(emulate, "MAX_SHARED_MEMBERS", 2)
    groups: tuple[KernelGroup, ...] = ()
    for key in keys[::10]:
        groups = emulate.extend_groups(groups, [key])
        assert key in keys_of(groups) and len(groups) <= 4
    assert len(keys_of(groups)) < len(keys[::10])


@pytest.mark.parametrize(("mode", "private"), [(0o700, True), (0o755, True), (0o777, False)])
def test_only_private_folders_are_used(tmp_path: Path, mode: int, private: bool) -> None:
    tmp_path.chmod(0o755)
    place = tmp_path / "emulate"
    place.mkdir()
    place.chmod(mode)
    assert emulate.is_private(place / "image") is private
    assert not emulate.is_private(Path("/proc/none/image"))


@pytest.mark.parametrize(("discarded", "text"), [(False, "begins with them"), (True, "builds them again")])
def test_summary_says_whether_kernels_are_kept(discarded: bool, text: str) -> None:
    stream = io.StringIO()
    status = emulate.BuildStatus(stream)
    status.kernels, status.discarded = 2, discarded
    status.summary()
    assert "2 kernels built" in stream.getvalue() and text in stream.getvalue()
