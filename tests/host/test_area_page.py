"""The page about area has the model's own figures."""

from __future__ import annotations

from ..area_page import text, written


def test_the_table_is_what_the_model_says() -> None:
    assert written() == text(), "`make area` writes the table anew"
