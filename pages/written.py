"""Examples of ops whose arguments are not to be guessed from the names of their parameters."""

_H = "ft.zeros(1, 3)"
_LU = "*ft.linalg.lu_factor(m)"
_POOL = "ft.nn.functional.max_pool2d_with_indices(c, 2)"
_ROW = "ft.arange(8.0).reshape(1, 1, 8)"
_CUBE = "ft.arange(8.0).reshape(1, 1, 2, 2, 2)"
_BAG = "ft.arange(6.0).reshape(3, 2)"
_RNN = "ft.ones(2, 1, 2), ft.zeros(1, 1, 3), [ft.ones({0}, 2), ft.ones({0}, 3)]"
_RNN += ", False, 1, 0.0, False, False, False"

WRITTEN = {
    "is_nonzero": "ft.is_nonzero(ft.tensor(0.5))",
    "requires_grad_": "x.requires_grad_(False)",
    "frombuffer": "ft.frombuffer(bytearray(b'\\x01\\x02\\x03'), dtype=ft.uint8)",
    "zeros": "ft.zeros(2, 3)",
    "ones": "ft.ones(2, dtype=ft.int32)",
    "empty": "ft.empty(2, 3).shape",
    "empty_strided": "ft.empty_strided((2, 3), (1, 2)).stride()",
    "empty_permuted": "ft.empty_permuted((2, 3), (1, 0)).stride()",
    "new_empty": "x.new_empty(2, 3).shape",
    "new_zeros": "x.new_zeros(2)",
    "new_ones": "i.new_ones(2)",
    "new_full": "i.new_full((2,), 7)",
    "new_empty_strided": "x.new_empty_strided((2, 3), (1, 2)).stride()",
    "arange": "ft.arange(0, 10, 3)",
    "range": "ft.range(0, 6, 3)",
    "movedim": "ft.zeros(2, 3, 4).movedim(0, 2).shape",
    "view": "m.view(4)",
    "view_copy": "ft.view_copy(m, (4,))",
    "broadcast_tensors": "ft.broadcast_tensors(m, ft.tensor([7.0, 8.0]))",
    "as_strided": "ft.arange(6).as_strided((2, 2), (3, 1))",
    "as_strided_": "ft.arange(6).as_strided_((2, 2), (3, 1))",
    "as_strided_copy": "ft.as_strided_copy(ft.arange(6), (2, 2), (3, 1))",
    "as_strided_scatter": "ft.as_strided_scatter(ft.zeros(4), ft.ones(2), (2,), (2,))",
    "alias": "x.alias()",
    "split_with_sizes": "ft.split_with_sizes(x, [1, 2])",
    "split_with_sizes_copy": "ft.split_with_sizes_copy(x, [1, 2])",
    "tensor_split": "ft.tensor_split(x, 2)",
    "hsplit": "ft.hsplit(m, 2)",
    "vsplit": "ft.vsplit(m, 2)",
    "dsplit": "ft.dsplit(ft.zeros(1, 1, 4), 2)[0].shape",
    "clamp": "x.clamp(0.3, 1.0)",
    "clamp_": "x.clamp_(max=1.0)",
    "clamp_min_": "x.clamp_min_(0.3)",
    "clamp_max_": "x.clamp_max_(1.0)",
    "ldexp_": "x.ldexp_(i)",
    "addmv": "ft.addmv(ft.zeros(2), m, ft.tensor([1.0, 2.0]))",
    "addmv_": "ft.zeros(2).addmv_(m, ft.tensor([1.0, 2.0]))",
    "lerp": "x.lerp(y, 0.5)",
    "scatter": "ft.zeros(2, 2).scatter(1, ft.tensor([[1], [0]]), 5.0)",
    "scatter_": "ft.zeros(2, 2).scatter_(1, ft.tensor([[1], [0]]), 5.0)",
    "select_scatter": "ft.select_scatter(m, ft.zeros(2), 0, 1)",
    "diagonal_scatter": "ft.diagonal_scatter(m, ft.zeros(2))",
    "block_diag": "ft.block_diag(m, ft.tensor([[7.0]]))",
    "roll": "x.roll(1)",
    "segment_reduce": "ft.segment_reduce(x, 'sum', lengths=ft.tensor([1, 2]))",
    "nn.functional.threshold_": "ft.nn.functional.threshold_(x, 0.4, 0.0)",
    "threshold_": "ft.threshold_(x, 0.4, 0.0)",
    "grid_sampler_3d": f"ft.grid_sampler_3d({_CUBE}, ft.zeros(1, 1, 1, 1, 3), 0, 0, False)",
    "affine_grid_generator": "ft.affine_grid_generator(ft.eye(2, 3)[None], (1, 1, 1, 2), False)",
    "nn.functional.affine_grid": "ft.nn.functional.affine_grid(ft.eye(2, 3)[None], (1, 1, 1, 2))",
    "native_group_norm": "ft.native_group_norm(c, None, None, 1, 1, 16, 1, 1e-5)[1]",
    "native_batch_norm": "ft.native_batch_norm(m, None, None, None, None, True, 0.1, 1e-5)[1]",
    "bmm": "ft.bmm(m[None], m[None])",
    "baddbmm": "ft.baddbmm(m[None], m[None], m[None])",
    "addbmm": "ft.addbmm(m, m[None], m[None])",
    "rand": "ft.rand(3)",
    "randn": "ft.randn(3)",
    "randint": "ft.randint(10, (4,))",
    "randint_like": "ft.randint_like(i, 10)",
    "nn.functional.fractional_max_pool2d": "ft.nn.functional.fractional_max_pool2d(c, 2, 2)",
    "nn.functional.fractional_max_pool2d_with_indices": (
        "ft.nn.functional.fractional_max_pool2d_with_indices(c, 2, 2)[1]"
    ),
    "nn.functional.fractional_max_pool3d": (
        f"ft.nn.functional.fractional_max_pool3d({_CUBE}, 1, 2)"
    ),
    "nn.functional.fractional_max_pool3d_with_indices": (
        f"ft.nn.functional.fractional_max_pool3d_with_indices({_CUBE}, 1, 2)[1]"
    ),
    "nn.functional.interpolate": "ft.nn.functional.interpolate(c, 2)",
    "nn.functional.upsample": "ft.nn.functional.upsample(c, 2)",
    "nn.functional.upsample_nearest": "ft.nn.functional.upsample_nearest(c, 2)",
    "nn.functional.upsample_bilinear": "ft.nn.functional.upsample_bilinear(c, 2)",
    "nn.functional.embedding_bag": f"ft.nn.functional.embedding_bag(i.view(1, 3), {_BAG})",
    "lu_unpack": f"ft.lu_unpack({_LU}).L",
    "lu_solve": f"ft.lu_solve(ft.ones(2, 1), {_LU})",
    "linalg.lu_solve": f"ft.linalg.lu_solve({_LU}, ft.ones(2, 1))",
    "linalg.ldl_solve": "ft.linalg.ldl_solve(*ft.linalg.ldl_factor(m), ft.ones(2, 1))",
    "linalg.tensorinv": "ft.linalg.tensorinv(m, ind=1)",
    "linalg.tensorsolve": "ft.linalg.tensorsolve(m, ft.ones(2))",
    "linalg.solve": "ft.linalg.solve(m, ft.ones(2))",
    "orgqr": "ft.orgqr(*ft.geqrf(m))",
    "einsum": "ft.einsum('ij,j->i', m, ft.tensor([1.0, 2.0]))",
    "conv_tbc": "ft.conv_tbc(ft.ones(3, 1, 2), ft.ones(2, 2, 1), ft.zeros(1)).shape",
    "nn.functional.binary_cross_entropy": (
        "ft.nn.functional.binary_cross_entropy(ft.tensor([0.9, 0.2]), ft.tensor([1.0, 0.0]))"
    ),
    "nn.functional.scaled_dot_product_attention": (
        "ft.nn.functional.scaled_dot_product_attention(c, c, c)"
    ),
    "nn.functional.bilinear": "ft.nn.functional.bilinear(m, m, ft.ones(1, 2, 2))",
    "bilinear": "ft.bilinear(m, m, ft.ones(1, 2, 2))",
    "lstm_cell": f"ft.lstm_cell(ft.ones(1, 2), ({_H}, {_H}), ft.ones(12, 2), ft.ones(12, 3))[0]",
    "gru_cell": f"ft.gru_cell(ft.ones(1, 2), {_H}, ft.ones(9, 2), ft.ones(9, 3))",
    "rnn_tanh_cell": f"ft.rnn_tanh_cell(ft.ones(1, 2), {_H}, ft.ones(3, 2), ft.ones(3, 3))",
    "rnn_relu_cell": f"ft.rnn_relu_cell(ft.ones(1, 2), {_H}, ft.ones(3, 2), ft.ones(3, 3))",
    "rnn_tanh": f"ft.rnn_tanh({_RNN.format(3)})[0].shape",
    "rnn_relu": f"ft.rnn_relu({_RNN.format(3)})[0].shape",
    "gru": f"ft.gru({_RNN.format(9)})[0].shape",
    "lstm": (
        f"ft.lstm({_RNN.format(12)})[0].shape".replace(
            "ft.zeros(1, 1, 3)", "(ft.zeros(1, 1, 3), ft.zeros(1, 1, 3))"
        )
    ),
    "nn.functional.multi_head_attention_forward": (
        "ft.nn.functional.multi_head_attention_forward(ft.ones(2, 1, 4), ft.ones(2, 1, 4), "
        "ft.ones(2, 1, 4), 4, 2, ft.ones(12, 4), None, None, None, False, 0.0, ft.eye(4), None)[1]"
    ),
    "pixel_shuffle": "ft.pixel_shuffle(ft.arange(4.0).reshape(1, 4, 1, 1), 2)",
    "nn.functional.pixel_shuffle": (
        "ft.nn.functional.pixel_shuffle(ft.arange(4.0).reshape(1, 4, 1, 1), 2)"
    ),
    "nn.functional.fold": "ft.nn.functional.fold(ft.ones(1, 4, 4), (3, 3), 2)",
    "nn.functional.max_unpool1d": (
        f"ft.nn.functional.max_unpool1d(*ft.nn.functional.max_pool1d_with_indices({_ROW}, 2), 2)"
    ),
    "nn.functional.max_unpool2d": f"ft.nn.functional.max_unpool2d(*{_POOL}, 2)",
    "nn.functional.max_unpool3d": (
        f"ft.nn.functional.max_unpool3d(*ft.nn.functional.max_pool3d_with_indices({_CUBE}, 2), 2)"
    ),
    "stft": "ft.stft(ft.arange(8.0), 4, return_complex=True).shape",
    "istft": "ft.istft(ft.stft(ft.arange(8.0), 4, return_complex=True), 4)",
    "signal.decimate": "ft.signal.decimate(ft.ones(64), 2).shape",
    "signal.windows.general_cosine": "ft.signal.windows.general_cosine(4, a=[0.5, 0.5])",
    # What is no op.
    "can_cast": "ft.can_cast(ft.float32, ft.int32)",
    "promote_types": "ft.promote_types(ft.int32, ft.float16)",
    "result_type": "ft.result_type(i, 1.5)",
    "finfo": "ft.finfo(ft.bfloat16)",
    "iinfo": "ft.iinfo(ft.int16).max",
    "device": "ft.device('fpga:0')",
    "dtype": "ft.float32.itemsize",
    "Size": "x.shape.numel()",
    "Tensor": "type(x)",
    "Generator": "ft.randn(2, generator=ft.Generator('cpu').manual_seed(3), device='cpu')",
    "get_default_device": "ft.get_default_device()",
    "set_default_device": "ft.set_default_device('fpga')",
    "get_default_dtype": "ft.get_default_dtype()",
    "set_default_dtype": "ft.set_default_dtype(ft.float32)",
    "get_device_mapping": "ft.get_device_mapping()",
    "get_fallback": "ft.get_fallback()",
    "set_fallback": "ft.set_fallback('warn')",
    "fallback_report": "ft.fallback_report()",
    "get_index_check": "ft.get_index_check()",
    "set_index_check": "ft.set_index_check(ft.get_index_check())",
    "get_printoptions": "ft.get_printoptions()",
    "set_printoptions": "ft.set_printoptions(precision=4)",
    "printoptions": "ft.printoptions(precision=2)",
    "manual_seed": "ft.manual_seed(3).initial_seed()",
    "initial_seed": "ft.initial_seed()",
    "get_rng_state": "ft.get_rng_state().dtype",
    "set_rng_state": "ft.set_rng_state(ft.get_rng_state())",
    "synchronize": "ft.synchronize()",
    "from_dlpack": "ft.from_dlpack(x)",
    "from_numpy": "ft.from_numpy(__import__('numpy').arange(3))",
    "fpga.is_available": "ft.fpga.is_available()",
    "fpga.device_count": "ft.fpga.device_count() > 0",
    "fpga.current_device": "ft.fpga.current_device()",
    "fpga.memory_allocated": "ft.fpga.memory_allocated() > 0",
    "fpga.synchronize": "ft.fpga.synchronize()",
    "fpga.Stream": "ft.fpga.Stream().query()",
    "fpga.Event": "ft.fpga.Event(enable_timing=True).query()",
}
