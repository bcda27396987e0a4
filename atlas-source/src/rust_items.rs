//! A change of a Rust source in two steps: its items for tests first, its code after that.

use atlas_syntax::{TestItem, test_items};
use std::collections::BTreeSet;

/// What is known of a change of a Rust source that holds items for tests.
#[derive(Debug)]
pub(crate) struct Divided {
    /// The items, by their keywords and names.
    pub(crate) keys: String,
    /// The old text with the new test items; none if the two kinds of change cannot be told apart, so
    /// that the result would not read as exactly that.
    pub(crate) middle: Option<String>,
}

/// Divides a change; `None` where neither text has items for tests.
pub(crate) fn divide(old: &str, new: &str) -> Option<Divided> {
    let both = [test_items(old), test_items(new)];
    let known = both.iter().flatten().flatten();
    let keys: BTreeSet<&str> = known.map(|item| item.key.as_str()).collect();
    let middle = match &both {
        [Some(old_items), Some(new_items)] if old_items.is_empty() && new_items.is_empty() => {
            return None;
        }
        [Some(old_items), Some(new_items)] => {
            with_new_tests(&parts(old, old_items), &parts(new, new_items))
        }
        _ => None,
    };
    Some(Divided {
        keys: keys.into_iter().collect::<Vec<_>>().join(", "),
        middle,
    })
}

fn with_new_tests(old: &[Part<'_>], new: &[Part<'_>]) -> Option<String> {
    let old_keys: Vec<&str> = old.iter().map(|part| part.text(true)).collect();
    let new_keys: Vec<&str> = new.iter().map(|part| part.text(true)).collect();
    let mut middle = String::new();
    let mut push = |text: &str| {
        // A part that ended the file may now stand before others.
        if !middle.is_empty() && !middle.ends_with('\n') {
            middle.push('\n');
        }
        middle.push_str(text);
    };
    for operation in similar::capture_diff_slices(similar::Algorithm::Myers, &old_keys, &new_keys) {
        let (tag, old_range, new_range) = operation.as_tag_tuple();
        // Equal keys: the same line, or the same item in its new form.
        let is_equal = tag == similar::DiffTag::Equal;
        let lines = old[old_range]
            .iter()
            .filter(|part| !is_equal && !part.is_item());
        lines.for_each(|part| push(part.text(false)));
        let items = new[new_range]
            .iter()
            .filter(|part| is_equal || part.is_item());
        items.for_each(|part| push(part.text(false)));
    }
    let items = test_items(&middle)?;
    let read = parts(&middle, &items);
    let same = |one: &[Part<'_>], other: &[Part<'_>], is_item: bool| {
        let of = |parts: &[Part<'_>]| -> Vec<String> {
            let parts = parts.iter().filter(|part| part.is_item() == is_item);
            parts
                .map(|part| part.text(false).trim_end().to_owned())
                .collect()
        };
        of(one) == of(other)
    };
    (same(&read, old, false) && same(&read, new, true)).then_some(middle)
}

/// A line outside of test items, or a whole test item.
enum Part<'a> {
    Line(&'a str),
    Item { key: &'a str, text: &'a str },
}

impl<'a> Part<'a> {
    fn text(&self, as_key: bool) -> &'a str {
        match self {
            Part::Line(line) => line,
            Part::Item { key, .. } if as_key => key,
            Part::Item { text, .. } => text,
        }
    }

    fn is_item(&self) -> bool {
        matches!(self, Part::Item { .. })
    }
}

fn parts<'a>(text: &'a str, items: &'a [TestItem]) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut items = items.iter().peekable();
    let (mut line, mut rest) = (1, text);
    while !rest.is_empty() {
        let item = items.next_if(|item| item.lines.first == line);
        let count = item.map_or(1, |item| item.lines.count());
        let end = memchr::memchr_iter(b'\n', rest.as_bytes()).nth(count - 1);
        let (taken, others) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        parts.push(match item {
            Some(TestItem { key, .. }) => Part::Item { key, text: taken },
            None => Part::Line(taken),
        });
        (line, rest) = (line + count, others);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::divide;
    use atlas_syntax::test_items;
    use proptest::prelude::*;

    fn source() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("#[cfg(test)]\n".to_owned()),
            Just("#[test]\n".to_owned()),
            Just("#![x]\n".to_owned()),
            Just("mod tests {\n".to_owned()),
            Just("}\n".to_owned()),
            Just("fn a() {}\n".to_owned()),
            Just("fn b<'a>(x: [u8; 2]) {\n".to_owned()),
            Just("r#\"{\"# '\\''".to_owned()),
            Just("/* { /* */ */ // {\n".to_owned()),
            "[#{}()\\[\\]'\"/*;\\\\é\n a]{0,6}",
        ];
        proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_is_divided_or_refused(old in source(), new in source()) {
            if let Some(middle) = divide(&old, &new).and_then(|divided| divided.middle) {
                let count = |text: &str| test_items(text).map(|items| items.len());
                prop_assert_eq!(count(&middle), count(&new));
            }
        }

        #[test]
        fn nothing_changes_between_equal_texts(text in source()) {
            let middle = divide(&text, &text).and_then(|divided| divided.middle);
            prop_assert!(middle.is_none_or(|middle| middle == text));
        }
    }
}
