//! Files that are whole or absent, and who may write them.

use atlas_core::{Error, ErrorKind};
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// JSON lines; empty ones are passed over. `path` is what faults name.
///
/// # Errors
/// A line that is not of this form, named by its number.
pub(crate) fn json_lines<T: DeserializeOwned>(text: &str, path: &Path) -> Result<Vec<T>, Error> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|why| {
                let subject = format!("`{}`, line {}", path.display(), at + 1);
                Error::new(ErrorKind::InvalidInput, "read", subject).with_source(why)
            })
        })
        .collect()
}

/// The JSON lines of a file; none where there is no such file.
///
/// # Errors
/// As [`json_lines`]; the file cannot be read.
pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Option<Vec<T>>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => json_lines(&text, path).map(Some),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(Error::io("read", path, why)),
    }
}

/// How files are named while they are written.
pub(crate) const UNFINISHED: &str = ".atlas-part-";

/// Writes a file so that a reader, or a next run, sees all of it or the old one: under a temporary
/// name in the same folder, then renamed.
///
/// # Errors
/// The folder cannot be made, or the file cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, |out| {
        out.write_all(bytes)
            .map_err(|why| Error::io("write", path, why))
    })
}

/// The same for a file that is too long to be held: `write` writes it piece by piece.
///
/// # Errors
/// As there, and those of `write`; the old file is then still there.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let fail = |why| Error::io("write", path, why);
    std::fs::create_dir_all(folder).map_err(fail)?;
    let mut file = unfinished(folder).map_err(fail)?;
    let mut out = BufWriter::new(file.as_file_mut());
    write(&mut out)?;
    out.flush().map_err(fail)?;
    drop(out);
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(permissions).map_err(fail)?;
    file.persist(path).map_err(|why| fail(why.error))?;
    Ok(())
}

/// The same, but a file that holds these very bytes already is left alone, with its time. Returns whether it was written.
///
/// # Errors
/// As [`replace`]; the old file cannot be read.
pub(crate) fn replace_if_changed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<bool, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let fail = |why| Error::io("write", path, why);
    std::fs::create_dir_all(folder).map_err(fail)?;
    let mut file = unfinished(folder).map_err(fail)?;
    let mut out = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    write(&mut out)?;
    out.flush().map_err(fail)?;
    drop(out);
    if are_same(path, file.path()).map_err(fail)? {
        return Ok(false);
    }
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(permissions).map_err(fail)?;
    file.persist(path).map_err(|why| fail(why.error))?;
    Ok(true)
}

/// Whether two files hold the same bytes; one that is absent holds none that another has.
fn are_same(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) = match (File::open(one), File::open(other)) {
        (Err(why), _) if why.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        (one, other) => (one?, other?),
    };
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = one.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..read])?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

/// [`replace`] for what is too large to be held: `write` is given the file.
///
/// # Errors
/// As [`write_atomically`], and those of `write`; the old file stays then.
pub(crate) fn write_stream(
    path: &Path,
    write: impl FnOnce(&mut std::io::BufWriter<&mut File>) -> Result<(), Error>,
) -> Result<(), Error> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let fail = |why| Error::io("write", path, why);
    std::fs::create_dir_all(folder).map_err(fail)?;
    let mut file = unfinished(folder).map_err(fail)?;
    let mut writer = std::io::BufWriter::with_capacity(1 << 16, file.as_file_mut());
    write(&mut writer)?;
    writer.flush().map_err(fail)?;
    drop(writer);
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(permissions).map_err(fail)?;
    file.persist(path).map_err(|why| fail(why.error))?;
    Ok(())
}

/// A file under a temporary name. Its lock tells that its writer lives.
fn unfinished(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    loop {
        let file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(folder)?;
        match flock(file.as_file(), FlockOperation::NonBlockingLockExclusive) {
            // Between making and locking, another process may have taken it for a dead one's.
            Ok(()) if file.as_file().metadata()?.nlink() == 0 => {}
            // A file system without locks: nothing is cleared away there either.
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOLCK) => {
                return Ok(file);
            }
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(why) => return Err(why.into()),
        }
    }
}

/// Removes what processes that were killed in the middle of [`write_atomically`] left in a folder.
/// Files that somebody is writing stay; so does everything that cannot be looked at.
pub(crate) fn clear_unfinished(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::open(&path) else {
            continue;
        };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // Where its writer was about to rename it, it is gone by this name.
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Writes a value as indented JSON with a final newline.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|why| {
        Error::new(
            ErrorKind::Internal,
            "encode",
            format!("`{}`", path.display()),
        )
        .with_source(why)
    })?;
    text.push(b'\n');
    write_atomically(path, &text)
}

