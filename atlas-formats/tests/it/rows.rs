//! Rows of every schema, written for these tests.

use atlas_formats::{Row, Schema};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(crate) const BASE: &str = "e83c5163316f89bfbde7d9ab23ca2e25604af290";

pub(crate) const GOLD: &str = "\
diff --git a/lib/sum.py b/lib/sum.py
index 1111111..2222222 100644
--- a/lib/sum.py
+++ b/lib/sum.py
@@ -1,2 +1,3 @@
 def total(items):
-    return sum(items[1:])
+    # all of them, the first too
+    return sum(item for item in items)
";

pub(crate) const TEST: &str = "\
diff --git a/tests/test_sum.py b/tests/test_sum.py
index 3333333..4444444 100644
--- a/tests/test_sum.py
+++ b/tests/test_sum.py
@@ -1 +1,3 @@
 from lib.sum import total
+def test_all():
+    assert total([1, 2]) == 3
";

pub(crate) const SCRIPT: &str = "#!/bin/bash
set -uxo pipefail
cd /testbed
: '>>>>> Start Test Output'
pytest -rA tests/test_sum.py
: '>>>>> End Test Output'
";

/// A good row of version 5, as an object.
pub(crate) fn v5() -> Value {
    json!({
        "repo": "acme/sum",
        "instance_id": "acme__sum-12",
        "base_commit": BASE,
        "patch": GOLD,
        "test_patch": TEST,
        "problem_statement": "total() forgets the first item\n\nSee the title. Ünïcode 😀.",
        "hints_text": "",
        "created_at": "2024-05-31T12:00:00Z",
        "version": "1.2",
        "FAIL_TO_PASS": "[\"tests/test_sum.py::test_all\"]",
        "PASS_TO_PASS": "[\"tests/test_sum.py::test_none\", \"tests/test_sum.py::test_p[a b-1]\"]",
        "environment_setup_commit": BASE,
        "image": "swebench/sweb.eval.x86_64.acme_1776_sum-12:latest",
        "eval_script": SCRIPT,
        "log_parser": "parse_log_pytest",
        "eval_type": "pass_and_fail",
    })
}

pub(crate) fn v4() -> Value {
    let mut row = v5();
    let columns = row.as_object_mut().unwrap();
    for column in ["image", "eval_script", "log_parser", "eval_type"] {
        columns.shift_remove(column);
    }
    row
}

pub(crate) fn multi() -> Value {
    json!({
        "org": "acme",
        "repo": "sum",
        "number": 12,
        "state": "closed",
        "title": "Sum all",
        "body": null,
        "base": {"label": "acme:main", "ref": "main", "sha": BASE},
        "resolved_issues": [{"number": 11, "title": "total() is wrong", "body": "It forgets one."}],
        "fix_patch": GOLD,
        "test_patch": TEST,
        "fixed_tests": {
            "all": {"run": "NONE", "test": "FAIL", "fix": "PASS"},
            "skipped": {"run": "SKIP", "test": "SKIP", "fix": "PASS"},
            "new": {"run": "NONE", "test": "NONE", "fix": "PASS"}
        },
        "p2p_tests": {"none": {"run": "PASS", "test": "PASS", "fix": "PASS"}},
        "f2p_tests": {"all": {"run": "NONE", "test": "FAIL", "fix": "PASS"}},
        "s2p_tests": {"skipped": {"run": "SKIP", "test": "SKIP", "fix": "PASS"}},
        "n2p_tests": {"new": {"run": "NONE", "test": "NONE", "fix": "PASS"}},
        "run_result": {"passed_count": 1, "failed_count": 0, "skipped_count": 1,
            "passed_tests": ["none"], "failed_tests": [], "skipped_tests": ["skipped"]},
        "test_patch_result": {"passed_count": 1, "failed_count": 1, "skipped_count": 1,
            "passed_tests": ["none"], "failed_tests": ["all"], "skipped_tests": ["skipped"]},
        "fix_patch_result": {"passed_count": 4, "failed_count": 0, "skipped_count": 0,
            "passed_tests": ["none", "all", "skipped", "new"], "failed_tests": [], "skipped_tests": []},
        "tag": "",
        "lang": "python",
    })
}

