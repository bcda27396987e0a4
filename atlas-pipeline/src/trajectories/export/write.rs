//! The files of an export.

use super::{
    Chosen, ExportReport, ExportRunOptions, ExportSide, Facts, Gathered, Sides, content,
    has_columns,
};
use crate::store::{clear_unfinished, replace, write_atomically, write_json};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_trajectory::{
    ExportError, ExportedRow, FineTuning, HintTerms, Mixture, TokenCounter, ToolCall, Trajectory,
    TuningConfig, export_rows, without_hint,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

const TRAIN: &str = "train.jsonl";
const TEST: &str = "test.jsonl";
const AXOLOTL: &str = "axolotl.yaml";
const LLAMA_FACTORY: &str = "llama_factory.yaml";
const DATASET_INFO: &str = "dataset_info.json";
const STATISTICS: &str = "statistics.json";

/// What is written, and of what.
pub(super) struct Input<'a> {
    pub(super) cx: &'a RunContext,
    pub(super) options: &'a ExportRunOptions,
    pub(super) gathered: &'a Gathered,
    pub(super) chosen: &'a [Chosen],
    pub(super) instances: &'a BTreeMap<String, Facts>,
    pub(super) sides: &'a Sides,
    pub(super) counter: Option<&'a dyn TokenCounter>,
    /// By instance.
    pub(super) hints: &'a BTreeMap<String, String>,
}

pub(super) fn all(input: &Input<'_>, report: &mut ExportReport) -> Result<(), Error> {
    let out = &input.options.out;
    clear_unfinished(out);
    // A folder without statistics is not finished: its files may be of two exports.
    remove(&out.join(STATISTICS))?;
    let mut files = Vec::new();
    for (name, file) in [("train", TRAIN), ("test", TEST)] {
        let is_test = file == TEST;
        if is_test && input.options.split.is_none() {
            continue;
        }
        let path = out.join(file);
        let mut side = ExportSide::default();
        replace(&path, |out| {
            rows(input, is_test, out, &path, &mut side, report)
        })?;
        if side.rows > 0 {
            files.push(file);
        } else {
            report
                .notes
                .push(format!("the {name} side is empty, and has no file"));
        }
        report.sides.insert(name.to_owned(), side);
    }
    configurations(input, report, &mut files)?;
    files.push(STATISTICS);
    for file in [TRAIN, TEST, AXOLOTL, LLAMA_FACTORY, DATASET_INFO] {
        if !files.contains(&file) {
            remove(&out.join(file))?;
        }
    }
    report.files = files.into_iter().map(str::to_owned).collect();
    if report.sides.values().all(|side| side.rows == 0) {
        let reasons = report.left_out.iter();
        let reasons: Vec<String> = reasons
            .map(|(why, count)| format!("{count} {why}"))
            .collect();
        let subject = format!(
            "{} trajectories: no row came out ({})",
            report.trajectories,
            reasons.join(", ")
        );
        return Err(Error::new(ErrorKind::InvalidInput, "export", subject));
    }
    write_json(&out.join(STATISTICS), report)
}

/// Removes a file, if there is one.
fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", path, why))
        }
        _ => Ok(()),
    }
}

