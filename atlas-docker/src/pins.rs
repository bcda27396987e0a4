//! Building an environment again with the versions that an earlier one had.

use crate::quote::shell_quote;
use atlas_core::{EnvironmentPlan, Evidence};

/// Makes a plan take these versions before anything that would be resolved: the `dependencies` of
/// the [`EnvironmentLock`](atlas_core::EnvironmentLock) of an earlier build, `name==version` of
/// Python or `name version` of Rust.
///
/// What a lockfile of the repository pins stays as it is. Other languages' tools write locks of
/// their own or choose the same versions every time: their plans do not change.
pub fn pin(plan: &mut EnvironmentPlan, dependencies: &[String]) {
    let kept: Vec<String> = dependencies
        .iter()
        .filter(|line| match plan.language.as_str() {
            // The installer itself comes with the virtual environment.
            "python" => !line.is_empty() && !line.starts_with("pip=="),
            "rust" => line.split(' ').count() == 2,
            _ => false,
        })
        .map(|line| shell_quote(line))
        .collect();
    if kept.is_empty() {
        return;
    }
    let command = format!(
        "mkdir -p \"$ATLAS_ENV\" && printf '%s\\n' {} > \"$ATLAS_ENV/resolved.lock\"",
        kept.join(" ")
    );
    plan.setup.push(command);
    plan.drift
        .retain(|line| !line.starts_with("no lockfile") && !line.starts_with("no Cargo.lock"));
    let text = format!("{} versions of an earlier environment", kept.len());
    plan.prove("build", Evidence::of("environment.lock.json", text));
}
