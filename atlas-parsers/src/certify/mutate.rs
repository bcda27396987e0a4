//! Changed logs, each with what must follow from the change.

use super::certificate::CheckKind;
use super::foreign;
use super::lines::{
    Exemplar, Lines, Told, Way, Ways, find_word, level, likeness, parent, plain, rewritten, told,
};
use super::words::{Saying, saying};
use atlas_core::TestStatus;
use std::collections::{BTreeMap, BTreeSet};

/// How many tests are changed in one way, in one log.
const EACH: usize = 4;
/// What must be read of a changed log.
#[derive(Clone, Debug)]
pub(super) enum Expect {
    /// The test has this status, or fails as well where this one does.
    Status(String, TestStatus),
    /// The same, or it is not there and the counts disagree: a result that nothing else in the log
    /// supports need not be believed.
    Turned(String, TestStatus),
    /// The test does not pass.
    NotPassing(String),
    /// The test is not there.
    Absent(String),
    /// The counts disagree if they agreed before.
    Missed(String),
    /// What was read before.
    Same,
    /// No test that was not there before, and none better than before.
    NothingInvented,
    /// No test lost, and none worse than before.
    NothingLost,
    /// Only tests of before, one cut id excepted.
    Prefix,
    /// Where tests are lost, the run is not called complete.
    CutSeen,
}

/// A changed log.
#[derive(Clone, Debug)]
pub(super) struct Mutation {
    pub(super) log: Vec<u8>,
    /// What was done, in words.
    pub(super) what: String,
    /// The line that was changed, from 1.
    pub(super) line: Option<usize>,
    pub(super) expect: Vec<(CheckKind, Expect)>,
}

/// All changes of one log. `tests` is what is known of it: the truth, or what the parser read.
pub(super) fn mutations(log: &[u8], tests: &BTreeMap<&str, TestStatus>) -> Vec<Mutation> {
    let lines = Lines::of(log);
    let mut all = Vec::new();
    if tests.is_empty() || lines.raw.is_empty() {
        return all;
    }
    let first = lines
        .shown
        .iter()
        .map(|line| line.trim())
        .find(|line| !line.is_empty());
    let is_document = first.is_some_and(|line| {
        matches!(line, "{" | "[") || line.starts_with('<') || line.starts_with("{\"")
    });
    let told = told(&lines, tests);
    let ways = Ways::learn(&lines, &told);
    swaps(&lines, &told, &mut all);
    if !is_document {
        let telling: Vec<Exemplar> = (0..told.len())
            .flat_map(|test| ways.telling(&lines, &told, test))
            .filter(|line| !is_doubtful(&ways, line))
            .collect();
        flips(&lines, &told, &ways, &telling, &mut all);
        drops(&lines, &told, &mut all);
        twice(&lines, &told, &telling, &mut all);
        foreign::prose(&lines, &telling, &mut all);
        foreign::dressed(&lines, &mut all);
    }
    cuts(log, &lines, &mut all);
    all
}

/// What the words of a way say.
fn said(line: &Exemplar) -> BTreeSet<u8> {
    line.way
        .0
        .split_whitespace()
        .chain(line.way.1.split_whitespace())
        .filter_map(saying)
        .map(|saying| saying as u8)
        .collect()
}

/// The quotation mark or bracket in front of a name.
fn quote(line: &Exemplar) -> Option<char> {
    let last = line.way.0.chars().next_back();
    last.filter(|c| matches!(c, '\'' | '"' | '`' | '(' | '[' | '<'))
}

/// Whether a line hardly is the one of the test: its name may be a word of a longer one. It has a
/// word for an outcome on either side, or goes on where lines of the same form end.
fn is_doubtful(ways: &Ways, line: &Exemplar) -> bool {
    let says = |text: &str| text.split_whitespace().any(|word| saying(word).is_some());
    let (before, behind) = &line.way;
    // A quoted line of the sources: `it('adds', …`.
    if ["('", "(\"", "(`"]
        .iter()
        .any(|call| before.ends_with(call))
    {
        return true;
    }
    if behind.is_empty() {
        return false;
    }
    if says(behind) {
        return says(before);
    }
    let seen = |way: &Way| ways.seen.get(way).copied().unwrap_or(0);
    seen(&(before.clone(), String::new())) > seen(&line.way)
}

