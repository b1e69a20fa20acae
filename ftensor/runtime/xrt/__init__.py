"""Xilinx boards and their software emulation, through XRT."""
