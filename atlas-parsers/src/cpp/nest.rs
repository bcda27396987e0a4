//! Tests that are announced before they have a result.

use crate::tally::Tally;
use atlas_core::TestStatus;

/// The test that runs, and what seems to run inside it.
///
/// A real test ends before the next one starts. So what starts inside an open test waits: when the
/// open one ends, its test had printed all that; when it never does, its program had died and the
/// others are another program's.
#[derive(Clone, Default)]
pub(super) struct Nest {
    outer: Option<String>,
    inner: Option<String>,
    held: Vec<(String, TestStatus)>,
    pub(super) tally: Tally,
}

impl Nest {
    pub(super) fn start(&mut self, name: &str) {
        if self.outer.as_deref() == Some(name) {
            self.stop();
        }
        if self.outer.is_none() {
            self.outer = Some(name.to_owned());
        } else {
            self.inner = Some(name.to_owned());
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.outer.is_some()
    }

    /// The names that a result may be of.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [&self.outer, &self.inner]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// Takes a result. Returns whether it is of an open test.
    pub(super) fn end(&mut self, name: &[u8], status: TestStatus) -> bool {
        let is =
            |test: &Option<String>| test.as_deref().is_some_and(|test| test.as_bytes() == name);
        if is(&self.outer) {
            self.held.clear();
            self.inner = None;
            let name = self.outer.take().unwrap_or_default();
            self.tally.add("", &name, status);
            return true;
        }
        if is(&self.inner) {
            self.held
                .push((self.inner.take().unwrap_or_default(), status));
            return true;
        }
        // A second result of one test: one of the two was printed by the test.
        self.outer.is_none() && self.tally.worsen(name, status)
    }

    /// The open test never ended. Returns whether there was one.
    pub(super) fn stop(&mut self) -> bool {
        for (name, status) in std::mem::take(&mut self.held) {
            self.tally.add("", &name, status);
        }
        let cut = self.outer.is_some();
        for name in [self.outer.take(), self.inner.take()].into_iter().flatten() {
            self.tally.still_running(name);
        }
        cut
    }
}
