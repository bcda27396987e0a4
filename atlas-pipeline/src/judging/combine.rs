//! Results of single models put together as a committee or a cascade, without asking anybody.

use super::abstain::abstention_fields;
use super::critic::Shown;
use super::ensemble::EnsembleOptions;
use super::results_file::{Numbered, read_lines};
use super::review::validation_fields;
use super::{ContentHash, JudgeItem, JudgeReport, JudgeRun, judge_items};
use atlas_core::{Confidence, Error, ErrorKind, Judgement, RunContext};
use atlas_judge::critic::{PatchCritique, TestCritique};
use atlas_judge::ensemble::{Ensemble, Question, Word, review_word};
use atlas_judge::metrics::LowConfidenceRule;
use atlas_judge::metrics::results::{Cost, CriticResult};
use atlas_judge::validation::{Review, StageOutcome, StageReport, ValidationReport};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is put together, and how.
#[derive(Clone, Debug)]
pub struct CombineOptions {
    /// Results of `atlas abstain`, `review` or `critic`, each of one model, with the model's name; of a cascade the
    /// cheapest first.
    pub members: Vec<(String, PathBuf)>,
    /// How they become one.
    pub ensemble: EnsembleOptions,
    /// The file of results.
    pub out: PathBuf,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CombineReport {
    /// How the run went.
    #[serde(flatten)]
    pub run: JudgeReport,
    /// What was judged: `abstain`, `review` or `critic`.
    pub question: String,
    /// The rule.
    pub rule: String,
    /// Items that are attempted, accepted or said to pass.
    pub yes: usize,
    /// Items that are not.
    pub no: usize,
    /// Items without a word: abstained from, or not wholly seen.
    pub abstained: usize,
}

/// The lines of one member by key.
struct Stored {
    name: String,
    path: PathBuf,
    lines: BTreeMap<String, Numbered>,
    order: Vec<String>,
}

/// Puts results of single models together, item by item, as the models together would have judged. Lines have the form
/// of theirs, with `members`, and `paid` and `kept` of the members whose word was needed; of a critic that was needed for
/// some of a patch's tests the same share of its cost.
///
/// # Errors
/// A file that cannot be read, holds no results of one model, or other ones than the first file; what does not make an
/// ensemble; those of [`judge_items`]. An item that a member's word is needed for and missing fails alone.
///
/// # Cancellation
/// As [`judge_items`].
pub async fn combine_results(
    cx: &RunContext,
    options: &CombineOptions,
) -> Result<CombineReport, Error> {
    if let Some((_, path)) = options
        .members
        .iter()
        .find(|(_, path)| *path == options.out)
    {
        let what = format!("`{}` is one of the files that are read", path.display());
        return Err(Error::new(ErrorKind::InvalidInput, "write results:", what));
    }
    let stored: Result<Vec<Stored>, Error> = options
        .members
        .iter()
        .map(|(name, path)| Stored::read(name, path))
        .collect();
    let stored = stored?;
    let (question, threshold) = question(&stored)?;
    let names: Vec<String> = stored.iter().map(|one| one.name.clone()).collect();
    let ensemble = options.ensemble.ensemble(&names, &question, threshold)?;
    let run = JudgeRun {
        name: "combine".to_owned(),
        out: options.out.clone(),
        settings: json!({
            "question": command(&question),
            "members": ensemble.members(),
            "of": stored.iter().map(Stored::settings).collect::<Vec<_>>(),
            "rule": ensemble.rule(),
            "threshold": ensemble.threshold(),
        }),
        jobs: 1,
    };
    let mut seen = BTreeSet::new();
    let keys = stored.iter().flat_map(|one| &one.order);
    let items = keys.filter(|key| seen.insert((*key).clone())).map(|key| {
        let lines = stored.iter().map(|one| one.lines.get(key));
        let texts: Vec<String> = lines.map(|line| json!(line).to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        JudgeItem {
            key: key.as_str().into(),
            content: ContentHash::of(&texts),
            input: key,
        }
    });
    let items = items.collect();
    let identity = |key: &&String| {
        let mut lines = stored.iter().filter_map(|one| one.lines.get(*key));
        let first = lines.next().map(|(_, line)| line);
        let names = ["instance_id", "agent", "patch_id"];
        let identity = names.into_iter().filter_map(|name| {
            let value = first?.get(name)?.as_str()?;
            Some((name, value.to_owned()))
        });
        identity.collect()
    };
    let (report, lines) = judge_items(cx, &run, items, identity, |key| {
        let done = Combining {
            key,
            stored: &stored,
            ensemble: &ensemble,
            question: &question,
        }
        .fields();
        async move { done }
    })
    .await?;
    let verdict = |line: &Map<String, Value>| match &question {
        Question::Abstention => line.get("abstention")?["attempt"].as_bool(),
        Question::Review => line.get("accepted")?.as_bool(),
        Question::Critic { .. } => match line.get("label")?.as_str()? {
            "pass" => Some(true),
            "fail" => Some(false),
            _ => None,
        },
    };
    let mut verdicts: Vec<Option<bool>> = Vec::new();
    for line in lines.iter() {
        let line = line?;
        if !line.contains_key("error") {
            verdicts.push(verdict(&line));
        }
    }
    let count = |wanted| verdicts.iter().filter(|one| **one == wanted).count();
    Ok(CombineReport {
        run: report,
        question: command(&question).to_owned(),
        rule: ensemble.rule().to_string(),
        yes: count(Some(true)),
        no: count(Some(false)),
        abstained: count(None),
    })
}

fn command(question: &Question) -> &'static str {
    match question {
        Question::Abstention => "abstain",
        Question::Review => "review",
        Question::Critic { .. } => "critic",
    }
}

/// What the files are about, and the threshold of that: the abstention policies' own.
fn question(stored: &[Stored]) -> Result<(Question, f64), Error> {
    let mut found: Option<(Question, &Stored)> = None;
    let mut taus: Vec<f64> = Vec::new();
    for one in stored {
        let (question, (number, _)) = one.question()?;
        match &found {
            Some((first, of)) if command(first) != command(&question) => {
                return Err(one.wrong(
                    *number,
                    &format!(
                        "this is of `atlas {}`, and `{}` is of `atlas {}`",
                        command(&question),
                        of.path.display(),
                        command(first)
                    ),
                ));
            }
            Some((first, of)) if *first != question => {
                return Err(one.wrong(
                    *number,
                    &format!(
                        "it was made with another rule for low confidence than `{}`",
                        of.path.display()
                    ),
                ));
            }
            Some(_) => {}
            None => found = Some((question, one)),
        }
        let lines = one.lines.values();
        taus.extend(lines.filter_map(|(_, line)| line.get("abstention")?["tau"].as_f64()));
    }
    let (question, _) = found.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidInput,
            "combine results:",
            "no file is named",
        )
    })?;
    taus.sort_by(f64::total_cmp);
    taus.dedup();
    match (&question, taus.as_slice()) {
        (Question::Abstention, [tau]) => Ok((question, *tau)),
        (Question::Abstention, [low, .., high]) => Err(Error::new(
            ErrorKind::InvalidInput,
            "combine results:",
            format!(
                "the files have thresholds from {low} to {high}; make all of them with one --tau"
            ),
        )),
        _ => Ok((question, 0.5)),
    }
}

