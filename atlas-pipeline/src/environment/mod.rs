//! `atlas plan` and `atlas build`: the environment alone, without the three states.

mod build;
mod model;
mod plan;
mod scratch;
mod source;
mod trial;

pub(crate) use build::publish;
pub use build::{BaseRun, BuildOutcome, BuildReport, build};
pub(crate) use model::InstanceModel;
pub use plan::{PlanReport, plan};
pub(crate) use scratch::ScratchSynthesizer;

use crate::log_reading::{Explained, Inventor, LogReading, Unread};
use crate::own_parser::Isolated;
use crate::parts::{Parts, PlanTools};
use crate::{CachedSandbox, Config, EngineChoice, Engines};
use atlas_core::{
    AGENTIC, EnvSynthesizer, EnvironmentLock, EnvironmentPlan, Error, ErrorKind, InstanceId,
    Limits, Overlay,
};
use atlas_docker::{AnalysisOptions, FixedPlan, RefineOptions, RefiningSynthesizer, pin};
use atlas_oracle::{OracleOptions, StateDifferentialOracle};
use atlas_parsers::Parsers;
use std::sync::Arc;
use trial::BaseTrial;
pub(crate) use trial::{Scope, part};

/// Which repository at which commit, and how.
#[derive(Clone, Debug)]
pub struct EnvironmentOptions {
    /// A clone on this machine, or an address to clone from.
    pub repo: String,
    /// The commit that the environment is for, any revision git understands. May be absent where
    /// `pull_request` is given.
    pub base: Option<String>,
    /// The pull request's last commit: dependencies that it adds are fetched too.
    pub head: Option<String>,
    /// The pull request's number, instead of base and head.
    pub pull_request: Option<u64>,
    /// Which engine builds.
    pub engine: EngineChoice,
    /// Configuration.
    pub config: Config,
    /// Whether untrusted code may run where nothing keeps it apart from this machine.
    pub trust: bool,
}

impl EnvironmentOptions {
    /// Defaults for everything but the repository.
    pub fn new(repo: impl Into<String>) -> Self {
        Self {
            repo: repo.into(),
            base: None,
            head: None,
            pull_request: None,
            engine: EngineChoice::Auto,
            config: Config::default(),
            trust: false,
        }
    }
}

pub(crate) fn analysis_options(config: &Config) -> Result<AnalysisOptions, Error> {
    Ok(AnalysisOptions {
        language: config.plan.language.clone(),
        known_parsers: Parsers::builtin().ids().map(str::to_owned).collect(),
        freeze: config.plan.freeze.unwrap_or(true),
        pins: pins(config)?,
    })
}

/// The versions of the lock that the configuration names.
fn pins(config: &Config) -> Result<Vec<String>, Error> {
    let Some(path) = &config.plan.lock else {
        return Ok(Vec::new());
    };
    let text = std::fs::read_to_string(path).map_err(|why| Error::io("read", path, why))?;
    let lock: EnvironmentLock = serde_json::from_str(&text).map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            "read environment lock",
            format!("`{}`", path.display()),
        )
        .with_source(why)
    })?;
    Ok(lock.dependencies)
}

/// The plan that the configuration names instead of analysis.
fn fixed_plan(config: &Config) -> Result<Option<EnvironmentPlan>, Error> {
    let Some(path) = &config.plan.file else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|why| Error::io("read", path, why))?;
    let mut plan = EnvironmentPlan::from_json(&text).map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            "read plan",
            format!("`{}`", path.display()),
        )
        .with_source(why)
    })?;
    pin(&mut plan, &pins(config)?);
    Ok(Some(plan))
}

/// What builds this very plan.
pub(crate) fn fixed(plan: EnvironmentPlan, engines: &Engines) -> Result<FixedPlan, Error> {
    let known = crate::engine::cache_folder()?.join("inventory");
    Ok(FixedPlan {
        plan,
        builder: Arc::clone(&engines.builder),
        sandbox: Arc::new(CachedSandbox::new(Arc::clone(&engines.sandbox), known)),
        trial: None,
    })
}

/// Runs Base's tests in what was built.
pub(crate) fn base_trial(
    config: &Config,
    engines: &Engines,
    (instance, before, scope): (&InstanceId, Option<&Overlay>, Scope),
    seed: String,
    reading: &Arc<LogReading>,
) -> BaseTrial {
    BaseTrial {
        engines: engines.clone(),
        limits: config.limits.clone(),
        instance: instance.clone(),
        seed,
        reading: Arc::clone(reading),
        before: before.cloned(),
        scope,
    }
}

