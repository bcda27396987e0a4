"""A harness's own command with Atlas inside."""

import importlib
import importlib.metadata
import runpy
import sys

__all__ = ["run"]


def run(name: str, arguments: list[str] | None) -> None:
    """Runs `[--mode MODE] -m MODULE ...`, or a program that a package brought, after `install` of the module `name`.

    What differs is told on standard error at the end, in the modes that notice it.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    mode = "strict"
    if words[:1] == ["--mode"] and len(words) > 1:
        mode = words[1]
        words = words[2:]
    module = words[:1] == ["-m"]
    words = words[1:] if module else words
    if not words or words[0].startswith("-"):
        sys.exit(f"usage: python -m {name} [--mode MODE] (-m MODULE | PROGRAM) [ARGUMENTS]")
    # Run as a program the file of that module is another module than the one that others import.
    this = importlib.import_module(name)
    try:
        this.install(mode)
    except (ImportError, ValueError) as why:
        sys.exit(f"{name}: {why}")
    try:
        if module:
            sys.argv = list(words)
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            _call(name, words)
    finally:
        for found in this.differences():
            print(f"differs: {found}", file=sys.stderr)


def _call(name: str, words: list[str]) -> None:
    """Calls what a package installed as a program."""
    found = list(importlib.metadata.entry_points(group="console_scripts", name=words[0]))
    if not found:
        sys.exit(f"{name}: `{words[0]}` is no program of an installed package; a module is run by -m MODULE")
    sys.argv = list(words)
    sys.exit(found[0].load()())
