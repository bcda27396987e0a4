"""Who hears the progress of a long call; the native module calls this in the thread that called it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypedDict


class ProgressEvent(TypedDict):
    """What a long call was doing at a moment."""

    phase: str | None
    """What it does: 'build', 'run before', 'evaluate, 3 of 10 done'. None before the first phase."""
    detail: str | None
    """A step of that: a line of a build, an instance with its phase. None where there is none."""
    done: int | None
    """How many items are done; None where items are not counted."""
    total: int | None
    """How many there are."""


# Of a run that counts nothing there is no share to draw.
_UNCOUNTED = "{desc} {elapsed}{postfix}"


class Bar:
    """A bar of tqdm, in a notebook as a widget where ipywidgets are installed."""

    def __init__(self) -> None:
        # Looked for before the call does anything, opened with the first event.
        self._new: Any = importlib.import_module("tqdm.auto").tqdm
        self._bar: Any = None

    def __call__(self, event: ProgressEvent) -> None:
        if self._bar is None:
            self._bar = self._new(unit="item", dynamic_ncols=True, bar_format=_UNCOUNTED)
        if event["total"] is not None:
            self._bar.bar_format = None
            self._bar.total = event["total"]
            self._bar.n = event["done"]
        self._bar.set_description_str(event["phase"] or "", refresh=False)
        self._bar.set_postfix_str((event["detail"] or "")[-60:], refresh=True)

    def close(self) -> None:
        """Leaves the bar as it is; the next event opens another one."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def listener(
    progress: bool | Callable[[ProgressEvent], object] | None,
) -> Callable[[ProgressEvent], object] | None:
    """What an argument `progress` stands for: nobody (None, False), a bar (True) or itself."""
    if progress is None or progress is False:
        return None
    if progress is True:
        try:
            return Bar()
        except ImportError as why:
            raise ImportError(
                "progress=True needs tqdm: pip install tqdm, or give a callable that takes the events"
            ) from why
    if callable(progress):
        return progress
    raise TypeError(f"progress: None, True or a callable expected, not {type(progress).__name__}")


def close(listens: object) -> None:
    """Closes a bar that was opened for one call; a caller's own listener stays as it is."""
    if isinstance(listens, Bar):
        listens.close()
