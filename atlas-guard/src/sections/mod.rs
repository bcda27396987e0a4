//! Manifests that hold more than what steers a runner: the steering part is found, compared and put
//! back as text, and every other byte stays.

mod fragments;
mod ini;
mod json;
mod statements;
mod toml;

pub(crate) use fragments::Fragments;

use regex::Regex;

/// Which part of a manifest steers.
#[derive(Debug)]
pub(crate) enum Section {
    /// Tables and keys of a TOML file; `*` stands for one part of a path.
    Toml(Vec<Vec<String>>),
    /// Sections and keys of an INI file; `x*` stands for names that begin so.
    Ini(Vec<Vec<String>>),
    /// Members of a JSON file, comments allowed.
    Json(Vec<Vec<String>>),
    /// `replace` and its kin in a `go.mod`: first words.
    Directives(Vec<String>),
    /// Keys of a properties file, as a pattern.
    Properties(Regex),
    /// Pieces that a scanner finds.
    Fragments(Fragments),
}

/// What a comparison with the wanted text gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Spliced {
    /// The steering part is as wanted.
    Same,
    /// The text with the wanted part, and the names of what was put back.
    New(String, Vec<String>),
    /// The part cannot be told from the rest, with the reason.
    Impossible(&'static str),
    /// The text cannot be read as its format, with the reason.
    Broken(&'static str),
    /// The wanted text cannot be read as its format: a template, or no manifest at all.
    Foreign,
}

impl Section {
    /// Puts the steering part of `wanted` into `now`. `wanted` is empty where the file is new.
    pub(crate) fn splice(&self, now: &str, wanted: &str) -> Spliced {
        match self {
            Self::Toml(paths) => toml::splice(now, wanted, paths),
            Self::Ini(paths) => {
                let is_steering = |path: &[String]| {
                    paths.iter().any(|steering| {
                        path.len() >= steering.len()
                            && steering.iter().zip(path).all(|(want, have)| {
                                want.strip_suffix('*')
                                    .map_or(want == have, |begin| have.starts_with(begin))
                            })
                    })
                };
                statements::splice(ini::ini, now, wanted, &is_steering)
            }
            Self::Json(paths) => json::splice(now, wanted, paths),
            Self::Directives(words) => {
                let is_steering =
                    |path: &[String]| path.first().is_some_and(|word| words.contains(word));
                statements::splice(ini::directives, now, wanted, &is_steering)
            }
            Self::Properties(pattern) => {
                let is_steering =
                    |path: &[String]| path.first().is_some_and(|key| pattern.is_match(key));
                statements::splice(ini::properties, now, wanted, &is_steering)
            }
            Self::Fragments(fragments) => fragments.splice(now, wanted),
        }
    }
}

/// Paths written with slashes: `tool/pytest`.
pub(crate) fn paths(written: &[&str]) -> Vec<Vec<String>> {
    written
        .iter()
        .map(|path| path.split('/').map(str::to_owned).collect())
        .collect()
}
