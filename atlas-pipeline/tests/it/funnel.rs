//! `atlas funnel` over what runs leave behind.

use crate::support::Place;
use serde_json::{Value, json};

fn made(place: &Place, id: &str, outcome: &str, language: &str, reason: &str) {
    let folder = place.path("out").join(id);
    std::fs::create_dir_all(&folder).unwrap();
    let report = json!({
        "schema_version": 1, "instance_id": id, "outcome": outcome, "reason": reason, "seconds": {"environment": 1.5, "total": 2.0},
    });
    std::fs::write(folder.join("make.json"), report.to_string()).unwrap();
    if !language.is_empty() {
        std::fs::write(
            folder.join("plan.json"),
            json!({"language": language}).to_string(),
        )
        .unwrap();
    }
}

#[test]
fn what_is_left_after_each_stage_stands_beside_the_paper() {
    let place = Place::new();
    made(&place, "a__a-1", "instance", "python", "fine");
    made(&place, "a__a-2", "instance", "python", "fine");
    made(&place, "a__a-3", "instance", "go", "fine");
    made(
        &place,
        "a__a-4",
        "reject_no_fail_to_pass",
        "go",
        "nothing fails\nfault: x",
    );
    made(
        &place,
        "a__a-5",
        "environment_invalid",
        "go",
        "the build failed",
    );
    made(&place, "a__a-6", "reject_nothing_to_test", "", "no test");
    let validated = json!({"instances": [
        {"instance_id": "a__a-1", "decision": "accept", "verdicts": []},
        {"instance_id": "a__a-2", "decision": "reject", "reason": "it is flaky", "verdicts": [
            {"validator": "integrity", "decision": "accept"}, {"validator": "oracle_consistency", "decision": "reject"},
        ]},
    ]});
    std::fs::write(place.path("out/validate.json"), validated.to_string()).unwrap();
    std::fs::write(
        place.path("candidates.jsonl"),
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n\n{}",
    )
    .unwrap();
    let done = place.run(&[
        "funnel",
        "out",
        "--candidates",
        "candidates.jsonl",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(
        (&report["sourced"], &report["made"]),
        (&json!(8), &json!(6))
    );
    assert_eq!(
        (
            &report["replicated"]["left"],
            &report["replicated"]["percent"]
        ),
        (&json!(4), &json!(50.0))
    );
    assert_eq!(
        (&report["accepted"]["left"], &report["not_validated"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        (
            &report["accepted"]["paper"],
            &report["languages"]["go"]["paper"]
        ),
        (&json!(8.1), &json!(41.0))
    );
    assert_eq!(report["languages"]["go"]["left"], 2);
    assert_eq!(report["languages"]["not known"]["paper"], Value::Null);
    assert_eq!(
        report["rejections"],
        json!({
            "environment_invalid": {"count": 1, "examples": {"a__a-5": "the build failed"}},
            "gate oracle_consistency": {"count": 1, "examples": {"a__a-2": "it is flaky"}},
            "reject_no_fail_to_pass": {"count": 1, "examples": {"a__a-4": "nothing fails"}},
            "reject_nothing_to_test": {"count": 1, "examples": {"a__a-6": "no test"}},
        })
    );
    assert_eq!(report["seconds"]["environment"], 9.0);
    let text = place.run(&["funnel", "out"]).stdout();
    assert!(text.contains("2, 3 built, run and read"), "{text}");
    // The folder of a run, where each instance has a verdict of its own.
    std::fs::create_dir(place.path("run")).unwrap();
    std::fs::rename(place.path("out"), place.path("run/instances")).unwrap();
    std::fs::remove_file(place.path("run/instances/validate.json")).unwrap();
    for one in validated["instances"].as_array().unwrap() {
        let id = one["instance_id"].as_str().unwrap();
        let own = format!("run/instances/{id}/validate.json");
        std::fs::write(place.path(&own), one.to_string()).unwrap();
    }
    let of_run = place.run(&[
        "funnel",
        "run",
        "--candidates",
        "candidates.jsonl",
        "--format",
        "json",
    ]);
    assert_eq!(of_run.json()["rejections"], report["rejections"]);
    assert_eq!(of_run.json()["accepted"], report["accepted"]);
    std::fs::rename(place.path("run/instances"), place.path("out")).unwrap();
    std::fs::write(place.path("out/a__a-3/make.json"), "{").unwrap();
    let done = place.run(&["funnel", "out"]);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("a__a-3/make.json"),
        "{}",
        done.stderr()
    );
    let done = place.run(&["funnel", "."]);
    assert!(
        done.stderr().contains("no `<instance>/make.json`"),
        "{}",
        done.stderr()
    );
}
