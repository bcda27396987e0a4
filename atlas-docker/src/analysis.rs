//! Analysis of a repository by rules alone.

use crate::ci::{self, Ci};
use crate::languages::{BUILTIN, Language};
use crate::services;
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Error, ErrorKind, Evidence, Repository};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What may be set in an analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalysisOptions {
    /// Language id to take instead of the one found: one of [`languages`](crate::languages).
    pub language: Option<String>,
    /// Ids of the log parsers and report readers that can be used. A repository whose tests run
    /// under another runner gets a verdict. Default: empty, which stands for every one.
    pub known_parsers: Vec<String>,
    /// Whether dependencies that no lockfile pins are resolved as of the base commit's date, where
    /// the tools of the language can do that. Default: true.
    pub freeze: bool,
    /// Versions that an earlier environment of the repository had, as its
    /// [`EnvironmentLock`](atlas_core::EnvironmentLock) lists them: they are taken again, see
    /// [`pin`](crate::pin). Default: none.
    pub pins: Vec<String>,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            language: None,
            known_parsers: Vec::new(),
            freeze: true,
            pins: Vec::new(),
        }
    }
}

/// What analysis came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value a repository, taken apart at once"
)]
pub enum Analysis {
    /// A plan, each of its conclusions with evidence.
    Plan(EnvironmentPlan),
    /// A verdict: no plan, and why.
    Verdict {
        /// One sentence.
        reason: String,
        /// Proof lines.
        evidence: Vec<Evidence>,
    },
}

/// Why a repository has no plan.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) reason: String,
    pub(crate) evidence: Vec<Evidence>,
}

impl Verdict {
    pub(crate) fn new(reason: impl Into<String>, evidence: Vec<Evidence>) -> Self {
        Self {
            reason: reason.into(),
            evidence,
        }
    }

    /// The tests run under something that no parser reads.
    pub(crate) fn no_parser(runner: &str, evidence: Vec<Evidence>) -> Self {
        Self::new(
            format!("the tests run under {runner}, for which this version has no parser"),
            evidence,
        )
    }
}

/// All that an analysis may look at.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) tree: &'a Tree,
    /// The tree with the pull request's manifests and test files laid over; the same where it changes
    /// none.
    pub(crate) head: &'a Tree,
    pub(crate) changes_manifests: bool,
    pub(crate) ci: &'a Ci,
    /// `owner/name`, or a folder's name.
    pub(crate) name: &'a str,
    pub(crate) date: &'a str,
    pub(crate) options: &'a AnalysisOptions,
}

impl Facts<'_> {
    pub(crate) fn knows(&self, parser: &str) -> bool {
        let known = &self.options.known_parsers;
        known.is_empty() || known.iter().any(|id| id == parser)
    }

    /// The day as of which dependencies resolve, `yyyy-mm-dd`; `None` where that is switched off
    /// or the date is none.
    pub(crate) fn frozen(&self) -> Option<&str> {
        let day = crate::versions::day(self.date);
        (self.options.freeze && day != "9999-12-31").then_some(day)
    }
}

/// How much of a language is in a repository.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// The manifest in the root that speaks for it.
    pub(crate) manifest: Option<String>,
    /// Source files, tests included.
    pub(crate) sources: usize,
    /// Test files.
    pub(crate) tests: usize,
}

