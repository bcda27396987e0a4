import ast
import doctest
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import swe_atlas
from swe_atlas import _swe_atlas, testing

HERE = Path(__file__).parent


def test_the_readme_is_true() -> None:
    results = doctest.testfile(str(HERE.parent / "README.md"), module_relative=False)
    assert results.attempted > 10
    assert results.failed == 0


def test_version_and_exports() -> None:
    assert swe_atlas.__version__ == importlib.metadata.version("swe-atlas")
    assert all(hasattr(swe_atlas, name) for name in swe_atlas.__all__)
    assert sorted(swe_atlas.__all__) == swe_atlas.__all__


def test_the_stubs_agree_with_the_binary() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "swe_atlas", "--concise"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_stubs_say_what_the_binary_says() -> None:
    stub = Path(inspect.getfile(swe_atlas)).with_name("_swe_atlas.pyi")
    compared = 0
    for item in ast.parse(stub.read_text()).body:
        if not isinstance(item, (ast.ClassDef, ast.FunctionDef)):
            continue
        real = getattr(_swe_atlas, item.name)
        pairs = [(item, real)]
        if isinstance(item, ast.ClassDef):
            members = [m for m in item.body if isinstance(m, ast.FunctionDef)]
            pairs += [(m, getattr(real, m.name)) for m in members if m.name[0] != "_"]
        for written, real in pairs:
            if text := ast.get_docstring(written):
                assert inspect.getdoc(real) == text, written.name
                compared += 1
    assert compared > 60


def test_help_tells_of_the_attributes_of_reports() -> None:
    reports = [value for value in vars(swe_atlas).values() if isinstance(value, type) and issubclass(value, _swe_atlas.NativeReport)]
    told = 0
    for report in reports:
        assert report.__module__ == "swe_atlas" and getattr(swe_atlas, report.__name__) is report
        for kind in report.__mro__:
            for name in inspect.get_annotations(kind):
                assert len(inspect.getdoc(getattr(report, name)) or "") > 3, (report, name)
                told += 1
    assert len(reports) == 16 and told > 120
    assert inspect.getdoc(swe_atlas.EvalReport.run_id) == "The run's name."


def test_an_argument_of_another_type_is_named() -> None:
    for wrong, kind in ((["x"], TypeError), (-1, OverflowError)):
        with pytest.raises(kind, match="argument 'jobs'"):
            swe_atlas.audit("rows.jsonl", jobs=wrong, run=True)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'job'"):
        swe_atlas.audit("rows.jsonl", job=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'job'"):
        testing.check_sandbox(None, "rows.jsonl", "a__b-1", job=1)  # type: ignore[arg-type, call-arg]


def test_the_command_comes_with_the_package(tmp_path: Path) -> None:
    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "swe_atlas", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("--version").stdout.strip() == f"atlas {swe_atlas.__version__}"
    (tmp_path / "log").write_text(
        "======= test session starts =======\ncollected 1 item\n\nt.py::test_a PASSED [100%]\n\n"
        "======= 1 passed in 0.01s =======\n"
    )
    parsed = run("parse", "log", "--parser", "pytest", "--format", "json")
    assert parsed.returncode == 0, parsed.stderr
    assert '"t.py::test_a"' in parsed.stdout
    wrong = run("parze")
    assert wrong.returncode == 2 and "parse" in wrong.stderr
    missing = run("parse", "nothing")
    assert missing.returncode == 1 and "nothing" in missing.stderr
    scripts = importlib.metadata.entry_points(group="console_scripts", name="atlas")
    assert [script.value for script in scripts] == ["swe_atlas.__main__:main"]
