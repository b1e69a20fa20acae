"""User mistakes: each raises torch's exception, names the values, and leaks no memory."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

ROOT = Path(__file__).parents[2]

# The mistake as a function of the library (ftensor or torch), and the text that the message must
# contain.
MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    # shapes
    "add of shapes": (lambda m: m.ones(2, 3) + m.ones(2, 4), r"3.*4"),
    "where of shapes": (lambda m: m.where(m.ones(3) > 0, m.ones(2), m.ones(3)), r"[23]"),
    "in-place grows": (lambda m: m.ones(3).add_(m.ones(2, 3)), r"2, 3"),
    "copy_ of shapes": (lambda m: m.ones(3).copy_(m.ones(4)), r"4"),
    "view": (lambda m: m.ones(2, 3).view(4), r"4"),
    "view of strided": (lambda m: m.ones(2, 3).t().view(6), r""),
    "reshape": (lambda m: m.ones(2, 3).reshape(-1, 4), r"4"),
    "two -1": (lambda m: m.ones(2, 3).reshape(-1, -1), r"-1"),
    "expand": (lambda m: m.ones(2, 3).expand(2, 4), r"3.*4|4.*3"),
    "mm of shapes": (lambda m: m.ones(2, 3).mm(m.ones(2, 3)), r"3"),
    "mm of vectors": (lambda m: m.ones(2).mm(m.ones(2)), r"1|2"),
    "matmul of 0-d": (lambda m: m.ones(()) @ m.ones(2), r""),
    "cat of shapes": (lambda m: m.cat([m.ones(2, 3), m.ones(2, 4)]), r"3|4"),
    "cat of nothing": (lambda m: m.cat([]), r""),
    "stack of shapes": (lambda m: m.stack([m.ones(2), m.ones(3)]), r"[23]"),
    "negative size": (lambda m: m.zeros(2, -3), r"-3"),
    "negative ones": (lambda m: m.ones(-1), r"-1"),
    "split sizes": (lambda m: m.ones(5).split([2, 2]), r"5"),
    "ragged list": (lambda m: m.tensor([[1, 2], [3]]), r"[12]"),
    # dims
    "sum over dim": (lambda m: m.ones(2, 3).sum(2), r"2"),
    "sum over dim twice": (lambda m: m.ones(2, 3).sum((0, 0)), r"0"),
    "transpose dims": (lambda m: m.ones(2).transpose(0, 1), r"1"),
    "permute too few": (lambda m: m.ones(2, 3).permute(0), r""),
    "dim beyond 64 bits": (lambda m: m.ones(2).sum(2**70), r"1180591620717411303424|long"),
    "squeeze dim": (lambda m: m.ones(2, 1).squeeze(5), r"5"),
    "unsqueeze dim": (lambda m: m.ones(2).unsqueeze(-4), r"-4"),
    "select index": (lambda m: m.ones(2, 3).select(1, 3), r"3"),
    "narrow length": (lambda m: m.ones(4).narrow(0, 2, 3), r"[234]"),
    "argmax of nothing": (lambda m: m.ones(0).argmax(), r""),
    "max over empty dim": (lambda m: m.ones(2, 0).max(1), r""),
    "topk of bool": (lambda m: m.ones(3, dtype=m.bool).topk(1), r"bool"),
    "flip dim": (lambda m: m.ones(2).flip(1), r"1"),
    "t of 3-d": (lambda m: m.ones(1, 2, 3).t(), r"3"),
    # indices
    "index too many": (lambda m: m.ones(2)[0, 0], r""),
    "index beyond": (lambda m: m.ones(2)[2], r"2"),
    "index tensor beyond": (lambda m: m.ones(3)[m.tensor([0, 3])], r"3"),
    "index write beyond": (lambda m: m.ones(3).__setitem__(m.tensor([-4]), 1.0), r"-4|4"),
    "assigned too large": (lambda m: m.ones(3).__setitem__(0, 2**63), r"2\*\*|9223|long"),
    "float index": (lambda m: m.ones(3)[1.5], r""),
    "mask shape": (lambda m: m.ones(3)[m.tensor([True, False])], r"[23]"),
    "step zero": (lambda m: m.ones(3)[::0], r"0|step"),
    "gather dtype": (lambda m: m.ones(3).gather(0, m.ones(2)), r""),
    # dtypes
    "dtype of view by name": (lambda m: m.ones(2).view("int32"), r"int32|str"),
    "dtype of type by name": (lambda m: m.ones(2).type("float64"), r"float64"),
    "decimals not counted": (lambda m: m.ones(2).round(decimals=True), r"decimals"),
    "complex for NaN": (lambda m: m.nan_to_num(m.ones(2, dtype=m.complex64), 1j), r"nan.*(1j|complex)"),
    "complex padding": (lambda m: m.nn.functional.pad(m.ones(2, dtype=m.complex64), (1, 1), value=1j), r"value"),
    "complex out": (lambda m: m.erf(m.ones(2, dtype=m.complex64), out=m.ones(2)), r"(?i)complex.*float"),
    "bitwise of floats": (lambda m: m.ones(2) & m.ones(2), r""),
    "floor of complex": (lambda m: m.ones(2, dtype=m.complex64).floor(), r""),
    "complex compared": (lambda m: m.ones(2, dtype=m.complex64) < 1, r""),
    "float into int": (lambda m: m.ones(2, dtype=m.int32).add_(1.5), r"(?i)float.*int"),
    "float out int": (lambda m: m.add(m.ones(2), m.ones(2), out=m.ones(2, dtype=m.int64)), r"(?i)float.*(int|long)"),
    "subtract bools": (lambda m: m.tensor([True]) - m.tensor([True]), r""),
    "negate bool": (lambda m: -m.tensor([True]), r""),
    "shift floats": (lambda m: m.ones(2) << 1, r""),
    "mean of ints": (lambda m: m.arange(3).mean(), r"(?i)int64|long"),
    "mm of dtypes": (lambda m: m.ones(2, 2) @ m.ones(2, 2, dtype=m.float64), r"(?i)float|double"),
    "int too big": (lambda m: m.ones(2, dtype=m.int64).add_(2**70), r""),
    "string operand": (lambda m: m.ones(2) + "x", r"str"),
    "list operand": (lambda m: m.add(m.ones(2), [1, 2]), r"list"),
    "None operand": (lambda m: m.mul(m.ones(2), None), r"None"),
    "object tensor": (lambda m: m.tensor(object()), r"object"),
    "dtype argument": (lambda m: m.zeros(2, dtype="torch.int8"), r"str|int8"),
    "unknown keyword": (lambda m: m.add(m.ones(2), 1, beta=2), r"beta"),
    "too few arguments": (lambda m: m.add(m.ones(2)), r""),
    # overlap
    "in-place on expanded": (lambda m: m.ones(1).expand(3).add_(1), r""),
    "fill_ of expanded": (lambda m: m.ones(1).expand(3).mul_(2.0), r""),
    "in-place overlapping": (lambda m: (lambda t: t[1:].add_(t[:-1]))(m.ones(5)), r""),
    "out= overlapping": (lambda m: (lambda t: m.mul(t[:4], 2, out=t[1:]))(m.ones(5)), r""),
    "out= no tensor": (lambda m: m.add(m.ones(2), 1, out=[1]), r"out.*list"),
    # values
    "item of many": (lambda m: m.ones(3).item(), r"3"),
    "bool of many": (lambda m: bool(m.ones(2)), r""),
    "float of many": (lambda m: float(m.ones(2)), r""),
    "int of none": (lambda m: int(m.ones(0)), r""),
    "int of complex": (lambda m: int(m.tensor(1 + 2j)), r""),
    "index by float": (lambda m: [1, 2][m.ones(())], r""),
    "len of 0-d": (lambda m: len(m.ones(())), r"0-d"),
    "iterate 0-d": (lambda m: list(m.ones(())), r"0-d"),
    "arange step": (lambda m: m.arange(0, 5, 0), r""),
    "arange direction": (lambda m: m.arange(5, 0, 1), r""),
    "linspace steps": (lambda m: m.linspace(0, 1, -2), r"-2|steps"),
    "unknown device": (lambda m: m.zeros(2, device="toaster"), r"toaster"),
    "unknown attribute": (lambda m: m.ones(2).nonsense, r"nonsense"),
    "view dtype": (lambda m: m.ones(3, dtype=m.uint8).view(m.int16), r""),
    "numpy of bfloat16": (lambda m: m.ones(2, dtype=m.bfloat16).numpy(), r"(?i)bfloat16"),
    "from_numpy of list": (lambda m: m.from_numpy([1]), r"list"),
    "set shape by str": (lambda m: m.ones("a"), r"str|a"),
}


def allocated() -> int:
    """Returns the bytes that tensors hold on all devices."""
    gc.collect()
    ft.synchronize()
    return sum(ft.fpga.memory_allocated(k) for k in range(ft.fpga.device_count()))


def failure(call: Callable[[], Any]) -> Exception | None:
    """Returns the exception of a call, without the frames that hold its tensors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except Exception as error:  # noqa: BLE001 - whatever a mistake raises is the result
        return error.with_traceback(None)
    return None


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistake_raises_as_in_torch_and_leaks_nothing(name: str) -> None:
    mistake, named = MISTAKES[name]
    expected = failure(lambda: mistake(torch))
    assert expected is not None, "torch takes this"
    first = repr(failure(lambda: mistake(ft)))  # fills the tables of prepared launches
    before = allocated()
    got = failure(lambda: mistake(ft))
    assert got is not None, f"torch raises {type(expected).__name__}: {expected}"
    assert re.sub("0x[0-9a-f]+", "", first) == re.sub("0x[0-9a-f]+", "", repr(got))
    assert type(got) is type(expected), f"{got!r}, torch: {expected!r}"
    assert len(str(got)) > 10 and "Traceback" not in str(got)
    assert re.search(named, str(got), re.S), f"{got} does not name {named}"
    got = None
    assert allocated() == before
    # The device still works.
    assert (ft.ones(3) + 1).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "call",
    [
        "masked_select(x, x > 0, out=i)",
        "mm(x, x, out=d)",
        "matmul(x, x, out=i)",
        "take(x, i, out=i)",
        "gather(x, 0, x.long(), out=i)",
        "argmax(x, out=d)",
        "max(x, 0, out=(d, i))",
        "sort(x, out=(i, i))",
        "aminmax(x, out=(i, i))",
    ],
)
def test_results_of_another_dtype_are_refused(call: str) -> None:
    """torch does not cast here. Both dtypes are named."""

    def refused(m: Any) -> None:
        names = {"x": m.ones(2, 2), "i": m.zeros(0, dtype=m.int64), "d": m.zeros(0).double()}
        eval(f"m.{call}", {"m": m, **names})

    mine, theirs = failure(lambda: refused(ft)), failure(lambda: refused(torch))
    assert type(mine) is type(theirs) is RuntimeError, mine
    assert re.search(r"expected out to have dtype \S+, but got", str(mine)), mine


