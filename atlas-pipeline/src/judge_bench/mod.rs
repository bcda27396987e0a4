//! A benchmark of judges: candidate patches of which running their tests has said whether they resolve their task, and
//! every policy and critic asked about each of them.
//!
//! [`JudgeBench`] is the data: rows, patches with what is true of them, and the files that a judge may read. One set is
//! [shipped](JudgeBench::shipped); [`pack`] makes another one of a dataset, predictions and their evaluation.
//! [`run_judge_bench`] asks models and measures them.

mod data;
mod pack;
mod run;
mod table;

pub use data::{BenchFile, BenchPatch, JudgeBench, JudgeBenchAbout};
pub use pack::{PackOptions, pack};
pub use run::{
    BenchJudge, JudgeBenchEstimate, JudgeBenchOptions, JudgeBenchReport, JudgeRunSummary,
    estimate_judge_bench, run_judge_bench,
};
pub use table::BenchRow;
