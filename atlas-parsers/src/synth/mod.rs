//! Making a parser for a log that no shipped parser knows, with a language model.

mod check;
mod prompt;

use crate::certify::{Certificate, CertifyCase, Check, Decision, Examination, Truth, certify};
use crate::rules::{RuleParser, RuleSet};
use crate::script::{Cell, ScriptFault, ScriptLimits, ScriptParser};
use atlas_core::{Error, FinishReason, LanguageModel, LogParserExt, ParsedLog, RunContext};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A log to make a parser for.
#[derive(Clone, Debug, Default)]
pub struct SynthLog<'a> {
    /// Its name: the file's.
    pub name: String,
    /// The log.
    pub bytes: &'a [u8],
    /// The exit code of the command that printed it.
    pub exit_code: Option<i64>,
    /// What a report or a second parser says of the same run. The model does not see it.
    pub truth: Option<Truth>,
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct SynthRequest<'a> {
    /// The new parser's id.
    pub id: &'a str,
    /// Logs of one runner; the more outcomes they show, the better.
    pub logs: &'a [SynthLog<'a>],
    /// About how many tests the sources have, as counted by the caller.
    pub tests_in_sources: Option<u64>,
    /// The command that printed the logs.
    pub command: Option<&'a str>,
}

/// Bounds of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthOptions {
    /// Most corrections of one form. Default 5 (paper 001, section 3.3).
    pub corrections: u32,
    /// Most tokens of one answer. Default 4,096.
    pub answer_tokens: u32,
    /// Implausibly few: fewer than the sources' tests divided by this. Default 2. The paper says
    /// "implausible" and no number.
    pub fewest: u64,
    /// Implausibly many: more than this many times the sources' tests. Default 50, for parameters.
    pub most: u64,
    /// What a parser in Python may use.
    pub script: ScriptLimits,
}

impl Default for SynthOptions {
    fn default() -> Self {
        Self {
            corrections: 5,
            answer_tokens: 4096,
            fewest: 2,
            most: 50,
            script: ScriptLimits::default(),
        }
    }
}

/// The forms that a parser can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A [`RuleSet`].
    Rules,
    /// Python for a [`ScriptParser`].
    Script,
}

/// A parser that was made.
#[derive(Clone, Debug)]
pub enum Synthesised {
    /// Rules, run by this crate.
    Rules(RuleParser),
    /// Code, run in a sandbox.
    Script(Box<ScriptParser>),
}

/// One answer of the model and what was wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SynthAttempt {
    /// What was asked for.
    pub form: Form,
    /// 0 for the first answer, then the number of the correction.
    pub correction: u32,
    /// The model, as it names itself.
    pub model: String,
    /// Name and version of the instructions.
    pub prompt: String,
    /// The answer.
    pub answer: String,
    /// Why it does not do; empty for the one that was taken.
    pub problems: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct SynthReport {
    /// The parser; none if every attempt was refused.
    pub parser: Option<Synthesised>,
    /// Its certificate.
    pub certificate: Option<Certificate>,
    /// All attempts, in order.
    pub attempts: Vec<SynthAttempt>,
}

/// Makes parsers: rules first, then, where rules cannot say it, Python in a sandbox; each with at
/// most [`corrections`](SynthOptions::corrections), fed with what was wrong.
///
/// An attempt is taken when its readings can be true (counts, exit codes, the number of tests in the
/// sources) and certification by changed logs does not refuse it.
#[derive(Clone, Debug)]
pub struct Synthesiser {
    /// Asked.
    pub model: Arc<dyn LanguageModel>,
    /// Where Python runs; without, only rules are made.
    pub cell: Option<Cell>,
    /// Bounds.
    pub options: SynthOptions,
}

/// What became of an answer.
enum Tried {
    Taken(Box<Synthesised>, Box<Certificate>),
    Refused(Vec<String>),
    /// The model says that this form cannot express it.
    Cannot(String),
}

impl Synthesiser {
    /// A synthesiser with the default bounds.
    pub fn new(model: Arc<dyn LanguageModel>, cell: Option<Cell>) -> Self {
        Self {
            model,
            cell,
            options: SynthOptions::default(),
        }
    }

    /// The first question about these logs: what `--show-prompt` prints.
    pub fn question(&self, form: Form, asked: &SynthRequest<'_>) -> atlas_core::CompletionRequest {
        prompt::request(form, asked, None, self.options.answer_tokens)
    }