def test_host_and_fpga_do_not_mix() -> None:
    x, host = ft.ones(3, device="fpga"), ft.ones(3, device="cpu")
    x + ft.tensor(2.0, device="cpu")  # a launch may keep a table of strides
    before = allocated()
    for call in (
        lambda: x + host,
        lambda: x.add_(host),
        lambda: ft.add(x, x, out=host),
        lambda: ft.cat([x, host]),
        lambda: ft.where(x > 0, x, host),
        lambda: x @ host,
    ):
        error = failure(call)
        assert isinstance(error, RuntimeError)
        assert "cpu" in str(error) and "fpga:0" in str(error), error
    assert (x + ft.tensor(2.0, device="cpu")).tolist() == [3, 3, 3]  # a number as a 0-d tensor
    del error
    assert allocated() == before


def test_missing_device_is_named() -> None:
    count = ft.fpga.device_count()
    error = failure(lambda: ft.ones(2, device=f"fpga:{count}"))
    assert isinstance(error, RuntimeError) and f"fpga:{count}" in str(error)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True, timeout=600)


def test_out_of_memory_reports_the_state_and_is_recoverable() -> None:
    done = run(
        "import ftensor as ft\n"
        "kept = ft.ones(1 << 20)\n"  # 4 MB of 16
        "for turn in range(3):\n"
        "    for wrong in (lambda: ft.ones(1 << 24), lambda: [kept.clone() for _ in 'abcdefg'],\n"
        "                  lambda: kept[None].expand(16, -1) + 1):\n"
        "        before = ft.fpga.memory_allocated()\n"
        "        try:\n"
        "            wrong()\n"
        "        except ft.OutOfMemoryError as error:\n"
        "            text = str(error)\n"
        "        else:\n"
        "            raise AssertionError('no error')\n"
        "        assert issubclass(ft.OutOfMemoryError, RuntimeError)\n"
        "        if turn:\n"  # the first call prepares launches, each with a table
        "            assert ft.fpga.memory_allocated() == before\n"
        "        assert (kept * 2).sum().item() == 2 << 20\n"
        "assert ft.fpga.memory_stats()['num_ooms'] == 9\n"
        "print(text)\n"
        "print(kept.nbytes <= ft.fpga.memory_allocated() < kept.nbytes + 1024)\n",
        FTENSOR_MEMORY_LIMIT=str(16 << 20),
    )
    assert (done.returncode, done.stderr) == (0, "")
    for fact in (str(64 << 20), str(16 << 20), "in use", "reserved", "FTENSOR_MEMORY_LIMIT", "True"):
        assert fact in done.stdout


