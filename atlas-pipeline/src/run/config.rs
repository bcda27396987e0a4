//! `[run]` of `atlas.toml`.

use super::publish::RunPublishConfig;
use crate::near::hint;
use crate::{Bytes, EngineChoice, GateOptions};
use atlas_core::{Error, ErrorKind};
use atlas_judge::alignment::AlignmentOptions;
use atlas_judge::classes::ClassOptions;
use atlas_judge::hints::HintOptions;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `[run]`: what `atlas run` takes up, and how much at once. Paths are relative to the folder in which the command is
/// started.
///
/// ```
/// let config = atlas_pipeline::Config::parse(
///     "[run]\ncandidates = [\"candidates.jsonl\"]\n[run.stages.make]\nparallel = 2\n",
///     "atlas.toml",
/// )?;
/// assert_eq!(config.run.stages["make"].parallel, Some(2));
/// assert!(atlas_pipeline::Config::parse("[run]\ncandidate = []\n", "atlas.toml").is_err());
/// # Ok::<(), atlas_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// The folder of the run: store, artefacts, dataset, report. Default: `run`.
    pub folder: PathBuf,
    /// Files of candidates, JSON lines as `atlas source` writes them. Default: none, and then `[source]` is asked first.
    pub candidates: Vec<PathBuf>,
    /// Of each repository take the newest so many that pass the filters, by the time of their merge. What was taken once
    /// stays, and newer ones are taken beside it ([`take_candidates`](crate::take_candidates)). Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_repo: Option<NonZeroUsize>,
    /// Where tests run: `auto`, `docker` or `local`. Default: `auto`.
    pub engine: EngineChoice,
    /// Steps of all stages that go on at once in one process. Default: the number of processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<usize>,
    /// Bytes that must be free on the disk of the run's folder and of the caches; below it nothing new starts.
    /// Default: 2 GiB.
    pub min_free: Bytes,
    /// Bytes of memory that must be available; below it nothing new starts. Default: 1 GiB.
    pub min_memory: Bytes,
    /// How often a step is tried that ends with an error of the machine. Default: 3.
    pub attempts: u32,
    /// Seconds before such a step is tried again, with each try four times as many. Default: 10.
    pub retry_seconds: f64,
    /// So many candidates wait for a stage before the stage before it stops to work ahead. Default: 100.
    pub ahead: u64,
    /// Most seconds that all steps may take together, over all continuations of the run. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Most money that models may cost, over all continuations. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// Limits by stage: `prepare`, `make`, `validate`, `classify`, `judge`, `hints`, `accept`.
    pub stages: BTreeMap<String, StageConfig>,
    /// The gates. An empty list of `gates` leaves the stage out.
    pub validate: GateOptions,
    /// What kind of change and report a task is, and of which domain.
    pub classify: RunClassifyConfig,
    /// A model's scores of tasks. Default: none is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<RunJudgeConfig>,
    /// Names that a statement withholds and tests need. Default: not looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<RunHintsConfig>,
    /// The release that is written at the end. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publish: Option<RunPublishConfig>,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            folder: PathBuf::from("run"),
            candidates: Vec::new(),
            per_repo: None,
            engine: EngineChoice::Auto,
            parallel: None,
            min_free: Bytes(2 << 30),
            min_memory: Bytes(1 << 30),
            attempts: 3,
            retry_seconds: 10.0,
            ahead: 100,
            seconds: None,
            money: None,
            stages: BTreeMap::new(),
            validate: GateOptions::default(),
            classify: RunClassifyConfig::default(),
            judge: None,
            hints: None,
            publish: None,
        }
    }
}

/// `[run.classify]`: the stage `classify`. Rules tell, with their proof; a model only where they leave something open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RunClassifyConfig {
    /// Whether the run has the stage. Default: yes.
    pub enabled: bool,
    /// The model that is asked on doubt: a name from `[models]`, `PROVIDER:MODEL`, an address. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How it is asked.
    pub options: ClassOptions,
}

impl Default for RunClassifyConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            model: None,
            options: ClassOptions::default(),
        }
    }
}

/// `[run.judge]`: the stage `judge` (paper 001, section 3.4, layer 3). A model scores how clear the issue is and how well the
/// tests judge what it asks for, from 0 (best) to 3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunJudgeConfig {
    /// The model.
    pub model: String,
    /// Whether tasks of low quality are rejected, as in the paper. Default: yes.
    #[serde(default = "yes")]
    pub reject_low: bool,
    /// How it is asked, and which scores make which quality.
    #[serde(default)]
    pub options: AlignmentOptions,
}

fn yes() -> bool {
    true
}

/// `[run.hints]`: the stage `hints` (paper 001, appendix D). The table alone is enough: rules need no model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RunHintsConfig {
    /// The model that is asked where no rule says that a hint is needed. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hints are looked for.
    pub options: HintOptions,
}

/// `[run.stages.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StageConfig {
    /// Steps of this stage that go on at once in one process. Default: as many as processors for `prepare`, else 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<usize>,
}

/// Refuses a name that is none of some names, with the nearest.
pub(super) fn known(what: &str, name: &str, names: &[&str]) -> Result<(), Error> {
    if names.contains(&name) {
        return Ok(());
    }
    let near = hint(name, names.iter().copied());
    let said = format!("`{name}`: one of {} expected{near}", names.join(", "));
    Err(Error::new(ErrorKind::InvalidInput, what, said))
}
