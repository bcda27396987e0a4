//! `0.012 s: name`, as `--durations yes` prints for every section and test case.
//!
//! The lines do not tell sections from test cases: a pass through a test prints its innermost
//! section first and the test last. A test with several sections is passed through once for each,
//! so its name ends several stretches of lines, and those show what its sections are. What is left
//! is settled by the number of test cases that the runner declares, or not at all.

use crate::cpp::text::lossy;
use atlas_core::TestStatus;
use std::collections::{HashMap, HashSet};

#[derive(Clone, Debug, Default)]
pub(super) struct Durations {
    ids: HashMap<String, u32>,
    names: Vec<String>,
    /// Whether the name is indented as the sections of a scenario are.
    step: Vec<bool>,
    items: Vec<u32>,
    /// Failures and skips that stand without a heading, and how many lines were before them.
    told: Vec<(usize, TestStatus)>,
}

/// Consecutive lines of one test case.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: usize,
    end: usize,
}

impl Group {
    fn single(self) -> bool {
        self.start == self.end
    }
}

/// The name in a line `0.012 s: name`, which output without a newline may stand in front of.
pub(super) fn read(line: &[u8]) -> Option<&[u8]> {
    memchr::memmem::find_iter(line, b" s: ").find_map(|at| {
        let (before, decimals) = line[..at].split_at_checked(at.checked_sub(3)?)?;
        let whole = before.strip_suffix(b".")?;
        let numeric =
            decimals.iter().all(u8::is_ascii_digit) && whole.last().is_some_and(u8::is_ascii_digit);
        let name = &line[at + b" s: ".len()..];
        (numeric && !name.trim_ascii().is_empty()).then_some(name)
    })
}

impl Durations {
    pub(super) fn push(&mut self, name: &[u8]) {
        let text = lossy(name.trim_ascii());
        let words: &[&str] = if name.first() == Some(&b' ') {
            &["Given: ", "When: ", "Then: ", "And: ", "And when: "]
        } else {
            &["And given: "]
        };
        let step = words.iter().any(|word| text.starts_with(word));
        let id = if let Some(id) = self.ids.get(&text) {
            *id
        } else {
            let Ok(id) = u32::try_from(self.names.len()) else {
                return;
            };
            self.ids.insert(text.clone(), id);
            self.names.push(text);
            self.step.push(step);
            id
        };
        self.items.push(id);
    }

