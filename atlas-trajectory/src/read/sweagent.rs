//! SWE-agent's `.traj`: `trajectory` has what was thought, done and seen; `history` what was told before.

use super::value::{keep, list, object, some_text, text};
use super::{ReadError, content};
use crate::{Content, FinalMetrics, Source, Step, Trajectory};
use serde_json::{Value, json};

pub(super) fn read(value: &Value) -> Result<Trajectory, ReadError> {
    let mut found = Trajectory::new("swe-agent");
    let info = value.get("info").unwrap_or(&Value::Null);
    if let Some(version) = some_text(info, "swe_agent_version") {
        found.agent.version = version;
    }
    found.agent.model_name = model(value);
    keep(info, &["exit_status", "submission"], &mut found.extra);
    keep(value, &["environment", "instance_id"], &mut found.extra);
    let history = value.get("history").and_then(Value::as_array);
    for message in history.into_iter().flatten() {
        let source = match text(message, "role") {
            "system" => Source::System,
            "user" => Source::User,
            _ => break,
        };
        let mut step = Step::new(source, "");
        step.message = content(message.get("content").unwrap_or(&Value::Null));
        found.push(step);
    }
    for (at, entry) in list(value, "trajectory")?.iter().enumerate() {
        object(entry, &format!("trajectory[{at}]"))?;
        let thought = match text(entry, "thought") {
            "" => text(entry, "response"),
            thought => thought,
        };
        let mut step = Step::new(Source::Agent, thought.trim_end());
        let id = format!("call_{}", at + 1);
        let action = text(entry, "action").trim_end();
        if !action.is_empty() {
            step.call(&id, "bash", json!({ "command": action }));
        }
        let seen = text(entry, "observation");
        if !seen.is_empty() {
            step.observe(Some(&id), Content::Text(seen.to_owned()));
        }
        keep(entry, &["execution_time", "state"], &mut step.extra);
        found.push(step);
    }
    let stats = info.get("model_stats").unwrap_or(&Value::Null);
    if stats.is_object() {
        found.final_metrics = Some(FinalMetrics {
            total_prompt_tokens: stats.get("tokens_sent").and_then(Value::as_u64),
            total_completion_tokens: stats.get("tokens_received").and_then(Value::as_u64),
            total_cost_usd: stats.get("instance_cost").and_then(Value::as_f64),
            total_steps: Some(found.steps.len() as u64),
            ..FinalMetrics::default()
        });
    }
    Ok(found)
}

/// The model stands in the configuration of the run, which is JSON in a text.
fn model(value: &Value) -> Option<String> {
    let config = value.get("replay_config")?;
    let config = match config {
        Value::String(text) => serde_json::from_str(text).ok()?,
        other => other.clone(),
    };
    some_text(config.pointer("/agent/model")?, "name")
}
