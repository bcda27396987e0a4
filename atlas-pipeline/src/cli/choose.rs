//! `atlas choose`.

use super::{DONE, Format, output};
use atlas_core::Error;
use atlas_pipeline::{ChooseOptions, ChooseReport, choose_patches};
use clap::Args;
use std::fmt::Write as _;

#[derive(Debug, Args)]
pub(super) struct ChooseArgs {
    #[command(flatten)]
    options: ChooseOptions,
    #[command(flatten)]
    format: Format,
}

pub(super) fn command(args: &ChooseArgs) -> Result<u8, Error> {
    let options = &args.options;
    let report = choose_patches(options)?;
    args.format.show(&report, || text(&report, options))?;
    Ok(DONE)
}

fn text(report: &ChooseReport, options: &ChooseOptions) -> String {
    let mut text = String::new();
    for one in &report.choices {
        let score = one
            .score
            .map_or_else(String::new, |score| format!(", score {score:.3}"));
        let _ = writeln!(
            text,
            "{}  {} ({}): {} of {} accepted say the same, {} in all{score}",
            one.instance_id, one.patch_id, one.agent, one.votes, one.accepted, one.candidates
        );
    }
    for task in &report.without {
        let _ = writeln!(text, "{task}  none: no patch is accepted");
    }
    let _ = write!(
        text,
        "{}{} chosen of {} candidates, {} of them accepted",
        if text.is_empty() { "" } else { "\n" },
        report.choices.len(),
        report.candidates,
        report.accepted
    );
    if report.unjudged > 0 {
        let _ = write!(text, ", {} without a result", report.unjudged);
    }
    if let Some(resolved) = report.resolved {
        let _ = write!(
            text,
            "; {resolved} of {} resolve their task",
            report.choices.len()
        );
    }
    let _ = writeln!(text, "\nwritten to {}", options.out.display());
    output::input_faults(&mut text, &report.faults);
    text
}
