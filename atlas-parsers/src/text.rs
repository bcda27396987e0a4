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
/// ```
pub fn clean(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if memchr::memchr2(0x1b, b'\r', line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut clean: Vec<u8> = anstream::adapter::strip_bytes(line).into_vec();
    while clean.last() == Some(&b'\r') {
        clean.pop();
    }
    if let Some(last) = memchr::memrchr(b'\r', &clean) {
        clean.drain(..=last);
    }
    Cow::Owned(clean)
}

/// Bytes as text, what is no UTF-8 replaced; as quick as a check where nothing is.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
