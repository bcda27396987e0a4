//! `atlas judge-bench`: candidates, packing, asking and measuring.

use crate::judging::lines;
use crate::support::{Done, Place};
use atlas_core::{Instance, Patch, TestList};
use atlas_judge::critic::extract_tests;
use atlas_judge::variant::{Opaque, file_changes};
use atlas_pipeline::{BenchPatch, JudgeBench};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const BASE: &str = "def total(a, b):\n    return a\n\n\ndef other():\n    return 1\n";
const GOLD: &str = "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1,5 +1,6 @@\n def total(a, b):\n-    return a\n\
                    +    result = sum([a, b])\n+    return result\n \n \n def other():\n";
const TESTS: &str = "diff --git a/test_m.py b/test_m.py\nnew file mode 100644\n--- /dev/null\n+++ b/test_m.py\n@@ -0,0 +1,6 @@\n\
                     +from m import total\n+\n+\n+def test_total():\n+    assert total(1, 2) == 3\n+    assert total(2, 2) == 4\n";

fn row(id: &str) -> Value {
    json!({
        "instance_id": id, "repo": "o/n", "base_commit": "0".repeat(40), "patch": GOLD, "test_patch": TESTS,
        "problem_statement": "total gives its first argument alone", "language": "python", "log_parser": "pytest",
        "FAIL_TO_PASS": ["test_m.py::test_total"], "PASS_TO_PASS": ["test_m.py::test_old"], "extra": "not kept",
    })
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn write(place: &Place, name: &str, items: &[Value]) {
    let text = items
        .iter()
        .fold(String::new(), |text, item| text + &item.to_string() + "\n");
    let path = place.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Each of them is a patch of its own, for the same question is asked once.
fn patch(id: &str, name: &str, is_right: bool) -> Value {
    let failed: &[&str] = if is_right {
        &[]
    } else {
        &["test_m.py::test_total"]
    };
    let mut text = GOLD.replace("result", &format!("result_{}", &id[5..]));
    if !is_right {
        text = text.replace("[a, b]", "[a, a]");
    }
    json!({
        "instance_id": id, "model_name_or_path": "rules", "patch_id": name, "kind": name, "resolved": is_right,
        "failed_tests": failed, "model_patch": text,
    })
}

/// A benchmark of two tasks with two patches each.
fn small(place: &Place) {
    let about = json!({"format": 1, "name": "small", "version": 2, "about": "for tests"});
    std::fs::create_dir_all(place.path("bench")).unwrap();
    std::fs::write(place.path("bench/bench.json"), about.to_string()).unwrap();
    write(
        place,
        "bench/instances.jsonl",
        &[row("o__n-1"), row("o__n-2")],
    );
    let patches: Vec<Value> = ["o__n-1", "o__n-2"]
        .iter()
        .flat_map(|id| [patch(id, "gold", true), patch(id, "near-miss-1", false)])
        .collect();
    write(place, "bench/patches.jsonl", &patches);
    let files =
        ["o__n-1", "o__n-2"].map(|id| json!({"instance_id": id, "path": "m.py", "text": BASE}));
    write(place, "bench/files.jsonl", &files);
}

fn run(place: &Place, more: &[&str]) -> Done {
    let args = [
        "judge-bench",
        "run",
        "--bench",
        "bench",
        "--out",
        "out",
        "--format",
        "json",
    ];
    place.run(&[&args[..], more].concat())
}

#[test]
fn every_judge_has_its_rows_and_a_second_run_asks_nothing() {
    let place = Place::new();
    small(&place);
    let done = run(&place, &["--model", "noise:7", "-j", "2"]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(
        (
            &report["bench"]["name"],
            &report["patches"],
            &report["resolved"]
        ),
        (&json!("small"), &json!(4), &json!(2))
    );
    let rows = report["rows"].as_array().unwrap();
    let names: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|row| {
            (
                row["judge"].as_str().unwrap(),
                row["policy"].as_str().unwrap(),
            )
        })
        .collect();
    for expected in [
        ("abstain-r1", "abstention"),
        ("abstain-r2", "abstention"),
        ("review-specification", "validation"),
        ("critic-isolated", "validation"),
        ("critic-holistic", "validation"),
        ("critic-change-aware", "validation"),
        ("critic-problem", "validation"),
        ("critic-problem-hints", "validation"),
    ] {
        assert!(names.contains(&expected), "{expected:?} of {names:?}");
    }
    // No patch has a trajectory.
    assert!(!names.iter().any(|(judge, _)| *judge == "review-trajectory"));

    // The row of the holistic critic, counted from its own lines.
    let said = lines(&place, "out/noise_7/critic-holistic.jsonl");
    let is_right = |line: &Value| line["patch_id"] == "gold";
    let shown: Vec<&Value> = said.iter().filter(|line| line["label"] == "pass").collect();
    let right = shown.iter().filter(|line| is_right(line)).count();
    let found = rows
        .iter()
        .find(|row| row["judge"] == "critic-holistic" && row["policy"] == "validation")
        .unwrap();
    assert_eq!(
        (&found["judged"], &found["shown"]),
        (&json!(4), &json!(shown.len()))
    );
    #[expect(clippy::cast_precision_loss, reason = "at most four")]
    let precision = (!shown.is_empty()).then(|| right as f64 / shown.len() as f64);
    assert_eq!(found["precision"], json!(precision));
    let paid: u64 = said
        .iter()
        .map(|line| line["paid"]["calls"].as_u64().unwrap_or(0))
        .sum();
    assert_eq!(found["costs"]["calls"], json!(paid));
    assert!(paid >= 4);

    let page = std::fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(
        page.contains("Judges: quality and cost") && page.contains("Judges on small, version 2")
    );
    let table = std::fs::read_to_string(place.path("out/table.md")).unwrap();
    assert_eq!(table.lines().count(), rows.len() + 2);

    let again = run(&place, &["--model", "noise:7"]).json();
    for run in again["runs"].as_array().unwrap() {
        assert_eq!(run["known"], run["items"], "{run}");
    }
    assert_eq!(again["rows"], report["rows"]);
}

#[test]
fn several_models_stand_in_one_table_and_a_budget_is_gone_on_with() {
    let place = Place::new();
    small(&place);
    let judge = [
        "--judge",
        "critic-problem,abstain-r2",
        "--model",
        "noise:1",
        "--model",
        "noise:2",
    ];
    let stopped = run(&place, &[&judge[..], &["--budget", "calls=3"]].concat());
    assert_eq!(stopped.code(), 1, "{}", stopped.stderr());
    let first = stopped.json();
    let run_of = |at: usize| first["runs"][at].clone();
    assert_eq!(
        (run_of(0)["judge"].as_str(), run_of(0)["left"].as_u64()),
        (Some("critic-problem"), Some(1))
    );
    assert!(run_of(0)["stopped"].is_string(), "{first}");
    let done = run(&place, &judge);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let models: BTreeMap<String, usize> =
        done.json()["rows"]
            .as_array()
            .unwrap()
            .iter()
            .fold(BTreeMap::new(), |mut counts, row| {
                *counts
                    .entry(row["model"].as_str().unwrap().to_owned())
                    .or_default() += 1;
                counts
            });
    assert_eq!(models.len(), 2, "{models:?}");
    assert_eq!(models["noise:1"], models["noise:2"]);

    // Committees and cascades of them stand in the same table.
    let ensembles = ["--ensemble", "mean", "--ensemble", "cascade=0.4..0.6"];
    let done = run(&place, &[&judge[..], &ensembles].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    let costs = |model: &str| {
        let rows = report["rows"].as_array().unwrap();
        let of_critic = rows
            .iter()
            .find(|row| row["model"] == model && row["judge"] == "critic-problem");
        of_critic.unwrap()["costs"]["calls"].as_u64().unwrap()
    };
    let single = costs("noise:1");
    assert_eq!(costs("mean of all"), single + costs("noise:2"));
    let cascade = costs("cascade=0.4..0.6 of all");
    assert!(
        (single..=costs("mean of all")).contains(&cascade),
        "{report}"
    );
}

#[test]
fn a_dry_run_asks_and_writes_nothing() {
    let place = Place::new();
    small(&place);
    let done = run(
        &place,
        &[
            "--model",
            "noise:7",
            "--judge",
            "critic-problem",
            "--dry-run",
        ],
    );
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let found = done.json();
    assert_eq!(found[0]["questions"], 4, "{found}");
    assert!(!place.path("out").exists());
}

#[test]
fn faults_of_a_benchmark_name_their_line() {
    for (file, line, said) in [
        ("instances.jsonl", json!({"repo": "o/n"}), "line 3"),
        (
            "patches.jsonl",
            patch("o__n-9", "gold", true),
            "line 5: no row is named `o__n-9`",
        ),
        (
            "patches.jsonl",
            patch("o__n-1", "gold", true),
            "line 5: `gold` stands there twice",
        ),
        (
            "patches.jsonl",
            json!({"instance_id": "o__n-1"}),
            "patches.jsonl`, line 5",
        ),
        (
            "patches.jsonl",
            json!({"instance_id": "o__n-1", "model_name_or_path": "m", "patch_id": "1", "resolved": true,
                   "failed_tests": ["test_m.py::test_none"], "model_patch": GOLD}),
            "line 5: `test_m.py::test_none` is in no list of its row",
        ),
        (
            "files.jsonl",
            json!({"instance_id": "o__n-1", "path": "../m.py", "text": ""}),
            "line 3: `../m.py`",
        ),
    ] {
        let place = Place::new();
        small(&place);
        let path = place.path(&format!("bench/{file}"));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{line}\n")).unwrap();
        let done = run(&place, &["--model", "noise:7"]);
        assert_eq!(done.code(), 1);
        assert!(done.stderr().contains(said), "{said}: {}", done.stderr());
    }
    let place = Place::new();
    let done = run(&place, &["--model", "noise:7", "--judge", "oracle"]);
    assert_eq!(done.code(), 2);
    assert!(
        done.stderr().contains("critic-problem-hints"),
        "{}",
        done.stderr()
    );
}

#[test]
fn candidates_become_a_benchmark_once_they_were_run() {
    let place = Place::new();
    write(&place, "rows.jsonl", &[row("o__n-1"), row("o__n-2")]);
    for id in ["o__n-1", "o__n-2"] {
        std::fs::create_dir_all(place.path(&format!("base/{id}"))).unwrap();
        std::fs::write(place.path(&format!("base/{id}/m.py")), BASE).unwrap();
    }
    let done = place.run(&[
        "judge-bench",
        "candidates",
        "--dataset",
        "rows.jsonl",
        "--instance-ids",
        "o__n-1",
        "--repos",
        "base",
        "--out",
        "candidates.jsonl",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let made = lines(&place, "candidates.jsonl");
    let names: Vec<&str> = made
        .iter()
        .map(|line| line["patch_id"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "gold",
            "perturbed-1",
            "perturbed-2",
            "stub",
            "breaks",
            "wrong-place",
            "nothing"
        ]
    );

    // Verdicts on all but one of them.
    for line in made.iter().filter(|line| line["patch_id"] != "breaks") {
        let text = line["model_patch"].as_str().unwrap();
        let hash = sha256(text);
        let is_right =
            ["gold", "perturbed-1", "perturbed-2"].contains(&line["patch_id"].as_str().unwrap());
        let end = |ids: &[&str], is_right: bool| {
            if is_right {
                json!({"success": ids, "failure": []})
            } else {
                json!({"success": [], "failure": ids})
            }
        };
        let verdict = json!({
            "instance_id": "o__n-1", "model_name_or_path": line["patch_id"], "patch_sha256": hash, "resolved": is_right,
            "outcome": "graded", "FAIL_TO_PASS": end(&["test_m.py::test_total"], is_right),
            "PASS_TO_PASS": end(&["test_m.py::test_old"], true),
        });
        let folder = place.path(&format!("runs/{hash}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("verdict.json"), verdict.to_string()).unwrap();
    }
    let done = place.run(&[
        "judge-bench",
        "pack",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "candidates.jsonl",
        "--evaluation",
        "runs",
        "--repos",
        "base",
        "--maker",
        "rules",
        "--name",
        "mine",
        "--out",
        "packed",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(
        (
            &report["instances"],
            &report["patches"],
            &report["resolved"]
        ),
        (&json!(1), &json!(6), &json!(3))
    );
    let faults = report["faults"].to_string();
    assert!(
        faults.contains("o__n-1/breaks/breaks") && faults.contains("`o__n-2`: no patch"),
        "{faults}"
    );
    let patches = lines(&place, "packed/patches.jsonl");
    assert!(
        patches
            .iter()
            .all(|line| line["model_name_or_path"] == "rules")
    );
    assert_eq!(patches[0]["failed_tests"], json!([]));
    assert_eq!(patches[3]["failed_tests"], json!(["test_m.py::test_total"]));
    assert_eq!(lines(&place, "packed/files.jsonl")[0]["text"], BASE);
    assert!(
        lines(&place, "packed/instances.jsonl")[0]
            .get("extra")
            .is_none()
    );
    let done = place.run(&[
        "judge-bench",
        "run",
        "--bench",
        "packed",
        "--out",
        "out",
        "--model",
        "noise:3",
        "--judge",
        "critic-isolated",
    ]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert!(
        done.stdout()
            .contains("6 patches of 1 tasks, 3 of them right"),
        "{}",
        done.stdout()
    );
}

#[test]
fn an_evaluation_becomes_facts_on_tests_near_a_patch() {
    let place = Place::new();
    let mut row = row("o__n-1");
    row["PASS_TO_PASS"] = json!([
        "tests/test_near.py::test_old[1]",
        "tests/test_near.py::test_same",
        "tests/test_far.py::test_other",
        "test_gone.py::test_nowhere"
    ]);
    write(&place, "rows.jsonl", &[row]);
    for (path, text) in [
        ("m.py", BASE),
        (
            "tests/test_near.py",
            "from m import total\n\ndef test_old(x):\n    pass\n\ndef test_same():\n    pass\n",
        ),
        (
            "tests/test_far.py",
            "import other\n\ndef test_other():\n    pass\n",
        ),
    ] {
        let path = place.path(&format!("base/o__n-1/{path}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let good = patch("o__n-1", "good", true);
    let bad = patch("o__n-1", "bad", false);
    let mut unrun = patch("o__n-1", "unrun", false);
    unrun["model_patch"] = json!(GOLD.replace("result", "never"));
    write(&place, "p.jsonl", &[good.clone(), bad.clone(), unrun]);
    for (line, passes) in [(good, true), (bad, false)] {
        let hash = sha256(line["model_patch"].as_str().unwrap());
        let mut success = vec![
            "tests/test_near.py::test_same",
            "tests/test_far.py::test_other",
        ];
        let mut failure = vec![];
        let old = "tests/test_near.py::test_old[1]";
        if passes {
            success.push(old);
        } else {
            failure.push(old);
        }
        let verdict = json!({
            "instance_id": "o__n-1", "model_name_or_path": "rules", "patch_sha256": hash, "resolved": passes,
            "outcome": "graded", "FAIL_TO_PASS": {"success": [], "failure": ["test_m.py::test_total"]},
            "PASS_TO_PASS": {"success": success, "failure": failure},
        });
        let folder = place.path(&format!("runs/{hash}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("verdict.json"), verdict.to_string()).unwrap();
    }
    let inputs = ["--dataset", "rows.jsonl", "--predictions", "p.jsonl"];
    let facts = [
        "facts",
        "--evaluation",
        "runs",
        "--repos",
        "base",
        "--out",
        "facts.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&[&facts[..], &inputs].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(
        [
            count("patches"),
            count("with_targets"),
            count("with_regressions"),
            count("without_verdict"),
            count("tests_without_file")
        ],
        [2, 2, 1, 1, 1]
    );
    let found = lines(&place, "facts.jsonl");
    assert_eq!(
        found[0]["test_facts"]["targets"],
        json!([{
            "name": "tests/test_near.py", "direct_dependencies": ["m.py"], "before": "passed", "after": "passed",
        }])
    );

    // What the regression check makes of them, without any model.
    let review = [
        "review",
        "--mode",
        "deterministic",
        "--facts",
        "facts.jsonl",
        "--out",
        "review.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&[&review[..], &inputs].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let said: BTreeMap<String, bool> = lines(&place, "review.jsonl")
        .iter()
        .map(|line| {
            let name = line["patch_id"].as_str().unwrap().to_owned();
            (name, line["accepted"].as_bool().unwrap())
        })
        .collect();
    let expected = [("bad", false), ("good", true), ("unrun", true)];
    assert_eq!(
        said,
        expected
            .map(|(name, accepted)| (name.to_owned(), accepted))
            .into()
    );
}

#[test]
fn the_shipped_benchmark_is_whole() {
    let bench = JudgeBench::shipped().unwrap();
    assert!(bench.rows.len() >= 12 && bench.patches.len() >= 60);
    let languages: BTreeSet<&str> = bench
        .rows
        .iter()
        .map(|row| row["language"].as_str().unwrap())
        .collect();
    assert!(languages.len() >= 5, "{languages:?}");
    for row in &bench.rows {
        let instance = Instance::from_map(row.clone()).unwrap();
        let id = instance.id().unwrap().to_string();
        assert!(
            row["problem_statement"].as_str().unwrap().len() > 100,
            "{id}"
        );
        let files: BTreeMap<String, Vec<u8>> = bench
            .files
            .iter()
            .filter(|file| file.instance_id == id)
            .map(|file| (file.path.clone(), file.text.clone().into_bytes()))
            .collect();
        let list = |list: &TestList| -> Vec<String> { list.ids.to_vec() };
        let fail = list(&instance.fail_to_pass().unwrap());
        let pass = list(&instance.pass_to_pass().unwrap());
        // What an isolated critic is asked about.
        let found = extract_tests(&instance.test_patch().unwrap(), &files, &fail, &pass).unwrap();
        assert!(found.tests.iter().any(|test| !test.ids.is_empty()), "{id}");
        let of_row: Vec<&BenchPatch> = bench
            .patches
            .iter()
            .filter(|patch| patch.instance_id == id)
            .collect();
        for patch in &of_row {
            let all_pass = fail.iter().chain(&pass).all(|test| patch.passes(test));
            assert_eq!(patch.resolved, all_pass, "{id} {}", patch.patch_id);
            let read = Patch::new(patch.model_patch.clone());
            for file in file_changes(&read, &files).unwrap() {
                assert_ne!(
                    file.opaque(),
                    Some(Opaque::NoBase),
                    "{id} {}: {}",
                    patch.patch_id,
                    file.file.path()
                );
            }
        }
        let truth = |kind: &str| -> BTreeSet<bool> {
            let of_kind = of_row
                .iter()
                .filter(|patch| patch.kind.as_deref() == Some(kind));
            of_kind.map(|patch| patch.resolved).collect()
        };
        assert_eq!(truth("gold"), [true].into(), "{id}");
        assert_eq!(truth("nothing"), [false].into(), "{id}");
        assert_eq!(truth("stub"), [false].into(), "{id}");
    }
}
