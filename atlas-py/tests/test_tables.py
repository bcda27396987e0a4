import json
import pickle
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FAILED

import swe_atlas

ROWS: list[dict[str, Any]] = [
    {
        "instance_id": "a__b-1", "repo": "a/b", "stars": 3, "score": 1, "is_new": True,
        "FAIL_TO_PASS": ["t::a", "t::b"], "PASS_TO_PASS": [], "extra": {"deep": [1, None]}, "mixed": "text",
        "numbers": [1, 2], "empty": None,
    },
    {
        "instance_id": "a__b-2", "repo": None, "stars": None, "score": 0.5, "is_new": False,
        "FAIL_TO_PASS": None, "PASS_TO_PASS": ["t::c"], "extra": {}, "mixed": ["list"], "late": "ä\u2028",
    },
]  # fmt: skip

COLUMNS = {
    "instance_id": ["a__b-1", "a__b-2"],
    "repo": ["a/b", None],
    "stars": [3, None],
    "score": [1.0, 0.5],
    "is_new": [True, False],
    "FAIL_TO_PASS": [["t::a", "t::b"], None],
    "PASS_TO_PASS": [[], ["t::c"]],
    "extra": ['{"deep":[1,null]}', "{}"],
    "mixed": ["text", '["list"]'],
    "numbers": ["[1,2]", None],
    "empty": [None, None],
    "late": [None, "ä\u2028"],
}


def dataset() -> swe_atlas.Dataset:
    return swe_atlas.Dataset.from_rows(ROWS)


def test_pyarrow_takes_a_dataset() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(dataset())
    assert table.to_pydict() == COLUMNS
    assert pyarrow.schema(dataset()) == table.schema
    types = {field.name: str(field.type) for field in table.schema}
    assert types["FAIL_TO_PASS"] == "list<item: string>" and types["stars"] == "int64"
    assert (types["score"], types["is_new"], types["empty"]) == ("double", "bool", "string")
    table.validate(full=True)


def test_pandas_takes_a_dataset() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not hasattr(pandas.DataFrame, "from_arrow"):
        pytest.skip("this pandas has no DataFrame.from_arrow")
    frame = pandas.DataFrame.from_arrow(dataset())
    assert list(frame.columns) == list(COLUMNS) and list(frame["instance_id"]) == ["a__b-1", "a__b-2"]
    assert list(frame["FAIL_TO_PASS"][0]) == ["t::a", "t::b"]
    assert json.loads(frame["extra"][0]) == {"deep": [1, None]}


def test_polars_takes_a_dataset() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(dataset())
    assert frame.to_dict(as_series=False) == COLUMNS
    assert frame.schema["FAIL_TO_PASS"] == polars.List(polars.String)
    # Of a stream, whoever's it is, polars makes a series of structs here.
    found = polars.from_arrow(dataset())
    assert found.struct.unnest().equals(frame) if isinstance(found, polars.Series) else found.equals(frame)


def test_duckdb_takes_a_dataset() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = dataset()
    found = duckdb.sql("select instance_id, len(FAIL_TO_PASS) from rows where stars = 3").fetchall()
    assert found == [("a__b-1", 2)] and len(rows) == 2


def test_predictions_name_their_instance_whatever_the_file(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    by_key = {"a__b-1": {"model_patch": "x"}, "a__b-2": {"model_patch": None, "instance_id": "a__b-2"}}
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(by_key))
    found = pyarrow.table(swe_atlas.read_predictions(path)).to_pydict()
    assert found == {"instance_id": ["a__b-1", "a__b-2"], "model_patch": ["x", None]}


def test_a_report_gives_its_lists_as_tables() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    report = swe_atlas.lint(swe_atlas.Dataset.from_rows([{"instance_id": "a__b-1", "patch": ""}]))
    table = report.table()
    assert len(table) == len(report.findings) > 0 and table.columns[:2] == ["code", "severity"]
    assert table.to_dicts() == report.findings
    assert pyarrow.table(table)["code"].to_pylist() == [one["code"] for one in report.findings]
    assert len(report.table("faults")) == 0
    with pytest.raises(swe_atlas.InvalidInputError, match="`rows` is no list of rows: one of .*findings"):
        report.table("rows")
    assert pickle.loads(pickle.dumps(table)) == table
    assert repr(table) == f"Table('findings', {len(table)} rows)"


