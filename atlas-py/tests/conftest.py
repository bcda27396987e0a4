"""What the tests share: logs, and a small repository with a pull request in it."""

import inspect
import os
import subprocess
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PASSED = textwrap.dedent(
    """\
    ============================= test session starts ==============================
    collected 2 items

    tests/test_sums.py::test_zero PASSED                                     [ 50%]
    tests/test_sums.py::test_two PASSED                                      [100%]

    ============================== 2 passed in 0.01s ===============================
    """
)
FAILED = textwrap.dedent(
    """\
    ============================= test session starts ==============================
    collected 2 items

    tests/test_sums.py::test_zero PASSED                                     [ 50%]
    tests/test_sums.py::test_two FAILED                                      [100%]

    =================================== FAILURES ===================================
    E       assert 0 == 4
    =========================== short test summary info ============================
    FAILED tests/test_sums.py::test_two - assert 0 == 4
    ========================= 1 failed, 1 passed in 0.01s ==========================
    """
)
BASE = textwrap.dedent(
    """\
    ============================= test session starts ==============================
    collected 1 item

    tests/test_sums.py::test_zero PASSED                                     [100%]

    ============================== 1 passed in 0.01s ===============================
    """
)
NOTHING = "E: Unable to locate package nothing-like-it\n"


def git(repo: Path, *arguments: str) -> str:
    """Runs git without this machine's configuration and with a fixed clock."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(repo),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "Nobody" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "nobody@example.org" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")},
    }
    command = ["git", "-C", str(repo), *arguments]
    return subprocess.run(
        command, check=True, env=environment, capture_output=True, text=True
    ).stdout.strip()


def declared(report: Any) -> None:
    """Checks that what a report declares is in its JSON: nothing is None that is not said to be."""
    for kind in type(report).__mro__:
        for name, annotation in inspect.get_annotations(kind).items():
            assert getattr(report, name) is not None or annotation.endswith("| None]"), name
            with pytest.raises(AttributeError, match=f"'{name}' of '{type(report).__name__}' objects is not writable"):
                setattr(report, name, 1)


def commit(repo: Path, message: str, files: dict[str, str]) -> str:
    """Writes and commits files; returns the commit."""
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", message)
    return git(repo, "rev-parse", "HEAD")


def running(argument: str) -> bool:
    """Whether any process of this machine was given that argument."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if argument.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


class PullRequest:
    """A repository whose last commit is a pull request, and what `make` needs to run it here.

    Its tests need nothing that is not in Python, so the plan installs nothing.
    """

    def __init__(self, folder: Path, *, slow: bool = False) -> None:
        self.repo = folder / "sums"
        self.repo.mkdir()
        git(self.repo, "init", "--quiet", "--initial-branch=main")
        # An argument that no other process has, to find the running tests by.
        self.sleep = f"600.{time.time_ns()}"
        wait = f"import subprocess\nsubprocess.run(['sleep', '{self.sleep}'])\n" if slow else ""
        head = f"import unittest\nimport sums\n{wait}\n\nclass Sums(unittest.TestCase):\n"
        zero = "    def test_zero(self):\n        self.assertEqual(sums.add(3, 0), 3)\n"
        two = "\n    def test_two(self):\n        self.assertEqual(sums.add(2, 2), 4)\n"
        broken = "def add(a, b):\n    return a - b\n"
        self.base = commit(
            self.repo,
            "Begin",
            {"sums.py": broken, "tests/__init__.py": "", "tests/test_sums.py": head + zero},
        )
        self.head = commit(
            self.repo,
            "Add instead of subtracting",
            {"sums.py": broken.replace("-", "+"), "tests/test_sums.py": head + zero + two},
        )
        plan = folder / "plan.json"
        plan.write_text(
            '{"docker_specs": {}, "language": "python", "log_parser_name": "unittest",'
            ' "base_image": "python:3.12-slim-bookworm",'
            ' "test_cmd": "python3 -m unittest discover -v -s tests -t ."}'
        )
        # Toml, so that the command reads the same configuration.
        self.work = folder / "work"
        self.config = folder / "atlas.toml"
        self.config.write_text(f"[plan]\nfile = '{plan}'\n[local]\nroot = '{self.work}'\n")
        self.out = folder / "out"

    @property
    def arguments(self) -> dict[str, Any]:
        """For `swe_atlas.make(**…)`."""
        return {
            "repo": str(self.repo),
            "base": self.base,
            "head": self.head,
            "instance_id": "example__sums-1",
            "engine": "local",
            "config": str(self.config),
            "out": str(self.out),
            "trust": True,
        }


@pytest.fixture
def pull_request(tmp_path: Path) -> PullRequest:
    """A pull request whose tests take no time."""
    return PullRequest(tmp_path)


@pytest.fixture
def slow_pull_request(tmp_path: Path) -> PullRequest:
    """A pull request whose tests take ten minutes."""
    return PullRequest(tmp_path, slow=True)


@pytest.fixture
def atlas() -> str:
    """The `atlas` program."""
    program = os.environ.get("ATLAS_BIN")
    if not program:
        pytest.skip("ATLAS_BIN does not name the atlas program")
    return program


NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}
"""A node of the cluster below, for `add_node`."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two nodes of Ray on this machine, a processor each, to which this process is connected."""
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'swe-atlas[ray]'")
    utils = pytest.importorskip("ray.cluster_utils")
    # By default Ray's workers come last on a machine that does something else.
    os.environ.setdefault("RAY_worker_niceness", "0")
    made = utils.Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    made.add_node(**NODE)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()
