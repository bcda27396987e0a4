//! Judges that ask a server: what is paid, how often, and what a refusal means.

use crate::judging::{REVIEW, candidates, lines, row, write_lines};
use crate::support::Place;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A server that answers each request with what is told of it, or never; how often it was asked.
fn server(answer: fn(usize) -> Option<(u16, String)>) -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let address = serve(move |_| answer(count.fetch_add(1, Ordering::SeqCst)));
    (address, asked)
}

/// A server like [`server`], whose answer may depend on the body of the request.
pub(crate) fn serve(answer: impl Fn(&str) -> Option<(u16, String)> + Send + 'static) -> String {
    serve_paths(move |_, body| answer(body))
}

/// A server whose answer may depend on method and path, too: `POST /v1/chat/completions`.
pub(crate) fn serve_paths(
    answer: impl Fn(&str, &str) -> Option<(u16, String)> + Send + 'static,
) -> String {
    serve_bytes(move |place, body| {
        let (status, body) = answer(place, body)?;
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}", body.len());
        let kind = "Content-Type: application/json\r\nConnection: close";
        Some(format!("{head}\r\n{kind}\r\n\r\n{body}"))
    })
}

/// A server that says what it says byte by byte, and then closes the connection.
pub(crate) fn serve_bytes(
    answer: impl Fn(&str, &str) -> Option<String> + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1#m", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            let mut first = String::new();
            let _ = request.read_line(&mut first);
            let place = first.rsplit_once(' ').map_or("", |(place, _)| place);
            while request.read_line(&mut line).is_ok_and(|bytes| bytes > 2) {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            // Who asks may have been killed.
            let is_whole = length > 0 || place.starts_with("GET ");
            if !is_whole || request.read_exact(&mut body).is_err() {
                continue;
            }
            match answer(place, &String::from_utf8_lossy(&body)) {
                Some(response) => drop(stream.write_all(response.as_bytes())),
                // Held open for as long as the test runs.
                None => std::mem::forget(stream),
            }
        }
    });
    address
}

pub(crate) fn twenty_rows() -> Place {
    let place = Place::new();
    let rows: Vec<Value> = (0..20).map(|at| row(&at.to_string())).collect();
    write_lines(&place, "rows.jsonl", &rows);
    place
}

/// An answer of the API without log-probabilities.
pub(crate) fn answer_of_api(text: &str) -> String {
    json!({
        "id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0,
            "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49},
    })
    .to_string()
}

/// An answer of the API: the word, with all of the probability on it.
pub(crate) fn word_of_api(word: &str) -> String {
    let token = json!({"token": word, "logprob": -0.01, "bytes": word.as_bytes(), "top_logprobs": [
        {"token": word, "logprob": -0.01, "bytes": word.as_bytes()}]});
    json!({
        "id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0,
            "message": {"role": "assistant", "content": word}, "finish_reason": "stop",
            "logprobs": {"content": [token]}}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41},
    })
    .to_string()
}

fn refused_after_two(at: usize, status: u16, code: &str) -> (u16, String) {
    if at < 2 {
        return (200, word_of_api("success"));
    }
    let error = json!({"error": {"message": "this is refused", "code": code}});
    (status, error.to_string())
}

/// A refused key is refused for every item: the run stops with what it has.
#[test]
fn a_refusal_that_meets_all_items_stops_the_run() {
    let said = [
        ("the key is refused", "give a key that is accepted"),
        ("no such model", "name a model"),
        ("the quota is spent", "refill the quota"),
    ];
    for (at, (why, way_on)) in said.into_iter().enumerate() {
        let place = twenty_rows();
        // The first two items are answered, the third is refused.
        let answer: fn(usize) -> Option<(u16, String)> = match at {
            0 => |at| Some(refused_after_two(at, 401, "invalid_api_key")),
            1 => |at| Some(refused_after_two(at, 404, "model_not_found")),
            _ => |at| Some(refused_after_two(at, 429, "insufficient_quota")),
        };
        let (address, asked) = server(answer);
        let mut args = vec!["abstain", "--dataset", "rows.jsonl", "--model", &address];
        args.extend(["--out", "abstain.jsonl", "--format", "json"]);
        let done = place.run(&args);
        assert_eq!(done.code(), 1, "{}{}", done.stdout(), done.stderr());
        let report = done.json();
        let told = report["stopped"].as_str().unwrap();
        assert!(told.contains(why) && told.contains(way_on), "{told}");
        let counts = (
            &report["done"],
            &report["left"],
            report["failed"].as_array().unwrap().len(),
        );
        assert_eq!(counts, (&json!(2), &json!(18), 0));
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        assert_eq!(lines(&place, "abstain.jsonl").len(), 2);
    }
}

