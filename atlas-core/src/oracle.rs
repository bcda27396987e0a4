//! The test oracle: which tests define a task, and how that is known.

use crate::{
    Environment, Error, Evidence, ExitState, InstanceId, Isolation, Overlay, Patch, ResourceUsage,
    RunContext, RunOutcome, State, TestStatus, Totals,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a pull request asks of an oracle.
#[derive(Clone, Debug)]
pub struct OracleTask {
    /// The instance being made.
    pub instance_id: InstanceId,
    /// The tests' part of the pull request.
    pub test_patch: Patch,
    /// The solution's part.
    pub gold_patch: Patch,
    /// Base + test patch, as files.
    pub before: Overlay,
    /// Before + gold patch, as files.
    pub after: Overlay,
    /// Names of tests whose source the test patch changes, as far as they can be told from the
    /// patch; used only where no new test explains a feature.
    pub modified_tests: Vec<String>,
    /// Changed tests that run under a condition only, each with the line that says so; used in reasons.
    pub conditions: BTreeMap<String, Evidence>,
}

/// Bug fix or feature by *state*, not by intent (paper 001, section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Before runs.
    BugFix,
    /// Before does not build or load, wholly or in part, for want of what the pull request adds.
    FeatureRequest,
}

/// How much of Before did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BeforeFailureExtent {
    /// Everything loaded.
    None,
    /// Some modules did not.
    Partial,
    /// Nothing did.
    Full,
    /// It loaded, and then its process died.
    Crash,
}

/// Why a module did not build or load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildFailureClass {
    /// A symbol, module, file or declared package is missing that the gold patch introduces, or one
    /// is used as only the gold patch allows.
    MissingSymbol,
    /// The environment is broken: a tool, a library, a package or room is missing that the pull
    /// request does not bring.
    Environment,
    /// The test file itself is broken: it does not parse, or asks the project for what neither Base
    /// nor the gold patch has.
    BrokenTest,
    /// No rule tells.
    Unknown,
}

/// A module that did not build or load in one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleFailure {
    /// The state.
    pub state: State,
    /// The module as the runner names it.
    pub module: String,
    /// Why.
    pub class: BuildFailureClass,
    /// The missing symbol, where one was found in both the log and the gold patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Proof lines from log and patch; where a class is told by a line, that one first.
    pub proof: Vec<Evidence>,
}

/// One test over the three states; absent means not in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// SWE-bench id.
    pub name: String,
    /// Status in Base.
    pub base: Option<TestStatus>,
    /// Status in Before.
    pub before: Option<TestStatus>,
    /// Status in After.
    pub after: Option<TestStatus>,
    /// `P2P`, `F2P`, `N2P`, `P2F`, …: Before to After by first letters (Pass, Fail, Skip, None).
    pub class: String,
}

/// Whether console and structured report of one run say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAgreement {
    /// The report's file name.
    pub file: String,
    /// The report's parser.
    pub parser: String,
    /// Tests in the console log.
    pub console_tests: usize,
    /// Tests in the report.
    pub report_tests: usize,
    /// Whether the counts per status are equal.
    pub agrees: bool,
    /// The differences (at most 20).
    pub differences: Vec<String>,
}

/// What a state's build left, by the times of its products: what was compiled for this very state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildEvidence {
    /// Compiled sources and headers that the state laid over the environment's.
    pub laid: usize,
    /// Products that were made in this run.
    pub made: usize,
    /// Products that are as the environment's build left them.
    pub kept: usize,
    /// Why the tests may have run what an earlier state was built to; empty where they cannot (at most 20).
    pub stale: Vec<String>,
}

/// One state's run in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateSummary {
    /// How the script ended.
    pub exit: ExitState,
    /// How the run ended, by its log.
    pub outcome: RunOutcome,
    /// Status -> number of tests.
    pub counts: BTreeMap<TestStatus, usize>,
    /// The runner's own totals.
    pub totals: Option<Totals>,
    /// Whether counts and totals agree.
    pub consistent: Option<bool>,
    /// Console against structured report, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportAgreement>,
    /// What was compiled for this state, where its plan says what a build makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildEvidence>,
    /// How the run was kept apart.
    pub isolation: Isolation,
    /// Wall seconds of the script.
    pub seconds: f64,
    /// Wall seconds around it.
    pub overhead_seconds: f64,
    /// What it took of the machine.
    #[serde(default)]
    pub usage: ResourceUsage,
}

/// The verdict of an oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OracleOutcome {
    /// A valid instance.
    Instance,
    /// No test fails before and passes after.
    RejectNoFailToPass,
    /// Base does not build or run, or what the pull request touches does not in After: the environment is
    /// wrong.
    EnvironmentInvalid,
    /// After does not build or run: the pull request or the split is wrong.
    RejectAfterBroken,
    /// Nothing was seen to run, failures are counted that the log does not name, the environment failed
    /// in Before alone, what could define the task was not run, or a state was not shown to run what was
    /// compiled for it: neither pass nor fail.
    NoEvidence,
}

