//! Documents amid a log: tags as they come, whatever stands around.
//!
//! It is no XML parser. Outside a document only the opening tag of a root element counts, so prose
//! and logs may stand around documents. Inside, comments, CDATA sections, processing instructions
//! and text are passed over, and of a tag nothing is decoded but the attributes that are asked for.
//! Memory is that of one tag. Entities are the five of XML and character references, so nothing can
//! expand.

use super::tag::{Kind, Tag, local};
use memchr::{memchr, memchr_iter, memchr2, memmem};

/// What takes the tags of documents.
pub(crate) trait Sink: Send {
    /// The names of root elements, and of elements that a broken tag cannot swallow.
    const ROOTS: &'static [&'static str];
    /// Whether a document is open.
    fn inside(&self) -> bool;
    /// An element opens. An empty one closes at once.
    fn open(&mut self, tag: &Tag<'_>);
    /// An element closes.
    fn close(&mut self, name: &[u8]);
    /// The document stops in the middle; the last tag was on this line.
    fn cut(&mut self, line: u64);
}

/// What the scanner is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Text,
    Tag,
    /// Passed over until the mark.
    Until(&'static [u8]),
}

/// Longest tag that is kept whole: attributes behind this are lost.
const MAX_TAG: usize = 1 << 20;
/// Enough bytes to know any tag that matters.
const LOOK: usize = 24;
/// Bytes looked at in a row.
const CHUNK: usize = 64 << 10;
/// Bytes in which a mark or a declaration may begin.
const KEEP: usize = 8;
/// Most bytes of a section without an end that are kept for a second look.
const MAX_SECOND: usize = 8 << 20;
/// Most second looks: each may read to the end of what was kept.
const MAX_LOOKS: u32 = 16;

/// Reads a stream of bytes.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<S> {
    pub(crate) sink: S,
    state: State,
    buffer: Vec<u8>,
    /// How far the open tag was scanned, and the quote that is open there.
    scanned: usize,
    quote: Option<u8>,
    /// Behind a declaration and before the root: comments there are comments.
    prolog: bool,
    /// Lines before the buffer, and the line of the last tag.
    line: u64,
    last: u64,
    /// Another document may begin in a section that never ends: what was read since.
    second: Option<Second>,
    looks: u32,
}

#[derive(Clone, Debug)]
struct Second {
    bytes: Vec<u8>,
    line: u64,
}

impl<S: Sink> Scanner<S> {
    pub(crate) fn new(sink: S) -> Self {
        Self {
            sink,
            state: State::Text,
            buffer: Vec::new(),
            scanned: 0,
            quote: None,
            prolog: false,
            line: 1,
            last: 1,
            second: None,
            looks: 0,
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(CHUNK) {
            self.buffer.extend_from_slice(chunk);
            self.scan(false);
        }
    }

    /// Ends the log. Returns what took the tags.
    pub(crate) fn finish(mut self) -> S {
        loop {
            self.scan(true);
            if self.sink.inside() {
                self.sink.cut(self.last);
            }
            let Some(mut second) = self.second.take() else {
                break;
            };
            if self.looks == MAX_LOOKS {
                break;
            }
            self.looks += 1;
            self.state = State::Text;
            self.line = second.line;
            second.bytes.append(&mut self.buffer);
            // The declaration itself, or it would be found again.
            let bytes = second.bytes.get(2..).unwrap_or_default();
            self.feed(bytes);
        }
        self.sink
    }

    /// Reads what the buffer holds, and keeps what is not whole yet.
    fn scan(&mut self, end: bool) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        loop {
            let rest = &buffer[at..];
            // A tag's lines are counted where it ends.
            let tag = self.state == State::Tag;
            let used = match self.state {
                State::Text => self.text(rest, end),
                State::Tag => self.tag(rest, end),
                State::Until(mark) => self.pass(rest, mark),
            };
            let Some(used) = used else {
                break;
            };
            if !tag {
                self.count(&rest[..used]);
            }
            at += used;
        }
        self.buffer = buffer;
        self.buffer.drain(..at);
        if self.state == State::Tag && self.buffer.len() > MAX_TAG {
            // What was scanned is let go, but for the last byte: it tells an empty element.
            let last = self.scanned.saturating_sub(1);
            if last > MAX_TAG {
                let lines = memchr_iter(b'\n', &self.buffer[MAX_TAG..last]).count();
                self.line = self.line.saturating_add(lines as u64);
                self.buffer.drain(MAX_TAG..last);
                self.scanned = MAX_TAG + 1;
            }
        }
    }

    fn count(&mut self, passed: &[u8]) {
        self.line = self.line.saturating_add(lines(passed));
    }

