"""Ops whose kernels an image lacks run on the host: results are equal and counted, and the policy
applies."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor._device import default_backend  # noqa: E402
from ftensor.errors import KernelNotBuilt  # noqa: E402
from ftensor.kernels.key import ROW_VECTORS, KernelKey  # noqa: E402
from ftensor.runtime import fallback, launch_cache  # noqa: E402
from ftensor.toolchain import trace  # noqa: E402

from .fallback_cases import CASES, arange, same  # noqa: E402
from .lacking import lacking  # noqa: E402, F401

KINDS = [("csim", "runtime"), ("csim", "csim"), ("own", "runtime")]


@pytest.mark.parametrize(
    ("kind", "host", "name"),
    [
        pytest.param(*kind, name, marks=[] if k % len(KINDS) == n else [pytest.mark.long])
        for n, kind in enumerate(KINDS)
        for k, name in enumerate(CASES)
    ],
)
def test_image_without_kernels(use: Any, kind: str, host: str, name: str) -> None:
    backend = use("ft_", "separate-memory" if kind == "own" else kind, host)
    expression, op = CASES[name]
    got = expression(ft)
    same(got, expression(torch))
    report = ft.fallback_report()
    assert op == "" or op in [row.op for row in report], report
    assert not any(callable(launch) for launch in backend.kernels.values())
    for part in got if isinstance(got, tuple) else (got,):
        if part is not None and name != "to cpu":
            assert part.device == ft.device("fpga:0") and part._storage.backend is backend


def test_existing_kernels_run_on_the_device(use: Any) -> None:
    use("ft_exp_")
    x = arange(ft, 3, 4)
    same((x + 1).neg(), -(arange(torch, 3, 4) + 1))
    assert not ft.fallback_report() and "no op" in str(ft.fallback_report())
    same(x.exp(), arange(torch, 3, 4).exp())
    (row,) = ft.fallback_report()
    assert (row.op, row.dtypes, row.layout) == ("exp", "float32(float32)", "map vv")
    assert (row.calls, row.copies, row.bytes_to_host, row.bytes_back) == (1, 2, 48, 48)


def test_report_counts_each_call_and_starts_again(use: Any) -> None:
    use("ft_(exp|sum)_")
    x = arange(ft, 8)
    for _ in range(3):
        x.exp()
    x.sum()
    report = ft.fallback_report()
    assert [(r.op, r.calls, r.copies) for r in report] == [("exp", 3, 6), ("sum", 1, 2)]
    assert re.search(r"exp +float32\(float32\) +map vv +3 +6 +96 +96", str(report))
    report.reset()
    assert ft.fallback_report() == () and len(report) == 2


def test_device_writes_strided_results_if_it_can_copy(use: Any) -> None:
    for lacks, copies in (("ft_exp_", 2), ("ft_", 41)):
        ft.fallback_report().reset()
        use(lacks, "separate-memory")
        result, want = ft.from_numpy(np.ones((40, 4), np.float32)), torch.ones(40, 4)
        result[:, 1].exp_()
        want[:, 1].exp_()
        (row,) = ft.fallback_report()
        assert (row.op, row.copies, row.bytes_back) == ("exp", copies, 160)
        same(result, want)


def test_missing_kernels_are_cached_until_a_new_image(use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = use("ft_exp_")
    x = arange(ft, 37)
    plans: list[Any] = []
    prepare = sys.modules["ftensor.execute.pointwise"].prepare
    monkeypatch.setattr(
        sys.modules["ftensor.execute.pointwise"],
        "prepare",
        lambda *a: plans.append(a[1][0]._storage.backend) or prepare(*a),
    )
    x.exp()
    x.exp()
    # Only once, also on the host, unless an earlier test has done the same there.
    assert plans.count(backend) == 1
    assert len(plans) <= 2
    ft.set_fallback("error")
    with pytest.raises(KernelNotBuilt):
        x.exp()
    backend.images.lacks = "ft_nothing"
    same(x.exp(), arange(torch, 37).exp())
    assert sum(row.calls for row in ft.fallback_report()) == 2


def test_jitted_function_without_one_of_its_kernels_runs_eagerly(use: Any) -> None:
    """It is traced once, and again when a new image has the missing kernel. Then it is one
    launch."""
    backend = use("ft_(exp_|.*staged)")
    ran = []

    def function(x: Any) -> Any:
        ran.append(x)
        return x.exp().neg()

    jitted, x, want = ft.jit(function), arange(ft, 37), -arange(torch, 37).exp()
    for _ in range(3):
        same(jitted(x), want)
    (row,) = ft.fallback_report()
    assert (row.op, row.calls, len(ran)) == ("exp", 3, 4)
    ft.set_fallback("error")
    with pytest.raises(KernelNotBuilt, match=r"exp of float32\(float32\)"):
        jitted(x)
    backend.images.lacks = "ft_.*staged"
    for _ in range(2):
        same(jitted(x), want)
    assert len(ran) == 6 and sum(row.calls for row in ft.fallback_report()) == 3


def test_recording_requests_no_missing_kernel(use: Any) -> None:
    use("ft_(fir|conv)")
    x, taps = arange(ft, 1, 1, 9), ft.ones(1, 1, 3)
    with trace.recording(1) as seen:
        result = ft.nn.functional.conv1d(x, taps)
    assert result.tolist() == [[[1.5 * k + 1.5 for k in range(7)]]]
    assert "fir" not in {launch.key.skeleton for launch in seen.launches}


def test_recording_allocates_only_host_shared_memory() -> None:
    backend = default_backend()
    ft.fpga.empty_cache()  # otherwise a free block may be used
    blocks = set(backend.pool.blocks)
    with trace.recording(1):
        result = ft.ones(3 << 20)
    new = set(backend.pool.blocks) - blocks
    assert new and all((block.ptr is not None) is backend.host_shared for block in new)
    assert result.sum().item() == 3 << 20


def test_error_names_what_is_missing_and_what_to_do(use: Any) -> None:
    use("ft_(exp|gemm|sum|compact)")
    ft.set_fallback("error")
    x = arange(ft, 3, 4)
    with pytest.raises(KernelNotBuilt, match=r"exp of float32\(float32\) in layout 'map vv'") as e:
        x.exp()
    error: Any = e.value
    assert "nearest that it has is ft_neg_map" in str(error)
    assert "ftensor build --target csim --inventory" in str(error) and 'ops = ["exp"]' in str(error)
    assert (error.op, error.dtypes, error.layout) == ("exp", ("float32", "float32"), "map vv")
    for missing, op in (
        (lambda: x @ x.t(), "matmul"),
        (x.sum, "sum"),
        ((x > 1).nonzero, "compact"),
        (lambda: x.exp_(), "exp"),
    ):
        with pytest.raises(KernelNotBuilt, match=f"no kernel for {op}"):
            missing()
    same(x, arange(torch, 3, 4))
    assert not ft.fallback_report()


def test_warns_once_for_each_op_and_dtype_where_the_user_called(use: Any) -> None:
    use("ft_(exp|tanh)_")
    ft.set_fallback("warn")
    x, y = arange(ft, 3, 4), arange(ft, 3, 4, dtype="float64")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        x.exp()
        x.exp()
        x.t()[1:].exp_()  # another layout
        ft.exp(y)
        x.tanh()
    assert [w.category for w in seen] == [ft.FallbackWarning] * 3
    assert [str(w.message).partition(" runs")[0] for w in seen] == [
        "exp of float32",
        "exp of float64",
        "tanh of float32",
    ]
    line = sys._getframe().f_code.co_firstlineno
    assert [(w.filename, w.lineno - line) for w in seen] == [(__file__, n) for n in (6, 9, 10)]
    ft.set_fallback("silent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ft.set_fallback("silent")
        x.exp()
    ft.set_fallback("warn")
    with pytest.warns(ft.FallbackWarning, match="exp of float32"):
        x.exp()


def test_policy_from_the_environment(use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_policy", None)
    monkeypatch.delenv("FTENSOR_FALLBACK", raising=False)
    assert ft.get_fallback() == "warn"
    monkeypatch.setenv("FTENSOR_FALLBACK", "error")
    assert ft.get_fallback() == "error"
    ft.set_fallback("silent")
    assert ft.get_fallback() == "silent"
    with pytest.raises(ValueError, match="'loud' is no fallback policy; there are warn, error"):
        ft.set_fallback("loud")
    monkeypatch.setattr(fallback, "_policy", None)
    monkeypatch.setenv("FTENSOR_FALLBACK", "loud")
    with pytest.raises(ValueError, match="FTENSOR_FALLBACK='loud' is not one of warn"):
        ft.get_fallback()


@pytest.mark.parametrize("kind", ["csim", "separate-memory"])
def test_errors_are_those_of_the_op(use: Any, kind: str) -> None:
    use("ft_", kind)
    x = arange(ft, 5)
    with pytest.raises(IndexError, match="7"):
        x[ft.tensor([0, 7])]
    with pytest.raises(IndexError, match="-9"):
        x[ft.tensor([3, -9])] = 8.0
    np.testing.assert_array_equal(x.numpy(force=True), [0, 0.5, 1, 8, 2])  # the index in range
    with pytest.raises(RuntimeError, match="cast"):
        ft.exp(x, out=ft.from_numpy(np.zeros(5, np.int64)))
    with pytest.raises(RuntimeError, match=r"overlap|single memory"):
        ft.exp(x[:4], out=x[1:])
    frozen = np.arange(64, dtype=np.float32)
    frozen.flags.writeable = False
    if kind == "csim":
        with pytest.raises(RuntimeError, match="read-only"):
            ft.from_numpy(frozen).exp_()


def test_only_written_elements_are_copied_back(use: Any) -> None:
    backend = use("ft_", "separate-memory")
    x = ft.from_numpy(np.zeros(64, np.float32))
    sent: list[tuple[int, int]] = []
    upload = backend.upload

    def watched(storage: Any, at: int, array: Any) -> None:
        if storage is x._storage:
            sent.append((at // 4, array.nbytes // 4))
        upload(storage, at, array)

    backend.upload = watched
    x[2:9:3].add_(1)
    assert sent == [(2, 1), (5, 1), (8, 1)]
    sent.clear()
    x[10:14].add_(1)
    assert sent == [(10, 4)]
    sent.clear()
    x[ft.from_numpy(np.array([40, 20, 41]))] = 3.0
    assert sorted(sent) == [(20, 1), (40, 2)]
    want = np.zeros(64)
    want[[2, 5, 8, 10, 11, 12, 13]], want[[20, 40, 41]] = 1, 3
    np.testing.assert_array_equal(x.numpy(force=True), want)


@pytest.mark.parametrize("kind", ["csim", "separate-memory"])
def test_threads_write_neighbouring_elements(use: Any, kind: str) -> None:
    use("ft_", kind)
    x = ft.from_numpy(np.zeros((50, 4), np.float32))
    failed: list[BaseException] = []

    def work(column: int) -> None:
        try:
            mine = x[:, column]
            for _ in range(20):
                mine.add_(column + 1)
        except BaseException as error:  # noqa: BLE001  # the test's thread raises it
            failed.append(error)

    threads = [threading.Thread(target=work, args=(c,)) for c in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    np.testing.assert_array_equal(x.numpy(force=True), np.tile([20.0, 40, 60, 80], (50, 1)))
    assert ft.fallback_report()[0].calls == 80


def test_tensors_of_two_devices_are_still_refused(use: Any) -> None:
    backend = use("ft_")
    x, y = arange(ft, 5), arange(ft, 5)
    y._storage.device = ft.device("fpga", 1)
    with pytest.raises(RuntimeError, match="same device"):
        ft.exp(x, out=y)
    assert y._storage.backend is backend


def test_inventory_lines_in_an_error_add_the_kernel(use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ftensor.toolchain.inventory import read as inventory
    from ftensor.toolchain.inventory.keys import fallback_key

    use("ft_")
    keys: dict[str, Any] = {}
    raised: list[KernelNotBuilt] = []
    monkeypatch.setattr(fallback, "admit", raised.append)
    obtain = launch_cache.build_kernel

    def noted(backend: Any, key: Any, types: Any, text: Any) -> Any:
        keys[key.entry] = key
        return obtain(backend, key, types, text)

    monkeypatch.setattr(launch_cache, "build_kernel", noted)
    for expression, _ in CASES.values():
        expression(ft)
    assert len({e.entry for e in raised}) > 40
    for error in raised:
        lines = re.search(r"add\n(.*)\nto its", str(error), re.S)
        assert lines is not None, error
        groups = inventory.expand(inventory.parse(lines[1].encode(), Path("x.toml")))
        built = {member.entry for group in groups for member in group.members}
        key = keys[error.entry]
        served = {error.entry}
        if isinstance(key, KernelKey) and fallback_key(key) is not None:
            served.add(fallback_key(key).entry)
            # This one has rows of whole vectors (kernels/select.py: in_rows).
            by_row = tuple(replace(p, kind=ROW_VECTORS) if p.kind in "vsx" else p for p in key.ins)
            served.add(replace(key, ins=by_row).entry)
        assert served & built, (error, built)
