//! The rules: one table a language, one line a rule, tried in order.

mod cpp;
mod dotnet;
mod everywhere;
mod go;
mod java;
mod javascript;
mod php;
mod python;
mod ruby;
mod rust;
mod shadows;
mod tests;

pub(crate) use rust::test_modules;

use crate::change::Change;
use crate::places::fits;
use crate::sections::{Section, Spliced};
use crate::signal::{SignalKind, SignalSeverity};
use crate::upstream::Version;
use atlas_facts::Family;

/// What becomes of a change.
#[derive(Debug)]
pub(crate) enum Ruling {
    /// The file is the instance's again; a new one goes.
    TakeBack(SignalSeverity, String),
    /// The file gets these bytes.
    Rewrite(Vec<u8>, SignalSeverity, String),
    /// It stays.
    Keep(SignalSeverity, String),
}

/// One rule.
pub(crate) struct Rule {
    /// Which files, as [`fits`] reads it.
    files: &'static [&'static str],
    kind: SignalKind,
    act: Act,
    /// Why such a file steers, for people.
    why: &'static str,
}

/// What a rule does with a file that fits.
enum Act {
    /// The whole file is the instance's.
    Whole(SignalSeverity),
    /// As `Whole`, where this holds.
    WholeIf(fn(&Change<'_>) -> bool, SignalSeverity),
    /// The part that the section names is the instance's.
    Part(fn(&Change<'_>) -> Option<Section>),
    /// Where this holds it is told, and stays.
    Report(fn(&Change<'_>) -> bool),
    /// Anything else.
    Judge(fn(&Change<'_>) -> Option<Ruling>),
}

/// Every table, with the family it is for; those of no family are for every run.
const TABLES: &[(Option<Family>, &[Rule])] = &[
    (Some(Family::Python), python::RULES),
    (Some(Family::JavaScript), javascript::RULES),
    (Some(Family::Go), go::RULES),
    (Some(Family::Rust), rust::RULES),
    (Some(Family::Ruby), ruby::RULES),
    (Some(Family::Php), php::RULES),
    (Some(Family::Java), java::RULES),
    (Some(Family::C), cpp::RULES),
    (Some(Family::DotNet), dotnet::RULES),
    (None, everywhere::RULES),
    (None, tests::RULES),
];

/// What the first rule that has something to say about a change says.
pub(crate) fn judge(change: &Change<'_>) -> Option<(SignalKind, Ruling)> {
    let active = |family: &Option<Family>| {
        family.is_none_or(|family| change.context.families.contains(&family))
    };
    let found = TABLES
        .iter()
        .filter(|(family, _)| active(family))
        .flat_map(|(_, rules)| *rules)
        .filter(|rule| rule.files.iter().any(|pattern| fits(pattern, change.path)))
        .find_map(|rule| Some((rule.kind, rule.apply(change)?)));
    // Of a file that belongs to the tests nothing is the prediction's, not even the rest of a
    // manifest.
    match found {
        Some((_, Ruling::Keep(..) | Ruling::Rewrite(..))) if change.in_test_folder() => {
            let existing = tests::existing(change).map(|ruling| (SignalKind::TestFile, ruling));
            existing.or(found)
        }
        found => found,
    }
}

impl Rule {
    fn apply(&self, change: &Change<'_>) -> Option<Ruling> {
        match &self.act {
            Act::Whole(severity) => Some(whole(change, *severity, self.why)),
            Act::WholeIf(holds, severity) => {
                holds(change).then(|| whole(change, *severity, self.why))
            }
            Act::Part(section) => part(change, &section(change)?, self.why),
            Act::Report(holds) => {
                holds(change).then(|| Ruling::Keep(SignalSeverity::Suspicious, self.why.to_owned()))
            }
            Act::Judge(judge) => judge(change),
        }
    }
}

/// The file is taken back, unless the instance's solution changes it too.
fn whole(change: &Change<'_>, severity: SignalSeverity, why: &str) -> Ruling {
    if change.gold_touches() {
        return Ruling::Keep(
            SignalSeverity::Suspicious,
            format!("{why}; it stays, as the instance's solution changes this file too"),
        );
    }
    Ruling::TakeBack(severity, why.to_owned())
}

/// The steering part is taken back, unless the instance's solution changes it too.
fn part(change: &Change<'_>, section: &Section, why: &str) -> Option<Ruling> {
    let keep = |more: &str| {
        let text = format!("{why}; it stays, as {more}");
        Some(Ruling::Keep(SignalSeverity::Suspicious, text))
    };
    let wanted = change.wanted();
    if wanted == Version::Unknown {
        return keep("the base commit's file is not known here");
    }
    let text = |bytes: Option<&[u8]>| String::from_utf8(bytes.unwrap_or_default().to_vec()).ok();
    let wanted = text(wanted.bytes())?;
    let now = change.after.filter(|_| !change.is_link());
    let now = now.and_then(|file| text(Some(&file.bytes)));
    let spliced = match &now {
        Some(now) => section.splice(now, &wanted),
        None if section.splice("", &wanted) == Spliced::Same => return None,
        None => Spliced::Broken("it is gone, a link, or no text"),
    };
    if spliced == Spliced::Same {
        return None;
    }
    if change.gold_touches() {
        let Some(solved) = text(change.solved().bytes()) else {
            return keep("the instance's solution changes this file too");
        };
        let as_solved = now.as_ref().map(|now| section.splice(now, &solved));
        if as_solved == Some(Spliced::Same) {
            return None;
        }
        if section.splice(&solved, &wanted) != Spliced::Same || now.is_none() {
            return keep("the instance's solution changes this part too");
        }
    }
    match spliced {
        Spliced::New(text, names) => {
            let message = format!("{why}: {}", names.join(", "));
            if change.is_new() && text.trim().is_empty() {
                return Some(Ruling::TakeBack(SignalSeverity::Suspicious, message));
            }
            Some(Ruling::Rewrite(
                text.into_bytes(),
                SignalSeverity::Suspicious,
                message,
            ))
        }
        Spliced::Foreign => keep("the base commit's file cannot be read as its format"),
        // Of a new file that reads as nothing nobody knows what it was meant to be.
        Spliced::Broken(_) if change.is_new() => None,
        Spliced::Broken(reason) | Spliced::Impossible(reason) => Some(whole(
            change,
            SignalSeverity::Suspicious,
            &format!("{why}; {reason}"),
        )),
        Spliced::Same => None,
    }
}
