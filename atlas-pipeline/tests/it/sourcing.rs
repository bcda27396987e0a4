//! `atlas source`: from hosts to candidates.

use crate::support::{Place, git};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use wiremock::matchers::{body_partial_json, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// A clone with so many squashed pull requests; each third closes an issue, each second has a test.
fn clone(place: &Place, count: usize) -> PathBuf {
    let root = place.path("clone");
    std::fs::create_dir_all(root.join("tests")).unwrap();
    git(&root, &["init", "-q", "-b", "main", "."]);
    git(
        &root,
        &[
            "remote",
            "add",
            "origin",
            "https://github.com/owner/name.git",
        ],
    );
    std::fs::write(root.join("a.py"), "a = 0\n").unwrap();
    git(&root, &["add", "--all"]);
    git(&root, &["commit", "-q", "-m", "Begin"]);
    for number in 1..=count {
        std::fs::write(root.join("a.py"), format!("a = {number}\n")).unwrap();
        if number % 2 == 0 {
            std::fs::write(
                root.join("tests/test_a.py"),
                format!("def test_{number}(): pass\n"),
            )
            .unwrap();
        }
        let closes = if number % 3 == 0 {
            "\n\nFixes #1000"
        } else {
            ""
        };
        git(&root, &["add", "--all"]);
        git(
            &root,
            &[
                "commit",
                "-q",
                "-m",
                &format!("Set a to {number} (#{number}){closes}"),
            ],
        );
    }
    root
}

fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const SOURCE: &[&str] = &[
    "source",
    "--clone",
    "clone",
    "--out",
    "candidates.jsonl",
    "--format",
    "json",
];

#[test]
fn a_clone_becomes_candidates_through_the_filters_of_the_configuration() {
    let place = Place::new();
    clone(&place, 12);
    let text = "[source.filters]\nissues = { at_least = 1 }\nedits_tests = true\nstars = { above = 100 }\n\
                order = [\"stars\", \"edits_tests\", \"issues\"]\n";
    std::fs::write(place.path("atlas.toml"), text).unwrap();
    let done = place.run(SOURCE);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["funnel"]["sourced"], 12);
    assert_eq!(report["funnel"]["kept"], 2);
    let steps = report["funnel"]["steps"].as_array().unwrap();
    let counts: Vec<_> = steps
        .iter()
        .map(|step| {
            (
                step["filter"].as_str().unwrap(),
                step["seen"].as_u64(),
                step["dropped"].as_u64(),
                step["unknown"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        counts,
        [
            ("stars", Some(12), Some(0), Some(12)),
            ("edits_tests", Some(12), Some(6), Some(0)),
            ("issues", Some(6), Some(4), Some(0)),
        ]
    );
    let numbers: Vec<_> = lines(&place, "candidates.jsonl")
        .iter()
        .map(|one| one["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [12, 6], "newest first");
    assert_eq!(lines(&place, "candidates.sourced.jsonl").len(), 12);
    let funnel: Value = serde_json::from_str(
        &std::fs::read_to_string(place.path("candidates.funnel.json")).unwrap(),
    )
    .unwrap();
    assert_eq!(funnel, report["funnel"]);

    // Other filters ask nobody: the clone is gone.
    std::fs::remove_dir_all(place.path("clone/.git")).unwrap();
    let args = [
        "source",
        "--sourced",
        "candidates.sourced.jsonl",
        "--preset",
        "paper-001",
        "--drop-unknown",
        "--out",
        "other.jsonl",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert!(
        done.stdout()
            .contains("0 of 12 pull requests are candidates"),
        "{}",
        done.stdout()
    );
    assert!(
        done.stdout().contains("12 unknown: stars"),
        "{}",
        done.stdout()
    );
    assert_eq!(lines(&place, "other.jsonl").len(), 0);
}

#[test]
fn a_death_between_two_pages_loses_and_doubles_nothing() {
    let place = Place::new();
    clone(&place, 150);
    let done = place.run(SOURCE);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let whole = std::fs::read(place.path("candidates.sourced.jsonl")).unwrap();
    let state = std::fs::read_to_string(place.path("candidates.sourced.state.json")).unwrap();
    let length = usize::try_from(
        serde_json::from_str::<Value>(&state).unwrap()["sourced"]["length"]
            .as_u64()
            .unwrap(),
    )
    .unwrap();
    assert!(length > 0 && length < whole.len(), "several pages");
    // The state is written before the page is added: what is on disk may end anywhere from there on.
    for end in [length, length + 1, whole.len() - 1, whole.len()] {
        std::fs::write(place.path("candidates.sourced.jsonl"), &whole[..end]).unwrap();
        let again = place.run(SOURCE);
        assert_eq!(again.code(), 0, "{}", again.stderr());
        assert_eq!(
            std::fs::read(place.path("candidates.sourced.jsonl")).unwrap(),
            whole
        );
        assert_eq!(again.json()["funnel"], done.json()["funnel"]);
        let news = again.json()["news"].as_object().unwrap().clone();
        let nothing = json!({"added": 0, "changed": 0, "gone": 0});
        assert!(news.values().all(|news| *news == nothing), "{news:?}");
    }
    std::fs::write(place.path("candidates.sourced.jsonl"), &whole[..length - 1]).unwrap();
    let done = place.run(SOURCE);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("shorter than"), "{}", done.stderr());
}

#[test]
fn a_run_that_is_killed_at_any_moment_ends_in_the_same_files() {
    let place = Place::new();
    clone(&place, 200);
    let done = place.run(SOURCE);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let names = [
        "candidates.jsonl",
        "candidates.sourced.jsonl",
        "candidates.funnel.json",
    ];
    let whole: Vec<Vec<u8>> = names
        .iter()
        .map(|name| std::fs::read(place.path(name)).unwrap())
        .collect();
    for milliseconds in [20, 60, 100, 150, 200, 300] {
        for name in names.iter().chain(&["candidates.sourced.state.json"]) {
            std::fs::remove_file(place.path(name)).unwrap();
        }
        let mut child = place
            .atlas(SOURCE)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        let done = place.run(SOURCE);
        assert_eq!(done.code(), 0, "{}", done.stderr());
        for (name, whole) in names.iter().zip(&whole) {
            assert!(
                std::fs::read(place.path(name)).unwrap() == *whole,
                "{name} after {milliseconds} ms"
            );
        }
    }
}

#[test]
fn wrong_input_is_refused_with_its_place() {
    let place = Place::new();
    clone(&place, 1);
    std::fs::write(
        place.path("bad.toml"),
        "[source.filters]\nstar = { above = 1 }\n",
    )
    .unwrap();
    std::fs::write(place.path("lines.jsonl"), "{\"repo\": 1}\n").unwrap();
    std::fs::write(place.path("issues.jsonl"), "{\"number\": 1}\n[]\n").unwrap();
    for (args, words) in [
        (&["source", "--out", "o.jsonl"][..], &["--clone"][..]),
        (
            &["source", "--clone", "absent", "--out", "o.jsonl"],
            &["absent"],
        ),
        (
            &[
                "source", "--clone", "clone", "--branch", "absent", "--out", "o.jsonl",
            ],
            &["absent"],
        ),
        (
            &[
                "source", "--clone", "clone", "--config", "bad.toml", "--out", "o.jsonl",
            ],
            &["bad.toml", "line 2", "did you mean `stars`"],
        ),
        (
            &["source", "--sourced", "lines.jsonl", "--out", "o.jsonl"],
            &["lines.jsonl", "line 1"],
        ),
        (
            &[
                "source",
                "--clone",
                "clone",
                "--issues",
                "issues.jsonl",
                "--out",
                "o.jsonl",
            ],
            &["issues.jsonl", "line 2", "jq"],
        ),
    ] {
        let done = place.run(args);
        assert_eq!(done.code(), 1, "{args:?}");
        for word in words {
            assert!(done.stderr().contains(word), "{args:?}: {}", done.stderr());
        }
        assert!(!place.path("o.jsonl").exists(), "{args:?}");
    }
}

/// A page of GitHub's answer, with two pull requests.
fn page(number: u64, last: u64) -> Value {
    let pull = |number: u64| {
        json!({
            "number": number, "title": "t", "body": "Fixes #5", "createdAt": "2024-03-02T00:00:00Z", "mergedAt": "2024-03-05T00:00:00Z",
            "mergeCommit": {"oid": format!("{number:040x}"), "messageHeadline": "t", "parents": {"nodes": [{"oid": "3".repeat(40)}]}},
        })
    };
    let connection = json!({
        "pageInfo": {"endCursor": number.to_string(), "hasNextPage": number < last},
        "nodes": [pull(2 * number), pull(2 * number + 1)],
    });
    json!({"data": {"repository": {"nameWithOwner": "owner/name", "url": "https://github.com/owner/name", "pullRequests": connection}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn no_page_of_an_api_is_asked_for_twice_whenever_a_run_is_killed() {
    const PAGES: u64 = 20;
    let server = MockServer::start().await;
    for number in 1..=PAGES {
        let after = if number == 1 {
            Value::Null
        } else {
            json!((number - 1).to_string())
        };
        let answer = ResponseTemplate::new(200)
            .set_body_json(page(number, PAGES))
            .set_delay(Duration::from_millis(30));
        Mock::given(method("POST"))
            .and(path("/graphql"))
            .and(body_partial_json(json!({"variables": {"after": after}})))
            .respond_with(answer)
            .mount(&server)
            .await;
    }
    let place = Place::new();
    let config = format!(
        "[source.github]\nrepos = [\"owner/name\"]\naddress = \"{}\"\ntokens = [\"env:OWN_TOKEN\"]\n",
        server.uri()
    );
    std::fs::write(place.path("atlas.toml"), config).unwrap();
    let run = |out: &str| {
        let mut command = place.atlas(&["source", "--out", out, "--format", "json"]);
        command
            .env("OWN_TOKEN", "secret")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let done = run("whole.jsonl").output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let whole = std::fs::read(place.path("whole.jsonl")).unwrap();
    assert_eq!(lines(&place, "whole.jsonl").len() as u64, 2 * PAGES);
    let sent = async || server.received_requests().await.unwrap().len();
    let before = sent().await;

    let mut kills = 0;
    for milliseconds in [80, 130, 180, 230, 110, 160, 210] {
        let mut child = run("killed.jsonl").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    let done = run("killed.jsonl").output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(std::fs::read(place.path("killed.jsonl")).unwrap() == whole);
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    let requests = server.received_requests().await.unwrap();
    for request in requests.iter().skip(before) {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        *asked
            .entry(body["variables"]["after"].to_string())
            .or_default() += 1;
    }
    // Only a page that was on its way when a run was killed is asked for again.
    let again: u64 = asked.values().map(|times| times - 1).sum();
    assert!(again <= kills, "{asked:?}");
    assert_eq!(asked.len() as u64, PAGES);
    let before = sent().await;
    let done = run("killed.jsonl").output().unwrap();
    assert!(done.status.success());
    assert_eq!(
        sent().await,
        before,
        "what was read to its end is not asked for again"
    );
}

#[test]
fn github_is_not_asked_without_a_token_by_mistake() {
    let place = Place::new();
    std::fs::write(
        place.path("atlas.toml"),
        "[source.github]\nrepos = [\"o/n\"]\ntokens = [\"secret\"]\n",
    )
    .unwrap();
    for (args, words) in [
        (
            &[
                "source",
                "--github",
                "o/n",
                "--config",
                "empty.toml",
                "--out",
                "o.jsonl",
            ][..],
            &["GITHUB_TOKEN", "anonymous"][..],
        ),
        (
            &[
                "source",
                "--github",
                "o",
                "--anonymous",
                "--config",
                "empty.toml",
                "--out",
                "o.jsonl",
            ],
            &["owner/name"],
        ),
        (
            &[
                "source",
                "--gitlab",
                "p",
                "--config",
                "empty.toml",
                "--out",
                "o.jsonl",
            ],
            &["group/project"],
        ),
        (
            &[
                "source",
                "--archive",
                "absent.json",
                "--config",
                "empty.toml",
                "--out",
                "o.jsonl",
            ],
            &["absent.json"],
        ),
        (&["source", "--out", "o.jsonl"], &["env:NAME"]),
    ] {
        std::fs::write(place.path("empty.toml"), "").unwrap();
        let done = place
            .atlas(args)
            .env_remove("GITHUB_TOKEN")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        for word in words {
            assert!(said.contains(word), "{args:?}: {said}");
        }
        assert!(!said.contains("secret"), "{said}");
    }
}
