"""The version of ftensor, and the versions of torch it is tested with."""

__version__ = "0.2.0"
TORCH_TESTED = ("2.13",)  # minor versions whose private interface ftensor.torch is tested with
