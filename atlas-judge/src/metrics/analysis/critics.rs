//! Paper 004's tables and figures over the critics of a results file.

use super::calibration::{self, CalibrationAnalysis, Other, Scored};
use super::lengths::{LengthBin, by_length};
use super::order::{AgentOrder, orders, standing};
use super::paired::{CriticWord, PatchKey};
use super::{AnalysisOptions, Bugs};
use crate::metrics::results::{CandidateResult, CriticResult};
use crate::metrics::{
    self as m, Confusion, CorrelationSummary, PrecisionRecallCurve, RandomBaseline, RandomPatches,
    Spread, TestPrediction, aggregate_critic,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Bins of pass rates: tenths, and 1 in the last.
const RATE_BINS: usize = 10;

/// One critic over all patches that it judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticAnalysis {
    /// Its variant; empty where the lines name none.
    pub variant: String,
    /// Patches with a word of it on at least one test.
    pub patches: u64,
    /// Patches with its word on no test at all; they are in no other number.
    pub empty: u64,
    /// Patches all of whose shown tests are said to pass, and that have tests which the critic was not shown: neither
    /// right nor wrong as a whole.
    pub undecided: u64,
    /// Tests that it judged and whose end is known.
    pub tests: u64,
    /// Tests that it judged and whose end is not known; they are in no number of single tests.
    pub tests_without_truth: u64,
    /// Test by test, as predicted.
    pub micro: Confusion,
    /// Test by test, after the low-confidence rule.
    pub micro_with_rule: Confusion,
    /// Patch by patch: all tests predicted to pass against resolved.
    pub r#macro: Confusion,
    /// The same after the low-confidence rule.
    pub macro_with_rule: Confusion,
    /// What a coin with the weights of the tests' ends is expected to reach.
    pub random: Option<RandomBaseline>,
    /// What that coin is expected to reach over the patches, those with tests that were not seen left out.
    pub random_patches: Option<RandomPatches>,
    /// Predictions by confidence, in steps of 5.
    pub confidence: Vec<ConfidenceBin>,
    /// Patches by predicted and actual share of passing tests, in tenths; empty cells left out. Tests
    /// without a known end are in neither share.
    pub pass_rates: Vec<PassRateCell>,
    /// Spearman's correlation of the two shares over all patches.
    pub pass_rate_correlation: Option<f64>,
    /// Agent by agent.
    pub agents: Vec<AgentCritic>,
    /// Instance by instance, over the agents: do the predicted shares, or the critic's own score, order the agents as the
    /// actual shares do? Instances with fewer than two agents are not in it.
    pub instance_correlations: CorrelationSummary,
    /// The defined ones of them, in tenths from -1 to 1; the last one holds exactly 1 as well.
    pub correlation_histogram: Vec<u64>,
    /// Predictions by length of the test; empty where no length is known.
    pub lengths: Vec<LengthBin>,
    /// The critic's own score against right, patch by patch; absent where it has none.
    pub score: Option<CriticScores>,
    /// Agents in the critic's order and in the true one, over all tasks; empty with fewer than two.
    pub orders: Vec<AgentOrder>,
    /// Confidences, as shares of 100, against predictions that came true, test by test. The word on a patch as a whole is
    /// one of them. Absent where no test's end is known, or where all confidences are 0, as a baseline's.
    pub calibration: Option<CalibrationAnalysis>,
    #[serde(skip)]
    pub(super) words: Vec<CriticWord>,
}

/// A critic's own score, patch by patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticScores {
    /// Patches with a score.
    pub patches: u64,
    /// Average precision; positive is: the patch resolves its task.
    pub average_precision: Option<f64>,
    /// The precision of taking every patch.
    pub no_skill: Option<f64>,
    /// Precision against recall over the threshold.
    pub curve: Option<PrecisionRecallCurve>,
}

/// Predictions of similar confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConfidenceBin {
    /// From this confidence; below the next bin's. The last one holds 100 as well.
    pub from: u32,
    /// Right ones.
    pub right: u64,
    /// Wrong ones.
    pub wrong: u64,
    /// Those whose test's end is not known.
    pub unknown: u64,
}

/// Patches with similar pass rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PassRateCell {
    /// The predicted share, in tenths: 0 to 9, and 1 in the last.
    pub predicted: usize,
    /// The actual share, likewise.
    pub actual: usize,
    /// Patches.
    pub patches: u64,
}

