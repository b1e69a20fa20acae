"""HLS C++ for Vitis, compiled by v++ or by g++."""
