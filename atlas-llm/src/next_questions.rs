//! A run without its model: what it would ask next.

use crate::remembered::file_key;
use crate::{Exchanges, Noise, request_key};
use async_trait::async_trait;
use atlas_core::{
    ChatMessage, Completion, CompletionRequest, Error, ErrorKind, FinishReason, LanguageModel,
    Role, RunContext, Usage,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Stands where a model would be asked and collects the questions whose words are known by now: those that a file of
/// [`Exchanges`] does not answer and that hold nothing of an answer that is still to come. Such an answer is made up
/// by [`Noise`], in words that nobody else writes, so that a run comes to its other questions; what is asked with
/// it is an error of kind [`ErrorKind::Cancelled`] and belongs to a later round.
#[derive(Debug)]
pub(crate) struct NextQuestions {
    name: String,
    noise: Noise,
    exchanges: Arc<Exchanges>,
    settings: String,
    /// Keys of questions that are not to be collected.
    left_out: BTreeSet<String>,
    seen: Mutex<CollectedQuestions>,
}

#[derive(Debug, Default)]
struct CollectedQuestions {
    keys: BTreeSet<String>,
    questions: Vec<(String, CompletionRequest)>,
    /// Chats whose next message is made up.
    chats: BTreeSet<String>,
}

/// Every word of a text that is made up: a sign that Unicode leaves to private use.
const MADE_UP: char = '\u{E0A1}';

impl NextQuestions {
    pub(crate) fn new(
        name: String,
        exchanges: Arc<Exchanges>,
        settings: String,
        left_out: BTreeSet<String>,
    ) -> Self {
        Self {
            name,
            noise: Noise::saying(MADE_UP),
            exchanges,
            settings,
            left_out,
            seen: Mutex::default(),
        }
    }

    /// The questions, each with its key among the exchanges, in the order in which they came.
    pub(crate) fn take(&self) -> Vec<(String, CompletionRequest)> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut seen.questions)
    }
}

impl CollectedQuestions {
    /// Whether a question holds anything that is made up: words, or a label in the place of a reply.
    fn depends(&self, messages: &[ChatMessage]) -> bool {
        messages.iter().enumerate().any(|(at, message)| {
            let is_reply =
                message.role == Role::Assistant && self.chats.contains(&chat(&messages[..at]));
            is_reply || message.content.contains(MADE_UP)
        })
    }
}

/// Messages as one text.
fn chat(messages: &[ChatMessage]) -> String {
    serde_json::to_string(messages).unwrap_or_default()
}

#[async_trait]
impl LanguageModel for NextQuestions {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        cx.check("ask the model")?;
        let key = file_key(&request_key(&self.name, request), &self.settings);
        if let Some(answer) = self.exchanges.get(&key)? {
            return Ok(answer);
        }
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.depends(&request.messages) {
                let why = "what depends on an answer that is still to come";
                return Err(Error::new(ErrorKind::Cancelled, "ask the model", why));
            }
            if seen.keys.insert(key.clone()) && !self.left_out.contains(&key) {
                seen.questions.push((key.clone(), request.clone()));
            }
        }
        let answer = if request.json_schema.is_some() || request.top_logprobs.is_some() {
            self.noise.complete(cx, request).await?
        } else {
            Completion {
                text: MADE_UP.to_string(),
                logprobs: None,
                avg_logprob: None,
                finish: FinishReason::Stop,
                usage: Usage::default(),
                model: self.name.clone(),
            }
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.chats.insert(chat(&request.messages));
        drop(seen);
        Ok(answer)
    }
}
