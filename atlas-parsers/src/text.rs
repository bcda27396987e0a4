//! Cleaning of console lines.

use std::borrow::Cow;

/// A line as a person would see it: escape sequences (CSI, OSC) removed, and of a line that a
/// progress display overwrote, having returned to its begin, the last text.
///
/// Borrows where there is nothing to clean, which is nearly always.
///
/// ```
/// use atlas_parsers::text::clean;
/// assert_eq!(&*clean(b"\x1b[32mok\x1b[0m t1"), b"ok t1");
/// assert_eq!(&*clean(b"10%\r20%\rok t1"), b"ok t1");
/// assert_eq!(&*clean(b"| \x1b[1G\x1b[0Kok t1"), b"ok t1");
/// assert_eq!(&*clean(b"\x1b]0;title\x07ok t1"), b"ok t1");
/// assert_eq!(&*clean(b"\x1b]not ok t1"), b"not ok t1"); // never closed
/// ```
pub fn clean(line: &[u8]) -> Cow<'_, [u8]> {
    let line = without_mark(line);
    if memchr::memchr2(0x1b, b'\r', line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut room = String::new();
    if uncoloured(line, &mut room).is_some() {
        return Cow::Owned(room.into_bytes());
    }
    let line = returned(line);
    let mut clean: Vec<u8> = anstream::adapter::strip_bytes(&closed(&line)).into_vec();
    while clean.last() == Some(&b'\r') {
        clean.pop();
    }
    if let Some(last) = memchr::memrchr(b'\r', &clean) {
        clean.drain(..=last);
    }
    Cow::Owned(clean)
}

/// The line without a byte order mark.
pub(crate) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// What [`clean`] makes of a line, where that is text, its escape sequences are all of the kind that
/// sets colours (CSI) and nothing else in it is for the terminal; many lines may share the room.
pub(crate) fn uncoloured<'a>(line: &[u8], room: &'a mut String) -> Option<&'a str> {
    let text = std::str::from_utf8(without_mark(line)).ok()?;
    let is_odd = |byte: u8| {
        let is_control = u8::from(byte < b' ') & u8::from(byte != 0x1b) & u8::from(byte != b'\t');
        is_control | u8::from(byte == 0x7f) != 0
    };
    if has(text.as_bytes(), is_odd) {
        return None;
    }
    room.clear();
    room.reserve(text.len());
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = near(0x1b, &bytes[from..]) {
        let at = from + at;
        if at > from {
            room.push_str(&text[from..at]);
        }
        if bytes.get(at + 1) != Some(&b'[') {
            return None;
        }
        let mut end = at + 2;
        while let Some(b'0'..=b'9' | b';') = bytes.get(end) {
            end += 1;
        }
        if !matches!(bytes.get(end)?, 0x40..=0x7e) || returns(&bytes[at + 2..=end]) {
            return None;
        }
        from = end + 1;
    }
    room.push_str(&text[from..]);
    Some(room)
}

/// Whether a sequence moves to the begin of the line: to its first column, or as far to the left
/// (`1000D`) as no line is wide.
fn returns(sequence: &[u8]) -> bool {
    match sequence {
        b"G" | b"0G" | b"1G" => true,
        [digits @ .., b'D'] => digits.len() >= 3 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// The line with such sequences, where the line is then erased, as carriage returns: spinners and bars
/// are taken away so. Bats goes back to write over its own words, which tell what they are.
fn returned(line: &[u8]) -> Cow<'_, [u8]> {
    const LONGEST: usize = 8;
    let mut plain = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(line, b"\x1b[") {
        let sequence = &line[at + 2..line.len().min(at + 2 + LONGEST)];
        let end = sequence.iter().position(|b| matches!(b, 0x40..=0x7e));
        let Some(end) = end.filter(|end| returns(&sequence[..=*end])) else {
            continue;
        };
        let behind = &line[at + 3 + end..];
        let erases = [&b"\x1b[K"[..], b"\x1b[0K", b"\x1b[2K"];
        if erases.iter().any(|erase| behind.starts_with(erase)) {
            plain.extend_from_slice(&line[from..at]);
            plain.push(b'\r');
            from = at + 3 + end;
        }
    }
    if from == 0 {
        return Cow::Borrowed(line);
    }
    plain.extend_from_slice(&line[from..]);
    Cow::Owned(plain)
}

/// Where a byte stands that is most often near: a call of `memchr` would cost more than its look.
#[inline]
pub(crate) fn near(byte: u8, text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let (pieces, tail) = text.as_chunks::<8>();
    for (nth, piece) in pieces.iter().enumerate() {
        // The byte that is looked for is zero here, and the lowest zero is marked for certain.
        let zero = u64::from_le_bytes(*piece) ^ (ONES * u64::from(byte));
        let marks = zero.wrapping_sub(ONES) & !zero & (ONES << 7);
        if marks != 0 {
            return Some(nth * 8 + marks.trailing_zeros() as usize / 8);
        }
    }
    let at = tail.iter().position(|known| *known == byte)?;
    Some(pieces.len() * 8 + at)
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
    has(text, |byte| byte == b' ')
}

/// Whether such a byte is in a short text. To be quick, `is_it` must not branch.
#[inline]
pub(crate) fn has(text: &[u8], is_it: impl Fn(u8) -> bool + Copy) -> bool {
    match text.last_chunk::<16>() {
        Some(last) => {
            any_of(last, is_it)
                || text
                    .as_chunks::<16>()
                    .0
                    .iter()
                    .any(|part| any_of(part, is_it))
        }
        None => match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) => any_of(first, is_it) || any_of(last, is_it),
            _ => text.iter().any(|byte| is_it(*byte)),
        },
    }
}

/// Without a way out of the loop this is one comparison of all bytes at once.
#[inline]
fn any_of<const LEN: usize>(part: &[u8; LEN], is_it: impl Fn(u8) -> bool) -> bool {
    let found = part.iter().map(|byte| u8::from(is_it(*byte)));
    found.fold(0, |any, found| any | found) != 0
}

#[cfg(test)]
mod tests {
    use super::{clean, has_blank};

    /// What colours are taken from, and what is not only coloured.
    #[test]
    fn coloured_lines_are_cleaned_as_any() {
        let parts: [&[u8]; 26] = [
            b"text",
            b"\x1b[32m",
            b"\x1b[0m",
            b"\x1b[m",
            b"\x1b[38;5;9m",
            b"\x1b[K",
            b"\x1b[G",
            b"\x1b[1G\x1b[0K",
            b"\x1b[1000D\x1b[K",
            b"\x1b[2D",
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
            let line = super::returned(line);
            let closed = super::closed(&line);
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
    fn an_escape_is_found_wherever_it_stands() {
        for length in 0..30 {
            for byte in [b'x', 0, 0x1a, 0x1c, 0x9b, 0xff] {
                let mut text = vec![byte; length];
                assert_eq!(super::near(0x1b, &text), None);
                for at in (0..length).rev() {
                    text[at] = 0x1b;
                    assert_eq!(super::near(0x1b, &text), Some(at));
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
