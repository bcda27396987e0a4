#![doc = include_str!("../README.md")]

mod agent;
mod atif;
mod quality;
mod read;
mod review;
mod rewrite;

pub use agent::{
    Agent, AgentEnd, AgentShell, AgentTask, AgentUsage, AttemptBudget, Attempted, BudgetKind,
    Executed, Forbidden, ForbiddenRead, HiddenFacts, MiniSweAgent, ProcessAgent, Room, RoomAnswer,
    attempt, forbidden_reads, shell_client,
};
pub use atif::{
    AgentInfo, Content, FinalMetrics, Metrics, Observation, ObservationResult, SCHEMA_VERSION,
    Source, Step, ToolCall, Trajectory,
};
pub use quality::{
    Attempt, FinalSubmit, HintTerms, HintWords, QUALITY_GATES, RewrittenThoughts, TrajectoryGate,
};
pub use read::{ReadError, Recorder, Trajectories};
pub use review::review_page;
pub use rewrite::{RewriteOptions, rewrite_thoughts};