/// Whether a line is written as this runner writes the other outcome: in the same place of the
/// line, with a word for it where the pass has one.
fn is_model(ways: &Ways, own: &Exemplar, model: &Exemplar, wanted: Saying) -> bool {
    let sides = |line: &Exemplar| (line.way.0.is_empty(), line.way.1.is_empty());
    if sides(own) != sides(model) || quote(own) != quote(model) {
        return false;
    }
    let word = |line: &Exemplar, saying: Saying| said(line).contains(&(saying as u8));
    if word(own, Saying::Passed) {
        return word(model, wanted);
    }
    let len = own.way.0.len() + own.way.1.len();
    said(own).is_empty()
        && ways.seen.get(&own.way).is_some_and(|seen| *seen >= 3)
        && likeness(&own.way, &model.way) * 3 >= (len + 8) * 2
}

fn flips(
    lines: &Lines<'_>,
    told: &[Told],
    ways: &Ways,
    telling: &[Exemplar],
    all: &mut Vec<Mutation>,
) {
    let of = |status: TestStatus| {
        telling
            .iter()
            .filter(move |line| told[line.test].status == status)
    };
    for (kind, target) in [
        (CheckKind::Flip, TestStatus::Failed),
        (CheckKind::Flip, TestStatus::Error),
        (CheckKind::Skip, TestStatus::Skipped),
    ] {
        let mut done = BTreeSet::new();
        for own in of(TestStatus::Passed) {
            if done.len() >= EACH || done.contains(&own.test) {
                continue;
            }
            let wanted = if kind == CheckKind::Skip {
                Saying::Skipped
            } else {
                Saying::Failed
            };
            let model = of(target)
                .filter(|model| is_model(ways, own, model, wanted))
                .max_by_key(|model| (likeness(&own.way, &model.way), usize::MAX - model.line));
            let Some(model) = model else { continue };
            let (test, other) = (&told[own.test], &told[model.test]);
            let line = &lines.shown[own.line];
            let Some(turned) = rewritten(line, &test.name, &lines.shown[model.line], &other.name)
            else {
                continue;
            };
            done.insert(own.test);
            all.push(Mutation {
                log: lines.with(&BTreeMap::from([(own.line, vec![turned.clone()])])),
                what: format!("`{}` rewritten as `{}`", line.trim(), turned.trim()),
                line: Some(own.line + 1),
                expect: vec![(kind, Expect::Turned(test.id.clone(), target))],
            });
        }
    }
    // A pass that is printed behind the failure.
    let mut done = BTreeSet::new();
    for own in of(TestStatus::Failed) {
        if done.len() >= EACH || done.contains(&own.test) {
            continue;
        }
        let model = of(TestStatus::Passed)
            .filter(|model| is_model(ways, model, own, Saying::Failed))
            .max_by_key(|model| (likeness(&own.way, &model.way), usize::MAX - model.line));
        let Some(model) = model else { continue };
        let (test, other) = (&told[own.test], &told[model.test]);
        let line = lines.shown[own.line].clone();
        let Some(later) = rewritten(&line, &test.name, &lines.shown[model.line], &other.name)
        else {
            continue;
        };
        done.insert(own.test);
        let what = format!("`{}` behind `{}`", later.trim(), line.trim());
        all.push(Mutation {
            log: lines.with(&BTreeMap::from([(own.line, vec![line, later])])),
            what,
            line: Some(own.line + 1),
            expect: vec![(CheckKind::LatePass, Expect::NotPassing(test.id.clone()))],
        });
    }
}

