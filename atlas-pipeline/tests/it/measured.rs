//! `atlas metrics` over lines that were measured, against a second computation of every number.
//!
//! `tests/measured/README.md` says where the lines are from. `recompute.py` there shares no code with
//! Atlas, and a number that it does not give is a failure, so a new one has to be written down twice.

use crate::support::Place;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const FILES: [&str; 3] = ["truth.jsonl", "review.jsonl", "critic.jsonl"];

/// What is not computed twice: bootstrap intervals hang on a generator of random numbers, and are
/// compared with stored values in `atlas-judge`; options repeat the arguments; notes are sentences.
const LEFT_OUT: [&str; 8] = [
    "interval",
    "respected_interval",
    "spearman_interval",
    "kendall_interval",
    "precision_interval",
    "success_at_1_interval",
    "options",
    "notes",
];

const OTHER_OPTIONS: [&str; 12] = [
    "--tau",
    "0.7",
    "--percentiles",
    "50,80",
    "--beyond",
    "exclude",
    "--low-confidence",
    "30",
    "--longer-than",
    "300",
    "--value",
    "run=3,fix=100,review=21.5,open=7",
];

/// A percentile below another one, a cut-off of 0, fewer runs than there are, and as good as no rule.
const ODD_OPTIONS: [&str; 10] = [
    "--percentiles",
    "90,0,33.3",
    "--population",
    "all",
    "--max-k",
    "3",
    "--k",
    "2,5",
    "--longer-than",
    "1000000",
];

fn measured() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/measured")
}

