"""Geometry: pure functions on shapes and strides that turn operands into few, plain loops."""
