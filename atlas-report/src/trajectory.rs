//! The page of a trajectory: what an agent thought, did and saw, step by step.

use crate::shell::{self, Live, Section, clean};
use atlas_core::one_line;
use maud::html;
use serde::{Deserialize, Serialize};

/// One step of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrajectoryStep {
    /// Whose step it is, where it is not the agent's: `user`, `system`.
    pub who: String,
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
    /// What else is known in a word: how it ended, what it cost.
    #[serde(default)]
    pub facts: Vec<(String, String)>,
    /// What is to be said of it.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Its steps, in order.
    pub steps: Vec<TrajectoryStep>,
}

impl TrajectoryPage {
    /// The page as HTML.
    pub fn html(&self, live: Option<&Live>) -> String {
        let mut facts = vec![
            ("Agent", self.agent.clone()),
            ("Model", self.model.clone()),
            ("Steps", self.steps.len().to_string()),
        ];
        facts.extend(
            self.facts
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone())),
        );
        let lead = html! {
            @if !self.outcome.is_empty() { div.verdict { p { strong { (clean(&self.outcome)) } } } }
            (shell::facts(&facts))
            @if !self.remarks.is_empty() { ul { @for remark in &self.remarks { li { (clean(remark)) } } } }
        };
        let steps = html! {
            @for (at, step) in self.steps.iter().enumerate() {
                details.step id={ "step-" (at + 1) } open[at + 1 == self.steps.len()] {
                    summary {
                        strong { (at + 1) } " "
                        @if !step.who.is_empty() { (clean(&step.who)) " " }
                        @if step.action.is_empty() { (one_line(&step.thought, 110)) } @else { code { (one_line(&step.action, 110)) } }
                    }
                    @for (name, text) in [(if step.who.is_empty() { "Thought" } else { "Message" }, &step.thought), ("Action", &step.action), ("Observation", &step.observation)] {
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
