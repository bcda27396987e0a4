#![doc = include_str!("../README.md")]

mod day;
mod evidence;
mod ids;
mod instance;
mod limits;
mod log;
mod overlay;
mod pass_at_k;
mod patch;
mod plan;
mod pull_request;
mod reader;
mod reason;
mod status;
mod test_ids;

mod applier;
mod code_host;
mod context;
mod embedder;
mod environment;
mod error;
mod judge;
mod mode;
mod model;
mod oracle;
mod origin;
mod sandbox;
mod session;
#[cfg(feature = "testing")]
pub mod testing;
mod validator;

pub use applier::{Applied, PatchApplier};
pub use code_host::{CodeHost, SkippedPullRequest, SourcedPage};
pub use context::{Cancellation, NoProgress, Progress, RunContext};
pub use day::{Day, InvalidDay};
pub use embedder::Embedder;
pub use environment::{
    Attempt, AttemptOrigin, BuildFailure, EnvSynthesizer, Environment, EnvironmentLock, ImageRef,
    ModelPhase, Repository, SynthesisOutcome,
};
pub use error::{Blame, Error, ErrorKind};
pub use evidence::Evidence;
pub use ids::{CommitSha, InstanceId, InvalidCommitSha, InvalidInstanceId};
pub use instance::{Instance, InstanceError, TestList};
pub use judge::{Confidence, ConfidenceSource, Judge, Judgement, Subject};
pub use limits::Limits;
pub use log::{
    Duplicates, LogParser, LogParserExt, LogReader, LogWarning, LostModule, LostReason, Names,
    ParsedLog, ParsedLogBuilder, RunOutcome, TestResult, TestResults, Totals,
};
pub use mode::{GradingMode, Harness, UnknownMode};
pub use model::{
    ChatMessage, Completion, CompletionRequest, FinishReason, LanguageModel, Role, TokenLogprob,
    Usage,
};
pub use oracle::{
    BeforeFailureExtent, BuildEvidence, BuildFailureClass, Confirmation, Kind, ModuleFailure,
    Oracle, OracleOutcome, OracleReport, OracleTask, ReportAgreement, StateSummary, Transition,
};
pub use origin::{TestOrigin, TestOrigins, stem, test_file, without_source_line};
pub use overlay::{FileContent, FileMode, Overlay};
pub use pass_at_k::pass_at_k;
pub use patch::{FilePatch, Hunk, HunkLine, HunkLineKind, Patch, PatchError, PatchKind, PatchPart};
pub use plan::{
    AGENTIC, CompiledProducts, EnvironmentPlan, PlanError, ReportSpec, Service, TestScope,
    TestScopeLevel,
};
pub use pull_request::{
    Author, AuthorClass, ChangeShape, LinkedIssue, PullRequestSource, Remark, RepositoryFacts,
    SourcedPullRequest,
};
pub use reader::{ByLine, LineState, WholeLog, feed_lines, finish_unended};
pub use reason::{Fault, Reason, one_line, telling, telling_lines};
pub use sandbox::{
    ExitState, Isolation, Job, JobFile, JobResult, JobUser, Network, ResourceUsage, Sandbox,
    SandboxInfo,
};
pub use session::{Changed, Session, Step, StepResult};
pub use state::State;
pub use status::{TestStatus, UnknownStatus};
pub use test_ids::{TestIds, TestIdsBuilder, TestIdsIter};
pub use validator::{Candidate, Decision, Finding, Severity, Validator, Verdict};

mod state;
