"""What the kernels' sources come to as LLVM IR, and what v++ would make no hardware of."""
