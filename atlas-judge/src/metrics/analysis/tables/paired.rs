//! Differences of policies and critics.

use super::Table;
use crate::metrics::analysis::{Change, PairedDifference};

/// What each second policy has more than the first, in points of percent; none without pairs.
pub(crate) fn differences(pairs: &[PairedDifference]) -> Option<Table> {
    let has_tests = pairs.iter().any(|pair| pair.tests > 0);
    let mut head = vec!["Difference, in points", "Tasks", "Patches"];
    head.extend(has_tests.then_some("Tests"));
    head.extend([
        "Precision",
        "95 %",
        "Recall",
        "95 %",
        "Accuracy",
        "95 %",
        "Success @1",
        "95 %",
    ]);
    let mut table = Table::new(&head);
    for pair in pairs {
        let mut cells = vec![
            format!("{} − {}", pair.b, pair.a),
            pair.bugs.to_string(),
            pair.patches.to_string(),
        ];
        let tests = || match pair.tests {
            0 => "–".to_owned(),
            tests => tests.to_string(),
        };
        cells.extend(has_tests.then(tests));
        for change in [
            pair.precision,
            pair.recall,
            pair.accuracy,
            pair.success_at_1,
        ] {
            cells.extend(change_cells(change));
        }
        table.rows.push(cells);
    }
    (!table.rows.is_empty()).then_some(table)
}

fn change_cells(change: Option<Change>) -> [String; 2] {
    let signed = |share: f64| match format!("{:+.1}", share * 100.0).as_str() {
        "+0.0" | "-0.0" => "0.0".to_owned(),
        text => text.replace('-', "−"),
    };
    let dash = || "–".to_owned();
    let interval = change.and_then(|change| change.interval);
    [
        change.map_or_else(dash, |change| signed(change.difference)),
        interval.map_or_else(dash, |found| {
            format!("{} to {}", signed(found.low), signed(found.high))
        }),
    ]
}