    /// Makes a parser. None that does is a result too, with its attempts.
    ///
    /// # Errors
    /// The model or its budget fails; the sandbox fails; cancellation.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends the call or the job in flight. Dropping the future is harmless.
    pub async fn synthesise(
        &self,
        cx: &RunContext,
        asked: &SynthRequest<'_>,
    ) -> Result<SynthReport, Error> {
        let mut report = SynthReport::default();
        self.synthesise_into(cx, asked, &mut report).await?;
        Ok(report)
    }

    /// The same into a report, which holds the attempts up to there where an error ends it.
    ///
    /// # Errors
    /// As [`synthesise`](Self::synthesise).
    ///
    /// # Cancellation
    /// As [`synthesise`](Self::synthesise).
    pub async fn synthesise_into(
        &self,
        cx: &RunContext,
        asked: &SynthRequest<'_>,
        report: &mut SynthReport,
    ) -> Result<(), Error> {
        if !self.of_form(cx, Form::Rules, asked, report).await? {
            self.synthesise_script(cx, asked, report).await?;
        }
        Ok(())
    }

    /// Goes on with Python where rules came to nothing; nothing is done without a cell. For callers
    /// that open a cell only when one is needed.
    ///
    /// # Errors
    /// As [`synthesise`](Self::synthesise).
    ///
    /// # Cancellation
    /// As [`synthesise`](Self::synthesise).
    pub async fn synthesise_script(
        &self,
        cx: &RunContext,
        asked: &SynthRequest<'_>,
        report: &mut SynthReport,
    ) -> Result<(), Error> {
        if self.cell.is_none() {
            tracing::info!("no sandbox: no parser in Python is made");
        } else {
            self.of_form(cx, Form::Script, asked, report).await?;
        }
        Ok(())
    }

    /// Whether a parser of this form was taken.
    async fn of_form(
        &self,
        cx: &RunContext,
        form: Form,
        asked: &SynthRequest<'_>,
        report: &mut SynthReport,
    ) -> Result<bool, Error> {
        let mut before: Option<(String, Vec<String>)> = None;
        for correction in 0..=self.options.corrections {
            cx.check("make a parser")?;
            cx.progress.phase("ask the model");
            let tokens = self.options.answer_tokens;
            let request = prompt::request(form, asked, before.as_ref(), tokens);
            let answer = self.model.complete(cx, &request).await?;
            let tried = if answer.finish == FinishReason::Length {
                Tried::Refused(vec!["the answer was cut off at its token limit".to_owned()])
            } else {
                match form {
                    Form::Rules => self.try_rules(asked, &answer.text),
                    Form::Script => self.try_script(cx, asked, &answer.text).await?,
                }
            };
            let (problems, over) = match tried {
                Tried::Taken(parser, certificate) => {
                    report.parser = Some(*parser);
                    report.certificate = Some(*certificate);
                    (Vec::new(), true)
                }
                Tried::Refused(problems) => (problems, false),
                Tried::Cannot(why) => (vec![format!("rules cannot say it: {why}")], true),
            };
            tracing::info!(
                ?form,
                correction,
                problems = problems.len(),
                "an answer of the model"
            );
            report.attempts.push(SynthAttempt {
                form,
                correction,
                model: answer.model,
                prompt: form.prompt_version().to_owned(),
                answer: answer.text.clone(),
                problems: problems.clone(),
            });
            if over {
                return Ok(report.parser.is_some());
            }
            before = Some((answer.text, problems));
        }
        Ok(false)
    }

    fn try_rules(&self, asked: &SynthRequest<'_>, answer: &str) -> Tried {
        #[derive(Deserialize)]
        struct Answer {
            form: String,
            #[serde(default)]
            why: String,
            rules: Option<serde_json::Value>,
        }
        let refused = |why: String| Tried::Refused(vec![why]);
        let said: Answer = match serde_json::from_str(object(answer)) {
            Ok(said) => said,
            Err(why) => {
                return refused(format!(
                    "the answer is not the JSON object that is asked for: {why}"
                ));
            }
        };
        if said.form == "cannot" {
            return Tried::Cannot(said.why);
        }
        let Some(mut rules) = said.rules else {
            return refused("`rules` is missing".to_owned());
        };
        // The caller names the parser.
        rules["id"] = asked.id.into();
        let parser = match RuleSet::from_json(&rules.to_string()).and_then(|rules| rules.compile())
        {
            Ok(parser) => parser,
            Err(why) => return refused(why.to_string()),
        };
        let readings: Vec<_> = asked
            .logs
            .iter()
            .map(|log| parser.examine(log.bytes))
            .collect();
        let (mut problems, notes) = check::remarks(asked, &readings);
        let read: Vec<ParsedLog> = asked
            .logs
            .iter()
            .map(|log| parser.parse(log.bytes))
            .collect();
        problems.splice(0..0, check::problems(asked, &read, &self.options));
        if problems.is_empty() {
            let hash = parser.rules().hash();
            let certificate = certify(&parser, &hash, &cases(asked));
            if certificate.decision != Decision::Refused {
                return Tried::Taken(Box::new(Synthesised::Rules(parser)), Box::new(certificate));
            }
            problems.extend(doubtful(&certificate));
        }
        problems.extend(notes);
        Tried::Refused(problems)
    }

