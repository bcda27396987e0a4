//! Which trajectories are learnt from, and which are held back.

use super::near::{Groups, Sketch, join_alike};
use atlas_core::{Error, ErrorKind};
use chrono::NaiveDate;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// How train and test are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainTestSplit {
    /// Every repository is on one side, by a hash of its name: it stays there whatever else is exported.
    Repository {
        /// The share of repositories that are held back, from 0 to 1.
        test_share: f64,
        /// Another number gives another split.
        seed: u64,
    },
    /// What was merged or reported on this day or later (`created_at`) is held back.
    Time {
        /// The first day of the test side.
        #[serde(serialize_with = "day")]
        from: NaiveDate,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn day<S: Serializer>(day: &NaiveDate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&day.to_string())
}

/// What is known of an instance.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) repository: String,
    pub(super) language: String,
    pub(super) created_at: Option<NaiveDate>,
    /// Of its statement and its patch.
    pub(super) sketches: Vec<Option<Sketch>>,
}

/// What a split came to.
pub(super) struct Sides {
    /// For each instance whether it is held back.
    pub(super) is_test: BTreeMap<String, bool>,
    /// Groups of several instances that are nearly the same.
    pub(super) near_duplicates: Vec<Vec<String>>,
    /// Instances that near-duplicates brought to the other side.
    pub(super) moved: usize,
}

/// Puts instances on two sides; near-duplicates are on one.
///
/// # Errors
/// An instance without a day where days decide.
pub(super) fn sides(
    instances: &BTreeMap<String, Facts>,
    split: Option<&TrainTestSplit>,
    least: f64,
) -> Result<Sides, Error> {
    let ids: Vec<&String> = instances.keys().collect();
    let facts: Vec<&Facts> = instances.values().collect();
    let mut groups = Groups::new(ids.len());
    // Statements are compared with statements, patches with patches.
    for part in 0..2 {
        let sketches = facts
            .iter()
            .enumerate()
            .filter_map(|(at, facts)| Some((at, facts.sketches.get(part)?.clone()?)));
        let sketches: Vec<(usize, Sketch)> = sketches.collect();
        join_alike(&mut groups, &sketches, least);
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..ids.len() {
        members.entry(groups.find(at)).or_default().push(at);
    }
    members.retain(|_, all| all.len() > 1);
    let near = members.values();
    let near_duplicates = near.map(|all| all.iter().map(|at| ids[*at].clone()).collect());
    let near_duplicates = near_duplicates.collect();
    let alone: Vec<bool> = match split {
        None => vec![false; ids.len()],
        Some(TrainTestSplit::Repository { test_share, seed }) => facts
            .iter()
            .map(|facts| fraction(&facts.repository, *seed) < *test_share)
            .collect(),
        Some(TrainTestSplit::Time { from }) => {
            let day = |at: usize| {
                facts[at].created_at.ok_or_else(|| {
                    let subject = format!(
                        "`{}`: no `created_at` is known of it; name a --dataset that has it",
                        ids[at]
                    );
                    Error::new(ErrorKind::InvalidInput, "split by time:", subject)
                })
            };
            let sides = (0..ids.len()).map(|at| Ok(day(at)? >= *from));
            sides.collect::<Result<_, Error>>()?
        }
    };
    let mut together = alone.clone();
    match split {
        Some(TrainTestSplit::Repository { .. }) => {
            // Repositories with a near-duplicate in common go together: to test, if one of them does.
            let mut first: BTreeMap<&str, usize> = BTreeMap::new();
            for (at, one) in facts.iter().enumerate() {
                let known = *first.entry(&one.repository).or_insert(at);
                groups.join(at, known);
            }
            spread(&mut groups, &mut together);
        }
        Some(TrainTestSplit::Time { .. }) => spread(&mut groups, &mut together),
        None => {}
    }
    let moved = alone.iter().zip(&together).filter(|(a, b)| a != b).count();
    let is_test = ids.into_iter().cloned().zip(together).collect();
    Ok(Sides {
        is_test,
        near_duplicates,
        moved,
    })
}

/// A group is held back as a whole if one of it is: then nothing that is learnt is like what is tested.
fn spread(groups: &mut Groups, is_test: &mut [bool]) {
    let mut of_group = vec![false; is_test.len()];
    for at in 0..is_test.len() {
        of_group[groups.find(at)] |= is_test[at];
    }
    for at in 0..is_test.len() {
        is_test[at] = of_group[groups.find(at)];
    }
}

/// A number from 0 to 1 for a name, always the same.
fn fraction(name: &str, seed: u64) -> f64 {
    let hash = Sha256::new()
        .chain_update(seed.to_le_bytes())
        .chain_update(name.as_bytes())
        .finalize();
    let bytes = [hash[0], hash[1], hash[2], hash[3]];
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}
