//! Reading results files.

use super::{CandidateResult, ResultLine};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::BufRead;

/// A results file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The candidate patches, in the order of their first lines.
    pub candidates: Vec<CandidateResult>,
    /// Lines that were read, empty ones not counted.
    pub lines: u64,
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
/// The first line that is no JSON object of the form of [`ResultLine`], that has a number out of
/// range or a test twice, or that says something else of a patch than an earlier line.
pub fn read_results(mut input: impl BufRead) -> Result<Results, ResultsError> {
    let mut results = Results::default();
    let mut places: HashMap<(String, String, String), Place> = HashMap::new();
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
        let line = parse(bytes).map_err(|(field, message)| fault(&field, message))?;
        examine(&line).map_err(|(field, message)| fault(&field, message))?;
        results.lines += 1;
        let key = (
            line.instance_id.clone(),
            line.agent.clone(),
            line.patch_id.clone(),
        );
        if let Some(place) = places.get_mut(&key) {
            let known = &mut results.candidates[place.at];
            merge(known, line, place, number).map_err(|(field, message)| fault(field, message))?;
        } else {
            let place = Place::new(results.candidates.len(), &line, number);
            places.insert(key, place);
            results.candidates.push(line.into());
        }
    }
    Ok(results)
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

/// What the types cannot say.
fn examine(line: &ResultLine) -> Result<(), Fault> {
    let range = |field: &str, value: f64, most: f64| {
        if (0.0..=most).contains(&value) {
            return Ok(());
        }
        let to = if most.is_finite() {
            format!("from 0 to {most}")
        } else {
            "0 or more".to_owned()
        };
        Err((field.to_owned(), format!("{value} must be {to}")))
    };
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
struct Place {
    at: usize,
    first: u64,
    said: HashMap<String, u64>,
}

impl Place {
    fn new(at: usize, line: &ResultLine, number: u64) -> Self {
        let mut said = HashMap::new();
        for (field, there) in [
            ("tests", line.tests.is_some()),
            ("abstention", line.abstention.is_some()),
            ("deterministic", line.deterministic.is_some()),
            ("validation", line.validation.is_some()),
            ("kind", line.kind.is_some()),
        ] {
            if there {
                said.insert(field.to_owned(), number);
            }
        }
        if let Some(critic) = &line.critic {
            said.insert(critic_key(critic.variant.as_deref()), number);
        }
        Self {
            at,
            first: number,
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
    number: u64,
) -> Result<(), (&'static str, String)> {
    let other = |line: u64| {
        format!(
            "says something else of this patch than line {line}; a patch of its own needs its own patch_id"
        )
    };
    if known.resolved != line.resolved {
        return Err(("resolved", other(place.first)));
    }
    fill(&mut known.tests, line.tests, "tests", place, number).map_err(other_of(&other))?;
    fill(
        &mut known.abstention,
        line.abstention,
        "abstention",
        place,
        number,
    )
    .map_err(other_of(&other))?;
    fill(
        &mut known.deterministic,
        line.deterministic,
        "deterministic",
        place,
        number,
    )
    .map_err(other_of(&other))?;
    fill(
        &mut known.validation,
        line.validation,
        "validation",
        place,
        number,
    )
    .map_err(other_of(&other))?;
    fill(&mut known.kind, line.kind, "kind", place, number).map_err(other_of(&other))?;
    if let Some(critic) = line.critic {
        let key = critic_key(critic.variant.as_deref());
        let variant = critic.variant.unwrap_or_default();
        match known.critics.get(&variant) {
            Some(tests) if *tests != critic.tests => {
                let at = place.said.get(&key).copied().unwrap_or(place.first);
                return Err(("critic", other(at)));
            }
            Some(_) => {}
            None => {
                place.said.insert(key, number);
                known.critics.insert(variant, critic.tests);
            }
        }
    }
    Ok(())
}

fn other_of(
    other: &impl Fn(u64) -> String,
) -> impl Fn((&'static str, u64)) -> (&'static str, String) {
    move |(field, line)| (field, other(line))
}

/// Fills what is not known yet; what is known must be the same.
fn fill<T: PartialEq>(
    known: &mut Option<T>,
    new: Option<T>,
    field: &'static str,
    place: &mut Place,
    number: u64,
) -> Result<(), (&'static str, u64)> {
    match (&known, new) {
        (_, None) => Ok(()),
        (None, new) => {
            *known = new;
            place.said.insert(field.to_owned(), number);
            Ok(())
        }
        (Some(old), Some(new)) if *old == new => Ok(()),
        _ => Err((field, place.said.get(field).copied().unwrap_or(place.first))),
    }
}

impl From<ResultLine> for CandidateResult {
    fn from(line: ResultLine) -> Self {
        Self {
            instance_id: line.instance_id,
            patch_id: line.patch_id,
            agent: line.agent,
            resolved: line.resolved,
            tests: line.tests,
            abstention: line.abstention,
            deterministic: line.deterministic,
            validation: line.validation,
            critics: line
                .critic
                .map(|critic| (critic.variant.unwrap_or_default(), critic.tests))
                .into_iter()
                .collect(),
            kind: line.kind,
        }
    }
}
