"""Estimated costs of kernels, by which launches choose between them."""

from __future__ import annotations

from ftensor.kernels.select import additions, choose_map
from ftensor.runtime.targets import BY_NAME


def test_expensive_functions_cost_more() -> None:
    for text in ("a + b * alpha", "ft_max(a, b)", "fabs(a) < K(1) ? a : sqrt(b)", "expected + a"):
        assert additions([text]) == 1, text
    for text in ("exp(a)", "ftb_pow(a, b)", "ft_sin(a)", "ftx_zeta(a, b)", "ft_clog(a)"):
        assert additions([text]) == 3, text
    assert additions(["tanh(a) * exp(b)", "log1p(a)"]) == 7


def test_second_unit_needs_more_work_than_its_start_costs() -> None:
    cpu = BY_NAME["intel-cpu"]
    n = cpu.unit_elements
    for size, each, units in ((n, 1, 1), (2 * n, 1, 2), (n, 3, 3), (n // 4, 3, 1)):
        assert choose_map((size,), ((1,), (1,)), 4, cpu, 16, each).units == units
