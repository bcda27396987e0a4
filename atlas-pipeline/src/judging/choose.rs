//! One patch of several for each task.

use super::input::PatchNames;
use super::results_file::read_lines;
use crate::evaluate::InputFault;
use crate::store::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_formats::{FaultKind, Prediction, read_predictions};
use atlas_judge::validation::{ChoiceCandidate, choose};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which of the patches that a judge accepts is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceRule {
    /// The most frequent, names of variables aside, then the shortest, then the first (paper 002, section 5.1.2).
    #[default]
    Vote,
    /// The one with the highest score, then by vote.
    Score,
}

/// Among whose patches one is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceAmong {
    /// Those of one agent: one for each task and agent.
    #[default]
    Agent,
    /// Those of all agents: one for each task.
    All,
}

/// What to choose from, and how. Each field is an option of `atlas choose` and an argument of `swe_atlas.choose`.
#[derive(Clone, Debug, Deserialize, Args)]
pub struct ChooseOptions {
    /// The candidate patches, several for a task.
    #[arg(long, value_name = "FILE")]
    pub predictions: PathBuf,
    /// Results of `atlas review` or `atlas critic`; what they do not accept is not chosen. Can be given several times
    /// [default: everything may be chosen].
    #[arg(long, value_name = "FILE")]
    pub results: Vec<PathBuf>,
    /// Which one is taken.
    #[arg(long, value_enum, default_value_t)]
    pub rule: ChoiceRule,
    /// Among whose patches.
    #[arg(long, value_enum, default_value_t)]
    pub among: ChoiceAmong,
    /// The `model_name_or_path` of the chosen ones [default: their own].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The file of predictions that is written.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChooseReport {
    /// Candidate patches.
    pub candidates: usize,
    /// Those that the results accept; without results all.
    pub accepted: usize,
    /// Those that the results do not know, which are not chosen.
    pub unjudged: usize,
    /// The chosen ones, in the order of the predictions.
    pub choices: Vec<ChosenPatch>,
    /// Tasks, with their agent where one is chosen for each, of which no patch is accepted.
    pub without: Vec<String>,
    /// How many of the chosen resolve their task, where that is known of all of them, from the predictions' column
    /// `resolved` or that of the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<usize>,
    /// What is wrong with the predictions.
    pub faults: Vec<InputFault>,
}

/// A patch that was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChosenPatch {
    /// The task.
    pub instance_id: String,
    /// Who made it.
    pub agent: String,
    /// Its name among the patches of its agent.
    pub patch_id: String,
    /// Accepted candidates that say the same, itself included.
    pub votes: usize,
    /// Accepted candidates.
    pub accepted: usize,
    /// Candidates.
    pub candidates: usize,
    /// What the judge gave it, where it gave any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// What a judge said of a patch.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    accepted: bool,
    score: Option<f64>,
    resolved: Option<bool>,
}

type Key = (String, String, String);

/// Chooses one patch for each task and agent, or for each task, and writes a file of predictions with the chosen ones,
/// all their columns kept.
///
/// # Errors
/// A file that cannot be read or written, predictions that hold none, a line of results that is no judgement (file and
/// line are named), results that contradict each other about a patch, and a score that is asked for and that the results
/// do not have.
pub fn choose_patches(options: &ChooseOptions) -> Result<ChooseReport, Error> {
    let predictions = read_predictions(&options.predictions)?;
    let mut faults: Vec<InputFault> = predictions
        .faults
        .iter()
        // Several patches for one task are what this is for.
        .filter(|fault| fault.kind != FaultKind::DuplicateId)
        .map(InputFault::of)
        .collect();
    if predictions.items.is_empty() {
        let place = format!("`{}`: there are none in it", options.predictions.display());
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read predictions",
            place,
        ));
    }
    let mut verdicts: BTreeMap<Key, Verdict> = BTreeMap::new();
    for path in &options.results {
        read_verdicts(path, &mut verdicts)?;
    }
    let is_judged = !options.results.is_empty();
    let mut names = PatchNames::default();
    let mut groups: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    let mut keys: Vec<Key> = Vec::new();
    for (at, prediction) in predictions.items.iter().enumerate() {
        let agent = prediction.model_name_or_path().unwrap_or("None");
        let (patch_id, fault) = names.name(prediction, agent, &options.predictions.display());
        faults.extend(fault);
        let id = prediction.instance_id();
        let whose = match options.among {
            ChoiceAmong::Agent => agent,
            ChoiceAmong::All => "",
        };
        let group = groups.entry((id.to_owned(), whose.to_owned())).or_default();
        group.push(at);
        keys.push((id.to_owned(), agent.to_owned(), patch_id));
    }
    let verdict = |at: usize| match verdicts.get(&keys[at]) {
        Some(verdict) => Some(*verdict),
        None => (!is_judged).then_some(Verdict {
            accepted: true,
            score: None,
            resolved: None,
        }),
    };
    let said: Vec<Option<Verdict>> = (0..keys.len()).map(verdict).collect();
    let mut report = ChooseReport {
        candidates: keys.len(),
        accepted: said.iter().flatten().filter(|one| one.accepted).count(),
        unjudged: said.iter().filter(|one| one.is_none()).count(),
        faults,
        ..ChooseReport::default()
    };
    let mut chosen: Vec<(usize, ChosenPatch)> = Vec::new();
    for ((id, agent), places) in groups {
        let candidates: Vec<ChoiceCandidate> = places
            .iter()
            .map(|at| ChoiceCandidate {
                patch: predictions.items[*at]
                    .model_patch()
                    .unwrap_or_default()
                    .to_owned(),
                accepted: said[*at].is_some_and(|one| one.accepted),
                lines_after: None,
            })
            .collect();
        let accepted = candidates.iter().filter(|one| one.accepted).count();
        let best = match options.rule {
            ChoiceRule::Vote => candidates,
            ChoiceRule::Score => best_scored(candidates, &places, &said, &keys)?,
        };
        let Some(found) = choose(&best) else {
            report.without.push(match agent.as_str() {
                "" => id,
                agent => format!("{id} ({agent})"),
            });
            continue;
        };
        let at = places[found.place];
        let (instance_id, agent, patch_id) = keys[at].clone();
        chosen.push((
            at,
            ChosenPatch {
                instance_id,
                agent,
                patch_id,
                votes: found.votes,
                accepted,
                candidates: places.len(),
                score: said[at].and_then(|one| one.score),
            },
        ));
    }
    chosen.sort_by_key(|(at, _)| *at);
    let resolved = chosen.iter().map(|(at, _)| {
        let own = predictions.items[*at].columns().get("resolved");
        let own = own.and_then(Value::as_bool);
        own.or_else(|| said[*at]?.resolved)
    });
    report.resolved = resolved
        .collect::<Option<Vec<bool>>>()
        .filter(|all| !all.is_empty())
        .map(|all| all.into_iter().filter(|resolved| *resolved).count());
    let mut text = String::new();
    for (at, one) in &chosen {
        text.push_str(&written(&predictions.items[*at], one, options)?);
        text.push('\n');
    }
    write_atomically(&options.out, text.as_bytes())?;
    report.choices = chosen.into_iter().map(|(_, one)| one).collect();
    Ok(report)
}

