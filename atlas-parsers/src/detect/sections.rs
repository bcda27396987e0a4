//! Which stretch of a log belongs to which runner.

use super::contains;
use crate::runner::Place;
use std::collections::BTreeMap;

/// A stretch of certain marks of one runner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The runner's place in the table.
    pub(super) runner: usize,
    /// Where the line of the first mark begins, and its number.
    first: (u64, u64),
    first_place: Place,
    /// Where the line of the last mark ends, and the number of the next line.
    last: (u64, u64),
    last_place: Place,
    marks: u64,
    /// First and last lines of runs among them.
    starts: u64,
    ends: u64,
}

impl Span {
    /// Where this span's section ends and that of the next one begins: offset and line number.
    ///
    /// Most runners announce themselves only at their end, so what stands between two belongs to the
    /// second, unless that one has a first line.
    pub(super) fn cut(&self, next: &Self) -> (u64, u64) {
        if next.first_place == Place::Start {
            next.first
        } else {
            self.last
        }
    }
}

/// The spans of a log as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    spans: Vec<Span>,
}

impl Spans {
    /// The most spans that are kept: beyond, two runners print through each other.
    const MAX: usize = 4096;

    /// Takes a certain mark that stands on the line `line` from `start` to `end`.
    pub(super) fn mark(&mut self, runner: usize, place: Place, start: u64, end: u64, line: u64) {
        if let Some(span) = self.spans.last_mut()
            && span.runner == runner
            // A second run of the same runner is a span of its own, so that what stands between
            // the two is not taken for the first one's.
            && !(place == Place::Start && span.last_place == Place::End)
        {
            span.last = (end, line + 1);
            span.last_place = place;
            span.marks += 1;
            span.starts += u64::from(place == Place::Start);
            span.ends += u64::from(place == Place::End);
            return;
        }
        if self.spans.len() < Self::MAX {
            self.spans.push(Span {
                runner,
                first: (start, line),
                first_place: place,
                last: (end, line + 1),
                last_place: place,
                marks: 1,
                starts: u64::from(place == Place::Start),
                ends: u64::from(place == Place::End),
            });
        }
    }

    /// Takes the end of a report that certain marks have proven before; not of one that a driver's
    /// marks inside it claim for that driver.
    pub(super) fn close(&mut self, runner: usize, start: u64, end: u64, line: u64) {
        let begun = self.spans.iter().any(|span| span.runner == runner);
        let claimed = |span: &Span| contains(span.runner, runner);
        if begun && !self.spans.last().is_some_and(claimed) {
            self.mark(runner, Place::End, start, end, line);
        }
    }

    /// The sections that these spans make, of the runners that `counts` accepts. `is_backed` tells which
    /// runners something else speaks for than their certain marks.
    pub(super) fn resolve(
        &self,
        counts: impl Fn(usize) -> bool,
        is_backed: impl Fn(usize) -> bool,
    ) -> Vec<Span> {
        let mut sections: Vec<Span> = Vec::new();
        let lone = self.lone(is_backed);
        let spans: Vec<Span> = self
            .spans
            .iter()
            .filter(|span| counts(span.runner) && !lone.contains(&span.runner))
            .copied()
            .collect();
        let mut at = 0;
        while let Some(span) = spans.get(at) {
            at += 1;
            let Some(open) = sections.last_mut() else {
                sections.push(*span);
                continue;
            };
            if span.runner == open.runner {
                open.extend(span);
                continue;
            }
            // A run that began inside another one ends before it.
            let ended = open.last_place == Place::End && open.starts <= open.ends;
            // Where the open runner goes on later without having ended, what stands between is
            // its tests' output.
            let goes_on = !ended
                && spans[at..]
                    .iter()
                    .any(|later| later.runner == open.runner && later.first_place != Place::Start);
            if goes_on || contains(open.runner, span.runner) && !ended {
                continue;
            }
            if contains(span.runner, open.runner) && span.first_place != Place::Start {
                // The driver of what was read so far.
                open.absorb(span);
                continue;
            }
            if contains(open.runner, span.runner)
                && spans[at..].iter().any(|later| later.runner == open.runner)
            {
                continue;
            }
            sections.push(*span);
        }
        sections
    }

    /// Runners with a single mark, from the midst of a run, where others left more: a test printed
    /// it. Not where it stands before or behind all marks of the others, and something else speaks for
    /// its runner, too: that is a short run beside theirs.
    fn lone(&self, is_backed: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut strength: BTreeMap<usize, u64> = BTreeMap::new();
        for span in &self.spans {
            let framed = span.first_place != Place::Within || span.last_place != Place::Within;
            let marks = span.marks + u64::from(framed);
            *strength.entry(span.runner).or_default() += marks;
        }
        let strongest = strength.values().copied().max().unwrap_or(0);
        let at_an_end = |runner| {
            let ends = [self.spans.first(), self.spans.last()];
            ends.into_iter().flatten().any(|span| span.runner == runner)
        };
        strength
            .into_iter()
            .filter(|(_, marks)| *marks == 1 && strongest > 1)
            .map(|(runner, _)| runner)
            .filter(|runner| !(at_an_end(*runner) && is_backed(*runner)))
            .collect()
    }
}

impl Span {
    fn extend(&mut self, later: &Self) {
        self.last = later.last;
        self.last_place = later.last_place;
        self.marks += later.marks;
        self.starts += later.starts;
        self.ends += later.ends;
    }

    fn absorb(&mut self, driver: &Self) {
        self.runner = driver.runner;
        self.extend(driver);
    }
}
