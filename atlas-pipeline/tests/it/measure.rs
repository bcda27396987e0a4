//! `atlas metrics` and `atlas report`.

use crate::support::Place;
use serde_json::json;
use std::fmt::Write as _;

fn stored(expected: f64) -> String {
    json!({
        "name": "pass_at_k",
        "abs_tolerance": 1e-12,
        "cases": [
            {"n": 4, "c": 1, "k": 1, "pass_at_k": 0.25},
            {"n": 4, "c": 1, "k": 2, "pass_at_k": expected},
        ],
    })
    .to_string()
}

#[test]
fn stored_values_are_checked_file_by_file() {
    let place = Place::new();
    std::fs::write(place.path("good.json"), stored(0.5)).unwrap();
    std::fs::write(place.path("bad.json"), stored(0.75)).unwrap();
    std::fs::write(place.path("broken.json"), "{").unwrap();
    let done = place.run(&["metrics", "--check", "good.json"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert!(done.stdout().contains("ok") && done.stdout().contains("pass_at_k"));
    let args = [
        "metrics",
        "--check",
        "bad.json",
        "good.json",
        "broken.json",
        "none.json",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 1);
    for said in [
        "bad.json: case 1, field pass_at_k: expected 0.75, got 0.5",
        "broken.json: is no JSON",
        "none.json: cannot be read",
    ] {
        assert!(done.stdout().contains(said), "{said}: {}", done.stdout());
    }
    let done = place.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(done.code(), 1);
    let found = done.json();
    assert_eq!(found[0]["differences"][0]["expected"], json!(0.75));
    assert_eq!(found[1]["agrees"], json!(true));
    assert_eq!(found[3]["file"], json!("none.json"));
}

fn results(place: &Place, tasks: usize) {
    let mut text = String::new();
    for task in 0..tasks {
        for patch in 0..3 {
            let right = (task + patch) % 3 == 0;
            let line = json!({
                "instance_id": format!("o__r-{task}"), "patch_id": patch.to_string(),
                "agent": "me/model", "resolved": right,
                "abstention": {"probability": if task % 2 == 0 { 0.7 } else { 0.3 }, "source": "rule"},
                "validation": {"accepted": right || patch == 1, "score": if right { 0.8 } else { 0.2 }, "source": "rule"},
                "tests": [{"id": "t", "passed": right, "length": 80}],
                "critic": {"tests": [{"id": "t", "predicted": true, "confidence": 60 + patch * 10}]},
            });
            let _ = writeln!(text, "{line}");
        }
    }
    std::fs::write(place.path("results.jsonl"), text).unwrap();
}

#[test]
fn results_become_tables_and_a_page() {
    let place = Place::new();
    results(&place, 12);
    let done = place.run(&["metrics", "results.jsonl"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    for said in [
        "| show everything | 36 |",
        "abstention + validation p90",
        "## Critic: without a name",
    ] {
        assert!(done.stdout().contains(said), "{said}: {}", done.stdout());
    }
    let json = place
        .run(&[
            "metrics",
            "results.jsonl",
            "--format",
            "json",
            "--tau",
            "0.2",
        ])
        .json();
    assert_eq!(json["instances"], json!(12));
    assert_eq!(json["options"]["tau"], json!(0.2));
    assert_eq!(
        json["policies"][0]["policies"][0]["success_at"]["3"]["value"],
        json!(1.0)
    );
    let args = [
        "report",
        "--policies",
        "results.jsonl",
        "--out",
        "page.html",
        "--title",
        "Mine <1>",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("<title>Mine &lt;1&gt;</title>") && page.contains("<svg"));
    assert!(!page.contains("http"));
    assert_eq!(place.run(&args).code(), 0);
    assert_eq!(
        std::fs::read_to_string(place.path("page.html")).unwrap(),
        page
    );
    // Nothing to say is said, not refused.
    std::fs::write(place.path("empty.jsonl"), "").unwrap();
    let done = place.run(&["metrics", "empty.jsonl"]);
    assert_eq!(done.code(), 0);
    assert!(done.stdout().contains("nothing can be measured"));
}

#[test]
fn a_faulty_line_is_named() {
    let place = Place::new();
    results(&place, 1);
    let mut text = std::fs::read_to_string(place.path("results.jsonl")).unwrap();
    text.push_str("{\"instance_id\":\"i\",\"patch_id\":\"p\",\"agent\":\"a\",\"resolved\":1}\n");
    std::fs::write(place.path("results.jsonl"), text).unwrap();
    for args in [
        &["metrics", "results.jsonl"][..],
        &[
            "report",
            "--policies",
            "results.jsonl",
            "--out",
            "page.html",
        ],
    ] {
        let done = place.run(args);
        assert_eq!(done.code(), 1);
        for said in ["results.jsonl", "line 4", "`resolved`"] {
            assert!(done.stderr().contains(said), "{}", done.stderr());
        }
    }
    assert!(!place.path("page.html").exists());
    for (args, said) in [
        (&["metrics"][..], "RESULTS"),
        (
            &["metrics", "--check", "a.json", "--tau", "2"],
            "from 0 to 1",
        ),
        (
            &["metrics", "results.jsonl", "--percentiles", "101"],
            "from 0 to 100",
        ),
        (&["metrics", "results.jsonl", "--max-k", "0"], "--max-k"),
        (&["metrics", "results.jsonl", "--k", "0"], "--k"),
        (
            &["metrics", "results.jsonl", "--value", "fix=3,run=1"],
            "open, review is missing: none has a default",
        ),
    ] {
        let done = place.run(args);
        assert_eq!(done.code(), 2, "{args:?}");
        assert!(done.stderr().contains(said), "{args:?}: {}", done.stderr());
    }
    let done = place.run(&["metrics", "none.jsonl"]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("none.jsonl"));
    std::fs::write(place.path("few.jsonl"), "{\"instance_id\":\"i\",\"patch_id\":\"p\",\"agent\":\"a\",\"resolved\":true}\n{\"instance_id\":\"j\",\"patch_id\":\"p\",\"agent\":\"a\",\"resolved\":true}\n{\"instance_id\":\"j\",\"patch_id\":\"q\",\"agent\":\"a\",\"resolved\":true}\n").unwrap();
    let done = place.run(&["metrics", "few.jsonl", "--beyond", "error"]);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("fewer than k = 2"),
        "{}",
        done.stderr()
    );
}

#[test]
fn what_was_true_comes_from_an_evaluation() {
    let place = Place::new();
    for (patch, outcome, resolved) in [
        ("aaaaaaaaaaaa", "graded", true),
        ("bbbbbbbbbbbb", "graded", false),
        ("cccccccccccc", "no_evidence", false),
    ] {
        let verdict = serde_json::json!({
            "instance_id": "o__r-1", "model_name_or_path": patch, "outcome": outcome, "resolved": resolved,
            "patch_sha256": format!("{patch}{}", "0".repeat(52)),
            "FAIL_TO_PASS": {"success": ["t"], "failure": []},
            "PASS_TO_PASS": {"success": [], "failure": ["u"]},
        });
        let folder = place.path(&format!("logs/{patch}/o__r-1"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("verdict.json"), verdict.to_string()).unwrap();
    }
    let lines = ["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"].map(|patch| {
        serde_json::json!({
            "instance_id": "o__r-1", "agent": patch, "patch_id": patch,
            "critic": {"tests": [{"id": "t", "predicted": true, "confidence": 90},
                                 {"id": "u", "predicted": true, "confidence": 90}]},
        })
        .to_string()
    });
    std::fs::write(place.path("critic.jsonl"), lines.join("\n")).unwrap();
    let done = place.run(&[
        "metrics",
        "critic.jsonl",
        "--evaluation",
        "logs",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    let critic = &report["critics"][0];
    assert_eq!(
        (&critic["patches"], &critic["tests"]),
        (&2.into(), &4.into())
    );
    let notes = report["notes"].to_string();
    assert!(notes.contains("1 patch left out"), "{notes}");
    let done = place.run(&["metrics", "critic.jsonl", "--evaluation", "nowhere"]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("nowhere"), "{}", done.stderr());
}

/// Two models on the same patches, whose words contradict each other, in one table and one page.
#[test]
fn judges_are_compared_side_by_side() {
    let place = Place::new();
    let write = |name: &str, more: &dyn Fn(usize) -> serde_json::Value| {
        let mut text = String::new();
        for at in 0..8 {
            let mut line =
                json!({"instance_id": format!("o__r-{at}"), "patch_id": "p", "agent": "m"});
            let more = more(at);
            line.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            writeln!(text, "{line}").unwrap();
        }
        std::fs::write(place.path(name), text).unwrap();
    };
    write(
        "truth.jsonl",
        &|at| json!({"resolved": at < 4, "tests": [{"id": "t", "passed": at < 4}]}),
    );
    let said = |at: usize, right: usize| {
        let yes = (at < 4) == (at < right);
        json!({
            "deterministic": {"passed": true},
            "validation": {"accepted": yes, "score": if yes { 0.9 } else { 0.0 }, "source": "token_logprobs"},
            "critic": {"variant": "isolated-function", "tests": [{"id": "t", "predicted": yes, "confidence": 90}]},
        })
    };
    write("big.jsonl", &|at| said(at, 8));
    write("small.jsonl", &|at| said(at, 2));
    let files = ["truth.jsonl", "big=big.jsonl", "small=small.jsonl"];
    let done = place.run(&[&["metrics"], &files[..], &["--format", "json"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let found = done.json();
    assert_eq!(found["judges"], json!(["big", "small"]));
    let names: Vec<&str> = found["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["big: m", "small: m"]);
    assert_eq!(found["critics"][1]["variant"], "small: isolated-function");
    // The small one takes two of the four right patches for wrong, and all wrong ones for right.
    let table = place.run(&[&["metrics"], &files[..]].concat()).stdout();
    for row in [
        "| big | validation | 8 | 4 | 100.0% | 100.0% |",
        "| small | validation | 8 | 6 | 33.3% | 50.0% |",
        "| small: isolated-function | 8 | 25.0% | 33.3% | 50.0% |",
    ] {
        assert!(table.contains(row), "{row}\n{table}");
    }
    let page = [&["report", "--out", "page.html", "--policies"], &files[..]].concat();
    assert_eq!(place.run(&page).code(), 0);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("Judges side by side"));
    // Read as one they contradict each other.
    let done = place.run(&["metrics", "truth.jsonl", "big.jsonl", "small.jsonl"]);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("says something else"),
        "{}",
        done.stderr()
    );
}

#[test]
fn scores_are_calibrated_and_cut_for_a_precision() {
    let place = Place::new();
    results(&place, 24);
    let text = std::fs::read_to_string(place.path("results.jsonl")).unwrap();
    std::fs::write(place.path("other.jsonl"), text.replace("o__r-", "q__s-")).unwrap();
    let args = [
        "metrics",
        "results.jsonl",
        "--target",
        "precision=0.9",
        "--calibrate",
        "isotonic",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    for said in [
        "| Precision of at least 90.0% |",
        "| abstention, by patch | none reaches it | – |",
        "| validation score, by patch | 0.800 | 24 | 100.0% |",
        "| validation score, by patch, isotonic on unseen tasks | 72 | – | 0.000 |",
        "isotonic on unseen tasks: half 1",
        "| confidence, by test | 72 |",
        "| validation − show everything | 24 | 72 |",
    ] {
        assert!(done.stdout().contains(said), "{said}: {}", done.stdout());
    }
    let json = place.run(&[&args[..], &["--format", "json", "--bins", "4"]].concat());
    let score = &json.json()["policies"][0]["score"]["calibration"];
    assert_eq!(score["reliability"]["bins"].as_array().unwrap().len(), 4);
    assert_eq!(score["target"]["point"]["recall"], json!(1.0));
    let fits = score["calibrated"]["fits"].as_array().unwrap();
    assert_eq!(fits.len(), 2);
    assert_eq!(fits[0]["applied_to"], fits[1]["items"]);
    assert_eq!(fits[0]["calibrator"]["method"], json!("isotonic"));
    // Fitted to other tasks; and to the same, of which nothing is left.
    let on = |file: &str| {
        let more = ["--format", "json", "--calibrate-on", file];
        place.run(&[&args[..], &more].concat()).json()
    };
    let fits = &on("other.jsonl")["policies"][0]["score"]["calibration"]["calibrated"]["fits"];
    assert_eq!(
        (&fits[0]["items"], &fits[0]["applied_to"]),
        (&72.into(), &72.into())
    );
    assert_eq!(fits[0]["on"], json!("other results"));
    let same = on("results.jsonl");
    let notes = same["notes"].to_string();
    assert!(
        notes.contains("24 tasks of the results for calibration"),
        "{notes}"
    );
    let fits = &same["policies"][0]["score"]["calibration"]["calibrated"]["fits"];
    assert_eq!(fits[0]["items"], json!(0));
    assert!(fits[0]["fault"].is_string());
    // The page has both figures, before and after.
    let page = [
        "report",
        "--policies",
        "results.jsonl",
        "--out",
        "page.html",
        "--calibrate",
        "platt",
    ];
    assert_eq!(place.run(&page).code(), 0);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    for said in [
        "<h3>Reliability</h3>",
        "<h3>Risk against coverage</h3>",
        "validation score, by patch, Platt (ECE",
        "<h3>Differences of policies</h3>",
    ] {
        assert!(page.contains(said), "{said}");
    }
    for (more, said, code) in [
        (&["--target", "recall=0.9"][..], "precision=P", 2),
        (&["--target", "precision=1.1"], "from 0 to 1", 2),
        (&["--bins", "0"], "from 1 to 1000", 2),
        (&["--calibrate", "magic"], "isotonic", 2),
        (&["--calibrate-on", "other.jsonl"], "--calibrate", 2),
        (
            &["--calibrate", "platt", "--calibrate-on", "none.jsonl"],
            "none.jsonl",
            1,
        ),
        (
            &["--calibrate", "platt", "--calibrate-on", "-"],
            "standard input",
            1,
        ),
        (
            &[
                "--calibrate",
                "platt",
                "--calibrate-on",
                "other.jsonl",
                "a=results.jsonl",
            ],
            "several",
            1,
        ),
    ] {
        let done = place.run(&[&["metrics", "results.jsonl"], more].concat());
        assert_eq!(done.code(), code, "{more:?}");
        assert!(done.stderr().contains(said), "{more:?}: {}", done.stderr());
    }
}
