//! Bad input: each fault is named, and the rest goes on.

use crate::eval_support::{
    SOLVED, eval_here, fault, log, made_here, predictions, regrade, row, store, verdict,
};
use crate::support::{Place, ids};
use serde_json::{Value, json};

/// A row as one line, with a column spoiled as text.
fn line(id: &str, from: &str, to: &str) -> Vec<u8> {
    let text = row(id).to_string();
    assert!(text.contains(from), "{from}: {text}");
    text.replace(from, to).into_bytes()
}

/// The same bytes with one that is no UTF-8 in the place of `?`.
fn spoiled(mut line: Vec<u8>) -> Vec<u8> {
    let at = line.iter().position(|byte| *byte == b'?').unwrap();
    line[at] = 0xff;
    line
}

#[test]
fn a_broken_dataset_is_graded_without_its_broken_rows() {
    let place = Place::new();
    let mut without = row("b__no-base");
    without.as_object_mut().unwrap().remove("base_commit");
    let invalid = spoiled(line("f__bytes-1", "\"double\"", "\"doub?le\""));
    let lines: Vec<Vec<u8>> = vec![
        [b"\xef\xbb\xbf", row("a__good-1").to_string().as_bytes()].concat(), // 1
        b"".to_vec(),
        b"{\"instance_id\": \"x\", ".to_vec(),          // 3
        without.to_string().into_bytes(),               // 4
        row("a__good-1").to_string().into_bytes(),      // 5
        line("e__half-1", "\"double\"", "\"\\ud83d\""), // 6
        invalid,                                        // 7
        b"   ".to_vec(),
        line("g__nan-1", "\"version\":\"1\"", "\"version\":NaN"), // 9
        line("h__list-1", "[\"t.py::test_new\"]", "{\"a\": 1}"),  // 10
        b"[1, 2]".to_vec(),                                       // 11
        line("../../up", "double", "double"),                     // 12
        row("a__good-2").to_string().into_bytes(),                // 13
        b"{\"patch\": \"\"}".to_vec(),                            // 14
    ];
    std::fs::write(place.path("rows.jsonl"), lines.join(&b"\n"[..])).unwrap();
    store(&place, "gold", "a__good-1", log("PASSED").as_bytes());
    store(&place, "gold", "a__good-2", log("FAILED").as_bytes());
    let done = regrade(&place, "rows.jsonl", "gold", &[]);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    assert_eq!(done.stderr(), "");
    let report = done.json();
    assert_eq!(ids(&report, "resolved_ids"), ["a__good-1"]);
    assert_eq!(ids(&report, "unresolved_ids"), ["a__good-2"]);
    assert_eq!(report["total_instances"], 2);
    for (line, field, word) in [
        (3, None, "repair"),
        (4, Some("base_commit"), "b__no-base"),
        (5, Some("instance_id"), "(line 1)"),
        (6, Some("problem_statement"), "surrogate"),
        (7, Some("problem_statement"), "0xff"),
        (9, Some("version"), "NaN"),
        (10, Some("FAIL_TO_PASS"), "list of texts"),
        (11, None, "object"),
        (12, Some("instance_id"), "rename"),
        (14, Some("instance_id"), "instance_id"),
    ] {
        let fault = fault(&report, "rows.jsonl", line);
        assert_eq!(fault["field"].as_str(), field, "{fault}");
        assert!(fault["message"].as_str().unwrap().contains(word), "{fault}");
    }
    assert_eq!(report["faults"].as_array().unwrap().len(), 10);

    let text = place.run(&[
        "regrade",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "gold",
        "--logs",
        "logs",
    ]);
    let text = text.stdout();
    assert!(
        text.contains("rows.jsonl:4: column `base_commit`:"),
        "{text}"
    );
}

