//! A model that does what a test wrote down.

use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, FinishReason, LanguageModel, RunContext,
    TokenLogprob, Usage,
};
use serde::Deserialize;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answers a question that holds a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What the last message must hold.
    pub holds: String,
    /// The answer.
    pub answer: Completion,
    /// How many questions it answers; none for any number.
    pub times: Option<u32>,
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
            times: Some(1),
        }
    }
}

/// One line of a script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    holds: String,
    text: String,
    #[serde(default = "stop")]
    finish: FinishReason,
    #[serde(default)]
    logprobs: Option<Vec<TokenLogprob>>,
    #[serde(default)]
    avg_logprob: Option<f64>,
    #[serde(default)]
    usage: Usage,
    #[serde(default = "once")]
    times: u32,
}

fn stop() -> FinishReason {
    FinishReason::Stop
}

fn once() -> u32 {
    1
}

impl From<Line> for Rule {
    fn from(line: Line) -> Self {
        Self {
            holds: line.holds,
            answer: Completion {
                text: line.text,
                logprobs: line.logprobs,
                avg_logprob: line.avg_logprob,
                finish: line.finish,
                usage: line.usage,
                model: "scripted".to_owned(),
            },
            times: (line.times > 0).then_some(line.times),
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
    rules: Mutex<Vec<Rule>>,
    /// The file that they were read from; then they need not be asked for in order.
    script: Option<String>,
}

impl Scripted {
    /// A model with these rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self {
            rules: Mutex::new(rules.into_iter().collect()),
            script: None,
        }
    }

    /// A model with the rules of a file of JSON lines, each `{"holds": …, "text": …}`, and where
    /// wanted `finish`, `logprobs`, `avg_logprob`, `usage` as in a [`Completion`], and `times`:
    /// how many questions it answers, 0 for any number, default 1. The first rule that fits a
    /// question answers it, whatever the order of the questions: a program may ask side by side.
    /// What was left over at the end is logged as a warning.
    ///
    /// # Errors
    /// The file cannot be read, a line of it is no rule (the message names the line), or it holds
    /// none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|why| Error::io("read the script", path, why))?;
        let place = format!("`{}`", path.display());
        let wrong = |what: String| {
            Error::new(ErrorKind::InvalidInput, "read the script", place.clone()).with_source(what)
        };
        let mut rules = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let line: Line = serde_json::from_str(line)
                .map_err(|why| wrong(format!("line {}: {why}", at + 1)))?;
            rules.push(Rule::from(line));
        }
        if rules.is_empty() {
            return Err(wrong("it holds no rule".to_owned()));
        }
        Ok(Self {
            rules: Mutex::new(rules),
            script: Some(place),
        })
    }

    /// The rules that were not asked for.
    pub fn unused(&self) -> Vec<Rule> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        let Some(script) = &self.script else {
            return;
        };
        for rule in self.lock().iter().filter(|rule| rule.times.is_some()) {
            tracing::warn!(
                script,
                holds = rule.holds,
                "a rule of the script was not asked for"
            );
        }
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
        let Some(first) = rules.first() else {
            return Err(wrong("a question after the last rule".to_owned()));
        };
        let found = if self.script.is_some() {
            rules.iter().position(|rule| asked.contains(&rule.holds))
        } else {
            asked.contains(&first.holds).then_some(0)
        };
        let Some(at) = found else {
            return Err(wrong(match &self.script {
                Some(script) => format!(
                    "no rule of {script} that is left fits the last message, which is: {asked}"
                ),
                None => format!(
                    "the next rule expects `{}` in the last message, which is: {asked}",
                    first.holds
                ),
            }));
        };
        let answer = rules[at].answer.clone();
        match &mut rules[at].times {
            None => {}
            Some(times) if *times > 1 => *times -= 1,
            Some(_) => drop(rules.remove(at)),
        }
        Ok(answer)
    }
}
