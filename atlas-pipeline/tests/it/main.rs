//! The `atlas` command as people use it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should say where, and one that is skipped that it was"
)]

mod agentic;
mod annotate;
mod arrows;
mod attempt_rules;
mod attempting;
mod attempts;
mod baselines;
mod before;
mod before_cases;
mod callers_parts;
mod choose;
mod confirm;
mod critic;
mod datasets;
mod demo;
mod docker;
mod ensemble;
mod environment;
mod episodes;
mod eval_deaths;
mod eval_hostile;
mod eval_input;
mod eval_runs;
mod eval_support;
mod evaluate;
mod facts;
mod funnel;
mod gold_only;
mod golden;
mod harness_rows;
mod judge_bench;
mod judging;
mod kill;
mod living;
mod logs;
mod make;
mod mcp;
mod measure;
mod measured;
mod mono;
mod options;
mod own_parsers;
mod pages;
mod parts;
mod publish;
mod red_team;
#[cfg(feature = "schema")]
mod reference;
#[cfg(feature = "mcp")]
mod refine;
mod registry;
mod rows;
mod run;
mod scope;
mod serve;
mod sourcing;
mod states;
mod support;
mod synth;
#[cfg(feature = "otel")]
mod telemetry;
mod training;
mod trajectories;
mod unrun;
mod usage;
mod validate;