#[test]
fn broken_predictions_are_left_out_and_the_others_graded() {
    let place = Place::new();
    let rows = format!("{}\n{}\n", row("a__good-1"), row("a__good-2"));
    std::fs::write(place.path("rows.jsonl"), rows).unwrap();
    for model in ["m", "n"] {
        store(&place, model, "a__good-1", log("PASSED").as_bytes());
    }
    let of = |id: &str, model: &str, patch: &str| {
        format!(
            r#"{{"instance_id": "{id}", "model_name_or_path": "{model}", "model_patch": {patch}}}"#
        )
        .into_bytes()
    };
    let lines: Vec<Vec<u8>> = vec![
        [&b"\xef\xbb\xbf"[..], &of("a__good-1", "m", "null")].concat(), // 1
        of("a__good-1", "m", "\"diff\""),                               // 2: counts
        b"".to_vec(),
        of("x__unknown-1", "m", "\"diff\""), // 4
        of("a__good-2", "m", "7"),           // 5
        br#"{"model_name_or_path": "m", "model_patch": "diff"}"#.to_vec(), // 6
        of("a__good-2", "m", "\"\\udc00\""), // 7
        spoiled(of("a__good-2", "m", "\"?\"")), // 8
        b"null".to_vec(),                    // 9
        of("a__good-1", "n", "\"diff\""),    // 10: another model, no duplicate
        br#"{"instance_id": "a__good-2", "model_patch": null}"#.to_vec(), // 11
        br#"{"instance_id": "a__good-2", "model_name_or_path": "o"}"#.to_vec(), // 12
        of("a__good-2", "org/p", "null"),    // 13
        of("a__good-2", "org__p", "null"),   // 14
    ];
    std::fs::write(place.path("p.jsonl"), lines.join(&b"\n"[..])).unwrap();
    let done = regrade(&place, "rows.jsonl", "p.jsonl", &[]);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let report = done.json();
    assert_eq!(ids(&report, "resolved_ids"), ["a__good-1"]);
    assert_eq!(ids(&report, "incomplete_ids"), ["a__good-2"]);
    for (line, field, word) in [
        (2, Some("instance_id"), "line 1"),
        (4, Some("instance_id"), "no instance of the dataset"),
        (5, Some("model_patch"), "text or null"),
        (6, Some("instance_id"), "instance_id"),
        (7, Some("model_patch"), "surrogate"),
        (8, Some("model_patch"), "UTF-8"),
        (9, None, "object"),
        (11, Some("model_name_or_path"), "None"),
        (12, Some("model_patch"), "null"),
        (14, Some("model_name_or_path"), "one folder"),
    ] {
        let fault = fault(&report, "p.jsonl", line);
        assert_eq!(fault["field"].as_str(), field, "{fault}");
        assert!(fault["message"].as_str().unwrap().contains(word), "{fault}");
    }
    assert_eq!(
        report["faults"].as_array().unwrap().len(),
        10,
        "{:#}",
        report["faults"]
    );
}

