//! Where every candidate of a run stands, for a page of it.

use super::store::Store;
use atlas_core::{Error, Evidence};
use std::path::Path;

/// Where a candidate stands: at the last of its stages that has begun or ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Standing {
    pub(crate) id: String,
    pub(crate) repo: String,
    pub(crate) stage: String,
    pub(crate) state: String,
    pub(crate) passed: bool,
    pub(crate) outcome: String,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<Evidence>,
    /// Seconds of all its steps.
    pub(crate) seconds: f64,
    /// Bytes of its artefacts, as the step that saw most left them.
    pub(crate) bytes: u64,
}

/// The first `most` candidates by name of which a step has begun, and how many there are.
///
/// # Errors
/// No run in that folder; a store that cannot be read.
pub(crate) fn standings(folder: &Path, most: usize) -> Result<(Vec<Standing>, u64), Error> {
    let store = Store::read(folder)?;
    let order = store.note("stages")?.unwrap_or_default();
    let order: Vec<&str> = order.split_whitespace().collect();
    store.standings(&order, most)
}
