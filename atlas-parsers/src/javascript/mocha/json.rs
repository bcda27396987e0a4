//! The document of the json reporter, wherever it stands in the log.
//!
//! It is read byte by byte, so that neither its size nor the length of its lines matters: only
//! the titles are kept. A text that is no such document after all is left at its first fault.

use super::machine::Told;
use atlas_core::TestStatus;

/// The most bytes of one string that are kept.
const LONGEST: usize = 64 << 10;
/// The deepest nesting that is followed; an error's own fields may nest.
const DEEPEST: usize = 512;

/// One test of the document.
#[derive(Clone, Debug, Default)]
struct Test {
    title: Option<String>,
    full_title: String,
    file: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before a value, or before the end of an array.
    Value,
    /// Before a key, or before the end of an object.
    Key,
    Colon,
    /// Behind a value.
    Comma,
    Text {
        escaped: bool,
    },
    /// `\uXXXX`: digits to come, value so far.
    Unicode {
        left: u8,
        code: u32,
    },
    /// A number or a word.
    Word,
}

/// A document that is being read.
#[derive(Clone, Debug)]
struct Reading {
    at: At,
    /// Whether each open bracket is an object's.
    open: Vec<bool>,
    text: Vec<u8>,
    is_key: bool,
    surrogate: Option<u32>,
    section: Vec<u8>,
    field: Vec<u8>,
    test: Test,
    document: Told,
    stats: bool,
}

/// Finds documents in a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Scanner {
    reading: Option<Reading>,
    /// How much of `{ "stats": {` has been seen.
    head: Vec<u8>,
    pub(super) documents: Vec<Told>,
    /// A document began and did not end.
    pub(super) unended: bool,
}

impl Scanner {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Some(reading) = &mut self.reading {
                let mut used = 0;
                let mut end = None;
                for byte in rest {
                    used += 1;
                    if let Some(done) = reading.byte(*byte) {
                        end = Some(done);
                        break;
                    }
                }
                rest = &rest[used..];
                if let Some(whole) = end {
                    let reading = self.reading.take();
                    if let (true, Some(mut reading)) = (whole, reading) {
                        reading.document.begun = true;
                        reading.document.ended = true;
                        self.documents.push(reading.document);
                    }
                }
                continue;
            }
            if self.head.is_empty() {
                let Some(at) = memchr::memchr(b'{', rest) else {
                    return;
                };
                rest = &rest[at + 1..];
                self.head.push(b'{');
                continue;
            }
            self.opening(rest[0]);
            rest = &rest[1..];
        }
    }

    /// Looks for `"stats":` behind a brace; blanks do not count.
    fn opening(&mut self, byte: u8) {
        const HEAD: &[u8] = b"{\"stats\":";
        let inside = self.head.len() > 1 && self.head.len() < HEAD.len() - 1;
        if byte.is_ascii_whitespace() && !inside {
            return;
        }
        self.head.push(byte);
        if self.head == HEAD {
            self.head.clear();
            self.reading = Some(Reading::new());
        } else if !HEAD.starts_with(&self.head) {
            self.head.clear();
            if byte == b'{' {
                self.head.push(byte);
            }
        }
    }

    pub(super) fn finish(&mut self) {
        self.unended = self.reading.take().is_some();
    }
}

impl Reading {
    /// Behind `{"stats":`.
    fn new() -> Self {
        Self {
            at: At::Value,
            open: vec![true],
            text: Vec::new(),
            is_key: false,
            surrogate: None,
            section: b"stats".to_vec(),
            field: Vec::new(),
            test: Test::default(),
            document: Told::default(),
            stats: false,
        }
    }

