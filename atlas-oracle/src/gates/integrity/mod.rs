//! The solution must be neither in the environment nor in the problem statement.

mod sealed;
mod text;

pub use text::{Leak, leak_of, unnamed_interface};

use super::{Draft, Gate, json, no_settings};
use async_trait::async_trait;
use atlas_core::{
    Candidate, Decision, Error, ErrorKind, Evidence, ExitState, Job, JobFile, JobUser, Limits,
    Network, Overlay, RunContext, Sandbox, Severity, Validator, Verdict,
};
use sealed::{Change, Found, SCRIPT, blob_id};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ID: &str = "integrity";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: true,
    settings: no_settings,
    make: |parts| {
        let options = parts.settings.integrity.clone();
        Box::new(Integrity::new(Arc::clone(&parts.sandbox), options))
    },
};

/// What may be defaulted.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegrityOptions {
    /// From this share of the solution's lines on, a problem statement that quotes them must be
    /// repaired. Default: 0.5.
    pub max_quoted_share: f64,
    /// Upper bounds of the search in the environment.
    pub limits: Limits,
}

impl Default for IntegrityOptions {
    fn default() -> Self {
        Self {
            max_quoted_share: 0.5,
            limits: Limits {
                seconds: 300,
                ..Limits::default()
            },
        }
    }
}

/// Looks for the solution where it must not be.
///
/// In the environment: commits beside the base's history (`later_commits`), contents of After among
/// git's objects (`solution_in_git`), and installed files that hold telling lines of the gold patch
/// (`solution_installed`, such as a released version of the project among its own dependencies): these
/// reject; a single line of several is a warning. A repository that git does not read there is no
/// evidence (`git_unreadable`). In the problem statement: a link to a change of the repository that the base commit does not have (`link_to_solution`), a diff or most of the
/// solution's lines (`solution_in_statement`): these ask for repair. Names that tests need and the
/// statement does not give are a note (`names_not_given`). The measurements hold the [`Leak`] of
/// statement and hints.
#[derive(Clone, Debug)]
pub struct Integrity {
    sandbox: Arc<dyn Sandbox>,
    options: IntegrityOptions,
}

impl Integrity {
    /// The gate, looking into environments through this sandbox.
    pub fn new(sandbox: Arc<dyn Sandbox>, options: IntegrityOptions) -> Self {
        Self { sandbox, options }
    }

    async fn environment(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        draft: &mut Draft,
    ) -> Result<BTreeSet<Change>, Error> {
        let task = &candidate.task;
        let ids: BTreeMap<String, &String> = task
            .after
            .write
            .iter()
            .filter(|(_, content)| !content.bytes.is_empty())
            .map(|(path, content)| (blob_id(&content.bytes), path))
            .collect();
        // Test files are laid over at run time; what matters is that the image does not hold them.
        let objects = listed_in_file(ids.keys());
        let lines = listed_in_file(&text::telling_lines(&task.gold_patch, 24, 20));
        let statement = column(candidate, "problem_statement")?;
        let changes: BTreeSet<String> = text::links(&statement)
            .filter_map(Change::of_link)
            .map(|change| change.to_string())
            .collect();
        let job = Job {
            label: "integrity".to_owned(),
            overlay: Overlay::default(),
            files: vec![
                JobFile {
                    name: "base".to_owned(),
                    bytes: listed_in_file([&column(candidate, "base_commit")?]),
                },
                JobFile {
                    name: "objects".to_owned(),
                    bytes: objects,
                },
                JobFile {
                    name: "changes".to_owned(),
                    bytes: listed_in_file(&changes),
                },
                JobFile {
                    name: "lines".to_owned(),
                    bytes: lines,
                },
            ],
            script: SCRIPT.to_owned(),
            collect: Vec::new(),
            env: BTreeMap::new(),
            limits: self.options.limits.clone(),
            network: Network::None,
            user: JobUser::default(),
        };
        cx.progress.phase("look for the solution");
        let result = self.sandbox.run(cx, &candidate.environment, &job).await?;
        let found = Found::read(&result.output);
        if !found.complete {
            let said = String::from_utf8_lossy(&result.output);
            let why = match result.exit {
                ExitState::Exited { code } => format!("it ended with code {code}"),
                ExitState::TimedOut => "its time was up".to_owned(),
                ExitState::OutOfMemory => "its memory was up".to_owned(),
            };
            let last = said.lines().next_back().unwrap_or_default();
            return Err(Error::new(
                ErrorKind::EngineFailed,
                "search the environment:",
                format!("{why}: {last}"),
            ));
        }
        draft.measure("git", found.git.clone());
        if found.git == "unreadable" {
            draft.find(
                "git_unreadable",
                Severity::Warning,
                "the environment has a repository that no git there reads, so its objects were not \
                 looked at",
                Vec::new(),
            );
        }
        if !found.commits.is_empty() {
            draft.find(
                "later_commits",
                Severity::Fatal,
                "the environment's repository holds commits that are no ancestors of the base commit",
                text::as_evidence("git", &found.commits),
            );
        }
        if !found.objects.is_empty() {
            let evidence = found.objects.iter().map(|id| {
                let path = ids.get(id).map_or("", |path| path.as_str());
                Evidence::of("git", format!("{id} is {path} of After"))
            });
            draft.find(
                "solution_in_git",
                Severity::Fatal,
                "the environment's repository holds file contents of After that no ancestor has",
                evidence.collect(),
            );
        }
        // One line may be anybody's; most of the solution's is the solution.
        let enough = (found.lines / 2 + 1).max(3);
        let (many, few): (Vec<_>, Vec<_>) = found
            .files
            .iter()
            .partition(|(lines, _)| *lines >= enough || (found.lines == 2 && *lines == 2));
        for (files, severity) in [(many, Severity::Fatal), (few, Severity::Warning)] {
            if files.is_empty() {
                continue;
            }
            let evidence = files.iter().map(|(lines, path)| {
                Evidence::of(path, format!("{lines} of {} telling lines", found.lines))
            });
            draft.find(
                "solution_installed",
                severity,
                "installed files hold lines that the gold patch adds",
                evidence.collect(),
            );
        }
        Ok(found.held)
    }

