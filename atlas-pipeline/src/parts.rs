//! Implementations of core traits that a caller brings.

use crate::environment::{analysis_options, fixed};
use crate::{Config, Engines};
use async_trait::async_trait;
use atlas_core::{
    EnvSynthesizer, EnvironmentPlan, Error, ErrorKind, Judge, LogParser, LogParserExt, Oracle,
    ParsedLog, Repository, RunContext, Sandbox, SynthesisOutcome, Validator,
};
use atlas_docker::{Analysis, TrialRun, analyse};
use atlas_oracle::{Gate, RunReader, StateDifferentialOracle};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// What a caller brings in the place of Atlas's own: [`make`](crate::make), [`evaluate`](crate::evaluate()) and
/// [`validate`](crate::validate()) ask for it where they need it. Each method gives nothing by itself, and then Atlas's own
/// is used.
pub trait Parts: fmt::Debug + Send + Sync {
    /// Reads the output of tests in the place of the plan's or the row's parser.
    fn parser(&self) -> Option<CallersParser> {
        None
    }

    /// Runs jobs in environments that the engine built.
    fn sandbox(&self) -> Option<Arc<dyn Sandbox>> {
        None
    }

    /// Finds environments. `tools` is the engine and the analysis of this run.
    fn synthesizer(&self, tools: PlanTools) -> Option<Arc<dyn EnvSynthesizer>> {
        let _ = tools;
        None
    }

    /// Decides which tests define a task. `standard` runs states in this run's sandbox, which remembers them, and
    /// classifies as Atlas does.
    fn oracle(&self, standard: Arc<StateDifferentialOracle>) -> Option<Arc<dyn Oracle>> {
        let _ = standard;
        None
    }

    /// Gates behind those of Atlas that were chosen. `sandbox` is this run's.
    fn validators(&self, sandbox: &Arc<dyn Sandbox>) -> Vec<Arc<dyn Validator>> {
        let _ = sandbox;
        Vec::new()
    }
}

/// A parser that a caller brings.
#[derive(Clone, Debug)]
pub struct CallersParser {
    /// What rows call it, in their column `log_parser`.
    pub id: String,
    /// SHA-256 of what it does, as far as it can be known: verdicts say by which version logs were read.
    pub hash: String,
    /// Reads.
    pub reader: Arc<dyn RunReader>,
}

impl CallersParser {
    /// A parser that is compiled in; `version` tells its versions apart.
    pub fn new(parser: Arc<dyn LogParser>, version: &str) -> Self {
        let id = parser.id().to_owned();
        Self {
            hash: crate::store::Key::new("parser of the caller")
                .part(id.as_bytes())
                .part(version.as_bytes())
                .finish(),
            id,
            reader: Arc::new(Pure(parser)),
        }
    }
}

/// A judge that a caller brings.
#[derive(Clone, Debug)]
pub struct CallersJudge {
    /// Judges.
    pub judge: Arc<dyn Judge>,
    /// Tells its versions apart: what another version said is not used again.
    pub version: String,
}

impl CallersJudge {
    /// What tells its results from another's.
    pub(crate) fn settings(&self) -> Value {
        json!({"judge": self.judge.id(), "version": self.version})
    }
}

#[derive(Debug)]
struct Pure(Arc<dyn LogParser>);

#[async_trait]
impl RunReader for Pure {
    async fn read_run(&self, _cx: &RunContext, log: &[u8]) -> Result<ParsedLog, Error> {
        Ok(self.0.parse(log))
    }
}

/// What a caller's [`EnvSynthesizer`] may use of the run that calls it.
#[derive(Clone, Debug)]
pub struct PlanTools {
    config: Config,
    engines: Engines,
    trial: Option<Arc<dyn TrialRun>>,
}

impl PlanTools {
    pub(crate) fn new(config: &Config, engines: &Engines, trial: Arc<dyn TrialRun>) -> Self {
        Self {
            config: config.clone(),
            engines: engines.clone(),
            trial: Some(trial),
        }
    }

    /// What Atlas would plan for a repository, or why it would not. Nothing of it is run.
    ///
    /// # Errors
    /// A checkout that cannot be read.
    ///
    /// # Cancellation
    /// Dropping the future leaves the analysis running to its end.
    pub async fn analyse(&self, repository: &Repository) -> Result<Analysis, Error> {
        let (of, options) = (repository.clone(), analysis_options(&self.config)?);
        let work = tokio::task::spawn_blocking(move || analyse(&of, &options));
        work.await.map_err(|why| {
            let name = repository.name.clone();
            Error::new(ErrorKind::Internal, "analyse repository", name).with_source(why)
        })?
    }

    /// Builds a plan as it stands and runs Base's tests in it, as of every environment: one in which they cannot
    /// run is refused with what they said.
    ///
    /// # Errors
    /// The engine's, and [`ErrorKind::InvalidInput`] for a plan that cannot be rendered.
    ///
    /// # Cancellation
    /// As [`EnvSynthesizer`].
    pub async fn build(
        &self,
        cx: &RunContext,
        repository: &Repository,
        plan: EnvironmentPlan,
    ) -> Result<SynthesisOutcome, Error> {
        let mut fixed = fixed(plan, &self.engines)?;
        fixed.trial.clone_from(&self.trial);
        fixed.synthesize(cx, repository).await
    }
}

/// The caller's gates, each of a name that can be a file's and is none of Atlas's.
pub(crate) fn callers_gates(
    parts: Option<&Arc<dyn Parts>>,
    sandbox: &Arc<dyn Sandbox>,
) -> Result<Vec<Arc<dyn Validator>>, Error> {
    let gates = parts.map_or_else(Vec::new, |parts| parts.validators(sandbox));
    for (at, gate) in gates.iter().enumerate() {
        let id = gate.id();
        let wrong = |why: &str| {
            let what = format!("the gate `{id}`: {why}");
            Err(Error::new(ErrorKind::InvalidInput, "choose gates:", what))
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if id.is_empty() || !id.chars().all(is_word) {
            return wrong("its name is to be letters, digits, `_` and `-`");
        }
        if Gate::named(id).is_some() {
            return wrong("a gate of Atlas has that name");
        }
        if gates[..at].iter().any(|other| other.id() == id) {
            return wrong("is there twice");
        }
    }
    Ok(gates)
}

impl Engines {
    /// With the caller's sandbox, where there is one.
    pub(crate) fn with(mut self, parts: Option<&Arc<dyn Parts>>) -> Self {
        if let Some(sandbox) = parts.and_then(|parts| parts.sandbox()) {
            self.sandbox = sandbox;
        }
        self
    }
}
