"""The arguments of functions are the options of their commands."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import swe_atlas

# What every command has, and no function: it prints nothing.
PRINTED = {"format", "help", "verbose"}
# In Python a configuration may be a mapping, which says these.
CONFIGURED = {"exact", "image_name", "model", "no_confirm", "scope_seconds"}


@pytest.mark.parametrize(
    ("function", "command", "only_here", "only_there"),
    [
        (swe_atlas.evaluate, "eval", {"canaries", "progress", "sandbox"}, {"no_canaries"}),
        (swe_atlas.regrade, "regrade", set(), set()),
        (
            swe_atlas.validate,
            "validate",
            {"instances", "perturbations", "parser", "progress", "sandbox"},
            {"instance", "perturb"},
        ),
        (
            swe_atlas.make,
            "make",
            {"oracle", "progress", "sandbox", "synthesizer"},
            CONFIGURED | {"inject", "keep_differences"},
        ),
        (swe_atlas.choose, "choose", set(), set()),
        (swe_atlas.audit, "audit", {"progress"}, set()),
        (swe_atlas.attempt, "attempt", {"dataset", "progress"}, {"file"}),
    ],
)
def test_arguments_are_options(
    function: Callable[..., Any], command: str, only_here: set[str], only_there: set[str]
) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "swe_atlas", command, "--help"], check=True, capture_output=True, text=True
    ).stdout
    options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", told, re.MULTILINE))
    places = {name.lower() for name in re.findall(r"^  [<\[](\w+)", told, re.MULTILINE)}
    there = {name.replace("-", "_") for name in options | places} - PRINTED
    here = set(inspect.signature(function).parameters)
    assert here - there == only_here
    assert there - here == only_there
