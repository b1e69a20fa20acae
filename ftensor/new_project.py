"""`ftensor new NAME`: writes a project with a kernel in HLS C++, its tests and a script for CI."""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from json import loads
from pathlib import Path

from .errors import commands as errors
from .terminal import complain

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_REMOTE = re.compile(r"\w+\+(?!file:)[\w.+:/@~-]+")  # nothing that a shell reads
_OURS = "hls_project"  # the name in the files of the example
_SOURCE = "${FTENSOR:-}"  # in the script for CI: what pip installs ftensor from
_LEFT_OUT = ("__pycache__", ".pytest_cache")


def template() -> Path:
    """Returns the folder of the example that is copied: inside an installed package, in examples/ of
    a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / _OURS
    return inside if inside.is_dir() else package.parent / "examples" / _OURS


def write(name: str, parent: Path) -> list[str]:
    """Writes the project to `parent`/`name`; returns the paths of its files in the project.

    Raises ProjectError for a name that is no plain name of a folder, for a folder that is there, and
    where nothing can be written. The folder appears complete or not at all.
    """
    if not _NAME.fullmatch(name):
        raise errors.no_project_name(name[:80])
    target, source = parent / name, template()
    if os.path.lexists(target):
        raise errors.project_exists(target)
    files = [p for p in sorted(source.rglob("*")) if p.is_file() and not {*_LEFT_OUT} & {*p.parts}]
    try:
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=parent) as scratch:
            project = Path(scratch) / name
            for file in files:
                copy = project / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(_filled(file.read_text(encoding="utf-8"), name), encoding="utf-8")
            project.rename(target)
    except OSError as problem:
        raise errors.project_not_written(target, problem.strerror or problem) from None
    return [file.relative_to(source).as_posix() for file in files]


def _filled(text: str, name: str) -> str:
    text = text.replace(f"examples/{_OURS}", ".").replace(_OURS, name)
    came_from = repository()
    return text if came_from is None else text.replace(_SOURCE, f"${{FTENSOR:-{came_from}}}")


def repository() -> str | None:
    """Returns pip's words for the repository from which this ftensor was installed, "git+URL@COMMIT";
    None if it was installed from elsewhere, or from a repository of this machine."""
    try:
        text = distribution("ftensor").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    found = loads(text or "{}")
    version = found.get("vcs_info", {})
    words = f"{version.get('vcs')}+{found.get('url')}@{version.get('commit_id')}"
    return words if version and _REMOTE.fullmatch(words) else None


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor new`; returns 2 for a name or a folder that cannot be taken, else 0."""
    try:
        files = write(arguments.name, Path())
    except errors.ProjectError as problem:
        complain("ftensor new", problem)
        return 2
    print("\n".join(f"{arguments.name}/{file}" for file in files))
    print(f"its tests: cd {arguments.name} && FTENSOR_DEVICE=csim python -m pytest")
    return 0
