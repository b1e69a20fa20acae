"""A line for each namespace of `ft`: its purpose, and an example that tests run."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """The purpose of a namespace, or of a chapter of `ft`, and an example call."""

    purpose: str
    example: str


# Shown under the titles of the reference. An example may use `ft` and `x`, a float32 tensor of
# shape (4, 8).
LINES = {
    "ft: create": Line("new tensors", "ft.arange(6).reshape(2, 3)"),
    "ft: dtypes, devices, settings": Line("dtypes, devices, exchange, `ft.jit`, `ft.scan`", "ft.jit(ft.exp)(x)"),
    "ft: index": Line("elements by index", "ft.gather(x, 1, ft.tensor([[0], [1], [2], [3]]))"),
    "ft: linalg": Line("products of matrices", "ft.matmul(x, x.t())"),
    "ft: nn": Line("pools, dropout, cells, interpolation", "ft.max_pool1d(x[None], 2)"),
    "ft: order": Line("sorting, searching, scans, histograms", "ft.sort(x, dim=1).values"),
    "ft: pointwise": Line("arithmetic and functions of each element", "ft.hypot(x, 2 * x)"),
    "ft: random": Line("random draws by a distribution", "ft.bernoulli(x.sigmoid())"),
    "ft: rearrange": Line("joining, padding, diagonals", "ft.cat([x, x])"),
    "ft: reduce": Line("sums, means, extrema along dims", "ft.amax(x, dim=1)"),
    "ft: spectral": Line("short-time transforms", "ft.stft(x, 4, return_complex=True, center=False)"),
    "ft: types": Line("copies, conversions, questions about a tensor", "ft.clone(x).is_complex()"),
    "ft: view": Line("shapes and strides without a copy", "ft.unbind(x.unflatten(1, (2, 4)))"),
    "ftensor.array_api": Line("the Python array API standard", "x.__array_namespace__().sum(x)"),
    "ftensor.cuda": Line("what torch programs ask first", "ft.cuda.is_available()"),
    "ftensor.dask": Line("workers of Dask with a device each", "ftensor.dask.OwnDevice()"),
    "ftensor.distributions": Line("probability distributions", "ft.distributions.Normal(0.0, 1.0).log_prob(x)"),
    "ftensor.fft": Line("Fourier transforms", "ft.fft.rfft(x).abs()"),
    "ftensor.fpga": Line("devices, streams, memory, your own kernels", "ft.fpga.get_device_name()"),
    "ftensor.linalg": Line("norms, factors, solutions", "ft.linalg.solve(ft.eye(4), x)"),
    "ftensor.masked": Line("reductions of the elements of a mask", "ft.masked.mean(x, 1, mask=x > 0)"),
    "ftensor.nn": Line("modules without weights", "ft.nn.ReLU()(x)"),
    "ftensor.nn.functional": Line("convolutions, losses, attention, norms", "ft.nn.functional.softmax(x, dim=1)"),
    "ftensor.profiler": Line("where the time of a program goes", "ft.profiler.profile()"),
    "ftensor.quantized": Line(
        "int8 and int16 tensors with scales", "ft.quantized.quantize_per_tensor(x, 0.1, 0, -128, 127, ft.int8)"
    ),
    "ftensor.random": Line("seeds and generators", "ft.random.initial_seed()"),
    "ftensor.return_types": Line("results with names", "isinstance(x.max(1), ft.return_types.max)"),
    "ftensor.signal": Line("filters, spectra, peaks, with SciPy's names", "ft.signal.hilbert(x).abs()"),
    "ftensor.signal.windows": Line("windows", "ft.signal.windows.hann(8)"),
    "ftensor.special": Line("special functions", "ft.special.erfinv(x.tanh())"),
    "ftensor.torch": Line("ftensor as a device of torch", 'torch.ones(3).to("fpga")'),
    "Methods of tensors": Line("the same as methods, and properties", "x.abs().sum(1).tolist()"),
}
