//! Results files: what is read, what is refused, and the tables that follow.

mod calibration;
mod compared;
mod critics;

use atlas_judge::metrics::analysis::{
    Analysis, AnalysisOptions, CalibrationAnalysis, Change, Population, analyse,
    analyse_calibrated_on, calibration_half, cascade_curves,
};
use atlas_judge::metrics::results::{Results, ResultsReader, read_results};
use atlas_judge::metrics::{BeyondRuns, CalibrationMethod, Calibrator, Confusion, Reliability};
use atlas_judge::policies_report;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn read(text: &str) -> Result<Results, String> {
    read_results(text.as_bytes()).map_err(|why| why.to_string())
}

fn lines(lines: &[Value]) -> String {
    lines
        .iter()
        .fold(String::new(), |text, line| text + &line.to_string() + "\n")
}

/// A line, with further fields merged in.
fn line(instance: &str, patch: &str, resolved: bool, more: Value) -> Value {
    let mut line = json!({
        "instance_id": instance, "patch_id": patch, "agent": "a", "resolved": resolved
    });
    let more: serde_json::Map<String, Value> = serde_json::from_value(more).unwrap();
    line.as_object_mut().unwrap().extend(more);
    line
}

fn analysed(rows: &[Value], options: &AnalysisOptions) -> Analysis {
    analyse(&read(&lines(rows)).unwrap(), options).unwrap()
}

fn close(a: Option<f64>, b: f64) -> bool {
    a.is_some_and(|a| (a - b).abs() < 1e-9)
}

#[test]
fn the_least_and_the_most_of_a_line() {
    let least = r#"{"instance_id":"i","patch_id":"p","agent":"a","resolved":true}"#;
    let nulls = r#"{"instance_id":"i","patch_id":"q","agent":"a","resolved":true,"tests":null,"critic":null,"kind":null}"#;
    let more = r#"{"instance_id":"i","patch_id":"r","agent":"a","resolved":false,"extra":{"x":[1]},"tests":[{"id":"t","passed":true,"seconds":3}]}"#;
    let found = read(&format!("\u{feff}{least}\r\n\n{nulls}\n   \n{more}")).unwrap();
    assert_eq!((found.lines, found.candidates.len()), (3, 3));
    assert!(found.candidates[1].tests.is_none());
    assert_eq!(found.candidates[2].tests.as_ref().unwrap()[0].length, None);
    assert_eq!(read("").unwrap(), Results::default());
}

#[test]
fn a_fault_names_line_and_field() {
    let good = line("i", "p", true, json!({}));
    for (bad, says) in [
        (
            json!({"resolved": "yes"}),
            "line 3, field `resolved`: invalid type",
        ),
        (
            json!({"abstention": {"probability": 1.2, "source": "x"}}),
            "field `abstention.probability`: 1.2 must be from 0 to 1",
        ),
        (
            json!({"abstention": {"probability": 0.2}}),
            "field `abstention`: missing field `source`",
        ),
        (
            json!({"validation": {"accepted": true, "score": -0.1, "source": "x"}}),
            "field `validation.score`: -0.1 must be 0 or more",
        ),
        (
            json!({"validation": {"accepted": 1, "source": "x"}}),
            "field `validation.accepted`",
        ),
        (
            json!({"critic": {"tests": [{"id": "t", "predicted": true, "confidence": 65}, {"id": "u", "predicted": true, "confidence": 101}]}}),
            "field `critic.tests[1].confidence`: 101 must be from 0 to 100",
        ),
        (
            json!({"critic": {"tests": [{"id": "t", "predicted": true, "confidence": "high"}]}}),
            "field `critic.tests[0].confidence`",
        ),
        (
            json!({"critic": {"tests": [{"id": "t", "predicted": true, "confidence": 1}, {"id": "t", "predicted": false, "confidence": 1}]}}),
            "field `critic.tests[1].id`: `t` stands in the list twice",
        ),
        (
            json!({"tests": [{"id": "t", "passed": true}, {"id": "t", "passed": true}]}),
            "field `tests[1].id`",
        ),
        (
            json!({"tests": [{"id": "t", "passed": true, "length": -4}]}),
            "field `tests[0].length`",
        ),
        (json!({"agent": ""}), "field `agent`: must not be empty"),
        (
            json!({"instance_id": 7}),
            "field `instance_id`: invalid type",
        ),
    ] {
        let text = format!("{good}\n\n{}\n", line("i", "q", false, bad));
        let why = read(&text).unwrap_err();
        assert!(why.contains(says) && why.starts_with("line 3"), "{why}");
        assert!(!why.contains("line 1"), "one line is named: {why}");
    }
    for (text, says) in [
        ("[]", "line 1: must be a JSON object"),
        ("{\"instance_id\":\"i\"}", "missing field `patch_id`"),
        ("{\"instance_id\":", "line 1"),
        ("{} {}", "line 1"),
        ("nonsense", "line 1: must be a JSON object"),
    ] {
        let why = read(text).unwrap_err();
        assert!(why.contains(says), "{why}");
    }
    assert!(read_results(&b"{\"instance_id\":\"\xff\"}"[..]).is_err());
}

