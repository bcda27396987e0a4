//! A model that does what a test wrote down.

use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, FinishReason, LanguageModel, RunContext, Usage,
};
use std::sync::Mutex;

/// Answers a question that holds a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What the last message must hold.
    pub holds: String,
    /// The answer.
    pub answer: Completion,
}

impl Rule {
    /// A rule whose answer is a plain text.
    pub fn text(holds: impl Into<String>, answer: impl Into<String>) -> Self {
        Self {
            holds: holds.into(),
            answer: Completion {
                text: answer.into(),
                logprobs: None,
                avg_logprob: None,
                finish: FinishReason::Stop,
                usage: Usage::default(),
                model: "scripted".to_owned(),
            },
        }
    }
}

/// A model whose answers are written down. Each rule answers once, in order; a question that the
/// next rule does not expect is an error, so a test sees every call that it did not foresee.
///
/// # Example
/// ```
/// # use atlas_core::{ChatMessage, CompletionRequest, LanguageModel, Role, RunContext};
/// # use atlas_llm::{Rule, Scripted};
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let model = Scripted::new([Rule::text("colour", "blue")]);
/// let request = CompletionRequest {
///     messages: vec![ChatMessage { role: Role::User, content: "Which colour?".into() }],
///     max_tokens: 8, temperature: 0.0, seed: None, top_logprobs: None, json_schema: None,
/// };
/// let cx = RunContext::new("example");
/// assert_eq!(model.complete(&cx, &request).await?.text, "blue");
/// assert!(model.unused().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Scripted {
    rules: Mutex<std::collections::VecDeque<Rule>>,
}

impl Scripted {
    /// A model with these rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self {
            rules: Mutex::new(rules.into_iter().collect()),
        }
    }

    /// The rules that were not asked for.
    pub fn unused(&self) -> Vec<Rule> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, std::collections::VecDeque<Rule>> {
        self.rules
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        cx.check("ask the model")?;
        let asked = request
            .messages
            .last()
            .map_or("", |message| message.content.as_str());
        let mut rules = self.lock();
        let wrong = |what: String| Error::new(ErrorKind::Model, "ask the scripted model:", what);
        match rules.front() {
            None => Err(wrong("a question after the last rule".to_owned())),
            Some(rule) if !asked.contains(&rule.holds) => Err(wrong(format!(
                "the next rule expects `{}` in the last message, which is: {asked}",
                rule.holds
            ))),
            Some(_) => rules
                .pop_front()
                .map(|rule| rule.answer)
                .ok_or_else(|| wrong("no rule".to_owned())),
        }
    }
}
