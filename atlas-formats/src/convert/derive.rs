//! What follows from what a row says, for schemas that want it said.

use super::ConvertOptions;
use super::fields::{Field, columns};
use super::view::{View, list, text};
use crate::schema::Schema;
use atlas_core::{Patch, PatchKind};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Where the test output begins and ends in an evaluation script.
pub(crate) const START: &str = ">>>>> Start Test Output";
pub(crate) const END: &str = ">>>>> End Test Output";

/// Fills what the schema has columns for, and names what was filled.
pub(super) fn fill(view: &View, to: Schema, options: &ConvertOptions) -> (View, Vec<Field>) {
    let mut full = view.clone();
    let mut made = Vec::new();
    for field in [
        Field::Number,
        Field::Version,
        Field::SetupCommit,
        Field::LogParser,
        Field::TestCommands,
        Field::BuildCommands,
        Field::EvalType,
        Field::Image,
        Field::EvalScript,
        Field::Environment,
        Field::Split,
        Field::Dockerfile,
    ] {
        let wanted = columns(to)
            .iter()
            .any(|column| column.field == field && column.need.is_written());
        let helps = matches!(
            field,
            Field::Number | Field::LogParser | Field::TestCommands | Field::BuildCommands
        );
        if full.contains_key(&field) || !(wanted || helps) {
            continue;
        }
        if let Some(value) = derived(&full, field, options) {
            full.insert(field, value);
            if wanted {
                made.push(field);
            }
        }
    }
    (full, made)
}

fn derived(view: &View, field: Field, options: &ConvertOptions) -> Option<Value> {
    let environment = |keys: &[&str]| {
        let environment = view.get(&Field::Environment)?;
        keys.iter().find_map(|key| environment.get(key))
    };
    match field {
        Field::Number => {
            let (_, number) = text(view, Field::InstanceId)?.rsplit_once('-')?;
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| number.into())
        }
        Field::Version => view.get(&Field::Number).cloned(),
        Field::SetupCommit => view.get(&Field::BaseCommit).cloned(),
        Field::LogParser => environment(&["log_parser_name", "log_parser"])
            .filter(|name| name.is_string())
            .cloned(),
        Field::TestCommands => match environment(&["test_cmd"]).and_then(commands) {
            Some(commands) => Some(commands),
            None => commands_of(text(view, Field::EvalScript)?),
        },
        Field::BuildCommands => environment(&["build"]).and_then(commands),
        Field::EvalType => Some("pass_and_fail".into()),
        Field::Image => {
            let id = text(view, Field::InstanceId)?;
            Some(image_name(&options.image_namespace, id).into())
        }
        Field::EvalScript => eval_script(view, options).map(Into::into),
        Field::Environment => {
            let mut config = Map::new();
            for (key, from) in [
                ("build", Field::BuildCommands),
                ("test_cmd", Field::TestCommands),
                ("log_parser_name", Field::LogParser),
            ] {
                if let Some(value) = view.get(&from) {
                    config.insert(key.to_owned(), value.clone());
                }
            }
            (!config.is_empty()).then_some(Value::Object(config))
        }
        Field::Split => Some("test".into()),
        Field::Dockerfile => {
            let image = text(view, Field::Image).filter(|image| !image.is_empty())?;
            Some(format!("FROM {image}\n").into())
        }
        _ => None,
    }
}

/// The name that version 5 of the SWE-bench harness expects of an image.
pub(crate) fn image_name(namespace: &str, id: &str) -> String {
    let id = id.replace("__", "_1776_").to_lowercase();
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{namespace}{slash}sweb.eval.x86_64.{id}:latest")
}

/// One command or several.
fn commands(value: &Value) -> Option<Value> {
    match value {
        Value::String(command) => Some(json!([command])),
        Value::Array(items) if items.iter().all(Value::is_string) => Some(value.clone()),
        _ => None,
    }
}

/// The lines between the markers of an evaluation script.
fn commands_of(script: &str) -> Option<Value> {
    let mut inside = false;
    let mut commands: Vec<&str> = Vec::new();
    for line in script.lines() {
        if line.contains(START) {
            inside = true;
        } else if line.contains(END) {
            return (!commands.is_empty()).then(|| json!(commands));
        } else if inside && !line.trim().is_empty() {
            commands.push(line);
        }
    }
    None
}

/// A script in the form of the SWE-bench harness, for an image that is set up already.
fn eval_script(view: &View, options: &ConvertOptions) -> Option<String> {
    let tests = list(view, Field::TestCommands);
    let base = text(view, Field::BaseCommit)?;
    if tests.is_empty() || !base.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let patch = text(view, Field::TestPatch).unwrap_or_default();
    let files = Patch::new(patch).files().ok()?;
    let mut old = Vec::new();
    let mut new = Vec::new();
    for file in &files {
        if file.kind == PatchKind::Create {
            new.extend(file.new_path.as_deref().map(shell_quoted));
        } else {
            old.extend(file.old_path.as_deref().map(shell_quoted));
        }
    }
    let mut restore = String::new();
    if !old.is_empty() {
        let _ = writeln!(restore, "git checkout {base} -- {}", old.join(" "));
    }
    if !new.is_empty() {
        let _ = writeln!(restore, "rm -f -- {}", new.join(" "));
    }
    let root = shell_quoted(&options.workdir);
    let mut script = format!(
        "#!/bin/bash\nset -uxo pipefail\ncd {root}\ngit config --global --add safe.directory {root}\n{restore}"
    );
    if !patch.is_empty() {
        let mut word = "EOF_114329324912".to_owned();
        while patch.lines().any(|line| line == word) {
            word.push('0');
        }
        let end = if patch.ends_with('\n') { "" } else { "\n" };
        let _ = writeln!(script, "git apply -v - <<'{word}'\n{patch}{end}{word}");
    }
    for command in list(view, Field::BuildCommands) {
        let _ = writeln!(script, "{command}");
    }
    let _ = writeln!(script, ": '{START}'");
    for command in tests {
        let _ = writeln!(script, "{command}");
    }
    let _ = write!(script, ": '{END}'\n{restore}");
    Some(script)
}

fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
