import json
import pickle
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE, FAILED, PASSED, PullRequest, declared
from test_metrics import results

import swe_atlas

ATTACK = "<script>attack()</script><img src=x onerror=attack()>\"'</style></svg></details>"


class Shape(HTMLParser):
    """The elements of a fragment, with its attributes, and what is seen of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.open)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(value: Any) -> Shape:
    """What a notebook shows of it: whole elements, nothing that runs or loads, one style of its own."""
    declared(value)
    html = value._repr_html_()
    shape = Shape(html)
    assert shape.open == [] and html.startswith('<div class="swe-atlas">')
    assert not {"script", "img", "iframe", "link", "object"} & set(shape.elements)
    assert not {name for name in shape.attributes if name.startswith("on") or name in ("href", "src")}
    return shape


def drawn(svg: str | None) -> str:
    assert svg is not None and svg.startswith("<svg class=\"swe-atlas-") and 'role="img"' in svg
    assert 'xmlns="http://www.w3.org/2000/svg"' in svg and svg.rstrip().endswith("</svg>")
    return svg


def test_a_dataset_shows_its_first_rows_and_a_count_fast() -> None:
    rows = swe_atlas.Dataset.from_rows(
        {
            "instance_id": f"a__b-{at}", "repo": "a/b", "problem_statement": "word " * 100,
            "patch": "+x\n" * 50, "FAIL_TO_PASS": ["t::a", "t::b"],
        }
        for at in range(50_000)
    )  # fmt: skip
    started = time.perf_counter()
    html = rows._repr_html_()
    took = time.perf_counter() - started
    shape = shown(rows)
    assert "rows (50000)" in shape.text and "a__b-19" in shape.text and "a__b-20" not in shape.text
    assert "49980 further rows are not shown" in shape.text
    assert len(html) < 30_000 and took < 0.05, (len(html), took)


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    row = {"instance_id": "a__b-1", "patch": ATTACK, ATTACK: ATTACK, "list": [ATTACK, ATTACK], "repo": ATTACK}
    rows = swe_atlas.Dataset.from_rows([row])
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"instance_id": ATTACK}) + "\n" + json.dumps(row) + "\n")
    log = swe_atlas.parse_log(FAILED.replace("::test_two", f"::test_two[{ATTACK}]"), "pytest")
    assert any("attack()" in test for test in log.tests)
    predictions = tmp_path / "predictions.json"
    predictions.write_text(json.dumps([{"instance_id": "a__b-1", "model_name_or_path": ATTACK, "model_patch": ATTACK}]))
    verdict = swe_atlas.PatchVerdict(
        instance_id=ATTACK, resolved=False, cause=ATTACK, reasons=[ATTACK],
        FAIL_TO_PASS={"success": [], "failure": [ATTACK]},
    )  # fmt: skip
    for value in (
        rows, rows[0], swe_atlas.read_dataset(path), log, verdict, swe_atlas.lint(rows), swe_atlas.audit(rows),
        swe_atlas.read_predictions(predictions), swe_atlas.read_predictions(predictions)[0],
        swe_atlas.lint(rows).table(), swe_atlas.Instance.from_dict(row),
    ):  # fmt: skip
        assert "attack()" in shown(value).text or isinstance(
            value, (swe_atlas.LintReport, swe_atlas.AuditReport, swe_atlas.Table)
        ), value
    results(tmp_path / "results.jsonl")
    text = (tmp_path / "results.jsonl").read_text().replace('"agent": "a"', '"agent": ' + json.dumps(ATTACK))
    (tmp_path / "results.jsonl").write_text(text)
    analysis = swe_atlas.measure(tmp_path / "results.jsonl", resamples=10)
    assert "attack()" in json.dumps(analysis.to_dict())
    shown(analysis)


def test_a_log_and_a_classification() -> None:
    log = swe_atlas.parse_log(FAILED, "pytest")
    text = shown(log).text
    assert "pytest" in text and text.index("test_two") < text.index("test_zero") and "tests (2)" in text
    assert "FAILED" in drawn(log.to_svg())
    found = swe_atlas.classify(BASE, FAILED, PASSED, "pytest")
    text = shown(found).text
    assert found.reason in text and "tests in FAIL_TO_PASS (1)" in text
    assert "F2P" in drawn(found.to_svg()) and len(found.table()) == len(found.transitions)
    assert swe_atlas.parse_log("", "pytest").to_svg() is None


def test_a_made_instance_and_its_evaluation(pull_request: PullRequest) -> None:
    made = swe_atlas.make(**pull_request.arguments)
    assert "example__sums-1" in shown(made).text and " s</text>" not in drawn(made.to_svg())[:200]
    dataset = pull_request.out / "dataset.jsonl"
    arguments: dict[str, Any] = {
        "repos": pull_request.repo, "out": pull_request.out.with_name("runs"), "config": pull_request.config,
        "results": pull_request.out.with_name("results"), "engine": "local", "trust": True,
    }  # fmt: skip
    gold = swe_atlas.read_dataset(dataset)[0]["patch"]
    one = {"instance_id": "example__sums-1"}
    report = swe_atlas.evaluate(
        dataset,
        [
            one | {"model_name_or_path": "good", "model_patch": gold},
            one | {"model_name_or_path": "bad", "model_patch": gold.replace("a + b", "a - b - 0")},
        ],
        "r",
        **arguments,
    )
    text = shown(report).text
    assert "1 of 2 predictions resolve their instance" in text and "good" in text and "bad" in text
    svg = drawn(report.to_svg())
    assert "resolved" in svg and "unresolved: model" in svg
    table = report.table()
    assert [row["resolved"] for row in table.to_dicts()] == [row["resolved"] for row in report.verdicts]
    assert [row["key"] for row in report.table("bounds").to_dicts()] == ["bad", "good"]
    board = swe_atlas.leaderboard(dataset, {model: [one] for model, one in report.reports.items()}, k=[1])
    assert "good" in shown(board).text and "100 %" in drawn(board.to_svg())
    assert [row["model"] for row in board.table().to_dicts()] == ["good", "bad"]
    with swe_atlas.Evaluator(dataset, **arguments) as evaluator:
        verdict = evaluator.grade("example__sums-1", gold)
    assert type(verdict) is swe_atlas.PatchVerdict and verdict["resolved"] is True
    again = pickle.loads(pickle.dumps(verdict))
    assert type(again) is swe_atlas.PatchVerdict and again == verdict == dict(verdict)
    assert json.loads(json.dumps(verdict)) == verdict
    text = shown(verdict).text
    assert "resolves example__sums-1" in text and "test_two" in text
    validated = swe_atlas.validate(
        dataset, gates=["null_patch"], engine="local", config=pull_request.config,
        out=pull_request.out.with_name("gates"), trust=True,
    )  # fmt: skip
    assert "1 of 1 instances pass as they are" in shown(validated).text
    assert "null_patch" in drawn(validated.to_svg())


def test_an_analysis_draws_curves(tmp_path: Path) -> None:
    found = swe_atlas.measure(results(tmp_path / "results.jsonl"), resamples=10)
    figures = found.figures()
    titles = {name.rsplit(": ", 1)[1] for name in figures}
    assert {"Precision against recall", "Reliability", "Filtered success@k"} <= titles
    for svg in figures.values():
        drawn(svg)
    shape = shown(found)
    assert shape.elements.count("style") == len(figures) + 1
    assert "8 results on 4 tasks" in shape.text
    assert pickle.loads(pickle.dumps(found)).figures() == figures


def test_styles_stay_within(tmp_path: Path) -> None:
    found = swe_atlas.measure(results(tmp_path / "results.jsonl"), resamples=10)
    styles = re.findall(r"<style>(.*?)</style>", found._repr_html_(), re.DOTALL)
    selectors = [rule.split("{")[0].strip() for style in styles for rule in style.split("}")]
    assert len(styles) > 3 and all(one.startswith(".swe-atlas") for one in selectors if one)


def test_the_example_is_a_notebook_without_outputs_that_runs() -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for module in ("ipykernel", "pandas", "pyarrow", "tqdm"):
        pytest.importorskip(module)
    path = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    pages = [
        output.data["text/html"]
        for cell in cells
        for output in cell.outputs
        if output.output_type == "execute_result" and "text/html" in output.data
    ]
    assert sum("swe-atlas" in page for page in pages) >= 9
    text = "".join(pages)
    assert "1 of 2 predictions resolve their instance" in text and "does not resolve demo__wordwrap-1" in text


@pytest.mark.parametrize("name", sorted(set(swe_atlas.__all__)))
def test_every_result_is_shown(name: str) -> None:
    value = getattr(swe_atlas, name)
    is_result = isinstance(value, type) and (
        name.endswith("Report")
        or name in {"Analysis", "Classification", "Conversion", "Dataset", "Instance", "Leaderboard", "ParsedLog"}
        or name in {"Prediction", "Predictions", "Row", "Table", "PatchVerdict"}
    )
    if is_result:
        assert callable(getattr(value, "_repr_html_", None)), name
        assert value.__reduce__ is not object.__reduce__ or issubclass(value, dict), name
