//! Runs that are disturbed end as those that are not.

use crate::eval_support::{
    SOLVED, docker, eval_here, eval_image, image, left, made_here, predictions, solved_with,
};
use crate::kill::kill_at;
use crate::support::Place;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// Whether tests with an engine are wanted; says so where they are not.
pub(crate) fn docker_is_wanted() -> bool {
    let wanted = std::env::var("ATLAS_TEST_DOCKER").is_ok_and(|value| value == "1");
    if !wanted {
        eprintln!("skipped: needs a Docker engine; set ATLAS_TEST_DOCKER=1");
    }
    wanted
}

/// Three predictions: one that solves the instance, one that does not, and one that is empty.
fn three(place: &Place, id: &str) {
    let wrong = SOLVED.replace("+    return n + n\n", "+    return 3 * n\n");
    predictions(
        place,
        &[
            (id, "good", json!(SOLVED)),
            (id, "wrong", json!(wrong)),
            (id, "empty", json!("")),
        ],
    );
}

/// Names of files that were not written to their end.
fn unfinished(place: &Place, folders: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|name| place.path(name)).collect();
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with(".atlas-") || name == "tmp" {
                found.push(path);
            } else if path.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

/// An undisturbed run, with results of its own.
fn undisturbed(place: &Place, args: &[&str]) -> BTreeMap<String, Value> {
    let more = ["--out", "calm", "--results", "calm-results"];
    let done = place.run(&[args, &more].concat());
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    left(&place.path("calm"))
}

