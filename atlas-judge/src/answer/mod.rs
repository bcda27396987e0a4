//! Asking a model and reading what it says: tokens aligned to the text, label probabilities, scores
//! of whole answers, structured answers, and what is done where a model gives no log-probabilities.
//!
//! Whether a model gives log-probabilities is read from its response. What cannot be read is refused
//! with the reason; nothing is guessed. The order in which confidence is looked for is always the
//! same: log-probabilities, then the frequency among samples, then a number that the model says.

mod again;
mod align;
mod ask;
mod label;
mod schema;
mod score;
mod unreadable;

pub(crate) use again::ask_again;
pub use align::{Aligned, align};
pub use ask::{
    AskOptions, LabelAnswer, LabelForm, Samples, StructuredAnswer, ask_label, ask_lines,
    ask_structured, ask_structured_label,
};
pub use label::{InvalidLabels, Labels};
pub use schema::{Field, Schema, Shape};
pub use score::{MixedSources, one_source, sequence_score};
pub use unreadable::Unreadable;
