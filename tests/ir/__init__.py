"""The kernels' sources as LLVM IR, checked for constructs that v++ can't synthesize."""
