//! Programs that cargo has announced, until it is known what each of them is.

use super::line::Binary;
use atlas_core::TestStatus;
use std::collections::VecDeque;

/// Announced programs whose section has not begun.
///
/// cargo writes `Running …` to standard error and libtest its results to standard output. Several programs wait where a log has
/// all of standard error first, and where a program with a `main` of its own (`harness = false`) prints nothing.
#[derive(Clone, Default)]
pub(super) struct Announced {
    waiting: VecDeque<Binary>,
    /// Sections that began since the first of them was announced, and whose the first one was taken to be.
    sections: u64,
    first: Option<Binary>,
    /// An announcement overtook the end of another section.
    is_out_of_order: bool,
    /// Lines came that are neither cargo's nor a section's.
    spoke: bool,
    /// libtest prints something else than sections: a list of tests, JSON.
    has_other_format: bool,
    /// cargo says that it failed, and no section of it has come.
    failed: Option<Binary>,
    /// Programs without a harness, and how they ended.
    pub(super) programs: Vec<(Binary, TestStatus)>,
}

impl Announced {
    /// cargo announces one more program. Where a section is still open, its end has been overtaken by this line.
    pub(super) fn add(&mut self, binary: Binary, section_is_open: bool) {
        self.is_out_of_order |= section_is_open;
        self.waiting.push_back(binary);
    }

    /// A section begins: whose.
    pub(super) fn next(&mut self) -> Option<Binary> {
        // What cargo said of its failure came before its output.
        if let Some(failed) = self.failed.take() {
            self.waiting.push_front(failed);
        }
        let binary = self.waiting.pop_front();
        self.sections += 1;
        self.spoke = false;
        if self.sections == 1 {
            self.first.clone_from(&binary);
        }
        binary
    }

    /// One was killed before its section began: which.
    pub(super) fn died(&mut self) -> Option<Binary> {
        self.failed.take().or_else(|| self.waiting.pop_front())
    }

    /// A line outside of sections that is not cargo's own.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.spoke |= !line.is_empty();
        self.has_other_format |= line.starts_with(b"{ \"type\": \"")
            || line.ends_with(b" benchmarks") && memchr::memmem::find(line, b" tests, ").is_some();
    }

    /// cargo says that a program failed which has no section so far; its name where cargo gives it.
    pub(super) fn fail(&mut self, target: Option<&str>) {
        let named = |binary: &Binary| target.is_none_or(|target| target == binary.name);
        let alone = self.waiting.len() == 1;
        if let Some(at) = self.waiting.iter().rposition(named).or(alone.then_some(0)) {
            self.failed = self.waiting.remove(at);
        }
    }

    /// No more sections of those that wait will come. Returns whose the last section was, if not of whom it was taken for.
    pub(super) fn settle(&mut self) -> Option<Binary> {
        let Self {
            mut waiting,
            sections,
            first,
            is_out_of_order,
            spoke,
            has_other_format,
            failed,
            programs,
        } = std::mem::take(self);
        self.programs = programs;
        self.has_other_format = has_other_format;
        if is_out_of_order || has_other_format {
            return None;
        }
        // A single section behind several announcements is that of the last: it would have come in front of the next one.
        let renamed = if sections == 1 && !spoke && failed.is_none() {
            let last = waiting.pop_back();
            if last.is_some() {
                waiting.extend(first);
            }
            last
        } else {
            None
        };
        let is_known = renamed.is_some() || failed.is_some() || sections == 0 && spoke;
        let harnessless = |binary: &Binary| !binary.name.starts_with("Doc-tests ");
        if is_known {
            let passed = waiting.into_iter().filter(harnessless);
            let passed = passed.map(|binary| (binary, TestStatus::Passed));
            self.programs.extend(passed);
        }
        let failed = failed.filter(harnessless);
        self.programs
            .extend(failed.map(|binary| (binary, TestStatus::Failed)));
        renamed
    }
}
