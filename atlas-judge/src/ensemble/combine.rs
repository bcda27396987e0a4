//! Who is asked, and what their words come to.

use super::{Band, EnsembleRule, MemberCalibration};
use atlas_core::{ConfidenceSource, Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOf {
    /// How likely yes is: a probability of success, a validation score.
    Yes,
    /// How sure the judge is of its own verdict: a critic's confidence, where 0 is a guess and 1 certain.
    Verdict,
}

/// What one judge says.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// Yes or no: attempt, accept, pass.
    pub verdict: bool,
    /// Its number, 0 to 1, where it has one.
    pub number: Option<f64>,
    /// What the number is about.
    pub of: NumberOf,
    /// Where the number comes from.
    pub source: ConfidenceSource,
    /// Why, in its words; may be empty.
    pub reason: String,
}

/// What came of asking a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// It has an opinion.
    Said(Opinion),
    /// It has none: it takes no part in a committee, and leaves a cascade in doubt.
    Abstained,
}

/// A judge of an ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its name, unique in the ensemble.
    pub name: String,
    /// What makes its numbers comparable with those of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<MemberCalibration>,
}

impl Member {
    /// A member without calibration.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            calibration: None,
        }
    }
}

/// A member's part in a combined word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberWord {
    /// The member's name.
    pub model: String,
    /// Whether it was asked.
    pub asked: bool,
    /// In a cascade why it was asked, or was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its verdict; absent where it was not asked or abstained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<bool>,
    /// Its number as it stands in its own results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// Where that comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ConfidenceSource>,
    /// What the rule made of the number: the probability of yes, calibrated where there are calibrations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Its weight among the members that had a word, all of which sum to 1; with weights only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Why, in its words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What an ensemble says.
#[derive(Clone, Debug, PartialEq)]
pub struct Combined {
    /// Yes or no; none where every member that was asked abstained.
    pub verdict: Option<bool>,
    /// Its number, 0 to 1.
    pub number: Option<f64>,
    /// Where the number comes from.
    pub source: ConfidenceSource,
    /// All members, in their order.
    pub members: Vec<MemberWord>,
}

/// Why members do not make an ensemble.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// One judge, or none.
    #[error("an ensemble needs at least two members, and there are {0}")]
    TooFew(usize),
    /// Two members of one name.
    #[error("two members are named `{0}`; give them names of their own, as NAME=…")]
    NamedTwice(String),
    /// A threshold that is none.
    #[error("threshold {0} is not between 0 and 1")]
    NotAThreshold(f64),
    /// A cascade's bands do not fit its members.
    #[error(
        "{bands} bands of doubt for {members} members: give one for all, or {} of them",
        members - 1
    )]
    Bands {
        /// How many bands there are.
        bands: usize,
        /// How many members.
        members: usize,
    },
    /// Some members are calibrated, others are not.
    #[error(
        "`{calibrated}` is calibrated and `{other}` is not: their numbers do not compare; calibrate all members or none"
    )]
    PartlyCalibrated {
        /// One that is.
        calibrated: String,
        /// One that is not.
        other: String,
    },
    /// A member without the Brier score that its weight comes from.
    #[error(
        "there is no weight for `{0}`: the rule `weighted` takes calibrations with a Brier score above 0 for every member"
    )]
    NoWeight(String),
}

/// Several judges under one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    members: Vec<Member>,
    rule: EnsembleRule,
    threshold: f64,
    asks_all: bool,
}

