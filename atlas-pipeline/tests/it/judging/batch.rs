//! Judges that ask in batches: rounds, half the price, kills, and the way on.

use crate::judging::paid::{answer_of_api, serve_paths, twenty_rows, word_of_api};
use crate::judging::{REVIEW, candidates, lines};
use crate::support::Place;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Seen {
    /// The questions of each batch.
    batches: Vec<Vec<Value>>,
    /// Questions that came one by one.
    single: usize,
    /// Whether batches come to an end.
    is_quick: bool,
}

/// A server with batches that answers a question by its body.
fn server(is_quick: bool, answer: fn(&str) -> String) -> (String, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen {
        is_quick,
        ..Seen::default()
    }));
    let state = Arc::clone(&seen);
    let address = serve_paths(move |place, body| {
        let mut state = state.lock().unwrap();
        let batch = |at: usize, status: &str| {
            json!({"id": format!("batch_{at}"), "status": status, "output_file_id": format!("out-{at}"),
                "error_file_id": null, "request_counts": {"total": 1, "completed": 0, "failed": 0}})
        };
        let (method, path) = place.split_once(' ').unwrap();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let told = match (method, &parts[1..]) {
            ("POST", ["chat", "completions"]) => {
                state.single += 1;
                answer(body)
            }
            ("POST", ["files"]) => {
                let lines = body.lines().filter(|line| line.starts_with('{'));
                let entries = lines.map(|line| serde_json::from_str(line).unwrap());
                state.batches.push(entries.collect());
                json!({"id": "file"}).to_string()
            }
            ("POST", ["batches"]) => batch(state.batches.len() - 1, "validating").to_string(),
            ("GET", ["batches", id]) => {
                let at: usize = id[6..].parse().unwrap();
                let status = if state.is_quick {
                    "completed"
                } else {
                    "in_progress"
                };
                batch(at, status).to_string()
            }
            ("GET", ["files", id, "content"]) => {
                let entries = &state.batches[id[4..].parse::<usize>().unwrap()];
                let line = |entry: &Value| {
                    let body: Value =
                        serde_json::from_str(&answer(&entry["body"].to_string())).unwrap();
                    let response = json!({"status_code": 200, "request_id": "r", "body": body});
                    json!({"id": "b", "custom_id": entry["custom_id"], "response": response, "error": null})
                };
                let lines: Vec<String> = entries
                    .iter()
                    .map(|entry| line(entry).to_string())
                    .collect();
                lines.join("\n")
            }
            other => panic!("{other:?}"),
        };
        Some((200, told))
    });
    (address, seen)
}

const ABSTAIN: [&str; 3] = ["abstain", "--dataset", "rows.jsonl"];
const BATCH: [&str; 3] = ["--batch", "--batch-poll", "0.05"];

/// The lines of a file of results without what was paid.
fn unpaid(place: &Place, name: &str) -> Vec<Value> {
    let mut all = lines(place, name);
    for line in &mut all {
        line.as_object_mut().unwrap().remove("paid");
        // What a batch answered was kept before the run.
        line.as_object_mut().unwrap().remove("kept");
    }
    all
}

#[test]
fn a_run_in_batches_says_what_a_run_one_by_one_says() {
    let place = twenty_rows();
    let (address, seen) = server(true, |_| word_of_api("success"));
    std::fs::write(
        place.path("prices.json"),
        r#"{"schema_version": 1, "models": []}"#,
    )
    .unwrap();
    let table = format!(
        "prices = \"prices.json\"\n[models.m]\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
         price = {{ input = 1000, output = 1000, batch = 0.5 }}\n",
        address.trim_end_matches("#m")
    );
    std::fs::write(place.path("atlas.toml"), table).unwrap();
    let one = [&ABSTAIN[..], &["--model", "m", "--out", "one.jsonl"]].concat();
    assert_eq!(place.run(&one).code(), 0);
    let many = [
        &ABSTAIN[..],
        &["--model", "m", "--out", "many.jsonl"],
        &BATCH[..],
    ]
    .concat();
    let done = place.run(&many);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(unpaid(&place, "one.jsonl"), unpaid(&place, "many.jsonl"));
    // 41 tokens for each of twenty questions, at half the price.
    let told = done.stdout();
    assert!(
        told.contains("spent: 20 calls, 800 tokens read, 20 written, 0.4100 in money"),
        "{told}"
    );
    assert!(told.contains("20 of the calls in batches"), "{told}");
    let seen = seen.lock().unwrap();
    let sizes: Vec<usize> = seen.batches.iter().map(Vec::len).collect();
    assert_eq!((sizes, seen.single), (vec![20], 20));
}

