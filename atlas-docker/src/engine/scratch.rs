//! Names for builds that must not meet an earlier one.

use crate::engine::owner::Owner;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the builds of one builder; clones go on counting together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch(Arc<AtomicU64>);

impl Scratch {
    /// A text that no other build on this machine has: the process, its start, a number.
    pub(crate) fn next(&self) -> String {
        static BUILDERS: AtomicU64 = AtomicU64::new(0);
        let call = self.0.fetch_add(1, Ordering::Relaxed);
        let all = BUILDERS.fetch_add(1, Ordering::Relaxed);
        format!("from scratch {} {call} {all}", Owner::current())
    }
}
