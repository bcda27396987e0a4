//! `dataset.jsonl`: the rows of the accepted instances.

use super::stages::instances;
use super::store::Store;
use crate::failures::{EnvironmentFailure, FAILURES};
use crate::make::FAILURE;
use crate::store::{clear_unfinished, lock, read_json, replace};
use atlas_core::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The row of an accepted instance, in its folder of artefacts.
pub(super) const ROW: &str = "row.json";

/// The dataset in a run's folder.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("dataset.jsonl")
}

/// Writes the dataset whole, sorted by instance, if it is not what the store says. Returns its rows where it was written.
///
/// # Errors
/// A row or the dataset cannot be read or written; the old dataset is then still there.
pub(super) fn write(store: &Store, folder: &Path) -> Result<Option<u64>, Error> {
    let path = file(folder);
    let is_current = || -> Result<bool, Error> {
        let written = store.number("dataset_written")?;
        let wanted = store.number("dataset_wanted")?;
        Ok(written.total_cmp(&wanted).is_eq() && path.exists())
    };
    if is_current()? {
        return Ok(None);
    }
    let _lock = lock(&folder.join("dataset.lock"))?;
    if is_current()? {
        return Ok(None);
    }
    clear_unfinished(folder);
    // Asked for before the names: what is accepted from here on is written another time.
    let wanted = store.number("dataset_wanted")?;
    let mut rows = 0_u32;
    replace(&path, |out| {
        store.accepted(|name| {
            let row = instances(folder).join(name).join(ROW);
            let text = std::fs::read(&row).map_err(|why| Error::io("read", &row, why))?;
            rows += 1;
            out.write_all(&text)
                .map_err(|why| Error::io("write", &path, why))
        })
    })?;
    store.set_number("dataset_rows", f64::from(rows))?;
    store.set_number("dataset_written", wanted)?;
    Ok(Some(u64::from(rows)))
}

/// Writes the catalogue of environments that could not be had, sorted by instance, as `atlas failures` reads it.
///
/// # Errors
/// It cannot be written.
pub(super) fn write_failures(store: &Store, folder: &Path) -> Result<(), Error> {
    let path = folder.join(FAILURES);
    let _lock = lock(&folder.join("dataset.lock"))?;
    replace(&path, |out| {
        store.ended_with("environment_invalid", |name| {
            let told = instances(folder).join(name).join(FAILURE);
            let Some(failure) = read_json::<EnvironmentFailure>(&told) else {
                return Ok(());
            };
            let line = serde_json::to_string(&failure).map_err(|why| {
                Error::new(ErrorKind::Internal, "write failures", "").with_source(why)
            })?;
            writeln!(out, "{line}").map_err(|why| Error::io("write", &path, why))
        })
    })
}
