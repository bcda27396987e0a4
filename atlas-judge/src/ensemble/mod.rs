//! Several judges as one: committees and cascades.
//!
//! An [`Ensemble`] says who is asked and how what they say becomes one word: a committee asks all of its members, a
//! cascade asks the next one only where the last one is in doubt. It knows nothing of models, so the same rule stands
//! behind [`EnsembleJudge`] and [`EnsembleReview`], which ask, and behind results of single judges that are put together
//! afterwards.
//!
//! Numbers of two judges are of two scales. A number that comes out of several has a source of its own; without
//! [calibrations](MemberCalibration) a cascade's is [`Mixed`](atlas_core::ConfidenceSource::Mixed), by which nothing is
//! ranked.
//!
//! ```
//! use atlas_core::ConfidenceSource::LabelTopLogprobs;
//! use atlas_judge::ensemble::{Ensemble, EnsembleRule, Member, NumberOf, Opinion, Word};
//! let members = || ["cheap", "dear"].map(Member::new).to_vec();
//! let says = |p: f64| Word::Said(Opinion {
//!     verdict: p >= 0.5, number: Some(p), of: NumberOf::Yes, source: LabelTopLogprobs, reason: String::new(),
//! });
//!
//! let committee = Ensemble::new(members(), EnsembleRule::Mean, 0.5)?;
//! let found = committee.combine("o__r-1", &[says(0.9), says(0.3)])?;
//! assert_eq!((found.verdict, found.number), (Some(true), Some(0.6)));
//!
//! let cascade = Ensemble::new(members(), "cascade=0.3..0.7".parse()?, 0.5)?;
//! assert_eq!(cascade.next("o__r-1", &[says(0.9)])?, None);
//! assert_eq!(cascade.next("o__r-1", &[says(0.7)])?, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calibration;
mod combine;
mod judge;
mod review;
mod rule;

pub use calibration::{CalibrationFile, MemberCalibration};
pub use combine::{Combined, Ensemble, EnsembleError, Member, MemberWord, NumberOf, Opinion, Word};
pub use judge::{ABSTAINED, EnsembleJudge, Question};
pub use review::{EnsembleReview, REVIEW_BY_ENSEMBLE, review_word};
pub use rule::{Band, EnsembleRule};
