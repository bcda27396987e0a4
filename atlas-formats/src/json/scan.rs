//! Finding where JSON values begin and end.
//!
//! The scanner balances brackets and quotes and checks nothing else; what lies between is left to
//! the JSON reader. So one broken row of a list is one broken row.

use std::ops::Range;

/// Why a value's end cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanError {
    /// The text ends inside the value.
    Open,
    /// No value begins here, or a bracket closes what it did not open.
    NoValue,
}

/// One `"key": value` of an object. Ranges are bytes of the object's text.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The key, escapes resolved.
    pub(crate) key: String,
    /// The key with its quotes.
    pub(crate) key_at: Range<usize>,
    /// The value.
    pub(crate) value_at: Range<usize>,
}

/// The first byte at or after `at` that is no JSON blank.
pub(crate) fn blank_end(text: &[u8], at: usize) -> usize {
    text[at.min(text.len())..]
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        .map_or(text.len(), |skip| at + skip)
}

/// The end of the value that begins at `at`.
pub(crate) fn value_end(text: &[u8], at: usize) -> Result<usize, ScanError> {
    match text.get(at) {
        Some(b'"') => string_end(text, at),
        Some(b'{' | b'[') => container_end(text, at),
        Some(b',' | b':' | b'}' | b']') => Err(ScanError::NoValue),
        None => Err(ScanError::Open),
        Some(_) => Ok(text[at..]
            .iter()
            .position(|byte| {
                matches!(
                    byte,
                    b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"' | b' ' | b'\t' | b'\r' | b'\n'
                )
            })
            .map_or(text.len(), |length| at + length)),
    }
}

fn string_end(text: &[u8], at: usize) -> Result<usize, ScanError> {
    let mut next = at + 1;
    while let Some(rest) = text.get(next..) {
        let found = memchr::memchr2(b'"', b'\\', rest).ok_or(ScanError::Open)?;
        if rest[found] == b'"' {
            return Ok(next + found + 1);
        }
        next += found + 2;
    }
    Err(ScanError::Open)
}

fn container_end(text: &[u8], at: usize) -> Result<usize, ScanError> {
    let mut open = Vec::new();
    let mut next = at;
    while let Some(byte) = text.get(next) {
        match byte {
            b'"' => {
                next = string_end(text, next)?;
                continue;
            }
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(*byte) {
                    return Err(ScanError::NoValue);
                }
                if open.is_empty() {
                    return Ok(next + 1);
                }
            }
            _ => {}
        }
        next += 1;
    }
    Err(ScanError::Open)
}

/// The members of the object that is `text`; nothing where the text is not laid out as one.
pub(crate) fn members(text: &str) -> Option<Vec<Member>> {
    let bytes = text.as_bytes();
    let mut at = blank_end(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at = blank_end(bytes, at + 1);
    let mut found = Vec::new();
    if bytes.get(at) == Some(&b'}') {
        return Some(found);
    }
    loop {
        let key_at = at..string_end(bytes, at).ok()?;
        let key = serde_json::from_str(text.get(key_at.clone())?).ok()?;
        at = blank_end(bytes, key_at.end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        at = blank_end(bytes, at + 1);
        let value_at = at..value_end(bytes, at).ok()?;
        at = blank_end(bytes, value_at.end);
        found.push(Member {
            key,
            key_at,
            value_at,
        });
        match bytes.get(at) {
            Some(b',') => at = blank_end(bytes, at + 1),
            Some(b'}') => return Some(found),
            _ => return None,
        }
    }
}
