//! Runs that the plan's parser does not read, and what reads them then.

use super::{MakeOptions, Work, certificate};
use crate::environment::{InstanceModel, inventing};
use crate::log_reading::LogReading;
use crate::own_parser::{Isolated, OwnParser};
use crate::store::write_json;
use atlas_core::{Environment, Error, InstanceId, OracleOutcome, OracleReport, RunContext, State};
use atlas_oracle::StateRun;
use atlas_parsers::Decision;
use std::collections::BTreeMap;

/// What reads the runs in the place of the plan's parser: the one that was given, or one that a model
/// makes where nobody reads them.
pub(super) async fn reading(
    cx: &RunContext,
    options: &MakeOptions,
    (id, model): (&InstanceId, Option<&InstanceModel>),
) -> Result<LogReading, Error> {
    let callers = options.parts.as_ref().and_then(|parts| parts.parser());
    let given = match (callers, &options.parser) {
        (Some(parser), _) => Some(OwnParser::Callers(parser)),
        (None, Some(path)) => {
            let isolated = Isolated::new(options.engine, &options.config, options.trust, None)?;
            Some(isolated.of_file(cx, path).await?)
        }
        (None, None) => None,
    };
    inventing(
        &options.config,
        (options.engine, options.trust),
        (id, model),
        LogReading::by(given),
    )
}

impl Work {
    /// With a model, a parser is made for runs that nobody reads, and once more for runs that its first
    /// one, which has seen Base only, does not read well. `Err`: there is a new one, read them again.
    pub(super) async fn read_anew(
        &mut self,
        cx: &RunContext,
        options: &MakeOptions,
        environment: &mut Environment,
        (report, runs): (OracleReport, BTreeMap<State, Vec<StateRun>>),
        reading: &LogReading,
    ) -> Result<Result<(OracleReport, BTreeMap<State, Vec<StateRun>>), ()>, Error> {
        if !reading.may_invent() {
            return Ok(Ok((report, runs)));
        }
        let is_read = runs
            .values()
            .flatten()
            .any(|run| !run.parsed.results.is_empty());
        let is_doubtful = if reading.is_invented() {
            let own = reading.own();
            let name = &environment.plan.log_parser_name;
            let examined =
                certificate::examine(cx, (name, own.as_ref()), &runs, Vec::new()).await?;
            report.outcome != OracleOutcome::Instance
                || examined.is_ok_and(|made| made.decision == Decision::Refused)
        } else {
            !is_read
        };
        let firsts: Vec<(String, &StateRun)> = runs
            .iter()
            .filter_map(|(state, runs)| Some((state.to_string(), runs.first()?)))
            .collect();
        let firsts: Vec<(&str, &StateRun)> = firsts
            .iter()
            .map(|(state, run)| (state.as_str(), *run))
            .collect();
        let command = environment.plan.test_cmd.clone();
        let is_new = is_doubtful && reading.invent(cx, &command, &firsts).await?;
        let (answers, notes) = reading.record();
        self.warnings.extend(notes);
        if !answers.is_empty() {
            write_json(&self.artefacts.join("parser.attempts.json"), &answers)?;
        }
        if let Some(own) = reading.own() {
            if let Some(file) = own.file() {
                write_json(&self.artefacts.join("parser.json"), &file)?;
            }
            if reading.is_invented() {
                self.warnings.push(format!(
                    "no shipped parser reads these tests; `{}` was made for them by the model",
                    own.id()
                ));
            }
            own.plan_name()
                .clone_into(&mut environment.plan.log_parser_name);
            write_json(&self.artefacts.join("plan.json"), &environment.plan)?;
        }
        tracing::debug!(is_new, is_doubtful, model = ?options.config.model.name, "parser of the runs");
        Ok(if is_new { Err(()) } else { Ok((report, runs)) })
    }
}
