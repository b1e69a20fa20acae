"""Distributes tests to workers: files of flow/ as a whole, since each builds its images and sites
once."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

# This many neighbouring tests of a file go to one worker. They need the same kernels, and another
# worker would wait while one compiles. The last batch keeps no worker busy alone for long.
TOGETHER = 16


class Shares(LoadScopeScheduling):
    """Gives workers one batch after another, in the order of collection."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.config.option.loadscopereorder = False
        self.shares: dict[str, str] = {}  # test -> the name of its batch
        self.seen: dict[str, int] = {}

    def _split_scope(self, nodeid: str) -> str:
        """Returns a test's batch; pytest calls this in order first."""
        if nodeid not in self.shares:
            file = nodeid.partition("::")[0]
            number = self.seen[file] = self.seen.get(file, -1) + 1
            whole = "/flow/" in f"/{file}"
            self.shares[nodeid] = file if whole else f"{file} {number // TOGETHER}"
        return self.shares[nodeid]
