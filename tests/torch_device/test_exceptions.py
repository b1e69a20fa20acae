"""Exceptions during the device's backward pass reach the user as on the CPU."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import _thread, os, signal, threading, torch, ftensor.torch
from torch.utils.checkpoint import checkpoint

def fail(*of):
    if what == "ctrl-c":
        signal.raise_signal(signal.SIGINT)
        for _ in range(10): pass
    raise ValueError("of the user")

class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, grad): fail()

class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            y = torch.ones(2, device=grad.device, requires_grad=True)
            Own.apply(y).sum().backward()

def recomputed(reentrant):
    def run(x):
        calls = []
        def part(x):
            calls.append(1)
            if len(calls) > 1: fail()
            return x.sin() * x
        return checkpoint(part, x, use_reentrant=reentrant)
    return run

def hooked(name):
    def run(x):
        y = x * 2
        of = {"tensor": y, "leaf": x, "multi": None}.get(name)
        if of is not None: of.register_hook(fail)
        elif name == "multi": torch.autograd.graph.register_multi_grad_hook([x, y], fail)
        elif name == "accumulated": x.register_post_accumulate_grad_hook(fail)
        elif name == "before": y.grad_fn.register_prehook(fail)
        else: y.grad_fn.register_hook(fail)
        return y
    return run

def saved(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, fail): return x * x

def module(x):
    layer = torch.nn.Linear(2, 2).to(x.device)
    layer.register_full_backward_hook(fail)
    return layer(x * 2)

BODIES = [hooked(n) for n in ("tensor", "leaf", "multi", "accumulated", "before", "after")] + [
    saved, module, Own.apply, Again.apply, recomputed(True), recomputed(False)]

def outcome(body, device, threads):
    caught = []
    def run():
        with torch.autograd.set_multithreading_enabled(threads):
            x = torch.ones(2, device=device, requires_grad=True)
            try: body(x * 1 if body not in BODIES[:6] else x).sum().backward()
            except BaseException as error: caught.append((type(error).__name__, str(error)))
    run() if what != "thread" else [f(t) for t in [threading.Thread(target=run)]
                                    for f in (threading.Thread.start, threading.Thread.join)]
    return caught

for what in ("error", "thread", "ctrl-c"):
    for body in BODIES:
        wanted = outcome(body, "cpu", False)
        assert len(wanted) == 1, wanted
        for threads in (False, True):
            if what == "ctrl-c" and threads: continue  # Python raises it in the main thread alone
            found = outcome(body, "fpga", threads)
            assert found == wanted, (what, threads, found, wanted)
print("as on the CPU")
"""


def test_exceptions_of_hooks_are_raised() -> None:
    process = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert process.stdout == "as on the CPU\n", process.stdout + process.stderr


INTERRUPTED = """
import ctypes, torch, ftensor.torch
from functools import partial

x = torch.ones(2, 3, device="fpga", requires_grad=True)
interrupt = partial(ctypes.pythonapi.PyErr_SetInterrupt)
# Written in C throughout: Python gets to handle the signal where torch asks it something, or after.
for view in (partial(x.view, -1), x.t, partial(x.select, 0, 1)):
    try: list(map(partial.__call__, [interrupt, partial(view)]))
    except KeyboardInterrupt: print("raised")
    assert view().requires_grad
(x * x).sum().backward()
print(x.grad.tolist())
"""


def test_interrupt_while_torch_gets_the_stream_is_raised() -> None:
    """torch gets the stream in a method that must not raise, whenever it records a result."""
    process = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    wanted = "raised\n" * 3 + "[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]\n"
    assert process.stdout == wanted, process.stdout + process.stderr
