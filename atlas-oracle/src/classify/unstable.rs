//! Ids that are not the same from run to run.

use atlas_core::TestStatus;
use regex::Regex;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

type Statuses<'a> = BTreeMap<&'a str, TestStatus>;

/// Parts of an id that change by themselves, each with what it is.
static SHAPES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let shape = |pattern: &str, what| (Regex::new(pattern).expect("a constant pattern"), what);
    vec![
        shape(r"\b\d{1,4}[-/]\d{1,2}[-/]\d{1,4}(T|\b)", "a date"),
        shape(r"\b\d{1,2}:\d{2}(:\d{2})?([.,]\d+)?", "a time of day"),
        shape(r"\b0x[0-9a-fA-F]{5,16}\b", "an address"),
        shape(
            r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
            "a unique id",
        ),
        shape(
            r"(/tmp|/var/folders|/private/var)/[^\s\]\)]+",
            "a temporary path",
        ),
        shape(r"\b1[5-9]\d{8}(\d{3})?(\.\d+)?\b", "a time stamp"),
    ]
});

/// Ids to set aside, each with the reason.
///
/// A shape alone is no reason: a constant time in a parameter is stable. Set aside is an id that
/// another state spells differently: the same but for such a part.
pub(super) fn find(
    base: &Statuses<'_>,
    before: &Statuses<'_>,
    after: &Statuses<'_>,
) -> BTreeMap<String, String> {
    let states = [base, before, after];
    let mut unstable = BTreeMap::new();
    let normal: Vec<BTreeMap<String, BTreeSet<&str>>> = states
        .iter()
        .map(|state| {
            let mut forms: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
            for &id in state.keys() {
                if let Some((form, _)) = normalise(id) {
                    forms.entry(form).or_default().insert(id);
                }
            }
            forms
        })
        .collect();
    for state in states {
        for &id in state.keys() {
            // What stands in Before and in After is compared there, whatever Base calls it.
            if before.contains_key(id) && after.contains_key(id) {
                continue;
            }
            let Some((form, what)) = normalise(id) else {
                continue;
            };
            let respelled = states.iter().zip(&normal).any(|(other, forms)| {
                !other.contains_key(id)
                    && forms
                        .get(&form)
                        .is_some_and(|ids| ids.iter().any(|o| !state.contains_key(*o)))
            });
            if respelled {
                unstable.insert(
                    id.to_owned(),
                    format!("holds {what} that differs between runs"),
                );
            }
        }
    }
    unstable
}

fn normalise(id: &str) -> Option<(String, &'static str)> {
    let mut form = Cow::Borrowed(id);
    let mut found = None;
    for (shape, what) in SHAPES.iter() {
        if shape.is_match(&form) {
            form = Cow::Owned(shape.replace_all(&form, "*").into_owned());
            found.get_or_insert(*what);
        }
    }
    found.map(|what| (form.into_owned(), what))
}
