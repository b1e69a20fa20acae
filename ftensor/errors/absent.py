"""Messages about names that torch has and ftensor has not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_OF_GRADIENTS = {"autograd", "backward", "grad_fn", "no_grad", "register_hook", "retain_grad"}


@cache
def torch_names() -> frozenset[str]:
    """torch's public names: "cumsum()", "Tensor.cumsum()", "fft", "uint16". `make stubs` writes
    them; functions and methods have the brackets."""
    return frozenset(Path(__file__).with_name("torch_names.txt").read_text().split())


def no_attribute(owner: object, path: str, name: str, way: str = "") -> AttributeError:
    """A name that an object does not have; `path` is torch's for the object: "", "linalg",
    "Tensor". `way` has the effect of torch's name, which else can be had by torch itself.

    Python adds the nearest of the names that are there to the traceback.
    """
    method = path == "Tensor"
    module = ".".join(filter(None, ("ftensor", path)))
    told = f"{'Tensor' if method else f'module {module!r}'} has no attribute {name!r}"
    full = ".".join(filter(None, (path, name)))
    known: frozenset[str] = frozenset() if name.startswith("_") else torch_names()
    if name in _OF_GRADIENTS:
        told += "; gradients are torch's alone (ftensor docs differences)"
    elif f"{full}()" in known:
        call = f"x.to_torch().{name}(...)" if method else f"torch.{full}(x.to_torch(), ...)"
        told += f"; torch has it, and {way or f'ft.from_torch({call})'} is the nearest way"
    elif full in known:
        told += "; torch has it, ftensor does not (ftensor docs differences)"
    elif way:
        told += f"; {way} is the nearest way"
    return AttributeError(told, name=name, obj=owner)
