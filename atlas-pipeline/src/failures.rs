//! A catalogue of the environments that could not be had: one line each, beside the dataset.

use crate::store::{json_lines, lock};
use crate::write_atomically;
use atlas_core::{Attempt, AttemptOrigin, CommitSha, Error, ErrorKind, Evidence, InstanceId};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The file in an output folder.
pub(crate) const FAILURES: &str = "failures.jsonl";

/// What kept an environment from being had, as far as rules can tell from what was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// No language, project or test that the analysis knows.
    NoProject,
    /// The tests run under something that no parser reads.
    Parser,
    /// A limit of time, memory or disk.
    Limit,
    /// Connections to a program that nobody started.
    Service,
    /// A host that could not be reached.
    Unreachable,
    /// A dependency, or a version of one, that is not there any more.
    Dependency,
    /// A toolchain that is too old or too new.
    Toolchain,
    /// A program, header or library of the system.
    System,
    /// The sources do not compile.
    Compile,
    /// It was built, and no test was seen to run in it.
    NoTestRan,
    /// None of these.
    Other,
}

impl FailureClass {
    /// Its name, as in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoProject => "no_project",
            Self::Parser => "parser",
            Self::Limit => "limit",
            Self::Service => "service",
            Self::Unreachable => "unreachable",
            Self::Dependency => "dependency",
            Self::Toolchain => "toolchain",
            Self::System => "system",
            Self::Compile => "compile",
            Self::NoTestRan => "no_test_ran",
            Self::Other => "other",
        }
    }
}

/// An environment that could not be had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentFailure {
    /// The instance, or what an environment alone is called.
    pub instance_id: String,
    /// `owner/name`.
    pub repository: String,
    /// The commit.
    pub base: CommitSha,
    /// The language of the last plan; empty where there is none.
    pub language: String,
    /// Why.
    pub class: FailureClass,
    /// The line that tells the class, and where it was printed.
    pub line: Option<Evidence>,
    /// The verdict's own sentence.
    pub reason: String,
    /// What was changed in turn, each with its rule or phase; empty where the first plan was the last.
    pub tried: Vec<String>,
    /// The Atlas that tried.
    pub version: String,
}

/// The classes in the order in which a text is asked for them: what causes other failures stands first.
const SIGNS: &[(FailureClass, &str)] = &[
    (
        FailureClass::Limit,
        r"No space left on device|Java heap space|JavaScript heap out of memory|Cannot allocate memory|OutOfMemoryError",
    ),
    (
        FailureClass::Unreachable,
        r"(?i)could not resolve host|name resolution|ENOTFOUND|EAI_AGAIN|network is unreachable|i/o timeout|(?:connection|operation) timed out|unable to access 'https?:|failed to connect to [\w.-]+\.[a-z]{2,} port|could not (?:reach|transfer)|\b403 Forbidden|SSL certificate problem|Could not fetch specs|error sending request",
    ),
    (
        FailureClass::Toolchain,
        r"(?i)requires (?:rustc|go|node|ruby|php|python)\b|requires a different Python|engine .{0,40}incompatible|invalid go version|go\.mod requires go|release version \d+ not supported|(?:source|target) (?:option|release|level) \S+ is (?:no longer|not) supported|class file (?:has wrong )?version|UnsupportedClassVersionError|edition20\d\d|your php version|Unsupported engine|is not supported by this version|requires Ruby version|invalid target release",
    ),
    (
        FailureClass::Dependency,
        r"(?i)\bE404\b|404 Not Found|no matching (?:distribution|version|package)|unknown revision|could not find artifact|ETARGET|could not find gem|could not find a version|no versions? of .* found|failed to select a version|ResolutionImpossible|could not be found in any of the (?:sources|repositories)|cannot load such file --|ModuleNotFoundError|Cannot find (?:module|package) '",
    ),
    (
        FailureClass::System,
        r"(?i)fatal error: [\w./+-]+\.h|command not found|cannot find -l|pkg-config|error while loading shared libraries|Could NOT find [A-Z]|executable file not found|No such file or directory: '[\w.+-]+'",
    ),
    (
        FailureClass::Service,
        r"(?i)connection refused|ECONNREFUSED",
    ),
    (
        FailureClass::Compile,
        r"error(?:\[E\d+\])?:|BUILD FAILURE|COMPILATION ERROR|SyntaxError|cannot find symbol|undefined reference",
    ),
];

