//! What a page is made of.

use serde::Serialize;

/// A folder of instances, or a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// The page's title.
    pub title: String,
    /// How many are left after each stage, in the stages' order.
    pub stages: Vec<Share>,
    /// The same after stages 2 and 3, for each language.
    pub languages: Vec<Share>,
    /// Verdicts of "no" with how many have them, the most frequent first.
    pub rejections: Vec<(String, u64)>,
    /// What each stage of a run took.
    pub costs: Vec<StageCost>,
    /// All of them, by name.
    pub pull_requests: Vec<PullRequest>,
}

/// A share with its interval, in percent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Of what.
    pub name: String,
    /// How many came.
    pub of: u64,
    /// How many are left.
    pub left: u64,
    /// Their share; absent where none came.
    pub percent: Option<f64>,
    /// Lower bound of the interval at 95 %.
    pub low: f64,
    /// Upper bound of it.
    pub high: f64,
    /// What the paper has; absent where it says nothing.
    pub paper: Option<f64>,
}

/// What one stage of a run took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageCost {
    /// Its name.
    pub stage: String,
    /// Steps that ended with a verdict.
    pub steps: u64,
    /// Steps that ended with an error.
    pub failed: u64,
    /// Wall seconds of those with a verdict.
    pub seconds: f64,
    /// Mebibytes of artefacts after them.
    pub mebibytes: f64,
    /// Dollars that models cost.
    pub money: f64,
}

/// One pull request and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PullRequest {
    /// The instance's name.
    pub id: String,
    /// The language; empty where it is not known.
    pub language: String,
    /// The verdict's word: `accepted`, or why not.
    pub outcome: String,
    /// `bug_fix` or `feature_request`; empty without a verdict.
    pub kind: String,
    /// The verdict's sentence, and what it is told from.
    pub reason: String,
    /// Lines of logs and patches that it rests on.
    pub evidence: Vec<String>,
    /// What is noteworthy beside.
    pub warnings: Vec<String>,
    /// Tests that must pass and do not pass before.
    pub fail_to_pass: Vec<String>,
    /// How many tests guard the rest.
    pub pass_to_pass: u64,
    /// Changed lines of the solution.
    pub lines: u64,
    /// Changed files of the solution.
    pub files: u64,
    /// Wall seconds that it took.
    pub seconds: f64,
    /// The folder of its artefacts.
    pub folder: String,
}
