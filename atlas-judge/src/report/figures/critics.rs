//! Figures of critics.

use super::calibration::calibrations;
use crate::metrics::analysis::{AgentCritic, CriticAnalysis, counted, decimal};
use crate::report::chart::{Axis, Chart};
use crate::report::html::Html;

/// Paper 004: quality, confidence, pass rates, order of agents.
pub(in crate::report) fn critic(page: &mut Html, critic: &CriticAnalysis) {
    let chart = confidence(critic);
    page.figure(
        "Confidence",
        "Predictions on single tests by the confidence that the critic gave.",
        chart.as_ref().map_err(|why| *why),
        &[critic.confidence_table()],
    );
    page.figure(
        "Quality",
        "Positive is: the test passes, the patch resolves its task. Rows of tests are over the same tests, \
         rows of patches over the same patches.",
        Err(""),
        &[critic.quality()],
    );
    calibrations(page, &critic.calibrations());
    let chart = pass_rates(critic);
    let said = format!(
        "Patches by predicted and actual share of passing tests. Rank correlation over patches: {}.",
        decimal(critic.pass_rate_correlation)
    );
    page.figure(
        "Predicted against actual pass rates",
        &said,
        chart.as_ref().map_err(|why| *why),
        &[critic.pass_rate_table()],
    );
    let chart = by_agent(&critic.agents);
    page.figure(
        "Rank correlation by agent",
        "Spearman's, of predicted and actual pass rates over the agent's patches.",
        chart.as_ref().map_err(|why| *why),
        &[critic.by_agent()],
    );
    let chart = orders(critic);
    page.figure(
        "Order of agents, task by task",
        &critic.order_summary(),
        chart.as_ref().map_err(|why| *why),
        &critic.order_table(),
    );
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tests are far below 2^53"
)]
fn confidence(critic: &CriticAnalysis) -> Result<Chart, &'static str> {
    let most = critic
        .confidence
        .iter()
        .map(|bin| bin.right + bin.wrong + bin.unknown)
        .max();
    let most = most
        .filter(|most| *most > 0)
        .ok_or("The critic predicted no test.")?;
    let x = Axis {
        from: 0.0,
        to: 100.0,
        ticks: (0..=4)
            .map(|at| (f64::from(at) * 25.0, (at * 25).to_string()))
            .collect(),
        label: "confidence".to_owned(),
    };
    let mut chart = Chart::new(x, Axis::count("tests", most));
    for bin in &critic.confidence {
        let x = (f64::from(bin.from) + 0.4, f64::from(bin.from) + 4.6);
        let mut from = 0;
        for (count, colour, opacity) in [
            (bin.right, 3, 1.0),
            (bin.wrong, 2, 1.0),
            (bin.unknown, 0, 0.4),
        ] {
            if count > 0 {
                chart.bar(x, (from as f64, (from + count) as f64), colour, opacity);
            }
            from += count;
        }
    }
    chart.swatch("right", 3, 1.0);
    chart.swatch("wrong", 2, 1.0);
    if critic.tests_without_truth > 0 {
        chart.swatch("end not known", 0, 0.4);
    }
    Ok(chart)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn pass_rates(critic: &CriticAnalysis) -> Result<Chart, &'static str> {
    let most = critic.pass_rates.iter().map(|cell| cell.patches).max();
    let most = most.ok_or("No patch has predictions on tests whose end is known.")?;
    let mut chart = Chart::new(Axis::share("predicted", 1.0), Axis::share("actual", 1.0));
    chart.diagonal();
    for cell in &critic.pass_rates {
        let span = |tenth: usize| {
            (
                tenth as f64 / 10.0 + 0.003,
                (tenth + 1) as f64 / 10.0 - 0.003,
            )
        };
        // By the root, so that small cells are still seen beside the largest.
        let weight = (cell.patches as f64 / most as f64).sqrt();
        chart.bar(
            span(cell.predicted),
            span(cell.actual),
            1,
            0.08 + 0.52 * weight,
        );
        chart.text(
            cell.predicted as f64 / 10.0 + 0.05,
            cell.actual as f64 / 10.0 + 0.05,
            "middle",
            &short(cell.patches),
        );
    }
    Ok(chart)
}

/// A count in at most four characters.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn short(count: u64) -> String {
    match count {
        0..=9_999 => count.to_string(),
        10_000..=999_999 => format!("{}k", count / 1000),
        _ => format!("{:.0}M", count as f64 / 1e6),
    }
}

fn correlation_axis() -> Axis {
    Axis {
        from: -1.0,
        to: 1.0,
        ticks: [
            (-1.0, "−1"),
            (-0.5, "−0.5"),
            (0.0, "0"),
            (0.5, "0.5"),
            (1.0, "1"),
        ]
        .map(|(at, label)| (at, label.to_owned()))
        .to_vec(),
        label: "rank correlation".to_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few agents")]
fn by_agent(agents: &[AgentCritic]) -> Result<Chart, &'static str> {
    if agents.iter().all(|agent| agent.correlation.is_none()) {
        return Err("Not defined for any agent: its predicted or actual pass rates are all equal.");
    }
    let mut chart = Chart::rows(agents.len(), correlation_axis());
    for (at, agent) in agents.iter().rev().enumerate() {
        let y = at as f64;
        // A long name is cut here and whole in the table.
        let name = match agent.agent.char_indices().nth(30) {
            Some((at, _)) => format!("{}…", &agent.agent[..at]),
            None => agent.agent.clone(),
        };
        let said = match agent.correlation {
            Some(rho) => format!("{name}: {rho:.3} ({})", counted(agent.patches, "patch")),
            None => format!("{name}: not defined ({})", counted(agent.patches, "patch")),
        };
        chart.text(-1.0, y + 0.76, "start", &said);
        if let Some(rho) = agent.correlation {
            let colour = if rho < 0.0 { 2 } else { 1 };
            chart.bar((0.0, rho), (y + 0.1, y + 0.5), colour, 1.0);
        }
    }
    chart.rule(0.0);
    Ok(chart)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tasks are far below 2^53"
)]
fn orders(critic: &CriticAnalysis) -> Result<Chart, &'static str> {
    let most = critic.correlation_histogram.iter().copied().max();
    let most = most
        .filter(|most| *most > 0)
        .ok_or("There is no defined correlation to draw.")?;
    let mut chart = Chart::new(correlation_axis(), Axis::count("tasks", most));
    for (at, count) in critic.correlation_histogram.iter().enumerate() {
        if *count > 0 {
            let from = at as f64 / 10.0 - 1.0;
            chart.bar((from + 0.008, from + 0.092), (0.0, *count as f64), 1, 1.0);
        }
    }
    Ok(chart)
}