/// Writes the rows of one side.
fn rows(
    input: &Input<'_>,
    is_test: bool,
    out: &mut dyn Write,
    path: &Path,
    side: &mut ExportSide,
    report: &mut ExportReport,
) -> Result<(), Error> {
    let own = |one: &&Chosen| input.sides.is_test[&one.instance] == is_test;
    let mut written: Vec<&Chosen> = Vec::new();
    for one in input.chosen.iter().filter(own) {
        input.cx.check("export trajectories")?;
        input.cx.progress.detail(&one.file);
        let found = input.gathered.all.get(one.at)?;
        let hint = input.hints.get(&one.instance).map_or("", String::as_str);
        let (trajectory, cut) = without_hint(&found.trajectory, hint);
        report.hints_taken_out += usize::from(cut > 0);
        report.speak_of_hint += usize::from(speaks_of_hint(&trajectory, hint));
        let made = match export_rows(&trajectory, &input.options.rows, input.counter) {
            Ok(made) => made,
            Err(why @ ExportError::NothingToLearn) => {
                report.leave_out(&one.file, one.number, "nothing_to_learn", &why.to_string());
                continue;
            }
            Err(why @ ExportError::EndsItself { .. }) => {
                report.leave_out(&one.file, one.number, "not_in_this_form", &why.to_string());
                continue;
            }
            Err(why) => {
                let subject = format!("`{}`, trajectory {}", one.file, one.number);
                return Err(Error::new(ErrorKind::InvalidInput, "export", subject).with_source(why));
            }
        };
        let (rows_before, id) = (side.rows, content(&found.trajectory).to_string());
        for row in made {
            let too_long = input.options.max_tokens.zip(row.tokens);
            if let Some((most, tokens)) = too_long.filter(|(most, tokens)| tokens > most) {
                let detail = format!("{tokens} tokens, above {most}");
                report.leave_out(&one.file, one.number, "too_long", &detail);
                continue;
            }
            side.add(&row);
            let line = format!("{}\n", Value::Object(columns(input, one, &id, row)));
            out.write_all(line.as_bytes())
                .map_err(|why| Error::io("write", path, why))?;
        }
        if side.rows > rows_before {
            written.push(one);
        }
    }
    let mixture = written.iter().map(|one| {
        let facts = &input.instances[&one.instance];
        let (repository, language) = (facts.repository.as_str(), facts.language.as_str());
        (one.instance.as_str(), repository, language)
    });
    side.mixture = Mixture::of(mixture);
    Ok(())
}

/// Whether the agent's thoughts or actions do.
fn speaks_of_hint(trajectory: &Trajectory, hint: &str) -> bool {
    let terms = HintTerms::new(hint, &[]);
    trajectory.agent_steps().any(|step| {
        let actions = step.calls().iter().map(ToolCall::text);
        terms.in_thought(step).is_some()
            || actions
                .into_iter()
                .any(|action| terms.find(&action).is_some())
    })
}

/// A row with what tells where it comes from.
fn columns(input: &Input<'_>, one: &Chosen, id: &str, row: ExportedRow) -> Map<String, Value> {
    if !has_columns(input.options.rows.form) {
        return row.columns;
    }
    let facts = &input.instances[&one.instance];
    let mut all = Map::new();
    let mut set = |name: &str, value: Value| all.insert(name.to_owned(), value);
    set("instance_id", json!(one.instance));
    set("repo", json!(facts.repository));
    set("language", json!(facts.language));
    set("trajectory", json!(id));
    if let Some(step) = row.step_id {
        set("step_id", json!(step));
    }
    if let (Some(tokens), Some(learnt)) = (row.tokens, row.learnt_tokens) {
        set("tokens", json!(tokens));
        set("learnt_tokens", json!(learnt));
    }
    all.extend(row.columns);
    all
}

fn configurations(
    input: &Input<'_>,
    report: &mut ExportReport,
    files: &mut Vec<&'static str>,
) -> Result<(), Error> {
    let options = input.options;
    if !files.contains(&TRAIN) {
        return Ok(());
    }
    let config = TuningConfig {
        base_model: options.base_model.clone(),
        form: options.rows.form,
        per_step: options.rows.per_step,
        train: TRAIN.to_owned(),
        test: files.contains(&TEST).then(|| TEST.to_owned()),
        template: options.template.clone(),
    };
    for kind in &options.configs {
        match kind {
            FineTuning::Axolotl => {
                write_atomically(&options.out.join(AXOLOTL), config.axolotl().as_bytes())?;
                files.push(AXOLOTL);
            }
            FineTuning::LlamaFactory => {
                let text = config.llama_factory();
                write_atomically(&options.out.join(LLAMA_FACTORY), text.as_bytes())?;
                write_json(&options.out.join(DATASET_INFO), &config.dataset_info())?;
                files.extend([LLAMA_FACTORY, DATASET_INFO]);
                let masked: usize = report.sides.values().map(|side| side.masked_messages).sum();
                if masked > 0 && !options.rows.per_step {
                    report.notes.push(format!(
                        "LLaMA-Factory knows no mask of single messages: it would learn {masked} that are not to be learnt; \
                         with a row for each step (--per-step) it does not"
                    ));
                }
            }
        }
    }
    Ok(())
}
