//! Real changes from real repositories, with the functions as another program sees them.
//!
//! The folder that `ATLAS_HUNKS` names holds `LANGUAGE/NUMBER/` with `patch.diff` (one file's change),
//! `base` (the file before) and `case.json`: `{"path", "origin", "base": [{"name", "line", "end"}],
//! "after": […]}`, where the lists are what a compiler's own parser, or ctags, says are functions with
//! a body. With `"weak": true` the witness is known to miss functions: one that only we see is counted
//! apart. Without the variable the test says that it was skipped.

use crate::variants::{changed_lines, git_apply};
use atlas_core::Patch;
use atlas_judge::variant::{BaseFiles, Variant, render};
use atlas_syntax::{Definition, Source};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Deserialize)]
struct Case {
    path: String,
    origin: String,
    base: Vec<Seen>,
    after: Vec<Seen>,
    #[serde(default)]
    weak: bool,
}

/// A function as the witness sees it, without what stands above it.
#[derive(Deserialize)]
struct Seen {
    name: String,
    line: usize,
    end: usize,
}

#[derive(Default)]
struct Tally {
    files: usize,
    hunks: usize,
    right: usize,
    unseen: usize,
    time: Duration,
    slowest: Duration,
}

#[test]
fn real_hunks_lie_in_the_functions_that_another_parser_sees() {
    let Some(folder) = std::env::var_os("ATLAS_HUNKS") else {
        println!("skipped: ATLAS_HUNKS names no folder of hunks");
        return;
    };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut differences = String::new();
    for case in folders(Path::new(&folder))
        .iter()
        .flat_map(|language| folders(language))
    {
        let language = case.parent().and_then(Path::file_name).unwrap_or_default();
        let tally = tallies
            .entry(language.to_string_lossy().into_owned())
            .or_default();
        look_at(&case, tally, &mut differences);
    }
    let mut report = String::new();
    for (language, tally) in &tallies {
        let mean = tally.time.as_secs_f64() * 1e3 / f64::from(u32::try_from(tally.files).unwrap());
        let slowest = tally.slowest.as_secs_f64() * 1e3;
        let (files, hunks, right, unseen) = (tally.files, tally.hunks, tally.right, tally.unseen);
        writeln!(report, "{language}: {right} of {hunks} hunks in {files} files agree, {unseen} are unseen by the witness; {mean:.1} ms a patch, at most {slowest:.1}").unwrap();
    }
    println!("{differences}{report}");
    assert!(!tallies.is_empty(), "no hunks in the folder");
    for (language, tally) in &tallies {
        assert!(
            tally.right * 100 >= (tally.hunks - tally.unseen) * 95,
            "{language}: {report}"
        );
    }
}

