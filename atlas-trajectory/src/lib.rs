#![doc = include_str!("../README.md")]

mod agent;
mod atif;
mod export;
mod hint;
mod quality;
mod read;
mod review;
mod rewrite;
#[cfg(feature = "testing")]
pub mod testing;

pub use agent::{
    Agent, AgentEnd, AgentShell, AgentTask, AgentUsage, AttemptBudget, Attempted, BudgetKind,
    Executed, Forbidden, ForbiddenRead, HiddenFacts, MiniSweAgent, ProcessAgent, Room, RoomAnswer,
    answer_request, attempt, forbidden_reads, shell_client,
};
pub use atif::{
    AgentInfo, Content, FinalMetrics, Metrics, Observation, ObservationResult, SCHEMA_VERSION,
    Source, Step, ToolCall, Trajectory,
};
#[cfg(feature = "tokenizers")]
pub use export::TokenizerFile;
pub use export::{
    ExportError, ExportForm, ExportOptions, ExportedRow, FineTuning, Mixture, MixtureGroup, NoLoss,
    TokenCounter, TokenError, TuningConfig, export_rows,
};
pub use hint::without_hint;
pub use quality::{
    Attempt, FinalSubmit, HintTerms, HintWords, QUALITY_GATES, RewrittenThoughts, TrajectoryGate,
};
pub use read::{ReadError, Recorder, Trajectories};
pub use review::review_page;
pub use rewrite::{REWRITE_PROMPT_VERSION, RewriteOptions, rewrite_questions, rewrite_thoughts};
