"""Package metadata: one version everywhere, a complete sdist, licences."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ftensor import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# hatchling adds these to every sdist.
ALWAYS = {"README.md", "LICENSE", "pyproject.toml", ".gitignore"}


def test_versions_and_dates_agree() -> None:
    cited = dict(re.findall(r"^(version|date-released): (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M))
    heading = re.search(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heading is not None
    assert (cited["version"], cited["date-released"]) == heading.groups()
    assert cited["version"] == __version__
    assert f"alpha, {__version__}," in (ROOT / "README.md").read_text()


def test_sdist_has_every_file() -> None:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("needs a checkout")
    tracked = {name.split("/")[0] for name in done.stdout.splitlines()}
    included = {name.strip("/") for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    assert tracked == included | ALWAYS


def test_authors_and_licence() -> None:
    named = re.findall(r'^  - name: "(.*)"$', (ROOT / "CITATION.cff").read_text(), re.M)
    assert [author["name"] for author in PROJECT["project"]["authors"]] == named
    (licence,) = tomllib.loads((ROOT / "REUSE.toml").read_text())["annotations"]
    assert licence["SPDX-License-Identifier"] == PROJECT["project"]["license"]
    assert (ROOT / "LICENSES" / f"{PROJECT['project']['license']}.txt").read_text() == (ROOT / "LICENSE").read_text()
