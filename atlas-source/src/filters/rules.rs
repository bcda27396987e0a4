//! What each filter says of one pull request.

use super::bounds::{Bounds, Window};
use super::config::{Endings, FilterConfig};
use super::names::FilterName;
use atlas_core::{AuthorClass, ChangeShape, SourcedPullRequest};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What a filter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Pass,
    /// Why not, in words that are the same for all of this kind, and what was seen.
    Drop(&'static str, String),
    /// What is not known.
    Unknown(&'static str),
}

use Ruling::{Drop, Pass, Unknown};

/// The filters that look at one pull request alone.
pub(super) fn judge(
    name: FilterName,
    filters: &FilterConfig,
    candidate: &SourcedPullRequest,
) -> Ruling {
    let facts = &candidate.repository;
    match name {
        FilterName::Merged => window(
            filters.merged.as_ref(),
            candidate.merged_at.as_ref(),
            "time of the merge",
        ),
        FilterName::Pushed => window(
            filters.pushed.as_ref(),
            facts.pushed_at.as_ref(),
            "time of the last push",
        ),
        FilterName::CutOff => cut_off(filters, candidate),
        FilterName::Stars => number(filters.stars, facts.stars, "stars"),
        FilterName::LinesOfCode => {
            number(filters.lines_of_code, facts.lines_of_code, "lines of code")
        }
        FilterName::TestFramework if facts.test_frameworks.is_empty() => {
            // Only who has looked at the files knows that there is none.
            if facts.lines_of_code.is_some() {
                Drop("no test framework is named", String::new())
            } else {
                Unknown("test framework")
            }
        }
        FilterName::Licences => match (&filters.licences, &facts.licence) {
            (Some(allowed), Some(licence)) => licences(allowed, licence),
            (Some(_), None) => Unknown("licence"),
            (None, _) => Pass,
        },
        FilterName::NoBots => match &candidate.author {
            Some(author) if author.class == AuthorClass::Bot => {
                Drop("by a program", author.name.clone().unwrap_or_default())
            }
            Some(_) => Pass,
            None => Unknown("author"),
        },
        FilterName::NoBackports => {
            backport(candidate).map_or(Pass, |seen| Drop("a back-port", seen))
        }
        FilterName::Issues => {
            let count = candidate.issues.len() as u64;
            match number(filters.issues, Some(count), "issues") {
                Drop(_, _) if count == 0 => Drop("resolves no issue", String::new()),
                other => other,
            }
        }
        FilterName::EditsTests => shape(candidate, |change| {
            if change.test_files == 0 {
                Drop("edits and adds no test", String::new())
            } else {
                Pass
            }
        }),
        FilterName::ChangedLines => shape(candidate, |change| {
            number(
                filters.changed_lines,
                Some(change.added + change.removed),
                "changed lines",
            )
        }),
        FilterName::ChangedFiles => shape(candidate, |change| {
            number(
                filters.changed_files,
                Some(change.paths.len() as u64),
                "changed files",
            )
        }),
        FilterName::Hunks => shape(candidate, |change| {
            number(filters.hunks, Some(change.hunks), "hunks")
        }),
        FilterName::Endings => shape(candidate, |change| match &filters.endings {
            Some(endings) => kinds(endings, change),
            None => Pass,
        }),
        FilterName::NoScreenshots => screenshots(candidate),
        FilterName::TestFramework | FilterName::NoDuplicates | FilterName::NearDuplicates => Pass,
    }
}

fn number(bounds: Option<Bounds>, number: Option<u64>, what: &'static str) -> Ruling {
    match (bounds, number) {
        (None, _) => Pass,
        (Some(_), None) => Unknown(what),
        (Some(bounds), Some(number)) if bounds.hold(number) => Pass,
        (Some(bounds), Some(number)) => Drop(what, format!("{number}, not {bounds}")),
    }
}

fn window(window: Option<&Window>, time: Option<&String>, what: &'static str) -> Ruling {
    match (window, time) {
        (None, _) => Pass,
        (Some(_), None) => Unknown(what),
        (Some(window), Some(time)) if window.holds(time) => Pass,
        (Some(window), Some(time)) => Drop(what, format!("{time}, not {window}")),
    }
}

fn shape(candidate: &SourcedPullRequest, rule: impl FnOnce(&ChangeShape) -> Ruling) -> Ruling {
    candidate.change.as_ref().map_or(Unknown("change"), rule)
}

/// A model may have learnt what was public before its cut-off: the first of what is known of the pull request's times counts.
fn cut_off(filters: &FilterConfig, candidate: &SourcedPullRequest) -> Ruling {
    let Some(models) = &filters.cut_off else {
        return Pass;
    };
    let times = [
        &candidate.first_commit_at,
        &candidate.created_at,
        &candidate.merged_at,
    ];
    let Some(began) = times.into_iter().flatten().min() else {
        return Unknown("when it began");
    };
    let knowing: Vec<&str> = models
        .iter()
        .filter(|(_, at)| began.as_str() < at.as_str())
        .map(|(model, _)| model.as_str())
        .collect();
    if knowing.is_empty() {
        Pass
    } else {
        Drop(
            "before a model's cut-off",
            format!("{began}, before that of {}", knowing.join(", ")),
        )
    }
}

fn licences(allowed: &BTreeSet<String>, licence: &str) -> Ruling {
    // What GitHub says where it does not know.
    if matches!(licence, "NOASSERTION" | "other" | "") {
        return Unknown("licence");
    }
    let fits = match spdx::Expression::parse(licence) {
        Ok(expression) => expression.evaluate(|wanted| {
            wanted
                .license
                .id()
                .is_some_and(|id| allowed.contains(id.name))
        }),
        Err(_) => allowed.contains(licence),
    };
    if fits {
        Pass
    } else {
        Drop("licence", licence.to_owned())
    }
}

fn backport(candidate: &SourcedPullRequest) -> Option<String> {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\bback-?port(?:s|ed|ing)?\b").expect("tested"));
    static PICKED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\(cherry picked from commit [0-9a-f]{7,64}\)").expect("tested")
    });
    // `[3.11] Fix it (GH-12)`. A number at the end alone is an issue's as often as not.
    static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\[[^\]]*[0-9][^\]]*\].*\((?:GH-|#)[0-9]+\)$").expect("tested")
    });
    let title = candidate.title.as_str();
    if WORD.is_match(title) || NUMBERED.is_match(title) {
        return Some(title.to_owned());
    }
    if let Some(label) = candidate.labels.iter().find(|label| WORD.is_match(label)) {
        // `needs backport` marks what is to be carried over, not what was.
        let lower = label.to_lowercase();
        let asks = ["need", "to ", "request", "candidate"]
            .iter()
            .any(|word| lower.contains(word));
        return (!asks).then(|| format!("label {label}"));
    }
    PICKED
        .find(&candidate.body)
        .map(|found| found.as_str().to_owned())
}

