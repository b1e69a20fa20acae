"""Users' kernels on tensors: `ft.fpga.kernel`, `source`, `opencl_kernel`, and their ops."""
