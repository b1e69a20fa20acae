"""The named tuples that ops with several results return, under torch's names."""

from __future__ import annotations

from typing import Any


class _Returned(tuple[Any, ...]):
    """A tuple whose entries can be read by name; equal to the plain tuple of the same entries."""

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
    """A class of tuples with these fields; called with one iterable of values, as torch's are."""
    space: dict[str, Any] = {f: _field(k) for k, f in enumerate(fields)}
    space |= {
        "__slots__": (), "_fields": fields, "__match_args__": fields,
        "n_fields": len(fields), "n_sequence_fields": len(fields),
        "__module__": "ftensor.return_types", "__doc__": f"({', '.join(fields)})",
    }  # fmt: skip
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


def __dir__() -> list[str]:
    return sorted(name for name, value in globals().items() if hasattr(value, "n_fields"))
