//! Whether a patch should be shown (paper 002, sections 3.2 and 6.2).
//!
//! A [`PatchValidation`] is a chain of [`PatchStage`]s: what tests say, how the agent's own last test
//! ended, then a model's review. The first stage that rejects ends it. What the reviews score is
//! turned into decisions over a whole set of patches by [`decide`] and [`combine`], and one of
//! several patches for a bug is chosen by [`choose`].

mod chain;
mod choice;
mod combine;
mod cut;
mod decision;
mod dependents;
mod facts;
mod review;
mod stage;
mod subject;
mod test_commands;
mod trajectory;

pub use chain::{Deterministic, PatchValidation, Review, ValidationReport};
pub use choice::{Choice, ChoiceCandidate, choose};
pub use combine::{Combined, FunnelStep, PatchRecord, Policies, combine};
pub use cut::{cut_middle, estimated_tokens};
pub use decision::{Decided, DecisionError, DecisionRule, Population, Scored, decide};
pub use dependents::direct_dependencies;
pub use facts::{Reproduction, TargetOutcome, TestFacts, TestTarget};
pub use review::{
    PromptLimits, ReviewOptions, SpecificationReview, TrajectoryReview, review_prompt_versions,
    review_schema,
};
pub(crate) use review::{room, share};
pub use stage::{
    LastTestCommand, PatchForm, PatchStage, RegressionCheck, StageOutcome, StageReport,
};
pub use subject::ValidationSubject;
pub use test_commands::{CommandOutcome, TestCommand, test_commands};
pub use trajectory::{NotATrajectory, Step, Trajectory};
