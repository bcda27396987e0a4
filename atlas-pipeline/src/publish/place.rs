//! The folder of a release, which appears whole or not at all.

use super::release::METADATA;
use crate::store::hexadecimal;
use atlas_core::{Error, ErrorKind};
use rustix::fs::{FlockOperation, flock};
use sha1::Digest as _;
use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Where a release is made, beside the folder that it will be.
#[derive(Debug)]
pub(super) struct Place {
    out: PathBuf,
    staging: PathBuf,
    old: PathBuf,
    /// Held on the folder around: one release at a time is made in it.
    _lock: File,
}

impl Place {
    /// Takes the place; what a killed run left of it is removed, or put back.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a folder that holds something else than a release.
    pub(super) fn take(out: &Path) -> Result<Self, Error> {
        let out = std::path::absolute(out).map_err(|why| Error::io("find", out, why))?;
        let (Some(parent), Some(name)) = (out.parent(), out.file_name()) else {
            let what = format!("`{}` is no name of a folder", out.display());
            return Err(Error::new(ErrorKind::InvalidInput, "publish:", what));
        };
        std::fs::create_dir_all(parent).map_err(|why| Error::io("make", parent, why))?;
        let lock = File::open(parent).map_err(|why| Error::io("open", parent, why))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|why| Error::io("lock", parent, why.into()))?;
        let beside = |what: &str| {
            let name = name.to_string_lossy();
            parent.join(format!(".{name}.atlas-{what}"))
        };
        let place = Self {
            staging: beside("part"),
            old: beside("old"),
            _lock: lock,
            out: out.clone(),
        };
        if place.old.exists() {
            if out.exists() {
                remove(&place.old)?;
            } else {
                rename(&place.old, &out)?;
            }
        }
        let mut entries = std::fs::read_dir(&out).into_iter().flatten();
        let is_release = out.join(METADATA).join("release.json").is_file();
        if out.exists() && !is_release && (!out.is_dir() || entries.next().is_some()) {
            let what = format!(
                "`{}` holds something else than a release; choose another --out, or remove it",
                out.display()
            );
            return Err(Error::new(ErrorKind::InvalidInput, "publish:", what));
        }
        remove(&place.staging)?;
        std::fs::create_dir(&place.staging)
            .map_err(|why| Error::io("make", &place.staging, why))?;
        Ok(place)
    }

    /// Where the files go.
    pub(super) fn staging(&self) -> &Path {
        &self.staging
    }

    /// Puts the release in its place.
    pub(super) fn finish(&self) -> Result<(), Error> {
        if self.out.exists() {
            rename(&self.out, &self.old)?;
        }
        rename(&self.staging, &self.out)?;
        remove(&self.old)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // After a failure; what cannot be removed goes when the place is taken again.
        let _ = std::fs::remove_dir_all(&self.staging);
    }
}

/// A file of lines while it is written.
#[derive(Debug)]
pub(super) struct LineFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl LineFile {
    /// A new file, with the folders around it.
    pub(super) fn create(path: PathBuf) -> Result<Self, Error> {
        let fail = |why| Error::io("write", &path, why);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(fail)?;
        }
        let out = BufWriter::new(File::create(&path).map_err(fail)?);
        Ok(Self { path, out })
    }

    pub(super) fn add(&mut self, line: &str) -> Result<(), Error> {
        writeln!(self.out, "{line}").map_err(|why| Error::io("write", &self.path, why))
    }

    pub(super) fn finish(mut self) -> Result<(), Error> {
        let done = self.out.flush();
        done.map_err(|why| Error::io("write", &self.path, why))
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::rename(from, to).map_err(|why| Error::io("move to", to, why))
}

fn remove(folder: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", folder, why))
        }
        _ => Ok(()),
    }
}

/// Bytes, SHA-256 and SHA-1 of a file.
pub(crate) fn hashes(path: &Path) -> Result<(u64, String, String), Error> {
    let fail = |why| Error::io("read", path, why);
    let mut file = File::open(path).map_err(fail)?;
    let (mut long, mut short) = (sha2::Sha256::new(), sha1::Sha1::new());
    let mut piece = vec![0; 1 << 18];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut piece).map_err(fail)?;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        long.update(&piece[..read]);
        short.update(&piece[..read]);
    }
    Ok((
        bytes,
        hexadecimal(&long.finalize()),
        hexadecimal(&short.finalize()),
    ))
}

/// A line of `sha256sum`.
///
/// # Errors
/// A name that such a line cannot hold.
pub(super) fn checksum_line(sha256: &str, file: &Path) -> Result<String, Error> {
    let name = file.to_str().filter(|name| !name.contains(['\n', '\\']));
    let name = name.ok_or_else(|| {
        let what = format!(
            "`{}`: the file has a name that cannot be published",
            file.display()
        );
        Error::new(ErrorKind::InvalidInput, "publish:", what)
    })?;
    Ok(format!("{sha256}  {name}\n"))
}
