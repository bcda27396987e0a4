//! One run of Mocha's console reporters, and how test output that looks like results is distinguished from results.
//!
//! A *page* ends a run: the totals `N passing`, `N pending` and `N failing`, then the numbered list of failures with
//! their messages. A test can print lines that look like results, and whole pages. No line shows who wrote
//! it, so the lines of a run are compared with each other.
//!
//! **While lines are read** ([`Run::result`]), a result line is kept if it fits the tree: it is no deeper than the suites
//! that have begun, and the number of a failure is at most one above the highest so far. Whether it counts is
//! decided later, by the page.
//!
//! **When the totals of a page have been read**, the page is *trusted* if they match the results above it: as many
//! failures as the highest number, and as many passes as there are results with one of the marks (`✓`, `✔`, …).
//!
//! 1. Below a trusted page the list of failures is read by its numbers. A page inside their messages is part of a
//!    message ([`Run::in_message`]).
//! 2. Results below a trusted page start another run if they are at the top level of the tree ([`Run::next`]). Otherwise they
//!    are taken for output. If the next page comes without any result of its own, such output may have been its
//!    results, so that run does not agree with its totals.
//! 3. A page that announces failures but does not list them at once was printed by a test, and is dropped.
//! 4. A page was printed by a test if another page comes and (a) it is not trusted and its list is incomplete, or (b) it
//!    is trusted, has no failures, and the new page counts the results above and below it together. The lines
//!    below it are then read again as results of the run ([`Run::go_on`]).
//! 5. A page that is not trusted and has results below it is *doubtful*: either a test printed it, or it ended a run of
//!    which some results were not recognised. [`Run::finish`] decides by the next page. There were two runs if the
//!    results below the doubtful page start at the top level, and that page's number of passes is closer to theirs than to
//!    that of all results; else one. If no page follows, the doubtful page ended the run, and the results below it are output.
//! 6. Some reporters print no results (`dot`), so no page of theirs can be checked. If a second page comes inside the list
//!    of the first, the first one is *interrupted*. It continues at the line that has the next number of its
//!    list ([`Run::resume`]). Such a run never agrees with its totals.
//!
//! **At the end** ([`Run::chosen`]) only results in the style of the run count: with colour or without, whichever most
//! results have, and with the mark whose number of results is exactly the page's. Of two failures with the same
//! number, the one whose title is in the list of failures is kept, else the later one. `tree.rs` then assigns the
//! suites, and drops results that cannot be where they are. If the passes that are left are more or fewer than the page
//! says, the run does not agree with its totals. Where less than half are left, only the list of failures is used.

mod list;
mod page;

use super::failures::Failures;
use super::line::{self, Kind, ResultLine};
use super::tree::{self, Candidates, Found, Placed};
use atlas_core::{TestStatus, Totals};
use page::Page;
use std::borrow::Cow;

/// What the min reporter begins with.
const CLEAR: &[u8] = b"\x1b[2J\x1b[1;3H";

/// The run that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// The result lines that were kept.
    found: Vec<Found>,
    /// How many of them passed, for each mark.
    passes: [u64; 4],
    /// Lines since the last result that may be titles of suites.
    candidates: Candidates,
    /// The depth of the last result that stands in a suite.
    depth: usize,
    /// The deepest result since a suite of the top level began. The next one is at most as deep, or as the suites
    /// that were printed since.
    reach: usize,
    /// The highest number of a failure.
    highest: u64,
    /// The list reporter printed this run: `    title: \r  ✔ title: 0ms`.
    list: bool,
    /// A result stood alone on its line. One that stands behind a title, as the list reporter's do, may be what the
    /// test of that title printed.
    proper: bool,
    /// Lines that may be titles of running tests, as the list reporter prints them.
    begun: Vec<Vec<u8>>,
    /// Empty lines in a row.
    blanks: usize,
    /// An empty line came since the last result in a suite.
    blank_since: bool,
    /// Tests and suites of the top level may stand here.
    root: bool,
    /// The dot reporter's letters were seen before the first result.
    dots: bool,
    /// Before the first result stood what only reporters print that name no passing test.
    nameless: bool,
    /// Failures among the letters of the dot reporter.
    bangs: u64,
    /// How often the min reporter has cleared the screen. Each run does so first.
    cleared: u64,
    /// The page that is being read, or was read last.
    page: Option<Page>,
    /// A page amid whose list another page came (6 of the module's rules).
    interrupted: Option<Page>,
    /// A page that is not trusted, with results below it (5).
    doubtful: Option<Page>,
    /// The results below the doubtful page stand at the top level, as those of another run would.
    anew: bool,
    /// Lines below a page that is not trusted, up to a limit, to be read again if they are the run's (4).
    below: Vec<Vec<u8>>,
    below_len: usize,
    /// Result lines were made text of right before this run (2).
    strayed: bool,
}

