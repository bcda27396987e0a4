//! Every kind of declaration in every language: gold brings it, the tests use it, the hint tells it.

mod managed;
mod native;
mod scripts;
mod web;

use super::{HintSubject, diff, find_hints};
use atlas_core::Patch;

/// A kind of declaration: what it is, gold's file before and after, what a test says, and the hint's lines.
type Kind = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// Each kind with the files of the base, and from the patches alone.
fn check(gold_path: &str, test_path: &str, test_head: &str, kinds: &[Kind]) {
    let mut wrong = Vec::new();
    for (what, before, after, test, expected) in kinds {
        let tests = format!("{test_head}{test}\n");
        let whole = HintSubject {
            issue: "It is wrong.".to_owned(),
            gold_patch: Patch::new(diff(gold_path, before, after)),
            test_patch: Patch::new(diff(test_path, test_head, &tests)),
            base: [(gold_path, *before), (test_path, test_head)]
                .into_iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
                .collect(),
            ..HintSubject::default()
        };
        let patches = HintSubject {
            base: std::collections::BTreeMap::new(),
            ..whole.clone()
        };
        for (how, subject) in [("whole files", whole), ("patches alone", patches)] {
            let report = find_hints(&subject).unwrap();
            let lines: Vec<&str> = report.hint.lines().collect();
            let wanted: Vec<String> = expected
                .iter()
                .map(|line| format!("- `{gold_path}`: {line}"))
                .collect();
            if lines != wanted {
                wrong.push(format!(
                    "{gold_path}, {what}, {how}:\n  got    {lines:?}\n  wanted {wanted:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
