//! Stage 1: from what hosts tell to candidates (paper 001, section 3.1).

mod config;
mod journal;
mod taking;

pub use config::{ArchiveSource, CloneSource, GithubSource, GitlabSource, SourceConfig};
pub use journal::HostProgress;
pub(crate) use journal::progress_so_far;
pub(crate) use taking::take_aside;
pub use taking::{TakenCandidates, take_candidates};

use crate::store::{write_json, write_stream};
use atlas_core::{CodeHost, Error, ErrorKind, RunContext, SourcedPullRequest};
use atlas_source::{FilterConfig, FilterFunnel, Filters};
use journal::Journal;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// What `atlas source` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The file with the candidates.
    pub out: PathBuf,
    /// The file with all pull requests that were told of, before any filter.
    pub sourced: PathBuf,
    /// What each host has told, by its name.
    pub hosts: BTreeMap<String, HostProgress>,
    /// Requests of this run; those of earlier ones stand with the hosts.
    pub requests: u64,
    /// What the filters did.
    pub funnel: FilterFunnel,
}

/// The file with all that was told, beside the candidates: `candidates.sourced.jsonl`.
pub fn sourced_file(out: &Path) -> PathBuf {
    out.with_extension("sourced.jsonl")
}

/// Asks hosts for their merged pull requests, one host after the other, and writes those that pass the filters.
///
/// `out` is written whole at the end, with one [`SourcedPullRequest`] a line in the order in which they were told of; beside it
/// `<out>.funnel.json` tells what the filters did. All that was told stands in [`sourced_file`]: other filters ask nobody again, and
/// a host that was read to its end is not asked again. Memory holds one page.
///
/// # Errors
/// A host refuses or cannot be reached; files that cannot be written; another process at work on the same file is waited for.
///
/// # Cancellation
/// Raising `cx.cancel` ends it after the page in flight; the same call goes on from there.
pub async fn source_candidates(
    cx: &RunContext,
    hosts: &[Box<dyn CodeHost>],
    filters: &FilterConfig,
    out: &Path,
) -> Result<SourceReport, Error> {
    let sourced = sourced_file(out);
    if let Some(folder) = sourced.parent() {
        std::fs::create_dir_all(folder).map_err(|why| Error::io("make", folder, why))?;
    }
    let mut journal = Journal::open(&sourced)?;
    let mut progress = BTreeMap::new();
    let mut requests = 0;
    for host in hosts {
        let name = host.name();
        cx.progress.phase(&format!("source {name}"));
        let mut so_far = journal.progress(&name);
        while !so_far.done {
            cx.check("source pull requests")?;
            let page = host.page(cx, so_far.cursor.as_deref()).await?;
            requests += page.requests;
            journal.add(&name, page)?;
            so_far = journal.progress(&name);
            cx.progress.detail(&format!(
                "page {}, {} pull requests",
                so_far.pages, so_far.told
            ));
        }
        progress.insert(name, so_far);
    }
    cx.progress.phase("filter");
    let (context, from, rules, to) = (cx.clone(), sourced.clone(), filters.clone(), out.to_owned());
    let work = move || filter_candidates(&context, &from, &rules, &to);
    let funnel = tokio::task::spawn_blocking(work).await.map_err(|why| {
        Error::new(ErrorKind::Internal, "filter candidates", "").with_source(why)
    })??;
    Ok(SourceReport {
        schema_version: 1,
        out: out.to_owned(),
        sourced,
        hosts: progress,
        requests,
        funnel,
    })
}

/// Writes those of a file's sourced pull requests that pass the filters, byte for byte, and `<out>.funnel.json`.
///
/// # Errors
/// [`ErrorKind::InvalidInput`], with file and line, for a line that is no sourced pull request; files that cannot be read or written.
///
/// # Cancellation
/// Raising `cx.cancel` ends it; `out` is as it was.
pub fn filter_candidates(
    cx: &RunContext,
    sourced: &Path,
    filters: &FilterConfig,
    out: &Path,
) -> Result<FilterFunnel, Error> {
    let fail = |why| Error::io("read candidates", sourced, why);
    let mut reader = BufReader::with_capacity(1 << 16, File::open(sourced).map_err(fail)?);
    let mut filters = Filters::new(filters.clone());
    write_stream(out, |writer| {
        let (mut line, mut at) = (Vec::new(), 0_usize);
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(fail)? == 0 {
                return Ok(());
            }
            at += 1;
            if at.is_multiple_of(1024) {
                cx.check("filter candidates")?;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let candidate: SourcedPullRequest = serde_json::from_slice(&line).map_err(|why| {
                let place = format!("`{}`, line {at}", sourced.display());
                Error::new(ErrorKind::InvalidInput, "read the candidate in", place).with_source(why)
            })?;
            if filters.pass(&candidate) {
                writer
                    .write_all(line.trim_ascii_end())
                    .map_err(|why| Error::io("write", out, why))?;
                writer
                    .write_all(b"\n")
                    .map_err(|why| Error::io("write", out, why))?;
            }
        }
    })?;
    write_json(&out.with_extension("funnel.json"), filters.funnel())?;
    Ok(filters.funnel().clone())
}
