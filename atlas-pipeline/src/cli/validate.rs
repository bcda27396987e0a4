//! `atlas validate`.

use super::shared::{EngineArgs, JobsArgs};
use super::{DONE, ERROR, Format, NO, output};
use atlas_core::{Decision, Error, RunContext, Verdict};
use atlas_pipeline::{InstanceVerdict, ValidateOptions, ValidateReport, validate};
use clap::Args;
use std::fmt::Write as _;

#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    #[command(flatten)]
    options: ValidateOptions,
    #[command(flatten)]
    jobs: JobsArgs,
    #[command(flatten)]
    place: EngineArgs,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn command(cx: &RunContext, args: ValidateArgs) -> Result<u8, Error> {
    let options = ValidateOptions {
        engine: args.place.engine,
        config: args.place.config.read()?,
        trust: args.place.trust,
        jobs: args.jobs.jobs,
        ..args.options
    };
    let report = validate(cx, &options).await?;
    cx.progress.phase("");
    args.format.show(&report, || text(&report))?;
    let passed = report.accepted + report.repaired;
    Ok(if report.errors > 0 {
        ERROR
    } else if passed < report.total {
        NO
    } else {
        DONE
    })
}

/// The report for a person: each instance with what was found, then the funnel.
fn text(report: &ValidateReport) -> String {
    let mut text = String::new();
    output::input_faults(&mut text, &report.faults);
    for instance in &report.instances {
        let word = match (&instance.decision, &instance.error) {
            (Some(decision), None) => decided(*decision),
            _ => "ERROR",
        };
        let _ = writeln!(
            text,
            "{word:<9} {}  ({:.1} s)",
            instance.instance_id, instance.seconds
        );
        if let Some(why) = &instance.error {
            let _ = writeln!(text, "  error: {why}");
        }
        for verdict in &instance.verdicts {
            gate(&mut text, verdict);
        }
        quarantine(&mut text, instance);
        text.push('\n');
    }
    let width = report
        .funnel
        .iter()
        .map(|s| s.gate.len())
        .max()
        .unwrap_or(0);
    let _ = writeln!(
        text,
        "{:<width$}  entered  accepted  repaired  rejected  no evidence",
        "GATE"
    );
    for step in &report.funnel {
        let _ = writeln!(
            text,
            "{:<width$}  {:>7}  {:>8}  {:>8}  {:>8}  {:>11}",
            step.gate, step.entered, step.accepted, step.repaired, step.rejected, step.no_evidence
        );
    }
    let _ = writeln!(
        text,
        "\n{} instances: {} accepted, {} repaired, {} in need of repair, {} rejected, {} without \
         evidence, {} errors",
        report.total,
        report.accepted,
        report.repaired,
        report.needs_repair,
        report.rejected,
        report.no_evidence,
        report.errors
    );
    let _ = writeln!(text, "rows      {}", report.validated.display());
    text
}

fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Accept => "accepted",
        Decision::Repair => "repaired",
        Decision::Reject => "rejected",
        Decision::NoEvidence => "unknown",
    }
}

fn gate(text: &mut String, verdict: &Verdict) {
    let _ = writeln!(
        text,
        "  {:<24} {}{}",
        verdict.validator,
        decided(verdict.decision),
        numbers(verdict)
    );
    for finding in &verdict.findings {
        let _ = writeln!(text, "    {}: {}", finding.code, finding.message);
        for line in finding.evidence.iter().take(4) {
            let place = line
                .line
                .map_or_else(|| line.source.clone(), |n| format!("{}:{n}", line.source));
            let _ = writeln!(text, "      {place}: {}", output::one_line(&line.text));
        }
        if finding.evidence.len() > 4 {
            let _ = writeln!(text, "      and {} more", finding.evidence.len() - 4);
        }
    }
}

/// The numbers of a verdict that fit on its line.
fn numbers(verdict: &Verdict) -> String {
    let known = &verdict.measurements;
    let number = |name: &str| known.get(name).and_then(serde_json::Value::as_f64);
    let mut parts = Vec::new();
    if let Some(runs) = number("runs") {
        parts.push(format!("{runs} runs"));
    }
    if let Some(builds) = number("good_builds") {
        parts.push(format!("{builds} good builds"));
    }
    if let Some(score) = number("score") {
        parts.push(format!("score {score:.2}"));
    }
    if let Some(power) = known.get("power").and_then(|power| power.as_object()) {
        let share = power.get("power").and_then(serde_json::Value::as_f64);
        let rate = power
            .get("finds_fail_rates_from")
            .and_then(serde_json::Value::as_f64);
        let share = share.unwrap_or_default() * 100.0;
        parts.push(match rate {
            Some(rate) => format!(
                "finds fail rates from {:.1} % with power {share:.0} %",
                rate * 100.0
            ),
            None => format!("too few runs for any fail rate at power {share:.0} %"),
        });
    }
    if let Some(why) = known.get("stopped_early").and_then(|why| why.as_str()) {
        parts.push(format!("stopped {why}"));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join("; "))
    }
}

fn quarantine(text: &mut String, instance: &InstanceVerdict) {
    let all = instance.verdicts.iter().flat_map(|v| &v.quarantine);
    for (id, reason) in all {
        let _ = writeln!(text, "  set aside: {}: {reason}", output::one_line(id));
    }
}
