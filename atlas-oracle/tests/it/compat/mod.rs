//! Grading as the released harnesses do it.

mod differential;
mod golden;
mod reports;
mod rules;
mod written;

use atlas_core::{Harness, TestIds};
use atlas_oracle::{
    CompatGrade, CompatInput, CompatRead, CompatRow, CompatStage, EvalType, grade_compat,
};

pub(crate) const START: &str = "+ : '>>>>> Start Test Output'\n";
pub(crate) const END: &str = "+ : '>>>>> End Test Output'\n";

/// A row of one instance.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) repo: String,
    pub(crate) fail_to_pass: TestIds,
    pub(crate) pass_to_pass: TestIds,
    pub(crate) eval_type: EvalType,
}

pub(crate) fn row(fail_to_pass: &[&str], pass_to_pass: &[&str]) -> Row {
    Row {
        repo: "o/r".to_owned(),
        fail_to_pass: fail_to_pass.into(),
        pass_to_pass: pass_to_pass.into(),
        eval_type: EvalType::PassAndFail,
    }
}

/// Reads the short summary of pytest the way the harnesses' plain reader does: a line that starts
/// with one of the five words; what the first word is goes into the status as it stands.
pub(crate) fn summary(log: &str) -> CompatRead {
    let words = ["FAILED", "PASSED", "SKIPPED", "ERROR", "XFAIL"];
    let mut found = Vec::new();
    for line in log.lines() {
        if !words.iter().any(|word| line.starts_with(word)) {
            continue;
        }
        let line = if line.starts_with("FAILED") {
            line.replace(" - ", " ")
        } else {
            line.to_owned()
        };
        let mut parts = line.split_whitespace();
        if let (Some(status), Some(name)) = (parts.next(), parts.next()) {
            found.push((name.to_owned(), status.to_owned()));
        }
    }
    CompatRead::Ordered(found)
}

/// Grades a log of a prediction that was run.
pub(crate) fn grade_log(harness: Harness, row: &Row, log: &str) -> CompatGrade {
    grade_with(
        harness,
        row,
        Some("diff"),
        Some(log.as_bytes()),
        CompatStage::Tested,
    )
}

pub(crate) fn grade_with(
    harness: Harness,
    row: &Row,
    patch: Option<&str>,
    log: Option<&[u8]>,
    stage: CompatStage,
) -> CompatGrade {
    grade_compat(
        harness,
        &CompatInput {
            row: CompatRow {
                instance_id: "o__r-1",
                repo: &row.repo,
                fail_to_pass: &row.fail_to_pass,
                pass_to_pass: &row.pass_to_pass,
                eval_type: row.eval_type,
            },
            patch,
            log,
            instance_log: None,
            stage,
            read: &summary,
        },
    )
}

/// A log with these lines between the markers.
pub(crate) fn marked(lines: &str) -> String {
    format!("+ git apply\n{START}{lines}\n{END}")
}
