//! A trajectory as the turns of a conversation.

use super::ExportOptions;
use super::mask::is_learnt;
use crate::{Source, Step, ToolCall, Trajectory};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Agent,
    Tool,
}

/// One turn.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) speaker: Speaker,
    /// The step, or the last of those that became one turn.
    pub(super) step_id: u64,
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) calls: Vec<ToolCall>,
    /// The call that a tool's turn answers.
    pub(super) answers: Option<String>,
    pub(super) train: bool,
}

impl Turn {
    fn new(speaker: Speaker, step: &Step, text: String) -> Self {
        Self {
            speaker,
            step_id: step.step_id,
            text,
            reasoning: String::new(),
            calls: Vec::new(),
            answers: None,
            train: false,
        }
    }
}

/// The turns. Templates want user and agent to alternate, so what one says in two steps is one turn; what a scaffold
/// says later as the system is the user's. Every call has an answer, an empty one where none is recorded.
pub(super) fn turns(trajectory: &Trajectory, options: &ExportOptions) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    if let Some(system) = &options.system {
        turns.push(Turn::new(Speaker::System, &Step::default(), system.clone()));
    }
    let mut before: Option<&Step> = None;
    for step in &trajectory.steps {
        let text = step.message.text();
        match step.source {
            Source::System if options.system.is_some() && before.is_none() => {}
            Source::System if turns.is_empty() => {
                turns.push(Turn::new(Speaker::System, step, text));
            }
            Source::System | Source::User => push(&mut turns, Turn::new(Speaker::User, step, text)),
            Source::Agent => {
                let mut turn = Turn::new(Speaker::Agent, step, text);
                turn.reasoning = step.reasoning_content.clone().unwrap_or_default();
                turn.calls = step.calls().to_vec();
                turn.train = is_learnt(step, before, &options.no_loss);
                let is_empty = turn.text.trim().is_empty()
                    && turn.reasoning.trim().is_empty()
                    && turn.calls.is_empty();
                if !is_empty {
                    push(&mut turns, turn);
                }
                answers(&mut turns, step);
                before = Some(step);
            }
        }
    }
    let last = turns
        .iter()
        .rposition(|turn| turn.speaker == Speaker::Agent);
    turns.truncate(last.map_or(0, |last| last + 1));
    turns
}

/// What came back: by call, in the order of the calls, and then what answers none.
fn answers(turns: &mut Vec<Turn>, step: &Step) {
    let results = || step.observation.iter().flat_map(|seen| &seen.results);
    let text_of = |id: Option<&str>| {
        let own = results().filter(|result| result.source_call_id.as_deref() == id);
        let texts = own.filter_map(|result| Some(result.content.as_ref()?.text()));
        texts.collect::<Vec<_>>()
    };
    for call in step.calls() {
        let mut turn = Turn::new(
            Speaker::Tool,
            step,
            text_of(Some(&call.tool_call_id)).join("\n"),
        );
        turn.answers = Some(call.tool_call_id.clone());
        turns.push(turn);
    }
    let rest = text_of(None);
    if !rest.is_empty() {
        push(turns, Turn::new(Speaker::User, step, rest.join("\n")));
    }
}

/// Adds a turn, or joins it to one of the same speaker.
fn push(turns: &mut Vec<Turn>, turn: Turn) {
    match turns.last_mut() {
        Some(last) if last.speaker == turn.speaker => {
            join(&mut last.text, &turn.text);
            join(&mut last.reasoning, &turn.reasoning);
            last.calls.extend(turn.calls);
            last.step_id = turn.step_id;
            last.train &= turn.train;
        }
        _ => turns.push(turn),
    }
}

/// Joins texts with an empty line between, where both are there.
pub(super) fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}
