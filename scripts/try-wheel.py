#!/usr/bin/env python3
"""Tries the swe-atlas that is installed beside this Python: versions agree, the command runs, a verdict is reached.

Needs nothing but the installed package, and no network. Prints how long things took.
"""

import importlib.metadata
import subprocess
import sys
import time
from pathlib import Path

start = time.perf_counter()
import swe_atlas  # noqa: E402  (its time is taken)

imported = time.perf_counter() - start

HEAD = "============ test session starts ============\ncollected {} items\n\n"
BASE = HEAD.format(1) + "t.py::test_zero PASSED [100%]\n\n============ 1 passed in 0.01s ============\n"
BEFORE = (
    HEAD.format(2)
    + "t.py::test_zero PASSED [ 50%]\nt.py::test_two FAILED [100%]\n\n"
    + "========== short test summary info ==========\nFAILED t.py::test_two - assert 0 == 4\n"
    + "======= 1 failed, 1 passed in 0.01s =======\n"
)
AFTER = (
    HEAD.format(2)
    + "t.py::test_zero PASSED [ 50%]\nt.py::test_two PASSED [100%]\n\n"
    + "============ 2 passed in 0.01s ============\n"
)


def main() -> None:
    """Ends with an AssertionError where something is not as it should be."""
    version = importlib.metadata.version("swe-atlas")
    assert swe_atlas.__version__ == version, (swe_atlas.__version__, version)
    script = Path(sys.executable).with_name("atlas")
    for command in [[sys.executable, "-m", "swe_atlas"], [str(script)]]:
        said = subprocess.run([*command, "--version"], stdout=subprocess.PIPE, text=True, check=True)
        assert said.stdout.strip() == f"atlas {version}", said.stdout

    start = time.perf_counter()
    found = swe_atlas.classify(BASE, BEFORE, AFTER, "pytest")
    verdict = time.perf_counter() - start
    assert (found.outcome, found.kind) == ("instance", "bug_fix"), found
    assert found.fail_to_pass == ["t.py::test_two"], found.fail_to_pass

    kilobyte = BEFORE * (1000 // len(BEFORE) + 1)
    start = time.perf_counter()
    for _ in range(1000):
        swe_atlas.parse_log(kilobyte, "pytest")
    parse = (time.perf_counter() - start) / 1000
    where = f"Python {sys.version.split()[0]}, {Path(swe_atlas.__file__).parent}"
    print(f"swe-atlas {version} on {where}")
    took = f"import {imported * 1e3:.1f} ms, verdict {verdict * 1e3:.2f} ms"
    print(f"{took}, {len(kilobyte)} bytes of log {parse * 1e6:.1f} us")


if __name__ == "__main__":
    main()