/// What was paid is not paid again: a run that its budget stops in the middle of an item comes to its end.
#[test]
fn no_answer_is_paid_twice() {
    let place = candidates();
    let answer = |at: usize| {
        let text = match at % 2 {
            0 => "- x is 2".to_owned(),
            _ => json!({"is_bug_fixed": true, "explanation": "so it is"}).to_string(),
        };
        Some((200, answer_of_api(&text)))
    };
    let (address, asked) = server(answer);
    let mut args = REVIEW.to_vec();
    args[6] = &address;
    args.extend(["--instance-ids", "o__n-b", "--budget", "calls=1"]);
    // One call a run: each begins where the one before was stopped.
    let mut runs = 0;
    while place.run(&args).code() != 0 {
        runs += 1;
        assert_eq!(asked.load(Ordering::SeqCst), runs);
        assert!(runs < 6, "it comes to no end");
    }
    let paid = asked.load(Ordering::SeqCst);
    assert!(runs > 0 && paid == runs + 1, "{runs} {paid}");
    let kept = || place.run(&["exchanges", "review.jsonl.exchanges"]).stdout();
    assert_eq!(kept().lines().count(), paid);
    // Results that are lost are made again for nothing, with eight at a time, and without the server.
    std::fs::remove_file(place.path("review.jsonl")).unwrap();
    let again = [&args[..], &["-j", "8"]].concat();
    let done = place.run(&again);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(done.json()["ledger"]["calls"], 0);
    assert_eq!(asked.load(Ordering::SeqCst), paid);
    // Another configuration of the same model is another question.
    std::fs::remove_file(place.path("review.jsonl")).unwrap();
    let table = format!(
        "[models.m]\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
         extra_body = {{ reasoning_effort = \"high\" }}\n",
        address.trim_end_matches("#m")
    );
    std::fs::write(place.path("atlas.toml"), table).unwrap();
    let mut other = args.clone();
    other[6] = "m";
    let done = place.run(&other);
    assert_eq!(done.json()["ledger"]["calls"], 1, "{}", done.stderr());
    // What was kept answers by itself.
    assert_eq!(kept().lines().count(), paid + 1);
    for line in kept().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["request"]["messages"].is_array() && line["completion"]["text"].is_string());
    }
}

