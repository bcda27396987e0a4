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
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if memchr::memchr2(0x1b, b'\r', line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut clean: Vec<u8> = anstream::adapter::strip_bytes(&closed(line)).into_vec();
    while clean.last() == Some(&b'\r') {
        clean.pop();
    }
    if let Some(last) = memchr::memrchr(b'\r', &clean) {
        clean.drain(..=last);
    }
    Cow::Owned(clean)
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
    use super::has_blank;

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
