//! A pull request as two patches: what its tests changed, and the rest.
//!
//! The split is made on trees, not on text: a middle tree is base with every test change, the test
//! patch is the difference from base to it and the gold patch the one from it to head. So nothing
//! can be lost between the two, and a rename across the sides becomes a removal and an addition by
//! itself.

use crate::apply::{ApplyOutcome, Rung, climb};
use crate::conditions::conditions;
use crate::git::GITLINK;
use crate::modified::modified_tests;
use crate::repository::{GitRepo, path_text};
use crate::rules::{
    PathRules, declares_javascript_tests, defines_main, is_javascript, is_manifest,
    may_be_test_program,
};
use crate::rust_items::{Divided, divide};
use crate::scratch::{RawChange, Scratch, TreeSide, write};
use crate::test_data;
use atlas_core::{CommitSha, Error, ErrorKind, Evidence, Patch};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The patch that a change belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The test patch.
    Test,
    /// The gold patch.
    Gold,
    /// Divided by hunk.
    Both,
}

/// Why a changed file is on its side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitDecision {
    /// The file.
    pub path: String,
    /// Where it went.
    pub side: Side,
    /// The rule that decided: `test-folder`, `test-file-go`, `rust-test-items`, `source`, …
    pub rule: String,
    /// What the rule saw.
    pub evidence: String,
}

/// A pull request divided into tests and solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitPullRequest {
    /// The commit that the patches are relative to: the one given, or the merge base.
    pub base: CommitSha,
    /// The state with both patches.
    pub head: CommitSha,
    /// Applies to base.
    pub test_patch: Patch,
    /// Applies on top of the test patch and then gives head's tree.
    pub gold_patch: Patch,
    /// One decision per changed file, in path order.
    pub decisions: Vec<SplitDecision>,
    /// Names of the tests whose source the test patch changes, sorted; see the crate's front page
    /// for what a name is in each language. Best effort: tests made by macros, loops or data files
    /// are not seen.
    pub modified_tests: Vec<String>,
    /// Those of them, and tests that name the folder of data which the test patch changes, that run under a condition
    /// only (a system, a toolchain, a feature), each with the line that says so. Best effort, as the names.
    pub conditions: BTreeMap<String, Evidence>,
    /// Manifests and lock files that the pull request changes, with their content at head.
    pub head_manifests: BTreeMap<String, Vec<u8>>,
    /// Files of the test patch alone that the pull request adds or changes, with their content at
    /// head.
    pub head_tests: BTreeMap<String, Vec<u8>>,
    /// What a reader should know: another base, submodules, files that could not be divided.
    pub notes: Vec<String>,
}

struct Planned {
    change: RawChange,
    path: String,
    decision: SplitDecision,
    /// What stands at the path in the middle tree; absent in it if `None`.
    middle: Option<TreeSide>,
}

