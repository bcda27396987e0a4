//! Reading results files.

use super::{AbstentionResult, CandidateResult, LineCost, ResultLine, TaskLine};
use serde::Serialize;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::BufRead;

/// A results file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The candidate patches, in the order of their first lines.
    pub candidates: Vec<CandidateResult>,
    /// Lines that were read, empty ones not counted.
    pub lines: u64,
    /// Patches of which no line says whether they resolve their task: they are not among the candidates.
    pub without_truth: u64,
    /// What the abstention policy's words cost, by task, where lines about tasks alone are read.
    pub abstentions: BTreeMap<String, LineCost>,
}

/// A line that cannot be read, or that contradicts another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResultsError {
    /// The line, from 1.
    pub line: u64,
    /// The field, as `critic.tests[3].confidence`; empty for the line as a whole.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if !self.field.is_empty() {
            write!(f, ", field `{}`", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ResultsError {}

/// Reads a results file to its end. Empty lines are passed over; so is a byte order mark.
///
/// # Errors
/// As [`ResultsReader::add`].
pub fn read_results(input: impl BufRead) -> Result<Results, ResultsError> {
    let mut reader = ResultsReader::default();
    reader.add(input, "")?;
    Ok(reader.finish())
}

/// Reads several results files as one: what policies said, what critics said, what was true.
///
/// ```
/// use atlas_judge::metrics::results::ResultsReader;
/// let mut reader = ResultsReader::default();
/// let (truth, said) = (
///     r#"{"instance_id": "a", "agent": "m", "patch_id": "1", "resolved": true}"#,
///     r#"{"instance_id": "a", "agent": "m", "patch_id": "1", "validation": {"accepted": true, "source": "x"}}"#,
/// );
/// reader.add(truth.as_bytes(), "truth.jsonl")?;
/// reader.add(said.as_bytes(), "review.jsonl")?;
/// let results = reader.finish();
/// assert!(results.candidates[0].resolved && results.candidates[0].validation.is_some());
/// # Ok::<(), atlas_judge::metrics::results::ResultsError>(())
/// ```
#[derive(Debug, Default)]
pub struct ResultsReader {
    results: Results,
    places: HashMap<(String, String, String), Place>,
    /// The abstention policy's words on tasks, and which lines said them.
    tasks: HashMap<String, (AbstentionResult, String)>,
}

impl ResultsReader {
    /// Reads one more file to its end; `name` tells its lines from those of other files in messages, and
    /// is empty where there is only one.
    ///
    /// # Errors
    /// The first line that is no JSON object of the form of [`ResultLine`] or [`TaskLine`], that has a number out of
    /// range or a test twice, or that says something else of a patch or a task than an earlier line.
    pub fn add(&mut self, mut input: impl BufRead, name: &str) -> Result<(), ResultsError> {
        let mut buffer = Vec::new();
        for number in 1.. {
            let fault = |field: &str, message: String| ResultsError {
                line: number,
                field: field.to_owned(),
                message,
            };
            buffer.clear();
            let read = input.read_until(b'\n', &mut buffer);
            if read.map_err(|why| fault("", format!("cannot be read: {why}")))? == 0 {
                break;
            }
            let mut bytes = buffer.trim_ascii();
            if number == 1 {
                bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            }
            if bytes.is_empty() {
                continue;
            }
            let spot = if name.is_empty() {
                format!("line {number}")
            } else {
                format!("line {number} of {name}")
            };
            let read = match parse(bytes) {
                Ok(line) => Ok(line),
                Err(why) => Err(TaskLine::read(bytes).ok_or(why)),
            };
            let mut line = match read {
                Ok(line) => line,
                Err(Ok(task)) => {
                    let added = self.add_task(task, &spot);
                    added.map_err(|(field, message)| fault(&field, message))?;
                    self.results.lines += 1;
                    continue;
                }
                Err(Err((field, message))) => return Err(fault(&field, message)),
            };
            name_source(&mut line);
            examine(&line).map_err(|(field, message)| fault(&field, message))?;
            self.results.lines += 1;
            let key = (
                line.instance_id.clone(),
                line.agent.clone(),
                line.patch_id.clone(),
            );
            if let Some(place) = self.places.get_mut(&key) {
                let known = &mut self.results.candidates[place.at];
                merge(known, line, place, &spot)
                    .map_err(|(field, message)| fault(field, message))?;
            } else {
                let place = Place::new(self.results.candidates.len(), &line, &spot);
                self.places.insert(key, place);
                self.results.candidates.push(line.into());
            }
        }
        Ok(())
    }

    /// Takes what a line says of a task in.
    fn add_task(&mut self, line: TaskLine, spot: &str) -> Result<(), Fault> {
        let Some(said) = line.abstention else {
            return Ok(());
        };
        range("abstention.probability", said.probability, 1.0)?;
        match self.tasks.entry(line.instance_id.clone()) {
            Entry::Vacant(free) => {
                free.insert((said, spot.to_owned()));
                let members = line.members.unwrap_or_default();
                let cost = LineCost::new([line.paid, line.kept], members, false);
                self.results.abstentions.insert(line.instance_id, cost);
            }
            Entry::Occupied(known) if known.get().0 == said => {}
            Entry::Occupied(known) => {
                let message = format!("says something else of this task than {}", known.get().1);
                return Err(("abstention".to_owned(), message));
            }
        }
        Ok(())
    }

    /// What was read. Patches whose truth no line knows are counted and left out. A patch of which no line of its own has
    /// the abstention policy's word has that on its task.
    pub fn finish(mut self) -> Results {
        for candidate in &mut self.results.candidates {
            if candidate.abstention.is_none() {
                let said = self.tasks.get(&candidate.instance_id);
                candidate.abstention = said.map(|(said, _)| said.clone());
            }
        }
        let without: BTreeSet<usize> = self
            .places
            .values()
            .filter(|place| !place.said.contains_key("resolved"))
            .map(|place| place.at)
            .collect();
        let mut known = (0..).map(|at| !without.contains(&at));
        let before = self.results.candidates.len();
        self.results
            .candidates
            .retain(|_| known.next().unwrap_or_default());
        let left_out = before - self.results.candidates.len();
        self.results.without_truth = left_out as u64;
        self.results
    }
}

/// A field and what is wrong with it.
type Fault = (String, String);

fn parse(bytes: &[u8]) -> Result<ResultLine, Fault> {
    if bytes.first() != Some(&b'{') {
        // A list of the same values would be taken for the object.
        return Err((String::new(), "must be a JSON object".to_owned()));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let line = serde_path_to_error::deserialize(&mut reader).map_err(|why| {
        let path = why.path().to_string();
        let field = if path == "." { String::new() } else { path };
        (field, said(why.inner()))
    })?;
    reader.end().map_err(|why| (String::new(), said(&why)))?;
    Ok(line)
}

/// The reader's message with its place in the line, whose own number it does not know.
fn said(why: &serde_json::Error) -> String {
    let text = why.to_string();
    let tail = format!(" at line {} column {}", why.line(), why.column());
    match text.strip_suffix(&tail) {
        Some(message) => format!("{message} (column {})", why.column()),
        None => text,
    }
}

/// Says of a mean of what it is, where that is one source: means over other sources do not compare with it.
fn name_source(line: &mut ResultLine) {
    let members = line.members.iter().flatten().map(|member| &member.source);
    let mut sources = members.flatten();
    if let (Some(found), Some(first)) = (&mut line.validation, sources.next())
        && found.source == "committee_mean"
        && sources.all(|source| source == first)
    {
        found.source = format!("committee_mean of {first}");
    }
}

fn range(field: &str, value: f64, most: f64) -> Result<(), Fault> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    let to = if most.is_finite() {
        format!("from 0 to {most}")
    } else {
        "0 or more".to_owned()
    };
    Err((field.to_owned(), format!("{value} must be {to}")))
}

/// What the types cannot say.
fn examine(line: &ResultLine) -> Result<(), Fault> {
    for (field, text) in [
        ("instance_id", &line.instance_id),
        ("patch_id", &line.patch_id),
        ("agent", &line.agent),
    ] {
        if text.is_empty() {
            return Err((field.to_owned(), "must not be empty".to_owned()));
        }
    }
    if let Some(abstention) = &line.abstention {
        range("abstention.probability", abstention.probability, 1.0)?;
    }
    if let Some(score) = line.validation.as_ref().and_then(|found| found.score) {
        range("validation.score", score, f64::INFINITY)?;
    }
    if let Some(tests) = &line.tests {
        once("tests", tests.iter().map(|test| test.id.as_str()))?;
    }
    if let Some(critic) = &line.critic {
        once(
            "critic.tests",
            critic.tests.iter().map(|test| test.id.as_str()),
        )?;
        for (at, test) in critic.tests.iter().enumerate() {
            range(
                &format!("critic.tests[{at}].confidence"),
                test.confidence,
                100.0,
            )?;
        }
    }
    Ok(())
}

fn once<'a>(list: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for (at, id) in ids.enumerate() {
        if !seen.insert(id) {
            let message = format!("`{id}` stands in the list twice");
            return Err((format!("{list}[{at}].id"), message));
        }
    }
    Ok(())
}

