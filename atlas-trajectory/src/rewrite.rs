//! Thought regeneration (paper 001, section 3.5, step 4, and appendix F.3, step 3).

use crate::{Content, HintTerms, Source, Step, Trajectory};
use atlas_core::{
    ChatMessage, CompletionRequest, Error, FinishReason, LanguageModel, Role, RunContext,
};
use serde::Serialize;

const PROMPT: &str = include_str!("rewrite-thought.v1.md");

/// The version of the words in which it is asked.
pub const REWRITE_PROMPT_VERSION: &str = "rewrite-thought.v1";

/// How [`rewrite_thoughts`] asks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RewriteOptions {
    /// Most questions for one thought. Default: 3.
    pub questions: u32,
    /// Most tokens of an answer. Default: 2000.
    pub max_tokens: u32,
    /// Sampling temperature. Default: 0.7, so that another question may get another answer.
    pub temperature: f64,
    /// The seed of the first question; each further one takes the next. Default: 0.
    pub seed: u64,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self {
            questions: 3,
            max_tokens: 2000,
            temperature: 0.7,
            seed: 0,
        }
    }
}

/// The trajectory with the thoughts that speak of the hint written anew by a model.
///
/// The model is shown the thought and the actions of its step: neither the hint, nor what the agent was
/// told, nor other steps. Lines of the hint that the thought repeats are cut out first. An answer that is empty,
/// cut off or still speaks of the hint is asked for again; if none is better the thought stays, and
/// [`RewrittenThoughts`](crate::RewrittenThoughts) refuses the attempt. Thoughts with images are not rewritten.
/// Nothing but thoughts can change here; the gate looks all the same.
///
/// # Errors
/// Those of the model.
///
/// # Cancellation
/// As the model's; what was rewritten until then is lost. A model that remembers answers gives them again.
pub async fn rewrite_thoughts(
    cx: &RunContext,
    model: &dyn LanguageModel,
    trajectory: &Trajectory,
    terms: &HintTerms,
    options: &RewriteOptions,
) -> Result<Trajectory, Error> {
    let mut rewritten = trajectory.clone();
    for step in &mut rewritten.steps {
        if step.source != Source::Agent {
            continue;
        }
        let actions = actions(step);
        let message = match &mut step.message {
            Content::Text(text) => Some(text),
            Content::Parts(_) => None,
        };
        for thought in message.into_iter().chain(step.reasoning_content.as_mut()) {
            if terms.find(thought).is_some()
                && let Some(better) = ask(cx, model, thought, &actions, terms, options).await?
            {
                *thought = better;
            }
        }
    }
    Ok(rewritten)
}

/// What a model would be asked about a trajectory, a question for each thought that speaks of the hint.
pub fn rewrite_questions(trajectory: &Trajectory, terms: &HintTerms) -> Vec<Vec<ChatMessage>> {
    let mut questions = Vec::new();
    for step in trajectory.agent_steps() {
        let actions = actions(step);
        let message = match &step.message {
            Content::Text(text) => Some(text),
            Content::Parts(_) => None,
        };
        for thought in message.into_iter().chain(&step.reasoning_content) {
            if terms.find(thought).is_some() {
                questions.push(question(thought, &actions, terms));
            }
        }
    }
    questions
}

fn actions(step: &Step) -> String {
    let calls: Vec<String> = step.calls().iter().map(crate::ToolCall::text).collect();
    calls.join("\n")
}

fn question(thought: &str, actions: &str, terms: &HintTerms) -> Vec<ChatMessage> {
    let shown = terms.without_lines(thought);
    let message = |role, content: String| ChatMessage { role, content };
    vec![
        message(Role::System, PROMPT.trim().to_owned()),
        message(
            Role::User,
            format!("Note:\n{shown}\n\nWhat was done right after it:\n{actions}"),
        ),
    ]
}

async fn ask(
    cx: &RunContext,
    model: &dyn LanguageModel,
    thought: &str,
    actions: &str,
    terms: &HintTerms,
    options: &RewriteOptions,
) -> Result<Option<String>, Error> {
    let mut request = CompletionRequest {
        messages: question(thought, actions, terms),
        max_tokens: options.max_tokens,
        temperature: options.temperature,
        seed: Some(options.seed),
        top_logprobs: None,
        json_schema: None,
    };
    for question in 0..u64::from(options.questions) {
        request.seed = Some(options.seed.wrapping_add(question));
        let answer = model.complete(cx, &request).await?;
        let text = answer.text.trim();
        let is_whole = answer.finish != FinishReason::Length;
        if is_whole && !text.is_empty() && terms.find(text).is_none() {
            return Ok(Some(text.to_owned()));
        }
    }
    Ok(None)
}