/// Finds out how to build and test a repository, from its files alone: manifests, lockfiles, CI
/// workflows, tool configuration, the imports of its tests. Nothing is run and no model is asked.
///
/// Reads the languages of [`languages`](crate::languages). Each conclusion of the plan has its
/// [`Evidence`]; where sources contradict
/// each other, the stated order decides and the loser is recorded as `overruled`.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for an unknown `options.language`; [`ErrorKind::Io`] or
/// [`ErrorKind::NotFound`] when the checkout cannot be listed.
pub fn analyse(repository: &Repository, options: &AnalysisOptions) -> Result<Analysis, Error> {
    if !repository.checkout.is_dir() {
        let subject = format!("`{}`: no such folder", repository.checkout.display());
        return Err(Error::new(
            ErrorKind::NotFound,
            "analyse repository",
            subject,
        ));
    }
    let tree = Tree::open(&repository.checkout)?;
    let head = tree
        .overlaid(&repository.head_tests)
        .overlaid(&repository.head_manifests);
    let ci = Ci::read(&tree);
    let facts = Facts {
        tree: &tree,
        head: &head,
        changes_manifests: !repository.head_manifests.is_empty(),
        ci: &ci,
        name: &repository.name,
        date: &repository.base_date,
        options,
    };
    let chosen = match &options.language {
        Some(id) => {
            let language = BUILTIN.iter().copied().find(|language| language.id() == id);
            let Some(language) = language else {
                let known: Vec<_> = BUILTIN.iter().map(|language| language.id()).collect();
                let subject = format!("option `language`: `{id}` is none of {}", known.join(", "));
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "analyse repository",
                    subject,
                ));
            };
            Ok((
                language,
                vec![Evidence::of("options", format!("language = {id}"))],
            ))
        }
        None => choose(&tree),
    };
    let planned = chosen.and_then(|(language, why)| {
        let mut plan = language.analyse(&facts)?;
        language.id().clone_into(&mut plan.language);
        for line in why {
            plan.prove("language", line);
        }
        crate::pin(&mut plan, &options.pins);
        submodules(&tree, &mut plan);
        let reaches = services::services(&facts, &mut plan);
        ci::environment(facts.ci, &tree, &mut plan, &reaches);
        for lines in plan.evidence.values_mut() {
            let mut seen = BTreeSet::new();
            lines.retain(|line| seen.insert(line.clone()));
        }
        Ok(plan)
    });
    Ok(match planned {
        Ok(plan) => Analysis::Plan(plan),
        Err(Verdict { reason, evidence }) => Analysis::Verdict { reason, evidence },
    })
}

/// The language whose tests exist; among several, the one with most sources. A manifest in the
/// root is needed, or tests where the language can do without one.
fn choose(tree: &Tree) -> Result<(&'static dyn Language, Vec<Evidence>), Verdict> {
    let found: Vec<_> = BUILTIN
        .iter()
        .map(|language| (*language, language.presence(tree)))
        .filter(|(_, presence)| presence.manifest.is_some() || presence.tests > 0)
        .collect();
    let line = |language: &dyn Language, presence: &Presence, verdict: &str| {
        let source = presence.manifest.clone().unwrap_or_else(|| ".".to_owned());
        let text = format!(
            "{verdict}{}: {} source files, {} of them tests",
            language.id(),
            presence.sources,
            presence.tests
        );
        Evidence::of(source, text)
    };
    // Ties go to the earlier entry of the table.
    let best = found
        .iter()
        .enumerate()
        .filter(|(_, (language, presence))| {
            presence.manifest.is_some() || !language.needs_manifest()
        })
        .max_by_key(|(at, (_, presence))| {
            // A manifest in the root speaks louder than one below it.
            let named = presence
                .manifest
                .as_ref()
                .map_or(0, |path| if path.contains('/') { 1 } else { 2 });
            (named, presence.tests > 0, presence.sources, usize::MAX - at)
        });
    let Some((best, _)) = best else {
        let evidence = found
            .iter()
            .map(|(language, presence)| {
                line(*language, presence, "without a manifest in the root: ")
            })
            .collect();
        return Err(Verdict::new(
            format!(
                "no manifest of a language that this version reads ({}) is in the repository's root",
                crate::languages().collect::<Vec<_>>().join(", ")
            ),
            evidence,
        ));
    };
    let mut evidence = vec![line(found[best].0, &found[best].1, "")];
    for (at, (language, presence)) in found.iter().enumerate() {
        if at != best {
            evidence.push(line(*language, presence, "overruled: "));
        }
    }
    Ok((found[best].0, evidence))
}

/// Fetches submodules and removes from them what the commit does not name.
const SUBMODULES: &str = include_str!("submodules.sh");

/// Submodules are fetched first; one that cannot be is noted in the log and in the tests.
fn submodules(tree: &Tree, plan: &mut EnvironmentPlan) {
    static URL: std::sync::LazyLock<regex::Regex> =
        std::sync::LazyLock::new(|| regex::Regex::new(r"^\s*url\s*=").expect("a literal pattern"));
    if let Some((line, text)) = tree.line(".gitmodules", &URL) {
        plan.build.insert(0, SUBMODULES.trim_end().to_owned());
        plan.drift
            .push("submodules are fetched from where .gitmodules points".to_owned());
        plan.prove("build", Evidence::at(".gitmodules", line, text));
    }
}
