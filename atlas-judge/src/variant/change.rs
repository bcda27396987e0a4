//! One file of a patch, before and after.

use super::edits::{self, Edit, PlacedHunks, Window};
use atlas_core::{FilePatch, Patch, PatchError, PatchKind};
use atlas_syntax::{Definition, Lines, Nesting, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Contents of files at the base commit, by path. Only those that a patch changes are needed.
pub type BaseFiles = BTreeMap<String, Vec<u8>>;

/// Why a file's functions are not known, so that its part of the patch is shown as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opaque {
    /// Its content is binary, or only its name or mode changes.
    NoHunks,
    /// Its name tells of no language that is known.
    UnknownLanguage,
    /// The base holds no such file, or it was not given.
    NoBase,
    /// A hunk does not fit the base content.
    DoesNotFit,
    /// The patch holds several sections for this file.
    Repeated,
}

impl Opaque {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoHunks => "no text changes",
            Self::UnknownLanguage => "unknown language",
            Self::NoBase => "the base content is not known, or no UTF-8 text",
            Self::DoesNotFit => "the hunks do not fit the base content",
            Self::Repeated => "several sections change this file",
        }
    }
}

/// A file of a patch whose functions are known before and after.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) old: Source,
    pub(super) new: Source,
    pub(super) placed: PlacedHunks,
}

/// A file of a patch.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Its section.
    pub file: FilePatch,
    pub(super) change: Result<Box<Change>, Opaque>,
}

/// A function that a patch adds or changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFunction {
    /// The file after the patch.
    pub path: String,
    /// The function after the patch: places are those of the file after the patch.
    pub definition: Definition,
    /// Its whole lines after the patch; bytes that are no UTF-8 are replaced.
    pub source: String,
    /// Whether no function of this name was in the file before.
    pub added: bool,
}

/// The files of a patch, each with its functions before and after where they can be known.
///
/// # Errors
/// As [`Patch::files`].
pub fn file_changes(patch: &Patch, base: &BaseFiles) -> Result<Vec<FileChange>, PatchError> {
    let files = patch.files()?;
    let mut sections: BTreeMap<String, usize> = BTreeMap::new();
    for path in files.iter().flat_map(FilePatch::paths) {
        *sections.entry(path.to_owned()).or_default() += 1;
    }
    let read = |file: FilePatch| {
        let is_repeated = file.paths().any(|path| sections.get(path) > Some(&1));
        let change = if is_repeated {
            Err(Opaque::Repeated)
        } else {
            read(&file, base)
        };
        FileChange { file, change }
    };
    Ok(files.into_iter().map(read).collect())
}

fn read(file: &FilePatch, base: &BaseFiles) -> Result<Box<Change>, Opaque> {
    if file.hunks.is_empty() || file.binary {
        return Err(Opaque::NoHunks);
    }
    let empty = Vec::new();
    let old_path = file.old_path.as_deref().unwrap_or(file.path());
    let old = if file.kind == PatchKind::Create {
        &empty
    } else {
        base.get(old_path).ok_or(Opaque::NoBase)?
    };
    let lines = edits::split(old);
    let placed = edits::place(file, &lines).ok_or(Opaque::DoesNotFit)?;
    let new = edits::apply(&lines, &placed.edits);
    let old = Source::of_path(old_path, old.as_slice()).ok_or(Opaque::UnknownLanguage)?;
    let new = Source::of_path(file.path(), new).ok_or(Opaque::UnknownLanguage)?;
    Ok(Box::new(Change { old, new, placed }))
}

impl FileChange {
    /// Why the functions are not known; none where they are.
    pub fn opaque(&self) -> Option<Opaque> {
        self.change.as_ref().err().copied()
    }

    /// The file after the patch, where the base content is known and the language too.
    pub fn after(&self) -> Option<&Source> {
        self.change.as_ref().ok().map(|change| &change.new)
    }

    /// The file before the patch; empty for a new file.
    pub fn before(&self) -> Option<&Source> {
        self.change.as_ref().ok().map(|change| &change.old)
    }

    /// The lines of the file after the patch that the patch adds, in order; none where the functions
    /// are not known.
    pub fn added_lines(&self) -> Vec<Lines> {
        let Ok(change) = &self.change else {
            return Vec::new();
        };
        let edits = change.placed.edits.iter();
        edits
            .filter(|edit| edit.inserted > 0)
            .map(|edit| Lines::new(edit.new_at + 1, edit.new_end()))
            .collect()
    }

    /// The functions that the patch adds or changes, as they are after it, in the file's order.
    /// Empty for a removed file.
    pub fn changed_functions(&self) -> Vec<ChangedFunction> {
        let Ok(change) = &self.change else {
            return Vec::new();
        };
        let before: BTreeSet<String> = change.old.units().map(Definition::qualified_name).collect();
        change
            .changed_after()
            .into_iter()
            .map(|definition| ChangedFunction {
                path: self.file.path().to_owned(),
                source: String::from_utf8_lossy(change.new.lines(definition.lines)).into_owned(),
                added: !before.contains(&definition.qualified_name()),
                definition: definition.clone(),
            })
            .collect()
    }

