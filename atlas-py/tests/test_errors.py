import copy
import pickle
from pathlib import Path

import pytest

import swe_atlas
from swe_atlas import AtlasError, _swe_atlas

KINDS = _swe_atlas._error_kinds()


def test_every_kind_has_an_exception_of_its_own() -> None:
    unmapped = [kind for kind, name in KINDS if name is None]
    assert unmapped == []
    names = [name for _, name in KINDS]
    assert len(set(names)) == len(names) >= 12
    exported = {
        name
        for name in swe_atlas.__all__
        if name.endswith("Error") and name != "AtlasError"
    }
    assert exported == set(names)


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_an_error_crosses_the_border(kind: str, name: str) -> None:
    with pytest.raises(AtlasError) as caught:
        _swe_atlas._raise(kind)
    error = caught.value
    assert type(error) is getattr(swe_atlas, name)
    assert str(error) == "operation `subject`: its cause"
    assert error.kind == kind
    assert error.blame in {"caller", "environment", "instance", "ambiguous", "atlas"}
    assert error.operation == "operation"
    assert error.subject == "`subject`"
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_pythons_own_words_catch_them_too() -> None:
    assert issubclass(swe_atlas.InvalidInputError, ValueError)
    assert issubclass(swe_atlas.NotFoundError, FileNotFoundError)
    assert issubclass(swe_atlas.TimedOutError, TimeoutError)
    assert issubclass(swe_atlas.IoError, OSError)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent.log") as caught:
        swe_atlas.parse_log(tmp_path / "absent.log", "pytest")
    assert isinstance(caught.value, swe_atlas.NotFoundError)
    assert caught.value.operation == "read"


def test_an_unknown_parser_names_those_there_are() -> None:
    with pytest.raises(ValueError, match="unknown log parser `nope`; known are: .*pytest"):
        swe_atlas.parse_log("", "nope")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"engine": "podman"}, "podman"),
        ({"instance_id": "../up"}, "instance id"),
        ({"config": {"limit": {}}}, "limit"),
        ({}, "no git repository"),
    ],
)
def test_arguments_of_make(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    arguments = {"repo": tmp_path, "out": tmp_path / "out", "base": "a", "head": "b", **changes}
    with pytest.raises(AtlasError, match=says):
        swe_atlas.make(**arguments)  # type: ignore[arg-type]
