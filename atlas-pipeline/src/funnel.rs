//! `atlas funnel`: how much is left after each stage, beside what paper 001 says, from what runs left in their folders.

use crate::run::{is_run, rejected_by_curation};
use crate::{MakeOutcome, run_status};
use atlas_core::{Decision, Error, ErrorKind};
use atlas_oracle::{Interval, wilson};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Paper 001's Table 2: the share of pull requests whose environment was built and whose logs were read, in percent.
const TABLE_2: [(&str, f64); 11] = [
    ("python", 41.0),
    ("go", 41.0),
    ("typescript", 40.0),
    ("javascript", 39.0),
    ("ruby", 38.0),
    ("php", 38.0),
    ("java", 27.0),
    ("rust", 19.0),
    ("cpp", 11.0),
    ("csharp", 10.0),
    ("c", 9.5),
];

/// Its Table 3: what is left of the sourced after stages 2 and 3, and after stage 4, in percent.
const TABLE_3: [f64; 2] = [20.8, 8.1];

/// Examples that are kept of each reason.
const EXAMPLES: usize = 3;

/// A share with its interval, and what the paper has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Yield {
    /// Pull requests that came to the stages before.
    pub of: u64,
    /// Those that are left.
    pub left: u64,
    /// Their share, in percent; absent where none came.
    pub percent: Option<f64>,
    /// Wilson's interval of it at 95 %, in percent.
    pub interval: Interval,
    /// What the paper has, in percent; absent where it says nothing.
    pub paper: Option<f64>,
}

impl Yield {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of pull requests are far below 2^52"
    )]
    fn new(left: u64, of: u64, paper: Option<f64>) -> Self {
        let share = if of == 0 {
            0.0
        } else {
            left as f64 / of as f64
        };
        let interval = wilson(share, of);
        Self {
            of,
            left,
            percent: (of > 0).then_some(share * 100.0),
            interval: Interval {
                low: interval.low * 100.0,
                high: interval.high * 100.0,
            },
            paper,
        }
    }
}

/// Pull requests with one verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RejectionReason {
    /// How many.
    pub count: u64,
    /// The first few by name, each with the first line of its reason.
    pub examples: BTreeMap<String, String>,
}

/// How much is left after each stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunnelReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// Pull requests that were sourced: those of the candidates' file, else those that `make` has a verdict on.
    pub sourced: u64,
    /// Pull requests that `make` has a verdict on.
    pub made: u64,
    /// Left after stages 2 and 3, of these: the environment was built, and Base's tests ran and were read.
    pub replicated: Yield,
    /// Left after stage 4, of these: instances, without those that `validate` rejected where it looked.
    pub accepted: Yield,
    /// Instances on which `validate` has not decided.
    pub not_validated: u64,
    /// Language -> left after stages 2 and 3, beside Table 2.
    pub languages: BTreeMap<String, Yield>,
    /// Verdict of `make`, `gate` and its name, or `judge` for a model's scores in a run -> how many, with examples.
    pub rejections: BTreeMap<String, RejectionReason>,
    /// Step -> wall seconds of all pull requests together.
    pub seconds: BTreeMap<String, f64>,
    /// Of folders of runs: what each stage took and cost, in the order of the stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageCost>,
}

/// What one stage of a run took and cost; of several runs together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageCost {
    /// Its name.
    pub stage: String,
    /// Steps that ended with a verdict.
    pub steps: u64,
    /// Steps that ended with an error.
    pub failed: u64,
    /// Wall seconds of those with a verdict.
    pub seconds: f64,
    /// Bytes of artefacts that candidates had after them.
    pub bytes: u64,
    /// Money that models cost in them.
    pub money: f64,
}

