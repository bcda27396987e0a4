//! `atlas abstain` over files, with scripted models.

use super::{abstain, label_rule, lines, row, three_rows, write_lines};
use serde_json::json;

#[test]
fn abstention_is_resumable() {
    let place = three_rows();
    // No rule for b: it fails, and does not stop the others.
    write_lines(
        &place,
        "script.jsonl",
        &[label_rule("a", 0.8), label_rule("c", 0.3)],
    );
    let done = abstain(&place, &[]);
    assert_eq!(done.code(), 1, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["done"], 2);
    assert_eq!(report["failed"][0]["key"], "o__n-b");
    assert_eq!(report["ledger"]["prompt_tokens"], 200);
    let found = lines(&place, "abstain.jsonl");
    let names: Vec<_> = found
        .iter()
        .map(|line| line["key"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["o__n-a", "o__n-b", "o__n-c"]);
    assert_eq!(found[1]["error"]["kind"], "model");

    // Killed in the middle of a line, and put right: only what is missing is asked.
    let text = std::fs::read_to_string(place.path("abstain.jsonl")).unwrap();
    std::fs::write(place.path("abstain.jsonl"), &text[..text.len() - 40]).unwrap();
    write_lines(
        &place,
        "script.jsonl",
        &[label_rule("b", 0.6), label_rule("c", 0.3)],
    );
    let done = abstain(&place, &[]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!((&report["known"], &report["done"]), (&json!(1), &json!(2)));
    assert_eq!(
        (&report["attempt"], &report["abstain"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["features"]["attempt"]["reports"], 2);
    assert_eq!(report["features"]["attempt"]["code_like_identifiers"], 1.0);
    let found = lines(&place, "abstain.jsonl");
    assert!((found[0]["abstention"]["probability"].as_f64().unwrap() - 0.8).abs() < 1e-9);
    assert_eq!(found[2]["abstention"]["attempt"], false);
    assert_eq!(found[2]["abstention"]["source"], "label_top_logprobs");
    assert_eq!(
        found[0]["judgement"]["details"]["prompt_version"],
        "abstention.v1"
    );

    // A row that changed is asked about again, the others are not.
    let mut rows = ["a", "b", "c"].map(row);
    rows[1]["problem_statement"] = json!("Title b\nquite another text");
    write_lines(&place, "rows.jsonl", &rows);
    write_lines(&place, "script.jsonl", &[label_rule("b", 0.2)]);
    let report = abstain(&place, &[]).json();
    assert_eq!(
        (&report["known"], &report["abstain"]),
        (&json!(2), &json!(2))
    );

    // Done is done.
    let before = std::fs::read(place.path("abstain.jsonl")).unwrap();
    let done = abstain(&place, &[]);
    assert_eq!(
        (done.code(), &done.json()["ledger"]["calls"]),
        (0, &json!(0))
    );
    assert_eq!(std::fs::read(place.path("abstain.jsonl")).unwrap(), before);
}

#[test]
fn results_of_other_settings_are_not_mixed() {
    let place = three_rows();
    write_lines(
        &place,
        "script.jsonl",
        &["a", "b", "c"].map(|id| label_rule(id, 0.8)),
    );
    assert_eq!(abstain(&place, &[]).code(), 0);
    let done = abstain(&place, &["--tau", "0.9"]);
    assert_eq!(done.code(), 1);
    for part in ["abstain.jsonl", "line 1", "`policy.tau` was 0.5 and is 0.9"] {
        assert!(done.stderr().contains(part), "{part}: {}", done.stderr());
    }
    std::fs::write(place.path("abstain.jsonl"), "{\"mine\": 1}\n").unwrap();
    let done = abstain(&place, &[]);
    assert!(done.stderr().contains("no `key`"), "{}", done.stderr());
    assert_eq!(lines(&place, "abstain.jsonl"), [json!({"mine": 1})]);
    std::fs::write(place.path("abstain.jsonl"), "no json\n{}\n").unwrap();
    let done = abstain(&place, &[]);
    assert!(done.stderr().contains("line 1"), "{}", done.stderr());
}

#[test]
fn a_budget_ends_a_run_in_order() {
    let place = three_rows();
    write_lines(
        &place,
        "script.jsonl",
        &["a", "b", "c"].map(|id| label_rule(id, 0.8)),
    );
    let done = abstain(&place, &["--budget", "calls=2"]);
    assert_eq!(done.code(), 1, "{}", done.stderr());
    let report = done.json();
    assert_eq!((&report["done"], &report["left"]), (&json!(2), &json!(1)));
    let why = report["stopped"].as_str().unwrap();
    assert!(
        why.contains("2 calls") && why.contains("raise the budget"),
        "{why}"
    );
    assert_eq!(report["ledger"]["calls"], 2);
    assert_eq!(lines(&place, "abstain.jsonl").len(), 2);
    // It goes on from there; the budget is no setting of the results.
    let done = abstain(&place, &["--budget", "calls=9,tokens=100k"]);
    assert_eq!((done.code(), &done.json()["known"]), (0, &json!(2)));
    assert_eq!(abstain(&place, &["--budget", "many"]).code(), 1);
    // What costs nothing leaves no exchanges behind.
    assert!(!place.path("abstain.jsonl.exchanges").exists());
}

#[test]
fn side_by_side_is_the_same_as_one_by_one() {
    let place = three_rows();
    let run = |out: &str, jobs: &str| {
        let args = [
            "abstain",
            "--dataset",
            "rows.jsonl",
            "--model",
            "noise:7",
            "--out",
            out,
            "-j",
            jobs,
        ];
        let done = place.run(&args);
        assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
        assert!(
            done.stdout().contains("3 items: 0 known"),
            "{}",
            done.stdout()
        );
        std::fs::read(place.path(out)).unwrap()
    };
    assert_eq!(run("one.jsonl", "1"), run("three.jsonl", "3"));
}

/// Where a path begins that counts as the repository's is the user's to say.
#[test]
fn roots_of_paths_are_an_option() {
    let place = three_rows();
    let mut rows = ["a", "b", "c"].map(row);
    rows[1]["problem_statement"] = json!("Title b\n\nSee mono/x.");
    write_lines(&place, "rows.jsonl", &rows);
    for (out, more, roots) in [
        ("1.jsonl", &[][..], [true, false, true]),
        ("2.jsonl", &["--root", "mono/"], [false, true, false]),
    ] {
        let mut args = vec!["abstain", "--dataset", "rows.jsonl", "--model", "noise:1"];
        args.extend(["--out", out]);
        args.extend(more);
        assert_eq!(place.run(&args).code(), 0);
        let found = lines(&place, out);
        let has = found
            .iter()
            .map(|line| line["judgement"]["details"]["features"]["repository_root"] == true);
        assert_eq!(has.collect::<Vec<_>>(), roots);
    }
}

#[test]
fn prompts_are_shown_without_a_model() {
    let place = three_rows();
    let done = place.run(&[
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--show-prompt",
        "--max-steps",
        "7",
        "--tool",
        "grep=look for words",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    for part in [
        "##### o__n-a",
        "Title c",
        "`grep` to look for words",
        "7 steps",
    ] {
        assert!(done.stdout().contains(part), "{part}: {}", done.stdout());
    }
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "gold",
        "--instance-ids",
        "o__n-b",
        "--show-prompt",
        "--format",
        "json",
    ]);
    let shown = done.json();
    assert_eq!(shown.as_array().unwrap().len(), 2);
    assert!(
        shown[1]["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("+x = 2")
    );
    // Without it, both are needed.
    assert_eq!(place.run(&["abstain", "--dataset", "rows.jsonl"]).code(), 2);
    let done = place.run(&[
        "abstain",
        "--dataset",
        "none.jsonl",
        "--model",
        "noise:1",
        "--out",
        "x",
    ]);
    assert_eq!(done.code(), 1);
    let done = place.run(&[
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        "what",
        "--out",
        "x",
    ]);
    assert!(
        done.code() == 1 && done.stderr().contains("what"),
        "{}",
        done.stderr()
    );
}
