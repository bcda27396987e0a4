//! XML as strictly as Python's `ElementTree` takes it: what is not well-formed is an error there, and
//! so a test run without a report.
//!
//! Not read: the inside of a document type declaration. No test report has one.

use std::collections::BTreeMap;

/// An element, by its place in the document.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    document: &'a Document,
    at: usize,
}

pub(super) struct Document {
    /// In the order of their start tags.
    nodes: Vec<Node>,
}

struct Node {
    name: String,
    attributes: BTreeMap<String, String>,
    /// Where the elements after this one and those in it begin.
    end: usize,
}

impl Document {
    pub(super) fn root(&self) -> Element<'_> {
        Element {
            document: self,
            at: 0,
        }
    }
}

impl<'a> Element<'a> {
    fn node(&self) -> &'a Node {
        &self.document.nodes[self.at]
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.node().attributes.get(name).map(String::as_str)
    }

    /// The elements of a name inside this one, at any depth.
    pub(super) fn below(&self, name: &'static str) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let document = self.document;
        (self.at + 1..self.node().end)
            .filter(move |&at| document.nodes[at].name == name)
            .map(move |at| Element { document, at })
    }

    /// The elements of a name directly in this one.
    pub(super) fn children(
        &self,
        name: &'static str,
    ) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let document = self.document;
        let mut next = self.at + 1;
        let end = self.node().end;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let at = next;
                next = document.nodes[at].end;
                Element { document, at }
            })
        })
        .filter(move |child| child.node().name == name)
    }

    pub(super) fn child(&self, name: &'static str) -> Option<Element<'a>> {
        self.children(name).next()
    }
}

type Read<T> = Result<T, String>;

