//! `go test -v`.

use super::text::strip;
use super::{CompatFound, FAILED, PASSED, SKIPPED};

/// `--- PASS: TestA (0.00s)`: the name goes up to the last bracket that has something in it.
pub(super) fn gotest(log: &str) -> CompatFound {
    let mut found = CompatFound::default();
    for line in log.split('\n').map(strip) {
        let Some(rest) = line.strip_prefix("--- ") else {
            continue;
        };
        for (mark, status) in [("PASS: ", PASSED), ("FAIL: ", FAILED), ("SKIP: ", SKIPPED)] {
            if let Some(name) = rest.strip_prefix(mark).and_then(bracketed) {
                found.push(name, status);
            }
        }
    }
    found
}

/// The name in `name (something)`, neither part empty.
pub(super) fn bracketed(text: &str) -> Option<&str> {
    let inner = text.strip_suffix(')')?;
    let (end, _) = inner
        .rmatch_indices(" (")
        .find(|&(at, _)| at + 2 < inner.len())?;
    (end > 0).then(|| &inner[..end])
}
