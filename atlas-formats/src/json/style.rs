//! How a row is spelled, so that what is added to it looks like the rest.

use super::scan::members;
use serde_json::Value;
use std::fmt::Write as _;

/// How JSON is spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether a blank follows `,` and `:`, as Python writes.
    pub(crate) spaced: bool,
    /// Whether everything beyond ASCII is escaped, as Python writes.
    pub(crate) ascii: bool,
    /// Blanks of one step of indentation, and of the object itself; absent on one line.
    pub(crate) indent: Option<(usize, usize)>,
}

impl Style {
    /// No blanks, text as it is: what `serde_json` and `jq -c` write.
    pub(crate) const COMPACT: Self = Self {
        spaced: false,
        ascii: false,
        indent: None,
    };

    /// What Python's `json.dumps` writes.
    pub(crate) const PYTHON: Self = Self {
        spaced: true,
        ascii: true,
        indent: None,
    };

    /// The style of an object's text, as far as it shows.
    pub(crate) fn of(text: &str) -> Self {
        let Some(members) = members(text).filter(|members| !members.is_empty()) else {
            return Self::COMPACT;
        };
        let first = &members[0];
        let spaced = text.as_bytes()[first.key_at.end..first.value_at.start].ends_with(b" ");
        let lead = &text[..first.key_at.start];
        let indent = lead.rfind('\n').map(|line| {
            let deep = lead.len() - line - 1;
            let end = &text[members[members.len() - 1].value_at.end..];
            let base = end.rfind('\n').map_or(0, |line| {
                end[line + 1..].bytes().take_while(|b| *b == b' ').count()
            });
            (deep.saturating_sub(base), base)
        });
        Self {
            spaced,
            ascii: text.is_ascii() && (spaced || text.contains("\\u")),
            indent,
        }
    }

    /// The same style for a member of the object.
    fn deeper(&self) -> Self {
        Self {
            indent: self.indent.map(|(step, base)| (step, base + step)),
            ..self.clone()
        }
    }

    /// What stands before the first member and, after a comma, before the others.
    pub(crate) fn lead(&self) -> String {
        match self.indent {
            Some((step, base)) => format!("\n{}", " ".repeat(step + base)),
            None => String::new(),
        }
    }

    /// What stands between two members.
    pub(crate) fn separator(&self) -> String {
        match self.indent {
            Some(_) => format!(",{}", self.lead()),
            None if self.spaced => ", ".to_owned(),
            None => ",".to_owned(),
        }
    }

    /// What stands between a key and its value.
    pub(crate) fn colon(&self) -> &'static str {
        if self.spaced { ": " } else { ":" }
    }

    fn close(&self) -> String {
        match self.indent {
            Some((_, base)) => format!("\n{}", " ".repeat(base)),
            None => String::new(),
        }
    }

    /// A member's value.
    pub(crate) fn member(&self, value: &Value) -> String {
        render(value, &self.deeper())
    }

    /// A text with its quotes.
    pub(crate) fn string(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 2);
        quote(&mut out, text, self.ascii);
        out
    }
}

/// A value as text.
pub(crate) fn render(value: &Value, style: &Style) -> String {
    let mut out = String::new();
    write_value(&mut out, value, style);
    out
}

fn write_value(out: &mut String, value: &Value, style: &Style) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::String(text) => quote(out, text, style.ascii),
        Value::Array(items) => {
            let deeper = style.deeper();
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(&if at == 0 {
                    style.lead()
                } else {
                    style.separator()
                });
                write_value(out, item, &deeper);
            }
            if !items.is_empty() {
                out.push_str(&style.close());
            }
            out.push(']');
        }
        Value::Object(map) => {
            let deeper = style.deeper();
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                out.push_str(&if at == 0 {
                    style.lead()
                } else {
                    style.separator()
                });
                quote(out, key, style.ascii);
                out.push_str(style.colon());
                write_value(out, item, &deeper);
            }
            if !map.is_empty() {
                out.push_str(&style.close());
            }
            out.push('}');
        }
    }
}

fn quote(out: &mut String, text: &str, ascii: bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c if ascii && c > '~' => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
