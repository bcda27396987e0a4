//! The verdict on a submission.

use serde::{Deserialize, Serialize};

/// How many tests of a list pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// Those that pass.
    pub passed: usize,
    /// All of the list.
    pub total: usize,
}

/// The verdict on a submission, as far as rewards need it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grade {
    /// Whether the patch solves the instance; absent if nothing could be found out, which is no verdict.
    pub resolved: Option<bool>,
    /// The tests that define the task.
    pub fail_to_pass: Passed,
    /// The tests that guard the rest.
    pub pass_to_pass: Passed,
    /// Why, in a sentence.
    pub cause: String,
    /// What a critic foretells, from 0 to 1; absent where none was asked, or it said nothing.
    pub score: Option<f64>,
    /// The whole verdict, as the grader writes it.
    pub verdict: serde_json::Value,
}