/// Adds what the stages of a run cost, where the folder is one's.
fn add_costs(costs: &mut Vec<StageCost>, folder: &Path) -> Result<(), Error> {
    if !is_run(folder) {
        return Ok(());
    }
    for stage in run_status(folder)?.stages {
        let at = costs.iter().position(|cost| cost.stage == stage.stage);
        let at = at.unwrap_or_else(|| {
            costs.push(StageCost {
                stage: stage.stage.clone(),
                ..StageCost::default()
            });
            costs.len() - 1
        });
        let cost = &mut costs[at];
        cost.steps += stage.passed + stage.rejected;
        cost.failed += stage.failed;
        cost.seconds += stage.seconds;
        cost.bytes += stage.bytes;
        cost.money += stage.money;
    }
    Ok(())
}

/// What is read of `make.json`.
#[derive(Deserialize)]
struct MakeSummary {
    instance_id: String,
    outcome: MakeOutcome,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    seconds: BTreeMap<String, f64>,
}

/// What is read of `validate.json`.
#[derive(Deserialize)]
struct Validated {
    instances: Vec<ValidatedInstance>,
}

#[derive(Deserialize)]
struct ValidatedInstance {
    instance_id: String,
    decision: Option<Decision>,
    #[serde(default)]
    reason: Option<String>,
    verdicts: Vec<GateVerdict>,
}

#[derive(Deserialize)]
struct GateVerdict {
    validator: String,
    decision: Decision,
}

#[derive(Deserialize)]
struct Language {
    #[serde(default)]
    language: String,
}

/// Reads what `make` and `validate` left in their output folders: `<id>/make.json`, `<id>/plan.json` and `validate.json`; of the folder of a
/// run (`atlas run`) what stands in its `instances`, each with a `validate.json` of its own. One pull request after another, so memory does
/// not grow with their logs. An instance that stands in several folders counts once, as the last says.
///
/// `candidates` is the file of the sourced, a line each.
///
/// # Errors
/// [`ErrorKind::NotFound`] for a folder without a verdict of `make`; [`ErrorKind::InvalidInput`] for one that cannot be read, by its file.
pub fn funnel(places: &[PathBuf], candidates: Option<&Path>) -> Result<FunnelReport, Error> {
    let mut all: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut gates: HashMap<String, ValidatedInstance> = HashMap::new();
    let mut stages = Vec::new();
    for place in places {
        add_costs(&mut stages, place)?;
        let run = place.join("instances");
        let place = if run.is_dir() { &run } else { place };
        let entries = std::fs::read_dir(place).map_err(|why| Error::io("read", place, why))?;
        let mut found = false;
        for entry in entries {
            let folder = entry.map_err(|why| Error::io("read", place, why))?.path();
            if folder.join("make.json").is_file() {
                found = true;
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                let own = folder.join("validate.json");
                if own.is_file() {
                    gates.insert(name.clone().into_owned(), read(&own)?);
                }
                all.insert(name.into_owned(), folder.clone());
            }
        }
        if !found {
            let what = format!("`{}`: no `<instance>/make.json` in it", place.display());
            return Err(Error::new(ErrorKind::NotFound, "read verdicts:", what));
        }
        let report = place.join("validate.json");
        if report.is_file() {
            let validated: Validated = read(&report)?;
            let named = validated
                .instances
                .into_iter()
                .map(|one| (one.instance_id.clone(), one));
            gates.extend(named);
        }
    }
    let mut count = Counts::default();
    for folder in all.values() {
        count.add(folder, &gates)?;
    }
    let sourced = match candidates {
        Some(file) => lines_of(file)?,
        None => count.made,
    };
    Ok(FunnelReport {
        stages,
        ..count.report(sourced)
    })
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let file = std::fs::File::open(path).map_err(|why| Error::io("read", path, why))?;
    serde_json::from_reader(std::io::BufReader::new(file)).map_err(|why| {
        let subject = format!("`{}`", path.display());
        Error::new(ErrorKind::InvalidInput, "read", subject).with_source(why)
    })
}

/// Lines that are not empty.
fn lines_of(path: &Path) -> Result<u64, Error> {
    use std::io::BufRead as _;
    let fail = |why| Error::io("read candidates", path, why);
    let mut reader = std::io::BufReader::new(std::fs::File::open(path).map_err(fail)?);
    let (mut count, mut line) = (0, Vec::new());
    while reader.read_until(b'\n', &mut line).map_err(fail)? > 0 {
        count += u64::from(!line.trim_ascii().is_empty());
        line.clear();
    }
    Ok(count)
}

