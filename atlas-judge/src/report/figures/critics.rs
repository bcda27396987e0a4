//! Figures of critics.

use super::calibration::calibrations;
use super::policies::steps;
use crate::metrics::analysis::{
    AgentCritic, Analysis, CriticAnalysis, CriticScores, LengthBin, Table, counted, critic_name,
    decimal,
};
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
    if let Some(table) = critic.length_table() {
        page.figure(
            "Confidence by length of tests",
            "The mean confidence of right and of wrong predictions, and the share of right ones, by the characters of the \
             test's source.",
            Ok(&lengths(critic)),
            &[table],
        );
    }
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
    if let Some(table) = critic.pass_rate_spreads() {
        page.figure(
            "Pass rates by agent",
            "The share of an agent's patches by predicted pass rate, in tenths; dashed by the actual one.",
            Ok(&agents_rates(&critic.agents)),
            &[table],
        );
    }
    if let Some(found) = &critic.score {
        let said = format!(
            "Whether a patch resolves its task, by the threshold of the critic's own score, over {}: AP {}, no skill {}.",
            counted(found.patches, "patch"),
            decimal(found.average_precision),
            decimal(found.no_skill),
        );
        let chart = score_curve(found);
        let tables: Vec<Table> = critic.score_table().into_iter().collect();
        page.figure(
            "Precision against recall of the critic's score",
            &said,
            chart.as_ref().map_err(|why| *why),
            &tables,
        );
    }
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
    for (said, table) in critic.order_tables() {
        let title = table.head[0].clone();
        page.figure(&title, &said, Err(""), &[table]);
    }
}

/// Critics beside each other: the order that they give to agents, and whether their scores grow with progress.
pub(in crate::report) fn critics(page: &mut Html, analysis: &Analysis) {
    if let Some(table) = analysis.order_beside() {
        page.figure(
            "Order of agents, critic by critic",
            "Tasks by Spearman's correlation of what a critic foretold of the agents with what was true, in tenths, as a \
             share of those where it is defined.",
            Ok(&orders_beside(analysis)),
            &[table],
        );
    }
    if let Some(table) = analysis.progress_table() {
        page.figure(
            "Progress",
            "Pairs of patches of one task, of which one passes every test that the other passes and one more at least: how \
             often it has the higher score. Proxies tell how far numbers of the patch alone get.",
            Err(""),
            &[table],
        );
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tasks are far below 2^53"
)]
fn orders_beside(analysis: &Analysis) -> Chart {
    let with_order = || {
        let critics = analysis.critics.iter().enumerate();
        critics.filter(|(_, critic)| critic.instance_correlations.defined > 0)
    };
    let share = |critic: &CriticAnalysis, count: u64| {
        count as f64 / critic.instance_correlations.defined.max(1) as f64
    };
    let shares = with_order().flat_map(|(_, critic)| {
        let counts = critic.correlation_histogram.iter();
        counts.map(move |count| share(critic, *count))
    });
    let most = shares.fold(0.0, f64::max);
    let mut chart = Chart::new(correlation_axis(), Axis::share("tasks", most));
    for (at, critic) in with_order() {
        let counts = critic.correlation_histogram.iter().enumerate();
        let points = counts.map(|(bin, count)| (bin as f64 / 10.0 - 0.95, share(critic, *count)));
        chart.line(critic_name(&critic.variant), at + 1, true, points);
    }
    chart
}

/// A bin has the same width whatever its lengths are: the last ones hold few tests.
#[expect(clippy::cast_precision_loss, reason = "a few bins")]
fn lengths(critic: &CriticAnalysis) -> Chart {
    let bins = &critic.lengths;
    let x = Axis {
        from: 0.0,
        to: bins.len() as f64,
        ticks: bins
            .iter()
            .enumerate()
            .map(|(at, bin)| {
                let to = bin
                    .up_to
                    .map_or_else(|| "…".to_owned(), |to| to.to_string());
                (at as f64 + 0.5, to)
            })
            .collect(),
        label: "characters of the test, at most".to_owned(),
    };
    let mut chart = Chart::new(x, Axis::share("confidence; right", 1.0));
    let most = bins.iter().map(|bin| bin.right + bin.wrong).max();
    let most = most.unwrap_or(0).max(1) as f64;
    let line = |of: fn(&LengthBin) -> Option<f64>, count: fn(&LengthBin) -> u64| -> Vec<_> {
        let points = bins.iter().enumerate();
        points
            .filter_map(|(at, bin)| {
                // By the root: the area shows the count.
                Some((at as f64 + 0.5, of(bin)?, (count(bin) as f64 / most).sqrt()))
            })
            .collect()
    };
    let right = line(
        |bin| Some(bin.mean_confidence_right? / 100.0),
        |bin| bin.right,
    );
    chart.dots("confidence where right", 3, false, &right);
    let wrong = line(
        |bin| Some(bin.mean_confidence_wrong? / 100.0),
        |bin| bin.wrong,
    );
    chart.dots("confidence where wrong", 2, false, &wrong);
    let all = line(|bin| bin.accuracy, |bin| bin.right + bin.wrong);
    chart.dots("share of right ones", 1, true, &all);
    chart
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn agents_rates(agents: &[AgentCritic]) -> Chart {
    let share = |tenths: &[u64]| -> Vec<f64> {
        let all = tenths.iter().sum::<u64>().max(1) as f64;
        tenths.iter().map(|count| *count as f64 / all).collect()
    };
    let shares: Vec<(&str, Vec<f64>, Vec<f64>)> = agents
        .iter()
        .map(|agent| {
            let (predicted, actual) = (&agent.predicted_tenths, &agent.actual_tenths);
            (agent.agent.as_str(), share(predicted), share(actual))
        })
        .collect();
    let all = shares.iter().flat_map(|(_, a, b)| a.iter().chain(b));
    let most = all.copied().fold(0.0, f64::max);
    let mut chart = Chart::new(Axis::share("pass rate", 1.0), Axis::share("patches", most));
    for (at, (name, predicted, actual)) in shares.iter().enumerate() {
        for (shares, is_actual) in [(predicted, false), (actual, true)] {
            let points = shares.iter().enumerate();
            let points = points.map(|(tenth, share)| (tenth as f64 / 10.0 + 0.05, *share));
            let name = if is_actual {
                format!("{name}, actual")
            } else {
                (*name).to_owned()
            };
            chart.styled_line(&name, at + 1, is_actual, points);
        }
    }
    chart
}

fn score_curve(found: &CriticScores) -> Result<Chart, &'static str> {
    let curve = found.curve.as_ref();
    let curve = curve.ok_or("No patch resolves its task, so there is no recall to draw.")?;
    let mut chart = Chart::new(Axis::share("recall", 1.0), Axis::share("precision", 1.0));
    chart.line("the critic's score", 1, false, steps(curve));
    if let Some(no_skill) = found.no_skill {
        chart.guide("no skill", 1, [(0.0, no_skill), (1.0, no_skill)]);
    }
    Ok(chart)
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
