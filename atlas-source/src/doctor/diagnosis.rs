//! All that can be found out about a patch on a commit.

use super::base::Base;
use super::climb::{PATCH_NAME, Try, climb_as, tidy};
use super::fault::{PatchFault, PatchFaultKind as Kind};
use super::ladder::ladder;
use super::mend::{Mended, mend, unwrapped};
use super::scan::Scan;
use super::text::examine;
use super::{history, touched_paths, tree};
use crate::apply::{ApplyOutcome, Rung, climb};
use crate::git::Call;
use crate::repository::GitRepo;
use crate::scratch::write;
use atlas_core::{CommitSha, Error, GradingMode, Patch};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Why a patch does or does not apply to a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Whether it applies by the rules of the mode.
    pub applies: bool,
    /// What was tried, in order, up to what held. Nothing for an empty patch in strict mode.
    pub tries: Vec<Try>,
    /// What is wrong with it or noteworthy, in the order of its lines.
    pub faults: Vec<PatchFault>,
    /// The same changes, written so that plain `git apply` takes them. Only for a patch that does
    /// not apply, and only if the way of writing was all that stood against it.
    pub mended: Option<Mended>,
}

/// Tries a patch by the rules of a mode and finds out what is wrong with it: in its text, against
/// the files of the commit, and whether it was made for another commit of the clone (the hundred
/// commits on each side that change its files and are nearest in time). For a patch that does not
/// apply, mechanical repairs are tried; what they lead to is only told, nothing is graded by it.
///
/// # Errors
/// [`ErrorKind::NotFound`](atlas_core::ErrorKind::NotFound) without that commit,
/// [`ErrorKind::ToolFailed`](atlas_core::ErrorKind::ToolFailed) without git.
///
/// # Cancellation
/// Dropping the future stops git; the repository is only read.
pub async fn diagnose(
    repo: &GitRepo,
    base: &CommitSha,
    patch: &Patch,
    mode: GradingMode,
) -> Result<Diagnosis, Error> {
    let bytes = patch.as_bytes();
    let inside = unwrapped(bytes);
    let readable = inside.as_deref().unwrap_or(bytes);
    let paths = touched_paths(&[&Patch::new(readable)]);
    let tree = Base::of(repo, base, &with_prefixes(&paths)).await?;
    let (applies, tries) = match mode {
        GradingMode::Strict => strict(&tree, patch).await?,
        GradingMode::Compat(harness) => {
            let tries = climb_as(repo, base, patch, harness).await?;
            (tries.applied(), tries.tries)
        }
    };
    let mut faults = examine(bytes);
    let mut against = tree::examine(&Scan::of(readable), &tree);
    if inside.is_some() {
        // The lines are those of another text.
        for fault in &mut against {
            fault.line = None;
        }
    }
    let nothing = readable.iter().all(u8::is_ascii_whitespace);
    let mut mended = None;
    if !applies && !nothing {
        mended = mend(bytes, &tree).await?;
        let text = mended
            .as_ref()
            .map_or(readable, |mended| mended.patch.as_slice());
        if mended.is_none() {
            already(text, &tree, &mut against).await?;
            elsewhere(repo, base, text, &tree, &paths, &mut against).await?;
        }
    }
    ignored(&tree, &paths, &mut against).await?;
    faults.append(&mut against);
    faults.sort_by_key(|fault| (fault.line, fault.kind));
    faults.dedup();
    Ok(Diagnosis {
        applies,
        tries,
        faults,
        mended,
    })
}

/// The paths as they are, and without a first folder that may be a prefix.
fn with_prefixes(paths: &BTreeSet<String>) -> BTreeSet<String> {
    let cut = paths.iter().filter_map(|path| path.split_once('/'));
    let cut: BTreeSet<String> = cut.map(|(_, rest)| rest.to_owned()).collect();
    paths.union(&cut).cloned().collect()
}

async fn strict(base: &Base, patch: &Patch) -> Result<(bool, Vec<Try>), Error> {
    let climb = climb(&base.scratch, &base.tree, patch).await?;
    let steps = ladder(GradingMode::Strict);
    let (held, failed) = match climb.outcome {
        ApplyOutcome::Applied { rung, tried } => (Some(rung), tried),
        ApplyOutcome::NotApplied { tried } => (None, tried),
    };
    let file = base.scratch.folder().join(PATCH_NAME);
    let attempt = |rung: Rung, said: &str, applied: bool| {
        let place = match rung {
            Rung::Empty => return None,
            Rung::Plain => 0,
            Rung::ThreeWay => 1,
            Rung::ReducedContext => 2,
            Rung::FuzzyPatch => 3,
        };
        Some(Try {
            command: steps[place].text(PATCH_NAME),
            exit_code: applied.then_some(0),
            said: tidy(said.trim(), &file),
            applied,
        })
    };
    let mut tries: Vec<Try> = failed
        .iter()
        .filter_map(|(rung, said)| attempt(*rung, said, false))
        .collect();
    tries.extend(held.and_then(|rung| attempt(rung, "", true)));
    Ok((held.is_some(), tries))
}

/// Whether the commit has all of the patch already.
async fn already(text: &[u8], base: &Base, faults: &mut Vec<PatchFault>) -> Result<(), Error> {
    if !base.has(text).await? {
        return Ok(());
    }
    faults.retain(|fault| !fault.breaks);
    faults.push(
        PatchFault::new(
            Kind::AlreadyApplied,
            "the base commit has this change already: the patch fits in reverse",
            "make the patch against the base commit, not against its own result",
        )
        .breaking(),
    );
    Ok(())
}

