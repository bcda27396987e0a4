//! Tests that exist only through the gold patch: another correct solution cannot make them pass.

use super::{ClassifyInput, Statuses, failures};
use atlas_core::{RunOutcome, TestOrigin, TestOrigins, stem};
use std::collections::{BTreeMap, BTreeSet};

/// Of these tests, those that nothing but the gold patch defines, each with what shows it.
///
/// What ran in Base or in Before exists without the gold patch. Of the rest the runs decide where they
/// can: Before holds every test of the test patch, so a test is not one of them if its function was
/// expanded there and gave other parameters, if its parent passed there without it, or if its module ran
/// there without a failure that could have kept it from running. Elsewhere the sources decide: the test
/// belongs to the side that defines it.
pub(super) fn find(
    input: &ClassifyInput<'_>,
    (base, before): (&Statuses<'_>, &Statuses<'_>),
    candidates: &BTreeSet<&str>,
    unseen: &failures::Unseen<'_>,
    is_lost: bool,
) -> BTreeMap<String, String> {
    let new: Vec<&str> = candidates
        .iter()
        .copied()
        .filter(|id| !base.contains_key(id) && !before.contains_key(id) && !unseen.holds(id))
        .collect();
    if new.is_empty() {
        return BTreeMap::new();
    }
    let runs = Runs::of(input, (base, before), is_lost);
    let origins = input.gold_patch.zip(input.test_patch).map(|(gold, tests)| {
        let origins = TestOrigins::new(tests, gold);
        match input.before_files {
            Some(files) => origins.with_files(&files.write),
            None => origins,
        }
    });
    let found = new.into_iter().filter_map(|id| {
        let why = runs.show(id).or_else(|| {
            let origins = origins.as_ref()?;
            match origins.of(id) {
                TestOrigin::Gold(line) => Some(format!(
                    "only the gold patch defines it: {}: {}",
                    line.source, line.text
                )),
                _ => runs.made_of_gold(id, origins),
            }
        })?;
        Some((id.to_owned(), why))
    });
    found.collect()
}

/// What the runs of Base and Before say of tests that are in neither.
struct Runs<'a> {
    /// Before ended as its runner ends.
    is_whole: bool,
    /// Modules of Before are lost, or its process died.
    is_lost: bool,
    base: &'a Statuses<'a>,
    before: &'a Statuses<'a>,
    before_stems: BTreeSet<&'a str>,
    /// Module -> whether every test of it passes or is skipped in Before.
    clean: BTreeMap<&'a str, bool>,
    /// The module of each test in After.
    modules: BTreeMap<&'a str, &'a str>,
}

impl<'a> Runs<'a> {
    fn of(
        input: &ClassifyInput<'a>,
        (base, before): (&'a Statuses<'a>, &'a Statuses<'a>),
        is_lost: bool,
    ) -> Self {
        let stems = |ids: &'a Statuses<'a>| -> BTreeSet<&'a str> {
            let stems = ids.keys().map(|id| (stem(id), *id));
            stems
                .filter(|(stem, id)| stem != id)
                .map(|(stem, _)| stem)
                .collect()
        };
        let mut clean = BTreeMap::new();
        for test in &input.before.results {
            let is_clean = clean.entry(test.module).or_insert(true);
            *is_clean &= !test.status.is_failing();
        }
        for lost in &input.before.modules_not_loaded {
            clean.insert(lost.module.as_str(), false);
        }
        Self {
            is_whole: matches!(
                input.before.outcome,
                RunOutcome::Completed | RunOutcome::BuildFailed
            ),
            is_lost,
            base,
            before,
            before_stems: stems(before),
            clean,
            modules: input
                .after
                .results
                .iter()
                .map(|test| (test.name, test.module))
                .collect(),
        }
    }

    /// What in Before shows that the test patch does not bring this test.
    fn show(&self, id: &str) -> Option<String> {
        if !self.is_whole {
            return None;
        }
        let stem = stem(id);
        if stem != id && self.before_stems.contains(stem) {
            return Some(format!("Before runs `{stem}` with other parameters only"));
        }
        let parent = id.rsplit_once('/').map(|(parent, _)| parent);
        if let Some(parent) =
            parent.filter(|id| self.before.get(id).is_some_and(|s| s.is_passing()))
        {
            return Some(format!(
                "`{parent}` passes in Before and has no such test there"
            ));
        }
        let module = self.modules.get(id).copied()?;
        // Without a module the test may be one of those that were lost.
        let is_known = !(self.is_lost && module.is_empty());
        (is_known && self.clean.get(module) == Some(&true)).then(|| {
            let which = if module.is_empty() {
                "the suite"
            } else {
                module
            };
            format!("{which} runs in Before without a failure and has no such test there")
        })
    }

    /// A test of Base or Before but for words that only the gold patch has: made from its data.
    fn made_of_gold(&self, id: &str, origins: &TestOrigins) -> Option<String> {
        /// A shorter rest says too little of where a name comes from.
        const LEAST: usize = 5;
        let words = origins.golds_words(id)?;
        let (front, back) = (&id[..words.start], &id[words.end..]);
        if front.len() + back.len() < LEAST {
            return None;
        }
        let sibling = [self.base, self.before].into_iter().find_map(|ids| {
            let alike = ids.range(front..).map(|(id, _)| *id);
            let mut alike = alike.take_while(|id| id.starts_with(front));
            alike.find(|id| id.len() > front.len() + back.len() && id.ends_with(back))
        })?;
        let named = &id[words];
        Some(format!(
            "it is `{sibling}` with `{named}`, which only the gold patch names"
        ))
    }
}
