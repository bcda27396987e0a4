"""Other schemas, and what is wrong with rows. The native module does the work; here stand signatures and documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swe_atlas._swe_atlas import _audit, _convert, _lint

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal

    from swe_atlas._progress import ProgressEvent
    from swe_atlas._reports import AuditReport, Conversion, LintReport
    from swe_atlas._swe_atlas import Dataset
    from swe_atlas.types import Mode, Schema


def convert(
    dataset: Dataset | str | os.PathLike[str],
    to: Schema,
    *,
    schema: Schema | None = None,
    out: str | os.PathLike[str] | None = None,
    image_namespace: str = "swebench",
    keep_source: bool = True,
) -> Conversion:
    """Writes a dataset, or its path, in another schema of the field.

    `to` is swebench4, swebench5, swebench5-tasks, swebenchpp, swebenchpp-delivery, multi-swebench,
    swebench-live, swebench-pro, swe-rebench, swe-smith, r2e or harbor; `schema` is that of the rows,
    default told from them. With `out` the result is written there too: a file by its extension, or a
    folder for tasks. `image_namespace` is the registry namespace of images that are named by rule.

    What the new schema has no place for goes into a column `_atlas_source`, so that the way back gives
    the same bytes, unless `keep_source` is off. Raises InvalidInputError for an unknown schema, or where
    that of the rows cannot be told.
    """
    return _convert(locals())


def lint(
    dataset: Dataset | str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    ignore: Sequence[str] = (),
    repos: str | os.PathLike[str] | None = None,
) -> LintReport:
    """Looks for faults in the rows of a dataset, or of its path.

    `schema` is that of all rows, default told from each. `ignore` names codes that are not reported.
    `repos` is a clone or a folder of clones: the patches are tried in them, which takes git.

    Each finding has a code, a severity (note, warning or fatal), the row, the column and the way out.
    Raises InvalidInputError for an unknown schema or code.
    """
    return _lint(locals())


def audit(
    dataset: Dataset | str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    ignore: Sequence[str] = (),
    repos: str | os.PathLike[str] | None = None,
    run: bool = False,
    mode: Mode = "strict",
    engine: Literal["auto", "docker", "local"] = "auto",
    jobs: int = 1,
    timeout: int | None = None,
    run_id: str = "audit",
    out: str | os.PathLike[str] = ".",
    results: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    trust: bool = False,
) -> AuditReport:
    """Says what is wrong with published rows: a dataset, or its path.

    Beyond what `lint` finds it looks for statements that give the solution away. `schema` is that of all
    rows, default told from each; `ignore` names codes that are not reported; with `repos`, a clone or a
    folder of clones, the patches are tried in them.

    With `run` each row is also built and run, with its own solution and without any; then `dataset` must be
    a path, and `mode`, `engine`, `jobs`, `timeout` (seconds), `out`, `results`, `config` and `trust` are those
    of `evaluate`. So is `progress`.

    Raises InvalidInputError for an unknown schema or code.
    """
    return _audit(locals())
