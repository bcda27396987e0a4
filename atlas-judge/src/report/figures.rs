//! Which figures there are, and what is in them.

use super::chart::{Axis, Chart, Numbered};
use super::html::Html;
use crate::metrics::analysis::{
    AbstentionAnalysis, AgentCritic, Calibrations, CriticAnalysis, PolicyAnalysis, PolicyRow,
    ScoreAnalysis, calibration_tables, counted, decimal, differences, method_name, percent,
};
use crate::metrics::{AtK, PrecisionRecallCurve, Reliability, RiskCoverage};
use std::collections::BTreeMap;

/// The heading of differences.
pub(super) const DIFFERENCES: &str = "Differences of policies";
/// What they are.
pub(super) const PAIRED: &str = "What the first named has more than the second, in points of percent, over the \
    patches that both judge; intervals by the paired bootstrap, which draws the same tasks for both.";

/// Paper 002: curves, success by k, trade-off, funnel.
pub(super) fn policies(page: &mut Html, set: &PolicyAnalysis) {
    let chart = by_k(set, "filtered success@k", |row| &row.success_at);
    page.figure(
        "Filtered success@k",
        "The chance that one of k patches that a policy lets through is right, over tasks with such \
         a patch. The number of those tasks is in the table: a high curve over few tasks hides much.",
        chart.as_ref().map_err(|why| *why),
        &[set.success()],
    );
    let chart = by_k(set, "(pass & validation)@k", |row| {
        &row.pass_and_validation_at
    });
    page.figure(
        "(Pass & validation)@k",
        "The chance that one of k patches is right and shown, over all tasks: what is fixed in the end. Every right \
         patch that a policy hides lowers it.",
        chart.as_ref().map_err(|why| *why),
        &[set.pass_and_validation()],
    );
    let chart = by_k(set, "validation recall@k", |row| &row.recall_at);
    page.figure(
        "Validation recall@k",
        "The chance that one of k right patches is shown, over tasks with a right patch.",
        chart.as_ref().map_err(|why| *why),
        &[set.validation_recall()],
    );
    let chart = trade_off(set);
    let mut tables = vec![set.decisions()];
    tables.extend(set.classes());
    page.figure(
        "Share shown against precision",
        "Each policy by how many of the patches it shows and how many of those are right.",
        chart.as_ref().map_err(|why| *why),
        &tables,
    );
    let chart = funnel(set);
    page.figure(
        "What is left after each step",
        "",
        chart.as_ref().map_err(|why| *why),
        &[set.funnel_table()],
    );
    let said: Vec<String> = [
        set.abstention.as_ref().map(AbstentionAnalysis::summary),
        set.score.as_ref().map(ScoreAnalysis::summary),
    ]
    .into_iter()
    .flatten()
    .collect();
    let chart = curves(set);
    page.figure(
        "Precision against recall",
        &said.join(" "),
        chart.as_ref().map_err(|why| *why),
        &set.curve_tables(),
    );
    calibrations(page, &set.calibrations());
    if let Some(table) = differences(&set.differences) {
        page.figure(DIFFERENCES, PAIRED, Err(""), &[table]);
    }
    if let Some(lift) = set.lift() {
        page.figure(
            "Lift by kind",
            "Filtered accept@1 over accept@1 of everything; a dash where nothing is kept or nothing \
             is right.",
            Err(""),
            &[lift],
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few runs a task")]
fn by_k(
    set: &PolicyAnalysis,
    label: &str,
    of: fn(&PolicyRow) -> &BTreeMap<u64, AtK>,
) -> Result<Chart, &'static str> {
    let values = || {
        let rows = set.policies.iter();
        rows.flat_map(|row| of(row).values().filter_map(|at| at.value))
    };
    if values().next().is_none() {
        return Err("There is no number to draw: no policy shows a patch, or no patch is right.");
    }
    let last = set.ks.last().copied().unwrap_or(1);
    let step = match last {
        0..=10 => 1,
        11..=25 => 5,
        _ => last.div_ceil(5),
    };
    let ticks = (1..=last)
        .filter(|k| *k == 1 || k % step == 0)
        .map(|k| (k as f64, k.to_string()))
        .collect();
    let x = Axis {
        from: 1.0,
        to: last as f64,
        ticks,
        label: "k".to_owned(),
    };
    let y = Axis::share(label, values().fold(0.0, f64::max));
    let mut chart = Chart::new(x, y);
    for (at, row) in set.policies.iter().enumerate() {
        let points = of(row).iter();
        chart.line(
            &row.name,
            at,
            true,
            points.filter_map(|(k, at)| Some((*k as f64, at.value?))),
        );
    }
    Ok(chart)
}

/// Steps of a curve whose area is the average precision.
fn steps(curve: &PrecisionRecallCurve) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(curve.precision.len() * 2);
    let mut before = 0.0;
    // The closing point (recall 0, precision 1) is none of the data.
    for at in (0..curve.thresholds.len()).rev() {
        points.push((before, curve.precision[at]));
        points.push((curve.recall[at], curve.precision[at]));
        before = curve.recall[at];
    }
    points
}

fn curves(set: &PolicyAnalysis) -> Result<Chart, &'static str> {
    let abstention = set
        .abstention
        .as_ref()
        .and_then(|found| Some((found, found.curve.as_ref()?)));
    let score = set
        .score
        .as_ref()
        .and_then(|found| Some((found, found.curve.as_ref()?)));
    if abstention.is_none() && score.is_none() {
        return Err(
            "No curve: the lines have neither abstention probabilities nor validation scores of one \
             source, or no task is fixable.",
        );
    }
    let mut chart = Chart::new(Axis::share("recall", 1.0), Axis::share("precision", 1.0));
    if let Some((found, curve)) = abstention {
        let ap = decimal(found.average_precision);
        chart.line(
            &format!("abstention, by task (AP {ap})"),
            1,
            false,
            steps(curve),
        );
        if let Some(no_skill) = found.no_skill {
            chart.guide("no skill, by task", 1, [(0.0, no_skill), (1.0, no_skill)]);
        }
    }
    if let Some((found, curve)) = score {
        let ap = decimal(found.average_precision);
        chart.line(
            &format!("validation score, by patch (AP {ap})"),
            2,
            false,
            steps(curve),
        );
        if let Some(no_skill) = found.no_skill {
            chart.guide("no skill, by patch", 2, [(0.0, no_skill), (1.0, no_skill)]);
        }
    }
    Ok(chart)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn trade_off(set: &PolicyAnalysis) -> Result<Chart, &'static str> {
    let points: Vec<Numbered> = set
        .policies
        .iter()
        .filter_map(|row| {
            Some(Numbered {
                x: row.shown_share?,
                y: row.precision?,
                name: row.name.clone(),
            })
        })
        .collect();
    if points.is_empty() {
        return Err("No policy shows a patch, so there is nothing to trade.");
    }
    let mut chart = Chart::new(
        Axis::share("share of patches shown", 1.0),
        Axis::share("precision", 1.0),
    );
    if let Some((found, curve)) = set
        .score
        .as_ref()
        .and_then(|found| Some((found, found.curve.as_ref()?)))
    {
        // The curve's shares are of the patches with a score, the points' of all.
        let scale = found.patches as f64 / set.patches.max(1) as f64;
        let sweep = curve.shown.iter().zip(&curve.precision);
        chart.guide(
            "any cut-off of the validation score",
            0,
            sweep.map(|(shown, precision)| (shown * scale, *precision)),
        );
    }
    chart.numbered(&points);
    Ok(chart)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn funnel(set: &PolicyAnalysis) -> Result<Chart, &'static str> {
    let most = set.funnel.iter().map(|step| step.patches).max();
    let most = most.filter(|most| *most > 0).ok_or("There is no patch.")?;
    let mut chart = Chart::rows(set.funnel.len(), Axis::count("patches", most));
    for (at, step) in set.funnel.iter().rev().enumerate() {
        let y = at as f64;
        let said = format!(
            "{}: {} ({} right, {}, success@1 {})",
            step.name,
            step.patches,
            step.resolved,
            counted(step.bugs, "task"),
            percent(step.success_at_1),
        );
        chart.text(0.0, y + 0.76, "start", &said);
        chart.bar((0.0, step.patches as f64), (y + 0.1, y + 0.5), 1, 0.35);
        chart.bar((0.0, step.resolved as f64), (y + 0.1, y + 0.5), 3, 1.0);
    }
    chart.swatch("patches", 1, 0.35);
    chart.swatch("right ones among them", 3, 1.0);
    Ok(chart)
}

