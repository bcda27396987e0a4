//! The page of an evaluation: of its folder, or of what `atlas eval --format json` printed.

use crate::EvalVerdict;
use atlas_core::{Error, ErrorKind};
use atlas_oracle::{ScoreBounds, Scored, wilson};
use atlas_report::{EvaluationPage, ModelScore, Share, VerdictRow};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use walkdir::WalkDir;

/// What is read of what `atlas eval` prints.
#[derive(Deserialize)]
struct Printed {
    #[serde(default)]
    run_id: String,
    verdicts: Vec<EvalVerdict>,
}

/// Bytes at the end of a log that are shown of a prediction that is not resolved.
const LOG_END: u64 = 2000;
/// Bytes of patches and logs that a page holds; a browser opens them all at once.
const ROOM: usize = 48 << 20;
/// What stands in place of one for which there is no room.
const NO_ROOM: &str = "This page has no room for it; the folder of the evaluation has it.";
/// Names under which harnesses keep the log that was graded.
const LOGS: [&str; 2] = ["test_output.txt", "test_output_after.txt"];

pub(super) fn collect(input: &Path) -> Result<EvaluationPage, Error> {
    let mut page = EvaluationPage::default();
    let mut room = ROOM;
    let mut scored: BTreeMap<String, Vec<Scored>> = BTreeMap::new();
    if input.is_dir() {
        page.run_id = super::name_of(input);
        below(input, &mut page, &mut scored, &mut room)?;
    } else {
        let printed: Printed = super::read(input)?;
        page.run_id = printed.run_id;
        page.notes.push(
            "Patches and logs are not in this file; the folder `logs/run_evaluation/<run id>` has them.".to_owned(),
        );
        for verdict in &printed.verdicts {
            add(&mut page, &mut scored, verdict, None, &mut room)?;
        }
    }
    page.models = scored.iter().map(|(model, of)| score(model, of)).collect();
    Ok(page)
}

fn below(
    folder: &Path,
    page: &mut EvaluationPage,
    scored: &mut BTreeMap<String, Vec<Scored>>,
    room: &mut usize,
) -> Result<(), Error> {
    for entry in WalkDir::new(folder).max_depth(3).sort_by_file_name() {
        let entry = entry.map_err(|why| {
            let name = folder.display().to_string();
            Error::new(ErrorKind::Io, "look through", name).with_source(why)
        })?;
        if entry.file_name() == "verdict.json" {
            let verdict: EvalVerdict = super::read(entry.path())?;
            add(page, scored, &verdict, entry.path().parent(), room)?;
        }
    }
    let faults: Option<Vec<serde_json::Value>> = super::read_if_any(&folder.join("faults.json"))?;
    if let Some(faults) = faults.filter(|faults| !faults.is_empty()) {
        page.notes.push(format!(
            "{} lines of the inputs had faults: `faults.json` has them.",
            faults.len()
        ));
    }
    if page.verdicts.is_empty() {
        page.notes
            .push("There is no verdict in this folder yet.".to_owned());
    }
    Ok(())
}

fn add(
    page: &mut EvaluationPage,
    scored: &mut BTreeMap<String, Vec<Scored>>,
    verdict: &EvalVerdict,
    folder: Option<&Path>,
    room: &mut usize,
) -> Result<(), Error> {
    if page.mode.is_empty() {
        page.mode = verdict.mode.to_string();
    }
    let of = scored
        .entry(verdict.model_name_or_path.clone())
        .or_default();
    of.push(Scored {
        resolved: verdict.resolved,
        cause: verdict.cause,
    });
    let mut patch = match folder {
        Some(folder) => super::text(&folder.join("patch.diff"))?,
        None => None,
    };
    let mut log_end = match folder.filter(|_| !verdict.resolved) {
        Some(folder) => log_end(folder)?,
        None => None,
    };
    for shown in [&mut patch, &mut log_end] {
        let bytes = shown.as_ref().map_or(0, String::len);
        if bytes <= *room {
            *room -= bytes;
        } else {
            *shown = Some(NO_ROOM.to_owned());
        }
    }
    let count = |ids: &atlas_core::TestIds| ids.len() as u64;
    let listed = |of: &atlas_oracle::Graded| {
        let passing = count(&of.success);
        (passing, passing + count(&of.failure))
    };
    let guards = verdict
        .guards
        .iter()
        .map(|signal| format!("{}: {}", signal.path, signal.message));
    let missed = verdict
        .fail_to_pass
        .failure
        .iter()
        .chain(&verdict.pass_to_pass.failure);
    let outcome = serde_json::to_value(verdict.outcome).unwrap_or_default();
    page.verdicts.push(VerdictRow {
        instance_id: verdict.instance_id.clone(),
        model: verdict.model_name_or_path.clone(),
        outcome: outcome.as_str().unwrap_or_default().to_owned(),
        resolved: verdict.resolved,
        cause: verdict
            .cause
            .map_or_else(String::new, |cause| cause.as_str().to_owned()),
        reasons: verdict.reasons.clone(),
        evidence: verdict.evidence.clone(),
        warnings: verdict.tampering.iter().cloned().chain(guards).collect(),
        fail_to_pass: listed(&verdict.fail_to_pass),
        pass_to_pass: listed(&verdict.pass_to_pass),
        missed: missed.map(str::to_owned).collect(),
        seconds: verdict.run.as_ref().map(|run| run.seconds),
        patch,
        log_end,
    });
    Ok(())
}

/// The last lines of the log that was graded, as far as it was kept.
fn log_end(folder: &Path) -> Result<Option<String>, Error> {
    for name in LOGS {
        let path = folder.join(name);
        let fail = |why| Error::io("read", &path, why);
        let mut file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => continue,
            Err(why) => return Err(fail(why)),
        };
        let from = file.metadata().map_err(fail)?.len().saturating_sub(LOG_END);
        file.seek(SeekFrom::Start(from)).map_err(fail)?;
        let mut bytes = Vec::new();
        file.take(LOG_END).read_to_end(&mut bytes).map_err(fail)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // The first line may be the end of one.
        let whole = if from > 0 {
            text.split_once('\n').map(|(_, rest)| rest.to_owned())
        } else {
            None
        };
        return Ok(Some(whole.unwrap_or(text)));
    }
    Ok(None)
}

fn score(model: &str, of: &[Scored]) -> ModelScore {
    let bounds = ScoreBounds::of(of.iter().copied());
    let interval = wilson(bounds.lower, bounds.submitted);
    ModelScore {
        model: model.to_owned(),
        resolved: bounds.resolved,
        of: bounds.submitted,
        share: Share::percent(
            bounds.lower * 100.0,
            interval.low * 100.0,
            interval.high * 100.0,
        ),
        bounds: (bounds.lower * 100.0, bounds.upper * 100.0),
    }
}