/// Whether another commit takes the patch.
async fn elsewhere(
    repo: &GitRepo,
    commit: &CommitSha,
    text: &[u8],
    base: &Base,
    paths: &BTreeSet<String>,
    faults: &mut Vec<PatchFault>,
) -> Result<(), Error> {
    let other_files = faults.iter().any(|fault| {
        fault.breaks
            && matches!(
                fault.kind,
                Kind::ContextDiffers
                    | Kind::WhitespaceDiffers
                    | Kind::TabsDiffer
                    | Kind::LineEndsDiffer
                    | Kind::FileMissing
                    | Kind::FileExists
                    | Kind::AlreadyApplied
                    | Kind::BinaryBaseDiffers
                    | Kind::ModeDiffers
                    | Kind::IsSymlink
            )
    });
    if !other_files {
        return Ok(());
    }
    let mut ended = text.to_vec();
    if ended.last() != Some(&b'\n') {
        ended.push(b'\n');
    }
    if let Some(fit) = history::search(repo, commit, base, &ended, paths).await? {
        let commits = |count: u64| format!("{count} commit{}", if count == 1 { "" } else { "s" });
        let place = match (fit.ahead, fit.behind) {
            (0, behind) => format!("{} before the base commit", commits(behind)),
            (ahead, 0) => format!("{} after the base commit", commits(ahead)),
            (ahead, behind) => format!(
                "on another branch: {} that the base commit has not, {} fewer",
                commits(ahead),
                commits(behind)
            ),
        };
        faults.push(
            PatchFault::new(
                Kind::OtherBase,
                format!("the patch fits commit {}, {place}", fit.commit),
                format!("check out {commit} before making the patch"),
            )
            .breaking(),
        );
    }
    Ok(())
}

/// Paths that are new and that git would not add by itself.
async fn ignored(
    base: &Base,
    paths: &BTreeSet<String>,
    faults: &mut Vec<PatchFault>,
) -> Result<(), Error> {
    let new: Vec<&String> = paths
        .iter()
        .filter(|path| base.entry(path).is_none())
        .collect();
    let rules: Vec<(&str, &str)> = base
        .entries
        .iter()
        .filter(|(_, side)| side.is_text_candidate())
        .filter_map(|(path, side)| Some((std::str::from_utf8(path).ok()?, side.oid.as_str())))
        .filter(|(path, _)| *path == ".gitignore" || path.ends_with("/.gitignore"))
        .collect();
    if new.is_empty() || rules.is_empty() {
        return Ok(());
    }
    let folder = base.scratch.folder().join("ignore-rules");
    let contents = base
        .scratch
        .contents(rules.iter().map(|(_, oid)| *oid))
        .await?;
    for ((path, _), content) in rules.iter().zip(contents) {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            tokio::fs::create_dir_all(parent)
                .await
                .map_err(|why| Error::io("make", parent, why))?;
        }
        write(&file, &content).await?;
    }
    let mut names = Vec::new();
    for path in new {
        names.extend_from_slice(path.as_bytes());
        names.push(0);
    }
    let call: Call = base.scratch.git();
    let output = call
        .env("GIT_WORK_TREE", &folder)
        .folder(&folder)
        .args(["check-ignore", "--no-index", "-z", "--stdin"])
        .stdin(names)
        .output()
        .await?;
    for path in output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
    {
        let path = String::from_utf8_lossy(path).into_owned();
        faults.push(
            PatchFault::new(
                Kind::IsIgnored,
                "a rule in `.gitignore` covers this new file",
                "git applies it, but cleaning a work tree between attempts does not remove it; leave it out if it is not meant",
            )
            .of(Some(path)),
        );
    }
    Ok(())
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.tries.iter().find(|attempt| attempt.applied);
        match (self.applies, held) {
            (true, Some(held)) => writeln!(f, "The patch applies by `{}`.", held.command)?,
            (true, None) => writeln!(f, "The patch applies: there is nothing in it.")?,
            (false, _) => writeln!(f, "The patch does not apply.")?,
        }
        let failed: Vec<&Try> = self
            .tries
            .iter()
            .filter(|attempt| !attempt.applied)
            .collect();
        if !failed.is_empty() {
            writeln!(f, "\nTried:")?;
        }
        for attempt in failed {
            write!(f, "  {}", attempt.command)?;
            if let Some(code) = attempt.exit_code {
                write!(f, " (exit code {code})")?;
            }
            writeln!(f)?;
            for line in telling(&attempt.said) {
                writeln!(f, "      {line}")?;
            }
        }
        for (breaks, title) in [(true, "What breaks it"), (false, "Also noticed")] {
            let mut faults = self
                .faults
                .iter()
                .filter(|fault| fault.breaks == breaks)
                .peekable();
            if faults.peek().is_some() {
                writeln!(f, "\n{title}:")?;
            }
            for fault in faults {
                writeln!(f, "  - {fault}")?;
            }
        }
        if let Some(mended) = &self.mended {
            writeln!(
                f,
                "\nIt would apply after these repairs, which change nothing it says:"
            )?;
            for step in &mended.how {
                writeln!(f, "  - {step}")?;
            }
        }
        Ok(())
    }
}

/// The lines in which a program says what went wrong, at most four.
fn telling(said: &str) -> Vec<&str> {
    const MOST: usize = 4;
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let wrong = |line: &&&str| {
        [
            "error", "fatal", "FAILED", "****", "ignored", "not run", "conflict",
        ]
        .iter()
        .any(|word| line.contains(word))
    };
    let mut telling: Vec<&str> = lines.iter().filter(wrong).copied().collect();
    if telling.is_empty() {
        telling = lines;
    }
    telling.truncate(MOST);
    telling
}
