//! What is known of a run before its prediction is looked at.

use crate::BaseFiles;
use atlas_core::Patch;
use std::fmt;

/// What has to be known about a run to tell what steers it.
#[derive(Clone, Copy)]
pub struct GuardInput<'a> {
    /// Id of the log parser, which tells the runner: `pytest`, `jest`, also `jest+mocha`.
    pub parser: &'a str,
    /// Language id; empty where it is not known.
    pub language: &'a str,
    /// The command that runs the tests.
    pub test_cmd: &'a str,
    /// Commands that rebuild after the files are laid out.
    pub rebuild: &'a [String],
    /// The base commit.
    pub base: &'a dyn BaseFiles,
    /// The instance's tests.
    pub test_patch: &'a Patch,
    /// The instance's own solution.
    pub gold_patch: &'a Patch,
}

impl fmt::Debug for GuardInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardInput")
            .field("parser", &self.parser)
            .field("language", &self.language)
            .field("test_cmd", &self.test_cmd)
            .finish_non_exhaustive()
    }
}
