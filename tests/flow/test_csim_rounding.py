"""The C simulation rounds each product, as boards do."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ftensor.runtime.csim.backend import FLAGS

# Sums of adjacent products, and a tree of them: forms that compilers vectorize.
SOURCE = """
struct pair { float re, im; };
static inline pair product(pair x, pair y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

extern "C" void products(const pair *x, const pair *y, pair *z)
{
    pair a[16], b[16], c[16];
    for (int i = 0; i < 16; i++) { a[i] = x[i]; b[i] = y[i]; }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) c[i] = product(a[i], b[i]);
    for (int i = 0; i < 16; i++) z[i] = c[i];
}

extern "C" void tree(const pair *x, const pair *y, pair *z)
{
    pair sum[16];
    for (int i = 0; i < 16; i++) sum[i] = product(x[i], y[i]);
    for (int half = 8; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) { sum[i].re += sum[i + half].re; sum[i].im += sum[i + half].im; }
    z[0] = sum[0];
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_products_of_complex_numbers_are_not_fused(tmp_path: Path) -> None:
    (tmp_path / "products.cpp").write_text(SOURCE)
    library = tmp_path / "products.so"
    subprocess.run(["g++", *FLAGS, str(tmp_path / "products.cpp"), "-o", str(library)], check=True)
    functions, random = ctypes.CDLL(str(library)), np.random.default_rng(0)
    for _ in range(20):
        x, y = random.standard_normal((2, 16, 2)).astype(np.float32)
        wanted = np.stack([x[:, 0] * y[:, 0] - x[:, 1] * y[:, 1], x[:, 0] * y[:, 1] + x[:, 1] * y[:, 0]], -1)
        for function in (functions.products, functions.tree):
            got = np.zeros((16, 2), np.float32)
            function(*[a.ctypes.data_as(ctypes.c_void_p) for a in (x, y, got)])
            if function is functions.tree:
                while len(wanted) > 1:
                    wanted = wanted[: len(wanted) // 2] + wanted[len(wanted) // 2 :]
                got = got[:1]
            np.testing.assert_array_equal(got, wanted)