/// Three runs of one file have one total, whichever way each ended; what another file has paid is its own.
#[test]
fn a_total_is_of_all_runs_together() {
    let place = twenty_rows();
    let (address, asked) = server(|_| Some((200, word_of_api("success"))));
    let run = |out: &str, more: &[&str]| {
        let mut args = vec!["abstain", "--dataset", "rows.jsonl", "--model", &address];
        args.extend(["--out", out, "--exchanges", "kept", "--format", "json"]);
        args.extend(more);
        place.run(&args)
    };
    let total = ["--total-budget", "calls=5"];
    let first = run("a.jsonl", &[&total[..], &["--budget", "calls=2"]].concat());
    assert!(
        !first.json()["stopped"]
            .as_str()
            .unwrap()
            .contains("together")
    );
    let second = run("a.jsonl", &total);
    let told = second.json();
    assert_eq!(
        (&told["ledger"]["calls"], &told["ledger"]["in_all"]["calls"]),
        (&json!(3), &json!(5))
    );
    let why = told["stopped"].as_str().unwrap();
    assert!(
        why.contains("5 of 5 calls spent by all runs together"),
        "{why}"
    );
    let third = run("a.jsonl", &total);
    assert_eq!(
        (third.code(), &third.json()["ledger"]["calls"]),
        (1, &json!(0))
    );
    assert_eq!(asked.load(Ordering::SeqCst), 5);
    assert_eq!(lines(&place, "a.jsonl").len(), 5);
    // The same questions of another file are answered by what is kept, and what it pays is its own.
    let other = run("b.jsonl", &total).json();
    assert_eq!(
        (&other["done"], &other["ledger"]["calls"]),
        (&json!(10), &json!(5))
    );
    assert_eq!(asked.load(Ordering::SeqCst), 10);
    // A folder that is moved keeps its account.
    let text = place.run(&[
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        &address,
        "--out",
        "a.jsonl",
        "--exchanges",
        "./kept",
        "--total-budget",
        "calls=6",
    ]);
    assert!(
        text.stdout()
            .contains("by all runs together: 6 calls, 246 tokens"),
        "{}",
        text.stdout()
    );

    let none = run("a.jsonl", &["--total-budget", "time=1h"]);
    assert!(none.code() == 1 && none.stderr().contains("time is limited for each run alone"));
    let without = place.run(&[
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        &address,
        "--out",
        "c.jsonl",
        "--no-exchanges",
        "--total-budget",
        "calls=5",
    ]);
    assert_eq!(without.code(), 2);
}

/// A run that is killed in the middle of a call: the call counts.
#[test]
fn a_total_counts_the_call_of_a_killed_run() {
    let place = twenty_rows();
    let (address, asked) = server(|at| (at != 2).then(|| (200, word_of_api("success"))));
    let args = [
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        &address,
        "--out",
        "a.jsonl",
        "--total-budget",
        "calls=5",
        "--format",
        "json",
    ];
    let quiet = std::process::Stdio::null;
    let mut child = place
        .atlas(&args)
        .stdout(quiet())
        .stderr(quiet())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while asked.load(Ordering::SeqCst) < 3 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let told = place.run(&args).json();
    assert_eq!(
        (&told["ledger"]["calls"], &told["ledger"]["in_all"]["calls"]),
        (&json!(2), &json!(5))
    );
    assert_eq!(asked.load(Ordering::SeqCst), 5);
}

/// The address of OpenAI's own clients is ours, too, and part of what the results were made with.
#[test]
fn the_environment_names_the_address() {
    let place = twenty_rows();
    let (address, asked) = server(|_| Some((200, word_of_api("success"))));
    let args = [
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        "openai:m",
        "--out",
        "a.jsonl",
    ];
    let run = |base: &str| {
        let mut command = place.atlas(&args);
        command
            .env("OPENAI_BASE_URL", base)
            .env("OPENAI_API_KEY", "k")
            .output()
            .unwrap()
    };
    let done = run(address.trim_end_matches("#m"));
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(asked.load(Ordering::SeqCst), 20);
    let other = run("http://127.0.0.1:9/v1");
    assert!(String::from_utf8_lossy(&other.stderr).contains("base_url"));
}

/// Eight patches of one bug at once want one specification, and if they are the same one review.
#[test]
fn one_question_at_a_time_is_asked_once() {
    let place = candidates();
    let asked = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let counted = Arc::clone(&asked);
    let address = serve(move |body| {
        let is_review = body.contains("# Specification");
        counted[usize::from(is_review)].fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(50));
        let review = json!({"is_bug_fixed": true, "explanation": "so it is"}).to_string();
        let text = if is_review { &review } else { "- x is 2" };
        Some((200, answer_of_api(text)))
    });
    let patches = lines(&place, "predictions.jsonl");
    let of_a = (0..8).map(|at| {
        let mut patch = patches[0].clone();
        patch["patch_id"] = json!(at.to_string());
        patch
    });
    write_lines(&place, "predictions.jsonl", &of_a.collect::<Vec<_>>());
    let mut args = REVIEW.to_vec();
    args[6] = &address;
    args.extend(["-j", "8", "--no-verbalised"]);
    let done = place.run(&args);
    assert_eq!(
        (done.code(), &done.json()["done"]),
        (0, &json!(8)),
        "{}",
        done.stderr()
    );
    let asked = asked.each_ref().map(|one| one.load(Ordering::SeqCst));
    // The patches say the same, and so do their reviews.
    assert_eq!(asked, [1, 1]);
}

