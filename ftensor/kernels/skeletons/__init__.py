"""The skeletons that come with ftensor: a module for each, which registers what it defines."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
