//! By which parser the runs of an instance are read, where it may not be the plan's.

use crate::own_parser::{Isolated, OwnParser};
use atlas_core::{
    Error, ErrorKind, ExitState, LanguageModel, LogParser, LogParserExt, LogReader, ParsedLog,
    ParsedLogBuilder, RunContext, RunOutcome,
};
use atlas_oracle::{StateRun, implausible_number};
use atlas_parsers::{
    Hints, Parsers, SynthAttempt, SynthLog, SynthOptions, SynthReport, SynthRequest, Synthesiser,
    detect,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What has a parser made for a log that no shipped one knows.
#[derive(Debug)]
pub(crate) struct Inventor {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) isolated: Arc<Isolated>,
    /// The new parser's id.
    pub(crate) id: String,
}

/// A parser in the place of the plan's: given, or made on the way.
#[derive(Debug, Default)]
pub(crate) struct LogReading {
    state: Mutex<State>,
    inventor: Option<Inventor>,
}

#[derive(Debug, Default)]
struct State {
    own: Option<OwnParser>,
    is_invented: bool,
    attempts: Vec<SynthAttempt>,
    notes: Vec<String>,
    declared: Option<u64>,
}

impl LogReading {
    /// By this parser; by the plan's where there is none.
    pub(crate) fn by(own: Option<OwnParser>) -> Self {
        Self {
            state: Mutex::new(State {
                own,
                ..State::default()
            }),
            inventor: None,
        }
    }

    /// With a model that makes a parser where none is known.
    pub(crate) fn with_inventor(mut self, inventor: Option<Inventor>) -> Self {
        self.inventor = inventor;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn own(&self) -> Option<OwnParser> {
        self.state().own.clone()
    }

    pub(crate) fn is_invented(&self) -> bool {
        self.state().is_invented
    }

    /// Says how many tests the sources declare: a parser that is made must read about as many.
    pub(crate) fn declare(&self, tests: Option<u64>) {
        self.state().declared = tests;
    }

    /// Why a run shows too few of the tests that the sources declare to say that nothing changes.
    pub(crate) fn too_few(&self, run: &StateRun) -> Option<String> {
        let declared = self.state().declared?;
        let named = run.parsed.results.len() as u64;
        implausible_number(named, declared).filter(|_| named < declared)
    }

    /// What of these runs does not fit the number of tests that the sources declare.
    pub(crate) fn implausible(&self, runs: &[(&str, &StateRun)]) -> Vec<String> {
        let Some(declared) = self.state().declared else {
            return Vec::new();
        };
        let found = runs.iter().filter_map(|(state, run)| {
            let named = run.parsed.results.len() as u64;
            let said = implausible_number(named, declared)?;
            Some(format!("implausible number of tests in {state}: {said}"))
        });
        found.collect()
    }

    pub(crate) fn may_invent(&self) -> bool {
        self.inventor.is_some()
    }

    /// The model's answers, and why there is no parser where there is none.
    pub(crate) fn record(&self) -> (Vec<SynthAttempt>, Vec<String>) {
        let state = self.state();
        (state.attempts.clone(), state.notes.clone())
    }

    /// Has a parser made of logs that nobody reads, if that is so and a model was given; whether there
    /// is a new one. Logs that a shipped parser knows, or in which nothing ran, are none.
    ///
    /// # Errors
    /// The model or the sandbox fails; a budget that is used up is no error.
    pub(crate) async fn invent(
        &self,
        cx: &RunContext,
        command: &str,
        runs: &[(&str, &StateRun)],
    ) -> Result<bool, Error> {
        let Some(inventor) = &self.inventor else {
            return Ok(false);
        };
        let hints = Hints {
            command: Some(command),
            language: None,
        };
        let logs: Vec<SynthLog<'_>> = runs
            .iter()
            .filter(|(_, run)| ran(run))
            .map(|(name, run)| SynthLog {
                name: format!("{name}.log"),
                bytes: &run.log,
                exit_code: match run.summary.exit {
                    ExitState::Exited { code } => Some(code),
                    _ => None,
                },
                truth: None,
            })
            .collect();
        let is_given = self.own().is_some() && !self.is_invented();
        if is_given || logs.is_empty() {
            return Ok(false);
        }
        // A shipped parser that knows the runner and reads nothing saw no tests: there are none to read.
        if logs
            .iter()
            .any(|log| detect(log.bytes, &hints).parser.is_some())
        {
            return Ok(false);
        }
        cx.progress.phase("make a parser");
        let asked = SynthRequest {
            id: &inventor.id,
            logs: &logs,
            tests_in_sources: self.state().declared,
            command: Some(command),
        };
        let mut report = SynthReport::default();
        let made = inventor.make(cx, &asked, &mut report).await;
        let mut state = self.state();
        state.attempts.append(&mut report.attempts);
        match made {
            Ok(notes) => state.notes.extend(notes),
            Err(why) if why.kind() == ErrorKind::BudgetExceeded => state.notes.push(why.chain()),
            Err(why) => return Err(why),
        }
        let Some(parser) = report.parser else {
            let note = format!(
                "no parser for these logs: {} answers refused",
                state.attempts.len()
            );
            state.notes.push(note);
            return Ok(false);
        };
        state.own = Some(inventor.isolated.made(parser));
        state.is_invented = true;
        Ok(true)
    }
}

/// Whether a run may have run tests: it was built, its command was found, and it said something.
fn ran(run: &StateRun) -> bool {
    const NOT_FOUND: [i64; 2] = [126, 127];
    let is_found =
        !matches!(run.summary.exit, ExitState::Exited { code } if NOT_FOUND.contains(&code));
    let is_built =
        run.parsed.modules_not_loaded.is_empty() && run.parsed.outcome != RunOutcome::BuildFailed;
    is_found && is_built && memchr::memchr_iter(b'\n', &run.log).count() >= 2
}

impl Inventor {
    async fn make(
        &self,
        cx: &RunContext,
        asked: &SynthRequest<'_>,
        report: &mut SynthReport,
    ) -> Result<Vec<String>, Error> {
        let mut synthesiser = Synthesiser {
            model: Arc::clone(&self.model),
            cell: None,
            options: SynthOptions::default(),
        };
        synthesiser.synthesise_into(cx, asked, report).await?;
        if report.parser.is_some() {
            return Ok(Vec::new());
        }
        match self.isolated.cell(cx).await {
            Ok(cell) => synthesiser.cell = Some(cell),
            Err(why) if why.kind() == ErrorKind::NotTrusted => {
                return Ok(vec![format!(
                    "no parser in Python was tried: {}",
                    why.chain()
                )]);
            }
            Err(why) => return Err(why),
        }
        synthesiser.synthesise_script(cx, asked, report).await?;
        Ok(Vec::new())
    }
}

/// Reads nothing: for a plan whose parser is still to be made.
#[derive(Debug)]
pub(crate) struct Unread(pub(crate) String);

struct Nothing(String);

impl LogParser for Unread {
    fn id(&self) -> &str {
        &self.0
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(Nothing(self.0.clone()))
    }
}

impl LogReader for Nothing {
    fn feed(&mut self, _bytes: &[u8]) {}

