//! `atlas review` over files, with scripted models.

use super::*;
use atlas_pipeline::judge::metrics::results::read_results;

/// Two agents with one patch each for one instance: what was seen of one is nothing of the other.
#[test]
fn what_is_known_of_a_patch_is_of_that_patch() {
    let place = three_rows();
    let candidate = |agent: &str, value: &str| {
        json!({
            "instance_id": "o__n-a", "model_name_or_path": agent, "patch_id": "p",
            "model_patch": patch(value),
        })
    };
    write_lines(
        &place,
        "predictions.jsonl",
        &[candidate("org/x", "x = 2"), candidate("y", "x = 3")],
    );
    for (folder, observation) in [("org__x", "1 passed"), ("y", "1 failed")] {
        let folder = place.path(&format!("trajs/{folder}"));
        std::fs::create_dir_all(&folder).unwrap();
        let trajectory = json!([{"action": "pytest", "observation": observation}]);
        std::fs::write(folder.join("o__n-a.traj"), trajectory.to_string()).unwrap();
    }
    // A failing target of one of the two.
    let facts = |agent: Option<&str>| {
        json!({"instance_id": "o__n-a", "agent": agent, "test_facts": {"targets": [
            {"name": "t", "direct_dependencies": ["src/a.py"], "before": "passed", "after": "failed"}]}})
    };
    let review = |more: &[&str]| {
        let mut args = vec![
            "review",
            "--dataset",
            "rows.jsonl",
            "--mode",
            "deterministic",
        ];
        args.extend(["--predictions", "predictions.jsonl", "--format", "json"]);
        args.extend(more);
        let done = place.run(&args);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        let report = done.json();
        let labels = report["results"].as_array().unwrap();
        let labels = labels
            .iter()
            .map(|one| one["label"].as_str().unwrap().to_owned());
        (labels.collect::<Vec<_>>(), report["faults"].clone())
    };
    let (labels, faults) = review(&["--trajectories", "trajs", "--out", "1.jsonl"]);
    assert_eq!(labels, ["accept", "reject"]);
    assert_eq!(faults, json!([]));
    write_lines(&place, "facts.jsonl", &[facts(Some("org/x"))]);
    let (labels, _) = review(&["--facts", "facts.jsonl", "--out", "2.jsonl"]);
    assert_eq!(labels, ["reject", "accept"]);
    // Whose it is stands nowhere: it is used for neither, and said.
    write_lines(&place, "facts.jsonl", &[facts(None)]);
    let (labels, faults) = review(&["--facts", "facts.jsonl", "--out", "3.jsonl"]);
    assert_eq!(labels, ["accept", "accept"]);
    let said = faults[0]["message"].as_str().unwrap();
    assert!(said.contains("not used for patch `p` of `org/x`"), "{said}");
    assert_eq!(faults.as_array().unwrap().len(), 2);
    std::fs::rename(
        place.path("trajs/y/o__n-a.traj"),
        place.path("trajs/o__n-a.traj"),
    )
    .unwrap();
    std::fs::remove_dir_all(place.path("trajs/org__x")).unwrap();
    let (labels, faults) = review(&["--trajectories", "trajs", "--out", "4.jsonl"]);
    assert_eq!(labels, ["accept", "accept"]);
    assert_eq!(faults.as_array().unwrap().len(), 2);
}

/// The parser of the row is believed before words that look like a failure.
#[test]
fn the_last_test_run_is_read_by_the_parser_of_the_row() {
    let place = Place::new();
    let mut one = row("a");
    one["log_parser"] = json!("unittest");
    write_lines(&place, "rows.jsonl", &[one]);
    let run = "noise: 3 errors\ntest_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... expected failure\n\n\
               ----------------------------------------------------------------------\n\
               Ran 2 tests in 0.001s\n\nOK (expected failures=1)\n";
    let candidate = |name: &str, observation: &str| {
        json!({
            "instance_id": "o__n-a", "model_name_or_path": "m", "patch_id": name, "model_patch": patch("x = 2"),
            "trajectory": [{"action": "python -m unittest -v | cat", "observation": observation}],
        })
    };
    let failed = run
        .replace("expected failure\n", "FAIL\n")
        .replace("OK (expected ", "FAILED (");
    write_lines(
        &place,
        "predictions.jsonl",
        &[candidate("whole", run), candidate("failed", &failed)],
    );
    let mut args = vec![
        "review",
        "--dataset",
        "rows.jsonl",
        "--mode",
        "deterministic",
    ];
    args.extend([
        "--predictions",
        "predictions.jsonl",
        "--format",
        "json",
        "--out",
        "1.jsonl",
    ]);
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let reason = |at: usize| done.json()["results"][at].to_string();
    assert!(reason(0).contains("accept"), "{}", reason(0));
    assert!(reason(1).contains("reject"), "{}", reason(1));
    let told = |at: usize| lines(&place, "1.jsonl")[at]["stages"].to_string();
    assert!(told(0).contains("2 tests, none failed"), "{}", told(0));
    assert!(told(1).contains("test_b"), "{}", told(1));
}

