//! Small XML documents as trees: Maven's, Ant's and `MSBuild`'s manifests.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements nested deeper than any manifest are hostile.
const MAX_DEPTH: usize = 100;

/// An element with what stands in it. Names are without their namespace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    /// The line of its opening tag, from 1.
    pub(crate) line: usize,
    /// Its own text, trimmed; that of its children is theirs.
    pub(crate) text: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Reads a document. `None` where it is no XML: the caller's manifest then says nothing.
    ///
    /// Entities of a document type are not expanded, so nothing can be fetched or multiplied.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
        reader.config_mut().check_end_names = true;
        let mut lines = Lines::new(text.trim_start_matches('\u{feff}'));
        let mut open: Vec<Self> = vec![Self::default()];
        loop {
            let at = usize::try_from(reader.buffer_position()).ok()?;
            match reader.read_event().ok()? {
                Event::Start(tag) => {
                    if open.len() > MAX_DEPTH {
                        return None;
                    }
                    open.push(Self::start(&tag, lines.of(at)));
                }
                Event::Empty(tag) => {
                    let element = Self::start(&tag, lines.of(at));
                    open.last_mut()?.children.push(element);
                }
                Event::End(_) => {
                    let mut element = open.pop()?;
                    element.text = String::from(element.text.trim());
                    open.last_mut()?.children.push(element);
                }
                Event::Text(piece) => open.last_mut()?.text.push_str(&piece),
                Event::CData(piece) => open.last_mut()?.text.push_str(&piece),
                Event::GeneralRef(name) => {
                    if let Some(c) = entity(&name) {
                        open.last_mut()?.text.push(c);
                    }
                }
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
        // What is left open was cut off.
        (open.len() == 1).then_some(())?;
        let found = open.pop()?.children.into_iter().next();
        found.filter(|root| !root.name.is_empty())
    }

    fn start(tag: &BytesStart<'_>, line: usize) -> Self {
        let attributes = tag
            .attributes()
            .flatten()
            .map(|attribute| {
                let name = attribute.key.local_name().as_ref().to_owned();
                let raw: &str = &attribute.value;
                let value = quick_xml::escape::unescape(raw)
                    .map_or_else(|_| raw.to_owned(), std::borrow::Cow::into_owned);
                (name, value)
            })
            .collect();
        Self {
            name: tag.local_name().as_ref().to_owned(),
            line,
            attributes,
            ..Self::default()
        }
    }

    /// The first child of this name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The element at the end of a path of names.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter()
            .try_fold(self, |element, name| element.child(name))
    }

    /// The text at the end of a path of names, unless it is empty.
    pub(crate) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)
            .map(|element| element.text.as_str())
            .filter(|text| !text.is_empty())
    }

    /// The children of this name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// An attribute's value.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// This element and all below it, in the order of the document.
    pub(crate) fn descend(&self) -> impl Iterator<Item = &Self> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let element = waiting.pop()?;
            waiting.extend(element.children.iter().rev());
            Some(element)
        })
    }
}

/// The character of one of XML's own entities or of a character reference.
fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

/// Line numbers of rising positions.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    fn of(&mut self, position: usize) -> usize {
        let end = position.min(self.text.len());
        if end > self.at {
            let passed = &self.text[self.at..end];
            self.line += passed.split(|byte| *byte == b'\n').count() - 1;
            self.at = end;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn names_texts_and_lines() {
        let text = "\u{feff}<?xml version=\"1.0\"?>\n<!-- c -->\n<m:a x='1 &amp; 2'>\n  <b> one &lt;<![CDATA[&]]> </b>\n  <c/>\n</m:a>\n";
        let root = Element::parse(text).unwrap();
        assert_eq!((root.name.as_str(), root.line), ("a", 3));
        assert_eq!(root.attribute("x"), Some("1 & 2"));
        assert_eq!(root.text_at(&["b"]), Some("one <&"));
        assert_eq!(root.child("c").map(|c| c.line), Some(5));
        assert_eq!(root.descend().count(), 3);
    }

    #[test]
    fn what_is_no_document_says_nothing() {
        let deep = "<a>".repeat(200_000);
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bb\">]><a>&b;&c;</a>";
        for text in ["", "plain", "<a>", "<a></b>", "<a", &deep] {
            assert!(Element::parse(text).is_none(), "{text:.9}");
        }
        assert_eq!(
            Element::parse(bomb).map(|root| root.text),
            Some(String::new())
        );
    }
}
