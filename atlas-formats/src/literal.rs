//! Python literals: what `repr()` writes and `ast.literal_eval` reads.
//!
//! Datasets hold lists so where a script wrote `str(list)`. Nothing is evaluated: a name, a call or
//! an operator is an error.

use serde_json::{Map, Number, Value};
use std::fmt::Write as _;

/// Lists and dicts within each other.
const MAX_DEPTH: usize = 64;

/// Why a text is no Python literal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no Python literal: {why}, at byte {at}")]
pub struct LiteralError {
    /// Where, in bytes from the start.
    pub at: usize,
    /// What is wrong.
    pub why: &'static str,
}

/// Reads `None`, booleans, numbers, texts (both quotes, tripled, raw, adjacent ones joined), lists,
/// tuples, sets and dicts. Tuples and sets become lists, keys that are no text their spelling.
///
/// ```
/// use serde_json::json;
/// let value = atlas_formats::read_literal(r#"{'tests': ["it's", 'a\tb'], 'n': (1, None)}"#)?;
/// assert_eq!(value, json!({"tests": ["it's", "a\tb"], "n": [1, null]}));
/// # Ok::<(), atlas_formats::LiteralError>(())
/// ```
///
/// # Errors
/// [`LiteralError`] with the place: bytes (`b'…'`), half of a surrogate pair, numbers that JSON
/// cannot hold, nesting deeper than 64, and whatever is no literal.
pub fn read_literal(text: &str) -> Result<Value, LiteralError> {
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.error("something follows the value"));
    }
    Ok(value)
}

