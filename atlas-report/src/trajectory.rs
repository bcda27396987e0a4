//! The page of a trajectory: what an agent thought, did and saw, step by step.

use crate::shell::{self, Live, Section, clean};
use atlas_core::one_line;
use maud::html;
use serde::{Deserialize, Serialize};

/// One step of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrajectoryStep {
    /// What it thought; empty where it said nothing.
    pub thought: String,
    /// What it did.
    pub action: String,
    /// What came back.
    pub observation: String,
}

/// A trajectory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrajectoryPage {
    /// The instance.
    pub instance_id: String,
    /// The agent.
    #[serde(default)]
    pub agent: String,
    /// The model.
    #[serde(default)]
    pub model: String,
    /// What came of it: `resolved`, ….
    #[serde(default)]
    pub outcome: String,
    /// Its steps, in order.
    pub steps: Vec<TrajectoryStep>,
}

impl TrajectoryPage {
    /// The page as HTML.
    pub fn html(&self, live: Option<&Live>) -> String {
        let lead = html! {
            @if !self.outcome.is_empty() { div.verdict { p { strong { (clean(&self.outcome)) } } } }
            (shell::facts(&[("Agent", self.agent.clone()), ("Model", self.model.clone()), ("Steps", self.steps.len().to_string())]))
        };
        let steps = html! {
            @for (at, step) in self.steps.iter().enumerate() {
                details.step id={ "step-" (at + 1) } open[at + 1 == self.steps.len()] {
                    summary { strong { (at + 1) } " " code { (one_line(&step.action, 110)) } }
                    @for (name, text) in [("Thought", &step.thought), ("Action", &step.action), ("Observation", &step.observation)] {
                        @if !text.is_empty() {
                            h3 { (name) }
                            pre tabindex="0" role="region" aria-label={ (name) " of step " (at + 1) } { (clean(text)) }
                        }
                    }
                }
            }
        };
        let title = format!("Trajectory on {}", self.instance_id);
        shell::page(
            &title,
            &lead,
            &[Section::new("steps", "Steps", steps)],
            live,
        )
    }
}
