//! Every way in which a server fails, through a whole command: what the results hold, what was asked, how it ends.
//! (A refused key, an unknown model and a spent quota stop the run: `judging_paid`.)

use crate::judging::paid::{answer_of_api, serve_bytes, word_of_api};
use crate::judging::{lines, row, write_lines};
use crate::support::{Done, Place};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A response with its head.
fn response(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
    )
}

fn fine() -> String {
    response(200, "", &word_of_api("success"))
}

/// Four rows, and a table `[models.m]` for a server that says by the number of the request and its body what comes;
/// failed calls are made again soon.
fn place(
    table: &str,
    answer: impl Fn(usize, &str) -> String + Send + 'static,
) -> (Place, Arc<AtomicUsize>) {
    let place = Place::new();
    let rows: Vec<Value> = (0..4).map(|at| row(&at.to_string())).collect();
    write_lines(&place, "rows.jsonl", &rows);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let address =
        serve_bytes(move |_, body| Some(answer(count.fetch_add(1, Ordering::SeqCst), body)));
    let base = address.trim_end_matches("#m");
    let retry = "retry = { first_wait = 0.01, longest_wait = 0.02 }";
    let table = format!(
        "[models.m]\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = \"{base}\"\n{retry}\n{table}\n"
    );
    std::fs::write(place.path("atlas.toml"), table).unwrap();
    (place, asked)
}

fn abstain(place: &Place, more: &[&str]) -> Done {
    let mut args = vec!["abstain", "--dataset", "rows.jsonl", "--model", "m"];
    args.extend(["--out", "a.jsonl", "--format", "json"]);
    args.extend(more);
    place.run(&args)
}

/// All four rows have their result; how often the server was asked.
fn all_done(place: &Place, done: &Done, asked: &AtomicUsize) -> usize {
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(done.json()["done"], 4);
    for line in lines(place, "a.jsonl") {
        assert_eq!(line["judgement"]["label"], "attempt", "{line}");
    }
    asked.load(Ordering::SeqCst)
}

