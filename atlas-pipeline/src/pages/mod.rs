//! `atlas report` and `atlas view`: what stands in folders, as pages.

mod comparison;
mod evaluation;
mod instance;
mod kind;
mod run;
mod trajectory;
mod view;

pub use kind::{PageKind, UnknownPageKind};
pub use view::{ViewOptions, view};

use crate::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_report::Live;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Writes the page of what stands at `input`: the folder of a run, of an instance or of an evaluation, what `atlas eval` or `atlas leaderboard`
/// printed as JSON, or a trajectory. `kind` says which; without it, the input tells. Returns which it was.
///
/// The same input gives the same bytes, and nothing of it is changed.
///
/// # Errors
/// [`ErrorKind::NotFound`] for no such input; [`ErrorKind::InvalidInput`] for one that is none of these, or cannot be read, by its
/// file; the page cannot be written.
pub fn write_page(input: &Path, kind: Option<PageKind>, out: &Path) -> Result<PageKind, Error> {
    let kind = match kind {
        Some(kind) => kind,
        None => PageKind::of(input)?,
    };
    let html = page(input, kind, None)?;
    write_atomically(out, html.as_bytes())?;
    Ok(kind)
}

/// The page of an input that is known to be of a kind.
fn page(input: &Path, kind: PageKind, live: Option<&Live>) -> Result<String, Error> {
    if !input.exists() {
        let what = format!("`{}`", input.display());
        return Err(Error::new(ErrorKind::NotFound, "read", what));
    }
    Ok(match kind {
        PageKind::Run => run::collect(input)?.html(live),
        PageKind::Instance => instance::collect(input)?.html(live),
        PageKind::Evaluation => evaluation::collect(input)?.html(live),
        PageKind::Comparison => comparison::collect(input)?.html(live),
        PageKind::Trajectory => trajectory::collect(input)?.html(live),
    })
}

/// Reads a JSON file that must be there.
///
/// # Errors
/// It names the file, and serde's line.
fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
    serde_json::from_slice(&bytes).map_err(|why| {
        let subject = format!("`{}`", path.display());
        Error::new(ErrorKind::InvalidInput, "read", subject).with_source(why)
    })
}

/// Reads a JSON file that may be absent; one that is there must be readable.
fn read_if_any<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    if path.is_file() {
        read(path).map(Some)
    } else {
        Ok(None)
    }
}

/// A text file of others, as far as it is there: not all of it must be UTF-8.
fn text(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(Error::io("read", path, why)),
    }
}

/// The name of a folder, also of `.`.
fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The name of a folder with that of the one around it, since many a run is called `run`.
fn place_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    match whole.parent().and_then(Path::file_name) {
        Some(around) => format!("{}/{}", around.to_string_lossy(), name_of(folder)),
        None => name_of(folder),
    }
}
