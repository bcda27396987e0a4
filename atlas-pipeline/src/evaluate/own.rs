//! What reads a stored log in the place of a shipped parser.

use super::compat::{self, CodeRead, HarnessFiles};
use super::input::Item;
use super::regrade::{RegradeOptions, region};
use crate::own_parser::{Isolated, OwnParser, ParserOrigin, ReadBy, needs_callers_parser};
use crate::synth::ParserFile;
use atlas_core::{Error, ErrorKind, GradingMode, Harness, ParsedLog, RunContext};
use atlas_oracle::CompatStage;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What reads the log of one prediction in the place of a shipped parser.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) by: ReadBy,
    /// By Atlas's rules: a parser that can be called, or what code said of the log.
    pub(super) strict: Option<Reader>,
    /// What code said of the text that a harness gives it.
    pub(super) harness: Option<CodeRead>,
}

/// What reads by Atlas's rules.
#[derive(Clone, Debug)]
pub(super) enum Reader {
    Rules(atlas_parsers::RuleParser),
    Log(Box<ParsedLog>),
}

impl Own {
    pub(super) async fn of(
        cx: &RunContext,
        options: &RegradeOptions,
        (isolated, given): (&Isolated, Option<&ParserFile>),
        item: &Item,
        (folder, log): (&Path, Option<&Path>),
    ) -> Result<Option<Self>, Error> {
        let of_row = item.subject.own.as_ref();
        let given = given.map(|parser| (parser, ParserOrigin::File));
        let is_strict = [Some(options.mode), options.against].contains(&Some(GradingMode::Strict));
        let Some((parser, origin)) = given.or(of_row.map(|(parser, origin)| (parser, *origin)))
        else {
            return match &item.subject.absent_parser {
                Some(id) if is_strict => Err(needs_callers_parser(id)),
                _ => Ok(None),
            };
        };
        let Some(path) = log else {
            return Ok(None);
        };
        let modes = [Some(options.mode), options.against];
        let mut harness = None;
        for mode in modes.into_iter().flatten() {
            if let GradingMode::Compat(of) = mode {
                let log = read_log(path)?;
                let (said, stage) = said_of(Some(folder), Some(&log), of);
                let files = HarnessFiles {
                    patch: item.patch.as_deref(),
                    log: Some(&log),
                    instance_log: said.as_deref(),
                    stage,
                };
                let read = compat::read_by_code(cx, isolated, of, &item.subject, &files).await?;
                harness = harness.or(read);
            }
        }
        if !is_strict {
            return Ok(harness.map(|read| Self {
                by: read.by.clone(),
                strict: None,
                harness: Some(read),
            }));
        }
        let own = isolated.ready(cx, parser, false).await?;
        let by = own.read_by(origin);
        let strict = match own {
            OwnParser::Rules(rules) => Reader::Rules(rules),
            OwnParser::Script(reader) => {
                let log = read_log(path)?;
                let read = reader.reading(cx, region(&log).text).await?;
                let read = read.map_err(|fault| {
                    let what = format!("read the log with the parser `{}`:", by.id);
                    Error::new(ErrorKind::ToolFailed, what, fault.to_string())
                })?;
                Reader::Log(Box::new(read))
            }
            OwnParser::Callers(parser) => {
                let log = read_log(path)?;
                Reader::Log(Box::new(
                    parser.reader.read_run(cx, region(&log).text).await?,
                ))
            }
        };
        Ok(Some(Self {
            by,
            strict: Some(strict),
            harness,
        }))
    }
}

/// The harness's own log of an instance.
pub(super) const OWN_LOG: &str = "run_instance.log";

/// Room for one log after the other.
#[derive(Debug, Default)]
pub(super) struct LogBuffer(Vec<u8>);

impl LogBuffer {
    /// The bytes of a log.
    pub(super) fn read(&mut self, path: &Path) -> Result<&[u8], Error> {
        let failed = |why| Error::io("read log", path, why);
        let mut file = File::open(path).map_err(failed)?;
        let mut length = 0;
        loop {
            if length == self.0.len() {
                self.0.resize((2 * length).max(FIRST_ROOM), 0);
            }
            match file.read(&mut self.0[length..]) {
                Ok(0) => return Ok(&self.0[..length]),
                Ok(read) => length += read,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(why) => return Err(failed(why)),
            }
        }
    }
}

/// Bytes for a first log: most are no longer.
const FIRST_ROOM: usize = 32 << 10;

fn read_log(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|why| Error::io("read log", path, why))
}

/// What a harness said of an instance beside its log, or where the log would be, and how far it came.
pub(super) fn said_of(
    folder: Option<&Path>,
    log: Option<&[u8]>,
    harness: Harness,
) -> (Option<Vec<u8>>, CompatStage) {
    let said = folder.and_then(|folder| std::fs::read(folder.join(OWN_LOG)).ok());
    let failed_to_apply = said
        .as_deref()
        .is_some_and(|said| memchr::memmem::find(said, b">>>>> Patch Apply Failed").is_some());
    let timed_out = log.is_some_and(|log| {
        let end = &log[log.len().saturating_sub(200)..];
        memchr::memmem::find(end, b"\n\nTimeout error: ").is_some()
    });
    let stage = match log {
        Some(_) if timed_out => CompatStage::TimedOut,
        None if failed_to_apply || harness == Harness::SweBenchPp => CompatStage::NotApplied,
        Some(_) | None => CompatStage::Tested,
    };
    (said, stage)
}