#[test]
fn review_makes_the_results_that_metrics_read() {
    let place = candidates();
    let mut args = REVIEW.to_vec();
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(
        (
            &report["accepted"],
            &report["rejected"],
            &report["abstained"]
        ),
        (&json!(2), &json!(3), &json!(1)),
        "{report:#}"
    );
    let funnel: Vec<(String, u64, u64)> = report["funnel"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            let number = |name: &str| step[name].as_u64().unwrap();
            (
                step["step"].as_str().unwrap().to_owned(),
                number("patches"),
                number("bugs"),
            )
        })
        .collect();
    let expected = [
        ("all", 6, 3),
        ("abstention", 5, 2),
        ("last-test-command", 4, 2),
        ("regression-check", 3, 2),
        ("review", 2, 2),
    ];
    assert_eq!(
        funnel,
        expected.map(|(step, patches, bugs)| (step.to_owned(), patches, bugs))
    );
    // Two specifications, for two of the patches are for one bug, and three reviews: what rules reject
    // costs nothing.
    assert_eq!(report["ledger"]["calls"], 5);

    let found = lines(&place, "review.jsonl");
    assert_eq!(found.len(), 6);
    assert!((found[0]["validation"]["score"].as_f64().unwrap() - (-0.2_f64).exp()).abs() < 1e-12);
    assert_eq!(found[0]["validation"]["source"], "token_logprobs");
    // Whoever is reviewed or not, how large the patch is stands there.
    assert!(found.iter().all(|line| line["patch_size"]["files"] == 1));
    // What each of them cost; the third has the specification of the first, the second never met the model.
    let calls = [0, 1, 2].map(|at| found[at]["paid"]["calls"].clone());
    assert_eq!(calls, [json!(2), Value::Null, json!(1)]);
    assert_eq!(found[0]["paid"]["prompt_tokens"], 10);
    assert_eq!(
        found[1]["deterministic"],
        json!({"passed": false, "stage": "last-test-command"})
    );
    assert_eq!(found[2]["validation"]["accepted"], false);
    let review = &found[4]["stages"][3]["details"];
    assert_eq!(
        review["prompt_versions"],
        json!(["specification.v1", "review.v2"])
    );
    assert!(review.get("originals_missing").is_none(), "{review:#}");
    assert!(found[5].get("validation").is_none() && found[5]["abstention"]["attempt"] == false);

    let text = std::fs::read_to_string(place.path("review.jsonl")).unwrap();
    let results = read_results(text.as_bytes()).unwrap();
    assert_eq!(results.candidates.len(), 6);
    let first = &results.candidates[0];
    assert!(first.resolved && first.validation.as_ref().unwrap().accepted);
    let abstention = first.abstention.as_ref().unwrap();
    assert!((abstention.probability - 0.9).abs() < 1e-12);

    // The same results under a percentile: nothing is asked again.
    args.extend(["--percentile", "75"]);
    let again = place.run(&args).json();
    assert_eq!(
        (&again["ledger"]["calls"], &again["known"]),
        (&json!(0), &json!(6))
    );
    // Of 0, exp(-0.9), exp(-0.2): half way between the latter two.
    let middle = f64::midpoint((-0.9_f64).exp(), (-0.2_f64).exp());
    assert!(
        (again["cutoff"].as_f64().unwrap() - middle).abs() < 1e-9,
        "{again:#}"
    );
    assert_eq!(
        again["funnel"].as_array().unwrap().last().unwrap()["patches"],
        1
    );
}

#[test]
fn rules_alone_need_no_model() {
    let place = candidates();
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--mode",
        "deterministic",
        "--out",
        "rules.jsonl",
        "--facts",
        "facts.jsonl",
    ]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert!(
        done.stdout().contains("4 accepted, 2 rejected"),
        "{}",
        done.stdout()
    );
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "null",
        "--mode",
        "deterministic",
        "--out",
        "null.jsonl",
    ]);
    assert!(
        done.stdout().contains("0 accepted, 3 rejected"),
        "{}",
        done.stdout()
    );
}

#[test]
fn a_file_has_one_writer() {
    let place = three_rows();
    let file = std::fs::File::create(place.path("abstain.jsonl")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    write_lines(&place, "script.jsonl", &[label_rule("a", 0.8)]);
    let done = abstain(&place, &[]);
    assert!(
        done.code() == 1 && done.stderr().contains("another run"),
        "{}",
        done.stderr()
    );
}

#[test]
fn run_reports_tell_of_single_patches_only() {
    let place = candidates();
    let report = json!({
        "total_instances": 3, "submitted_instances": 3, "completed_instances": 3, "resolved_instances": 3,
        "unresolved_instances": 0, "empty_patch_instances": 0, "error_instances": 0, "completed_ids": [],
        "incomplete_ids": [], "empty_patch_ids": [], "submitted_ids": [], "resolved_ids": ["o__n-a", "o__n-c"],
        "unresolved_ids": [], "error_ids": [],
    });
    std::fs::write(place.path("m.run.json"), report.to_string()).unwrap();
    let mut predictions = lines(&place, "predictions.jsonl");
    for prediction in &mut predictions {
        prediction.as_object_mut().unwrap().remove("resolved");
    }
    write_lines(&place, "predictions.jsonl", &predictions);
    let done = place.run(&[
        "review",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--mode",
        "deterministic",
        "--out",
        "rules.jsonl",
        "--report",
        "m.run.json",
    ]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let found = lines(&place, "rules.jsonl");
    let told: Vec<Option<bool>> = found
        .iter()
        .map(|line| line.get("resolved").and_then(Value::as_bool))
        .collect();
    assert_eq!(told, [None, None, None, None, None, Some(true)]);
}