    /// Passes text. `None` where more bytes are needed.
    fn text(&mut self, rest: &[u8], end: bool) -> Option<usize> {
        let first = rest.first() == Some(&b'<');
        let Some(at) = first.then_some(0).or_else(|| memchr(b'<', rest)) else {
            self.prolog = self.prolog && rest.iter().all(u8::is_ascii_whitespace);
            return (!rest.is_empty()).then_some(rest.len());
        };
        if at > 0 {
            self.prolog = self.prolog && rest[..at].iter().all(u8::is_ascii_whitespace);
            return Some(at);
        }
        if rest.len() < LOOK && !end && memchr(b'>', rest).is_none() {
            return None;
        }
        if !self.sink.inside() {
            if root::<S>(rest) {
                self.prolog = false;
                self.begin_tag();
                return Some(0);
            }
            self.prolog |= rest.starts_with(b"<?xml ");
            if !self.prolog {
                return Some(1);
            }
            self.state = if rest.starts_with(b"<!--") {
                State::Until(b"-->")
            } else if rest.starts_with(b"<?") {
                State::Until(b"?>")
            } else {
                self.prolog = false;
                State::Text
            };
            return Some(1);
        }
        let (state, used) = if rest.starts_with(b"<![CDATA[") {
            (State::Until(b"]]>"), b"<![CDATA[".len())
        } else if rest.starts_with(b"<!--") {
            (State::Until(b"-->"), b"<!--".len())
        } else if rest.starts_with(b"<?") {
            if rest.starts_with(b"<?xml ") {
                // Another document begins where this one should have gone on.
                self.sink.cut(self.last);
                self.prolog = true;
            }
            (State::Until(b"?>"), 2)
        } else if rest.starts_with(b"<!") {
            (State::Until(b">"), 2)
        } else {
            let name = rest.get(1).copied().unwrap_or_default();
            if name == b'/' || name.is_ascii_alphabetic() || name == b'_' || name >= 0x80 {
                self.begin_tag();
                return Some(0);
            }
            return Some(1);
        };
        self.state = state;
        Some(used)
    }

    fn begin_tag(&mut self) {
        self.state = State::Tag;
        self.scanned = 1;
        self.quote = None;
    }

    /// Passes a comment, a section or an instruction.
    fn pass(&mut self, rest: &[u8], mark: &'static [u8]) -> Option<usize> {
        if let Some(at) = memmem::find(rest, mark) {
            self.state = State::Text;
            self.second = None;
            return Some(at + mark.len());
        }
        // The mark, and the declaration of a document, may begin in the last bytes.
        if rest.len() <= KEEP {
            return None;
        }
        let used = rest.len() - KEEP;
        if let Some(second) = &mut self.second {
            let room = MAX_SECOND.saturating_sub(second.bytes.len());
            second.bytes.extend_from_slice(&rest[..used.min(room)]);
        } else if let Some(at) = memmem::find(rest, b"\n<?xml ").filter(|at| *at < used) {
            let lines = memchr_iter(b'\n', &rest[..=at]).count();
            self.second = Some(Second {
                bytes: rest[at + 1..used].to_vec(),
                line: self.line.saturating_add(lines as u64),
            });
        }
        Some(used)
    }

    /// Reads a tag to its end. A `<` that begins a known element ends a tag that is broken.
    fn tag(&mut self, rest: &[u8], end: bool) -> Option<usize> {
        while let Some(left) = rest.get(self.scanned..).filter(|left| !left.is_empty()) {
            if let Some(quote) = self.quote {
                let Some(at) = memchr2(quote, b'<', left) else {
                    self.scanned = rest.len();
                    return None;
                };
                self.scanned += at;
                if left[at] == quote {
                    self.quote = None;
                } else if left.len() - at < LOOK && !end {
                    return None;
                } else if root::<S>(&left[at..]) {
                    self.state = State::Text;
                    self.count(&rest[..self.scanned]);
                    return Some(self.scanned);
                }
                self.scanned += 1;
                continue;
            }
            let Some(at) = left
                .iter()
                .position(|byte| matches!(byte, b'>' | b'"' | b'\'' | b'<'))
            else {
                self.scanned = rest.len();
                return None;
            };
            self.scanned += at;
            match left[at] {
                b'>' => {
                    self.state = State::Text;
                    let empty = rest[self.scanned - 1] == b'/';
                    self.count(&rest[..self.scanned]);
                    self.last = self.line;
                    self.emit(&rest[1..self.scanned.min(MAX_TAG)], empty);
                    return Some(self.scanned + 1);
                }
                b'<' => {
                    self.state = State::Text;
                    self.count(&rest[..self.scanned]);
                    return Some(self.scanned);
                }
                quote => self.quote = Some(quote),
            }
            self.scanned += 1;
        }
        None
    }

