//! A model that is not asked the same twice.

use crate::request_key;
use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Asks another model and keeps its answers for as long as it lives: a greedy question (temperature 0)
/// that was answered already is answered from memory, and costs nothing. Questions at a temperature are
/// asked anew, for their answers are to differ; so are those that failed.
///
/// Stand it outside of a [`Budget`](crate::Budget), which then counts only what was asked.
#[derive(Debug)]
pub struct Remembered<M> {
    inner: M,
    answers: Mutex<HashMap<String, Completion>>,
}

impl<M: LanguageModel> Remembered<M> {
    /// A memory that holds nothing yet.
    pub fn new(inner: M) -> Self {
        Self {
            inner,
            answers: Mutex::default(),
        }
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, HashMap<String, Completion>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        if request.temperature > 0.0 {
            return self.inner.complete(cx, request).await;
        }
        let key = request_key(self.name(), request);
        let known = self.answers().get(&key).cloned();
        if let Some(answer) = known {
            cx.check("ask the model")?;
            return Ok(answer);
        }
        let answer = self.inner.complete(cx, request).await?;
        self.answers().insert(key, answer.clone());
        Ok(answer)
    }
}
