//! What the parser of a row's logs is worth, shown on those very logs.

use super::{Journey, Judged, Means, inject};
use crate::environment::InstanceModel;
use crate::own_parser::OwnParser;
use crate::store::write_json;
use atlas_core::{
    Error, ErrorKind, Evidence, ExitState, LogParser, LogParserExt, ParsedLog, RunContext, State,
    TestStatus,
};
use atlas_oracle::StateRun;
use atlas_parsers::{
    Certificate, CertifyCase, Check, CheckKind, Decision, Parsers, RowCertificate, certify_script,
    certify_with, stable_log,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest log that is examined: each is read some dozens of times.
const MOST: usize = 2 << 20;

/// A certificate, or why there is none.
pub(super) type Examined = Result<Certificate, String>;

/// Examines who read the runs. The logs are those runs' own, without the times and addresses in which
/// two runs of the same tests differ, as long as they read the same without them.
pub(super) async fn examine(
    cx: &RunContext,
    (name, own): (&str, Option<&OwnParser>),
    runs: &BTreeMap<State, Vec<StateRun>>,
    mut more: Vec<Check>,
) -> Result<Examined, Error> {
    cx.progress.phase("certify the parser");
    let firsts: Vec<(String, &StateRun)> = runs
        .iter()
        .filter_map(|(state, runs)| Some((format!("{state}.log"), runs.first()?)))
        .filter(|(_, run)| !run.log.is_empty())
        .collect();
    let large = firsts
        .iter()
        .filter(|(_, run)| run.log.len() > MOST)
        .count();
    let firsts: Vec<_> = firsts
        .into_iter()
        .filter(|(_, run)| run.log.len() <= MOST)
        .collect();
    if firsts.is_empty() {
        return Ok(Err(if large > 0 {
            format!("every log is larger than {MOST} bytes")
        } else {
            "there is no log".to_owned()
        }));
    }
    for (name, run) in &firsts {
        more.extend(agreement(name, run));
    }
    let stable: Vec<Vec<u8>> = firsts
        .iter()
        .map(|(_, run)| stable_log(&run.log, run.parsed.results.iter().map(|test| test.name)))
        .collect();
    let logs: Vec<&[u8]> = stable.iter().map(Vec::as_slice).collect();
    match own {
        Some(OwnParser::Script(reader)) => {
            let read = match reader.parser.read(cx, &logs).await? {
                Ok(read) => read.into_iter().map(Result::ok).collect(),
                Err(_) => vec![None; logs.len()],
            };
            let cases = cases(&firsts, &stable, &read);
            Ok(Ok(
                match certify_script(cx, &reader.parser, &cases, more).await? {
                    Ok((_, certificate)) => certificate,
                    Err(fault) => Certificate {
                        schema_version: Certificate::SCHEMA_VERSION,
                        parser: reader.parser.id().to_owned(),
                        hash: reader.parser.hash(),
                        decision: Decision::Refused,
                        logs: cases.len() as u64,
                        reasons: vec![fault.to_string()],
                        ..Certificate::default()
                    },
                },
            ))
        }
        Some(OwnParser::Rules(rules)) => {
            let hash = rules.rules().hash();
            let parser: Arc<dyn LogParser> = Arc::new(rules.clone());
            Ok(Ok(pure(&parser, &hash, &firsts, &stable, more)))
        }
        Some(OwnParser::Callers(parser)) => Ok(Err(format!(
            "`{}` is the calling program's own parser, which is not examined here",
            parser.id
        ))),
        None => {
            let parser = Parsers::builtin().get(name).map_err(|why| {
                Error::new(ErrorKind::InvalidInput, "choose the plan's parser", "").with_source(why)
            })?;
            let version = format!("atlas-parsers {}", env!("CARGO_PKG_VERSION"));
            Ok(Ok(pure(&parser, &version, &firsts, &stable, more)))
        }
    }
}

fn pure(
    parser: &Arc<dyn LogParser>,
    hash: &str,
    firsts: &[(String, &StateRun)],
    stable: &[Vec<u8>],
    more: Vec<Check>,
) -> Certificate {
    let read: Vec<_> = stable
        .iter()
        .map(|log| Some(parser.parse(log).without_source_lines()))
        .collect();
    certify_with(parser, hash, &cases(firsts, stable, &read), more)
}

fn cases<'a>(
    firsts: &[(String, &'a StateRun)],
    stable: &'a [Vec<u8>],
    read: &[Option<ParsedLog>],
) -> Vec<CertifyCase<'a>> {
    firsts
        .iter()
        .zip(stable.iter().zip(read))
        .map(|((name, run), (stable, read))| {
            let is_same = read.as_ref().is_some_and(|read| {
                read.tests() == run.parsed.tests() && read.consistent == run.parsed.consistent
            });
            CertifyCase {
                name: name.clone(),
                log: if is_same { stable } else { &run.log },
                truth: None,
                exit_code: match run.summary.exit {
                    ExitState::Exited { code } => Some(code),
                    _ => None,
                },
            }
        })
        .collect()
}

/// What the structured report of the same run says, where there is one.
fn agreement(name: &str, run: &StateRun) -> Vec<Check> {
    let Some(report) = &run.summary.report else {
        return Vec::new();
    };
    let check = |kind, passed, text: String| Check {
        kind,
        passed,
        proof: Evidence::of(name, text),
    };
    let first = report.differences.first().map_or("", String::as_str);
    let mut checks = vec![check(
        CheckKind::Agreement,
        report.agrees,
        format!("{}: {first}", report.file),
    )];
    let has =
        |wanted: fn(TestStatus) -> bool| run.parsed.results.iter().any(|test| wanted(test.status));
    if report.agrees && has(TestStatus::is_passing) && has(TestStatus::is_failing) {
        let what = format!("passed and failed tests as in {}", report.file);
        checks.push(check(CheckKind::Outcomes, true, what));
    }
    checks
}

impl Journey<'_> {
    /// Examines who read the runs; the proof goes into the artefacts, the rest into the row.
    pub(super) async fn certificate(
        &mut self,
        means: &Means,
        judged: &Judged,
    ) -> Result<RowCertificate, Error> {
        let (cx, environment) = (self.cx, &judged.environment);
        let mut more = Vec::new();
        if self.options.inject
            && let Some(after) = judged.first(State::After)
        {
            let limits = &self.options.config.limits;
            let oracle = self.oracle(means, &environment.plan, limits)?;
            let unstable = judged.report.unstable.keys().cloned().collect();
            let subject = inject::Subject {
                oracle: &oracle,
                environment,
                task: &means.task,
                after,
                unstable: &unstable,
            };
            let model = self.model.as_ref().map(InstanceModel::model);
            let (injection, checks) = inject::inject(cx, &subject, model.as_ref()).await?;
            write_json(&self.artefacts.join("injection.json"), &injection)?;
            let notes = injection
                .notes
                .iter()
                .map(|note| format!("injection: {note}"));
            self.warnings.extend(notes);
            more = checks;
        }
        let own = means.reading.own();
        let name = &environment.plan.log_parser_name;
        let name = own.as_ref().map_or(name.as_str(), OwnParser::id);
        let examined = examine(cx, (name, own.as_ref()), &judged.runs, more).await?;
        Ok(match examined {
            Ok(certificate) => {
                write_json(&self.artefacts.join("certificate.json"), &certificate)?;
                if certificate.decision == Decision::Refused {
                    self.warnings.push(format!(
                        "certification refuses the parser `{name}` on these logs: {}",
                        certificate.reasons.first().map_or("", String::as_str)
                    ));
                }
                certificate.for_row()
            }
            Err(why) => RowCertificate {
                schema_version: Certificate::SCHEMA_VERSION,
                parser: name.to_owned(),
                absent_because: Some(why),
                ..RowCertificate::default()
            },
        })
    }
}
