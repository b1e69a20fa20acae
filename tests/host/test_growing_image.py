"""Which kernels an image holds that grows by what programs ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftensor.kernels.key import Key
from ftensor.toolchain import growing
from ftensor.toolchain.group import Group
from ftensor.toolchain.grouping import MOST_UNITS
from ftensor.toolchain.inventory import read


@pytest.fixture(scope="module")
def keys() -> list[Key]:
    groups = read.expand(read.read("nn"))
    return [member for group in groups for member in group.members]


def held(groups: tuple[Group, ...]) -> list[Key]:
    return [member for group in groups for member in group.members]


def test_nothing_is_lost_and_no_limit_is_passed(keys: list[Key]) -> None:
    """Kernels of their own first; those are not compiled again while there is room."""
    groups: tuple[Group, ...] = ()
    shared = 0
    for count, key in enumerate(keys, 1):
        before, groups = groups, growing.grown(groups, key)
        assert sum(group.units for group in groups) <= MOST_UNITS
        assert len({group.name for group in groups}) == len(groups)
        if groups[: len(before)] != before:
            shared += 1
            assert len(groups) <= MOST_UNITS - growing.ALONE
        assert len(held(groups)) == count
    assert set(held(groups)) == set(keys)
    assert len(keys) > 2 * MOST_UNITS and 1 <= shared <= len(keys) / 10


def test_what_is_full_begins_anew(keys: list[Key], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "MOST_UNITS", 4)
    monkeypatch.setattr(growing, "ALONE", 2)
    groups: tuple[Group, ...] = ()
    for key in keys[::10]:
        groups = growing.grown(groups, key)
        assert key in held(groups) and len(groups) <= 4
    assert len(held(groups)) < len(keys[::10])


@pytest.mark.parametrize(("mode", "private"), [(0o700, True), (0o755, True), (0o777, False)])
def test_only_a_private_folder_holds_what_is_run(tmp_path: Path, mode: int, private: bool) -> None:
    tmp_path.chmod(0o755)
    place = tmp_path / "emulate"
    place.mkdir()
    place.chmod(mode)
    assert growing.private(place / "image") is private
    assert not growing.private(Path("/proc/none/image"))
