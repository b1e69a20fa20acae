"""NumPy's functions on tensors: the op that computes each, and the fallback on the host.

`Tensor.__array_ufunc__` and `Tensor.__array_function__` call this package. `UFUNCS` and `FUNCTIONS`
map NumPy functions to ops. Other functions and arguments run in NumPy on the host, as
`ftensor.set_fallback` allows (docs/numpy.md).
"""