impl Ensemble {
    /// Members in the order in which they are asked, of a cascade the cheapest first. `threshold`, 0 to 1, is the number
    /// from which on a mean or a calibrated cascade says yes; a majority and a cascade without calibrations go by verdicts.
    ///
    /// # Errors
    /// [`EnsembleError`].
    pub fn new(
        members: Vec<Member>,
        rule: EnsembleRule,
        threshold: f64,
    ) -> Result<Self, EnsembleError> {
        if members.len() < 2 {
            return Err(EnsembleError::TooFew(members.len()));
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = members.iter().find(|one| !names.insert(one.name.as_str())) {
            return Err(EnsembleError::NamedTwice(twice.name.clone()));
        }
        if !(0.0..=1.0).contains(&threshold) {
            return Err(EnsembleError::NotAThreshold(threshold));
        }
        if let EnsembleRule::Cascade(bands) = &rule
            && bands.len() != 1
            && bands.len() != members.len() - 1
        {
            return Err(EnsembleError::Bands {
                bands: bands.len(),
                members: members.len(),
            });
        }
        let (calibrated, others): (Vec<&Member>, Vec<&Member>) =
            members.iter().partition(|one| one.calibration.is_some());
        if rule == EnsembleRule::Weighted {
            let lacking = members.iter().find(|one| weight(one).is_none());
            if let Some(member) = lacking {
                return Err(EnsembleError::NoWeight(member.name.clone()));
            }
        } else if let (Some(calibrated), Some(other)) = (calibrated.first(), others.first()) {
            return Err(EnsembleError::PartlyCalibrated {
                calibrated: calibrated.name.clone(),
                other: other.name.clone(),
            });
        }
        Ok(Self {
            members,
            rule,
            threshold,
            asks_all: false,
        })
    }

    /// The same, which asks every member whatever was said: what a cascade may cost at most.
    #[must_use]
    pub fn asking_all(mut self) -> Self {
        self.asks_all = true;
        self
    }

    /// The members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The rule.
    pub fn rule(&self) -> &EnsembleRule {
        &self.rule
    }

    /// The number from which on it says yes.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Whether the members' numbers are calibrated.
    pub fn is_calibrated(&self) -> bool {
        self.members.iter().all(|one| one.calibration.is_some())
    }

    /// Whether members are asked whatever others say.
    pub fn asks_all(&self) -> bool {
        self.asks_all || !matches!(self.rule, EnsembleRule::Cascade(_))
    }

    /// Which member is asked next about an instance, after these words of the first ones; none where enough was said. A
    /// cascade goes on from a number within the band, an abstention, and a word without number.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: a number that its member's calibration is not for.
    pub fn next(&self, instance: &str, said: &[Word]) -> Result<Option<usize>, Error> {
        let at = said.len();
        if at >= self.members.len() {
            return Ok(None);
        }
        let (Some(last), false) = (said.last(), self.asks_all()) else {
            return Ok(Some(at));
        };
        let Word::Said(opinion) = last else {
            return Ok(Some(at));
        };
        let number = self.probability(at - 1, instance, opinion)?;
        let band = self.band(at - 1);
        let is_in_doubt = match (number, band) {
            (Some(number), Some(band)) => band.holds(number),
            _ => true,
        };
        Ok(is_in_doubt.then_some(at))
    }

    /// Gathers the words of those members that are to be asked, one after another, from what is known already.
    ///
    /// # Errors
    /// As [`Ensemble::next`], and those of `word`, which is given a member's place.
    pub fn gather<T>(
        &self,
        instance: &str,
        mut word: impl FnMut(usize) -> Result<(Word, T), Error>,
    ) -> Result<Vec<T>, Error> {
        let (mut words, mut found) = (Vec::new(), Vec::new());
        while let Some(at) = self.next(instance, &words)? {
            let (word, of) = word(at)?;
            words.push(word);
            found.push(of);
        }
        Ok(found)
    }

    /// What the words of the members that were asked come to; those of the first ones, in their order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: a mean needs a number that a member does not give; a number that its member's
    /// calibration is not for.
    pub fn combine(&self, instance: &str, said: &[Word]) -> Result<Combined, Error> {
        let mut members = Vec::with_capacity(self.members.len());
        let mut spoken: Vec<(usize, &Opinion)> = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            let opinion = match said.get(at) {
                Some(Word::Said(opinion)) => Some(opinion),
                _ => None,
            };
            let probability = match opinion {
                Some(opinion) => self.probability(at, instance, opinion)?,
                None => None,
            };
            spoken.extend(opinion.map(|opinion| (at, opinion)));
            members.push(MemberWord {
                model: member.name.clone(),
                asked: at < said.len(),
                why: None,
                verdict: opinion.map(|one| one.verdict),
                number: opinion.and_then(|one| one.number),
                source: opinion.map(|one| one.source),
                probability,
                weight: None,
                reason: opinion.map(|one| one.reason.clone()).unwrap_or_default(),
            });
        }
        if matches!(self.rule, EnsembleRule::Cascade(_)) && !self.asks_all {
            for at in 1..members.len() {
                members[at].why = self.why(at, &members);
            }
        }
        let mut combined = Combined {
            verdict: None,
            number: None,
            source: ConfidenceSource::Missing,
            members,
        };
        let Some((last, word)) = spoken.last().copied() else {
            return Ok(combined);
        };
        match &self.rule {
            EnsembleRule::Majority => {
                let yes = spoken.iter().filter(|(_, one)| one.verdict).count();
                combined.verdict = Some(2 * yes > spoken.len());
                combined.number = Some(count(yes) / count(spoken.len()));
                combined.source = ConfidenceSource::CommitteeMajority;
            }
            EnsembleRule::Mean | EnsembleRule::Weighted => {
                let is_weighted = self.rule == EnsembleRule::Weighted;
                let weights: Vec<f64> = spoken
                    .iter()
                    .map(|(at, _)| {
                        if is_weighted {
                            weight(&self.members[*at]).unwrap_or_default()
                        } else {
                            1.0
                        }
                    })
                    .collect();
                let all: f64 = weights.iter().sum();
                let mut mean = 0.0;
                for ((at, _), weight) in spoken.iter().zip(&weights) {
                    let member = &mut combined.members[*at];
                    let number = member.probability.ok_or_else(|| {
                        wrong(format!(
                            "the rule `{}` needs the number of each member, and `{}` gives none; `majority` does without",
                            self.rule, member.model
                        ))
                    })?;
                    member.weight = is_weighted.then_some(weight / all);
                    mean += weight * number;
                }
                mean /= all;
                combined.verdict = Some(mean >= self.threshold);
                combined.number = Some(mean);
                combined.source = if is_weighted {
                    ConfidenceSource::CommitteeWeighted
                } else if self.is_calibrated() || self.is_of_one_source(&spoken) {
                    ConfidenceSource::CommitteeMean
                } else {
                    ConfidenceSource::Mixed
                };
            }
            EnsembleRule::Cascade(_) => {
                let number = combined.members[last].probability;
                combined.number = number;
                (combined.verdict, combined.source) = match number {
                    None => (Some(word.verdict), ConfidenceSource::Missing),
                    Some(number) if self.is_calibrated() => {
                        (Some(number >= self.threshold), ConfidenceSource::Cascade)
                    }
                    Some(_) => (Some(word.verdict), ConfidenceSource::Mixed),
                };
            }
        }
        Ok(combined)
    }