def test_a_log_gives_its_tests_as_a_table() -> None:
    log = swe_atlas.parse_log(FAILED, "pytest")
    assert log.table().to_dicts() == [
        {"test": "tests/test_sums.py::test_two", "status": "FAILED"},
        {"test": "tests/test_sums.py::test_zero", "status": "PASSED"},
    ]


def test_nothing_is_an_empty_frame() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    empty = pyarrow.table(swe_atlas.Dataset.from_rows([]))
    assert (empty.num_rows, empty.num_columns) == (0, 0)


def test_a_stream_that_nobody_reads_is_let_go() -> None:
    for _ in range(1000):
        dataset().__arrow_c_stream__()
        dataset().__arrow_c_schema__()


def test_a_stream_outlives_its_dataset_and_is_read_in_batches() -> None:
    pyarrow = pytest.importorskip("pyarrow")

    def many() -> Iterator[dict[str, Any]]:
        for at in range(20_000):
            yield {"instance_id": f"a__b-{at}", "patch": "x" * 100}

    reader = pyarrow.RecordBatchReader.from_stream(swe_atlas.Dataset.from_rows(many()))
    sizes = [batch.num_rows for batch in reader]
    assert sizes == [8192, 8192, 3616]


def test_results_are_pickled_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"instance_id": "a__b-1",  "stars": 1e3}\nno row\n\n{"instance_id": "a__b-2"}\n')
    read = swe_atlas.read_dataset(path)
    again = pickle.loads(pickle.dumps(read))
    assert again.to_bytes() == read.to_bytes() == path.read_bytes()
    assert again.faults == read.faults and len(again.faults) == 1
    assert again.rows == read.rows and repr(again) == repr(read)
    assert [row.place for row in again] == [row.place for row in read]
    made = dataset()
    again = pickle.loads(pickle.dumps(made))
    assert again.rows == made.rows and again.to_bytes() == made.to_bytes() and again[0].place is None
    predictions = tmp_path / "predictions.json"
    predictions.write_text('{"a__b-1": {"model_patch": "x"}, "a__b-2": 3}')
    found = swe_atlas.read_predictions(predictions)
    again_found = pickle.loads(pickle.dumps(found))
    assert again_found.to_bytes() == predictions.read_bytes() and again_found.faults == found.faults
    assert again_found.predictions == found.predictions and repr(again_found) == repr(found)


def test_a_conversion_is_pickled_with_its_dataset() -> None:
    row = {
        "instance_id": "a__b-1", "repo": "a/b", "base_commit": "0" * 40, "patch": "", "test_patch": "",
        "problem_statement": "", "FAIL_TO_PASS": [], "PASS_TO_PASS": [], "version": "1",
    }  # fmt: skip
    done = swe_atlas.convert(swe_atlas.Dataset.from_rows([row]), "swebench5", schema="swebench4")
    again = pickle.loads(pickle.dumps(done))
    assert again.to_dict() == done.to_dict() and again.dataset.rows == done.dataset.rows


def test_folders_of_tasks_say_why_they_cannot_be_pickled(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "a__b-1"
    task.mkdir(parents=True)
    row = {
        "instance_id": "a__b-1", "repo": "a/b", "base_commit": "0" * 40, "patch": "diff", "test_patch": "",
        "problem_statement": "x", "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": [], "version": "1",
        "language": "python", "image_name": "i", "test_cmd": "pytest",
    }  # fmt: skip
    swe_atlas.convert(swe_atlas.Dataset.from_rows([row]), "harbor", schema="swebench4", out=tmp_path / "harbor")
    read = swe_atlas.read_dataset(tmp_path / "harbor")
    with pytest.raises(TypeError, match="send its path"):
        pickle.dumps(read)
    again = pickle.loads(pickle.dumps(swe_atlas.Dataset.from_rows(read.rows)))
    assert again.rows == read.rows


def test_python_holds_no_copy_of_a_frame() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    rows = swe_atlas.Dataset.from_rows(
        {"instance_id": f"a__b-{at}", "patch": "x" * 10_000} for at in range(2_000)
    )
    tracemalloc.start()
    table = pyarrow.table(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table.nbytes > 20_000_000 and peak < 1_000_000