/// Of the accepted candidates only those with the highest score stay accepted.
fn best_scored(
    mut candidates: Vec<ChoiceCandidate>,
    places: &[usize],
    said: &[Option<Verdict>],
    keys: &[Key],
) -> Result<Vec<ChoiceCandidate>, Error> {
    let mut best = f64::NEG_INFINITY;
    let mut scores = Vec::new();
    for (candidate, at) in candidates.iter().zip(places) {
        if !candidate.accepted {
            scores.push(None);
            continue;
        }
        let score = said[*at].and_then(|one| one.score).ok_or_else(|| {
            let (id, agent, patch) = &keys[*at];
            let what = format!(
                "the results have no score for patch `{patch}` of `{agent}` for `{id}`; choose by vote, or give results \
                 of a review"
            );
            Error::new(ErrorKind::InvalidInput, "choose by score:", what)
        })?;
        best = best.max(score);
        scores.push(Some(score));
    }
    for (candidate, score) in candidates.iter_mut().zip(scores) {
        candidate.accepted = score.is_some_and(|score| score >= best);
    }
    Ok(candidates)
}

/// The prediction's line, under the name that is asked for.
fn written(
    prediction: &Prediction,
    one: &ChosenPatch,
    options: &ChooseOptions,
) -> Result<String, Error> {
    let mut prediction = prediction.clone();
    let name = options.name.as_deref();
    let columns = [
        ("model_name_or_path", name),
        ("patch_id", Some(one.patch_id.as_str())),
    ];
    for (column, value) in columns {
        if let Some(value) = value {
            prediction.set(column, value).map_err(|why| {
                Error::new(ErrorKind::Internal, "write the prediction", "").with_source(why)
            })?;
        }
    }
    Ok(prediction.line())
}

/// Adds what a file of results says of patches. Lines with `error` say nothing.
fn read_verdicts(path: &Path, found: &mut BTreeMap<Key, Verdict>) -> Result<(), Error> {
    for (number, line) in read_lines(path)? {
        let wrong = |what: &str| {
            let place = format!("`{}`, line {number}: {what}", path.display());
            Error::new(ErrorKind::InvalidInput, "read results", place)
        };
        if line.contains_key("error") {
            continue;
        }
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(id), Some(agent), Some(name)) =
            (text("instance_id"), text("agent"), text("patch_id"))
        else {
            return Err(wrong(
                "`instance_id`, `agent` and `patch_id` are not all there: results of `atlas review` or `atlas critic` \
                 have them",
            ));
        };
        let verdict = verdict_of(&line).ok_or_else(|| {
            wrong("neither `accepted` nor a `label` of a critic: this is no judgement of a patch")
        })?;
        match found.get_mut(&(id.clone(), agent.clone(), name.clone())) {
            None => {
                found.insert((id, agent, name), verdict);
            }
            Some(known) if known.accepted != verdict.accepted => {
                return Err(wrong(&format!(
                    "an earlier line says something else of patch `{name}` of `{agent}` for `{id}`; give the results \
                     of one judge"
                )));
            }
            Some(known) => {
                known.score = known.score.or(verdict.score);
                known.resolved = known.resolved.or(verdict.resolved);
            }
        }
    }
    Ok(())
}

fn verdict_of(line: &Map<String, Value>) -> Option<Verdict> {
    let label = line.get("label").and_then(Value::as_str);
    let accepted = line
        .get("accepted")
        .and_then(Value::as_bool)
        .or_else(|| label.map(|label| label == "pass"))
        // A patch for a task that the abstention policy abstains from was not reviewed, and is not shown.
        .or_else(|| line.get("abstention").map(|_| false))?;
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    let review = line.get("validation").and_then(|part| part.get("score"));
    Some(Verdict {
        accepted,
        score: number(review).or_else(|| number(line.get("progress"))),
        resolved: line.get("resolved").and_then(Value::as_bool),
    })
}
