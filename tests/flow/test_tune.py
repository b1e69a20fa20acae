"""`ftensor tune`: a faster value is saved for later processes, another value is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ftensor as ft
from ftensor import tune
from ftensor._device import default_backend
from ftensor.cli import main
from ftensor.runtime import cache
from ftensor.runtime.backend import Backend
from ftensor.runtime.targets import TUNED, tuned_target
from ftensor.tune import THRESHOLDS


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """The default device without saved thresholds, and calls that take a moment."""
    default = default_backend()
    if not default.tuned_as:
        pytest.skip("the device is no processor")
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("FTENSOR_TUNED", raising=False)
    calls = [lambda: ft.ones(3)]
    monkeypatch.setattr(tune, "THRESHOLDS", [one._replace(calls=lambda: iter(calls)) for one in tune.THRESHOLDS])
    return default


def test_faster_value_is_saved(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = backend.target.untuned()

    def seconds(on: Backend, call: tune.Call) -> float:
        quick = on.target.unit_elements == 4096, on.target.direct_terms == 24**3
        chance = 1.005 if on.target.inline_elements == 0 else 1.0
        return 4.0 / (1 + sum(quick)) / chance

    monkeypatch.setattr(tune, "_seconds", seconds)
    assert main(["tune", "--rounds", "1"]) == 0
    out = capsys.readouterr().out
    rows = {row.split()[0]: row.split()[1:] for row in out.splitlines() if row.startswith("  ")}
    assert rows["unit_elements"] == [str(own.unit_elements), "4096", "2.0"]
    assert rows["inline_elements"] == ["65536", "65536", "1.0"], "that may be chance"
    assert rows["near_elements"] == ["16384", "16384", "1.0"]
    assert rows["direct_terms"] == ["884736", "13824", "1.5"]
    tuned = tuned_target(own, backend.tuned_as)
    assert tuned == replace(own, unit_elements=4096, direct_terms=24**3)
    assert tuned.as_board() == own.as_board(), "a board's launches know nothing of it"
    monkeypatch.setenv("FTENSOR_TUNED", "0")
    assert tuned_target(own, backend.tuned_as) == own
    monkeypatch.setenv("FTENSOR_TUNED", "yes")
    with pytest.raises(ValueError, match=r"FTENSOR_TUNED.*'yes'"):
        tuned_target(own, backend.tuned_as)
    monkeypatch.delenv("FTENSOR_TUNED")
    assert main(["tune", "--forget"]) == 0
    assert tuned_target(own, backend.tuned_as) == own


def test_every_value_computes(backend: Backend) -> None:
    """Runs the calls with each value. Earlier prepared launches are restored."""
    launches = backend.launches
    thresholds = [one._replace(tried=one.tried[::4]) for one in THRESHOLDS]
    target, tunings = tune.tune(backend, 1, lambda text: None, thresholds)
    assert [one.threshold.field for one in tunings] == list(TUNED)
    assert all(getattr(target, one.threshold.field) == one.best for one in tunings)
    assert all(one.gain == 1 if one.best == one.default else one.gain > 1 for one in tunings)
    assert backend.launches is launches


def test_tune_refuses_unmeasurable_settings(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "--rounds", "0"]) == 1
    assert "--rounds 0" in capsys.readouterr().err
    monkeypatch.setattr(backend, "tuned_as", "")
    assert main(["tune"]) == 1
    assert "is not a CPU" in capsys.readouterr().err
    assert not cache.directory().exists()
