//! What stands around the rows of a file: byte order mark, line ends, brackets, keys.
//!
//! A file is cut into items; all bytes of the file belong to exactly one item or to the tail, so
//! writing the items again gives the same file.

use crate::json;
use crate::json::{ScanError, Style, blank_end, value_end};
use crate::row::Place;
use memchr::memmem;
use std::ops::Range;
use std::path::Path;

/// How a file holds its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// One JSON object a line.
    Lines,
    /// A JSON list of objects.
    List,
    /// A JSON object of objects; the keys are names.
    Dict,
    /// One JSON object.
    Single,
}

/// One row's part of the file.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// What stands before the row: separator, blanks, the key of a dict.
    pub(crate) lead: Vec<u8>,
    /// The row; empty once it was read, for then the row itself has its text.
    pub(crate) body: Vec<u8>,
    /// The key of a dict.
    pub(crate) key: Option<String>,
    /// The line on which the body begins, from 1.
    pub(crate) line: usize,
    /// How many items stand before it.
    pub(crate) index: usize,
    /// Why the body is no complete JSON value, where the cutting found out.
    pub(crate) broken: Option<&'static str>,
}

/// A file, cut up.
#[derive(Clone, Debug)]
pub(crate) struct Framed {
    pub(crate) form: FileForm,
    pub(crate) items: Vec<Item>,
    pub(crate) tail: Vec<u8>,
    /// Whether this is no file that was read: the tail closes brackets that nothing opened yet.
    pub(crate) made: bool,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Cuts a file. `lines` says that the name promises one object a line.
pub(crate) fn cut(bytes: &[u8], lines: bool) -> Framed {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let first = blank_end(bytes, start);
    let form = match bytes.get(first) {
        Some(b'[') => FileForm::List,
        Some(b'{') if !lines => object_form(bytes, first),
        _ => FileForm::Lines,
    };
    let mut framed = match form {
        FileForm::Lines => cut_lines(bytes, start),
        FileForm::Single => cut_single(bytes, first),
        FileForm::List => Cutter::new(bytes, first, b']').run(FileForm::List),
        FileForm::Dict => Cutter::new(bytes, first, b'}').run(FileForm::Dict),
    };
    number_lines(&mut framed);
    framed
}

/// A file that begins with an object: many on lines of their own, a dict of rows, or a row.
fn object_form(bytes: &[u8], first: usize) -> FileForm {
    let line_end = memchr::memchr(b'\n', &bytes[first..]).map_or(bytes.len(), |end| first + end);
    let end = value_end(bytes, first);
    match end {
        Ok(end) if end <= line_end && blank_end(bytes, end) < bytes.len() => FileForm::Lines,
        _ => {
            // A dict holds objects, and a row may too, but a row has a name.
            let members = end
                .ok()
                .and_then(|end| std::str::from_utf8(&bytes[first..end]).ok())
                .and_then(json::members);
            match members {
                Some(members) => {
                    let names_itself = members.iter().any(|member| {
                        matches!(member.key.as_str(), "instance_id" | "org" | "repo_name")
                            && bytes[first + member.value_at.start] != b'{'
                    });
                    let holds_objects = members.is_empty()
                        || members
                            .iter()
                            .any(|member| bytes[first + member.value_at.start] == b'{');
                    if holds_objects && !names_itself {
                        FileForm::Dict
                    } else {
                        FileForm::Single
                    }
                }
                None => open_object_form(bytes, first),
            }
        }
    }
}

/// The form of an object that is broken somewhere: by its first value.
fn open_object_form(bytes: &[u8], first: usize) -> FileForm {
    let key = blank_end(bytes, first + 1);
    let value = value_end(bytes, key)
        .map(|end| blank_end(bytes, end))
        .map(|colon| blank_end(bytes, colon + 1));
    match value {
        Ok(at) if bytes.get(at) == Some(&b'{') => FileForm::Dict,
        _ => FileForm::Lines,
    }
}

fn cut_lines(bytes: &[u8], start: usize) -> Framed {
    let mut items = Vec::new();
    let mut lead_from = 0;
    let mut at = start;
    while at < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        if let Some(body) = body_of(bytes, at, end) {
            items.push(item(bytes, lead_from, body.start, body.end));
            lead_from = body.end;
        }
        at = end + 1;
    }
    Framed {
        form: FileForm::Lines,
        items,
        tail: bytes[lead_from..].to_vec(),
        made: false,
    }
}

