//! `--testdox`: class headings with marked sentences below them.

use crate::edges::is_number;
use crate::text::lossy;
use crate::texts::{Place, Texts};
use atlas_core::TestStatus;
use std::borrow::Cow;

/// One sentence.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    /// Index into [`Dox::classes`].
    pub(super) class: usize,
    /// Its place in [`Dox::titles`].
    pub(super) title: Place,
    pub(super) status: TestStatus,
    /// How much it may be believed: the lowest are dropped first where there are too many.
    rank: u8,
    /// Failures print a message below themselves.
    message: bool,
}

/// A sentence that stands where the runner prints one.
const TRUSTED: u8 = u8::MAX;

/// A heading, as `Nasty (App\Tests\Nasty)` has it.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) qualified: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Dox {
    pub(super) classes: Vec<Class>,
    pub(super) sentences: Vec<Sentence>,
    pub(super) titles: Texts,
    /// The line before: a possible heading where the one before it was empty.
    heading: Vec<u8>,
    before: Before,
    rank: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Empty,
    Heading,
    Sentence,
    Message,
    Stray,
}

/// What the run declared of its tests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Declared {
    pub(super) tests: u64,
    pub(super) failing: u64,
    pub(super) skipped: u64,
}

impl Dox {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes a line. `early`: results are printed while the tests run, whose output may stand in
    /// front of them. Returns whether it was a sentence.
    pub(super) fn line(
        &mut self,
        line: &[u8],
        text: Option<&str>,
        coloured: bool,
        early: bool,
        has_times: bool,
    ) -> bool {
        if line.is_empty() {
            self.before = Before::Empty;
            return false;
        }
        if line.starts_with("   │".as_bytes())
            || coloured
                && line.starts_with(b"   ")
                && ["┐", "├", "┊", "╵", "┴"]
                    .iter()
                    .any(|sign| line[3..].starts_with(sign.as_bytes()))
        {
            if self.before == Before::Sentence
                && let Some(last) = self.sentences.last_mut()
            {
                last.message = true;
            }
            self.before = Before::Message;
            return false;
        }
        let found = match line {
            [b' ', rest @ ..] if rest.first().is_some_and(|b| *b >= 0x80) => mark(rest),
            _ => None,
        };
        let glued = found.is_none();
        let found = found.or_else(|| {
            let may = early && !self.classes.is_empty();
            // A sentence begins with a capital, where no annotation says otherwise: behind output
            // nothing else tells it from a sentence of that output.
            may.then(|| glued_mark(line))
                .flatten()
                .filter(|(_, title)| !title.first().is_some_and(u8::is_ascii_lowercase))
        });
        let Some((status, title)) = found else {
            self.other(line);
            return false;
        };
        // It ends the line.
        let known = text.and_then(|text| text.get(text.len() - title.len()..));
        let title = known.map_or_else(|| lossy(title), Cow::Borrowed);
        let title = clean_title(&title, coloured, has_times);
        if title.is_empty() {
            return false;
        }
        if glued {
            self.rank = 2;
        } else {
            match self.before {
                Before::Heading => {
                    self.classes
                        .push(class(&String::from_utf8_lossy(&self.heading)));
                    self.rank = TRUSTED;
                }
                Before::Stray => self.rank = 1,
                Before::Empty | Before::Message => self.rank = TRUSTED,
                Before::Sentence if self.rank < TRUSTED => {
                    self.rank = (self.rank + 2).min(TRUSTED - 1);
                }
                Before::Sentence => {}
            }
        }
        self.before = Before::Sentence;
        if self.classes.is_empty() {
            return false;
        }
        self.sentences.push(Sentence {
            class: self.classes.len() - 1,
            title: self.titles.push(title),
            status,
            rank: self.rank,
            message: false,
        });
        true
    }

    fn other(&mut self, line: &[u8]) {
        let may_head = self.before == Before::Empty
            && !line[0].is_ascii_whitespace()
            && line.len() < 1000
            && !line.ends_with(b":")
            && !is_progress(line);
        if may_head {
            self.heading.clear();
            self.heading.extend_from_slice(line);
            self.before = Before::Heading;
        } else {
            self.before = Before::Stray;
        }
    }

