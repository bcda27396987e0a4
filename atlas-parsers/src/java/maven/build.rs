//! What Maven says of modules that it could not build or test.

use super::line;
use atlas_core::{Evidence, LostReason, ParsedLogBuilder};
use memchr::memmem;

/// What the next lines at the level `[ERROR]` belong to.
#[derive(Clone, Debug, Default)]
enum Below {
    #[default]
    Nothing,
    /// `COMPILATION ERROR`: complaints of the module being built.
    Compilation,
    /// A refusal to test this module, whose reason has not come yet.
    Refusal(String, Evidence),
    /// `Failed to execute goal`: what the last lost module died of.
    Lost,
}

/// Whether Maven gave up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    #[default]
    Open,
    /// A goal of some module.
    Refused,
    /// All of it: the modules' files cannot be read.
    Unreadable,
}

/// The module being built, and what went wrong so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Build {
    module: String,
    /// The compiler's complaints of the module being built.
    complaints: Vec<Evidence>,
    below: Below,
    /// Modules with complaints whose goal has not been refused yet.
    pending: Vec<(String, Vec<Evidence>)>,
    lost: Vec<(String, LostReason, Vec<Evidence>)>,
    end: End,
    crashed: Vec<Evidence>,
    /// Lost modules have been handed over.
    handed_over: bool,
}

impl Build {
    const MAX_LINES: usize = 20;
    const MAX_MODULES: usize = 2000;

    pub(super) fn module(&self) -> &str {
        &self.module
    }

    /// Maven turns to another module.
    pub(super) fn enter(&mut self, module: &str) {
        if self.module == module {
            return;
        }
        self.keep_complaints();
        module.clone_into(&mut self.module);
    }

    fn keep_complaints(&mut self) {
        if matches!(self.below, Below::Compilation) {
            self.below = Below::Nothing;
        }
        if !self.complaints.is_empty() && self.pending.len() < Self::MAX_MODULES {
            let lines = std::mem::take(&mut self.complaints);
            self.pending.push((self.module.clone(), lines));
        }
    }

    /// A line at the level `[ERROR]`.
    pub(super) fn error(&mut self, text: &[u8], evidence: impl FnOnce() -> Evidence) {
        if text.starts_with(b"COMPILATION ERROR") {
            self.keep_complaints();
            // A refusal waits for its reason, whatever comes between.
            if !matches!(self.below, Below::Refusal(..)) {
                self.below = Below::Compilation;
            }
            self.complaints.push(evidence());
        } else if let Some(refusal) = line::refusal(text) {
            self.end = self.end.max(End::Refused);
            self.keep_complaints();
            self.below = Below::Nothing;
            self.refuse(&refusal, evidence());
        } else if text.starts_with(b"-> [Help") || text.starts_with(b"To see the full stack trace")
        {
            self.below = Below::Nothing;
        } else if matches!(self.below, Below::Refusal(..)) {
            self.reason(text, evidence);
        } else if matches!(self.below, Below::Lost)
            || text.trim_ascii_start().starts_with(b"symbol:")
        {
            // The symbol stands below the place, and only at the end at this level.
            self.explain(text, evidence);
        } else if matches!(self.below, Below::Compilation) {
            if self.complaints.len() < Self::MAX_LINES {
                self.complaints.push(evidence());
            }
        } else if text.starts_with(b"The forked VM terminated")
            || memmem::find(text, b"The forked VM terminated without").is_some()
            || text.starts_with(b"Crashed tests:")
        {
            if self.crashed.len() < Self::MAX_LINES {
                self.crashed.push(evidence());
            }
        } else if text.starts_with(b"Some problems were encountered while processing the POMs")
            || text.starts_with(b"The build could not read ")
        {
            self.end = End::Unreadable;
        }
    }

