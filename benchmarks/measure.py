"""Measures one checkout's ftensor for another process, one case at a time.

Reads lines of JSON from standard input, each the number of a case. Answers with the seconds of a
call, or null if this ftensor has no such call. Calls before the first measurement of a case compile
it.
"""

from __future__ import annotations

import json
import sys
import time

from cases import CASES, Call

# Seconds. Shorter calls are measured many at a time, since a single one may take twice as long.
SHORTEST = 2e-3


def main() -> None:
    """Answers until standard input ends."""
    at, call = -1, None
    for line in sys.stdin:
        number = json.loads(line)
        if number != at:
            at, call = number, _ready(number)
        print(json.dumps(_seconds(call)), flush=True)


def _ready(number: int) -> Call | None:
    try:
        call = CASES[number].calls(("ftensor",))["ftensor"]
        call()
    except (AttributeError, NotImplementedError, TypeError) as error:  # an older ftensor lacks it
        print(f"{CASES[number].name}: {error}", file=sys.stderr)
        return None
    return call


def _seconds(call: Call | None) -> float | None:
    if call is None:
        return None
    call()
    begun = time.perf_counter()
    call()
    once = time.perf_counter() - begun
    if once >= SHORTEST:
        return once
    calls = int(SHORTEST / once) + 1
    begun = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begun) / calls


if __name__ == "__main__":
    main()
