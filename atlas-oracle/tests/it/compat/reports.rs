//! The files that the harnesses write.

use super::{grade_log, marked, row};
use atlas_core::Harness::{self, SweBench4, SweBench5, SweBenchPp};
use atlas_oracle::{
    InfraFailure, InfraTier, InstanceReport, Leftovers, ReportState, RunEntry, RunReport,
    RunReportInput, report_file_name,
};

#[test]
fn a_report_has_the_bytes_of_pythons_json() {
    let row = row(&["t::ü\u{7f}\"\\\t😀"], &[]);
    let log = marked("PASSED t::x");
    let report = grade_log(SweBench5, &row, &log).report.unwrap();
    let expected = r#"{
    "o__r-1": {
        "patch_is_None": false,
        "patch_exists": true,
        "patch_successfully_applied": true,
        "resolved": false,
        "infra_failure": false,
        "tests_status": {
            "FAIL_TO_PASS": {
                "success": [],
                "failure": [
                    "t::\u00fc\u007f\"\\\t\ud83d\ude00"
                ]
            },
            "PASS_TO_PASS": {
                "success": [],
                "failure": []
            },
            "FAIL_TO_FAIL": {
                "success": [],
                "failure": []
            },
            "PASS_TO_FAIL": {
                "success": [],
                "failure": []
            }
        }
    }
}"#;
    assert_eq!(String::from_utf8(report.to_json_bytes()).unwrap(), expected);
    assert_eq!(
        InstanceReport::from_json_bytes(expected.as_bytes()).unwrap(),
        report
    );
}

#[test]
fn each_harness_has_its_own_fields() {
    let row = row(&["t::f"], &[]);
    let keys = |harness: Harness| {
        let report = grade_log(harness, &row, &marked("PASSED t::f"))
            .report
            .unwrap();
        let value = serde_json::to_value(&report.body).unwrap();
        let keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys[4..].join(" ")
    };
    assert_eq!(keys(SweBench4), "tests_status");
    assert_eq!(keys(SweBench5), "infra_failure tests_status");
    assert_eq!(keys(SweBenchPp), "status tests_status");
}

#[test]
fn unknown_fields_are_kept() {
    let text = r#"{"a__b-1":{"resolved":true,"mine":{"x":[1]}}}"#;
    let report = InstanceReport::from_json_bytes(text.as_bytes()).unwrap();
    assert!(report.body.resolved && !report.body.patch_exists);
    assert_eq!(report.body.other["mine"]["x"][0], 1);
    let again = InstanceReport::from_json_bytes(&report.to_json_bytes()).unwrap();
    assert_eq!(again, report);
}

