#![doc = include_str!("../README.md")]

pub mod answer;
mod prompt;
mod report;

pub mod abstention;
pub mod alignment;
pub mod attempts;
pub mod classes;
pub mod critic;
pub mod hints;
pub mod validation;
pub mod variant;

pub mod metrics;

pub use prompt::Prompt;
pub use report::BugReport;
