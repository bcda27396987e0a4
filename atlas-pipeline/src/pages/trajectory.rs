//! The page of a trajectory.

use crate::AttemptRecord;
use crate::store::read_json;
use crate::trajectories::read_trajectories;
use atlas_core::{Error, ErrorKind};
use atlas_report::{TrajectoryPage, TrajectoryStep};
use atlas_trajectory::{Source, Step, Trajectory};
use std::path::Path;

/// A recording of any agent, or the folder of an attempt.
pub(super) fn collect(place: &Path) -> Result<TrajectoryPage, Error> {
    let record: Option<AttemptRecord> = read_json(&place.with_file_name("record.json"))
        .filter(|_| !place.is_dir())
        .or_else(|| read_json(&place.join("record.json")));
    let file = if place.is_dir() {
        place.join("trajectory.json")
    } else {
        place.to_owned()
    };
    let mut found = read_trajectories(&file)?;
    let Some(first) = found.next() else {
        let of = format!("`{}`: there is no trajectory in it", file.display());
        return Err(Error::new(ErrorKind::InvalidInput, "read", of));
    };
    if found.next().is_some() {
        let of = format!(
            "`{}`: it holds several trajectories; write one line of it to a file of its own",
            file.display()
        );
        return Err(Error::new(ErrorKind::InvalidInput, "show", of));
    }
    Ok(page(&first?, record.as_ref()))
}

fn page(trajectory: &Trajectory, record: Option<&AttemptRecord>) -> TrajectoryPage {
    let text = |name: &str| trajectory.extra.get(name).and_then(|value| value.as_str());
    let outcome = match record {
        Some(record) if record.is_resolved() => "resolved".to_owned(),
        Some(record) if record.is_evidence() => {
            let reasons = record.verdict.iter().flat_map(|verdict| &verdict.reasons);
            let why: Vec<&str> = reasons.map(String::as_str).take(1).collect();
            format!("not resolved: {}", why.concat())
        }
        _ => text("outcome").unwrap_or_default().to_owned(),
    };
    let mut facts = Vec::new();
    if let Some(status) = text("exit_status") {
        facts.push(("Ended".to_owned(), status.to_owned()));
    }
    if let Some(sums) = &trajectory.final_metrics {
        let tokens = [sums.total_prompt_tokens, sums.total_completion_tokens];
        if tokens.iter().any(Option::is_some) {
            let [prompts, answers] = tokens.map(Option::unwrap_or_default);
            facts.push((
                "Tokens".to_owned(),
                format!("{prompts} read, {answers} written"),
            ));
        }
        if let Some(cost) = sums.total_cost_usd {
            facts.push(("Cost".to_owned(), format!("${cost:.2}")));
        }
    }
    let mut remarks = Vec::new();
    for read in record.iter().flat_map(|record| &record.forbidden) {
        let what = match read.what {
            atlas_trajectory::Forbidden::HiddenTests => "hidden tests",
            atlas_trajectory::Forbidden::FutureHistory => "history after the base commit",
            atlas_trajectory::Forbidden::Network => "the network",
            atlas_trajectory::Forbidden::Host => "the host",
        };
        let came = if read.revealed {
            "and got it"
        } else {
            "in vain"
        };
        remarks.push(format!(
            "command {} reached for {what}, {came}: {}",
            read.command, read.tried
        ));
    }
    for gate in record.iter().flat_map(|record| &record.gates) {
        let said = gate.findings.iter().map(|finding| finding.message.as_str());
        let said: Vec<&str> = said.collect();
        if !said.is_empty() {
            remarks.push(format!("{}: {}", gate.validator, said.join("; ")));
        }
    }
    TrajectoryPage {
        instance_id: trajectory.instance_id().unwrap_or_default().to_owned(),
        agent: trajectory.agent.name.clone(),
        model: trajectory.agent.model_name.clone().unwrap_or_default(),
        outcome,
        facts,
        remarks,
        steps: trajectory.steps.iter().map(step).collect(),
    }
}

fn step(step: &Step) -> TrajectoryStep {
    let said = step.message.text();
    let thought = match step.reasoning_content.as_deref().map(str::trim) {
        None | Some("") => said,
        Some(reasoning) if said.trim().is_empty() => reasoning.to_owned(),
        Some(reasoning) => format!("{reasoning}\n\n{said}"),
    };
    let actions: Vec<String> = step
        .calls()
        .iter()
        .map(atlas_trajectory::ToolCall::text)
        .collect();
    let seen: Vec<String> = step.observed().collect();
    TrajectoryStep {
        who: match step.source {
            Source::System => "system",
            Source::User => "user",
            Source::Agent => "",
        }
        .to_owned(),
        thought,
        action: actions.join("\n"),
        observation: seen.join("\n"),
    }
}
