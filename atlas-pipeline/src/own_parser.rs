//! Parsers that are not shipped: of a file, of a row, of a dataset that brings code along.

use crate::Config;
use crate::engine::{EngineChoice, cache_folder};
use crate::parts::CallersParser;
use crate::store::{Key, read_json, write_json};
use crate::synth::{ParserFile, invalid, open_cell};
use async_trait::async_trait;
use atlas_core::{
    AGENTIC, Error, ErrorKind, ParsedLog, ParsedLogBuilder, RunContext, RunOutcome, Sandbox,
    TestStatus,
};
use atlas_oracle::{RunReader, StateDifferentialOracle};
use atlas_parsers::{
    Cell, RuleParser, ScriptFault, ScriptLimits, ScriptParser, Synthesised, dataset_parser,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Where a parser that is not shipped comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParserOrigin {
    /// A file that the caller named.
    File,
    /// The row's own column of Atlas.
    Row,
    /// Code that the dataset brings along, in the form of another harness.
    Dataset,
    /// The program that called Atlas.
    Caller,
}

/// Who read a log, where no shipped parser did: the verdict is worth what this is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBy {
    /// The parser's id.
    pub id: String,
    /// SHA-256 of its rules or source.
    pub hash: String,
    /// Where it comes from.
    pub origin: ParserOrigin,
    /// What kept its code apart from this machine; absent for rules, which are no code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<String>,
}

impl ReadBy {
    /// The same in a sentence.
    pub(crate) fn note(&self) -> String {
        let whose = match self.origin {
            ParserOrigin::File => "the parser file that was given",
            ParserOrigin::Row => "the row's own parser",
            ParserOrigin::Dataset => "code of the dataset",
            ParserOrigin::Caller => "the caller's own parser",
        };
        let how = match (&self.isolation, self.origin) {
            (Some(isolation), _) => format!("Python in `{isolation}`"),
            (None, ParserOrigin::Caller) => "in the calling program".to_owned(),
            (None, _) => "rules".to_owned(),
        };
        format!(
            "the log was read by {whose}, `{}` ({how}, sha256 {}): what passes is what it says",
            self.id,
            &self.hash[..12.min(self.hash.len())]
        )
    }
}

/// Atlas's own column of a row, whatever its schema.
fn column_of_ours(row: &Map<String, Value>) -> Option<Value> {
    // Columnar files keep objects as text.
    let object = |value: &Value| match value {
        Value::String(text) => serde_json::from_str::<Value>(text).ok(),
        value => Some(value.clone()),
    };
    // A row of another schema keeps the column where conversion puts what has no place.
    let kept = || {
        object(row.get("_atlas_source")?)?
            .get("kept")?
            .get("atlas")
            .cloned()
    };
    object(&row.get("atlas").cloned().or_else(kept)?)
}

/// The parser that a row brings along, whatever its schema: its `atlas.parser`, else the code of a dataset.
pub(crate) fn parser_of_row(
    row: &Map<String, Value>,
) -> Result<Option<(ParserFile, ParserOrigin)>, String> {
    if let Some(parser) = column_of_ours(row).and_then(|ours| ours.get("parser").cloned()) {
        return ParserFile::from_json(&parser.to_string())
            .map(|parser| Some((parser, ParserOrigin::Row)))
            .map_err(|why| format!("parser: {why}"));
    }
    let code = dataset_parser(row).map(|python| ParserFile::Script {
        id: "custom".to_owned(),
        python,
    });
    Ok(code.map(|parser| (parser, ParserOrigin::Dataset)))
}

/// What tells that the logs of a row are read by a parser that its maker's program had, and that no row can bring along: its id.
pub(crate) fn absent_parser_of_row(row: &Map<String, Value>) -> Option<String> {
    let by = column_of_ours(row)?.get("read_by")?.clone();
    let by: ReadBy = serde_json::from_value(by).ok()?;
    (by.origin == ParserOrigin::Caller).then_some(by.id)
}

/// Nobody else can read them: any other parser would find other tests.
pub(crate) fn needs_callers_parser(id: &str) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        "read the row's logs:",
        format!(
            "they are read by `{id}`, a parser of the program that made the row; give it (`parser=`, `Parts`)"
        ),
    )
}

