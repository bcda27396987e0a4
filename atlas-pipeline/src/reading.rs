//! Parsing and classifying logs from files: `atlas parse` and `atlas classify`.

use crate::statuses::Statuses;
use atlas_core::{
    AGENTIC, Duplicates, Error, ErrorKind, LogParser, LogReader, LogWarning, LostModule, ParsedLog,
    Patch, RunOutcome, State, Totals,
};
use atlas_oracle::{Classification, ClassifyInput, between_repeats, classify};
use atlas_parsers::{Detection, Detector, Hints, Parsers, SectionReader, detect};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

/// A parsed log as `atlas parse` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParseReport<'a> {
    /// The parser that read it.
    pub parser: &'a str,
    /// SWE-bench id -> status.
    pub tests: Statuses<'a>,
    /// Qualified id -> status: with what tells tests of one name apart, such as a package or file. Only
    /// [`ParseReport::with_qualified`] has them, for they double the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualified: Option<Statuses<'a>>,
    /// The runner's own totals.
    pub totals: Option<Totals>,
    /// Whether they agree with what was parsed.
    pub consistent: Option<bool>,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// Whether something could not be built, collected or loaded.
    pub build_failed: bool,
    /// What, and the lines that say so.
    pub modules_not_loaded: &'a [LostModule],
    /// Tests that were running when the process died.
    pub in_flight: &'a [String],
    /// Ids with several results.
    pub duplicates: Duplicates,
    /// Remarks.
    pub warnings: &'a [LogWarning],
    /// How the parser was found, where it was not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection: Option<Detection>,
}

impl<'a> ParseReport<'a> {
    /// The report of a log with the qualified ids beside the others.
    pub fn with_qualified(log: &'a ParsedLog) -> Self {
        Self {
            qualified: Some(Statuses::qualified(log)),
            ..Self::from(log)
        }
    }
}

impl<'a> From<&'a ParsedLog> for ParseReport<'a> {
    fn from(log: &'a ParsedLog) -> Self {
        let (tests, duplicates) = Statuses::of(log);
        Self {
            parser: &log.parser,
            tests,
            qualified: None,
            totals: log.totals,
            consistent: log.consistent,
            outcome: log.outcome,
            build_failed: log.build_failed(),
            modules_not_loaded: &log.modules_not_loaded,
            in_flight: &log.in_flight,
            duplicates,
            warnings: &log.warnings,
            detection: None,
        }
    }
}

/// The parser of that name, or of the rule set in that file; for `auto` none, for detection has to
/// see the log.
fn named(parsers: &Parsers, name: &str) -> Result<Option<Arc<dyn LogParser>>, Error> {
    if name == "auto" {
        return Ok(None);
    }
    if let Some(rules) = crate::synth::rules_in(name)? {
        return Ok(Some(Arc::new(rules)));
    }
    let unknown = |why: atlas_parsers::UnknownParser| {
        if name == AGENTIC {
            return Error::new(
                ErrorKind::InvalidInput,
                "choose a parser:",
                "`agentic` is a row's own: give the row's file (instance.json), or the parser's",
            );
        }
        Error::new(ErrorKind::InvalidInput, "choose a parser", "").with_source(why)
    };
    parsers.get(name).map(Some).map_err(unknown)
}

/// The reader that a detection asks for.
fn detected(parsers: &Parsers, found: &Detection) -> Result<Box<dyn LogReader>, Error> {
    let unknown = |why: atlas_parsers::UnknownParser| {
        Error::new(ErrorKind::InvalidInput, "choose a parser", "").with_source(why)
    };
    let Some(id) = &found.parser else {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "detect the test runner:",
            format!(
                "unknown ({}); name it with --parser",
                found.reasons.join("; ")
            ),
        ));
    };
    if found.sections.is_empty() {
        return Ok(parsers.get(id).map_err(unknown)?.start());
    }
    let reader = SectionReader::new(parsers, id, &found.sections).map_err(unknown)?;
    Ok(Box::new(reader))
}

/// The parser of that name, or the one that detection finds for `auto`.
fn choose(
    parsers: &Parsers,
    name: &str,
    log: &[u8],
    hints: &Hints<'_>,
) -> Result<Arc<dyn LogParser>, Error> {
    if let Some(parser) = named(parsers, name)? {
        return Ok(parser);
    }
    let found = detect(log, hints);
    detected(parsers, &found)?;
    let id = found.parser.unwrap_or_default();
    named(parsers, &id)?
        .ok_or_else(|| Error::new(ErrorKind::Internal, "detect the test runner:", "none"))
}

