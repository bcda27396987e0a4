//! One run of lab: which of its lines are results, and where its titles stand.

use super::line::{Counts, ResultLine};
use atlas_core::{ParsedLogBuilder, TestStatus, Totals};
use std::collections::BTreeMap;

/// Most results that are kept of a run.
const MOST: usize = 1 << 20;
/// How far a heading is looked for among those that stood at its level before.
const REACH: usize = 6;

/// A line that looks like a result.
#[derive(Clone, Debug)]
struct Seen {
    number: u64,
    title: String,
    status: TestStatus,
    /// The headings above it, by their places.
    path: Vec<usize>,
}

/// A line that may be an experiment's title.
#[derive(Clone, Debug)]
struct Heading {
    text: String,
    /// What stood at its level before: this one may have been printed by a test.
    before: Option<usize>,
    real: bool,
}

/// What stood since the last result.
#[derive(Clone, Debug, Default)]
struct Gap {
    /// The last lines, the newest last.
    lines: Vec<String>,
    /// How many there were that are not empty.
    count: usize,
}

/// The run that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    seen: Vec<Seen>,
    headings: Vec<Heading>,
    path: Vec<usize>,
    gap: Gap,
    /// How many results stood in front of the list of failures.
    listed_at: Option<usize>,
    list: Vec<(u64, String)>,
    /// The results of the dots, as far as lines hold nothing else.
    dots: String,
    /// Runs in dots that began and did not end.
    pub(super) open: usize,
    pub(super) end: Option<Counts>,
    full: bool,
    /// A result stands below headings that are not in the log.
    headless: bool,
}

impl Run {
    pub(super) fn is_verbose(&self) -> bool {
        !self.seen.is_empty()
    }

    pub(super) fn any(&self) -> bool {
        self.is_verbose() || self.open > 0 || self.end.is_some()
    }

    /// Whether it is shown in dots, so that a line with the form of a result is a test's.
    pub(super) fn is_dotted(&self) -> bool {
        self.open > 0 && self.end.is_none() && !self.is_verbose()
    }

    /// The number that the next result has, unless tests were filtered.
    pub(super) fn next(&self) -> u64 {
        self.seen
            .last()
            .map_or(1, |seen| seen.number.saturating_add(1))
    }

    /// Takes a line that is none of the runner's others: a heading or output.
    pub(super) fn other(&mut self, line: &str) {
        const LINES: usize = 8;
        if self.gap.lines.len() == LINES {
            self.gap.lines.remove(0);
        }
        self.gap.count += usize::from(!line.trim().is_empty());
        self.gap.lines.push(line.to_owned());
    }

    /// The list of failures begins, or that of errors in front of it.
    pub(super) fn listing(&mut self) {
        self.list.clear();
        self.listed_at = Some(self.seen.len());
    }

    pub(super) fn listed(&mut self, number: u64, title: &str) {
        if self.listed_at.is_some() && self.list.len() < MOST {
            self.list.push((number, title.to_owned()));
        }
    }

    pub(super) fn dots(&mut self, dots: &str) {
        if self.dots.len() < MOST {
            self.dots.push_str(dots);
        }
    }

    /// Whether the run went on behind its end, so that a test printed that. A whole run that it printed is
    /// taken out.
    pub(super) fn goes_on(&mut self, number: u64) -> bool {
        let Some(end) = self.end else {
            return true;
        };
        let all = usize::try_from(end.all()).unwrap_or(usize::MAX);
        if let Some(rest) = self.seen.len().checked_sub(all).filter(|rest| *rest > 0)
            && self.seen[rest - 1].number == number.saturating_sub(1)
            && (1..)
                .zip(&self.seen[rest..])
                .all(|(nth, seen)| seen.number == nth)
        {
            self.seen.truncate(rest);
            self.path.clone_from(&self.seen[rest - 1].path);
            return true;
        }
        self.is_verbose() && number >= self.next()
    }

    pub(super) fn result(&mut self, line: &ResultLine<'_>) {
        if self.seen.len() >= MOST {
            self.full = true;
            return;
        }
        let depth = line.indent / 2;
        self.head(depth);
        self.seen.push(Seen {
            number: line.number,
            title: line.title.to_owned(),
            status: line.status,
            path: self.path[..depth].to_vec(),
        });
    }

    /// Looks for the headings of a result right in front of it. lab prints those of its experiments that the
    /// last result did not have, and all below the first of them.
    fn head(&mut self, depth: usize) {
        let gap = std::mem::take(&mut self.gap);
        let mut found: Vec<&str> = Vec::new();
        for line in gap.lines.iter().rev() {
            let Some(level) = depth.checked_sub(found.len() + 1) else {
                break;
            };
            let text = line.trim_start_matches(' ');
            let worded = text.chars().any(char::is_alphanumeric);
            if line.len() - text.len() != level * 2 || !worded {
                break;
            }
            found.push(text);
        }
        // More lines than headings: a test printed some, and the outermost may be such a line, too.
        let printed = gap.count > found.len();
        let outermost = depth - found.len();
        for (level, text) in (outermost..).zip(found.into_iter().rev()) {
            let before = self.path.get(level).copied();
            self.level(level);
            self.path.truncate(level);
            self.path.push(self.headings.len());
            self.headings.push(Heading {
                text: text.to_owned(),
                before,
                real: before.is_none() || level > 0 || !printed,
            });
        }
        self.level(depth);
    }

