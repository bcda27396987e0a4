//! Stage 1: from what hosts tell to candidates (paper 001, section 3.1).

mod changes;
mod config;
mod journal;
mod merge;
mod taking;

pub use config::{ArchiveSource, CloneSource, GithubSource, GitlabSource, SourceConfig};
pub use journal::HostProgress;
pub(crate) use journal::progress_so_far;
pub use merge::SourceNews;
pub(crate) use taking::take_aside;
pub use taking::{TakenCandidates, take_candidates};

use crate::store::{write_json, write_stream};
use atlas_core::{CodeHost, Error, ErrorKind, RunContext, SourcedPage, SourcedPullRequest};
use atlas_source::{FilterConfig, FilterFunnel, Filters};
use changes::Changes;
use journal::{Journal, Round};
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
    /// What was found at hosts that were read before.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub news: BTreeMap<String, SourceNews>,
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
/// `<out>.funnel.json` tells what the filters did. All that was told stands in [`sourced_file`]: other filters ask nobody again. A
/// host that was read to its end is asked for what is new or changed since, and `sourced` is then as one reading of now would have
/// it. Memory holds one page, and of later readings the numbers of what changed.
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
    let mut reading = Reading {
        cx,
        journal: Journal::open(&sourced)?,
        requests: 0,
    };
    let order: Vec<String> = hosts.iter().map(CodeHost::name).collect();
    // Readings that only wait for their places, since a run was killed: these hosts are asked again today.
    merge::merge(cx, &mut reading.journal, &order)?;
    for host in hosts {
        reading.host(host).await?;
    }
    let Reading {
        mut journal,
        requests,
        ..
    } = reading;
    let news = merge::merge(cx, &mut journal, &order)?;
    let progress = order.iter().map(|name| {
        let progress = journal.host(name).progress;
        (name.clone(), progress)
    });
    let progress = progress.collect();
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
        news,
        funnel,
    })
}

/// Hosts while they are read.
struct Reading<'a> {
    cx: &'a RunContext,
    journal: Journal,
    requests: u64,
}

impl Reading<'_> {
    /// Reads a host to its end, or what changed since.
    async fn host(&mut self, host: &dyn CodeHost) -> Result<(), Error> {
        let name = host.name();
        self.cx.progress.phase(&format!("source {name}"));
        let before = self.journal.host(&name);
        if before.progress.done || before.round.is_some() {
            return self.later(host, &name).await;
        }
        // What changed while nobody read on is asked for at once.
        let is_resumed = before.progress.pages > 0;
        let mut cursor = before.progress.cursor;
        loop {
            let page = self.page(host.page(self.cx, cursor.as_deref())).await?;
            if let Some(why) = page.anew.clone() {
                self.journal.begin_anew(&name, why, page.requests)?;
                return self.later(host, &name).await;
            }
            self.journal.add(&name, page)?;
            let so_far = self.journal.host(&name).progress;
            self.tell(so_far.pages, so_far.told);
            if so_far.done {
                break;
            }
            cursor = so_far.cursor;
        }
        if is_resumed {
            self.later(host, &name).await?;
        }
        Ok(())
    }

    /// Reads what changed since a host was read; all of it, where that no longer says enough.
    async fn later(&mut self, host: &dyn CodeHost, name: &str) -> Result<(), Error> {
        loop {
            let state = self.journal.host(name);
            let round = state.round.clone().unwrap_or_default();
            if round.done {
                match gone(&self.journal, name, &round)? {
                    Some(why) => self.journal.begin_anew(name, why, 0)?,
                    None => return Ok(()),
                }
                continue;
            }
            let cursor = round.cursor.as_deref();
            let page = if round.anew.is_some() {
                self.page(host.page(self.cx, cursor)).await?
            } else if let Some(since) = &state.progress.mark {
                self.page(host.changes(self.cx, since, cursor)).await?
            } else {
                // It cannot tell what came later.
                return Ok(());
            };
            match page.anew.clone() {
                Some(why) => {
                    tracing::info!(host = name, why, "all is read anew");
                    self.journal.begin_anew(name, why, page.requests)?;
                }
                None => self.journal.add_change(name, page)?,
            }
            let so_far = self.journal.host(name);
            let told = so_far.round.map_or(0, |round| round.told);
            self.tell(so_far.progress.pages, told);
        }
    }

    async fn page(
        &mut self,
        asked: impl Future<Output = Result<SourcedPage, Error>>,
    ) -> Result<SourcedPage, Error> {
        self.cx.check("source pull requests")?;
        let page = asked.await?;
        self.requests += page.requests;
        Ok(page)
    }

    fn tell(&self, pages: u64, told: u64) {
        let detail = format!("page {pages}, {told} pull requests");
        self.cx.progress.detail(&detail);
    }
}

/// Why all must be read again after a round of changes: the host has fewer pull requests than are told of.
fn gone(journal: &Journal, name: &str, round: &Round) -> Result<Option<String>, Error> {
    let (Some(total), None) = (round.total, &round.anew) else {
        return Ok(None);
    };
    let state = journal.host(name);
    let known = Changes::of(&journal.path, &state, round)?.known(&state, round);
    Ok((known > total).then(|| format!("it has {} fewer than were told of", known - total)))
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
