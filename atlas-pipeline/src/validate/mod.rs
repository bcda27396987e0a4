//! `atlas validate`: gates over a dataset.

pub(crate) mod candidate;
mod open;
mod options;
mod perturbations;
mod report;
pub(crate) mod rows;

pub use open::{OpenInstance, open_instance};
pub use options::{GateOptions, ValidateOptions};
pub use perturbations::PERTURBATIONS;
pub use report::{FunnelStep, InstanceVerdict, ValidateReport};

use crate::batch::Batch;
use crate::clones::artefacts_of;
use crate::environment::ScratchSynthesizer;
use crate::own_parser::{
    Isolated, OwnParser, absent_parser_of_row, needs_callers_parser, parser_of_row,
};
use crate::parts::callers_gates;
use crate::plausible::SourceCounter;
use crate::reason;
use crate::store::{Key, Workplace, lock, read_json, write_json};
use crate::{CachedSandbox, Engines, write_atomically};
use atlas_core::{Decision, Error, ErrorKind, Instance, RunContext, Verdict};
use atlas_oracle::{ConsistencyOptions, Gate, GateParts, GateSettings, StrengthOptions};
use candidate::{Prepared, Prospect};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Puts the instances of a dataset through gates.
///
/// Writes `<out>/validate.json`, `<out>/validated.jsonl` with the rows that were accepted, or
/// repaired by taking quarantined tests out of their lists, and `<out>/<instance>/gates/<gate>.json`.
/// Where only some instances are asked for, `validated.jsonl` keeps the rows of the others. A verdict that an earlier run reached on the same row, environment and options is not reached
/// again, nor is a test run made twice that two gates share.
///
/// # Errors
/// A dataset that cannot be read, wrong options, an engine that does not answer. What goes wrong with
/// one instance stands in its entry of the report, and the others go on.
///
/// # Cancellation
/// Raising `cx.cancel` ends the runs in flight and returns [`ErrorKind::Cancelled`]; the same call
/// later goes on from there.
pub async fn validate(cx: &RunContext, options: &ValidateOptions) -> Result<ValidateReport, Error> {
    let started = Instant::now();
    options.gates.check()?;
    let (rows, faults) = rows::read(&options.dataset, &options.instances)?;
    let out = options.out();
    std::fs::create_dir_all(&out).map_err(|why| Error::io("make", &out, why))?;
    let validated = out.join("validated.jsonl");
    let same = |path: &Path| std::fs::canonicalize(path).ok();
    if same(&validated).is_some_and(|path| same(&options.dataset) == Some(path)) {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "validate",
            format!(
                "`{}`: the rows that pass would take its place; give --out",
                validated.display()
            ),
        ));
    }
    let engines = Engines::open(options.engine, &options.config, options.trust).await?;
    let engines = engines.with(options.parts.as_ref());
    callers_gates(options.parts.as_ref(), &engines.sandbox)?;
    let total = rows.len();
    let work = |(at, row)| {
        let (engines, out) = (&engines, &out);
        async move { Ok(one(cx, options, engines, out, (at, total), row).await) }
    };
    let batch = Batch {
        cx,
        name: "validate",
        jobs: options.jobs,
        known: 0,
    };
    let rows: Vec<_> = rows.into_iter().enumerate().collect();
    let done = batch.run(rows, work).await?;
    let (instances, kept): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    {
        let _lock = lock(&out.join(".atlas").join("validated.lock"))?;
        let asked: Vec<&str> = instances.iter().map(|i| i.instance_id.as_str()).collect();
        let old = if options.instances.is_empty() {
            Vec::new()
        } else {
            rows::others(&validated, &asked)
        };
        let mut text = String::new();
        for row in old
            .into_iter()
            .chain(kept.iter().flatten().map(ToString::to_string))
        {
            text.push_str(&row);
            text.push('\n');
        }
        write_atomically(&validated, text.as_bytes())?;
    }
    let report = report::sum_up(
        options,
        (instances, faults),
        validated,
        started.elapsed().as_secs_f64(),
    );
    write_json(&out.join("validate.json"), &report)?;
    Ok(report)
}

/// One instance through all gates: its entry, and its row if it is kept.
async fn one(
    cx: &RunContext,
    options: &ValidateOptions,
    engines: &Engines,
    out: &Path,
    (at, total): (usize, usize),
    row: Instance,
) -> (InstanceVerdict, Option<Instance>) {
    let started = Instant::now();
    let id = row.id().ok();
    let name = id
        .as_ref()
        .map_or_else(|| format!("row {}", at + 1), ToString::to_string);
    cx.progress
        .detail(&format!("{name} ({} of {total})", at + 1));
    match validate_row(cx, options, engines, out, row).await {
        Ok(decided) => decided,
        Err((verdicts, why)) => {
            let entry = InstanceVerdict {
                instance_id: name,
                decision: None,
                reason: None,
                verdicts,
                error: Some(why.chain()),
                seconds: started.elapsed().as_secs_f64(),
            };
            (entry, None)
        }
    }
}