    fn band(&self, at: usize) -> Option<Band> {
        match &self.rule {
            EnsembleRule::Cascade(bands) if bands.len() == 1 => bands.first().copied(),
            EnsembleRule::Cascade(bands) => bands.get(at).copied(),
            _ => None,
        }
    }

    /// The probability of yes that the rule goes by.
    fn probability(
        &self,
        at: usize,
        instance: &str,
        opinion: &Opinion,
    ) -> Result<Option<f64>, Error> {
        let Some(number) = opinion.number else {
            return Ok(None);
        };
        let member = &self.members[at];
        let Some(calibration) = &member.calibration else {
            return Ok(Some(match (opinion.of, opinion.verdict) {
                (NumberOf::Yes, _) => number,
                (NumberOf::Verdict, true) => f64::midpoint(1.0, number),
                (NumberOf::Verdict, false) => f64::midpoint(1.0, -number),
            }));
        };
        if let Some(source) = calibration
            .source
            .filter(|source| *source != opinion.source)
        {
            return Err(wrong(format!(
                "the calibration of `{}` is for numbers from {source:?}, and this one is from {:?}",
                member.name, opinion.source
            )));
        }
        let right = calibration.apply(instance, number).ok_or_else(|| {
            wrong(format!(
                "the calibration of `{}` gives nothing for the number {number}",
                member.name
            ))
        })?;
        Ok(Some(match (opinion.of, opinion.verdict) {
            (NumberOf::Verdict, false) => 1.0 - right,
            _ => right,
        }))
    }

    /// Whether nobody abstained and all numbers are of one source, by which they may be ranked.
    fn is_of_one_source(&self, spoken: &[(usize, &Opinion)]) -> bool {
        let (_, first) = spoken[0];
        spoken.len() == self.members.len()
            && first.source.is_comparable()
            && spoken.iter().all(|(_, one)| one.source == first.source)
    }

    /// Why a further member of a cascade was asked or not, from what the one before said.
    fn why(&self, at: usize, members: &[MemberWord]) -> Option<String> {
        let (before, band) = (&members[at - 1], self.band(at - 1)?);
        if !before.asked {
            return before.why.clone();
        }
        Some(match (before.verdict, before.probability) {
            (None, _) => format!("`{}` abstained", before.model),
            (_, None) => format!("`{}` gives no number", before.model),
            (_, Some(number)) => {
                let place = if members[at].asked {
                    "lies in"
                } else {
                    "lies outside of"
                };
                format!("{number:.3} of `{}` {place} {band}", before.model)
            }
        })
    }
}

/// The inverse of the Brier score of a member's calibrated numbers.
fn weight(member: &Member) -> Option<f64> {
    let brier = member.calibration.as_ref()?.brier?;
    Some(1.0 / brier).filter(|weight| weight.is_finite() && *weight > 0.0)
}

fn wrong(why: String) -> Error {
    Error::new(ErrorKind::InvalidInput, "combine the judges:", why)
}

#[expect(clippy::cast_precision_loss, reason = "an ensemble has a few members")]
fn count(members: usize) -> f64 {
    members as f64
}
