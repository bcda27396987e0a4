//! The page on which a person reviews an attempt (paper 001, appendix F.4).

use crate::{Source, Trajectory};
use atlas_core::Verdict;
use std::fmt::Write as _;

/// One attempt as Markdown: what the gates found, then each step with thought, action and observation, and
/// at the end the questions of the paper's reviewers. Texts of the recording stand in fences that they cannot
/// close.
pub fn review_page(trajectory: &Trajectory, verdicts: &[Verdict]) -> String {
    let mut page = format!(
        "# {}\n\nAgent: {} {}",
        trajectory.instance_id().unwrap_or("Attempt"),
        trajectory.agent.name,
        trajectory.agent.version
    );
    if let Some(model) = &trajectory.agent.model_name {
        let _ = write!(page, ", model: {model}");
    }
    page.push_str("\n\n## Gates\n\n");
    for verdict in verdicts {
        let _ = writeln!(page, "- {}: {:?}", verdict.validator, verdict.decision);
        for finding in &verdict.findings {
            let _ = writeln!(page, "  - {}: {}", finding.code, finding.message);
            for evidence in &finding.evidence {
                let line = evidence.text.lines().next().unwrap_or_default();
                let _ = writeln!(
                    page,
                    "    - {}: `{}`",
                    evidence.source,
                    line.replace('`', "'")
                );
            }
        }
    }
    for step in &trajectory.steps {
        let who = match step.source {
            Source::Agent => "agent",
            Source::User => "user",
            Source::System => "system",
        };
        let _ = writeln!(page, "\n## Step {} ({who})", step.step_id);
        fence(
            &mut page,
            "Reasoning",
            step.reasoning_content.as_deref().unwrap_or_default(),
        );
        fence(&mut page, "Thought", &step.message.text());
        for call in step.calls() {
            fence(&mut page, "Action", &call.text());
        }
        for seen in step.observed() {
            fence(&mut page, "Observation", &seen);
        }
    }
    page.push_str(
        "\n## Review\n\nAnswer in `review.csv`, column `decision`: `keep`, `regenerate` (thoughts), `prune` (steps, name them \
         in `comment`) or `discard`.\n\n\
         1. Does the agent know things that nothing it read tells?\n\
         2. Does it leave out tools or checks that the task called for?\n\
         3. Are its steps worth learning from?\n",
    );
    page
}

fn fence(page: &mut String, title: &str, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let mut longest = 0;
    for run in text.split(|c| c != '`') {
        longest = longest.max(run.len());
    }
    let ticks = "`".repeat(longest.max(2) + 1);
    let _ = write!(
        page,
        "\n{title}:\n\n{ticks}text\n{}\n{ticks}\n",
        text.trim_end()
    );
}
