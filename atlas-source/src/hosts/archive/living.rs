//! Whether files of events are those that were read.

use atlas_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The files that were read: [`SourcedPage::mark`](atlas_core::SourcedPage::mark) as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark(Vec<Known>);

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    path: PathBuf,
    length: u64,
    /// Nanoseconds since 1970 at which it was last written.
    written: u128,
    /// Of its bytes.
    sha256: String,
}

impl Known {
    /// The file as it is; its bytes are read only where it does not look as it did.
    fn of(path: &Path, since: Option<&Self>) -> Result<Self, Error> {
        let fail = |why| Error::io("read events", path, why);
        let meta = std::fs::metadata(path).map_err(fail)?;
        let written = meta.modified().map_err(fail)?;
        let written = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut known = Self {
            path: path.to_owned(),
            length: meta.len(),
            written: written.as_nanos(),
            sha256: String::new(),
        };
        known.sha256 = match since {
            Some(since) if (since.length, since.written) == (known.length, known.written) => {
                since.sha256.clone()
            }
            _ => sha256(path)?,
        };
        Ok(known)
    }
}

fn sha256(path: &Path) -> Result<String, Error> {
    let fail = |why| Error::io("read events", path, why);
    let mut file = File::open(path).map_err(fail)?;
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece).map_err(fail)? {
            0 => return Ok(hexadecimal(&hasher.finalize())),
            read => hasher.update(&piece[..read]),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing into a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl Mark {
    /// The files as they are, by what was known of them.
    pub(super) fn of(files: &[PathBuf], since: Option<&Self>) -> Result<Self, Error> {
        let known = files.iter().map(|path| {
            let since = since.and_then(|since| since.0.iter().find(|known| known.path == *path));
            Known::of(path, since)
        });
        known.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "go on from the mark of", "events").with_source(why)
        })
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("names and numbers become JSON")
    }

    /// Twelve digits that stand for the names and bytes of all files, for cursors.
    pub(super) fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for known in &self.0 {
            hasher.update(known.path.as_os_str().as_encoded_bytes());
            hasher.update([0]);
            hasher.update(known.sha256.as_bytes());
        }
        hexadecimal(&hasher.finalize())[..12].to_owned()
    }

    /// What is new, gone, another or in another place among the files; `None` where all is the same.
    pub(super) fn differs_from(&self, since: &Self) -> Option<String> {
        let find = |mark: &Self, path: &Path| {
            let found = mark.0.iter().find(|known| known.path == path);
            found.map(|known| known.sha256.clone())
        };
        let said = |path: &Path, what: &str| format!("`{}` {what}", path.display());
        for known in &self.0 {
            match find(since, &known.path) {
                None => return Some(said(&known.path, "is new")),
                Some(hash) if hash != known.sha256 => {
                    return Some(said(&known.path, "has other bytes"));
                }
                Some(_) => {}
            }
        }
        let gone = since
            .0
            .iter()
            .find(|known| find(self, &known.path).is_none());
        if let Some(known) = gone {
            return Some(said(&known.path, "is not named any more"));
        }
        let paths = |mark: &Self| -> Vec<PathBuf> {
            mark.0.iter().map(|known| known.path.clone()).collect()
        };
        (paths(self) != paths(since)).then(|| "the files come in another order".to_owned())
    }
}