#[test]
fn lines_on_one_patch_are_one_and_may_not_contradict() {
    let critic = |variant: &str, predicted: bool| json!({"critic": {"variant": variant, "tests": [{"id": "t", "predicted": predicted, "confidence": 70}]}});
    let parts = [
        line(
            "i",
            "p",
            true,
            json!({"tests": [{"id": "t", "passed": true}]}),
        ),
        line("i", "p", true, critic("default", true)),
        line("i", "p", true, critic("function", false)),
        line("i", "p", true, critic("function", false)),
        line(
            "i",
            "p",
            true,
            json!({"abstention": {"probability": 0.5, "source": "s"}}),
        ),
    ];
    let found = read(&lines(&parts)).unwrap();
    assert_eq!((found.lines, found.candidates.len()), (5, 1));
    let patch = &found.candidates[0];
    assert_eq!(
        patch.critics.keys().collect::<Vec<_>>(),
        ["default", "function"]
    );
    assert!(patch.tests.is_some() && patch.abstention.is_some());
    for (more, field, first) in [
        (line("i", "p", false, json!({})), "resolved", 1),
        (line("i", "p", true, critic("function", true)), "critic", 3),
        (
            line(
                "i",
                "p",
                true,
                json!({"abstention": {"probability": 0.4, "source": "s"}}),
            ),
            "abstention",
            5,
        ),
    ] {
        let mut rows = parts.to_vec();
        rows.push(more);
        let why = read(&lines(&rows)).unwrap_err();
        assert!(
            why.starts_with(&format!("line 6, field `{field}`")),
            "{why}"
        );
        assert!(why.contains(&format!("line {first};")), "{why}");
    }
}

fn judged(patch: &str, resolved: bool, accepted: bool, score: f64) -> Value {
    line(
        "i",
        patch,
        resolved,
        json!({
            "deterministic": {"passed": true},
            "validation": {"accepted": accepted, "score": score, "source": "token_logprobs"}
        }),
    )
}

