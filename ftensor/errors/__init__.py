"""All messages that a user can meet. Each is a line or a function that returns the exception torch
would raise.

Messages that several layers raise are in this module; each area of ops has a module of its own.
"""

from .call import *  # noqa: F403  # noqa: F403  # noqa: F403
