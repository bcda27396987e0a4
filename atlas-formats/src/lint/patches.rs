//! Patches: readable, complete, and each in its place.

use super::columns::column_of;
use super::{LintCode, LintedRow, TryPatches, shown};
use crate::convert::{ConvertOptions, Field, convert, text};
use crate::schema::Schema;
use atlas_core::{FilePatch, Patch};
use std::collections::BTreeSet;

/// Folders that hold tests, whatever the language.
const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "spec",
    "specs",
    "__tests__",
    "testdata",
    "test_data",
];

pub(super) fn look(looked: &mut LintedRow<'_>, try_patches: Option<TryPatches<'_>>) {
    let gold = one(looked, Field::GoldPatch);
    let test = one(looked, Field::TestPatch);
    let field = column_of(looked, Field::GoldPatch);
    let tests: BTreeSet<&str> = gold
        .iter()
        .flat_map(FilePatch::paths)
        .filter(|path| is_test(path))
        .collect();
    if let Some(first) = tests.iter().next() {
        let message = format!(
            "the solution changes {} test files, as `{first}`",
            tests.len()
        );
        looked.add(
            LintCode::TestsInGoldPatch,
            field,
            message,
            "move them to the test patch: a candidate is not asked to write them",
        );
    }
    let of_gold: BTreeSet<&str> = gold.iter().flat_map(FilePatch::paths).collect();
    let shared: BTreeSet<&str> = test
        .iter()
        .flat_map(FilePatch::paths)
        .filter(|path| of_gold.contains(path))
        .collect();
    if let Some(first) = shared.iter().next() {
        let message = format!("both patches change {} files, as `{first}`", shared.len());
        looked.add(
            LintCode::FileInBothPatches,
            field,
            message,
            "a harness that restores test files takes the solution away; split the file's hunks",
        );
    }
    if let Some(try_patches) = try_patches {
        let (rows, _) = convert(
            std::slice::from_ref(looked.row),
            looked.schema,
            Schema::SwebenchV4,
            &ConvertOptions::default(),
        );
        let problem = rows
            .first()
            .and_then(|row| row.instance().ok())
            .and_then(|instance| try_patches(&instance));
        if let Some(problem) = problem {
            looked.add(
                LintCode::PatchDoesNotApply,
                &problem.field,
                shown(&problem.message),
                "make the patch again against the base commit",
            );
        }
    }
}

/// The files of one patch, after what is wrong with it was said.
fn one(looked: &mut LintedRow<'_>, field: Field) -> Vec<FilePatch> {
    let column = column_of(looked, field);
    let is_gold = field == Field::GoldPatch;
    let known = text(&looked.view, field).map(str::to_owned);
    // SWE-smith's solution is the reverse of the column: what cannot be turned round shows here.
    let raw = looked.row.text(column).map(str::to_owned);
    let patch = match (&known, looked.schema) {
        (Some(patch), _) => patch.clone(),
        (None, Schema::Smith) if is_gold => raw.unwrap_or_default(),
        (None, _) => String::new(),
    };
    if patch.trim().is_empty() {
        let expected = match looked.schema {
            Schema::R2e => false,
            Schema::Smith | Schema::HarborTask => is_gold && looked.schema == Schema::Smith,
            _ => true,
        };
        if expected {
            let (code, message, way_out) = if is_gold {
                (
                    LintCode::EmptyPatch,
                    "there is no solution",
                    "take it from the pull request, or leave the row out",
                )
            } else {
                (
                    LintCode::EmptyTestPatch,
                    "the pull request changes no tests",
                    "check that its tests were not counted to the solution",
                )
            };
            looked.add(code, column, message, way_out);
        }
        return Vec::new();
    }
    let crlf = |line: &str| {
        let header = ["diff --git ", "--- ", "+++ ", "@@ -"];
        line.ends_with('\r') && header.iter().any(|start| line.starts_with(start))
    };
    if let Some(at) = patch.split('\n').position(crlf) {
        looked.add(
            LintCode::PatchWithCrlf,
            column,
            format!("line {} of the patch, a header, ends in CR LF", at + 1),
            "make the patch again without changing line ends",
        );
    }
    if !patch.ends_with('\n') {
        looked.add(
            LintCode::PatchWithoutFinalNewline,
            column,
            "the patch does not end with a line end",
            "add one",
        );
    }
    match Patch::new(patch.as_str()).files() {
        Err(why) => {
            looked.add(
                LintCode::UnreadablePatch,
                column,
                why.to_string(),
                "make the patch again with `git diff --binary`",
            );
            Vec::new()
        }
        Ok(files) => {
            if !patch.contains("diff --git") {
                looked.add(
                    LintCode::PatchWithoutGitHeader,
                    column,
                    "the patch has no `diff --git` line",
                    "make the patch again with `git diff`",
                );
            }
            if let Some(line) = beyond(&files) {
                looked.add(
                    LintCode::UnreadablePatch,
                    column,
                    format!(
                        "the hunk before `{}` has more lines than its header says",
                        shown(&line)
                    ),
                    "make the patch again with `git diff --binary`",
                );
            }
            files
        }
    }
}

/// A line behind a file's last hunk that looks as if it belonged to it.
fn beyond(files: &[FilePatch]) -> Option<String> {
    files.iter().find_map(|file| {
        let last = file.hunks.last()?;
        let at = file
            .raw
            .windows(last.raw.len())
            .rposition(|window| window == last.raw)?;
        let rest = String::from_utf8_lossy(&file.raw[at + last.raw.len()..]).into_owned();
        let line = rest.lines().next()?;
        // `-- ` begins the signature of a mail.
        let changed =
            line.starts_with(['+', ' ']) || (line.starts_with('-') && !line.starts_with("--"));
        changed.then(|| line.to_owned())
    })
}

/// Whether a path is that of a test by its folder or its name.
fn is_test(path: &str) -> bool {
    let mut folders: Vec<&str> = path.split('/').collect();
    let name = folders.pop().unwrap_or(path);
    // Workflows of continuous integration are named for the tests that they run.
    if folders.first().is_some_and(|first| first.starts_with('.')) {
        return false;
    }
    // Maven and Gradle build the product from there, whatever its packages are called.
    if folders.windows(2).any(|pair| pair == ["src", "main"]) {
        return false;
    }
    if folders
        .iter()
        .any(|folder| TEST_FOLDERS.contains(&folder.to_ascii_lowercase().as_str()))
    {
        return true;
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let by_name = stem.starts_with("test_")
        || stem == "conftest"
        || [
            "_test", "_tests", "_spec", ".test", ".spec", "-test", "-spec", ".tests",
        ]
        .iter()
        .any(|end| stem.ends_with(end))
        || (["java", "kt", "cs", "php", "scala", "swift", "groovy"].contains(&extension)
            && ["Test", "Tests", "TestCase", "Spec", "IT"]
                .iter()
                .any(|end| stem.ends_with(end)));
    by_name && !extension.is_empty()
}