#[test]
fn policies_of_a_small_file_by_hand() {
    let rows = [
        judged("1", true, true, 0.9),
        judged("2", false, true, 0.6),
        judged("3", false, false, 0.0),
        line(
            "i",
            "4",
            false,
            json!({"deterministic": {"passed": false, "stage": "regression"}}),
        ),
        line(
            "j",
            "1",
            false,
            json!({
                "abstention": {"probability": 0.2, "source": "logprobs"},
                "deterministic": {"passed": true},
                "validation": {"accepted": true, "score": 0.7, "source": "token_logprobs"}
            }),
        ),
        line(
            "k",
            "1",
            true,
            json!({"abstention": {"probability": 0.5, "source": "logprobs"}}),
        ),
    ];
    let found = analysed(&rows, &AnalysisOptions::default());
    let set = &found.policies[0];
    assert_eq!(
        (set.bugs, set.fixable, set.patches, set.resolved),
        (3, 2, 6, 2)
    );
    let row = |name: &str| set.policies.iter().find(|row| row.name == name).unwrap();
    let all = row("show everything");
    assert_eq!((all.judged, all.shown, all.unjudged), (6, 6, 0));
    assert_eq!(all.precision, Some(2.0 / 6.0));
    let validation = row("validation");
    // Patch 4 is rejected before; k's patch never met validation.
    assert_eq!((validation.judged, validation.unjudged), (5, 1));
    assert_eq!(
        validation.counts,
        Confusion {
            tp: 1,
            fp: 2,
            fn_: 0,
            tn: 2
        }
    );
    // Table 4 is over the four that reached it.
    let reached = &validation.reached;
    assert_eq!(
        (reached.precision(), reached.recall()),
        (Some(1.0 / 3.0), Some(1.0))
    );
    assert_eq!(
        (reached.negative_precision(), reached.specificity()),
        (Some(1.0), Some(1.0 / 3.0))
    );
    let table = found.to_markdown();
    let cells = "validation | 4 | 25.0% | 100.0% | 33.3% | 33.3% | 100.0%";
    assert!(table.contains(cells), "{table}");
    // No stage was run on k's patch.
    let stages = row("deterministic stages");
    assert_eq!((stages.judged, stages.unjudged, stages.shown), (5, 1, 4));
    let fpr = &validation.false_positives;
    assert_eq!((fpr.of_all, fpr.of_reached), (Some(0.5), Some(2.0 / 3.0)));
    assert_eq!(validation.success_at[&1].value, Some(0.25));
    assert_eq!(validation.success_at[&1].bugs_counted, 2);
    // Scores 0, 0.6, 0.7, 0.9: the 75th percentile is 0.75.
    let p75 = row("validation p75");
    assert!((p75.cutoff.unwrap() - 0.75).abs() < 1e-12);
    assert_eq!(
        p75.counts,
        Confusion {
            tp: 1,
            fp: 0,
            fn_: 0,
            tn: 4
        }
    );
    let abstention = set.abstention.as_ref().unwrap();
    assert_eq!(
        abstention.counts,
        Confusion {
            tp: 1,
            fp: 0,
            fn_: 0,
            tn: 1
        }
    );
    assert_eq!(abstention.average_precision, Some(1.0));
    assert!((abstention.wasserstein.unwrap() - 0.35).abs() < 1e-12);
    let steps: BTreeMap<&str, u64> = set
        .funnel
        .iter()
        .map(|step| (step.name.as_str(), step.patches))
        .collect();
    assert_eq!((steps["candidates"], steps["of attempted tasks"]), (6, 1));
    assert!(set.notes.iter().any(|note| note.contains("unjudged")));
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("Only 3 tasks:"))
    );
    // Over all tasks the combined cut-off is another one.
    let all_tasks = AnalysisOptions {
        population: Population::All,
        ..AnalysisOptions::default()
    };
    let other = analysed(&rows, &all_tasks);
    let cutoff = |found: &Analysis| {
        let rows = &found.policies[0].policies;
        rows.iter()
            .find(|row| row.name == "abstention + validation p75")
            .unwrap()
            .cutoff
    };
    assert_eq!(cutoff(&found), None);
    assert!((cutoff(&other).unwrap() - 0.75).abs() < 1e-12);
}

