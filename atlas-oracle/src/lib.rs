#![doc = include_str!("../README.md")]

mod agreement;
mod belief;
mod cause;
mod classify;
mod compat;
mod diff;
mod differential;
mod evaluate;
mod flake;
mod gates;
mod grade;
mod last_lines;
mod rerun;
mod score;
mod script;
mod source;
mod state_run;
mod variation;
mod witness;

pub use agreement::compare;
pub use atlas_core::pass_at_k;
pub use belief::{BeliefInput, SignalKind, TamperSignal, believe};
pub use cause::{Cause, CauseInput, GoldHere, RunFacts, attribute};
pub use classify::{Classification, ClassifyInput, classify, is_style_check};
pub use compat::{
    CompatGrade, CompatInput, CompatLines, CompatOutcome, CompatRead, CompatRow, CompatStage,
    EvalType, InfraFailure, InfraTier, InstanceReport, Leftovers, ReportBody, ReportState,
    RunEntry, RunReport, RunReportInput, TestsStatus, classify_infra, grade_compat, judge_compat,
    report_file_name,
};
pub use diff::{GradeDiff, GradedSide, ListName, Standing, grade_diff};
pub use differential::{OracleOptions, Repeats, RunReader, StateDifferentialOracle};
pub use evaluate::{Evaluated, Evaluator, LaidOut};
pub use flake::{
    Interval, PassRate, SequentialTest, Stability, between_repeats, detectable_fail_rate,
    miss_probability, runs_to_find,
};
pub use gates::{
    ConsistencyOptions, EnvironmentDeterminism, GATES, Gate, GateParts, GateSettings, GoldPatch,
    Integrity, IntegrityOptions, Leak, NullPatch, OracleConsistency, ParserCertificate,
    PartStanding, Strength, StrengthOptions, StrengthPart, TestCounter, TestRun,
    implausible_number, leak_of, unnamed_interface,
};
pub use grade::{Grade, Graded, Resolution, grade};
pub use rerun::{Said, respelled};
pub use score::{
    AttemptCount, Leaderboard, LeaderboardRow, PassAtK, PassAtKRow, ScoreBounds, Scored,
    TaskGroups, leaderboard, pass_at_k_table, wilson,
};
pub use script::{MarkedLog, cut, state_script};
pub use state_run::{Disputes, StateRun};
pub use variation::{Perturbation, Rerun, Variation};
