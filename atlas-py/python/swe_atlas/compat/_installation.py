"""What stands in the place of an imported package's functions, and where verdicts differed while it did."""

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Difference", "Installation", "Mode", "checked_mode", "one_sided"]

Mode: TypeAlias = Literal["strict"] | Literal["compat", "compare"]


@dataclass(frozen=True)
class Difference:
    """Where Atlas decides otherwise than the harness that was asked with it."""

    instance_id: str
    log: str
    """The file of the log that was graded; empty where the harness keeps it in memory."""
    harness: bool
    """Whether the harness calls the instance resolved."""
    atlas: bool
    """Whether Atlas does."""
    reasons: list[str]
    """Atlas's reasons and remarks, and of each list how many tests only one of the two counts as passed."""

    def __str__(self) -> str:
        words = ["resolved" if resolved else "not resolved" for resolved in (self.harness, self.atlas)]
        return f"{self.instance_id}: harness {words[0]}, Atlas {words[1]}: {'; '.join(self.reasons)}"


def one_sided(name: str, harness: set[str], atlas: set[str]) -> list[str]:
    """What only one of the two counts as passed, in a line each."""
    sides = (("the harness", sorted(harness - atlas)), ("Atlas", sorted(atlas - harness)))
    return [
        f"{name}: only {who} counts `{tests[0]}`" + (f" and {len(tests) - 1} more" if tests[1:] else "") + " as passed"
        for who, tests in sides
        if tests
    ]


def checked_mode(mode: str, known: tuple[str, ...] = ("strict", "compat", "compare")) -> None:
    """Raises ValueError for a mode that is none of those known."""
    if mode not in known:
        raise ValueError(f"mode: `{mode}`: {', '.join(known[:-1])} or {known[-1]} expected")


class Installation:
    """What is put into one package at present, for the whole process."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.mode: Mode = "strict"
        self._undo: list[Callable[[], object]] = []
        self._differences: list[Difference] = []
        self._lock = threading.Lock()

    def begin(self, mode: Mode) -> None:
        """Starts anew: what was put in before is taken out, and what was noted is forgotten."""
        self.end()
        with self._lock:
            self.mode = mode
            self._differences.clear()

    def end(self) -> None:
        """Takes everything out again, the last first; differences stay."""
        while self._undo:
            self._undo.pop()()
        self.mode = "strict"

    def note(self, difference: Difference) -> None:
        """Keeps a difference; threads of a harness may call it at once."""
        with self._lock:
            self._differences.append(difference)

    def differences(self) -> list[Difference]:
        """What was noted since the last `begin`."""
        with self._lock:
            return list(self._differences)

    def set(self, holder: object, name: str, value: object) -> None:
        """Sets an attribute. A class keeps a class method as what it is."""
        own = vars(holder).get(name, getattr(holder, name, None))
        setattr(holder, name, value)
        self._undo.append(lambda: setattr(holder, name, own))

    def put(self, table: dict[Any, Any], key: object, value: object) -> None:
        """Sets an entry of a table, which may have had none."""
        if key in table:
            own = table[key]
            self._undo.append(lambda: table.__setitem__(key, own))
        else:
            self._undo.append(lambda: table.pop(key, None))
        table[key] = value

    def replace(self, theirs: object, ours: object) -> None:
        """Puts one object into the place of another in all modules of the package and in their tables."""
        for module in [one for name, one in list(sys.modules.items()) if name.split(".")[0] == self.package]:
            for name, value in list(vars(module).items()):
                if value is theirs:
                    self.set(module, name, ours)
                elif isinstance(value, dict):
                    for key in [key for key, held in value.items() if held is theirs]:
                        self.put(value, key, ours)