fn lines(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(measured().join(file)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn write(place: &Place, file: &str, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(place.path(file), text.join("\n")).unwrap();
}

fn as_measured() -> Place {
    let place = Place::new();
    for file in FILES {
        std::fs::copy(measured().join(file), place.path(file)).unwrap();
    }
    place
}

/// Takes parts of the lines away and puts in what the measured ones do not have: kinds, patches that
/// stages reject, policies that say nothing, tests of unknown length or end, sure and unsure bounds.
fn with_holes() -> Place {
    let place = Place::new();
    let mut truth = lines("truth.jsonl");
    for (at, line) in truth.iter_mut().enumerate() {
        let bytes = line["instance_id"].as_str().unwrap().len();
        line["kind"] = json!(["leak", "race", "overflow"][bytes % 3]);
        if at % 9 != 1 {
            let (files, lines) = (at % 4, at * 7 % 31);
            line["patch_size"] =
                json!({"files": files, "hunks": 2 * files, "added": lines, "removed": at % 5});
        }
        let mut tests = std::mem::take(line["tests"].as_array_mut().unwrap());
        for (number, test) in tests.iter_mut().enumerate().skip(1).step_by(2) {
            test["length"] = json!(20 * number);
        }
        let known = tests.into_iter().zip(at..);
        line["tests"] = known
            .filter(|(_, number)| number % 6 != 0)
            .map(|(test, _)| test)
            .collect();
    }
    write(&place, FILES[0], &truth);

    let mut review = lines("review.jsonl");
    for (at, line) in review.iter_mut().enumerate() {
        let line = line.as_object_mut().unwrap();
        if at % 5 == 2 {
            line["deterministic"]["passed"] = json!(false);
            line.remove("validation");
        }
        if at % 11 == 3 {
            line.remove("deterministic");
        }
        if let Some(validation) = line.get_mut("validation").filter(|_| at % 17 == 4) {
            validation.as_object_mut().unwrap().remove("score");
        }
        if at % 13 == 4 {
            line.remove("validation");
        }
        if at % 23 == 4 {
            line["abstention"]["probability"] = json!(0.7);
        }
        if at % 19 == 4 {
            line.remove("abstention");
        }
    }
    write(&place, FILES[1], &review);

    let mut critic = lines("critic.jsonl");
    for (at, line) in critic.iter_mut().enumerate() {
        let line = line.as_object_mut().unwrap();
        if at % 7 == 2 {
            line.remove("critic");
        }
        let Some(critic) = line.get_mut("critic") else {
            continue;
        };
        if at % 8 == 5 {
            critic["unseen"] = json!(at % 3);
        }
        let tests = critic["tests"].as_array_mut().unwrap();
        for (number, test) in tests.iter_mut().enumerate() {
            if (at + number) % 3 == 0 {
                test.as_object_mut().unwrap().remove("length");
            }
            if (at + number) % 29 == 0 {
                test["confidence"] = json!(if number % 2 == 0 { 65 } else { 100 });
            }
        }
        if at % 37 == 0 {
            tests.clear();
        }
    }
    // A critic that has a score of its own and no word on tests.
    for (at, line) in (0_u32..).zip(&truth).filter(|(at, _)| at % 10 != 3) {
        let score = f64::from(at * 37 % 50) / 25.0 - 1.0;
        let test = json!({"id": "(patch)", "predicted": score > 0.2, "confidence": 0});
        let said = json!({"variant": "likeness", "tests": [test], "score": score});
        let mut line = line.clone();
        let line = line.as_object_mut().unwrap();
        line.retain(|name, _| ["instance_id", "agent", "patch_id"].contains(&name.as_str()));
        line.insert("critic".to_owned(), said);
        critic.push(Value::Object(line.clone()));
    }
    write(&place, FILES[2], &critic);
    place
}

fn recomputed(place: &Place, options: &[&str]) -> Value {
    let done = Command::new("python3")
        .arg(measured().join("recompute.py"))
        .args(options)
        .args(FILES)
        .current_dir(place.path(""))
        .output()
        .expect("python3 is installed");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    serde_json::from_slice(&done.stdout).unwrap()
}

/// Walks both; gives how many numbers agree.
fn compare(found: &Value, expected: &Value, place: &str, differences: &mut Vec<String>) -> u64 {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for name in expected.keys().filter(|name| !found.contains_key(*name)) {
                differences.push(format!("{place}/{name}: not given by the command"));
            }
            let mut agree = 0;
            for (name, found) in found {
                let place = format!("{place}/{name}");
                if LEFT_OUT.contains(&name.as_str()) {
                    continue;
                }
                if let Some(expected) = expected.get(name) {
                    agree += compare(found, expected, &place, differences);
                } else {
                    differences.push(format!("{place}: not recomputed"));
                }
            }
            agree
        }
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => found
            .iter()
            .zip(expected)
            .zip(0..)
            .map(|((found, expected), at)| {
                compare(found, expected, &format!("{place}/{at}"), differences)
            })
            .sum(),
        (Value::Number(a), Value::Number(b))
            if (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9 =>
        {
            1
        }
        (Value::Null | Value::String(_) | Value::Bool(_), _) if found == expected => 0,
        _ => {
            differences.push(format!("{place}: {found}, recomputed {expected}"));
            0
        }
    }
}

/// The command's word, after each number of it was computed again.
fn agreed(place: &Place, options: &[&str]) -> Value {
    let fixed = ["metrics", "--format", "json", "--resamples", "20"];
    let done = place.run(&[&fixed, options, &FILES].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let found = done.json();
    let mut differences = Vec::new();
    let agree = compare(&found, &recomputed(place, options), "", &mut differences);
    assert!(
        differences.is_empty(),
        "{options:?}: {}",
        differences.join("\n")
    );
    assert!(agree > 4000, "only {agree} numbers were compared");
    found
}

#[test]
fn every_number_is_the_same_twice() {
    let place = as_measured();
    let found = agreed(&place, &[]);
    let isolated = &found["critics"][1];
    assert_eq!(isolated["tests"], json!(1289));
    assert_ne!(
        isolated["micro"], isolated["micro_with_rule"],
        "the critic's lengths reach the low-confidence rule"
    );
    agreed(&place, &OTHER_OPTIONS);
    let found = agreed(&place, &ODD_OPTIONS);
    let isolated = &found["critics"][1];
    assert_eq!(isolated["micro"], isolated["micro_with_rule"]);
}

#[test]
fn so_it_is_where_lines_say_less() {
    let place = with_holes();
    for options in [&[][..], &OTHER_OPTIONS, &ODD_OPTIONS] {
        let found = agreed(&place, options);
        let policies = &found["policies"][0]["policies"];
        let names = ["abstention without empty patches", "validation"];
        for (at, name) in [2, 5].into_iter().zip(names) {
            assert_eq!(policies[at]["name"], json!(name));
            assert!(policies[at]["unjudged"].as_u64() > Some(0));
        }
        assert!(policies[5]["sizes"]["rejected_right"]["patches"].as_u64() > Some(0));
        assert_eq!(
            policies[5]["lift"].as_object().map(serde_json::Map::len),
            Some(3)
        );
        assert!(found["critics"][1]["tests_without_truth"].as_u64() > Some(0));
        assert!(found["critics"][1]["empty"].as_u64() > Some(0));
        let likeness = &found["critics"][2];
        assert!(likeness["score"]["patches"].as_u64() > Some(0));
        assert!(likeness["instance_correlations"]["defined"].as_u64() > Some(0));
        assert_eq!(found["progress"].as_array().map(Vec::len), Some(6));
    }
}
