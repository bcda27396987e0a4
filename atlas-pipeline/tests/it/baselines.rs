//! `atlas critic --baseline` over files, with vectors of a server and of none.

use crate::support::{Done, Place};
use atlas_pipeline::judge::critic::HashedNgrams;
use atlas_pipeline::judge::metrics::{cosine, grid_threshold, results::read_results};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

fn write_lines(place: &Place, name: &str, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path(name), lines.concat()).unwrap();
}

fn read_lines(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn patch(line: &str) -> String {
    format!(
        "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def f(a, b):\n-    return None\n+    {line}\n"
    )
}

fn gold(at: usize) -> String {
    patch(&format!("return a * {at} + b"))
}

const INSTANCES: usize = 12;

/// For each instance a patch that is nearly the gold one, an empty one, and one that is far from it.
fn place() -> Place {
    let place = Place::new();
    let rows: Vec<Value> = (0..INSTANCES)
        .map(|at| {
            json!({
                "instance_id": format!("o__n-{at}"), "repo": "o/n", "problem_statement": "f is wrong",
                "patch": gold(at), "test_patch": patch("pass"),
                "FAIL_TO_PASS": ["t::a", "t::b"], "PASS_TO_PASS": ["t::c"],
            })
        })
        .collect();
    write_lines(&place, "rows.jsonl", &rows);
    let mut predictions = Vec::new();
    for at in 0..INSTANCES {
        let far = patch("raise LookupError('a word that stands nowhere else in this folder')");
        let near = patch(&format!("return b + a * {at}"));
        for (name, text, resolved) in [
            ("near", near, true),
            ("none", String::new(), false),
            ("far", far, false),
        ] {
            predictions.push(json!({
                "instance_id": format!("o__n-{at}"), "model_name_or_path": "m", "patch_id": name,
                "model_patch": text, "resolved": resolved,
            }));
        }
    }
    write_lines(&place, "predictions.jsonl", &predictions);
    place
}

fn critic(place: &Place, more: &[&str]) -> Done {
    let mut args = vec![
        "critic",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "predictions.jsonl",
        "--out",
        "critic.jsonl",
        "--format",
        "json",
    ];
    args.extend(more);
    place.run(&args)
}

#[test]
fn a_coin_for_patches_and_for_tests() {
    let place = place();
    let done = critic(
        &place,
        &["--baseline", "random", "--share", "0.5", "--seed", "3"],
    );
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["baseline"], "random-0.5");
    let passing = report["passing"].as_u64().unwrap();
    assert!((9..28).contains(&passing), "{passing} of 36");
    assert_eq!(report["ledger"], Value::Null);
    let first = read_lines(&place, "critic.jsonl");
    let again = critic(
        &place,
        &["--baseline", "random", "--share", "0.5", "--seed", "3"],
    )
    .json();
    assert_eq!((&again["known"], &again["done"]), (&json!(36), &json!(0)));
    assert_eq!(read_lines(&place, "critic.jsonl"), first);
    // Another coin is not mixed with it.
    let other = critic(&place, &["--baseline", "random", "--seed", "3"]);
    assert_eq!(other.code(), 1);
    assert!(
        other.stderr().contains("other settings"),
        "{}",
        other.stderr()
    );

    std::fs::remove_file(place.path("critic.jsonl")).unwrap();
    let done = critic(&place, &["--baseline", "random-tests"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let lines = read_lines(&place, "critic.jsonl");
    for line in &lines {
        let tests = line["critic"]["tests"].as_array().unwrap();
        assert_eq!(tests.len(), 3);
        let all = tests.iter().all(|test| test["predicted"] == true);
        assert_eq!(line["label"] == "pass", all);
    }
    let text = std::fs::read_to_string(place.path("critic.jsonl")).unwrap();
    let results = read_results(text.as_bytes()).unwrap();
    assert_eq!(results.candidates.len(), 36);
    assert_eq!(
        critic(&place, &["--baseline", "random", "--share", "1.5"]).code(),
        1
    );
    assert_eq!(
        critic(&place, &["--baseline", "random", "--model", "noise:1"]).code(),
        2
    );
}

#[test]
fn likeness_with_a_threshold_that_is_searched_for() {
    let place = place();
    let args = ["--baseline", "likeness", "--seed", "1"];
    let done = critic(&place, &args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["baseline"], "likeness-hashed-ngrams-3-5-1024");

    // The same by hand, over the split that the report names.
    let split: Vec<String> = serde_json::from_value(report["fitted"]["instances"].clone()).unwrap();
    assert!(!split.is_empty() && split.len() < INSTANCES);
    let embedder = HashedNgrams::default();
    let golds: BTreeMap<String, String> = (0..INSTANCES)
        .map(|at| (format!("o__n-{at}"), gold(at)))
        .collect();
    let likeness = |line: &Value| {
        let vector = |text: &str| embedder.vector(text);
        let own = vector(line["model_patch"].as_str().unwrap());
        let gold = vector(&golds[line["instance_id"].as_str().unwrap()]);
        cosine(&own, &gold).unwrap_or(0.0)
    };
    let predictions = read_lines(&place, "predictions.jsonl");
    let is_split = |line: &Value| split.iter().any(|id| line["instance_id"] == id.as_str());
    let (fit, judged): (Vec<&Value>, Vec<&Value>) =
        predictions.iter().partition(|line| is_split(line));
    let scored: Vec<(bool, f64)> = fit
        .iter()
        .map(|line| (line["resolved"] == true, likeness(line)))
        .collect();
    let best = grid_threshold(&scored).unwrap();
    let near = |a: &Value, b: f64| (a.as_f64().unwrap() - b).abs() < 1e-12;
    assert!(
        near(&report["fitted"]["threshold"], best.threshold),
        "{report}"
    );
    assert!(near(&report["fitted"]["f1"], best.f1));
    assert_eq!(report["fitted"]["patches"], scored.len());
    assert_eq!(report["items"], judged.len());
    let written = read_lines(&place, "critic.jsonl");
    for (line, prediction) in written.iter().zip(&judged) {
        assert_eq!(line["instance_id"], prediction["instance_id"]);
        let likeness = likeness(prediction);
        assert!(near(&line["judgement"]["details"]["likeness"], likeness));
        assert!(near(&line["critic"]["score"], likeness));
        assert_eq!(line["label"] == "pass", likeness >= best.threshold);
        assert_eq!(line["resolved"], prediction["resolved"]);
    }
    // Empty and far ones never pass.
    let passing = written.iter().filter(|line| line["label"] == "pass");
    assert!(passing.clone().all(|line| line["patch_id"] == "near"));
    assert!(passing.count() > 0);

    let given = ["--baseline", "likeness", "--threshold", "2"];
    assert_eq!(critic(&place, &given).code(), 1);
    let all = ["--baseline", "likeness", "--validation-share", "1"];
    assert_eq!(critic(&place, &all).code(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_a_server() {
    let server = MockServer::start().await;
    // The hashed ones, so that both must come to the same.
    Mock::given(method("POST"))
        .and(path("/v1/embeddings"))
        .respond_with(|request: &Request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let embedder = HashedNgrams::default();
            let texts = body["input"].as_array().unwrap();
            let data = texts.iter().enumerate().map(|(at, text)| {
                let text = text.as_str().unwrap();
                assert!(!text.is_empty(), "an empty text is asked for");
                json!({"index": at, "embedding": embedder.vector(text)})
            });
            ResponseTemplate::new(200).set_body_json(json!({
                "data": data.collect::<Vec<_>>(), "usage": {"prompt_tokens": 10, "total_tokens": 10},
            }))
        })
        .mount(&server)
        .await;
    let place = place();
    let hashed = ["--baseline", "likeness", "--seed", "1"];
    let expected = critic(&place, &hashed).json();
    let expected_lines = read_lines(&place, "critic.jsonl");
    std::fs::remove_file(place.path("critic.jsonl")).unwrap();

    let embedder = format!("{}/v1#code", server.uri());
    let args = [&hashed[..], &["--embedder", &embedder]].concat();
    let done = critic(&place, &args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["baseline"], "likeness-code");
    for field in ["fitted", "results", "passing", "failing"] {
        assert_eq!(report[field], expected[field], "{field}");
    }
    let said = |lines: &[Value]| -> Vec<Value> {
        let likeness = |line: &Value| line["judgement"]["details"]["likeness"].clone();
        lines.iter().map(likeness).collect()
    };
    assert_eq!(
        said(&read_lines(&place, "critic.jsonl")),
        said(&expected_lines)
    );
    // Every text once: the split in batches, then what each patch adds.
    let requests = server.received_requests().await.unwrap();
    let texts: Vec<Value> = requests
        .iter()
        .flat_map(|request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            body["input"].as_array().unwrap().clone()
        })
        .collect();
    let mut once = texts.clone();
    once.sort_by_key(Value::to_string);
    once.dedup();
    assert_eq!(once.len(), texts.len());
    let calls = u64::try_from(requests.len()).unwrap();
    assert_eq!(report["ledger"]["calls"], calls);
    assert_eq!(report["ledger"]["prompt_tokens"], 10 * calls);

    // A budget that is used up keeps what is done.
    std::fs::remove_file(place.path("critic.jsonl")).unwrap();
    let few = [&args[..], &["--budget", "calls=3"]].concat();
    let done = critic(&place, &few);
    assert_eq!(done.code(), 1);
    let report = done.json();
    let stopped = report["stopped"].as_str().unwrap();
    assert!(stopped.contains("3 calls"), "{stopped}");
    assert!(report["done"].as_u64().unwrap() > 0 && report["left"].as_u64().unwrap() > 0);
    let done = critic(&place, &args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(done.json()["results"], expected["results"]);

    // What it sees of a patch belongs to its name.
    std::fs::remove_file(place.path("critic.jsonl")).unwrap();
    let cut = [&args[..], &["--embedder-characters", "40"]].concat();
    assert_eq!(
        critic(&place, &cut).json()["baseline"],
        "likeness-code-first-40"
    );
}
