//! What is not learnt of what an agent did.

use crate::Step;
use regex::Regex;
use serde::Serialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Messages of the agent that stay in the conversation and are not learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoLoss {
    /// Those whose call failed: its result has an exit code other than 0, or is marked as an error. A test that fails as
    /// it should, before a bug is repaired, is such a call, too.
    Failed,
    /// The one right after such a message.
    AfterFailed,
}

static EXIT_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?im)<returncode>\s*(-?\d+)\s*</returncode>|^\W*(?:process )?(?:exit(?:ed)?(?: with)?(?: exit)?[ _]?(?:code|status)|return ?code)\s*[:=]?\s*(-?\d+)\b",
    )
    .expect("the pattern is tested")
});

/// Whether a step is learnt, with the agent's step before it.
pub(super) fn is_learnt(step: &Step, before: Option<&Step>, rules: &[NoLoss]) -> bool {
    !rules.iter().any(|rule| match rule {
        NoLoss::Failed => has_failed(step),
        NoLoss::AfterFailed => before.is_some_and(has_failed),
    })
}

/// Whether a call of the step failed, by fields that say so, else by the last exit code that a result tells.
fn has_failed(step: &Step) -> bool {
    let is_bad = |value: &Value| match value {
        Value::Bool(is_error) => Some(*is_error),
        Value::Number(code) => Some(code.as_i64() != Some(0)),
        _ => None,
    };
    let told = ["is_error", "exit_code", "returncode"]
        .iter()
        .find_map(|name| is_bad(step.extra.get(*name)?));
    let results = step.observation.iter().flat_map(|seen| &seen.results);
    told.unwrap_or(false)
        || results.into_iter().any(|result| {
            let extra = result.other.get("extra").and_then(Value::as_object);
            let fields = [Some(&result.other), extra];
            let marked = fields.into_iter().flatten().find_map(|fields| {
                ["is_error", "exit_code", "returncode"]
                    .iter()
                    .find_map(|name| is_bad(fields.get(*name)?))
            });
            marked.unwrap_or_else(|| {
                let text = result.content.as_ref().map(crate::Content::text);
                let text = text.unwrap_or_default();
                let code = EXIT_CODE.captures_iter(&text).last();
                code.and_then(|found| found.get(1).or_else(|| found.get(2)))
                    .is_some_and(|code| code.as_str().trim_start_matches('-').parse() != Ok(0_u64))
            })
        })
}
