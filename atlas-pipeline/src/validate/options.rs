//! What `atlas validate` may be told: on the command line, in a configuration's `[run.validate]` and from Python.

use super::perturbations::{PERTURBATIONS, perturbation};
use crate::parts::Parts;
use crate::{Config, EngineChoice};
use atlas_core::{EnvironmentPlan, Error, ErrorKind, InstanceId};
use atlas_oracle::{EnvironmentDeterminism, Gate, SequentialTest, StrengthOptions};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which gates an instance goes through, and how thoroughly. Each field is an option of `atlas validate`, a key of
/// `[run.validate]` in a configuration, and an argument of `swe_atlas.validate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Args)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GateOptions {
    /// The gates, in order. Default: all but `certificate`.
    #[arg(
        long,
        value_name = "GATE,…",
        value_delimiter = ',',
        hide_default_value = true
    )]
    #[arg(default_values_t = Self::default().gates, value_parser = Gate::names())]
    pub gates: Vec<String>,
    /// Go on to the other gates after one rejected an instance. Default: no.
    #[arg(long)]
    pub keep_going: bool,
    /// Identical runs of After. Default: 3, or as many as `sequential` may need.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Runs of the empty prediction. Default: 1.
    #[arg(long, value_name = "N", hide_default_value = true)]
    #[arg(default_value_t = Self::default().null_runs, value_parser = clap::value_parser!(u32).range(1..))]
    pub null_runs: u32,
    /// Ways in which further runs differ: order, parallelism, clock, timezone, locale, load, network; or
    /// all. Default: none.
    #[arg(long = "perturb", value_name = "NAME,…", value_delimiter = ',', value_parser = perturbation_names())]
    pub perturbations: Vec<String>,
    /// Runs under each perturbation. Default: 1.
    #[arg(long, value_name = "N", hide_default_value = true)]
    #[arg(default_value_t = Self::default().perturbed_runs, value_parser = clap::value_parser!(u32).range(1..))]
    pub perturbed_runs: u32,
    /// Stop identical runs as soon as every test is decided at this fail rate, between 0 and 1. Default: all runs are
    /// made; on the command line 0.05 where no rate is given.
    #[arg(long, value_name = "RATE", num_args = 0..=1, default_missing_value = "0.05")]
    pub sequential: Option<f64>,
    /// The fail rate that `sequential` takes as stable. Default: 0.
    #[arg(
        long,
        value_name = "RATE",
        requires = "sequential",
        hide_default_value = true
    )]
    #[arg(default_value_t = Self::default().tolerate)]
    pub tolerate: f64,
    /// The power of the fail rate that is stated, and that `sequential` asks for, 0 to 1. Default: 0.95.
    #[arg(long, value_name = "SHARE", hide_default_value = true)]
    #[arg(default_value_t = Self::default().power)]
    pub power: f64,
    /// Keep instances without the tests of their lists that differ between identical runs, where a test is left that
    /// defines the task. Default: no, they are rejected.
    #[arg(long)]
    pub set_aside_flaky: bool,
    /// Builds from scratch. Default: 3.
    #[arg(long, value_name = "N", hide_default_value = true)]
    #[arg(default_value_t = Self::default().builds, value_parser = clap::value_parser!(u32).range(1..))]
    pub builds: u32,
    /// Most runs of the strength gate for one instance. Default: 40.
    #[arg(long, value_name = "N", hide_default_value = true)]
    #[arg(default_value_t = Self::default().strength_runs)]
    pub strength_runs: usize,
    /// Reject instances whose tests notice a smaller share of the gold patch. Default: 0.
    #[arg(long, value_name = "SHARE", hide_default_value = true)]
    #[arg(default_value_t = Self::default().min_strength)]
    pub min_strength: f64,
    /// Runs that go on at once within an instance; more than one puts load on the machine. Default: 1.
    #[arg(long, value_name = "N", hide_default_value = true)]
    #[arg(default_value_t = Self::default().concurrency)]
    pub concurrency: usize,
}

impl Default for GateOptions {
    fn default() -> Self {
        Self {
            gates: Gate::usual().into_iter().map(str::to_owned).collect(),
            keep_going: false,
            runs: None,
            null_runs: 1,
            perturbations: Vec::new(),
            perturbed_runs: 1,
            sequential: None,
            tolerate: 0.0,
            power: 0.95,
            set_aside_flaky: false,
            builds: EnvironmentDeterminism::BUILDS,
            strength_runs: StrengthOptions::default().max_runs,
            min_strength: 0.0,
            concurrency: 1,
        }
    }
}

