//! Predictions that want to bring the machine down, and images that are not there.

use crate::eval_runs::docker_is_wanted;
use crate::eval_support::{SOLVED, docker, eval_image, image, predictions, solved_with, verdict};
use crate::support::Place;
use serde_json::{Value, json};
use std::process::Stdio;

/// Runs the command and returns its report, and the most megabytes that it ever had in memory.
fn watched(place: &Place, args: &[&str]) -> (Value, u64) {
    let out = std::fs::File::create(place.path("stdout")).unwrap();
    let mut child = place
        .atlas(args)
        .stdout(out)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(kilobytes.unwrap_or(0_u64) / 1024);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let text = std::fs::read(place.path("stdout")).unwrap();
    (serde_json::from_slice(&text).unwrap(), most)
}

#[test]
fn five_hundred_megabytes_of_output_do_not_fill_the_memory() {
    if !docker_is_wanted() {
        return;
    }
    let place = Place::new();
    let name = format!("atlas-test-loud-{}:latest", std::process::id());
    let id = image(&place, &name);
    let loud = "import os; [os.write(1, (b'x' * 99 + b'\\n') * 10000) for _ in range(500)]";
    predictions(&place, &[(&id, "loud", json!(solved_with(loud)))]);
    for (mode, run) in [("strict", "s"), ("compat-swebench5", "c")] {
        let (report, most) = watched(&place, &eval_image(run, &["--mode", mode]));
        eprintln!("{mode}: at most {most} MB");
        let verdict = verdict(&report, "loud");
        assert_eq!(verdict["resolved"], false, "{verdict:#}");
        let notes = verdict["notes"].to_string();
        assert!(notes.contains("beyond the limit were not kept"), "{notes}");
        assert!(most < 500, "{mode}: {most} MB for 64 MiB of log");
        let log = format!("logs/run_evaluation/{run}/loud/{id}/test_output.txt");
        let kept = std::fs::metadata(place.path(&log)).unwrap().len();
        // The limit, and the marks around it.
        assert!(kept <= (64 << 20) + 200, "{mode}: {kept}");
    }
    docker(&["rmi", "--force", &name]);
}

#[test]
fn a_fork_bomb_and_bytes_of_no_text_are_verdicts() {
    if !docker_is_wanted() {
        return;
    }
    let place = Place::new();
    let name = format!("atlas-test-bomb-{}:latest", std::process::id());
    let id = image(&place, &name);
    std::fs::write(
        place.path("atlas.toml"),
        "[limits]\nprocesses = 100\ncpus = 0.5\n",
    )
    .unwrap();
    let bomb = "exec('import os\\nwhile 1:\\n try: os.fork()\\n except OSError: pass')";
    let noise = "import os; os.write(1, bytes(range(256)) + b'\\n')";
    predictions(
        &place,
        &[
            (&id, "bomb", json!(solved_with(bomb))),
            (&id, "noise", json!(solved_with(noise))),
        ],
    );
    let done = place.run(&eval_image("r", &["--timeout", "20"]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    let bomb = verdict(&report, "bomb");
    assert_eq!(bomb["resolved"], false);
    assert_eq!(bomb["outcome"], "graded", "{bomb:#}");
    assert!(
        bomb["reasons"][0].is_string() && bomb["cause"] == "model",
        "{bomb:#}"
    );
    assert_eq!(
        verdict(&report, "noise")["resolved"],
        true,
        "{:#}",
        verdict(&report, "noise")
    );
    let log = format!("logs/run_evaluation/r/noise/{id}/test_output.txt");
    let log = std::fs::read(place.path(&log)).unwrap();
    assert!(
        std::str::from_utf8(&log).is_err(),
        "bytes are kept as bytes"
    );
    // The harness decodes strictly, and raises.
    let compat = place.run(&eval_image(
        "c",
        &["--mode", "compat-swebench5", "--timeout", "20"],
    ));
    assert_eq!(compat.code(), 1, "{}{}", compat.stdout(), compat.stderr());
    let report = compat.json();
    assert_eq!(report["reports"]["noise"]["error_ids"], json!([id]));
    assert_eq!(verdict(&report, "noise")["cause"], "harness");
    assert_eq!(
        report["reports"]["bomb"]["error_ids"],
        json!([id]),
        "a time limit writes no report"
    );
    docker(&["rmi", "--force", &name]);
}

#[test]
fn a_missing_image_is_the_environment_s_and_widens_the_bounds() {
    if !docker_is_wanted() {
        return;
    }
    let place = Place::new();
    let name = format!("atlas-test-missing-{}:latest", std::process::id());
    image(&place, &name);
    let text = std::fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let mut row: Value = serde_json::from_str(&text).unwrap();
    row["instance_id"] = json!("me__calc-2");
    // Nobody listens there.
    row["image"] = json!("localhost:1/none:1");
    std::fs::write(place.path("rows.jsonl"), format!("{text}{row}\n")).unwrap();
    std::fs::write(place.path("atlas.toml"), "[engine]\npull_attempts = 1\n").unwrap();
    predictions(
        &place,
        &[
            ("me__calc-1", "m", json!(SOLVED)),
            ("me__calc-2", "m", json!(SOLVED)),
        ],
    );
    for (mode, run) in [("strict", "s"), ("compat-swebench5", "c")] {
        let done = place.run(&eval_image(run, &["--mode", mode]));
        assert_eq!(done.code(), 1, "{}{}", done.stdout(), done.stderr());
        let report = done.json();
        assert_eq!(
            report["reports"]["m"]["resolved_ids"],
            json!(["me__calc-1"])
        );
        assert_eq!(report["reports"]["m"]["error_ids"], json!(["me__calc-2"]));
        let lost = &report["verdicts"][1];
        assert_eq!(lost["outcome"], "no_evidence");
        assert_eq!(lost["cause"], "environment");
        assert!(
            lost["reasons"][0].as_str().unwrap().contains("docker load"),
            "{lost}"
        );
        assert_eq!(report["bounds"]["m"]["lower"], 0.5);
        assert_eq!(report["bounds"]["m"]["upper"], 1.0);
    }
    docker(&["rmi", "--force", &name]);
}
