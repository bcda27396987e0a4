//! JSON documents inside a log, read as they arrive.
//!
//! A document may be one line of any length or spread over many; only what is asked of it is kept.
//! It begins with `{` at the start of a line, and its first key says whether it is one.

use atlas_core::{LineState, LogReader, ParsedLog, feed_lines, finish_unended};

/// What a reader takes of a document.
pub(super) trait Document: Default + Send {
    /// Whether a document of this kind begins with that key.
    fn begins_with(key: &[u8]) -> bool;
    /// An object or list begins: the value of `key`, or an entry of a list where that is empty.
    fn open(&mut self, key: &[u8], object: bool);
    /// The last one that began ends.
    fn close(&mut self);
    /// Whether the text under this key is to be kept.
    fn wants(&self, key: &[u8]) -> bool;
    /// A text that was wanted.
    fn text(&mut self, key: &[u8], text: String);
    /// A number, `true`, `false` or `null`.
    fn literal(&mut self, key: &[u8], text: &str);
    /// The document came to its end.
    fn complete(&mut self);
}

/// What stands next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Key,
    FirstKey,
    Colon,
    Value,
    FirstValue,
    After,
    Text { key: bool },
    Escape { key: bool },
    Literal,
}

enum Fed {
    /// All was taken.
    More,
    /// The document ended, or was none, after so many bytes.
    Ended(usize),
}

/// A document being read.
struct Scan<D> {
    at: At,
    /// For each container that is open, whether it is an object.
    objects: Vec<bool>,
    key: Vec<u8>,
    keep: bool,
    text: Vec<u8>,
    /// The first bytes, until it is known that this is a document.
    head: Option<Vec<u8>>,
    lines: usize,
    document: D,
}

/// Deeper documents are none of these runners'.
const DEEPEST: usize = 512;
/// A longer text is cut.
const LONGEST: usize = 64 << 10;
const LONGEST_HEAD: usize = 256;