/// A critic on the patches of one agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentCritic {
    /// The agent.
    pub agent: String,
    /// Patches.
    pub patches: u64,
    /// Test by test, as predicted.
    pub micro: Confusion,
    /// Patch by patch.
    pub r#macro: Confusion,
    /// The mean predicted share of passing tests, over patches with tests of known end.
    pub predicted_pass_rate: Option<f64>,
    /// The mean actual share over the same patches.
    pub actual_pass_rate: Option<f64>,
    /// Spearman's correlation of the two shares over the agent's patches.
    pub correlation: Option<f64>,
    /// How the predicted shares are spread (paper 004, Figure 4 left).
    pub predicted_spread: Option<Spread>,
    /// How the actual ones are.
    pub actual_spread: Option<Spread>,
    /// Patches by predicted share, in tenths, and 1 in the last.
    pub predicted_tenths: Vec<u64>,
    /// Patches by actual share, likewise.
    pub actual_tenths: Vec<u64>,
}

/// All critics, by variant.
pub(super) fn analyse(
    by_instance: &Bugs<'_>,
    other: Option<&Bugs<'_>>,
    options: &AnalysisOptions,
    notes: &mut Vec<String>,
) -> Vec<CriticAnalysis> {
    let variants: BTreeSet<&str> = by_instance
        .values()
        .flatten()
        .flat_map(|patch| patch.critics.keys().map(String::as_str))
        .collect();
    if variants.len() > 1 {
        // A critic that takes the patch as a whole is compared patch by patch.
        let same = by_instance.values().flatten().all(|patch| {
            let said = || variants.iter().map(|variant| patch.critics.get(*variant));
            let all_or_none = said().all(|one| one.is_some()) || said().all(|one| one.is_none());
            let mut sets = said()
                .flatten()
                .map(tests_of)
                .filter(|set| !is_of_patch(set));
            let first = sets.next();
            all_or_none && sets.all(|set| Some(set) == first)
        });
        if !same {
            notes.push(
                "The critics did not judge the same tests of the same patches: their numbers are \
                 over different labels and cannot be compared."
                    .to_owned(),
            );
        }
    }
    variants
        .into_iter()
        .map(|variant| {
            let mut found = Collector::default().collect(variant, by_instance, options);
            let other = other.map_or(Other::None, |other| {
                Other::Scores(confidences(variant, other))
            });
            found.lengths = by_length(variant, by_instance);
            found.score = scores(variant, by_instance);
            found.orders = orders(variant, by_instance, options);
            let scored = confidences(variant, by_instance);
            if scored.iter().any(|item| item.score > 0.0) {
                found.calibration = calibration::analyse(&scored, &other, options);
            }
            found
        })
        .collect()
}

fn scores(variant: &str, bugs: &Bugs<'_>) -> Option<CriticScores> {
    let patches = bugs.values().flatten();
    let items: Vec<(bool, f64)> = patches
        .filter_map(|patch| Some((patch.resolved, patch.critics.get(variant)?.score?)))
        .collect();
    (!items.is_empty()).then(|| CriticScores {
        patches: items.len() as u64,
        average_precision: m::average_precision(&items),
        no_skill: m::no_skill_precision(&items),
        curve: m::precision_recall_curve(&items),
    })
}

/// A critic's confidences, each with whether its prediction came true.
fn confidences<'a>(variant: &str, bugs: &Bugs<'a>) -> Vec<Scored<'a>> {
    let mut found = Vec::new();
    for patch in bugs.values().flatten() {
        let truths: HashMap<&str, bool> = patch
            .tests
            .iter()
            .flatten()
            .map(|test| (test.id.as_str(), test.passed))
            .collect();
        let Some(said) = patch.critics.get(variant) else {
            continue;
        };
        for test in &said.tests {
            // That a patch is right as a whole, nobody has said who has not seen all.
            let is_open = test.predicted && said.unseen > 0;
            let passed = match truths.get(test.id.as_str()) {
                Some(passed) => *passed,
                None if test.id == WHOLE_PATCH && !is_open => patch.resolved,
                None => continue,
            };
            found.push(Scored {
                instance: &patch.instance_id,
                truth: test.predicted == passed,
                score: test.confidence / 100.0,
            });
        }
    }
    found
}

fn tests_of(said: &CriticResult) -> BTreeSet<&str> {
    said.tests.iter().map(|test| test.id.as_str()).collect()
}

