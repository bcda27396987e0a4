//! Test files that could not be loaded, as `RSpec` says it and as Atlas's own loader of test files
//! says it in the same words before minitest or test-unit runs the others.

use atlas_core::{Evidence, LostReason, ParsedLogBuilder};

/// How many lines below the first one are kept as proof.
const MAX_LINES: usize = 5;

/// The file of `An error occurred while loading ./spec/x_spec.rb.`, with or without ` - Did you mean?`.
pub(super) fn file(line: &str) -> Option<&str> {
    let rest = line
        .trim()
        .strip_prefix("An error occurred while loading ")?;
    let rest = rest.split(" - Did you mean?").next().unwrap_or(rest);
    Some(rest.trim_end_matches('.'))
}

/// Reads such a message and the lines below it.
#[derive(Debug, Default)]
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
        if lines.len() < MAX_LINES && !line.is_empty() {
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