fn kinds(endings: &Endings, change: &ChangeShape) -> Ruling {
    let ending = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.rsplit_once('.')
            .map(|(_, ending)| ending.to_ascii_lowercase())
    };
    let has =
        |path: &String, set: &BTreeSet<String>| ending(path).is_some_and(|end| set.contains(&end));
    if let Some(path) = change.paths.iter().find(|path| has(path, &endings.none_of)) {
        return Drop("changes a file of a kind that is left out", path.clone());
    }
    if !endings.any_of.is_empty() && !change.paths.iter().any(|path| has(path, &endings.any_of)) {
        let first = change.paths.first().cloned().unwrap_or_default();
        return Drop("changes no file of a kind that is asked for", first);
    }
    Pass
}

/// Pictures in the descriptions of issues. Badges are none.
fn screenshots(candidate: &SourcedPullRequest) -> Ruling {
    static PICTURE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?i)!\[[^\]]*\]\((?<a>[^)\s]+)|<(?:img|video)\b[^>]*?src\s*=\s*["']?(?<b>[^"'\s>]+)|(?<c>https?://[^\s)>"']+(?:/user-attachments/assets/|user-images\.githubusercontent\.com/|\.(?:png|jpe?g|gif|webp|mp4|mov)\b)[^\s)>"']*)"#,
        )
        .expect("tested")
    });
    for issue in &candidate.issues {
        for found in PICTURE.captures_iter(&issue.body) {
            let address = ["a", "b", "c"].iter().find_map(|name| found.name(name));
            let address = address.map_or("", |address| address.as_str());
            let badge = ["shields.io", "badge"]
                .iter()
                .any(|word| address.contains(word));
            if !badge {
                return Drop("a picture in an issue", address.chars().take(200).collect());
            }
        }
    }
    let untold = candidate
        .issues
        .iter()
        .all(|issue| issue.title.is_empty() && issue.body.is_empty());
    if untold {
        Unknown("text of the issues")
    } else {
        Pass
    }
}