/// The class of a failure, and the line that tells it.
pub(crate) fn class_of(reason: &str, attempts: &[Attempt]) -> (FailureClass, Option<Evidence>) {
    static COMPILED: LazyLock<Vec<(FailureClass, Regex)>> = LazyLock::new(|| {
        let compiled = SIGNS
            .iter()
            .map(|(class, sign)| (*class, Regex::new(sign).expect("a literal pattern")));
        compiled.collect()
    });
    static HOST: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"://|\b[\w-]+\.[a-z]{2,}\b").expect("a literal pattern"));
    if reason.contains("has no parser") {
        return (FailureClass::Parser, None);
    }
    if attempts.is_empty() {
        return (FailureClass::NoProject, None);
    }
    if reason.contains(" limit ended the tests") {
        return (FailureClass::Limit, None);
    }
    let failure = attempts.last().and_then(|last| last.failure.as_ref());
    if let Some(failure) = failure {
        let source = if failure.step == "tests" {
            "test log"
        } else {
            "build log"
        };
        for (class, sign) in &*COMPILED {
            let lines = failure.stderr.lines().chain(failure.stdout.lines());
            let mut lines = lines.filter(|line| sign.is_match(line)).peekable();
            let first = lines.peek().copied();
            // Some print a bare code first: the line that names the host is worth more.
            let named =
                lines.find(|line| *class == FailureClass::Unreachable && HOST.is_match(line));
            if let Some(line) = named.or(first) {
                let text = atlas_core::one_line(line, 300);
                return (*class, Some(Evidence::of(source, text)));
            }
        }
        if failure.step == "tests" {
            return (FailureClass::NoTestRan, None);
        }
    }
    (FailureClass::Other, None)
}

/// An environment that failed, as the synthesizer leaves it: what a line of the catalogue is made of.
pub(crate) struct Failed<'a> {
    pub(crate) id: &'a InstanceId,
    pub(crate) repository: &'a str,
    pub(crate) base: &'a CommitSha,
    pub(crate) reason: &'a str,
    pub(crate) attempts: &'a [Attempt],
}

/// Writes a failure into the folder's catalogue, in place of an older one of the same name.
pub(crate) fn note(out: &Path, failed: &Failed<'_>) -> Result<(), Error> {
    rewrite(out, failed.id, Some(&entry(failed)))
}

/// A failure as the catalogue has it.
pub(crate) fn entry(failed: &Failed<'_>) -> EnvironmentFailure {
    let (class, line) = class_of(failed.reason, failed.attempts);
    let tried = failed
        .attempts
        .iter()
        .flat_map(|attempt| match &attempt.origin {
            AttemptOrigin::Analysis => Vec::new(),
            AttemptOrigin::Rules { changes, .. } => changes.clone(),
            AttemptOrigin::Model {
                phase, correction, ..
            } => {
                vec![format!("model: {phase:?}, correction {correction}").to_lowercase()]
            }
        });
    let language = failed
        .attempts
        .last()
        .map(|last| last.plan.language.clone());
    EnvironmentFailure {
        instance_id: failed.id.as_str().to_owned(),
        repository: failed.repository.to_owned(),
        base: failed.base.clone(),
        language: language.unwrap_or_default(),
        class,
        line,
        reason: failed.reason.to_owned(),
        tried: tried.collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Takes a failure out of the catalogue: there is an environment now.
pub(crate) fn forget(out: &Path, id: &InstanceId) -> Result<(), Error> {
    if out.join(FAILURES).exists() {
        rewrite(out, id, None)
    } else {
        Ok(())
    }
}

fn rewrite(out: &Path, id: &InstanceId, entry: Option<&EnvironmentFailure>) -> Result<(), Error> {
    let _lock = lock(&out.join(".atlas").join("failures.lock"))?;
    let path = out.join(FAILURES);
    let mut entries = if path.exists() {
        read(&path)?
    } else {
        Vec::new()
    };
    entries.retain(|known| known.instance_id != id.as_str());
    entries.extend(entry.cloned());
    let mut text = String::new();
    for entry in &entries {
        let line = serde_json::to_string(entry).map_err(|why| {
            Error::new(ErrorKind::Internal, "write failures", "").with_source(why)
        })?;
        text.push_str(&line);
        text.push('\n');
    }
    write_atomically(&path, text.as_bytes())
}

fn read(path: &Path) -> Result<Vec<EnvironmentFailure>, Error> {
    let text = std::fs::read_to_string(path).map_err(|why| Error::io("read", path, why))?;
    json_lines(&text, path)
}

/// The failures of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureWeight {
    /// The class.
    pub class: FailureClass,
    /// How many environments.
    pub environments: usize,
    /// Of how many repositories.
    pub repositories: usize,
    /// How many by language.
    pub languages: BTreeMap<String, usize>,
    /// The failures.
    pub failures: Vec<EnvironmentFailure>,
}

/// Which classes of failures have the most weight, in all catalogues of these files and folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The classes, heaviest first.
    pub classes: Vec<FailureWeight>,
}

