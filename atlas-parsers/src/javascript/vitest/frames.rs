//! Tests that only a printed piece of source names.
//!
//! Before version 3 the verbose reporter counts `todo` tests and does not name them. The excerpts
//! of source in its failure messages do, where they hold `test.todo('title')` at the left margin,
//! that is outside of any suite. When they hold exactly as many as the runner counted, these are
//! the tests it counted.

use crate::edges::{behind_any, is_number};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    file: String,
    todo: BTreeSet<(String, String)>,
}

/// More are not kept; the count will not agree then.
const MOST: usize = 10_000;

impl Frames {
    /// Looks at a line of a failure's message.
    pub(super) fn look(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix(" ❯ ") {
            // ` ❯ eq a.test.ts:2:35`
            let place = rest.rsplit(' ').next().unwrap_or(rest);
            let mut parts = place.rsplitn(3, ':');
            if let (Some(_), Some(_), Some(path)) = (parts.next(), parts.next(), parts.next()) {
                path.clone_into(&mut self.file);
            }
            return;
        }
        let Some((number, source)) = line.split_once("| ") else {
            return;
        };
        let number = number.trim_start_matches(' ');
        if !is_number(number) {
            return;
        }
        if let Some(title) = todo(source)
            && self.todo.len() < MOST
        {
            self.todo.insert((self.file.clone(), title.to_owned()));
        }
    }

    pub(super) fn end(&mut self) {
        self.file.clear();
    }

    /// The tests, if they are as many as the runner counted.
    pub(super) fn exactly(&self, count: u64) -> impl Iterator<Item = &(String, String)> {
        let all = self.todo.len() as u64 == count;
        self.todo.iter().filter(move |_| all)
    }
}

/// The title of `test.todo('title')`.
fn todo(source: &str) -> Option<&str> {
    let rest = behind_any(source, &["test.todo(", "it.todo("])?;
    let quote = rest
        .chars()
        .next()
        .filter(|c| matches!(c, '\'' | '"' | '`'))?;
    let (title, tail) = rest[1..].split_once(quote)?;
    let plain = !title.is_empty() && !title.contains('\\') && !title.contains("${");
    (plain && tail.starts_with([')', ','])).then_some(title)
}
