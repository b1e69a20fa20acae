"""HLS C++ for Vitis, which g++ compiles as well, and v++."""
