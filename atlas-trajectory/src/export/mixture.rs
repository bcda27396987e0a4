//! What a mixture of trajectories is made of (paper 001, section 4.3.1).

use serde::Serialize;
use std::collections::BTreeMap;

/// Density against diversity. In the paper's experiments a mixture is dense that has several solutions of each of few
/// issues (179 trajectories of 44 issues), and diverse that has one of each of many (145 of 145), over many repositories.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mixture {
    /// Of all.
    #[serde(flatten)]
    pub all: MixtureGroup,
    /// Repositories.
    pub repositories: usize,
    /// How many repositories with equally many trajectories would be as diverse: the exponential of the entropy.
    pub effective_repositories: f64,
    /// How many languages likewise.
    pub effective_languages: f64,
    /// By how many trajectories an instance has: how many instances.
    pub instances_by_trajectories: BTreeMap<usize, usize>,
    /// By language; an empty name where it is not known.
    pub by_language: BTreeMap<String, MixtureGroup>,
    /// By repository.
    pub by_repository: BTreeMap<String, MixtureGroup>,
}

/// A part of a mixture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MixtureGroup {
    /// Trajectories.
    pub trajectories: usize,
    /// Instances that they are attempts at.
    pub instances: usize,
    /// Density: trajectories an instance; 0 of nothing.
    pub density: f64,
}

impl MixtureGroup {
    fn add(&mut self, trajectories: usize) {
        self.trajectories += trajectories;
        self.instances += 1;
        self.density = ratio(self.trajectories, self.instances);
    }
}

impl Mixture {
    /// Of trajectories by instance, repository and language.
    ///
    /// ```
    /// use atlas_trajectory::Mixture;
    /// let dense = Mixture::of([("a__a-1", "a/a", "go"), ("a__a-1", "a/a", "go"), ("b__b-1", "b/b", "go")]);
    /// assert_eq!((dense.all.trajectories, dense.all.instances, dense.all.density), (3, 2, 1.5));
    /// assert_eq!(dense.by_repository["a/a"].density, 2.0);
    /// assert!(dense.effective_repositories < 2.0 && dense.effective_languages == 1.0);
    /// ```
    pub fn of<'a>(trajectories: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Self {
        let mut instances: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        for one in trajectories {
            *instances.entry(one).or_default() += 1;
        }
        let mut mixture = Self::default();
        for ((_, repository, language), count) in instances {
            let by = &mut mixture.by_repository;
            by.entry(repository.to_owned()).or_default().add(count);
            let by = &mut mixture.by_language;
            by.entry(language.to_owned()).or_default().add(count);
            mixture.all.add(count);
            *mixture.instances_by_trajectories.entry(count).or_default() += 1;
        }
        mixture.repositories = mixture.by_repository.len();
        mixture.effective_repositories = effective(mixture.by_repository.values());
        mixture.effective_languages = effective(mixture.by_language.values());
        mixture
    }
}

fn effective<'a>(groups: impl Iterator<Item = &'a MixtureGroup> + Clone) -> f64 {
    let all: usize = groups.clone().map(|group| group.trajectories).sum();
    if all == 0 {
        return 0.0;
    }
    let entropy: f64 = groups
        .map(|group| ratio(group.trajectories, all))
        .map(|share| -share * share.ln())
        .sum();
    entropy.exp()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of trajectories are far below 2^52"
)]
fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}
