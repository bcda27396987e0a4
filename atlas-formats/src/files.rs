//! Files are written whole or not at all.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the temporary names of this process: several threads may write into one folder.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Puts a file in place under a temporary name first. Where `executable` is given, the file's bit is
/// set so.
///
/// A link at the path is followed: what it names is replaced.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], executable: Option<bool>) -> io::Result<()> {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(name) = path.file_name() else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{number}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = std::fs::write(&temporary, bytes)
        .and_then(|()| match executable {
            Some(executable) => set_executable(&temporary, executable),
            None => match std::fs::metadata(path) {
                Ok(old) => std::fs::set_permissions(&temporary, old.permissions()),
                Err(_) => Ok(()),
            },
        })
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(unix)]
pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(unix)]
fn set_executable(file: &Path, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = std::fs::metadata(file)?.permissions();
    let mode = permissions.mode();
    permissions.set_mode(if executable {
        mode | 0o111
    } else {
        mode & !0o111
    });
    std::fs::set_permissions(file, permissions)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "sh")
}

#[cfg(not(unix))]
fn set_executable(_: &Path, _: bool) -> io::Result<()> {
    Ok(())
}