/// A file of results has those of one configuration, whatever the model's name.
#[test]
fn another_configuration_of_a_model_is_another_setting() {
    let place = twenty_rows();
    let (address, _) = server(|_| Some((200, word_of_api("success"))));
    let run = |effort: &str| {
        let table = format!(
            "[models.m]\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
             extra_body = {{ reasoning_effort = \"{effort}\" }}\n",
            address.trim_end_matches("#m")
        );
        std::fs::write(place.path("atlas.toml"), table).unwrap();
        let args = ["abstain", "--dataset", "rows.jsonl", "--model", "m"];
        place.run(&[&args[..], &["--out", "a.jsonl", "--format", "json"]].concat())
    };
    assert_eq!(run("low").json()["done"], 20);
    assert_eq!(run("low").json()["known"], 20);
    let other = run("high");
    let told = other.stderr();
    assert!(
        other.code() == 1 && told.contains("reasoning_effort` was \"low\" and is \"high\""),
        "{told}"
    );
}

/// Ctrl-C: what was paid is told all the same.
#[test]
fn an_interrupted_run_tells_what_was_paid() {
    let place = twenty_rows();
    let (address, asked) = server(|at| (at < 2).then(|| (200, word_of_api("success"))));
    let args = [
        "abstain",
        "--dataset",
        "rows.jsonl",
        "--model",
        &address,
        "--out",
        "a.jsonl",
    ];
    let mut child = place.atlas(&args);
    child
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null());
    let child = child.spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while asked.load(Ordering::SeqCst) < 3 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(sent.unwrap().success());
    let done = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success());
    assert!(told.contains("cancelled"), "{told}");
    // The third was on its way.
    assert!(
        told.contains("spent: 3 calls, 80 tokens read, 2 written"),
        "{told}"
    );
    assert_eq!(lines(&place, "a.jsonl").len(), 2);
}

/// The number of the row that a question is about.
fn row_asked(text: &str) -> usize {
    let number = |part: &str| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    text.split("Title ").skip(1).find_map(number).unwrap()
}

/// A run that is killed twenty times, at moments of chance: no answer that it had is paid again, and in the end there is
/// one for each question.
#[test]
fn a_killed_run_pays_for_no_answer_twice() {
    const ROWS: usize = 60;
    const AT_ONCE: usize = 4;
    let place = Place::new();
    let rows: Vec<Value> = (0..ROWS).map(|at| row(&at.to_string())).collect();
    write_lines(&place, "rows.jsonl", &rows);
    let asked: Arc<Mutex<Vec<usize>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let address = serve(move |body| {
        seen.lock().unwrap().push(row_asked(body));
        std::thread::sleep(Duration::from_millis(20));
        Some((200, word_of_api("success")))
    });
    let args = ["abstain", "--dataset", "rows.jsonl", "--model", &address];
    let at_once = AT_ONCE.to_string();
    let args = [&args[..], &["--out", "a.jsonl", "-j", &at_once]].concat();
    let kept = || -> BTreeSet<usize> {
        if !place.path("a.jsonl.exchanges").exists() {
            return BTreeSet::new();
        }
        let done = place.run(&["exchanges", "a.jsonl.exchanges"]);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        done.stdout().lines().map(row_asked).collect()
    };
    let mut chance = 88_172_645_463_325_252_u64;
    let (mut kills, mut known) = (0, BTreeSet::new());
    for _ in 0..20 {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        let before = asked.lock().unwrap().len();
        let mut child = place.atlas(&args);
        let quiet = std::process::Stdio::null;
        let mut child = child.stdout(quiet()).stderr(quiet()).spawn().unwrap();
        // From its first question on; a run that has none left to ask ends by itself.
        let end = Instant::now() + Duration::from_secs(60);
        while asked.lock().unwrap().len() == before
            && child.try_wait().unwrap().is_none()
            && Instant::now() < end
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(chance % 90));
        kills += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        let new: Vec<usize> = asked.lock().unwrap()[before..].to_vec();
        let again: Vec<usize> = new.into_iter().filter(|row| known.contains(row)).collect();
        assert_eq!(again, Vec::<usize>::new(), "answered in an earlier run");
        let now = kept();
        assert!(known.is_subset(&now), "an answer was lost");
        known = now;
    }
    assert!(kills > 5, "{kills} kills: the runs were too short");
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(kept().len(), ROWS);
    assert_eq!(lines(&place, "a.jsonl").len(), ROWS);
    let paid = asked.lock().unwrap().len();
    // What was under way at a kill is lost with it, and nothing else.
    assert!(
        (ROWS..=ROWS + kills * AT_ONCE).contains(&paid),
        "{paid} calls, {kills} kills"
    );
    // Results that are lost are made again for nothing.
    std::fs::remove_file(place.path("a.jsonl")).unwrap();
    assert_eq!(place.run(&args).code(), 0);
    assert_eq!(asked.lock().unwrap().len(), paid);
}

