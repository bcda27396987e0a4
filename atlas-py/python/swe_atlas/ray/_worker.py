"""What runs on a node: one step in a folder of its own, whose files go back as bytes."""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import io
import json
import os
import shutil
import socket
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import swe_atlas
from swe_atlas._errors import AtlasError, InvalidInputError

PREFIX = "atlas-ray-"
UNFINISHED = ".atlas-part-"
WORK = "{work}"
"""What stands for the step's folder: at the beginning of an argument, and anywhere in a report."""


@dataclass(frozen=True)
class Call:
    """A function of `swe_atlas` with its arguments."""

    function: str
    """Its name."""
    arguments: Mapping[str, Any]
    """By keyword; a text may begin with `WORK`."""
    version: str = swe_atlas.__version__
    """Of the package that asks."""


@dataclass(frozen=True)
class Outcome:
    """What a step came to: a report with its files, or an error."""

    report: dict[str, Any] | None = None
    """What the function returned, as plain values."""
    files: dict[str, bytes] = field(default_factory=dict)
    """What it left below `out`, by path, without the working state in `.atlas`."""
    error: AtlasError | None = None
    """What it raised."""
    node: str = ""
    """Ray's name of the node; empty where it was lost."""
    host: str = ""
    """The machine."""
    seconds: float = 0.0
    """Wall seconds on the node."""


def packed(files: Mapping[str, bytes | Path]) -> bytes:
    """Files, and folders with all that is in them, as a tar archive with their permissions."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            if isinstance(content, Path):
                archive.add(content, name)
                continue
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _unpack(archive: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        # It comes from the driver, which is this very package.
        if hasattr(tarfile, "fully_trusted_filter"):
            opened.extraction_filter = tarfile.fully_trusted_filter
        opened.extractall(folder)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder that goes with the step; those of workers that were killed go now.

    A lock says that its owner lives, since a process id says nothing to another container.
    """
    root = Path(tempfile.gettempdir())
    with contextlib.ExitStack() as held:
        with (root / f"{PREFIX}lock").open("ab") as turn:
            # Nobody sweeps between the making of a folder and its lock.
            fcntl.flock(turn, fcntl.LOCK_EX)
            for old in root.glob(f"{PREFIX}*/lock"):
                with contextlib.suppress(OSError), old.open("rb") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(old.parent, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
            held.callback(shutil.rmtree, folder, ignore_errors=True)
            fcntl.flock(held.enter_context((folder / "lock").open("wb")), fcntl.LOCK_EX)
        yield folder


def _placed(value: Any, folder: Path) -> Any:
    is_place = isinstance(value, str) and value.startswith(WORK)
    return f"{folder}{value.removeprefix(WORK)}" if is_place else value


def work(call: Call, archive: bytes) -> Outcome:
    """Unpacks the step's files, calls the function, and gives back its report and what it left.

    An AtlasError is given back as one. Cancelled by Ray, the function ends its runs in order first, as after Ctrl-C.
    """
    began = time.monotonic()
    node: str = importlib.import_module("ray").get_runtime_context().get_node_id()
    facts: dict[str, Any] = {"node": node, "host": socket.gethostname()}
    if call.version != swe_atlas.__version__:
        message = f"swe-atlas {swe_atlas.__version__} on {facts['host']}, {call.version} at the driver: install the same"
        return Outcome(error=InvalidInputError(message, kind="invalid_input", blame="caller"), **facts)
    with _folder() as folder:
        _unpack(archive, folder)
        arguments = {name: _placed(value, folder) for name, value in call.arguments.items()}
        try:
            made = getattr(swe_atlas, call.function)(**arguments)
        except AtlasError as why:
            return Outcome(error=why, seconds=time.monotonic() - began, **facts)
        text = json.dumps(made) if isinstance(made, dict) else made.to_json()
        report = json.loads(text.replace(str(folder), WORK))
        out = folder / "out"
        files = {}
        for path in sorted(out.rglob("*")):
            name = path.relative_to(out)
            if name.parts[0] != ".atlas" and path.is_file() and not path.is_symlink():
                files[name.as_posix()] = path.read_bytes()
    return Outcome(report, files, seconds=time.monotonic() - began, **facts)


def write(path: Path, content: bytes) -> None:
    """Writes a file whole, under another name first, which the package clears away if it is left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{UNFINISHED}{os.getpid()}.{path.name}")
    temporary.write_bytes(content)
    temporary.replace(path)


def pretty(value: Any, indent: int) -> bytes:
    """JSON as the package writes it for people."""
    return json.dumps(value, indent=indent, ensure_ascii=False).encode() + b"\n"
