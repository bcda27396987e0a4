//! What an evaluation is asked to do.

use super::input::PredictionSource;
use super::layout::run_id;
use crate::parts::Parts;
use crate::words::word;
use crate::{Config, EngineChoice, GradingConfig};
use atlas_core::{GradingMode, InstanceId, Limits, Network};
use clap::{ArgAction, Args};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Which predictions against which instances, by whose rules. Each field is an option of `atlas eval` and an argument
/// of `swe_atlas.evaluate`.
#[derive(Clone, Debug, Deserialize, Args)]
#[serde(default)]
pub struct EvalOptions {
    /// The dataset: a file, or a folder of tasks.
    #[arg(skip)]
    pub dataset: PathBuf,
    /// The predictions: a file, gold (the rows' own patches) or null (empty ones).
    #[arg(long, value_name = "FILE|gold|null")]
    #[serde(skip)]
    pub predictions: PredictionSource,
    /// The run's name: a folder and a label. Results are shared by content, whatever the name.
    #[arg(long, value_name = "ID", value_parser = run_id)]
    pub run_id: String,
    /// Only these instances. Default: all.
    #[arg(skip)]
    #[serde(rename = "instance_ids")]
    pub instances: Vec<InstanceId>,
    /// By whose rules.
    #[arg(skip)]
    pub mode: GradingMode,
    /// Which engine.
    #[arg(skip)]
    pub engine: EngineChoice,
    /// Instances that go on at once. Default: 1.
    #[arg(skip)]
    pub jobs: usize,
    /// Most seconds of one run of the tests. Default: the configuration's.
    #[arg(skip)]
    pub timeout: Option<u64>,
    /// A prediction may run N times as long as the gold patch did, in strict mode; 0 for no such limit
    /// [default: 10, or `grading.times_gold` of the configuration].
    #[arg(long, value_name = "N")]
    pub times_gold: Option<u32>,
    /// And so many seconds at any rate [default: 120, or `grading.least_seconds`].
    #[arg(long, value_name = "S")]
    pub least_seconds: Option<u64>,
    /// Where `logs/run_evaluation` and the report go.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// A clone, or a folder of clones, for rows without an image.
    #[arg(skip)]
    pub repos: Option<PathBuf>,
    /// Whether the gold patch is run first with canary tests. Default: yes, in strict mode.
    #[arg(long = "no-canaries", action = ArgAction::SetFalse)]
    #[arg(help = "Leave out the canary tests and the gold patch's run that shows them to work")]
    pub canaries: bool,
    /// Give canary tests names of this run's own, which logs of earlier runs cannot give away; results are
    /// then not shared with runs of other names.
    #[arg(long, conflicts_with = "canaries")]
    pub fresh_canaries: bool,
    /// Whether tests have a network [default: none in strict mode, full in the others].
    #[arg(long, value_name = "WHICH", value_parser = word::<Network>())]
    pub network: Option<Network>,
    /// Where results are kept by content. Default: `atlas/results` in the user's cache folder.
    #[arg(skip)]
    pub results: Option<PathBuf>,
    /// Configuration.
    #[arg(skip)]
    #[serde(skip)]
    pub config: Config,
    /// Whether untrusted code may run where nothing keeps it apart from this machine.
    #[arg(skip)]
    pub trust: bool,
    /// A parser that reads all logs in strict mode. Default: what the row brings along, else the one that it names.
    #[arg(skip)]
    pub parser: Option<PathBuf>,
    /// Whether parser code that rows bring along may run where nothing keeps it apart from this machine.
    #[arg(skip)]
    pub trust_parsers: bool,
    /// What the caller brings in the place of Atlas's own, in strict mode: a parser, before every other; a sandbox.
    /// Default: nothing.
    #[arg(skip)]
    #[serde(skip)]
    pub parts: Option<Arc<dyn Parts>>,
}

impl Default for EvalOptions {
    fn default() -> Self {
        Self::new("", PredictionSource::default(), "")
    }
}

impl EvalOptions {
    /// Defaults for everything but the dataset, the predictions and the run's name.
    pub fn new(
        dataset: impl Into<PathBuf>,
        predictions: PredictionSource,
        run_id: impl Into<String>,
    ) -> Self {
        Self {
            dataset: dataset.into(),
            predictions,
            run_id: run_id.into(),
            instances: Vec::new(),
            mode: GradingMode::Strict,
            engine: EngineChoice::Auto,
            jobs: 1,
            timeout: None,
            times_gold: None,
            least_seconds: None,
            out: PathBuf::from("."),
            repos: None,
            canaries: true,
            fresh_canaries: false,
            network: None,
            results: None,
            config: Config::default(),
            trust: false,
            parser: None,
            trust_parsers: false,
            parts: None,
        }
    }

    pub(super) fn grading(&self) -> GradingConfig {
        let given = self.config.grading;
        GradingConfig {
            times_gold: self.times_gold.unwrap_or(given.times_gold),
            least_seconds: self.least_seconds.unwrap_or(given.least_seconds),
        }
    }

    pub(super) fn limits(&self) -> Limits {
        let mut limits = self.config.limits.clone();
        if let Some(seconds) = self.timeout {
            limits.seconds = seconds;
        }
        limits
    }
}
