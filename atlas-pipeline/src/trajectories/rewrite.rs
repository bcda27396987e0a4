//! Thoughts of recordings written anew.

use super::{Gathered, LocatedTrajectory, content, read_hints};
use crate::judging::{
    ContentHash, Identity, JudgeItem, JudgeReport, JudgeRun, ModelSession, in_batches, judge_items,
};
use crate::store::{clear_unfinished, replace};
use atlas_core::{ChatMessage, Decision, Error, ErrorKind, RunContext};
use atlas_trajectory::{
    Attempt, Content, HintTerms, REWRITE_PROMPT_VERSION, RewriteOptions, RewrittenThoughts,
    Trajectory, TrajectoryGate as _, rewrite_questions, rewrite_thoughts,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which thoughts are rewritten, and how.
#[derive(Clone, Debug)]
pub struct RewriteRunOptions {
    /// Recordings, or folders of them.
    pub places: Vec<PathBuf>,
    /// JSON lines with `instance_id` and `hint`: what the agents were told.
    pub hints: Option<PathBuf>,
    /// Words that count as the hint's beside the usual ones.
    pub words: Vec<String>,
    /// How the model is asked.
    pub rewrite: RewriteOptions,
    /// Where recordings go, all of them, under the names of the originals and as ATIF.
    pub to: PathBuf,
    /// The file of results.
    pub out: PathBuf,
    /// Attempts that go on at once.
    pub jobs: usize,
}

/// What became of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RewriteRunReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// Thoughts that were written anew.
    pub thoughts: usize,
    /// Attempts that the gate `rewritten_thoughts` accepts; those without anything to rewrite, too.
    pub accepted: usize,
    /// Attempts of which a thought was rewritten or should have been.
    pub results: Vec<RewrittenTrajectory>,
    /// Files that were written; none before every attempt has its result.
    pub written: usize,
    /// Recordings that cannot be read, and why.
    pub faults: Vec<String>,
    /// What the model was paid in this run.
    pub ledger: Value,
}

/// What became of one attempt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RewrittenTrajectory {
    /// The instance; empty where it is not told.
    pub instance_id: String,
    /// The recording.
    pub file: String,
    /// Which trajectory of it, from 1.
    pub number: usize,
    /// Thoughts that were written anew.
    pub thoughts: usize,
    /// Whether the gate accepts it.
    pub accepted: bool,
    /// What the gate found, a code each.
    pub findings: Vec<String>,
}

/// A thought as it was answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NewThought {
    step_id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
}

/// What the thoughts became that differ.
fn changes(before: &Trajectory, after: &Trajectory) -> Vec<NewThought> {
    let pairs = before.steps.iter().zip(&after.steps);
    let changed = pairs.filter(|(before, after)| {
        before.message != after.message || before.reasoning_content != after.reasoning_content
    });
    changed
        .map(|(before, after)| NewThought {
            step_id: after.step_id,
            message: (before.message != after.message).then(|| after.message.text()),
            reasoning_content: after
                .reasoning_content
                .clone()
                .filter(|_| before.reasoning_content != after.reasoning_content),
        })
        .collect()
}

fn apply(trajectory: &mut Trajectory, thoughts: &[NewThought]) {
    for new in thoughts {
        let mut steps = trajectory.steps.iter_mut();
        let Some(step) = steps.find(|step| step.step_id == new.step_id) else {
            continue;
        };
        if let Some(text) = &new.message {
            step.message = Content::Text(text.clone());
        }
        if let Some(text) = &new.reasoning_content {
            step.reasoning_content = Some(text.clone());
        }
    }
}

