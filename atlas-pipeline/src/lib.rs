#![doc = include_str!("../README.md")]

// The command line says of everything where it comes from, as any other user of the library.
extern crate self as atlas_pipeline;

mod annotate;
mod attempt;
mod audit;
mod batch;
mod cached;
mod cli;
mod clones;
mod config;
mod config_faults;
mod datasets;
mod demo;
mod doctor;
mod engine;
mod environment;
mod eval_script;
mod evaluate;
mod failures;
mod funnel;
mod image_name;
mod judge_bench;
mod judging;
mod log_reading;
mod make;
#[cfg(feature = "mcp")]
mod mcp;
mod measure;
mod near;
mod own_parser;
mod pages;
mod parts;
mod plausible;
mod publish;
mod push;
mod reading;
mod reason;
#[cfg(feature = "schema")]
mod reference;
mod retry;
mod run;
mod runners;
mod serve;
mod significance;
mod sourcing;
mod spool;
mod statuses;
mod store;
mod synth;
mod trajectories;
mod validate;
mod words;

pub use atlas_core as core;
pub use atlas_docker as docker;
pub use atlas_formats as formats;
pub use atlas_guard as guard;
pub use atlas_judge as judge;
pub use atlas_llm as llm;
pub use atlas_oracle as oracle;
pub use atlas_parsers as parsers;
pub use atlas_report as report;
pub use atlas_source as source;
pub use atlas_trajectory as trajectory;

