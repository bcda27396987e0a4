//! Git diffs, kept byte for byte.

mod files;
mod names;
mod parts;

pub use files::{FilePatch, Hunk, HunkLine, HunkLineKind, PatchError, PatchKind};
pub use parts::PatchPart;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A patch as git printed it: bytes, never re-rendered.
///
/// In JSON it is a string, as in every dataset of the field; a patch that is not UTF-8 cannot be
/// written there and says so (make it with `--binary` attributes for the files concerned).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Patch(Vec<u8>);

impl Patch {
    /// Wraps the bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The patch as text, if it is UTF-8.
    ///
    /// # Errors
    /// Where it is not.
    pub fn as_text(&self) -> Result<&str, std::str::Utf8Error> {
        std::str::from_utf8(&self.0)
    }

    /// Reads the patch into one section per file.
    ///
    /// Takes what git and diff print: renames, copies, modes, symbolic links, binary content,
    /// quoted names, plain `---`/`+++` sections. Content need not be UTF-8. White space alone is a
    /// patch without files.
    ///
    /// ```
    /// let patch = atlas_core::Patch::new("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n");
    /// let files = patch.files()?;
    /// assert_eq!(files[0].path(), "x");
    /// assert_eq!(files[0].raw, patch.as_bytes());
    /// # Ok::<(), atlas_core::PatchError>(())
    /// ```
    ///
    /// # Errors
    /// [`PatchError`] with the line where the bytes stop being a patch.
    pub fn files(&self) -> Result<Vec<FilePatch>, PatchError> {
        files::read(&self.0)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Patch({} bytes)", self.0.len())
    }
}

impl Serialize for Patch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_text() {
            Ok(text) => serializer.serialize_str(text),
            Err(why) => Err(serde::ser::Error::custom(format!(
                "patch is not UTF-8 at byte {}",
                why.valid_up_to()
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer)?.into_bytes()))
    }
}
