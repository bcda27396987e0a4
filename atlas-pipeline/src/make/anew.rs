//! Runs that the plan's parser does not read, and what reads them then.

use super::{Journey, Judged, Means, certificate};
use crate::environment::inventing;
use crate::log_reading::LogReading;
use crate::own_parser::{Isolated, OwnParser};
use crate::store::write_json;
use atlas_core::{Error, OracleOutcome};
use atlas_oracle::StateRun;
use atlas_parsers::Decision;

impl Journey<'_> {
    /// What reads the runs in the place of the plan's parser: the one that was given, or one that a model
    /// makes where nobody reads them.
    pub(super) async fn reading(&self) -> Result<LogReading, Error> {
        let options = self.options;
        let callers = options.parts.as_ref().and_then(|parts| parts.parser());
        let given = match (callers, &options.parser) {
            (Some(parser), _) => Some(OwnParser::Callers(parser)),
            (None, Some(path)) => {
                let isolated = Isolated::new(options.engine, &options.config, options.trust, None)?;
                Some(isolated.of_file(self.cx, path).await?)
            }
            (None, None) => None,
        };
        inventing(
            &options.config,
            (options.engine, options.trust),
            (&self.request.instance_id, self.model.as_ref()),
            LogReading::by(given),
        )
    }

    /// With a model, a parser is made for runs that nobody reads, and once more for runs that its first
    /// one, which has seen Base only, does not read well. The states are run again where there is a new one: what they
    /// printed is remembered.
    pub(super) async fn read_anew(
        &mut self,
        means: &Means,
        mut judged: Judged,
    ) -> Result<Judged, Error> {
        let (cx, reading) = (self.cx, &*means.reading);
        let Judged {
            environment,
            report,
            runs,
        } = &mut judged;
        if !reading.may_invent() {
            return Ok(judged);
        }
        let is_read = runs
            .values()
            .flatten()
            .any(|run| !run.parsed.results.is_empty());
        let is_doubtful = if reading.is_invented() {
            let own = reading.own();
            let name = &environment.plan.log_parser_name;
            let examined = certificate::examine(cx, (name, own.as_ref()), runs, Vec::new()).await?;
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
        tracing::debug!(is_new, is_doubtful, model = ?self.options.config.model.name, "parser of the runs");
        if is_new {
            return self.states(means, judged.environment).await;
        }
        Ok(judged)
    }
}
