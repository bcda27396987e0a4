//! One patch of several for a bug.

use crate::metrics::{line_count, normalise_likely_identifiers, vote};
use atlas_core::{FilePatch, HunkLineKind, Patch};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A patch among others for the same bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceCandidate {
    /// The patch.
    pub patch: String,
    /// Whether validation shows it.
    pub accepted: bool,
    /// Lines of the patched files together; where absent for one, the lines of the patches stand in for all.
    #[serde(default)]
    pub lines_after: Option<u64>,
}

/// The patch that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Its place among the candidates.
    pub place: usize,
    /// Accepted candidates that say the same, itself included.
    pub votes: usize,
    /// Accepted candidates in all.
    pub accepted: usize,
}

/// Chooses one patch (paper 002, section 5.1.2): of those that validation shows, compared by what they
/// add and take away with names replaced ([`normalise_likely_identifiers`]), the most frequent; then the one that leaves the fewest lines;
/// then the first. `None` where validation shows none.
///
/// Line numbers and file hashes in a diff differ between patches that say the same, so only paths and
/// changed lines are compared.
///
/// ```
/// use atlas_judge::validation::{ChoiceCandidate, choose};
/// let patch = |line: &str, accepted| ChoiceCandidate {
///     patch: format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+{line}\n"), accepted, lines_after: None,
/// };
/// let found = choose(&[patch("return 1", true), patch("a = b", true), patch("c = d", true), patch("return 1", false)]);
/// assert_eq!(found.map(|one| (one.place, one.votes)), Some((1, 2)));
/// ```
pub fn choose(candidates: &[ChoiceCandidate]) -> Option<Choice> {
    let accepted: Vec<(usize, &ChoiceCandidate)> = candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| candidate.accepted)
        .collect();
    let patches: Vec<&str> = accepted.iter().map(|(_, one)| one.patch.as_str()).collect();
    let texts = essences(&patches);
    let texts = texts.iter().map(|text| normalise_likely_identifiers(text));
    let known: Option<Vec<u64>> = accepted.iter().map(|(_, one)| one.lines_after).collect();
    let lines = known.unwrap_or_else(|| {
        accepted
            .iter()
            .map(|(_, one)| line_count(&one.patch))
            .collect()
    });
    let vote = vote(texts.collect(), &lines)?;
    Some(Choice {
        place: accepted.get(vote.winner)?.0,
        votes: vote.votes,
        accepted: accepted.len(),
    })
}

/// What patches do, in a form in which the vote compares them: files as numbers and changed lines. Names
/// of files are no identifiers: a variable `x` is not the file `x`.
fn essences(patches: &[&str]) -> Vec<String> {
    let read: Vec<Option<Vec<FilePatch>>> = patches
        .iter()
        .map(|patch| Patch::new(*patch).files().ok())
        .collect();
    let paths: BTreeSet<&str> = read
        .iter()
        .flatten()
        .flatten()
        .map(FilePatch::path)
        .collect();
    let numbers: BTreeMap<&str, usize> = paths.into_iter().zip(0..).collect();
    read.iter()
        .zip(patches)
        .map(|(files, patch)| match files {
            Some(files) => files.iter().map(|file| essence(file, &numbers)).collect(),
            // What cannot be read as a patch is compared as it is.
            None => (*patch).to_owned(),
        })
        .collect()
}

fn essence(file: &FilePatch, numbers: &BTreeMap<&str, usize>) -> String {
    let mut text = numbers
        .get(file.path())
        .map_or_else(String::new, |number| format!("{number}\n"));
    if file.hunks.is_empty() {
        text.push_str(&String::from_utf8_lossy(&file.raw));
    }
    for line in file.hunks.iter().flat_map(|hunk| &hunk.lines) {
        let sign = match line.kind {
            HunkLineKind::Insert => '+',
            HunkLineKind::Delete => '-',
            HunkLineKind::Context => continue,
        };
        text.push(sign);
        text.push_str(String::from_utf8_lossy(&line.bytes).trim_end());
        text.push('\n');
    }
    text
}
