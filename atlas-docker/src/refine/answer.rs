//! What a model answered.

use crate::languages::BUILTIN;
use crate::repair::with_version;
use crate::tree::Tree;
use atlas_core::{Completion, Day, EnvironmentPlan, Evidence, FinishReason};
use serde_json::{Map, Value};

/// What an answer is.
pub(super) enum Said {
    /// A question about the repository, `{"ask": {"tool": …, …}}`: the tool and its arguments, or why it cannot be
    /// told which.
    Question(Result<(String, Map<String, Value>), String>),
    /// Anything else: a plan, or none.
    Answer,
}

/// Tells a question from an answer.
pub(super) fn read(answer: &Completion) -> Said {
    if answer.finish == FinishReason::Length {
        return Said::Answer;
    }
    let value = object(&answer.text).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(mut value) = value else {
        return Said::Answer;
    };
    // Who gives a plan has no question, whatever stands beside it.
    let is_plan = |plan: &Value| plan.as_object().is_some_and(|fields| !fields.is_empty());
    if value.get("plan").is_some_and(is_plan) {
        return Said::Answer;
    }
    let Some(asked) = value.get_mut("ask").filter(|asked| !asked.is_null()) else {
        return Said::Answer;
    };
    let Some(fields) = asked.as_object_mut() else {
        return Said::Question(Err("`ask` is no object".to_owned()));
    };
    let Some(Value::String(tool)) = fields.remove("tool") else {
        return Said::Question(Err("`ask` names no `tool`".to_owned()));
    };
    let mut arguments = std::mem::take(fields);
    arguments.retain(|_, value| !value.is_null());
    Said::Question(Ok((tool, arguments)))
}

/// The plan's own text in an answer: all of it, or what stands under `plan`.
fn plan_text(text: &str) -> Result<String, String> {
    let text = object(text).ok_or("it holds no JSON object")?;
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Ok(text.to_owned());
    };
    match (value.get("plan"), value.get("ask")) {
        (Some(plan @ Value::Object(fields)), _) if !fields.is_empty() => Ok(plan.to_string()),
        (_, Some(_)) => Err("it is a question, and no more are answered".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// The plan in an answer, on top of the one before it; or why there is none, in words for the model.
pub(super) fn plan(
    answer: &Completion,
    before: Option<&EnvironmentPlan>,
    known_parsers: &[String],
    tree: &Tree,
) -> Result<EnvironmentPlan, String> {
    if answer.finish == FinishReason::Length {
        return Err("the answer was cut off at its token limit".to_owned());
    }
    let text = plan_text(&answer.text)?;
    let said = EnvironmentPlan::from_json(&text).map_err(|why| {
        let source = std::error::Error::source(&why);
        source.map_or_else(|| why.to_string(), |source| format!("{why}: {source}"))
    })?;
    if !known_parsers.is_empty() && !known_parsers.contains(&said.log_parser_name) {
        return Err(format!(
            "`log_parser_name` `{}` is none of the readers named",
            said.log_parser_name
        ));
    }
    // Only the paper's five fields are taken; the rest stays what analysis made of it.
    let mut plan = before.cloned().unwrap_or_default();
    if said.log_parser_name != plan.log_parser_name || said.test_cmd != plan.test_cmd {
        plan.report = None;
    }
    plan.docker_specs.extend(said.docker_specs);
    plan.pre_install = said.pre_install;
    // The day of the plan before is also this one's where its commands still name it.
    let is_named = |day: &Day| said.build.concat().contains(day.as_str());
    plan.as_of = plan.as_of.filter(is_named);
    plan.set_paper_build(said.build);
    plan.test_cmd = said.test_cmd;
    plan.log_parser_name = said.log_parser_name;
    if plan.language.is_empty() {
        // Where rules know no way, the language with most sources.
        let most = BUILTIN
            .iter()
            .map(|language| (language.presence(tree).sources, *language))
            .filter(|(sources, _)| *sources > 0)
            .max_by_key(|(sources, _)| *sources);
        let (_, language) = most.ok_or("no source file of a known language is there")?;
        language.id().clone_into(&mut plan.language);
        language.image().clone_into(&mut plan.base_image);
    }
    let version = plan.docker_specs.get(&format!("{}_version", plan.language));
    let version = version.map(|value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    if let Some(version) = version {
        let digit = |c: char| c.is_ascii_digit() || c == '.';
        if version.is_empty() || !version.chars().all(digit) {
            return Err(format!("`{version}` is no version of a toolchain"));
        }
        if let Some(image) = with_version(&plan.base_image, &version) {
            plan.base_image = image;
        }
    }
    plan.evidence.clear();
    plan.prove(
        "model",
        Evidence::of(answer.model.clone(), "wrote this plan"),
    );
    Ok(plan)
}

/// The first JSON object in a text, code fences and prose around it left out.
fn object(text: &str) -> Option<&str> {
    let from = text.find('{')?;
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, c) in text[from..].char_indices() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[from..=from + at]);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Said, object, plan_text, read};
    use atlas_core::{Completion, FinishReason, Usage};

    fn said(text: &str, finish: FinishReason) -> Result<String, String> {
        let answer = Completion {
            text: text.to_owned(),
            logprobs: None,
            avg_logprob: None,
            finish,
            usage: Usage::default(),
            model: String::new(),
        };
        match read(&answer) {
            Said::Question(Ok((tool, arguments))) => {
                Ok(format!("{tool} {}", serde_json::Value::Object(arguments)))
            }
            Said::Question(Err(why)) => Err(why),
            Said::Answer => Ok("answer".to_owned()),
        }
    }

    #[test]
    fn a_question_is_told_from_a_plan() {
        let stop = |text| said(text, FinishReason::Stop);
        let asked = r#"I look: {"ask": {"tool": "read", "path": "a", "last_line": null}}"#;
        assert_eq!(stop(asked).unwrap(), r#"read {"path":"a"}"#);
        for text in [
            "{\"test_cmd\": \"x\"}",
            r#"{"ask": {"tool": "list"}, "plan": {"test_cmd": "x"}}"#,
            r#"{"ask": null, "plan": {"test_cmd": "x"}}"#,
            "no JSON",
        ] {
            assert_eq!(stop(text).unwrap(), "answer", "{text}");
        }
        // Half a question is none.
        assert_eq!(said(asked, FinishReason::Length).unwrap(), "answer");
        assert!(stop(r#"{"ask": "read"}"#).unwrap_err().contains("object"));
        assert!(
            stop(r#"{"ask": {"path": "a"}}"#)
                .unwrap_err()
                .contains("tool")
        );
        let both = r#"{"ask": {"tool": "list"}, "plan": {}}"#;
        assert_eq!(stop(both).unwrap(), "list {}");
        assert!(plan_text(both).is_err());
        let plan = r#"{"plan": {"test_cmd": "x"}}"#;
        assert_eq!(plan_text(plan).unwrap(), r#"{"test_cmd":"x"}"#);
    }

    #[test]
    fn an_object_is_found_amid_prose_and_fences() {
        let text = "Here:\n```json\n{\"a\": \"}\\\"{\", \"b\": {}}\n```\nDone {x}";
        assert_eq!(object(text), Some("{\"a\": \"}\\\"{\", \"b\": {}}"));
        assert_eq!(object("{\"a\": 1"), None);
        assert_eq!(object("none"), None);
    }
}
