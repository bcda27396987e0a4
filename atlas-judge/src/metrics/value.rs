//! What a decision is worth.

use super::ranking::steps;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What fixing a bug brings and costs, in one unit of the caller's (paper 002, appendix C.4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BugValue {
    /// What a fix is worth, `V_b`.
    pub value: f64,
    /// What the bug costs while it is not fixed, `C_b`.
    pub cost: f64,
    /// What a run of the agent costs, `R_c`.
    pub run_cost: f64,
    /// What a person's look at a patch costs, `H_c`.
    pub review_cost: f64,
}

impl FromStr for BugValue {
    type Err = String;

    /// Reads `fix=V,open=C,run=R,review=H`: all four in any order, each a number of 0 or more. None has a default, since
    /// the paper gives no numbers.
    fn from_str(text: &str) -> Result<Self, String> {
        const NAMES: [&str; 4] = ["fix", "open", "run", "review"];
        let mut found = [None; 4];
        for part in text.split(',') {
            let (name, number) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` must be NAME=NUMBER"))?;
            let at = NAMES.iter().position(|known| *known == name.trim());
            let at = at.ok_or_else(|| format!("`{name}` is none of {}", NAMES.join(", ")))?;
            let number: Option<f64> = number.trim().parse().ok();
            let number = number.filter(|number| number.is_finite() && *number >= 0.0);
            let number =
                number.ok_or_else(|| format!("`{part}`: a number of 0 or more is expected"))?;
            if found[at].replace(number).is_some() {
                return Err(format!("`{name}` stands there twice"));
            }
        }
        let missing: Vec<&str> = NAMES
            .into_iter()
            .zip(found)
            .filter_map(|(name, number)| number.is_none().then_some(name))
            .collect();
        match found {
            [Some(value), Some(cost), Some(run_cost), Some(review_cost)] => Ok(Self {
                value,
                cost,
                run_cost,
                review_cost,
            }),
            _ => Err(format!(
                "{} is missing: none has a default",
                missing.join(", ")
            )),
        }
    }
}

impl BugValue {
    /// The expected net value of trying to fix the bug, at a chance `p` of success:
    /// `p V + (1 - p)(-C) - R`.
    pub fn attempt(&self, p: f64) -> f64 {
        self.gain(p) - self.run_cost
    }

    /// Of not trying: `-C`.
    pub fn abstain(&self) -> f64 {
        -self.cost
    }

    /// Of showing a patch that is right with chance `p`: `p V + (1 - p)(-C) - H`.
    pub fn show(&self, p: f64) -> f64 {
        self.gain(p) - self.review_cost
    }

    /// Of hiding it: `-C`.
    pub fn hide(&self) -> f64 {
        -self.cost
    }

    /// The chance from which on trying is worth more than not trying: `R / (V + C)`, which follows
    /// from the paper's formulas. `None` if value and cost are 0 together.
    pub fn break_even_attempt(&self) -> Option<f64> {
        super::quotient(self.run_cost, self.value + self.cost)
    }

    /// The chance from which on showing is worth more than hiding: `H / (V + C)`.
    pub fn break_even_show(&self) -> Option<f64> {
        super::quotient(self.review_cost, self.value + self.cost)
    }

    fn gain(&self, p: f64) -> f64 {
        p * self.value + (1.0 - p) * -self.cost
    }
}

/// What is decided, and so what is paid for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// To let an agent try, for `R_c` a run; else nothing is paid.
    Attempt,
    /// To show a patch, for `H_c`; else it is hidden.
    Show,
}

/// What a threshold is worth: from it on items are taken (attempted, shown), below they are left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValuePoint {
    /// The threshold.
    pub threshold: f64,
    /// Items with at least that score.
    pub taken: u64,
    /// Right ones among them.
    pub right: u64,
    /// Items below.
    pub left: u64,
    /// The net value of a taken one, on average: the formula of [`BugValue::attempt`] or [`BugValue::show`], with the share
    /// of right ones among the taken as the chance.
    pub per_taken: Option<f64>,
    /// The net value of a left one: `-C`.
    pub per_left: f64,
    /// The mean over all items.
    pub per_item: Option<f64>,
    /// How much more that is than leaving every item; below 0 the threshold loses money.
    pub gain: Option<f64>,
}

impl BugValue {
    /// What the decision costs.
    pub fn price(&self, decision: Decision) -> f64 {
        match decision {
            Decision::Attempt => self.run_cost,
            Decision::Show => self.review_cost,
        }
    }

    /// What a threshold is worth over items `(right, score)`: runs for [`Decision::Attempt`], patches for
    /// [`Decision::Show`].
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn at_threshold(
        &self,
        decision: Decision,
        items: &[(bool, f64)],
        threshold: f64,
    ) -> ValuePoint {
        let taken = items.iter().filter(|(_, score)| *score >= threshold);
        let (mut count, mut right) = (0, 0);
        for (truth, _) in taken {
            count += 1;
            right += u64::from(*truth);
        }
        let all = items.len() as u64;
        let gain = self.gain_of(decision, right as f64, count as f64);
        let gain = super::ratio(gain, all);
        ValuePoint {
            threshold,
            taken: count,
            right,
            left: all - count,
            per_taken: super::share(right, count).map(|p| match decision {
                Decision::Attempt => self.attempt(p),
                Decision::Show => self.show(p),
            }),
            per_left: self.abstain(),
            per_item: gain.map(|gain| gain - self.cost),
            gain,
        }
    }

    /// The lowest threshold that loses no money: every one that takes more items does. It is one of the scores, or 0 if
    /// taking every item loses none; `None` if every threshold that takes an item loses. Scores are 0 or more.
    pub fn break_even_threshold(&self, decision: Decision, items: &[(bool, f64)]) -> Option<f64> {
        let gains = self.gains(decision, items)?;
        // The last step takes everything.
        if gains.last()?.1 >= 0.0 {
            return Some(0.0);
        }
        let steps = gains.into_iter().rev();
        steps
            .into_iter()
            .find(|(_, gain)| *gain >= 0.0)
            .map(|(score, _)| score)
    }

    /// The score from which on taking is worth most, the highest of several; `None` if it always loses.
    pub fn best_threshold(&self, decision: Decision, items: &[(bool, f64)]) -> Option<f64> {
        let mut best: Option<(f64, f64)> = None;
        for (score, gain) in self.gains(decision, items)? {
            if gain >= 0.0 && best.is_none_or(|best| gain > best.1) {
                best = Some((score, gain));
            }
        }
        best.map(|best| best.0)
    }

    /// The gain from each distinct score on, highest score first.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn gains(&self, decision: Decision, items: &[(bool, f64)]) -> Option<Vec<(f64, f64)>> {
        let steps = steps(items)?;
        let gain = |right: u64, taken: u64| self.gain_of(decision, right as f64, taken as f64);
        let gains = steps
            .iter()
            .map(|step| (step.score, gain(step.hits, step.shown)));
        Some(gains.collect())
    }

    /// What taking items brings more than leaving them.
    fn gain_of(&self, decision: Decision, right: f64, taken: f64) -> f64 {
        right * (self.value + self.cost) - taken * self.price(decision)
    }
}
