//! Verdicts as the released harnesses reach them, their mistakes included.

mod infra;
mod json;
mod read;
mod report;
mod run_report;

pub use infra::{InfraFailure, InfraTier, classify_infra};
pub use report::{InstanceReport, ReportBody, TestsStatus};
pub use run_report::{
    Leftovers, ReportState, RunEntry, RunReport, RunReportInput, report_file_name,
};

use crate::{Graded, Resolution};
use atlas_core::{Harness, TestIds};
use read::{Read, Statuses};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What counts as failing, in the words of a SWE-bench 5 row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvalType {
    /// A test must be named as passing.
    #[default]
    PassAndFail,
    /// A test must not be named as FAILED.
    FailOnly,
}

/// Repositories that version 4 of SWE-bench and SWE-Bench++ grade by [`EvalType::FailOnly`]; there it
/// is no field of the row.
const FAIL_ONLY_REPOS: [&str; 3] = ["chartjs/Chart.js", "processing/p5.js", "markedjs/marked"];

/// What grading takes from a dataset row.
#[derive(Clone, Copy, Debug)]
pub struct CompatRow<'a> {
    /// The instance.
    pub instance_id: &'a str,
    /// `owner/name`; it decides how SWE-bench 4 and SWE-Bench++ grade.
    pub repo: &'a str,
    /// The tests that define the task, in the row's order.
    pub fail_to_pass: &'a TestIds,
    /// The tests that guard the rest, in the row's order.
    pub pass_to_pass: &'a TestIds,
    /// How SWE-bench 5 grades.
    pub eval_type: EvalType,
}

/// What the harness's own log parser did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompatRead {
    /// Name to status text, in any order.
    Statuses(BTreeMap<String, String>),
    /// The same in the order in which the parser found them: it decides where a truncated id fits
    /// several tests whose statuses differ.
    Ordered(Vec<(String, String)>),
    /// The same with the texts in one piece; of a name that comes again the last status counts, and
    /// the order of what was found is not told.
    Lines(CompatLines),
    /// It ended with this exception.
    Raised(String),
}

/// Names and their statuses, as lines of a log gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompatLines {
    /// A name for each line.
    pub names: TestIds,
    /// The status of each.
    pub statuses: Vec<Cow<'static, str>>,
}

/// How far the harness came with a prediction before it graded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompatStage {
    /// To the end of the test command, or a stored log is graded again.
    #[default]
    Tested,
    /// To the time limit. The harnesses keep the log and write no report.
    TimedOut,
    /// The patch did not apply.
    NotApplied,
    /// There was no container to run in.
    NotStarted,
}

/// What a harness has before it when it grades.
#[derive(Clone, Copy)]
pub struct CompatInput<'a> {
    /// The row.
    pub row: CompatRow<'a>,
    /// The prediction's patch; `None` where it is null.
    pub patch: Option<&'a str>,
    /// The stored log of the tests; `None` where none was written.
    pub log: Option<&'a [u8]>,
    /// The harness's own log of the instance (`run_instance.log`), which SWE-bench 5 searches too when
    /// it says why an instance failed.
    pub instance_log: Option<&'a [u8]>,
    /// How far it came.
    pub stage: CompatStage,
    /// The harness's log parser. It is given the text that it would get there.
    pub read: &'a dyn Fn(&str) -> CompatRead,
}

impl std::fmt::Debug for CompatInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompatInput")
            .field("row", &self.row)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

/// Where a harness's run report counts a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompatOutcome {
    /// There is a report that says resolved or not.
    Completed,
    /// The patch is null or empty. SWE-Bench++ writes a report nevertheless.
    EmptyPatch,
    /// There is no report.
    Error,
}

/// A harness's verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompatGrade {
    /// The file that the harness writes; `None` where it writes none.
    pub report: Option<InstanceReport>,
    /// The verdict in three words.
    pub resolution: Resolution,
    /// Where the run report counts it.
    pub outcome: CompatOutcome,
    /// SWE-bench 5: the reason that the logs of an instance that is not resolved give.
    pub infra: Option<InfraFailure>,
    /// What the harness's parser read, where the log was gradable.
    pub statuses: BTreeMap<String, String>,
    /// How it came to that: what was not gradable, what fell between the lists.
    pub why: Vec<String>,
}

