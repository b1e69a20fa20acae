"""What a build folder remembers: how long each job took, and what it made. Never half-written."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .job import Job

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
    """The durations of earlier jobs, in seconds, and their outputs' digests, by the jobs' names."""

    def __init__(self, path: Path) -> None:
        """Read what is there; a damaged file is as good as none: everything is guessed."""
        self.path = path
        self.jobs: dict[str, dict[str, Any]] = {}
        try:
            state = json.loads(path.read_text())
        except (OSError, ValueError, RecursionError):
            return
        jobs = state.get("jobs") if isinstance(state, dict) else None
        if isinstance(jobs, dict) and state.get("version") == VERSION:
            self.jobs = {name: job for name, job in jobs.items() if _well_formed(job)}

    def record(self, job: Job, seconds: float) -> None:
        """Keep the duration and the output's digest of a job that ended well."""
        self.jobs[job.name] = {
            "key": job.key,
            "seconds": round(seconds, 3),
            "weight": job.weight,
            "sha256": _digest(job.output),
        }
        text = json.dumps({"version": VERSION, "jobs": self.jobs}, indent=1, sort_keys=True)
        write_whole(self.path, text + "\n")

    def whole(self, job: Job) -> bool:
        """Whether an output is still what its compiler wrote; True where nobody knows."""
        earlier = self.jobs.get(job.name)
        if earlier is None or earlier.get("key") != job.key or "sha256" not in earlier:
            return True
        return bool(earlier["sha256"] == _digest(job.output))

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


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while part := opened.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _well_formed(job: object) -> bool:
    return isinstance(job, dict) and all(
        isinstance(job.get(name), (int, float)) and job[name] >= 0 for name in ("seconds", "weight")
    )
