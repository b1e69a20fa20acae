"""An emulated board: programs run on Xilinx's runtime without hardware.

The modules inside the device process (device, supervisor, kernels, memory, protocol, crash) import
only the standard library and each other, so that the process starts quickly.
"""
