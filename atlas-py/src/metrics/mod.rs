//! What stands behind `swe_atlas.metrics`: the metrics one by one, over results files, and against stored values.

mod files;
mod numbers;

pub(crate) use files::{_measure, _policies_report, check};
pub(crate) use numbers::_metric;
