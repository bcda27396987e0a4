//! What an agent did, read from the forms in which agents write it down.

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// One step of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// Its number in the recording, where what the agent was told counts, too; absent: counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<u64>,
    /// What it thought.
    pub thought: String,
    /// What it did: a shell command, or a tool with its arguments.
    pub action: String,
    /// What came back.
    pub observation: String,
    /// The command's exit code, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

impl Step {
    /// Its number, where it stands `at` this place of the list, from 0.
    pub fn number(&self, at: usize) -> u64 {
        self.step_id.unwrap_or(at as u64 + 1)
    }
}

/// An agent's attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trajectory {
    /// What it was told before its first step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// Its steps in order.
    pub steps: Vec<Step>,
}

/// A value is no trajectory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "trajectory: {0}; a list of steps (`thought`, `action`, `observation`) or of chat messages (`role`, `content`) is \
     read, also under `trajectory`, `steps`, `history` or `messages`"
)]
pub struct NotATrajectory(String);

static EXIT_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?im)<returncode>\s*(-?\d+)\s*</returncode>|^\W*(?:exit(?:ed)?(?: with)?(?: exit)?[ _]?(?:code|status)|return ?code)\s*[:=]?\s*(-?\d+)\b|(?:finished|failed|completed|exited) with exit (?:code|status)\s*:?\s*(-?\d+)\b",
    )
    .expect("the pattern is tested")
});

/// A command in a message of an agent that has no tools but writes code blocks.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)```(?:mswea_bash_command|bash|sh|shell|console)[ \t]*\n(.*?)\n?```")
        .expect("the pattern is tested")
});

impl Trajectory {
    /// Reads a trajectory: a list of steps, a list of chat messages, or an object that has one of
    /// them, such as SWE-agent's `.traj` files.
    ///
    /// ```
    /// use atlas_judge::validation::Trajectory;
    /// let found = Trajectory::read(&serde_json::json!({"history": [
    ///     {"role": "system", "content": "You repair bugs."},
    ///     {"role": "assistant", "content": "Run them.\n```bash\npytest -q\n```"},
    ///     {"role": "user", "content": "1 failed\n(exit code: 1)"},
    /// ]}))?;
    /// assert_eq!(found.steps[0].action, "pytest -q");
    /// assert_eq!(found.steps[0].exit_code, Some(1));
    /// # Ok::<(), atlas_judge::validation::NotATrajectory>(())
    /// ```
    ///
    /// # Errors
    /// [`NotATrajectory`] with what was found.
    pub fn read(value: &Value) -> Result<Self, NotATrajectory> {
        match value {
            Value::Array(items) => Self::of_list(items),
            Value::Object(map) => {
                let lists = ["trajectory", "steps", "history", "messages"];
                let list = lists
                    .iter()
                    .filter_map(|name| map.get(*name)?.as_array())
                    .find(|list| !list.is_empty())
                    .or_else(|| lists.iter().find_map(|name| map.get(*name)?.as_array()));
                let Some(list) = list else {
                    let names: Vec<&str> = map.keys().map(String::as_str).take(8).collect();
                    let names = names.join(", ");
                    return Err(NotATrajectory(format!("an object with {names} only")));
                };
                let mut found = Self::of_list(list)?;
                // Our own form has them beside the steps.
                if let Some(Value::Array(prompts)) = map.get("prompts") {
                    found
                        .prompts
                        .extend(prompts.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                Ok(found)
            }
            other => Err(NotATrajectory(format!("found {}", short(other)))),
        }
    }

    fn of_list(items: &[Value]) -> Result<Self, NotATrajectory> {
        let mut found = Self::default();
        for (at, item) in items.iter().enumerate() {
            let Value::Object(map) = item else {
                let what = format!("entry {} is no object: {}", at + 1, short(item));
                return Err(NotATrajectory(what));
            };
            if let Some(role) = map.get("role").and_then(Value::as_str) {
                found.message(role, map);
            } else if ["action", "observation", "thought", "response"]
                .iter()
                .any(|name| map.contains_key(*name))
            {
                found.steps.push(step(map));
            } else {
                let names: Vec<&str> = map.keys().map(String::as_str).take(8).collect();
                return Err(NotATrajectory(format!(
                    "entry {} has neither `role` nor `action`, only {}",
                    at + 1,
                    names.join(", ")
                )));
            }
        }
        for step in &mut found.steps {
            step.exit_code = step.exit_code.or_else(|| exit_code(&step.observation));
        }
        Ok(found)
    }

    fn message(&mut self, role: &str, map: &Map<String, Value>) {
        let content = text_of(map.get("content").unwrap_or(&Value::Null));
        if role == "assistant" || role == "ai" {
            let calls = map.get("tool_calls").and_then(Value::as_array);
            let calls = calls.into_iter().flatten().map(tool_call);
            let mut action = calls.collect::<Vec<_>>().join("\n");
            if action.is_empty() {
                // SWE-agent's history has the parsed action beside the text.
                action = text_of(map.get("action").unwrap_or(&Value::Null));
            }
            if action.is_empty()
                && let Some(block) = BLOCK.captures_iter(&content).last()
            {
                block[1].clone_into(&mut action);
            }
            self.steps.push(Step {
                thought: content,
                action,
                ..Step::default()
            });
        } else if let Some(last) = self.steps.last_mut() {
            if !last.observation.is_empty() {
                last.observation.push('\n');
            }
            last.observation.push_str(&content);
        } else {
            self.prompts.push(content);
        }
    }

    /// The attempt as one text: what the agent was told, then each step with its number.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for prompt in &self.prompts {
            text.push_str("## Told\n");
            text.push_str(prompt.trim());
            text.push_str("\n\n");
        }
        for (at, step) in self.steps.iter().enumerate() {
            let _ = writeln!(text, "## Step {}", step.number(at));
            let parts = [
                ("Thought", &step.thought),
                ("Action", &step.action),
                ("Observation", &step.observation),
            ];
            for (name, part) in parts {
                // A message that is thought and action in one is not said twice.
                let is_told = name == "Action" && step.thought.contains(part.as_str());
                if !part.trim().is_empty() && !is_told {
                    let _ = writeln!(text, "### {name}\n{}", part.trim());
                }
            }
            text.push('\n');
        }
        text
    }
}

