"""torch's op database, for every op that both libraries have under one name.

A few samples of each op are compared with torch's default tolerances. Some calls are also jitted:
the graph has eager's bits, or raises a listed GraphError.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="torch's op database is what runs here")
pytest.importorskip("expecttest", reason="torch's op database needs it")

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.utils._pytree import tree_map_only  # noqa: E402

import ftensor as ft  # noqa: E402
import ftensor.nn.functional as F  # noqa: E402
from ftensor.rows.catalogue import ENTRIES  # noqa: E402

from ..jitted import compared, whole  # noqa: E402
from ..op_samples import first_samples  # noqa: E402
from ..oracle import ours, outcome  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning")]

SAMPLES = 4
# Results that the inputs do not determine.
UNDETERMINED = {"empty_like", "new_empty", "new_empty_strided", "empty", "empty_strided"}
UNDETERMINED |= {"empty_permuted", "resize_", "resize_as_"}
UNDETERMINED |= {"nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d"}
# Exceptions in docs/differences.md, and samples whose tensors are not their only inputs.
LEFT_OUT = {"as_strided.partial_views": "reads memory around the sample, which its copy does not have"}
LEFT_OUT |= dict.fromkeys(
    (
        "kthvalue torch.int64",
        "topk torch.int64",
        "topk torch.bfloat16",
        "sort torch.bfloat16",
        "argsort torch.bfloat16",
    ),
    "which of many equal elements an unstable sort tells the place of",
)
# tests/spelling/test_linalg.py checks the properties of these results.
LEFT_OUT |= {
    "linalg.eigh torch.complex64": "eigenvectors are known up to a factor of size 1",
    "linalg.lstsq.grad_oriented": "its samples are more than an argument's tensors",
    "linalg.pinv.singular": "its samples are the factors of what is inverted",
    "svd_lowrank": "its samples are the factors of its matrix",
    "pca_lowrank": "its samples are the factors of its matrix",
    "matrix_exp torch.bfloat16": "torch has NaN where its own coefficients of 16 bits fail",
}
LEFT_OUT["nn.functional.multi_head_attention_forward"] = (
    "its samples draw a dropout; tests/spelling/test_sequences.py has others"
)
_OF_TORCH = "the distance of its samples is a function of torch's"
LEFT_OUT |= {"nn.functional.triplet_margin_with_distance_loss": _OF_TORCH}
# The database passes these arguments in another order.
IN_ORDER: dict[str, Callable[..., Any]] = {
    "where": lambda input, condition, other: ft.where(condition, input, other),
    "polygamma": lambda input, n, out=None: ft.polygamma(n, input, out=out),
    "special.polygamma": lambda input, n, out=None: ft.polygamma(n, input, out=out),
    "nn.functional.embedding": lambda weight, index, **how: F.embedding(index, weight, **how),
    "nn.functional.embedding_bag": lambda weight, index, *more, **how: F.embedding_bag(index, weight, *more, **how),
    "einsum": lambda tensors, equation: ft.einsum(equation, tensors),
}


def function(name: str) -> Callable[..., Any] | None:
    """Returns ftensor's function (or method) for a name in the database."""
    entry = ENTRIES.get(name)
    return None if entry is None or name in UNDETERMINED | NO_SAMPLES else entry.call


