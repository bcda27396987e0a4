//! Costs, and quality against cost over cascades.

use super::chart::{Axis, Chart, Numbered};
use super::html::Html;
use crate::metrics::analysis::{Analysis, CascadeCurve, CascadePoint};

/// Points that have a number of their own; more hide each other.
const NUMBERED: usize = 8;

/// The section on costs; nothing where no line tells of them.
pub(super) fn costs(page: &mut Html, analysis: &Analysis) {
    let tables = analysis.cost_tables();
    if tables.is_empty() && analysis.cascades.is_empty() {
        return;
    }
    page.open_section("Costs", false);
    if !tables.is_empty() {
        let said =
            "What was paid, and answers that were kept from before, for one patch on average.";
        page.figure("Costs beside quality", said, Err(""), &tables);
    }
    for curve in &analysis.cascades {
        let said = "The first judge decides alone where its number is outside of the band of doubt, else the second one \
                    does. Each point is a band; the line joins those that are the most precise for their cost.";
        let chart = drawn(curve);
        let chart = chart.as_ref().map_err(|why| *why);
        page.figure(&curve.title(), said, chart, &[curve.table()]);
    }
    page.close_section(false);
}

fn drawn(curve: &CascadeCurve) -> Result<Chart, &'static str> {
    let mut points: Vec<(f64, f64, &CascadePoint)> = curve
        .points
        .iter()
        .filter_map(|point| Some((curve.price(point), point.precision?, point)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let most = points.last().ok_or("No cascade shows a patch.")?.0;
    let unit = match curve.prices() {
        (true, _) => "money each",
        (_, true) => "tokens each",
        _ => "share of patches that the second judge is asked about",
    };
    let mut chart = Chart::new(amounts(unit, most), Axis::share("precision", 1.0));
    let mut best: Vec<(f64, f64, &CascadePoint)> = Vec::new();
    for point in &points {
        if best.last().is_none_or(|last| point.1 > last.1) {
            best.push(*point);
        }
    }
    // All along the line, rather than where it begins.
    let apart = best.len().div_ceil(NUMBERED).max(1);
    let mut named: Vec<(f64, f64, &CascadePoint)> =
        best.iter().rev().step_by(apart).copied().collect();
    named.retain(|(_, _, point)| point.alone.is_none());
    named.extend(points.iter().filter(|(_, _, point)| point.alone.is_some()));
    named.sort_by(|a, b| a.0.total_cmp(&b.0));
    let named: Vec<Numbered> = named
        .into_iter()
        .map(|(x, y, point)| Numbered {
            x,
            y,
            name: point.name(),
        })
        .collect();
    chart.guide(
        "the most precise for their cost",
        0,
        best.iter().map(|(x, y, _)| (*x, *y)),
    );
    let all: Vec<(f64, f64)> = points.iter().map(|(x, y, _)| (*x, *y)).collect();
    chart.scatter("bands of doubt", 1, &all);
    chart.numbered(&named);
    Ok(chart)
}

/// Amounts from 0 to a round number at or above the most.
fn amounts(label: &str, most: f64) -> Axis {
    let power = 10_f64.powf(most.max(f64::MIN_POSITIVE).log10().floor());
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0].map(|step| step * power);
    let to = steps.into_iter().find(|to| *to >= most).unwrap_or(most);
    let ticks = (0..=4).map(|at| {
        let value = to * f64::from(at) / 4.0;
        // A product of steps has dust in its last digits.
        let value = (value / power * 1e6).round() / 1e6 * power;
        let text = format!("{value:.12}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        (value, text.to_owned())
    });
    Axis {
        from: 0.0,
        to,
        ticks: ticks.collect(),
        label: label.to_owned(),
    }
}