#[test]
fn what_cannot_be_read_at_all_is_one_message() {
    let place = Place::new();
    std::fs::write(place.path("rows.jsonl"), row("a__b-1").to_string()).unwrap();
    std::fs::write(place.path("empty.jsonl"), "").unwrap();
    std::fs::write(place.path("blank.jsonl"), "\n  \n").unwrap();
    std::fs::write(place.path("broken.jsonl"), "{\"instance_id\": 1}\n").unwrap();
    std::fs::create_dir(place.path("folder")).unwrap();
    std::fs::create_dir(place.path("logs")).unwrap();
    let strangers = r#"{"instance_id": "x__y-1", "model_name_or_path": "m", "model_patch": ""}"#;
    std::fs::write(place.path("strangers.jsonl"), strangers).unwrap();
    for (dataset, predictions, logs, says) in [
        (
            "absent.jsonl",
            "gold",
            "logs",
            ["absent.jsonl", "No such file"],
        ),
        (
            "empty.jsonl",
            "gold",
            "logs",
            ["empty.jsonl", "no usable row"],
        ),
        (
            "blank.jsonl",
            "gold",
            "logs",
            ["blank.jsonl", "no usable row"],
        ),
        (
            "broken.jsonl",
            "gold",
            "logs",
            ["broken.jsonl", "line 1: column `instance_id`"],
        ),
        ("folder", "gold", "logs", ["folder", "task.yaml"]),
        (
            "rows.jsonl",
            "absent.jsonl",
            "logs",
            ["absent.jsonl", "No such file"],
        ),
        (
            "rows.jsonl",
            "empty.jsonl",
            "logs",
            ["empty.jsonl", "no usable prediction"],
        ),
        (
            "rows.jsonl",
            "broken.jsonl",
            "logs",
            ["broken.jsonl", "line 1: column `instance_id`"],
        ),
        (
            "rows.jsonl",
            "strangers.jsonl",
            "logs",
            ["x__y-1", "is it the dataset"],
        ),
        ("rows.jsonl", "folder", "logs", ["folder", "directory"]),
        ("rows.jsonl", "gold", "absent", ["absent", "No such file"]),
        (
            "rows.jsonl",
            "gold",
            "rows.jsonl",
            ["rows.jsonl", "it is a file"],
        ),
    ] {
        let args = [
            "regrade",
            "--dataset",
            dataset,
            "--predictions",
            predictions,
            "--logs",
            logs,
        ];
        let done = place.run(&args);
        assert_eq!(done.code(), 1, "{args:?}: {}", done.stdout());
        assert_eq!(
            done.stderr().trim_end().lines().count(),
            1,
            "{}",
            done.stderr()
        );
        for word in says {
            assert!(
                done.stderr().contains(word),
                "{args:?} says {word}: {}",
                done.stderr()
            );
        }
        if logs == "logs" {
            let args = [
                "eval",
                "--dataset",
                dataset,
                "--predictions",
                predictions,
                "--run-id",
                "r",
                "--engine",
                "local",
                "--trust",
            ];
            let done = place.run(&args);
            assert_eq!(done.code(), 1, "{args:?}: {}", done.stdout());
            assert!(
                done.stderr().contains(says[1]),
                "{args:?}: {}",
                done.stderr()
            );
        }
    }
    let done = regrade(&place, "rows.jsonl", "gold", &["--instance-ids", "a__b-2"]);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("no row of that name"),
        "{}",
        done.stderr()
    );
    for run in ["a/b", "../up", "", ".hidden"] {
        let done = place.run(&[
            "eval",
            "--dataset",
            "rows.jsonl",
            "--predictions",
            "gold",
            "--run-id",
            run,
        ]);
        assert_eq!(done.code(), 2, "{run}: {}", done.stderr());
        assert!(
            done.stderr().contains("letters, digits"),
            "{}",
            done.stderr()
        );
    }
    assert!(!place.path("logs/run_evaluation").exists());
}