# Database entries, or their in-place forms, that cannot be traced, and why.
REFUSED = dict(
    line.split(": ", 1)
    for line in (Path(__file__).parent / "jit_refused.txt").read_text().splitlines()
    if line and line[0] != "#"
)
# The first of an op's forms gets the first samples, the others the largest of these.
DTYPES = (torch.float32, torch.int64, torch.complex64, torch.bfloat16)
# Names of the catalogue for which the database has no samples, and where they are tested.
ELSEWHERE = {
    "tests/spelling/test_creation.py": "tensor as_tensor asarray frombuffer new_tensor new copy_",
    "questions, in tests/spelling/test_dtype.py and test_creation.py": "is_tensor numel is_complex "
    "is_floating_point is_signed is_conj is_neg is_nonzero is_cpu is_fpga is_cuda is_leaf "
    "is_pinned data grad requires_grad_ type type_as cpu fpga",
    "tests/spelling/test_views.py": "detach detach_ alias swapaxes_",
    "tests/spelling/test_index.py and tests/kernel/test_index.py": "__setitem__",
    "nn.functional's functions, which this is another name for": "nn.functional.relu_ "
    "nn.functional.hardtanh_ hardshrink relu relu_ selu selu_ "
    "celu celu_ threshold threshold_",
    "tests/spelling/test_catalogue.py": "__pos__",
    "tests/spelling/test_other_functions.py": "range frobenius_norm nuclear_norm norm_except_dim "
    "is_same_size is_set_to set_ fill_diagonal_ segment_reduce dim_order slice_copy is_inference "
    "get_device",
    "tests/kernel/test_matmul.py": "chain_matmul",
    "tests/kernel/test_few_ops.py": "_int_mm",
    "tests/kernel/test_quantized.py": "quantized.quantize_per_tensor "
    "quantized.quantize_per_channel quantized.dequantize_per_tensor "
    "quantized.dequantize_per_channel quantized.dequantize_as_complex quantized.linear "
    "quantized.linear_relu quantized.conv2d quantized.conv2d_relu quantized.relu quantized.relu6 "
    "quantized.add quantized.avg_pool2d quantized.adaptive_avg_pool2d quantized.cat",
    "tests/spelling/test_spectral.py": "fft.fftfreq fft.rfftfreq",
    "tests/spelling/test_linalg.py": "slogdet",
    "tests/kernel/test_signal.py": "signal.fftconvolve signal.oaconvolve signal.lfilter "
    "signal.resample_poly signal.decimate signal.periodogram signal.welch signal.csd signal.coherence",
    "tests/kernel/test_signal_filters.py": "signal.sosfilt signal.sosfilt_zi signal.sosfiltfilt signal.filtfilt "
    "signal.lfilter_zi signal.upfirdn signal.cic signal.firwin signal.butter signal.cheby1 signal.cheby2 "
    "signal.ellip signal.bessel",
    "tests/kernel/test_signal_analysis.py": "signal.spectrogram signal.stft signal.istft signal.hilbert "
    "signal.convolve signal.correlate signal.correlation_lags signal.chirp signal.find_peaks",
    "tests/kernel/test_fixed_point.py": "signal.to_q15 signal.from_q15 signal.fir_q15 signal.fft_q15 signal.ifft_q15",
    "tests/spelling/test_windows.py": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "tests/spelling/test_spatial.py": "avg_pool1d max_pool1d max_pool2d max_pool3d "
    "max_pool1d_with_indices nn.functional.max_pool1d_with_indices "
    "adaptive_avg_pool1d adaptive_max_pool1d nn.functional.adaptive_max_pool1d_with_indices "
    "nn.functional.adaptive_max_pool2d_with_indices nn.functional.adaptive_max_pool3d_with_indices "
    "nn.functional.fractional_max_pool2d_with_indices "
    "nn.functional.fractional_max_pool3d_with_indices "
    "nn.functional.max_pool2d_with_indices nn.functional.max_pool3d_with_indices "
    "nn.functional.upsample nn.functional.affine_grid affine_grid_generator grid_sampler "
    "nn.functional.fold nn.functional.lp_pool1d nn.functional.lp_pool2d nn.functional.lp_pool3d",
    "tests/kernel/test_order.py": "vander",
    "tests/kernel/test_recurrent.py": "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell "
    "rnn_relu_cell ctc_loss _ctc_loss",
    "tests/kernel/test_special.py": "special.gammainc special.gammaincc",
    "tests/spelling/test_inner.py": "_log_softmax_backward_data _safe_softmax conv_tbc "
    "_native_batch_norm_legit_no_training nn.functional.gumbel_softmax",
    "tests/spelling/test_copies.py": "detach_copy select_copy split_copy view_as_real_copy "
    "view_as_complex_copy bilinear channel_shuffle cosine_similarity pairwise_distance pdist "
    "pixel_shuffle pixel_unshuffle prelu",
    "tests/spelling/test_random.py and test_random_counts.py": "rand randn randint randperm "
    "rand_like randn_like randint_like normal normal_ uniform_ log_normal_ exponential_ cauchy_ "
    "geometric_ random_ "
    "bernoulli bernoulli_ multinomial poisson binomial dropout dropout_ feature_dropout "
    "feature_dropout_ alpha_dropout alpha_dropout_ feature_alpha_dropout feature_alpha_dropout_ "
    "native_dropout rrelu rrelu_ nn.functional.dropout nn.functional.dropout1d "
    "nn.functional.dropout2d nn.functional.dropout3d nn.functional.alpha_dropout "
    "nn.functional.feature_alpha_dropout nn.functional.rrelu",
}
NO_SAMPLES = {name for names in ELSEWHERE.values() for name in names.split()}


