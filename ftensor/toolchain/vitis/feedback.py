"""HLS sources of loops with feedback."""

from __future__ import annotations

from typing import cast

from ...kernels.skeletons.feedback import FeedbackGeometry, FeedbackKey, steps_interval
from ..group import KernelGroup
from .interface import interfaces, parameter_list, title
from .staged import namespaced_functions
from .text import file_settings, fill


def source(group: KernelGroup) -> str:
    """Returns the text of a loop's kernel."""
    key = cast("FeedbackKey", group.members[0])
    holes = group.kind.holes(key, "vitis")  # type: ignore[attr-defined]
    fields = {name: value.replace("(g)", "geometry") for name, value in FeedbackGeometry.words().items()}
    of_item = {name: [line.replace("(i)", "(item)") for line in holes[f"{name}(i)"]] for name in _OF_ITEM}
    return fill(
        "feedback.cpp",
        {
            "title": title(group),
            "settings": file_settings(group, key),
            "units": "\n\n".join(namespaced_functions(key)),
            "name": group.name,
            "parameters": parameter_list(group),
            "interfaces": interfaces(group),
            "setup": holes["FT_SETUP"],
            "items": fields["G_ITEMS(g)"],
            "count": fields["G_STEPS(g)"],
            "first": fields["G_FIRST(g)"],
            "stride": fields["G_STRIDE(g)"],
            "interval": str(steps_interval(key)),
            "read_states": of_item["FT_READ_STATES"],
            "read": holes["FT_READ(i)"],
            "results": holes["FT_RESULTS"],
            "compute": holes["FT_COMPUTE"],
            "write": holes["FT_WRITE(i)"],
            "keep": holes["FT_KEEP"],
            "write_states": of_item["FT_WRITE_STATES"],
        },
    )


_OF_ITEM = ("FT_READ_STATES", "FT_WRITE_STATES")
