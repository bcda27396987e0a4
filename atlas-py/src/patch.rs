//! `examine_patch` and `diagnose_patch`.

use crate::convert::{Source, named, plain};
use crate::errors::raised;
use crate::run::run;
use atlas_core::{Error, ErrorKind, GradingMode, Patch};
use atlas_source::GitRepo;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// What is wrong with a patch, or noteworthy in it, as far as its text alone tells.
///
/// `patch` is the content as bytes or str, or a path object. Each fault has a kind, the line and file
/// where they can be named, what was found, what would mend it, and whether it `breaks`: whether
/// `git apply` refuses the patch for it.
#[pyfunction]
pub(crate) fn examine_patch<'py>(
    py: Python<'py>,
    patch: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let source = Source::take(patch, "patch")?;
    let faults = py
        .detach(|| source.read().map(|bytes| atlas_source::examine(&bytes)))
        .map_err(|why| raised(&why))?;
    plain(py, &faults)
}

/// Tells why a patch does or does not apply to a commit of a clone, by the rules of a mode, and what
/// would mend it.
///
/// `patch` is the content as bytes or str, or a path object; `mode` is one of `evaluate`'s. The result
/// has `applies`, `tries` (each command with what it said), `faults` as `examine_patch` gives them, and
/// `mended`: the same changes written so that `git apply` takes them (`patch`, as str, or bytes where it
/// is no UTF-8) and `how`, or None. Nothing is graded by a mended patch.
///
/// Raises AtlasError for a clone or commit that is not there.
#[pyfunction]
#[pyo3(signature = (repo, base, patch, mode="strict"))]
pub(crate) fn diagnose_patch<'py>(
    py: Python<'py>,
    repo: PathBuf,
    base: &str,
    patch: &Bound<'py, PyAny>,
    mode: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let mode: GradingMode = named("mode", mode)?;
    let source = Source::take(patch, "patch")?;
    let found = py.detach(|| {
        run(async |cx| {
            let work = async {
                let patch = Patch::new(source.read()?);
                let repo = GitRepo::open(&repo).await?;
                let base = repo.resolve(base).await?;
                atlas_source::diagnose(&repo, &base, &patch, mode).await
            };
            tokio::select! {
                found = work => found,
                () = cx.cancel.cancelled() => {
                    Err(Error::new(ErrorKind::Cancelled, "diagnose patch", "was cancelled"))
                }
            }
        })
    })?;
    let dict = plain(py, &found)?;
    if let Some(mended) = &found.mended
        && std::str::from_utf8(&mended.patch).is_err()
    {
        let bytes = PyBytes::new(py, &mended.patch);
        dict.get_item("mended")?.set_item("patch", bytes)?;
    }
    Ok(dict)
}
