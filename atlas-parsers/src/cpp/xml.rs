//! Elements of XML reports that stand in a console log, with anything around and inside them.
//!
//! Test programs write their reports to the stream that their tests print to, so the documents are
//! often not well-formed. Only elements that are asked for are seen; text, CDATA and all other
//! elements are passed over.

use quick_xml::escape;
use std::borrow::Cow;

/// Cuts a log into the elements of interest.
#[derive(Debug, Default)]
pub(super) struct Tags {
    /// An element whose end is on a later line.
    partial: Vec<u8>,
    /// The quote that is open in it.
    quote: Option<u8>,
    cdata: bool,
}

/// How an element stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Empty,
    Close,
}

/// `<name attributes>`
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a [u8],
    pub(super) kind: Kind,
    attributes: &'a [u8],
}

impl Tags {
    /// The longest element that is read.
    const MAX: usize = 64 << 10;

    /// Takes the next line.
    pub(super) fn line(
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
                if let Some(tag) = Tag::read(&whole) {
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
            if let Some(tag) = Tag::read(&rest[..end]) {
                each(tag);
            }
            rest = &rest[end + 1..];
        }
    }

    /// Whether the log is inside a CDATA section or an element.
    pub(super) fn inside(&self) -> bool {
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

impl<'a> Tag<'a> {
    fn read(inner: &'a [u8]) -> Option<Self> {
        let name = name_of(inner);
        if name.is_empty() {
            return None;
        }
        let closing = inner.first() == Some(&b'/');
        let empty = inner.last() == Some(&b'/');
        let attributes = &inner[usize::from(closing) + name.len()..];
        Some(Self {
            name,
            kind: match (closing, empty) {
                (true, _) => Kind::Close,
                (_, true) => Kind::Empty,
                _ => Kind::Open,
            },
            attributes,
        })
    }

    pub(super) fn is_close(&self) -> bool {
        self.kind == Kind::Close
    }

    /// An attribute's value as it stands there.
    pub(super) fn raw(&self, name: &str) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        loop {
            let equals = memchr::memchr(b'=', rest)?;
            let key = rest[..equals].trim_ascii();
            rest = rest[equals + 1..].trim_ascii_start();
            let mark = *rest.first().filter(|b| matches!(b, b'"' | b'\''))?;
            let end = memchr::memchr(mark, &rest[1..])?;
            let value = &rest[1..=end];
            if key == name.as_bytes() {
                return Some(value);
            }
            rest = &rest[end + 2..];
        }
    }

    /// An attribute's value with its references resolved and blanks around it removed.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = String::from_utf8_lossy(self.raw(name)?);
        let value = escape::unescape(&value)
            .map_or_else(|_| value.clone(), |text| Cow::Owned(text.into_owned()));
        Some(value.trim().to_owned())
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let (value, rest) = super::text::number(self.raw(name)?)?;
        rest.is_empty().then_some(value)
    }

    pub(super) fn is_yes(&self, name: &str) -> bool {
        self.raw(name) == Some(b"yes")
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.raw(name) == Some(b"true")
    }
}
