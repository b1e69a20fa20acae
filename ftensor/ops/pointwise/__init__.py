"""Pointwise ops: each output element depends on the elements at the same position of the inputs."""
