"""All messages that a user can meet. Each is a line of a text file (`Message`), or a function that
returns the exception torch would raise.

Messages that several layers raise are in this package; each area of ops has a module of its own.
"""

from .call import *  # noqa: F403
from .call import __getattr__ as __getattr__