/// Has thoughts that speak of the hint written anew and writes all recordings into a folder; the originals stay. The
/// gate `rewritten_thoughts` compares afterwards. Lines of the file of results have `instance_id`, `file`, `number`,
/// `thoughts` (what they became) and `verdict`.
///
/// # Errors
/// As [`judge_items`]; a place or the hints cannot be read, or a recording cannot be written. A recording that cannot
/// be read is a fault in the report.
///
/// # Cancellation
/// As [`judge_items`]; recordings are written when all thoughts are there.
pub async fn rewrite_trajectories(
    cx: &RunContext,
    options: &RewriteRunOptions,
    session: &ModelSession,
) -> Result<RewriteRunReport, Error> {
    in_batches(cx, session, &options.out, |session, out| {
        let options = RewriteRunOptions {
            out,
            ..options.clone()
        };
        async move {
            let inputs = Inputs::read(&options)?;
            inputs.ask(cx, &options, &session).await.map(drop)
        }
    })
    .await?;
    let inputs = Inputs::read(options)?;
    let (run, lines) = inputs.ask(cx, options, session).await?;
    let mut report = RewriteRunReport {
        run,
        thoughts: 0,
        accepted: 0,
        results: Vec::new(),
        written: 0,
        faults: inputs.gathered.faults.clone(),
        ledger: session.ledger(),
    };
    for done in &lines {
        report.thoughts += done.thoughts.len();
        report.accepted += usize::from(done.accepted);
        if !done.accepted || !done.thoughts.is_empty() {
            let found = inputs.gathered.all.get(done.at)?;
            report.results.push(RewrittenTrajectory {
                instance_id: found
                    .trajectory
                    .instance_id()
                    .unwrap_or_default()
                    .to_owned(),
                file: found.file.display().to_string(),
                number: found.number,
                thoughts: done.thoughts.len(),
                accepted: done.accepted,
                findings: done.findings.clone(),
            });
        }
    }
    if report.run.is_complete() {
        report.written = inputs.write(&options.to, &lines)?;
    }
    Ok(report)
}

/// What a model would be told of each thought, without asking any.
///
/// # Errors
/// As [`rewrite_trajectories`].
pub fn rewrite_prompts(
    options: &RewriteRunOptions,
) -> Result<Vec<(String, Vec<ChatMessage>)>, Error> {
    let inputs = Inputs::read(options)?;
    let mut prompts = Vec::new();
    for at in 0..inputs.gathered.count {
        let found = inputs.gathered.all.get(at)?;
        let terms = HintTerms::new(inputs.hint(&found), &options.words);
        let questions = rewrite_questions(&found.trajectory, &terms);
        let named = questions.into_iter().enumerate();
        prompts
            .extend(named.map(|(at, one)| (format!("{}, thought {}", found.key(), at + 1), one)));
    }
    Ok(prompts)
}

/// What became of one trajectory.
struct Done {
    at: usize,
    thoughts: Vec<NewThought>,
    accepted: bool,
    findings: Vec<String>,
}

struct Inputs {
    gathered: Gathered,
    identities: Vec<Identity>,
    hints: BTreeMap<String, String>,
}

impl Inputs {
    fn read(options: &RewriteRunOptions) -> Result<Self, Error> {
        let hints = options.hints.as_deref().map(read_hints).transpose()?;
        let gathered = Gathered::of(&options.places)?;
        let identities = (0..gathered.count).map(|at| Ok(gathered.all.get(at)?.identity()));
        let inputs = Self {
            identities: identities.collect::<Result<_, Error>>()?,
            hints: hints.unwrap_or_default(),
            gathered,
        };
        inputs.refuse_originals(&options.to)?;
        Ok(inputs)
    }

    fn hint(&self, found: &LocatedTrajectory) -> &str {
        let id = found.trajectory.instance_id();
        id.and_then(|id| self.hints.get(id))
            .map_or("", String::as_str)
    }

    /// Originals stay, and no recording takes another's place.
    fn refuse_originals(&self, to: &Path) -> Result<(), Error> {
        let wrong = |what: String| {
            let subject = format!("`{}`: {what}", to.display());
            Error::new(ErrorKind::InvalidInput, "write recordings to", subject)
        };
        let mut names = BTreeMap::new();
        for at in 0..self.gathered.count {
            let found = self.gathered.all.get(at)?;
            let target = to.join(&found.name);
            let is_same = match (target.canonicalize(), found.file.canonicalize()) {
                (Ok(target), Ok(file)) => target == file,
                _ => false,
            };
            if is_same {
                return Err(wrong(
                    "it holds the originals; name another folder".to_owned(),
                ));
            }
            let first = names.entry(target).or_insert_with(|| found.file.clone());
            if *first != found.file {
                return Err(wrong(format!(
                    "`{}` and `{}` would have one name there; name the folder above them",
                    first.display(),
                    found.file.display()
                )));
            }
        }
        Ok(())
    }

