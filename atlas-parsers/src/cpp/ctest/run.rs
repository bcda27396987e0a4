//! One run of `ctest`: what was started, what was said of it, and what the end says.

use super::line::{Head, Verdict};
use atlas_core::{ParsedLogBuilder, TestStatus, Totals};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A test: its index and its name.
type Key = (u64, String);

/// The lists at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Failed,
    NotRun,
}

#[derive(Clone, Default)]
pub(super) struct Run {
    /// The build folder, which tells several runs of one log apart.
    pub(super) project: String,
    names: HashMap<u64, String>,
    /// Started and not ended, in the order of their start.
    open: BTreeMap<u64, Key>,
    open_at: HashMap<Key, u64>,
    starts: u64,
    /// On a terminal `--progress` names the tests that pass only while they run.
    shown: Vec<Key>,
    results: HashMap<Key, Test>,
    order: Vec<Key>,
    /// The result that a line end of its own has cut.
    pending: Option<(Key, Option<u64>)>,
    pub(super) summary: Option<(u64, u64)>,
    listed: HashMap<Key, List>,
}

/// What was said of one test.
#[derive(Clone)]
struct Test {
    place: Option<u64>,
    status: TestStatus,
    /// The last status that is no failure.
    good: Option<TestStatus>,
    disabled: bool,
}

impl Run {
    pub(super) fn has_begun(&self) -> bool {
        self.starts > 0 || !self.order.is_empty()
    }

    pub(super) fn start(&mut self, index: u64, name: &str) {
        self.reopen();
        self.starts += 1;
        let key = (index, name.to_owned());
        if let Some(before) = self.open_at.insert(key.clone(), self.starts) {
            self.open.remove(&before);
        }
        self.open.insert(self.starts, key);
        self.names.insert(index, name.to_owned());
    }

    /// `--progress` shows the running test on a terminal.
    pub(super) fn show(&mut self, head: &Head<'_>) {
        let key = (head.index, head.rest.to_owned());
        if self.names.get(&head.index) != Some(&key.1) {
            self.names.insert(head.index, key.1.clone());
            self.shown.push(key);
        }
        self.starts += 1;
    }

    /// The end counts and lists all that failed or did not run: the other shown tests passed.
    fn pass_shown(&mut self) {
        let Some((failed, all)) = self.summary else {
            return;
        };
        let listed = self.listed.values().filter(|list| **list == List::Failed);
        let disabled = self.results.values().filter(|test| test.disabled).count() as u64;
        let counted = (self.shown.len() as u64).saturating_sub(disabled);
        if listed.count() as u64 != failed || counted != all {
            return;
        }
        for key in std::mem::take(&mut self.shown) {
            if !self.results.contains_key(&key) {
                self.end(key, None, TestStatus::Passed, false);
            }
        }
    }

    /// A run goes on after something that looked like its end: a test had printed that.
    fn reopen(&mut self) {
        if self.summary.take().is_some() {
            self.listed.clear();
        }
    }

    /// Takes a result line. A result counts for a started test; only a log without any start line
    /// is believed as it is. Returns the name of a test that was not run.
    pub(super) fn result(&mut self, head: &Head<'_>) -> Option<String> {
        let (name, verdict) = match self.names.get(&head.index) {
            Some(name) => (name.clone(), head.verdict_of(name)?),
            None if self.starts == 0 => {
                let (name, verdict) = head.split()?;
                (name.to_owned(), verdict)
            }
            None => return None,
        };
        self.reopen();
        self.pending = None;
        let idle = head.rest.contains("***Not Run  ").then(|| name.clone());
        let key = (head.index, name);
        match verdict {
            Verdict::Continued => self.pending = Some((key, head.place)),
            Verdict::Disabled => self.end(key, head.place, TestStatus::Skipped, true),
            Verdict::Status(status) => self.end(key, head.place, status, false),
        }
        idle
    }

    /// `***Exception:   0.02 sec` below an exit code.
    pub(super) fn exception(&mut self) {
        if let Some((key, place)) = self.pending.take() {
            self.end(key, place, TestStatus::Failed, false);
        }
    }

    fn end(&mut self, key: Key, place: Option<u64>, status: TestStatus, disabled: bool) {
        if let Some(start) = self.open_at.remove(&key) {
            self.open.remove(&start);
        }
        let good = (!status.is_failing()).then_some(status);
        // The last of several attempts is the one that ctest counts.
        if let Some(test) = self.results.get_mut(&key) {
            test.status = status;
            test.good = good.or(test.good);
            test.disabled = disabled;
            test.place = test.place.or(place);
        } else {
            self.order.push(key.clone());
            self.results.insert(
                key,
                Test {
                    place,
                    status,
                    good,
                    disabled,
                },
            );
        }
    }

    /// A line of the list of failed or not run tests.
    pub(super) fn listed(&mut self, list: List, index: u64, rest: &str) {
        if let Some(name) = self.names.get(&index)
            && let Some(reason) = rest.strip_prefix(name.as_str())
            && reason.starts_with(" (")
        {
            self.listed.insert((index, name.clone()), list);
        }
    }

    /// Forgets what tests printed: of two results at one place, when there are more tests than
    /// the end says, the one that the end does not list, or the earlier.
    fn drop_forged(&mut self, all: u64) {
        let mut surplus = self.counted().saturating_sub(all);
        if surplus == 0 {
            return;
        }
        let mut taken: HashSet<u64> = self
            .listed
            .keys()
            .filter_map(|key| self.results.get(key)?.place)
            .collect();
        let mut dropped: HashSet<Key> = HashSet::new();
        for key in self.order.iter().rev() {
            let Some(place) = self.results.get(key).and_then(|test| test.place) else {
                continue;
            };
            if self.listed.contains_key(key) {
                continue;
            }
            if !taken.insert(place) && surplus > 0 {
                dropped.insert(key.clone());
                surplus -= 1;
            }
        }
        self.order.retain(|key| !dropped.contains(key));
        self.results.retain(|key, _| !dropped.contains(key));
    }

    /// Tests that the end counts: all but the disabled.
    fn counted(&self) -> u64 {
        self.results.values().filter(|test| !test.disabled).count() as u64
    }

    /// Records the run. Returns whether its end agrees with its results, where it has one.
    pub(super) fn record(&mut self, module: &str, log: &mut ParsedLogBuilder) -> Option<bool> {
        if let Some((_, all)) = self.summary {
            self.pass_shown();
            self.drop_forged(all);
        }
        let mut failing = 0_u64;
        for key in &self.order {
            let Some(test) = self.results.get(key) else {
                continue;
            };
            // What the end says of a test is later than anything that a test can print.
            let status = match self.listed.get(key) {
                Some(List::Failed) if !test.status.is_failing() => TestStatus::Failed,
                Some(List::NotRun) => TestStatus::Skipped,
                None if self.summary.is_some() => test.good.unwrap_or(test.status),
                _ => test.status,
            };
            failing += u64::from(status.is_failing());
            let name = &key.1;
            log.record_in(module, "::", name, status);
        }
        let Some((failed, all)) = self.summary else {
            for key in self.open.values() {
                log.still_running(key.1.clone());
            }
            return None;
        };
        log.add_totals(Totals {
            total: Some(all),
            failed: Some(failed),
            ..Totals::default()
        });
        self.shown
            .is_empty()
            .then_some(failed == failing && all == self.counted())
    }
}