/// One row through all gates: what they said, and the row if it is kept. Writes `<out>/<instance>/gates/`.
///
/// # Errors
/// Whatever is no verdict, with those that were reached before.
pub(crate) async fn validate_row(
    cx: &RunContext,
    options: &ValidateOptions,
    engines: &Engines,
    out: &Path,
    row: Instance,
) -> Result<(InstanceVerdict, Option<Instance>), (Vec<Verdict>, Error)> {
    let started = Instant::now();
    let name = row.id().map(|id| id.to_string()).unwrap_or_default();
    let mut verdicts = Vec::new();
    let row = match gates(cx, options, engines, out, row, &mut verdicts).await {
        Ok(row) => row,
        Err(why) => return Err((verdicts, why)),
    };
    let decision = report::overall(&verdicts);
    let is_kept = match decision {
        Decision::Accept => true,
        Decision::Repair => report::is_repaired(&verdicts),
        _ => false,
    };
    let entry = InstanceVerdict {
        instance_id: name,
        decision: Some(decision),
        reason: reason::of_gates(&verdicts).filter(|_| !is_kept),
        verdicts,
        error: None,
        seconds: started.elapsed().as_secs_f64(),
    };
    Ok((entry, is_kept.then_some(row)))
}

/// Runs the gates; the row comes back repaired, with what they decided.
async fn gates(
    cx: &RunContext,
    options: &ValidateOptions,
    engines: &Engines,
    out: &Path,
    row: Instance,
    verdicts: &mut Vec<Verdict>,
) -> Result<Instance, Error> {
    let id = row.id().map_err(rows::unreadable)?;
    let place = Workplace::take(out, id.as_str())?;
    let mut engines = engines.clone();
    engines.sandbox = Arc::new(CachedSandbox::new(
        Arc::clone(&engines.sandbox),
        place.path("jobs"),
    ));
    let folder = out.join(id.as_str()).join("gates");
    // Verdicts of other gates, other options, another day.
    match std::fs::remove_dir_all(&folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &folder, why));
        }
        _ => {}
    }
    if row.fail_to_pass().map_err(rows::unreadable)?.ids.is_empty() {
        verdicts.push(candidate::refusal(
            "gold_patch",
            "no_fail_to_pass",
            "the row names no FAIL_TO_PASS: anything resolves it, or nothing".to_owned(),
            Vec::new(),
        ));
        return Ok(row);
    }
    let beside = artefacts_of(&options.dataset, id.as_str());
    let prospect = Prospect {
        config: &options.config,
        repos: options.repos.as_deref(),
        engines: &engines,
        place: &place,
        artefacts: &beside,
        seed: place.seed()?,
        runs_states: true,
        own: own_parser(cx, options, &row).await?,
    };
    let mut prepared = match prospect.prepare(cx, &row).await? {
        Prepared::Ready(ready) => ready,
        Prepared::Broken(verdict) => {
            write_json(
                &folder.join(format!("{}.json", verdict.validator)),
                &verdict,
            )?;
            verdicts.push(*verdict);
            place.clear_temporary()?;
            return Ok(row);
        }
    };
    let (parts, scratch) = parts_of_gates(options, &engines, &prepared)?;
    for gate in options.gates.gates.iter().filter_map(|id| Gate::named(id)) {
        cx.check("validate")?;
        cx.progress.phase(gate.id);
        let key = key(options, gate, &parts.settings, &prepared.candidate)?;
        let stored = place
            .path("verdicts")
            .join(format!("{}-{}.json", gate.id, &key[..24]));
        let verdict = if let Some(known) = read_json::<Verdict>(&stored) {
            known
        } else {
            let verdict = (gate.make)(&parts).validate(cx, &prepared.candidate).await;
            scratch.finish().await?;
            let verdict = verdict?;
            // What was cut short may come to its end another time.
            if !verdict.measurements.contains_key("unfinished_runs") {
                write_json(&stored, &verdict)?;
            }
            verdict
        };
        write_json(&folder.join(format!("{}.json", gate.id)), &verdict)?;
        prepared.set_aside(&verdict);
        let nothing_left = prepared.candidate.oracle.fail_to_pass.is_empty();
        let rejected = verdict.decision == Decision::Reject;
        verdicts.push(verdict);
        if rejected && (nothing_left || !options.gates.keep_going) {
            break;
        }
    }
    // What the caller's gates depend on is not known, so none of their verdicts is used again.
    for gate in callers_gates(options.parts.as_ref(), &engines.sandbox)? {
        let last = verdicts.last().map(|verdict| verdict.decision);
        let nothing_left = prepared.candidate.oracle.fail_to_pass.is_empty();
        if last == Some(Decision::Reject) && (nothing_left || !options.gates.keep_going) {
            break;
        }
        cx.check("validate")?;
        cx.progress.phase(gate.id());
        let verdict = gate.validate(cx, &prepared.candidate).await?;
        write_json(&folder.join(format!("{}.json", gate.id())), &verdict)?;
        prepared.set_aside(&verdict);
        verdicts.push(verdict);
    }
    place.clear_temporary()?;
    rows::repaired(row, &prepared.candidate, verdicts)
}