/// What of a line is not blank.
fn body_of(bytes: &[u8], from: usize, end: usize) -> Option<Range<usize>> {
    let first = blank_end(&bytes[..end], from);
    let mut last = end;
    while last > first && matches!(bytes[last - 1], b' ' | b'\t' | b'\r') {
        last -= 1;
    }
    (first < end).then_some(first..last)
}

/// A line of a file of lines that is read piece by piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The row.
    pub(crate) body: &'a [u8],
    /// Which line it is, from 1.
    pub(crate) number: usize,
    /// How many rows stand before it.
    pub(crate) index: usize,
}

/// How far a file of lines was cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    lines: usize,
    rows: usize,
}

impl Progress {
    /// Cuts a piece that ends where a line does, as [`cut`] would cut the file.
    pub(crate) fn lines<'a>(&mut self, piece: &'a [u8]) -> Vec<Line<'a>> {
        let mut found = Vec::new();
        let is_first = self.lines == 0;
        let mut at = if is_first && piece.starts_with(BOM) {
            BOM.len()
        } else {
            0
        };
        while at < piece.len() {
            let end = memchr::memchr(b'\n', &piece[at..]).map_or(piece.len(), |end| at + end);
            self.lines += 1;
            if let Some(body) = body_of(piece, at, end) {
                found.push(Line {
                    body: &piece[body],
                    number: self.lines,
                    index: self.rows,
                });
                self.rows += 1;
            }
            at = end + 1;
        }
        found
    }
}

/// Whether a file whose name promises one object a line begins like a list instead.
pub(crate) fn begins_a_list(head: &[u8]) -> bool {
    let start = if head.starts_with(BOM) { BOM.len() } else { 0 };
    head.get(blank_end(head, start)) == Some(&b'[')
}

fn cut_single(bytes: &[u8], first: usize) -> Framed {
    let end = value_end(bytes, first).unwrap_or(bytes.len());
    Framed {
        form: FileForm::Single,
        items: vec![item(bytes, 0, first, end)],
        tail: bytes[end..].to_vec(),
        made: false,
    }
}

fn item(bytes: &[u8], lead_from: usize, from: usize, to: usize) -> Item {
    Item {
        lead: bytes[lead_from..from].to_vec(),
        body: bytes[from..to].to_vec(),
        key: None,
        line: 0,
        index: 0,
        broken: None,
    }
}

impl Item {
    /// Where it was read.
    pub(crate) fn place(&self, file: &Path) -> Place {
        Place {
            file: file.to_owned(),
            line: self.line,
            index: self.index,
        }
    }
}

fn number_lines(framed: &mut Framed) {
    let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
    let mut line = 1;
    for (index, item) in framed.items.iter_mut().enumerate() {
        line += count(&item.lead);
        item.line = line;
        item.index = index;
        // One row a line is what the cutting went by.
        if framed.form != FileForm::Lines {
            line += count(&item.body);
        }
    }
}

/// Cuts a list or a dict.
struct Cutter<'a> {
    bytes: &'a [u8],
    at: usize,
    close: u8,
    lead_from: usize,
    items: Vec<Item>,
    /// How a further element begins in this file, taken from the first: separator and first bytes.
    pattern: Option<Vec<u8>>,
    /// In a dict: how an element's value begins, through its first key.
    inner: Vec<u8>,
}

