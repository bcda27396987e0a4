//! What is left behind where nothing ran or nothing was gradable, and the reasons that logs give.

use super::{Row, grade_log, grade_with, marked, row};
use atlas_core::Harness::{self, SweBench4, SweBench5, SweBenchPp};
use atlas_oracle::Resolution::{Full, No};
use atlas_oracle::{CompatOutcome, CompatStage, InfraTier};

fn one() -> Row {
    row(&["t::f"], &["t::p"])
}

/// The report's fields in order, without the lists, and where the run counts the prediction.
fn written(
    harness: Harness,
    patch: Option<&str>,
    log: Option<&str>,
    stage: CompatStage,
) -> (Option<String>, CompatOutcome) {
    let grade = grade_with(harness, &one(), patch, log.map(str::as_bytes), stage);
    let report = grade.report.map(|mut report| {
        if let Some(lists) = report.body.tests_status.take() {
            assert_eq!(lists.fail_to_pass.failure, ["t::f"]);
            assert_eq!(lists.pass_to_pass.failure, ["t::p"]);
            report.body.other.insert("lists".to_owned(), true.into());
        }
        serde_json::to_string(&report.body).unwrap()
    });
    (report, grade.outcome)
}

#[test]
fn what_is_written_where_nothing_ran() {
    use CompatOutcome::{Completed, EmptyPatch, Error};
    let none = |outcome| (None, outcome);
    for harness in [SweBench4, SweBench5] {
        for patch in [None, Some("")] {
            let got = written(harness, patch, None, CompatStage::Tested);
            assert_eq!(got, none(EmptyPatch));
        }
        for stage in [
            CompatStage::NotApplied,
            CompatStage::NotStarted,
            CompatStage::TimedOut,
        ] {
            assert_eq!(written(harness, Some("x"), None, stage), none(Error));
        }
        // Blank is not empty: it is run, and does not apply.
        assert_eq!(
            written(harness, Some(" \n"), None, CompatStage::NotApplied),
            none(Error)
        );
    }
    let failed = |null: bool, status: &str| {
        Some(format!(
            r#"{{"patch_is_None":{null},"patch_exists":{},"patch_successfully_applied":false,"resolved":false,"status":"{status}","lists":true}}"#,
            !null
        ))
    };
    let plus = |patch, stage| written(SweBenchPp, patch, None, stage);
    let empty = "EMPTY_PATCH";
    assert_eq!(
        plus(None, CompatStage::Tested),
        (failed(true, empty), EmptyPatch)
    );
    assert_eq!(
        plus(Some(""), CompatStage::Tested),
        (failed(false, empty), EmptyPatch)
    );
    assert_eq!(
        plus(Some(" "), CompatStage::Tested),
        (failed(false, empty), Completed)
    );
    let fits_not = failed(false, "APPLY_PATCH_FAILED");
    assert_eq!(
        plus(Some("x"), CompatStage::NotApplied),
        (fits_not, Completed)
    );
    assert_eq!(plus(Some("x"), CompatStage::NotStarted), none(Error));
    assert_eq!(plus(Some("x"), CompatStage::TimedOut), none(Error));
}

#[test]
fn what_is_written_for_a_log_that_says_nothing() {
    let log = Some("bash: pytest: command not found\nCannot allocate memory");
    let got = |harness| {
        written(harness, Some("x"), log, CompatStage::Tested)
            .0
            .unwrap()
    };
    let head = r#"{"patch_is_None":false,"patch_exists":true,"patch_successfully_applied":"#;
    assert_eq!(got(SweBench4), format!("{head}false,\"resolved\":false}}"));
    assert_eq!(
        got(SweBench5),
        format!(
            "{head}false,\"resolved\":false,\"infra_failure\":true,\
             \"infra_failure_reason\":\"out_of_memory\"}}"
        )
    );
    let plus = r#"true,"resolved":false,"status":"TEST_ERROR","lists":true}"#;
    assert_eq!(got(SweBenchPp), format!("{head}{plus}"));
}

