//! Figures of policies.

use super::calibration::calibrations;
use super::{DIFFERENCES, PAIRED};
use crate::metrics::analysis::{
    AbstentionAnalysis, Analysis, PolicyAnalysis, PolicyRow, ScoreAnalysis, Table, ValueSweep,
    counted, decimal, differences, percent,
};
use crate::metrics::{AtK, PrecisionRecallCurve};
use crate::report::chart::{Axis, Chart, Numbered};
use crate::report::html::Html;
use std::collections::BTreeMap;

/// Paper 002: curves, success by k, trade-off, funnel.
pub(in crate::report) fn policies(page: &mut Html, set: &PolicyAnalysis) {
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
    if let Some(table) = set.sizes() {
        page.figure(
            "Size of patches",
            "Lines added and removed by patch, among patches that got as far as validation: the bar holds the middle \
             half, the mark is the median.",
            Ok(&sizes(set)),
            &[table],
        );
    }
    if let Some(found) = &set.abstention {
        page.figure(
            "Probability and success rate",
            "Tasks by the probability that abstention gave them, those that most of their runs solve apart, and beside it \
             tasks by the share of their runs that are right. The distance of the two is Wasserstein-1 above.",
            Ok(&histogram(found)),
            &[found.histogram_table()],
        );
    }
    let values = set.values();
    if !values.is_empty() {
        let (said, tables): (Vec<String>, Vec<Table>) = values.into_iter().unzip();
        let chart = value(set);
        page.figure(
            "Net value",
            &said.join(" "),
            chart.as_ref().map_err(|why| *why),
            &tables,
        );
    }
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
pub(super) fn steps(curve: &PrecisionRecallCurve) -> Vec<(f64, f64)> {
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

/// A judge's name, its average precision, and its curve.
type JudgeCurve<'a> = (&'a str, Option<f64>, &'a PrecisionRecallCurve);

/// The curves of judges in one chart, as paper 002 shows its two representations of a report (Figure 3): those of
/// abstention, then those of the validation score. Of fewer than two judges there is nothing to compare.
pub(in crate::report) fn curves_beside(page: &mut Html, analysis: &Analysis) {
    let (mut abstention, mut scores) = (Vec::new(), Vec::new());
    for (judge, set) in analysis.sets_of_judges() {
        let found = set.abstention.as_ref();
        let curve =
            found.and_then(|found| Some((judge, found.average_precision, found.curve.as_ref()?)));
        abstention.extend(curve);
        let found = set.score.as_ref();
        let curve =
            found.and_then(|found| Some((judge, found.average_precision, found.curve.as_ref()?)));
        scores.extend(curve);
    }
    for (title, said, curves) in [
        (
            "Precision against recall of abstention, judge by judge",
            "Whether a task is fixable, by the threshold on its probability.",
            abstention,
        ),
        (
            "Precision against recall of the validation score, judge by judge",
            "Whether a patch resolves its task, by the threshold on its score.",
            scores,
        ),
    ] {
        let curves: Vec<JudgeCurve<'_>> = curves;
        if curves.len() < 2 {
            continue;
        }
        let mut chart = Chart::new(Axis::share("recall", 1.0), Axis::share("precision", 1.0));
        for (at, (judge, average, curve)) in curves.into_iter().enumerate() {
            let name = format!("{judge} (AP {})", decimal(average));
            chart.line(&name, at + 1, false, steps(curve));
        }
        page.figure(title, said, Ok(&chart), &[]);
    }
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "counts of lines, 0 or more and far below 2^53"
)]
fn sizes(set: &PolicyAnalysis) -> Chart {
    // The table has what abstention and the truth make of each of them.
    let groups: Vec<_> = set
        .sized()
        .into_iter()
        .filter(|(name, _)| !name.contains(", ") && !name.starts_with("abstention"))
        .collect();
    let spreads = || groups.iter().filter_map(|(_, sizes)| sizes.line_operations);
    let most = spreads()
        .map(|lines| lines.upper_quartile)
        .fold(1.0, f64::max);
    let axis = Axis::count("lines added and removed", most.ceil() as u64);
    let mark = axis.to * 0.004;
    let mut chart = Chart::rows(groups.len(), axis);
    for (at, (name, sizes)) in groups.iter().rev().enumerate() {
        let y = at as f64;
        let said = format!("{name} ({})", counted(sizes.patches, "patch"));
        chart.text(0.0, y + 0.76, "start", &said);
        let Some(lines) = sizes.line_operations else {
            continue;
        };
        let colour = match name.rsplit(' ').next() {
            Some("right") => 3,
            Some("wrong") => 2,
            _ => 1,
        };
        let middle = (lines.lower_quartile, lines.upper_quartile);
        chart.bar(middle, (y + 0.1, y + 0.5), colour, 0.35);
        let median = (lines.median - mark, lines.median + mark);
        chart.bar(median, (y + 0.1, y + 0.5), colour, 1.0);
    }
    chart
}

/// The two histograms of paper 002's Figure 2, side by side in each bin.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tasks are far below 2^53"
)]
fn histogram(found: &AbstentionAnalysis) -> Chart {
    let highest = found
        .histogram
        .iter()
        .map(|bin| (bin.solved + bin.unsolved).max(bin.success_rates));
    let most = highest.max().unwrap_or(0).max(1);
    let mut chart = Chart::new(
        Axis::share("probability; share of right runs", 1.0),
        Axis::count("tasks", most),
    );
    for bin in &found.histogram {
        let at = |share: f64| bin.from + (bin.to - bin.from) * share;
        let (left, right) = ((at(0.06), at(0.49)), (at(0.51), at(0.94)));
        let (solved, all) = (bin.solved as f64, (bin.solved + bin.unsolved) as f64);
        chart.bar(left, (0.0, solved), 3, 1.0);
        chart.bar(left, (solved, all), 2, 1.0);
        chart.bar(right, (0.0, bin.success_rates as f64), 0, 0.4);
    }
    chart.swatch("by probability, most runs solve them", 3, 1.0);
    chart.swatch("by probability, most runs do not", 2, 1.0);
    chart.swatch("by success rate", 0, 0.4);
    chart
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn value(set: &PolicyAnalysis) -> Result<Chart, &'static str> {
    let found = set.value.as_ref();
    let line = |sweep: &ValueSweep| -> Vec<(f64, f64)> {
        let all = sweep.items.max(1) as f64;
        let points = sweep.points.iter().map(|swept| &swept.point);
        let points = points.filter_map(|point| Some((point.taken as f64 / all, point.gain?)));
        points.collect()
    };
    let attempting = found.and_then(|found| found.attempt.as_ref()).map(line);
    let showing = found.and_then(|found| found.show.as_ref()).map(line);
    let points = attempting.iter().chain(&showing).flatten();
    let (low, high) = points.fold((0.0_f64, 0.0_f64), |(low, high), (_, gain)| {
        (low.min(*gain), high.max(*gain))
    });
    if high <= low {
        return Err("No threshold wins or loses anything.");
    }
    let y = Axis::between("gain over leaving all, by item", low, high);
    let mut chart = Chart::new(Axis::share("share attempted or shown", 1.0), y);
    chart.guide("", 0, [(0.0, 0.0), (1.0, 0.0)]);
    for (name, colour, line) in [("attempting", 1, attempting), ("showing", 2, showing)] {
        if let Some(line) = line {
            chart.styled_line(name, colour, false, line);
        }
    }
    Ok(chart)
}
