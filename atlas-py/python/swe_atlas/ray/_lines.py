"""Files of one row a line, of several instances."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path


def instance(line: str) -> str | None:
    """Whose row a line is; None for what is no row."""
    try:
        found = json.loads(line).get("instance_id")
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None


def merged(path: Path, ours: Collection[str], lines: Iterable[str]) -> list[str]:
    """The file's lines of others as they are, and ours behind them."""
    old = path.read_text().splitlines() if path.exists() else []
    return [line for line in old if instance(line) not in ours] + list(lines)
