//! Test files that could not be loaded, as `RSpec` says it and as Atlas's own loader of test files
//! says it in the same words before minitest or test-unit runs the others.

use atlas_core::{Evidence, LostReason, ParsedLogBuilder};

/// How many lines are kept as proof: the message stands below the source of the failing statement.
pub(super) const MAX_LINES: usize = 24;

/// The file of `An error occurred while loading ./spec/x_spec.rb.`, with or without ` - Did you mean?`.
pub(super) fn file(line: &str) -> Option<&str> {
    let rest = line
        .trim()
        .strip_prefix("An error occurred while loading ")?;
    let rest = rest.split(" - Did you mean?").next().unwrap_or(rest);
    Some(rest.trim_end_matches('.'))
}

/// Whether a line below the first one is worth keeping: neither the stack nor the end of the run.
pub(super) fn is_telling(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty()
        && !line.starts_with(b"#")
        && !line.starts_with(b"Finished in ")
        && memchr::memmem::find(line, b" examples, ").is_none()
}

/// Reads such a message and the lines below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Loading {
    open: Option<(String, Vec<Evidence>)>,
    /// Whether a file was lost.
    pub(super) any: bool,
}

impl Loading {
    /// Whether the line belongs to such a message.
    pub(super) fn line(&mut self, number: usize, line: &[u8], log: &mut ParsedLogBuilder) -> bool {
        let text = String::from_utf8_lossy(&line[..line.len().min(500)]);
        if let Some(file) = file(&text) {
            let file = file.to_owned();
            self.close(log);
            self.any = true;
            self.open = Some((file, vec![Evidence::at("log", number, text.as_ref())]));
            return true;
        }
        let Some((_, lines)) = &mut self.open else {
            return false;
        };
        if lines.len() < MAX_LINES && is_telling(line) {
            lines.push(Evidence::at("log", number, text.trim()));
        }
        true
    }

    /// Records what was read of the last one.
    pub(super) fn close(&mut self, log: &mut ParsedLogBuilder) {
        if let Some((file, lines)) = self.open.take() {
            log.lose(&file, LostReason::LoadFailed, lines);
        }
    }
}