def alternate(choices: Sequence[Any], turn: int) -> Sequence[Any]:
    """Returns one of several choices in turn, or all with FTENSOR_DATABASES=all.
    kernel/test_rows.py tests the values of each dtype."""
    k = turn % len(choices) if choices else 0
    return choices if os.environ.get("FTENSOR_DATABASES") == "all" else choices[k : k + 1]


def size(sample: Any) -> int:
    """Returns the number of elements of a sample's input. The first samples of some ops have
    none."""
    inputs = sample.input if isinstance(sample.input, (list, tuple)) else [sample.input]
    return sum(t.numel() for t in inputs if isinstance(t, torch.Tensor))


def largest(samples: list[Any]) -> list[Any]:
    """Returns the sample with the most elements."""
    return sorted(samples, key=size)[-1:]


def largest_of_each_form(samples: list[Any]) -> list[Any]:
    """Returns the largest sample, and the largest sample with a different form of call."""
    chosen = largest(samples)
    return chosen + largest([s for s in samples if call_form(s) != call_form(chosen[0])])


def remaining(samples: list[Any]) -> list[Any]:
    """Returns the samples not in `largest_of_each_form`, or those if there are no others."""
    chosen = largest_of_each_form(samples)
    return [s for s in samples if not any(s is one for one in chosen)] or chosen


def call_form(sample: Any) -> object:
    """Returns a sample's form of call: types of its arguments, and its keywords."""
    return [type(value) for value in sample.args], list(sample.kwargs)


class Case(NamedTuple):
    """An op of the database under a name, the function that selects its samples, and whether it is
    also jitted."""

    op: Any
    name: str
    dtype: torch.dtype
    part: Callable[[list[Any]], list[Any]]
    jitted: bool = False

    @property
    def entry(self) -> str:
        """Returns the database's entry, or its in-place form."""
        return self.name + (self.op.variant_test_name and f".{self.op.variant_test_name}")


def cases() -> Iterator[Any]:
    """Yields each op, its aliases and its in-place form in its first dtype with the samples of `largest_of_each_form`,
    and the op in another dtype. The other samples, in alternating dtypes, are also jitted; every
    run has one of seventeen of these cases."""
    graphs = 0
    for turn, op in enumerate(op_db):
        dtypes = [d for d in DTYPES if d in op.supported_dtypes("cpu")]
        any_dtype = [d for d in (*DTYPES, torch.bool) if d in op.supported_dtypes("cpu")]
        for name in (op.name, *(alias.name for alias in op.aliases), op.name + "_"):
            in_place = name == op.name + "_"
            if function(name) is None or (in_place and op.inplace_variant is None):
                continue
            chosen = [Case(op, name, dtype, largest_of_each_form) for dtype in dtypes[:1]]
            if name == op.name:
                chosen += [Case(op, name, dtype, largest) for dtype in alternate(dtypes[1:], turn)]
            if name == op.name or in_place:
                chosen += [Case(op, name, dtype, remaining, True) for dtype in alternate(any_dtype, turn + in_place)]
            else:
                chosen += [Case(op, name, dtype, remaining) for dtype in dtypes[:1]]
            for case in chosen:
                graphs += case.jitted
                word = str(case.dtype).removeprefix("torch.") + ("-rest" if case.part is remaining else "")
                long = case.part is remaining and not (case.jitted and graphs % 17 == 0)
                yield pytest.param(case, id=f"{case.entry}-{word}", marks=[pytest.mark.long] if long else [])


