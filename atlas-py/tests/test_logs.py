import json
import pickle
import subprocess
from pathlib import Path

import pytest
from conftest import BASE, FAILED, NOTHING, PASSED

import swe_atlas
from swe_atlas import Classification, ParsedLog


def test_content_as_text_bytes_and_file_is_the_same_log(tmp_path: Path) -> None:
    file = tmp_path / "run.log"
    file.write_text(FAILED)
    logs = [
        swe_atlas.parse_log(log, "pytest")
        for log in (FAILED, FAILED.encode(), bytearray(FAILED.encode()), file)
    ]
    assert all(log == logs[0] for log in logs)
    assert logs[0].tests == {
        "tests/test_sums.py::test_two": "FAILED",
        "tests/test_sums.py::test_zero": "PASSED",
    }


def test_bytes_that_are_no_utf8_come_in_as_bytes_or_escaped_text() -> None:
    log = FAILED.encode() + b"\xff\xfe\n"
    escaped = log.decode("utf-8", "surrogateescape")
    assert swe_atlas.parse_log(escaped, "pytest") == swe_atlas.parse_log(log, "pytest")


def test_attributes() -> None:
    log = swe_atlas.parse_log(FAILED, "parse_log_pytest")
    assert log.parser == "pytest"
    assert log.outcome == "completed"
    assert log.totals is not None and log.totals["failed"] == 1
    assert log.consistent is True
    assert log.build_failed is False
    assert log.modules_not_loaded == []
    assert log.in_flight == []
    assert log.duplicates == {"count": 0, "ids": {}}
    assert log.warnings == []
    assert log.detection is None
    assert set(log.qualified.values()) == {"PASSED", "FAILED"}
    assert repr(log) == "ParsedLog(parser='pytest', outcome='completed', tests=2)"


def test_attributes_are_fresh_and_the_object_is_frozen() -> None:
    log = swe_atlas.parse_log(PASSED, "pytest")
    log.tests.clear()
    assert len(log.tests) == 2
    with pytest.raises(AttributeError):
        log.parser = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        hash(log)


def test_auto_finds_the_runner_and_says_how() -> None:
    log = swe_atlas.parse_log(FAILED)
    assert log.parser == "pytest"
    assert log.detection is not None
    assert log.to_dict()["detection"] == log.detection
    assert log.tests == swe_atlas.parse_log(FAILED, "pytest").tests


def test_a_log_travels_by_pickle() -> None:
    for log in (swe_atlas.parse_log(FAILED), swe_atlas.parse_log(NOTHING, "pytest")):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(log, protocol))
            assert again == log
            assert again.to_json() == log.to_json()


def test_a_log_is_equal_to_logs_only() -> None:
    log = swe_atlas.parse_log(FAILED, "pytest")
    assert log != swe_atlas.parse_log(PASSED, "pytest")
    assert log != "log" and log is not None
    assert not log == 1


@pytest.mark.parametrize("wrong", [1, None, ["a"], object()])
def test_what_is_no_log(wrong: object) -> None:
    with pytest.raises(TypeError, match="log: bytes, str"):
        swe_atlas.parse_log(wrong)  # type: ignore[arg-type]


def classified(**changes: object) -> Classification:
    arguments: dict[str, object] = {"base": BASE, "before": FAILED, "after": PASSED, **changes}
    return swe_atlas.classify(**arguments)  # type: ignore[arg-type]


def test_classification() -> None:
    found = classified(parser="pytest")
    assert found.outcome == "instance"
    assert found.kind == "bug_fix"
    assert found.before_failure_extent == "none"
    assert found.fail_to_pass == ["tests/test_sums.py::test_two"]
    assert found.pass_to_pass == ["tests/test_sums.py::test_zero"]
    assert found.pass_to_fail == []
    assert found.unstable == {}
    assert found.fail_to_pass_swebench_rule is None
    assert found.fail_to_pass_rule == "failed_before"
    assert found.module_failures == []
    assert found.transition_counts == {"F2P": 1, "P2P": 1}
    assert [t["class"] for t in found.transitions] == ["F2P", "P2P"]
    assert found.transitions[0]["base"] is None
    assert found.to_dict()["FAIL_TO_PASS"] == found.fail_to_pass
    assert json.loads(found.to_json()) == found.to_dict()
    assert isinstance(found.evidence, list) and isinstance(found.warnings, list)
    assert repr(found) == "Classification(outcome='instance', FAIL_TO_PASS=1, PASS_TO_PASS=1)"
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.to_json() == found.to_json()


def test_logs_of_any_form_classify_alike(tmp_path: Path) -> None:
    file = tmp_path / "after.log"
    file.write_text(PASSED)
    parsed = swe_atlas.parse_log(FAILED, "pytest")
    expected = classified(parser="pytest")
    assert classified(parser="pytest", before=parsed, after=file) == expected
    assert classified(base=BASE.encode(), before=parsed, after=file) == expected


def test_the_runner_is_found_once_for_all_three() -> None:
    # Nothing in Before tells what ran there; After does.
    found = classified(before=NOTHING)
    assert found.outcome == "no_evidence"
    with pytest.raises(swe_atlas.InvalidInputError):
        classified(base=NOTHING, before=NOTHING, after=NOTHING)


def test_patches_are_content_or_files(tmp_path: Path) -> None:
    gold = "--- a/m.py\n+++ b/m.py\n@@ -1 +1,2 @@\n import os\n+def brand_new(): ...\n"
    file = tmp_path / "gold.patch"
    file.write_text(gold)
    from_text = classified(parser="pytest", gold_patch=gold, test_patch=b"")
    assert from_text == classified(parser="pytest", gold_patch=file, test_patch="")
    with pytest.raises(swe_atlas.NotFoundError):
        classified(parser="pytest", gold_patch=tmp_path / "absent.patch")


def test_the_command_prints_the_same(tmp_path: Path, atlas: str) -> None:
    def printed(*arguments: str) -> object:
        command = [atlas, *arguments, "--format", "json"]
        return json.loads(subprocess.run(command, capture_output=True, check=False).stdout)

    files = {}
    for name, text in (("base", BASE), ("before", FAILED), ("after", PASSED)):
        files[name] = tmp_path / name
        files[name].write_text(text)
        assert swe_atlas.parse_log(text).to_dict() == printed("parse", "--qualified", str(files[name]))
        named = swe_atlas.parse_log(text, "pytest").to_dict()
        assert named == printed("parse", "--qualified", "--parser", "pytest", str(files[name]))
    arguments = [argument for name in files for argument in (f"--{name}", str(files[name]))]
    assert classified().to_dict() == printed("classify", *arguments)


def test_types() -> None:
    assert isinstance(swe_atlas.parse_log(PASSED, "pytest"), ParsedLog)
    with pytest.raises(TypeError):
        ParsedLog()