/// Everything an oracle found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OracleReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The verdict.
    pub outcome: OracleOutcome,
    /// One sentence why.
    pub reason: String,
    /// Bug fix or feature; absent where Base gives no ground to tell.
    pub kind: Option<Kind>,
    /// How much of Before did not run.
    pub before_failure_extent: BeforeFailureExtent,
    /// Tests that define the task.
    pub fail_to_pass: Vec<String>,
    /// Tests that must go on passing.
    pub pass_to_pass: Vec<String>,
    /// Tests that pass before and fail after: recorded, in neither list.
    pub pass_to_fail: Vec<String>,
    /// Ids that differ between runs or hold a time, an address, a counter: in neither list.
    pub unstable: BTreeMap<String, String>,
    /// Tests that pass in After and exist only through the gold patch, each with what shows it: inline tests
    /// and examples of what it adds, parameters made from its data. No other solution can make them pass,
    /// so they are in neither list.
    #[serde(default)]
    pub gold_only: BTreeMap<String, String>,
    /// What the plain SWE-bench rule would have given as `FAIL_TO_PASS`, where it differs.
    pub fail_to_pass_swebench_rule: Option<Vec<String>>,
    /// How `FAIL_TO_PASS` was found: `failed_before`, `new_tests`, `modified_tests` or `changed_programs`.
    pub fail_to_pass_rule: String,
    /// Modules that did not build or load, in any state.
    pub module_failures: Vec<ModuleFailure>,
    /// Class -> number of tests.
    pub transition_counts: BTreeMap<String, usize>,
    /// Every test.
    pub transitions: Vec<Transition>,
    /// The runs.
    pub states: BTreeMap<State, StateSummary>,
    /// Proof lines for the verdict.
    pub evidence: Vec<Evidence>,
    /// What speaks against a list and does not decide: tests that were lost in Before with their neighbours, names that
    /// another solution need not have. They are among the warnings, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Remarks.
    pub warnings: Vec<String>,
    /// What further runs said of `FAIL_TO_PASS`; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
}

/// What further runs of Before and After said of the tests that define a task. A test whose further
/// runs contradict the first is in neither list, and its reason stands in
/// [`unstable`](OracleReport::unstable).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Further runs that each of the tests had at least, by state; fewer only where it had
    /// contradicted itself by then.
    pub runs: BTreeMap<State, u32>,
    /// The files, packages, classes or tests that were run.
    pub scope: Vec<String>,
    /// Why the whole test command was run, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// The other order that one run of each state had; absent where the runner knows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Tests that had more runs, with how many of each state: the pull request does not reach them by file, folder
    /// or import, or a test of the same file, or package, contradicted itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub distant: BTreeMap<String, u32>,
    /// Tests that left the lists, each with how its runs contradict each other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contradicted: BTreeMap<String, String>,
    /// Runs that say nothing, and what was not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Wall seconds of all of it.
    pub seconds: f64,
}

impl OracleReport {
    /// A report that knows nothing but the lists of a row, for those who grade by them.
    pub fn of_lists(fail_to_pass: Vec<String>, pass_to_pass: Vec<String>) -> Self {
        Self {
            schema_version: 1,
            outcome: OracleOutcome::Instance,
            reason: "the row says so".to_owned(),
            kind: None,
            before_failure_extent: BeforeFailureExtent::None,
            fail_to_pass,
            pass_to_pass,
            pass_to_fail: Vec::new(),
            unstable: BTreeMap::new(),
            gold_only: BTreeMap::new(),
            fail_to_pass_swebench_rule: None,
            fail_to_pass_rule: String::new(),
            module_failures: Vec::new(),
            transition_counts: BTreeMap::new(),
            transitions: Vec::new(),
            states: BTreeMap::new(),
            evidence: Vec::new(),
            doubts: Vec::new(),
            warnings: Vec::new(),
            confirmation: None,
        }
    }
}

/// Decides which tests define a task (paper 001, section 3.3).
///
/// # Contract
/// - Base, Before and After run the same test selection, each in a fresh sandbox; the order in
///   which they run does not matter.
/// - A failed test, build or run is part of the report; an [`Error`] is never turned into one.
/// - Every verdict carries its evidence.
///
/// # Cancellation
/// As the sandbox underneath: raising `cx.cancel` ends the run in flight and returns an error.
#[async_trait]
pub trait Oracle: fmt::Debug + Send + Sync {
    /// Runs the states and classifies.
    ///
    /// # Errors
    /// Those of the sandbox.
    async fn judge(
        &self,
        cx: &RunContext,
        environment: &Environment,
        task: &OracleTask,
    ) -> Result<OracleReport, Error>;
}

macro_rules! forward_oracle {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<O: Oracle + ?Sized> Oracle for $ty {
            async fn judge(
                &self,
                cx: &RunContext,
                environment: &Environment,
                task: &OracleTask,
            ) -> Result<OracleReport, Error> {
                (**self).judge(cx, environment, task).await
            }
        }
    )+};
}
forward_oracle!(&O, Box<O>, Arc<O>);
