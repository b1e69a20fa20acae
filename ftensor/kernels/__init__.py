"""Kernel selection and codegen: kernel keys, program texts, and skeletons."""

# Importing this package registers the skeletons.
from . import skeletons as skeletons
