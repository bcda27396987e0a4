//! Candidate patches that are made of a gold patch by rule. Judges are measured on them where there are no patches of
//! agents, or beside such.
//!
//! Whether a candidate resolves its task is not said here; only running the tests tells. Most of a near miss's kind fail,
//! and some do not.

mod hunks;
mod near_miss;
mod rewritten;

use crate::variant::{BaseFiles, file_changes};
use atlas_core::{FilePatch, Patch, PatchError};
use atlas_syntax::Language;
use hunks::{moved_down, patch, with_line};
use near_miss::near_misses;
use serde::{Deserialize, Serialize};

/// How a candidate was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateKind {
    /// The gold patch itself.
    Gold,
    /// Gold with a variable of its own under another name, or with a comment more: it reads otherwise and does the same.
    Perturbed,
    /// Gold with empty functions: each function that it adds or changes fails when it is called.
    Stub,
    /// Gold without one of its hunks.
    WithoutHunk,
    /// Gold with one operator, number or truth value changed.
    NearMiss,
    /// Gold with two brackets that nothing closes, in its first hunk.
    Breaks,
    /// Gold's first hunk alone, its lines added at the end of the hunk, nothing removed.
    WrongPlace,
    /// A file beside the code, and nothing else.
    Nothing,
}

impl CandidateKind {
    /// A stable word for JSON and names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Perturbed => "perturbed",
            Self::Stub => "stub",
            Self::WithoutHunk => "without-hunk",
            Self::NearMiss => "near-miss",
            Self::Breaks => "breaks",
            Self::WrongPlace => "wrong-place",
            Self::Nothing => "nothing",
        }
    }
}

/// A candidate patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCandidate {
    /// How it was made.
    pub kind: CandidateKind,
    /// Its name among those of its gold patch: the kind, with a number where there may be several.
    pub name: String,
    /// The patch.
    pub patch: Vec<u8>,
}

/// The candidates of a gold patch, each other than all before it. `base` holds the files that it changes as they are at
/// the base commit; without them nothing is rewritten ([`CandidateKind::Perturbed`], [`CandidateKind::Stub`]). Of hunks
/// left out and of near misses there are at most `most`, from the patch's beginning.
///
/// # Errors
/// As [`Patch::files`]: gold is no patch.
pub fn rule_candidates(
    gold: &Patch,
    base: &BaseFiles,
    most: usize,
) -> Result<Vec<RuleCandidate>, PatchError> {
    let files = gold.files()?;
    let changes = file_changes(gold, base)?;
    let mut made = UniqueCandidates::default();
    made.add(CandidateKind::Gold, None, gold.as_bytes().to_vec());
    let perturbed = [
        rewritten::renamed(&changes, base),
        rewritten::commented(&changes),
    ];
    for (number, found) in perturbed.into_iter().flatten().enumerate() {
        made.add(CandidateKind::Perturbed, Some(number), found);
    }
    if let Some(found) = rewritten::stub(&changes) {
        made.add(CandidateKind::Stub, None, found);
    }
    // Changelogs and the like are only changed where nothing else is.
    let has_code = files.iter().any(is_code);
    let hunks: Vec<(usize, usize)> = files
        .iter()
        .enumerate()
        .filter(|(_, file)| !file.binary && (is_code(file) || !has_code))
        .flat_map(|(at, file)| (0..file.hunks.len()).map(move |hunk| (at, hunk)))
        .collect();
    if hunks.len() > 1 {
        for (number, left_out) in hunks.iter().take(most).enumerate() {
            let found = patch(&files, |at, hunk, raw| {
                ((at, hunk) != *left_out).then(|| raw.to_vec())
            });
            made.add(CandidateKind::WithoutHunk, Some(number), found);
        }
    }
    let misses = near_misses(&files)
        .into_iter()
        .filter(|(place, ..)| hunks.contains(place));
    for (number, (place, line, changed)) in misses.take(most).enumerate() {
        let found = patch(&files, |at, hunk, raw| {
            if (at, hunk) != place {
                return Some(raw.to_vec());
            }
            let mut lines: Vec<&[u8]> = raw.split_inclusive(|byte| *byte == b'\n').collect();
            lines[line] = &changed;
            Some(lines.concat())
        });
        made.add(CandidateKind::NearMiss, Some(number), found);
    }
    if let Some(place) = hunks.first() {
        let broken = patch(&files, |at, hunk, raw| {
            Some(if (at, hunk) == *place {
                with_line(raw, b"+((\n")
            } else {
                raw.to_vec()
            })
        });
        made.add(CandidateKind::Breaks, None, broken);
        let moved = patch(&files, |at, hunk, raw| {
            ((at, hunk) == *place).then(|| moved_down(raw)).flatten()
        });
        made.add(CandidateKind::WrongPlace, None, moved);
    }
    made.add(CandidateKind::Nothing, None, NOTHING.as_bytes().to_vec());
    Ok(made.0)
}

fn is_code(file: &FilePatch) -> bool {
    Language::of_path(file.path()).is_some()
}

const NOTHING: &str = "diff --git a/CANDIDATE.txt b/CANDIDATE.txt\nnew file mode 100644\n\
                       --- /dev/null\n+++ b/CANDIDATE.txt\n@@ -0,0 +1 @@\n+nothing\n";

#[derive(Default)]
struct UniqueCandidates(Vec<RuleCandidate>);

impl UniqueCandidates {
    fn add(&mut self, kind: CandidateKind, number: Option<usize>, patch: Vec<u8>) {
        if patch.is_empty() || self.0.iter().any(|known| known.patch == patch) {
            return;
        }
        let name = match number {
            Some(number) => format!("{}-{}", kind.as_str(), number + 1),
            None => kind.as_str().to_owned(),
        };
        self.0.push(RuleCandidate { kind, name, patch });
    }
}