    fn finish(self: Box<Self>) -> ParsedLog {
        ParsedLogBuilder::new(self.0).finish(RunOutcome::NothingRan)
    }
}

/// A parser that, where it reads nothing of a log and no reason why, has the runner or build tool whose marks the log
/// has say what did not build or load: a plan that reads Surefire's XML sees no document of tests that Maven could not
/// compile.
#[derive(Debug)]
pub(crate) struct Explained(pub(crate) Arc<dyn LogParser>);

struct Explaining {
    reader: Box<dyn LogReader>,
    id: String,
    log: Vec<u8>,
}

impl Explaining {
    /// Longer logs, in bytes, are of runs that did more than fail to begin.
    const MAX_LOG: usize = 8 << 20;
}

impl LogParser for Explained {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(Explaining {
            reader: self.0.start(),
            id: self.0.id().to_owned(),
            log: Vec::new(),
        })
    }
}

impl LogReader for Explaining {
    fn feed(&mut self, bytes: &[u8]) {
        self.reader.feed(bytes);
        if self.log.len() <= Self::MAX_LOG {
            self.log.extend_from_slice(bytes);
        }
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        let mut read = self.reader.finish();
        let silent = read.is_empty() && !read.build_failed();
        if !silent || self.log.len() > Self::MAX_LOG {
            return read;
        }
        // Of a build that failed there may be no more than likely marks, but it is the log's own marks that speak.
        let found = detect(&self.log, &Hints::default());
        let other = found
            .parser
            .filter(|id| *id != self.id)
            .and_then(|id| Parsers::builtin().get(&id).ok())
            .map(|parser| parser.parse(&self.log));
        if let Some(other) = other.filter(|other| other.is_empty() && other.build_failed()) {
            read.modules_not_loaded = other.modules_not_loaded;
            read.outcome = other.outcome;
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::Explained;
    use atlas_core::{LogParserExt, RunOutcome};
    use atlas_parsers::Parsers;

    #[test]
    fn a_build_that_failed_is_told_by_the_tool_that_built() {
        let log = b"[INFO] Scanning for projects...\n[INFO] Building mine 1.0\n\
            [INFO] -------------------------------------------------------------\n\
            [ERROR] COMPILATION ERROR : \n\
            [INFO] -------------------------------------------------------------\n\
            [ERROR] /testbed/src/test/java/ATest.java:[7,9] cannot find symbol\n\
            [INFO] ------------------------------------------------------------------------\n\
            [INFO] BUILD FAILURE\n\
            [INFO] ------------------------------------------------------------------------\n\
            [ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:testCompile \
            (default-testCompile) on project mine: Compilation failure\n";
        let junit = Parsers::builtin().get("junit").unwrap();
        assert!(!junit.parse(log).build_failed());
        let read = Explained(junit).parse(log);
        assert_eq!(read.parser, "junit");
        assert_eq!(read.outcome, RunOutcome::BuildFailed);
        let mut said = read.modules_not_loaded.iter().flat_map(|lost| &lost.lines);
        assert!(said.any(|line| line.text.contains("cannot find symbol")));
        // What ran tests explains itself.
        let document = b"<testsuite><testcase classname=\"A\" name=\"b\"/></testsuite>\n";
        let both = [&document[..], log].concat();
        let junit = Parsers::builtin().get("junit").unwrap();
        assert!(!Explained(junit).parse(&both).build_failed());
    }
}
