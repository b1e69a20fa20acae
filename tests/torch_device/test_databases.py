"""torch's own test classes for its databases of ops and modules, forward and backward.

In CI each op or module has one sample, and a part of the ops runs. This runs all of them:

    FTENSOR_DATABASES=all python -m pytest tests/torch_device/test_databases.py
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

pytest.importorskip("expecttest", reason="torch's databases need it")

from torch.testing._internal import common_device_type as classes
from torch.testing._internal.common_modules import module_db, modules
from torch.testing._internal.common_utils import TestCase

from . import databases
from .device import quiet  # noqa: F401
from .exceptions import EITHER, MODULES, OPS

ALL = os.environ.get("FTENSOR_DATABASES") == "all"
# One of this many ops runs in float32, and in the other dtypes.
SHARE, OTHERS = (1, 1) if ALL else (3, 24)
# One of 64 ops runs under torch.compile; long tests run more.
COMPILED, COMPILED_LONG = 64, 1 if ALL else 6
COMPILED_MODULES = module_db if ALL else module_db[::3]
HOST = set(databases.ON_HOST.read_text().split())
# torch lists the devices when its module is first imported, possibly before the device is
# registered.
if classes.PrivateUse1TestBase not in classes.device_type_test_bases:
    classes.device_type_test_bases.append(classes.PrivateUse1TestBase)


def judge(name: str, error: str, exceptions: dict[str, str]) -> None:
    """Asserts that there is no error, or that the op is a known exception."""
    if name in exceptions:
        assert error, f"{name} is right now: take it out of exceptions.py"
        pytest.xfail(exceptions[name])
    if error and name in EITHER:
        pytest.xfail(EITHER[name])
    assert not error, f"{name}: {error}"


def some(share: int, dtypes: set[str]) -> list[Any]:
    """Returns a part of the ops, and the ops that are exceptions in these dtypes."""
    listed = {name.partition(" ")[0] for name in OPS if name.partition(" ")[2] in dtypes}
    return [op for k, op in enumerate(databases.OPS) if not k % share or op.full_name in listed]


class TestOps(TestCase):
    """Tests each op of the database."""

    def look(self, op: Any, dtype: torch.dtype, compiles: bool = False) -> databases.Found:
        name = f"{op.full_name} {databases.dtype_name(dtype)}"
        count = databases.SAMPLES if ALL or name in OPS else 1
        outcome = databases.check(op, dtype, count, compiles)
        judge(name, outcome.error, OPS)
        return outcome

    @classes.ops(some(SHARE, {"float32"}), allowed_dtypes=[torch.float32])
    def test_float32(self, device: str, dtype: torch.dtype, op: Any) -> None:
        outcome = self.look(op, dtype)
        assert op.full_name in HOST or not outcome.fallbacks, (
            f"{outcome.fallbacks} ran on the host; python -m tests.torch_device.op_db --write"
        )

    @classes.ops(some(OTHERS, {"int64", "complex64", "bfloat16"}), allowed_dtypes=databases.DTYPES[1:])
    def test_other_dtypes(self, device: str, dtype: torch.dtype, op: Any) -> None:
        self.look(op, dtype)

    @classes.ops(databases.OPS[::COMPILED], allowed_dtypes=databases.DTYPES[:1])
    def test_some_compiled(self, device: str, dtype: torch.dtype, op: Any) -> None:
        self.look(op, dtype, compiles=True)

    @pytest.mark.long
    @classes.ops(databases.OPS[::COMPILED_LONG], allowed_dtypes=databases.DTYPES[:1])
    def test_compiled(self, device: str, dtype: torch.dtype, op: Any) -> None:
        self.look(op, dtype, compiles=True)


class TestModules(TestCase):
    """Tests each module of `module_db`."""

    def look(self, dtype: torch.dtype, module_info: Any, training: bool) -> None:
        name = f"{module_info.name} {'train' if training else 'eval'}"
        listed = ALL or name in MODULES
        outcome = databases.check_module(module_info, dtype, training, None if listed else 1)
        judge(name, outcome.error, MODULES)

    @modules(module_db[::2], allowed_dtypes=[torch.float32])
    def test_module(self, device: str, dtype: torch.dtype, module_info: Any, training: bool) -> None:
        self.look(dtype, module_info, training)

    @pytest.mark.long
    @modules(module_db[1::2], allowed_dtypes=[torch.float32])
    def test_other_module(self, device: str, dtype: torch.dtype, module_info: Any, training: bool) -> None:
        self.look(dtype, module_info, training)

    @pytest.mark.long
    @modules(COMPILED_MODULES, allowed_dtypes=[torch.float32])
    def test_compiled(self, device: str, dtype: torch.dtype, module_info: Any, training: bool) -> None:
        name = f"{module_info.name} {'train' if training else 'eval'}"
        outcome = databases.check_module(module_info, dtype, training, 1, compiles=True)
        assert name in MODULES or name in EITHER or not outcome.error, f"{name}: {outcome.error}"


classes.instantiate_device_type_tests(TestOps, globals(), only_for="privateuse1")
classes.instantiate_device_type_tests(TestModules, globals(), only_for="privateuse1")


def test_exceptions_are_of_the_databases() -> None:
    """Each name in the list of exceptions is in torch's databases."""
    known = {f"{op.full_name} {databases.dtype_name(d)}" for d in databases.DTYPES for op in databases.OPS}
    layers = {f"{m.name} {mode}" for m in module_db for mode in ("train", "eval")}
    assert set(OPS) <= known and set(MODULES) <= layers and set(EITHER) <= known | layers