/// Parses a log that is in memory. `parser` is an id, a harness's `parse_log_*` name, the
/// path of a rule set (`….json`), or `auto`.
///
/// # Errors
/// An unknown parser, or `auto` and no runner recognised.
pub fn parse_bytes(
    log: &[u8],
    parser: &str,
    hints: &Hints<'_>,
) -> Result<(ParsedLog, Option<Detection>), Error> {
    let parsers = Parsers::builtin();
    let (mut reader, detection) = if let Some(parser) = named(&parsers, parser)? {
        (parser.start(), None)
    } else {
        let found = detect(log, hints);
        (detected(&parsers, &found)?, Some(found))
    };
    reader.feed(log);
    Ok((reader.finish(), detection))
}

/// Parses a log file; `-` is standard input. Read in pieces: memory is bounded by the result. With
/// `auto` the log may be read twice; what cannot be read twice is kept meanwhile, in a temporary file
/// from 8 MiB on.
///
/// # Errors
/// As [`parse_bytes`], and a file that cannot be read.
pub fn parse_file(
    path: &Path,
    parser: &str,
    hints: &Hints<'_>,
) -> Result<(ParsedLog, Option<Detection>), Error> {
    const IN_MEMORY: usize = 8 << 20;
    let fail = |why| Error::io("read", path, why);
    let parsers = Parsers::builtin();
    let file = if path == Path::new("-") {
        None
    } else {
        Some(std::fs::File::open(path).map_err(fail)?)
    };
    let named = named(&parsers, parser)?;
    let mut once: Box<dyn Read> = match file {
        None => Box::new(std::io::stdin().lock()),
        Some(mut file) => {
            if named.is_none() && file.metadata().is_ok_and(|about| about.is_file()) {
                return read_detected(&mut file, &parsers, hints, fail);
            }
            Box::new(file)
        }
    };
    if let Some(parser) = named {
        let mut reader = parser.start();
        each_piece(&mut once, |piece| reader.feed(piece)).map_err(fail)?;
        return Ok((reader.finish(), None));
    }
    let mut kept = tempfile::spooled_tempfile(IN_MEMORY);
    std::io::copy(&mut once, &mut kept).map_err(fail)?;
    kept.rewind().map_err(fail)?;
    read_detected(&mut kept, &parsers, hints, fail)
}

/// Reads a log with the parser that its own marks ask for.
fn read_detected(
    log: &mut (impl Read + Seek),
    parsers: &Parsers,
    hints: &Hints<'_>,
    fail: impl Fn(std::io::Error) -> Error,
) -> Result<(ParsedLog, Option<Detection>), Error> {
    let mut guess = Guess::default();
    each_piece(log, |piece| guess.feed(piece, parsers, hints)).map_err(&fail)?;
    let (reader, found) = guess.finish(hints);
    if let Some(reader) = reader {
        return Ok((reader.finish(), Some(found)));
    }
    let mut reader = detected(parsers, &found)?;
    log.rewind().map_err(&fail)?;
    each_piece(log, |piece| reader.feed(piece)).map_err(&fail)?;
    Ok((reader.finish(), Some(found)))
}

/// Detects the runner of a log and reads the log meanwhile with the parser that its beginning asks for; where
/// the whole asks for another one, that reading is thrown away.
#[derive(Default)]
struct Guess {
    detector: Detector,
    /// The log so far, until it is [`Self::BEGINNING`] long.
    beginning: Vec<u8>,
    is_made: bool,
    reader: Option<(String, Box<dyn LogReader>)>,
}

impl Guess {
    /// So many bytes of a log say which parser to try.
    const BEGINNING: usize = 512 << 10;

    fn feed(&mut self, piece: &[u8], parsers: &Parsers, hints: &Hints<'_>) {
        self.detector.feed(piece);
        if let Some((_, reader)) = &mut self.reader {
            reader.feed(piece);
        } else if !self.is_made {
            self.beginning.extend_from_slice(piece);
            if self.beginning.len() >= Self::BEGINNING {
                self.is_made = true;
                let beginning = std::mem::take(&mut self.beginning);
                let found = self.detector.clone().finish(hints);
                self.reader = found
                    .parser
                    .filter(|_| found.sections.is_empty())
                    .and_then(|id| {
                        let mut reader = parsers.get(&id).ok()?.start();
                        reader.feed(&beginning);
                        Some((id, reader))
                    });
            }
        }
    }