/// The rules that a row brings along, ready: its parser where that is no code.
pub(crate) fn rules_of_row(row: &Map<String, Value>) -> Option<RuleParser> {
    match parser_of_row(row).ok().flatten() {
        Some((ParserFile::Rules(rules), _)) => rules.compile().ok(),
        _ => None,
    }
}

/// A parser that is ready to read.
#[derive(Clone, Debug)]
pub(crate) enum OwnParser {
    Rules(RuleParser),
    Script(Box<ScriptReader>),
    Callers(CallersParser),
}

impl OwnParser {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Rules(parser) => &parser.rules().id,
            Self::Script(reader) => reader.parser.id(),
            Self::Callers(parser) => &parser.id,
        }
    }

    /// What a plan and a row call it: one that comes with the row has no name of its own there.
    pub(crate) fn plan_name(&self) -> &str {
        match self {
            Self::Rules(_) | Self::Script(_) => AGENTIC,
            Self::Callers(parser) => &parser.id,
        }
    }

    /// An oracle whose console it reads.
    pub(crate) fn oracle(&self, sandbox: Arc<dyn Sandbox>) -> StateDifferentialOracle {
        match self {
            Self::Rules(rules) => StateDifferentialOracle::new(sandbox, Arc::new(rules.clone())),
            Self::Script(reader) => {
                StateDifferentialOracle::read_by(sandbox, Arc::new(reader.as_ref().clone()))
            }
            Self::Callers(parser) => {
                StateDifferentialOracle::read_by(sandbox, Arc::clone(&parser.reader))
            }
        }
    }

    pub(crate) fn hash(&self) -> String {
        match self {
            Self::Rules(parser) => parser.rules().hash(),
            Self::Script(reader) => reader.parser.hash(),
            Self::Callers(parser) => parser.hash.clone(),
        }
    }

    /// What a row brings along so that others read its logs; none of what the calling program alone has.
    pub(crate) fn file(&self) -> Option<ParserFile> {
        match self {
            Self::Rules(parser) => Some(ParserFile::Rules(Box::new(parser.rules().clone()))),
            Self::Script(reader) => Some(ParserFile::Script {
                id: reader.parser.id().to_owned(),
                python: reader.parser.source().to_owned(),
            }),
            Self::Callers(_) => None,
        }
    }

    pub(crate) fn read_by(&self, origin: ParserOrigin) -> ReadBy {
        ReadBy {
            id: self.id().to_owned(),
            hash: self.hash(),
            origin,
            isolation: match self {
                Self::Rules(_) | Self::Callers(_) => None,
                Self::Script(reader) => Some(reader.parser.isolation().kind.clone()),
            },
        }
    }
}

/// Where code of others runs: one cell for a whole run of the command, opened when it is needed.
#[derive(Debug)]
pub(crate) struct Isolated {
    engine: EngineChoice,
    config: Config,
    trust: bool,
    /// Where readings are kept, by content.
    kept: PathBuf,
    cell: OnceCell<Cell>,
}

impl Isolated {
    /// Readings are kept below `kept`, or below the user's cache folder.
    pub(crate) fn new(
        engine: EngineChoice,
        config: &Config,
        trust: bool,
        kept: Option<&Path>,
    ) -> Result<Self, Error> {
        let kept = match kept {
            Some(folder) => folder.to_owned(),
            None => cache_folder()?,
        };
        Ok(Self {
            engine,
            config: config.clone(),
            trust,
            kept: kept.join("readings"),
            cell: OnceCell::new(),
        })
    }

    pub(crate) async fn cell(&self, cx: &RunContext) -> Result<Cell, Error> {
        let open = || open_cell(cx, self.engine, &self.config, self.trust);
        self.cell.get_or_try_init(open).await.cloned()
    }

    /// Makes a parser ready; code of others needs a cell.
    pub(crate) async fn ready(
        &self,
        cx: &RunContext,
        parser: &ParserFile,
        hides_globals: bool,
    ) -> Result<OwnParser, Error> {
        match parser {
            ParserFile::Rules(rules) => rules.compile().map(OwnParser::Rules).map_err(|why| {
                Error::new(ErrorKind::InvalidInput, "take the parser", "").with_source(why)
            }),
            ParserFile::Script { id, python } => {
                let cell = self.cell(cx).await.map_err(|why| match why.kind() {
                    ErrorKind::NotTrusted => Error::new(
                        ErrorKind::NotTrusted,
                        format!("run the parser `{id}`, which is code of others:"),
                        "nothing keeps it apart from this machine; --trust-parsers (where there is none, \
                         --trust) runs it all the same",
                    )
                    .with_source(why),
                    _ => why,
                })?;
                let mut parser = ScriptParser::new(id, python, cell, ScriptLimits::default())?;
                if hides_globals {
                    parser = parser.with_hidden_globals();
                }
                Ok(OwnParser::Script(Box::new(self.reader(parser))))
            }
        }
    }