    /// Makes sure that there are headings above this level: where the log's begin is missing, without text.
    fn level(&mut self, level: usize) {
        while self.path.len() < level {
            self.headless = true;
            self.path.push(self.headings.len());
            self.headings.push(Heading {
                text: String::new(),
                before: None,
                real: true,
            });
        }
    }

    /// Ends the run. Returns whether what was read agrees with the counts, if there are any.
    pub(super) fn finish(mut self, log: &mut ParsedLogBuilder) -> Option<bool> {
        let agrees = if self.is_verbose() {
            self.verbose(log)
        } else {
            self.end.map(|end| self.dotted(&end, log))
        };
        if let Some(end) = self.end {
            log.add_totals(Totals {
                total: Some(end.all()),
                passed: Some(end.ran.saturating_sub(end.failed)),
                failed: Some(end.failed),
                skipped: Some(end.skipped),
                ..Totals::default()
            });
        }
        agrees
    }

    /// Dots name the tests that failed, in the list, by titles with those of their experiments in front.
    fn dotted(&mut self, end: &Counts, log: &mut ParsedLogBuilder) -> bool {
        let failed = usize::try_from(end.failed).unwrap_or(usize::MAX);
        let whole = self.dots.len() as u64 == end.all();
        let is_cross = |number: u64| {
            let at = usize::try_from(number - 1).unwrap_or(usize::MAX);
            self.dots.as_bytes().get(at) == Some(&b'x')
        };
        // The place of each dot is the number of its test, unless tests were filtered.
        let crossed = || self.list.iter().filter(|(number, _)| is_cross(*number));
        if whole && self.list.len() != failed && crossed().count() == failed {
            self.list = crossed().cloned().collect();
        }
        if self.list.len() != failed {
            self.rise(failed);
        }
        for (_, title) in &self.list {
            log.record("", title, title, TestStatus::Failed);
        }
        let red = self.dots.bytes().filter(|byte| *byte == b'x').count();
        self.list.len() == failed && (!whole || red == failed)
    }

    /// Takes out the entries that a message holds, where the others' numbers rise in one way only.
    fn rise(&mut self, failed: usize) {
        let mut last = 0;
        let mut up = self.list.clone();
        up.retain(|(number, _)| *number > last && std::mem::replace(&mut last, *number) < *number);
        let mut next = u64::MAX;
        let mut down: Vec<_> = self.list.iter().rev().cloned().collect();
        down.retain(|(number, _)| {
            *number < next && std::mem::replace(&mut next, *number) > *number
        });
        down.reverse();
        match (up.len() == failed, down.len() == failed) {
            (true, true) if up != down => {}
            (true, _) => self.list = up,
            (_, true) => self.list = down,
            _ => {}
        }
    }

    fn verbose(&mut self, log: &mut ParsedLogBuilder) -> Option<bool> {
        let failed = self.failures();
        let trusted = self
            .end
            .is_some_and(|end| failed.len() as u64 == end.failed);
        let fits = |seen: &Seen| {
            !trusted || (seen.status == TestStatus::Failed) == failed.contains_key(&seen.number)
        };
        let ahead = self.listed_at.unwrap_or(self.seen.len());
        let fitting = |seen: &[Seen]| -> Vec<usize> {
            let all = seen.iter().enumerate();
            all.filter(|(_, seen)| fits(seen))
                .map(|(at, _)| at)
                .collect()
        };
        let all = self.end.map(|end| end.all());
        let mut chosen = None;
        // What stands in the list of failures is a message, if the results in front of it are all.
        for seen in [&self.seen[..ahead], &self.seen[..]] {
            if chosen.is_none() {
                chosen = self.chain(fitting(seen), all);
            }
        }
        let (chain, sure) = chosen.unwrap_or_else(|| (self.rising(&fitting(&self.seen)), false));
        let sure = self.correct(&chain, &failed) && sure;
        let (mut count, mut failures) = (0, 0);
        for at in chain {
            let seen = &self.seen[at];
            let names = seen.path.iter().map(|at| self.text(*at));
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            let group = names.join(" > ");
            let id = if group.is_empty() {
                seen.title.clone()
            } else {
                [group.as_str(), seen.title.as_str()].join(" > ")
            };
            log.record(&group, &id, &id, seen.status);
            count += 1;
            failures += u64::from(seen.status == TestStatus::Failed);
        }
        let end = self.end?;
        let counted = count == end.all() || count == end.ran;
        if !sure && counted {
            log.warn(
                None,
                "some results have numbers of others: a test may have printed them",
            );
        }
        Some(sure && counted && failures == end.failed && !self.full && !self.headless)
    }