#[derive(Default)]
struct Counts {
    made: u64,
    replicated: u64,
    accepted: u64,
    not_validated: u64,
    /// Language -> all, replicated.
    languages: BTreeMap<String, (u64, u64)>,
    rejections: BTreeMap<String, RejectionReason>,
    seconds: BTreeMap<String, f64>,
}

impl Counts {
    fn add(
        &mut self,
        folder: &Path,
        gates: &HashMap<String, ValidatedInstance>,
    ) -> Result<(), Error> {
        let made: MakeSummary = read(&folder.join("make.json"))?;
        let plan = folder.join("plan.json");
        let language = if plan.is_file() {
            read::<Language>(&plan)?.language
        } else {
            String::new()
        };
        let is_replicated = matches!(
            made.outcome,
            MakeOutcome::Instance
                | MakeOutcome::RejectNoFailToPass
                | MakeOutcome::RejectAfterBroken
        );
        self.made += 1;
        self.replicated += u64::from(is_replicated);
        let language = if language.is_empty() {
            "not known"
        } else {
            &language
        };
        let of_language = self.languages.entry(language.to_owned()).or_default();
        of_language.0 += 1;
        of_language.1 += u64::from(is_replicated);
        for (step, seconds) in &made.seconds {
            *self.seconds.entry(step.clone()).or_default() += seconds;
        }
        if made.outcome != MakeOutcome::Instance {
            let word = serde_json::to_value(made.outcome).unwrap_or_default();
            self.reject(
                word.as_str().unwrap_or_default(),
                &made.instance_id,
                &made.reason,
            );
            return Ok(());
        }
        let Some(validated) = gates.get(&made.instance_id) else {
            self.not_validated += 1;
            self.accepted += 1;
            return Ok(());
        };
        match validated.decision {
            Some(Decision::Reject) => {
                let gate = validated
                    .verdicts
                    .iter()
                    .find(|gate| gate.decision == Decision::Reject);
                let name = gate.map_or("gate", |gate| gate.validator.as_str());
                let reason = validated.reason.as_deref().unwrap_or_default();
                self.reject(&format!("gate {name}"), &made.instance_id, reason);
            }
            Some(Decision::Accept | Decision::Repair) => match rejected_by_curation(folder) {
                Some((stage, reason)) => self.reject(stage, &made.instance_id, &reason),
                None => self.accepted += 1,
            },
            Some(Decision::NoEvidence) | None => {
                self.not_validated += 1;
                self.accepted += 1;
            }
        }
        Ok(())
    }

    fn reject(&mut self, word: &str, id: &str, reason: &str) {
        let known = self.rejections.entry(word.to_owned()).or_default();
        known.count += 1;
        if known.examples.len() < EXAMPLES {
            let line = atlas_core::one_line(reason.lines().next().unwrap_or_default(), 160);
            known.examples.insert(id.to_owned(), line);
        }
    }

    fn report(self, sourced: u64) -> FunnelReport {
        let paper = |language: &str| {
            let found = TABLE_2.iter().find(|(name, _)| *name == language);
            found.map(|(_, percent)| *percent)
        };
        FunnelReport {
            schema_version: 1,
            sourced,
            made: self.made,
            replicated: Yield::new(self.replicated, sourced.max(self.made), Some(TABLE_3[0])),
            accepted: Yield::new(self.accepted, sourced.max(self.made), Some(TABLE_3[1])),
            not_validated: self.not_validated,
            languages: self
                .languages
                .into_iter()
                .map(|(name, (of, left))| {
                    let found = Yield::new(left, of, paper(&name));
                    (name, found)
                })
                .collect(),
            rejections: self.rejections,
            seconds: self.seconds,
            stages: Vec::new(),
        }
    }
}
