//! A file of results, one JSON object a line, that a killed run leaves usable.

use crate::spool::Place;
use atlas_core::{Error, ErrorKind};
use rustix::fs::{FlockOperation, flock};
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file, locked against a second writer for as long as this lives. Of its lines only the places are in memory.
#[derive(Debug)]
pub(super) struct ResultsFile {
    path: PathBuf,
    file: File,
    /// By the lines' names.
    places: BTreeMap<Arc<str>, Place>,
    end: u64,
}

impl ResultsFile {
    /// Opens or makes the file, with those of its lines for which `keep` gives a name; of two of one name the later one.
    /// A last line that was cut off, by a kill or a full disk, is left out.
    ///
    /// # Errors
    /// It cannot be read or written; another run writes it; a line of it is no JSON object; those of `keep`.
    pub(super) fn open(
        path: &Path,
        mut keep: impl FnMut(usize, &Map<String, Value>) -> Result<Option<Arc<str>>, Error>,
    ) -> Result<Self, Error> {
        let fail = |why| Error::io("open the results", path, why);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(fail)?;
        }
        let file = loop {
            let file = File::options()
                .create(true)
                .read(true)
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
        let mut places = BTreeMap::new();
        for_lines(path, |number, line, place| {
            if let Some(name) = keep(number, &line)? {
                places.insert(name, place);
            }
            Ok(())
        })?;
        let mut opened = Self {
            path: path.to_owned(),
            file,
            places,
            end: 0,
        };
        // What is left out, and a line that was cut off, must not be appended to.
        let all: Vec<Arc<str>> = opened.places.keys().cloned().collect();
        opened.rewrite(all)?;
        Ok(opened)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Adds a line, in one write.
    pub(super) fn append(
        &mut self,
        name: Arc<str>,
        line: &Map<String, Value>,
    ) -> Result<(), Error> {
        let bytes = encode(line)?;
        self.file
            .write_all(&bytes)
            .map_err(|why| Error::io("write the results", &self.path, why))?;
        let (at, bytes) = (self.end, bytes.len());
        self.end += bytes as u64;
        self.places.insert(name, Place { at, bytes });
        Ok(())
    }

    /// Puts the lines of these names last, in this order, behind all others in the order of their names, and gives them.
    pub(super) fn sorted(mut self, names: &[Arc<str>]) -> Result<ResultLines, Error> {
        let last: BTreeSet<&Arc<str>> = names.iter().collect();
        let others = self.places.keys().filter(|name| !last.contains(name));
        let all: Vec<Arc<str>> = others.chain(names).cloned().collect();
        drop(last);
        self.rewrite(all)?;
        let places = names.iter().filter_map(|name| self.places.get(name));
        Ok(ResultLines {
            places: places.copied().collect(),
            path: self.path,
            file: self.file,
        })
    }

    /// Puts these lines in the place of all others. A reader sees the old ones or the new ones.
    fn rewrite(&mut self, names: Vec<Arc<str>>) -> Result<(), Error> {
        let fail = |why| Error::io("write the results", &self.path, why);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let new = tempfile::Builder::new()
            .prefix(".atlas-results-")
            .append(true)
            .tempfile_in(folder)
            .map_err(fail)?;
        let mut end = 0;
        let mut places = BTreeMap::new();
        let mut out = std::io::BufWriter::new(new.as_file());
        for name in names {
            let Some(place) = self.places.remove(&name) else {
                continue;
            };
            let mut line = place.read(&self.file).map_err(fail)?;
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            out.write_all(&line).map_err(fail)?;
            let bytes = line.len();
            places.insert(name, Place { at: end, bytes });
            end += bytes as u64;
        }
        out.flush().map_err(fail)?;
        drop(out);
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        new.as_file().set_permissions(permissions).map_err(fail)?;
        lock(new.as_file(), &self.path)?;
        // Locked before it has the name, so that nobody comes in between.
        self.file = new.persist(&self.path).map_err(|why| fail(why.error))?;
        (self.places, self.end) = (places, end);
        Ok(())
    }
}

/// Lines of a file of results, each read again when it is asked for. The file stays as it is for as long as this lives.
#[derive(Debug)]
pub struct ResultLines {
    path: PathBuf,
    file: File,
    places: Vec<Place>,
}

impl ResultLines {
    /// All lines, one after the other.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn iter(&self) -> impl Iterator<Item = Result<Map<String, Value>, Error>> + '_ {
        self.places.iter().map(|place| {
            let fail = |why| Error::io("read results", &self.path, why);
            let bytes = place.read(&self.file).map_err(fail)?;
            serde_json::from_slice(&bytes).map_err(|why| fail(why.into()))
        })
    }
}

/// What lines of a file of results come to, each read again when it is asked for.
#[derive(Debug)]
pub struct Results<T> {
    lines: ResultLines,
    of: fn(&Map<String, Value>) -> Option<T>,
}

impl<T> Results<T> {
    /// What `of` makes of the lines; those of which it makes nothing are left out.
    pub(super) fn new(lines: ResultLines, of: fn(&Map<String, Value>) -> Option<T>) -> Self {
        Self { lines, of }
    }

    /// All, one after the other, in the order of the items.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn iter(&self) -> impl Iterator<Item = Result<T, Error>> + '_ {
        let results = self
            .lines
            .iter()
            .map(|line| line.map(|line| (self.of)(&line)));
        results.filter_map(Result::transpose)
    }
}

impl<T: Serialize> Serialize for Results<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq as _;
        let mut list = serializer.serialize_seq(None)?;
        for result in self.iter() {
            list.serialize_element(&result.map_err(|why| S::Error::custom(why.chain()))?)?;
        }
        list.end()
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
    let mut found = Vec::new();
    for_lines(path, |number, line, _| {
        found.push((number, line));
        Ok(())
    })?;
    Ok(found)
}

/// Goes through the lines of a file, with their numbers and places.
fn for_lines(
    path: &Path,
    mut each: impl FnMut(usize, Map<String, Value>, Place) -> Result<(), Error>,
) -> Result<(), Error> {
    let fail = |why| Error::io("read results", path, why);
    let mut file = BufReader::new(File::open(path).map_err(fail)?);
    let (mut bytes, mut number, mut at) = (Vec::new(), 0, 0);
    loop {
        bytes.clear();
        let place = Place {
            at,
            bytes: file.read_until(b'\n', &mut bytes).map_err(fail)?,
        };
        if bytes.is_empty() {
            return Ok(());
        }
        number += 1;
        at = place.end();
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(&bytes) {
            Ok(line) => each(number, line, place)?,
            // Only the last one can have been cut off.
            Err(_) if !bytes.ends_with(b"\n") => {
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
}
