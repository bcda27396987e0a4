//! Tables and keys of TOML files.

use super::Spliced;
use super::ini::{continuation, filler, lines, statement};
use super::statements::{self, Statement};
use toml::{Table, Value};

/// As [`statements::splice`]; then both texts are read by a TOML reader and must mean the same at
/// the steering paths, so that no spelling (inline tables, dotted keys, escapes) gets around it.
pub(super) fn splice(now: &str, wanted: &str, paths: &[Vec<String>]) -> Spliced {
    let read = |text: &str| text.parse::<Table>().ok();
    let Some(old) = read(wanted) else {
        return Spliced::Foreign;
    };
    let Some(new) = read(now) else {
        return Spliced::Broken("it is no TOML");
    };
    let at_paths = |table: Table| -> Vec<Vec<(String, Value)>> {
        let root = Value::Table(table);
        paths.iter().map(|path| values(&root, path)).collect()
    };
    let old = at_paths(old);
    if at_paths(new) == old {
        return Spliced::Same;
    }
    let is_steering = |path: &[String]| {
        paths.iter().any(|steering| {
            path.len() >= steering.len()
                && steering
                    .iter()
                    .zip(path)
                    .all(|(want, have)| want == "*" || want == have)
        })
    };
    match statements::splice(scan, now, wanted, &is_steering) {
        Spliced::New(text, names) if read(&text).is_some_and(|new| at_paths(new) == old) => {
            Spliced::New(text, names)
        }
        _ => Spliced::Impossible("its steering part is written so that it cannot be told apart"),
    }
}

/// Everything at a path, with where it was found.
fn values(root: &Value, path: &[String]) -> Vec<(String, Value)> {
    let mut found = vec![(String::new(), root.clone())];
    for part in path {
        let mut next = Vec::new();
        for (name, value) in found {
            match value {
                Value::Table(table) => {
                    let matching = table.into_iter();
                    let matching = matching.filter(|(key, _)| part == "*" || key == part);
                    next.extend(matching.map(|(key, value)| (format!("{name}/{key}"), value)));
                }
                // Of an array of tables, the part is looked for in each.
                Value::Array(items) => {
                    for (at, item) in items.into_iter().enumerate() {
                        if let Value::Table(mut table) = item
                            && let Some(value) = table.remove(part)
                        {
                            next.push((format!("{name}/{at}/{part}"), value));
                        }
                    }
                }
                _ => {}
            }
        }
        found = next;
    }
    found
}

fn scan(text: &str) -> Option<Vec<Statement<'_>>> {
    let mut out: Vec<Statement<'_>> = Vec::new();
    let mut table: Vec<String> = Vec::new();
    let mut value = OpenValue::default();
    for (start, line) in lines(text) {
        let bare = line.trim();
        if value.is_open() {
            continuation(&mut out, text, start, line);
            value.feed(line);
        } else if bare.is_empty() || bare.starts_with('#') {
            filler(&mut out, text, start, line);
        } else if let Some(rest) = bare.strip_prefix('[') {
            let rest = rest.strip_prefix('[').unwrap_or(rest);
            table = key_path(rest, ']')?.0;
            out.push(statement(table.clone(), true, text, start, line));
        } else {
            let (key, rest) = key_path(bare, '=')?;
            let path = table.iter().cloned().chain(key).collect();
            out.push(statement(path, false, text, start, line));
            value = OpenValue::default();
            value.feed(rest);
        }
    }
    Some(out)
}

/// A dotted key up to `end`, and what follows.
fn key_path(text: &str, end: char) -> Option<(Vec<String>, &str)> {
    let mut path = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let part;
        if let Some(quoted) = rest.strip_prefix('\'') {
            let close = quoted.find('\'')?;
            part = quoted[..close].to_owned();
            rest = &quoted[close + 1..];
        } else if rest.starts_with('"') {
            let mut close = 1;
            let bytes = rest.as_bytes();
            while *bytes.get(close)? != b'"' {
                close += if bytes[close] == b'\\' { 2 } else { 1 };
            }
            // JSON's escapes are TOML's but for `\e` and `\U`, which no honest key has.
            part = serde_json::from_str(&rest[..=close]).ok()?;
            rest = &rest[close + 1..];
        } else {
            let close = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
                .filter(|close| *close > 0)?;
            part = rest[..close].to_owned();
            rest = &rest[close..];
        }
        path.push(part);
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('.') {
            rest = after.trim_start();
        } else {
            return Some((path, rest.strip_prefix(end)?));
        }
    }
}

/// Where a value stands that may go over several lines.
#[derive(Default)]
struct OpenValue {
    depth: usize,
    string: Option<&'static str>,
}

impl OpenValue {
    fn is_open(&self) -> bool {
        self.depth > 0 || self.string.is_some()
    }

    fn feed(&mut self, line: &str) {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            if let Some(close) = self.string {
                if rest.starts_with(close) {
                    self.string = None;
                    rest = &rest[close.len()..];
                    continue;
                }
                let skip = if c == '\\' && close.starts_with('"') {
                    rest.chars().take(2).map(char::len_utf8).sum()
                } else {
                    c.len_utf8()
                };
                rest = &rest[skip..];
                continue;
            }
            let open = ["\"\"\"", "'''", "\"", "'"]
                .into_iter()
                .find(|quote| rest.starts_with(quote));
            if let Some(open) = open {
                self.string = Some(open);
                rest = &rest[open.len()..];
                continue;
            }
            match c {
                '#' => break,
                '[' | '{' => self.depth += 1,
                ']' | '}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
        }
        // A string of one line ends with it.
        if matches!(self.string, Some("\"" | "'")) {
            self.string = None;
        }
    }
}
