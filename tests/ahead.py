"""Compiles kernels of the tests in advance: ten in one program take a third of the time.

    FTENSOR_TESTS_NOTED=FOLDER pytest ...    runs tests without kernels, and records those they need
    python -m tests.ahead FOLDER             compiles the recorded kernels into the cache

The record is a hint: a missing kernel is compiled when a test needs it, as for a user. So tests
continue here after an assertion, a failure ends at most one of them, and none starts a program.
"""

from __future__ import annotations

import ast
import gc
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import groupby
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import pytest

from .cost import Cost, spent

if TYPE_CHECKING:
    from ftensor.runtime.interfaces import KernelSource

HERE = Path(__file__).parent
# The files with many kernels of few kinds, which spend most of their time in the compiler.
FILES = (
    "kernel/test_rows.py",
    "spelling/test_against_torch.py",
    "spelling/test_array_api.py",
    "spelling/test_array_api_special.py",
    "spelling/test_binary.py",
    "spelling/test_catalogue.py",
    "spelling/test_losses.py",
)
# Ends of a test that carry no information here.
ENDS = (Exception, SystemExit, pytest.fail.Exception, pytest.skip.Exception, pytest.xfail.Exception)
LONG = 10  # seconds after which a test is abandoned, as it may wait for a value that no kernel computed


class Ahead:
    """A plugin that runs each test without kernels and without a result."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.stack = ExitStack()
        self.noted: list[KernelSource] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        """Starts recording kernels."""
        from ftensor._device import default_backend
        from ftensor.warm.command import noting

        continue_after_errors()
        self.noted = self.stack.enter_context(noting(default_backend()))

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Runs the test's fixtures and its body up to its first error."""
        signal.alarm(LONG)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(*ENDS):
                item.ihook.pytest_runtest_setup(item=item)
                item.ihook.pytest_runtest_call(item=item)
            with suppress(*ENDS):
                item.ihook.pytest_runtest_teardown(item=item, nextitem=nextitem)
        return True

    def pytest_sessionfinish(self) -> None:
        """Writes each worker's record. The controller has none."""
        (self.folder / str(os.getpid())).write_bytes(pickle.dumps(self.noted))


def continue_after_errors() -> None:
    """Makes tests continue after assertions, and start no program."""
    import numpy as np
    import torch

    def nothing(*args: Any, **options: Any) -> None: ...

    def refuse(*args: Any, **options: Any) -> None:
        raise OSError("only kernels are noted")

    subprocess.Popen.__init__ = BaseProcess.start = os.fork = refuse  # type: ignore[assignment]
    ours = [m for m in sys.modules.values() if str(HERE) in (getattr(m, "__file__", "") or "")]
    for module in (np.testing, torch.testing, *ours):
        for name in [name for name in vars(module) if name.startswith("assert_")]:
            setattr(module, name, nothing)
    functions = [member for member in gc.get_objects() if type(member) is FunctionType]
    for file, group in groupby(sorted(functions, key=file_of), file_of):
        if file.startswith(str(HERE)):
            tree = EvaluateAssertions().visit(ast.parse(Path(file).read_text()))
            codes = nested_code(compile(tree, file, "exec"))
            asked = {(code.co_name, code.co_firstlineno): code for code in codes}
            for function in group:
                code = function.__code__
                with suppress(KeyError, ValueError):  # Hypothesis makes others of this name
                    function.__code__ = asked[code.co_name, code.co_firstlineno]
    for function in functions:
        if hasattr(function, "hypothesis"):
            function.hypothesis.inner_test = ignoring_failures(function.hypothesis.inner_test)


def file_of(function: FunctionType) -> str:
    """Returns the file of a function."""
    return function.__code__.co_filename


class EvaluateAssertions(ast.NodeTransformer):
    """Replaces assertions by the evaluation of their expressions."""

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:
        return ast.copy_location(ast.Expr(node.test), node)


def nested_code(code: CodeType) -> Iterator[CodeType]:
    """Yields the code objects of functions in a module's code."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from nested_code(part)


def ignoring_failures(test: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a Hypothesis test that ignores failures, so that no smaller example is searched."""
    from hypothesis.errors import HypothesisException

    def run(*args: Any, **kwargs: Any) -> None:
        try:
            test(*args, **kwargs)
        except Exception as error:
            if isinstance(error, HypothesisException):
                raise

    return run


def compile_before(under: Sequence[str], env: Mapping[str, str], tests: str) -> None:
    """Compiles the kernels of the tests with these markers, by two programs in their
    environment."""
    python = [*under, sys.executable, "-m"]
    with TemporaryDirectory(prefix="ftensor-noted-") as folder:
        of_kernels = tests.startswith("kernel")
        files = [str(HERE / file) for file in FILES if file.startswith("kernel/") or not of_kernels]
        words = ["pytest", "-q", "-m", tests, "-n", str(min(4, os.cpu_count() or 1)), *files]
        noted = subprocess.run(
            [*python, *words], cwd=HERE.parent, env={**env, "FTENSOR_TESTS_NOTED": folder}, stdout=subprocess.DEVNULL
        )
        if noted.returncode in (2, 3, 4):  # this is no test failure: pytest itself failed, or this file
            raise RuntimeError(f"no kernels were noted: pytest ended with {noted.returncode}")
        subprocess.run([*python, "tests.ahead", folder], cwd=HERE.parent, env=env)


def main() -> None:
    """Compiles the recorded kernels."""
    from ftensor._device import default_backend
    from ftensor.toolchain.jobs.progress import reporter
    from ftensor.warm.command import compile_all, processors

    notes = [pickle.loads(file.read_bytes()) for file in sorted(Path(sys.argv[1]).iterdir())]
    noted = {program.source: program for note in notes for program in note}
    backend = default_backend()
    new = [program for program in noted.values() if not backend.has_built(program)]
    failed = compile_all(new, processors(), reporter())
    print(f"{len(new)} kernels compiled before the tests, {failed} failed", flush=True)
    if file := os.environ.get("FTENSOR_TESTS_COST"):
        Cost(file).note("compiled before the tests", spent())


if __name__ == "__main__":
    main()