impl<'a> Cutter<'a> {
    fn new(bytes: &'a [u8], open: usize, close: u8) -> Self {
        Self {
            bytes,
            at: open + 1,
            close,
            lead_from: 0,
            items: Vec::new(),
            pattern: None,
            inner: Vec::new(),
        }
    }

    fn run(mut self, form: FileForm) -> Framed {
        loop {
            self.at = blank_end(self.bytes, self.at);
            match self.bytes.get(self.at) {
                None => {
                    if self.lead_from < self.bytes.len() {
                        let why = "the file ends before its closing bracket";
                        self.broken(self.bytes.len(), why);
                    }
                    break;
                }
                Some(byte) if *byte == self.close => {
                    self.at += 1;
                    let rest = blank_end(self.bytes, self.at);
                    if rest < self.bytes.len() {
                        self.at = rest;
                        self.broken(self.bytes.len(), "text after the closing bracket");
                    }
                    break;
                }
                Some(_) => {}
            }
            self.element(form);
        }
        Framed {
            form,
            tail: self.bytes[self.lead_from..].to_vec(),
            items: self.items,
            made: false,
        }
    }

    fn element(&mut self, form: FileForm) {
        let from = self.at;
        let key = if form == FileForm::Dict {
            self.key()
        } else {
            Ok(None)
        };
        let (key, body) = match key {
            Ok(None) => (None, from),
            Ok(Some((key, body))) => (Some(key), body),
            Err(why) => {
                self.at = from;
                return self.skip_broken(from, why);
            }
        };
        match value_end(self.bytes, body) {
            Ok(end) => {
                let next = blank_end(self.bytes, end);
                let closed = self.bytes.get(next).copied();
                let follows = matches!(closed, Some(b',')) || closed == Some(self.close);
                // A lost quote can swallow whole rows: look for the next beginning inside.
                let swallowed = self
                    .next_beginning(body + 1, end)
                    .filter(|_| is_not_json(&self.bytes[body..end]));
                if let (true, None) = (follows, swallowed) {
                    self.items.push(Item {
                        key,
                        ..item(self.bytes, self.lead_from, body, end)
                    });
                    self.lead_from = end;
                    self.learn(from, body, next, closed);
                    self.at = if closed == Some(b',') { next + 1 } else { next };
                } else if closed.is_none() && swallowed.is_none() {
                    self.items.push(Item {
                        key,
                        ..item(self.bytes, self.lead_from, body, end)
                    });
                    self.lead_from = end;
                    self.at = next;
                    if next == self.bytes.len() {
                        self.at = end;
                        self.broken(next, "the file ends before its closing bracket");
                    }
                } else {
                    self.skip_broken(body, "a comma or a closing bracket is missing");
                }
            }
            Err(ScanError::Open) => {
                self.skip_broken(
                    body,
                    "the file ends inside this value, or a quote is missing",
                );
            }
            Err(ScanError::NoValue) => {
                self.skip_broken(body, "no JSON value, or brackets that do not match");
            }
        }
    }