/// What makes environments by this configuration. The trial run is Base's run of the instance: with
/// the same seed it is the same job, and a cached sandbox does it once. With the files of Before, that
/// run is expected next: the sandbox is to be settled then.
pub(crate) fn synthesizer(
    config: &Config,
    engines: &Engines,
    (instance, before, scope): (&InstanceId, Option<&Overlay>, Scope),
    seed: String,
    (reading, model): (&Arc<LogReading>, Option<&InstanceModel>),
    parts: Option<&Arc<dyn Parts>>,
) -> Result<Box<dyn EnvSynthesizer>, Error> {
    // What an environment was made of does not change: asked once per environment, not per folder.
    let known = crate::engine::cache_folder()?.join("inventory");
    let builder = Arc::clone(&engines.builder);
    let sandbox = Arc::new(CachedSandbox::new(Arc::clone(&engines.sandbox), known));
    let of = (instance, before, scope);
    let trial = Arc::new(base_trial(config, engines, of, seed, reading));
    let tools = PlanTools::new(config, engines, Arc::<BaseTrial>::clone(&trial));
    if let Some(own) = parts.and_then(|parts| parts.synthesizer(tools)) {
        return Ok(Box::new(own));
    }
    if let Some(plan) = fixed_plan(config)? {
        return Ok(Box::new(FixedPlan {
            trial: Some(trial),
            ..fixed(plan, engines)?
        }));
    }
    let mut options = analysis_options(config)?;
    if reading.may_invent() {
        options.known_parsers.push(AGENTIC.to_owned());
    }
    #[cfg(feature = "mcp")]
    let tools: Option<Arc<dyn atlas_docker::ToolSource>> = Some(Arc::new(crate::CheckoutTools));
    #[cfg(not(feature = "mcp"))]
    let tools = None;
    Ok(Box::new(RefiningSynthesizer {
        builder,
        sandbox,
        trial: Some(trial),
        options,
        refine: RefineOptions {
            tool_rounds: config.model.tool_rounds,
            ..RefineOptions::default()
        },
        model: model.map(InstanceModel::model),
        tools,
    }))
}

/// With a model, which makes a parser for logs that no shipped one knows.
pub(crate) fn inventing(
    config: &Config,
    (engine, trust): (EngineChoice, bool),
    (instance, model): (&InstanceId, Option<&InstanceModel>),
    reading: LogReading,
) -> Result<LogReading, Error> {
    let Some(model) = model else {
        return Ok(reading);
    };
    let name: String = instance
        .as_str()
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(50)
        .collect();
    Ok(reading.with_inventor(Some(Inventor {
        model: model.model(),
        isolated: Arc::new(Isolated::new(engine, config, trust, None)?),
        id: format!("made-{name}"),
    })))
}

/// The oracle for environments of this plan. The console is read by the parser of `reading`, else by
/// the plan's; one that is not known is no error where a parser may still be made.
pub(crate) fn oracle(
    engines: &Engines,
    plan: &EnvironmentPlan,
    limits: &Limits,
    seed: String,
    reading: &LogReading,
) -> Result<StateDifferentialOracle, Error> {
    let parsers = Parsers::builtin();
    let unknown = |why: atlas_parsers::UnknownParser| {
        if plan.log_parser_name == AGENTIC {
            return Error::new(
                ErrorKind::InvalidInput,
                "choose the plan's parser:",
                "`agentic` is one that is not shipped: name a model that makes it (--model), or give it \
                 (--parser FILE)",
            );
        }
        Error::new(ErrorKind::InvalidInput, "choose the plan's parser", "").with_source(why)
    };
    let options = OracleOptions {
        limits: limits.clone(),
        seed,
        ..OracleOptions::default()
    };
    let sandbox = Arc::clone(&engines.sandbox);
    let oracle = match reading.own() {
        Some(own) => own.oracle(sandbox),
        None => match parsers.get(&plan.log_parser_name) {
            Ok(parser) => StateDifferentialOracle::new(sandbox, Arc::new(Explained(parser))),
            Err(_) if reading.may_invent() => {
                let unread = Unread(plan.log_parser_name.clone());
                StateDifferentialOracle::new(sandbox, Arc::new(unread))
            }
            Err(why) => return Err(unknown(why)),
        },
    };
    let mut oracle = oracle.with_options(options);
    if let Some(spec) = &plan.report {
        oracle = oracle.with_report_parser(parsers.get(&spec.parser).map_err(unknown)?);
    }
    Ok(oracle)
}
