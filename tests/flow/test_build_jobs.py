"""The job runner of `ftensor build`: order, reuse, failures, interruptions, locks."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import ftensor
from ftensor.errors.build import BuildError
from ftensor.toolchain.jobs import progress, run
from ftensor.toolchain.jobs import run as jobs
from ftensor.toolchain.jobs.run import COMPILED, FAILED, REUSED
from ftensor.toolchain.jobs.workspace import Job, State, content_key, write_atomically

from .build_flow import wait_for

# Logs its name, and writes its output in two halves. In between it waits for a number of seconds,
# or for a file.
COMPILER = """
import os, sys, time
name, out, wait, status = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with open("ran", "a") as ran: ran.write(name + "\\n")
with open(out, "w") as file:
    file.write("half "); file.flush()
    if wait.startswith("/"):
        while not os.path.exists(wait): time.sleep(0.01)
    else:
        time.sleep(float(wait))
    print("a message of", name)
    file.write(name)
sys.exit(status)
"""


def job(folder: Path, name: str, wait: float | str = 0, status: int = 0, weight: float = 1) -> Job:
    output = folder / "objects" / f"{name}-0123.o"
    command = (sys.executable, "-c", COMPILER, name, str(output), str(wait), str(status))
    return Job(name, command, output, folder / "logs" / f"{name}.log", "0123", weight)


def run_jobs_log(folder: Path) -> list[str]:
    return (folder / "ran").read_text().split() if (folder / "ran").exists() else []


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_jobs_run_once_largest_first_and_are_then_reused(here):
    todo = [job(here, name, weight=k) for k, name in enumerate("abcd")]
    state = State(here / "state.json")
    assert [o.result for o in jobs.run(todo, state, 1)] == [COMPILED] * 4
    assert run_jobs_log(here) == ["d", "c", "b", "a"]
    assert [o.result for o in jobs.run(todo, state, 1)] == [REUSED] * 4
    assert run_jobs_log(here) == ["d", "c", "b", "a"]
    assert todo[0].output.read_text() == "half a"
    assert "a message of a" in todo[0].log.read_text()
    assert sorted(p.name for p in (here / "objects").iterdir()) == [f"{n}-0123.o" for n in "abcd"]


@pytest.mark.parametrize("damage", [b"", b"half", b"half b, changed"])
def test_damaged_output_is_rebuilt(here, damage):
    """Otherwise a truncated object would fail every later link."""
    todo = [job(here, "a"), job(here, "b")]
    jobs.run(todo, State(here / "state.json"), 1)
    todo[1].output.write_bytes(damage)
    again = jobs.run(todo, State(here / "state.json"), 1)
    assert [o.result for o in again] == [REUSED, COMPILED]
    assert todo[1].output.read_text() == "half b"


def test_other_jobs_run_after_a_failure(here):
    todo = [job(here, "good"), job(here, "bad", status=3, weight=9), job(here, "fine")]
    outcomes = jobs.run(todo, State(here / "state.json"), 2)
    assert [o.result for o in outcomes] == [COMPILED, FAILED, COMPILED]
    assert outcomes[1].status == 3 and outcomes[1].tail == ("a message of bad",)
    assert not todo[1].output.exists()
    assert [o.result for o in jobs.run(todo, State(here / "state.json"), 2)] == [REUSED, FAILED, REUSED]


def test_further_files_of_a_compiler_are_kept(here):
    output = here / "x-1.xo"
    code = "import sys; [open(sys.argv[1] + end, 'w').write('x') for end in ('', '.info')]"
    outcome = jobs.run(
        [Job("x", (sys.executable, "-c", code, str(output)), output, here / "x.log", "1")],
        State(here / "state.json"),
        1,
    )
    assert outcome[0].result == COMPILED
    assert sorted(p.name for p in here.iterdir()) == ["state.json", "x-1.xo", "x-1.xo.info", "x.log"]


def test_compiler_without_output_has_failed(here):
    silent = Job("s", ("true", str(here / "s.o")), here / "s.o", here / "s.log", "k")
    (outcome,) = jobs.run([silent], State(here / "state.json"), 1)
    assert outcome.result == FAILED and "wrote no output" in outcome.tail[-1]


def test_missing_compiler_gives_one_message(here):
    absent = Job("s", ("./no-such", str(here / "s.o")), here / "s.o", here / "s.log", "k")
    with pytest.raises(BuildError, match=r"^\./no-such does not start: No such file"):
        jobs.run([absent], State(here / "state.json"), 1)


def test_all_workers_run_at_once(here):
    class Watch(progress.Progress):
        most = 0

        def show(self, running, remaining):
            self.most = max(self.most, len(running))
            if sorted(run_jobs_log(here)) == ["a", "b", "c"]:  # none of them ends before that
                (here / "go").touch()

    watch = Watch()
    todo = [job(here, n, str(here / "go")) for n in "abcde"]
    jobs.run(todo, State(here / "state.json"), 3, watch)
    assert watch.most == 3
    assert sorted(run_jobs_log(here)) == list("abcde")


def test_durations_are_kept_and_give_the_expected_time(here):
    state = State(here / "state.json")
    a, b = job(here, "a", 0.3, weight=3), job(here, "b", weight=6)
    assert state.expected([a]) == {"a": None}
    jobs.run([a], state, 1)
    again = State(here / "state.json")
    times = again.expected([a, b])
    assert times["a"] >= 0.3 and times["b"] == pytest.approx(2 * times["a"])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 9, "jobs": {}}', '{"version": 1, "jobs": {"a": 3}}'])
def test_damaged_state_is_ignored(text, tmp_path):
    (tmp_path / "state.json").write_text(text)
    assert State(tmp_path / "state.json").jobs == {}


def test_files_are_written_atomically_and_equal_ones_kept(tmp_path):
    file = tmp_path / "f" / "x"
    write_atomically(file, "one")
    before = file.stat()
    write_atomically(file, "one")
    assert file.stat().st_mtime_ns == before.st_mtime_ns and file.stat().st_ino == before.st_ino
    write_atomically(file, "two")
    assert file.read_text() == "two" and [p.name for p in file.parent.iterdir()] == ["x"]


def test_key_separates_its_parts():
    assert content_key("ab", "c") != content_key("a", "bc")
    assert content_key("ab", b"c") == content_key("ab", "c")


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.flow.test_build_jobs import job, jobs, State
from ftensor.errors.build import BuildError
here = Path.cwd()
try:
    with jobs.exclusive(here) as lock:
        print("began", flush=True)
        jobs.remove_leftovers(here / "objects")
        todo = [job(here, n, 0 if n in "ab" else sys.argv[2]) for n in "abcdef"]
        jobs.run(todo, State(here / "state.json"), 2, lock=lock)
except BuildError as error:
    sys.exit(str(error))
"""


