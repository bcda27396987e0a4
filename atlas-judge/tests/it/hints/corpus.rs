//! Real pull requests: what their tests need, as a reader listed it before any hint was looked at, and
//! what the rules find. `needed.json` has the names; the rows stand beside the project, written by
//! `rows_of_commits` of the examples.

#![expect(
    clippy::print_stdout,
    reason = "what was skipped and what was measured is to be seen"
)]

use super::{HintSubject, find_hints};
use atlas_core::{Decision, Patch};
use atlas_judge::hints::leak_verdict;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Deserialize)]
struct Row {
    instance_id: String,
    patch: String,
    test_patch: String,
    problem_statement: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

impl Row {
    fn subject(&self, has_files: bool) -> HintSubject {
        let files = self.files.iter().filter(|_| has_files);
        HintSubject {
            issue: self.problem_statement.clone(),
            gold_patch: Patch::new(self.patch.clone()),
            test_patch: Patch::new(self.test_patch.clone()),
            base: files
                .map(|(path, text)| (path.clone(), text.clone().into_bytes()))
                .collect(),
            ..HintSubject::default()
        }
    }
}

/// The rows, if they are here.
fn rows() -> Option<Vec<Row>> {
    let given = std::env::var_os("ATLAS_HINT_ROWS").map(PathBuf::from);
    let path = given.unwrap_or_else(|| {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/hints/rows.jsonl")
    });
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no rows at {}", path.display());
        return None;
    };
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(rows.collect())
}

#[test]
fn no_hint_of_real_pull_requests_leaks() {
    let Some(rows) = rows() else { return };
    let (mut hints, mut lines, mut leaks) = (0, 0, Vec::new());
    for row in &rows {
        for has_files in [true, false] {
            let subject = row.subject(has_files);
            let report = find_hints(&subject).unwrap();
            let verdict = leak_verdict(&subject, &report.hint).unwrap();
            if report.is_hint_needed {
                println!("# files: {has_files}");
                hints += usize::from(has_files);
                lines += if has_files { report.needs.len() } else { 0 };
                println!("{}\n{}", row.instance_id, report.hint);
                if verdict.decision != Decision::Accept {
                    leaks.push((&row.instance_id, has_files, verdict.findings));
                }
            }
            assert!(
                report.hint.lines().count() == report.needs.len(),
                "{}: a line is not one line",
                row.instance_id
            );
        }
    }
    println!("{} rows, {hints} hints, {lines} lines", rows.len());
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[test]
fn names_that_a_reader_listed_are_found() {
    let Some(rows) = rows() else { return };
    let listed: BTreeMap<String, BTreeSet<String>> =
        serde_json::from_str(include_str!("needed.json")).unwrap();
    let (mut needed, mut missed, mut more, mut read) = (0, Vec::new(), Vec::new(), 0);
    for row in &rows {
        let Some(names) = listed.get(&row.instance_id) else {
            continue;
        };
        read += 1;
        let report = find_hints(&row.subject(true)).unwrap();
        let mut found: BTreeSet<String> = report.needs.into_iter().map(|need| need.name).collect();
        found.extend(report.named_by_issue);
        needed += names.len();
        let place = |name: &String| format!("{}: {name}", row.instance_id);
        missed.extend(names.difference(&found).map(place));
        more.extend(found.difference(names).map(place));
    }
    println!("{read} read, {needed} needed\nmissed: {missed:#?}\nsuperfluous: {more:#?}");
    assert_eq!(read, listed.len(), "rows are missing");
    assert!(missed.len() * 20 <= needed, "missed: {missed:#?}");
    assert!(more.len() * 10 <= needed, "superfluous: {more:#?}");
}
