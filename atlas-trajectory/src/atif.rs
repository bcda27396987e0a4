//! The data model: Harbor's Agent Trajectory Interchange Format (ATIF).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of ATIF that readers of other forms give their trajectories. A trajectory that was ATIF
/// keeps its own.
pub const SCHEMA_VERSION: &str = "ATIF-v1.7";

/// An agent's recorded run. Fields that this version does not know are kept in `other`, at every level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// `ATIF-v` and a version.
    pub schema_version: String,
    /// The run's identifier; absent where the agent wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Who acted.
    pub agent: AgentInfo,
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// Remarks of whoever wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Sums over the run, as the agent tells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_metrics: Option<FinalMetrics>,
    /// What has no field of its own: `instance_id`, `exit_status`, `submission`, and the recorder's.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The agent of a trajectory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its name, such as `swe-agent`.
    pub name: String,
    /// Its version; `unknown` where the recording does not say.
    pub version: String,
    /// The model behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    /// What has no field of its own.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Whose step it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The system prompt, or something that the scaffold says.
    System,
    /// The task, or a person.
    User,
    /// The agent.
    #[default]
    Agent,
}

/// A text, or the parts of a message with images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Parts as they were written: objects with `type` and `text`, or an image.
    Parts(Vec<Value>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Content {
    /// The text, of parts those that have one, a line each.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => parts
                .iter()
                .filter_map(|part| part.get("text").unwrap_or(part).as_str())
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

/// One step: what was thought and said, done and seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number, from 1, without gaps.
    pub step_id: u64,
    /// When, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Whose it is.
    pub source: Source,
    /// The model of this turn, where it is not the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    /// What was said. Of an agent it is the thought, unless it reasons apart.
    pub message: Content,
    /// What the agent reasoned apart from what it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// What the agent did: ATIF's actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// What came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// Tokens and cost of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// What has no field of its own.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Names the call within its step.
    pub tool_call_id: String,
    /// The tool. A shell is `bash`.
    pub function_name: String,
    /// Its arguments. A shell's command is `command`.
    pub arguments: Value,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What the environment answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// One result a call, or results of no call.
    pub results: Vec<ObservationResult>,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObservationResult {
    /// The call that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_call_id: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Tokens and cost of one turn of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Tokens of the prompt, those from the cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens that the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// Of the prompt's tokens those from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// In US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Sums over a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalMetrics {
    /// Tokens of all prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_prompt_tokens: Option<u64>,
    /// Tokens that the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_completion_tokens: Option<u64>,
    /// Of the prompts' tokens those from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_cached_tokens: Option<u64>,
    /// In US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_cost_usd: Option<f64>,
    /// How many steps there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<u64>,
    /// Unknown fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Step {
    /// A step that says `message`; its number is given by [`Trajectory::push`].
    pub fn new(source: Source, message: impl Into<String>) -> Self {
        Self {
            source,
            message: Content::Text(message.into()),
            ..Self::default()
        }
    }

    /// Adds a call of a tool.
    pub fn call(&mut self, id: impl Into<String>, name: impl Into<String>, arguments: Value) {
        self.tool_calls.get_or_insert_default().push(ToolCall {
            tool_call_id: id.into(),
            function_name: name.into(),
            arguments,
            ..ToolCall::default()
        });
    }

    /// Adds a result, of the call that it names if there is one of that name in this step.
    pub fn observe(&mut self, call: Option<&str>, content: Content) {
        let known = call.filter(|id| self.calls().iter().any(|call| call.tool_call_id == **id));
        let result = ObservationResult {
            source_call_id: known.map(str::to_owned),
            content: Some(content),
            ..ObservationResult::default()
        };
        self.observation
            .get_or_insert_default()
            .results
            .push(result);
    }

    /// The calls of tools.
    pub fn calls(&self) -> &[ToolCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }

    /// The texts of what came back.
    pub fn observed(&self) -> impl Iterator<Item = String> {
        let results = self.observation.iter().flat_map(|seen| &seen.results);
        results.filter_map(|result| Some(result.content.as_ref()?.text()))
    }
}

impl ToolCall {
    /// A shell's command, of other tools `None`: an editing tool has a `command`, too, beside its `path`.
    pub fn command(&self) -> Option<&str> {
        if self.arguments.get("path").is_some() {
            return None;
        }
        ["command", "cmd", "script"]
            .iter()
            .find_map(|name| self.arguments.get(*name)?.as_str())
    }

    /// The action as text: a shell's command, else the tool's name with its arguments.
    pub fn text(&self) -> String {
        self.command().map_or_else(
            || format!("{} {}", self.function_name, self.arguments),
            str::to_owned,
        )
    }
}

impl Trajectory {
    /// One without steps.
    pub fn new(agent: &str) -> Self {
        Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            agent: AgentInfo {
                name: agent.to_owned(),
                version: "unknown".to_owned(),
                ..AgentInfo::default()
            },
            ..Self::default()
        }
    }

    /// Adds a step and numbers it.
    pub fn push(&mut self, mut step: Step) {
        step.step_id = self.steps.len() as u64 + 1;
        self.steps.push(step);
    }

    /// The steps of the agent.
    pub fn agent_steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps
            .iter()
            .filter(|step| step.source == Source::Agent)
    }

    /// The instance that it was an attempt at, if it is told.
    pub fn instance_id(&self) -> Option<&str> {
        self.extra.get("instance_id")?.as_str()
    }

    /// Writes it as one JSON document of ATIF, with a line end.
    pub fn to_atif(&self) -> String {
        format!("{:#}\n", self.value())
    }

    /// Writes it as ATIF on one line, without a line end.
    pub fn to_atif_line(&self) -> String {
        self.value().to_string()
    }

    fn value(&self) -> Value {
        serde_json::to_value(self).expect("maps have text keys only")
    }
}
