"""HLS text of loads of overlapping rows: from a port, or from a stage that reflects the signal."""

from __future__ import annotations


def frames_text(name: str, beat: str, reflected: bool) -> dict[str, str | list[str]]:
    """Returns the template's texts for the source of the beats of load `name`, whose C type is
    `beat`."""
    signal = f"{name}_signal"
    labels = {"signal": signal, "before": f"{signal}_before", "after": f"{signal}_after"}
    if reflected:
        return {**labels, "source": f"hls::stream<{beat} > &signal", "offset": "", "open": [], "next": "signal.read()"}
    source, opened = f"const {beat} *port", [f"const {beat} *from = port + offset / LANES;", "long next = 0;"]
    return {**labels, "source": source, "offset": ", long offset", "open": opened, "next": "from[next++]"}
