//! What is sure without a model.

use super::{CodeType, IssueType};
use crate::given::Given;
use atlas_core::{Error, Evidence, Patch, Subject};
use regex::Regex;
use std::sync::LazyLock;

/// What classes are told from.
#[derive(Clone, Debug, Default)]
pub struct ClassSubject {
    /// The problem statement, title included.
    pub issue: String,
    /// The solution.
    pub gold_patch: Patch,
    /// The pull request's title, where it is known.
    pub title: Option<String>,
    /// Labels of the issue and the pull request.
    pub labels: Vec<String>,
}

impl ClassSubject {
    /// Reads the row's `problem_statement` and `patch`, and `pull_request_title` and `labels` where the
    /// row has them or the attachments of these names do.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind) where there is neither a statement nor a patch, or a column has
    /// another form.
    pub fn of(subject: &Subject) -> Result<Self, Error> {
        let given = Given::new(subject, "classify");
        let value = |name: &str| {
            let own = given.value(name);
            own.or_else(|| subject.instance.as_map().get(name))
                .filter(|value| !value.is_null())
        };
        let labels = match value("labels") {
            None => Vec::new(),
            Some(labels) => serde_json::from_value(labels.clone())
                .map_err(|why| given.wrong(format!("`labels`: a list of texts expected: {why}")))?,
        };
        let title = value("pull_request_title").map(|title| {
            let text = title.as_str().map(str::to_owned);
            text.ok_or_else(|| given.wrong("`pull_request_title`: a text expected"))
        });
        let found = Self {
            issue: given.column("problem_statement")?,
            gold_patch: Patch::new(given.column("patch")?),
            title: title.transpose()?,
            labels,
        };
        if found.issue.trim().is_empty() && found.gold_patch.is_empty() {
            return Err(given.wrong("it has neither a `problem_statement` nor a `patch`"));
        }
        Ok(found)
    }
}

/// `fix(parser)!: …`.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\s*(fix|feat|feature|perf|refactor|build|ci|chore|deps|bugfix)(\([^)]*\))?!?:\s",
    )
    .expect("the pattern is tested")
});

static LOCKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)(?:^|/)(?: Cargo\.(?:toml|lock) | package(?:-lock)?\.json | yarn\.lock | pnpm-lock\.yaml | go\.(?:mod|sum)
        | requirements[\w.-]*\.(?:txt|in) | Pipfile(?:\.lock)? | poetry\.lock | uv\.lock | Gemfile(?:\.lock)? | composer\.(?:json|lock)
        | packages\.lock\.json | Directory\.Packages\.props | gradle\.lockfile | libs\.versions\.toml )$",
    )
    .expect("the pattern is tested")
});

static BUILD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:\.github/workflows/|\.circleci/|\.gitlab-ci\.yml$|\.travis\.yml$|azure-pipelines\.yml$|appveyor\.yml$)
        | (?:^|/)(?:Dockerfile[\w.-]*|Jenkinsfile|Makefile|GNUmakefile|CMakeLists\.txt|meson\.build|configure\.ac|tox\.ini|noxfile\.py|\.pre-commit-config\.yaml)$
        | \.cmake$",
    )
    .expect("the pattern is tested")
});

