//! `OpenHands`: events, of which an action is answered by the observation that names it as its cause.

use super::value::{keep, list, number, object, some_text, text};
use super::{ReadError, content};
use crate::{Content, Source, Step, Trajectory};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A row of `output.jsonl`, or an object with a `history`.
pub(super) fn read(value: &Value) -> Result<Trajectory, ReadError> {
    if value.is_array() {
        return events(value.as_array().map(Vec::as_slice).unwrap_or_default());
    }
    let history = list(value, "history")?;
    // Older versions pair them: [action, observation].
    let paired: Vec<Value> = history
        .iter()
        .flat_map(|entry| {
            entry
                .as_array()
                .cloned()
                .unwrap_or_else(|| vec![entry.clone()])
        })
        .collect();
    let mut found = events(&paired)?;
    if let Some(meta) = value.get("metadata") {
        found.agent.model_name = meta
            .pointer("/llm_config/model")
            .and_then(Value::as_str)
            .map(str::to_owned);
    }
    keep(value, &["instance_id", "error"], &mut found.extra);
    if let Some(patch) = value.pointer("/test_result/git_patch") {
        found.extra.insert("submission".to_owned(), patch.clone());
    }
    Ok(found)
}

pub(super) fn events(events: &[Value]) -> Result<Trajectory, ReadError> {
    let mut found = Trajectory::new("openhands");
    // Where the step of an event is.
    let mut steps: BTreeMap<u64, usize> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        object(event, &format!("history[{at}]"))?;
        let id = number(event, "id").unwrap_or(at as u64);
        if event.get("action").is_some() {
            if let Some(step) = action(event, id) {
                steps.insert(id, found.steps.len());
                found.push(step);
            }
        } else if event.get("observation").is_some() {
            let place = number(event, "cause")
                .and_then(|cause| steps.get(&cause).copied())
                .or_else(|| found.steps.len().checked_sub(1));
            let seen = content(event.get("content").unwrap_or(&Value::Null));
            let Some(step) = place.map(|place| &mut found.steps[place]) else {
                continue;
            };
            if step.source == Source::Agent {
                let call = step.calls().first().map(|call| call.tool_call_id.clone());
                step.observe(call.as_deref(), seen);
                if let Some(extras) = event.get("extras") {
                    keep(extras, &["exit_code"], &mut step.extra);
                    if let Some(meta) = extras.get("metadata") {
                        keep(meta, &["exit_code"], &mut step.extra);
                    }
                }
            }
        } else {
            let why = "an event has `action` or `observation`";
            return Err(ReadError::new(format!("history[{at}]"), why));
        }
    }
    Ok(found)
}

/// The step of an action; `None` for those of the scaffold itself.
fn action(event: &Value, id: u64) -> Option<Step> {
    let name = text(event, "action");
    let empty = Value::Object(Map::new());
    let args = event.get("args").unwrap_or(&empty);
    let source = match (name, text(event, "source")) {
        ("system", _) => Source::System,
        ("message", "user") => Source::User,
        ("recall" | "change_agent_state" | "null", _) => return None,
        _ => Source::Agent,
    };
    let mut step = Step::new(source, "");
    step.timestamp = some_text(event, "timestamp");
    if matches!(name, "system" | "message" | "think") {
        let said = match text(args, "content") {
            "" => text(args, "thought"),
            said => said,
        };
        step.message = Content::Text(said.to_owned());
        return Some(step);
    }
    step.message = Content::Text(text(args, "thought").to_owned());
    let mut given = args.clone();
    if let Some(map) = given.as_object_mut() {
        for scaffold in [
            "thought",
            "is_confirmed",
            "confirmation_state",
            "blocking",
            "hidden",
            "security_risk",
        ] {
            map.shift_remove(scaffold);
        }
    }
    let meta = event.get("tool_call_metadata").unwrap_or(&Value::Null);
    let call = some_text(meta, "tool_call_id").unwrap_or_else(|| format!("call_{id}"));
    let tool = if name == "run" { "bash" } else { name };
    step.call(call, tool, given);
    Some(step)
}
