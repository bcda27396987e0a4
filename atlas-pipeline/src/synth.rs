//! Parsers that are made, kept in files, and certified: `atlas synth-parser`.

use crate::engine::{EngineChoice, Engines};
use crate::own_parser::parser_of_row;
use crate::{Config, parse_bytes, write_atomically};
use atlas_core::{
    CommitSha, Environment, EnvironmentPlan, Error, ErrorKind, LanguageModel, RunContext,
};
use atlas_docker::{BuildOutcome, render};
use atlas_llm::Scripted;
use atlas_parsers::{
    Cell, Certificate, CertifyCase, Decision, Form, Hints, Parsers, RuleError, RuleParser, RuleSet,
    ScriptLimits, ScriptParser, SynthAttempt, SynthLog, SynthOptions, SynthReport, SynthRequest,
    Synthesised, Synthesiser, Truth, certify, certify_script, detect,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A parser as a file keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParserFile {
    /// Python, for a sandbox.
    Script {
        /// The parser's id.
        id: String,
        /// Its source.
        python: String,
    },
    /// A rule set.
    Rules(Box<RuleSet>),
}

impl ParserFile {
    /// Reads a parser from a file: the parser's own, or that of a row that brings one along.
    ///
    /// # Errors
    /// A file that cannot be read or holds no parser; the field is named.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|why| Error::io("read", path, why))?;
        Self::from_json(&text).map_err(|why| invalid("read the parser", path, why))
    }

    /// Reads a parser from JSON.
    ///
    /// # Errors
    /// As [`RuleSet::from_json`], for what is no Python either.
    pub fn from_json(text: &str) -> Result<Self, RuleError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Script {
            id: String,
            python: String,
        }
        if let Ok(Script { id, python }) = serde_json::from_str(text) {
            return Ok(Self::Script { id, python });
        }
        // A row has its parser in it.
        let row: Option<Map<String, Value>> = serde_json::from_str(text).ok();
        if let Some(Ok(Some((parser, _)))) = row.map(|row| parser_of_row(&row)) {
            return Ok(parser);
        }
        RuleSet::from_json(text).map(|rules| Self::Rules(Box::new(rules)))
    }

    pub(crate) fn of(parser: &Synthesised) -> Self {
        match parser {
            Synthesised::Rules(parser) => Self::Rules(Box::new(parser.rules().clone())),
            Synthesised::Script(parser) => Self::Script {
                id: parser.id().to_owned(),
                python: parser.source().to_owned(),
            },
        }
    }
}

pub(crate) fn invalid(
    what: &str,
    path: &Path,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    let place = format!("`{}`", path.display());
    Error::new(ErrorKind::InvalidInput, what, place).with_source(why)
}

/// The rule set in a file, if a parser is named by a path.
pub(crate) fn rules_in(name: &str) -> Result<Option<RuleParser>, Error> {
    let path = Path::new(name);
    if path
        .extension()
        .is_none_or(|end| end != "json" && end != "jsonl")
    {
        return Ok(None);
    }
    match ParserFile::read(path)? {
        ParserFile::Rules(rules) => rules
            .compile()
            .map(Some)
            .map_err(|why| invalid("read the parser", path, why)),
        ParserFile::Script { .. } => Err(invalid(
            "read the parser",
            path,
            "it is Python, which runs in a sandbox only: `atlas synth-parser --certify LOG --parser FILE`",
        )),
    }
}

