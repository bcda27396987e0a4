//! What stands behind `make`.

use crate::convert::dumps;
use crate::errors::{invalid, raised};
use crate::options::Options;
use crate::traits::PyParts;
use atlas_pipeline::MakeOptions;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A pull request: of a repository, or of what `source` wrote.
fn pull_request(given: &Options<'_>) -> PyResult<MakeOptions> {
    let out: PathBuf = given.get("out")?;
    match (given.maybe::<PathBuf>("repo")?, given.object("candidate")?) {
        (None, Some(candidate)) => {
            let sourced = dumps(&candidate).map_err(|why| invalid("candidate", why))?;
            let sourced =
                serde_json::from_str(&sourced).map_err(|why| invalid("candidate", why))?;
            MakeOptions::sourced(sourced, out).map_err(|why| raised(&why))
        }
        (Some(repo), None) => match repo.into_os_string().into_string() {
            Ok(repo) => Ok(MakeOptions::new(repo, out)),
            Err(repo) => Err(invalid("repo", format!("{} is not UTF-8", repo.display()))),
        },
        (None, None) => Err(invalid("repo", "give `repo` or `candidate`")),
        (Some(_), Some(_)) => Err(invalid("candidate", "give either `repo` or `candidate`")),
    }
}

#[pyfunction]
pub(crate) fn _make(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let from = pull_request(&given)?;
    let said: MakeOptions = given.fields_but(&["repo", "parser"])?;
    let mut config = given.config()?;
    config.make.confirm = given.or("confirm", config.make.confirm)?;
    config.make.scope = given.named("scope")?.unwrap_or(config.make.scope);
    let options = MakeOptions {
        repo: from.repo,
        base: said.base.or(from.base),
        head: said.head.or(from.head),
        pull_request: said.pull_request.or(from.pull_request),
        instance_id: said.instance_id.or(from.instance_id),
        repo_name: from.repo_name,
        sourced: from.sourced,
        config,
        parser: given.parser_file()?,
        parts: Some(PyParts::of(&given)?.shared()),
        ..said
    };
    given.report("MakeReport", async |cx| {
        atlas_pipeline::make(cx, &options).await
    })
}