    /// What a model made, ready.
    pub(crate) fn made(&self, parser: Synthesised) -> OwnParser {
        match parser {
            Synthesised::Rules(parser) => OwnParser::Rules(parser),
            Synthesised::Script(parser) => OwnParser::Script(Box::new(self.reader(*parser))),
        }
    }

    fn reader(&self, parser: ScriptParser) -> ScriptReader {
        ScriptReader {
            parser,
            kept: self.kept.clone(),
        }
    }

    /// The parser in a file, ready.
    pub(crate) async fn of_file(&self, cx: &RunContext, path: &Path) -> Result<OwnParser, Error> {
        let parser = ParserFile::read(path)?;
        let ready = self.ready(cx, &parser, false).await;
        ready.map_err(|why| match why.kind() {
            ErrorKind::InvalidInput => invalid("read the parser", path, why),
            _ => why,
        })
    }
}

/// Code that reads logs, each log once: what it made of one is kept by the hash of both.
#[derive(Clone, Debug)]
pub(crate) struct ScriptReader {
    pub(crate) parser: ScriptParser,
    kept: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    tests: Vec<(String, TestStatus)>,
    warnings: Vec<String>,
    fault: Option<ScriptFault>,
}

impl ScriptReader {
    /// Reads a log, or says what stopped the code.
    ///
    /// # Errors
    /// What is no doing of the code.
    pub(crate) async fn reading(
        &self,
        cx: &RunContext,
        log: &[u8],
    ) -> Result<Result<ParsedLog, ScriptFault>, Error> {
        let key = Key::new("reading 1")
            .part(self.parser.fingerprint().as_bytes())
            .part(log)
            .finish();
        let path = self.kept.join(&key[..2]).join(format!("{key}.json"));
        if let Some(kept) = read_json::<Kept>(&path) {
            return Ok(match kept.fault {
                Some(fault) => Err(fault),
                None => Ok(self.log(kept)),
            });
        }
        let read = match self.parser.read(cx, &[log]).await? {
            Ok(logs) => logs.into_iter().next().unwrap_or_else(|| {
                let what = "it answered nothing".to_owned();
                Err(ScriptFault::Died(what))
            }),
            Err(fault) => Err(fault),
        };
        // What reached a limit may come to its end another time, on a machine with less to do.
        let is_final = !matches!(
            read,
            Err(ScriptFault::Time(_) | ScriptFault::Memory(_) | ScriptFault::Died(_))
        );
        if is_final {
            let kept = match &read {
                Ok(log) => Kept {
                    tests: log
                        .results
                        .iter()
                        .map(|result| (result.name.to_owned(), result.status))
                        .collect(),
                    warnings: log.warnings.iter().map(|one| one.text.clone()).collect(),
                    fault: None,
                },
                Err(fault) => Kept {
                    tests: Vec::new(),
                    warnings: Vec::new(),
                    fault: Some(fault.clone()),
                },
            };
            write_json(&path, &kept)?;
        }
        Ok(read)
    }

    fn log(&self, kept: Kept) -> ParsedLog {
        let mut log = ParsedLogBuilder::new(self.parser.id());
        for (name, status) in &kept.tests {
            log.record("", name, name, *status);
        }
        for warning in kept.warnings {
            log.warn(None, warning);
        }
        let outcome = if log.recorded() > 0 {
            RunOutcome::Completed
        } else {
            RunOutcome::NothingRan
        };
        log.finish(outcome)
    }
}

#[async_trait]
impl RunReader for ScriptReader {
    async fn read_run(&self, cx: &RunContext, log: &[u8]) -> Result<ParsedLog, Error> {
        self.reading(cx, log).await?.map_err(|fault| {
            Error::new(
                ErrorKind::ToolFailed,
                format!("read the log with the parser `{}`:", self.parser.id()),
                fault.to_string(),
            )
        })
    }
}
