//! mini-swe-agent: chat messages. Version 1 writes commands in code blocks, version 2 as tool calls.

use super::value::{arguments, keep, list, object, some_text, text};
use super::{ReadError, content};
use crate::{Content, FinalMetrics, Source, Step, Trajectory};
use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?```")
        .expect("the pattern is tested")
});

pub(super) fn read(value: &Value) -> Result<Trajectory, ReadError> {
    let mut found = Trajectory::new("mini-swe-agent");
    let info = value.get("info").unwrap_or(&Value::Null);
    if let Some(version) = some_text(info, "mini_version") {
        found.agent.version = version;
    }
    found.agent.model_name = info
        .pointer("/config/model")
        .and_then(|model| some_text(model, "model_name"));
    keep(info, &["exit_status", "submission"], &mut found.extra);
    keep(
        value,
        &["instance_id", "trajectory_format"],
        &mut found.extra,
    );
    for (at, message) in messages(value)?.iter().enumerate() {
        object(message, &format!("messages[{at}]"))?;
        let said = content(message.get("content").unwrap_or(&Value::Null));
        match text(message, "role") {
            "system" => found.push(told(Source::System, said)),
            "assistant" => found.push(turn(message, said)),
            // What the scaffold says at the end: the submission, which stands in `info`.
            "exit" => {}
            "user" | "tool" => match found.steps.last_mut() {
                Some(step) if step.source == Source::Agent => {
                    let call = some_text(message, "tool_call_id")
                        .or_else(|| Some(step.calls().first()?.tool_call_id.clone()));
                    step.observe(call.as_deref(), said);
                }
                _ => found.push(told(Source::User, said)),
            },
            other => {
                let why = format!("`{other}` is none of system, user, assistant, tool, exit");
                return Err(ReadError::new(format!("messages[{at}].role"), why));
            }
        }
    }
    if let Some(stats) = info.get("model_stats") {
        found.final_metrics = Some(FinalMetrics {
            total_cost_usd: stats.get("instance_cost").and_then(Value::as_f64),
            total_steps: Some(found.steps.len() as u64),
            ..FinalMetrics::default()
        });
    }
    Ok(found)
}

/// Under their name, or the whole.
fn messages(value: &Value) -> Result<&[Value], ReadError> {
    value
        .as_array()
        .map_or_else(|| list(value, "messages"), |all| Ok(all))
}

fn told(source: Source, message: Content) -> Step {
    Step {
        message,
        ..Step::new(source, "")
    }
}

fn turn(message: &Value, said: Content) -> Step {
    let mut step = told(Source::Agent, said);
    step.reasoning_content = some_text(message, "reasoning_content");
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (at, call) in calls.into_iter().flatten().enumerate() {
        let function = call.get("function").unwrap_or(call);
        let id = some_text(call, "id").unwrap_or_else(|| format!("call_{}", at + 1));
        let given = function.get("arguments").unwrap_or(&Value::Null);
        step.call(id, text(function, "name"), arguments(given));
    }
    if step.calls().is_empty() {
        let said = step.message.text();
        // The agent takes a message with one block only.
        if let Some(block) = BLOCK.captures(&said) {
            step.call("call_1", "bash", json!({ "command": &block[1] }));
            step.message = Content::Text(BLOCK.replace(&said, "").trim_end().to_owned());
        }
    }
    step
}
