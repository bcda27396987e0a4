//! The drawings of reports.

use super::cells::said;
use super::view::resolved;
use atlas_report::{Bar, BarChart};
use serde_json::Value;

/// Predictions by what became of them: the resolved ones, then the others by cause.
pub(super) fn outcomes(rows: &Value, resolved_at: &str, cause_at: &str) -> BarChart {
    let (resolved, all) = resolved(rows, resolved_at);
    let mut chart = tally(
        "Predictions by what became of them",
        "predictions",
        rows,
        cause_at,
    );
    for (cause, _) in &mut chart.groups {
        cause.insert_str(0, "unresolved: ");
    }
    if all > 0 {
        chart
            .groups
            .insert(0, ("resolved".to_owned(), vec![bar(&resolved.into())]));
    }
    chart
}

/// How many rows have which word.
pub(super) fn tally(title: &str, unit: &str, rows: &Value, pointer: &str) -> BarChart {
    let mut found: Vec<(String, u64)> = Vec::new();
    for row in rows.as_array().into_iter().flatten() {
        let Some(word) = row.pointer(pointer).and_then(Value::as_str) else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| known == word) {
            Some((_, count)) => *count += 1,
            None => found.push((word.to_owned(), 1)),
        }
    }
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    BarChart {
        title: title.to_owned(),
        series: vec![unit.to_owned()],
        groups: found
            .into_iter()
            .map(|(word, count)| (word, vec![bar(&count.into())]))
            .collect(),
        unit: "",
    }
}

/// The numbers of an object, by name; what is no number is left out.
pub(super) fn counts(title: &str, series: &str, numbers: &Value, unit: &'static str) -> BarChart {
    let fields = numbers.as_object().into_iter().flatten();
    BarChart {
        title: title.to_owned(),
        series: vec![series.to_owned()],
        groups: fields
            .filter_map(|(name, value)| Some((name.clone(), vec![Some(bar(value)?)])))
            .collect(),
        unit,
    }
}

/// Several numbers of each row.
pub(super) fn groups(title: &str, rows: &Value, name: &str, numbers: &[(&str, &str)]) -> BarChart {
    let rows = rows.as_array().into_iter().flatten();
    BarChart {
        title: title.to_owned(),
        series: numbers.iter().map(|(name, _)| (*name).to_owned()).collect(),
        groups: rows
            .map(|row| {
                let bars = numbers.iter().map(|(_, at)| bar(row.pointer(at)?));
                (
                    row.pointer(name).map(said).unwrap_or_default(),
                    bars.collect(),
                )
            })
            .collect(),
        unit: "",
    }
}

fn bar(value: &Value) -> Option<Bar> {
    value.as_f64().map(Bar::plain)
}

/// Pass@k of each model, for four values of k at most; of one alone with its interval.
pub(super) fn ranks(board: &Value) -> Option<BarChart> {
    let rows = board.pointer("/leaderboard/rows")?.as_array()?;
    let models = board["pass_at_k"].as_object();
    let mut ks: Vec<u64> = models
        .into_iter()
        .flat_map(serde_json::Map::values)
        .filter_map(|of| of["ks"].as_array())
        .flatten()
        .filter_map(Value::as_u64)
        .collect();
    ks.sort_unstable();
    ks.dedup();
    ks.truncate(4);
    let group = |row: &Value| {
        let model = row["model"].as_str().unwrap_or_default();
        let bars = if ks.len() > 1 {
            let of = &board["pass_at_k"][model]["overall"]["pass_at"];
            ks.iter()
                .map(|k| Some(Bar::plain(of[k.to_string()].as_f64()? * 100.0)))
                .collect()
        } else {
            let percent = |at: &str| Some(row.pointer(at)?.as_f64()? * 100.0);
            let interval = percent("/interval/low").zip(percent("/interval/high"));
            vec![percent("/overall").map(|value| Bar { value, interval })]
        };
        (model.to_owned(), bars)
    };
    Some(BarChart {
        title: "Pass@k by model, in percent".to_owned(),
        series: if ks.len() > 1 {
            ks.iter().map(|k| format!("pass@{k}")).collect()
        } else {
            vec!["pass@k".to_owned()]
        },
        groups: rows.iter().map(group).collect(),
        unit: " %",
    })
}