/// Reads a JSON file that an earlier run stored; one that is absent or of another form is `None`.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// A hash over parts of any length, in hexadecimal.
#[derive(Debug, Default)]
pub(crate) struct Key(Sha256);

impl Key {
    pub(crate) fn new(what: &str) -> Self {
        Self::default().part(what.as_bytes())
    }

    /// Adds one part; the length goes first, so that parts cannot run into each other.
    pub(crate) fn part(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for bits in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(bits)]));
        }
    }
    text
}

/// SHA-256 of some bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut key = Key::default();
    key.0.update(bytes);
    key.finish()
}

/// Holds an exclusive lock as long as it lives; waits for whoever has it.
pub(crate) fn lock(path: &Path) -> Result<File, Error> {
    let fail = |why| Error::io("lock", path, why);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(fail)?;
    flock(&file, FlockOperation::LockExclusive).map_err(|why| fail(why.into()))?;
    Ok(file)
}

/// The secret in a file: random, made once. Several processes may ask at once; all get the same.
pub(crate) fn seed(path: &Path) -> Result<String, Error> {
    seed_under(path, &path.with_extension("lock"))
}

/// The same with a lock elsewhere, for a folder in which no lock should lie.
pub(crate) fn seed_under(path: &Path, lock_path: &Path) -> Result<String, Error> {
    let known = || {
        std::fs::read_to_string(path)
            .ok()
            .filter(|seed| seed.len() == 64)
    };
    if let Some(seed) = known() {
        return Ok(seed);
    }
    let _lock = lock(lock_path)?;
    if let Some(seed) = known() {
        return Ok(seed);
    }
    let source = Path::new("/dev/urandom");
    let mut bytes = [0_u8; 32];
    File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|why| Error::io("read", source, why))?;
    let seed = Key::new("seed").part(&bytes).finish();
    write_atomically(path, seed.as_bytes())?;
    Ok(seed)
}

/// The working state of one instance, below the output folder: locked while a run uses it.
#[derive(Debug)]
pub(crate) struct Workplace {
    root: PathBuf,
    _lock: File,
}

impl Workplace {
    /// Takes the folder, or says who has it.
    pub(crate) fn take(out: &Path, instance: &str) -> Result<Self, Error> {
        let root = out.join(".atlas").join(instance);
        std::fs::create_dir_all(&root).map_err(|why| Error::io("make", &root, why))?;
        let path = root.join("lock");
        let lock = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|why| Error::io("open", &path, why))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("another run is making `{instance}` in"),
                format!("`{}`; wait for it, or choose another --out", out.display()),
            )
        })?;
        let place = Self { root, _lock: lock };
        place.clear_temporary()?;
        Ok(place)
    }

    /// Takes the folder, waiting for whoever has it.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`], or a folder that cannot be used.
    pub(crate) async fn wait(
        cx: &atlas_core::RunContext,
        out: &Path,
        instance: &str,
    ) -> Result<Self, Error> {
        loop {
            cx.check("wait for another run of the same instance")?;
            match Self::take(out, instance) {
                Err(why) if why.kind() == ErrorKind::InvalidInput => {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
                other => return other,
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A folder for what does not outlive the run; whatever a killed run left in it is gone.
    pub(crate) fn temporary(&self) -> Result<PathBuf, Error> {
        let path = self.path("tmp");
        std::fs::create_dir_all(&path).map_err(|why| Error::io("make", &path, why))?;
        Ok(path)
    }

    /// Removes everything temporary.
    pub(crate) fn clear_temporary(&self) -> Result<(), Error> {
        let path = self.path("tmp");
        let mut removed = std::fs::remove_dir_all(&path);
        if removed
            .as_ref()
            .is_err_and(|why| why.kind() == std::io::ErrorKind::DirectoryNotEmpty)
        {
            // A program that was just killed may have finished the file that it was making.
            removed = std::fs::remove_dir_all(&path);
        }
        match removed {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", &path, why))
            }
            _ => Ok(()),
        }
    }

    /// The secret that markers of this instance are made from: random, made once.
    pub(crate) fn seed(&self) -> Result<String, Error> {
        seed(&self.path("seed"))
    }
}
