"""NumPy's functions on tensors: which op computes each, and what the host does for the others.

`Tensor.__array_ufunc__` and `Tensor.__array_function__` come here. `UFUNCS` and `FUNCTIONS` say
by which ops a NumPy function is computed; what they lack, and arguments that they don't take,
are NumPy's on the host, as `ftensor.set_fallback` has it (docs/numpy.md).
"""