    /// The key at the cursor and where its value begins.
    fn key(&self) -> Result<Option<(String, usize)>, &'static str> {
        const WHY: &str = "a key and a colon expected";
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(WHY);
        }
        let end = value_end(self.bytes, self.at).map_err(|_| WHY)?;
        let key = serde_json::from_slice(&self.bytes[self.at..end]).map_err(|_| WHY)?;
        let colon = blank_end(self.bytes, end);
        if self.bytes.get(colon) != Some(&b':') {
            return Err(WHY);
        }
        Ok(Some((key, blank_end(self.bytes, colon + 1))))
    }

    /// Learns from the first element how the next ones begin.
    fn learn(&mut self, from: usize, body: usize, next: usize, closed: Option<u8>) {
        if self.pattern.is_some() || closed != Some(b',') {
            return;
        }
        let begin = blank_end(self.bytes, next + 1);
        let separator = &self.bytes[next..begin];
        // `{"repo"`: rows of one file begin with the same column.
        let quote = memchr::memchr(b'"', &self.bytes[body..next]).map_or(body, |at| body + at);
        let first_key = value_end(self.bytes, quote).unwrap_or(quote).min(next);
        let start = &self.bytes[body..first_key];
        if start.len() > 200 {
            return;
        }
        if self.close == b']' {
            self.pattern = Some([separator, start].concat());
        } else {
            self.pattern = Some([separator, &self.bytes[from..=from]].concat());
            self.inner = start.to_vec();
        }
    }

    /// Where within a stretch an element seems to begin: the place of its separating comma.
    fn next_beginning(&self, from: usize, to: usize) -> Option<usize> {
        let pattern = self.pattern.as_deref()?;
        let stretch = self.bytes.get(from..to)?;
        memmem::find_iter(stretch, pattern)
            .map(|at| from + at)
            .find(|at| self.close == b']' || self.begins_entry(at + pattern.len() - 1))
    }

    /// Whether a key stands here, and a value that begins as the first one did.
    fn begins_entry(&self, quote: usize) -> bool {
        let Ok(end) = value_end(self.bytes, quote) else {
            return false;
        };
        let colon = blank_end(self.bytes, end);
        let body = blank_end(self.bytes, colon + 1);
        self.bytes.get(colon) == Some(&b':')
            && self
                .bytes
                .get(body..)
                .is_some_and(|rest| rest.starts_with(&self.inner))
    }

    /// Takes everything to the next beginning of an element as one broken item.
    fn skip_broken(&mut self, from: usize, why: &'static str) {
        self.at = from;
        if let Some(comma) = self.next_beginning(from + 1, self.bytes.len()) {
            self.broken(comma, why);
            self.at = comma + 1;
        } else {
            let end = self.last_bracket(from);
            self.broken(end, why);
            self.at = end;
        }
    }

    /// The file's closing bracket if it ends with one, else its end.
    fn last_bracket(&self, from: usize) -> usize {
        let mut end = self.bytes.len();
        while end > from && self.bytes[end - 1].is_ascii_whitespace() {
            end -= 1;
        }
        if end > from + 1 && self.bytes[end - 1] == self.close {
            end -= 1;
        }
        end
    }

    fn broken(&mut self, to: usize, why: &'static str) {
        let from = self.at.min(to).max(self.lead_from);
        let mut last = to;
        while last > from && self.bytes[last - 1].is_ascii_whitespace() {
            last -= 1;
        }
        self.items.push(Item {
            broken: Some(why),
            ..item(self.bytes, self.lead_from, from, last)
        });
        self.lead_from = last;
        self.at = to;
    }
}

fn is_not_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err()
}

impl Framed {
    /// An empty file of this form, with line ends and brackets as usual.
    pub(crate) fn empty(form: FileForm) -> Self {
        Self {
            form,
            items: Vec::new(),
            tail: match form {
                FileForm::List => b"\n]\n".to_vec(),
                FileForm::Dict => b"\n}\n".to_vec(),
                FileForm::Lines | FileForm::Single => b"\n".to_vec(),
            },
            made: true,
        }
    }

    /// What stands before the first item.
    fn head(&self) -> Vec<u8> {
        match (self.items.first(), self.form) {
            // The lead of a dict ends with the key, which is the item's own.
            (Some(first), FileForm::Dict) => before_key(&first.lead).to_vec(),
            (Some(first), _) => first.lead.clone(),
            (None, FileForm::List) => b"[\n  ".to_vec(),
            (None, FileForm::Dict) => b"{\n  ".to_vec(),
            (None, FileForm::Lines | FileForm::Single) => Vec::new(),
        }
    }

