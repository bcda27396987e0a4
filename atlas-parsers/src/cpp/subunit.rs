//! Subunit version 1, the line protocol that libcheck and cmocka can speak.

use crate::cpp::nest::Nest;
use atlas_core::TestStatus;

/// Reads `test: name`, then what became of it: `success: name`, `failure: name [`…`]`.
#[derive(Clone, Default)]
pub(super) struct Subunit {
    pub(super) nest: Nest,
    /// Inside the message of a failure, up to a line that is only `]`.
    message: bool,
}

impl Subunit {
    /// Takes one clean line; `error` is what an `error:` says.
    pub(super) fn line(&mut self, line: &[u8], error: TestStatus) {
        if self.message {
            self.message = line != b"]";
            return;
        }
        if let Some(name) = line.strip_prefix(b"test: ") {
            self.nest.start(&String::from_utf8_lossy(name));
            return;
        }
        if !self.nest.is_open() {
            return;
        }
        let found = self.nest.names().find_map(|name| {
            let (status, open) = verdict(line, name.as_bytes(), error)?;
            Some((name.to_owned(), status, open))
        });
        if let Some((name, status, open)) = found {
            self.message = open;
            self.nest.end(name.as_bytes(), status);
        }
    }
}

/// The verdict on a test at the end of this line, behind whatever the test printed without a
/// newline, and whether a message of several lines follows.
fn verdict(line: &[u8], name: &[u8], error: TestStatus) -> Option<(TestStatus, bool)> {
    let words: [(&[u8], TestStatus); 4] = [
        (b"success: ", TestStatus::Passed),
        (b"failure: ", TestStatus::Failed),
        (b"skip: ", TestStatus::Skipped),
        (b"error: ", error),
    ];
    for (word, status) in words {
        let Some(at) = memchr::memmem::rfind(line, word) else {
            continue;
        };
        let Some(rest) = line
            .get(at + word.len()..)
            .and_then(|rest| rest.strip_prefix(name))
        else {
            continue;
        };
        match rest {
            b"" => return Some((status, false)),
            b" [" => return Some((status, true)),
            _ if rest.starts_with(b" [ ") && rest.ends_with(b" ]") => {
                return Some((status, false));
            }
            _ => {}
        }
    }
    None
}