/// Reliability and risk of scores, before and after calibration; nothing where there are no scores.
fn calibrations(page: &mut Html, of: &Calibrations<'_>) {
    if of.is_empty() {
        return;
    }
    let chart = reliability(of);
    page.figure(
        "Reliability",
        "The share of right ones among scores of a bin, by their mean. On the diagonal scores mean what they say; the \
         larger a point, the more scores.",
        chart.as_ref().map_err(|why| *why),
        &calibration_tables(of),
    );
    let chart = risk(of);
    page.figure(
        "Risk against coverage",
        "The share of wrong ones among what is shown, the more is shown, from the highest score on. The thin \
         line is the risk of showing everything.",
        chart.as_ref().map_err(|why| *why),
        &[],
    );
}

/// The scores as they are and after calibration, each with name, colour, and whether it is dashed.
fn before_and_after<'a, T>(
    of: &Calibrations<'a>,
    before: impl Fn(&'a crate::metrics::analysis::CalibrationAnalysis) -> Option<&'a T>,
    after: impl Fn(&'a crate::metrics::analysis::CalibratedScores) -> Option<&'a T>,
) -> Vec<(String, usize, bool, &'a T)> {
    let mut found = Vec::new();
    for (at, (name, of)) in of.iter().enumerate() {
        found.extend(before(of).map(|part| ((*name).to_owned(), at + 1, false, part)));
        let calibrated = of.calibrated.as_ref();
        found.extend(calibrated.and_then(|of| {
            let name = format!("{name}, {}", method_name(of.method));
            Some((name, at + 1, true, after(of)?))
        }));
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn reliability(of: &Calibrations<'_>) -> Result<Chart, &'static str> {
    let parts: Vec<(String, usize, bool, &Reliability)> = before_and_after(
        of,
        |found| found.reliability.as_ref(),
        |found| found.reliability.as_ref(),
    );
    if parts.is_empty() {
        return Err("There are scores above 1, which are no probabilities.");
    }
    let mut chart = Chart::new(Axis::share("mean score", 1.0), Axis::share("right", 1.0));
    chart.diagonal();
    for (name, colour, dashed, part) in parts {
        let most = part.bins.iter().map(|bin| bin.count).max().unwrap_or(1);
        let points: Vec<(f64, f64, f64)> = part
            .bins
            .iter()
            .filter_map(|bin| {
                // By the root: the area shows the count.
                let size = (bin.count as f64 / most.max(1) as f64).sqrt();
                Some((bin.mean_score?, bin.share_right?, size))
            })
            .collect();
        let error = decimal(Some(part.expected_error));
        chart.dots(&format!("{name} (ECE {error})"), colour, dashed, &points);
    }
    Ok(chart)
}

fn risk(of: &Calibrations<'_>) -> Result<Chart, &'static str> {
    let parts: Vec<(String, usize, bool, &RiskCoverage)> = before_and_after(
        of,
        |found| found.risk_coverage.as_ref(),
        |found| found.risk_coverage.as_ref(),
    );
    let most = parts.iter().flat_map(|part| part.3.risk.iter().copied());
    let most = most.fold(0.0, f64::max);
    if parts.is_empty() {
        return Err("There is no score.");
    }
    let mut chart = Chart::new(
        Axis::share("coverage", 1.0),
        Axis::share("risk: share of wrong ones", most),
    );
    for (name, colour, dashed, part) in parts {
        let points = part.coverage.iter().copied().zip(part.risk.iter().copied());
        let area = decimal(Some(part.area));
        chart.styled_line(&format!("{name} (AURC {area})"), colour, dashed, points);
        if !dashed {
            chart.guide("", colour, [(0.0, part.no_skill), (1.0, part.no_skill)]);
        }
    }
    Ok(chart)
}

/// Paper 004: quality, confidence, pass rates, order of agents.
pub(super) fn critic(page: &mut Html, critic: &CriticAnalysis) {
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
