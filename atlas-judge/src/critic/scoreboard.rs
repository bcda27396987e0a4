//! Critics scored on one list of truths.

use crate::metrics::Confusion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// One list of truths, and critics measured against it.
///
/// Table 2 of paper 004 compares critics whose numbers come from two different lists of labels (its
/// rows imply 0.69 and 0.31 as the share of patches that pass). Here the truths belong to the board:
/// a critic is added with its words alone, and one that leaves out an item or names another is
/// refused, so every row of a board is about the same items.
///
/// ```
/// use atlas_judge::critic::Scoreboard;
/// let mut board = Scoreboard::new([("p1", true), ("p2", false)]);
/// board.add("always", [("p1", true), ("p2", true)])?;
/// assert!(board.add("lazy", [("p1", true)]).is_err());
/// assert_eq!(board.scores()[0].counts.precision(), Some(0.5));
/// # Ok::<(), atlas_judge::critic::LabelMismatch>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scoreboard<K> {
    truths: BTreeMap<K, bool>,
    scores: Vec<CriticScore>,
}

/// A critic's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticScore {
    /// The critic.
    pub critic: String,
    /// How often it was right, over all items of the board.
    pub counts: Confusion,
}

/// A critic's words are not about the board's items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "critic `{critic}`: {missing} of the board's items are not judged (first: {first_missing}), {foreign} are not the board's (first: {first_foreign}), {repeated} are judged twice; every critic of a board must judge the same items"
)]
pub struct LabelMismatch {
    /// The critic.
    pub critic: String,
    /// Items of the board without a word.
    pub missing: usize,
    /// The first of them, or `-`.
    pub first_missing: String,
    /// Words on items that the board does not have.
    pub foreign: usize,
    /// The first of them, or `-`.
    pub first_foreign: String,
    /// Words on an item that already had one.
    pub repeated: usize,
}

impl<K: Ord + Debug> Scoreboard<K> {
    /// A board of items: patches, or tests of patches. Of an item given twice the last truth counts.
    pub fn new(truths: impl IntoIterator<Item = (K, bool)>) -> Self {
        Self {
            truths: truths.into_iter().collect(),
            scores: Vec::new(),
        }
    }

    /// The items and their truths.
    pub fn truths(&self) -> &BTreeMap<K, bool> {
        &self.truths
    }

    /// Measures a critic.
    ///
    /// # Errors
    /// [`LabelMismatch`] unless there is exactly one word on every item.
    pub fn add(
        &mut self,
        critic: impl Into<String>,
        words: impl IntoIterator<Item = (K, bool)>,
    ) -> Result<&CriticScore, LabelMismatch> {
        let mut said: BTreeMap<K, bool> = BTreeMap::new();
        let mut repeated = 0;
        for (item, word) in words {
            repeated += usize::from(said.insert(item, word).is_some());
        }
        let missing: Vec<&K> = self
            .truths
            .keys()
            .filter(|item| !said.contains_key(item))
            .collect();
        let foreign: Vec<&K> = said
            .keys()
            .filter(|item| !self.truths.contains_key(item))
            .collect();
        let critic = critic.into();
        if !missing.is_empty() || !foreign.is_empty() || repeated > 0 {
            let first = |items: &[&K]| {
                items
                    .first()
                    .map_or_else(|| "-".to_owned(), |item| format!("{item:?}"))
            };
            return Err(LabelMismatch {
                critic,
                missing: missing.len(),
                first_missing: first(&missing),
                foreign: foreign.len(),
                first_foreign: first(&foreign),
                repeated,
            });
        }
        let counts = Confusion::of(self.truths.values().copied().zip(said.into_values()));
        let at = self.scores.len();
        self.scores.push(CriticScore { critic, counts });
        Ok(&self.scores[at])
    }

    /// The rows, in the order in which critics were added.
    pub fn scores(&self) -> &[CriticScore] {
        &self.scores
    }
}
