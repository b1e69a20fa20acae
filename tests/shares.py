"""Distribution of tests to workers: files of flow/ as a whole, since each makes its images and
sites once."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

# As many neighbours of a file go to one worker: they ask for the same kernels, of which one would
# wait while the other compiles, and the last of them keep no worker busy alone for long.
TOGETHER = 16


class Shares(LoadScopeScheduling):
    """Gives workers one share after the other, in the order in which tests are collected."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.config.option.loadscopereorder = False
        self.shares: dict[str, str] = {}  # test -> its share's name
        self.seen: dict[str, int] = {}

    def _split_scope(self, nodeid: str) -> str:
        """Returns a test's share; pytest asks for them in order first."""
        if nodeid not in self.shares:
            file = nodeid.partition("::")[0]
            number = self.seen[file] = self.seen.get(file, -1) + 1
            whole = "/flow/" in f"/{file}"
            self.shares[nodeid] = file if whole else f"{file} {number // TOGETHER}"
        return self.shares[nodeid]
