//! `atlas annotate`: tasks handed to people, and what they said brought back.

mod export;
mod form;
mod merge;

pub use export::{AnnotationFiles, export_annotations};
pub(crate) use form::revision;
pub use merge::{
    Agreement, Coefficient, Conflict, MergeOptions, MergeReport, MergedAnswer, RowDecision,
    SettledBy, merge_annotations,
};
