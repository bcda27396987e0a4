//! What `swe_atlas.metrics` offers: the metrics one by one, over results files, and against stored values.

pub(crate) mod at_k;
pub(crate) mod decisions;
pub(crate) mod files;
pub(crate) mod statistics;

use crate::errors::invalid;
use pyo3::prelude::*;

/// Truths and what was said of them, side by side.
fn pairs<T: Copy>(truths: &[bool], said: &[T], name: &str) -> PyResult<Vec<(bool, T)>> {
    if truths.len() != said.len() {
        let why = format!("{} for {} truths", said.len(), truths.len());
        return Err(invalid(name, why));
    }
    Ok(truths.iter().copied().zip(said.iter().copied()).collect())
}
