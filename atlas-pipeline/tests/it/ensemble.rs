//! Committees and cascades of models over files, asked live and put together afterwards.

use crate::critic;
use crate::judging::paid::{serve, word_of_api};
use crate::judging::{
    REVIEW, candidates, label_rule, lines, review_rule, row, three_rows, write_lines,
};
use crate::support::{Done, Place};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Runs a command that must come to its end, and gives its report.
fn report(place: &Place, args: &[&str]) -> Value {
    let done = place.run(args);
    assert_eq!(
        done.code(),
        0,
        "{args:?}: {}{}",
        done.stdout(),
        done.stderr()
    );
    done.json()
}

fn refused(place: &Place, args: &[&str], parts: &[&str]) -> Done {
    let done = place.run(args);
    assert_eq!(
        done.code(),
        1,
        "{args:?}: {}{}",
        done.stdout(),
        done.stderr()
    );
    for part in parts {
        let all = format!("{}{}", done.stdout(), done.stderr());
        assert!(all.contains(part), "{part}: {all}");
    }
    done
}

/// The lines without what says how they came about: hashes, and what was paid for them.
fn judged(place: &Place, name: &str) -> Vec<Value> {
    let mut found = lines(place, name);
    for line in &mut found {
        let line = line.as_object_mut().unwrap();
        for field in ["settings", "content", "paid", "kept"] {
            line.remove(field);
        }
        for member in line
            .get_mut("members")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let member = member.as_object_mut().unwrap();
            member.remove("paid");
            member.remove("kept");
        }
    }
    found
}

fn rows_with(scripts: &[(&str, [f64; 3])]) -> Place {
    let place = three_rows();
    for (name, numbers) in scripts {
        let rules = ["a", "b", "c"].iter().zip(numbers);
        let rules: Vec<Value> = rules.map(|(id, p)| label_rule(id, *p)).collect();
        write_lines(&place, &format!("{name}.script"), &rules);
    }
    place
}

const ABSTAIN: [&str; 5] = ["abstain", "--dataset", "rows.jsonl", "--format", "json"];

fn abstain(place: &Place, out: &str, more: &[&str]) -> Value {
    report(place, &[&ABSTAIN[..], &["--out", out], more].concat())
}

const CHEAP: [&str; 2] = ["--model", "cheap=scripted:cheap.script"];
const DEAR: [&str; 2] = ["--model", "dear=scripted:dear.script"];

/// Results of either model alone.
fn alone(place: &Place) {
    abstain(place, "cheap.jsonl", &["--model", "scripted:cheap.script"]);
    abstain(place, "dear.jsonl", &["--model", "scripted:dear.script"]);
}

const FILES: [&str; 3] = ["combine", "cheap=cheap.jsonl", "dear=dear.jsonl"];

fn combine(place: &Place, rule: &str, out: &str) -> Value {
    let more = ["--rule", rule, "--out", out, "--format", "json"];
    report(place, &[&FILES[..], &more].concat())
}

