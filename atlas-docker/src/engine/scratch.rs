//! Builds that must not meet an earlier one, and what they leave.

use crate::engine::owner::Owner;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts the builds of one builder, and remembers what each left beside its result; clones go on
/// together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    calls: Arc<AtomicU64>,
    left: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
}

impl Scratch {
    /// A text that no other build on this machine has: the process, its start, a number.
    pub(crate) fn next(&self) -> String {
        static BUILDERS: AtomicU64 = AtomicU64::new(0);
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let all = BUILDERS.fetch_add(1, Ordering::Relaxed);
        format!("from scratch {} {call} {all}", Owner::current())
    }

    /// The images of the steps that led to this one.
    pub(crate) fn remember(&self, image: &str, steps: Vec<String>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.insert(image.to_owned(), steps);
    }

    /// Those images, latest first; they are asked for once.
    pub(crate) fn forget(&self, image: &str) -> Vec<String> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut steps = left.remove(image).unwrap_or_default();
        steps.reverse();
        steps
    }
}
