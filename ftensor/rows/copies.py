"""Rows of the ops that move values unchanged: copy and fill."""

from __future__ import annotations

from .catalogue import enter
from .op import BARE, Op

# A copy computes in the source's dtype and converts as it stores.
COPY = Op("copy", "src", "a", bool_="a", complex_="a", any_out=True, located=True,
          gathers=(0,), copies_bits=True, bare=BARE)  # fmt: skip
FILL = Op("fill", "value", "value", bool_="value", complex_="value", params=("value",), bare=BARE)
enter(__name__, COPY, FILL)