/// Divides the change from `base` to `head` into a test patch and a gold patch.
///
/// Files are divided by path, and where it does not tell by what they are: programs of C and C++ with a name in `test`, JavaScript
/// that declares tests, data that tests alone read. Rust files that hold test items (`#[cfg(test)]`, `#[test]`) besides
/// other code are divided by item. A new Rust file stays whole on the gold side.
///
/// # Errors
/// [`ErrorKind::NotFound`] if a commit is not there, [`ErrorKind::InvalidInput`] for a changed path
/// that is no UTF-8, [`ErrorKind::Internal`] if the two patches do not give head's tree again.
pub async fn split(
    repo: &GitRepo,
    base: &CommitSha,
    head: &CommitSha,
) -> Result<SplitPullRequest, Error> {
    let mut notes = Vec::new();
    let base = start(repo, base, head, &mut notes).await?;
    let scratch = Scratch::over(repo).await?;
    let (base_tree, head_tree, mut files, more) = tokio::try_join!(
        scratch.tree_of(&base),
        scratch.tree_of(head),
        repo.list_files(&base),
        repo.list_files(head)
    )?;
    files.extend(more);
    let rules = PathRules::new(files.iter().map(|file| file.path.as_str()));
    let mut plan = Vec::new();
    for change in scratch.changes(&base_tree, &head_tree).await? {
        let path = path_text(change.path.clone())?;
        let mut verdict = rules.decide(&path);
        let text = change.new.as_ref().or(change.old.as_ref());
        if !verdict.test
            && may_be_test_program(&path)
            && let Some(side) = text.filter(|side| side.is_text_candidate())
            && let Some(content) = scratch.contents([side.oid.as_str()]).await?.first()
            && defines_main(content)
        {
            verdict.test = true;
            "test-program-c".clone_into(&mut verdict.rule);
            "its name ends in `test` and it defines `main`".clone_into(&mut verdict.evidence);
        }
        if verdict.rule == "source"
            && is_javascript(&path)
            && let Some(side) = text.filter(|side| side.is_text_candidate())
            && let Some(content) = scratch.contents([side.oid.as_str()]).await?.first()
            && declares_javascript_tests(content)
        {
            verdict.test = true;
            "test-calls-javascript".clone_into(&mut verdict.rule);
            "it declares tests".clone_into(&mut verdict.evidence);
        }
        if !verdict.test
            && change.new.as_ref().is_some_and(TreeSide::is_text_candidate)
            && let Some(test) = test_data::reader(&scratch, &rules, &head_tree, &path).await?
        {
            verdict.test = true;
            "test-data".clone_into(&mut verdict.rule);
            verdict.evidence = format!("of all sources only tests name it, as {test} does");
        }
        for side in [&change.old, &change.new].into_iter().flatten() {
            if side.mode == GITLINK {
                notes.push(format!("submodule `{path}` changes at {}", side.oid));
            }
        }
        plan.push(Planned {
            middle: if verdict.test {
                change.new.clone()
            } else {
                change.old.clone()
            },
            decision: SplitDecision {
                path: path.clone(),
                side: if verdict.test { Side::Test } else { Side::Gold },
                rule: verdict.rule,
                evidence: verdict.evidence,
            },
            change,
            path,
        });
    }
    divide_rust(&scratch, &base_tree, &head_tree, &mut plan, &mut notes).await?;
    make_room(&mut plan);

    scratch.read_tree(&base_tree).await?;
    scratch
        .update_index(
            plan.iter()
                .filter(|file| file.middle != file.change.old)
                .map(|file| (file.change.path.as_slice(), file.middle.as_ref())),
        )
        .await?;
    let middle = scratch.write_tree().await?;
    let (test_patch, gold_patch) = tokio::try_join!(
        scratch.diff(&base_tree, &middle),
        scratch.diff(&middle, &head_tree)
    )?;
    // These two have the one index, the others read objects.
    let proofs = async {
        let trees = [&*base_tree, &*middle, &*head_tree];
        prove(&scratch, trees, [&test_patch, &gold_patch]).await?;
        gold_alone(&scratch, &base_tree, &gold_patch, &mut notes).await
    };
    let ((), modified, head_manifests, head_tests) = tokio::try_join!(
        proofs,
        modified_tests(&scratch, &base_tree, &middle, &test_patch),
        at_head(&scratch, &plan, |file| is_manifest(&file.path)),
        at_head(&scratch, &plan, |file| file.decision.side == Side::Test)
    )?;
    notes.dedup();
    let conditions = conditions(&scratch, &middle, &test_patch, &modified).await?;
    Ok(SplitPullRequest {
        base,
        head: head.clone(),
        test_patch,
        gold_patch,
        decisions: plan.into_iter().map(|file| file.decision).collect(),
        modified_tests: modified,
        conditions,
        head_manifests,
        head_tests,
        notes,
    })
}

/// Some of the changed files as they are at head, those that are no text aside.
async fn at_head(
    scratch: &Scratch,
    plan: &[Planned],
    is_wanted: impl Fn(&Planned) -> bool,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let wanted: Vec<(&str, &TreeSide)> = plan
        .iter()
        .filter(|file| is_wanted(file))
        .filter_map(|file| Some((file.path.as_str(), file.change.new.as_ref()?)))
        .filter(|(_, side)| side.is_text_candidate())
        .collect();
    let contents = scratch
        .contents(wanted.iter().map(|(_, side)| side.oid.as_str()))
        .await?;
    Ok(wanted
        .iter()
        .zip(contents)
        .map(|((path, _), content)| ((*path).to_owned(), content))
        .collect())
}

/// The commit to start from: base itself, or the merge base if head was not built on it.
async fn start(
    repo: &GitRepo,
    base: &CommitSha,
    head: &CommitSha,
    notes: &mut Vec<String>,
) -> Result<CommitSha, Error> {
    match repo.merge_base(base, head).await? {
        Some(found) if found == *base => Ok(found),
        Some(found) => {
            notes.push(format!(
                "base {} is no ancestor of head {}: their merge base {} is used",
                base.short(),
                head.short(),
                found.short()
            ));
            Ok(found)
        }
        None => {
            notes.push(format!(
                "base {} and head {} share no history here: compared as given",
                base.short(),
                head.short()
            ));
            Ok(base.clone())
        }
    }
}

