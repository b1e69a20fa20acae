"""docs/ops.md: torch's ops that ftensor has, where they are computed, and for which dtypes.

`make stubs` writes it from the catalogue and torch's names.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ftensor as ft
from ftensor import dtypes
from ftensor.errors.torch import torch_names
from ftensor.execute import fallback
from ftensor.rows.catalogue import CLASSES, ENTRIES, Entry
from ftensor.rows.op import Op, Promote, Reduce, compute_and_result_dtypes

PAGE = Path(__file__).parents[1] / "docs" / "ops.md"
SPACES = ("", "nn.functional", "linalg", "fft", "special", "signal.windows")
# Functions of quantized and sparse tensors, gradients, torch's own switches, and parts of its
# layers.
FOREIGN = re.compile(
    r".*(quant|sparse|autocast|grad|backward|torch_function|boolean_dispatch|_hook|shared?_)"
    r"|q_|qscheme|batch_norm_|(is_)?coalesce|(ccol|crow|col|row)_indices|indices|values$"
    r"|hspmm|s?smm|sspaddmm|dense_dim|int_repr|reinforce|record_stream|pin_memory|is_distributed"
    r"|storage|module_load|native_channel_shuffle|to_dense|to_padded|slice_inverse|assert_"
    r"|(symeig|eig|lstsq|solve)$|is_inference|get_device|from_file|is_shared|.*(obs_|qparams)"
)
WORDS = {"fft": "fft_", "linalg": "linalg_", "special": "special_"}
HEAD = """\
# The list of torch's ops

torch's ops and the part of ftensor that computes them. For example, `add` runs in kernels on the
device with all dtypes:

    | op    | computed by | dtypes |
    | add   | here        | all    |

| column | entry | meaning |
|---|---|---|
| computed by | here | kernels on the device, or a view |
| | NumPy | the host, always or in some cases; `ft.fallback_report()` counts the copies |
| dtypes | names | the dtypes that the op's kernels serve |
| | empty | the op is made of other ops, and takes their dtypes |

