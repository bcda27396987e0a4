//! Members of JSON files, with comments and trailing commas as configuration files have them.

use super::Spliced;
use std::ops::Range;

/// A value with its place.
#[derive(Debug)]
struct Node {
    span: Range<usize>,
    /// Of an object.
    members: Vec<Member>,
    /// Behind the opening brace; of an object.
    inside: Option<usize>,
}

#[derive(Debug)]
struct Member {
    key: String,
    /// From the key's quote.
    start: usize,
    value: Node,
}

/// Puts the members of `wanted` at the steering paths into `now`.
pub(super) fn splice(now: &str, wanted: &str, paths: &[Vec<String>]) -> Spliced {
    let wanted = if wanted.trim().is_empty() {
        "{}"
    } else {
        wanted
    };
    let Some(old) = read(wanted) else {
        return Spliced::Foreign;
    };
    let mut text = now.to_owned();
    let mut names = Vec::new();
    for path in paths {
        let Some(new) = read(&text) else {
            return Spliced::Broken("it is no JSON");
        };
        let Ok(have) = find(&new, path) else {
            return Spliced::Impossible("a key of its steering part stands there twice");
        };
        let want = find(&old, path).ok().flatten();
        let of = |member: Option<&Member>, text: &str| {
            member.map(|member| tokens(&text[member.value.span.clone()]))
        };
        if of(have, &text) == of(want, wanted) {
            continue;
        }
        names.push(path.join("."));
        match (have, want) {
            (Some(have), Some(want)) => {
                let value = &wanted[want.value.span.clone()];
                text.replace_range(have.value.span.clone(), value);
            }
            (Some(have), None) => {
                let span = with_comma(&text, have.start..have.value.span.end);
                text.replace_range(span, "");
            }
            (None, Some(want)) => {
                let parent = parent(&new, path);
                let Some((inside, empty)) = parent else {
                    return Spliced::Impossible("the object around its steering part is gone");
                };
                let comma = if empty { "" } else { "," };
                let member = &wanted[want.start..want.value.span.end];
                text.insert_str(inside, &format!("\n{member}{comma}"));
            }
            (None, None) => {}
        }
    }
    if names.is_empty() {
        return Spliced::Same;
    }
    let settled = read(&text).is_some_and(|new| {
        paths.iter().all(|path| {
            let have = find(&new, path).ok().flatten();
            let want = find(&old, path).ok().flatten();
            have.map(|member| tokens(&text[member.value.span.clone()]))
                == want.map(|member| tokens(&wanted[member.value.span.clone()]))
        })
    });
    if settled {
        Spliced::New(text, names)
    } else {
        Spliced::Impossible("its steering part cannot be told apart")
    }
}

/// The member at a path. An error where a key on the way stands twice: readers differ about which
/// one counts.
fn find<'a>(root: &'a Node, path: &[String]) -> Result<Option<&'a Member>, ()> {
    let mut node = root;
    let mut found = None;
    for part in path {
        let mut members = node.members.iter().filter(|member| member.key == *part);
        let Some(member) = members.next() else {
            return Ok(None);
        };
        if members.next().is_some() {
            return Err(());
        }
        node = &member.value;
        found = Some(member);
    }
    Ok(found)
}

fn parent(root: &Node, path: &[String]) -> Option<(usize, bool)> {
    let (_, above) = path.split_last()?;
    let node = if above.is_empty() {
        root
    } else {
        &find(root, above).ok()??.value
    };
    Some((node.inside?, node.members.is_empty()))
}

/// A member's extent with the comma behind it, or the one before it.
fn with_comma(text: &str, span: Range<usize>) -> Range<usize> {
    let behind = span.end + skip(&text.as_bytes()[span.end..]);
    let start = text[..span.start].trim_end().len();
    if text.as_bytes().get(behind) == Some(&b',') {
        // White space before it goes too, so that no blank line stays.
        return start..behind + 1;
    }
    if text[..start].ends_with(',') {
        return start - 1..span.end;
    }
    start..span.end
}

/// The text without white space and comments between tokens.
fn tokens(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut at = 0;
    while at < bytes.len() {
        at += skip(&bytes[at..]);
        let end = match bytes.get(at) {
            None => break,
            Some(b'"') => string_end(bytes, at).unwrap_or(bytes.len()),
            Some(_) => (at + 1..bytes.len())
                .find(|end| text.is_char_boundary(*end))
                .unwrap_or(bytes.len()),
        };
        out.push_str(&text[at..end]);
        at = end;
    }
    out
}

fn read(text: &str) -> Option<Node> {
    let bytes = text.strip_prefix('\u{feff}').map_or(0, |_| 3);
    let mut reader = Reader { text, at: bytes };
    let node = reader.value(0)?;
    reader.blank();
    (reader.at == text.len() && node.inside.is_some()).then_some(node)
}

/// Length of white space and comments.
fn skip(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = &bytes[at..];
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with(b"//") {
            at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            let close = rest[2..].windows(2).position(|pair| pair == b"*/");
            at += close.map_or(rest.len(), |close| close + 4);
        } else {
            break;
        }
    }
    at
}

/// Behind the string that opens at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        match bytes.get(end)? {
            b'"' => return Some(end + 1),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn blank(&mut self) {
        self.at += skip(&self.text.as_bytes()[self.at..]);
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn string(&mut self) -> Option<&str> {
        let start = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        self.at = string_end(self.text.as_bytes(), start)?;
        self.text.get(start..self.at)
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        // Deeper than any configuration; a bound keeps the stack.
        if depth > 64 {
            return None;
        }
        self.blank();
        let start = self.at;
        let mut members = Vec::new();
        let mut inside = None;
        match self.peek()? {
            b'"' => {
                self.string()?;
            }
            open @ (b'{' | b'[') => {
                let close = if open == b'{' { b'}' } else { b']' };
                self.at += 1;
                if open == b'{' {
                    inside = Some(self.at);
                }
                loop {
                    self.blank();
                    if self.peek()? == close {
                        self.at += 1;
                        break;
                    }
                    if open == b'{' {
                        let start = self.at;
                        let key = serde_json::from_str(self.string()?).ok()?;
                        self.blank();
                        if self.peek()? != b':' {
                            return None;
                        }
                        self.at += 1;
                        let value = self.value(depth + 1)?;
                        members.push(Member { key, start, value });
                    } else {
                        self.value(depth + 1)?;
                    }
                    self.blank();
                    match self.peek()? {
                        b',' => self.at += 1,
                        byte if byte == close => {}
                        _ => return None,
                    }
                }
            }
            _ => {
                let bytes = self.text.as_bytes();
                let word = |b: &&u8| b.is_ascii_alphanumeric() || b"+-._".contains(b);
                let length = bytes[start..].iter().take_while(word).count();
                if length == 0 {
                    return None;
                }
                self.at += length;
            }
        }
        let span = start..self.at;
        Some(Node {
            span,
            members,
            inside,
        })
    }
}
