//! What an analysis may look at, and what it says where it has no plan.

use crate::ci::Ci;
use crate::tree::Tree;
use atlas_core::{Day, EnvironmentPlan, Evidence, Fault, TestScope, TestScopeLevel};
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

/// Why a repository has no plan.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) reason: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) fault: Fault,
}

impl Verdict {
    pub(crate) fn new(reason: impl Into<String>, evidence: Vec<Evidence>) -> Self {
        Self {
            reason: reason.into(),
            evidence,
            fault: Fault::Repository,
        }
    }

    /// The repository has something that this version does not know.
    pub(crate) fn unknown(reason: impl Into<String>, evidence: Vec<Evidence>) -> Self {
        Self {
            fault: Fault::Atlas,
            ..Self::new(reason, evidence)
        }
    }

    /// The tests run under something that no parser reads.
    pub(crate) fn no_parser(runner: &str, evidence: Vec<Evidence>) -> Self {
        Self::unknown(
            format!("the tests run under {runner}, for which this version has no parser"),
            evidence,
        )
    }
}

/// So few projects are all run.
const FEW: usize = 4;

/// How a line of a plan's `drift` begins that names a part of the repository's own tests which the plan does not run.
pub const LEFT_OUT: &str = "left out of the tests: ";

/// Of more projects than these that depend on the touched ones none is run beside them.
const MANY: usize = 10;

/// Whether a file tells people something and changes nothing that is built or tested: a change log in the root makes
/// no root project touched.
fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let hidden = path
        .split('/')
        .next()
        .is_some_and(|first| first.starts_with('.') && first.len() > 1 && path.len() > first.len());
    let told = [
        "CHANGELOG",
        "CHANGES",
        "HISTORY",
        "NEWS",
        "README",
        "AUTHORS",
        "CONTRIBUTORS",
        "LICENSE",
    ];
    hidden
        || matches!(ending, "md" | "mdx" | "rst" | "adoc")
        || told.iter().any(|word| stem.eq_ignore_ascii_case(word))
}

/// All that an analysis may look at.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) tree: &'a Tree,
    /// The tree with the pull request's manifests and test files laid over; the same where it changes
    /// none.
    pub(crate) head: &'a Tree,
    pub(crate) changes_manifests: bool,
    /// Paths that the pull request touches, from the tree's root.
    pub(crate) touched: &'a [String],
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

    /// Of projects in these folders those that hold what the pull request touches: a file belongs to the one that is
    /// nearest to it. Change logs and the like count only where nothing else is touched.
    pub(crate) fn holding(&self, projects: &[Project<'_>]) -> BTreeSet<usize> {
        let owner = |path: &String| {
            let holds = |at: &usize| {
                let folder = projects[*at].folder;
                folder.is_empty() || path.starts_with(&format!("{folder}/"))
            };
            let found = (0..projects.len()).filter(holds);
            found.max_by_key(|at| projects[*at].folder.len())
        };
        let built: BTreeSet<usize> = self
            .touched
            .iter()
            .filter(|path| !is_prose(path))
            .filter_map(owner)
            .collect();
        if built.is_empty() {
            return self.touched.iter().filter_map(owner).collect();
        }
        built
    }

    /// Those of [`concerned`](Self::concerned) among projects that are each tested for itself: of a few those alone that are touched, all where
    /// none is.
    pub(crate) fn concerned_alone(&self, projects: &[Project<'_>]) -> Vec<usize> {
        let touched = self.holding(projects);
        if touched.is_empty() || projects.len() > FEW {
            return self.concerned(projects);
        }
        touched.into_iter().collect()
    }

    /// Of projects in these folders, each with the names by which others may depend on it and the names it depends on,
    /// those that hold what the pull request touches and those that depend on them, unless these are many; all where
    /// nothing is known of a pull request, or where there are only a few.
    pub(crate) fn concerned(&self, projects: &[Project<'_>]) -> Vec<usize> {
        let all: Vec<usize> = (0..projects.len()).collect();
        if self.touched.is_empty() || projects.len() <= FEW {
            return all;
        }
        let touched = self.holding(projects);
        let mut chosen = touched.clone();
        loop {
            let names: BTreeSet<&str> = chosen.iter().map(|at| projects[*at].name).collect();
            let depends = |at: &usize| {
                projects[*at]
                    .needs
                    .iter()
                    .any(|name| names.contains(name.as_str()))
            };
            let more: Vec<usize> = all
                .iter()
                .copied()
                .filter(|at| !chosen.contains(at) && depends(at))
                .collect();
            if more.is_empty() {
                break;
            }
            chosen.extend(more);
        }
        if chosen.is_empty() {
            all
        } else if chosen.len() > touched.len() + MANY {
            touched.into_iter().collect()
        } else {
            chosen.into_iter().collect()
        }
    }

    /// The day as of which dependencies resolve; `None` where that is switched off or the date is none.
    pub(crate) fn frozen(&self) -> Option<Day> {
        self.options.freeze.then(|| self.day()).flatten()
    }

    /// The day of the base commit; `None` where its date is none.
    pub(crate) fn day(&self) -> Option<Day> {
        self.date.get(..10)?.parse().ok()
    }
}

/// One of several projects of a repository.
#[derive(Debug)]
pub(crate) struct Project<'a> {
    /// Its folder; empty for the root.
    pub(crate) folder: &'a str,
    /// What others call it.
    pub(crate) name: &'a str,
    /// What it depends on.
    pub(crate) needs: Vec<String>,
}

/// Notes that some projects of a repository are run, and not the others.
pub(crate) fn only_projects(plan: &mut EnvironmentPlan, folders: Vec<String>, of: usize) {
    let dependents = if of > FEW {
        format!(" and, if no more than {MANY}, those that depend on them")
    } else {
        String::new()
    };
    let reason = format!(
        "the repository has {of} projects: those that the pull request touches{dependents} are run"
    );
    plan.drift.push(reason.clone());
    plan.test_scope = Some(TestScope {
        level: TestScopeLevel::Package,
        places: folders,
        reason,
        risk: "PASS_TO_PASS of the other projects is not known".to_owned(),
    });
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