/// Where a candidate is, and which line said what of it.
#[derive(Debug)]
struct Place {
    at: usize,
    first: String,
    said: HashMap<String, String>,
}

impl Place {
    fn new(at: usize, line: &ResultLine, spot: &str) -> Self {
        let mut said = HashMap::new();
        for (field, there) in [
            ("resolved", line.resolved.is_some()),
            ("tests", line.tests.is_some()),
            ("abstention", line.abstention.is_some()),
            ("deterministic", line.deterministic.is_some()),
            ("validation", line.validation.is_some()),
            ("kind", line.kind.is_some()),
            ("patch_size", line.patch_size.is_some()),
        ] {
            if there {
                said.insert(field.to_owned(), spot.to_owned());
            }
        }
        if let Some(critic) = &line.critic {
            said.insert(critic_key(critic.variant.as_deref()), spot.to_owned());
        }
        Self {
            at,
            first: spot.to_owned(),
            said,
        }
    }
}

fn critic_key(variant: Option<&str>) -> String {
    format!("critic {}", variant.unwrap_or_default())
}

/// Takes a further line on the same patch in.
fn merge(
    known: &mut CandidateResult,
    line: ResultLine,
    place: &mut Place,
    spot: &str,
) -> Result<(), (&'static str, String)> {
    // Lines may repeat each other: the first one's cost counts.
    if let Some((judge, cost)) = LineCost::of(&line) {
        known.costs.entry(judge).or_insert(cost);
    }
    let other = |line: &str| {
        format!(
            "says something else of this patch than {line}; a patch of its own needs its own patch_id"
        )
    };
    if let Some(resolved) = line.resolved {
        match place.said.get("resolved") {
            Some(spot) if known.resolved != resolved => return Err(("resolved", other(spot))),
            Some(_) => {}
            None => {
                known.resolved = resolved;
                place.said.insert("resolved".to_owned(), spot.to_owned());
            }
        }
    }
    fill(&mut known.tests, line.tests, "tests", place, spot).map_err(other_of(&other))?;
    fill(
        &mut known.abstention,
        line.abstention,
        "abstention",
        place,
        spot,
    )
    .map_err(other_of(&other))?;
    fill(
        &mut known.deterministic,
        line.deterministic,
        "deterministic",
        place,
        spot,
    )
    .map_err(other_of(&other))?;
    fill(
        &mut known.validation,
        line.validation,
        "validation",
        place,
        spot,
    )
    .map_err(other_of(&other))?;
    fill(&mut known.kind, line.kind, "kind", place, spot).map_err(other_of(&other))?;
    fill(
        &mut known.patch_size,
        line.patch_size,
        "patch_size",
        place,
        spot,
    )
    .map_err(other_of(&other))?;
    if let Some(critic) = line.critic {
        let key = critic_key(critic.variant.as_deref());
        let variant = critic.variant.clone().unwrap_or_default();
        match known.critics.get(&variant) {
            Some(said) if *said != critic => {
                let at = place.said.get(&key).unwrap_or(&place.first);
                return Err(("critic", other(at)));
            }
            Some(_) => {}
            None => {
                place.said.insert(key, spot.to_owned());
                known.critics.insert(variant, critic);
            }
        }
    }
    Ok(())
}