/// The class of a change by the files it touches, the labels, or the prefix of its title; with proof.
pub fn code_type_by_rule(subject: &ClassSubject) -> Option<(CodeType, Evidence)> {
    let files = subject.gold_patch.files().unwrap_or_default();
    let paths: Vec<&str> = files.iter().map(atlas_core::FilePatch::path).collect();
    if let Some(first) = paths.first() {
        if paths.iter().all(|path| LOCKS.is_match(path)) {
            let text = "the patch touches nothing but lists of dependencies";
            return Some((CodeType::DependencyUpdate, Evidence::of(*first, text)));
        }
        if paths.iter().all(|path| BUILD.is_match(path)) {
            let text = "the patch touches nothing but how the project is built or checked";
            return Some((CodeType::BuildCi, Evidence::of(*first, text)));
        }
    }
    let by_label = by_label(&subject.labels, |word| {
        Some(match word {
            "bug" | "bugfix" | "regression" => CodeType::BugFix,
            "feature" | "enhancement" | "featurerequest" => CodeType::Feature,
            "performance" | "perf" => CodeType::Performance,
            "refactor" | "refactoring" => CodeType::Refactor,
            "dependencies" => CodeType::DependencyUpdate,
            _ => return None,
        })
    });
    by_label.or_else(|| {
        let title = subject.title.as_deref()?;
        let prefix = PREFIX.captures(title)?;
        let scope = prefix.get(2).map_or("", |scope| scope.as_str());
        let class = match prefix[1].to_ascii_lowercase().as_str() {
            "fix" | "bugfix" => CodeType::BugFix,
            "feat" | "feature" => CodeType::Feature,
            "perf" => CodeType::Performance,
            "refactor" => CodeType::Refactor,
            "deps" => CodeType::DependencyUpdate,
            "chore" | "build" if scope.contains("dep") => CodeType::DependencyUpdate,
            "build" | "ci" => CodeType::BuildCi,
            _ => return None,
        };
        Some((class, Evidence::of("pull_request_title", title)))
    })
}

/// Headings and words that templates of issues have, and traces.
static BUG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)^\W*(?:\[bug\]|bug(?:\ report)?:)
        | ^[\#*\s]*(?:steps\ to\ reproduce|(?:current|actual)\ behaviou?r|describe\ the\ bug|minimal\ reproduction)\b
        | ^Traceback\ \(most\ recent\ call\ last\) | ^thread\ '.*'\ panicked\ at | ^panic:\ | ^goroutine\ \d+\ \[ | ^Exception\ in\ thread\ ",
    )
    .expect("the pattern is tested")
});

static WISH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)^\W*(?:\[feature(?:\ request)?\]|feature(?:\ request)?:|\[rfe\]|enhancement:|feat(?:\([^)]*\))?:)
        | ^[\#*\s]*(?:is\ your\ feature\ request\ related|describe\ the\ solution\ you'd\ like|feature\ description|proposed\ solution)\b",
    )
    .expect("the pattern is tested")
});

/// The class of a report by its labels, or by the form of its template; with proof. Signs of two classes
/// decide nothing.
pub fn issue_type_by_rule(subject: &ClassSubject) -> Option<(IssueType, Evidence)> {
    let by_label = by_label(&subject.labels, |word| {
        Some(match word {
            "bug" | "regression" | "crash" => IssueType::BugReport,
            "feature" | "enhancement" | "featurerequest" => IssueType::FeatureRequest,
            "performance" | "perf" => IssueType::PerformanceIssue,
            "chore" | "maintenance" | "techdebt" => IssueType::Chore,
            _ => return None,
        })
    });
    if by_label.is_some() {
        return by_label;
    }
    let line = |form: &Regex| {
        let mut lines = subject.issue.lines().enumerate();
        lines
            .find(|(_, line)| form.is_match(line))
            .map(|(at, line)| Evidence::at("problem_statement", at + 1, line.trim()))
    };
    match (line(&BUG), line(&WISH)) {
        (Some(proof), None) => Some((IssueType::BugReport, proof)),
        (None, Some(proof)) => Some((IssueType::FeatureRequest, proof)),
        _ => None,
    }
}

/// The one class that the labels tell; none where they tell several.
fn by_label<C: Copy + PartialEq>(
    labels: &[String],
    class: impl Fn(&str) -> Option<C>,
) -> Option<(C, Evidence)> {
    let mut found: Option<(C, Evidence)> = None;
    for label in labels {
        // `type: bug`, `kind/bug`, `C-bug`: the last part, letters alone.
        let last = label.rsplit([':', '/']).next().unwrap_or_default();
        let last = last
            .trim()
            .trim_start_matches("C-")
            .trim_start_matches("T-");
        let word: String = last.chars().filter(|c| c.is_alphabetic()).collect();
        let Some(one) = class(&word.to_lowercase()) else {
            continue;
        };
        match &found {
            Some((other, _)) if *other != one => return None,
            Some(_) => {}
            None => found = Some((one, Evidence::of("labels", label.as_str()))),
        }
    }
    found
}
