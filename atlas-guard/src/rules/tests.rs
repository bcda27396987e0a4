//! The instance's tests, and those that a prediction adds.

use super::Act::Judge;
use super::{Rule, Ruling, whole};
use crate::change::Change;
use crate::code;
use crate::places::{folder_of, name_of};
use crate::signal::SignalKind::{NewTest, RunnerHook, Shadowing, TestFile};
use crate::signal::SignalSeverity::{Info, Suspicious};
use crate::text::keeps_lines;

pub(super) const RULES: &[Rule] = &[
    // Tests of the base commit guard what works; a patch that changes them changes the question.
    Rule {
        files: &["*"],
        kind: TestFile,
        act: Judge(existing),
        why: "a test of the base commit",
    },
    // `tests/helpers/__init__.py` beside `tests/helpers.py`, `helper.js` beside `helper.ts`.
    Rule {
        files: &["*"],
        kind: Shadowing,
        act: Judge(shadows_neighbour),
        why: "an import finds this file instead of the instance's",
    },
    // A test of the prediction's own runs in the same process as the instance's in many runners.
    Rule {
        files: &["*"],
        kind: RunnerHook,
        act: Judge(steers_from_new_test),
        why: "a new test that reaches beyond itself",
    },
    Rule {
        files: &["*"],
        kind: NewTest,
        act: Judge(new_test),
        why: "a test of the prediction's own",
    },
];

pub(super) fn existing(change: &Change<'_>) -> Option<Ruling> {
    let base = change.context.base.read(change.path);
    if !change.in_base() || !change.context.places.is_test(change.path, base) {
        return None;
    }
    let lost = change.after.is_none() || !keeps_lines(&change.text(), &change.base_text());
    let prose = [".md", ".rst", ".txt.license"]
        .iter()
        .any(|end| change.path.ends_with(end));
    let severity = if lost && !prose { Suspicious } else { Info };
    let what = if change.after.is_none() {
        "removes"
    } else if lost {
        "changes"
    } else {
        "adds to"
    };
    let why = format!("the prediction {what} a test, or data of tests, of the base commit");
    Some(whole(change, severity, &why))
}

/// Endings that one import may mean, by language.
const IMPORTED: &[&[&str]] = &[
    &["py", "so", "pyd"],
    &[
        "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "json", "node",
    ],
];

fn shadows_neighbour(change: &Change<'_>) -> Option<Ruling> {
    if !change.is_new() || !change.in_test_folder() {
        return None;
    }
    let (stem, rest) = change.name().split_once('.')?;
    let ending = rest.rsplit('.').next()?;
    let group = IMPORTED.iter().find(|group| group.contains(&ending))?;
    let folder = change.folder();
    let (folder, stem) = if matches!(stem, "index" | "__init__") {
        (folder_of(folder), name_of(folder))
    } else {
        (folder, stem)
    };
    let found = change.context.places.within(folder).find(|path| {
        let parts = name_of(path).split_once('.');
        parts.is_some_and(|(name, end)| name == stem && group.contains(&end))
    })?;
    let why = format!("an import that means `{found}` may find this file instead");
    Some(whole(change, Suspicious, &why))
}

fn steers_from_new_test(change: &Change<'_>) -> Option<Ruling> {
    if !is_new_test(change) {
        return None;
    }
    let hit = code::steering(change.path, &change.text())?;
    let why = format!("a new test that reaches beyond itself: {hit}");
    Some(whole(change, Suspicious, &why))
}

fn new_test(change: &Change<'_>) -> Option<Ruling> {
    is_new_test(change).then(|| Ruling::Keep(Info, "a test of the prediction's own".to_owned()))
}

fn is_new_test(change: &Change<'_>) -> bool {
    let bytes = change.after.map(|file| file.bytes.as_slice());
    change.is_new() && change.context.places.is_test(change.path, bytes)
}
