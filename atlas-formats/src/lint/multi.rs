//! Multi-SWE-bench: statuses and sets.

use super::{LintCode, LintedRow, shown};
use crate::convert::names;
use serde_json::Value;
use std::collections::BTreeMap;

const STATUSES: [&str; 4] = ["PASS", "FAIL", "SKIP", "NONE"];

/// Each set and what a test of it was after the test patch.
const SETS: [(&str, &str); 4] = [
    ("p2p_tests", "PASS"),
    ("f2p_tests", "FAIL"),
    ("s2p_tests", "SKIP"),
    ("n2p_tests", "NONE"),
];

pub(super) fn look(looked: &mut LintedRow<'_>) {
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    for (column, expected) in SETS {
        let mut wrong_status = None;
        let mut wrong_class = None;
        let mut twice = None;
        for name in names(looked.row.get(column)) {
            for run in ["run", "test", "fix"] {
                let status = status(looked.row.get(column), &name, run);
                let known = status
                    .as_deref()
                    .is_some_and(|status| STATUSES.contains(&status));
                if !known {
                    let status = status.unwrap_or_else(|| "nothing".to_owned());
                    wrong_status.get_or_insert(format!("`{}`: {run} is `{status}`", shown(&name)));
                }
            }
            let of = |run| status(looked.row.get(column), &name, run);
            let (test, fix) = (of("test"), of("fix"));
            let fits = test.as_deref() == Some(expected) && fix.as_deref() == Some("PASS");
            if !fits && wrong_status.is_none() {
                wrong_class.get_or_insert(format!(
                    "`{}` goes from {} to {}",
                    shown(&name),
                    test.unwrap_or_default(),
                    fix.unwrap_or_default()
                ));
            }
            if let Some(other) = first.get(&name) {
                twice.get_or_insert(format!("`{}` is in `{other}` too", shown(&name)));
            } else {
                first.insert(name, column);
            }
        }
        if let Some(message) = wrong_status {
            let way_out = "write PASS, FAIL, SKIP or NONE";
            looked.add(LintCode::UnknownStatus, column, message, way_out);
        }
        if let Some(message) = wrong_class {
            let way_out = "make the sets again from the three results";
            looked.add(LintCode::StatusClass, column, message, way_out);
        }
        if let Some(message) = twice {
            let way_out = "make the sets again from the three results";
            looked.add(LintCode::SetsNotDisjoint, column, message, way_out);
        }
    }
    for column in ["run_result", "test_patch_result", "fix_patch_result"] {
        result(looked, column);
    }
}

fn status(set: Option<&Value>, name: &str, run: &str) -> Option<String> {
    let set = set?;
    // One list a column, as Parquet holds it.
    let by_list = |names: &Value| {
        let at = names.as_array()?.iter().position(|known| known == name)?;
        set.get(run)?.get(at)?.as_str().map(str::to_owned)
    };
    match set.get("name").filter(|names| names.is_array()) {
        Some(names) => by_list(names),
        None => set.get(name)?.get(run)?.as_str().map(str::to_owned),
    }
}

fn result(looked: &mut LintedRow<'_>, column: &str) {
    let Some(result) = looked.row.get(column).cloned() else {
        return;
    };
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    for kind in ["passed", "failed", "skipped"] {
        let tests: Vec<String> = result
            .get(format!("{kind}_tests"))
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect();
        let count = result.get(format!("{kind}_count")).and_then(Value::as_u64);
        if count != u64::try_from(tests.len()).ok() {
            let count = count.map_or_else(|| "missing".to_owned(), |count| count.to_string());
            looked.add(
                LintCode::WrongCount,
                column,
                format!(
                    "`{kind}_count` is {count}, the list has {} tests",
                    tests.len()
                ),
                "count again: the harness refuses the row",
            );
        }
        let mut shared = None;
        for name in tests {
            match first.get(&name) {
                Some(other) if *other != kind => {
                    shared.get_or_insert(format!("`{}` is {kind} and {other}", shown(&name)));
                }
                _ => {
                    first.insert(name, kind);
                }
            }
        }
        if let Some(message) = shared {
            let way_out = "parse the log again; the worst status counts";
            looked.add(LintCode::SetsNotDisjoint, column, message, way_out);
        }
    }
}
