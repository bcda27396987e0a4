"""Conformance: checks of what every implementation of a protocol must do, yours included.

Each function returns where the object keeps its contract, and raises AssertionError with a sentence where it does not.
They are the checks that Atlas's own parts pass. `swe_atlas.protocols` has the protocols.

Checks that run something take a row that `make` made, and prepare it as gates do: `engine`, `repos`, `config` and `trust`
are those of `validate`, `out` is where its runs are kept, default the dataset's folder, and `parser` an object of the
protocol `LogParser` where the row was made with one. They raise AtlasError where that does not go.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from swe_atlas import protocols
from swe_atlas._swe_atlas import Instance, _check
from swe_atlas.types import Decision, Outcome

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "check_agent",
    "check_code_host",
    "check_env_synthesizer",
    "check_judge",
    "check_language_model",
    "check_log_parser",
    "check_oracle",
    "check_sandbox",
    "check_validator",
]

_Path = str | os.PathLike[str]


class RowOptions(TypedDict, total=False):
    """How a row is prepared."""

    engine: Literal["auto", "docker", "local"]
    repos: _Path | None
    config: _Path | Mapping[str, Any] | None
    trust: bool
    out: _Path | None
    parser: protocols.LogParser | None


def _row(dataset: _Path, instance_id: str, options: RowOptions, **more: Any) -> dict[str, Any]:
    if unknown := sorted(options.keys() - RowOptions.__annotations__):
        raise TypeError(f"unexpected keyword argument '{unknown[0]}'")
    return {"dataset": dataset, "instance_id": instance_id, **options, **more}


def check_log_parser(parser: protocols.LogParser, sample: bytes | str) -> None:
    """Checks a parser on a short sample of its own runner's output, in time quadratic in its length.

    It is pure, names every test once, takes logs that stop anywhere, and sees no tests where there are none.
    """
    _check("parser", parser, {"sample": sample.encode() if isinstance(sample, str) else sample})


def check_sandbox(
    sandbox: protocols.Sandbox,
    dataset: _Path,
    instance_id: str,
    **options: Unpack[RowOptions],
) -> None:
    """Checks a sandbox in the environment of a row: exit codes, bytes, files, freshness, limits, cancelling."""
    _check("sandbox", sandbox, _row(dataset, instance_id, options))


def check_env_synthesizer(
    synthesizer: protocols.EnvSynthesizer,
    dataset: _Path,
    instance_id: str,
    *,
    broken: _Path | None = None,
    **options: Unpack[RowOptions],
) -> None:
    """Checks a synthesizer on the repository of a row, which it can build, and on the folder `broken`, which it cannot;
    by default an empty one."""
    with tempfile.TemporaryDirectory() as empty:
        _check("synthesizer", synthesizer, _row(dataset, instance_id, options, broken=broken or empty))


def check_oracle(
    oracle: protocols.Oracle,
    dataset: _Path,
    instance_id: str,
    *,
    expected: Outcome = "instance",
    **options: Unpack[RowOptions],
) -> None:
    """Checks an oracle on a row's pull request, of which it must say `expected`."""
    _check("oracle", oracle, _row(dataset, instance_id, options, expected=expected))


def check_validator(
    validator: protocols.Validator,
    dataset: _Path,
    instance_id: str,
    *,
    expected: Decision = "accept",
    **options: Unpack[RowOptions],
) -> None:
    """Checks a gate on a row, of which it must decide `expected`."""
    _check("gate", validator, _row(dataset, instance_id, options, expected=expected))


def check_judge(
    judge: protocols.Judge, instance: Instance, *, labels: Sequence[str], patch: str | None = None
) -> None:
    """Checks a judge on one row, and on a patch where one is given; `labels` are the words that it documents."""
    _check("judge", judge, {"instance": instance, "patch": patch, "labels": list(labels)})


def check_language_model(model: protocols.LanguageModel, *, prompt: str = "Say yes or no.") -> None:
    """Checks a model with one small request."""
    _check("model", model, {"prompt": prompt})


def check_code_host(host: protocols.CodeHost) -> list[dict[str, Any]]:
    """Checks a host over all its pages, each asked twice, and gives what they tell."""
    told: list[dict[str, Any]] = _check("host", host, {})
    return told


def check_agent(agent: protocols.Agent) -> None:
    """Checks an agent that is willing to work: one that runs at least two commands whatever they print."""
    with tempfile.TemporaryDirectory() as folder:
        _check("agent", agent, {"folder": folder})