    /// Hands out what stands between `<` and `>`.
    fn emit(&mut self, tag: &[u8], empty: bool) {
        if let Some(name) = tag.strip_prefix(b"/") {
            self.sink.close(local(name.trim_ascii()));
            return;
        }
        let tag = tag.strip_suffix(b"/").unwrap_or(tag);
        let end = tag
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(tag.len());
        let name = local(&tag[..end]);
        let kind = if empty { Kind::Empty } else { Kind::Open };
        self.sink
            .open(&Tag::new(name, kind, &tag[end..], self.last));
        if empty {
            self.sink.close(name);
        }
    }
}

/// The line ends in a text, most often a short one.
fn lines(text: &[u8]) -> u64 {
    if text.len() < 32 {
        text.iter().map(|byte| u64::from(*byte == b'\n')).sum()
    } else {
        memchr_iter(b'\n', text).count() as u64
    }
}

/// Whether the opening tag of a root element begins here.
fn root<S: Sink>(text: &[u8]) -> bool {
    let Some(text) = text.strip_prefix(b"<") else {
        return false;
    };
    S::ROOTS.iter().any(|root| {
        text.strip_prefix(root.as_bytes()).is_some_and(|after| {
            after
                .first()
                .is_some_and(|next| next.is_ascii_whitespace() || matches!(next, b'>' | b'/'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Tags {
        seen: Vec<String>,
        depth: usize,
    }

    impl Sink for Tags {
        const ROOTS: &'static [&'static str] = &["all", "suite"];
        fn inside(&self) -> bool {
            self.depth > 0
        }
        fn open(&mut self, tag: &Tag<'_>) {
            self.depth += 1;
            let name = String::from_utf8_lossy(tag.name);
            let id = tag.attribute("id").unwrap_or_default();
            self.seen.push(format!("{name}{id}"));
        }
        fn close(&mut self, _: &[u8]) {
            self.depth -= 1;
        }
        fn cut(&mut self, line: u64) {
            self.depth = 0;
            self.seen.push(format!("cut {line}"));
        }
    }

    fn read(text: &str) -> String {
        let whole = {
            let mut scanner = Scanner::new(Tags::default());
            scanner.feed(text.as_bytes());
            scanner.finish().seen.join(" ")
        };
        let mut scanner = Scanner::new(Tags::default());
        for byte in text.as_bytes() {
            scanner.feed(std::slice::from_ref(byte));
        }
        assert_eq!(scanner.finish().seen.join(" "), whole, "{text}");
        whole
    }

    #[test]
    fn only_documents_are_read() {
        assert_eq!(
            read("a < b <x/> <suite><x id='1'/></suite> <y/>"),
            "suite x1"
        );
        assert_eq!(read("<suites><x/></suites>"), "");
    }

    #[test]
    fn sections_comments_and_quotes_hide_tags() {
        let text = "<all><![CDATA[<x/> ]] > </all>]]><!-- <x/> --><y id=\"a>b\" other='\"'/></all>";
        assert_eq!(read(text), "all ya>b");
    }

    #[test]
    fn references_are_resolved_and_nothing_else() {
        assert_eq!(read("<all id='&lt;&#x41;&amp;'/>"), "all<A&");
        assert_eq!(read("<all id='&nope;'/>"), "all&nope;");
        assert_eq!(read("<all x=1 id='2'/>"), "all2");
    }

    #[test]
    fn comments_may_stand_before_the_root() {
        assert_eq!(read("<?xml v?>\n<!-- <all> --> <all/>"), "all");
        assert_eq!(read("a <!-- b\n<all/>"), "all");
        assert_eq!(read("<?xml v?>\n<!-- b\n<?xml v?><all/>"), "all");
    }

    #[test]
    fn quotes_may_stand_inside_a_value() {
        assert_eq!(
            read("<all id=\"f(\"a\",\"b\")\" x='1'/>"),
            "allf(\"a\",\"b\")"
        );
    }

    #[test]
    fn a_broken_document_does_not_hide_the_next() {
        assert_eq!(
            read("<all><x id=\"never <all><y/></all>"),
            "all all y cut 1"
        );
        assert_eq!(
            read("<all>\n<x>\n<?xml version='1'?><all/>"),
            "all x cut 2 all"
        );
        assert_eq!(
            read("<all>\n<![CDATA[ cut\n<?xml version='1'?>\n<suite><x/></suite>"),
            "all cut 1 suite x"
        );
        assert_eq!(read("<all><x"), "all cut 1");
    }
}
