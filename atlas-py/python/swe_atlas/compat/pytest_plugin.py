"""A pytest plugin that grades beside SWE-bench: `pytest -p swe_atlas.compat.pytest_plugin`.

Whatever a test run grades by `swebench` is graded by Atlas, too; where the two decide otherwise stands at the end of the
run. `--swe-atlas-differences=fail` makes such a run fail.
"""

import pytest

from swe_atlas.compat import swebench

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("swe-atlas")
    group.addoption(
        "--swe-atlas-differences",
        choices=("tell", "fail"),
        default="tell",
        help="what a verdict of SWE-bench that Atlas does not share does to the run [default: tell]",
    )


def pytest_configure(config: pytest.Config) -> None:
    try:
        swebench.install("compare")
    except ImportError as why:
        raise pytest.UsageError(f"swe_atlas.compat.pytest_plugin: {why}") from why


def pytest_sessionfinish(session: pytest.Session) -> None:
    failing = session.config.getoption("swe_atlas_differences") == "fail"
    if failing and swebench.differences() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    found = swebench.differences()
    terminalreporter.section("SWE-bench and Atlas")
    if not found:
        terminalreporter.line("no verdict differs")
    for one in found:
        words = ["resolved" if resolved else "not resolved" for resolved in (one.harness, one.atlas)]
        terminalreporter.line(f"{one.instance_id}: SWE-bench {words[0]}, Atlas {words[1]} ({one.log})")
        for reason in one.reasons:
            terminalreporter.line(f"    {reason}")


def pytest_unconfigure(config: pytest.Config) -> None:
    swebench.uninstall()
