//! Results that come late: the runner prints them on standard output and its list of failures on standard
//! error. Where the two were joined by somebody who reads them apart, results may stand in the list.

use super::{Found, MOST_ECHOES, State, line};
use atlas_core::TestStatus;
use std::collections::BTreeSet;

impl State {
    /// Keeps a line of the list of failures that looks like a result.
    pub(super) fn keep_late(&mut self, line: &str) {
        let Some(marked) = line::marked(line).filter(|_| self.late.len() < MOST_ECHOES) else {
            return;
        };
        let (_, text) = line::badges(marked.text);
        let is_known = match marked.depth {
            0 => line::full_name(text).is_some() || line::file_summary(text).is_some(),
            _ => !self.late.is_empty(),
        };
        if is_known {
            self.late.push((self.run(), line.to_owned()));
        }
    }

    /// The state with the late results, if all of them together make up the runner's totals, which the
    /// others do not: a message of a failure may hold such lines as well.
    pub(super) fn with_late(mut self) -> Self {
        let late = std::mem::take(&mut self.late);
        if late.is_empty() || self.report.is_some() || self.is_whole() {
            return self;
        }
        let mut whole = self.clone();
        whole.end_listing();
        // What was taken for an echo of a message is one of these.
        whole.echoes.clear();
        for (run, line) in &late {
            if *run != whole.run() {
                return self;
            }
            if let Some(marked) = line::marked(line) {
                whole.marked(line, marked);
                whole.unended = None;
            }
        }
        let are_alike =
            (self.names_tests(), self.lists_files()) == (whole.names_tests(), whole.lists_files());
        if are_alike && whole.is_whole() {
            whole
        } else {
            self
        }
    }

    fn names_tests(&self) -> bool {
        self.results
            .iter()
            .any(|found| !found.listed && !found.held)
    }

    fn lists_files(&self) -> bool {
        self.listing.is_some() || !self.listings.is_empty()
    }

    /// Whether what was read makes up the totals of every run, in full names or in files.
    fn is_whole(&self) -> bool {
        let mut read = self.clone();
        read.end_listing();
        if read.messages {
            read.drop_echoes();
        }
        let by_run = |(run, counts): (usize, Option<line::Counts>)| {
            let Some(counts) = counts else {
                return false;
            };
            let of_run = |found: &&Found| found.run == run && !found.listed && !found.held;
            let own = || read.results.iter().filter(of_run);
            let times = |status| own().filter(|found| found.status == status).count() as u64;
            let listings = read.listings.iter().filter(|((of, _), _)| *of == run);
            let declared = listings.fold(0_u64, |sum, (_, listing)| {
                sum.saturating_add(listing.declared())
            });
            if own().next().is_none() {
                return declared == counts.total;
            }
            let headings = read.failing.keys().filter(|key| key.0 == run);
            let failing: BTreeSet<(&str, &str)> = own()
                .filter(|found| found.status == TestStatus::Failed)
                .map(|found| (found.project.as_str(), found.name.as_str()))
                .chain(headings.map(|(_, project, name)| (project.as_str(), name.as_str())))
                .collect();
            times(TestStatus::Passed) == counts.passed
                && failing.len() as u64 == counts.failed
                && times(TestStatus::Skipped) <= counts.skipped.saturating_add(counts.todo)
                && declared == 0
        };
        let mut runs = read.runs.iter().map(|run| run.tests).enumerate();
        !read.runs.is_empty() && runs.all(by_run)
    }
}

#[cfg(test)]
mod tests {
    use crate::javascript::vitest::VITEST;
    use crate::text::clean;
    use atlas_core::{LogParserExt, ParsedLog};

    const RUNS: [&str; 4] = [
        include_str!("corpus/own-2-two-streams-verbose.log"),
        include_str!("corpus/own-3-two-streams-verbose.log"),
        include_str!("corpus/own-3-two-streams-default.log"),
        include_str!("corpus/own-4-two-streams-default.log"),
    ];

    /// Standard output and standard error of a log that has them one after the other.
    fn streams(log: &str) -> (Vec<&str>, Vec<&str>) {
        let at = log
            .find("\n\u{23af}")
            .or_else(|| log.find("\n\u{1b}[31m\u{23af}"))
            .unwrap()
            + 1;
        let lines = |text| str::split_inclusive(text, '\n').collect();
        (lines(&log[..at]), lines(&log[at..]))
    }

    fn read(parts: &[&[&str]]) -> ParsedLog {
        VITEST.parse(parts.concat().concat().as_bytes())
    }

    #[test]
    fn results_amid_the_list_of_failures_are_read_wherever_they_stand() {
        for log in RUNS {
            let whole = VITEST.parse(log.as_bytes());
            assert_eq!(
                (whole.tests().len() > 1, whole.consistent),
                (true, Some(true)),
                "{log}"
            );
            let (out, err) = streams(log);
            // The first result tells which reporter it is.
            for cut in 4..=out.len() {
                for at in 0..=err.len() {
                    let log = read(&[&out[..cut], &err[..at], &out[cut..], &err[at..]]);
                    for (id, status) in log.tests() {
                        assert_eq!(whole.tests().get(id), Some(&status), "{cut}, {at}: {id}");
                    }
                    // What is below a file's line belongs to it; behind a cut it is nobody's.
                    let next = out.get(cut).map_or("", |line| line);
                    let is_cut = clean(next.as_bytes()).starts_with(b"   ");
                    assert!(is_cut || log.tests() == whole.tests(), "{cut}, {at}");
                }
            }
        }
    }

    #[test]
    fn a_message_with_results_adds_none() {
        let ghosts = [
            " \u{2713} test/sum.test.js > sum > ghost 1ms\n",
            " \u{2713} test/text.test.js > text > joins 1ms\n",
            " \u{2713} test/ghost.test.js (1 test) 3ms\n",
            " \u{d7} test/sum.test.js > sum > ghost 1ms\n",
            "\u{23af}\u{23af}[1/2]\u{23af}\n \u{2713} test/sum.test.js > sum > ghost 1ms\n",
        ];
        for log in RUNS {
            let whole = VITEST.parse(log.as_bytes());
            let (out, err) = streams(log);
            for (cut, ghost) in [4, 8, out.len()]
                .into_iter()
                .flat_map(|cut| ghosts.map(|g| (cut, g)))
            {
                for at in 1..=err.len() {
                    let log = read(&[&out[..cut], &err[..at], &[ghost], &out[cut..], &err[at..]]);
                    for (id, status) in log.tests() {
                        assert_eq!(whole.tests().get(id), Some(&status), "{cut}, {at}: {ghost}");
                    }
                }
            }
        }
    }
}
