//! The page of `atlas leaderboard --format json`.

use atlas_core::Error;
use atlas_report::{ComparedModel, ComparedPair, ComparisonPage, Share};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Compared {
    statistics: Statistics,
}

#[derive(Deserialize)]
struct Statistics {
    resamples: u64,
    instances: u64,
    models: BTreeMap<String, Model>,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Model {
    solved: u64,
    solved_share: Estimate,
    pass_at: BTreeMap<u64, Estimate>,
}

#[derive(Deserialize)]
struct Pair {
    first: String,
    second: String,
    k: u64,
    difference: Estimate,
    only_first: Option<u64>,
    only_second: Option<u64>,
    p_holm: Option<f64>,
}

#[derive(Deserialize)]
struct Estimate {
    value: f64,
    interval: Option<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    low: f64,
    high: f64,
}

impl Estimate {
    fn share(&self) -> Share {
        Share {
            percent: Some(self.value * 100.0),
            interval: self
                .interval
                .as_ref()
                .map(|of| (of.low * 100.0, of.high * 100.0)),
        }
    }
}

pub(super) fn collect(file: &Path) -> Result<ComparisonPage, Error> {
    let found = super::read::<Compared>(file)?.statistics;
    let mut models: Vec<ComparedModel> = found
        .models
        .iter()
        .map(|(name, of)| ComparedModel {
            name: name.clone(),
            solved: of.solved,
            share: of.solved_share.share(),
            pass_at: of
                .pass_at
                .iter()
                .map(|(k, estimate)| (*k, estimate.share()))
                .collect(),
        })
        .collect();
    models.sort_by(|a, b| b.solved.cmp(&a.solved).then_with(|| a.name.cmp(&b.name)));
    let pairs = found.pairs.into_iter().map(|pair| ComparedPair {
        difference: pair.difference.share(),
        first: pair.first,
        second: pair.second,
        k: pair.k,
        only_first: pair.only_first,
        only_second: pair.only_second,
        p: pair.p_holm,
    });
    Ok(ComparisonPage {
        instances: found.instances,
        resamples: found.resamples,
        models,
        pairs: pairs.collect(),
    })
}