/// Reads a document.
pub(super) fn read(text: &str) -> Read<Document> {
    let mut reader = Reader {
        text,
        at: 0,
        nodes: Vec::new(),
        open: Vec::new(),
        spaces: vec![("xml".to_owned(), XML.to_owned())],
    };
    reader.document()?;
    Ok(Document {
        nodes: reader.nodes,
    })
}

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// A start tag whose end tag is awaited.
struct Open<'a> {
    node: usize,
    tag: &'a str,
    /// How many namespaces were declared outside.
    spaces: usize,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
    open: Vec<Open<'a>>,
    /// Prefixes and what they stand for, the innermost last.
    spaces: Vec<(String, String)>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn bad<T>(&self, what: &str) -> Read<T> {
        Err(format!("{what} at byte {}", self.at))
    }

    fn take(&mut self, mark: &str) -> bool {
        let there = self.rest().starts_with(mark);
        if there {
            self.at += mark.len();
        }
        there
    }

    fn expect(&mut self, mark: &str) -> Read<()> {
        if self.take(mark) {
            Ok(())
        } else {
            self.bad("not well-formed (invalid token)")
        }
    }

    /// Skips blanks and says whether there were any.
    fn blanks(&mut self) -> bool {
        let start = self.at;
        self.at += self.rest().len() - self.rest().trim_start_matches(is_blank).len();
        self.at > start
    }

    /// The text up to a mark, which is skipped.
    fn until(&mut self, mark: &str) -> Read<&'a str> {
        let rest = self.rest();
        let Some(end) = rest.find(mark) else {
            return self.bad("unclosed token");
        };
        if !rest[..end].chars().all(is_allowed) {
            return self.bad("not well-formed (invalid token)");
        }
        self.at += end + mark.len();
        Ok(&rest[..end])
    }

    /// A name, with a prefix or without.
    fn name(&mut self) -> Read<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c| !is_name(c) && c != ':').unwrap_or(rest.len());
        let name = &rest[..end];
        let mut parts = name.split(':');
        let fine = parts
            .by_ref()
            .take(2)
            .all(|part| part.starts_with(is_name_start));
        if !fine || parts.next().is_some() {
            return self.bad("not well-formed (invalid token)");
        }
        self.at += end;
        Ok(name)
    }

    fn document(&mut self) -> Read<()> {
        self.take("\u{feff}");
        if self.rest().starts_with("<?xml") && self.rest()[5..].starts_with(is_blank) {
            self.declaration()?;
        }
        let mut typed = false;
        loop {
            self.blanks();
            if self.comment_or_instruction()? {
                continue;
            }
            if !typed && self.take("<!DOCTYPE") {
                typed = true;
                self.document_type()?;
                continue;
            }
            break;
        }
        if self.rest().is_empty() {
            return self.bad("no element found");
        }
        self.expect("<")?;
        self.start_tag()?;
        while !self.open.is_empty() {
            self.content()?;
        }
        loop {
            self.blanks();
            if !self.comment_or_instruction()? {
                break;
            }
        }
        if self.rest().is_empty() {
            Ok(())
        } else {
            self.bad("junk after document element")
        }
    }

    /// `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`; the encoding is not asked for.
    fn declaration(&mut self) -> Read<()> {
        self.at += "<?xml".len();
        let mut last = 0;
        loop {
            let blank = self.blanks();
            if self.take("?>") {
                return if last > 0 {
                    Ok(())
                } else {
                    self.bad("XML declaration not well-formed")
                };
            }
            let names = ["version", "encoding", "standalone"];
            let found = names.iter().position(|name| self.take(name));
            let Some(at) = found.filter(|&at| blank && (at == 0) == (last == 0) && at >= last)
            else {
                return self.bad("XML declaration not well-formed");
            };
            last = at + 1;
            self.blanks();
            self.expect("=")?;
            self.blanks();
            let quote = if self.take("'") { "'" } else { "\"" };
            if quote == "\"" {
                self.expect("\"")?;
            }
            let value = self.until(quote)?;
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-:".contains(c);
            let fine = match at {
                0 => !value.is_empty() && value.chars().all(plain),
                1 => {
                    value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.chars().all(plain)
                }
                _ => matches!(value, "yes" | "no"),
            };
            if !fine {
                return self.bad("XML declaration not well-formed");
            }
        }
    }

    fn document_type(&mut self) -> Read<()> {
        if !self.blanks() {
            return self.bad("not well-formed (invalid token)");
        }
        self.name()?;
        self.blanks();
        let ids = if self.take("SYSTEM") {
            1
        } else if self.take("PUBLIC") {
            2
        } else {
            0
        };
        for _ in 0..ids {
            self.blanks();
            let quote = if self.take("'") { "'" } else { "\"" };
            if quote == "\"" {
                self.expect("\"")?;
            }
            self.until(quote)?;
        }
        self.blanks();
        if self.take("[") {
            self.until("]")?;
            self.blanks();
        }
        self.expect(">")
    }

    /// Skips a comment or a processing instruction.
    fn comment_or_instruction(&mut self) -> Read<bool> {
        if self.take("<!--") {
            self.until("--")?;
            self.expect(">")?;
            return Ok(true);
        }
        if !self.rest().starts_with("<?") {
            return Ok(false);
        }
        self.at += 2;
        let target = self.name()?;
        if target.contains(':') {
            return self.bad("not well-formed (invalid token)");
        }
        if target.eq_ignore_ascii_case("xml") {
            return self.bad("XML or text declaration not at start of entity");
        }
        if !self.take("?>") {
            if !self.blanks() {
                return self.bad("not well-formed (invalid token)");
            }
            self.until("?>")?;
        }
        Ok(true)
    }

    /// One piece of what is inside an element.
    fn content(&mut self) -> Read<()> {
        let rest = self.rest();
        let end = rest.find(['<', '&']).unwrap_or(rest.len());
        let text = &rest[..end];
        if text.contains("]]>") || !text.chars().all(is_allowed) {
            return self.bad("not well-formed (invalid token)");
        }
        self.at += end;
        if self.rest().is_empty() {
            return self.bad("no element found");
        }
        if self.rest().starts_with('&') {
            return self.reference().map(drop);
        }
        if self.comment_or_instruction()? {
            return Ok(());
        }
        if self.take("<![CDATA[") {
            return self.until("]]>").map(drop);
        }
        if self.take("</") {
            return self.end_tag();
        }
        self.expect("<")?;
        self.start_tag()
    }

    fn end_tag(&mut self) -> Read<()> {
        let tag = self.name()?;
        self.blanks();
        self.expect(">")?;
        match self.open.pop() {
            Some(open) if open.tag == tag => {
                self.nodes[open.node].end = self.nodes.len();
                self.spaces.truncate(open.spaces);
                Ok(())
            }
            _ => self.bad("mismatched tag"),
        }
    }

    fn start_tag(&mut self) -> Read<()> {
        let tag = self.name()?;
        let outer = self.spaces.len();
        let mut written: BTreeMap<&str, String> = BTreeMap::new();
        let closed = loop {
            let blank = self.blanks();
            if self.take("/>") {
                break true;
            }
            if self.take(">") {
                break false;
            }
            if !blank {
                return self.bad("not well-formed (invalid token)");
            }
            let name = self.name()?;
            self.blanks();
            self.expect("=")?;
            self.blanks();
            let value = self.value()?;
            if written.insert(name, value).is_some() {
                return self.bad("duplicate attribute");
            }
        };
        for (name, value) in &written {
            self.declare(name, value)?;
        }
        let mut attributes = BTreeMap::new();
        for (name, value) in written {
            if name == "xmlns" || name.starts_with("xmlns:") {
                continue;
            }
            let name = if name.contains(':') {
                self.expand(name)?
            } else {
                name.to_owned()
            };
            if attributes.insert(name, value).is_some() {
                return self.bad("duplicate attribute");
            }
        }
        let name = self.expand(tag)?;
        let node = self.nodes.len();
        self.nodes.push(Node {
            name,
            attributes,
            end: node + 1,
        });
        if closed {
            self.spaces.truncate(outer);
        } else {
            self.open.push(Open {
                node,
                tag,
                spaces: outer,
            });
        }
        Ok(())
    }

    /// Notes the namespace that an attribute declares.
    fn declare(&mut self, name: &str, value: &str) -> Read<()> {
        let prefix = match name.split_once(':') {
            None if name == "xmlns" => "",
            Some(("xmlns", prefix)) => prefix,
            _ => return Ok(()),
        };
        if prefix == "xmlns" || (prefix == "xml") != (value == XML) {
            return self.bad("reserved prefix must not be declared or undeclared");
        }
        if value.is_empty() && !prefix.is_empty() {
            return self.bad("must not undeclare prefix");
        }
        self.spaces.push((prefix.to_owned(), value.to_owned()));
        Ok(())
    }

    /// A name with what its prefix stands for.
    fn expand(&self, name: &str) -> Read<String> {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let space = self.spaces.iter().rev().find(|(known, _)| known == prefix);
        match space {
            Some((_, space)) if space.is_empty() => Ok(local.to_owned()),
            Some((_, space)) => Ok(format!("{{{space}}}{local}")),
            None if prefix.is_empty() => Ok(local.to_owned()),
            None => self.bad("unbound prefix"),
        }
    }

    /// A quoted value, its references resolved and its line ends made blanks.
    fn value(&mut self) -> Read<String> {
        let Some(quote @ ('"' | '\'')) = self.rest().chars().next() else {
            return self.bad("not well-formed (invalid token)");
        };
        self.at += 1;
        let mut value = String::new();
        loop {
            let rest = self.rest();
            let Some(end) = rest.find([quote, '<', '&', '\n', '\t', '\r']) else {
                return self.bad("unclosed token");
            };
            if !rest[..end].chars().all(is_allowed) {
                return self.bad("not well-formed (invalid token)");
            }
            value.push_str(&rest[..end]);
            self.at += end;
            if self.rest().starts_with('&') {
                value.push(self.reference()?);
            } else if self.rest().starts_with('<') {
                return self.bad("not well-formed (invalid token)");
            } else if self.take(quote.encode_utf8(&mut [0; 4])) {
                return Ok(value);
            } else {
                if !self.take("\r\n") {
                    self.at += 1;
                }
                value.push(' ');
            }
        }
    }

    /// `&amp;` or `&#38;`.
    fn reference(&mut self) -> Read<char> {
        let rest = self.rest();
        let Some(end) = rest.find(';') else {
            return self.bad("not well-formed (invalid token)");
        };
        let name = &rest[1..end];
        let found = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => name
                .strip_prefix('#')
                .and_then(|number| {
                    let (digits, radix) = number
                        .strip_prefix('x')
                        .map_or((number, 10), |digits| (digits, 16));
                    digits
                        .starts_with(|c: char| c.is_ascii_hexdigit())
                        .then(|| u32::from_str_radix(digits, radix).ok())?
                })
                .and_then(char::from_u32)
                .filter(|&c| is_allowed(c)),
        };
        match found {
            Some(c) => {
                self.at += end + 1;
                Ok(c)
            }
            None => self.bad("undefined entity or reference to an invalid character"),
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// A character that a document may hold.
fn is_allowed(c: char) -> bool {
    is_blank(c) || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'))
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic() || (!c.is_ascii() && c.is_alphabetic())
}

fn is_name(c: char) -> bool {
    is_name_start(c)
        || c.is_ascii_digit()
        || matches!(c, '-' | '.' | '\u{b7}')
        || (!c.is_ascii() && c.is_numeric())
}