/// One good row of each schema that is a file.
pub(crate) fn flat() -> Vec<(Schema, Value)> {
    let common = |rest: Value| -> Value {
        let mut row = json!({
            "repo": "acme/sum",
            "instance_id": "acme__sum-12",
            "base_commit": BASE,
            "patch": GOLD,
            "test_patch": TEST,
            "problem_statement": "total() forgets the first item",
        });
        let columns = row.as_object_mut().unwrap();
        columns.extend(rest.as_object().unwrap().clone());
        row
    };
    let bug = atlas_formats::reverse(&atlas_core::Patch::new(GOLD)).unwrap();
    vec![
        (Schema::SwebenchV4, v4()),
        (Schema::SwebenchV5, v5()),
        (
            Schema::SwebenchPp,
            common(json!({
                "hints_text": "", "created_at": "2024-05-31", "version": "12",
                "FAIL_TO_PASS": "['tests/test_sum.py::test_all']",
                "PASS_TO_PASS": "[]",
                "environment_setup_commit": BASE,
                "language": "Python",
                "environment_config": "{\"python\": \"3.11\", \"test_cmd\": [\"pytest -rA\"], \"log_parser_name\": \"pytest\"}",
            })),
        ),
        (
            Schema::SwebenchPpDelivery,
            json!({
                "repo": "acme/sum", "instance_id": "acme__sum-12", "base_commit": BASE,
                "gold_patch": GOLD, "test_patch": TEST, "problem_statement": "p",
                "fail_to_pass": ["t"], "pass_to_pass": [], "language": "Go",
                "spec_dict": {"test_cmd": "go test -v ./...", "log_parser_name": "gotest"},
            }),
        ),
        (Schema::MultiSwebench, multi()),
        (
            Schema::SwebenchLive,
            common(json!({
                "pull_number": "12", "issue_numbers": ["11"], "hints_text": "h",
                "all_hints_text": "more", "commit_urls": ["https://example.org/c"],
                "created_at": "2025-01-02T03:04:05Z", "rebuild_cmds": ["make"],
                "test_cmds": ["pytest -rA"], "print_cmds": ["cat log"], "log_parser": "pytest",
                "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": ["u"], "docker_image": "live/acme:12",
            })),
        ),
        (
            Schema::Pro,
            common(json!({
                "requirements": "- sums all", "interface": "none", "repo_language": "python",
                "fail_to_pass": "['test_all', \"it's\"]", "pass_to_pass": "[]",
                "selected_test_files_to_run": "['tests/test_sum.py']",
                "before_repo_set_cmd": "git checkout x", "dockerhub_tag": "acme.sum-12",
            })),
        ),
        (
            Schema::Rebench,
            common(json!({
                "created_at": 1_717_156_800_000_i64, "version": "1.2",
                "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": ["u"], "language": "python",
                "image_name": "rebench/acme-sum:12",
                "install_config": {"install": ["pip install ."], "test_cmd": ["pytest"], "log_parser": "parse_log_pytest"},
                "meta": {"llm_metadata": [{"code": "A", "confidence": 0.98}]},
            })),
        ),
        (
            Schema::Smith,
            json!({
                "instance_id": "acme__sum.1234abcd.func_pm_remove__k3x9",
                "repo": "swesmith/acme__sum.1234abcd",
                "patch": bug.as_text().unwrap(),
                "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": ["u"],
                "image_name": "swesmith/acme.sum", "problem_statement": "p",
            }),
        ),
        (
            Schema::R2e,
            json!({
                "repo_name": "sum", "docker_image": "r2e/sum_final:12", "commit_hash": BASE,
                "parsed_commit_content": "{\"old_commit_hash\": \"e83c5163316f89bfbde7d9ab23ca2e25604af291\"}",
                "modified_files": ["lib/sum.py"], "prompt": "q", "problem_statement": "p",
                "expected_output_json": "{\"test_all\": \"PASSED\", \"test_bad\": \"FAILED\"}",
            }),
        ),
    ]
}

/// As Python's `json.dumps` writes it: the form of most published rows.
pub(crate) fn dumped(value: &Value) -> String {
    let text = python(value);
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

fn python(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(python).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let items: Vec<_> = map
                .iter()
                .map(|(key, item)| format!("{}: {}", json!(key), python(item)))
                .collect();
            format!("{{{}}}", items.join(", "))
        }
        other => other.to_string(),
    }
}

pub(crate) fn row(value: &Value) -> Row {
    dumped(value).parse().unwrap()
}