    async fn try_script(
        &self,
        cx: &RunContext,
        asked: &SynthRequest<'_>,
        answer: &str,
    ) -> Result<Tried, Error> {
        #[derive(Deserialize)]
        struct Answer {
            code: String,
        }
        let Some(cell) = &self.cell else {
            return Ok(Tried::Cannot("there is no sandbox".to_owned()));
        };
        let said: Answer = match serde_json::from_str(object(answer)) {
            Ok(said) => said,
            Err(why) => {
                let why = format!("the answer is not the JSON object that is asked for: {why}");
                return Ok(Tried::Refused(vec![why]));
            }
        };
        let limits = self.options.script.clone();
        let parser = match ScriptParser::new(asked.id, &said.code, cell.clone(), limits) {
            Ok(parser) => parser,
            Err(why) => return Ok(Tried::Refused(vec![why.chain()])),
        };
        cx.progress.phase("try the parser");
        let cases = cases(asked);
        let examined = certify_script(cx, &parser, &cases, Vec::new()).await?;
        let (read, certificate) = match examined {
            Ok(examined) => examined,
            Err(fault) => return Ok(Tried::Refused(vec![fault.to_string()])),
        };
        let mut problems = check::problems(asked, &read, &self.options);
        if certificate.decision == Decision::Refused {
            problems.extend(doubtful(&certificate));
        }
        if problems.is_empty() {
            return Ok(Tried::Taken(
                Box::new(Synthesised::Script(Box::new(parser))),
                Box::new(certificate),
            ));
        }
        Ok(Tried::Refused(problems))
    }
}

/// Examines a parser in Python as [`certify`] does one of this crate: its readings of the logs and
/// its certificate, or what stopped it on a log as it was given. What stops it on a changed log is a
/// check that did not hold. `more` are checks that were made elsewhere.
///
/// # Errors
/// The sandbox fails; cancellation.
///
/// # Cancellation
/// As [`ScriptParser::read`].
pub async fn certify_script(
    cx: &RunContext,
    parser: &ScriptParser,
    cases: &[CertifyCase<'_>],
    more: Vec<Check>,
) -> Result<Result<(Vec<ParsedLog>, Certificate), ScriptFault>, Error> {
    let logs: Vec<&[u8]> = cases.iter().map(|case| case.log).collect();
    let read: Result<Vec<ParsedLog>, ScriptFault> = match parser.read(cx, &logs).await? {
        Ok(read) => read.into_iter().collect(),
        Err(fault) => Err(fault),
    };
    let read = match read {
        Ok(read) => read,
        Err(fault) => return Ok(Err(fault)),
    };
    let examination = Examination::begin(cases, read.clone());
    let logs: Vec<&[u8]> = examination.logs().collect();
    let changed = match parser.read(cx, &logs).await? {
        Ok(changed) => changed.into_iter().map(Result::ok).collect(),
        Err(_) => vec![None; logs.len()],
    };
    let certificate = examination.judge(parser.id(), &parser.hash(), changed, more);
    Ok(Ok((read, certificate)))
}

fn cases<'a>(asked: &SynthRequest<'a>) -> Vec<CertifyCase<'a>> {
    asked
        .logs
        .iter()
        .map(|log| CertifyCase {
            name: log.name.clone(),
            log: log.bytes,
            truth: log.truth.clone(),
            exit_code: log.exit_code,
        })
        .collect()
}

/// The failed checks of a certificate, in words for the model.
fn doubtful(certificate: &Certificate) -> Vec<String> {
    let decisive = certificate
        .checks
        .iter()
        .filter(|(kind, _)| kind.is_decisive());
    decisive
        .flat_map(|(kind, summary)| {
            summary.failures.iter().take(2).map(|failure| {
                let line = failure
                    .line
                    .map_or_else(String::new, |line| format!(", line {line}"));
                format!(
                    "check `{}` on `{}`{line}: {}",
                    kind.as_str(),
                    failure.source,
                    failure.text
                )
            })
        })
        .collect()
}

/// From the first brace to the last: without code fences and prose around.
fn object(text: &str) -> &str {
    match (text.find('{'), text.rfind('}')) {
        (Some(from), Some(to)) if from < to => &text[from..=to],
        _ => text,
    }
}