impl Stored {
    fn read(name: &str, path: &Path) -> Result<Self, Error> {
        let mut found = Self {
            name: name.to_owned(),
            path: path.to_owned(),
            lines: BTreeMap::new(),
            order: Vec::new(),
        };
        for (number, line) in read_lines(path)? {
            let Some(key) = line.get("key").and_then(Value::as_str).map(str::to_owned) else {
                return Err(found.wrong(
                    number,
                    "it has no `key`: results of `atlas abstain`, `review` and `critic` have one",
                ));
            };
            if line.contains_key("members") {
                let what = "this is of several judges already; give results of single models";
                return Err(found.wrong(number, what));
            }
            if found.lines.insert(key.clone(), (number, line)).is_some() {
                return Err(found.wrong(number, &format!("`{key}` stands in the file twice")));
            }
            found.order.push(key);
        }
        Ok(found)
    }

    fn wrong(&self, line: usize, what: &str) -> Error {
        let place = format!("`{}`, line {line}: {what}", self.path.display());
        Error::new(ErrorKind::InvalidInput, "read results", place)
    }

    /// The hash of the settings behind the lines.
    fn settings(&self) -> Option<&Value> {
        self.lines
            .values()
            .find_map(|(_, line)| line.get("settings"))
    }

    /// What the file is about, and a line that tells.
    fn question(&self) -> Result<(Question, &Numbered), Error> {
        for line in self.lines.values() {
            let has = |name: &str| line.1.contains_key(name);
            if has("error") {
                continue;
            }
            if has("critic") {
                return Ok((Question::Critic { rule: self.rule() }, line));
            }
            if has("validation") || has("stages") {
                return Ok((Question::Review, line));
            }
            if has("abstention") && has("judgement") {
                return Ok((Question::Abstention, line));
            }
        }
        let what = "there is no result of `atlas abstain`, `review` or `critic` in it";
        let place = format!("`{}`: {what}", self.path.display());
        Err(Error::new(ErrorKind::InvalidInput, "read results", place))
    }

