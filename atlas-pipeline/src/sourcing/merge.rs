//! Later readings become part of what was told: the file is written anew, line by line, as one reading of today would have
//! written it.

use super::changes::{Changes, Order, each_line, number};
use super::journal::{HostState, Journal, Round, Span, Tail, changes_file, internal, merged_file};
use crate::store::write_stream;
use atlas_core::{Error, ErrorKind, RepositoryFacts, RunContext, SourcedPullRequest};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

/// What a later reading of a host found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceNews {
    /// Pull requests that are new; of a host that was read anew, how many there are.
    pub added: u64,
    /// Those that were told of before and are told otherwise now.
    pub changed: u64,
    /// Those that are no longer told of; of a host that was read anew, how many there were.
    pub gone: u64,
    /// Why all was read again; absent where only changes were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anew: Option<String>,
}

/// Makes all later readings part of `sourced`, if all have come to their end. Hosts come in this order, before them those that
/// are not among them.
pub(super) fn merge(
    cx: &RunContext,
    journal: &mut Journal,
    order: &[String],
) -> Result<BTreeMap<String, SourceNews>, Error> {
    let mut news = BTreeMap::new();
    let rounds = || {
        let hosts = journal.state.hosts.values();
        hosts.filter_map(|host| host.round.as_ref())
    };
    if rounds().next().is_none() || rounds().any(|round| !round.done) {
        return Ok(news);
    }
    let changes_something = |host: &HostState| {
        host.round.as_ref().is_some_and(|round| {
            let facts = &round.repository;
            round.anew.is_some()
                || !round.lines.is_empty()
                || !round.skipped.is_empty()
                || facts.is_some() && *facts != host.repository && !host.lines.is_empty()
        })
    };
    if !journal.state.hosts.values().any(changes_something) {
        for (name, host) in &mut journal.state.hosts {
            if let Some(round) = host.round.take() {
                host.progress.mark = round.mark;
                host.repository = round.repository.or(host.repository.take());
                news.insert(name.clone(), SourceNews::default());
            }
        }
        journal.clear_changes()?;
        return Ok(news);
    }
    cx.progress.phase("put changes in their places");
    let mut names: Vec<String> = journal.state.hosts.keys().cloned().collect();
    let place = |name: &String| order.iter().position(|known| known == name);
    let begin = |name: &String| journal.state.hosts[name].lines.first().copied();
    names.sort_by_cached_key(|name| (place(name), begin(name)));
    let sourced = journal.path.clone();
    let hosts = &mut journal.state.hosts;
    let mut end = 0;
    write_stream(&merged_file(&sourced), |out| {
        let mut merged = Merged {
            cx,
            sourced: &sourced,
            out,
            length: 0,
        };
        for name in &names {
            let Some(host) = hosts.get_mut(name) else {
                continue;
            };
            let start = merged.length;
            match host.round.take() {
                Some(round) => {
                    let found = merged.host(host, round)?;
                    news.insert(name.clone(), found);
                }
                None => merged.copy(&sourced, &host.lines)?,
            }
            host.lines = if merged.length > start {
                vec![(start, merged.length)]
            } else {
                Vec::new()
            };
        }
        end = merged.length;
        Ok(())
    })?;
    journal.state.sourced = Tail {
        length: end,
        page: String::new(),
    };
    journal.take_merged()?;
    Ok(news)
}

/// The new file while it is written.
struct Merged<'a, W> {
    cx: &'a RunContext,
    sourced: &'a Path,
    out: &'a mut W,
    length: u64,
}

