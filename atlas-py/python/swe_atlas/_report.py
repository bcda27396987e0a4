"""What reports have in common: attributes that are declared by an annotation and documented by the text below it."""

from __future__ import annotations

import itertools
import sys
from typing import Any, Generic, NoReturn, TypeVar, overload

from swe_atlas._swe_atlas import NativeReport

_T_co = TypeVar("_T_co", covariant=True)

# Fields whose attributes have other names.
_KEYS = {
    "fail_to_pass": "FAIL_TO_PASS", "pass_to_pass": "PASS_TO_PASS", "pass_to_fail": "PASS_TO_FAIL",
    "from_schema": "from", "to_schema": "to",
}  # fmt: skip


class Field(Generic[_T_co]):
    """An attribute of a report, which cannot be set: a fresh plain value.

    Where a `Path` is declared the text is one. Where a list or a dict is declared a field that is left out is empty.
    """

    def __init__(self, report: type, name: str, declared: str) -> None:
        kind, _, rest = declared.removeprefix("Field[").partition("[")
        self._file, self._report = sys.modules[report.__module__].__file__ or "", report.__name__
        self._name, self._key = name, _KEYS.get(name, name)
        self._is_path = declared.startswith("Field[Path")
        kinds: dict[str, type] = {} if rest.endswith("| None]") else {"list": list, "dict": dict}
        self._absent = kinds.get(kind)

    @overload
    def __get__(self, report: None, owner: type) -> Field[_T_co]: ...
    @overload
    def __get__(self, report: NativeReport, owner: type) -> _T_co: ...
    def __get__(self, report: NativeReport | None, owner: type) -> Any:
        if report is None:
            return self
        value = report._field(self._key)
        if value is None:
            return self._absent and self._absent()
        if not self._is_path:
            return value
        from pathlib import Path

        return Path(value)

    def __set__(self, report: NativeReport, value: NoReturn) -> None:
        raise AttributeError(f"attribute '{self._name}' of '{self._report}' objects is not writable")

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The text below the declaration."""
        return _text(self._file, self._report, self._name)


def _text(file: str, report: str, name: str) -> str | None:
    """The text below an attribute's declaration. The source is read when somebody asks for help."""
    import ast
    import inspect
    from pathlib import Path

    body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    for item in (item for item in body if isinstance(item, ast.ClassDef) and item.name == report):
        for pair in itertools.pairwise(item.body):
            match pair:
                case ast.AnnAssign(target=ast.Name(declared)), ast.Expr(ast.Constant(str(text))) if declared == name:
                    return inspect.cleandoc(text)
    return None


class Report(NativeReport):
    """What a command reports. Immutable."""

    def __init_subclass__(cls) -> None:
        for name, declared in cls.__annotations__.items():
            setattr(cls, name, Field(cls, name, declared))
        cls.__module__ = "swe_atlas"

    def __setattr__(self, name: str, value: NoReturn) -> None:
        raise AttributeError(f"attribute '{name}' of '{type(self).__name__}' objects is not writable")

    def __repr__(self) -> str:
        """`Class(what it comes to)`."""
        return f"{type(self).__name__}({self._told()})"

    def _told(self) -> str:
        return ""
