"""What the releases of SWE-bench and SWE-Bench++ make of a row, and rows out of what they make."""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["Release", "TestSpec", "make_test_spec", "recording", "row_of"]

Release: TypeAlias = Literal["swebench4"] | Literal["swebench5", "swebenchpp"]

_END = ">>>>> End Test Output"
_EXIT_CODE, _EXIT_CODE_VARIABLE = ">>>>> Test Exit Code", "SWEBENCH_TEST_EXIT_CODE"


@dataclass
class TestSpec:
    """What a harness needs of a row to run and grade it: the fields of `swebench.types.TestSpec`, and `language`."""

    instance_id: str
    image: str
    eval_script_list: list[str]
    repo: str
    version: str
    FAIL_TO_PASS: list[str]
    PASS_TO_PASS: list[str]
    log_parser: str = ""
    eval_type: str = "pass_and_fail"
    image_assets: dict[str, Any] = field(default_factory=dict)
    language: str = ""

    # pytest collects classes of this name.
    __test__ = False

    @property
    def eval_script(self) -> str:
        """The script that runs the tests, as a harness writes it into the container."""
        return "\n".join(["#!/bin/bash", "set -uxo pipefail", *self.eval_script_list]) + "\n"


def _read(value: object) -> Any:
    """A column that may be JSON, or what Python prints, as text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return ast.literal_eval(value)


def _listed(row: Mapping[str, Any], name: str, harness: Release) -> list[str]:
    if harness == "swebenchpp":
        # The rows that it is delivered as have lower-case names, and a missing list is empty.
        found = _read(row.get(name, row.get(name.lower(), [])))
    else:
        found = row[name]
        found = json.loads(found) if isinstance(found, str) else found
    return [str(test) for test in found] if isinstance(found, (list, tuple)) else []


def make_test_spec(row: Mapping[str, Any], *, harness: Release = "swebench5") -> TestSpec:
    """The specification of a row, as `make_test_spec` of that release makes it.

    `swebench5`: image, script, parser and kind of evaluation are columns of the row.
    `swebench4`: such columns are taken where the row has them. Otherwise the image is the one that the release's command
    asks for by default, the script is empty, and the parser is found by the repository.
    `swebenchpp`: `environment_config` or `spec_dict` names the parser, together with `language`; the lists may bear their
    lower-case names and be Python's text, and the version is the pull request's number. A parser that is code
    (`log_parser_name` is `custom`) is not taken over: Atlas finds the runner by the log.

    Raises KeyError for a column that the release needs and the row lacks, ValueError for one that cannot be read.
    """
    identity = str(row["instance_id"])
    parser, version = str(row.get("log_parser") or ""), str(row.get("version") or "")
    image = str(row.get("image") or "")
    if harness == "swebench5":
        image, parser, script = str(row["image"]), str(row["log_parser"]), str(row["eval_script"])
    else:
        script = str(row.get("eval_script") or "")
    if harness == "swebench4":
        image = image or f"swebench/sweb.eval.x86_64.{identity.lower()}:latest".replace("__", "_1776_")
    elif harness == "swebenchpp":
        config = _read(row.get("environment_config") or row.get("spec_dict") or {})
        parser = str(config.get("log_parser_name") or parser)
        parser = "" if parser == "custom" else parser
        version = version or identity.rsplit("-", 1)[-1]
        image = image or f"sweb.eval.x86_64.{identity.lower()}:latest"
    return TestSpec(
        instance_id=identity,
        image=image,
        eval_script_list=recording(script),
        repo=str(row["repo"]),
        version=version,
        FAIL_TO_PASS=_listed(row, "FAIL_TO_PASS", harness),
        PASS_TO_PASS=_listed(row, "PASS_TO_PASS", harness),
        log_parser=parser,
        eval_type=str(row.get("eval_type") or "pass_and_fail"),
        image_assets=dict(_read(row.get("image_assets") or {})),
        language=str(row.get("language") or ""),
    )


def recording(script: str) -> list[str]:
    """The commands of a script, with one that tells how the tests' own command ended behind the end's marker."""
    lines = [line for line in script.strip().split("\n") if line not in ("#!/bin/bash", "set -uxo pipefail")]
    at = next((at for at, line in enumerate(lines) if _END in line), None)
    if at is None:
        return lines if script.strip() else []
    told = f'echo "{_EXIT_CODE}: ${_EXIT_CODE_VARIABLE}"'
    return [*lines[:at], f"{_EXIT_CODE_VARIABLE}=$?", lines[at], told, *lines[at + 1 :]]


def row_of(spec: Any) -> dict[str, Any]:
    """A row with what grading reads, from a specification of any release."""

    def text(name: str) -> str:
        value = getattr(spec, name, "")
        return str(getattr(value, "value", value) or "")

    row: dict[str, Any] = {
        "instance_id": spec.instance_id,
        "repo": text("repo"),
        "version": text("version"),
        "base_commit": text("base_commit"),
        "patch": "",
        "test_patch": "",
        "FAIL_TO_PASS": list(spec.FAIL_TO_PASS),
        "PASS_TO_PASS": list(spec.PASS_TO_PASS),
    }
    # SWE-Bench++ has the function itself there, or code.
    parser = getattr(spec, "log_parser", None)
    parser = str(getattr(parser, "__name__", parser) or "")
    named = {"log_parser": "" if "\n" in parser else parser, "eval_type": text("eval_type"), "language": text("language")}
    instance = getattr(spec, "instance", None)
    if isinstance(instance, Mapping) and instance.get("language"):
        named["language"] = str(instance["language"])
    row.update({name: value for name, value in named.items() if value})
    return row