    /// What the log is, and the reading of it, where that is by the right parser.
    fn finish(self, hints: &Hints<'_>) -> (Option<Box<dyn LogReader>>, Detection) {
        let found = self.detector.finish(hints);
        let fits = |id: &str| found.sections.is_empty() && found.parser.as_deref() == Some(id);
        let reader = self.reader.filter(|(id, _)| fits(id));
        (reader.map(|(_, reader)| reader), found)
    }
}

fn each_piece(log: &mut impl Read, mut take: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    loop {
        match log.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(n) => take(&piece[..n]),
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
}

/// Classifies the log files of Base, Before and After, without any engine. The first of each counts;
/// further ones are repeats of the state, and what differs between them is set aside. With `auto`, the
/// runner is found once, in the first log that tells, and read in all.
///
/// # Errors
/// A state without a log, a file that cannot be read, an unknown parser, no runner recognised.
pub fn classify_files<P: AsRef<Path>>(
    logs: [&[P]; 3],
    parser: &str,
    hints: &Hints<'_>,
    test_patch: Option<&Path>,
    gold_patch: Option<&Path>,
) -> Result<Classification, Error> {
    let read = |path: &Path| std::fs::read(path).map_err(|why| Error::io("read", path, why));
    let patch = |path: Option<&Path>| path.map(read).transpose().map(|p| p.map(Patch::new));
    let (test_patch, gold_patch) = (patch(test_patch)?, patch(gold_patch)?);
    let all = |state: State, paths: &[P]| -> Result<Vec<Vec<u8>>, Error> {
        if paths.is_empty() {
            let what = format!("{state}: no log given");
            return Err(Error::new(ErrorKind::InvalidInput, "classify", what));
        }
        paths.iter().map(|path| read(path.as_ref())).collect()
    };
    let [base, before, after] = [
        all(State::Base, logs[0])?,
        all(State::Before, logs[1])?,
        all(State::After, logs[2])?,
    ];
    let parsers = Parsers::builtin();
    // After is the state that surely runs; a Before that does not build may show no runner at all.
    let chosen = choose(&parsers, parser, &after[0], hints)
        .or_else(|why| choose(&parsers, parser, &base[0], hints).map_err(|_| why))
        .or_else(|why| choose(&parsers, parser, &before[0], hints).map_err(|_| why))?;
    let parse = |logs: &[Vec<u8>]| -> Vec<ParsedLog> {
        let one = |log: &Vec<u8>| {
            let mut reader = chosen.start();
            reader.feed(log);
            reader.finish().without_source_lines()
        };
        logs.iter().map(one).collect()
    };
    let (base, before, after) = (parse(&base), parse(&before), parse(&after));
    let mut flaky = BTreeMap::new();
    for (state, logs) in [
        (State::Base, &base),
        (State::Before, &before),
        (State::After, &after),
    ] {
        let logs: Vec<&ParsedLog> = logs.iter().collect();
        for (id, reason) in between_repeats(state, &logs) {
            flaky.entry(id).or_insert(reason);
        }
    }
    Ok(classify(&ClassifyInput {
        gold_patch: gold_patch.as_ref(),
        test_patch: test_patch.as_ref(),
        flaky: &flaky,
        ..ClassifyInput::new(&base[0], &before[0], &after[0])
    }))
}

#[cfg(test)]
mod tests {
    use super::{Guess, parse_bytes, parse_file};
    use atlas_parsers::Hints;
    use std::fmt::Write as _;

    #[test]
    fn a_beginning_that_misleads_changes_nothing() {
        let mut first = String::new();
        for program in 0..20 {
            first.push_str("running 1000 tests\n");
            for test in 0..1_000 {
                let _ = writeln!(first, "test module_{program}::does_the_thing_{test} ... ok");
            }
            first.push_str(
                "\ntest result: ok. 1000 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n",
            );
        }
        let two = format!(
            "{first}=== RUN   TestOther\n--- PASS: TestOther (0.00s)\nPASS\nok  \texample.com/other\t0.01s\n"
        );
        assert!(first.len() > Guess::BEGINNING);
        let hints = Hints::default();
        for (log, parser) in [(&first, "cargo"), (&two, "cargo+gotest")] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), log).unwrap();
            let (read, found) = parse_file(file.path(), "auto", &hints).unwrap();
            assert_eq!(read.parser, parser);
            let (whole, of_whole) = parse_bytes(log.as_bytes(), "auto", &hints).unwrap();
            assert_eq!((read, found), (whole, of_whole));
        }
    }
}