fn swaps(lines: &Lines<'_>, told: &[Told], all: &mut Vec<Mutation>) {
    let mut done = 0;
    let mut used = BTreeSet::new();
    for (at, failed) in told.iter().enumerate() {
        if !failed.status.is_failing() || failed.name.len() > 60 || is_escaped(lines, &failed.name)
        {
            continue;
        }
        let partner = told.iter().enumerate().find(|(other, passed)| {
            passed.status == TestStatus::Passed
                && !used.contains(other)
                && parent(&passed.id) == parent(&failed.id)
                && passed.name.len() <= 60
                && (passed.id == passed.name) == (failed.id == failed.name)
                && !is_escaped(lines, &passed.name)
                && !passed.name.contains(&failed.name)
                && !failed.name.contains(&passed.name)
        });
        let Some((other, passed)) = partner else {
            continue;
        };
        used.extend([at, other]);
        let mut changes = BTreeMap::new();
        for line in failed.lines.iter().chain(&passed.lines) {
            let text = exchangeable(lines.raw[*line], &[&failed.name, &passed.name]);
            changes.insert(*line, vec![exchanged(&text, &failed.name, &passed.name)]);
        }
        all.push(Mutation {
            log: lines.with(&changes),
            what: format!("`{}` and `{}` exchanged", failed.name, passed.name),
            line: failed.lines.first().map(|line| line + 1),
            expect: vec![
                (
                    CheckKind::Swap,
                    Expect::Status(failed.id.clone(), passed.status),
                ),
                (
                    CheckKind::Swap,
                    Expect::Status(passed.id.clone(), failed.status),
                ),
            ],
        });
        done += 1;
        if done >= EACH {
            return;
        }
    }
}

/// A line in which names can be exchanged: in its colours, which may mean something, unless these
/// hide a name.
fn exchangeable(raw: &[u8], names: &[&str]) -> String {
    let (coloured, plain) = (String::from_utf8_lossy(raw), plain(raw));
    let count = |text: &str| -> usize { names.iter().map(|name| words(text, name)).sum() };
    if count(&coloured) == count(&plain) {
        coloured.trim_end_matches('\r').to_owned()
    } else {
        plain
    }
}

/// How often a word stands in a text.
fn words(text: &str, name: &str) -> usize {
    let (mut count, mut rest) = (0, text);
    while let Some(at) = find_word(rest, name) {
        count += 1;
        rest = &rest[at + name.len()..];
    }
    count
}

/// Whether a report in the log has a name in another spelling, in which it would not be exchanged.
fn is_escaped(lines: &Lines<'_>, name: &str) -> bool {
    let escaped = quick_xml::escape::escape(name);
    escaped != name && lines.shown.iter().any(|line| line.contains(&*escaped))
}

/// A text with two words exchanged wherever they stand.
fn exchanged(text: &str, a: &str, b: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let found = [(a, b), (b, a)]
            .into_iter()
            .filter_map(|(old, new)| Some((find_word(rest, old)?, old, new)))
            .min_by_key(|(at, ..)| *at);
        let Some((at, old, new)) = found else {
            out.push_str(rest);
            return out;
        };
        out.push_str(&rest[..at]);
        out.push_str(new);
        rest = &rest[at + old.len()..];
    }
}

fn drops(lines: &Lines<'_>, told: &[Told], all: &mut Vec<Mutation>) {
    for wanted in [TestStatus::Passed, TestStatus::Failed] {
        // A test that other lines name by a part of its id only would stay.
        let whole =
            |test: &&Told| {
                let last =
                    test.id[parent(&test.id).len()..].trim_matches(|c: char| !c.is_alphanumeric());
                test.status == wanted
                    && test.id == test.name
                    && !is_escaped(lines, &test.id)
                    && last.len() >= 3
                    && !lines.shown.iter().enumerate().any(|(at, line)| {
                        !test.lines.contains(&at) && find_word(line, last).is_some()
                    })
            };
        for test in told.iter().filter(whole).take(EACH) {
            let changes = test.lines.iter().map(|line| (*line, Vec::new())).collect();
            all.push(Mutation {
                log: lines.with(&changes),
                what: format!("the lines of `{}` taken out", test.id),
                line: test.lines.first().map(|line| line + 1),
                expect: vec![
                    (CheckKind::Drop, Expect::Absent(test.id.clone())),
                    (CheckKind::DropSeen, Expect::Missed(test.id.clone())),
                ],
            });
        }
    }
}

