//! The model of one instance: one purse, one conversation on the disk.

use crate::Config;
use crate::judging::ledger;
use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext};
use atlas_llm::{Budget, Limits, Price, Purse, Recorded, Replay};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The file of an instance's conversation.
pub(crate) const CONVERSATION: &str = "model.jsonl";

/// The configured model, as one instance uses it: for its plan, the corrections of it, a parser of its own, and
/// failures that are written into tests. All of them spend from one purse, and each question with its answer is
/// appended to one file, which [`Replay`] reads.
#[derive(Clone, Debug)]
pub(crate) struct InstanceModel {
    model: Arc<dyn LanguageModel>,
    purse: Arc<Purse>,
    waited: Arc<Mutex<Duration>>,
}

impl InstanceModel {
    /// Opens it, if one is configured; its conversation stands in `folder`.
    ///
    /// # Errors
    /// A configuration that names no model; a recording or key that is missing.
    pub(crate) fn open(config: &Config, folder: &Path) -> Result<Option<Self>, Error> {
        let settings = &config.model;
        let purse = Arc::new(Purse::new(Limits {
            calls: Some(settings.calls),
            tokens: Some(settings.tokens),
            money: settings.money,
            seconds: settings.seconds,
        }));
        let model: Arc<dyn LanguageModel> = match (&settings.name, &settings.replay) {
            (Some(name), _) => {
                let model = config.model(name)?;
                atlas_llm::open_model_within(&model, &purse)?
            }
            (None, Some(path)) => {
                // What a build or a run prints holds times, and so do questions about it.
                let replay = Replay::read(path)?.ignoring_numbers();
                let shared = Arc::clone(&purse);
                Arc::new(Budget::sharing(replay, shared, Price::default()))
            }
            (None, None) => return Ok(None),
        };
        let waited = Arc::new(Mutex::default());
        let timed = Timed {
            inner: model,
            waited: Arc::clone(&waited),
        };
        let model = Arc::new(Recorded::resuming(timed, &folder.join(CONVERSATION))?);
        Ok(Some(Self {
            model,
            purse,
            waited,
        }))
    }

    /// The model.
    pub(crate) fn model(&self) -> Arc<dyn LanguageModel> {
        Arc::clone(&self.model)
    }

    /// What was spent: calls, tokens and money as [`ModelSession::ledger`](crate::ModelSession::ledger) tells them,
    /// and the seconds that answers took.
    pub(crate) fn ledger(&self) -> Value {
        let mut ledger = ledger(&self.purse);
        let waited = *self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        ledger["seconds"] = json!(waited.as_secs_f64());
        ledger
    }
}

/// A model whose answers are timed.
#[derive(Debug)]
struct Timed {
    inner: Arc<dyn LanguageModel>,
    waited: Arc<Mutex<Duration>>,
}

#[async_trait]
impl LanguageModel for Timed {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let clock = Instant::now();
        let answer = self.inner.complete(cx, request).await;
        *self.waited.lock().unwrap_or_else(PoisonError::into_inner) += clock.elapsed();
        answer
    }
}