    /// Returns whether the statement must be repaired. `held` are changes that the base commit has.
    fn statement(
        &self,
        candidate: &Candidate,
        held: &BTreeSet<Change>,
        draft: &mut Draft,
    ) -> Result<bool, Error> {
        let task = &candidate.task;
        let (statement, hints) = (
            column(candidate, "problem_statement")?,
            column(candidate, "hints_text")?,
        );
        let leak = leak_of(&statement, &task.gold_patch, &task.test_patch);
        draft.measure("problem_statement", json(&leak));
        draft.measure("quoted_share", json(&leak.quoted_share()));
        if !hints.is_empty() {
            let hinted = leak_of(&hints, &task.gold_patch, &task.test_patch);
            draft.measure("hints_text", json(&hinted));
        }
        let mut repair = false;
        let repo = column(candidate, "repo")?.to_ascii_lowercase();
        let (own, others): (Vec<String>, Vec<String>) =
            leak.links.iter().cloned().partition(|link| {
                let link = link.to_ascii_lowercase();
                repo.is_empty() || link.contains(&format!("/{repo}/"))
            });
        // What the base commit has cannot be the solution: many reports name the change that broke something.
        let (earlier, own): (Vec<String>, Vec<String>) = own
            .into_iter()
            .partition(|link| Change::of_link(link).is_some_and(|change| held.contains(&change)));
        if !earlier.is_empty() {
            draft.find(
                "link_to_earlier_change",
                Severity::Note,
                "the problem statement links to a change that the base commit has already",
                text::as_evidence("problem_statement", &earlier),
            );
        }
        if !own.is_empty() {
            repair = true;
            draft.find(
                "link_to_solution",
                Severity::Fatal,
                "the problem statement links to a change of the repository",
                text::as_evidence("problem_statement", &own),
            );
        }
        if !others.is_empty() {
            draft.find(
                "link_to_change",
                Severity::Note,
                "the problem statement links to a change of another repository",
                text::as_evidence("problem_statement", &others),
            );
        }
        let share = leak.quoted_share().unwrap_or(0.0);
        if leak.has_diff || share >= self.options.max_quoted_share {
            repair = true;
            let what = if leak.has_diff {
                "the problem statement holds a diff".to_owned()
            } else {
                format!(
                    "the problem statement holds {} of the {} lines of the solution that say \
                     something",
                    leak.quoted_lines.len(),
                    leak.solution_lines
                )
            };
            draft.find(
                "solution_in_statement",
                Severity::Fatal,
                what,
                text::as_evidence("problem_statement", &leak.quoted_lines),
            );
        }
        if !leak.tested_but_unnamed.is_empty() {
            draft.find(
                "names_not_given",
                Severity::Note,
                format!(
                    "tests use {} of {} names that only the solution introduces and the problem \
                     statement does not give",
                    leak.tested_but_unnamed.len(),
                    leak.tested_names
                ),
                text::as_evidence("test patch", &leak.tested_but_unnamed),
            );
        }
        Ok(repair)
    }
}

/// A column of text; empty where the row has none.
fn column(candidate: &Candidate, name: &str) -> Result<String, Error> {
    let text = candidate.instance.text(name).map_err(|why| {
        let id = candidate.task.instance_id.as_str();
        Error::new(ErrorKind::InvalidInput, "read row", id).with_source(why)
    })?;
    Ok(text.unwrap_or_default().to_owned())
}

/// One entry a line.
fn listed_in_file<'a>(entries: impl IntoIterator<Item = &'a String>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        bytes.extend(entry.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

#[async_trait]
impl Validator for Integrity {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        let held = self.environment(cx, candidate, &mut draft).await?;
        let leaked = draft
            .verdict
            .findings
            .iter()
            .any(|finding| finding.severity == Severity::Fatal);
        let repair = self.statement(candidate, &held, &mut draft)?;
        let unread = draft
            .verdict
            .findings
            .iter()
            .any(|f| f.code == "git_unreadable");
        Ok(draft.decide(if leaked {
            Decision::Reject
        } else if unread {
            Decision::NoEvidence
        } else if repair {
            Decision::Repair
        } else {
            Decision::Accept
        }))
    }
}
