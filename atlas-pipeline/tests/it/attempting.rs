//! `atlas attempt` with agents that are scripts.

use crate::docker::wanted;
use crate::eval_support::{image, made_here};
use crate::support::{Done, Place};
use serde_json::{Value, json};
use std::path::Path;

/// Odd attempts fix the function, even ones leave it; all reach for what is hidden.
const AGENT: &str = "grep -q double {statement} || grep -q commit {statement} || exit 5; {shell} -c 'git log --all --oneline | wc -l'; \
    {shell} -c 'python3 -c \"import urllib.request as u; u.urlopen(\\\"http://1.1.1.1\\\", timeout=3)\"'; \
    {shell} -c 'cat /var/run/docker.sock'; \
    if [ $((ATLAS_ATTEMPT % 2)) = 1 ]; then {shell} -c \"sed -i 's/ if n > 0 else n//' calc/__init__.py\"; fi; \
    {shell} -c 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT'";

fn attempt<'a>(
    dataset: &'a str,
    engine: &'a str,
    agent: &'a str,
    more: &[&'a str],
) -> Vec<&'a str> {
    let mut args = vec![
        "attempt", dataset, "--agent", agent, "--engine", engine, "--out", "tries",
    ];
    args.extend(["--results", "results", "--format", "json"]);
    if engine == "local" {
        args.push("--trust");
    }
    args.extend(more);
    args
}

fn check(place: &Place, done: &Done, id: &str) {
    let report = done.json();
    assert_eq!(done.code(), 0, "{report:#}{}", done.stderr());
    assert_eq!(
        report["instances"],
        json!([{ "instance_id": id, "attempts": 4, "resolved": 2 }]),
        "{report:#}"
    );
    assert_eq!(report["pass_at_k"]["1"], 0.5);
    assert_eq!(report["pass_at_k"]["4"], 1.0);
    assert_eq!(report["exit_statuses"], json!({ "exited": 4 }));
    for record in report["attempts"].as_array().unwrap() {
        let number = record["attempt"].as_u64().unwrap();
        assert_eq!(record["verdict"]["resolved"], number % 2 == 1, "{record:#}");
        assert_eq!(record["isolation"]["network_off"], true, "{record:#}");
        let what: Vec<&str> = record["forbidden"]
            .as_array()
            .unwrap()
            .iter()
            .map(|read| {
                assert_eq!(read["revealed"], false, "{read}");
                read["what"].as_str().unwrap()
            })
            .collect();
        assert_eq!(what, ["future_history", "network", "host"], "{record:#}");
        assert_eq!(record["gates"][0]["validator"], "final_submit");
        let verdict = record["model_name_or_path"].as_str().unwrap();
        let folder = place
            .path("tries/logs/run_evaluation/attempts")
            .join(verdict)
            .join(id);
        assert_eq!(folder.join("verdict.json").exists(), true);
    }
    // A commit of Base, and nothing after it.
    let commands = lines(
        &place
            .path("tries/attempts")
            .join(id)
            .join("1/commands.jsonl"),
    );
    assert_eq!(commands[0]["output"], "1\n");
    let predictions = lines(&place.path("tries/predictions.jsonl"));
    let patches: Vec<bool> = predictions
        .iter()
        .map(|line| {
            line["model_patch"]
                .as_str()
                .unwrap()
                .contains("+    return n + n")
        })
        .collect();
    assert_eq!(patches, [true, false, true, false]);
    assert_eq!(lines(&place.path("tries/trajectories.jsonl")).len(), 4);
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn attempts_are_made_once_and_graded() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let dataset = "out/dataset.jsonl";
    // Stands beside what the sandbox has; each attempt leaves one line.
    let counted = format!("echo x >>{}; {AGENT}", place.path("made").display());
    let args = attempt(dataset, "local", &counted, &["--k", "4", "-j", "2"]);
    check(&place, &place.run(&args), &id);
    let made = || std::fs::read_to_string(place.path("made")).unwrap().len();
    assert_eq!(made(), 8);
    check(&place, &place.run(&args), &id);
    assert_eq!(made(), 8, "nothing is attempted again");
    // One that was broken off is made anew; one without a verdict is graded.
    let folder = place.path("tries/attempts").join(&id);
    std::fs::remove_file(folder.join("2/record.json")).unwrap();
    let path = folder.join("3/record.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record.as_object_mut().unwrap().remove("verdict");
    std::fs::write(&path, record.to_string()).unwrap();
    check(&place, &place.run(&args), &id);
    assert_eq!(made(), 10);
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn hints_reach_agents_and_what_no_model_resolved_is_chosen() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let hint = json!({"instance_id": id, "hint": "- `calc/__init__.py`: `def double(n)`"});
    std::fs::write(place.path("hints.jsonl"), format!("{hint}\n")).unwrap();
    let dataset = "out/dataset.jsonl";
    let agent = "grep -q 'def double(n)' {statement} || exit 7; {shell} -c 'echo my hint says so'; \
                 {shell} -c 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT'";
    let args = attempt(dataset, "local", agent, &["--hints", "hints.jsonl"]);
    let done = place.run(&args);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["attempts"][0]["hinted"], true);
    assert_eq!(report["attempts"][0]["exit_status"], "exited");
    assert_eq!(report["not_accepted"]["hint_words"], 1, "{report:#}");
    let own = "tries/run.json";
    let ids = |resolved: bool| {
        let of = |is: bool| if is { json!([id]) } else { json!([]) };
        json!({
            "total_instances": 1, "submitted_instances": 1, "completed_instances": 1,
            "resolved_instances": u8::from(resolved), "unresolved_instances": u8::from(!resolved),
            "empty_patch_instances": 0, "error_instances": 0, "completed_ids": [id], "incomplete_ids": [],
            "empty_patch_ids": [], "submitted_ids": [id], "resolved_ids": of(resolved),
            "unresolved_ids": of(!resolved), "error_ids": [], "schema_version": 2,
        })
    };
    std::fs::write(place.path(own), ids(false).to_string()).unwrap();
    let chosen = place.run(&attempt(
        dataset,
        "local",
        agent,
        &["--only-unresolved", own],
    ));
    assert_eq!(
        chosen.json()["attempts"][0]["exit_status"],
        "exit_code_7",
        "{}",
        chosen.stderr()
    );
    std::fs::write(place.path(own), ids(true).to_string()).unwrap();
    let none = place.run(&attempt(
        dataset,
        "local",
        agent,
        &["--only-unresolved", own],
    ));
    assert_eq!(none.code(), 1);
    assert!(
        none.stderr().contains("all of them resolved"),
        "{}",
        none.stderr()
    );
}

