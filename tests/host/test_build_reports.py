"""Reports of v++: real formats, old and new, and invalid files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.toolchain.vitis import reports
from ftensor.toolchain.vitis.reports import Synthesis, Timing

STANDIN = Path(__file__).parents[1] / "flow/standin"
CSYNTH = (STANDIN / "csynth.xml").read_text()
TIMING = (STANDIN / "timing_summary.rpt").read_text()


def test_a_synthesis_report():
    assert reports.synthesis(CSYNTH) == Synthesis(
        latency=(146, 134217802),
        interval=2,
        clock_ns=2.433,
        resources={"LUT": 7210, "FF": 9316, "DSP": 48, "BRAM": 30, "URAM": 0},
    )


def test_values_unknown_to_vitis_hls_are_none():
    text = CSYNTH.replace("146", "undef").replace("134217802", "?").replace("2.433", "-")
    text = text.replace("<PipelineII>1</PipelineII>", "").replace("<PipelineII>2<", "<PipelineII>-<")
    report = reports.synthesis(text)
    assert report is not None
    assert report.latency == (None, None)
    assert report.interval is None and report.clock_ns is None


def test_older_report_has_dsp48e_and_one_interval():
    text = """<profile><PerformanceEstimates><SummaryOfOverallLatency>
    <Best-caseLatency>4</Best-caseLatency><Worst-caseLatency>4</Worst-caseLatency>
    <PipelineInitiationInterval>1</PipelineInitiationInterval></SummaryOfOverallLatency>
    </PerformanceEstimates><AreaEstimates><Resources><DSP48E>3</DSP48E><LUT>20</LUT></Resources>
    <AvailableResources><LUT>1000</LUT></AvailableResources></AreaEstimates></profile>"""
    assert reports.synthesis(text) == Synthesis((4, 4), 1, None, {"LUT": 20, "DSP": 3})


@pytest.mark.parametrize("text", ["", "<profile>", "<profile/>", "no xml", "<a>&nope;</a>"])
def test_other_text_is_no_synthesis_report(text):
    assert reports.synthesis(text) is None


@given(st.integers(0, len(CSYNTH)))
def test_a_truncated_synthesis_report_is_none(end):
    whole = len(CSYNTH.rstrip())
    assert (reports.synthesis(CSYNTH[:end]) is None) == (end < whole)


@pytest.mark.parametrize("slack, timing", [("0.021", Timing(0.021, 0.010, 0)), ("-0.313", Timing(-0.313, 0.010, 0))])
def test_a_timing_summary(slack, timing):
    summary = reports.timing(TIMING.replace("SLACK", slack))
    assert summary == timing and summary.met == (timing.setup >= 0)


def test_hold_violation_misses_the_clock():
    assert not Timing(0.1, -0.01).met and Timing(0.1).met


@pytest.mark.parametrize(
    "text", ["", TIMING.partition("    -------")[0], TIMING.replace("SLACK", "NA"), "WNS(ns)\n0.1"]
)
def test_text_without_timing_summary_gives_no_timing(text):
    assert reports.timing(text) in (None, Timing(0.1))
    assert (reports.timing(text) is None) == (not text.startswith("WNS"))


# The tool's output, except for the widths of the columns.
UTILIZATION = """
+----------+
| Name | LUT | LUTAsMem | REG | BRAM | URAM | DSP |
+----------+
| Platform | 191531 [ 14.69%] | 23541 [  3.91%] | 293210 [ 11.25%] | 293 [ 14.53%] | 0 [  0%] | 4 |
|    Used Resources | 4543 [  0.41%] | 1011 [  0.17%] | 8302 [  0.36%] | 16 [  0.88%] | 1 | 32 |
| vadd     | 4543 [  0.41%] | 1011 [  0.17%] | 8302 [  0.36%] | 16 [  0.88%] | 1 [  0%] | 32 |
|    vadd_1 | 4543 [  0.41%] | 1011 [  0.17%] | 8302 [  0.36%] | 16 [  0.88%] | 1 [  0%] | 32 |
+----------+
"""


def test_a_utilization_report():
    usage = reports.utilization(UTILIZATION)
    assert usage["vadd"] == {"LUT": 4543, "FF": 8302, "DSP": 32, "BRAM": 16, "URAM": 1}
    assert set(usage) == {"Platform", "Used Resources", "vadd", "vadd_1"}
    assert reports.utilization("| Name | x |\n| vadd | 3 |") == {}


def test_newest_valid_report_is_used(tmp_path):
    def report(folder: str, text: str, age: int) -> None:
        path = tmp_path / folder / "deep" / "k_csynth.xml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        os.utime(path, (1e9 - age, 1e9 - age))

    report("old", CSYNTH.replace("146", "1"), 9)
    report("new", CSYNTH.replace("146", "2"), 5)
    report("broken", CSYNTH[:100], 1)
    newest = reports.kernel_report("k", [tmp_path])
    assert newest is not None and newest.latency[0] == 2
    assert reports.kernel_report("other", [tmp_path]) is None
    assert reports.kernel_report("k", [tmp_path / "nowhere"]) is None


def test_routed_timing_is_used(tmp_path):
    (tmp_path / "b_timing_summary_routed.rpt").write_text(TIMING.replace("SLACK", "0.5"))
    os.utime(tmp_path / "b_timing_summary_routed.rpt", (1e9, 1e9))
    (tmp_path / "a_timing_summary_placed.rpt").write_text(TIMING.replace("SLACK", "0.9"))
    summary = reports.link_timing([tmp_path])
    assert summary is not None and summary.setup == 0.5
