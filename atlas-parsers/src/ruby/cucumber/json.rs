//! `--format json` on stdout, of cucumber-ruby, cucumber-js and cucumber-jvm.

use crate::ruby::report;
use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};
use serde::Deserialize;

#[derive(Deserialize)]
struct Feature {
    #[serde(default)]
    uri: String,
    name: String,
    #[serde(default)]
    elements: Vec<Element>,
}

#[derive(Deserialize)]
struct Element {
    #[serde(default)]
    name: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    keyword: String,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    before: Vec<Step>,
    #[serde(default)]
    after: Vec<Step>,
    #[serde(default)]
    around: Vec<Step>,
}

/// A step or a hook.
#[derive(Deserialize)]
struct Step {
    #[serde(default)]
    result: Outcome,
    #[serde(default)]
    before: Vec<Step>,
    #[serde(default)]
    after: Vec<Step>,
}

#[derive(Default, Deserialize)]
struct Outcome {
    #[serde(default)]
    status: String,
}

/// Where a report may begin: a list of objects with such a key first.
pub(super) fn begins(text: &[u8]) -> Option<usize> {
    const KEYS: [&[u8]; 9] = [
        b"uri",
        b"id",
        b"keyword",
        b"name",
        b"description",
        b"line",
        b"elements",
        b"tags",
        b"comments",
    ];
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'[', &text[from..]).map(|at| from + at) {
        from = at + 1;
        let inner = text[from..].trim_ascii_start();
        let Some(inner) = inner.strip_prefix(b"{") else {
            continue;
        };
        let Some(inner) = inner.trim_ascii_start().strip_prefix(b"\"") else {
            continue;
        };
        let key = KEYS.iter().find(|key| inner.starts_with(key));
        if key.is_some_and(|key| inner.get(key.len()) == Some(&b'"')) {
            return Some(at);
        }
    }
    None
}

pub(super) fn parse(text: &[u8]) -> Option<ParsedLog> {
    let documents: Vec<Vec<Feature>> = report::documents(text, begins);
    // A list of other things with names has no elements.
    let features: Vec<&Feature> = documents
        .iter()
        .filter(|list| list.iter().any(|feature| !feature.elements.is_empty()))
        .flatten()
        .collect();
    if features.is_empty() {
        return None;
    }
    let mut log = ParsedLogBuilder::default();
    for feature in features {
        // A background's steps come in front of the scenario they were run for.
        let mut background = Worst::default();
        for element in &feature.elements {
            let is_background = element.kind == "background"
                || element.kind.is_empty() && element.keyword.starts_with("Background");
            let mut worst = Worst::default();
            worst.element(element);
            if is_background {
                background = worst;
                continue;
            }
            worst.merge(std::mem::take(&mut background));
            let name = format!("{} > {}", feature.name, element.name);
            log.record_in(&feature.uri, "::", &name, worst.status());
        }
    }
    let outcome = if log.recorded() > 0 {
        RunOutcome::Completed
    } else {
        RunOutcome::NothingRan
    };
    Some(log.finish(outcome))
}

/// What the steps of a scenario come to.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    failed: bool,
    open: bool,
    passed: bool,
    skipped: bool,
}

impl Worst {
    fn element(&mut self, element: &Element) {
        let hooks = element
            .before
            .iter()
            .chain(&element.around)
            .chain(&element.after);
        for step in hooks.chain(&element.steps) {
            self.step(&step.result);
            for hook in step.before.iter().chain(&step.after) {
                self.step(&hook.result);
            }
        }
    }

    fn step(&mut self, outcome: &Outcome) {
        match outcome.status.to_ascii_lowercase().as_str() {
            "passed" => self.passed = true,
            "failed" | "ambiguous" => self.failed = true,
            "undefined" | "pending" => self.open = true,
            "skipped" => self.skipped = true,
            _ => {}
        }
    }

    fn merge(&mut self, other: Self) {
        self.failed |= other.failed;
        self.open |= other.open;
        self.passed |= other.passed;
        self.skipped |= other.skipped;
    }

    fn status(self) -> TestStatus {
        if self.failed {
            TestStatus::Failed
        } else if self.open || self.skipped {
            TestStatus::Skipped
        } else {
            // Without any step nothing failed either; the runner counts it as passed.
            TestStatus::Passed
        }
    }
}
