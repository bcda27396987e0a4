//! A model that is not asked the same twice.

use crate::answers::Answers;
use crate::{Exchange, Exchanges, request_key};
use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Asks another model and keeps its answers for as long as it lives: a greedy question (temperature 0)
/// that was answered already is answered from what was kept, and costs nothing; one that is being asked is waited for.
/// Questions at a temperature are asked anew, for their answers are to differ; so are those that failed.
///
/// With a file of [`Exchanges`] what was paid outlives the run, questions at a temperature too: their seeds tell
/// them apart. Without one, answers lie in a file in the folder for temporary files that has no name and ends with this.
///
/// Stand it outside of a [`Budget`](crate::Budget), which then counts only what was asked.
#[derive(Debug)]
pub struct Remembered<M> {
    inner: M,
    answers: Mutex<Answers>,
    asked: UnderWay,
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

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, key: &str) -> Result<Option<Completion>, Error> {
        match &self.kept {
            Some((exchanges, settings)) => exchanges.get(&file_key(key, settings)),
            None => self.answers().get(key),
        }
    }
}

/// Questions that are under way, each with whose turn it is.
type UnderWay = Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>;

/// A question of one who asks. With the last of them it is under way no more.
struct Question<'a> {
    all: &'a UnderWay,
    key: &'a str,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl<'a> Question<'a> {
    fn asked(all: &'a UnderWay, key: &'a str) -> Self {
        let mut asked = all.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = Arc::clone(asked.entry(key.to_owned()).or_default());
        drop(asked);
        Self { all, key, turn }
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut asked = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        // Given back before they are counted, so that of two who end at once the second one sees that it is the last.
        self.turn = Arc::default();
        if asked
            .get(self.key)
            .is_some_and(|turn| Arc::strong_count(turn) == 1)
        {
            asked.remove(self.key);
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
        let question = Question::asked(&self.asked, &key);
        // Who comes second waits, and finds the answer.
        let _alone = question.turn.lock().await;
        if let Some(answer) = self.known(&key)? {
            cx.check("ask the model")?;
            return Ok(answer);
        }
        let answer = self.inner.complete(cx, request).await?;
        if let Some((exchanges, settings)) = &self.kept {
            let exchange = Exchange {
                key: key.clone(),
                model: self.name().to_owned(),
                request: request.clone(),
                completion: answer.clone(),
            };
            exchanges.put(&file_key(&key, settings), &exchange)?;
        } else {
            self.answers().put(&key, &answer)?;
        }
        Ok(answer)
    }
}
