"""Every name in a kernel's source is defined, also names of hls/ that Python composes, in all
dialects."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ftensor.kernels.source import hls_root
from ftensor.runtime.targets import TARGETS, csim_compiler
from ftensor.toolchain.vitis import single

from ..ir.compiler import clang
from .hls_kernels import compiler, folder
from .kernel_texts import KernelText, texts

OPENCL = ("-x", "cl", "-cl-std=CL2.0", "-fsyntax-only", "-w", "-ferror-limit=3", "-Xclang", "-finclude-default-header",
          "-Xclang", "-fdeclare-opencl-builtins")  # fmt: skip
# A channel of Intel's OpenCL C as a variable.
CHANNELS = ("-Dcl_intel_channels", "-Dchannel=global", "-Dread_channel_intel(c)=(c)",
            "-Dwrite_channel_intel(c, v)=((c) = (v))")  # fmt: skip
CPP = ("-fsyntax-only", "-Wno-error", "-w", "-x", "c++")
TESTED = re.compile(r"^ *# *(?:if|ifdef|ifndef|elif)\b([^\n]*)", re.M)
DEFINED = re.compile(r"^ *# *define (\w+)", re.M)
DIRECTIVE = re.compile(r"#pragma HLS [^\n]*?\b(?:variable|port)=(?!return\b)(\w+)")
# Macros of command lines: of builds, of `ftensor build`'s options, of tests, and for a debugger.
OPTIONS = {word.removeprefix("-D") for target in TARGETS for word in target.build_options} | {
    "FT_FIFOS",
    "FT_OWN_POW",
    "FT_POW_BY_LANE",
    "FT_REGIONS",
    "FT_STREAMED_BYTES",
}


def errors(text: KernelText) -> str:
    """Returns a compiler's errors in a text; "" if there are none."""
    if text.dialect in ("opencl", "intel"):
        command = [clang(), *OPENCL, *(CHANNELS if text.dialect == "intel" else ()), "-"]
    else:
        command = [*compiler(), *CPP, "-"]
    done = subprocess.run(command, input=text.text, capture_output=True, text=True, cwd=folder().name)
    return "" if done.returncode == 0 else done.stderr[:2000]


def all_errors(some: Iterable[KernelText]) -> dict[str, str]:
    """Returns the errors of those texts that have some."""
    listed = tuple(some)
    compiler()  # reads its headers once
    with ThreadPoolExecutor(2) as pool:
        return {text.name: found for text, found in zip(listed, pool.map(errors, listed)) if found}


def chosen(dialect: str) -> list[KernelText]:
    """Returns a text of each skeleton and layout."""
    return list({(t.skeleton, t.structure): t for t in texts() if t.dialect == dialect}.values())


@pytest.mark.skipif(csim_compiler() is None, reason="the check needs a C++ compiler")
@pytest.mark.parametrize("dialect", ["opencl", "intel", "hls"])
def test_one_text_of_each_skeleton_has_no_undefined_name(dialect: str) -> None:
    assert len(chosen(dialect)) > 20
    assert not all_errors(chosen(dialect))


@pytest.mark.long
@pytest.mark.skipif(csim_compiler() is None, reason="the check needs a C++ compiler")
@pytest.mark.parametrize("dialect", ["opencl", "intel", "hls", "vitis"])
def test_no_text_has_an_undefined_name(dialect: str) -> None:
    """Checks the texts that the test above leaves out, except for the dialect "vitis"."""
    before = set(chosen(dialect)) if dialect != "vitis" else set()
    rest = [t for t in texts() if t.dialect == dialect and t not in before]
    assert len(rest) > 10
    assert not all_errors(rest)


def test_directives_name_variables_of_their_text() -> None:
    """g++ ignores v++'s pragmas, so no compiler here detects a removed variable."""
    for text in texts():
        if text.dialect != "hls":
            continue
        named = Counter(DIRECTIVE.findall(text.text))
        words = Counter(re.findall(r"\w+", text.text))
        assert not [name for name, count in named.items() if words[name] <= count], text.name


def test_macros_tested_by_hls_are_defined() -> None:
    """An `#ifdef` of a name that no text defines would never be true."""
    files = [path.read_text() for path in hls_root().rglob("*.[hc]*") if "standin" not in path.parts]
    names = {name for text in files for rest in TESTED.findall(text) for name in re.findall(r"\bFT_\w+", rest)}
    assert len(names) > 30
    defined = {name for text in (*files, *(t.text for t in texts())) for name in DEFINED.findall(text)}
    assert names - defined - OPTIONS == set()


def test_macros_defined_by_python_are_used() -> None:
    """A key's macro with a name that hls/ no longer has would be ignored."""
    words: Counter[str] = Counter()
    for path in hls_root().rglob("*.[hc]*"):
        words.update(re.findall(r"\b(?:FT|ft)_\w+", path.read_text()))
    composed: set[str] = set()
    for text in texts():
        words.update(set(re.findall(r"(?<!#define )\b(?:FT|ft)_\w+", text.text)))
        composed |= set(DEFINED.findall(text.text))
    assert not {name for name in composed if name.startswith("FT_") and not words[name]}


def test_macros_replaced_in_sources_exist_in_hls() -> None:
    """HLS C++ has a pragma or an expression in place of each. A removed macro replaces nothing."""
    text = "".join(path.read_text() for path in (hls_root() / "skeleton").glob("*.h"))
    assert not [word for word in single._WORDS if not re.search(rf"\b{word}\b", text)]
