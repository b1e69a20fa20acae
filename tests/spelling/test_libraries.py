"""Functions of SciPy and scikit-learn accept tensors if they ask arrays for their namespace.

`make array-api` runs the whole list and writes docs/array-api.md. This is a sample.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("array_api_compat")
PROGRAM = """
import json
from tests.array_api_page import dispatching
dispatching()
from tests.array_api_calls import outcome
calls = [("scipy.fft", "rfft(v)"), ("scipy.stats", "zscore(X)"), ("scipy.special", "erf(v)"),
         ("scipy.signal", "fftconvolve(v,k)"), ("scipy.integrate", "trapezoid(v)"),
         ("scipy.special", "kl_div(v,w)"), ("scipy.special", "polygamma(1,v)"),
         ("scipy.differentiate", "derivative(square,v)"), ("scipy.signal", "filtfilt(k,v[:1],w)"),
         ("scipy.ndimage", "sobel(I)"), ("scipy.special", "softmax(X,axis=1)"),
         ("sklearn.metrics", "r2_score(v,w)"), ("sklearn.metrics", "accuracy_score(t,p)"),
         ("sklearn.preprocessing", "StandardScaler().fit_transform(X)"),
         ("sklearn.linear_model", "Ridge(solver='svd').fit(X,v).predict(X)")]
print(json.dumps([[call, *outcome(module, call)] for module, call in calls]))
"""
IN_PART = {"sobel(I)", "filtfilt(k,v[:1],w)"}  # SciPy's compiled code for every such namespace


def test_functions_of_libraries_compute_on_the_device() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.returncode == 0, done.stderr
    for call, kind, why in json.loads(done.stdout.splitlines()[-1]):
        assert kind == ("in part" if call in IN_PART else "device"), (call, kind, why)
