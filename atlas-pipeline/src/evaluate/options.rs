//! What an evaluation is asked to do.

use super::input::PredictionSource;
use crate::parts::Parts;
use crate::{Config, EngineChoice, GradingConfig};
use atlas_core::{GradingMode, InstanceId, Limits, Network};
use std::path::PathBuf;
use std::sync::Arc;

/// Which predictions against which instances, by whose rules.
#[derive(Clone, Debug)]
pub struct EvalOptions {
    /// The dataset.
    pub dataset: PathBuf,
    /// The predictions.
    pub predictions: PredictionSource,
    /// The run's name: a folder and a label, nothing more. Results are shared by content.
    pub run_id: String,
    /// Only these instances. Default: all.
    pub instances: Vec<InstanceId>,
    /// By whose rules. Default: [`GradingMode::Strict`].
    pub mode: GradingMode,
    /// Which engine.
    pub engine: EngineChoice,
    /// Instances that go on at once. Default: 1.
    pub jobs: usize,
    /// Most seconds of one run of the tests. Default: the configuration's.
    pub timeout: Option<u64>,
    /// A prediction may run so many times as long as the gold patch did, in strict mode; 0 for no such
    /// limit. Default: the configuration's.
    pub times_gold: Option<u32>,
    /// And so many seconds at any rate. Default: the configuration's.
    pub least_seconds: Option<u64>,
    /// Where the harness's folders go. Default: this folder.
    pub out: PathBuf,
    /// A clone, or a folder of clones, for rows without an image.
    pub repos: Option<PathBuf>,
    /// Whether the gold patch is run first with canary tests. Default: yes, in strict mode.
    pub canaries: bool,
    /// Whether canaries bear names of this run's own, so that logs of earlier runs give nothing away; then
    /// strict mode shares no results with runs of other names. Default: no, names are those of the folder
    /// of results, and what was run once is not run again.
    pub fresh_canaries: bool,
    /// Whether tests have a network. Default: none in strict mode, full in the others, as the
    /// harnesses have it.
    pub network: Option<Network>,
    /// Where results are kept by content. Default: `atlas/results` in the user's cache folder.
    pub results: Option<PathBuf>,
    /// Configuration.
    pub config: Config,
    /// Whether untrusted code may run where nothing keeps it apart from this machine.
    pub trust: bool,
    /// The file of a parser that reads all logs in strict mode. Default: the row's own, else the one
    /// that it names.
    pub parser: Option<PathBuf>,
    /// Whether parser code of rows may run where nothing keeps it apart. Default: no.
    pub trust_parsers: bool,
    /// What the caller brings in the place of Atlas's own, in strict mode: a parser, before every other; a sandbox.
    /// Default: nothing.
    pub parts: Option<Arc<dyn Parts>>,
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
