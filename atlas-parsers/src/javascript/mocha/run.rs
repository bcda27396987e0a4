//! One run of Mocha as its console reporters print it.

mod list;

use super::failures::Failures;
use super::line::{self, Kind, ResultLine};
use super::tree::{self, Candidates, Found, Placed};
use crate::text::clean;
use atlas_core::{TestStatus, Totals};
use std::borrow::Cow;

/// What the last page declares.
#[derive(Clone, Debug)]
struct Page {
    passing: u64,
    pending: u64,
    failures: Failures,
    /// Results that stood before it.
    results: usize,
    /// Lines of the page so far, while it is still counting.
    counting: bool,
    /// It counts what stands above it: it is the runner's.
    trusted: bool,
    /// More than one empty line followed it.
    closed: bool,
    /// How many lines before it may be the beginning of one of the list reporter.
    begun: usize,
}

/// What the min reporter begins with.
const CLEAR: &[u8] = b"\x1b[2J\x1b[1;3H";

/// The run that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    found: Vec<Found>,
    /// How many of them passed, for each mark.
    passes: [u64; 4],
    candidates: Candidates,
    /// The depth of the last result below a suite.
    depth: usize,
    /// The deepest result since a suite of the top level began: none can be deeper by more than
    /// the suites that were printed since.
    reach: usize,
    highest: u64,
    /// The run prints `    title: \r  ✔ title: 0ms`.
    list: bool,
    /// A result has a line of its own; what stands behind a title of the list reporter may be a
    /// test's.
    proper: bool,
    /// Lines that may be the beginning of one of the list reporter: the test that runs.
    begun: Vec<Vec<u8>>,
    /// Empty lines in a row.
    blanks: usize,
    blank_since: bool,
    root: bool,
    dots: bool,
    /// Failures among the letters of the dot reporter.
    bangs: u64,
    /// How often the min reporter has cleared the screen, as each run does first.
    cleared: u64,
    page: Option<Page>,
    /// A page whose list is not whole, where another one came: that one stands in a message, if
    /// the list goes on.
    interrupted: Option<Page>,
    /// A page that something went on after: a test printed it, or what goes on is a message.
    doubtful: Option<Page>,
    /// What goes on after the doubtful page begins as a run begins.
    anew: bool,
    /// The lines below a page that does not count what stands above it, up to a limit: if another
    /// page comes before its list is whole, they were the run's.
    below: Vec<Vec<u8>>,
    below_len: usize,
}

