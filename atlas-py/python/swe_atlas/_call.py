"""Calls methods of a caller's objects; the native module starts one call at a time here."""

import asyncio
import hashlib
import inspect
import operator
import os
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from swe_atlas._errors import AtlasError


_sources = threading.Lock()


def start(
    method: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any] | None, reply: Any
) -> None:
    """Calls in a thread of its own, which does not keep the interpreter from ending."""

    def call() -> None:
        try:
            answer = method(*arguments, **(named or {}))
            if inspect.isawaitable(answer):
                answer = asyncio.run(_waited(answer))
            reply.answered(answer)
        except BaseException as why:
            reply.raised(_told(why), _class(why))

    threading.Thread(target=call, name="atlas-call", daemon=True).start()


async def _waited(awaitable: Any) -> Any:
    return await awaitable


def _told(why: BaseException) -> str:
    """`ValueError: no such test (mine.py, line 12)`."""
    frames = traceback.extract_tb(why.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{type(why).__name__}: {why}{place}"


def _class(why: BaseException) -> str:
    """Which exception of this package it is; empty for any other."""
    return next((one.__name__ for one in type(why).__mro__ if issubclass(one, AtlasError)), "")


def plain(value: Any) -> Any:
    """What JSON has for a path, a number of another library, a mapping or a collection; the encoder calls it."""
    for name, made in (("__fspath__", os.fspath), ("__index__", operator.index), ("__float__", float)):
        if hasattr(value, name):
            return made(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be told as JSON")


def version(value: Any) -> str:
    """The hash of an object's source, with what its attribute `version` says; of its name where there is no source."""
    kind = value if inspect.isfunction(value) else type(value)
    try:
        # Python 3.11 cannot look up sources in several threads at once.
        with _sources:
            source = inspect.getsource(kind)
    except (OSError, TypeError):
        source = f"{kind.__module__}.{kind.__qualname__}"
    told = getattr(value, "version", "")
    return hashlib.sha256(f"{source}\0{told}".encode()).hexdigest()