#[test]
fn sources_are_never_mixed() {
    let mut rows = vec![judged("1", true, true, 0.9), judged("2", false, true, 0.4)];
    rows[1]["validation"]["source"] = json!("verbalised");
    let found = analysed(&rows, &AnalysisOptions::default());
    let set = &found.policies[0];
    assert!(set.score.is_none());
    assert!(set.policies.iter().all(|row| !row.name.contains("p75")));
    let note = &set.notes[0];
    assert!(
        note.contains("token_logprobs") && note.contains("verbalised"),
        "{note}"
    );
}

#[test]
fn too_few_runs_can_be_an_error() {
    let rows = [
        judged("1", true, true, 0.9),
        judged("2", true, true, 0.9),
        line("j", "1", true, json!({})),
    ];
    let options = AnalysisOptions {
        beyond: BeyondRuns::Error,
        ..AnalysisOptions::default()
    };
    let results = read(&lines(&rows)).unwrap();
    assert!(analyse(&results, &options).is_err());
}

#[test]
fn the_funnel_narrows_in_whichever_order_percentiles_are_given() {
    let rows: Vec<Value> = (0..8)
        .map(|at| {
            let score = f64::from(at) / 10.0;
            let said = json!({"accepted": at > 0, "score": score, "source": "logprobs"});
            line("i", &at.to_string(), at > 5, json!({"validation": said}))
        })
        .collect();
    let funnel = |percentiles: &[f64]| {
        let options = AnalysisOptions {
            percentiles: percentiles.to_vec(),
            ..AnalysisOptions::default()
        };
        let steps = analysed(&rows, &options).policies[0].funnel.clone();
        let steps = steps.into_iter().skip(2);
        steps.map(|step| (step.name, step.patches)).collect()
    };
    let narrowing: Vec<(String, u64)> = funnel(&[90.0, 50.0, 75.0, 50.0]);
    let name = |p: u32| format!("score at or above p{p}");
    assert_eq!(narrowing, [(name(50), 4), (name(75), 2), (name(90), 1)]);
    assert_eq!(narrowing, funnel(&[50.0, 75.0, 90.0]));
}

#[test]
fn without_scores_there_are_no_percentiles() {
    let rows: Vec<Value> = [("p", true, true), ("q", false, true), ("r", false, false)]
        .into_iter()
        .map(|(patch, resolved, accepted)| {
            let score = if accepted { Value::Null } else { json!(0.0) };
            let validation = json!({"accepted": accepted, "score": score, "source": "missing"});
            line("i", patch, resolved, json!({"validation": validation}))
        })
        .collect();
    let found = analysed(&rows, &AnalysisOptions::default());
    let policies: Vec<&str> = found.policies[0]
        .policies
        .iter()
        .map(|policy| policy.name.as_str())
        .collect();
    assert_eq!(policies, ["show everything", "validation"]);
    assert!(
        found.policies[0].notes[0].contains("the model told none"),
        "{:?}",
        found.policies[0].notes
    );
}

#[test]
fn several_files_are_one_and_need_the_truth_once() {
    let truth = line("i", "p", true, json!({}));
    let said = |patch: &str, more: Value| {
        let mut said = line("i", patch, true, more);
        said.as_object_mut().unwrap().remove("resolved");
        said.to_string()
    };
    let judged = said(
        "p",
        json!({"validation": {"accepted": true, "source": "rule"}}),
    );
    let unknown = said("q", json!({"kind": "x"}));
    let mut reader = ResultsReader::default();
    reader
        .add(format!("{judged}\n{unknown}\n").as_bytes(), "review")
        .unwrap();
    reader.add(truth.to_string().as_bytes(), "truth").unwrap();
    let why = reader
        .add(
            line("i", "p", false, json!({})).to_string().as_bytes(),
            "other",
        )
        .unwrap_err();
    assert_eq!(
        why.to_string(),
        "line 1, field `resolved`: says something else of this patch than line 1 of truth; a patch of its own \
         needs its own patch_id"
    );
    let results = reader.finish();
    assert_eq!((results.candidates.len(), results.without_truth), (1, 1));
    assert!(results.candidates[0].resolved && results.candidates[0].validation.is_some());
    let analysis = analyse(&results, &AnalysisOptions::default()).unwrap();
    assert!(
        analysis
            .notes
            .iter()
            .any(|note| note.starts_with("1 patch left out")),
        "{:?}",
        analysis.notes
    );
}

