//! ATIF with what is learnt.

use super::mask::is_learnt;
use super::{ExportError, ExportOptions, ExportedRow, TokenCounter};
use crate::{Content, Source, Step, Trajectory};
use serde_json::{Map, Value, json};

/// Rows as ATIF: each step of the agent has `extra.train`, and `extra.tokens` where they are counted.
pub(super) fn rows(
    trajectory: &Trajectory,
    options: &ExportOptions,
    counter: Option<&dyn TokenCounter>,
) -> Result<Vec<ExportedRow>, ExportError> {
    let mut whole = trajectory.clone();
    if let Some(system) = &options.system {
        match whole.steps.first_mut() {
            Some(first) if first.source == Source::System => {
                first.message = Content::Text(system.clone());
            }
            _ => {
                whole
                    .steps
                    .insert(0, Step::new(Source::System, system.clone()));
                let numbers = 1_u64..;
                for (step, number) in whole.steps.iter_mut().zip(numbers) {
                    step.step_id = number;
                }
            }
        }
    }
    let agents = |at: &usize| whole.steps[*at].source == Source::Agent;
    let all: Vec<usize> = (0..whole.steps.len()).filter(agents).collect();
    let before = |at: usize| (0..at).rev().find(agents).map(|at| &whole.steps[at]);
    let ends: Vec<usize> = all
        .iter()
        .copied()
        .filter(|at| is_learnt(&whole.steps[*at], before(*at), &options.no_loss))
        .collect();
    let Some(last) = ends.last() else {
        return Err(ExportError::NothingToLearn);
    };
    let mut tokens = Vec::new();
    for step in &whole.steps {
        let count = |text: &str| counter.map(|counter| counter.count(text)).transpose();
        let seen: Vec<String> = step.observed().collect();
        tokens.push((count(&said(step))?, count(&seen.join("\n"))?));
    }
    let row = |end: usize| {
        let learnt_here =
            |at: usize| at <= end && (!options.per_step || at == end) && ends.contains(&at);
        let mut own = whole.clone();
        own.steps.truncate(end + 1);
        // What the last message brought back is not told before it is said.
        own.steps[end].observation = None;
        own.final_metrics = None;
        for (at, step) in own.steps.iter_mut().enumerate() {
            if step.source == Source::Agent {
                step.extra
                    .insert("train".to_owned(), json!(learnt_here(at)));
            }
            if let Some(tokens) = tokens[at].0 {
                step.extra.insert("tokens".to_owned(), json!(tokens));
            }
        }
        let learnt = (0..=end).filter(|at| learnt_here(*at));
        let seen = (0..end).map(|at| tokens[at].1).sum::<Option<usize>>();
        let said = (0..=end).map(|at| tokens[at].0).sum::<Option<usize>>();
        let columns = match serde_json::to_value(&own) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        ExportedRow {
            step_id: options.per_step.then_some(own.steps[end].step_id),
            learnt: learnt.clone().count(),
            not_learnt: all
                .iter()
                .filter(|at| **at <= end && !ends.contains(at))
                .count(),
            tokens: said.zip(seen).map(|(said, seen)| said + seen),
            learnt_tokens: learnt.map(|at| tokens[at].0).sum(),
            columns,
        }
    };
    if options.per_step {
        Ok(ends.iter().map(|end| row(*end)).collect())
    } else {
        Ok(vec![row(*last)])
    }
}

/// What the agent wrote in a step, or was told.
fn said(step: &Step) -> String {
    let mut text = step.reasoning_content.clone().unwrap_or_default();
    text.push_str(&step.message.text());
    for call in step.calls() {
        text.push_str(&call.text());
    }
    text
}