def build(folder: Path, wait: float | Path) -> subprocess.Popen[str]:
    """Starts a build of six outputs. All but the first two wait."""
    root = Path(ftensor.__file__).parent.parent
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), str(wait)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outputs(folder: Path) -> list[str]:
    return sorted(p.name[0] for p in folder.glob("objects/[a-z]*.o"))


def compilers(folder: Path) -> list[int]:
    """Returns the ids of processes whose working directory is the folder."""
    numbers = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve() == folder.resolve() and entry.name != str(os.getpid()):
                numbers.append(int(entry.name))
        except OSError:
            continue
    return numbers


@pytest.mark.parametrize("how", ["kill", "interrupt", "terminate the parent alone"])
def test_interrupted_jobs_resume(how, tmp_path):
    first = build(tmp_path, tmp_path / "go")
    wait_for(lambda: len(outputs(tmp_path)) == 2 and len(run_jobs_log(tmp_path)) > 2)
    if how == "kill":
        os.killpg(first.pid, signal.SIGKILL)
    elif how == "interrupt":
        os.killpg(first.pid, signal.SIGINT)
    else:
        first.kill()
    first.communicate(timeout=600)
    (tmp_path / "go").touch()
    wait_for(lambda: not compilers(tmp_path))
    done = outputs(tmp_path)
    assert done == ["a", "b"]
    if (tmp_path / "state.json").exists():
        json.loads((tmp_path / "state.json").read_text())
    (tmp_path / "ran").unlink()
    second = build(tmp_path, 0.01)
    _, problems = second.communicate(timeout=600)
    assert second.returncode == 0, problems
    assert sorted(run_jobs_log(tmp_path)) == [n for n in "abcdef" if n not in done]
    assert outputs(tmp_path) == list("abcdef")
    assert all(p.read_text() == f"half {p.name[0]}" for p in tmp_path.glob("objects/*.o"))
    assert sorted(p.name[1:] for p in (tmp_path / "objects").iterdir()) == ["-0123.o"] * 6


def test_two_builds_into_one_folder_exclude_each_other(tmp_path):
    first = build(tmp_path, tmp_path / "go")
    assert first.stdout is not None and first.stdout.readline() == "began\n"
    second = build(tmp_path, 1)
    _, problems = second.communicate(timeout=600)
    (tmp_path / "go").touch()
    assert second.returncode == 1
    assert f"another build works in {tmp_path} (process {first.pid}" in problems
    assert "--out" in problems and "Traceback" not in problems
    first.communicate(timeout=600)
    assert first.returncode == 0 and sorted(run_jobs_log(tmp_path)) == list("abcdef")


def test_interrupt_is_deferred_until_a_started_process_is_recorded():
    known = []
    with pytest.raises(KeyboardInterrupt), run.signals_blocked():
        signal.raise_signal(signal.SIGINT)
        known.append("the process")
    assert known


def test_process_is_killed_with_its_descendants():
    with subprocess.Popen(["sh", "-c", "sleep 600; true"], start_new_session=True) as process:
        wait_for(lambda: run.descendants(process.pid))
        (below,) = run.descendants(process.pid)
        run.end(process.pid, signal.SIGTERM)
        assert process.wait(600) == -signal.SIGTERM
    wait_for(lambda: not jobs._alive(str(below)))


@pytest.fixture
def stopped_clock(monkeypatch):
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 100.0))


def test_progress_lines_without_a_terminal(monkeypatch, stopped_clock):
    monkeypatch.setattr(progress, "QUIET", 0.0)
    stream = io.StringIO()
    lines = progress.reporter(stream)
    lines.start(4, 1)
    lines.ended("k", "failed", 61)
    lines.show(["x"], 3700)
    lines.close()
    text = stream.getvalue()
    assert text == "k: failed after 1:01\n2/4, 1 failed  0 s elapsed, 1:01:40 to go\n"


def test_progress_bar_on_a_terminal(stopped_clock):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    bar = progress.reporter(stream)
    bar.start(4, 0)
    bar.ended("k", "compiled", 1)
    bar.show(["x", "y"], None)
    assert "[######------------------] 1/4  0 s elapsed, ? to go  x, y" in stream.getvalue()
    bar.close()
    assert stream.getvalue().endswith("\r\x1b[K")
