//! Which runner printed a log, or which ones.
//!
//! The log's own marks decide where they cannot be another runner's; then the command, then the
//! language, and neither of them more than likely. Nothing is guessed: `unknown` is an answer.
//!
//! Several runners in one log each get their section, if each stands for itself. A runner whose
//! marks stand amid another's is output of that other one: a test that runs a test runner, or prints
//! what looks like one. But a driver that marks each line of the programs it starts, as `ctest -V`
//! does, lets their own results be read as well: its log is both runners', line by line.

mod command;
pub(crate) mod looks;
mod sections;

use crate::front::{At, Front, Take};
use crate::inner;
use crate::registry::BUILTIN;
use crate::runner::{Mark, Place};
use crate::text::{clean, without_mark};
use looks::Found;
use sections::Spans;
use serde::Serialize;

/// What is known of a log besides its text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// The command that printed it: `go test ./...`.
    pub command: Option<&'a str>,
    /// The repository's main language, in lower case: `go`.
    pub language: Option<&'a str>,
}

/// How sure a detection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Nothing tells.
    Unknown,
    /// Something speaks for it and nothing against it.
    Likely,
    /// The log bears marks that no other known runner prints.
    Certain,
}

/// A part of a log that one runner printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The parser's id.
    pub parser: String,
    /// Where it begins, in bytes from 0.
    pub start: u64,
    /// Where it ends, in bytes; the next section begins there.
    pub end: u64,
    /// The number of its first line, from 1.
    pub first_line: u64,
}

/// The parser that fits a log, or the parsers of its sections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detection {
    /// The parser's id; of several sections the ids in their order, as `jest+mocha`; of a driver that
    /// marks its programs' lines, with the runners inside, as `ctest+unity`; `None` where nothing tells.
    pub parser: Option<String>,
    /// [`Certain`](Certainty::Certain) by the log's own marks, [`Likely`](Certainty::Likely) by
    /// weaker marks, the command or the language.
    pub confidence: Certainty,
    /// Why, one sentence each.
    pub reasons: Vec<String>,
    /// The sections, where there are several; together they are the whole log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
}

impl Detection {
    fn one(parser: &str, confidence: Certainty, reasons: Vec<String>) -> Self {
        Self {
            parser: Some(parser.to_owned()),
            confidence,
            reasons,
            sections: Vec::new(),
        }
    }

    fn unknown(reason: String) -> Self {
        Self {
            parser: None,
            confidence: Certainty::Unknown,
            reasons: vec![reason],
            sections: Vec::new(),
        }
    }
}

/// A runner, by its place in the table, with one of its marks.
type Seen = (usize, Mark);

/// Tells which of the shipped parsers reads this log.
///
/// ```
/// use atlas_parsers::{Hints, detect};
/// let log = b"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n";
/// assert_eq!(detect(log, &Hints::default()).parser.as_deref(), Some("gotest"));
/// assert_eq!(detect(b"all is well", &Hints::default()).parser, None);
/// ```
pub fn detect(log: &[u8], hints: &Hints<'_>) -> Detection {
    let mut detector = Detector::default();
    detector.feed(log);
    detector.finish(hints)
}

/// Reads a log piece by piece and tells which runner printed it; what it keeps does not grow with
/// the log. Raw logs of CI systems are looked at as the parsers read them.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    front: Front,
    channels: Channels,
}

/// What is seen in the lines of each job or service; of a log without such, of the log.
#[derive(Clone, Debug, Default)]
struct Channels(Vec<Marks>);

impl Channels {
    fn of(&mut self, channel: usize) -> &mut Marks {
        while self.0.len() <= channel {
            self.0.push(Marks::default());
        }
        &mut self.0[channel]
    }
}

impl Take for Channels {
    fn plain(&mut self, bytes: &[u8]) {
        self.of(0).feed(bytes);
    }

    fn line(&mut self, channel: usize, text: &[u8], at: At, _: bool) {
        self.of(channel).take(text, at);
    }

    fn ended(&mut self, _: usize) {}
}