    /// The failures that are both listed and seen, by their numbers.
    fn failures(&self) -> BTreeMap<u64, String> {
        let mut crosses: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for seen in self
            .seen
            .iter()
            .filter(|seen| seen.status == TestStatus::Failed)
        {
            crosses.entry(seen.number).or_default().push(&seen.title);
        }
        let listed = self.list.iter().filter(|(number, title)| {
            let titles = crosses.get(number);
            titles.is_some_and(|titles| titles.iter().any(|own| title.ends_with(own)))
        });
        listed.cloned().collect()
    }

    /// The results whose numbers go from one to the last, and whether there is but one choice.
    fn chain(&self, of: Vec<usize>, all: Option<u64>) -> Option<(Vec<usize>, bool)> {
        let number = |at: &usize| self.seen[*at].number;
        let rises = of
            .windows(2)
            .all(|pair| number(&pair[0]) < number(&pair[1]));
        let count = of.len() as u64;
        if rises
            && (all.is_none_or(|all| all == count) || self.end.is_some_and(|end| end.ran == count))
        {
            return Some((of, true));
        }
        // The first that may stand at each place, and the last.
        let mut first = Vec::new();
        for at in &of {
            if number(at) == first.len() as u64 + 1 {
                first.push(*at);
            }
        }
        let all = all.unwrap_or(first.len() as u64);
        if all == 0 || (first.len() as u64) < all {
            return None;
        }
        first.truncate(usize::try_from(all).ok()?);
        let mut last = Vec::new();
        for at in of.iter().rev() {
            if number(at) == all - last.len() as u64 && number(at) > 0 {
                last.push(*at);
            }
        }
        last.reverse();
        let is_same = |(one, two): (&usize, &usize)| {
            let (one, two) = (&self.seen[*one], &self.seen[*two]);
            one.title == two.title && one.status == two.status
        };
        let sure = first.len() == last.len() && first.iter().zip(&last).all(is_same);
        // A test prints in front of its own result.
        Some((last, sure))
    }

    /// As many results as can be with rising numbers, where none is certain.
    fn rising(&self, of: &[usize]) -> Vec<usize> {
        let number = |at: usize| self.seen[at].number;
        let mut ends: Vec<usize> = Vec::new();
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        for at in of {
            let place = ends.partition_point(|end| number(*end) < number(*at));
            if let Some(end) = place.checked_sub(1).map(|place| ends[place]) {
                before.insert(*at, end);
            }
            if place == ends.len() {
                ends.push(*at);
            } else {
                ends[place] = *at;
            }
        }
        let mut chain = Vec::new();
        let mut next = ends.last().copied();
        while let Some(at) = next {
            chain.push(at);
            next = before.get(&at).copied();
        }
        chain.reverse();
        chain
    }

    /// The list has the whole title of a test that failed, which tells the headings from output. Returns whether the
    /// headings of all of them are in the log.
    fn correct(&mut self, chain: &[usize], failed: &BTreeMap<u64, String>) -> bool {
        for at in chain {
            let seen = &self.seen[*at];
            let Some(whole) = failed.get(&seen.number) else {
                continue;
            };
            let path = seen.path.clone();
            let titled = |names: &[&str]| {
                let mut names = names.to_vec();
                names.push(&seen.title);
                names.join(" ") == *whole
            };
            let names: Vec<&str> = path.iter().map(|at| self.text(*at)).collect();
            let mut found = None;
            for (level, heading) in path.iter().enumerate() {
                let mut other = Some(*heading);
                for _ in 0..REACH {
                    let Some(tried) = other.filter(|_| found.is_none()) else {
                        break;
                    };
                    let mut names = names.clone();
                    names[level] = &self.headings[tried].text;
                    if titled(&names) {
                        found = Some((*heading, tried));
                    }
                    other = self.headings[tried].before;
                }
            }
            if let Some((heading, real)) = found {
                let mut at = heading;
                while at != real {
                    self.headings[at].real = false;
                    let Some(before) = self.headings[at].before else {
                        break;
                    };
                    at = before;
                }
                self.headings[real].real = true;
            }
        }
        chain.iter().all(|at| {
            let seen = &self.seen[*at];
            failed.get(&seen.number).is_none_or(|whole| {
                let names = seen.path.iter().map(|at| self.text(*at));
                let names: Vec<&str> = names.chain([seen.title.as_str()]).collect();
                names.join(" ") == *whole
            })
        })
    }

    fn text(&self, mut at: usize) -> &str {
        while let Some(heading) = self.headings.get(at) {
            match heading.before {
                Some(before) if !heading.real => at = before,
                _ => return &heading.text,
            }
        }
        ""
    }
}