#[test]
fn a_log_at_the_time_limit_has_a_report_only_when_it_is_graded_again() {
    let log = format!(
        "{}\n\nTimeout error: 3 seconds exceeded.",
        marked("PASSED t::f")
    );
    for harness in Harness::ALL {
        let got = written(harness, Some("x"), Some(&log), CompatStage::TimedOut);
        assert_eq!(got, (None, CompatOutcome::Error));
    }
    let log = log.as_bytes();
    let patch = Some("x");
    let grade = grade_with(SweBench5, &one(), patch, Some(log), CompatStage::TimedOut);
    assert_eq!(grade.infra.unwrap().reason, "tests_timed_out");
    let again = grade_with(SweBench5, &one(), patch, Some(log), CompatStage::Tested);
    assert_eq!(again.outcome, CompatOutcome::Completed);
}

#[test]
fn a_null_patch_with_a_log() {
    let log = marked("PASSED t::f\nPASSED t::p");
    let got = |harness, patch| {
        let log = Some(log.as_bytes());
        let grade = grade_with(harness, &one(), patch, log, CompatStage::Tested);
        (
            serde_json::to_string(&grade.report.unwrap().body).unwrap(),
            grade.resolution,
        )
    };
    let null = r#"{"patch_is_None":true,"patch_exists":false,"patch_successfully_applied":false,"resolved":false"#;
    assert_eq!(got(SweBench4, None), (format!("{null}}}"), No));
    assert_eq!(
        got(SweBench5, None),
        (format!("{null},\"infra_failure\":false}}"), No)
    );
    assert_eq!(
        got(SweBenchPp, None),
        (format!("{null},\"status\":\"SYSTEM_ERROR\"}}"), No)
    );
    // An empty one is graded by all but SWE-Bench++.
    assert_eq!(got(SweBench4, Some("")).1, Full);
    assert_eq!(got(SweBench5, Some("")).1, Full);
    assert_eq!(got(SweBenchPp, Some("")).1, No);
}

#[test]
fn signs_of_a_broken_environment() {
    let found = |text: &str| {
        atlas_oracle::classify_infra(&[text.as_bytes()])
            .map(|found| (found.reason, found.tier == InfraTier::Environment))
    };
    for (text, reason, environment) in [
        (
            "Failed to launch the browser",
            "browser_launch_failed",
            true,
        ),
        ("cannot open display :0", "display_unavailable", true),
        ("a\nKilled\nb", "out_of_memory", true),
        ("a\r\nKilled\r\nb", "out_of_memory", true),
        (
            "Error response from daemon: x",
            "container_unavailable",
            true,
        ),
        ("Could not resolve host: x", "network_unreachable", true),
        ("Error: Cannot find module 'x'", "missing_module", false),
        ("no tests ran in 0.1s", "no_tests_collected", false),
        (
            "Timeout error: 60 seconds exceeded.",
            "tests_timed_out",
            false,
        ),
        // The first of the table wins, wherever it stands.
        ("ModuleNotFoundError\nKilled", "out_of_memory", true),
    ] {
        assert_eq!(
            found(text),
            Some((reason.to_owned(), environment)),
            "{text}"
        );
    }
    for text in ["", "Killed it", "Timeout error: x seconds exceeded"] {
        assert_eq!(found(text), None, "{text}");
    }
    let two: [&[u8]; 2] = [b"fine", b"\xffKilled\nKilled"];
    assert_eq!(
        atlas_oracle::classify_infra(&two).unwrap().reason,
        "out_of_memory"
    );
}

#[test]
fn only_what_is_not_resolved_has_a_reason() {
    let passing = marked("PASSED t::f\nPASSED t::p\nModuleNotFoundError");
    let failing = marked("FAILED t::f\nPASSED t::p\nModuleNotFoundError");
    assert_eq!(grade_log(SweBench5, &one(), &passing).infra, None);
    let found = grade_log(SweBench5, &one(), &failing);
    assert_eq!(found.infra.unwrap().reason, "missing_module");
    // The report itself says it only of a log that is not gradable.
    assert_eq!(found.report.unwrap().body.infra_failure_reason, None);
    assert_eq!(grade_log(SweBench4, &one(), &failing).infra, None);
}