`make stubs` writes this page from the catalogue and from the names of torch's functions. Ops for
quantized tensors, sparse tensors and gradients are not listed, since ftensor has none.
[Differences](differences.md) lists the ops whose arguments or results differ. SciPy's functions of
signals are a [section of their own](#ftensorsignal).

| namespace of torch | here | by NumPy | missing |
|---|---|---|---|
"""
KINDS = {"b": "bool", "u": "integers", "i": "integers", "f": "floating point", "c": "complex"}
ALL = [d for name in dir(ft) if isinstance(d := getattr(ft, name), dtypes.dtype) and d in dtypes.FULL]
DTYPES = sorted(set(ALL), key=lambda d: ("buifc".index(d.kind), d.itemsize, d.name))


def on_host(call: Any, seen: set[Any]) -> bool:
    """Returns whether a function, or one that it calls by name, can delegate its work to NumPy."""
    call = inspect.unwrap(call) if callable(call) else call
    if call is fallback.run_numpy:
        return True
    if not inspect.isfunction(call) or call in seen or "ftensor" not in str(call.__module__):
        return False
    seen.add(call)
    codes = [call.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if inspect.iscode(c)]
    names = {name for code in codes for name in code.co_names}
    called = [call.__globals__.get(name) for name in names]
    called += [cell.cell_contents for cell in call.__closure__ or ()]
    if "f" in names:  # the catalogue's functions: f["linalg.svd"](...)
        keys = [c for code in codes for c in code.co_consts if isinstance(c, str)]
        called += [ENTRIES[key].call for key in [*keys, *names] if key in ENTRIES]
    return any(on_host(one, seen) for one in called)


def serves(row: Op | Reduce, of: dtypes.dtype) -> bool:
    """Returns whether a row has a kernel for a dtype."""
    if isinstance(row, Reduce):
        return row.serves(of.kind)
    if row.promote is Promote.REAL_TO_COMPLEX and of.kind not in "fc":
        return False  # integers have no complex dtype
    compute = compute_and_result_dtypes(row.promote, of)[0]
    return of.name not in row.refuses and bool(row.expression(compute.compute))


def dtypes_of(entry: Entry) -> str:
    """Returns the dtypes of an op, as a kind if it supports all dtypes of the kind."""
    rows = [entry.row] if entry.row else list(entry.rows)
    if not rows:
        return ""
    good = {d for d in DTYPES if any(serves(row, d) for row in rows)}
    if len(good) == len(DTYPES):
        return "all"
    words = []
    for kind in dict.fromkeys(KINDS.values()):
        of_kind = [d for d in DTYPES if KINDS[d.kind] == kind]
        here = [d.name for d in of_kind if d in good]
        words += [kind] if len(here) == len(of_kind) else here
    return ", ".join(words)


def of_torch(path: str) -> list[str]:
    """Returns the names of torch's ops in a namespace: those with a schema, and functions on
    tensors."""
    import torch

    owner = operator.attrgetter(path)(torch) if path else torch
    ours = operator.attrgetter(path)(ft) if path else ft
    names = []
    for word in sorted(torch_names()):
        space, _, name = word.rpartition(".")
        if space == path and name.endswith("()"):
            name = name[:-2]
            of_python = inspect.isfunction(getattr(owner, name))
            place = getattr(getattr(owner, name), "__module__", "") or ""
            schemas = torch._C._jit_get_schemas_for_operator(f"aten::{WORDS.get(path, '')}{name}")
            if FOREIGN.match(name) and lookup(ours, name) is None:
                continue
            if schemas or (of_python and (path or place == "torch.functional")):
                names.append(name)
    return names


def lookup(owner: Any, name: str) -> Callable[..., Any] | None:
    """Returns ftensor's function, method or property of a name."""
    try:
        value = inspect.getattr_static(owner, name) if owner is ft.Tensor else getattr(owner, name)
    except AttributeError:
        return None
    return value if callable(value) else getattr(value, "fget", None)


def line(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "\n"


def section(path: str) -> tuple[str, str]:
    """Returns (the row of the first table, the section) of a namespace."""
    owner = operator.attrgetter(path)(ft) if path else ft
    members = {name: lookup(owner, name) for name in of_torch(path)}
    here = {name: call for name, call in members.items() if call is not None}
    entries = {inspect.unwrap(e.call): e for e in ENTRIES.values()}
    host = [name for name, call in here.items() if on_host(call, set())]
    missing = [name for name in members if name not in here]
    title = f"torch.{path}" if path else "torch"
    counts = f"| [{title}](#{title.replace('.', '').lower()}) | {len(here) - len(host)} | "
    counts += f"{len(host)} | {len(missing)} |"
    parts = [f"\n## {title}\n"]
    if path == "Tensor":
        parts += ["Methods and in-place forms, each computed like the function of its name:\n"]
        parts += [line([*here])]
    else:
        parts.append("| op | computed by | dtypes |\n|---|---|---|")
        for name, call in here.items():
            entry = entries.get(inspect.unwrap(call))
            by = "NumPy" if name in host else "here"
            parts.append(f"| `{name}` | {by} | {dtypes_of(entry) if entry else ''} |")
        parts.append("")
    return counts, "\n".join([*parts, *(["Missing:\n", line(missing)] if missing else [])])


SIGNAL = """
## ftensor.signal

SciPy's functions of signals, with SciPy's names, arguments and values. Signals are tensors; coefficients are arrays,
lists or tensors, which the host reads in float64.

- **Filters with feedback** (`lfilter`, `sosfilt`, `filtfilt`, `sosfiltfilt`, `decimate`) are sums in blocks of 64
  elements. A block's results are a matrix product of its elements, plus one of the filter's state before the block.
  The states of all blocks come from a prefix scan, whose reach doubles in each step: log2(blocks) products. So the sums
  have another order than a loop's, and differ from SciPy's by rounding: within 1e-9 of the largest value in float64 in
  the tests, for orders up to 10. Devices without float64 sum in float32.
- **An unstable filter** grows as in SciPy. Behind the element that overflows, results are infinite or NaN.
- **Filters without feedback** of 16 taps or more are transforms.
- **Designs** (`firwin`, `butter`, ...) and steady states (`lfilter_zi`, `sosfilt_zi`) are computed on the host, and are
  NumPy arrays. Designs need SciPy.
- **Results have the signal's dtype**; integers become the default dtype, except in `convolve`, `correlate` and `cic`,
  which sum integers exactly. SciPy's results are float64 if one argument is.
- `ShortTimeFFT` has SciPy's own object for windows, times and frequencies; its transforms run on the device.
- `cic` is not SciPy's: a cascaded integrator-comb filter, as receivers begin with.
- **Fixed point** is not SciPy's either: int16 are fractions of 32768 (Q15), complex numbers are pairs (..., 2).
  `fir_q15` sums exactly in 64 bits, then rounds to nearest with ties up, and saturates. Each stage of `fft_q15` halves
  its results, so that the transform is divided by n. All devices give the same bits.

```python
import ftensor as ft

x = ft.signal.chirp(ft.linspace(0, 1, 4000), 5.0, 1.0, 900.0) + 0.1 * ft.randn(4000)
sos = ft.signal.butter(4, [100.0, 400.0], "bandpass", output="sos", fs=4000.0)  # on the host
y = ft.signal.sosfiltfilt(sos, x)  # the rest on the device
f, t, power = ft.signal.spectrogram(y, fs=4000.0, nperseg=256)
envelope = ft.signal.hilbert(y).abs()
peaks, found = ft.signal.find_peaks(envelope, height=0.5, distance=100)
```

| function | computed by | purpose |
|---|---|---|
"""
HOST = ("lfilter_zi", "sosfilt_zi", "correlation_lags")
DESIGNS = ("bessel", "butter", "cheby1", "cheby2", "ellip", "firwin")


def signal_section() -> str:
    """Returns the section of `ftensor.signal`: a line for each function, from the start of its
    docstring."""
    lines = []
    documented = [(entry.name, 1) for entry in ENTRIES.values() if entry.namespace == "signal"]
    documented += [(public.__name__, 0) for namespace, public in CLASSES if namespace == "signal"]
    for name, paragraph in sorted(documented):  # a function's docstring begins with its signature
        text = inspect.getdoc(getattr(ft.signal, name)) or ""
        sentence = re.split(r"(?<=[^.])[.:]\s", " ".join(text.split("\n\n")[paragraph].split()) + " ")[0]
        by = "SciPy" if name in DESIGNS else "host" if name in HOST else "here"
        lines.append(f"| `{name}` | {by} | {sentence} |")
    return SIGNAL + "\n".join(lines) + "\n"


def ops_page() -> str:
    """Returns the page's text."""
    sections = [section(path) for path in (*SPACES[:1], "Tensor", *SPACES[1:])]
    parts = [HEAD, "\n".join(counts for counts, _ in sections), "\n", *(text for _, text in sections), signal_section()]
    return "".join(parts)