/// Reads catalogues that `atlas make` and `atlas build` leave in their output folders. An environment that stands in
/// several counts once, as the last of them says.
///
/// # Errors
/// [`ErrorKind::NotFound`] for a place without one; [`ErrorKind::InvalidInput`] with file and line for one that is not
/// readable.
pub fn failures(places: &[PathBuf]) -> Result<FailureReport, Error> {
    let mut all: BTreeMap<String, EnvironmentFailure> = BTreeMap::new();
    for place in places {
        let path = if place.is_dir() {
            place.join(FAILURES)
        } else {
            place.clone()
        };
        if !path.exists() {
            let subject = format!("`{}`: no failure is noted there", path.display());
            return Err(Error::new(ErrorKind::NotFound, "read failures:", subject));
        }
        for entry in read(&path)? {
            all.insert(entry.instance_id.clone(), entry);
        }
    }
    let mut classes: BTreeMap<FailureClass, Vec<EnvironmentFailure>> = BTreeMap::new();
    for entry in all.into_values() {
        classes.entry(entry.class).or_default().push(entry);
    }
    let mut classes: Vec<FailureWeight> = classes
        .into_iter()
        .map(|(class, failures)| {
            let mut languages = BTreeMap::new();
            for failure in &failures {
                *languages.entry(failure.language.clone()).or_default() += 1;
            }
            let mut names: Vec<&str> = failures.iter().map(|f| f.repository.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            FailureWeight {
                class,
                environments: failures.len(),
                repositories: names.len(),
                languages,
                failures,
            }
        })
        .collect();
    classes.sort_by_key(|weight| (usize::MAX - weight.repositories, weight.class));
    Ok(FailureReport {
        schema_version: 1,
        classes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::{BuildFailure, EnvironmentPlan};

    fn attempt(step: &str, text: &str) -> Attempt {
        Attempt {
            plan: EnvironmentPlan {
                language: "go".to_owned(),
                ..EnvironmentPlan::default()
            },
            origin: AttemptOrigin::Analysis,
            failure: Some(BuildFailure {
                step: step.to_owned(),
                exit_code: Some(1),
                stdout: text.to_owned(),
                stderr: String::new(),
            }),
        }
    }

    #[test]
    fn what_causes_the_rest_is_the_class() {
        for (text, class) in [
            (
                "curl: (6) Could not resolve host: x.example",
                FailureClass::Unreachable,
            ),
            (
                "go: go.mod requires go >= 1.27 (running go 1.23)\nerror: failed",
                FailureClass::Toolchain,
            ),
            ("npm error code E404", FailureClass::Dependency),
            (
                "a.c:1:10: fatal error: zlib.h: No such file or directory",
                FailureClass::System,
            ),
            (
                "src/x.rs:1: error[E0425]: cannot find value",
                FailureClass::Compile,
            ),
            ("nothing telling", FailureClass::Other),
        ] {
            let (found, line) = class_of("the build failed", &[attempt("build", text)]);
            assert_eq!(found, class, "{text}");
            assert_eq!(line.is_some(), class != FailureClass::Other);
        }
        let text = "npm error code ENOTFOUND\nnpm error network request to https://r.example/a failed, reason: ENOTFOUND r.example";
        let (_, line) = class_of("the build failed", &[attempt("build", text)]);
        assert!(line.unwrap().text.contains("r.example"));
        assert_eq!(
            class_of("no test was seen to run", &[attempt("tests", "ok")]).0,
            FailureClass::NoTestRan
        );
        assert_eq!(
            class_of("the repository has no Python tests", &[]).0,
            FailureClass::NoProject
        );
    }

    #[test]
    fn a_catalogue_holds_the_last_word_on_each() {
        let out = tempfile::tempdir().unwrap();
        let base: CommitSha = "0123456789012345678901234567890123456789".parse().unwrap();
        let ids: Vec<InstanceId> = ["a__a-1", "b__b-1"]
            .iter()
            .map(|id| id.parse().unwrap())
            .collect();
        let say = |id: &InstanceId, text: &str| {
            let attempts = [attempt("build", text)];
            let failed = Failed {
                id,
                repository: "a/a",
                base: &base,
                reason: "it failed",
                attempts: &attempts,
            };
            note(out.path(), &failed).unwrap();
        };
        say(&ids[0], "npm error code E404");
        say(&ids[1], "npm error code E404");
        say(&ids[0], "curl: (6) Could not resolve host: x.example");
        let report = failures(&[out.path().to_owned()]).unwrap();
        let told: Vec<(FailureClass, usize)> = report
            .classes
            .iter()
            .map(|w| (w.class, w.environments))
            .collect();
        assert_eq!(
            told,
            [
                (FailureClass::Unreachable, 1),
                (FailureClass::Dependency, 1)
            ]
        );
        forget(out.path(), &ids[0]).unwrap();
        assert_eq!(
            failures(&[out.path().join(FAILURES)])
                .unwrap()
                .classes
                .len(),
            1
        );
        std::fs::write(out.path().join(FAILURES), "{}\n").unwrap();
        let why = failures(&[out.path().to_owned()]).unwrap_err();
        assert!(format!("{why}").contains("line 1"), "{why}");
    }
}
