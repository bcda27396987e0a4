//! One plan, built anew each time it is asked for.

use async_trait::async_trait;
use atlas_core::{
    EnvSynthesizer, EnvironmentPlan, Error, ImageRef, Repository, RunContext, Sandbox,
    SynthesisOutcome,
};
use atlas_docker::{Builder, FixedPlan};
use std::sync::{Arc, Mutex, PoisonError};

/// Builds a plan without any cache. Each build takes the place of the one before, which is removed.
#[derive(Debug)]
pub(crate) struct ScratchSynthesizer {
    inner: FixedPlan,
    last: Mutex<Option<ImageRef>>,
}

impl ScratchSynthesizer {
    pub(crate) fn new(
        plan: EnvironmentPlan,
        builder: Arc<dyn Builder>,
        sandbox: Arc<dyn Sandbox>,
    ) -> Self {
        Self {
            inner: FixedPlan {
                plan,
                builder,
                sandbox,
                trial: None,
            },
            last: Mutex::new(None),
        }
    }

    /// Removes the last build.
    pub(crate) async fn finish(&self) -> Result<(), Error> {
        let last = self
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match last {
            Some(image) => self.inner.builder.discard(&image).await,
            None => Ok(()),
        }
    }
}

#[async_trait]
impl EnvSynthesizer for ScratchSynthesizer {
    async fn synthesize(
        &self,
        cx: &RunContext,
        repository: &Repository,
    ) -> Result<SynthesisOutcome, Error> {
        self.finish().await?;
        let outcome = self.inner.synthesize(cx, repository).await?;
        if let SynthesisOutcome::Ready { environment } = &outcome {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(environment.image.clone());
        }
        Ok(outcome)
    }
}