    /// A failure or skip of the test that comes next.
    pub(super) fn tell(&mut self, status: TestStatus) {
        let at = self.items.len();
        match self.told.last_mut() {
            Some(last) if last.0 == at => last.1 = last.1.worst(status),
            _ => self.told.push((at, status)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether there is a line of that name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }

    /// The test cases with what was told of them, and whether all of them are known.
    pub(super) fn tests(
        &mut self,
        known: impl Fn(&str) -> bool,
        sections: &HashSet<String>,
        declared: Option<u64>,
    ) -> (Vec<(&str, Option<TestStatus>)>, bool) {
        let groups = self.merged(self.groups(&known, true), &known, sections);
        let (mut groups, mut exact) = self.fit(groups, &known, declared);
        if !exact {
            // Sections of one name in several tests tie these together: without the lines that can
            // only be sections' it may be clear.
            self.drop_sections(&known, sections);
            (groups, exact) = self.fit(self.groups(&known, false), &known, declared);
        }
        let mut told = self.told.iter().copied().peekable();
        let tests = groups.iter().map(|group| {
            let mut status: Option<TestStatus> = None;
            while let Some((at, what)) = told.next_if(|(at, _)| *at <= group.end) {
                if at >= group.start {
                    status = Some(status.map_or(what, |known| known.worst(what)));
                }
            }
            (self.name(group.end), status)
        });
        (tests.collect(), exact)
    }

    /// Leaves out the lines that can only be those of sections: steps of scenarios, what headings
    /// name as sections and not as tests, and names between two of which another one is repeated,
    /// for one pass through a test enters no section twice.
    fn drop_sections(&mut self, known: &impl Fn(&str) -> bool, sections: &HashSet<String>) {
        let mut drop: Vec<bool> = self
            .names
            .iter()
            .zip(&self.step)
            .map(|(name, step)| *step || sections.contains(name))
            .collect();
        // For each name where it was last, and the latest place whose name came again since.
        let mut last: Vec<Option<usize>> = vec![None; self.names.len()];
        let mut repeated: Option<usize> = None;
        for (at, id) in self.items.iter().enumerate() {
            let before = last[*id as usize].replace(at);
            if before.is_some() && repeated > before {
                drop[*id as usize] = true;
            }
            repeated = repeated.max(before);
        }
        for (drop, name) in drop.iter_mut().zip(&self.names) {
            *drop &= !known(name);
        }
        let mut told = self.told.iter_mut().peekable();
        let mut kept = 0;
        for (at, id) in std::mem::take(&mut self.items).into_iter().enumerate() {
            while let Some(place) = told.next_if(|place| place.0 <= at) {
                place.0 = kept;
            }
            if !drop[id as usize] {
                self.items.push(id);
                kept += 1;
            }
        }
        for place in told {
            place.0 = kept;
        }
    }

    fn name(&self, at: usize) -> &str {
        &self.names[self.items[at] as usize]
    }

    fn groups(&self, known: &impl Fn(&str) -> bool, whole: bool) -> Vec<Group> {
        let items = &self.items;
        let mut last = vec![0_usize; self.names.len()];
        for (at, id) in items.iter().enumerate() {
            last[*id as usize] = at;
        }
        let mut groups: Vec<Group> = Vec::new();
        let mut at = 0;
        while at < items.len() {
            // All lines up to the last that repeats one of them.
            let (mut end, mut next) = (last[items[at] as usize], at);
            while next <= end {
                end = end.max(last[items[next] as usize]);
                next += 1;
            }
            let mut group = Group { start: at, end };
            if whole && !group.single() {
                for _ in 0..8 {
                    let previous = groups
                        .last()
                        .filter(|p| p.single() && !known(self.name(p.end)));
                    let Some(previous) = previous.copied() else {
                        break;
                    };
                    if self.is_sound(group) {
                        break;
                    }
                    group.start = previous.start;
                    groups.pop();
                }
            }
            groups.push(group);
            at = end + 1;
        }
        groups
    }

    /// Gives the lines that can only be sections' to the test behind them.
    fn merged(
        &self,
        groups: Vec<Group>,
        known: &impl Fn(&str) -> bool,
        sections: &HashSet<String>,
    ) -> Vec<Group> {
        let mut merged: Vec<Group> = Vec::with_capacity(groups.len());
        // Whether the last of them is nothing but sections so far.
        let mut loose = false;
        for group in groups {
            match merged.last_mut() {
                Some(previous) if loose => previous.end = group.end,
                _ => merged.push(group),
            }
            let name = self.name(group.end);
            let step = self.step[self.items[group.end] as usize];
            loose = group.single() && (step || sections.contains(name)) && !known(name);
        }
        merged
    }

    /// Whether the passes of a group can be those of one test: a section that was passed through
    /// as the innermost is done and cannot hold another one later.
    fn is_sound(&self, group: Group) -> bool {
        let lines = &self.items[group.start..=group.end];
        let Some((test, _)) = lines.split_last() else {
            return false;
        };
        let mut before: Option<&[u32]> = None;
        for pass in lines.split(|id| id == test) {
            // `split` ends with an empty piece behind the last line.
            if std::ptr::eq(pass.as_ptr(), lines[lines.len()..].as_ptr()) {
                break;
            }
            if let Some(before) = before
                && before.len() < pass.len()
                && pass.ends_with(before)
            {
                return false;
            }
            before = Some(pass);
        }
        true
    }

    /// Makes the groups as many as the runner declares, where that can be told.
    fn fit(
        &self,
        groups: Vec<Group>,
        known: &impl Fn(&str) -> bool,
        declared: Option<u64>,
    ) -> (Vec<Group>, bool) {
        let count = groups.len() as u64;
        if declared == Some(count) {
            return (groups, true);
        }
        let loose: Vec<bool> = groups
            .iter()
            .enumerate()
            .map(|(at, group)| {
                let before_many = groups.get(at + 1).is_some_and(|next| !next.single());
                group.single() && before_many && !known(self.name(group.end))
            })
            .collect();
        let sections = loose.iter().filter(|loose| **loose).count() as u64;
        if declared.is_some_and(|declared| count.checked_sub(sections) == Some(declared)) {
            let tests = groups.iter().zip(&loose).filter(|(_, loose)| !**loose);
            return (tests.map(|(group, _)| *group).collect(), true);
        }
        // A line that stands alone may be the only section of the test behind it.
        let last = groups.len().saturating_sub(1);
        let certain = groups
            .iter()
            .enumerate()
            .filter(|(at, group)| !group.single() || *at == last || known(self.name(group.end)));
        (certain.map(|(_, group)| *group).collect(), false)
    }
}
