//! What a decision is worth.

use serde::{Deserialize, Serialize};

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
