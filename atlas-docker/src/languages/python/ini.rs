//! INI files, as setuptools and tox have them.

use crate::ci::Placed;
use crate::tree::Tree;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Takes tox's condition off a line: `py38,py39: mock` -> `mock`.
pub(super) fn strip_factors(line: &str) -> &str {
    static FACTORS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^!?[\w{},.!-]+:\s+").expect("a literal pattern"));
    FACTORS
        .find(line)
        .map_or(line, |found| &line[found.end()..])
        .trim()
}

/// An INI file: section -> key -> its lines.
#[derive(Debug, Default)]
pub(super) struct Ini {
    pub(super) sections: BTreeMap<String, BTreeMap<String, Vec<Placed>>>,
}

impl Ini {
    pub(super) fn read(tree: &Tree, file: &str) -> Self {
        Self::of(&tree.text(file).unwrap_or_default(), file, 0)
    }

    /// The text of a file, or of a part of one that begins after some lines.
    pub(super) fn of(text: &str, file: &str, before: usize) -> Self {
        let mut found = Self::default();
        let (mut section, mut key) = (String::new(), String::new());
        for (at, line) in text.lines().enumerate() {
            let at = at + before;
            let text = line.trim();
            if text.is_empty() || text.starts_with(['#', ';']) {
                continue;
            }
            let mut value = text;
            if let Some(name) = text
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
                && !line.starts_with([' ', '\t'])
            {
                name.clone_into(&mut section);
                key.clear();
                continue;
            }
            if !line.starts_with([' ', '\t'])
                && let Some(cut) = text.find(['=', ':'])
            {
                text[..cut].trim().clone_into(&mut key);
                value = text[cut + 1..].trim();
            }
            let lines = found
                .sections
                .entry(section.clone())
                .or_default()
                .entry(key.clone())
                .or_default();
            if !value.is_empty() {
                lines.push(Placed {
                    file: file.to_owned(),
                    line: at + 1,
                    text: value.to_owned(),
                });
            }
        }
        found
    }

    pub(super) fn lines(&self, section: &str, key: &str) -> &[Placed] {
        self.sections
            .get(section)
            .and_then(|keys| keys.get(key))
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn value(&self, section: &str, key: &str) -> Option<&Placed> {
        self.lines(section, key).first()
    }
}
