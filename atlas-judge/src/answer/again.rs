//! Asking once more where an answer cannot be used.

use super::{AskOptions, Schema, StructuredAnswer, Unreadable, ask_structured};
use crate::Prompt;
use atlas_core::{ChatMessage, Error, ErrorKind, LanguageModel, Role, RunContext};
use serde_json::{Map, Value, json};
use std::error::Error as _;

/// What came of asking.
#[derive(Debug)]
pub(crate) struct Agreed<T> {
    /// What the check made of the answer.
    pub(crate) value: T,
    /// The answer.
    pub(crate) answer: StructuredAnswer,
    /// What was wrong with the answers before it.
    pub(crate) faults: Vec<String>,
}

impl<T> Agreed<T> {
    /// What a judgement's details tell of how it came about: `prompt_version`, `model`; where there are any, `faults`,
    /// `passed_over` and `samples`.
    pub(crate) fn tell(&self, prompt: Prompt, details: &mut Map<String, Value>) {
        let mut set = |name: &str, value: Value| details.insert(name.to_owned(), value);
        set("prompt_version", json!(prompt.version()));
        set("model", json!(self.answer.model));
        if !self.faults.is_empty() {
            set("faults", json!(self.faults));
        }
        if !self.answer.passed_over.is_empty() {
            set("passed_over", json!(self.answer.passed_over));
        }
        if let Some(samples) = self.answer.samples {
            set("samples", json!(samples));
        }
    }
}

/// Asks for an answer of a set form that also passes `check`; tells the model what was wrong and asks
/// again, at most `again` times. A model that fails is not asked again: that is what retries are for.
///
/// # Errors
/// The model's; [`ErrorKind::Model`] with the fault of every answer where none can be used.
#[expect(
    clippy::too_many_arguments,
    reason = "one more than `ask_structured` has, which it wraps"
)]
pub(crate) async fn ask_again<T>(
    cx: &RunContext,
    model: &dyn LanguageModel,
    question: &[ChatMessage],
    schema: &Schema,
    verdict: &str,
    options: &AskOptions,
    again: u32,
    mut check: impl FnMut(&StructuredAnswer) -> Result<T, String>,
) -> Result<Agreed<T>, Error> {
    let mut faults: Vec<String> = Vec::new();
    loop {
        let mut messages = question.to_vec();
        if let (Some(fault), Some(last)) = (faults.last(), messages.last_mut()) {
            // Joined to the question: some servers refuse two messages of one role in a row.
            debug_assert_eq!(last.role, Role::User);
            last.content = format!(
                "{}\n\n# Note\nAn earlier answer could not be used: {fault}. Answer again, in full.",
                last.content
            );
        }
        match ask_structured(cx, model, &messages, schema, verdict, options).await {
            Ok(answer) => match check(&answer) {
                Ok(value) => {
                    return Ok(Agreed {
                        value,
                        answer,
                        faults,
                    });
                }
                Err(fault) => faults.push(fault),
            },
            Err(why) => {
                let unreadable = why
                    .source()
                    .and_then(|why| why.downcast_ref::<Unreadable>());
                match unreadable {
                    Some(fault) => faults.push(fault.to_string()),
                    None => return Err(why),
                }
            }
        }
        if faults.len() > again as usize {
            return Err(Error::new(
                ErrorKind::Model,
                "use the answers of model",
                format!("`{}`", model.name()),
            )
            .with_source(faults.join("; then ")));
        }
    }
}