CASES = list(cases())


def leaves(value: Any) -> list[Any]:
    """Returns the tensors and numbers of a result, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    return [value.to_torch() if isinstance(value, ft.Tensor) else value]


def in_double(op: Any, sample: Any) -> list[Any]:
    """Returns torch's result in double precision."""
    args = (sample.input, *sample.args)
    args, kwargs = tree_map_only(torch.Tensor, wider, (args, sample.kwargs))
    return leaves(op.op(*args, **kwargs))


def wider(t: Any) -> Any:
    """Returns a tensor of single precision or less in double precision."""
    if t.dtype is torch.complex64:
        return t.to(torch.complex128)
    return t.double() if t.dtype in (torch.float32, torch.bfloat16) else t


def error(a: Any, exact: Any) -> float:
    """Returns the largest distance of two tensors of one shape; NaN if only one has a NaN."""
    return float((a.to(exact.dtype) - exact).abs().max())


def test_every_op_has_samples() -> None:
    """The samples are here, or the op is in a list that has no other names."""
    here = {param.values[0].name for param in CASES} | UNDETERMINED
    assert set(ENTRIES) - here == NO_SAMPLES
    assert len(here) > 300


def test_list_of_untraceable_ops_is_short() -> None:
    """All of its entries are in the database."""
    assert REFUSED.keys() <= {param.values[0].entry for param in CASES if param.values[0].jitted}
    assert len([entry for entry in REFUSED if not entry.partition(".")[0].endswith("_")]) <= 75


@pytest.mark.parametrize("case", CASES)
def test_ops_agree_with_torchs_database(case: Case) -> None:
    """Shapes, dtypes and values agree for the database's first samples, and graphs have the same
    bits."""
    op, name, dtype, part, graph = case
    left_out = LEFT_OUT.get(op.full_name) or LEFT_OUT.get(f"{op.full_name} {dtype}")
    if left_out and (not graph or "draw a dropout" in left_out):
        pytest.skip(left_out)
    in_place = name == op.name + "_"
    mine = IN_ORDER.get(name) or function(name)
    theirs = op.inplace_variant if in_place else op.op
    assert mine is not None
    jitted = whole(mine) if graph else None
    samples = first_samples(op, dtype, SAMPLES)
    for sample in part([s for s in samples if graph or not s.kwargs.get("dropout_p")]):
        got = None
        if jitted is not None:
            got, otherwise = compared(mine, jitted, sample)
            if otherwise.startswith("GraphError") and case.entry in REFUSED:
                jitted = None
            else:
                assert not otherwise
        if left_out or sample.kwargs.get("dropout_p"):  # this draws a random number
            continue
        if jitted is None:
            args = ours((sample.input, *sample.args))
            got = outcome(partial(mine, *args, **{k: ours(v) for k, v in sample.kwargs.items()}))
        operand = sample.input.clone() if in_place else sample.input
        expected = outcome(partial(theirs, operand, *sample.args, **sample.kwargs))
        if isinstance(expected, Exception):
            assert in_place and type(got) is type(expected), (got, expected)
        elif isinstance(got, Exception):
            raise got
        else:
            compare(got, expected, partial(in_double, op, sample))


def compare(got: Any, expected: Any, exact: Callable[[], list[Any]]) -> None:
    """Compares results. On some CPUs torch's own sums exceed its tolerance; then double precision
    decides, with a tenth more for another order of steps."""
    for k, (a, b) in enumerate(zip(leaves(got), leaves(expected), strict=True)):
        if not isinstance(b, torch.Tensor):
            assert a == b or a != a
            continue
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
        except AssertionError:
            assert a.dtype == b.dtype and error(a, exact()[k]) <= 1.1 * error(b, exact()[k])