impl<W: Write> Merged<'_, W> {
    fn write(&mut self, line: &[u8]) -> Result<(), Error> {
        let fail = |why| Error::io("write", &merged_file(self.sourced), why);
        self.out.write_all(line).map_err(fail)?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Bytes as they are.
    fn copy(&mut self, path: &Path, spans: &[Span]) -> Result<(), Error> {
        let fail = |why| Error::io("read", path, why);
        let mut file = File::open(path).map_err(fail)?;
        let mut piece = vec![0; 1 << 16];
        for (start, end) in spans {
            file.seek(SeekFrom::Start(*start)).map_err(fail)?;
            let mut left = end - start;
            while left > 0 {
                self.cx.check("put changes in their places")?;
                let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
                file.read_exact(&mut piece[..wanted]).map_err(fail)?;
                self.write(&piece[..wanted])?;
                left -= wanted as u64;
            }
        }
        Ok(())
    }

    /// One host with what a later reading told, and how its state is then.
    fn host(&mut self, host: &mut HostState, round: Round) -> Result<SourceNews, Error> {
        let mut news = SourceNews::default();
        let changes = changes_file(self.sourced);
        if let Some(why) = round.anew {
            news.added = round.told;
            news.gone = host.progress.told;
            news.anew = Some(why);
            self.copy(&changes, &round.lines)?;
            host.progress.told = round.told;
            host.progress.skipped = 0;
            host.progress.skipped_examples.clear();
            host.progress.skip(round.skipped);
        } else {
            let facts = round
                .repository
                .as_ref()
                .filter(|facts| host.repository.as_ref() != Some(*facts));
            if round.newest_first {
                news.added = round.told;
                self.copy(&changes, &round.lines)?;
                self.old(&host.lines, facts)?;
            } else {
                let found = Changes::of(self.sourced, host, &round)?;
                news.added = found.new.len() as u64;
                news.gone = found.dropped;
                news.changed = self.join(&host.lines, facts, &found)?;
                let examples = &mut host.progress.skipped_examples;
                let before = examples.len();
                examples.retain(|one| {
                    number(one).is_none_or(|number| !found.lines.contains_key(&number))
                });
                host.progress.skipped -= (before - examples.len()) as u64;
            }
            host.progress.told = host.progress.told + news.added - news.gone;
            host.progress.skip(round.skipped);
        }
        host.progress.mark = round.mark;
        host.repository = round.repository.or(host.repository.take());
        Ok(news)
    }

    /// Old lines and changes by their order; how many old ones are told otherwise.
    fn join(
        &mut self,
        old: &[Span],
        facts: Option<&RepositoryFacts>,
        found: &Changes,
    ) -> Result<u64, Error> {
        let later = changes_file(self.sourced);
        let mut new = found.new.iter().peekable();
        let mut changed = 0;
        let sourced = self.sourced;
        each_line(sourced, old, |line, _| {
            let order = Order::of(line, sourced)?;
            while let Some((_, span)) = new.next_if(|(other, _)| **other < order) {
                self.copy(&later, &[*span])?;
            }
            let number = order.number();
            if number.is_some_and(|number| found.skipped.contains(&number)) {
                return Ok(());
            }
            let line = with_facts(line, facts, sourced)?;
            let Some(span) = number.and_then(|number| found.lines.get(&number)) else {
                return self.write(&line);
            };
            each_line(&later, &[*span], |told, _| {
                changed += u64::from(told != &*line);
                self.write(told)
            })
        })?;
        for (_, span) in new {
            self.copy(&later, &[*span])?;
        }
        Ok(changed)
    }

    /// Old lines as they are now.
    fn old(&mut self, old: &[Span], facts: Option<&RepositoryFacts>) -> Result<(), Error> {
        let sourced = self.sourced;
        if facts.is_none() {
            return self.copy(sourced, old);
        }
        each_line(sourced, old, |line, _| {
            let line = with_facts(line, facts, sourced)?;
            self.write(&line)
        })
    }
}

/// A line that bears what is known of its repository now.
fn with_facts<'a>(
    line: &'a [u8],
    facts: Option<&RepositoryFacts>,
    path: &Path,
) -> Result<std::borrow::Cow<'a, [u8]>, Error> {
    let Some(facts) = facts else {
        return Ok(line.into());
    };
    let mut told: SourcedPullRequest = serde_json::from_slice(line).map_err(|why| {
        let place = format!("`{}`", path.display());
        Error::new(ErrorKind::InvalidInput, "read the candidate in", place).with_source(why)
    })?;
    told.repository = facts.clone();
    let mut line = serde_json::to_vec(&told).map_err(internal)?;
    line.push(b'\n');
    Ok(line.into())
}
