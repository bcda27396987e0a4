//! The tools of a trajectory as JSON Schema.

use crate::{Step, Trajectory};
use serde_json::{Map, Value, json};

/// The recording's own definitions (ATIF's `tool_definitions`), else what its calls show: names, parameters and their
/// kinds.
pub(super) fn tools(trajectory: &Trajectory) -> Vec<Value> {
    if let Some(Value::Array(own)) = trajectory.agent.other.get("tool_definitions") {
        return own.clone();
    }
    let mut seen: Vec<ToolUse> = Vec::new();
    for call in trajectory.agent_steps().flat_map(Step::calls) {
        let known = seen.iter().position(|one| one.name == call.function_name);
        let at = known.unwrap_or_else(|| {
            seen.push(ToolUse {
                name: call.function_name.clone(),
                ..ToolUse::default()
            });
            seen.len() - 1
        });
        let tool = &mut seen[at];
        tool.calls += 1;
        for (name, value) in call.arguments.as_object().into_iter().flatten() {
            let kind = kind(value);
            match tool.parameters.iter_mut().find(|(known, ..)| known == name) {
                Some((_, known, calls)) => {
                    *calls += 1;
                    // Of two kinds the schema says neither.
                    if *known != Some(kind) {
                        *known = None;
                    }
                }
                None => tool.parameters.push((name.clone(), Some(kind), 1)),
            }
        }
    }
    seen.iter().map(ToolUse::schema).collect()
}

#[derive(Default)]
struct ToolUse {
    name: String,
    calls: usize,
    /// Name, kind, and in how many calls.
    parameters: Vec<(String, Option<&'static str>, usize)>,
}

impl ToolUse {
    fn schema(&self) -> Value {
        let properties = self.parameters.iter().map(|(name, kind, _)| {
            let schema = kind.map_or_else(|| json!({}), |kind| json!({ "type": kind }));
            (name.clone(), schema)
        });
        let properties: Map<String, Value> = properties.collect();
        let always = self.parameters.iter().filter(|one| one.2 == self.calls);
        let required: Vec<&str> = always.map(|(name, ..)| name.as_str()).collect();
        json!({"type": "function", "function": {
            "name": self.name,
            "description": "",
            "parameters": {"type": "object", "properties": properties, "required": required},
        }})
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
