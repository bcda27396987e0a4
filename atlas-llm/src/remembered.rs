//! A model that is not asked the same twice.

use crate::{Exchange, Exchanges, request_key};
use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Asks another model and keeps its answers for as long as it lives: a greedy question (temperature 0)
/// that was answered already is answered from memory, and costs nothing; one that is being asked is waited for.
/// Questions at a temperature are asked anew, for their answers are to differ; so are those that failed.
///
/// With a file of [`Exchanges`] what was paid outlives the run, questions at a temperature too: their seeds tell
/// them apart.
///
/// Stand it outside of a [`Budget`](crate::Budget), which then counts only what was asked.
#[derive(Debug)]
pub struct Remembered<M> {
    inner: M,
    answers: Mutex<HashMap<String, Completion>>,
    /// Questions that are under way, or were.
    asked: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    kept: Option<(Arc<Exchanges>, String)>,
}

impl<M: LanguageModel> Remembered<M> {
    /// A memory that holds nothing yet.
    pub fn new(inner: M) -> Self {
        Self {
            inner,
            answers: Mutex::default(),
            asked: Mutex::default(),
            kept: None,
        }
    }

    /// Keeps answers in a file. `settings` are those of the model beside its name that may change an answer: an
    /// answer under others is not taken.
    #[must_use]
    pub fn kept_in(mut self, exchanges: Arc<Exchanges>, settings: &serde_json::Value) -> Self {
        self.kept = Some((exchanges, settings.to_string()));
        self
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<String, Completion>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, key: &str) -> Result<Option<Completion>, Error> {
        if let Some(answer) = self.answers().get(key) {
            return Ok(Some(answer.clone()));
        }
        match &self.kept {
            Some((exchanges, settings)) => exchanges.get(&file_key(key, settings)),
            None => Ok(None),
        }
    }
}

/// The key in the file: the question's and what answers it.
pub(crate) fn file_key(key: &str, settings: &str) -> String {
    use std::fmt::Write as _;
    let hash = Sha256::digest(format!("{key} {settings}"));
    hash.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Remembered<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        if request.temperature > 0.0 && self.kept.is_none() {
            return self.inner.complete(cx, request).await;
        }
        let key = request_key(self.name(), request);
        let asked = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(asked.entry(key.clone()).or_default())
        };
        // Who comes second waits, and finds the answer.
        let _alone = asked.lock().await;
        if let Some(answer) = self.known(&key)? {
            cx.check("ask the model")?;
            return Ok(answer);
        }
        let answer = self.inner.complete(cx, request).await?;
        // What a file keeps needs no place in memory.
        if let Some((exchanges, settings)) = &self.kept {
            let exchange = Exchange {
                key: key.clone(),
                model: self.name().to_owned(),
                request: request.clone(),
                completion: answer.clone(),
            };
            exchanges.put(&file_key(&key, settings), &exchange)?;
        } else {
            self.answers().insert(key, answer.clone());
        }
        Ok(answer)
    }
}
