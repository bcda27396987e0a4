//! The functions that a patch leaves behind.

use super::change::{ByLine, Change, FileChange, after};
use super::edits::{Window, joined, split, write_hunk};
use atlas_core::PatchKind;
use atlas_syntax::Definition;

/// Lines of context around changes outside of functions.
const CONTEXT: usize = 3;

/// Writes a file: a header, its changed functions, the changes outside of functions as a diff, and
/// the names of functions that are gone.
pub(super) fn write(file: &FileChange, change: &Change, out: &mut Vec<u8>) {
    write_header(file, out);
    if file.file.kind == PatchKind::Delete {
        write_deleted(file, out);
        return;
    }
    if file.file.kind == PatchKind::Create {
        out.extend(change.new.text());
        end_line(out);
        return;
    }
    let changed = change.changed_after();
    let windows = changed.iter().map(|one| Window {
        start: one.lines.first - 1,
        end: one.lines.last,
    });
    for window in joined(windows.collect()) {
        let inside: Vec<&&Definition> = changed
            .iter()
            .filter(|one| window.start < one.lines.first && one.lines.last <= window.end)
            .collect();
        let names: Vec<String> = inside.iter().map(|one| one.qualified_name()).collect();
        let title = format!(
            "--- {}, lines {} to {}\n",
            names.join(", "),
            window.start + 1,
            window.end
        );
        out.extend(title.as_bytes());
        let lines = atlas_syntax::Lines::new(window.start + 1, window.end);
        out.extend(change.new.lines(lines));
        end_line(out);
    }
    write_outside(change, out);
    write_deleted(file, out);
}

fn write_header(file: &FileChange, out: &mut Vec<u8>) {
    let from = file.file.old_path.as_deref().unwrap_or_default();
    let what = match file.file.kind {
        PatchKind::Create => "new file".to_owned(),
        PatchKind::Delete => "removed file".to_owned(),
        PatchKind::Rename => format!("renamed from {from}"),
        PatchKind::Copy => format!("copied from {from}"),
        PatchKind::Modify | PatchKind::ModeChange => "changed".to_owned(),
    };
    out.extend(format!("=== {} ({what})\n", file.file.path()).as_bytes());
}

fn write_outside(change: &Change, out: &mut Vec<u8>) {
    let by_line = ByLine::of(&change.new);
    let old = split(change.old.text());
    let outside = change.placed.edits.iter().filter(|edit| {
        after(edit, &change.new, &by_line)
            .iter()
            .any(Option::is_none)
    });
    let wide = outside.map(|edit| Window {
        start: edit.at.saturating_sub(CONTEXT),
        end: (edit.old_end() + CONTEXT).min(old.len()),
    });
    // A window that begins or ends inside another change takes the whole of it.
    let mut windows = joined(wide.collect());
    for window in &mut windows {
        for edit in &change.placed.edits {
            if edit.at < window.end && edit.old_end() > window.start {
                window.start = window.start.min(edit.at);
                window.end = window.end.max(edit.old_end());
            }
        }
    }
    let windows = joined(windows);
    if windows.is_empty() {
        return;
    }
    out.extend(b"--- outside of functions, as a diff\n");
    for window in windows {
        write_hunk(&old, &change.placed.edits, window, b"", out);
    }
}

fn write_deleted(file: &FileChange, out: &mut Vec<u8>) {
    for name in file.deleted_functions() {
        out.extend(format!("--- deleted: {name}\n").as_bytes());
    }
}

fn end_line(out: &mut Vec<u8>) {
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
}