#[test]
fn a_refused_parameter_is_left_out() {
    let (place, asked) = place("", |_, body| {
        let body: Value = serde_json::from_str(body).unwrap();
        if body.get("temperature").is_none() {
            return fine();
        }
        let why = json!({"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model.",
            "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}});
        response(400, "", &why.to_string())
    });
    let done = abstain(&place, &[]);
    assert_eq!(all_done(&place, &done, &asked), 5);
    assert!(done.stderr().contains("temperature"), "{}", done.stderr());
}

/// What single items cost stands in their lines, down to what the server says of its cache and of thoughts.
#[test]
fn a_line_says_what_its_item_cost() {
    const WAIT: Duration = Duration::from_millis(30);
    let (place, _) = place(
        "price = { input = 10.0, cached_input = 1.0, output = 100.0 }",
        |_, _| {
            std::thread::sleep(WAIT);
            let mut answer: Value = serde_json::from_str(&word_of_api("success")).unwrap();
            answer["usage"] = json!({
                "prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": 30},
                "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 8},
            });
            response(200, "", &answer.to_string())
        },
    );
    // What all have cost until now is in the progress that a terminal shows, which a trace writes down.
    let mut traced = place.atlas(&[
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        "m",
        "--out",
        "a.jsonl",
    ]);
    let done = traced.env("ATLAS_LOG", "trace").output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    assert!(
        told.contains("1 of 4, 1 calls, 0.0010 in money: o__n-0"),
        "{told}"
    );
    assert!(
        told.contains("4 of 4, 4 calls, 0.0041 in money: o__n-3"),
        "{told}"
    );
    for line in lines(&place, "a.jsonl") {
        let mut paid = line["paid"].clone();
        let seconds = paid.as_object_mut().unwrap().remove("seconds");
        let money = (10.0 * 10.0 + 30.0 * 1.0 + 9.0 * 100.0) / 1e6;
        assert_eq!(
            paid,
            json!({"calls": 1, "prompt_tokens": 40, "completion_tokens": 9, "cached_tokens": 30,
                "reasoning_tokens": 8, "money": money})
        );
        assert!(seconds.unwrap().as_f64().unwrap() >= WAIT.as_secs_f64());
    }
    // Answers that are kept cost no time.
    std::fs::remove_file(place.path("a.jsonl")).unwrap();
    assert_eq!(abstain(&place, &[]).code(), 0);
    let line = &lines(&place, "a.jsonl")[0];
    assert_eq!(line["kept"]["reasoning_tokens"], 8);
    assert!(line.get("paid").is_none() && line["kept"].get("seconds").is_none());
}

#[test]
fn thoughts_are_no_answer() {
    let (place, asked) = place("", |_, _| {
        response(
            200,
            "",
            &answer_of_api("<think>\nfailure? no.\n</think>\n\nsuccess"),
        )
    });
    // Without log-probabilities, five samples tell.
    let done = abstain(&place, &[]);
    assert_eq!(all_done(&place, &done, &asked), 24);
    let line = &lines(&place, "a.jsonl")[0];
    assert_eq!(line["abstention"]["source"], "sample_frequency");
    assert_eq!(line["judgement"]["details"]["said"], "success");
}

#[test]
fn a_busy_server_is_waited_for() {
    for (headers, least) in [("Retry-After: 1\r\n", 1000), ("", 0)] {
        let (place, asked) = place("", move |at, _| match at {
            0 => response(429, headers, r#"{"error": {"message": "slow down"}}"#),
            _ => fine(),
        });
        let started = Instant::now();
        let done = abstain(&place, &[]);
        assert_eq!(all_done(&place, &done, &asked), 5);
        assert!(started.elapsed() >= Duration::from_millis(least));
        assert_eq!(done.json()["ledger"]["failed_calls"], 1);
    }
}

#[test]
fn a_fault_of_the_server_is_tried_again_and_then_told() {
    let (passing, asked) = place("", |at, _| match at {
        0 => response(500, "", "oh"),
        _ => fine(),
    });
    assert_eq!(all_done(&passing, &abstain(&passing, &[]), &asked), 5);

    let (place, asked) = place("", |_, _| response(500, "", "oh"));
    let done = abstain(&place, &[]);
    assert_eq!(done.code(), 1);
    let told = done.json();
    assert_eq!(told["failed"].as_array().unwrap().len(), 4);
    assert!(
        told["failed"][0]["message"]
            .as_str()
            .unwrap()
            .contains("HTTP 500: oh (try 5)"),
        "{told}"
    );
    assert_eq!(
        (asked.load(Ordering::SeqCst), &told["stopped"]),
        (20, &Value::Null)
    );
    assert!(
        lines(&place, "a.jsonl")
            .iter()
            .all(|line| line["error"]["kind"] == "model")
    );
}

/// The connection is cut in the middle of a stream: what came is no answer, and it is asked again.
#[test]
fn half_a_stream_is_no_answer() {
    let event = |finish: Value| {
        let token = json!({"token": "success", "logprob": -0.01, "bytes": b"success", "top_logprobs": [
            {"token": "success", "logprob": -0.01, "bytes": b"success"}]});
        let choice = json!({"index": 0, "delta": {"content": "success"}, "finish_reason": finish,
            "logprobs": {"content": [token]}});
        format!(
            "data: {}\n\n",
            json!({"model": "m", "choices": [choice],
            "usage": {"prompt_tokens": 40, "completion_tokens": 1}})
        )
    };
    let (place, asked) = place("stream = true", move |at, _| {
        let head = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        match at {
            0 => format!("{head}{}", event(Value::Null)),
            _ => format!("{head}{}data: [DONE]\n\n", event(json!("stop"))),
        }
    });
    let done = abstain(&place, &[]);
    assert_eq!(all_done(&place, &done, &asked), 5);
    // Both are paid.
    assert_eq!(done.json()["ledger"]["prompt_tokens"], 200);
}

/// Three answers in another form: the item has failed, with what is wrong; the others go on.
#[test]
fn wrong_json_three_times_fails_its_item_alone() {
    let (place, asked) = place("", |_, body| {
        let text = if body.contains("Title 1") {
            r#"{"verdict": "perhaps"}"#.to_owned()
        } else {
            json!({"reasoning": "so", "verdict": "pass", "confidence": 90}).to_string()
        };
        response(200, "", &answer_of_api(&text))
    });
    let done = place.run(&[
        "critic",
        "--dataset",
        "rows.jsonl",
        "--predictions",
        "gold",
        "--mode",
        "problem",
        "--variant",
        "default",
        "--model",
        "m",
        "--out",
        "a.jsonl",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 1, "{}", done.stderr());
    let told = done.json();
    assert_eq!(
        (&told["done"], told["failed"].as_array().unwrap().len()),
        (&json!(3), 1)
    );
    let why = told["failed"][0]["message"].as_str().unwrap();
    assert!(
        why.contains("`confidence`") && why.contains("verdict"),
        "{why}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 6);
}

#[test]
fn what_is_too_long_fails_its_item_alone() {
    let (place, asked) = place("", |_, body| {
        if !body.contains("Title 2") {
            return fine();
        }
        let why = json!({"error": {"message": "This model's maximum context length is 8 tokens.",
            "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}});
        response(400, "", &why.to_string())
    });
    let done = abstain(&place, &[]);
    assert_eq!(done.code(), 1);
    let told = done.json();
    assert_eq!(
        (&told["done"], told["failed"].as_array().unwrap().len()),
        (&json!(3), 1)
    );
    let why = told["failed"][0]["message"].as_str().unwrap();
    assert!(
        why.contains("does not fit into the model's context"),
        "{why}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}

/// Sixteen at once to a server that takes its time with each: every question is asked once.
#[test]
fn a_slow_server_is_asked_once_by_sixteen() {
    let (place, asked) = place("", |_, _| {
        std::thread::sleep(Duration::from_millis(100));
        fine()
    });
    let rows: Vec<Value> = (0..32).map(|at| row(&at.to_string())).collect();
    write_lines(&place, "rows.jsonl", &rows);
    let done = abstain(&place, &["-j", "16"]);
    assert_eq!(
        (done.code(), &done.json()["done"]),
        (0, &json!(32)),
        "{}",
        done.stderr()
    );
    assert_eq!(asked.load(Ordering::SeqCst), 32);
    let names: Vec<Value> = lines(&place, "a.jsonl")
        .iter()
        .map(|line| line["instance_id"].clone())
        .collect();
    let expected: Vec<Value> = rows.iter().map(|row| row["instance_id"].clone()).collect();
    assert_eq!(names, expected);
}
