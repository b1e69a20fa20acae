"""A software device: programs run on Xilinx's runtime without a board.

What runs inside the device process (device, supervisor, kernels, memory, protocol, crash) imports
nothing but the standard library and its own neighbours, so that the process starts quickly.
"""