    /// Takes a byte. `Some` where the document ends: whether it is a whole one.
    fn byte(&mut self, byte: u8) -> Option<bool> {
        match self.at {
            At::Text { escaped } => return self.text_byte(byte, escaped),
            At::Unicode { left, code } => {
                let Some(digit) = char::from(byte).to_digit(16) else {
                    return Some(false);
                };
                let code = code * 16 + digit;
                if left > 1 {
                    self.at = At::Unicode {
                        left: left - 1,
                        code,
                    };
                } else {
                    self.unicode(code);
                    self.at = At::Text { escaped: false };
                }
                return None;
            }
            At::Word if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+') => {
                self.keep(byte);
                return None;
            }
            At::Word => {
                self.word();
                self.at = At::Comma;
            }
            _ => {}
        }
        if byte.is_ascii_whitespace() {
            return None;
        }
        match (self.at, byte) {
            (At::Value, b'{' | b'[') => return self.enter(byte == b'{'),
            (At::Value, b'"') => self.string(false),
            (At::Value, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                self.text.clear();
                self.text.push(byte);
                self.at = At::Word;
            }
            (At::Key, b'"') => self.string(true),
            (At::Key, b'}') => return self.leave(),
            (At::Colon, b':') => self.at = At::Value,
            (At::Comma, b',') => {
                self.at = match self.open.last() {
                    Some(true) => At::Key,
                    _ => At::Value,
                };
            }
            (At::Comma, b'}') if self.open.last() == Some(&true) => return self.leave(),
            (At::Value | At::Comma, b']') if self.open.last() == Some(&false) => {
                return self.leave();
            }
            _ => return Some(false),
        }
        None
    }

    fn string(&mut self, is_key: bool) {
        self.text.clear();
        self.is_key = is_key;
        self.surrogate = None;
        self.at = At::Text { escaped: false };
    }

    fn keep(&mut self, byte: u8) {
        if self.text.len() < LONGEST {
            self.text.push(byte);
        }
    }

    fn text_byte(&mut self, byte: u8, escaped: bool) -> Option<bool> {
        if escaped {
            self.at = At::Text { escaped: false };
            match byte {
                b'n' => self.keep(b'\n'),
                b't' => self.keep(b'\t'),
                b'r' => self.keep(b'\r'),
                b'b' => self.keep(8),
                b'f' => self.keep(12),
                b'"' | b'\\' | b'/' => self.keep(byte),
                b'u' => self.at = At::Unicode { left: 4, code: 0 },
                _ => return Some(false),
            }
            return None;
        }
        match byte {
            b'"' => self.text_end(),
            b'\\' => self.at = At::Text { escaped: true },
            // A string has no line end: something else was printed here.
            b'\n' => return Some(false),
            _ => self.keep(byte),
        }
        None
    }

    fn unicode(&mut self, code: u32) {
        let code = match (self.surrogate.take(), code) {
            (Some(high), 0xdc00..=0xdfff) => 0x10000 + ((high - 0xd800) << 10) + (code - 0xdc00),
            (_, 0xd800..=0xdbff) => {
                self.surrogate = Some(code);
                return;
            }
            (_, code) => code,
        };
        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut buffer = [0; 4];
        for byte in c.encode_utf8(&mut buffer).bytes() {
            self.keep(byte);
        }
    }

    fn text_end(&mut self) {
        if self.is_key {
            match self.open.len() {
                1 => self.section = std::mem::take(&mut self.text),
                2 | 3 => self.field = std::mem::take(&mut self.text),
                _ => {}
            }
            self.at = At::Colon;
            return;
        }
        self.at = At::Comma;
        if self.open.len() == 3 {
            let text = || String::from_utf8_lossy(&self.text).into_owned();
            match self.field.as_slice() {
                b"title" => self.test.title = Some(text()),
                b"fullTitle" => self.test.full_title = text(),
                b"file" => self.test.file = text(),
                _ => {}
            }
        }
    }

    /// A number of the statistics.
    fn word(&mut self) {
        if self.open.len() != 2 || self.section != b"stats" {
            return;
        }
        let Some(number) = std::str::from_utf8(&self.text)
            .ok()
            .and_then(|t| t.parse().ok())
        else {
            return;
        };
        let totals = &mut self.document.totals;
        match self.field.as_slice() {
            b"passes" => totals.passed = Some(number),
            b"failures" => totals.failed = Some(number),
            b"pending" => totals.skipped = Some(number),
            b"tests" => self.stats = true,
            _ => {}
        }
    }

    fn enter(&mut self, object: bool) -> Option<bool> {
        if self.open.len() >= DEEPEST {
            return Some(false);
        }
        self.open.push(object);
        if self.open.len() == 3 {
            self.test = Test::default();
        }
        self.at = if object { At::Key } else { At::Value };
        None
    }

    fn leave(&mut self) -> Option<bool> {
        self.open.pop();
        self.at = At::Comma;
        match self.open.len() {
            0 => return Some(self.stats),
            2 => {
                let status = match self.section.as_slice() {
                    b"passes" => TestStatus::Passed,
                    b"failures" => TestStatus::Failed,
                    b"pending" => TestStatus::Skipped,
                    _ => return None,
                };
                let test = std::mem::take(&mut self.test);
                let title = test.title.as_deref();
                self.document
                    .push_titled(&test.file, &test.full_title, title, status);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut whole = Scanner::default();
        whole.feed(text.as_bytes());
        let mut cut = Scanner::default();
        for byte in text.bytes() {
            cut.feed(&[byte]);
        }
        let list = |scanner: &Scanner| -> Vec<String> {
            let tests = scanner.documents.iter().flat_map(Told::named);
            tests
                .map(|(test, name)| format!("{name} {}", test.status))
                .collect()
        };
        assert_eq!(list(&whole), list(&cut));
        list(&whole)
    }

    #[test]
    fn a_document_may_be_one_line_or_many() {
        let one = r#"x{"stats":{"tests":1,"passes":1},"tests":[{"fullTitle":"a"}],"pending":[],"failures":[{"fullTitle":"b","err":{"fullTitle":"no","x":[{}]}}],"passes":[{"title":"a","fullTitle":"\u00e9 \"a\" \ud83d\ude00"}]}"#;
        assert_eq!(read(one), ["b FAILED", "é \"a\" 😀 PASSED"]);
        let split = r#"{"stats":{"tests":1},"passes":[{"title":"c d","fullTitle":"a b c d"},{"title":"e","fullTitle":"a e"},{"title":"a b","fullTitle":"a b"}]}"#;
        assert_eq!(
            read(split),
            ["a > b > c d PASSED", "a > e PASSED", "a b PASSED"]
        );
        let many = "{ {\n  \"stats\": {\n    \"tests\": 1\n  },\n  \"passes\": [\n    {\n      \"fullTitle\": \"a b\"\n    }\n  ]\n}\ntail";
        assert_eq!(read(many), ["a b PASSED"]);
    }

    #[test]
    fn what_is_no_document_is_left() {
        let broken = "{\"stats\":{\"tests\":1},\"passes\":[{\"fullTitle\":\"a\nb\"}]}";
        assert_eq!(read(broken), Vec::<String>::new());
        let other = "{\"stats\":{\"hits\":1},\"passes\":[{\"fullTitle\":\"a\"}]}";
        assert_eq!(read(other), Vec::<String>::new());
    }
}
