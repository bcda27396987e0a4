//! How several judges of a run become one.

use super::results_file::ResultLines;
use atlas_core::{Error, ErrorKind};
use atlas_judge::ensemble::{
    CalibrationFile, Ensemble, EnsembleRule, Member, MemberCalibration, Question,
};
use atlas_judge::metrics::results::Cost;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// A file of calibrations, as `atlas metrics --calibrate METHOD --format json` prints it. As a text `FILE`, or
/// `NAME=FILE` for one about a single judge, which then is that member's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibratorsFile {
    /// The member that it is for, where it names none itself.
    pub member: Option<String>,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for CalibratorsFile {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (member, path) = named(text);
        Ok(Self {
            member: member.map(str::to_owned),
            path: path.into(),
        })
    }
}

/// A name before `=`, where one is given, and what it names. Addresses and paths may hold the sign themselves.
pub(super) fn named(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        !name.is_empty() && letters.all(|c| c.is_alphanumeric() || "-_. ".contains(c))
    };
    match text.split_once('=') {
        Some((name, rest)) if is_name(name) => (Some(name), rest),
        _ => (None, text),
    }
}

/// How several judges become one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnsembleOptions {
    /// The rule; absent is the question's own: the mean of probabilities and scores, the majority of critics.
    pub rule: Option<EnsembleRule>,
    /// The number, 0 to 1, from which on a mean or a calibrated cascade says yes; absent is the question's own:
    /// an abstention policy's `tau`, else 0.5.
    pub threshold: Option<f64>,
    /// What makes the numbers of the members comparable; without any they are taken as they are.
    pub calibrators: Vec<CalibratorsFile>,
}

impl EnsembleOptions {
    /// The ensemble of these members.
    ///
    /// # Errors
    /// A file of calibrations that cannot be read, or has none of a member; members and rule that do not fit
    /// ([`EnsembleError`](atlas_judge::ensemble::EnsembleError)).
    pub fn ensemble(
        &self,
        names: &[String],
        question: &Question,
        threshold: f64,
    ) -> Result<Ensemble, Error> {
        let mut calibrations = BTreeMap::new();
        for file in &self.calibrators {
            calibrations.extend(read(file, names, question)?);
        }
        let members = names.iter().map(|name| Member {
            name: name.clone(),
            calibration: calibrations.remove(name),
        });
        let rule = self.rule.clone().unwrap_or(match question {
            Question::Critic { .. } => EnsembleRule::Majority,
            Question::Abstention | Question::Review => EnsembleRule::Mean,
        });
        let threshold = self.threshold.unwrap_or(threshold);
        Ensemble::new(members.collect(), rule, threshold).map_err(|why| {
            Error::new(
                ErrorKind::InvalidInput,
                "set up the ensemble of",
                names.join(", "),
            )
            .with_source(why)
        })
    }
}

fn read(
    file: &CalibratorsFile,
    names: &[String],
    question: &Question,
) -> Result<BTreeMap<String, MemberCalibration>, Error> {
    let wrong = |why: String| {
        Error::new(
            ErrorKind::InvalidInput,
            "read calibrations",
            format!("`{}`", file.path.display()),
        )
        .with_source(why)
    };
    let bytes =
        std::fs::read(&file.path).map_err(|why| Error::io("read calibrations", &file.path, why))?;
    let read: CalibrationFile = serde_json::from_slice(&bytes).map_err(|why| {
        wrong(format!(
            "{why}; `atlas metrics --calibrate platt --format json` prints such a file"
        ))
    })?;
    let mut found = read.calibrations(question).map_err(wrong)?;
    if let Some(member) = &file.member {
        let Some(own) = found.remove("") else {
            let judges: Vec<&str> = found.keys().map(String::as_str).collect();
            return Err(wrong(format!(
                "it is about the judges {}, and so no one's own; leave `{member}=` out",
                judges.join(", ")
            )));
        };
        found = BTreeMap::from([(member.clone(), own)]);
    }
    if found.contains_key("") {
        let why = "it is about one judge, without a name; give it as NAME=FILE";
        return Err(wrong(why.to_owned()));
    }
    let judges: Vec<String> = found.keys().cloned().collect();
    found.retain(|name, _| names.contains(name));
    if found.is_empty() {
        return Err(wrong(format!(
            "it is about {}, and the members are {}",
            judges.join(", "),
            names.join(", ")
        )));
    }
    Ok(found)
}

/// Moves the members' words out of a judgement's details to where lines have them.
pub(super) fn lift_members(details: &mut Map<String, Value>, fields: &mut Map<String, Value>) {
    if let Some(members) = details.shift_remove("members") {
        fields.insert("members".to_owned(), members);
    }
}

/// The members of an ensemble of which none was asked, each with the reason.
pub(super) fn unasked(ensemble: &Ensemble, why: &str) -> Result<Value, Error> {
    let mut members = ensemble.combine("", &[])?.members;
    for member in &mut members {
        member.why = Some(why.to_owned());
    }
    Ok(json!(members))
}

/// How often a member of a committee or a cascade was asked, and what that takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberUse {
    /// The member.
    pub model: String,
    /// Items that it was asked about.
    pub asked: usize,
    /// Their share of the items that any member was asked about.
    pub share: Option<f64>,
    /// What asking it takes: what was paid, and kept answers that need not be paid again.
    pub cost: Cost,
}

/// What the members in lines were asked, in the order in which they stand there; empty where lines have none.
///
/// # Errors
/// The lines cannot be read.
pub(super) fn uses(lines: &ResultLines) -> Result<Vec<MemberUse>, Error> {
    let mut uses: Vec<MemberUse> = Vec::new();
    let mut asked = 0_u32;
    for line in lines.iter() {
        let line = line?;
        let members = line.get("members").and_then(Value::as_array);
        let members = members.map(Vec::as_slice).unwrap_or_default();
        asked += u32::from(members.iter().any(|member| member["asked"] == true));
        for member in members {
            let name = member["model"].as_str().unwrap_or_default();
            let at = uses.iter().position(|one| one.model == name);
            let at = at.unwrap_or_else(|| {
                uses.push(MemberUse {
                    model: name.to_owned(),
                    asked: 0,
                    share: None,
                    cost: Cost::default(),
                });
                uses.len() - 1
            });
            uses[at].asked += usize::from(member["asked"] == true);
            for part in ["paid", "kept"] {
                if let Ok(cost) = Cost::deserialize(&member[part]) {
                    uses[at].cost += cost;
                }
            }
        }
    }
    for of in &mut uses {
        let part = u32::try_from(of.asked).unwrap_or(u32::MAX);
        of.share = (asked > 0).then(|| f64::from(part) / f64::from(asked));
    }
    Ok(uses)
}