/// A run that is over.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    pub(super) results: Vec<(Vec<String>, TestStatus)>,
    pub(super) totals: Totals,
    /// What was read bears the counts out, as far as they can be compared.
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
            self.go_on(ended);
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
            }
            self.page = Some(Page {
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
        if line.is_empty() {
            self.blank(line);
            return;
        }
        self.take(line, raw, ended);
        self.blanks = 0;
    }

    /// Keeps the last page where another one comes in the middle of its list, and nothing above it
    /// tells which is the runner's.
    fn interrupt(&mut self) {
        if self.interrupted.is_none() && self.found.is_empty() {
            let begun = |page: &Page| !page.failures.none_begun() && !page.failures.all_begun();
            self.interrupted = self.page.take_if(|page| begun(page));
        }
    }

    /// Goes on with the interrupted page where its list does.
    fn resume(&mut self, line: &[u8]) {
        let goes_on = |page: &Page| {
            let next = page.failures.next();
            self.blanks > 0 && line::number(line.trim_ascii_start()).is_some_and(|(n, _)| n == next)
        };
        if line.starts_with(b"  ")
            && self.interrupted.as_ref().is_some_and(goes_on)
            && line::result(line).is_some_and(|result| result.indent == 2)
        {
            self.page = self.interrupted.take();
            if let Some(page) = &mut self.page {
                page.failures.after_blank();
            }
        }
    }

    /// Whether the line stands in the message of a failure: below a page that counts what stands
    /// above it, before its list is whole or right below another line. A page follows an empty one.
    fn in_message(&self) -> bool {
        let page = self.page.as_ref().filter(|page| page.trusted);
        page.is_some_and(|page| {
            !page.counting
                && page.failures.declared > 0
                && page.results == self.found.len()
                && !self.found.is_empty()
                && (self.blanks == 0 || !page.failures.all_begun())
        })
    }

    /// Keeps a line below a page that does not count what stands above it.
    fn keep(&mut self, line: &[u8], raw: &[u8]) {
        const MOST: usize = 1 << 20;
        let untrusted = self.page.as_ref().is_some_and(|page| !page.trusted);
        let counts = [&b"pending"[..], b"failing"];
        let count = counts
            .iter()
            .any(|word| line::counted(line, word).is_some());
        if untrusted && !count && !self.found.is_empty() && self.below_len < MOST {
            self.below_len += raw.len() + 1;
            self.below.push(raw.to_vec());
        }
    }

    /// Another page comes. Where the list of the one before is not whole, a test had printed it,
    /// and what stands below it is the run's.
    fn go_on(&mut self, ended: &mut Vec<Ended>) {
        let below = std::mem::take(&mut self.below);
        self.below_len = 0;
        let forged = self
            .page
            .as_ref()
            .is_some_and(|page| !page.trusted && !page.failures.all_begun());
        if !forged {
            return;
        }
        self.page = None;
        for raw in below {
            let line = clean(&raw);
            if line.is_empty() {
                self.blank(&line);
            } else {
                self.take(&line, &raw, ended);
                self.blanks = 0;
            }
        }
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

    /// A line of the last page. Returns whether it is one.
    fn page_line(&mut self, line: &[u8]) -> bool {
        let Some(page) = &mut self.page else {
            return false;
        };
        if page.counting {
            if let Some(pending) = line::counted(line, b"pending") {
                page.pending = pending;
                return true;
            }
            page.counting = false;
            if let Some(failing) = line::counted(line, b"failing") {
                page.failures = Failures::new(failing);
            }
            let more = page.failures.declared > 0;
            let trusted = self.page.as_ref().is_some_and(|page| self.counts(page));
            if let Some(page) = &mut self.page {
                page.trusted = trusted;
            }
            return more;
        }
        let title = page.failures.line(line);
        // The runner's list begins at once: counts of failures before anything else are a test's.
        if !title && !line.is_empty() && page.failures.none_begun() && !page.failures.all_begun() {
            self.page = None;
            return false;
        }
        // Until the last announced failure has begun, all is the list.
        title || !page.failures.all_begun()
    }

    /// Whether a page counts the results above it.
    fn counts(&self, page: &Page) -> bool {
        if self.found.is_empty() {
            return !self.dots || self.bangs <= page.failures.declared;
        }
        self.highest == page.failures.declared && self.passes.contains(&page.passing)
    }

    /// How far a page's count of passing tests is from the results above it, from one on.
    fn distance(&self, page: &Page, from: usize) -> u64 {
        let results = self.found.get(from..).unwrap_or_default();
        let passes = |mark: u8| {
            results
                .iter()
                .filter(|f| f.kind == Kind::Pass(mark))
                .count()
        };
        let passes = (0..4).map(passes).max().unwrap_or(0) as u64;
        passes.abs_diff(page.passing)
    }

    /// A line of the run.
    fn take(&mut self, line: &[u8], raw: &[u8], ended: &mut Vec<Ended>) {
        let coloured = line::is_coloured(raw);
        if self.list && self.skipped_itself(line) {
            return;
        }
        if let Some(result) = line::result(line) {
            if self.result(&result, line, raw, coloured, ended) {
                return;
            }
        } else if self.dots || line.starts_with(b"  ") {
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

    /// The page was the end of the run, and another begins with the candidates at hand.
    fn next(&mut self, ended: &mut Vec<Ended>) {
        let candidates = std::mem::take(&mut self.candidates);
        let root = self.root;
        self.end_page(ended);
        self.candidates = candidates;
        self.root = root;
    }

    /// Another page begins, or the log ends: what of the page before?
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
        // The page before was a run's own if this one does not count what stands above both.
        if let Some(before) = self.doubtful.take()
            && self.anew
            && self.distance(&page, before.results) < self.distance(&page, 0)
        {
            let rest = self.found.split_off(before.results.min(self.found.len()));
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
        // Another page was cut, letters are of failures that it does not count, or a run has no page.
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
            failed = count(&placed, |kind| matches!(kind, Kind::Fail(_)));
            for result in placed {
                if let Kind::Fail(number) = result.kind {
                    let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
                    if let Some(told) = at.and_then(|at| told.get_mut(at)) {
                        *told = true;
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
        run.agrees &= failed == declared;
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

    /// The results that the last page bears out, in their places.
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

    /// The results in the run's own style: one mark, in colour or not, each number once.
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
            let title = |at: usize| self.found[at].title.as_str();
            let listed = |at: usize| {
                failures
                    .get(index)
                    .is_some_and(|path| match path.as_slice() {
                        [whole] => whole.ends_with(title(at)),
                        path if self.list => path.join(" ") == title(at),
                        path => path.last().is_some_and(|last| last == title(at)),
                    })
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
