"""What a build folder remembers: how long each job took. Never half-written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import Job

VERSION = 1


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that no one ever sees a part of it; an equal one is left as it is."""
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


class State:
    """The durations of earlier jobs, in seconds, by the jobs' names."""

    def __init__(self, path: Path) -> None:
        """Read what is there; a damaged file is as good as none: it only holds durations."""
        self.path = path
        self.jobs: dict[str, dict[str, Any]] = {}
        try:
            found = json.loads(path.read_text())
        except (OSError, ValueError):
            return
        jobs = found.get("jobs") if isinstance(found, dict) else None
        if isinstance(jobs, dict) and found.get("version") == VERSION:
            self.jobs = {name: job for name, job in jobs.items() if _well_formed(job)}

    def record(self, job: Job, seconds: float) -> None:
        """Keep the duration of a job that ended well."""
        self.jobs[job.name] = {
            "key": job.key,
            "seconds": round(seconds, 3),
            "weight": job.weight,
        }
        text = json.dumps({"version": VERSION, "jobs": self.jobs}, indent=1, sort_keys=True)
        write_whole(self.path, text + "\n")

    def expected(self, jobs: Iterable[Job]) -> dict[str, float | None]:
        """Seconds that each job will take: as last time, or by its weight; None when unknown."""
        weight = sum(job["weight"] for job in self.jobs.values())
        seconds = sum(job["seconds"] for job in self.jobs.values())
        rate = seconds / weight if weight > 0 else None
        times: dict[str, float | None] = {}
        for job in jobs:
            earlier = self.jobs.get(job.name)
            by_weight = None if rate is None else rate * job.weight
            times[job.name] = earlier["seconds"] if earlier is not None else by_weight
        return times


def _well_formed(job: object) -> bool:
    return isinstance(job, dict) and all(
        isinstance(job.get(name), (int, float)) and job[name] >= 0 for name in ("seconds", "weight")
    )
