//! Variables that tox sets for tests; those of CI are the analysis's own.

use super::ini::strip_factors;
use super::manifests::Manifests;
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// Of a tool that measures, installs or isolates, or what would end the installation, too.
const NOT_FOR_TESTS: &[&str] = &[
    "COVERAGE",
    "PIP_",
    "PYTHONWARNINGS",
    "TOX",
    "UV_",
    "VIRTUAL_ENV",
];

/// What tox sets for its tests.
pub(super) fn set(manifests: &Manifests, plan: &mut EnvironmentPlan) {
    let tox = ["setenv", "set_env"].map(|key| manifests.tox.lines("testenv", key));
    for line in tox.into_iter().flatten() {
        let Some((name, value)) = line.text.split_once('=') else {
            continue;
        };
        // A condition on the environment's name stands before some.
        if strip_factors(&line.text) != line.text.trim() {
            continue;
        }
        let name = name.trim();
        if NOT_FOR_TESTS.iter().any(|spare| name.starts_with(spare)) || plan.env.contains_key(name)
        {
            continue;
        }
        if let Some(value) = resolved(value.trim()) {
            plan.prove(
                "env",
                Evidence::at(line.file.clone(), line.line, line.text.clone()),
            );
            plan.env.insert(name.to_owned(), value);
        }
    }
}

/// A value of tox without its own braces; nothing where something else than the repository's folder or a default is
/// needed.
fn resolved(value: &str) -> Option<String> {
    static DEFAULT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\{env:\w+:([^{}]*)\}").expect("a literal pattern"));
    let value = DEFAULT.replace_all(value, "$1");
    let value = ["{toxinidir}", "{tox_root}"]
        .into_iter()
        .fold(value.into_owned(), |value, word| {
            value.replace(word, "$ATLAS_REPO")
        });
    (!value.contains(['{', '}'])).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn a_value_of_tox_is_taken_where_it_needs_nothing_of_tox() {
        assert_eq!(
            resolved("tests.settings").as_deref(),
            Some("tests.settings")
        );
        assert_eq!(
            resolved("{toxinidir}/src").as_deref(),
            Some("$ATLAS_REPO/src")
        );
        assert_eq!(resolved("{env:DATABASE:sqlite}").as_deref(), Some("sqlite"));
        assert_eq!(resolved("{envtmpdir}/x"), None);
        assert_eq!(resolved("{[base]path}"), None);
    }
}
