"""What of a run is done: a file of one line per step, for the next start of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swe_atlas._errors import IoError

NAME = "ray.jsonl"


def key(*parts: bytes | str) -> str:
    """The hash of all that a step depends on."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()


class Journal:
    """Lines of finished steps, by key. A line that a killed driver did not end is dropped."""

    def __init__(self, path: Path) -> None:
        """Reads what is there and opens it to go on. Raises IoError where that fails."""
        self.done: dict[str, dict[str, Any]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            self._file.seek(0)
            whole = 0
            for line in self._file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                entry = json.loads(line)
                self.done[entry["key"]] = entry
            self._file.truncate(whole)
        except (OSError, ValueError, KeyError) as why:
            message = f"read {path}: {why}; move the file away to do all steps again"
            raise IoError(message, kind="io", blame="environment", operation="read", subject=str(path)) from why

    def note(self, entry: Mapping[str, Any]) -> None:
        """Adds a step that is done; it is on the disk when this returns."""
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done[entry["key"]] = dict(entry)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
