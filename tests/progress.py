"""Prints the progress of a run, one line at a time, instead of a dot for each passed test."""

from __future__ import annotations

import time

import pytest

EVERY = 15  # seconds


class Progress:
    """Reports how many tests of a pass have run, and the file of the last one."""

    def __init__(self, config: pytest.Config, name: str) -> None:
        self.config, self.name = config, name
        self.total = self.done = 0
        self.said = time.monotonic()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without workers, the tests are collected in this process."""
        self.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """Every worker collects the same tests."""
        self.total = len(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Prints no dot for a passed test, and pytest's own words for others."""
        passed = report.passed and report.when == "call" and not hasattr(report, "wasxfail")
        return ("passed", "", "") if passed else None

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        """Counts a test of any outcome."""
        self.done += 1
        if time.monotonic() - self.said > EVERY:
            self.said = time.monotonic()
            reporter = self.config.pluginmanager.get_plugin("terminalreporter")
            reporter.write_line(f"{self.name}: {self.done} of {self.total}, {nodeid.partition('::')[0]}")
