//! The XML documents of a program, one after another, amid what its tests print.

use crate::runs::Runs;
use crate::xml::{Kind, Tag, Tags};
use atlas_core::{ParsedLogBuilder, RunOutcome};

/// A runner's open document.
pub(super) trait Document: Sized {
    /// The elements that are read.
    fn wanted(name: &[u8]) -> bool;
    /// Whether a document of this runner may have this root.
    fn is_root(name: &[u8]) -> bool;
    /// The document that a root begins; none where it is another runner's.
    fn begin(tag: &Tag<'_>) -> Option<Self>;
    /// An element inside.
    fn take(&mut self, tag: Tag<'_>, log: &mut ParsedLogBuilder);
    /// The test that has begun and not ended.
    fn running(&self) -> Option<&str>;
    /// The document is whole: how it ended, and whether its counts, if it has any, agree with it.
    fn end(self, log: &mut ParsedLogBuilder) -> (RunOutcome, Option<bool>);
}

/// One document after another.
#[derive(Clone, Debug)]
pub(super) struct Reports<D> {
    tags: Tags,
    root: Option<D>,
    /// How many documents have begun.
    pub(super) documents: u64,
    /// What the documents and the runs without one come to.
    pub(super) runs: Runs,
}

impl<D> Default for Reports<D> {
    fn default() -> Self {
        Self {
            tags: Tags::default(),
            root: None,
            documents: 0,
            runs: Runs::default(),
        }
    }
}

impl<D: Document> Reports<D> {
    /// Takes a line. Returns whether a document is open before or behind it.
    pub(super) fn line(&mut self, line: &[u8], log: &mut ParsedLogBuilder) -> bool {
        let inside = self.root.is_some();
        if !inside && !self.tags.inside() && memchr::memchr(b'<', line).is_none() {
            return false;
        }
        let mut tags = std::mem::take(&mut self.tags);
        tags.line(line, D::wanted, |tag| self.tag(tag, log));
        self.tags = tags;
        inside || self.root.is_some()
    }

    fn tag(&mut self, tag: Tag<'_>, log: &mut ParsedLogBuilder) {
        if !D::is_root(tag.name) {
            if let Some(root) = &mut self.root {
                root.take(tag, log);
            }
        } else if tag.is_close() {
            self.end(log);
        } else if let Some(root) = D::begin(&tag) {
            self.cut(log);
            self.documents += 1;
            self.root = Some(root);
            if tag.kind == Kind::Empty {
                self.end(log);
            }
        }
    }

    fn end(&mut self, log: &mut ParsedLogBuilder) {
        let Some(root) = self.root.take() else {
            return;
        };
        let (outcome, agrees) = root.end(log);
        self.runs.agree(agrees);
        self.runs.worst(outcome);
    }

    /// The document stops here, without its end.
    pub(super) fn cut(&mut self, log: &mut ParsedLogBuilder) {
        let Some(root) = self.root.take() else {
            return;
        };
        if let Some(name) = root.running() {
            log.still_running(name);
        }
        self.runs.worst(RunOutcome::Truncated);
    }
}
