"""The version, and which of torch's it was tested with, said once."""

__version__ = "0.1.0"
TORCH_TESTED = ("2.13",)  # minor versions whose private interface the device of torch asks for
