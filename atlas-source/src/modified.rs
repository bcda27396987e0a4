//! Which tests a test patch changes: the test functions around its hunks' lines.

use crate::apply::entries;
use crate::heirs::with_heirs;
use crate::remarks::is_remark;
use crate::scratch::{Scratch, TreeSide};
use crate::spans::{Span, spans};
use atlas_core::{Error, FilePatch, HunkLineKind, Patch};
use std::collections::{BTreeMap, BTreeSet};

/// The names, sorted.
pub(crate) async fn modified_tests(
    scratch: &Scratch,
    base_tree: &str,
    middle_tree: &str,
    test_patch: &Patch,
) -> Result<Vec<String>, Error> {
    let Ok(files) = test_patch.files() else {
        return Ok(Vec::new());
    };
    let before = entries(scratch, base_tree).await?;
    let after = entries(scratch, middle_tree).await?;
    let mut names = BTreeSet::new();
    for file in files.iter().filter(|file| !file.hunks.is_empty()) {
        let Some(new) = file
            .new_path
            .as_deref()
            .and_then(|path| after.get(path.as_bytes()))
        else {
            continue;
        };
        let old = file
            .old_path
            .as_deref()
            .and_then(|path| before.get(path.as_bytes()));
        let mut ids = vec![new.oid.as_str()];
        ids.extend(old.map(|side| side.oid.as_str()));
        let mut contents = scratch.contents(ids).await?.into_iter();
        let mut spans = |path: &str| {
            let content = contents.next().unwrap_or_default();
            spans(path, &String::from_utf8_lossy(&content))
        };
        let new_spans = spans(file.path());
        let old_spans = spans(file.old_path.as_deref().unwrap_or_default());
        changed(file, &old_spans, &new_spans, &mut names);
    }
    if names.iter().any(|name| name.contains("::")) {
        let files = python_tests(&after);
        let contents = scratch.contents(files.iter().map(String::as_str)).await?;
        let texts: Vec<String> = contents
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect();
        with_heirs(&mut names, &texts);
    }
    Ok(names.into_iter().collect())
}

/// The objects of Python files that look like tests by their name or folder.
fn python_tests(entries: &BTreeMap<Vec<u8>, TreeSide>) -> Vec<String> {
    entries
        .iter()
        .filter(|(path, _)| {
            let path = String::from_utf8_lossy(path);
            path.ends_with(".py") && path.to_ascii_lowercase().contains("test")
        })
        .map(|(_, side)| side.oid.clone())
        .collect()
}

fn changed(file: &FilePatch, old: &[Span], new: &[Span], names: &mut BTreeSet<String>) {
    // The innermost test around a line: the one that starts last.
    let around = |spans: &[Span], line: u64| {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        spans
            .iter()
            .filter(|span| (span.start..span.end).contains(&line))
            .max_by_key(|span| span.start)
            .map(|span| span.name.clone())
    };
    for hunk in &file.hunks {
        let mut old_line = hunk.old_start.saturating_sub(1);
        let mut new_line = hunk.new_start.saturating_sub(1);
        for line in &hunk.lines {
            let says = !is_remark(file.path(), &String::from_utf8_lossy(&line.bytes));
            match line.kind {
                HunkLineKind::Context => {
                    old_line += 1;
                    new_line += 1;
                }
                HunkLineKind::Insert => {
                    names.extend(around(new, new_line).filter(|_| says));
                    new_line += 1;
                }
                HunkLineKind::Delete => {
                    // A test that is gone cannot be run.
                    let name = around(old, old_line).filter(|_| says);
                    names.extend(name.filter(|name| new.iter().any(|span| span.name == *name)));
                    old_line += 1;
                }
            }
        }
    }
}
