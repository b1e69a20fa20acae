"""Sorts the tests of torch's own classes."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts generated tests. torch generates them from a set of dtypes, whose order differs between
    processes, but all workers must collect the same order."""
    places = [k for k, item in enumerate(items) if item.path.name == "test_databases.py"]
    for k, item in zip(places, sorted((items[k] for k in places), key=lambda item: item.nodeid)):
        items[k] = item
