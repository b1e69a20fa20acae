"""Every message a user can meet: a line or a function each, which gives what torch would raise.

What many layers raise is here under one roof; an area of ops has a module of its own beside it.
"""

from .call import *  # noqa: F403
from .interop import *  # noqa: F403
from .runtime import *  # noqa: F403
