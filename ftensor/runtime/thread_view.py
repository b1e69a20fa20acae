"""Lets a thread prepare launches as for another device."""

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
    """The device properties on which launches depend, and the table of launches prepared for
    them."""

    target: Target
    units: int
    host_shared: bool
    launches: LaunchTable


@contextmanager
def prepared_as(backend: Backend, seen: As, every_thread: bool) -> Iterator[None]:
    """Inside the block, this thread sees the properties `seen`, and all threads if `every_thread`.

    Every op reads these fields, so outside of such blocks they are plain attributes. During a
    block, the device's class is a subclass that looks up the thread first.
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
    """Returns the subclass of a device class whose fields depend on the thread."""
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
