"""Products of matrices of small integers, as quantized networks have them."""

from __future__ import annotations

from ... import errors
from ..._tensor import Tensor
from ...dtypes import int8, int32, uint8
from ...errors import matmul as errors_matmul
from ...execute.output import check_place
from ...rows.catalogue import op
from ..nn.spatial.byte_sums import byte_products
from .matmul import mm


@op(method=False)
def _int_mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of an (n, k) matrix of int8 or uint8 and a (k, m) one of int8, summed exactly in
    int32, which is the result's dtype. RuntimeError for other dtypes, numbers of dims, sizes that
    don't fit, and an `out` that is not (n, m) of int32.
    """
    name = "_int_mm"
    for arg, x in (("input", input), ("mat2", mat2)):
        if type(x) is not Tensor:
            raise errors.not_a_tensor(name, arg, x)
        if len(x._shape) != 2:
            raise errors_matmul.needs_ndim(name, arg, 2, x._shape)
    if input._dtype not in (int8, uint8) or mat2._dtype is not int8:
        raise errors_matmul.small_integers(name, input._dtype, mat2._dtype)
    if input._shape[1] != mat2._shape[0]:
        raise errors_matmul.shapes_differ(name, input._shape, mat2._shape)
    if out is not None:
        shape = (input._shape[0], mat2._shape[1])
        if type(out) is not Tensor:
            raise errors.not_a_tensor(name, "out", out)
        if out._dtype is not int32 or out._shape != shape:
            raise errors_matmul.integer_out(name, out._dtype, out._shape, shape)
        check_place(name, out, input._storage.device)
    sums = byte_products(input, mat2.t(), 0)
    if sums is not None:
        return sums if out is None else out.copy_(sums)
    return mm(input.to(int32), mat2.to(int32), out=out)
