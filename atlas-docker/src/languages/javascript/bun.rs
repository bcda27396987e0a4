//! Bun, as a tool that npm brings.

use super::manager::is_version;
use super::package::{Package, join};
use crate::facts::Facts;
use crate::versions;

/// The Bun to take from npm: what the repository pins, then what CI takes, then the newest of the day.
pub(super) fn tool(facts: &Facts<'_>, main: &Package) -> String {
    let named = main.text("packageManager").unwrap_or_default();
    let exact = |text: &str| {
        let text = text.trim().trim_start_matches(['v', '^', '~']);
        let text = text.split('+').next().unwrap_or(text);
        is_version(text).then(|| text.trim_end_matches(".x").to_owned())
    };
    let file = |name: &str| facts.tree.text(&join(&main.folder, name));
    let tools = file(".tool-versions");
    let in_tools = tools
        .iter()
        .flat_map(|text| text.lines())
        .find_map(|line| line.strip_prefix("bun "));
    let in_ci = facts.ci.versions(&[("oven-sh/setup-bun", "bun-version")]);
    let version = named
        .strip_prefix("bun@")
        .and_then(exact)
        .or_else(|| file(".bun-version").as_deref().and_then(exact))
        .or_else(|| in_tools.and_then(exact))
        .or_else(|| in_ci.iter().find_map(|value| exact(&value.text)))
        .or_else(|| {
            let newest = versions::released(versions::BUN, facts.date).next_back();
            newest.map(|version| version.to_string())
        })
        .unwrap_or_else(|| "1".to_owned());
    format!("bun@{version}")
}

/// Whether that Bun writes reports beside its console: since 1.2.
pub(super) fn writes_reports(facts: &Facts<'_>, main: &Package) -> bool {
    let old = ["bun@0.", "bun@1.0", "bun@1.1"];
    let tool = tool(facts, main);
    !old.iter().any(|start| {
        tool.strip_prefix(start)
            .is_some_and(|rest| start.ends_with('.') || rest.is_empty() || rest.starts_with('.'))
    })
}
