"""Tests of torch's own classes in one order."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """torch makes a test for each of a set of dtypes, which differs in order from process to
    process; workers must agree.
    """
    places = [k for k, item in enumerate(items) if item.path.name == "test_databases.py"]
    for k, item in zip(places, sorted((items[k] for k in places), key=lambda item: item.nodeid)):
        items[k] = item
