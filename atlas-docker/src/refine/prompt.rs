//! What a model is asked.

use super::RefineOptions;
use super::tools::ToolOffer;
use crate::tree::Tree;
use atlas_core::{
    AGENTIC, ChatMessage, CompletionRequest, EnvironmentPlan, ModelPhase, Repository, Role,
};
use atlas_facts::package_file;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// All that goes into a question.
pub(super) struct Asked<'a> {
    pub(super) repository: &'a Repository,
    pub(super) tree: &'a Tree,
    pub(super) known_parsers: &'a [String],
    pub(super) plan: Option<&'a EnvironmentPlan>,
    pub(super) phase: ModelPhase,
    pub(super) reason: &'a str,
    pub(super) text: &'a str,
    pub(super) options: &'a RefineOptions,
    /// What it may ask about the repository; nothing where it may not.
    pub(super) tools: &'a [ToolOffer],
}

const SYSTEM: &str = "You prepare containers in which the existing test suite of a repository runs, \
exactly as the repository stood at one commit. You answer with one JSON object and nothing else. Its \
fields: `docker_specs` (object: toolchain versions, such as {\"python_version\": \"3.9\"}), `pre_install` \
(list of shell commands run as root on Debian: system packages), `build` (list of shell commands run by an \
ordinary user in the repository's root, with a network: dependencies and compilation), `test_cmd` (one shell \
command that runs the whole suite without a network and names every test with its result), \
`log_parser_name` (which reader understands that output). Write installed things below $ATLAS_ENV and \
build products below $ATLAS_CACHE. Never change the repository's own files, never skip a test to make the run \
look better, and take versions from before the commit's date.";

/// The most of a manifest, of a tree's listing and of an output that is shown, in bytes.
const MANIFEST_BYTES: usize = 6_000;
const LISTED_FILES: usize = 300;
const OUTPUT_BYTES: usize = 12_000;
const MANIFESTS: usize = 8;

/// The request; the same question gives the same bytes, so that answers can be replayed.
pub(super) fn request(asked: &Asked<'_>) -> CompletionRequest {
    let mut system = SYSTEM.to_owned();
    if asked.known_parsers.iter().any(|name| name == AGENTIC) {
        let _ = write!(
            system,
            " Where none of the readers understands it, name `{AGENTIC}`: one is made for it."
        );
    }
    if !asked.tools.is_empty() {
        system.push_str(&protocol(asked));
    }
    CompletionRequest {
        messages: vec![
            message(Role::System, system),
            message(Role::User, question(asked)),
        ],
        max_tokens: asked.options.answer_tokens,
        temperature: 0.0,
        seed: Some(0),
        top_logprobs: None,
        json_schema: Some(if asked.tools.is_empty() {
            schema(asked.known_parsers)
        } else {
            turn_schema(asked)
        }),
    }
}

/// How the repository is asked, in words: every model can write JSON, not every one has calls of tools.
fn protocol(asked: &Asked<'_>) -> String {
    let mut text = format!(
        "\n\nYou may look at the repository before you answer. Each of your messages is one JSON object: \
{{\"ask\": {{\"tool\": \"read\", \"path\": \"README.md\"}}}} to call a tool, whose answer you are then given, or \
{{\"plan\": {{…}}}} with the fields above when you know enough. At most {} calls go before a plan. Read what \
decides: build scripts, manifests, test configuration, CI; do not guess what a file says. The checkout is there \
already. A call that is refused says why.\nTools:\n",
        asked.options.tool_rounds
    );
    for tool in asked.tools {
        let _ = writeln!(text, "- `{}`: {}", tool.name, tool.description);
        for (name, about) in properties(tool) {
            let what = about.get("description").and_then(Value::as_str);
            let what = what.unwrap_or_default().replace('\n', " ");
            let must = if requires(tool, name) {
                " (required)"
            } else {
                ""
            };
            let _ = writeln!(text, "  - `{name}`{must}: {what}");
        }
    }
    text
}