fn step(map: &Map<String, Value>) -> Step {
    let text = |name: &str| map.get(name).map(text_of).unwrap_or_default();
    let thought = match text("thought") {
        empty if empty.trim().is_empty() => text("response"),
        thought => thought,
    };
    let code = ["exit_code", "returncode", "exitCode"]
        .iter()
        .find_map(|name| map.get(*name)?.as_i64());
    Step {
        step_id: map.get("step_id").and_then(Value::as_u64),
        thought,
        action: match map.get("action") {
            Some(Value::Object(call)) => call_text(call),
            other => other.map(text_of).unwrap_or_default(),
        },
        observation: text("observation"),
        exit_code: code,
    }
}

/// A tool call as the shell command in it, else as the tool's name with its arguments.
fn tool_call(call: &Value) -> String {
    let inner = call.get("function").unwrap_or(call);
    inner.as_object().map(call_text).unwrap_or_default()
}

fn call_text(call: &Map<String, Value>) -> String {
    let name = call.get("name").and_then(Value::as_str);
    let name = name.or_else(|| call.get("tool").and_then(Value::as_str));
    let arguments = ["arguments", "args", "input", "parameters"]
        .iter()
        .find_map(|name| call.get(*name));
    let arguments = match arguments {
        // OpenAI's form: JSON in a text.
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()))
        }
        Some(value) => value.clone(),
        None if name.is_none() => Value::Object(call.clone()),
        None => Value::Null,
    };
    let command = ["command", "cmd", "script"]
        .iter()
        .find_map(|name| arguments.get(*name)?.as_str());
    match (command, name) {
        // An editing tool has a `command` too: `view`, `create`.
        (Some(command), name) if arguments.get("path").is_none() || name.is_none() => {
            command.to_owned()
        }
        (_, name) => {
            let arguments = match &arguments {
                Value::Null => String::new(),
                other => format!(" {other}"),
            };
            format!("{}{arguments}", name.unwrap_or("call"))
        }
    }
}

/// A text, or the texts of a list of parts.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(parts) => parts
            .iter()
            .map(|part| match part {
                Value::Object(map) => text_of(
                    map.get("text")
                        .or_else(|| map.get("content"))
                        .unwrap_or(&Value::Null),
                ),
                other => text_of(other),
            })
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    }
}

/// The last exit code that an observation tells of.
fn exit_code(observation: &str) -> Option<i64> {
    let found = EXIT_CODE.captures_iter(observation).last()?;
    let code = found
        .get(1)
        .or_else(|| found.get(2))
        .or_else(|| found.get(3))?;
    code.as_str().parse().ok()
}

fn short(value: &Value) -> String {
    let text: String = value.to_string().chars().take(60).collect();
    format!("`{text}`")
}
