"""Programs that run on XRT and print JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..made_images import PARAMS, on_xrt

HEAD = f"""
import json, time
import numpy as np
import ftensor as ft
from ftensor._device import default_backend
PARAMS = {PARAMS}
backend = default_backend()
stream = backend.current_stream()

def kernel(entry):
    return backend.images.kernel(entry, PARAMS[entry])

def put(array):
    storage = backend.allocate(array.nbytes)
    backend.upload(storage, 0, array)
    return storage

def got(storage, dtype=np.float32):
    array = np.empty(storage.nbytes // np.dtype(dtype).itemsize, dtype)
    backend.download(storage, 0, array)
    return array

def answer(**found):
    print(json.dumps(found))
"""


def run(program: str, *images: Path, **environment: str) -> dict[str, Any]:
    """Returns a program's JSON output from XRT."""
    done = on_xrt(HEAD + program, *images, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