#[test]
fn an_agent_that_is_not_there_ends_all() {
    let place = Place::new();
    made_here(&place, 0.0);
    let done = place.run(&attempt(
        "out/dataset.jsonl",
        "local",
        "no-such-agent {shell}",
        &[],
    ));
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("no-such-agent"), "{}", done.stderr());
    let mini = place.run(&attempt(
        "out/dataset.jsonl",
        "local",
        "mini-swe-agent",
        &[],
    ));
    assert!(mini.stderr().contains("--model"), "{}", mini.stderr());
}

#[test]
fn containers_of_others_are_attempted_like_ours() {
    if !wanted() {
        return;
    }
    let place = Place::new();
    let name = format!("atlas-attempts-{}", std::process::id());
    let id = image(&place, &name);
    // The image holds what it was cloned with, the pull request's commit as well.
    let args = attempt("rows.jsonl", "docker", AGENT, &["--k", "2", "-j", "2"]);
    let done = place.run(&args);
    let report = done.json();
    assert_eq!(done.code(), 0, "{report:#}{}", done.stderr());
    assert_eq!(report["instances"][0]["resolved"], 1, "{id}: {report:#}");
    let commands = lines(
        &place
            .path("tries/attempts")
            .join(&id)
            .join("1/commands.jsonl"),
    );
    assert_eq!(commands[0]["output"], "1\n", "of two commits one is left");
    crate::docker::docker(&["rmi", "-f", &name]);
}
