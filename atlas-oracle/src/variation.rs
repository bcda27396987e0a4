//! One run among several of the same files.

use atlas_core::{JobFile, Network};
use std::collections::BTreeMap;

/// How one run differs from the plan's own: nothing but its number, or a perturbation, under which
/// a test that says something of the code should say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Perturbation {
    /// The stable name: `order`, `clock`, …
    pub id: String,
    /// Variables on top of the plan's.
    pub env: BTreeMap<String, String>,
    /// Files for the run's `$ATLAS_IN`.
    pub files: Vec<JobFile>,
    /// Commands for bash that run before the tests, in the same shell; no code of the repository has
    /// run by then.
    pub prelude: String,
    /// The test command in the place of the plan's, where that has to differ.
    pub test_cmd: Option<String>,
    /// Whether the run has a network.
    pub network: Network,
    /// At most this many processors, in hundredths.
    pub centi_cpus: Option<u32>,
}

/// One of several runs that follow each other in one sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rerun {
    /// The command in the place of the plan's.
    pub test_cmd: String,
    /// Commands for bash before it, in the same shell.
    pub prelude: String,
}

/// One run: a perturbation, or none, and a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variation {
    pub(crate) id: String,
    pub(crate) repeat: u32,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) files: Vec<JobFile>,
    pub(crate) prelude: String,
    pub(crate) test_cmd: Option<String>,
    pub(crate) network: Network,
    pub(crate) cpus: Option<f64>,
    pub(crate) reruns: Vec<Rerun>,
}

impl Variation {
    /// The plan's run as it is; `repeat` counts from 0.
    pub fn plain(repeat: u32) -> Self {
        Self {
            repeat,
            ..Self::default()
        }
    }

    /// Whether this is the first run of the plan as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.id.is_empty() && self.repeat == 0 && self.reruns.is_empty()
    }

    /// A run under a perturbation; `repeat` counts from 0.
    pub fn of(perturbation: &Perturbation, repeat: u32) -> Self {
        Self {
            id: perturbation.id.clone(),
            repeat,
            env: perturbation.env.clone(),
            files: perturbation.files.clone(),
            prelude: perturbation.prelude.clone(),
            test_cmd: perturbation.test_cmd.clone(),
            network: perturbation.network,
            cpus: perturbation.centi_cpus.map(|n| f64::from(n) / 100.0),
            reruns: Vec::new(),
        }
    }
    /// Runs one after the other in one sandbox, see
    /// [`rerun`](crate::StateDifferentialOracle::rerun); `repeat` tells sandboxes apart that do the same.
    pub fn reruns(reruns: Vec<Rerun>, files: Vec<JobFile>, repeat: u32) -> Self {
        Self {
            id: "rerun".to_owned(),
            repeat,
            files,
            reruns,
            ..Self::default()
        }
    }
}