impl<D: Document> Scan<D> {
    fn new() -> Self {
        Self {
            at: At::Value,
            objects: Vec::new(),
            key: Vec::new(),
            keep: false,
            text: Vec::new(),
            head: Some(Vec::new()),
            lines: 0,
            document: D::default(),
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Fed {
        let mut next = 0;
        while let Some(&byte) = bytes.get(next) {
            if matches!(self.at, At::Text { .. }) && self.head.is_none() {
                let rest = &bytes[next..];
                let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if end > 0 {
                    self.lines += memchr::memchr_iter(b'\n', &rest[..end]).count();
                    if self.keep {
                        let room = LONGEST.saturating_sub(self.text.len());
                        self.text.extend_from_slice(&rest[..end.min(room)]);
                    }
                    next += end;
                    continue;
                }
            }
            if !self.step(byte) {
                return Fed::Ended(next);
            }
            self.lines += usize::from(byte == b'\n');
            next += 1;
            if let Some(head) = &mut self.head {
                head.push(byte);
                if head.len() > LONGEST_HEAD {
                    return Fed::Ended(next);
                }
            }
            if self.objects.is_empty() && self.at == At::After {
                self.document.complete();
                return Fed::Ended(next);
            }
        }
        Fed::More
    }

    /// Takes one byte; `false` where it cannot stand there.
    fn step(&mut self, byte: u8) -> bool {
        match self.at {
            At::Text { key } => {
                if byte == b'"' {
                    return self.end_text(key);
                }
                if byte == b'\\' {
                    self.at = At::Escape { key };
                }
                self.keep(byte);
                true
            }
            At::Escape { key } => {
                self.keep(byte);
                self.at = At::Text { key };
                true
            }
            At::Literal => match byte {
                b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' => {
                    let text = String::from_utf8_lossy(&self.text);
                    self.document.literal(&self.key, &text);
                    self.at = At::After;
                    self.step(byte)
                }
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.' => {
                    self.keep(byte);
                    self.text.len() < LONGEST
                }
                _ => false,
            },
            _ if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') => true,
            At::FirstKey | At::Key => match byte {
                b'"' => self.begin_text(true),
                b'}' if self.at == At::FirstKey => self.close(byte),
                _ => false,
            },
            At::Colon => {
                self.at = At::Value;
                byte == b':'
            }
            At::Value | At::FirstValue => match byte {
                b'{' | b'[' => self.open(byte),
                b'"' => self.begin_text(false),
                b']' if self.at == At::FirstValue => self.close(byte),
                b'0'..=b'9' | b'-' | b't' | b'f' | b'n' => {
                    self.text.clear();
                    self.keep = true;
                    self.at = At::Literal;
                    self.keep(byte);
                    true
                }
                _ => false,
            },
            At::After => match byte {
                b',' => {
                    let object = self.objects.last() == Some(&true);
                    self.at = if object { At::Key } else { At::Value };
                    self.key.clear();
                    true
                }
                b'}' | b']' => self.close(byte),
                _ => false,
            },
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.keep && self.text.len() < LONGEST {
            self.text.push(byte);
        }
    }

    fn begin_text(&mut self, key: bool) -> bool {
        self.at = At::Text { key };
        self.text.clear();
        self.keep = key || self.document.wants(&self.key);
        true
    }

    fn end_text(&mut self, key: bool) -> bool {
        if key {
            self.at = At::Colon;
            if self.head.is_some() {
                // The first key of all.
                if !D::begins_with(&self.text) {
                    return false;
                }
                self.head = None;
                self.document.open(b"", true);
            }
            std::mem::swap(&mut self.key, &mut self.text);
            return true;
        }
        self.at = At::After;
        if self.keep {
            let text = decoded(&self.text);
            self.document.text(&self.key, text);
        }
        true
    }

    fn open(&mut self, byte: u8) -> bool {
        let object = byte == b'{';
        if self.objects.is_empty() {
            if !object {
                return false;
            }
        } else {
            self.document.open(&self.key, object);
        }
        self.objects.push(object);
        self.at = if object { At::FirstKey } else { At::FirstValue };
        self.key.clear();
        self.objects.len() <= DEEPEST
    }

    fn close(&mut self, byte: u8) -> bool {
        let Some(object) = self.objects.pop() else {
            return false;
        };
        self.at = At::After;
        if self.head.is_none() {
            self.document.close();
        }
        // `{}` is an object without a first key.
        object == (byte == b'}') && !(self.objects.is_empty() && self.head.is_some())
    }
}

/// The document that ends a line behind text: what a test printed last had no line end. Where it
/// begins, and the document.
pub(super) fn behind_text<D: Document>(line: &[u8]) -> Option<(usize, D)> {
    if line.last() != Some(&b'}') {
        return None;
    }
    let at = memchr::memmem::find_iter(line, b"{\"").find(|at| {
        let key = &line[at + 2..];
        memchr::memchr(b'"', &key[..key.len().min(LONGEST_HEAD)])
            .is_some_and(|end| D::begins_with(&key[..end]))
    })?;
    let mut scan = Scan::<D>::new();
    let whole = matches!(scan.feed(&line[at..]), Fed::Ended(end) if at + end == line.len());
    (at > 0 && whole && scan.objects.is_empty() && scan.head.is_none())
        .then_some((at, scan.document))
}

/// The text between the quotes.
fn decoded(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    if !text.contains('\\') {
        return text.into_owned();
    }
    let quoted = format!("\"{text}\"");
    // It fails on half a pair of surrogates, and on an escape where a long text was cut.
    serde_json::from_str(&quoted).unwrap_or_else(|_| text.into_owned())
}

/// A reader of lines that also takes documents.
pub(super) trait TakesDocuments: LineState {
    /// Their kind.
    type Document: Document;
    /// A document that stood between the lines, whole or broken off, and how many line ends it had.
    fn document(&mut self, document: Self::Document, lines: usize);
}

/// Cuts a stream into lines, as `ByLine` does, and documents.
pub(super) struct Mixed<S: TakesDocuments> {
    state: S,
    partial: Vec<u8>,
    /// The line has begun, so no document begins here.
    inside: bool,
    scan: Option<Box<Scan<S::Document>>>,
}

/// The most bytes of one line that are kept.
const MAX_LINE: usize = 4 << 20;

impl<S: TakesDocuments> Mixed<S> {
    pub(super) fn new(state: S) -> Self {
        Self {
            state,
            partial: Vec::new(),
            inside: false,
            scan: None,
        }
    }

    fn emit(state: &mut S, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        state.line(&line[..line.len().min(MAX_LINE)]);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.partial.len());
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Feeds text up to the end of its first line; returns how much was taken.
    fn text(&mut self, bytes: &[u8]) -> usize {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.keep(bytes);
            self.inside = true;
            return bytes.len();
        };
        if self.partial.is_empty() {
            Self::emit(&mut self.state, &bytes[..end]);
        } else {
            self.keep(&bytes[..end]);
            let line = std::mem::take(&mut self.partial);
            Self::emit(&mut self.state, &line);
        }
        self.inside = false;
        end + 1
    }