#[test]
fn one_bad_log_does_not_stop_the_others() {
    let place = Place::new();
    let names = ["a__b-1", "a__b-2", "a__b-3", "a__b-4", "a__b-5"];
    let rows: Vec<String> = names.iter().map(|id| row(id).to_string()).collect();
    std::fs::write(place.path("rows.jsonl"), rows.join("\n")).unwrap();
    let mut invalid = log("PASSED").into_bytes();
    let at = invalid.iter().position(|byte| *byte == b'=').unwrap();
    invalid.splice(at..at, *b"\xff\xfe\n");
    store(&place, "gold", "a__b-1", log("PASSED").as_bytes());
    store(&place, "gold", "a__b-2", &invalid);
    let folder = store(&place, "gold", "a__b-3", b"");
    std::fs::remove_file(folder.join("test_output.txt")).unwrap();
    // A log that is there, and cannot be opened.
    std::os::unix::fs::symlink("test_output.txt", folder.join("test_output.txt")).unwrap();
    // Two runs of one model: which one is meant?
    store(&place, "one/gold", "a__b-4", log("PASSED").as_bytes());
    store(&place, "two/gold", "a__b-4", log("FAILED").as_bytes());
    let done = regrade(
        &place,
        "rows.jsonl",
        "gold",
        &["--against", "compat-swebench5"],
    );
    assert_eq!(
        done.code(),
        1,
        "two predictions have no evidence: {}",
        done.stderr()
    );
    let report = done.json();
    assert_eq!(ids(&report, "resolved_ids"), ["a__b-1", "a__b-2"]);
    assert_eq!(ids(&report, "error_ids"), ["a__b-3", "a__b-4", "a__b-5"]);
    let faults = report["faults"].to_string();
    assert!(faults.contains("another log of `a__b-4`"), "{faults}");
    assert!(faults.contains("a__b-3"), "{faults}");
    assert_eq!(report["bounds"]["lower"], 0.4);
    assert_eq!(report["bounds"]["upper"], 1.0);
    // Bytes that are no UTF-8 are read here, and end the harness's reading.
    let changes = report["changes"].as_array().unwrap();
    assert!(
        changes
            .iter()
            .any(|change| change["instance_id"] == "a__b-2" && change["from"] == "not resolved"),
        "{changes:?}"
    );
    let compat = regrade(
        &place,
        "rows.jsonl",
        "gold",
        &["--mode", "compat-swebench5"],
    );
    assert_eq!(compat.code(), 1, "{}", compat.stderr());
    let report = compat.json();
    assert_eq!(ids(&report, "resolved_ids"), ["a__b-1"]);
    assert!(ids(&report, "error_ids").contains(&"a__b-2".to_owned()));
    let second = &report["instances"][1]["verdict"];
    assert_eq!(second["outcome"], "no_evidence");
    assert_eq!(second["cause"], "harness");
    assert!(second["reasons"].to_string().contains("raises"), "{second}");
}

#[test]
fn strange_patches_are_no_worse_than_unfit_ones() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let new = |path: &str, mode: &str, text: &str| {
        json!(format!(
            "diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n\
             @@ -0,0 +1 @@\n+{text}\n"
        ))
    };
    let binary = "diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex 0000000..e69de29\n\
                  Binary files /dev/null and b/x.bin differ\n";
    let link = "diff --git a/calc/out b/calc/out\nnew file mode 120000\n--- /dev/null\n+++ b/calc/out\n\
                @@ -0,0 +1 @@\n+../../../../etc/passwd\n\\ No newline at end of file\n";
    let through = format!(
        "{link}diff --git a/calc/out/x b/calc/out/x\nnew file mode 100644\n--- /dev/null\n\
         +++ b/calc/out/x\n@@ -0,0 +1 @@\n+x\n"
    );
    let long = "m".repeat(300);
    let all = [
        ("null", json!(null), "null_patch", false),
        ("empty", json!(""), "empty_patch", false),
        ("white", json!(" \n\t\n"), "not_applied", false),
        (
            "prose",
            json!("I changed `double` so that it works."),
            "not_applied",
            false,
        ),
        ("binary", json!(binary), "not_applied", false),
        (
            "up",
            new("../up.py", "100644", "x = 1"),
            "not_applied",
            false,
        ),
        (
            "root",
            new("/etc/x.py", "100644", "x = 1"),
            "not_applied",
            false,
        ),
        (
            "git",
            new(".git/hooks/pre-commit", "100755", "x"),
            "not_applied",
            false,
        ),
        ("through", json!(through), "not_applied", false),
        ("org/good", json!(SOLVED), "graded", true),
        ("..", json!(SOLVED), "graded", true),
        (&*long, json!(SOLVED), "graded", true),
    ];
    let lines: Vec<(&str, &str, Value)> = all
        .iter()
        .map(|(model, patch, ..)| (&*id, *model, patch.clone()))
        .collect();
    predictions(&place, &lines);
    let done = place.run(&eval_here("strange", &["--out", "done"]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    for (model, _, outcome, resolved) in &all {
        let verdict = verdict(&report, model);
        assert_eq!(verdict["outcome"], *outcome, "{verdict:#}");
        assert_eq!(verdict["resolved"], *resolved, "{verdict:#}");
        if !resolved {
            assert!(
                verdict["reasons"][0]
                    .as_str()
                    .is_some_and(|why| !why.is_empty())
            );
            assert!(verdict["cause"].is_string(), "{verdict}");
        }
    }
    let root = place.path("done/logs/run_evaluation/strange");
    let mut names: Vec<String> = std::fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.contains(&"org__good".to_owned()), "{names:?}");
    assert!(
        !place.path("done/logs/run_evaluation").join(&id).exists(),
        "{names:?}"
    );
    assert_eq!(
        names.iter().filter(|name| name.contains('~')).count(),
        2,
        "{names:?}"
    );
    assert!(place.path("done/org__good.strange.json").exists());
}

