//! Ways to show a patch to a judge (paper 004, section 3): as it is, with whole functions around
//! every change, or as the functions that it leaves behind.

mod change;
mod edits;
mod post_commit;

pub use change::{BaseFiles, ChangedFunction, FileChange, Opaque, file_changes};

use crate::variant::change::Change;
use crate::variant::edits::{Window, frame, split, write_hunk};
use atlas_core::{Patch, PatchError};
use atlas_syntax::DefinitionKind;
use serde::{Deserialize, Serialize};

/// How a patch is shown.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// As given, usually with three lines of context.
    #[default]
    Default,
    /// A diff whose context holds the whole functions that are changed. It applies to the same base.
    Function,
    /// The changed functions as they are after the patch; not a diff.
    PostCommit,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Default, Self::Function, Self::PostCommit];

    /// A stable word for JSON and command lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Function => "function",
            Self::PostCommit => "post_commit",
        }
    }
}

/// A patch as a judge sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// How it is shown.
    pub variant: Variant,
    /// The bytes; not always UTF-8.
    pub bytes: Vec<u8>,
    /// Files that are shown as in the default variant, and why: sections without hunks, files of
    /// unknown languages, files whose base content is absent or does not fit.
    pub notes: Vec<String>,
}

impl Rendered {
    /// The text, bytes that are no UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Shows a patch. `base` holds the old content of the files that it changes; a file that is missing
/// there, or that a hunk does not fit, is shown as in the default variant, with a note.
///
/// ```
/// use atlas_judge::variant::{BaseFiles, Variant, render};
/// let base = BaseFiles::from([(
///     "a.py".to_owned(),
///     b"def f(x):\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a\n".to_vec(),
/// )]);
/// let patch = "--- a/a.py\n+++ b/a.py\n@@ -6,1 +6,1 @@\n-    return a\n+    return b\n";
/// let shown = render(&atlas_core::Patch::new(patch), &base, Variant::Function)?;
/// assert!(shown.text().contains("@@ -1,6 +1,6 @@\n def f(x):\n"));
/// # Ok::<(), atlas_core::PatchError>(())
/// ```
///
/// # Errors
/// As [`Patch::files`]: bytes that are no patch. The default variant takes any bytes.
pub fn render(patch: &Patch, base: &BaseFiles, variant: Variant) -> Result<Rendered, PatchError> {
    if variant == Variant::Default {
        return Ok(Rendered {
            variant,
            bytes: patch.as_bytes().to_vec(),
            notes: Vec::new(),
        });
    }
    let mut bytes = Vec::new();
    let mut notes = Vec::new();
    for file in file_changes(patch, base)? {
        if variant == Variant::Function {
            bytes.extend(&file.file.preamble);
        }
        match &file.change {
            Err(why) => {
                notes.push(format!("{}: {}", file.file.path(), why.reason()));
                bytes.extend(&file.file.raw);
            }
            Ok(change) if variant == Variant::Function => {
                write_functions(&file, change, &mut bytes);
            }
            Ok(change) => post_commit::write(&file, change, &mut bytes),
        }
    }
    Ok(Rendered {
        variant,
        bytes,
        notes,
    })
}

/// The section with its hunks widened to whole functions.
fn write_functions(file: &FileChange, change: &Change, bytes: &mut Vec<u8>) {
    let (header, tail) = frame(&file.file);
    let old = split(change.old.text());
    bytes.extend(header);
    for window in change.function_windows() {
        let hunks = file.file.hunks.iter().zip(&change.placed.windows);
        let same = hunks.clone().find(|(_, own)| **own == window);
        let section = match same {
            Some((hunk, _)) => hunk.section.clone(),
            None => heading(change, window),
        };
        write_hunk(&old, &change.placed.edits, window, &section, bytes);
    }
    bytes.extend(tail);
}

/// The first line of the type around a window, as git would show it behind the second `@@`.
fn heading(change: &Change, window: Window) -> Vec<u8> {
    let types = change.old.definitions().iter().filter(|one| {
        one.kind == DefinitionKind::Type
            && one.lines.first <= window.start
            && window.end <= one.lines.last
    });
    let innermost = types.min_by_key(|one| one.bytes.len());
    let line = innermost.and_then(|one| one.signature.lines().next());
    line.unwrap_or_default().trim().as_bytes().to_vec()
}