/// Gives another run the secrets of the undisturbed one: names of canaries, and so the lines of logs that a
/// verdict quotes, are made from them.
fn share_secret(place: &Place, with: &str) {
    for (from, to, name) in [
        ("calm-results".to_owned(), format!("{with}-results"), "seed"),
        (
            "calm/logs/run_evaluation/r".to_owned(),
            format!("{with}/logs/run_evaluation/r"),
            "nonce",
        ),
    ] {
        let (from, to) = (place.path(&from), place.path(&to));
        // A run has a number of its own only if it was asked for.
        if name == "seed" || from.join(name).exists() {
            std::fs::create_dir_all(&to).unwrap();
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// Two processes at the same run at the same time.
fn two_at_once(place: &Place, args: &[&str]) {
    let calm = undisturbed(place, args);
    share_secret(place, "both");
    let args = [args, &["--out", "both", "--results", "both-results"]].concat();
    let start = || {
        place
            .atlas(&args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [start(), start()];
    for one in both {
        let done = one.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(3), "{said}");
    }
    assert_eq!(left(&place.path("both")), calm);
    assert_eq!(
        unfinished(place, &["both", "both-results"]),
        Vec::<PathBuf>::new()
    );
}

/// Kills the run in each of these phases and at these milliseconds, then lets it end.
fn killed(place: &Place, args: &[&str], phases: &[&str], moments: &[u64]) {
    let calm = undisturbed(place, args);
    share_secret(place, "killed");
    let args = [args, &["--out", "killed", "--results", "killed-results"]].concat();
    for moment in moments {
        let mut child = place
            .atlas(&args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(*moment));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for phase in phases {
        assert!(kill_at(place, &args, phase), "{phase} was never entered");
    }
    // As a process leaves it that is killed between making a file and naming it.
    for folder in ["killed", "killed/logs/run_evaluation/r/good/me__calc-1"] {
        std::fs::write(place.path(folder).join(".atlas-part-1a2b3c"), "{").unwrap();
    }
    let done = place.run(&args);
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    assert_eq!(left(&place.path("killed")), calm);
    assert_eq!(
        unfinished(place, &["killed", "killed-results"]),
        Vec::<PathBuf>::new()
    );
    let again = place.run(&args).json();
    assert_eq!(again["ledger"]["jobs_run"], 0, "{}", again["ledger"]);
    assert!(again["ledger"]["result_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn what_a_strict_run_leaves_is_graded_again_alike() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    three(&place, &id);
    let resolved = |report: &Value| -> BTreeMap<String, Value> {
        let list = report["verdicts"]
            .as_array()
            .or(report["instances"].as_array());
        let of = |one: &Value| {
            let verdict = one.get("verdict").unwrap_or(one);
            let model = verdict["model_name_or_path"].as_str().unwrap().to_owned();
            let lists = [&verdict["FAIL_TO_PASS"], &verdict["PASS_TO_PASS"]];
            let said = match verdict["outcome"].as_str().unwrap() {
                "graded" => json!([verdict["resolved"], lists]),
                other => json!(other),
            };
            (model, said)
        };
        list.unwrap().iter().map(of).collect()
    };
    let done = place.run(&eval_here("r", &["--out", "there"]));
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let there = resolved(&done.json());
    assert_eq!(there["good"][0], true);
    assert_eq!(there["wrong"][0], false);
    for mode in ["strict", "compat-swebench5"] {
        let mut args = vec![
            "regrade",
            "--dataset",
            "out/dataset.jsonl",
            "--format",
            "json",
        ];
        args.extend(["--predictions", "predictions.jsonl", "--logs", "there/logs"]);
        args.extend(["--mode", mode]);
        let done = place.run(&args);
        assert_eq!(done.code(), 3, "{mode}: {}", done.stderr());
        assert_eq!(resolved(&done.json()), there, "{mode}");
    }
}

#[test]
fn two_processes_at_one_run_write_what_one_writes() {
    let place = Place::new();
    let id = made_here(&place, 0.2);
    three(&place, &id);
    two_at_once(&place, &eval_here("r", &["--fresh-canaries"]));
    assert!(place.path("both/logs/run_evaluation/r/nonce").exists());
}

#[test]
fn killed_at_any_moment_it_ends_as_if_it_had_not_been() {
    let place = Place::new();
    let id = made_here(&place, 0.2);
    three(&place, &id);
    let phases = [
        "prepare",
        "run gold with canaries",
        "run prediction",
        "write the report",
    ];
    killed(&place, &eval_here("r", &[]), &phases, &[10, 100, 400]);
    assert_eq!(place.leftovers(), Vec::<PathBuf>::new());
}

#[test]
fn the_same_two_ways_on_docker() {
    if !docker_is_wanted() {
        return;
    }
    let place = Place::new();
    let name = format!("atlas-test-runs-{}:latest", std::process::id());
    let id = image(&place, &name);
    three(&place, &id);
    let args = eval_image("r", &[]);
    two_at_once(&place, &args);
    std::fs::remove_dir_all(place.path("calm")).unwrap();
    std::fs::remove_dir_all(place.path("calm-results")).unwrap();
    let phases = [
        "run gold with canaries",
        "run prediction",
        "write the report",
    ];
    killed(&place, &args, &phases, &[100, 1000]);
    let left: Vec<String> = docker(&[
        "ps",
        "--all",
        "--filter",
        "label=atlas.run",
        "--format",
        "{{.Names}} {{.Label \"atlas.run\"}}",
    ])
    .lines()
    .filter(|line| {
        // Other tests may have containers of their own, under the process ids of their runs.
        let pid = line.rsplit('-').next().unwrap();
        !std::path::Path::new("/proc").join(pid).exists()
    })
    .map(str::to_owned)
    .collect();
    assert_eq!(left, Vec::<String>::new());
    docker(&["rmi", "--force", &name]);
}

#[test]
fn an_endless_loop_ends_at_the_limit() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    predictions(
        &place,
        &[
            (&id, "loop", json!(solved_with("while True: pass"))),
            (&id, "good", json!(SOLVED)),
        ],
    );
    let done = place.run(&eval_here("r", &["--timeout", "8"]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    let verdict = crate::eval_support::verdict(&report, "loop");
    assert_eq!(verdict["resolved"], false);
    assert_eq!(
        verdict["cause"], "model",
        "the gold patch does it in time: {verdict:#}"
    );
    let told = format!("{}{}", verdict["evidence"], verdict["reasons"]);
    assert!(told.contains("time"), "{verdict:#}");
    assert_eq!(
        crate::eval_support::verdict(&report, "good")["resolved"],
        true
    );
}

/// Far below the limit of a run, and without anybody who sets one.
#[test]
fn an_endless_loop_ends_relative_to_the_gold_patch() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let looping = json!(solved_with("while True: pass"));
    predictions(
        &place,
        &[(&id, "loop", looping), (&id, "good", json!(SOLVED))],
    );
    let close = ["--times-gold", "3", "--least-seconds", "5"];
    let done = place.run(&eval_here("r", &close));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    let verdict = crate::eval_support::verdict(&report, "loop");
    assert_eq!(
        (&verdict["resolved"], &verdict["cause"]),
        (&json!(false), &json!("model"))
    );
    let seconds = verdict["run"]["seconds"].as_f64().unwrap();
    assert!(seconds < 60.0, "{seconds} s");
    let good = crate::eval_support::verdict(&report, "good");
    assert_eq!(good["resolved"], true, "{good:#}");
}

/// A walk of the tests' folder would go through the whole machine.
#[test]
fn a_link_out_of_the_tree_is_refused_unrun() {
    let place = Place::new();
    let id = made_here(&place, 0.0);
    let link = "diff --git a/tests/all b/tests/all\nnew file mode 120000\n--- /dev/null\n+++ b/tests/all\n\
                @@ -0,0 +1 @@\n+../../..\n\\ No newline at end of file\n";
    predictions(&place, &[(&id, "link", json!(format!("{SOLVED}{link}")))]);
    let done = place.run(&eval_here("r", &[]));
    let report = done.json();
    let verdict = crate::eval_support::verdict(&report, "link");
    assert_eq!(
        (&verdict["resolved"], &verdict["cause"], verdict.get("run")),
        (&json!(false), &json!("tampered"), None),
        "{verdict:#}"
    );
    let told = verdict["tampering"][0].as_str().unwrap();
    assert!(
        told.starts_with("`tests/all`: a symbolic link out"),
        "{told}"
    );
}
