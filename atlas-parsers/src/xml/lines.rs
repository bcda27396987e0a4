//! Elements line by line, with anything around and inside them.
//!
//! Test programs write their reports to the stream that their tests print to, so the documents are
//! often not well-formed. Only elements that are asked for are seen; text, CDATA and all other
//! elements are passed over.

use super::tag::{Kind, Tag};

/// Cuts a log into the elements of interest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tags {
    /// An element whose end is on a later line.
    partial: Vec<u8>,
    /// The quote that is open in it.
    quote: Option<u8>,
    cdata: bool,
}

impl Tags {
    /// The longest element that is read.
    const MAX: usize = 64 << 10;

    /// Takes the next line.
    pub(crate) fn line(
        &mut self,
        line: &[u8],
        wanted: impl Fn(&[u8]) -> bool,
        mut each: impl FnMut(Tag<'_>),
    ) {
        let mut rest = line;
        if !self.partial.is_empty() {
            let end = close(rest, &mut self.quote);
            let more = &rest[..end.unwrap_or(rest.len())];
            if self.partial.len() + more.len() > Self::MAX {
                self.partial.clear();
                self.quote = None;
            } else {
                self.partial.push(b'\n');
                self.partial.extend_from_slice(more);
                let Some(end) = end else {
                    return;
                };
                let whole = std::mem::take(&mut self.partial);
                if let Some(tag) = read(&whole) {
                    each(tag);
                }
                rest = &rest[end + 1..];
            }
        }
        loop {
            if self.cdata {
                let Some(end) = memchr::memmem::find(rest, b"]]>") else {
                    return;
                };
                self.cdata = false;
                rest = &rest[end + 3..];
            }
            let Some(at) = memchr::memchr(b'<', rest) else {
                return;
            };
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(b"![CDATA[") {
                self.cdata = true;
                rest = after;
                continue;
            }
            if !wanted(name_of(rest)) {
                continue;
            }
            let mut quote = None;
            let Some(end) = close(rest, &mut quote) else {
                if rest.len() <= Self::MAX {
                    self.partial.extend_from_slice(rest);
                    self.quote = quote;
                }
                return;
            };
            if let Some(tag) = read(&rest[..end]) {
                each(tag);
            }
            rest = &rest[end + 1..];
        }
    }

    /// Whether the log is inside a CDATA section or an element.
    pub(crate) fn inside(&self) -> bool {
        self.cdata || !self.partial.is_empty()
    }
}

fn name_of(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b"/").unwrap_or(text);
    let end = text
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        .count();
    &text[..end]
}

/// Where the element ends: the next `>` that is not in quotes.
fn close(text: &[u8], quote: &mut Option<u8>) -> Option<usize> {
    let mut from = 0;
    loop {
        let step = match *quote {
            Some(mark) => memchr::memchr(mark, &text[from..]),
            None => memchr::memchr3(b'>', b'"', b'\'', &text[from..]),
        }?;
        let at = from + step;
        from = at + 1;
        match (*quote, text[at]) {
            (None, b'>') => return Some(at),
            (None, mark) => *quote = Some(mark),
            (Some(_), _) => *quote = None,
        }
    }
}

/// Reads what stands between `<` and `>`.
fn read(inner: &[u8]) -> Option<Tag<'_>> {
    let name = name_of(inner);
    if name.is_empty() {
        return None;
    }
    let closing = inner.first() == Some(&b'/');
    let kind = match (closing, inner.last()) {
        (true, _) => Kind::Close,
        (_, Some(b'/')) => Kind::Empty,
        _ => Kind::Open,
    };
    let attributes = &inner[usize::from(closing) + name.len()..];
    let attributes = attributes.strip_suffix(b"/").unwrap_or(attributes);
    Some(Tag::new(name, kind, attributes, 0))
}