/// The parser that the row brings along.
async fn own_parser(
    cx: &RunContext,
    options: &ValidateOptions,
    row: &Instance,
) -> Result<Option<OwnParser>, Error> {
    if let Some(parser) = options.parts.as_ref().and_then(|parts| parts.parser()) {
        return Ok(Some(OwnParser::Callers(parser)));
    }
    let found = parser_of_row(row.as_map()).map_err(|why| {
        let what = format!("column `atlas`: {why}");
        Error::new(ErrorKind::InvalidInput, "read the row's parser:", what)
    })?;
    let Some((parser, _)) = found else {
        return match absent_parser_of_row(row.as_map()) {
            Some(id) => Err(needs_callers_parser(&id)),
            None => Ok(None),
        };
    };
    let isolated = Isolated::new(options.engine, &options.config, options.trust, None)?;
    isolated.ready(cx, &parser, false).await.map(Some)
}

/// What the gates of one instance are made of, and the builder whose last build is to be removed.
fn parts_of_gates(
    options: &ValidateOptions,
    engines: &Engines,
    prepared: &candidate::Ready,
) -> Result<(GateParts, Arc<ScratchSynthesizer>), Error> {
    let gates = &options.gates;
    let mut settings = GateSettings {
        consistency: ConsistencyOptions {
            runs: gates.runs(),
            perturbed_runs: gates.perturbed_runs,
            sequential: gates.sequential(),
            concurrency: gates.concurrency,
            power: gates.power,
            set_aside_flaky: gates.set_aside_flaky,
            ..ConsistencyOptions::default()
        },
        strength: StrengthOptions {
            max_runs: gates.strength_runs,
            min_score: gates.min_strength,
            concurrency: gates.concurrency,
        },
        null_runs: gates.null_runs,
        builds: gates.builds,
        ..GateSettings::default()
    };
    let search = &mut settings.integrity.limits;
    search.seconds = search.seconds.max(options.config.limits.seconds);
    for name in gates.perturbations() {
        match perturbations::perturbation(name, &prepared.candidate.environment.plan)? {
            Some(made) => settings.consistency.perturbations.push(made),
            None => settings.consistency.unknown.push(name.to_owned()),
        }
    }
    let scratch = Arc::new(ScratchSynthesizer::new(
        prepared.plan.clone(),
        Arc::clone(&engines.from_scratch),
        Arc::clone(&engines.sandbox),
    ));
    let parts = GateParts {
        evaluator: prepared.evaluator.clone(),
        sandbox: Arc::clone(&engines.sandbox),
        from_scratch: Arc::<ScratchSynthesizer>::clone(&scratch),
        repository: prepared.repository.clone(),
        counter: Arc::new(SourceCounter {
            checkout: prepared.repository.checkout.clone(),
        }),
        settings,
    };
    Ok((parts, scratch))
}

/// Raised whenever a gate would judge otherwise: verdicts of before are not used again.
const JUDGEMENT: &str = "gates 2";

/// Everything that a gate's verdict depends on, and of the settings those that it reads.
fn key(
    options: &ValidateOptions,
    gate: &Gate,
    settings: &GateSettings,
    candidate: &atlas_core::Candidate,
) -> Result<String, Error> {
    let own = (gate.settings)(settings);
    let report = &candidate.oracle;
    let plan = atlas_core::EnvironmentPlan {
        drift: Vec::new(),
        evidence: std::collections::BTreeMap::new(),
        ..candidate.environment.plan.clone()
    };
    let depends = (
        &own,
        &options.config.limits,
        &plan,
        &candidate.environment.lock.image_id,
        (
            &report.fail_to_pass,
            &report.pass_to_pass,
            &report.transitions,
        ),
        &candidate.instance,
        options.parts.as_ref().map(|parts| {
            let sandbox = parts.sandbox().map(|sandbox| sandbox.info());
            (parts.parser().map(|parser| parser.hash), sandbox)
        }),
    );
    let bytes = serde_json::to_vec(&depends)
        .map_err(|why| Error::new(ErrorKind::Internal, "name a verdict", "").with_source(why))?;
    Ok(Key::new(env!("CARGO_PKG_VERSION"))
        .part(JUDGEMENT.as_bytes())
        .part(gate.id.as_bytes())
        .part(&bytes)
        .finish())
}
