"""A device that one thread sees as another: what its launches are prepared for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .backend import Backend
    from .launch_cache import LaunchTable
    from .targets import Target


class As(NamedTuple):
    """What launches depend on, and where those are kept that were prepared for it."""

    target: Target
    units: int
    host_shared: bool
    launches: LaunchTable


@contextmanager
def prepared_as(backend: Backend, seen: As, every_thread: bool) -> Iterator[None]:
    """A block in which this thread sees a device so, and `every_thread` where that is wanted.

    Every op reads these fields, so they are plain ones outside of such blocks: while there is one,
    the device is of a class that looks at the thread first.
    """
    fields, me = backend.__dict__, get_ident()
    with backend.lock:
        others = backend._seen_by_thread
        if not others:
            backend.__class__ = _by_thread(type(backend))
        before = others.get(me)
        others[me] = seen
        kept = {name: fields[name] for name in As._fields}
        if every_thread:
            fields.update(seen._asdict())
    try:
        yield
    finally:
        with backend.lock:
            if every_thread:
                fields.update(kept)
            if before is None:
                del others[me]
            else:
                others[me] = before
            if not others:
                backend.__class__ = type(backend).__bases__[0]


@cache
def _by_thread(kind: type[Backend]) -> type[Backend]:
    """The class of a kind of device whose fields depend on the thread."""
    fields = {name: _field(name) for name in As._fields}
    meta: Any = type(kind)
    by_thread: type[Backend] = meta(kind.__name__, (kind,), {"__module__": kind.__module__, **fields})
    return by_thread


def _field(name: str) -> Any:
    def get(backend: Backend) -> Any:
        seen = backend._seen_by_thread.get(get_ident())
        return backend.__dict__[name] if seen is None else getattr(seen, name)

    def put(backend: Backend, value: Any) -> None:
        others, me = backend._seen_by_thread, get_ident()
        if me in others:
            others[me] = others[me]._replace(**{name: value})
        else:
            backend.__dict__[name] = value

    return property(get, put)