    /// Feeds whole lines up to one that may begin a document, and what is left of the last line.
    /// Returns what was not taken.
    fn whole_lines<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let rest = feed_lines(&mut self.state, bytes, Some(b'{'));
        if rest.first().is_none_or(|first| *first == b'{') {
            return rest;
        }
        let taken = self.text(rest);
        &rest[taken..]
    }

    fn end_scan(&mut self) {
        let Some(mut scan) = self.scan.take() else {
            return;
        };
        if let Some(head) = scan.head.take() {
            let mut rest = head.as_slice();
            while !rest.is_empty() {
                let taken = self.text(rest);
                rest = &rest[taken..];
            }
        } else {
            self.state.document(scan.document, scan.lines);
            self.inside = true;
        }
    }
}

impl<S: TakesDocuments + Clone> LogReader for Mixed<S> {
    fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if let Some(scan) = &mut self.scan {
                match scan.feed(rest) {
                    Fed::More => return,
                    Fed::Ended(taken) => {
                        rest = &rest[taken..];
                        self.end_scan();
                    }
                }
            } else if first == b'{' && !self.inside {
                self.scan = Some(Box::new(Scan::new()));
            } else if self.partial.is_empty() && !self.inside {
                rest = self.whole_lines(rest);
            } else {
                let taken = self.text(rest);
                rest = &rest[taken..];
            }
        }
    }

    fn finish(mut self: Box<Self>) -> ParsedLog {
        self.end_scan();
        if self.partial.is_empty() {
            return self.state.finish();
        }
        finish_unended(&self.state, &self.partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::{ParsedLogBuilder, RunOutcome};

    #[derive(Default)]
    struct Names(Vec<String>, bool);

    impl Document for Names {
        fn begins_with(key: &[u8]) -> bool {
            key == b"kind"
        }
        fn open(&mut self, _: &[u8], _: bool) {}
        fn close(&mut self) {}
        fn wants(&self, key: &[u8]) -> bool {
            key == b"name"
        }
        fn text(&mut self, _: &[u8], text: String) {
            self.0.push(text);
        }
        fn literal(&mut self, _: &[u8], _: &str) {}
        fn complete(&mut self) {
            self.1 = true;
        }
    }

    /// Remarks each line and document.
    #[derive(Clone)]
    struct Seen(ParsedLogBuilder);

    impl LineState for Seen {
        fn line(&mut self, line: &[u8]) {
            self.0.warn(None, String::from_utf8_lossy(line));
        }
        fn finish(self) -> ParsedLog {
            self.0.finish(RunOutcome::NothingRan)
        }
    }

    impl TakesDocuments for Seen {
        type Document = Names;
        fn document(&mut self, document: Names, lines: usize) {
            let text = format!("{:?} {} {lines}", document.0, document.1);
            self.0.warn(None, text);
        }
    }

    fn seen(log: &str, piece: usize) -> Vec<String> {
        let mut reader = Box::new(Mixed::new(Seen(ParsedLogBuilder::default())));
        for bytes in log.as_bytes().chunks(piece) {
            reader.feed(bytes);
        }
        let log = reader.finish();
        log.warnings.into_iter().map(|w| w.text).collect()
    }

    #[test]
    fn documents_stand_between_lines_whatever_the_pieces() {
        let log = "a\n{\"kind\": 1, \"of\": [{\"name\": \"x\\n\\u00e9\"}, \"name\"]}\nb\n\
                   {\n  \"kind\": null,\n  \"name\": \"y\"\n}\n{\"other\": {}}\n{\n{}\nc {\"kind\": 1}\n\
                   {\"kind\": 1, \"name\": \"cut";
        let expected = [
            "a",
            "[\"x\\né\"] true 0",
            "",
            "b",
            "[\"y\"] true 3",
            "",
            "{\"other\": {}}",
            "{",
            "{}",
            "c {\"kind\": 1}",
            "[] false 0",
        ];
        for piece in [1, 2, 7, 1000] {
            assert_eq!(seen(log, piece), expected, "{piece}");
        }
    }

    #[test]
    fn a_line_may_be_longer_than_any_line_of_text() {
        let names = "{\"name\": \"n\"}, ".repeat(400_000);
        let log = format!("{{\"kind\": [{names}{{}}]}}\n");
        assert!(log.len() > MAX_LINE);
        let seen = seen(&log, 1 << 16);
        assert!(seen[0].ends_with(" true 0"), "{}", &seen[0][..40]);
        assert_eq!(seen[0].matches("\"n\"").count(), 400_000);
    }
}
