"""The op catalogue: one row per op, grouped by ATen category."""