/// Grades as a released harness does.
///
/// With a log, the result is that of the harness's own grading function on it, which is what a run
/// and a re-grading write alike. Without one, it is what the harness leaves behind where it never
/// gets that far. Reports have what that harness's version has.
///
/// ```
/// use atlas_core::{Harness, TestIds};
/// use atlas_oracle::{CompatInput, CompatRead, CompatRow, CompatStage, EvalType, Resolution};
/// let lists = (TestIds::from(["t::new"]), TestIds::default());
/// let read = |text: &str| {
///     let lines = text.lines().filter_map(|line| line.split_once(' '));
///     let known = lines.filter(|(status, _)| ["PASSED", "FAILED"].contains(status));
///     CompatRead::Ordered(known.map(|(s, name)| (name.into(), s.into())).collect())
/// };
/// let log = ">>>>> Start Test Output\nPASSED t::new\n>>>>> End Test Output\n";
/// let grade = atlas_oracle::grade_compat(Harness::SweBench5, &CompatInput {
///     row: CompatRow {
///         instance_id: "o__r-1",
///         repo: "o/r",
///         fail_to_pass: &lists.0,
///         pass_to_pass: &lists.1,
///         eval_type: EvalType::PassAndFail,
///     },
///     patch: Some("diff --git a/x b/x"),
///     log: Some(log.as_bytes()),
///     instance_log: None,
///     stage: CompatStage::Tested,
///     read: &read,
/// });
/// assert_eq!(grade.resolution, Resolution::Full);
/// assert!(grade.report.expect("a gradable log").body.resolved);
/// ```
pub fn grade_compat(harness: Harness, input: &CompatInput<'_>) -> CompatGrade {
    graded(harness, input, true)
}

/// The same without [`statuses`](CompatGrade::statuses), for who asks for the verdict alone: a log has
/// more tests than the lists, and each would be two texts.
pub fn judge_compat(harness: Harness, input: &CompatInput<'_>) -> CompatGrade {
    graded(harness, input, false)
}

fn graded(harness: Harness, input: &CompatInput<'_>, keeps_statuses: bool) -> CompatGrade {
    let mut grade = match (input.stage, input.log) {
        (CompatStage::Tested, Some(log)) => tested(harness, input, log, keeps_statuses),
        _ => untested(harness, input),
    };
    if matches!(input.patch, None | Some("")) {
        grade.outcome = CompatOutcome::EmptyPatch;
    } else if harness == Harness::SweBench5 && grade.resolution != Resolution::Full {
        let logs: Vec<&[u8]> = [input.log, input.instance_log]
            .into_iter()
            .flatten()
            .collect();
        grade.infra = classify_infra(&logs);
    }
    grade
}

/// What is left behind where no log is graded.
fn untested(harness: Harness, input: &CompatInput<'_>) -> CompatGrade {
    let empty = input.patch.is_none_or(|patch| patch.trim().is_empty());
    let (status, said) = if empty && harness == Harness::SweBenchPp {
        (Some("EMPTY_PATCH"), "the patch is empty")
    } else if matches!(input.patch, None | Some("")) {
        (None, "the patch is empty, so it is not run")
    } else {
        match input.stage {
            CompatStage::NotApplied if harness == Harness::SweBenchPp => {
                (Some("APPLY_PATCH_FAILED"), "the patch does not apply")
            }
            CompatStage::NotApplied => (None, "the patch does not apply: no report"),
            CompatStage::TimedOut => (None, "the time limit was reached: no report"),
            CompatStage::NotStarted => (None, "there was no container: no report"),
            CompatStage::Tested => (None, "no log of the tests was written: no report"),
        }
    };
    let mut grade = unresolved(vec![said.to_owned()]);
    if let Some(status) = status {
        grade.report = Some(written_failure(input, status, false));
        grade.outcome = CompatOutcome::Completed;
    }
    grade
}

/// Nothing resolved and nothing written.
fn unresolved(why: Vec<String>) -> CompatGrade {
    CompatGrade {
        report: None,
        resolution: Resolution::No,
        outcome: CompatOutcome::Error,
        infra: None,
        statuses: BTreeMap::new(),
        why,
    }
}

/// The report of SWE-Bench++ where something failed: every test of both lists in `failure`.
fn written_failure(input: &CompatInput<'_>, status: &str, applied: bool) -> InstanceReport {
    let failed = |ids: &TestIds| Graded {
        success: TestIds::default(),
        failure: ids.clone(),
    };
    InstanceReport {
        instance_id: input.row.instance_id.to_owned(),
        body: ReportBody {
            patch_is_none: input.patch.is_none(),
            patch_exists: input.patch.is_some(),
            patch_successfully_applied: applied,
            status: Some(status.to_owned()),
            tests_status: Some(TestsStatus {
                fail_to_pass: failed(input.row.fail_to_pass),
                pass_to_pass: failed(input.row.pass_to_pass),
                ..TestsStatus::default()
            }),
            ..ReportBody::default()
        },
    }
}

