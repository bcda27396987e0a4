"""Rows that carry their own image, script and parser, within SWE-bench 4.x, which has these in its code, by repository."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

from swe_atlas.compat._installation import Installation
from swe_atlas.compat._specification import make_test_spec as specified

__all__ = ["put_in"]


def put_in(installation: Installation) -> None:
    """Lets `make_test_spec` of the imported `swebench` 4.x take such rows; all others are its own as before."""
    module = importlib.import_module("swebench.harness.test_spec.test_spec")
    theirs = module.make_test_spec
    carried = _carried(module.TestSpec)

    def make_test_spec(instance: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(instance, module.TestSpec) or not instance.get("eval_script"):
            return theirs(instance, *arguments, **named)
        _tell(installation, instance)
        own = specified(instance, harness="swebench4")
        spec = carried(
            instance_id=instance["instance_id"],
            repo=instance["repo"],
            version=instance.get("version"),
            repo_script_list=[],
            eval_script_list=own.eval_script_list,
            env_script_list=[],
            arch="x86_64",
            FAIL_TO_PASS=own.FAIL_TO_PASS,
            PASS_TO_PASS=own.PASS_TO_PASS,
            language=instance.get("language") or "",
            docker_specs={},
            namespace=named.get("namespace"),
        )
        spec.image = instance.get("image") or ""
        spec.log_parser = instance.get("log_parser") or ""
        spec.eval_type = instance.get("eval_type") or ""
        return spec

    installation.replace(theirs, make_test_spec)


def _carried(base: Any) -> Any:
    """A specification whose image is the row's own: one that is there already, as those of a registry are."""

    def instance_image_key(self: Any) -> str:
        return self.image or str(base.instance_image_key.fget(self))

    def is_remote_image(self: Any) -> bool:
        return bool(self.image) or bool(base.is_remote_image.fget(self))

    members: dict[str, Any] = {
        "__doc__": "A specification of a row with an image, a script and a parser of its own.",
        "instance_image_key": property(instance_image_key),
        "is_remote_image": property(is_remote_image),
        **dict.fromkeys(("image", "log_parser", "eval_type"), ""),
    }
    return type("CarriedTestSpec", (base,), members)


def _tell(installation: Installation, instance: Any) -> None:
    """Tells the release's tables of a repository that they do not know, for its own grading looks there."""
    parsers = importlib.import_module("swebench.harness.log_parsers").MAP_REPO_TO_PARSER
    specs = importlib.import_module("swebench.harness.constants").MAP_REPO_VERSION_TO_SPECS
    repo, version = instance["repo"], instance.get("version")
    if repo not in parsers:
        installation.put(parsers, repo, _by_name())
    if repo not in specs:
        installation.put(specs, repo, {})
    if version not in specs[repo]:
        installation.put(specs[repo], version, {"test_cmd": ""})


def _by_name() -> Callable[[str, Any], dict[str, str]]:
    def read(log: str, test_spec: Any) -> dict[str, str]:
        name = test_spec.log_parser
        for module in [one for key, one in list(sys.modules.items()) if key.startswith("swebench.harness.log_parsers.")]:
            if callable(found := vars(module).get(name)):
                return dict(found(log, test_spec))
        raise KeyError(name)

    return read
