//! `--dry-run`: what a command would ask, and what that may cost.

use super::combine::EnsembleArgs;
use super::judging::ModelArgs;
use super::{DONE, Format};
use atlas_core::{Error, RunContext};
use atlas_llm::Estimate;
use atlas_pipeline::{FailedItem, JudgeReport, ModelSession, RehearsalFolder, SessionModels};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What no estimate can know.
const NOT_COUNTED: [&str; 3] = [
    "corrections of answers that cannot be used, and tries after a failure",
    "samples and further questions where a model gives no log-probabilities",
    "what answers add to later questions",
];

/// A run without its model, which leaves nothing behind.
#[derive(Debug)]
pub(super) struct Rehearsed {
    pub(super) session: ModelSession,
    folder: RehearsalFolder,
    has_out: bool,
}

#[derive(Serialize)]
struct Foretold<'a> {
    dry_run: bool,
    items: usize,
    known: usize,
    /// Of the model that is asked first.
    #[serde(flatten)]
    estimate: &'a Estimate,
    /// Of each of several models; a cascade asks the later ones at most so much.
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<&'a [Estimate]>,
    not_counted: [&'static str; 3],
    /// Items that would fail before any model is asked.
    failed: Vec<&'a FailedItem>,
}

impl ModelArgs {
    /// The dry run that is asked for, if one is.
    pub(super) fn rehearsal(&self, ensemble: &EnsembleArgs) -> Result<Option<Rehearsed>, Error> {
        if !self.dry_run {
            return Ok(None);
        }
        self.rehearsal_of(&ensemble.models(self)?)
    }

    /// The same of one model.
    pub(super) fn rehearsal_of_one(&self) -> Result<Option<Rehearsed>, Error> {
        if !self.dry_run {
            return Ok(None);
        }
        self.named()?;
        self.rehearsal_of(&SessionModels::from(self.model.as_slice()))
    }

    fn rehearsal_of(&self, models: &SessionModels) -> Result<Option<Rehearsed>, Error> {
        let config = self.configuration()?;
        let session = ModelSession::rehearsing(models, &config, self.kept().as_deref())?;
        Ok(Some(Rehearsed {
            session,
            // What is known already is not counted, and stays as it is.
            folder: RehearsalFolder::of(self.out.as_deref())?,
            has_out: self.out.is_some(),
        }))
    }
}

/// Where results go: to a dry run's own folder, or where they were asked for.
pub(super) fn out(rehearsed: Option<&Rehearsed>, out: Option<&PathBuf>) -> PathBuf {
    match rehearsed {
        Some(rehearsed) => rehearsed.folder.out(),
        None => out.cloned().unwrap_or_default(),
    }
}

impl Rehearsed {
    /// Prints what would have been asked.
    pub(super) fn finish(
        &self,
        cx: &RunContext,
        format: Format,
        run: &JudgeReport,
    ) -> Result<u8, Error> {
        cx.progress.phase("");
        let estimates = self.session.estimates();
        let Some(estimate) = estimates.first() else {
            return Ok(DONE);
        };
        // Answers that are made up fail as answers of models do, which says nothing.
        let failed = run.failed.iter().filter(|failed| failed.kind != "model");
        let dry = Foretold {
            dry_run: true,
            items: run.items,
            known: run.known,
            estimate,
            members: (estimates.len() > 1).then_some(&estimates),
            not_counted: NOT_COUNTED,
            failed: failed.collect(),
        };
        format.show(&dry, || self.text(&dry))?;
        Ok(DONE)
    }

    fn text(&self, dry: &Foretold<'_>) -> String {
        let mut text = String::from("dry run: nothing was asked\n");
        for failed in &dry.failed {
            let _ = writeln!(text, "would fail: {}: {}", failed.key, failed.message);
        }
        let known = match (self.has_out, dry.known) {
            (true, known) => format!("{known} known from earlier runs"),
            (false, _) => "none known (no --out)".to_owned(),
        };
        let _ = writeln!(text, "{} items: {known}", dry.items);
        let one = std::slice::from_ref(dry.estimate);
        for estimate in dry.members.unwrap_or(one) {
            estimate_text(&mut text, estimate);
        }
        if let Some(members) = dry.members {
            let money: Option<f64> = members.iter().map(|one| one.money_at_most).sum();
            let _ = match money {
                Some(money) => writeln!(text, "all models together: at most {money:.4} in money"),
                None => writeln!(text, "all models together: money unknown"),
            };
        }
        let _ = writeln!(text, "not counted: {}", dry.not_counted.join("; "));
        text
    }
}

fn estimate_text(text: &mut String, estimate: &Estimate) {
    let _ = writeln!(
        text,
        "{} questions to {}; {} more are answered by kept exchanges",
        estimate.questions, estimate.model, estimate.kept
    );
    let rule = match estimate.measured_on {
        0 => "by rule".to_owned(),
        count => format!("measured on {count} kept answers"),
    };
    let _ = writeln!(
        text,
        "about {} tokens read ({:.2} bytes a token, {rule}), at most {} written",
        estimate.prompt_tokens, estimate.bytes_per_token, estimate.completion_tokens_at_most
    );
    let _ = match estimate.money_at_most {
        Some(money) => writeln!(text, "at most {money:.4} in money"),
        None => writeln!(
            text,
            "money unknown: the model has no `price`, and the table of prices does not know it (--prices FILE)"
        ),
    };
    if let (Some(long), Some(window)) = (
        estimate.too_long.filter(|long| *long > 0),
        estimate.context_window,
    ) {
        let _ = writeln!(
            text,
            "{long} questions may be longer than the model's {window} tokens"
        );
    }
}