#[test]
fn ten_thousand_rows_with_a_broken_one() {
    let place = Place::new();
    let count = 10_000;
    let mut text = String::new();
    for number in 0..count {
        let row = row(&format!("a__b-{number}")).to_string();
        text.push_str(if number == 5_000 { &row[..100] } else { &row });
        text.push('\n');
    }
    std::fs::write(place.path("rows.jsonl"), text).unwrap();
    store(&place, "gold", "a__b-7", log("PASSED").as_bytes());
    store(&place, "gold", "a__b-9999", log("FAILED").as_bytes());
    let report = regrade(&place, "rows.jsonl", "gold", &[]).json();
    assert_eq!(report["total_instances"], count - 1);
    assert_eq!(ids(&report, "resolved_ids"), ["a__b-7"]);
    assert_eq!(ids(&report, "unresolved_ids"), ["a__b-9999"]);
    fault(&report, "rows.jsonl", 5_001);
    // Two folders and three files for each: a part of them shows that it works.
    let text = std::fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let part: String = text
        .lines()
        .skip(4_000)
        .take(2_000)
        .collect::<Vec<_>>()
        .join("\n");
    std::fs::write(place.path("part.jsonl"), part).unwrap();
    let done = place.run(&[
        "eval",
        "--dataset",
        "part.jsonl",
        "--predictions",
        "null",
        "--run-id",
        "null",
        "--engine",
        "local",
        "--trust",
        "--out",
        "done",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["reports"]["null"]["empty_patch_instances"], 1_999);
    fault(&report, "part.jsonl", 1_001);
}

#[test]
fn a_prediction_is_not_graded_by_the_log_of_another_model() {
    let place = Place::new();
    std::fs::write(place.path("rows.jsonl"), row("a__good-1").to_string()).unwrap();
    store(&place, "solver", "a__good-1", log("PASSED").as_bytes());
    let patches = [
        ("a__good-1", "solver", json!(SOLVED)),
        ("a__good-1", "other", json!(SOLVED)),
        ("a__good-1", "nothing", json!("")),
    ];
    predictions(&place, &patches);
    for mode in ["strict", "compat-swebench5"] {
        let done = regrade(&place, "rows.jsonl", "predictions.jsonl", &["--mode", mode]);
        let report = done.json();
        let resolved = |model| {
            let all = report["instances"].as_array().unwrap();
            let mut all = all.iter().map(|one| &one["verdict"]);
            let own = all.find(|one| one["model_name_or_path"] == model).unwrap();
            own["resolved"] == true
        };
        assert!(resolved("solver"), "{mode}: {report}");
        assert!(
            !resolved("other") && !resolved("nothing"),
            "{mode}: {report}"
        );
    }
    // A log in a folder without a model's name belongs to the only model that is graded.
    std::fs::rename(place.path("logs/solver"), place.path("logs/somewhere")).unwrap();
    predictions(&place, &patches[..1]);
    let done = regrade(&place, "rows.jsonl", "predictions.jsonl", &[]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
}