fn folders(of: &Path) -> Vec<std::path::PathBuf> {
    let mut folders: Vec<_> = std::fs::read_dir(of)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn look_at(folder: &Path, tally: &mut Tally, differences: &mut String) {
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let case: Case = serde_json::from_slice(&read("case.json")).unwrap();
    let patch = Patch::new(read("patch.diff"));
    let base_bytes = read("base");
    let files = BaseFiles::from([(case.path.clone(), base_bytes.clone())]);

    let start = Instant::now();
    let function = render(&patch, &files, Variant::Function).unwrap();
    let spent = start.elapsed();
    tally.time += spent;
    tally.slowest = tally.slowest.max(spent);
    tally.files += 1;

    // Nothing is lost, and git makes the same of it.
    assert_eq!(function.notes, Vec::<String>::new(), "{}", folder.display());
    let again = Patch::new(function.bytes.clone());
    assert_eq!(
        changed_lines(&again),
        changed_lines(&patch),
        "{}",
        folder.display()
    );
    let name = case.path.rsplit('/').next().unwrap();
    let flat = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .replace(&case.path, name)
            .into_bytes()
    };
    let after = if std::str::from_utf8(patch.as_bytes()).is_ok() {
        let flat_files = BaseFiles::from([(name.to_owned(), base_bytes.clone())]);
        let given =
            git_apply(&flat(patch.as_bytes()), &flat_files).expect("git takes its own patch");
        let widened = git_apply(&flat(&function.bytes), &flat_files);
        assert_eq!(widened.as_ref(), Some(&given), "{}", folder.display());
        given[name].clone()
    } else {
        return;
    };

    let old = Source::of_path(&case.path, base_bytes).unwrap();
    let new = Source::of_path(&case.path, after).unwrap();
    for hunk in &patch.files().unwrap()[0].hunks {
        tally.hunks += 1;
        let mut faults = Vec::new();
        let (mut old_line, mut new_line) = (hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            use atlas_core::HunkLineKind::{Context, Delete, Insert};
            let place = |line: u64| usize::try_from(line).unwrap();
            match line.kind {
                Context => (old_line, new_line) = (old_line + 1, new_line + 1),
                Delete => {
                    faults.extend(fault(&old, &case.base, place(old_line), "-"));
                    old_line += 1;
                }
                Insert => {
                    faults.extend(fault(&new, &case.after, place(new_line), "+"));
                    new_line += 1;
                }
            }
        }
        match faults.first() {
            None => tally.right += 1,
            Some(_) if case.weak && faults.iter().all(|fault| fault.ends_with("/ none")) => {
                tally.unseen += 1;
            }
            Some(first) => {
                let shown = folder.display();
                writeln!(
                    differences,
                    "{shown} {} {}: {first}",
                    case.origin, case.path
                )
                .unwrap();
            }
        }
    }
}

/// How the two differ about a line, if they do.
fn fault(source: &Source, seen: &[Seen], line: usize, sign: &str) -> Option<String> {
    let ours = source
        .units()
        .filter(|one| one.kind != atlas_syntax::DefinitionKind::Macro || is_rust(source))
        .filter(|one| one.lines.first <= line && line <= one.lines.last)
        .min_by_key(|one| one.bytes.len());
    let theirs = seen
        .iter()
        .filter(|one| one.line <= line && line <= one.end)
        .min_by_key(|one| one.end - one.line);
    let same = match (ours, theirs) {
        (None, None) => true,
        (Some(ours), Some(theirs)) => {
            let declared = source.line_of(ours.declaration);
            let near = declared.abs_diff(theirs.line) <= ours.signature.lines().count().max(3);
            ours.lines.last == theirs.end && near && same_name(ours, &theirs.name)
        }
        // Comments and attributes above a function are its own for us, and nobody's for others.
        (Some(ours), None) => {
            line < source.line_of(ours.declaration) || is_head(source, ours, line)
        }
        (None, Some(_)) => false,
    };
    (!same).then(|| {
        let ours = ours.map_or_else(
            || "none".to_owned(),
            |one| format!("{} {:?}", one.name, one.lines),
        );
        let theirs = theirs.map_or_else(
            || "none".to_owned(),
            |one| format!("{} {}-{}", one.name, one.line, one.end),
        );
        format!("{sign}{line}: {ours} / {theirs}")
    })
}

fn is_rust(source: &Source) -> bool {
    source.language() == atlas_syntax::Language::Rust
}

/// Whether a line belongs to a signature whose witness begins at the name.
fn is_head(source: &Source, ours: &Definition, line: usize) -> bool {
    let body = ours
        .body
        .as_ref()
        .map_or(0, |body| source.line_of(body.start));
    line <= body
}

fn same_name(ours: &Definition, theirs: &str) -> bool {
    let plain = |name: &str| -> String {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        last.chars()
            .filter(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    // Some witnesses have words of their own for constructors and operators.
    let special = [
        "<init>",
        "constructor",
        "default",
        "operator",
        "~",
        "it",
        "TEST",
    ];
    plain(&ours.name) == plain(theirs)
        || ours.name == theirs
        || special
            .iter()
            .any(|word| theirs.contains(word) || ours.name.contains(word))
}