/// A specification is asked for in the first round, and the review that needs it in the second.
#[test]
fn a_review_goes_round_by_round() {
    let answer = |body: &str| {
        if body.contains("is_bug_fixed") {
            let fixed = body.contains("+x = 2");
            answer_of_api(&json!({"is_bug_fixed": fixed, "explanation": "so it is"}).to_string())
        } else {
            answer_of_api("- x is 2, and nothing else is changed")
        }
    };
    let (address, seen) = server(true, answer);
    let place = candidates();
    let mut args = REVIEW.to_vec();
    args[6] = &address;
    let one = place.run(&args);
    let by_one = unpaid(&place, "review.jsonl");
    let single = seen.lock().unwrap().single;
    assert!(single > 2, "{}", one.stderr());
    for behind in ["", ".exchanges"] {
        std::fs::remove_file(place.path(&format!("review.jsonl{behind}"))).unwrap();
    }
    let done = place.run(&[&args[..], &BATCH[..], &["-j", "4"]].concat());
    assert_eq!(done.code(), one.code(), "{}", done.stderr());
    assert_eq!(by_one, unpaid(&place, "review.jsonl"));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.single, single, "nothing was left to ask one by one");
    let in_batches: usize = seen.batches.iter().map(Vec::len).sum();
    // Specifications; reviews; samples, for there are no log-probabilities.
    assert_eq!((in_batches, seen.batches.len()), (single, 3));
    assert_eq!(done.json()["ledger"]["calls"], single);
}

/// Killed while the server works: the same command waits for the same batch; another way on is told.
#[test]
fn a_killed_run_goes_on_with_its_batch() {
    let place = twenty_rows();
    let (address, seen) = server(false, |_| word_of_api("success"));
    let plain = [&ABSTAIN[..], &["--model", &address, "--out", "a.jsonl"]].concat();
    let args = [&plain[..], &BATCH[..], &["--total-budget", "calls=20"]].concat();
    for signal in ["-KILL", "-INT"] {
        let mut command = place.atlas(&args);
        command.stderr(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::null());
        let child = command.spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        let waits = || {
            let done = place.run(&["exchanges", "a.jsonl.exchanges", "--batches"]);
            done.code() == 0 && done.stdout().contains("batch_0")
        };
        while !waits() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(300));
        let kill = std::process::Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let done = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success());
        assert!(
            signal == "-KILL" || told.contains("20 questions go on at the server"),
            "{told}"
        );
    }
    let listed = place
        .run(&["exchanges", "a.jsonl.exchanges", "--batches"])
        .stdout();
    let batch: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&batch["id"], &batch["questions"], &batch["run"]),
        (&json!("batch_0"), &json!(20), &json!("a.jsonl"))
    );
    // Nobody asks one by one what is paid for already.
    let refused = place.run(&plain);
    assert_eq!(refused.code(), 1);
    assert!(
        refused.stderr().contains("go on with `--batch`"),
        "{}",
        refused.stderr()
    );
    seen.lock().unwrap().is_quick = true;
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert!(
        done.stdout().contains("spent: 20 calls, 800 tokens read"),
        "{}",
        done.stdout()
    );
    let seen = seen.lock().unwrap();
    assert_eq!((seen.batches.len(), seen.single), (1, 0));
    assert_eq!(lines(&place, "a.jsonl").len(), 20);
    let none = place.run(&[
        "exchanges",
        "a.jsonl.exchanges",
        "--forget-batch",
        "batch_0",
    ]);
    assert_eq!(none.code(), 1);
}

/// A batch that is given up leaves its questions to be asked anew, and its calls in the total.
#[test]
fn a_batch_can_be_given_up() {
    let place = twenty_rows();
    let (address, seen) = server(false, |_| word_of_api("success"));
    let plain = [&ABSTAIN[..], &["--model", &address, "--out", "a.jsonl"]].concat();
    let args = [&plain[..], &BATCH[..], &["--budget", "time=1s"]].concat();
    let stopped = place.run(&args);
    assert_eq!(stopped.code(), 1);
    assert!(stopped.stderr().contains("seconds"), "{}", stopped.stderr());
    let given_up = place.run(&[
        "exchanges",
        "a.jsonl.exchanges",
        "--forget-batch",
        "batch_0",
    ]);
    assert_eq!(given_up.code(), 0, "{}", given_up.stderr());
    let done = place.run(&[&plain[..], &["--format", "json"]].concat());
    assert_eq!(done.json()["ledger"]["in_all"]["calls"], 40);
    assert_eq!(seen.lock().unwrap().single, 20);
}
