//! Is a problem statement clear, and do the tests judge what it asks for? (Paper 001, section 3.4,
//! layer 3, and its appendix C.)
//!
//! [`Alignment`] asks a model for two scores from 0 (best) to 3 (worst), each over three factors, and
//! for quotations that bear every factor out. A quotation is looked up in the text that it is said to
//! come from; what is not there is dropped and counted, and a factor that is left without evidence makes
//! the judge ask again. [`QualityRule`] turns the scores into high, medium or low quality: high is kept,
//! low rejected, and medium goes to curation, where [hints](crate::hints) complete the statement.
//! [`AlignmentGate`] is the same as a gate on the way into a dataset.

mod gate;
mod judge;
mod quality;
mod quote;

pub use gate::AlignmentGate;
pub use judge::{Alignment, AlignmentOptions, alignment_prompt, alignment_schema};
pub use quality::{Quality, QualityRule, Scores};
pub use quote::{Quote, QuoteSource, Texts};
