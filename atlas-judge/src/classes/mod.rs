//! What kind of change a task is, and what kind of report (paper 001, section 4.1 and its appendix E).
//!
//! Rules decide where a project itself says it: by the labels of its issues, the form of its issue
//! templates, the prefix of its commit titles, or by touching nothing but manifests, build files or
//! documentation. A
//! model, if there is one, is asked for what they leave open; else the class is `unknown`, and the
//! [source](ClassSource) says that nobody knew rather than that somebody looked and could not tell.

mod domain;
mod judge;
mod rules;
mod table;

pub use domain::{Domain, domain_by_rule};
pub use judge::{ClassJudge, ClassOptions, Classes, Classified, class_prompt};
pub use rules::{ClassSubject, code_type_by_rule, issue_type_by_rule};
pub use table::{ClassCount, ClassTable};

use serde::{Deserialize, Serialize};

/// What kind of change solves the task.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum CodeType {
    /// Wrong behaviour is put right.
    BugFix,
    /// Something new can be done.
    Feature,
    /// The same is done by other code.
    Refactor,
    /// The same is done with less time or memory.
    Performance,
    /// Neither a rule nor a model decides.
    #[default]
    Unknown,
    /// Other versions of dependencies.
    DependencyUpdate,
    /// How the project is built or checked.
    BuildCi,
    /// A weakness that somebody could use is closed. Not of the paper; by rule alone.
    Security,
    /// What is told of the project. Not of the paper; by rule alone.
    Documentation,
    /// How the project is tested. Not of the paper; by rule alone.
    Test,
}

impl CodeType {
    /// The paper's, in its order: what a model is asked for.
    pub const ALL: [Self; 7] = [
        Self::BugFix,
        Self::Feature,
        Self::Refactor,
        Self::Performance,
        Self::Unknown,
        Self::DependencyUpdate,
        Self::BuildCi,
    ];

    /// The paper's word, or ours where it has none.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BugFix => "bug-fix",
            Self::Feature => "feature",
            Self::Refactor => "refactor",
            Self::Performance => "performance",
            Self::Unknown => "unknown",
            Self::DependencyUpdate => "dependency-update",
            Self::BuildCi => "build-ci",
            Self::Security => "security",
            Self::Documentation => "documentation",
            Self::Test => "test",
        }
    }
}

/// What kind of report the task begins with.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum IssueType {
    /// Something is wrong.
    BugReport,
    /// Something is wished for.
    FeatureRequest,
    /// Something is slow or big.
    PerformanceIssue,
    /// Upkeep.
    Chore,
    /// Neither a rule nor a model decides.
    #[default]
    Unknown,
}

impl IssueType {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 5] = [
        Self::BugReport,
        Self::FeatureRequest,
        Self::PerformanceIssue,
        Self::Chore,
        Self::Unknown,
    ];

    /// The paper's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BugReport => "bug-report",
            Self::FeatureRequest => "feature-request",
            Self::PerformanceIssue => "performance-issue",
            Self::Chore => "chore",
            Self::Unknown => "unknown",
        }
    }
}

/// Who told a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassSource {
    /// A rule, with its proof.
    Rule,
    /// A model.
    Model,
    /// Nobody: no rule holds and no model was asked.
    Nobody,
}