/// Writes a value as Python's `repr()` does: single quotes, double ones where the text has single
/// ones only.
///
/// ```
/// use serde_json::json;
/// let text = atlas_formats::write_literal(&json!(["a", "it's", true, null]));
/// assert_eq!(text, r#"['a', "it's", True, None]"#);
/// ```
#[must_use]
pub fn write_literal(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, why: &'static str) -> LiteralError {
        LiteralError { at: self.at, why }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0c)) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, LiteralError> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        match self.peek() {
            Some(b'[') => self.list(b']', depth),
            Some(b'(') => self.list(b')', depth),
            Some(b'{') => self.braces(depth),
            Some(b'\'' | b'"') => self.strings().map(Value::String),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => self.number(),
            Some(byte) if byte.is_ascii_alphabetic() => self.word(),
            Some(_) => Err(self.error("no value begins here")),
            None => Err(self.error("a value is missing")),
        }
    }

    fn list(&mut self, close: u8, depth: usize) -> Result<Value, LiteralError> {
        self.at += 1;
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.blanks();
            if self.eat(close) {
                // `(x)` is x itself, `(x,)` a tuple.
                return Ok(match items.pop() {
                    Some(item) if close == b')' && items.is_empty() && !comma => item,
                    Some(item) => {
                        items.push(item);
                        Value::Array(items)
                    }
                    None => Value::Array(items),
                });
            }
            if !items.is_empty() && !comma {
                return Err(self.error("a comma or a closing bracket is missing"));
            }
            items.push(self.value(depth + 1)?);
            self.blanks();
            comma = self.eat(b',');
        }
    }

    fn braces(&mut self, depth: usize) -> Result<Value, LiteralError> {
        self.at += 1;
        let mut map = Map::new();
        let mut set = Vec::new();
        let mut comma = true;
        loop {
            self.blanks();
            if self.eat(b'}') {
                return Ok(if set.is_empty() {
                    Value::Object(map)
                } else {
                    Value::Array(set)
                });
            }
            if !comma {
                return Err(self.error("a comma or a closing brace is missing"));
            }
            let key = self.value(depth + 1)?;
            self.blanks();
            if set.is_empty() && self.eat(b':') {
                self.blanks();
                let value = self.value(depth + 1)?;
                let key = match key {
                    Value::String(key) => key,
                    other => write_literal(&other),
                };
                map.insert(key, value);
            } else if map.is_empty() {
                set.push(key);
            } else {
                return Err(self.error("a colon is missing"));
            }
            self.blanks();
            comma = self.eat(b',');
        }
    }

    fn word(&mut self) -> Result<Value, LiteralError> {
        let length = self
            .rest()
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        let value = match word {
            "None" => Value::Null,
            "True" => true.into(),
            "False" => false.into(),
            _ if matches!(self.rest().as_bytes().get(length), Some(b'\'' | b'"')) => {
                return self.strings().map(Value::String);
            }
            _ => return Err(self.error("a name is no literal")),
        };
        self.at += length;
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, LiteralError> {
        let length = self
            .rest()
            .bytes()
            .enumerate()
            .find(|(at, byte)| {
                let sign = matches!(byte, b'+' | b'-');
                let before = self.rest().as_bytes().get(at.wrapping_sub(1));
                let signed = sign && (*at == 0 || matches!(before, Some(b'e' | b'E')));
                !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || signed)
            })
            .map_or(self.rest().len(), |(at, _)| at);
        let spelled = self.rest()[..length].replace('_', "");
        let spelled = spelled.strip_prefix('+').unwrap_or(&spelled);
        let parsed = if let Ok(number) = spelled.parse::<i64>() {
            Some(number.into())
        } else if let Ok(number) = spelled.parse::<u64>() {
            Some(number.into())
        } else if spelled
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
        {
            None
        } else if spelled
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        {
            spelled.parse().ok().and_then(Number::from_f64)
        } else {
            let radix = |prefix: &str, radix| {
                let digits = spelled.to_ascii_lowercase();
                i64::from_str_radix(digits.strip_prefix(prefix)?, radix).ok()
            };
            radix("0x", 16)
                .or_else(|| radix("0o", 8))
                .or_else(|| radix("0b", 2))
                .map(Into::into)
        };
        let number = parsed.ok_or_else(|| self.error("a number that JSON cannot hold"))?;
        self.at += length;
        Ok(Value::Number(number))
    }

    /// One text, or several side by side.
    fn strings(&mut self) -> Result<String, LiteralError> {
        let mut out = String::new();
        loop {
            self.string(&mut out)?;
            let end = self.at;
            self.blanks();
            let quote = self.rest().find(['\'', '"']).unwrap_or(usize::MAX);
            let prefix = self.rest().as_bytes().get(..quote);
            let again = prefix.is_some_and(|prefix| {
                prefix.len() <= 2 && prefix.iter().all(u8::is_ascii_alphabetic)
            });
            if !again {
                self.at = end;
                return Ok(out);
            }
        }
    }

    fn string(&mut self, out: &mut String) -> Result<(), LiteralError> {
        let mut raw = false;
        while let Some(byte) = self.peek().filter(|byte| !matches!(byte, b'\'' | b'"')) {
            match byte {
                b'r' | b'R' => raw = true,
                b'u' | b'U' => {}
                _ => return Err(self.error("bytes and formatted texts are no values of JSON")),
            }
            self.at += 1;
        }
        let quote = if self.peek() == Some(b'"') { '"' } else { '\'' };
        let triple = if quote == '"' { "\"\"\"" } else { "'''" };
        let long = self.rest().starts_with(triple);
        self.at += if long { 3 } else { 1 };
        loop {
            if long && self.rest().starts_with(triple) {
                self.at += 3;
                return Ok(());
            }
            let Some(c) = self.rest().chars().next() else {
                return Err(self.error("the text is not closed"));
            };
            if c == quote && !long {
                self.at += 1;
                return Ok(());
            }
            if c == '\n' && !long {
                return Err(self.error("a line break within a text"));
            }
            if c == '\\' && raw {
                // A raw text keeps the backslash and whatever it protects.
                out.push('\\');
                self.at += 1;
                let Some(next) = self.rest().chars().next() else {
                    return Err(self.error("the text is not closed"));
                };
                out.push(next);
                self.at += next.len_utf8();
            } else if c == '\\' {
                self.escape(out)?;
            } else {
                out.push(c);
                self.at += c.len_utf8();
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), LiteralError> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.rest().chars().next() else {
            return Err(self.error("the text is not closed"));
        };
        self.at += c.len_utf8();
        let plain = match c {
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => self.code(2, start)?,
            'u' => self.code(4, start)?,
            'U' => self.code(8, start)?,
            'N' => return Err(self.error("characters by name are not supported")),
            '0'..='7' => {
                self.at -= 1;
                let length = self
                    .rest()
                    .bytes()
                    .take(3)
                    .take_while(|byte| matches!(byte, b'0'..=b'7'))
                    .count();
                let code = u32::from_str_radix(&self.rest()[..length], 8).unwrap_or(0);
                self.at += length;
                char::from_u32(code).unwrap_or('\u{fffd}')
            }
            other => {
                // Python keeps the backslash of an escape it does not know.
                out.push('\\');
                other
            }
        };
        out.push(plain);
        Ok(())
    }

    fn code(&mut self, length: usize, start: usize) -> Result<char, LiteralError> {
        let wrong = |why| LiteralError { at: start, why };
        let digits = self
            .rest()
            .get(..length)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .ok_or_else(|| wrong("an escape has too few digits"))?;
        let code =
            u32::from_str_radix(digits, 16).map_err(|_| wrong("an escape has too few digits"))?;
        self.at += length;
        char::from_u32(code).ok_or_else(|| wrong("half of a surrogate pair is no character"))
    }
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_string(out, key);
                out.push_str(": ");
                write_value(out, item);
            }
            out.push('}');
        }
    }
}

fn write_string(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// As Python's `str.isprintable`, without its tables of unassigned characters.
fn is_printable(c: char) -> bool {
    c == ' '
        || !(c.is_control()
            || c.is_whitespace()
            || matches!(
                u32::from(c),
                0xad | 0x600..=0x605
                    | 0x200b..=0x200f
                    | 0x2028..=0x202e
                    | 0x2060..=0x206f
                    | 0xe000..=0xf8ff
                    | 0xfeff
                    | 0xfff0..=0xfffb
                    | 0xe0000..=0x0010_ffff
            ))
}