/// The questions of a dry run are those that the run then asks, and it asks and leaves nothing.
#[test]
fn a_dry_run_counts_what_a_run_asks() {
    let place = twenty_rows();
    let (address, asked) = server(|_| Some((200, word_of_api("success"))));
    std::fs::write(
        place.path("prices.json"),
        r#"{"schema_version": 1, "models": [{"model": "m", "input": 2.0, "output": 5.0, "currency": "USD",
            "as_of": "2026-11-01", "context_window": 30}]}"#,
    )
    .unwrap();
    let mut args = vec!["abstain", "--dataset", "rows.jsonl", "--model", &address];
    args.extend(["--out", "abstain.jsonl", "--format", "json"]);
    let dry = |more: &[&str]| {
        let mut args = args.clone();
        args.push("--dry-run");
        args.extend(more);
        let done = place.run(&args);
        assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
        done.json()
    };
    let said = dry(&["--prices", "prices.json"]);
    assert_eq!((&said["items"], &said["known"]), (&json!(20), &json!(0)));
    assert_eq!((&said["questions"], &said["kept"]), (&json!(20), &json!(0)));
    assert_eq!(said["too_long"], 20);
    let (read, written) = (
        said["prompt_tokens"].as_f64(),
        said["completion_tokens_at_most"].as_f64(),
    );
    let money = (read.unwrap() * 2.0 + written.unwrap() * 5.0) / 1e6;
    assert!(
        (said["money_at_most"].as_f64().unwrap() - money).abs() < 1e-9,
        "{said}"
    );
    assert_eq!(said["bytes_per_token"], 4.0);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    for left in [
        "abstain.jsonl",
        "abstain.jsonl.exchanges",
        "abstain.jsonl.settings.json",
    ] {
        assert!(!place.path(left).exists(), "{left}");
    }

    // A part of it is done, and one result is lost.
    let mut part = args.clone();
    part.extend(["--budget", "calls=7"]);
    place.run(&part);
    let done = lines(&place, "abstain.jsonl");
    assert_eq!(done.len(), 7);
    write_lines(&place, "abstain.jsonl", &done[1..]);
    let said = dry(&[]);
    assert_eq!((&said["items"], &said["known"]), (&json!(20), &json!(6)));
    assert_eq!((&said["questions"], &said["kept"]), (&json!(13), &json!(1)));
    assert_eq!(
        (&said["measured_on"], &said["money_at_most"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(lines(&place, "abstain.jsonl").len(), 6);
    let report = place.run(&args).json();
    assert_eq!(report["ledger"]["calls"], 13);
    assert_eq!(report["ledger"]["money"], Value::Null);
    assert_eq!(asked.load(Ordering::SeqCst), 20);
}