/// A run that is over.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    pub(super) results: Vec<(Vec<String>, TestStatus)>,
    pub(super) totals: Totals,
    /// The results are as many as the page counts, as far as they can be compared.
    pub(super) agrees: bool,
    /// Passing tests are named, and as many as the last page counts.
    pub(super) proven: bool,
    /// There is no last page.
    pub(super) truncated: bool,
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            root: true,
            ..Self::default()
        }
    }

    /// Takes a clean line; `raw` is the line as it came.
    pub(super) fn line(&mut self, line: &[u8], raw: &[u8], ended: &mut Vec<Ended>) {
        let cleared = memchr::memmem::find_iter(raw, CLEAR).count() as u64;
        let is_whole = |page: &Page| page.failures.all_begun();
        if cleared > 0 && self.page.as_ref().is_some_and(is_whole) {
            self.end_page(ended);
        }
        self.cleared += cleared;
        if let Some(passing) = line::passing(line).filter(|_| !self.in_message()) {
            let strayed = self.page.as_ref().is_some_and(|page| page.strays > 0);
            self.go_on(passing, ended);
            self.interrupt();
            // Between two runs stand empty lines; without, the first page was a test's.
            let proven = |page: &Page| page.trusted && !self.found.is_empty();
            let printed = |page: &Page| self.dots && !page.trusted;
            if self
                .page
                .as_ref()
                .is_some_and(|page| page.closed && !printed(page) || proven(page))
            {
                self.end_page(ended);
                self.strayed = strayed;
            }
            self.candidates.page = true;
            self.page = Some(Page {
                strays: 0,
                stray_passes: [0; 4],
                closed: false,
                passing,
                pending: 0,
                failures: Failures::default(),
                results: self.found.len(),
                counting: true,
                trusted: false,
                begun: self.begun.len(),
            });
            return;
        }
        self.resume(line);
        if self.page.is_some() && self.page_line(line) {
            self.keep(line, raw);
            self.blank(line);
            return;
        }
        if self.page.as_ref().is_some_and(|page| page.trusted) {
            self.keep(line, raw);
        }
        if line.is_empty() {
            self.blank(line);
            return;
        }
        self.take(line, raw, ended);
        self.blanks = 0;
    }

    /// No result has been seen since the last page.
    pub(super) fn is_idle(&self) -> bool {
        self.found.is_empty() || self.page.is_some()
    }

    fn blank(&mut self, line: &[u8]) {
        if line.is_empty() {
            self.blanks = self.blanks.saturating_add(1);
            self.blank_since = true;
            if self.blanks >= 2 {
                self.root = true;
                if let Some(page) = &mut self.page {
                    page.closed |= page.failures.all_begun();
                }
            }
        } else {
            self.blanks = 0;
        }
    }

    /// A line of the run.
    fn take(&mut self, line: &[u8], raw: &[u8], ended: &mut Vec<Ended>) {
        let coloured = line::is_coloured(raw);
        // The form of a run is that of its beginning; what comes later in another one, a test printed.
        let first = self.found.is_empty();
        self.nameless |= first && line::is_nameless(line, raw);
        if self.list && self.skipped_itself(line) {
            return;
        }
        if let Some(result) = line::result(line) {
            if self.result(&result, line, raw, coloured, ended) {
                return;
            }
        } else if self.dots || first && line.starts_with(b"  ") {
            let letters = line.trim_ascii_start();
            if !letters.is_empty() && letters.iter().all(|b| matches!(b, b'.' | b',' | b'!')) {
                self.dots = true;
                self.bangs += memchr::memchr_iter(b'!', letters).count() as u64;
            }
        }
        if self.may_be_list() {
            self.begin(line);
        }
        let blanks = line::indent(line);
        if blanks == 0 || !blanks.is_multiple_of(2) {
            return;
        }
        let depth = blanks / 2;
        if depth == 1 && !self.root && !self.blank_since {
            return;
        }
        let suite = coloured && raw.starts_with(b"\x1b[0m") && raw.ends_with(b"\x1b[0m");
        if depth == 1 {
            self.reach = 0;
        }
        let due = self.root || self.blanks > 0;
        let text = &line[blanks..];
        self.candidates.take(depth, text, suite, due, self.reach);
    }

    /// Takes a result line. Returns whether it may be one.
    fn result(
        &mut self,
        result: &ResultLine<'_>,
        line: &[u8],
        raw: &[u8],
        coloured: bool,
        ended: &mut Vec<Ended>,
    ) -> bool {
        if let Kind::Fail(number) = result.kind
            && number > self.highest + 1
            && !(number == 1 && self.page.is_some())
        {
            return false;
        }
        let mut title = line::without_duration(result.title, raw);
        let timed = title.len() < result.title.len();
        let listed = if self.may_be_list() {
            self.listed(result, line, raw)
        } else {
            None
        };
        let depth = if let Some((listed, at)) = &listed {
            // A page between a test's beginning and its result is the test's.
            self.page.take_if(|page| page.begun > *at);
            if !self.list {
                // What stood behind the titles so far was printed by their tests.
                let kept = self.proper;
                self.found.retain(|found| kept && found.is_unannounced());
                self.passes = [0; 4];
                self.highest = self
                    .found
                    .iter()
                    .filter_map(Found::number)
                    .max()
                    .unwrap_or(0);
            }
            self.list = true;
            title = listed;
            0
        } else if self.list {
            // Hooks and pending tests are not announced.
            let alone = result.indent == 2 && !matches!(result.kind, Kind::Pass(_));
            if !alone {
                return false;
            }
            0
        } else if result.indent >= 2 && result.indent.is_multiple_of(2) {
            result.indent / 2 - 1
        } else {
            return false;
        };
        let open = self.candidates.deepest();
        if depth > open.max(self.reach) {
            if let Some(page) = &mut self.page {
                page.strays += 1;
            }
            return false;
        }
        if result.behind && !self.list && (depth == 0 || depth != self.depth && depth != open) {
            return false;
        }
        if self.page.is_some() {
            let anew = self.candidates.top || depth == 0 && self.root;
            let trusted = self.page.as_ref().is_some_and(|page| page.trusted);
            if anew && trusted {
                self.next(ended);
                if matches!(result.kind, Kind::Fail(number) if number > 1) {
                    return false;
                }
            } else if trusted {
                if let Some(page) = &mut self.page {
                    page.strays += 1;
                    if let Kind::Pass(mark) = result.kind {
                        page.stray_passes[usize::from(mark) % 4] += 1;
                    }
                }
                return false;
            } else {
                self.doubtful = self.page.take();
                self.anew = anew;
            }
        }
        match result.kind {
            Kind::Fail(number) => self.highest = self.highest.max(number),
            Kind::Pass(mark) => self.passes[usize::from(mark) % 4] += 1,
            Kind::Pending => {}
        }
        self.proper |= !result.behind;
        let root = self.root || self.list;
        let candidates = std::mem::take(&mut self.candidates);
        // Before Mocha 4 the empty title of the root suite stands there with a blank.
        let title = if self.list {
            title.strip_prefix(b" ").unwrap_or(title)
        } else {
            title
        };
        let mut found = Found::new(result.kind, depth, title, coloured, root, candidates);
        found.timed = timed;
        self.found.push(found);
        self.root &= depth == 0 && !self.list;
        if depth > 0 {
            self.depth = depth;
            // What was printed in a deeper suite may have the form of a result.
            self.reach = self.reach.max(depth).max(open);
        }
        if listed.is_some() || !self.may_be_list() {
            self.begun.clear();
        } else if !self.proper {
            self.begin(line);
        }
        // No empty line stands between a test outside of all suites and the first suite.
        self.blank_since &= depth == 0;
        true
    }

    /// The page ended its run. Another run begins, to which the lines since the page belong.
    fn next(&mut self, ended: &mut Vec<Ended>) {
        let candidates = std::mem::take(&mut self.candidates);
        let root = self.root;
        self.end_page(ended);
        self.candidates = candidates;
        self.candidates.page = false;
        self.root = root;
    }

    /// Ends the run that the last page belongs to.
    fn end_page(&mut self, ended: &mut Vec<Ended>) {
        if self.page.is_none() {
            return;
        }
        let run = std::mem::replace(self, Self::new());
        run.finish(ended);
    }

    /// Ends the run.
    pub(super) fn finish(mut self, ended: &mut Vec<Ended>) {
        let mut page = self.page.take().or_else(|| self.interrupted.take());
        if page.is_none()
            && let Some(doubtful) = self.doubtful.take()
        {
            self.found.truncate(doubtful.results);
            page = Some(doubtful);
        }
        let Some(mut page) = page else {
            self.unended(ended);
            return;
        };
        // Two runs, if the last page counts the results below the doubtful one rather than all.
        if let Some(before) = self.doubtful.take()
            && self.anew
            && self.distance(&page, before.results) < self.distance(&page, 0)
        {
            let mut rest = self.found.split_off(before.results.min(self.found.len()));
            if let Some(first) = rest.first_mut() {
                first.begins_run();
            }
            let first = Self {
                found: std::mem::replace(&mut self.found, rest),
                page: Some(before),
                list: self.list,
                dots: self.dots,
                ..Self::new()
            };
            first.finish(ended);
        }
        page.failures.finish();
        let declared = page.failures.declared;
        // A page was interrupted, letters show more failures than it counts, or a run has no page.
        let doubted =
            self.interrupted.is_some() || self.dots && self.bangs > declared || self.cleared > 1;
        let placed = self.believed(&page);
        let passes = count(&placed, |kind| matches!(kind, Kind::Pass(_)));
        // A reporter that names no passing test prints none at all; its tests may.
        let silent = passes != page.passing && (self.dots || passes * 2 < page.passing);
        let mut told = vec![false; page.failures.paths.len()];
        let mut run = Ended {
            totals: Totals {
                passed: Some(page.passing),
                failed: Some(declared),
                skipped: Some(page.pending),
                ..Totals::default()
            },
            agrees: !doubted,
            proven: !self.found.is_empty() && passes == page.passing,
            ..Ended::default()
        };
        let pending = count(&placed, |kind| kind == Kind::Pending);
        let mut failed = 0;
        if !silent {
            run.agrees &= passes == page.passing && pending == page.pending;
            run.agrees &= !placed.iter().any(|result| result.doubtful);
            failed = count(&placed, |kind| matches!(kind, Kind::Fail(_)));
            for result in placed {
                if let Kind::Fail(number) = result.kind {
                    let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
                    if let Some((at, told)) = at.and_then(|at| Some((at, told.get_mut(at)?))) {
                        *told = true;
                        // Its result or its place in the list is what a test printed.
                        let title = result.path.last().map_or("", String::as_str);
                        run.agrees &= self.is_of(&page.failures.paths[at], title);
                    }
                }
                run.results.push((result.path, status(result.kind)));
            }
        }
        for (path, told) in page.failures.paths.into_iter().zip(told) {
            if !told {
                failed += 1;
                // The list reporter has suites and test in one text.
                let path = if self.list {
                    vec![path.join(" ")]
                } else {
                    path
                };
                run.results.push((path, TestStatus::Failed));
            }
        }
        // A run whose results are named names them all.
        let unnamed = self.nameless || self.found.is_empty();
        run.agrees &= failed == declared && !(silent && (self.strayed || !unnamed));
        if let Some(mut lost) = self.interrupted {
            lost.failures.finish();
            let failed = lost.failures.paths.into_iter();
            run.results
                .extend(failed.map(|path| (path, TestStatus::Failed)));
        }
        ended.push(run);
    }

    /// The results of a run without a last page: only where the form leaves no doubt.
    fn unended(self, ended: &mut Vec<Ended>) {
        let ran =
            |found: &Found| matches!(found.kind, Kind::Pass(_)) && (found.depth > 0 || self.list);
        if !self.found.iter().any(ran) {
            return;
        }
        let all = self.chosen(&[], None);
        let placed = tree::place(&all, &[], false);
        let results = placed.into_iter().map(|r| (r.path, status(r.kind)));
        ended.push(Ended {
            results: results.collect(),
            truncated: true,
            ..Ended::default()
        });
    }

    /// The results that count, with their suites. If fewer of them passed than the page counts, results below a suite's
    /// inner suites count too, provided that their number is then exactly the page's.
    fn believed(&self, page: &Page) -> Vec<Placed> {
        let chosen = self.chosen(&page.failures.paths, Some(page));
        let strict = tree::place(&chosen, &page.failures.paths, false);
        let passes = count(&strict, |kind| matches!(kind, Kind::Pass(_)));
        if passes < page.passing {
            let lenient = tree::place(&chosen, &page.failures.paths, true);
            if count(&lenient, |kind| matches!(kind, Kind::Pass(_))) == page.passing {
                return lenient;
            }
        }
        strict
    }

    /// Whether a path of the list of failures is that of a result with this title.
    fn is_of(&self, path: &[String], title: &str) -> bool {
        match path {
            [whole] => whole.ends_with(title),
            path if self.list => path.join(" ") == title,
            path => path.last().is_some_and(|last| last == title),
        }
    }

    /// The results in the run's own style: one mark, with or without colour, each number of a failure once.
    fn chosen(&self, failures: &[Vec<String>], page: Option<&Page>) -> Vec<Cow<'_, Found>> {
        let shown = self.found.iter().filter(|f| f.kind != Kind::Pending);
        let (coloured, plain): (Vec<&Found>, Vec<&Found>) = shown.partition(|f| f.coloured);
        let coloured = coloured.len() > plain.len();
        let mut marks = [0_u64; 8];
        for found in &self.found {
            if let Kind::Pass(mark) = found.kind
                && found.coloured == coloured
            {
                marks[usize::from(mark) % 8] += 1;
            }
        }
        let exact = page.and_then(|page| marks.iter().position(|n| *n == page.passing && *n > 0));
        let most = (0..marks.len()).rev().max_by_key(|at| marks[*at]);
        let mark = exact.or(most).unwrap_or(0);
        let mut claims: Vec<Option<usize>> = Vec::new();
        for (at, found) in self.found.iter().enumerate() {
            let Kind::Fail(number) = found.kind else {
                continue;
            };
            let Some(index) = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)) else {
                continue;
            };
            if found.coloured != coloured || index > claims.len() {
                continue;
            }
            if index == claims.len() {
                claims.push(Some(at));
                continue;
            }
            let listed = |at: usize| {
                let path = failures.get(index);
                path.is_some_and(|path| self.is_of(path, &self.found[at].title))
            };
            // The list tells which of two; without it the later one, which the runner printed
            // behind what the test did.
            if !claims[index].is_some_and(listed) || listed(at) {
                claims[index] = Some(at);
            }
        }
        let no_pending = page.is_some_and(|page| page.pending == 0);
        let declared = page.map(|page| page.failures.declared);
        let keep = |at: usize, found: &Found| match found.kind {
            _ if found.coloured != coloured => false,
            Kind::Pass(own) => usize::from(own) == mark,
            Kind::Pending => !no_pending,
            Kind::Fail(number) => {
                declared.is_none_or(|declared| number <= declared)
                    && usize::try_from(number)
                        .ok()
                        .and_then(|n| claims.get(n.checked_sub(1)?))
                        .is_some_and(|claim| *claim == Some(at))
            }
        };
        let mut kept = Vec::with_capacity(self.found.len());
        // What a test printed parts no title from the results below it.
        let mut above: Vec<&Found> = Vec::new();
        for (at, found) in self.found.iter().enumerate() {
            if !keep(at, found) {
                // A failure whose number does not follow may be the run's: the list has it.
                if found.coloured == coloured && matches!(found.kind, Kind::Fail(_)) {
                    above.clear();
                } else {
                    above.push(found);
                }
            } else if above.is_empty() {
                kept.push(Cow::Borrowed(found));
            } else {
                kept.push(Cow::Owned(found.below(&above)));
                above.clear();
            }
        }
        kept
    }
}

fn count(placed: &[Placed], kind: impl Fn(Kind) -> bool) -> u64 {
    placed.iter().filter(|result| kind(result.kind)).count() as u64
}

fn status(kind: Kind) -> TestStatus {
    match kind {
        Kind::Pass(_) => TestStatus::Passed,
        Kind::Pending => TestStatus::Skipped,
        Kind::Fail(_) => TestStatus::Failed,
    }
}
