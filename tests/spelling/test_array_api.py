"""ftensor.array_api against array-api-strict: names, signatures, results, dtypes, errors."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ftensor as ft

strict = pytest.importorskip("array_api_strict")
from .array_api_cases import CALLS, DTYPES, difference, evaluated, is_open, scopes  # noqa: E402

xp = ft.array_api
PAIRS = [(strict, xp, ""), (strict.linalg, xp.linalg, "linalg."), (strict.fft, xp.fft, "fft.")]
EXTENSIONS = {"linalg.": "_linalg", "fft.": "_fft"}


def functions(module: ModuleType, prefix: str) -> dict[str, Any]:
    """Returns the standard's functions in one of strict's modules."""
    main = [n for n in strict.__all__ if "strict" not in n.lower() and n != "Device"]
    names = dir(xp.linalg if prefix == "linalg." else xp.fft) if prefix else main
    members = {name: getattr(module, name) for name in names if name[0] != "_"}
    return {name: value for name, value in members.items() if inspect.isfunction(value)}


def parameters(function: Any) -> list[tuple[Any, ...]]:
    """Returns a signature's parameters, without strict's own defaults."""
    declared = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, None if "UNDEF" in repr(p.default) else p.default) for p in declared]


@pytest.fixture(autouse=True, scope="module")
def in_double() -> Iterator[None]:
    """Sets array-api-strict's default dtype."""
    ft.set_default_dtype(ft.float64)
    yield
    ft.set_default_dtype(ft.float32)


def test_every_name_exists() -> None:
    wanted = {n for n in strict.__all__ if "strict" not in n.lower()} - {"Device", "__version__"}
    assert wanted <= set(dir(xp))
    assert set(dir(xp)) <= wanted


def test_every_function_has_the_signature_and_cases() -> None:
    for theirs, ours, prefix in PAIRS:
        for name, function in functions(theirs, prefix).items():
            assert parameters(getattr(ours, name)) == parameters(function), name
            assert f"{prefix}{name}" in CALLS, name


# The dtypes of all calls; rows cover the other dtypes.
WHOLE = ("bool", "uint8", "int64", "float32", "complex64")


def compare(dtype: str, step: int = 1) -> None:
    """Compares every `step`-th call on arrays of a dtype."""
    theirs, ours = scopes(dtype)
    texts = [text for calls in CALLS.values() for text in calls if not is_open(text, dtype)]
    texts = texts[DTYPES.index(dtype) % step :: step]
    differing = [difference(t, evaluated(t, theirs), evaluated(t, ours)) for t in texts]
    assert not any(differing), "\n".join(filter(None, differing))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sample_of_calls_agrees_with_strict(dtype: str) -> None:
    compare(dtype, 2 if dtype == "float32" else 24)


@pytest.mark.long
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_calls_agree_with_strict(dtype: str) -> None:
    compare(dtype, 1 if dtype in WHOLE else 3)


def test_the_namespace_is_found_by_its_version() -> None:
    x = ft.zeros(2)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2024.12") is xp
    with pytest.raises(ValueError, match="none of the array API's"):
        x.__array_namespace__(api_version="2030.12")


def test_namespace_is_imported_at_first_use() -> None:
    program = (
        "import sys, ftensor as ft\n"
        "assert not any(name.startswith('ftensor.array_api') for name in sys.modules)\n"
        "ft.array_api.zeros(2)\n"
    )
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root)


def test_namespace_info() -> None:
    info = xp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.default_dtypes()["indexing"] is ft.int64
    assert info.dtypes(kind="bool") == {"bool": ft.bool}
    assert set(info.dtypes(kind=("signed integer", "bool"))) == {"bool", "int8", "int16", "int32", "int64"}
    assert set(info.dtypes()) == set(DTYPES)
    assert info.default_device() in info.devices()
    assert ft.zeros(1, device=info.devices()[0]).device == info.devices()[0]
    with pytest.raises(ValueError, match="no kind of dtypes"):
        info.dtypes(kind="odd")


def test_to_device() -> None:
    x = ft.zeros(2)
    assert x.to_device(x.device) is x
    assert x.to_device("cpu").device.type == "cpu"
    with pytest.raises(ValueError, match="stream must be None"):
        x.to_device(x.device, stream=1)  # type: ignore[arg-type]
    assert ft.zeros(2, 3).mT.shape == (3, 2)


def test_dlpack_capsules_follow_the_arguments() -> None:
    x = ft.arange(4)
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" not in repr(x.__dlpack__())
    copied = np.from_dlpack(_Copied(x))
    x[0] = 9
    assert copied.tolist() == [0, 1, 2, 3]
    with pytest.raises(BufferError, match="exported to the host"):
        x.__dlpack__(dl_device=(2, 0))


class _Copied:
    """An array whose capsules are copies."""

    def __init__(self, x: ft.Tensor) -> None:
        self.x = x

    def __dlpack__(self, **options: Any) -> object:
        return self.x.__dlpack__(**options | {"copy": True})

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()