    /// The qualified names of functions of the base that the patch takes away.
    pub fn deleted_functions(&self) -> Vec<String> {
        let Ok(change) = &self.change else {
            return Vec::new();
        };
        let after: BTreeSet<String> = change.new.units().map(Definition::qualified_name).collect();
        let by_line = ByLine::of(&change.old);
        let mut names = Vec::new();
        let mut seen = BTreeSet::new();
        for edit in &change.placed.edits {
            for line in edit.at + 1..=edit.old_end() {
                let Some(name) = by_line.at(line).map(Definition::qualified_name) else {
                    continue;
                };
                if !after.contains(&name) && seen.insert(name.clone()) {
                    names.push(name);
                }
            }
        }
        names
    }
}

impl Change {
    /// The functions after the patch that an edit lies in.
    pub(super) fn changed_after(&self) -> Vec<&Definition> {
        let by_line = ByLine::of(&self.new);
        let mut found: BTreeMap<(usize, usize), &Definition> = BTreeMap::new();
        for edit in &self.placed.edits {
            for one in after(edit, &self.new, &by_line).into_iter().flatten() {
                found.insert((one.bytes.start, one.bytes.end), one);
            }
        }
        found.into_values().collect()
    }

    /// The windows in the old file that the whole functions around each hunk's edits take.
    pub(super) fn function_windows(&self) -> Vec<Window> {
        let old_lines = ByLine::of(&self.old);
        let new_lines = ByLine::of(&self.new);
        let mut windows = self.placed.windows.clone();
        for edit in &self.placed.edits {
            let mut around: Vec<Window> = Vec::new();
            let before = if edit.deleted == 0 {
                vec![gap(&self.old, edit.at)]
            } else {
                (edit.at + 1..=edit.old_end())
                    .map(|line| old_lines.at(line))
                    .collect()
            };
            around.extend(before.into_iter().flatten().map(|one| window(one.lines)));
            // A line added behind a function's last one belongs to it only afterwards.
            let behind = after(edit, &self.new, &new_lines);
            around.extend(
                behind
                    .into_iter()
                    .flatten()
                    .map(|one| self.old_window(one.lines)),
            );
            let own = &mut windows[edit.hunk];
            for wide in around {
                own.start = own.start.min(wide.start);
                own.end = own.end.max(wide.end);
            }
        }
        self.closed(windows)
    }

    /// Windows that cut no edit in two, in order, none touching another.
    fn closed(&self, windows: Vec<Window>) -> Vec<Window> {
        let edits = self.placed.edits.iter();
        let whole = edits.map(|edit| Window {
            start: edit.at,
            end: edit.old_end(),
        });
        // An insertion between two windows that meet belongs to the window that they become.
        edits::joined(windows.into_iter().chain(whole).collect())
    }

    /// What lines of the new file are in the old one; an empty window where they are all new.
    fn old_window(&self, lines: Lines) -> Window {
        Window {
            start: self.old_line(lines.first - 1, true),
            end: self.old_line(lines.last, false),
        }
    }

    /// The old place of a new one, both from 0. Inside inserted lines it is the edit's begin or end.
    fn old_line(&self, new: usize, is_start: bool) -> usize {
        let edits = &self.placed.edits;
        let behind = edits.partition_point(|edit| edit.new_at <= new);
        let Some(edit) = behind.checked_sub(1).map(|at| &edits[at]) else {
            return new;
        };
        if new < edit.new_end() || (!is_start && new == edit.new_at) {
            return if is_start || new == edit.new_at {
                edit.at
            } else {
                edit.old_end()
            };
        }
        edit.old_end() + (new - edit.new_end())
    }
}

/// The functions after the patch around an edit's lines; around the place where they stood if it
/// only deletes.
pub(super) fn after<'s>(
    edit: &Edit,
    new: &'s Source,
    by_line: &ByLine<'s>,
) -> Vec<Option<&'s Definition>> {
    if edit.inserted == 0 {
        return vec![gap(new, edit.new_at)];
    }
    (edit.new_at + 1..=edit.new_end())
        .map(|line| by_line.at(line))
        .collect()
}

/// The function around the place before line `at` (from 0).
fn gap(source: &Source, at: usize) -> Option<&Definition> {
    if at == 0 || at >= source.line_count() {
        return None;
    }
    source.enclosing(Lines::new(at, at + 1), Nesting::Innermost)
}

fn window(lines: Lines) -> Window {
    Window {
        start: lines.first - 1,
        end: lines.last,
    }
}

/// The innermost function of every line.
pub(super) struct ByLine<'s>(Vec<Option<&'s Definition>>);

impl<'s> ByLine<'s> {
    pub(super) fn of(source: &'s Source) -> Self {
        let mut by_line = vec![None; source.line_count() + 1];
        let mut units: Vec<&Definition> = source.units().collect();
        units.sort_by_key(|one| std::cmp::Reverse(one.lines.count()));
        for one in units {
            by_line[one.lines.first..=one.lines.last.min(source.line_count())].fill(Some(one));
        }
        Self(by_line)
    }

    /// The function of a line, from 1.
    pub(super) fn at(&self, line: usize) -> Option<&'s Definition> {
        self.0.get(line).copied().flatten()
    }
}