/// Divides Rust files that hold both.
async fn divide_rust(
    scratch: &Scratch,
    base_tree: &str,
    head_tree: &str,
    plan: &mut [Planned],
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let is_rust = |path: &str| {
        let extension = std::path::Path::new(path).extension();
        extension.is_some_and(|extension| extension == "rs")
    };
    if !plan.iter().any(|file| is_rust(&file.path)) {
        return Ok(());
    }
    let moved: BTreeMap<String, String> = scratch.renames(base_tree, head_tree).await?;
    let new_sides: BTreeMap<String, (TreeSide, Side)> = plan
        .iter()
        .filter_map(|file| {
            let side = file.change.new.clone()?;
            Some((file.path.clone(), (side, file.decision.side)))
        })
        .collect();
    for file in plan.iter_mut() {
        if !is_rust(&file.path) || file.decision.side != Side::Gold {
            continue;
        }
        let Some(old) = file.change.old.clone().filter(TreeSide::is_text_candidate) else {
            continue;
        };
        let new = match (&file.change.new, moved.get(&file.path)) {
            (Some(new), _) => Some(new.clone()),
            (None, Some(target)) => new_sides
                .get(target)
                .filter(|(_, side)| *side == Side::Gold)
                .map(|(new, _)| new.clone()),
            (None, None) => None,
        };
        let Some(new) = new.filter(TreeSide::is_text_candidate) else {
            continue;
        };
        let contents = scratch.contents([old.oid.as_str(), &new.oid]).await?;
        let [old_text, new_text] = contents.as_slice() else {
            continue;
        };
        let (Ok(old_text), Ok(new_text)) =
            (std::str::from_utf8(old_text), std::str::from_utf8(new_text))
        else {
            continue;
        };
        let Some(Divided { keys, middle }) = divide(old_text, new_text) else {
            continue;
        };
        let Some(middle) = middle else {
            "rust-not-divisible".clone_into(&mut file.decision.rule);
            file.decision.evidence = format!("test items: {keys}");
            notes.push(format!(
                "`{}`: its test items could not be told from its code; all of it is in the gold patch",
                file.path
            ));
            continue;
        };
        "rust-test-items".clone_into(&mut file.decision.rule);
        if middle == old_text {
            file.decision.evidence = format!("nothing changes inside: {keys}");
            continue;
        }
        file.decision.evidence = format!("test items: {keys}");
        if middle == new_text && file.change.new.is_some() {
            file.decision.side = Side::Test;
            file.middle.clone_from(&file.change.new);
        } else {
            file.decision.side = Side::Both;
            file.middle = Some(TreeSide {
                mode: old.mode,
                oid: scratch.store(middle.as_bytes()).await?,
            });
        }
    }
    Ok(())
}

/// A file that tests add cannot stand where the solution has yet to remove a folder or a file:
/// such removals go with the tests.
fn make_room(plan: &mut [Planned]) {
    let added: BTreeSet<String> = plan
        .iter()
        .filter(|file| file.middle.is_some() && file.change.old.is_none())
        .map(|file| file.path.clone())
        .collect();
    for file in plan.iter_mut() {
        let removed_later = file.change.new.is_none() && file.middle.is_some();
        if !removed_later {
            continue;
        }
        let below = format!("{}/", file.path);
        let blocks = added
            .iter()
            .find(|path| path.starts_with(&below) || file.path.starts_with(&format!("{path}/")));
        if let Some(path) = blocks {
            file.middle = None;
            file.decision.side = Side::Test;
            "makes-room".clone_into(&mut file.decision.rule);
            file.decision.evidence = format!("{path} takes its place");
        }
    }
}

/// Applies both patches strictly and compares trees.
async fn prove(scratch: &Scratch, trees: [&str; 3], patches: [&Patch; 2]) -> Result<(), Error> {
    let wrong = |why: String| {
        Error::new(
            ErrorKind::Internal,
            "split",
            "the patches do not give head again",
        )
        .with_source(why)
    };
    scratch.read_tree(trees[0]).await?;
    let file = scratch.folder().join("proof.diff");
    for (patch, expected) in patches.iter().zip(&trees[1..]) {
        if !patch.is_empty() {
            write(&file, patch.as_bytes()).await?;
            let output = scratch
                .git()
                .args(["apply", "--cached", "--whitespace=nowarn", "--"])
                .arg(&file)
                .output()
                .await?;
            if !output.success {
                return Err(wrong(output.stderr_text()));
            }
        }
        let tree = scratch.write_tree().await?;
        if tree != **expected {
            return Err(wrong(format!("tree {tree} instead of {expected}")));
        }
    }
    Ok(())
}

/// A solution is applied before the tests when predictions are graded: says if that is not plain.
async fn gold_alone(
    scratch: &Scratch,
    base_tree: &str,
    gold: &Patch,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    match climb(scratch, base_tree, gold).await?.outcome {
        ApplyOutcome::Applied { rung, .. } if rung <= Rung::Plain => {}
        ApplyOutcome::Applied { rung, .. } => notes.push(format!(
            "without the test patch the gold patch applies to base only by {rung:?}"
        )),
        ApplyOutcome::NotApplied { .. } => {
            notes.push("without the test patch the gold patch does not apply to base".to_owned());
        }
    }
    Ok(())
}
