//! Judges over whole files: one question after another, resumable, within a budget.
//!
//! [`judge_items`] runs any judge over any items and keeps what it says in a file of JSON lines;
//! [`abstain`] and [`review`] are the policies of paper 002 on top of it, [`critic`](critic()) those of paper 004.

mod abstain;
mod attached;
mod attempts;
mod baseline;
mod batches;
mod choose;
mod combine;
mod critic;
mod curate;
mod ensemble;
mod facts;
mod input;
mod paid;
mod results_file;
mod review;
mod rows;
mod run;
mod session;
mod verdicts;

pub(crate) use abstain::Silent;
pub use abstain::{AbstainOptions, AbstainReport, AbstainResult, abstain, abstain_prompts};
pub use attached::{Attached, Sisters};
pub use attempts::{
    AttemptResult, AttemptRunOptions, AttemptRunReport, attempt_prompts, judge_attempts,
};
pub use baseline::{
    Baseline, BaselineRunOptions, BaselineRunReport, EmbedderSession, FittedThreshold,
    LikenessThreshold, critic_baseline,
};
pub use batches::RehearsalFolder;
pub(crate) use batches::in_batches;
pub use choose::{
    ChoiceAmong, ChoiceRule, ChooseOptions, ChooseReport, ChosenPatch, choose_patches,
};
pub use combine::{CombineOptions, CombineReport, combine_results};
pub(crate) use critic::critic_score;
pub use critic::{
    CriticRunOptions, CriticRunReport, CriticRunResult, base_files, critic, critic_run_prompts,
};
pub use curate::{CuratedRows, write_curated_rows};
pub(crate) use curate::{Curation, classes_of};
pub use ensemble::{CalibratorsFile, EnsembleOptions, MemberUse};
pub use facts::{TestFactsOptions, TestFactsReport, write_test_facts};
pub(crate) use input::PATCH_ID_DIGITS;
pub use input::{
    CandidatePatch, CandidatePatches, InstanceRows, PatchName, candidate_patches, instance_rows,
};
pub use results_file::{ResultLines, Results};
pub use review::{
    ReviewMode, ReviewResult, ReviewRunOptions, ReviewRunReport, review, review_prompts,
};
pub use rows::{RowJudgeOptions, RowJudgeReport, RowQuestion, RowResult, judge_rows, row_prompts};
pub(crate) use rows::{files_at_base, judge_row, left_behind};
pub use run::{ContentHash, FailedItem, Identity, JudgeItem, JudgeReport, JudgeRun, judge_items};
pub(crate) use session::ledger;
pub use session::{ModelSession, SessionModels, SessionOptions, exchanges_beside};
pub(crate) use verdicts::{StoredVerdict, Verdicts};
