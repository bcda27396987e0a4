//! The folder a run was configured for, told from the stack frames it printed.
//!
//! Jest names a test file from the working directory, or by its whole path in a document, but a
//! frame from the configured root: `FAIL app/a.test.js` with `at eq (a.test.js:1:35)` below it has
//! its root in `app`. Ids are meant from there.

use crate::edges::is_number;

/// What the frames said so far.
#[derive(Clone, Debug, Default)]
pub(super) enum Root {
    #[default]
    Unknown,
    /// What stands before each file's name, with the separator.
    Below(String),
    /// Frames that contradict each other, as those of several projects do.
    Disputed,
}

impl Root {
    /// Looks at a line of the messages of `file`.
    pub(super) fn look(&mut self, file: &str, line: &[u8]) {
        if matches!(self, Self::Disputed) || !file.contains('/') {
            return;
        }
        let Some(path) = frame(line) else { return };
        let Some(before) = file.as_bytes().strip_suffix(path) else {
            return;
        };
        if !before.is_empty() && before.last() != Some(&b'/') {
            return;
        }
        match self {
            Self::Unknown => *self = Self::Below(file[..before.len()].to_owned()),
            Self::Below(known) if known.as_bytes() != before => *self = Self::Disputed,
            _ => {}
        }
    }

    /// What stands before the names of all these files.
    pub(super) fn before<'a>(&self, mut files: impl Iterator<Item = &'a str>) -> Option<&str> {
        match self {
            Self::Below(before) => files
                .all(|file| file.starts_with(before))
                .then_some(before.as_str()),
            _ => None,
        }
    }
}

/// The path of `      at eq (a.test.js:1:35)` or `      at a.test.js:1:35`.
fn frame(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii().strip_prefix(b"at ")?;
    let place = match text.strip_suffix(b")") {
        Some(text) => &text[memchr::memrchr(b'(', text)? + 1..],
        None => text,
    };
    let column = memchr::memrchr(b':', place)?;
    let row = memchr::memrchr(b':', &place[..column])?;
    let path = &place[..row];
    (is_number(&place[column + 1..]) && is_number(&place[row + 1..column]) && !path.is_empty())
        .then_some(path)
}
