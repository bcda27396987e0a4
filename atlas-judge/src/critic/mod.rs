//! Critics: models that foretell whether a patch passes its tests, without running anything (paper
//! 004), and the baselines that they are measured against.
//!
//! A critic is a [`Judge`](atlas_core::Judge) with the labels `pass` and `fail`, whatever it looks at. What it needs beside the
//! row and the candidate patch stands in the subject's attachments:
//!
//! - `files`: an object of paths and contents at the base commit, as far as the patches change them.
//!   Without it every variant of a patch is the patch as given.
//! - `test`: for the isolated critic, one test: `{"id": …, "source": …, "path": …}`.
//! - `tests`: for the holistic critic, a list of them.
//!
//! The change-aware critic and the embedding baseline read the gold patch from the row, the
//! reference-free ones the problem statement and the hints.

mod baseline;
mod embedding;
mod extract;
mod judge;
mod limits;
mod patch;

pub use baseline::WeightedRandom;
pub use embedding::{
    EmbeddingCritic, FirstCharacters, HashedNgrams, LikenessExample, fit_threshold,
    in_validation_split,
};
pub use extract::{Extraction, UnseenTest, extract_tests};
pub use judge::{Critic, CriticMode, CriticOptions, critic_prompts};
pub use limits::CriticLimits;
pub use patch::{PatchCritique, TestCritique, critique_patch};