/// What a parser is made of and by.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SynthParserOptions {
    /// Logs of one runner.
    pub logs: Vec<PathBuf>,
    /// The exit codes of the commands that printed them, in their order; may be fewer.
    pub exit_codes: Vec<i64>,
    /// For each log, in their order, what another witness says of its run: a report or log that a
    /// shipped parser knows, or JSON `{id: status}`; may be fewer.
    pub truths: Vec<PathBuf>,
    /// The parser's id.
    pub id: String,
    /// About how many tests the sources have.
    #[serde(rename = "tests_in_source")]
    pub tests_in_sources: Option<u64>,
    /// The command that printed the logs.
    pub command: Option<String>,
    /// Make a parser even where a shipped one knows the first log.
    pub anyway: bool,
    /// Bounds of the loop.
    #[serde(skip)]
    pub options: SynthOptions,
    /// Where Python runs.
    pub engine: EngineChoice,
    /// The configuration of engines.
    #[serde(skip)]
    pub config: Config,
    /// Run Python even where nothing keeps it apart.
    pub trust: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SynthParserOutcome {
    /// A shipped parser knows the log; nothing was asked.
    Known,
    /// A parser was made and certified.
    Certified,
    /// A parser was made, and the logs do not show enough to certify it.
    Insufficient,
    /// No parser was made that certification does not refuse.
    Refused,
}

/// A parser that was made, and how.
#[derive(Clone, Debug, Serialize)]
pub struct SynthParserReport {
    /// What came of it.
    pub outcome: SynthParserOutcome,
    /// The shipped parser that knows the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The parser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser: Option<ParserFile>,
    /// Its certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// The model's answers.
    pub attempts: Vec<SynthAttempt>,
    /// Why no parser in Python was tried, where one was wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The logs of a request with what is known of them, read into memory.
struct Material {
    logs: Vec<LogInput>,
}

struct LogInput {
    name: String,
    bytes: Vec<u8>,
    exit_code: Option<i64>,
    truth: Option<Truth>,
}

impl Material {
    fn read(paths: &[PathBuf], codes: &[i64], truths: &[PathBuf]) -> Result<Self, Error> {
        let mut logs = Vec::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            let bytes = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
            let name = path.file_name().unwrap_or(path.as_os_str());
            logs.push(LogInput {
                name: name.to_string_lossy().into_owned(),
                bytes,
                exit_code: codes.get(at).copied(),
                truth: truths.get(at).map(|path| truth(path)).transpose()?,
            });
        }
        Ok(Self { logs })
    }

    fn synth(&self) -> Vec<SynthLog<'_>> {
        let logs = self.logs.iter();
        logs.map(|log| SynthLog {
            name: log.name.clone(),
            bytes: &log.bytes,
            exit_code: log.exit_code,
            truth: log.truth.clone(),
        })
        .collect()
    }

    fn cases(&self) -> Vec<CertifyCase<'_>> {
        let logs = self.logs.iter();
        logs.map(|log| CertifyCase {
            name: log.name.clone(),
            log: &log.bytes,
            truth: log.truth.clone(),
            exit_code: log.exit_code,
        })
        .collect()
    }
}

/// What another witness says of a run.
fn truth(path: &Path) -> Result<Truth, Error> {
    let bytes = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
    if let Ok(tests) = serde_json::from_slice::<BTreeMap<String, atlas_core::TestStatus>>(&bytes) {
        return Ok(Truth {
            source: "given statuses".to_owned(),
            tests,
            ..Truth::default()
        });
    }
    let (log, _) = parse_bytes(&bytes, "auto", &Hints::default())?;
    let tests = log.tests().into_iter();
    Ok(Truth {
        source: format!("report that `{}` reads", log.parser),
        tests: tests.map(|(id, status)| (id.to_owned(), status)).collect(),
        ..Truth::default()
    })
}