pub use annotate::{
    Agreement, AnnotationFiles, Coefficient, Conflict, MergeOptions, MergeReport, MergedAnswer,
    RowDecision, SettledBy, export_annotations, merge_annotations,
};
pub use attempt::{
    AgentChoice, AttemptOptions, AttemptRecord, AttemptReport, AttemptVerdict, InstanceAttempts,
    called_as, run_attempts,
};
pub use audit::{AuditCount, AuditReport, audit_dataset, audit_runs};
pub use cached::CachedSandbox;
pub use cli::command_line;
pub use config::{
    Bytes, Config, EngineConfig, GradingConfig, ImageConfig, LocalConfig, MakeConfig, ModelConfig,
    PlanConfig, ScopeChoice,
};
pub use datasets::{
    ConvertReport, LeaderboardReport, LintReport, compare_models, convert_dataset, lint_dataset,
    read_run_report,
};
pub use demo::{DemoReport, DemoSource, demo};
pub use doctor::{Ability, DoctorReport, doctor};
pub use engine::{EngineChoice, Engines, docker_engine, sweep};
pub use environment::{
    BaseRun, BuildOutcome, BuildReport, EnvironmentOptions, PlanReport, build, plan,
};
pub use eval_script::eval_script;
pub use evaluate::{
    CanaryReport, Episode, Episodes, EvalOptions, EvalOutcome, EvalReport, EvalVerdict,
    GradeChange, GradedLog, HarnessFiles, InputFault, InstanceCost, Ledger, PredictionSource,
    RegradeOptions, RegradeReport, RegradedInstance, evaluate, grade_log, grade_row, regrade,
    run_id,
};
pub use failures::{EnvironmentFailure, FailureClass, FailureReport, FailureWeight, failures};
pub use funnel::{FunnelReport, RejectionReason, StageCost, Yield, funnel};
pub use image_name::{ImageName, ImageNameFields, InvalidImageName};
pub use judge_bench::{
    BenchFile, BenchJudge, BenchPatch, BenchRow, JudgeBench, JudgeBenchAbout, JudgeBenchEstimate,
    JudgeBenchOptions, JudgeBenchReport, JudgeRunSummary, PackOptions, estimate_judge_bench, pack,
    run_judge_bench,
};
pub use judging::{
    AbstainOptions, AbstainReport, AbstainResult, Attached, AttemptResult, AttemptRunOptions,
    AttemptRunReport, Baseline, BaselineRunOptions, BaselineRunReport, CalibratorsFile,
    CandidatePatch, CandidatePatches, ChoiceAmong, ChoiceRule, ChooseOptions, ChooseReport,
    ChosenPatch, CombineOptions, CombineReport, ContentHash, CriticRunOptions, CriticRunReport,
    CriticRunResult, CuratedRows, EmbedderSession, EnsembleOptions, FailedItem, FittedThreshold,
    Identity, InstanceRows, JudgeItem, JudgeReport, JudgeRun, LikenessThreshold, MemberUse,
    ModelSession, PatchName, RehearsalFolder, ResultLines, Results, ReviewMode, ReviewResult,
    ReviewRunOptions, ReviewRunReport, RowJudgeOptions, RowJudgeReport, RowQuestion, RowResult,
    SessionModels, SessionOptions, Sisters, TestFactsOptions, TestFactsReport, abstain,
    abstain_prompts, attempt_prompts, base_files, candidate_patches, choose_patches,
    combine_results, critic, critic_baseline, critic_run_prompts, exchanges_beside, instance_rows,
    judge_attempts, judge_items, judge_rows, review, review_prompts, row_prompts,
    write_curated_rows, write_test_facts,
};
pub use make::{
    InjectAttempt, InjectionReport, LeftTest, MakeOptions, MakeOutcome, MakeReport, SecondWitness,
    Seconds, make, read_candidate,
};
#[cfg(feature = "mcp")]
pub use mcp::{CheckoutTools, McpOptions, serve_mcp};
pub use measure::{CheckedFile, MeasureInput, check_file, measure, report_policies};
pub use own_parser::{ParserOrigin, ReadBy};
pub use pages::{PageKind, UnknownPageKind, ViewOptions, view, write_page};
pub use parts::{CallersJudge, CallersParser, Parts, PlanTools};
pub use publish::{
    InvalidSplitRule, LicenceSource, PublishOptions, PublishReport, ReleaseChanges, SplitFiles,
    SplitRule, publish,
};
pub use push::{PushReport, RegistryLogins, push_images};
pub use reading::{ParseReport, classify_files, parse_bytes, parse_file};
#[cfg(feature = "schema")]
pub use reference::reference;
pub use retry::RetrySandbox;
pub use run::{
    AskedSource, CandidateStep, CandidateStory, GatheredCandidates, ImportReport, PipelineEstimate,
    PipelineReport, QuietRun, RepositoryImages, RunCandidate, RunClassifyConfig, RunConfig, RunEnd,
    RunEstimate, RunEvent, RunHintsConfig, RunJudgeConfig, RunListener, RunOptions,
    RunPublishConfig, RunReport, RunStatus, RunningStep, Stage, StageConfig, StageEstimate,
    StageStatus, StageWork, StepEnvironment, StepOutcome, StoryEvent, asked_sources,
    estimate_pipeline, estimate_run, gather_candidates, run_candidates, run_pipeline, run_status,
    standard_stages, why,
};
pub use serve::{ServeCritic, serve};
pub use significance::{
    Estimate, LeaderboardStatistics, ModelPair, ModelStatistics, StatisticsOptions,
    leaderboard_statistics,
};
pub use sourcing::{
    ArchiveSource, CloneSource, GithubSource, GitlabSource, HostProgress, SourceConfig, SourceNews,
    SourceReport, TakenCandidates, filter_candidates, source_candidates, sourced_file,
    take_candidates,
};
pub use statuses::Statuses;
pub use store::write_atomically;
pub use synth::{
    CertifyParserOptions, ParserFile, SynthParserOptions, SynthParserOutcome, SynthParserReport,
    certify_parser, open_cell, synth_parser, synth_question,
};
pub use trajectories::{
    CheckedTrajectory, ExportReport, ExportRunOptions, ExportSide, JudgedQuality, JudgedTrajectory,
    LeftOutTrajectory, RewriteRunOptions, RewriteRunReport, RewrittenTrajectory, TRAINING_LENGTH,
    TokenTotals, TrainTestSplit, TrajectoryCheckOptions, TrajectoryJudgeReport,
    TrajectoryJudgeRunOptions, TrajectoryReport, check_trajectories, convert_trajectories,
    export_trajectories, judge_trajectories, read_trajectories, recordings, rewrite_prompts,
    rewrite_trajectories, trajectory_prompts,
};
pub use validate::{
    FunnelStep, GateOptions, InstanceVerdict, OpenInstance, PERTURBATIONS, ValidateOptions,
    ValidateReport, open_instance, validate,
};
pub use words::{names_of, read_word};