#[test]
fn what_is_no_report_is_refused_in_words() {
    let said = |text: &str| {
        InstanceReport::from_json_bytes(text.as_bytes())
            .unwrap_err()
            .to_string()
    };
    assert!(said("{}").contains("names no instance"), "{}", said("{}"));
    let two = r#"{"a":{"resolved":true},"b":{"resolved":true}}"#;
    assert!(said(two).contains("2 found"), "{}", said(two));
    assert!(said(r#"{"a":{}}"#).contains("resolved"));
    assert!(said("{").contains("line 1"));
}

#[test]
fn the_name_of_a_run_report() {
    assert_eq!(
        report_file_name("org/model/v1", "run 7"),
        "org__model__v1.run 7.json"
    );
}

fn entry(id: &str, empty_patch: bool, report: ReportState, tier: Option<InfraTier>) -> RunEntry {
    RunEntry {
        instance_id: id.to_owned(),
        empty_patch,
        report,
        infra: tier.map(|tier| InfraFailure {
            reason: format!("because_{id}"),
            tier,
        }),
    }
}

/// One of each kind.
fn entries() -> (Vec<String>, Vec<RunEntry>) {
    use ReportState::{Missing, Resolved, Unreadable, Unresolved};
    let dataset = ["g", "f", "e", "d", "c", "b", "a"]
        .map(str::to_owned)
        .to_vec();
    let predictions = vec![
        entry("outside", false, Missing, None),
        entry("f", false, Unreadable, None),
        entry("e", true, Unresolved, None),
        entry("d", false, Missing, Some(InfraTier::Environment)),
        entry("c", false, Unresolved, Some(InfraTier::Ambiguous)),
        entry("b", false, Unresolved, None),
        entry("a", false, Missing, None),
        entry("a", false, Resolved, Some(InfraTier::Environment)),
    ];
    (dataset, predictions)
}

fn report_of(harness: Harness, leftovers: Option<&Leftovers>) -> RunReport {
    let (dataset, predictions) = entries();
    RunReport::build(
        harness,
        &RunReportInput {
            dataset: &dataset,
            predictions: &predictions,
            leftovers,
        },
    )
}

#[test]
fn a_run_report_of_version_5() {
    let report = report_of(SweBench5, None);
    assert_eq!((report.total_instances, report.submitted_instances), (7, 7));
    assert_eq!(report.completed_ids, ["a", "b", "c", "f"]);
    assert_eq!(report.incomplete_ids, ["g"]);
    assert_eq!(report.empty_patch_ids, ["e"]);
    assert_eq!(
        report.submitted_ids,
        ["a", "b", "c", "d", "e", "f", "outside"]
    );
    assert_eq!(report.resolved_ids, ["a"]);
    assert_eq!(report.unresolved_ids, ["b", "c"]);
    assert_eq!(report.error_ids, ["d", "f"]);
    assert_eq!(
        report.infra_failure_ids.as_deref(),
        Some(&["d".to_owned()][..])
    );
    assert_eq!(
        report.ambiguous_failure_ids.as_deref(),
        Some(&["c".to_owned()][..])
    );
    let reasons = report.failure_reasons.as_ref().unwrap();
    assert_eq!(reasons.keys().collect::<Vec<_>>(), ["c", "d"]);
    assert_eq!(report.unremoved_images, None);
    let text = String::from_utf8(report.to_json_bytes()).unwrap();
    assert!(text.starts_with("{\n    \"total_instances\": 7,\n"));
    assert!(text.ends_with("    \"schema_version\": 2\n}\n"), "{text}");
    assert_eq!(RunReport::from_json_bytes(text.as_bytes()).unwrap(), report);
    // With an engine, its leftovers follow.
    let left = Leftovers {
        containers: ["box".to_owned()].into(),
        images: ["i2".to_owned(), "i1".to_owned()].into(),
    };
    let report = report_of(SweBench5, Some(&left));
    assert_eq!(report.unstopped_instances, Some(1));
    assert_eq!(report.unremoved_images.unwrap(), ["i1", "i2"]);
}

#[test]
fn the_older_harnesses_know_no_reasons_and_name_leftovers_without_an_engine() {
    let engine = Leftovers::default();
    for harness in [SweBench4, SweBenchPp] {
        let without = report_of(harness, None);
        assert_eq!(without.failure_reasons, None);
        assert_eq!(without.infra_failure_instances, None);
        assert_eq!(without.unremoved_images, Some(Vec::new()));
        assert_eq!(report_of(harness, Some(&engine)).unremoved_images, None);
    }
    let empty = report_of(SweBench4, None);
    assert_eq!(empty.unresolved_ids, ["b", "c"]);
    // SWE-Bench++ counts an empty patch as one that was run, too.
    let plus = report_of(SweBenchPp, None);
    assert_eq!(plus.unresolved_ids, ["b", "c", "e"]);
    assert_eq!(plus.empty_patch_ids, ["e"]);
    assert_eq!(plus.completed_instances, 5);
}

#[test]
fn entries_from_stored_reports() {
    let of =
        |text: Option<&str>| RunEntry::stored("a", Some("x"), text.map(str::as_bytes), None).report;
    assert_eq!(of(None), ReportState::Missing);
    assert_eq!(of(Some("")), ReportState::Unreadable);
    assert_eq!(of(Some("{")), ReportState::Unreadable);
    assert_eq!(
        of(Some(r#"{"b":{"resolved":true}}"#)),
        ReportState::Unreadable
    );
    assert_eq!(
        of(Some(r#"{"a":{"resolved":true}}"#)),
        ReportState::Resolved
    );
    assert_eq!(
        of(Some(r#"{"a":{"resolved":false}}"#)),
        ReportState::Unresolved
    );
}

#[test]
fn a_run_report_keeps_unknown_fields() {
    let mut value = serde_json::to_value(report_of(SweBench4, None)).unwrap();
    value["total_cost"] = 3.into();
    value.as_object_mut().unwrap().remove("schema_version");
    let report: RunReport = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(report.other["total_cost"], 3);
    assert_eq!(serde_json::to_value(&report).unwrap(), value);
}
