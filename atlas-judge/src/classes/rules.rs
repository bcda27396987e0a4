//! What is sure without a model.

use super::{CodeType, IssueType};
use crate::given::SubjectReader;
use atlas_core::{Error, Evidence, Patch, Subject};
use atlas_facts::package_file;
use regex::Regex;
use serde_json::Value;
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
    /// The tests.
    pub test_patch: Patch,
    /// Topics of the repository.
    pub topics: Vec<String>,
}

impl ClassSubject {
    /// Reads the row's `problem_statement`, `patch` and `test_patch`, and `pull_request_title`, `labels` and `topics` where the
    /// row has them or the attachments of these names do; else title, topics and the issues' labels out of `sourced` of its
    /// `atlas` column.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind) where there is neither a statement nor a patch, or a column has
    /// another form.
    pub fn of(subject: &Subject) -> Result<Self, Error> {
        let given = SubjectReader::new(subject, "classify");
        let value = |name: &str| {
            let own = given.value(name);
            own.or_else(|| subject.instance.as_map().get(name))
                .filter(|value| !value.is_null())
        };
        let atlas = subject.instance.as_map().get("atlas");
        let sourced = |name: &str| {
            let found = atlas?.get("sourced")?.get(name)?;
            Some(found).filter(|value| !value.is_null())
        };
        let texts = |name: &str| match value(name).or_else(|| sourced(name)) {
            None => Ok(Vec::new()),
            Some(texts) => serde_json::from_value::<Vec<String>>(texts.clone())
                .map_err(|why| given.wrong(format!("`{name}`: a list of texts expected: {why}"))),
        };
        let mut labels = texts("labels")?;
        let links = sourced("links").and_then(Value::as_array);
        for link in links.into_iter().flatten() {
            let of_issue = link["labels"].as_array().into_iter().flatten();
            labels.extend(of_issue.filter_map(Value::as_str).map(str::to_owned));
        }
        let title = value("pull_request_title").or_else(|| sourced("title"));
        let title = title.map(|title| {
            let text = title.as_str().map(str::to_owned);
            text.ok_or_else(|| given.wrong("`pull_request_title`: a text expected"))
        });
        let found = Self {
            issue: given.column("problem_statement")?,
            gold_patch: Patch::new(given.column("patch")?),
            title: title.transpose()?,
            labels,
            test_patch: Patch::new(given.column("test_patch")?),
            topics: texts("topics")?,
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
        r"(?i)^\s*(fix|feat|feature|perf|refactor|build|ci|chore|deps|bugfix|docs?|tests?|security)(\([^)]*\))?!?:\s",
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

static DOCUMENTATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\.(?:md|rst|adoc|markdown)$|^docs?/.*\.(?:txt|html|png|svg)$")
        .expect("the pattern is tested")
});

/// Names under which weaknesses are listed.
static WEAKNESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:CVE-\d{4}-\d{4,}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3}|RUSTSEC-\d{4}-\d{4})\b",
    )
    .expect("the pattern is tested")
});

/// What says that a weakness is closed: a label, the title, or its listed name in the report.
fn security(subject: &ClassSubject) -> Option<Evidence> {
    let labelled = by_label(&subject.labels, |word| {
        matches!(word, "security" | "vulnerability" | "cve").then_some(())
    });
    if let Some(((), proof)) = labelled {
        return Some(proof);
    }
    let title = subject.title.as_deref().unwrap_or_default();
    let prefix = PREFIX.captures(title);
    if WEAKNESS.is_match(title)
        || prefix.is_some_and(|prefix| prefix[1].eq_ignore_ascii_case("security"))
    {
        return Some(Evidence::of("pull_request_title", title));
    }
    let mut lines = subject.issue.lines().enumerate();
    let (at, line) = lines.find(|(_, line)| WEAKNESS.is_match(line))?;
    Some(Evidence::at("problem_statement", at + 1, line.trim()))
}

/// The class of a change by the files it touches, the labels, or the prefix of its title; with proof.
pub fn code_type_by_rule(subject: &ClassSubject) -> Option<(CodeType, Evidence)> {
    let files = subject.gold_patch.files().unwrap_or_default();
    let paths: Vec<&str> = files.iter().map(atlas_core::FilePatch::path).collect();
    if let Some(first) = paths.first() {
        let is_list =
            |path: &&str| package_file(path).is_some_and(|file| file.role.is_about_dependencies());
        if paths.iter().all(is_list) {
            let text = "the patch touches nothing but lists of dependencies";
            return Some((CodeType::DependencyUpdate, Evidence::of(*first, text)));
        }
        if paths.iter().all(|path| BUILD.is_match(path)) {
            let text = "the patch touches nothing but how the project is built or checked";
            return Some((CodeType::BuildCi, Evidence::of(*first, text)));
        }
        if paths.iter().all(|path| DOCUMENTATION.is_match(path)) {
            let text = "the patch touches nothing but documentation";
            return Some((CodeType::Documentation, Evidence::of(*first, text)));
        }
    }
    // A weakness is mostly labelled as a bug too; what names it says more.
    if let Some(proof) = security(subject) {
        return Some((CodeType::Security, proof));
    }
    let by_label = by_label(&subject.labels, |word| {
        Some(match word {
            "bug" | "bugfix" | "regression" => CodeType::BugFix,
            "feature" | "enhancement" | "featurerequest" => CodeType::Feature,
            "performance" | "perf" => CodeType::Performance,
            "refactor" | "refactoring" => CodeType::Refactor,
            "dependencies" => CodeType::DependencyUpdate,
            "documentation" | "docs" => CodeType::Documentation,
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
            "doc" | "docs" => CodeType::Documentation,
            "test" | "tests" => CodeType::Test,
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
