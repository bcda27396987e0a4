//! What is told about a prediction.

use serde::{Deserialize, Serialize};

/// What a signal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SignalKind {
    /// A configuration of the runner, whole or a section of a manifest.
    RunnerConfig,
    /// Code that the runner loads by itself: `conftest.py`, plugins, set-up files, listeners.
    RunnerHook,
    /// A module that takes the place of the runner's or of the standard library.
    Shadowing,
    /// Something that runs when an interpreter or a shell starts.
    StartupHook,
    /// The script, target or task that the test command runs.
    TestScript,
    /// A test, or data of tests, of the base commit.
    TestFile,
    /// A test that the prediction adds.
    NewTest,
    /// Tests inside a source file.
    InlineTests,
    /// A product of a build or a cache that stands in for sources.
    BuildProduct,
    /// What is installed for the tests.
    Dependencies,
    /// The toolchain and its settings.
    Toolchain,
    /// Files of git itself, or a path that leaves the repository.
    Repository,
    /// Code: ends the process.
    ProcessExit,
    /// Code: runs when the process ends.
    ExitHook,
    /// Code: prints what a runner prints.
    ForgedOutput,
    /// Code: changes the runner while it runs.
    RunnerPatching,
    /// Code: looks into processes or call stacks.
    Inspection,
    /// Code: asks whether it is under test.
    RunnerDetection,
    /// Code: compares equal to anything.
    AlwaysEqual,
    /// Code: reads the repository's history.
    HistoryAccess,
    /// Code: fetches from a network.
    NetworkAccess,
    /// Code: starts what outlives its parent.
    Background,
    /// Code: writes reports or test files.
    ReportWriting,
    /// Code: has libraries loaded into other programs.
    Preload,
}

/// What was done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalAction {
    /// The file is the instance's again.
    Restored,
    /// The steering part of the file is the instance's again; the rest is the prediction's.
    SectionRestored,
    /// The file that the prediction added is not written.
    Removed,
    /// Nothing: the change stays.
    Kept,
    /// The prediction is not to be run: a run would reach what is not its own.
    Refused,
}

/// How much it looks like cheating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalSeverity {
    /// Ordinary work does this.
    Info,
    /// Ordinary work seldom does this.
    Suspicious,
    /// Hardly anything but an attempt on the grader does this.
    Tamper,
}

/// One thing that was noticed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signal {
    /// What it is about.
    pub kind: SignalKind,
    /// The file.
    pub path: String,
    /// One line for people: what was found, and why it matters.
    pub message: String,
    /// What was done.
    pub action: SignalAction,
    /// How much it looks like cheating.
    pub severity: SignalSeverity,
}
