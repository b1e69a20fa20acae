"""`ftensor warm`: compiles kernels before they are needed."""
