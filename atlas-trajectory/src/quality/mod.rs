//! Quality gates over trajectories (paper 001, appendix F.3), and what they are given.

mod rewritten;
mod submit;
mod words;

pub use rewritten::RewrittenThoughts;
pub use submit::FinalSubmit;
pub use words::{HintTerms, HintWords};
pub(crate) use words::{speaks, squeeze};

use crate::{Step, Trajectory};
use async_trait::async_trait;
use atlas_core::{Decision, Error, Evidence, Finding, RunContext, Severity, Verdict};
use std::fmt;
use std::sync::Arc;

/// The ids of the gates, in the paper's order.
pub const QUALITY_GATES: [&str; 3] = [FinalSubmit::ID, HintWords::ID, RewrittenThoughts::ID];

/// An attempt as gates see it.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// What was recorded, or what it became when thoughts were rewritten.
    pub trajectory: Trajectory,
    /// The hint that the agent was given; empty if none.
    pub hint: String,
    /// The recording from before thoughts were rewritten.
    pub original: Option<Trajectory>,
}

/// A quality gate over attempts: [`atlas_core::Validator`] for trajectories.
///
/// # Contract
/// - A defect of the attempt is a [`Verdict`], never an [`Error`].
/// - [`Decision::Reject`] and [`Decision::Repair`] come with at least one finding that has evidence.
/// - Independent of other gates: users compose them in any order.
///
/// # Cancellation
/// As the model underneath, if there is one.
#[async_trait]
pub trait TrajectoryGate: fmt::Debug + Send + Sync {
    /// The stable name.
    fn id(&self) -> &str;

    /// Looks at an attempt.
    ///
    /// # Errors
    /// Those of the model underneath, if there is one.
    async fn check(&self, cx: &RunContext, attempt: &Attempt) -> Result<Verdict, Error>;
}

macro_rules! forward_trajectory_gate {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<G: TrajectoryGate + ?Sized> TrajectoryGate for $ty {
            fn id(&self) -> &str { (**self).id() }
            async fn check(&self, cx: &RunContext, attempt: &Attempt) -> Result<Verdict, Error> {
                (**self).check(cx, attempt).await
            }
        }
    )+};
}
forward_trajectory_gate!(&G, Box<G>, Arc<G>);

/// The verdict that follows from findings: a fatal one rejects, a warning asks for repair.
fn verdict(id: &str, findings: Vec<Finding>) -> Verdict {
    let worst = findings.iter().map(|finding| finding.severity).max();
    Verdict {
        validator: id.to_owned(),
        decision: match worst {
            Some(Severity::Fatal) => Decision::Reject,
            Some(Severity::Warning) => Decision::Repair,
            _ => Decision::Accept,
        },
        findings,
        quarantine: std::collections::BTreeMap::default(),
        measurements: serde_json::Map::default(),
    }
}

fn finding(code: &str, severity: Severity, message: String, evidence: Vec<Evidence>) -> Finding {
    Finding {
        code: code.to_owned(),
        severity,
        message,
        evidence,
    }
}

/// A proof out of a step: `step 3 action`, with the text.
fn proof(step: &Step, part: &str, text: &str) -> Evidence {
    const MOST: usize = 200;
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Evidence::of(format!("step {} {part}", step.step_id), short)
}
