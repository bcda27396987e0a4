//! What makes the numbers of several judges comparable.

use super::Question;
use crate::metrics::Calibrator;
use crate::metrics::analysis::calibration_half;
use atlas_core::ConfidenceSource;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One member's calibration: fits, and how good the calibrated numbers were on items that no fit had seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberCalibration {
    /// Where the numbers came from that were fitted; numbers of another source are refused. Absent, as of critics, whose
    /// numbers all are of one: nothing is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ConfidenceSource>,
    /// A fit for all tasks, or two: one to each half of the tasks ([`calibration_half`]), in their order. A task is
    /// calibrated by the fit to the other half, which has not seen it where it was among those of the fits.
    pub fits: Vec<Calibrator>,
    /// The Brier score of the calibrated numbers, from which weights come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brier: Option<f64>,
}

impl MemberCalibration {
    /// The probability that a number stands for; none for what is no finite number.
    pub fn apply(&self, instance: &str, number: f64) -> Option<f64> {
        let fit = match self.fits.as_slice() {
            [first, second] => [second, first][calibration_half(instance)],
            fits => fits.first()?,
        };
        fit.apply(number)
    }
}

/// What `atlas metrics --calibrate METHOD --format json` prints, as far as calibrations are in it.
#[derive(Clone, Debug, Deserialize)]
pub struct CalibrationFile {
    #[serde(default)]
    judges: Vec<String>,
    #[serde(default)]
    policies: Vec<SetPart>,
    #[serde(default)]
    critics: Vec<CriticPart>,
}

#[derive(Clone, Debug, Deserialize)]
struct SetPart {
    name: String,
    #[serde(default)]
    abstention: Option<ScorePart>,
    #[serde(default)]
    score: Option<ScorePart>,
}

#[derive(Clone, Debug, Deserialize)]
struct ScorePart {
    source: String,
    #[serde(default)]
    calibration: Option<AnalysisPart>,
}

#[derive(Clone, Debug, Deserialize)]
struct CriticPart {
    variant: String,
    #[serde(default)]
    calibration: Option<AnalysisPart>,
}

#[derive(Clone, Debug, Deserialize)]
struct AnalysisPart {
    #[serde(default)]
    calibrated: Option<CalibratedPart>,
}

#[derive(Clone, Debug, Deserialize)]
struct CalibratedPart {
    fits: Vec<FitPart>,
    #[serde(default)]
    reliability: Option<ReliabilityPart>,
}

#[derive(Clone, Debug, Deserialize)]
struct FitPart {
    on: String,
    #[serde(default)]
    calibrator: Option<Calibrator>,
    #[serde(default)]
    fault: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct ReliabilityPart {
    brier: f64,
}

impl CalibrationFile {
    /// The calibrations of a question's numbers, by judge; under the empty name where the file is about one judge alone.
    /// Of policies those over the patches of all agents.
    ///
    /// # Errors
    /// There are none, one has no fit (with the reason), or a judge has critics of several variants.
    pub fn calibrations(
        &self,
        question: &Question,
    ) -> Result<BTreeMap<String, MemberCalibration>, String> {
        let whole = [String::new()];
        let judges = if self.judges.is_empty() {
            &whole
        } else {
            self.judges.as_slice()
        };
        let mut found = BTreeMap::new();
        for judge in judges {
            let of_judge = |name: &str| {
                judge.is_empty() || name == judge || name.starts_with(&format!("{judge}: "))
            };
            let part = match question {
                Question::Critic { .. } => {
                    let mut critics = self.critics.iter().filter(|one| of_judge(&one.variant));
                    let first = critics.next();
                    if let (Some(first), Some(second)) = (first, critics.next()) {
                        return Err(format!(
                            "it has the critics `{}` and `{}`, and one for each judge is needed",
                            first.variant, second.variant
                        ));
                    }
                    first.and_then(|critic| Some((None, critic.calibration.as_ref()?)))
                }
                Question::Abstention | Question::Review => {
                    // The first set of a judge is over the patches of all agents.
                    let set = self.policies.iter().find(|set| of_judge(&set.name));
                    let scores = set.and_then(|set| match question {
                        Question::Abstention => set.abstention.as_ref(),
                        _ => set.score.as_ref(),
                    });
                    // Numbers of a source that no single judge has are nobody's here.
                    scores.and_then(|one| {
                        let source = Value::String(one.source.clone());
                        let source = serde_json::from_value(source).ok()?;
                        Some((Some(source), one.calibration.as_ref()?))
                    })
                }
            };
            let calibrated =
                part.and_then(|(source, part)| Some((source, part.calibrated.as_ref()?)));
            let Some((source, calibrated)) = calibrated else {
                continue;
            };
            found.insert(judge.clone(), member(source, calibrated)?);
        }
        if found.is_empty() {
            return Err(format!(
                "it has no calibration of {}; `atlas metrics --calibrate platt --format json` makes one",
                question.numbers()
            ));
        }
        Ok(found)
    }
}

fn member(
    source: Option<ConfidenceSource>,
    calibrated: &CalibratedPart,
) -> Result<MemberCalibration, String> {
    let mut parts: Vec<&FitPart> = calibrated.fits.iter().collect();
    parts.sort_by(|a, b| a.on.cmp(&b.on));
    let fits: Result<Vec<Calibrator>, String> = parts
        .into_iter()
        .map(|part| {
            part.calibrator.clone().ok_or_else(|| {
                let why = part.fault.as_deref().unwrap_or("no reason is given");
                format!("the fit to {} failed: {why}", part.on)
            })
        })
        .collect();
    Ok(MemberCalibration {
        source,
        fits: fits?,
        brier: calibrated.reliability.as_ref().map(|found| found.brier),
    })
}
