//! The tests that a test patch adds or changes, and the ids that they go by.

use crate::variant::{BaseFiles, ChangedFunction, FileChange, file_changes};
use atlas_core::{Patch, PatchError};
use atlas_syntax::DefinitionKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A test that a candidate's author has not seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenTest {
    /// The file after the test patch.
    pub path: String,
    /// The test's name in its file, with the names around it: `TestParser.test_empty`.
    pub name: String,
    /// Its whole lines after the test patch.
    pub source: String,
    /// Whether the test patch adds it.
    pub added: bool,
    /// Whether the test patch changes its own lines; not so where only something around it changed.
    pub changed: bool,
    /// The ids of `FAIL_TO_PASS` and `PASS_TO_PASS` that it goes by, in their order; several for a
    /// test with parameters or parts.
    pub ids: Vec<String>,
}

impl UnseenTest {
    /// Its first id, or its file and name where no id is known.
    pub fn id(&self) -> String {
        self.ids
            .first()
            .cloned()
            .unwrap_or_else(|| format!("{}::{}", self.path, self.name))
    }
}

/// What is known of a test patch's tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// The tests, by file and place.
    pub tests: Vec<UnseenTest>,
    /// Ids of `FAIL_TO_PASS` for which no test was found.
    pub unmatched_fail_to_pass: Vec<String>,
    /// How many ids of `PASS_TO_PASS` belong to no test of the patch: usually most of them.
    pub unmatched_pass_to_pass: usize,
    /// Ids for which several tests fit equally well; the first was taken.
    pub ambiguous: Vec<String>,
    /// Functions of the patch that are no tests, by file and name.
    pub helpers: Vec<String>,
    /// Files whose functions are not known, and why.
    pub notes: Vec<String>,
}

/// Finds the tests of a test patch. `base` holds the old content of the files that it changes.
///
/// A function is a test if an id names it, or if its language's conventions say so (`test…` in
/// Python, `@Test`, `#[test]`, `it('…')`). An id of `FAIL_TO_PASS` that names none of the changed
/// functions is looked for among the others of the same files: a changed fixture can make a test
/// fail whose own lines stay.
///
/// # Errors
/// As [`Patch::files`].
pub fn extract_tests(
    test_patch: &Patch,
    base: &BaseFiles,
    fail_to_pass: &[String],
    pass_to_pass: &[String],
) -> Result<Extraction, PatchError> {
    let files = file_changes(test_patch, base)?;
    let mut extraction = Extraction::default();
    // Each with whether it is a test by the conventions of its language.
    let mut changed: Vec<(bool, ChangedFunction)> = Vec::new();
    for file in &files {
        if let Some(why) = file.opaque() {
            let note = format!("{}: {}", file.file.path(), why.reason());
            extraction.notes.push(note);
        }
        let Some(source) = file.after() else { continue };
        let functions = file.changed_functions().into_iter();
        changed.extend(functions.map(|one| (source.is_test(&one.definition), one)));
    }
    let mut found: Vec<UnseenTest> = changed.iter().map(|(_, one)| unseen(one, true)).collect();
    let candidates: Vec<Candidate> = changed.iter().map(|(_, one)| Candidate::of(one)).collect();
    let mut unmatched = Vec::new();
    for (id, is_needed) in all_ids(fail_to_pass, pass_to_pass) {
        match best(id, &candidates) {
            Some((at, is_clear)) => {
                found[at].ids.push(id.to_owned());
                if !is_clear {
                    extraction.ambiguous.push(id.to_owned());
                }
            }
            None if is_needed => unmatched.push(id),
            None => extraction.unmatched_pass_to_pass += 1,
        }
    }
    for (test, (is_test, _)) in found.into_iter().zip(&changed) {
        if test.ids.is_empty() && !is_test {
            extraction
                .helpers
                .push(format!("{}::{}", test.path, test.name));
        } else {
            extraction.tests.push(test);
        }
    }
    find_unchanged(&files, &unmatched, &mut extraction);
    Ok(extraction)
}

fn all_ids<'a>(
    fail_to_pass: &'a [String],
    pass_to_pass: &'a [String],
) -> impl Iterator<Item = (&'a str, bool)> {
    let needed = fail_to_pass.iter().map(|id| (id.as_str(), true));
    needed.chain(pass_to_pass.iter().map(|id| (id.as_str(), false)))
}

fn unseen(function: &ChangedFunction, changed: bool) -> UnseenTest {
    UnseenTest {
        path: function.path.clone(),
        name: function.definition.qualified_name(),
        source: function.source.clone(),
        added: function.added,
        changed,
        ids: Vec::new(),
    }
}

