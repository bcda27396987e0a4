//! A file of results, one JSON object a line, that a killed run leaves usable.

use atlas_core::{Error, ErrorKind};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file, locked against a second writer for as long as this lives.
#[derive(Debug)]
pub(super) struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Opens or makes the file and gives what it holds. A last line that was cut off, by a kill or a
    /// full disk, is left out; it is gone after the next [`ResultsFile::rewrite`].
    ///
    /// # Errors
    /// It cannot be read or written; another run writes it; a line of it is no JSON object.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<Map<String, Value>>), Error> {
        let fail = |why| Error::io("open the results", path, why);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(fail)?;
        }
        let file = loop {
            let file = File::options()
                .create(true)
                .append(true)
                .open(path)
                .map_err(fail)?;
            lock(&file, path)?;
            // Between opening and locking, the other run may have put a new file in its place.
            let is_current = std::fs::metadata(path)
                .is_ok_and(|now| file.metadata().is_ok_and(|own| own.ino() == now.ino()));
            if is_current {
                break file;
            }
        };
        let bytes = std::fs::read(path).map_err(fail)?;
        let lines = lines(&bytes, path)?.into_iter().map(|(_, line)| line);
        let path = path.to_owned();
        Ok((Self { path, file }, lines.collect()))
    }

    /// Puts these lines in the place of all others. A reader sees the old ones or the new ones.
    pub(super) fn rewrite(&mut self, lines: &[Map<String, Value>]) -> Result<(), Error> {
        let fail = |why| Error::io("write the results", &self.path, why);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut new = tempfile::Builder::new()
            .prefix(".atlas-results-")
            .tempfile_in(folder)
            .map_err(fail)?;
        for line in lines {
            new.write_all(&encode(line)?).map_err(fail)?;
        }
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        new.as_file().set_permissions(permissions).map_err(fail)?;
        lock(new.as_file(), &self.path)?;
        // Locked before it has the name, so that nobody comes in between.
        self.file = new.persist(&self.path).map_err(|why| fail(why.error))?;
        Ok(())
    }

    /// Adds a line, in one write.
    pub(super) fn append(&mut self, line: &Map<String, Value>) -> Result<(), Error> {
        let bytes = encode(line)?;
        self.file
            .write_all(&bytes)
            .map_err(|why| Error::io("write the results", &self.path, why))
    }
}

fn lock(file: &File, path: &Path) -> Result<(), Error> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        // A file system without locks: then nobody is kept away.
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOLCK) => Ok(()),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::new(
            ErrorKind::InvalidInput,
            "open the results",
            format!(
                "`{}`: another run is writing them; wait for it, or write to another file",
                path.display()
            ),
        )),
        Err(why) => Err(Error::io("lock the results", path, why.into())),
    }
}

fn encode(line: &Map<String, Value>) -> Result<Vec<u8>, Error> {
    let mut bytes = serde_json::to_vec(line)
        .map_err(|why| Error::new(ErrorKind::Internal, "encode a result", "").with_source(why))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A result and the number of its line.
pub(super) type Numbered = (usize, Map<String, Value>);

/// The lines of a file of results that nobody writes to, with their numbers.
///
/// # Errors
/// It cannot be read; a line of it is no JSON object.
pub(super) fn read_lines(path: &Path) -> Result<Vec<Numbered>, Error> {
    let bytes = std::fs::read(path).map_err(|why| Error::io("read results", path, why))?;
    lines(&bytes, path)
}

fn lines(bytes: &[u8], path: &Path) -> Result<Vec<Numbered>, Error> {
    let mut found = Vec::new();
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(map) => found.push((number, map)),
            // Only the last one can have been cut off.
            Err(_) if end.is_none() => {
                tracing::warn!(line = number, "a result that was cut off is dropped");
            }
            Err(why) => {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "read the results",
                    format!(
                        "`{}`, line {number}: {why}; mend or remove the line, or write to another file",
                        path.display()
                    ),
                ));
            }
        }
    }
    Ok(found)
}
