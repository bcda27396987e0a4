//! What proves that nothing could be built.

use atlas_core::{Attempt, Evidence};

/// The failing step of the last attempt and the end of what it printed.
pub(crate) fn build_proof(attempts: &[Attempt]) -> Vec<Evidence> {
    const LINES: usize = 30;
    let Some(failure) = attempts.last().and_then(|attempt| attempt.failure.as_ref()) else {
        return Vec::new();
    };
    let code = failure
        .exit_code
        .map_or_else(String::new, |code| format!(" (exit {code})"));
    let mut proof = vec![Evidence::of(
        "failing step",
        format!("{}{code}", failure.step),
    )];
    let (source, text) = if failure.stderr.trim().is_empty() {
        ("stdout", &failure.stdout)
    } else {
        ("stderr", &failure.stderr)
    };
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    proof.extend(
        lines[lines.len().saturating_sub(LINES)..]
            .iter()
            .map(|l| Evidence::of(source, *l)),
    );
    proof
}
