//! Two gradings of one prediction, test by test.

use crate::{CompatGrade, Grade, Graded};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One of the two lists of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ListName {
    /// The tests that define the task.
    #[serde(rename = "FAIL_TO_PASS")]
    FailToPass,
    /// The tests that guard the rest.
    #[serde(rename = "PASS_TO_PASS")]
    PassToPass,
}

/// Where a grading puts a test of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It passes.
    Success,
    /// It does not.
    Failure,
    /// It counts in neither way: nothing was graded, or its status is one that the rules do not know.
    Nowhere,
}

/// One test that two gradings judge differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradeDiff {
    /// The test.
    pub id: String,
    /// Its list.
    pub list: ListName,
    /// How the first judges it.
    pub from: Standing,
    /// How the second does.
    pub to: Standing,
    /// What each saw of it, and remarks that name it.
    pub why: String,
}

/// One grading, as far as two are compared.
#[derive(Clone, Debug, Default)]
pub struct GradedSide<'a> {
    /// What it is called: `strict`, `swebench5`.
    pub name: &'a str,
    /// The tests that define the task, as it judges them.
    pub fail_to_pass: Graded,
    /// The tests that guard the rest, as it judges them.
    pub pass_to_pass: Graded,
    /// What it saw: id to status.
    pub statuses: BTreeMap<String, String>,
    /// Why, as far as it said so; remarks that hold an id are quoted for that id, and those without
    /// any for all.
    pub remarks: Vec<String>,
}

impl<'a> GradedSide<'a> {
    /// A grading by a released harness.
    pub fn compat(name: &'a str, grade: &CompatGrade) -> Self {
        let lists = grade
            .report
            .as_ref()
            .map(|report| &report.body.tests_status);
        let lists = lists.and_then(Option::as_ref).cloned().unwrap_or_default();
        Self {
            name,
            fail_to_pass: lists.fail_to_pass,
            pass_to_pass: lists.pass_to_pass,
            statuses: grade.statuses.clone(),
            remarks: grade.why.clone(),
        }
    }

    /// A grading by Atlas's own rules, with the statuses of its log and what is odd about the run.
    pub fn strict(
        name: &'a str,
        grade: &Grade,
        log: &atlas_core::ParsedLog,
        signals: &[crate::TamperSignal],
    ) -> Self {
        let statuses = log.tests().into_iter();
        let decisive = signals.iter().filter(|signal| signal.decisive);
        Self {
            name,
            fail_to_pass: grade.fail_to_pass.clone(),
            pass_to_pass: grade.pass_to_pass.clone(),
            statuses: statuses
                .map(|(id, status)| (id.to_owned(), status.to_string()))
                .collect(),
            remarks: decisive
                .map(|signal| format!("disbelieved: {}", signal.message))
                .collect(),
        }
    }

    fn standings(&self, list: ListName) -> BTreeMap<&str, Standing> {
        let graded = match list {
            ListName::FailToPass => &self.fail_to_pass,
            ListName::PassToPass => &self.pass_to_pass,
        };
        let success = graded.success.iter().map(|id| (id, Standing::Success));
        let failure = graded.failure.iter().map(|id| (id, Standing::Failure));
        success.chain(failure).collect()
    }

    fn said(&self, id: &str) -> String {
        let status = self.statuses.get(id).map_or("not seen", String::as_str);
        let mut said = format!("{}: {status}", self.name);
        let quoted = format!("`{id}`");
        let about = |remark: &&String| remark.contains(&quoted) || !remark.contains('`');
        for remark in self.remarks.iter().filter(about) {
            said.push_str(", ");
            said.push_str(remark);
        }
        said
    }
}

/// The tests that two gradings judge differently, by list and id.
pub fn grade_diff(from: &GradedSide<'_>, to: &GradedSide<'_>) -> Vec<GradeDiff> {
    let mut found = Vec::new();
    for list in [ListName::FailToPass, ListName::PassToPass] {
        let (left, right) = (from.standings(list), to.standings(list));
        let ids: std::collections::BTreeSet<&str> =
            left.keys().chain(right.keys()).copied().collect();
        for id in ids {
            let standing = |side: &BTreeMap<&str, Standing>| {
                side.get(id).copied().unwrap_or(Standing::Nowhere)
            };
            let (before, after) = (standing(&left), standing(&right));
            if before != after {
                found.push(GradeDiff {
                    id: id.to_owned(),
                    list,
                    from: before,
                    to: after,
                    why: format!("{}; {}", from.said(id), to.said(id)),
                });
            }
        }
    }
    found
}