impl Detector {
    /// Takes the next bytes; pieces may be cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.front.feed(bytes, &mut self.channels);
    }

    /// Ends the log and decides.
    pub fn finish(mut self, hints: &Hints<'_>) -> Detection {
        self.front.finish(&mut self.channels);
        let mut marks = self.channels.0;
        if marks.len() <= 1 {
            return marks.pop().unwrap_or_default().finish(hints);
        }
        let mut ids: Vec<String> = Vec::new();
        let mut all =
            Detection::unknown("no mark of a known runner in any job or service".to_owned());
        for (channel, marks) in marks.into_iter().enumerate() {
            // The command and the language are those of the whole.
            let found = marks.finish(&Hints::default());
            let Some(id) = found.parser else {
                continue;
            };
            if found.confidence > all.confidence {
                all.confidence = found.confidence;
                all.reasons.clear();
                ids.clear();
            }
            if found.confidence < all.confidence {
                continue;
            }
            let name = String::from_utf8_lossy(self.front.name(channel));
            let reason = format!("{name}: {id}: {}", found.reasons.join("; "));
            all.reasons.push(reason);
            for id in id.split('+') {
                if !ids.iter().any(|known| known == id) {
                    ids.push(id.to_owned());
                }
            }
        }
        if ids.is_empty() {
            return Marks::default().finish(hints);
        }
        all.parser = Some(ids.join("+"));
        all
    }
}

/// What the lines of a log say of its runner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// Only these runners count; all of them where this is empty.
    only: Vec<usize>,
    found: Vec<Seen>,
    spans: Spans,
    /// Certain marks of runners in the lines that a driver says are its programs', by the driver.
    inside: Vec<(usize, Seen)>,
    /// The last such line that was not empty.
    before_inside: Vec<u8>,
    /// The beginning of the line that is not whole yet, and its length so far.
    partial: Vec<u8>,
    partial_len: u64,
    /// The last line that was not empty.
    before: Vec<u8>,
    offset: u64,
    line: u64,
}

impl Marks {
    /// How much of a line is looked at: no mark is longer.
    const LINE: usize = 8 << 10;

    /// A detector that knows only these parsers.
    pub(crate) fn only(ids: &[&str]) -> Self {
        let known = |(_, runner): &(usize, &&dyn crate::Runner)| ids.contains(&runner.id());
        Self {
            only: BUILTIN
                .iter()
                .enumerate()
                .filter(known)
                .map(|(number, _)| number)
                .collect(),
            ..Self::default()
        }
    }

