//! A run without its model: what would be asked, and what that may cost.

use crate::remembered::file_key;
use crate::{Exchanges, ModelConfig, Noise, Price, request_key};
use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, LanguageModel, Role, RunContext, Usage,
};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a token where nothing was measured: English text and code in the tokenisers of today.
const BYTES_PER_TOKEN: f64 = 4.0;

/// Stands where a model would be asked, asks nothing and counts: a run goes its whole way, with answers that
/// [`Noise`] makes up in the form that is asked for. Questions that a file of [`Exchanges`] answers are answered by
/// it. A question that comes twice counts once, as [`Remembered`](crate::Remembered) asks it.
///
/// A correction (a chat that holds an answer already) is an error of kind [`ErrorKind::Model`]: what it corrects was
/// made up.
#[derive(Debug)]
pub struct Rehearsal {
    name: String,
    noise: Noise,
    price: Option<Price>,
    context_window: Option<u64>,
    kept: Option<(Arc<Exchanges>, String)>,
    seen: Mutex<RehearsedQuestions>,
}

#[derive(Debug, Default)]
struct RehearsedQuestions {
    keys: BTreeSet<String>,
    /// Bytes of each question, and the most tokens of its answer.
    questions: Vec<(u64, u64)>,
    kept: u64,
    kept_bytes: u64,
    kept_tokens: u64,
}

/// What a run would ask, and what that may cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The model's name.
    pub model: String,
    /// Questions that would be asked.
    pub questions: u64,
    /// Questions that kept exchanges answer.
    pub kept: u64,
    /// Tokens that would be read: bytes by `bytes_per_token`.
    pub prompt_tokens: u64,
    /// Tokens that the answers may have at most.
    pub completion_tokens_at_most: u64,
    /// Bytes of messages and schema for a token: as in the kept exchanges that were met, else 4.
    pub bytes_per_token: f64,
    /// On how many kept exchanges that was measured; 0: it is a rule.
    pub measured_on: u64,
    /// Questions that, with the longest answer, are longer than the model's context; none where that is unknown.
    pub too_long: Option<u64>,
    /// The model's context in tokens, where it is known.
    pub context_window: Option<u64>,
    /// What all of that costs at most, in the currency of the price; none where no price is known.
    pub money_at_most: Option<f64>,
}

impl Rehearsal {
    /// In the place of this model, of which name, price and context window count. Nothing is opened.
    pub fn new(config: &ModelConfig) -> Self {
        use crate::Provider::{Noise as ByChance, Replay, Scripted};
        let is_free = matches!(config.provider, Replay | Scripted | ByChance);
        Self {
            name: config.name(),
            noise: Noise::new(0),
            price: config.price.or(is_free.then(Price::default)),
            context_window: config.context_window,
            kept: None,
            seen: Mutex::default(),
        }
    }

    /// With a file that [`Remembered::kept_in`](crate::Remembered::kept_in) has filled under these settings.
    #[must_use]
    pub fn knowing(mut self, exchanges: Arc<Exchanges>, settings: &serde_json::Value) -> Self {
        self.kept = Some((exchanges, settings.to_string()));
        self
    }

    /// What was counted up to now.
    pub fn estimate(&self) -> Estimate {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_measured = seen.kept_tokens > 0 && seen.kept_bytes > 0;
        let bytes_per_token = if is_measured {
            float(seen.kept_bytes) / float(seen.kept_tokens)
        } else {
            BYTES_PER_TOKEN
        };
        let tokens = |bytes: u64| whole((float(bytes) / bytes_per_token).ceil());
        let usage = Usage {
            prompt_tokens: seen.questions.iter().map(|(bytes, _)| tokens(*bytes)).sum(),
            completion_tokens: seen.questions.iter().map(|(_, most)| most).sum(),
            ..Usage::default()
        };
        let too_long = self.context_window.map(|window| {
            let long = |(bytes, most): &&(u64, u64)| tokens(*bytes).saturating_add(*most) > window;
            count(seen.questions.iter().filter(long).count())
        });
        Estimate {
            model: self.name.clone(),
            questions: count(seen.questions.len()),
            kept: seen.kept,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens_at_most: usage.completion_tokens,
            bytes_per_token,
            measured_on: if is_measured { seen.kept } else { 0 },
            too_long,
            context_window: self.context_window,
            money_at_most: self.price.map(|price| price.of(usage)),
        }
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; a cast of what is too large saturates"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Bytes of messages and schema.
fn bytes(request: &CompletionRequest) -> u64 {
    let messages = request.messages.iter().map(|message| message.content.len());
    let schema = request.json_schema.as_ref().map(ToString::to_string);
    count(messages.sum::<usize>() + schema.map_or(0, |schema| schema.len()))
}

#[async_trait]
impl LanguageModel for Rehearsal {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        cx.check("ask the model")?;
        let key = request_key(&self.name, request);
        let bytes = bytes(request);
        if let Some((exchanges, settings)) = &self.kept
            && let Some(answer) = exchanges.get(&file_key(&key, settings))?
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.keys.insert(key) {
                seen.kept += 1;
                if answer.usage.prompt_tokens > 0 {
                    seen.kept_bytes += bytes;
                    seen.kept_tokens += answer.usage.prompt_tokens;
                }
            }
            return Ok(answer);
        }
        if request
            .messages
            .iter()
            .any(|message| message.role == Role::Assistant)
        {
            return Err(Error::new(
                ErrorKind::Model,
                "rehearse the model:",
                "a correction of what it did not say",
            ));
        }
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let is_remembered = request.temperature <= 0.0 || self.kept.is_some();
            if seen.keys.insert(key) || !is_remembered {
                seen.questions.push((bytes, u64::from(request.max_tokens)));
            }
        }
        self.noise.complete(cx, request).await
    }
}
