"""The pages about area and inventories have the model's figures."""

from __future__ import annotations

import pytest

from ..area_page import FULL, INVENTORIES, full, text, written


@pytest.mark.long
def test_table_has_the_model_figures() -> None:
    assert written() == text(), "`make area` writes the table anew"


def test_page_states_the_size_of_full() -> None:
    assert FULL.findall(INVENTORIES.read_text()) == [full()], "`make area` writes it anew"