    async fn ask(
        &self,
        cx: &RunContext,
        options: &RewriteRunOptions,
        session: &ModelSession,
    ) -> Result<(JudgeReport, Vec<Done>), Error> {
        let model = session.model();
        let run = JudgeRun {
            name: "trajectories rewrite".to_owned(),
            out: options.out.clone(),
            settings: json!({
                "model": model.name(),
                "model_settings": session.settings(),
                "rewrite": options.rewrite,
                "words": options.words,
                "prompt_version": REWRITE_PROMPT_VERSION,
            }),
            jobs: options.jobs,
        };
        let item = |at| {
            let found = self.gathered.all.get(at)?;
            Ok(JudgeItem {
                key: found.key().into(),
                content: ContentHash::of(&[&found.trajectory.to_atif_line(), self.hint(&found)]),
                input: at,
            })
        };
        let items = (0..self.gathered.count).map(item);
        let items = items.collect::<Result<Vec<_>, Error>>()?;
        let places: BTreeMap<String, usize> = items
            .iter()
            .map(|item| (item.key.to_string(), item.input))
            .collect();
        let (report, lines) = judge_items(
            cx,
            &run,
            items,
            |at| self.identities[*at].clone(),
            |at| {
                let model = &model;
                async move {
                    let original = self.gathered.all.get(at)?;
                    let hint = self.hint(&original).to_owned();
                    let terms = HintTerms::new(&hint, &options.words);
                    let rewritten =
                        rewrite_thoughts(cx, model, &original.trajectory, &terms, &options.rewrite)
                            .await?;
                    let mut fields = Map::new();
                    let mut set = |name: &str, value| fields.insert(name.to_owned(), value);
                    set("trajectory", json!(content(&rewritten).to_string()));
                    set("thoughts", json!(changes(&original.trajectory, &rewritten)));
                    let attempt = Attempt {
                        trajectory: rewritten,
                        hint,
                        original: Some(original.trajectory),
                    };
                    let gate = RewrittenThoughts {
                        words: options.words.clone(),
                    };
                    set("verdict", json!(gate.check(cx, &attempt).await?));
                    Ok(fields)
                }
            },
        )
        .await?;
        let mut all = Vec::new();
        for line in lines.iter() {
            let line = Value::Object(line?);
            let at = line["key"].as_str().and_then(|key| places.get(key));
            let thoughts = serde_json::from_value(line["thoughts"].clone());
            let (Some(at), Ok(thoughts)) = (at, thoughts) else {
                continue; // It failed, and the run says so.
            };
            let findings = line["verdict"]["findings"].as_array();
            let codes = findings.into_iter().flatten();
            let codes = codes.filter_map(|one| one["code"].as_str().map(str::to_owned));
            all.push(Done {
                at: *at,
                thoughts,
                accepted: line["verdict"]["decision"] == json!(Decision::Accept),
                findings: codes.collect(),
            });
        }
        Ok((report, all))
    }

    /// Writes each recording, with all its trajectories, and returns how many.
    fn write(&self, to: &Path, done: &[Done]) -> Result<usize, Error> {
        let mut files: BTreeMap<PathBuf, Vec<&Done>> = BTreeMap::new();
        for one in done {
            let name = self.gathered.all.get(one.at)?.name;
            files.entry(name).or_default().push(one);
        }
        for (name, all) in &files {
            let path = to.join(name);
            clear_unfinished(path.parent().unwrap_or(to));
            replace(&path, |out| {
                for one in all {
                    let mut trajectory = self.gathered.all.get(one.at)?.trajectory;
                    apply(&mut trajectory, &one.thoughts);
                    let line = format!("{}\n", trajectory.to_atif_line());
                    out.write_all(line.as_bytes())
                        .map_err(|why| Error::io("write", &path, why))?;
                }
                Ok(())
            })?;
        }
        Ok(files.len())
    }
}
