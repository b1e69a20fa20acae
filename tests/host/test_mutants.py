"""Each mutant still matches the source that it changes."""

from __future__ import annotations

from tests.mutants import ROOT, Mutant, tomllib


def test_mutant_texts_occur_once() -> None:
    mutants = [Mutant(**row) for row in tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["mutant"]]
    for m in mutants:
        assert (ROOT / m.file).read_text().count(m.before) == 1, f"{m.file}: {m.before}"
        assert m.before != m.after and m.tests
        for name in m.tests:
            assert (ROOT / "tests" / name.partition("::")[0]).exists(), name