fn tested(
    harness: Harness,
    input: &CompatInput<'_>,
    log: &[u8],
    keeps_statuses: bool,
) -> CompatGrade {
    let plus = harness == Harness::SweBenchPp;
    let mut grade = unresolved(Vec::new());
    let mut body = ReportBody {
        infra_failure: (harness == Harness::SweBench5).then_some(false),
        status: plus.then(String::new),
        ..ReportBody::default()
    };
    let finish = |mut grade: CompatGrade, body: ReportBody| {
        grade.outcome = CompatOutcome::Completed;
        grade.report = Some(InstanceReport {
            instance_id: input.row.instance_id.to_owned(),
            body,
        });
        grade
    };
    let Some(patch) = input.patch else {
        body.patch_is_none = true;
        body.status = plus.then(|| "SYSTEM_ERROR".to_owned());
        grade
            .why
            .push("the patch is null, so its log is not read".to_owned());
        return finish(grade, body);
    };
    body.patch_exists = true;
    if plus && patch.trim().is_empty() {
        body.status = Some("EMPTY_PATCH".to_owned());
        grade
            .why
            .push("the patch is empty, so its log is not read".to_owned());
        return finish(grade, body);
    }
    let statuses = match read::read(harness, log, input.read, &mut grade.why) {
        Read::Gradable(statuses) => statuses,
        Read::Raised(said) => {
            grade
                .why
                .push(format!("the harness raises: {said}: no report"));
            return grade;
        }
        Read::Ungradable(said) => {
            grade.why.push(format!("not gradable: {said}"));
            if plus {
                grade.report = Some(written_failure(input, "TEST_ERROR", true));
                grade.outcome = CompatOutcome::Completed;
                return grade;
            }
            if harness == Harness::SweBench5
                && let Some(found) = classify_infra(&[log])
            {
                body.infra_failure = Some(found.tier == InfraTier::Environment);
                body.infra_failure_reason = Some(found.reason);
            }
            return finish(grade, body);
        }
    };
    body.patch_successfully_applied = true;
    let fail_only = match harness {
        Harness::SweBench5 => input.row.eval_type == EvalType::FailOnly,
        Harness::SweBench4 | Harness::SweBenchPp => FAIL_ONLY_REPOS.contains(&input.row.repo),
    };
    let mut list = |ids: &TestIds, guards: bool| {
        let rules = Rules {
            harness,
            fail_only,
            guards,
        };
        let (success, failure) =
            ids.split(|id| rules.passes(id, statuses.get(id), &statuses, &mut grade.why));
        Graded { success, failure }
    };
    let lists = TestsStatus {
        fail_to_pass: list(input.row.fail_to_pass, false),
        pass_to_pass: list(input.row.pass_to_pass, true),
        ..TestsStatus::default()
    };
    grade.resolution = resolution(&lists);
    body.resolved = grade.resolution == Resolution::Full;
    if plus {
        let word = if body.resolved {
            "RESOLVED"
        } else {
            "UNSOLVED"
        };
        body.status = Some(word.to_owned());
    }
    body.tests_status = Some(lists);
    if keeps_statuses {
        grade.statuses = statuses.to_map();
    }
    finish(grade, body)
}

/// The field's rule over the parts of two lists: a list of which nothing is said counts as done.
fn resolution(lists: &TestsStatus) -> Resolution {
    let (defining, guarding) = (&lists.fail_to_pass, &lists.pass_to_pass);
    if !guarding.failure.is_empty() {
        Resolution::No
    } else if defining.failure.is_empty() {
        Resolution::Full
    } else if defining.success.is_empty() {
        Resolution::No
    } else {
        Resolution::Partial
    }
}

/// How one test of a list is judged.
#[derive(Clone, Copy, Debug)]
struct Rules {
    harness: Harness,
    fail_only: bool,
    /// Whether the list is `PASS_TO_PASS`.
    guards: bool,
}

impl Rules {
    /// Whether a test of this status passes; `None` puts it in neither part of its list.
    fn passes(
        self,
        id: &str,
        status: Option<&str>,
        statuses: &Statuses,
        why: &mut Vec<String>,
    ) -> Option<bool> {
        if self.fail_only {
            return Some(status != Some("FAILED"));
        }
        let five = self.harness == Harness::SweBench5;
        let truncated = || {
            let open = |c: char| id.matches(c).count();
            (five && open('[') > open(']'))
                .then(|| statuses.of_truncated(id))
                .flatten()
        };
        let status = match (status, truncated) {
            (Some(status), _) => Some(status),
            (None, truncated) => truncated().map(|(status, certain)| {
                let mut said = format!("`{id}` is cut off: judged by tests whose ids begin so");
                if !certain {
                    said.push_str(
                        "; their statuses differ, and the first was not known: taken by name",
                    );
                }
                why.push(said);
                status
            }),
        };
        match status {
            None | Some("FAILED" | "ERROR") => Some(false),
            Some("PASSED" | "XFAIL") => Some(true),
            Some("SKIPPED") => match self.harness {
                Harness::SweBench5 => Some(self.guards),
                Harness::SweBenchPp => Some(false),
                Harness::SweBench4 => {
                    why.push(format!("`{id}` is skipped, which counts in neither way"));
                    None
                }
            },
            Some(other) => {
                why.push(format!(
                    "`{id}` has the status `{other}`, which counts in neither way"
                ));
                None
            }
        }
    }
}