/// An environment with Python and an empty repository on an engine, for code of others.
///
/// # Errors
/// No engine; an engine that keeps too little apart, unless `trust` says that the code is trusted; an
/// environment that cannot be built.
///
/// # Cancellation
/// As a build's and a job's.
pub async fn open_cell(
    cx: &RunContext,
    engine: EngineChoice,
    config: &Config,
    trust: bool,
) -> Result<Cell, Error> {
    let engines = Engines::open(engine, config, trust).await?;
    let plan = EnvironmentPlan {
        language: "python".to_owned(),
        base_image: "python:3.12-slim-bookworm".to_owned(),
        test_cmd: "true".to_owned(),
        log_parser_name: "tap".to_owned(),
        ..EnvironmentPlan::default()
    };
    let dockerfile = render(&plan).map_err(|why| {
        Error::new(
            ErrorKind::Internal,
            "render plan",
            "of the parsers' sandbox",
        )
        .with_source(why)
    })?;
    let folder = tempfile::tempdir()
        .map_err(|why| Error::new(ErrorKind::Io, "make a folder", "").with_source(why))?;
    let checkout = folder.path().join("empty");
    std::fs::create_dir(&checkout).map_err(|why| Error::io("make", &checkout, why))?;
    let base: CommitSha = "0".repeat(40).parse().map_err(|why| {
        Error::new(ErrorKind::Internal, "name", "an empty commit").with_source(why)
    })?;
    let repository = atlas_core::Repository {
        name: "atlas/parsers".to_owned(),
        checkout,
        base,
        base_date: "2024-01-01T00:00:00Z".to_owned(),
        head_manifests: BTreeMap::new(),
        head_tests: BTreeMap::new(),
        touched: Vec::new(),
    };
    let built = engines.builder.build(cx, &repository, &plan, &dockerfile);
    let environment = match built.await? {
        BuildOutcome::Built {
            image, plan, lock, ..
        } => Environment {
            plan,
            dockerfile,
            image,
            lock,
            attempts: Vec::new(),
        },
        BuildOutcome::Failed(failure) => {
            return Err(Error::new(
                ErrorKind::ToolFailed,
                "build the parsers' sandbox:",
                format!("{}: {}", failure.step, failure.stderr.trim()),
            ));
        }
    };
    Cell::open(cx, engines.sandbox, environment, trust).await
}

/// The first question about these logs, for both forms: role and text of each message.
///
/// # Errors
/// A log that cannot be read.
pub fn synth_question(
    options: &SynthParserOptions,
    form: Form,
) -> Result<Vec<atlas_core::ChatMessage>, Error> {
    let material = Material::read(&options.logs, &options.exit_codes, &[])?;
    let logs = material.synth();
    let asked = request(options, &logs);
    let nobody: Arc<dyn LanguageModel> = Arc::new(Scripted::new([]));
    let synthesiser = Synthesiser {
        model: nobody,
        cell: None,
        options: options.options.clone(),
    };
    Ok(synthesiser.question(form, &asked).messages)
}

fn request<'a>(options: &'a SynthParserOptions, logs: &'a [SynthLog<'a>]) -> SynthRequest<'a> {
    SynthRequest {
        id: &options.id,
        logs,
        tests_in_sources: options.tests_in_sources,
        command: options.command.as_deref(),
    }
}

/// Makes a parser for logs that no shipped one knows.
///
/// # Errors
/// Files that cannot be read; the model; the engine, where Python is tried.
///
/// # Cancellation
/// Raising `cx.cancel` ends the call, build or job in flight.
pub async fn synth_parser(
    cx: &RunContext,
    options: &SynthParserOptions,
    model: Arc<dyn LanguageModel>,
) -> Result<SynthParserReport, Error> {
    let material = Material::read(&options.logs, &options.exit_codes, &options.truths)?;
    let logs = material.synth();
    let hints = Hints {
        command: options.command.as_deref(),
        language: None,
    };
    if let (false, Some(first)) = (options.anyway, logs.first())
        && let Some(known) = detect(first.bytes, &hints).parser
    {
        return Ok(SynthParserReport {
            outcome: SynthParserOutcome::Known,
            known: Some(known),
            parser: None,
            certificate: None,
            attempts: Vec::new(),
            notes: Vec::new(),
        });
    }
    let asked = request(options, &logs);
    let mut synthesiser = Synthesiser {
        model,
        cell: None,
        options: options.options.clone(),
    };
    let mut report: SynthReport = synthesiser.synthesise(cx, &asked).await?;
    let mut notes = Vec::new();
    if report.parser.is_none() {
        match open_cell(cx, options.engine, &options.config, options.trust).await {
            Ok(cell) => {
                synthesiser.cell = Some(cell);
                synthesiser
                    .synthesise_script(cx, &asked, &mut report)
                    .await?;
            }
            Err(why) if why.kind() == ErrorKind::NotTrusted => {
                notes.push(format!("no parser in Python was tried: {}", why.chain()));
            }
            Err(why) => return Err(why),
        }
    }
    let decision = report
        .certificate
        .as_ref()
        .map(|certificate| certificate.decision);
    Ok(SynthParserReport {
        outcome: match (&report.parser, decision) {
            (Some(_), Some(Decision::Certified)) => SynthParserOutcome::Certified,
            (Some(_), Some(Decision::Insufficient)) => SynthParserOutcome::Insufficient,
            _ => SynthParserOutcome::Refused,
        },
        known: None,
        parser: report.parser.as_ref().map(ParserFile::of),
        certificate: report.certificate,
        attempts: report.attempts,
        notes,
    })
}