    /// The lines below a refusal to test that bears no reason.
    fn reason(&mut self, text: &[u8], evidence: impl FnOnce() -> Evidence) {
        let reason = if text.starts_with(b"The forked VM terminated")
            || text.starts_with(b"There was an error in the forked process")
            || text.starts_with(b"Error occurred in starting fork")
        {
            LostReason::Crashed
        } else if text.starts_with(b"There was a timeout ") {
            LostReason::TimedOut
        } else {
            return;
        };
        // What it died of stands below.
        if self.lost.len() < Self::MAX_MODULES
            && let Below::Refusal(project, refusal) =
                std::mem::replace(&mut self.below, Below::Lost)
        {
            self.lost.push((project, reason, vec![refusal, evidence()]));
        }
    }

    fn refuse(&mut self, refusal: &line::Refusal<'_>, evidence: Evidence) {
        let tests = refusal.goal.contains("surefire") || refusal.goal.contains("failsafe");
        let why = refusal.why;
        let reason = if !tests {
            LostReason::BuildFailed
        } else if why.trim().is_empty() {
            // The reason is on the next lines.
            self.below = Below::Refusal(refusal.project.to_owned(), evidence);
            return;
        } else if why.contains("There was a timeout ") {
            LostReason::TimedOut
        } else if why.contains("fork")
            || why.contains("ExecutionException")
            || why.contains("crash")
        {
            LostReason::Crashed
        } else if why.contains("There are test failures")
            || why.contains("No tests were executed")
            || why.contains("No tests matching pattern")
            || why.contains("test failures")
        {
            return;
        } else {
            // The plugin or its provider could not be set up.
            LostReason::LoadFailed
        };
        let mut lines: Vec<Evidence> = Vec::new();
        if let Some(at) = self
            .pending
            .iter()
            .position(|known| known.0 == refusal.project)
        {
            lines.append(&mut self.pending.swap_remove(at).1);
        }
        if reason == LostReason::Crashed {
            lines.append(&mut self.crashed);
        }
        lines.push(evidence);
        if self.lost.len() < Self::MAX_MODULES {
            if lines.len() == 1 {
                self.below = Below::Lost;
            }
            self.lost.push((refusal.project.to_owned(), reason, lines));
        }
    }

    /// More of what Maven says at its end; only where it has not been said before.
    fn explain(&mut self, text: &[u8], evidence: impl FnOnce() -> Evidence) {
        if text.is_empty() || text.trim_ascii_start().starts_with(b"at ") {
            return;
        }
        if let Some((_, _, lines)) = self.lost.last_mut()
            && lines.len() < Self::MAX_LINES
        {
            lines.push(evidence());
        }
    }

    pub(super) fn refused(&self) -> bool {
        self.end != End::Open
    }

    pub(super) fn unreadable(&self) -> bool {
        self.end == End::Unreadable
    }

    pub(super) fn lost(&self) -> bool {
        self.handed_over
            || !self.lost.is_empty()
            || !self.pending.is_empty()
            || !self.complaints.is_empty()
    }

    fn has(&self, reason: LostReason) -> bool {
        self.lost.iter().any(|lost| lost.1 == reason)
    }

    pub(super) fn crashed(&self) -> bool {
        self.has(LostReason::Crashed)
    }

    pub(super) fn timed_out(&self) -> bool {
        self.has(LostReason::TimedOut)
    }

    /// Hands the lost modules over. A module whose tests ran is not lost by what came after them.
    pub(super) fn finish(&mut self, log: &mut ParsedLogBuilder, tested: impl Fn(&str) -> bool) {
        self.keep_complaints();
        self.handed_over |= self.lost();
        for (module, reason, lines) in self.lost.drain(..) {
            if !matches!(reason, LostReason::BuildFailed | LostReason::LoadFailed)
                || !tested(&module)
            {
                log.lose(&module, reason, lines);
            }
        }
        for (module, lines) in self.pending.drain(..) {
            if !tested(&module) {
                log.lose(&module, LostReason::BuildFailed, lines);
            }
        }
    }
}