fn twice(lines: &Lines<'_>, told: &[Told], telling: &[Exemplar], all: &mut Vec<Mutation>) {
    for status in [TestStatus::Passed, TestStatus::Failed] {
        let of = telling
            .iter()
            .filter(|line| told[line.test].status == status);
        for own in of.take(2) {
            let line = String::from_utf8_lossy(lines.raw[own.line]).into_owned();
            all.push(Mutation {
                what: format!("`{}` printed twice", lines.shown[own.line].trim()),
                log: lines.with(&BTreeMap::from([(own.line, vec![line.clone(), line])])),
                line: Some(own.line + 1),
                expect: vec![(CheckKind::Duplicate, Expect::Same)],
            });
        }
    }
}

fn cuts(log: &[u8], lines: &Lines<'_>, all: &mut Vec<Mutation>) {
    for (part, of) in [(1, 3), (2, 3), (9, 10)] {
        let mut ends = vec![log.len() * part / of];
        let whole: usize = lines.raw[..lines.raw.len() * part / of]
            .iter()
            .map(|line| line.len() + 1)
            .sum();
        ends.push(whole.min(log.len()));
        for end in ends {
            all.push(Mutation {
                log: log[..end].to_vec(),
                what: format!("cut after {end} of {} bytes", log.len()),
                line: None,
                expect: vec![
                    (CheckKind::Truncation, Expect::Prefix),
                    (CheckKind::TruncationSeen, Expect::CutSeen),
                ],
            });
        }
    }
}

/// Tests whose own line says otherwise than their status, and lines that look like results and
/// name no test: for logs whose truth is not known. Line from 1, and what is wrong.
pub(super) fn doubts(
    log: &[u8],
    tests: &BTreeMap<&str, TestStatus>,
) -> Vec<(CheckKind, bool, usize, String)> {
    let lines = Lines::of(log);
    let told = told(&lines, tests);
    let ways = Ways::learn(&lines, &told);
    let mut found = Vec::new();
    // Where in a line the word of a passed test stands: from its start, and from its end.
    let mut places: BTreeMap<(bool, usize), usize> = BTreeMap::new();
    let mut tellers: Vec<&str> = Vec::new();
    for (number, test) in told.iter().enumerate() {
        for line in ways.telling(&lines, &told, number) {
            let text = &lines.shown[line.line];
            let near = [
                line.way.0.split_whitespace().next(),
                line.way.0.split_whitespace().next_back(),
                line.way.1.split_whitespace().next(),
            ];
            let said: BTreeSet<u8> = near
                .into_iter()
                .flatten()
                .filter_map(saying)
                .map(|saying| saying as u8)
                .collect();
            if test.id == test.name && said.len() == 1 {
                let word = |what: Saying| said.contains(&(what as u8));
                let wrong = test.status == TestStatus::Passed
                    && (word(Saying::Failed) || word(Saying::Skipped));
                let what = format!("`{}` was read as {}: {}", test.id, test.status, text.trim());
                found.push((CheckKind::Words, !wrong, line.line + 1, what));
            }
            if test.status == TestStatus::Passed {
                let words: Vec<&str> = text.split_whitespace().collect();
                if let Some(at) = words
                    .iter()
                    .position(|word| saying(word) == Some(Saying::Passed))
                {
                    tellers.push(text);
                    *places.entry((true, at)).or_default() += 1;
                    *places.entry((false, words.len() - at)).or_default() += 1;
                }
            }
        }
    }
    let Some(((from_start, place), _)) = places
        .into_iter()
        .filter(|(_, seen)| *seen == tellers.len() && tellers.len() >= 2)
        .min_by_key(|((from_start, place), _)| (*place, !*from_start))
    else {
        return found;
    };
    let frame = Frame::of(&tellers);
    let names: Vec<&str> = tests.keys().copied().take(4_000).collect();
    for (at, line) in lines.shown.iter().enumerate().take(20_000) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let word = word_at(&words, from_start, place).and_then(saying);
        let is_result = matches!(word, Some(Saying::Failed | Saying::Skipped));
        if words.len() < 2 || !is_result || is_message(words[0]) || !frame.holds(&words) {
            continue;
        }
        let whole = names.iter().filter(|name| find_word(line, name).is_some());
        if let Some(id) = whole.max_by_key(|name| name.len()) {
            if tests[id] == TestStatus::Passed {
                let what = format!("`{id}` was read as PASSED: {}", line.trim());
                found.push((CheckKind::Words, false, at + 1, what));
            }
            continue;
        }
        let leaf = |name: &&str| {
            let leaf = name.rsplit([' ', '/', ':']).next();
            leaf.is_some_and(|leaf| leaf.len() > 2 && line.contains(leaf))
        };
        let numbered = words.len() <= 4
            && words.iter().any(|word| {
                let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
                word.len() <= 6 && digits.parse::<u64>().is_ok()
            });
        if !names.iter().any(leaf) && !numbered && !super::words::looks_like_counts(line) {
            let what = format!(
                "looks like a result, and no test of it was read: {}",
                line.trim()
            );
            found.push((CheckKind::Lookalike, false, at + 1, what));
        }
    }
    if !found.iter().any(|(kind, ..)| *kind == CheckKind::Lookalike) {
        let what = "every line that looks like a result names a test".to_owned();
        found.push((CheckKind::Lookalike, true, 1, what));
    }
    found
}