fn other_of(
    other: &impl Fn(&str) -> String,
) -> impl Fn((&'static str, String)) -> (&'static str, String) {
    move |(field, line)| (field, other(&line))
}

/// Fills what is not known yet; what is known must be the same.
fn fill<T: PartialEq>(
    known: &mut Option<T>,
    new: Option<T>,
    field: &'static str,
    place: &mut Place,
    spot: &str,
) -> Result<(), (&'static str, String)> {
    match (&known, new) {
        (_, None) => Ok(()),
        (None, new) => {
            *known = new;
            place.said.insert(field.to_owned(), spot.to_owned());
            Ok(())
        }
        (Some(old), Some(new)) if *old == new => Ok(()),
        _ => {
            let at = place.said.get(field).unwrap_or(&place.first);
            Err((field, at.clone()))
        }
    }
}

impl From<ResultLine> for CandidateResult {
    fn from(line: ResultLine) -> Self {
        Self {
            costs: LineCost::of(&line).into_iter().collect(),
            instance_id: line.instance_id,
            patch_id: line.patch_id,
            agent: line.agent,
            resolved: line.resolved.unwrap_or_default(),
            tests: line.tests,
            abstention: line.abstention,
            deterministic: line.deterministic,
            validation: line.validation,
            critics: line
                .critic
                .map(|critic| (critic.variant.clone().unwrap_or_default(), critic))
                .into_iter()
                .collect(),
            kind: line.kind,
            patch_size: line.patch_size,
        }
    }
}
