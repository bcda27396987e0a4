//! Signs in a log that the environment broke, as SWE-bench 5 looks for them.

use super::read::lenient_text;
use aho_corasick::packed::Searcher;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// How sure a sign is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InfraTier {
    /// No patch of the repository's source can have caused it.
    Environment,
    /// A broken environment or a bad patch.
    Ambiguous,
}

/// What a log gives as the reason of a failed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InfraFailure {
    /// The word of SWE-bench 5: `out_of_memory`, `network_unreachable`, `missing_module`, …
    pub reason: String,
    /// How sure it is.
    pub tier: InfraTier,
}

/// Reason, tier, and the pattern that is looked for, in order.
const SIGNS: [(&str, InfraTier, &str); 8] = [
    (
        "browser_launch_failed",
        InfraTier::Environment,
        "Failed to launch|Failed to connect to the bus",
    ),
    (
        "display_unavailable",
        InfraTier::Environment,
        "cannot open display|Missing X server|unable to open X display",
    ),
    (
        "out_of_memory",
        InfraTier::Environment,
        "(?m)Cannot allocate memory|OutOfMemoryError|^Killed$",
    ),
    (
        "container_unavailable",
        InfraTier::Environment,
        "Error response from daemon|Cannot connect to the Docker daemon",
    ),
    (
        "network_unreachable",
        InfraTier::Environment,
        "Could not resolve host|Temporary failure in name resolution",
    ),
    (
        "missing_module",
        InfraTier::Ambiguous,
        "Cannot find module|MODULE_NOT_FOUND|ModuleNotFoundError",
    ),
    (
        "no_tests_collected",
        InfraTier::Ambiguous,
        "no tests ran|collected 0 items",
    ),
    (
        "tests_timed_out",
        InfraTier::Ambiguous,
        r"Timeout error: \d+ seconds exceeded",
    ),
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    SIGNS
        .iter()
        .map(|(_, _, pattern)| Regex::new(pattern).expect("a pattern of the table compiles"))
        .collect()
});

/// What every sign begins with, as plain text: most logs have none of it, and one quick search tells.
/// Absent on processors that have no quick one.
static ANY: LazyLock<Option<Searcher>> = LazyLock::new(|| {
    let signs = SIGNS.iter().flat_map(|(_, _, pattern)| pattern.split('|'));
    Searcher::new(signs.map(beginning))
});

/// What a sign begins with before it is more than plain text.
fn beginning(sign: &str) -> &str {
    let sign = sign.trim_start_matches("(?m)").trim_start_matches('^');
    sign.split(['\\', '$']).next().unwrap_or_default()
}

/// The first sign of the table that stands in any of these logs, read as SWE-bench 5 reads them: one
/// after the other, bytes that are no text replaced.
///
/// It is a remark beside a verdict and changes none.
pub fn classify_infra(logs: &[&[u8]]) -> Option<InfraFailure> {
    let mut texts: Vec<_> = logs.iter().map(|log| lenient_text(log)).collect();
    let text = match texts.as_mut_slice() {
        [one] => std::mem::take(one),
        _ => texts.join("\n").into(),
    };
    if let Some(any) = &*ANY
        && any.find(text.as_bytes()).is_none()
    {
        return None;
    }
    let (reason, tier, _) = SIGNS
        .iter()
        .zip(PATTERNS.iter())
        .find(|(_, pattern)| pattern.is_match(&text))?
        .0;
    Some(InfraFailure {
        reason: (*reason).to_owned(),
        tier: *tier,
    })
}

#[cfg(test)]
mod tests {
    use super::{SIGNS, beginning, classify_infra};

    #[test]
    fn every_sign_is_found_by_what_it_begins_with() {
        for (reason, _, pattern) in SIGNS {
            for sign in pattern.split('|') {
                let start = beginning(sign);
                assert!(start.len() > 5, "{sign}");
                let plain = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '_' || c == ':';
                assert!(start.chars().all(plain), "{start}");
                let number = if sign.contains('\\') {
                    "60 seconds exceeded"
                } else {
                    ""
                };
                let log = format!("a\n{start}{number}\nb");
                let found = classify_infra(&[log.as_bytes()]);
                assert_eq!(found.map(|found| found.reason).as_deref(), Some(reason));
            }
        }
        assert_eq!(classify_infra(&[b"the process was Killed twice"]), None);
    }
}
