//! One tag, and what stands in it.

use crate::text::{clean, has, lossy, near};
use memchr::memchr;
use std::borrow::Cow;

/// How an element stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Empty,
    Close,
}

/// `<name attributes>`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag<'a> {
    /// Its name; a scanner takes the namespace off.
    pub(crate) name: &'a [u8],
    pub(crate) kind: Kind,
    /// The line of the log that it ends on; 0 where it is not counted.
    pub(crate) line: u64,
    attributes: &'a [u8],
}

pub(super) fn local(name: &[u8]) -> &[u8] {
    memchr(b':', name).map_or(name, |at| &name[at + 1..])
}

impl<'a> Tag<'a> {
    pub(super) fn new(name: &'a [u8], kind: Kind, attributes: &'a [u8], line: u64) -> Self {
        Self {
            name,
            kind,
            line,
            attributes,
        }
    }

    pub(crate) fn is_close(&self) -> bool {
        self.kind == Kind::Close
    }

    /// The names of all attributes with their values as they are written; [`text`] reads those.
    pub(crate) fn attributes(&self) -> Attributes<'a> {
        Attributes {
            rest: self.attributes,
        }
    }

    /// An attribute's value as it stands there.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a [u8]> {
        let mut attributes = self.attributes();
        let (_, value) = attributes.find(|(key, _)| *key == name.as_bytes())?;
        Some(value)
    }

    /// An attribute's value with its references resolved; unknown ones stay as they are. Reports
    /// carry colours over from the console: they are taken out.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name).map(text)
    }

    /// The same with its line ends kept, and the blanks around it taken off.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let value = String::from_utf8_lossy(self.raw(name)?);
        let value = quick_xml::escape::unescape(&value)
            .map_or_else(|_| value.clone(), |text| Cow::Owned(text.into_owned()));
        Some(value.trim().to_owned())
    }

    pub(crate) fn is_yes(&self, name: &str) -> bool {
        self.raw(name) == Some(b"yes")
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.raw(name) == Some(b"true")
    }

    /// A number, with the thousands separators that some write.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let text = self.attribute(name)?;
        let text = text.trim();
        match text.parse() {
            Ok(number) => Some(number),
            Err(_) => text.replace(',', "").parse().ok(),
        }
    }
}

/// Walks over the attributes of a tag.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.rest.trim_ascii_start();
            let equals = near(b'=', rest)?;
            let key = rest[..equals].trim_ascii();
            let after = rest[equals + 1..].trim_ascii_start();
            let quote = *after.first()?;
            if quote != b'"' && quote != b'\'' {
                // A value without quotes: passed over.
                let end = after.iter().position(u8::is_ascii_whitespace)?;
                self.rest = &after[end..];
                continue;
            }
            let value = &after[1..];
            let Some(end) = closing(value, quote) else {
                self.rest = &[];
                return Some((key, value));
            };
            self.rest = &value[end + 1..];
            return Some((key, &value[..end]));
        }
    }
}

/// Where a value ends. Some writers leave quotes inside as they are: the one that ends a value has
/// nothing but a blank or the end of the tag behind it.
fn closing(value: &[u8], quote: u8) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + near(quote, &value[from..])?;
        from = at + 1;
        let next = value.get(from);
        if next.is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b'/' | b'?')) {
            return Some(at);
        }
    }
}

/// The text of an attribute's value, as [`Tag::attribute`] gives it.
pub(crate) fn text(value: &[u8]) -> Cow<'_, str> {
    let is_strange = |byte| {
        let is_end = u8::from(byte == b'\r') | u8::from(byte == b'\n') | u8::from(byte == b'\t');
        is_end | u8::from(byte == b'&') | u8::from(byte == 0x1b) != 0
    };
    if !has(value, is_strange) {
        return lossy(value);
    }
    // Line ends and tabs inside a value are blanks, unless they are written as references.
    let text = String::from_utf8_lossy(value).replace("\r\n", " ");
    let text = text.replace(['\r', '\n', '\t'], " ");
    let text = match quick_xml::escape::unescape(&text) {
        Ok(text) => text.into_owned(),
        Err(_) => text.clone(),
    };
    let text = String::from_utf8_lossy(&clean(text.as_bytes())).into_owned();
    Cow::Owned(text)
}
