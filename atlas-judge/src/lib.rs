#![doc = include_str!("../README.md")]

pub mod answer;
mod bug_report;
mod given;
mod prompt;

pub mod abstention;
pub mod alignment;
pub mod attempts;
pub mod candidates;
pub mod classes;
pub mod critic;
pub mod difficulty;
pub mod ensemble;
pub mod hints;
pub mod trajectories;
pub mod validation;
pub mod variant;

pub mod metrics;
mod report;

pub use bug_report::BugReport;
pub use prompt::Prompt;
pub use report::{Figure, PageTable, policies_figures, policies_report, policies_report_with};
