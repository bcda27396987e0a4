import ast
import doctest
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import swe_atlas
from swe_atlas import _swe_atlas

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