/// What a runner writes around every name and word of a result: `test … ... ok`, `Test #5: … Passed 0.1 sec`.
/// What a program prints has the words of outcomes, too, and hardly ever the rest.
#[derive(Debug, Default)]
struct Frame {
    /// From a line's start or its end, and which word, numbers made equal.
    words: Vec<(bool, usize, String)>,
    /// Whether the words of outcomes are in capitals, where nothing else is common to all lines: then one in
    /// small letters is none. A runner that says `ok` may say `FAILED`.
    in_capitals: bool,
}

impl Frame {
    fn of(tellers: &[&str]) -> Self {
        let lines: Vec<Vec<&str>> = tellers
            .iter()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let mut frame = Self::default();
        let [first, others @ ..] = lines.as_slice() else {
            return frame;
        };
        // What two lines have in common may be of their names.
        if others.len() < 2 {
            return frame;
        }
        for (from_start, place) in [(true, 0), (true, 1), (true, 2), (false, 1), (false, 2)] {
            let Some(word) = word_at(first, from_start, place) else {
                continue;
            };
            let everywhere = others.iter().all(|line| {
                word_at(line, from_start, place).is_some_and(|other| level(other) == level(word))
            });
            if everywhere && saying(word).is_none() {
                frame.words.push((from_start, place, level(word)));
            }
        }
        frame.in_capitals = frame.words.is_empty() && lines.iter().all(|line| in_capitals(line));
        frame
    }

    fn holds(&self, words: &[&str]) -> bool {
        let same = |(from_start, place, word): &(bool, usize, String)| {
            word_at(words, *from_start, *place).is_some_and(|other| level(other) == *word)
        };
        self.words.iter().all(same) && (!self.in_capitals || in_capitals(words))
    }
}

/// Whether the first word of a line that tells an outcome has no small letter.
fn in_capitals(words: &[&str]) -> bool {
    let mut told = words.iter().filter(|word| saying(word).is_some());
    told.next()
        .is_some_and(|word| !word.contains(char::is_lowercase))
}

/// A word of a line, counted from its start (from 0) or from its end (from 1).
fn word_at<'a>(words: &[&'a str], from_start: bool, place: usize) -> Option<&'a str> {
    let at = if from_start {
        place
    } else {
        words.len().checked_sub(place)?
    };
    words.get(at).copied()
}

/// Whether a line that begins with this word is a message about a line of a source: `a_test.go:36: failed:`.
fn is_message(first: &str) -> bool {
    first
        .strip_suffix(':')
        .and_then(|place| place.rsplit_once(':'))
        .is_some_and(|(file, line)| {
            file.contains('.') && !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
        })
}
