//! `--dry-run`: what a command would ask, and what that may cost.

use super::judging::ModelArgs;
use super::{DONE, Format, output};
use atlas_core::{Error, RunContext};
use atlas_llm::Estimate;
use atlas_pipeline::{FailedItem, JudgeReport, ModelSession, RehearsalFolder};
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
    #[serde(flatten)]
    estimate: Estimate,
    not_counted: [&'static str; 3],
    /// Items that would fail before any model is asked.
    failed: Vec<&'a FailedItem>,
}

impl ModelArgs {
    /// The dry run that is asked for, if one is.
    pub(super) fn rehearsal(&self) -> Result<Option<Rehearsed>, Error> {
        if !self.dry_run {
            return Ok(None);
        }
        let (model, config) = (self.named()?, self.configuration()?);
        let session = ModelSession::rehearsing(model, &config, self.kept().as_deref())?;
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
        let Some(estimate) = self.session.estimate() else {
            return Ok(DONE);
        };
        // Answers that are made up fail as answers of models do, which says nothing.
        let failed = run.failed.iter().filter(|failed| failed.kind != "model");
        let dry = Foretold {
            dry_run: true,
            items: run.items,
            known: run.known,
            estimate,
            not_counted: NOT_COUNTED,
            failed: failed.collect(),
        };
        match format {
            Format::Json => output::json(&dry)?,
            Format::Text => output::print(&self.text(&dry))?,
        }
        Ok(DONE)
    }

    fn text(&self, dry: &Foretold<'_>) -> String {
        let estimate = &dry.estimate;
        let mut text = String::from("dry run: nothing was asked\n");
        for failed in &dry.failed {
            let _ = writeln!(text, "would fail: {}: {}", failed.key, failed.message);
        }
        let known = match (self.has_out, dry.known) {
            (true, known) => format!("{known} known from earlier runs"),
            (false, _) => "none known (no --out)".to_owned(),
        };
        let _ = writeln!(text, "{} items: {known}", dry.items);
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
        let _ = writeln!(text, "not counted: {}", dry.not_counted.join("; "));
        text
    }
}