def test_invalid_memory_limit_is_an_error_of_one_line() -> None:
    done = run("import ftensor as ft; ft.ones(2)", FTENSOR_MEMORY_LIMIT="lots")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ValueError: FTENSOR_MEMORY_LIMIT='lots'")


def test_no_device_error_lists_the_steps(tmp_path: Path) -> None:
    # The OpenCL loader finds nothing, PATH has no compiler, and no installed runtime can be
    # suggested.
    (tmp_path / "vendors").mkdir()
    hide = (
        "import ftensor.runtime.icd as icd\n"
        "from contextlib import contextmanager\n"
        "@contextmanager\n"
        "def nothing(notes):\n"
        "    yield {}\n"
        "icd.available_runtimes = nothing\n"
    )
    program = (
        "import ftensor as ft\n"
        "assert not ft.fpga.is_available() and ft.fpga.device_count() == 0\n"
        "host = lambda: ft.zeros(1, device='cpu')\n"
        "for call in (lambda: ft.ones(2), lambda: ft.tensor([1.0]), host):\n"
        "    try:\n"
        "        call()\n"
        "    except RuntimeError as error:\n"
        "        print(str(error).replace(chr(10), ' '))\n"
    )
    done = run(
        hide + program,
        OCL_ICD_VENDORS=f"{tmp_path / 'vendors'}/",
        OCL_ICD_FILENAMES="",
        PATH=str(tmp_path),
        CXX="",
        FTENSOR_DEVICE="auto",
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert "no device was found" in line
        assert "pip install intel-opencl-rt intel-cmplr-lib-rt" in line and "apt-get install g++" in line
        assert "ftensor doctor" in line


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (np.ones(2), r"not numpy\.ndarray; ft\.from_numpy\(x\)"),
        (torch.ones(2), r"not torch\.Tensor; ft\.from_torch\(x\)"),
        (memoryview(b"ab"), r"not builtins\.memoryview; ft\.as_tensor\(x\)"),
    ],
)
def test_operand_of_another_library_error_suggests_a_conversion(other: object, said: str) -> None:
    x = ft.ones(2)
    for call in (lambda: ft.add(x, other), lambda: ft.mul(other, x)):
        with pytest.raises(TypeError, match=said):
            call()
    if isinstance(other, torch.Tensor):
        with pytest.raises(TypeError, match=said):
            x + other


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: ft.ones(3, dtype=ft.int64).div_(2), "div_"),
        (lambda: ft.ones(3, dtype=ft.int64).true_divide_(2), "true_divide_"),
        (lambda: ft.div(ft.ones(3), 2, out=ft.ones(3, dtype=ft.int64)), "div"),
        (lambda: ft.nn.functional.linear(ft.ones(2, 3), ft.ones(4, 5)), "linear"),
        (lambda: ft.matmul(ft.ones(2, 3), ft.ones(4, 5)), "matmul"),
        (lambda: ft.mm(ft.ones(2, 3), ft.ones(4, 5)), "mm"),
        (lambda: ft.addmm(ft.ones(2), ft.ones(2, 3), ft.ones(4, 5)), "addmm"),
    ],
)
def test_error_names_the_called_op(call, name):
    with pytest.raises(RuntimeError, match=rf"^{name}\(\): "):
        call()
