//! What code says about its intent.

mod patterns;

use crate::BaseFiles;
use crate::places::Places;
use crate::rules::test_modules;
use crate::signal::{Signal, SignalAction, SignalKind, SignalSeverity};
use crate::upstream::Upstream;
use atlas_core::{FileMode, Overlay};
use atlas_facts::{Family, Language, language_of};
use patterns::{Patterns, is_comment};
use std::collections::BTreeSet;

/// What the added lines of a solution do that solutions seldom do: end the process, print a
/// runner's words, look for the runner, patch it.
///
/// Best given what [`guard`](crate::guard()) has left, so that files that were taken back are not told
/// twice.
///
/// Only told: nothing here is a proof, and none of it changes a verdict. Each pattern is told once
/// a file, with its first line. Tests, as far as their place and name tell, and lines that Base has
/// too are left out; so are comments of one line.
pub fn suspicious_code(overlay: &Overlay, base: &dyn BaseFiles) -> Vec<Signal> {
    let places = Places::new(base, &Upstream::default());
    let mut signals = Vec::new();
    for (path, file) in &overlay.write {
        let is_test = places.is_test(path, Some(&file.bytes));
        if is_test || file.mode == FileMode::Symlink || file.bytes.contains(&0) {
            continue;
        }
        let text = String::from_utf8_lossy(&file.bytes);
        let old = base
            .read(path)
            .map(String::from_utf8_lossy)
            .unwrap_or_default();
        for hit in hits(path, &text, &old) {
            signals.push(Signal {
                kind: hit.kind,
                path: path.clone(),
                message: format!("line {}: {}", hit.line, hit.what),
                action: SignalAction::Kept,
                severity: SignalSeverity::Suspicious,
            });
        }
    }
    signals
}

/// What a test of the prediction's own does that other tests in the same process would feel.
pub(crate) fn steering(path: &str, text: &str) -> Option<String> {
    let kinds = [
        SignalKind::ProcessExit,
        SignalKind::ExitHook,
        SignalKind::RunnerPatching,
        SignalKind::Inspection,
        SignalKind::ForgedOutput,
    ];
    let hits = hits(path, text, "");
    let hit = hits.into_iter().find(|hit| kinds.contains(&hit.kind))?;
    Some(format!("line {}: {}", hit.line, hit.what))
}

struct Hit {
    kind: SignalKind,
    /// From 1.
    line: usize,
    what: &'static str,
}

fn hits(path: &str, text: &str, old: &str) -> Vec<Hit> {
    let Some(family) = language_of(path).map(Language::family) else {
        return Vec::new();
    };
    let patterns = Patterns::of(family);
    let old: BTreeSet<&str> = old.lines().map(str::trim).collect();
    // Inline tests are no part of the solution.
    let tests = if family == Family::Rust {
        test_modules(text)
    } else {
        Vec::new()
    };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let start = at;
        at += line.len();
        let bare = line.trim();
        let is_new = !bare.is_empty() && !old.contains(bare);
        let in_tests = tests.iter().any(|(_, span)| span.contains(&start));
        if !is_new || in_tests || is_comment(family, bare) {
            continue;
        }
        let next = lines.peek().map_or("", |(_, next)| next);
        for (index, kind, what) in patterns.matching(line, next) {
            if seen.insert(index) {
                let line = number + 1;
                found.push(Hit { kind, line, what });
            }
        }
    }
    found
}
