//! Messages of plain text with calls as SWE-agent's XML parser reads them, the form of SWE-smith's training data.

use super::ExportError;
use super::chat::Message;
use super::turns::{Speaker, Turn, join};
use crate::ToolCall;
use serde_json::Value;
use std::fmt::Write as _;

/// Parameters that SWE-smith puts on lines of their own.
const ON_LINES: [&str; 3] = ["file_text", "old_str", "new_str"];

pub(super) fn messages(turns: Vec<Turn>, tools: &[Value]) -> Result<Vec<Message>, ExportError> {
    let mut messages: Vec<Message> = Vec::new();
    for turn in turns {
        let mut content = turn.text;
        let role = match turn.speaker {
            Speaker::System => "system",
            Speaker::Agent => {
                let mut text = turn.reasoning;
                join(&mut text, &content);
                refuse(turn.step_id, "message", &text, &["<function="])?;
                for call in &turn.calls {
                    join(&mut text, &call_text(turn.step_id, call)?);
                }
                content = text;
                "assistant"
            }
            Speaker::User | Speaker::Tool => "user",
        };
        match messages.last_mut() {
            Some(last) if last.role == "user" && role == "user" => {
                last.content.push('\n');
                last.content.push_str(&content);
            }
            _ => messages.push(Message {
                role,
                step_id: turn.step_id,
                content,
                reasoning: String::new(),
                calls: Vec::new(),
                answers: None,
                train: turn.train,
            }),
        }
    }
    tell_tools(&mut messages, tools);
    Ok(messages)
}

fn call_text(step_id: u64, call: &ToolCall) -> Result<String, ExportError> {
    let mut text = format!("<function={}>\n", call.function_name);
    for (name, value) in call.arguments.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        refuse(step_id, name, &value, &["</parameter>", "</function>"])?;
        // The parser takes one line end off either side.
        let is_on_lines =
            ON_LINES.contains(&name.as_str()) || value.starts_with('\n') || value.ends_with('\n');
        let end = if is_on_lines { "\n" } else { "" };
        let _ = writeln!(text, "<parameter={name}>{end}{value}{end}</parameter>");
    }
    text.push_str("</function>");
    Ok(text)
}

fn refuse(step_id: u64, name: &str, value: &str, ends: &[&'static str]) -> Result<(), ExportError> {
    match ends.iter().find(|end| value.contains(**end)) {
        None => Ok(()),
        Some(text) => Err(ExportError::EndsItself {
            step_id,
            name: name.to_owned(),
            text,
        }),
    }
}

/// Says in the system message which functions there are and how they are called.
fn tell_tools(messages: &mut Vec<Message>, tools: &[Value]) {
    if tools.is_empty() {
        return;
    }
    let mut text = String::from("You have access to the following functions:\n");
    for (at, tool) in tools.iter().enumerate() {
        let function = tool.get("function").unwrap_or(tool);
        let name = function["name"].as_str().unwrap_or_default();
        let _ = writeln!(text, "\n---- BEGIN FUNCTION #{}: {name} ----", at + 1);
        if let Some(description) = function["description"]
            .as_str()
            .filter(|text| !text.is_empty())
        {
            let _ = writeln!(text, "Description: {description}");
        }
        let parameters = function["parameters"]["properties"].as_object();
        let required = function["parameters"]["required"].as_array();
        for (at, (name, schema)) in parameters.into_iter().flatten().enumerate() {
            let kind = schema["type"].as_str().unwrap_or("any");
            let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
            let need = if is_required { "required" } else { "optional" };
            let _ = write!(text, "  ({}) {name} ({kind}, {need})", at + 1);
            let description = schema["description"].as_str();
            let _ = match description {
                Some(description) => writeln!(text, ": {description}"),
                None => writeln!(text),
            };
        }
        let _ = writeln!(text, "---- END FUNCTION #{} ----", at + 1);
    }
    text.push_str(
        "\nSay what you think, then call a function in this form and write nothing after it:\n\n<function=example_function>\n\
         <parameter=example_parameter>value</parameter>\n</function>",
    );
    match messages.first_mut() {
        Some(first) if first.role == "system" => join(&mut first.content, &text),
        _ => messages.insert(
            0,
            Message {
                role: "system",
                step_id: 0,
                content: text,
                reasoning: String::new(),
                calls: Vec::new(),
                answers: None,
                train: false,
            },
        ),
    }
}