/// What `perturbations` may hold.
fn perturbation_names() -> Vec<&'static str> {
    let names = PERTURBATIONS.iter().map(|(name, _)| *name);
    names.chain(["all"]).collect()
}

impl GateOptions {
    /// The perturbations that are asked for, by name.
    pub(crate) fn perturbations(&self) -> Vec<&str> {
        if self.perturbations.iter().any(|name| name == "all") {
            return PERTURBATIONS.iter().map(|(name, _)| *name).collect();
        }
        self.perturbations.iter().map(String::as_str).collect()
    }

    /// The test that stops identical runs.
    pub(crate) fn sequential(&self) -> Option<SequentialTest> {
        self.sequential.map(|rate| SequentialTest {
            rate,
            tolerated: self.tolerate,
            miss: 1.0 - self.power,
            ..SequentialTest::default()
        })
    }

    /// Identical runs of After.
    pub(crate) fn runs(&self) -> u32 {
        let needed = || self.sequential().map(|test| test.runs_if_stable() + 1);
        self.runs.or_else(needed).unwrap_or(3)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str, value: String| {
            Err(Error::new(ErrorKind::InvalidInput, what.to_owned(), value))
        };
        for (at, gate) in self.gates.iter().enumerate() {
            if self.gates[..at].contains(gate) {
                return wrong("choose gates:", format!("`{gate}` is named twice"));
            }
            if Gate::named(gate).is_none() {
                let known = Gate::names().join(", ");
                return wrong(
                    "choose gates:",
                    format!("`{gate}`: one of {known} expected"),
                );
            }
        }
        for name in self.perturbations() {
            perturbation(name, &EnvironmentPlan::default())?;
        }
        for (name, share) in [("power", self.power), ("min_strength", self.min_strength)] {
            if !(0.0..=1.0).contains(&share) {
                return wrong(
                    &format!("read {name}:"),
                    format!("`{share}`: 0 to 1 expected"),
                );
            }
        }
        if self.sequential().is_some_and(|test| !test.is_sound()) {
            return wrong(
                "read the sequential test:",
                "rates must lie between 0 and 1, and the tolerated one below the one to find"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// Which instances go through gates, where, and by which. Each field is an option of `atlas validate` and an argument of
/// `swe_atlas.validate`.
#[derive(Clone, Debug, Deserialize, Args)]
#[serde(default)]
pub struct ValidateOptions {
    /// The dataset: JSON lines, or one JSON list.
    pub dataset: PathBuf,
    /// Only this instance. Can be given several times [default: all].
    #[arg(long = "instance", value_name = "ID")]
    pub instances: Vec<InstanceId>,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name` [default: the clone
    /// that each instance was made from, where it was made beside this dataset, else the base commit in the folder of
    /// its environment].
    #[arg(long, value_name = "DIR")]
    pub repos: Option<PathBuf>,
    /// The gates, and how thoroughly each looks.
    #[command(flatten)]
    #[serde(skip)]
    pub gates: GateOptions,
    /// Instances that go on at once. Default: 1.
    #[arg(skip)]
    pub jobs: usize,
    /// Which engine.
    #[arg(skip)]
    pub engine: EngineChoice,
    /// Configuration.
    #[arg(skip)]
    #[serde(skip)]
    pub config: Config,
    /// Where reports go [default: the dataset's folder].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Whether untrusted code may run where nothing keeps it apart from this machine.
    #[arg(skip)]
    pub trust: bool,
    /// What the caller brings: a parser and a sandbox in the place of Atlas's own, and gates behind those of
    /// `gates`. Default: nothing.
    #[arg(skip)]
    #[serde(skip)]
    pub parts: Option<Arc<dyn Parts>>,
}

impl Default for ValidateOptions {
    fn default() -> Self {
        Self::new("")
    }
}

impl ValidateOptions {
    /// Defaults for everything but the dataset.
    pub fn new(dataset: impl Into<PathBuf>) -> Self {
        Self {
            dataset: dataset.into(),
            instances: Vec::new(),
            repos: None,
            gates: GateOptions::default(),
            jobs: 1,
            engine: EngineChoice::Auto,
            config: Config::default(),
            out: None,
            trust: false,
            parts: None,
        }
    }

    pub(super) fn out(&self) -> PathBuf {
        let beside = || match self.dataset.parent() {
            _ if self.dataset.is_dir() => self.dataset.clone(),
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        self.out.clone().unwrap_or_else(beside)
    }
}
