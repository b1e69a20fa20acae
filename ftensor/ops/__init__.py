"""The ops, one folder for each chapter of torch's documentation; one row per op."""

from importlib import import_module

# Every module that puts ops into the catalogue.
MODULES = (
    "ops.types.copy", "execute.reduce_pieces",
    "ops.types.conversion", "ops.create.sizes", "ops.create.data",
    "ops.create.like", "ops.create.ranges", "ops.create.positions", "ops.types.queries",
    "ops.types.show",
    "ops.view.shape", "ops.view.dims", "ops.view.complex", "ops.view.split",
    "ops.pointwise.unary", "ops.pointwise.special", "ops.pointwise.more_special",
    "ops.nn.activation", "ops.nn.gradients", "ops.pointwise.binary",
    "ops.pointwise.division", "ops.pointwise.power", "ops.pointwise.compare",
    "ops.pointwise.bitwise", "ops.pointwise.ternary", "ops.nn.updates", "ops.index.index",
    "ops.index.masked",
    "ops.index.gather", "ops.index.scatter", "ops.index.write", "ops.rearrange.cat",
    "ops.rearrange.flip", "ops.rearrange.repeat", "ops.rearrange.triangle", "ops.rearrange.pad",
    "ops.rearrange.pad_modes",
    "ops.reduce.fold", "ops.reduce.arg", "ops.reduce.norm", "ops.reduce.softmax",
    "ops.reduce.stats", "ops.reduce.masked",
    "ops.linalg.matmul", "ops.linalg.addmm", "ops.linalg.contract",
    "ops.linalg.einsum",
    "ops.order.scan", "ops.order.sort", "ops.order.select", "ops.order.search",
    "ops.order.unique", "ops.order.histogram",
    "ops.spectral.fft", "ops.spectral.frequencies", "ops.spectral.windows",
    "ops.spectral.stft", "ops.spectral.filters", "ops.spectral.estimate",
    "ops.view.copies", "ops.view.same", "ops.reduce.calculus", "ops.reduce.segment",
    "ops.linalg.vectors", "ops.linalg.combine",
    "ops.linalg.spectra", "ops.linalg.ranks", "ops.linalg.norms",
    "ops.linalg.factors", "ops.linalg.solve",
    "ops.linalg.ldl", "ops.linalg.functions", "ops.linalg.quantized",
    "ops.nn.loss", "ops.nn.class_loss", "ops.nn.margin_loss", "ops.nn.distance",
    "ops.nn.norm", "ops.nn.attention", "ops.nn.multihead",
    "ops.nn.embedding", "ops.nn.bags", "ops.nn.shuffle", "ops.nn.conv", "ops.nn.pool",
    "ops.nn.adaptive", "ops.nn.unfold", "ops.nn.interpolate", "ops.nn.grid", "ops.nn.cells",
    "ops.nn.recurrent", "ops.nn.ctc", "ops.nn.backward", "ops.nn.inner",
    "ops.random.create", "ops.random.fill", "ops.random.choose", "ops.nn.dropout",
)  # fmt: skip


def load() -> None:
    """Fill the catalogue."""
    for name in MODULES:
        import_module(f"..{name}", __name__)