fn properties(tool: &ToolOffer) -> impl Iterator<Item = (&String, &Value)> {
    let properties = tool.arguments.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

fn requires(tool: &ToolOffer, name: &str) -> bool {
    let required = tool.arguments.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}

/// A message that asks or answers. Not two schemas of which one holds: few servers take those at the root.
fn turn_schema(asked: &Asked<'_>) -> Value {
    let names: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut arguments = Map::new();
    arguments.insert("tool".to_owned(), json!({"type": "string", "enum": names}));
    for (name, about) in asked.tools.iter().flat_map(properties) {
        let kind = match about.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().find(|kind| *kind != "null"),
            kind => kind,
        };
        let kind = kind.cloned().unwrap_or_else(|| "string".into());
        arguments
            .entry(name.clone())
            .or_insert(json!({"type": kind}));
    }
    json!({
        "type": "object",
        "properties": {
            "ask": {
                "type": "object",
                "properties": arguments,
                "required": ["tool"],
                "additionalProperties": false,
            },
            "plan": schema(asked.known_parsers),
        },
        "additionalProperties": false,
    })
}

fn message(role: Role, content: String) -> ChatMessage {
    ChatMessage { role, content }
}

fn question(asked: &Asked<'_>) -> String {
    let mut text = format!(
        "Repository {} at commit {} of {}.\n",
        asked.repository.name,
        asked.repository.base.short(),
        asked.repository.base_date
    );
    text.push_str(match asked.phase {
        ModelPhase::Plan => "\nRules found no way to run its tests. Write the plan.\n",
        ModelPhase::ErrorRecovery => "\nThe image below does not build. Correct the plan.\n",
        ModelPhase::TestRun => {
            "\nThe image builds, but its environment is wrong: the tests cannot run in it. Correct the plan.\n"
        }
    });
    let _ = writeln!(text, "What is wrong: {}", asked.reason);
    if let Some(plan) = asked.plan {
        let shown = json!({
            "base_image": plan.base_image,
            "docker_specs": plan.docker_specs,
            "pre_install": plan.pre_install,
            "build": plan.paper_build(),
            "test_cmd": plan.test_cmd,
            "log_parser_name": plan.log_parser_name,
        });
        let _ = write!(text, "\nThe plan that was tried:\n{shown:#}\n");
    }
    if !asked.text.trim().is_empty() {
        let _ = write!(
            text,
            "\nThe end of what it printed:\n---\n{}\n---\n",
            last(asked.text.trim_end(), OUTPUT_BYTES)
        );
    }
    text.push_str("\nFiles:\n");
    // What stands near the root says most.
    let mut files: Vec<&str> = asked.tree.files().collect();
    files.sort_by_key(|path| (path.matches('/').count(), *path));
    for path in files.iter().take(LISTED_FILES) {
        let _ = writeln!(text, "{path}");
    }
    if files.len() > LISTED_FILES {
        let _ = writeln!(text, "… and {} more", files.len() - LISTED_FILES);
    }
    let manifests = files.iter().filter(|path| is_manifest(path));
    for path in manifests.take(MANIFESTS) {
        if let Some(content) = asked.tree.text(path) {
            let _ = write!(
                text,
                "\n{path}:\n---\n{}\n---\n",
                first(&content, MANIFEST_BYTES)
            );
        }
    }
    let _ = write!(
        text,
        "\nReaders of test output: {}.\n",
        asked.known_parsers.join(", ")
    );
    text
}

/// Files that say how a repository is built and tested.
fn is_manifest(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "CONTRIBUTING.md",
        "Dockerfile",
        "Makefile",
        "README.md",
        "README.rst",
        "Rakefile",
        "build.xml",
        "configure.ac",
    ];
    let file = path.rsplit('/').next().unwrap_or(path);
    package_file(path).is_some_and(|file| file.role.marks_project())
        || NAMES.contains(&file)
        || path.starts_with(".github/workflows/")
}

/// The beginning of a text, whole characters of at most so many bytes.
pub(super) fn first(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn last(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The paper's plan as a JSON schema.
fn schema(known_parsers: &[String]) -> Value {
    let commands = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "docker_specs": {"type": "object", "additionalProperties": {"type": "string"}},
            "pre_install": commands,
            "build": commands,
            "test_cmd": {"type": "string"},
            "log_parser_name": {"type": "string", "enum": known_parsers},
        },
        "required": ["docker_specs", "pre_install", "build", "test_cmd", "log_parser_name"],
        "additionalProperties": false,
    })
}
