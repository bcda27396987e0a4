import json
import pickle

import pytest

import swe_atlas
from swe_atlas import Instance

# Spaces, an escaped letter, a float's spelling, an integer beyond 64 bits: none may change.
LINE = (
    '{"instance_id": "a__b-1", "repo":"a/b", "patch": "diff \\u00e9\\n", "test_patch": "",'
    ' "FAIL_TO_PASS": "[\\"t1\\", \\"t2\\"]", "PASS_TO_PASS": ["t3"], "mine": {"x": [1e3, null]},'
    ' "big": 123456789012345678901234567890, "hints_text": null}'
)


def test_a_row_is_written_as_it_was_read() -> None:
    for text in (LINE, LINE.encode(), f"  {LINE}\r\n"):
        assert Instance.from_json(text).to_json() == LINE


def test_columns() -> None:
    row = Instance.from_json(LINE)
    assert row.instance_id == "a__b-1"
    assert row.fail_to_pass == ["t1", "t2"]
    assert row.pass_to_pass == ["t3"]
    assert row.patch == "diff é\n"
    assert row.test_patch == ""
    assert repr(row) == "Instance('a__b-1', 9 columns)"


def test_a_row_is_a_mapping_of_all_its_columns() -> None:
    row, expected = Instance.from_json(LINE), json.loads(LINE)
    assert dict(row) == expected
    assert {**row} == expected
    assert row.to_dict() == expected
    assert list(row) == row.keys() == list(expected)
    assert row.values() == list(expected.values())
    assert row.items() == list(expected.items())
    assert len(row) == 9
    assert row["mine"] == {"x": [1000.0, None]}
    assert row["big"] == 123456789012345678901234567890
    assert "mine" in row and "yours" not in row and 1 not in row
    assert row.get("repo") == "a/b"
    assert row.get("hints_text", "x") is None
    assert row.get("yours") is None
    assert row.get("yours", 3) == 3
    with pytest.raises(KeyError, match="yours"):
        row["yours"]


def test_from_a_dict_and_by_pickle() -> None:
    row = Instance.from_json(LINE)
    assert Instance.from_dict(row.to_dict()) == row
    assert Instance.from_dict(row) == row  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(row))
    assert again == row and again.to_json() == LINE
    assert row != Instance.from_json('{"instance_id": "a__b-2"}')
    assert row != LINE
    with pytest.raises(TypeError):
        hash(row)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON object"),
        ("[1]", "no JSON object"),
        ("{}", "instance_id"),
        ('{"instance_id": "../etc"}', "instance_id"),
        ('{"instance_id": 7}', "instance_id"),
        (b'{"instance_id": "\xff"}', "utf-8"),
    ],
)
def test_what_is_no_row(text: str | bytes, says: str) -> None:
    with pytest.raises(swe_atlas.InvalidInputError, match=says):
        Instance.from_json(text)


def test_a_column_of_the_wrong_kind_is_named_when_it_is_asked_for() -> None:
    row = Instance.from_json('{"instance_id": "a", "FAIL_TO_PASS": "no list", "patch": 1}')
    with pytest.raises(swe_atlas.InvalidInputError, match="FAIL_TO_PASS"):
        row.fail_to_pass  # noqa: B018
    with pytest.raises(swe_atlas.InvalidInputError, match="patch"):
        row.patch  # noqa: B018
    with pytest.raises(swe_atlas.InvalidInputError, match="test_patch"):
        row.test_patch  # noqa: B018
    assert row.pass_to_pass == []


def test_what_json_cannot_say() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Instance.from_dict({"instance_id": "a", "x": float("nan")})
    with pytest.raises(TypeError):
        Instance.from_dict({"instance_id": "a", "x": object()})