/// Looks for ids among all functions of the files.
fn find_unchanged(files: &[FileChange], ids: &[&str], extraction: &mut Extraction) {
    if ids.is_empty() {
        return;
    }
    let mut others: Vec<ChangedFunction> = Vec::new();
    for file in files {
        let Some(source) = file.after() else { continue };
        others.extend(source.units().map(|one| ChangedFunction {
            path: file.file.path().to_owned(),
            source: String::from_utf8_lossy(source.lines(one.lines)).into_owned(),
            added: false,
            definition: one.clone(),
        }));
    }
    let candidates: Vec<Candidate> = others.iter().map(Candidate::of).collect();
    let mut taken: Vec<Option<usize>> = vec![None; others.len()];
    for id in ids {
        let Some((at, is_clear)) = best(id, &candidates) else {
            extraction.unmatched_fail_to_pass.push((*id).to_owned());
            continue;
        };
        if !is_clear {
            extraction.ambiguous.push((*id).to_owned());
        }
        let place = *taken[at].get_or_insert_with(|| {
            extraction.tests.push(unseen(&others[at], false));
            extraction.tests.len() - 1
        });
        extraction.tests[place].ids.push((*id).to_owned());
    }
}

/// A function with what an id could say of it.
struct Candidate {
    name: String,
    /// The fixed parts of a title with places to fill in, in their order.
    title: Option<Vec<String>>,
    containers: Vec<String>,
    path: String,
    stem: String,
}

impl Candidate {
    fn of(function: &ChangedFunction) -> Self {
        let definition = &function.definition;
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let name = definition.name.trim_end_matches(['?', '!']).to_owned();
        let is_title = definition.kind == DefinitionKind::Test || !name.chars().all(is_word);
        let file = function.path.rsplit('/').next().unwrap_or_default();
        let containers = definition
            .container
            .split(['.', ':', ' ', '/', '\\', '<', '(']);
        Self {
            title: is_title.then(|| fixed_parts(&definition.name)),
            containers: containers
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect(),
            stem: file.split('.').next().unwrap_or_default().to_owned(),
            path: function.path.clone(),
            name,
        }
    }

    /// How well an id names this test; none if it does not.
    fn score(&self, id: &str, words: &BTreeSet<&str>) -> Option<usize> {
        let is_named = match &self.title {
            Some(parts) => holds_in_order(id, parts),
            None => words.contains(self.name.as_str()),
        };
        if !is_named {
            return None;
        }
        let around = self
            .containers
            .iter()
            .filter(|part| words.contains(part.as_str()));
        let path = if id.contains(&self.path) {
            4
        } else {
            usize::from(words.contains(self.stem.as_str()))
        };
        // Of two titles that fit, the longer one says more.
        let length = self
            .title
            .as_ref()
            .map_or(0, |parts| parts.iter().map(String::len).sum());
        Some(length * 100 + around.count() * 5 + path)
    }
}

/// `adds %d to ${x}` is `adds `, ` to `.
fn fixed_parts(title: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = title;
    while let Some(c) = rest.chars().next() {
        let hole = match c {
            '%' => rest[1..]
                .starts_with(|c: char| "sdifjop#p".contains(c))
                .then_some(2),
            '$' | '#' if rest[1..].starts_with('{') => rest.find('}').map(|end| end + 1),
            '$' if rest[1..].starts_with(|c: char| c.is_alphabetic()) => {
                let end = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
                Some(end.map_or(rest.len(), |end| end + 1))
            }
            _ => None,
        };
        if hole.is_some() {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
        rest = &rest[hole.unwrap_or(c.len_utf8())..];
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn holds_in_order(id: &str, parts: &[String]) -> bool {
    let mut rest = id;
    for part in parts {
        let Some(at) = rest.find(part.trim()) else {
            return false;
        };
        rest = &rest[at + part.trim().len()..];
    }
    !parts.is_empty()
}

/// The words of an id: what stands between signs that no name holds.
fn words(id: &str) -> BTreeSet<&str> {
    id.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
        .filter(|word| !word.is_empty())
        .collect()
}

/// The test that an id names best, and whether no other one does so equally well.
fn best(id: &str, candidates: &[Candidate]) -> Option<(usize, bool)> {
    // Parameters in brackets may hold anything, also another test's name.
    let plain = id.split_once('[').map_or(id, |(before, _)| before);
    let plain = if plain.trim().is_empty() { id } else { plain };
    let words = words(plain);
    let rank = |whole: &str| {
        let mut scores: Vec<(usize, usize)> = candidates
            .iter()
            .enumerate()
            .filter_map(|(at, candidate)| Some((candidate.score(whole, &words)?, at)))
            .collect();
        scores.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        scores
    };
    let mut scores = rank(plain);
    if scores.is_empty() {
        scores = rank(id);
    }
    let (score, at) = *scores.first()?;
    let is_clear = scores.get(1).is_none_or(|(second, _)| *second < score);
    Some((at, is_clear))
}
