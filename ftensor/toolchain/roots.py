"""The roots of unity that a stage of transforms reads."""

from __future__ import annotations

import numpy as np

from ..execute.fft_tables import unit_roots
from ..kernels.transform import Course


def roots(course: Course) -> list[np.ndarray]:
    """For each row of butterflies with roots: (beats for which these differ, half of the lanes),
    float32 in complex64. The number of a beat there: see `toolchain/vitis/staged_transform.py`."""
    tables, half = [], course.lanes // 2
    for count in course.roots:
        of = 2 * count * half  # the numbers whose transform is left
        table = unit_roots(np.arange(count * half), of).astype(np.complex64)
        tables.append(table.reshape(count, half))
    return tables