/// What is certified, and with what.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CertifyParserOptions {
    /// Logs of the parser's runner.
    pub logs: Vec<PathBuf>,
    /// As in [`SynthParserOptions::exit_codes`].
    pub exit_codes: Vec<i64>,
    /// As in [`SynthParserOptions::truths`].
    pub truths: Vec<PathBuf>,
    /// A shipped parser's id, or the file of another.
    pub parser: String,
    /// Where Python runs.
    pub engine: EngineChoice,
    /// The configuration of engines.
    #[serde(skip)]
    pub config: Config,
    /// Run Python even where nothing keeps it apart.
    pub trust: bool,
}

/// Certifies a shipped parser, a rule set or Python in a sandbox. A parser in Python that is stopped
/// on a log as it is has a certificate that refuses it and says why.
///
/// # Errors
/// Files that cannot be read; an unknown parser; the engine, where Python runs.
///
/// # Cancellation
/// As [`synth_parser`].
pub async fn certify_parser(
    cx: &RunContext,
    options: &CertifyParserOptions,
) -> Result<Certificate, Error> {
    let material = Material::read(&options.logs, &options.exit_codes, &options.truths)?;
    let cases = material.cases();
    let path = Path::new(&options.parser);
    if path
        .extension()
        .is_none_or(|end| end != "json" && end != "jsonl")
    {
        let parser = Parsers::builtin().get(&options.parser).map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "choose a parser", "").with_source(why)
        })?;
        let version = format!("atlas-parsers {}", env!("CARGO_PKG_VERSION"));
        return Ok(certify(&parser, &version, &cases));
    }
    match ParserFile::read(path)? {
        ParserFile::Rules(rules) => {
            let parser = rules
                .compile()
                .map_err(|why| invalid("read the parser", path, why))?;
            Ok(certify(&parser, &rules.hash(), &cases))
        }
        ParserFile::Script { id, python } => {
            let cell = open_cell(cx, options.engine, &options.config, options.trust).await?;
            let parser = ScriptParser::new(&id, &python, cell, ScriptLimits::default())?;
            match certify_script(cx, &parser, &cases, Vec::new()).await? {
                Ok((_, certificate)) => Ok(certificate),
                Err(fault) => Ok(Certificate {
                    schema_version: Certificate::SCHEMA_VERSION,
                    parser: id,
                    hash: parser.hash(),
                    decision: Decision::Refused,
                    logs: cases.len() as u64,
                    reasons: vec![fault.to_string()],
                    ..Certificate::default()
                }),
            }
        }
    }
}

impl SynthParserReport {
    /// Writes the parser to a file, whole or not at all.
    ///
    /// # Errors
    /// There is no parser, or the file cannot be written.
    pub fn write_parser(&self, path: &Path) -> Result<(), Error> {
        let Some(parser) = &self.parser else {
            return Err(invalid("write the parser", path, "none was made"));
        };
        let mut text = serde_json::to_string_pretty(parser).map_err(|why| {
            Error::new(ErrorKind::Internal, "encode the parser", "").with_source(why)
        })?;
        text.push('\n');
        write_atomically(path, text.as_bytes())
    }
}
