//! Changing one member of an object's text.

use super::scan::members;
use super::style::Style;
use serde_json::Value;

/// The text with one member set, in its place if it is there, else at the end. Nothing where the
/// text is no object.
///
/// Of a key that stands there twice the last counts, as for every JSON reader of the field.
pub(crate) fn insert_or_replace(text: &str, key: &str, value: &Value) -> Option<String> {
    let found = members(text)?;
    let style = Style::of(text);
    if let Some(member) = found.iter().rev().find(|member| member.key == key) {
        let mut out = text[..member.value_at.start].to_owned();
        out.push_str(&style.member(value));
        out.push_str(&text[member.value_at.end..]);
        return Some(out);
    }
    let mut added = style.string(key);
    added.push_str(style.colon());
    added.push_str(&style.member(value));
    let (at, lead) = match found.last() {
        Some(last) => (last.value_at.end, style.separator()),
        None => (text.find('{')? + 1, String::new()),
    };
    Some(format!("{}{lead}{added}{}", &text[..at], &text[at..]))
}

/// The text without a member, all of that name. Nothing where the text is no object.
pub(crate) fn without(text: &str, key: &str) -> Option<String> {
    let mut text = text.to_owned();
    loop {
        let found = members(&text)?;
        let Some(at) = found.iter().position(|member| member.key == key) else {
            return Some(text);
        };
        let range = if at > 0 {
            found[at - 1].value_at.end..found[at].value_at.end
        } else if let Some(next) = found.get(1) {
            found[0].key_at.start..next.key_at.start
        } else {
            found[0].key_at.start..found[0].value_at.end
        };
        text.replace_range(range, "");
    }
}

/// The text without line breaks outside of strings, and without the blanks around them: one row on
/// one line, its numbers and escapes as they were spelled.
pub(crate) fn minified(text: &str) -> String {
    if !text.contains(['\n', '\r']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c == '"' {
            in_string = true;
        } else if matches!(c, ' ' | '\t' | '\r' | '\n') {
            continue;
        }
        out.push(c);
        if !in_string && matches!(c, ',' | ':') {
            out.push(' ');
        }
    }
    out
}
