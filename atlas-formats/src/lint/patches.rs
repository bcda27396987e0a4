//! Patches: readable, complete, and each in its place.

use super::columns::column_of;
use super::{LintCode, LintedRow, TryPatches, counted, shown};
use crate::convert::{ConvertOptions, Field, convert, text};
use crate::row::Row;
use crate::schema::Schema;
use atlas_core::{FilePatch, HunkLineKind, Patch};
use atlas_facts::{FolderOfTests, folder_of_tests};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn look(looked: &mut LintedRow<'_>, try_patches: Option<TryPatches<'_>>) {
    let gold = one(looked, Field::GoldPatch);
    let test = one(looked, Field::TestPatch);
    let field = column_of(looked, Field::GoldPatch);
    let mut tests: BTreeSet<&str> = gold
        .iter()
        .flat_map(FilePatch::paths)
        .filter(|path| is_test(path))
        .collect();
    let named = named_by_tests(&gold, &test, &tests);
    if let Some(first) = named.iter().next() {
        let message = format!(
            "the test patch names {} that only the solution makes, as `{first}`",
            counted(named.len(), "file")
        );
        let way_out = "move them to the test patch: another solution does not have them";
        looked.add(LintCode::FixtureInGoldPatch, field, message, way_out);
    }
    tests.retain(|path| !named.contains(path));
    if let Some(first) = tests.iter().next() {
        let message = format!(
            "the solution changes {}, as `{first}`",
            counted(tests.len(), "test file")
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
        let message = format!(
            "both patches change {}, as `{first}`",
            counted(shared.len(), "file")
        );
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

/// Files below folders of tests that the solution adds, and whose names stand in lines that the test patch adds.
fn named_by_tests<'a>(
    gold: &'a [FilePatch],
    test: &[FilePatch],
    tests: &BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    let lines = test.iter().flat_map(|file| &file.hunks);
    let lines = lines.flat_map(|hunk| &hunk.lines);
    let added: Vec<_> = lines
        .filter(|line| line.kind == HunkLineKind::Insert)
        .map(|line| String::from_utf8_lossy(&line.bytes))
        .collect();
    let is_named = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stands = |line: &str, at: usize| {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part)
        };
        added.iter().any(|line| {
            let mut places = line.match_indices(name);
            places.any(|(at, _)| stands(line, at))
        })
    };
    gold.iter()
        .filter(|file| file.old_path.is_none())
        .flat_map(FilePatch::paths)
        .filter(|path| tests.contains(path) && is_named(path))
        .collect()
}

/// Whether a row before this one has the same solution.
pub(super) fn same<'a>(
    looked: &mut LintedRow<'_>,
    row: &'a Row,
    seen: &mut BTreeMap<&'a str, &'a Row>,
) {
    let field = column_of(looked, Field::GoldPatch);
    let Some(patch) = row.text(field).filter(|patch| !patch.trim().is_empty()) else {
        return;
    };
    match seen.get(patch) {
        Some(first) if first.id() != row.id() => {
            let message = format!("`{}` has the same solution", first.id());
            let way_out = "keep one of the rows: whoever solves one solves both";
            looked.add(LintCode::SameSolution, field, message, way_out);
        }
        Some(_) => {}
        None => {
            seen.insert(patch, row);
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
    let of_tests = |folder: &&str| match folder_of_tests(folder) {
        None => false,
        Some(FolderOfTests::Doubtful) => folder.eq_ignore_ascii_case("testing"),
        Some(_) => true,
    };
    if folders.iter().any(of_tests) {
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
