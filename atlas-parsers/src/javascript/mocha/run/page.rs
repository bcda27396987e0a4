//! Pages: whose are the counts, and what stands below them?

use super::super::failures::Failures;
use super::super::line::{self, Kind};
use super::super::tree::Candidates;
use super::{Ended, Run};
use crate::text::clean;

/// A page: the counts that end a run, and its list of failures.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) passing: u64,
    pub(super) pending: u64,
    pub(super) failures: Failures,
    /// How many results stood above it.
    pub(super) results: usize,
    /// Its counts are still being read.
    pub(super) counting: bool,
    /// Its counts are those of the results above it.
    pub(super) trusted: bool,
    /// Result lines below it that it made text of (2), with those that passed by their marks.
    pub(super) strays: u64,
    pub(super) stray_passes: [u64; 4],
    /// Its list is whole, and two empty lines or more followed.
    pub(super) closed: bool,
    /// How many titles of running tests stood above it, as the list reporter prints them.
    pub(super) begun: usize,
}

impl Run {
    /// Another page comes. Where it stands amid the list of the one before, and no result above tells which of them is
    /// the runner's, the one before is kept.
    pub(super) fn interrupt(&mut self) {
        if self.interrupted.is_none() && self.found.is_empty() {
            let begun = |page: &Page| !page.failures.none_begun() && !page.failures.all_begun();
            self.interrupted = self.page.take_if(|page| begun(page));
        }
    }

    /// Goes on with the interrupted page where its list does.
    pub(super) fn resume(&mut self, line: &[u8]) {
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

    /// Whether a page that begins here is text of a failure's message: it stands below a trusted page whose list is not
    /// whole, or right below another line. A run's page follows an empty line.
    pub(super) fn in_message(&self) -> bool {
        let page = self.page.as_ref().filter(|page| page.trusted);
        page.is_some_and(|page| {
            !page.counting
                && page.failures.declared > 0
                && page.results == self.found.len()
                && !self.found.is_empty()
                && (self.blanks == 0 || !page.failures.all_begun())
        })
    }

    /// Keeps a line below a page that is not trusted, or that has no failures.
    pub(super) fn keep(&mut self, line: &[u8], raw: &[u8]) {
        const MOST: usize = 1 << 20;
        let wanted = |page: &Page| !page.trusted || page.failures.declared == 0;
        let is_kept = self.page.as_ref().is_some_and(wanted);
        let counts = [&b"pending"[..], b"failing"];
        let count = counts
            .iter()
            .any(|word| line::counted(line, word).is_some());
        if is_kept && !count && !self.found.is_empty() && self.below_len < MOST {
            self.below_len += raw.len() + 1;
            self.below.push(raw.to_vec());
        }
    }

    /// Another page comes, of so many passes. If a test printed the one before (4), the lines below that are read again
    /// as the run's.
    pub(super) fn go_on(&mut self, passing: u64, ended: &mut Vec<Ended>) {
        let below = std::mem::take(&mut self.below);
        self.below_len = 0;
        let forged = |page: &Page| {
            let mut passes = self.passes.iter().zip(page.stray_passes);
            if page.trusted {
                let fits = passes.any(|(above, below)| above + below == passing);
                page.strays > 0 && page.failures.declared == 0 && fits
            } else {
                !page.failures.all_begun()
            }
        };
        if !self.page.as_ref().is_some_and(forged) {
            return;
        }
        self.page = None;
        self.candidates = Candidates::default();
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

    /// A line of the last page. Returns whether it is one.
    pub(super) fn page_line(&mut self, line: &[u8]) -> bool {
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
    pub(super) fn counts(&self, page: &Page) -> bool {
        if self.found.is_empty() {
            return !self.dots || self.bangs <= page.failures.declared;
        }
        self.highest == page.failures.declared && self.passes.contains(&page.passing)
    }

    /// How far a page's count of passing tests is from the results above it, from one on.
    pub(super) fn distance(&self, page: &Page, from: usize) -> u64 {
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
}