#[test]
fn nothing_and_little_say_so() {
    let empty = analyse(&Results::default(), &AnalysisOptions::default()).unwrap();
    assert!(empty.to_markdown().contains("nothing can be measured"));
    let page = policies_report(&empty, "Nothing");
    assert!(page.contains("nothing can be measured") && !page.contains("<svg"));
    let one = analysed(
        &[line("i", "p", false, json!({}))],
        &AnalysisOptions::default(),
    );
    let page = policies_report(&one, "One");
    for said in ["Only 1 task:", "No curve", "No line has a critic"] {
        assert!(page.contains(said), "{said}");
    }
}

fn rows() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::btree_map((0..4_u8, 0..5_u8, 0..3_u8), (any::<u16>(), 0.0..1.0_f64), 0..40)
        .prop_map(|found| {
            found.into_iter().map(|((instance, patch, agent), (bits, number))| {
                let bit = |at: u16| bits >> at & 1 == 1;
                let mut line = json!({
                    "instance_id": format!("i<{instance}>"), "patch_id": patch.to_string(),
                    "agent": format!("a&{agent}\""), "resolved": bit(0)
                });
                if bit(1) { line["abstention"] = json!({"probability": number, "source": "s"}); }
                if bit(2) { line["deterministic"] = json!({"passed": bit(3)}); }
                if bit(4) { line["validation"] = json!({"accepted": bit(5), "score": number, "source": "s"}); }
                if bit(6) { line["kind"] = json!(if bit(7) { "leak" } else { "race" }); }
                if bit(8) { line["tests"] = json!([{"id": "x", "passed": bit(0), "length": bits}, {"id": "y", "passed": bit(9)}]); }
                if bit(10) { line["critic"] = json!({"tests": [{"id": "x", "predicted": bit(11), "confidence": number * 100.0}, {"id": "z", "predicted": bit(12), "confidence": 65}]}); }
                line
            }).collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_file_has_its_tables_and_its_page(rows in rows()) {
        let options = AnalysisOptions { resamples: 20, ..AnalysisOptions::default() };
        let found = analysed(&rows, &options);
        let page = policies_report(&found, "T <1>");
        prop_assert!(!page.contains("NaN") && !page.contains("inf\"") && !page.contains("i<"));
        for outside in ["http", "src=", "url(", "<script", "@import", "<link"] {
            prop_assert!(!page.contains(outside), "{}", outside);
        }
        prop_assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        let text = found.to_markdown();
        prop_assert!(!text.contains("NaN"));
        for set in &found.policies {
            for row in &set.policies {
                prop_assert_eq!(row.judged + row.unjudged, set.patches);
                prop_assert_eq!(row.counts.tp + row.counts.fp, row.shown);
                for share in [row.precision, row.recall, row.shown_share, row.false_positives.of_all, row.false_positives.of_reached].into_iter().flatten() {
                    prop_assert!((0.0..=1.0).contains(&share));
                }
                if let (Some(all), Some(reached)) = (row.false_positives.of_all, row.false_positives.of_reached) {
                    prop_assert!(all <= reached + 1e-12);
                }
            }
            for pair in set.funnel.windows(2) {
                prop_assert!(pair[1].patches <= pair[0].patches);
            }
        }
        // The order of lines is nothing to any number.
        let mut turned = rows.clone();
        turned.reverse();
        let again = analysed(&turned, &options);
        prop_assert_eq!(serde_json::to_value(&again.policies).unwrap(), serde_json::to_value(&found.policies).unwrap());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_results(&bytes[..]).map_err(|why| why.to_string());
    }
}
