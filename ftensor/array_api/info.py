"""What a namespace of the standard says about itself: `__array_namespace_info__`."""

from __future__ import annotations

from typing import Any

from .._device import DeviceLike, device, fpga_devices, get_default_device
from ..dtypes import dtype, get_default_dtype, int64
from .dtypes import of_kind


class Info:
    """Devices, dtypes and capabilities of `ftensor.array_api`."""

    def capabilities(self) -> dict[str, Any]:
        """That masks index arrays, that shapes may depend on data, and how many dims there are."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> device:
        """Where arrays are made when no device is named."""
        return get_default_device()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, dtype]:
        """The dtypes of Python numbers and of indices."""
        real = get_default_dtype()
        return {"real floating": real, "complex floating": real.to_complex(), "integral": int64, "indexing": int64}

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, dtype]:
        """The standard's dtypes of a kind or several, all for None, by name."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {d.name: d for k in kinds for d in of_kind(k)}

    def devices(self) -> list[device]:
        """The devices that there are."""
        return [device("fpga", k) for k in range(len(fpga_devices()))] + [device("cpu")]
