//! Is there anything to make an instance of? Git alone answers, in seconds.

use super::{Surroundings, parallel};
use crate::MakeOptions;
use crate::make::nothing_to_test;
use crate::make::pull_request::PullRequest;
use crate::run::{RunCandidate, Stage, StepOutcome};
use async_trait::async_trait;
use atlas_core::{Error, Evidence, RunContext};
use std::sync::Arc;

/// Fetches the clone, finds the two commits, and parts solution from tests: a pull request that changes no test, or
/// nothing but tests, ends here.
#[derive(Debug)]
pub(super) struct Prepare {
    around: Arc<Surroundings>,
}

impl Prepare {
    /// Its name.
    const ID: &'static str = "prepare";

    pub(super) fn new(around: Arc<Surroundings>) -> Self {
        Self { around }
    }
}

/// How `make` is told of a candidate.
///
/// # Errors
/// No instance can be named after it.
pub(super) fn make_options(
    around: &Surroundings,
    candidate: &RunCandidate,
) -> Result<MakeOptions, Error> {
    Ok(MakeOptions {
        engine: around.engine,
        config: around.config.clone(),
        trust: around.trust,
        collect: false,
        ..MakeOptions::sourced(candidate.request.clone(), &around.instances)?
    })
}

#[async_trait]
impl Stage for Prepare {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn version(&self) -> u32 {
        1
    }

    fn parallel(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        parallel(&self.around.config.run, Self::ID, processors)
    }

    async fn run(&self, cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let options = make_options(&self.around, candidate)?;
        let request = PullRequest::find(cx, &options).await?;
        let request = request.within(&candidate.scratch);
        let split = request.split(cx).await?;
        let nothing = nothing_to_test(&split);
        let outcome = match nothing {
            Some(_) => "reject_nothing_to_test",
            None => "ready",
        };
        let reason = nothing.map(|what| format!("the pull request {what}"));
        let decisions = split.decisions.iter().take(20);
        Ok(StepOutcome {
            passed: nothing.is_none(),
            outcome: outcome.to_owned(),
            reason: reason.unwrap_or_default(),
            evidence: decisions
                .map(|d| Evidence::of(&d.path, format!("{:?}: {}", d.side, d.rule)))
                .collect(),
            ..StepOutcome::default()
        })
    }
}