    /// What stands between two items.
    fn separator(&self) -> Vec<u8> {
        match (self.items.get(1), self.form) {
            (Some(second), FileForm::Dict) => before_key(&second.lead).to_vec(),
            (Some(second), _) => second.lead.clone(),
            (None, FileForm::List | FileForm::Dict) => {
                // A list of one: its separator is a comma and what stood behind the bracket.
                let head = self.head();
                let open = head.iter().position(|byte| matches!(byte, b'[' | b'{'));
                let mut separator = b",".to_vec();
                match open.map(|open| &head[open + 1..]) {
                    Some([]) | None => separator.push(b' '),
                    Some(blanks) => separator.extend_from_slice(blanks),
                }
                separator
            }
            (None, FileForm::Lines | FileForm::Single) => {
                if self.tail.starts_with(b"\r\n") {
                    b"\r\n".to_vec()
                } else {
                    b"\n".to_vec()
                }
            }
        }
    }

    /// Writes items in this frame: those that were read by their place in it, and new ones.
    pub(crate) fn write(&self, parts: Vec<Part<'_>>) -> Vec<u8> {
        if self.items.is_empty() && !self.made {
            // A file without rows: its bytes are all tail, and fit no row.
            return if parts.is_empty() {
                self.tail.clone()
            } else {
                Self::empty(self.form).write(parts)
            };
        }
        let mut out = Vec::new();
        let mut written = 0;
        let mut last = None;
        for part in parts {
            let read = part.index.and_then(|index| self.items.get(index));
            // Whoever stood behind the one just written keeps what stood between them.
            let in_place = match (part.index, last) {
                (Some(index), Some(last)) => index == last + 1,
                (Some(index), None) => index == 0 && written == 0,
                (None, _) => false,
            };
            if let Some(item) = read.filter(|_| in_place) {
                out.extend_from_slice(&item.lead);
            } else {
                let gap = if written == 0 {
                    self.head()
                } else {
                    self.separator()
                };
                out.extend_from_slice(&gap);
                if self.form == FileForm::Dict {
                    let key = Style::COMPACT.string(part.key);
                    out.extend_from_slice(key.as_bytes());
                    out.extend_from_slice(b": ");
                }
            }
            match read.filter(|_| part.text.is_none()) {
                Some(item) => out.extend_from_slice(&item.body),
                None => match self.form {
                    FileForm::Lines => {
                        out.extend_from_slice(json::minified(part.text.unwrap_or("")).as_bytes());
                    }
                    _ => out.extend_from_slice(part.text.unwrap_or("").as_bytes()),
                },
            }
            written += 1;
            last = part.index;
        }
        if written == 0 {
            match self.form {
                FileForm::List => out.extend_from_slice(b"["),
                FileForm::Dict => out.extend_from_slice(b"{"),
                FileForm::Lines | FileForm::Single => return out,
            }
        }
        out.extend_from_slice(&self.tail);
        out
    }
}

/// One item to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// Which item of the frame it was read from.
    pub(crate) index: Option<usize>,
    /// The item's key in a dict.
    pub(crate) key: &'a str,
    /// The text; absent for the bytes that were read.
    pub(crate) text: Option<&'a str>,
}

/// A dict's lead without the key at its end: up to the quote that begins it.
fn before_key(lead: &[u8]) -> &[u8] {
    let quote = memchr::memchr(b'"', lead).unwrap_or(lead.len());
    &lead[..quote]
}

/// Puts broken items between the parts where they were read; `parts` come with their places.
pub(crate) fn merged<'a>(parts: Vec<(Option<usize>, Part<'a>)>, broken: &[usize]) -> Vec<Part<'a>> {
    let mut left = broken.iter().copied().peekable();
    let mut all = Vec::with_capacity(parts.len() + broken.len());
    let as_read = |index| Part {
        index: Some(index),
        key: "",
        text: None,
    };
    for (place, part) in parts {
        if let Some(place) = place {
            while let Some(index) = left.next_if(|index| *index < place) {
                all.push(as_read(index));
            }
        }
        all.push(part);
    }
    all.extend(left.map(as_read));
    all
}