#[test]
fn a_committee_that_is_asked_says_what_its_results_come_to() {
    let place = rows_with(&[("cheap", [0.9, 0.6, 0.2]), ("dear", [0.7, 0.1, 0.4])]);
    let asked = abstain(&place, "live.jsonl", &[&CHEAP[..], &DEAR[..]].concat());
    assert_eq!(
        (&asked["attempt"], &asked["abstain"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(asked["ledger"]["calls"], 6);
    let found = lines(&place, "live.jsonl");
    let means: Vec<f64> = found
        .iter()
        .map(|line| line["abstention"]["probability"].as_f64().unwrap())
        .collect();
    for (mean, expected) in means.iter().zip([0.8, 0.35, 0.3]) {
        assert!((mean - expected).abs() < 1e-9, "{means:?}");
    }
    assert_eq!(found[0]["abstention"]["source"], "committee_mean");
    assert_eq!(
        found[0]["paid"],
        json!({"calls": 2, "prompt_tokens": 200, "completion_tokens": 2, "money": 0.0})
    );
    assert_eq!(found[0]["members"][1]["paid"]["calls"], 1);
    assert_eq!(found[1]["members"][0]["verdict"], true);
    assert_eq!(found[0]["judgement"]["details"]["rule"], "mean");
    // Nothing is asked again, and other members are other settings.
    assert_eq!(
        abstain(&place, "live.jsonl", &[&CHEAP[..], &DEAR[..]].concat())["known"],
        3
    );
    let other = [&ABSTAIN[..], &["--out", "live.jsonl"], &DEAR, &CHEAP].concat();
    refused(&place, &other, &["made with other settings", "`members`"]);

    alone(&place);
    let together = combine(&place, "mean", "stored.jsonl");
    assert_eq!((&together["yes"], &together["no"]), (&json!(1), &json!(2)));
    assert_eq!(judged(&place, "stored.jsonl"), judged(&place, "live.jsonl"));
    let stored = lines(&place, "stored.jsonl");
    assert_eq!(stored[0]["paid"], found[0]["paid"]);
    // The rest of the way takes it as any other.
    let mut review = vec!["review", "--dataset", "rows.jsonl", "--predictions", "gold"];
    review.extend(["--mode", "deterministic", "--abstentions", "stored.jsonl"]);
    review.extend(["--out", "r.jsonl", "--format", "json"]);
    assert_eq!(report(&place, &review)["abstained"], 2);

    // One vote each is a tie, and of a tie: no.
    combine(&place, "majority", "votes.jsonl");
    let votes: Vec<Value> = lines(&place, "votes.jsonl")
        .iter()
        .map(|line| line["abstention"]["attempt"].clone())
        .collect();
    assert_eq!(votes, [true, false, false]);
}

#[test]
fn a_cascade_pays_the_dear_model_for_doubts() {
    let place = rows_with(&[("cheap", [0.9, 0.6, 0.2]), ("dear", [0.7, 0.1, 0.4])]);
    let more = [&CHEAP[..], &DEAR, &["--cascade", "0.3..0.7"]].concat();
    let asked = abstain(&place, "live.jsonl", &more);
    assert_eq!(asked["ledger"]["calls"], 4);
    assert_eq!(asked["members"][1]["asked"], 1);
    let found = lines(&place, "live.jsonl");
    let members = |at: usize| &found[at]["members"];
    assert_eq!(members(0)[1]["asked"], false);
    assert_eq!(
        members(0)[1]["why"],
        "0.900 of `cheap` lies outside of 0.3..0.7"
    );
    assert!(members(0)[1].get("paid").is_none());
    assert_eq!(
        (&members(1)[1]["asked"], &members(1)[1]["paid"]["calls"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(found[1]["abstention"]["source"], "mixed");
    assert_eq!(
        (&found[0]["paid"]["calls"], &found[1]["paid"]["calls"]),
        (&json!(1), &json!(2))
    );

    alone(&place);
    let together = combine(&place, "cascade=0.3..0.7", "stored.jsonl");
    assert_eq!(judged(&place, "stored.jsonl"), judged(&place, "live.jsonl"));
    let uses = &together["members"];
    assert_eq!(
        (&uses[0]["asked"], &uses[1]["asked"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(uses[1]["cost"]["prompt_tokens"], 100);
    // Only what is needed must be there.
    let kept: Vec<Value> = lines(&place, "dear.jsonl")
        .into_iter()
        .filter(|line| line["key"] == "o__n-b")
        .collect();
    write_lines(&place, "dear.jsonl", &kept);
    combine(&place, "cascade=0.3..0.7", "fewer.jsonl");
    let all = [&FILES[..], &["--rule", "mean", "--out", "all.jsonl"]].concat();
    refused(
        &place,
        &all,
        &[
            "`dear` (`dear.jsonl`): it has none about this item",
            "2 failed",
        ],
    );
    assert_eq!(lines(&place, "all.jsonl")[0]["error"]["kind"], "not_found");

    // A dry run counts all that may be asked.
    let dry = [&ABSTAIN[..], &more, &["--dry-run"]].concat();
    let dry = report(&place, &dry);
    assert_eq!(dry["members"][0]["questions"], 3);
    assert_eq!(dry["members"][1]["questions"], 3);
    assert_eq!(dry["failed"], json!([]));
}

/// A member that fails is the item's failure; when it is tried again, the other's answer is not paid again.
#[test]
fn what_one_member_answered_is_kept_when_another_fails() {
    let place = Place::new();
    write_lines(&place, "rows.jsonl", &[row("1")]);
    let counts: Arc<Mutex<[usize; 2]>> = Arc::default();
    let address = |at: usize, fails: usize| {
        let counts = Arc::clone(&counts);
        serve(move |_| {
            let asked = &mut counts.lock().unwrap()[at];
            *asked += 1;
            if *asked <= fails {
                return Some((400, json!({"error": {"message": "no"}}).to_string()));
            }
            Some((200, word_of_api("success")))
        })
    };
    let models = [
        format!("good={}", address(0, 0)),
        format!("bad={}", address(1, 1)),
    ];
    let mut args = [&ABSTAIN[..], &["--out", "live.jsonl"]].concat();
    for model in &models {
        args.extend(["--model", model]);
    }
    refused(&place, &args, &[]);
    let first = lines(&place, "live.jsonl");
    assert_eq!(
        (&first[0]["error"]["kind"], &first[0]["paid"]["calls"]),
        (&json!("model"), &json!(1))
    );
    report(&place, &args);
    assert_eq!(*counts.lock().unwrap(), [1, 2]);
    let line = &lines(&place, "live.jsonl")[0];
    assert_eq!(
        (&line["paid"]["calls"], &line["kept"]["calls"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(line["members"][0]["kept"]["prompt_tokens"], 40);
    assert_eq!(line["paid"]["money"], Value::Null);
}

fn reviews(place: &Place, name: &str, verdicts: [(bool, f64); 3]) {
    let mut spec = json!({"holds": "List the properties", "text": "- x is 2", "times": 0});
    spec["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 2});
    let holds = ["Title a\n", "+x = 4", "Title b\n"].iter().zip(verdicts);
    let rules = holds.map(|(holds, (is_fixed, logprob))| review_rule(holds, is_fixed, logprob));
    let rules: Vec<Value> = std::iter::once(spec).chain(rules).collect();
    write_lines(place, name, &rules);
}

fn review(model: &[&'static str], out: &'static str) -> Vec<&'static str> {
    let mut args: Vec<&str> = REVIEW.to_vec();
    let at = args.iter().position(|arg| *arg == "--model").unwrap();
    args.splice(at..at + 2, model.iter().copied());
    let at = args.iter().position(|arg| *arg == "--out").unwrap();
    args[at + 1] = out;
    args
}

#[test]
fn reviews_are_one_review_behind_the_same_stages() {
    let place = candidates();
    reviews(
        &place,
        "cheap.script",
        [(true, -0.2), (true, -0.5), (true, -0.9)],
    );
    reviews(
        &place,
        "dear.script",
        [(true, -0.1), (false, -0.1), (true, -0.3)],
    );
    let both = [&CHEAP[..], &DEAR].concat();
    let asked = report(&place, &review(&both, "live.jsonl"));
    assert_eq!(
        (&asked["accepted"], &asked["rejected"]),
        (&json!(2), &json!(3))
    );
    let found = lines(&place, "live.jsonl");
    let stages = [
        "patch-form",
        "regression-check",
        "last-test-command",
        "review-by-ensemble",
    ];
    let named: Vec<&str> = found[0]["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage["stage"].as_str().unwrap())
        .collect();
    assert_eq!(named, stages);
    let mean = f64::midpoint((-0.2_f64).exp(), (-0.1_f64).exp());
    assert!((found[0]["validation"]["score"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert_eq!(found[0]["validation"]["source"], "committee_mean");
    // What a stage rejects is asked of nobody.
    assert!(found[1].get("paid").is_none());
    assert_eq!(
        found[1]["members"][0],
        json!({
        "model": "cheap", "asked": false, "why": "`last-test-command` rejects the patch"})
    );
    // 0.607 and 0: the mean is below a half.
    assert_eq!(
        (&found[2]["accepted"], &found[2]["members"][0]["verdict"]),
        (&json!(false), &json!(true))
    );

    report(
        &place,
        &review(&["--model", "scripted:cheap.script"], "cheap.jsonl"),
    );
    report(
        &place,
        &review(&["--model", "scripted:dear.script"], "dear.jsonl"),
    );
    combine(&place, "mean", "stored.jsonl");
    assert_eq!(judged(&place, "stored.jsonl"), judged(&place, "live.jsonl"));
    // A rejection has the score 0, whatever its confidence: from 0 on there is doubt about each.
    let together = combine(&place, "cascade=0.5..0.9", "cascade.jsonl");
    assert_eq!(together["members"][1]["asked"], 2);
    let measured = report(
        &place,
        &[
            "metrics",
            "c=cascade.jsonl",
            "m=stored.jsonl",
            "--format",
            "json",
        ],
    );
    let notes = measured["policies"][0]["notes"].to_string();
    assert!(notes.contains("do not compare"), "{notes}");
    assert_eq!(
        measured["policies"][1]["score"]["source"],
        "committee_mean of token_logprobs"
    );
}

#[test]
fn critics_are_in_doubt_about_single_tests() {
    let place = critic::place();
    let rules = |add: f64, zero: f64, times: f64| {
        [
            critic::rule("test_add", "pass", add),
            critic::rule("test_zero", "pass", zero),
            critic::rule("a * b", "fail", times),
            critic::rule("test_zero", "pass", times),
        ]
    };
    write_lines(&place, "cheap.script", &rules(90.0, 20.0, 95.0));
    let args = |models: &[&'static str], out: &'static str| {
        let mut args = vec![
            "critic",
            "--dataset",
            "rows.jsonl",
            "--predictions",
            "predictions.jsonl",
        ];
        args.extend(["--repos", "clones", "--format", "json", "--out", out]);
        args.extend(models);
        args
    };
    // The cheap critic guesses at one test of four, (1 + 0.2) / 2: only that one is asked again.
    write_lines(
        &place,
        "dear.script",
        &[critic::rule("test_zero", "fail", 80.0)],
    );
    let both = [&CHEAP[..], &DEAR, &["--cascade", "0.2..0.8"]].concat();
    let asked = report(&place, &args(&both, "live.jsonl"));
    assert_eq!(asked["ledger"]["calls"], 5);
    let found = lines(&place, "live.jsonl");
    assert_eq!(
        (&found[0]["label"], &found[1]["label"]),
        (&json!("fail"), &json!("fail"))
    );
    let members = &found[0]["members"][1];
    assert_eq!(
        (&members["tests_asked"], &members["tests"]),
        (&json!(1), &json!(2))
    );
    let tests = &found[0]["critic"]["tests"];
    assert_eq!(
        (&tests[0]["confidence"], &tests[1]["confidence"]),
        (&json!(90.0), &json!(80.0))
    );
    assert_eq!(
        (&tests[0]["predicted"], &tests[1]["predicted"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(found[0]["tests_judged"][1]["members"][1]["asked"], true);

    report(
        &place,
        &args(&["--model", "scripted:cheap.script"], "cheap.jsonl"),
    );
    let more = [
        critic::rule("test_add", "pass", 70.0),
        critic::rule("test_zero", "fail", 80.0),
    ];
    let rest = [
        critic::rule("a * b", "fail", 60.0),
        critic::rule("a * b", "pass", 10.0),
    ];
    write_lines(&place, "dear.script", &[more, rest].concat());
    report(
        &place,
        &args(&["--model", "scripted:dear.script"], "dear.jsonl"),
    );
    combine(&place, "cascade=0.2..0.8", "stored.jsonl");
    assert_eq!(judged(&place, "stored.jsonl"), judged(&place, "live.jsonl"));
    // The dear critic's one test of two: half of its cost.
    let stored = lines(&place, "stored.jsonl");
    assert_eq!(stored[0]["members"][1]["paid"]["calls"], 1);
    assert_eq!(stored[0]["paid"], found[0]["paid"]);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let place = rows_with(&[("cheap", [0.9, 0.6, 0.2]), ("dear", [0.7, 0.1, 0.4])]);
    alone(&place);
    let to = ["--rule", "mean", "--out", "x.jsonl"];
    let with = |files: &[&'static str]| [&["combine"], files, &to[..]].concat();
    let mut other = lines(&place, "dear.jsonl");
    other[1]["content"] = json!("another");
    write_lines(&place, "other.jsonl", &other);
    refused(
        &place,
        &with(&["cheap=cheap.jsonl", "other=other.jsonl"]),
        &["line 2: `content`", "different things"],
    );
    combine(&place, "mean", "both.jsonl");
    refused(
        &place,
        &with(&["a=both.jsonl", "b=dear.jsonl"]),
        &["`both.jsonl`, line 1", "several judges already"],
    );
    refused(
        &place,
        &with(&["a=cheap.jsonl", "a=dear.jsonl"]),
        &["two members are named `a`"],
    );
    refused(
        &place,
        &with(&["a=none.jsonl", "b=dear.jsonl"]),
        &["none.jsonl"],
    );
    assert_eq!(place.run(&with(&["a=cheap.jsonl"])).code(), 2);
    assert_eq!(place.run(&with(&["cheap.jsonl", "dear.jsonl"])).code(), 2);
    let weighted = [&FILES[..], &["--rule", "weighted", "--out", "x.jsonl"]].concat();
    refused(&place, &weighted, &["no weight for `cheap`"]);
    let one = [
        &ABSTAIN[..],
        &["--out", "y.jsonl", "--cascade", "0.3..0.7"],
        &CHEAP,
    ]
    .concat();
    refused(&place, &one, &["give --model several times"]);
    let judge = [
        "judge",
        "--dataset",
        "rows.jsonl",
        "--out",
        "y.jsonl",
        "--model",
        "noise:1",
        "--model",
        "noise:2",
    ];
    refused(&place, &judge, &["several are named, and this asks one"]);
    assert_eq!(
        place
            .run(
                &[
                    &ABSTAIN[..],
                    &["--out", "y.jsonl", "--cascade", "0.7..0.3"],
                    &CHEAP,
                    &DEAR
                ]
                .concat()
            )
            .code(),
        2
    );
}

/// From scores of two models and the truth to fits, and from those to weights.
#[test]
fn calibrations_of_the_metrics_weigh_members() {
    let place = Place::new();
    let line = |at: usize, model: &str| {
        let resolved = !at.is_multiple_of(3);
        // The dear model is right nine times in ten, the cheap one hardly more than by chance.
        let is_right = if model == "dear" {
            at % 10 != 7
        } else {
            at % 5 < 3
        };
        let accepted = resolved == is_right;
        let score = if accepted {
            0.6 + 0.03 * f64::from(u8::try_from(at % 11).unwrap())
        } else {
            0.0
        };
        json!({"key": format!("i-{at}/m/p"), "settings": model, "content": "c", "instance_id": format!("i-{at}"),
            "agent": "m", "patch_id": "p", "resolved": resolved, "accepted": accepted,
            "deterministic": {"passed": true},
            "validation": {"accepted": accepted, "score": score, "source": "token_logprobs"},
            "stages": [{"stage": "review", "outcome": if accepted { "passed" } else { "rejected" }, "reason": "so"}],
            "paid": {"calls": 2, "prompt_tokens": 100, "completion_tokens": 10, "money": 0.5}})
    };
    for model in ["cheap", "dear"] {
        let all: Vec<Value> = (0..60).map(|at| line(at, model)).collect();
        write_lines(&place, &format!("{model}.jsonl"), &all);
    }
    let fits = place.run(&[
        "metrics",
        "cheap=cheap.jsonl",
        "dear=dear.jsonl",
        "--calibrate",
        "platt",
        "--format",
        "json",
    ]);
    std::fs::write(place.path("fits.json"), fits.stdout()).unwrap();
    let weighted = [
        &FILES[..],
        &["--rule", "weighted", "--calibrators", "fits.json"],
    ]
    .concat();
    let done = report(
        &place,
        &[&weighted[..], &["--out", "w.jsonl", "--format", "json"]].concat(),
    );
    assert_eq!(done["failed"], json!([]));
    let brier = |at: usize| {
        let found = &fits.json()["policies"][at]["score"]["calibration"]["calibrated"];
        found["reliability"]["brier"].as_f64().unwrap()
    };
    let expected = (1.0 / brier(1)) / (1.0 / brier(0) + 1.0 / brier(1));
    for line in lines(&place, "w.jsonl") {
        assert!((line["members"][1]["weight"].as_f64().unwrap() - expected).abs() < 1e-12);
        assert_eq!(line["validation"]["source"], "committee_weighted");
        assert_eq!(line["paid"]["money"], 1.0);
    }
    // What a team looks at before it chooses a band.
    let mut curve = vec![
        "metrics",
        "cheap=cheap.jsonl",
        "dear=dear.jsonl",
        "--cascade-curve",
    ];
    let text = place.run(&curve);
    let row = "| dear alone | 1.000 |";
    assert!(text.stdout().contains(row), "{}", text.stdout());
    curve.extend(["--cascade-step", "0.25", "--format", "json"]);
    let found = report(&place, &curve);
    assert_eq!(found["costs"][0]["mean"]["money"], 0.5);
    let points = found["cascades"][0]["points"].as_array().unwrap();
    assert!(
        points.len() > 3
            && points
                .iter()
                .all(|point| point["cost"]["calls"].is_number())
    );
    refused(
        &place,
        &["metrics", "cheap.jsonl", "--cascade-curve"],
        &["cheap=FILE dear=FILE"],
    );
    let strangers = [
        "combine",
        "x=cheap.jsonl",
        "y=dear.jsonl",
        "--rule",
        "weighted",
        "--out",
        "s.jsonl",
        "--calibrators",
        "fits.json",
    ];
    refused(
        &place,
        &strangers,
        &["it is about cheap, dear, and the members are x, y"],
    );
    // A file about one judge has no names.
    let one = place.run(&[
        "metrics",
        "dear.jsonl",
        "--calibrate",
        "platt",
        "--format",
        "json",
    ]);
    std::fs::write(place.path("one.json"), one.stdout()).unwrap();
    let mut args = [
        &FILES[..],
        &[
            "--rule",
            "cascade=0.3..0.8",
            "--out",
            "c.jsonl",
            "--calibrators",
        ],
    ]
    .concat();
    refused(
        &place,
        &[&args[..], &["one.json"]].concat(),
        &["give it as NAME=FILE"],
    );
    args.push("dear=one.json");
    refused(&place, &args, &["`dear` is calibrated and `cheap` is not"]);
    refused(
        &place,
        &[&args[..], &["--calibrators", "cheap=dear.jsonl"]].concat(),
        &["dear.jsonl"],
    );
    report(
        &place,
        &[
            &args[..],
            &["--calibrators", "fits.json", "--format", "json"],
        ]
        .concat(),
    );
    assert_eq!(
        lines(&place, "c.jsonl")[0]["validation"]["source"],
        "cascade"
    );
}
