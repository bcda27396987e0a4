//! Cleaning of console lines.

use std::borrow::Cow;

/// A line as a person would see it: escape sequences (CSI, OSC) removed, and of a line that a
/// progress display overwrote with carriage returns, the last text.
///
/// Borrows where there is nothing to clean, which is nearly always.
///
/// ```
/// use atlas_parsers::text::clean;
/// assert_eq!(&*clean(b"\x1b[32mok\x1b[0m t1"), b"ok t1");
/// assert_eq!(&*clean(b"10%\r20%\rok t1"), b"ok t1");
/// assert_eq!(&*clean(b"\x1b]0;title\x07ok t1"), b"ok t1");
/// assert_eq!(&*clean(b"\x1b]not ok t1"), b"not ok t1"); // never closed
/// ```
pub fn clean(line: &[u8]) -> Cow<'_, [u8]> {
    let line = without_mark(line);
    if is_clean(line) {
        return Cow::Borrowed(line);
    }
    let mut room = Vec::with_capacity(line.len());
    clean_into(line, &mut room);
    Cow::Owned(room)
}

/// The same for a reader of many lines that need it, who has room for them.
pub(crate) fn clean_in<'a>(line: &'a [u8], room: &'a mut Vec<u8>) -> &'a [u8] {
    let line = without_mark(line);
    if is_clean(line) {
        return line;
    }
    clean_into(line, room);
    room
}

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

fn is_clean(line: &[u8]) -> bool {
    memchr::memchr2(0x1b, b'\r', line).is_none()
}

fn clean_into(line: &[u8], clean: &mut Vec<u8>) {
    clean.clear();
    if uncoloured(line, clean) {
        return;
    }
    clean.clear();
    for printed in anstream::adapter::strip_bytes(&closed(line)) {
        clean.extend_from_slice(printed);
    }
    while clean.last() == Some(&b'\r') {
        clean.pop();
    }
    if let Some(last) = memchr::memrchr(b'\r', clean) {
        clean.drain(..=last);
    }
}

/// Copies a line without its escape sequences where these are all of the kind that sets colours (CSI)
/// and nothing else in it is for the terminal; false where it is not so.
fn uncoloured(line: &[u8], plain: &mut Vec<u8>) -> bool {
    let (mut odd, mut high) = (0, 0);
    for byte in line {
        odd |= u8::from((*byte < b' ' && *byte != 0x1b && *byte != b'\t') || *byte == 0x7f);
        high |= *byte & 0x80;
    }
    if odd != 0 || high != 0 && std::str::from_utf8(line).is_err() {
        return false;
    }
    let mut rest = line;
    while let Some(at) = memchr::memchr(0x1b, rest) {
        plain.extend_from_slice(&rest[..at]);
        let Some(sequence) = rest[at + 1..].strip_prefix(b"[") else {
            return false;
        };
        let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b';';
        let parts = sequence.iter().take_while(is_part).count();
        match sequence.get(parts) {
            Some(0x40..=0x7e) => rest = &sequence[parts + 1..],
            _ => return false,
        }
    }
    plain.extend_from_slice(rest);
    true
}

/// The line without the beginnings of strings for the terminal (OSC, DCS, SOS, PM, APC) that do not
/// end in it: whoever prints one without a line end would make what the runner prints next a part
/// of it.
fn closed(line: &[u8]) -> Cow<'_, [u8]> {
    let ends = |at: &usize| line[*at] == 0x07 || line.get(at + 1) == Some(&b'\\');
    let tail = memchr::memchr2_iter(0x07, 0x1b, line).rfind(ends);
    let (done, tail) = line.split_at(tail.map_or(0, |at| at + 1));
    let begins =
        |pair: &[u8]| pair[0] == 0x1b && matches!(pair[1], b']' | b'P' | b'X' | b'^' | b'_');
    if !tail.windows(2).any(begins) {
        return Cow::Borrowed(line);
    }
    let mut closed = done.to_vec();
    let mut rest = tail;
    while let Some(at) = rest.windows(2).position(begins) {
        closed.extend_from_slice(&rest[..at]);
        rest = &rest[at + 2..];
    }
    closed.extend_from_slice(rest);
    Cow::Owned(closed)
}

/// Bytes as text, what is no UTF-8 replaced; as quick as a check where nothing is.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Whether a blank is in a text as short as a test's name, for which a call of `memchr` costs as much as
/// its look.
#[inline]
pub(crate) fn has_blank(text: &[u8]) -> bool {
    // Without a way out of the loop this is one comparison of 16 bytes at once.
    let is_in = |piece: &[u8; 16]| {
        let blanks = piece.iter().map(|byte| u8::from(*byte == b' '));
        blanks.fold(0, |found, blank| found | blank) != 0
    };
    match text.split_last_chunk() {
        Some((_, last)) => is_in(last) || text.as_chunks().0.iter().any(is_in),
        None => text.contains(&b' '),
    }
}

#[cfg(test)]
mod tests {
    use super::{clean, has_blank};

    /// What colours are taken from, and what is not only coloured.
    #[test]
    fn coloured_lines_are_cleaned_as_any() {
        let parts: [&[u8]; 22] = [
            b"text",
            b"\x1b[32m",
            b"\x1b[0m",
            b"\x1b[m",
            b"\x1b[38;5;9m",
            b"\x1b[K",
            b"\x1b[",
            b"\x1b[3",
            b"\x1b[?25l",
            b"\x1b[1:2m",
            b"\x1b]0;t\x07",
            b"\x1b]0;t",
            b"\x1b",
            b"\x1b(B",
            "\u{2713} \u{e4}".as_bytes(),
            b"\xff",
            b"\xe2\x9c",
            b"\x07",
            b"\x7f",
            b"\t",
            b"\r",
            b"\x9b1m",
        ];
        let slowly = |line: &[u8]| {
            let closed = super::closed(line);
            let mut clean = anstream::adapter::strip_bytes(&closed).into_vec();
            while clean.last() == Some(&b'\r') {
                clean.pop();
            }
            clean.split_off(memchr::memrchr(b'\r', &clean).map_or(0, |at| at + 1))
        };
        for first in parts {
            for second in parts {
                for third in parts {
                    let line = [b"\x1b[1m" as &[u8], first, second, b"x", third].concat();
                    assert_eq!(*clean(&line), slowly(&line), "{}", line.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn a_blank_is_found_wherever_it_stands() {
        for length in 0..40 {
            for byte in [b'!', b'x', 0, 0x1f, 0x7f, 0x80, 0xa0, 0xff] {
                let mut text = vec![byte; length];
                assert!(!has_blank(&text), "{length} of {byte}");
                for at in 0..length {
                    text[at] = b' ';
                    assert!(has_blank(&text), "{length} of {byte}, {at}");
                    text[at] = byte;
                }
            }
        }
    }
}