    /// Drops what tests have printed themselves, as far as the totals tell that there is such.
    pub(super) fn settle(&mut self, declared: Declared) {
        let failing = |s: &Sentence| s.status == TestStatus::Failed;
        let skipped = |s: &Sentence| s.status == TestStatus::Skipped;
        for sentence in &mut self.sentences {
            if sentence.status == TestStatus::Failed && !sentence.message {
                sentence.rank = 0;
            }
        }
        self.drop_worst(declared.failing, failing);
        self.drop_worst(declared.skipped, skipped);
        let others = declared
            .tests
            .saturating_sub(self.count(failing) + self.count(skipped));
        self.drop_worst(others, |s| s.status == TestStatus::Passed);
    }

    pub(super) fn count(&self, which: impl Fn(&Sentence) -> bool) -> u64 {
        self.sentences.iter().filter(|s| which(s)).count() as u64
    }

    fn drop_worst(&mut self, allowed: u64, which: impl Fn(&Sentence) -> bool) {
        let mut excess = self.count(&which).saturating_sub(allowed);
        if excess == 0 {
            return;
        }
        let mut by_rank = [0_u64; TRUSTED as usize];
        for sentence in self
            .sentences
            .iter()
            .filter(|s| which(s) && s.rank < TRUSTED)
        {
            by_rank[usize::from(sentence.rank)] += 1;
        }
        // How many of each rank go.
        for count in &mut by_rank {
            let gone = excess.min(*count);
            excess -= gone;
            *count = gone;
        }
        self.sentences.retain(|sentence| {
            if !which(sentence) || sentence.rank == TRUSTED {
                return true;
            }
            let left = &mut by_rank[usize::from(sentence.rank)];
            let keep = *left == 0;
            *left = left.saturating_sub(1);
            keep
        });
    }
}

/// Whether the line begins with dots of a progress.
fn is_progress(line: &[u8]) -> bool {
    let letters = line.iter().take_while(|b| b".FEWIRSDN".contains(b));
    line[..letters.count()].contains(&b'.')
}

/// `✔ title` and its kin.
fn mark(text: &[u8]) -> Option<(TestStatus, &[u8])> {
    let (sign, title) = (text.get(..3)?, text.get(3..)?);
    let status = match sign {
        // ✔; ☢ and ⚠: risky, or with warnings or deprecations, and yet passed.
        b"\xe2\x9c\x94" | b"\xe2\x98\xa2" | b"\xe2\x9a\xa0" => TestStatus::Passed,
        b"\xe2\x9c\x98" => TestStatus::Failed, // ✘
        // ↩ and ∅: skipped and incomplete.
        b"\xe2\x86\xa9" | b"\xe2\x88\x85" => TestStatus::Skipped,
        _ => return None,
    };
    let title = title.strip_prefix(b" ")?;
    Some((status, title))
}

/// A sentence behind output that has no newline: the last mark of the line.
fn glued_mark(line: &[u8]) -> Option<(TestStatus, &[u8])> {
    let mut end = line.len();
    while let Some(at) = memchr::memrchr(0xe2, &line[..end]) {
        if at > 0
            && line[at - 1] == b' '
            && let Some(found) = mark(&line[at..])
        {
            return Some(found);
        }
        end = at;
    }
    None
}

/// The title without the time that `--verbose` appends before `PHPUnit` 10: ` [0.12 ms]`, in colours
/// `  12 ms`.
fn clean_title(title: &str, coloured: bool, timed: bool) -> &str {
    let title = title.trim_end();
    let mut name = title;
    if timed {
        if let Some(timed) = title.strip_suffix(" ms]")
            && let Some((head, time)) = timed.rsplit_once(" [")
            && time.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        {
            name = head;
        } else if coloured
            && let Some(timed) = title.strip_suffix(" ms")
            && let Some((head, time)) = timed.rsplit_once("  ")
            && is_number(time)
        {
            name = head;
        }
    }
    name
}

/// Takes `Nasty (App\Tests\Nasty)` apart.
fn class(heading: &str) -> Class {
    if let Some((name, rest)) = heading.split_once(" (")
        && let Some(qualified) = rest.strip_suffix(')')
        && qualified.contains('\\')
        && super::title::is_class(qualified)
    {
        return Class {
            name: name.to_owned(),
            qualified: qualified.to_owned(),
        };
    }
    Class {
        name: heading.to_owned(),
        qualified: heading.to_owned(),
    }
}
