"""The ops, one folder for each chapter of torch's documentation; one row per op."""

from importlib import import_module
from pkgutil import walk_packages

# Catalogue and inventories list the rows of these packages first, in this order; the others follow.
FIRST = ("types", "create", "view", "pointwise", "index", "rearrange", "reduce")


def load() -> None:
    """Fills the catalogue: imports every module of this package, and each registers its ops."""
    order = {f"{__name__}.{chapter}": index for index, chapter in enumerate(FIRST)}
    names = [module.name for module in walk_packages(__path__, f"{__name__}.")]
    for name in sorted(names, key=lambda name: order.get(name.rpartition(".")[0], len(FIRST))):
        import_module(name)
