//! Opens one instance of a dataset with its environment, so that an implementation of a core trait can be run on it.

use super::candidate::{Prepared, Prospect};
use super::{ValidateOptions, own_parser, rows};
use crate::clones::artefacts_of;
use crate::environment::{Scope, base_trial};
use crate::log_reading::LogReading;
use crate::store::Workplace;
use crate::{CachedSandbox, Engines, PlanTools};
use atlas_core::{Candidate, Error, ErrorKind, Repository, RunContext, Sandbox};
use atlas_oracle::StateDifferentialOracle;
use std::sync::Arc;

/// An instance with everything that runs it. Nobody else can work on it meanwhile.
#[derive(Debug)]
pub struct OpenInstance {
    /// The row, its environment, its patches, and how its tests were found.
    pub candidate: Candidate,
    /// A checkout of Base.
    pub repository: Repository,
    /// Runs jobs in the environment, and remembers none.
    pub sandbox: Arc<dyn Sandbox>,
    /// Runs states, and remembers them.
    pub oracle: StateDifferentialOracle,
    /// Plans and builds for such a repository.
    pub tools: PlanTools,
    place: Workplace,
}

impl OpenInstance {
    /// Ends the work on it.
    ///
    /// # Errors
    /// A temporary folder that cannot be removed.
    pub fn close(self) -> Result<(), Error> {
        self.place.clear_temporary()
    }
}

/// Opens the one instance that `options` name, as gates see it. Its states are run where that is not remembered.
///
/// # Errors
/// As [`validate`](crate::validate()); a row that cannot be made ready, with why; not exactly one instance named.
///
/// # Cancellation
/// As [`validate`](crate::validate()).
pub async fn open_instance(
    cx: &RunContext,
    options: &ValidateOptions,
) -> Result<OpenInstance, Error> {
    let wrong = |why: String| Error::new(ErrorKind::InvalidInput, "open an instance:", why);
    let (mut found, _) = rows::read(&options.dataset, &options.instances)?;
    let (Some(row), true) = (found.pop(), found.is_empty()) else {
        return Err(wrong("name one of the dataset".to_owned()));
    };
    let id = row.id().map_err(rows::unreadable)?;
    let engines = Engines::open(options.engine, &options.config, options.trust).await?;
    let mut engines = engines.with(options.parts.as_ref());
    let sandbox = Arc::clone(&engines.sandbox);
    let place = Workplace::take(&options.out(), id.as_str())?;
    let jobs = place.path("jobs");
    engines.sandbox = Arc::new(CachedSandbox::new(Arc::clone(&sandbox), jobs));
    let own = own_parser(cx, options, &row).await?;
    let seed = place.seed()?;
    let prospect = Prospect {
        config: &options.config,
        repos: options.repos.as_deref(),
        engines: &engines,
        place: &place,
        artefacts: &artefacts_of(&options.dataset, id.as_str()),
        seed: seed.clone(),
        runs_states: true,
        own: own.clone(),
    };
    let ready = match prospect.prepare(cx, &row).await? {
        Prepared::Ready(ready) => *ready,
        Prepared::Broken(verdict) => {
            let said = verdict
                .findings
                .iter()
                .map(|finding| finding.message.as_str());
            return Err(wrong(format!(
                "`{id}`: {}",
                said.collect::<Vec<_>>().join("; ")
            )));
        }
    };
    let reading = Arc::new(LogReading::by(own));
    let of = (&id, None, Scope::default());
    let trial = Arc::new(base_trial(&options.config, &engines, of, seed, &reading));
    Ok(OpenInstance {
        tools: PlanTools::new(&options.config, &engines, trial),
        oracle: ready.evaluator.oracle().clone(),
        candidate: ready.candidate,
        repository: ready.repository,
        sandbox,
        place,
    })
}
