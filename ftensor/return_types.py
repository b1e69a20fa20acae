"""The named tuples of ops with several results, under torch's names."""

from __future__ import annotations

from typing import Any


class _Returned(tuple[Any, ...]):
    """A tuple with named entries; equal to a plain tuple of the same entries."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        inside = ",\n".join(f"{n}={v!r}" for n, v in zip(self._fields, self, strict=True))
        return f"ftensor.return_types.{type(self).__name__}(\n{inside})"

    def __reduce__(self) -> Any:
        return type(self), (tuple(self),)


def _field(k: int) -> Any:
    return property(lambda self: self[k])


def named(name: str, *fields: str) -> type[_Returned]:
    """Returns a class of tuples with these fields; a call takes one iterable, as in torch."""
    space: dict[str, Any] = {f: _field(k) for k, f in enumerate(fields)}
    space |= {
        "__slots__": (),
        "_fields": fields,
        "__match_args__": fields,
        "n_fields": len(fields),
        "n_sequence_fields": len(fields),
        "__module__": "ftensor.return_types",
        "__doc__": f"({', '.join(fields)})",
    }
    return type(name, (_Returned,), space)


max = named("max", "values", "indices")
min = named("min", "values", "indices")
max_out = named("max_out", "values", "indices")
min_out = named("min_out", "values", "indices")
aminmax = named("aminmax", "min", "max")
aminmax_out = named("aminmax_out", "min", "max")
frexp = named("frexp", "mantissa", "exponent")
cummax = named("cummax", "values", "indices")
cummax_out = named("cummax_out", "values", "indices")
cummin = named("cummin", "values", "indices")
cummin_out = named("cummin_out", "values", "indices")
sort = named("sort", "values", "indices")
sort_out = named("sort_out", "values", "indices")
topk = named("topk", "values", "indices")
topk_out = named("topk_out", "values", "indices")
kthvalue = named("kthvalue", "values", "indices")
kthvalue_out = named("kthvalue_out", "values", "indices")
median = named("median", "values", "indices")
median_out = named("median_out", "values", "indices")
nanmedian = named("nanmedian", "values", "indices")
nanmedian_out = named("nanmedian_out", "values", "indices")
mode = named("mode", "values", "indices")
mode_out = named("mode_out", "values", "indices")
histogram = named("histogram", "hist", "bin_edges")
histogram_out = named("histogram_out", "hist", "bin_edges")
histogramdd = named("histogramdd", "hist", "bin_edges")

# Results of linear algebra.
linalg_svd = named("linalg_svd", "U", "S", "Vh")
svd = named("svd", "U", "S", "V")
linalg_eig = named("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_lstsq = named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_cholesky_ex = named("linalg_cholesky_ex", "L", "info")
linalg_lu_factor = named("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = named("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_lu = named("linalg_lu", "P", "L", "U")
lu_unpack = named("lu_unpack", "P", "L", "U")
linalg_solve_ex = named("linalg_solve_ex", "result", "info")
linalg_inv_ex = named("linalg_inv_ex", "inverse", "info")
linalg_slogdet = named("linalg_slogdet", "sign", "logabsdet")
slogdet = named("slogdet", "sign", "logabsdet")
linalg_qr = named("linalg_qr", "Q", "R")
qr = named("qr", "Q", "R")
geqrf = named("geqrf", "a", "tau")
triangular_solve = named("triangular_solve", "solution", "cloned_coefficient")
linalg_ldl_factor = named("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = named("linalg_ldl_factor_ex", "LD", "pivots", "info")


def __dir__() -> list[str]:
    return sorted(name for name, value in globals().items() if hasattr(value, "n_fields"))