/// Whether the one label is the whole patch's.
fn is_of_patch(tests: &BTreeSet<&str>) -> bool {
    tests.len() == 1 && tests.contains(WHOLE_PATCH)
}

/// The id of what a critic says of a patch as a whole.
pub const WHOLE_PATCH: &str = "(patch)";

/// What is counted of one agent.
#[derive(Default)]
struct OfAgent {
    patches: u64,
    micro: Confusion,
    r#macro: Confusion,
    rates: Vec<(f64, f64)>,
}

#[derive(Default)]
struct Collector {
    patches: u64,
    empty: u64,
    undecided: u64,
    unknown: u64,
    /// Of patches all of whose tests were seen: whether they resolve their task, and by how many tests they are judged.
    seen_whole: Vec<(bool, u32)>,
    micro: Confusion,
    micro_with_rule: Confusion,
    r#macro: Confusion,
    macro_with_rule: Confusion,
    confidence: Vec<ConfidenceBin>,
    cells: BTreeMap<(usize, usize), u64>,
    rates: Vec<(f64, f64)>,
    agents: BTreeMap<String, OfAgent>,
    rhos: Vec<Option<f64>>,
    words: Vec<CriticWord>,
}

impl Collector {
    fn collect(
        mut self,
        variant: &str,
        by_instance: &Bugs<'_>,
        options: &AnalysisOptions,
    ) -> CriticAnalysis {
        self.confidence = (0..20)
            .map(|at| ConfidenceBin {
                from: at * 5,
                ..ConfidenceBin::default()
            })
            .collect();
        for patches in by_instance.values() {
            let mut by_agent: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
            for patch in patches {
                let Some(said) = patch.critics.get(variant) else {
                    continue;
                };
                self.patch(patch, said, options);
                if let Some(rates) = standing(patch, said) {
                    by_agent.entry(&patch.agent).or_default().push(rates);
                }
            }
            if by_agent.len() > 1 {
                // An agent with several patches has the mean of theirs.
                let mean = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
                    by_agent
                        .values()
                        .filter_map(|rates| {
                            m::bootstrap::mean(&rates.iter().map(of).collect::<Vec<f64>>())
                        })
                        .collect()
                };
                self.rhos
                    .push(m::spearman(&mean(|rates| rates.0), &mean(|rates| rates.1)));
            }
        }
        self.finish(variant)
    }

    /// Counts one patch.
    fn patch(&mut self, patch: &CandidateResult, said: &CriticResult, options: &AnalysisOptions) {
        let truths: HashMap<&str, (bool, Option<u64>)> = patch
            .tests
            .iter()
            .flatten()
            .map(|test| (test.id.as_str(), (test.passed, test.length)))
            .collect();
        let predictions: Vec<TestPrediction> = said
            .tests
            .iter()
            .map(|test| TestPrediction {
                passes: test.predicted,
                confidence: test.confidence,
                // An evaluation knows how tests ended and not how long they are; the critic read them.
                length: test
                    .length
                    .or_else(|| truths.get(test.id.as_str()).and_then(|truth| truth.1)),
            })
            .collect();
        let (Ok(plain), Ok(ruled)) = (
            aggregate_critic(&predictions, None),
            aggregate_critic(&predictions, Some(&options.rule)),
        ) else {
            self.empty += 1;
            return;
        };
        let agent = self.agents.entry(patch.agent.clone()).or_default();
        self.patches += 1;
        agent.patches += 1;
        // One test that fails is enough; that all pass, nobody knows who has not seen all.
        let mut open = 0;
        let is_open = ruled.build_success && said.unseen > 0;
        let mut word = CriticWord {
            key: PatchKey::of(patch),
            whole: (!is_open).then_some(ruled.build_success),
            tests: Vec::new(),
        };
        for (counts, passes) in [
            (&mut self.r#macro, plain.build_success),
            (&mut self.macro_with_rule, ruled.build_success),
            (&mut agent.r#macro, plain.build_success),
        ] {
            if passes && said.unseen > 0 {
                open = 1;
            } else {
                counts.add(patch.resolved, passes);
            }
        }
        self.undecided += open;
        if said.unseen == 0 {
            let tests = u32::try_from(said.tests.len()).unwrap_or(u32::MAX);
            self.seen_whole.push((patch.resolved, tests));
        }
        let (mut known, mut predicted, mut actual) = (0, 0, 0);
        for (at, test) in said.tests.iter().enumerate() {
            let bin = &mut self.confidence[bin_of(test.confidence / 5.0, 20)];
            let Some((passed, _)) = truths.get(test.id.as_str()) else {
                bin.unknown += 1;
                self.unknown += 1;
                continue;
            };
            *(if test.predicted == *passed {
                &mut bin.right
            } else {
                &mut bin.wrong
            }) += 1;
            known += 1;
            predicted += u64::from(test.predicted);
            actual += u64::from(*passed);
            self.micro.add(*passed, plain.passes[at]);
            self.micro_with_rule.add(*passed, ruled.passes[at]);
            let test = CriticWord::hash(&test.id);
            word.tests.push((test, *passed, ruled.passes[at]));
            agent.micro.add(*passed, plain.passes[at]);
        }
        self.words.push(word);
        let (Some(predicted), Some(actual)) = (m::share(predicted, known), m::share(actual, known))
        else {
            return;
        };
        let rates = (predicted, actual);
        self.rates.push(rates);
        agent.rates.push(rates);
        let cell = (tenth(predicted), tenth(actual));
        *self.cells.entry(cell).or_default() += 1;
    }

    fn finish(self, variant: &str) -> CriticAnalysis {
        let mut histogram = vec![0; 20];
        for rho in self.rhos.iter().flatten() {
            histogram[bin_of((rho + 1.0) * 10.0, 20)] += 1;
        }
        let random = self.micro.prevalence().and_then(RandomBaseline::new);
        CriticAnalysis {
            variant: variant.to_owned(),
            words: self.words,
            patches: self.patches,
            empty: self.empty,
            undecided: self.undecided,
            tests: self.micro.total(),
            tests_without_truth: self.unknown,
            random,
            random_patches: random.and_then(|coin| coin.patches(&self.seen_whole)),
            micro: self.micro,
            micro_with_rule: self.micro_with_rule,
            r#macro: self.r#macro,
            macro_with_rule: self.macro_with_rule,
            confidence: self.confidence,
            pass_rates: self
                .cells
                .into_iter()
                .map(|((predicted, actual), patches)| PassRateCell {
                    predicted,
                    actual,
                    patches,
                })
                .collect(),
            pass_rate_correlation: correlation(&self.rates),
            agents: self
                .agents
                .into_iter()
                .map(|(agent, of)| AgentCritic {
                    agent,
                    patches: of.patches,
                    micro: of.micro,
                    r#macro: of.r#macro,
                    predicted_pass_rate: mean_of(&of.rates, |rates| rates.0),
                    actual_pass_rate: mean_of(&of.rates, |rates| rates.1),
                    correlation: correlation(&of.rates),
                    predicted_spread: m::spread(&side(&of.rates, |rates| rates.0)),
                    actual_spread: m::spread(&side(&of.rates, |rates| rates.1)),
                    predicted_tenths: tenths(&side(&of.rates, |rates| rates.0)),
                    actual_tenths: tenths(&side(&of.rates, |rates| rates.1)),
                })
                .collect(),
            instance_correlations: m::summarise_correlations(&self.rhos),
            correlation_histogram: histogram,
            lengths: Vec::new(),
            score: None,
            orders: Vec::new(),
            calibration: None,
        }
    }
}

fn side(rates: &[(f64, f64)], of: fn(&(f64, f64)) -> f64) -> Vec<f64> {
    rates.iter().map(of).collect()
}

fn mean_of(rates: &[(f64, f64)], of: fn(&(f64, f64)) -> f64) -> Option<f64> {
    m::bootstrap::mean(&side(rates, of))
}

/// The tenth of a share; 1 is in the last.
fn tenth(rate: f64) -> usize {
    bin_of(rate * 10.0, RATE_BINS)
}

fn tenths(rates: &[f64]) -> Vec<u64> {
    let mut found = vec![0; RATE_BINS];
    for rate in rates {
        found[tenth(*rate)] += 1;
    }
    found
}

fn correlation(rates: &[(f64, f64)]) -> Option<f64> {
    let (predicted, actual): (Vec<f64>, Vec<f64>) = rates.iter().copied().unzip();
    m::spearman(&predicted, &actual)
}

/// The bin of a number of 0 or more, in steps of 1; the last one takes what is above.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of 0 to 20"
)]
fn bin_of(value: f64, bins: usize) -> usize {
    // A tenth of an exact share may come out a hair below itself.
    ((value + 1e-9) as usize).min(bins - 1)
}