    /// The critic's rule for low confidence, which its settings tell; else the usual one.
    fn rule(&self) -> Option<LowConfidenceRule> {
        let mut path = self.path.clone().into_os_string();
        path.push(".settings.json");
        let settings = std::fs::read(path).ok();
        let settings: Option<Value> = settings.and_then(|text| serde_json::from_slice(&text).ok());
        let rule = settings
            .as_ref()
            .and_then(|all| all["settings"]["critic"].get("rule"));
        rule.map_or(Some(LowConfidenceRule::default()), |rule| {
            serde_json::from_value(rule.clone()).unwrap_or_default()
        })
    }

    /// A part of a line.
    fn part<T: DeserializeOwned>(&self, (number, line): &Numbered, name: &str) -> Result<T, Error> {
        let value = line.get(name).cloned().unwrap_or_default();
        serde_json::from_value(value)
            .map_err(|why| self.wrong(*number, &format!("`{name}`: {why}")))
    }
}

/// One item, put together.
struct Combining<'a> {
    key: &'a str,
    stored: &'a [Stored],
    ensemble: &'a Ensemble,
    question: &'a Question,
}

impl Combining<'_> {
    /// The member's line.
    ///
    /// # Errors
    /// There is none, it failed, or the item was another one then.
    fn line(&self, at: usize) -> Result<&Numbered, Error> {
        let stored = &self.stored[at];
        let lacks = |what: String| {
            let member = format!("`{}` (`{}`): {what}", stored.name, stored.path.display());
            Error::new(ErrorKind::NotFound, "find the word of", member)
        };
        let line = stored.lines.get(self.key);
        let line = line.ok_or_else(|| lacks("it has none about this item".to_owned()))?;
        if let Some(error) = line.1.get("error") {
            let why = error["message"].as_str().unwrap_or_default();
            return Err(lacks(format!("it failed: {why}")));
        }
        for name in ["content", "resolved"] {
            let other = self.known().find_map(|(_, line)| line.get(name));
            let own = line.1.get(name);
            if let (Some(own), Some(other)) = (own, other)
                && own != other
            {
                return Err(stored.wrong(
                    line.0,
                    &format!("`{name}` is {own}, and another member's is {other}: they judged different things"),
                ));
            }
        }
        Ok(line)
    }

    /// The members' lines that did not fail.
    fn known(&self) -> impl Iterator<Item = &Numbered> {
        let lines = self.stored.iter().filter_map(|one| one.lines.get(self.key));
        lines.filter(|(_, line)| !line.contains_key("error"))
    }

    fn fields(&self) -> Result<Map<String, Value>, Error> {
        let (_, first) = match self.known().next() {
            Some(line) => line,
            None => self.line(0)?,
        };
        let instance = first.get("instance_id").and_then(Value::as_str);
        let instance = instance.unwrap_or_default();
        let mut fields = Map::new();
        let carried: &[&str] = match self.question {
            Question::Abstention => &[],
            Question::Review => &["resolved", "kind", "patch_size", "abstention"],
            Question::Critic { .. } => &["resolved", "kind", "patch_size", "extraction", "unseen"],
        };
        for name in carried {
            let known = self.known().find_map(|(_, line)| line.get(*name));
            if let Some(value) = known {
                fields.insert((*name).to_owned(), value.clone());
            }
        }
        match self.question {
            Question::Abstention => {
                let judgement = self.judgement(instance)?;
                fields.extend(abstention_fields(judgement, self.ensemble.threshold()));
            }
            Question::Review => fields.extend(self.review(instance)?),
            Question::Critic { .. } => fields.extend(self.critic(instance)?),
        }
        self.write_costs(&mut fields);
        Ok(fields)
    }

    /// Of whole judgements.
    fn judgement(&self, instance: &str) -> Result<Judgement, Error> {
        let judgements = self.ensemble.gather(instance, |at| {
            let judgement: Judgement = self.stored[at].part(self.line(at)?, "judgement")?;
            Ok((self.question.word(&judgement)?, judgement))
        })?;
        self.ensemble
            .judgement(self.question, instance, &judgements)
    }

    fn review(&self, instance: &str) -> Result<Map<String, Value>, Error> {
        let looked = self.stored.iter().enumerate().find_map(|(at, stored)| {
            let line = stored.lines.get(self.key)?;
            line.1.contains_key("accepted").then_some((at, line))
        });
        // Nobody looked at what was abstained from.
        let Some((at, line)) = looked else {
            self.line(0)?;
            return Ok(Map::new());
        };
        let mut stages: Vec<StageReport> = self.stored[at].part(line, "stages")?;
        if line.1.contains_key("validation") {
            stages.pop();
        }
        let mut report = ValidationReport::default();
        for stage in stages {
            report.add(stage, true);
        }
        if report.accepted {
            let reports = self.ensemble.gather(instance, |at| {
                let report = self.member_review(at)?;
                Ok((review_word(&report), report))
            })?;
            report.add(self.ensemble.review(instance, &reports)?, false);
        }
        validation_fields(report, Some(self.ensemble))
    }

    /// What a member's review says; without evidence where it did not get that far.
    fn member_review(&self, at: usize) -> Result<StageReport, Error> {
        let (stored, line) = (&self.stored[at], self.line(at)?);
        if !line.1.contains_key("validation") {
            return Ok(StageReport::new("", StageOutcome::NoEvidence, ""));
        }
        let review: Review = stored.part(line, "validation")?;
        let stages = line.1.get("stages").and_then(Value::as_array);
        let reason = stages.and_then(|stages| stages.last()?["reason"].as_str());
        let outcome = if review.accepted {
            StageOutcome::Passed
        } else {
            StageOutcome::Rejected
        };
        let mut report = StageReport::new("", outcome, reason.unwrap_or_default());
        report.confidence = Some(Confidence {
            value: review.score,
            source: review.source,
        });
        report
            .details
            .insert("score".to_owned(), json!(review.score));
        Ok(report)
    }

    fn critic(&self, instance: &str) -> Result<Map<String, Value>, Error> {
        let mut shown: Option<Shown> = None;
        for stored in self.stored {
            let Some(line) = stored.lines.get(self.key) else {
                continue;
            };
            if line.1.contains_key("error") {
                continue;
            }
            let critic: CriticResult = stored.part(line, "critic")?;
            let now = Shown {
                variant: critic.variant.unwrap_or_default(),
                unseen: critic.unseen,
            };
            match &shown {
                Some(first) if *first != now => {
                    let what = "another critic, or one that was shown something else, than the first member's";
                    return Err(stored.wrong(line.0, what));
                }
                _ => shown = Some(now),
            }
        }
        let Some(shown) = shown else {
            return Err(self.line(0).err().unwrap_or_else(|| self.nothing()));
        };
        let by_test = self
            .known()
            .all(|(_, line)| line.contains_key("tests_judged"));
        if !by_test {
            return Ok(shown.patch(self.judgement(instance)?));
        }
        let tests = |at: usize| -> Result<Vec<TestCritique>, Error> {
            self.stored[at].part(self.line(at)?, "tests_judged")
        };
        // The tests are the same for all, and any member that is there names them.
        let there = (0..self.stored.len()).find_map(|at| tests(at).ok());
        let like = match there {
            Some(like) => like,
            None => tests(0)?,
        };
        let critic = self.ensemble.rule().to_string();
        let mut found = Vec::new();
        for (place, like) in like.iter().enumerate() {
            let judgements = self.ensemble.gather(instance, |at| {
                let own = tests(at)?;
                let test = own.get(place).filter(|test| test.ids == like.ids);
                let test = test.ok_or_else(|| {
                    let number = self.stored[at].lines.get(self.key).map_or(0, |line| line.0);
                    self.stored[at].wrong(
                        number,
                        "`tests_judged` has other tests than another member's",
                    )
                })?;
                let judgement = test.judgement();
                let word: Word = self.question.word(&judgement)?;
                Ok((word, judgement))
            })?;
            let judgement = self
                .ensemble
                .judgement(self.question, instance, &judgements)?;
            found.push(like.again(&critic, &judgement)?);
        }
        let critique =
            PatchCritique::of(&critic, found).map_err(|why| self.nothing().with_source(why))?;
        Ok(shown.tests(critique))
    }

    fn nothing(&self) -> Error {
        let what = format!("`{}` has no test", self.key);
        Error::new(ErrorKind::InvalidInput, "combine results:", what)
    }

    /// Adds what the words that were needed had cost.
    fn write_costs(&self, fields: &mut Map<String, Value>) {
        let mut sums = BTreeMap::from([("paid", Cost::default()), ("kept", Cost::default())]);
        let members = fields.get_mut("members").and_then(Value::as_array_mut);
        for (member, stored) in members.into_iter().flatten().zip(self.stored) {
            if member["asked"] != true {
                continue;
            }
            let line = stored.lines.get(self.key).map(|(_, line)| line);
            for (name, sum) in &mut sums {
                let cost = line.and_then(|line| Cost::deserialize(line.get(*name)?).ok());
                let Some(mut cost) = cost else { continue };
                if let (Some(part), Some(all)) =
                    (member["tests_asked"].as_u64(), member["tests"].as_u64())
                {
                    cost = cost.part(part, all);
                }
                member[*name] = json!(cost);
                *sum += cost;
            }
        }
        for (name, sum) in sums {
            if sum.calls > 0 {
                fields.insert(name.to_owned(), json!(sum));
            }
        }
    }
}