    /// Takes the next bytes; pieces may be cut anywhere.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if self.partial_len > 0 {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.keep(rest);
                return;
            };
            self.keep(&rest[..end]);
            let line = std::mem::take(&mut self.partial);
            let len = std::mem::take(&mut self.partial_len);
            self.next(&line, len + 1);
            rest = &rest[end + 1..];
        }
        let end = memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
        let (lines, tail) = rest.split_at(end);
        if memchr::memchr2(0x1b, b'\r', lines).is_none() {
            self.plain(lines);
        } else {
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', lines) {
                self.next(&lines[start..end], (end - start) as u64 + 1);
                start = end + 1;
            }
        }
        self.keep(tail);
    }

    /// Takes whole lines that need no cleaning.
    fn plain(&mut self, lines: &[u8]) {
        let mut texts = looks::Texts::of(lines);
        let kept = std::mem::take(&mut self.before);
        let (mut before, mut start) = (&kept[..], 0);
        for end in memchr::memchr_iter(b'\n', lines) {
            let span = start..end;
            start = end + 1;
            let at = self.place(span.len() as u64 + 1);
            (self.offset, self.line) = (at.end, at.line);
            let line = &lines[span.clone()];
            let line = without_mark(&line[..line.len().min(Self::LINE)]);
            if line.is_empty() {
                continue;
            }
            let looks = texts.looks_of(line, &span);
            if !looks.is_none() || inner::may_print(line) {
                self.clean(line, before, looks, at);
            }
            before = line;
        }
        self.before = before.to_vec();
    }

    fn keep(&mut self, part: &[u8]) {
        let room = Self::LINE.saturating_sub(self.partial.len());
        self.partial
            .extend_from_slice(&part[..part.len().min(room)]);
        self.partial_len += part.len() as u64;
    }

    /// Ends the log and decides.
    pub(crate) fn finish(mut self, hints: &Hints<'_>) -> Detection {
        if self.partial_len > 0 {
            let line = std::mem::take(&mut self.partial);
            self.next(&line, self.partial_len);
        }
        let commands = hints.command.map(command::runners).unwrap_or_default();
        let by_language = hints.language.and_then(command::usual);
        self.decide(&commands, by_language)
    }

    /// Where the next line stands, of that length with its end.
    fn place(&self, len: u64) -> At {
        At {
            line: self.line + 1,
            start: self.offset,
            end: self.offset + len,
        }
    }

    fn next(&mut self, line: &[u8], len: u64) {
        self.take(line, self.place(len));
    }

    /// Takes a line that stands there in the log.
    fn take(&mut self, line: &[u8], at: At) {
        (self.offset, self.line) = (at.end, at.line);
        let line = &line[..line.len().min(Self::LINE)];
        let line = clean(line.strip_suffix(b"\r").unwrap_or(line));
        if line.is_empty() {
            return;
        }
        let mut before = std::mem::take(&mut self.before);
        self.clean(&line, &before, Found::of(&line), at);
        before.clear();
        before.extend_from_slice(&line);
        self.before = before;
    }

    /// Takes a clean line with something in it; `before` is the last such.
    fn clean(&mut self, line: &[u8], before: &[u8], looks: Found, at: At) {
        for number in looks.runners() {
            if !self.only.is_empty() && !self.only.contains(&number) {
                continue;
            }
            let Some(mark) = BUILTIN[number].mark(line, before) else {
                continue;
            };
            if mark.place == Place::Close {
                self.spans.close(number, at.start, at.end, at.line);
                continue;
            }
            // Nearly every mark was found before, and its text is the same one then.
            let is_known = |(by, known): &Seen| {
                let same = (known.certain, known.place) == (mark.certain, mark.place);
                *by == number && same && std::ptr::eq(known.what, mark.what)
            };
            if !self.found.iter().any(is_known) && !self.found.contains(&(number, mark)) {
                self.found.push((number, mark));
            }
            if mark.certain {
                self.spans
                    .mark(number, mark.place, at.start, at.end, at.line);
            }
        }
        if inner::may_print(line)
            && let Some((driver, line)) = inner::printed(line)
            && !line.is_empty()
        {
            self.take_inside(driver, line);
        }
    }

    /// Takes a line of a program that a driver started.
    fn take_inside(&mut self, driver: usize, line: &[u8]) {
        for number in looks::runners(line) {
            let other = !self.only.is_empty() && !self.only.contains(&number);
            if other || !contains(driver, number) {
                continue;
            }
            let mark = BUILTIN[number].mark(line, &self.before_inside);
            if let Some(mark) = mark.filter(|mark| mark.certain)
                && !self.inside.contains(&(driver, (number, mark)))
            {
                self.inside.push((driver, (number, mark)));
            }
        }
        self.before_inside.clear();
        self.before_inside.extend_from_slice(line);
    }

    /// One runner printed the log; with the runners that its programs' lines prove, where it is a
    /// driver that marks those.
    fn alone(&self, runner: usize) -> Detection {
        let id = BUILTIN[runner].id();
        let mut reasons = self.reasons_of(runner);
        let mut ids = vec![id];
        for (_, (inside, mark)) in self.inside.iter().filter(|found| found.0 == runner) {
            let inside = BUILTIN[*inside].id();
            if !ids.contains(&inside) {
                ids.push(inside);
            }
            reasons.push(format!("{inside}: a program inside has {}", mark.what));
        }
        Detection::one(&ids.join("+"), Certainty::Certain, reasons)
    }

    fn reasons_of(&self, runner: usize) -> Vec<String> {
        self.found
            .iter()
            .filter(|found| found.0 == runner)
            .map(|(_, mark)| format!("the log has {}", mark.what))
            .collect()
    }

    fn decide(self, commands: &command::Named, by_language: Option<usize>) -> Detection {
        let named = |runner: usize| commands.runners.iter().find(|(by, _)| *by == runner);
        let mut proven: Vec<usize> = Vec::new();
        for (runner, mark) in &self.found {
            if mark.certain && !proven.contains(runner) {
                proven.push(*runner);
            }
        }
        // A command that names every runner it starts settles which marks are a test's output.
        if commands.complete && proven.iter().any(|runner| named(*runner).is_some()) {
            proven.retain(|runner| {
                named(*runner).is_some()
                    || proven_driver(*runner, commands.runners.iter().map(|(by, _)| *by))
            });
        }
        let is_backed = |runner: usize| {
            let hint = |(by, mark): &Seen| *by == runner && !mark.certain;
            named(runner).is_some() || self.found.iter().any(hint)
        };
        let counts = |runner| proven.contains(&runner);
        let spans = self.spans.resolve(counts, is_backed);
        if let [first, rest @ ..] = &spans[..] {
            if rest.is_empty() {
                return self.alone(first.runner);
            }
            return self.several(&spans);
        }
        if let [(runner, words)] = &commands.runners[..] {
            let mut reasons = self.reasons_of(*runner);
            reasons.push(format!("the command is `{words}`"));
            return Detection::one(BUILTIN[*runner].id(), Certainty::Likely, reasons);
        }
        let mut hinted: Vec<usize> = self.found.iter().map(|found| found.0).collect();
        hinted.sort_unstable();
        hinted.dedup();
        // A driver's hint explains those of the runners inside it.
        let drivers: Vec<usize> = hinted
            .iter()
            .copied()
            .filter(|runner| hinted.iter().all(|h| h == runner || contains(*runner, *h)))
            .collect();
        if let ([runner], _) | (_, [runner]) = (&hinted[..], &drivers[..]) {
            let reasons = self.reasons_of(*runner);
            return Detection::one(BUILTIN[*runner].id(), Certainty::Likely, reasons);
        }
        if let (Some(runner), []) = (by_language, &hinted[..]) {
            let id = BUILTIN[runner].id();
            let reason = format!("the language has one usual runner, {id}");
            return Detection::one(id, Certainty::Likely, vec![reason]);
        }
        Detection::unknown(if commands.runners.len() > 1 {
            let words: Vec<_> = commands.runners.iter().map(|(_, w)| w.as_str()).collect();
            format!(
                "no mark of a known runner, and the command has several: {}",
                words.join(", ")
            )
        } else if hinted.is_empty() {
            "no mark of a known runner".to_owned()
        } else {
            let ids: Vec<_> = hinted.iter().map(|runner| BUILTIN[*runner].id()).collect();
            format!("no more than hints at several runners: {}", ids.join(", "))
        })
    }

    fn several(&self, spans: &[sections::Span]) -> Detection {
        let mut sections = Vec::with_capacity(spans.len());
        let (mut start, mut first_line) = (0, 1);
        let mut ids: Vec<&str> = Vec::new();
        let mut reasons = vec![format!("the log has {} sections", spans.len())];
        for (at, span) in spans.iter().enumerate() {
            let id = BUILTIN[span.runner].id();
            if !ids.contains(&id) {
                ids.push(id);
                let own = self.reasons_of(span.runner);
                reasons.extend(own.into_iter().map(|reason| format!("{id}: {reason}")));
            }
            let (end, next_line) = match spans.get(at + 1) {
                Some(next) => span.cut(next),
                None => (self.offset, self.line),
            };
            sections.push(Section {
                parser: id.to_owned(),
                start,
                end,
                first_line,
            });
            (start, first_line) = (end, next_line);
        }
        Detection {
            parser: Some(ids.join("+")),
            confidence: Certainty::Certain,
            reasons,
            sections,
        }
    }
}

/// Whether `inner` may print inside the output of `outer`.
fn contains(outer: usize, inner: usize) -> bool {
    BUILTIN[outer]
        .about()
        .contains
        .contains(&BUILTIN[inner].id())
}

/// Whether a runner is one that starts one of these: `ctest` where the command names `gtest`.
fn proven_driver(runner: usize, mut others: impl Iterator<Item = usize>) -> bool {
    others.any(|other| contains(runner, other))
}
