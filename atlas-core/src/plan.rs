//! The environment plan: what has to be installed, built and run.

use crate::{Day, Evidence};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// How to turn a checkout into a place where its tests run: the JSON contract of paper 001
/// (appendix A.1), plus fields of Atlas that other readers may ignore.
///
/// The paper prints two spellings; both are read: commands as a list or as one string, and
/// `log_parser_name` as `gotest`, `parse_log_gotest` or under the key `log_parser`. Unknown fields
/// are kept in [`extra`](Self::extra) and written back.
///
/// ```
/// let plan = atlas_core::EnvironmentPlan::from_json(
///     r#"{"docker_specs":{"java_version":"17"},"build":"mvn -B install -DskipTests",
///         "test_cmd":"mvn test -B","log_parser_name":"parse_log_maven"}"#)?;
/// assert_eq!(plan.build, ["mvn -B install -DskipTests"]);
/// assert_eq!(plan.log_parser_name, "maven");
/// # Ok::<(), atlas_core::PlanError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentPlan {
    /// Toolchain versions, as `python_version`, `node_version`, …: key -> version.
    #[serde(default)]
    pub docker_specs: BTreeMap<String, Value>,
    /// Commands before the build, run as root: system packages.
    #[serde(default, deserialize_with = "one_or_many")]
    pub pre_install: Vec<String>,
    /// Commands with network that need nothing of the repository: they make or fill folders outside the checkout
    /// (another Node, Python's virtual environment), and run before the sources are there. So all commits that have the
    /// same ones share what they make. In the paper they are the first commands of `build`.
    #[serde(
        default,
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub setup: Vec<String>,
    /// Commands that install dependencies and build, with network, in the repository's root.
    #[serde(default, deserialize_with = "one_or_many")]
    pub build: Vec<String>,
    /// The command that runs the tests, without network. `$ATLAS_OUT` is the folder for reports.
    #[serde(default, deserialize_with = "joined")]
    pub test_cmd: String,
    /// Id of the log parser.
    #[serde(default, alias = "log_parser", deserialize_with = "parser_name")]
    pub log_parser_name: String,
    /// Language id: one of the folders of `atlas-docker/src/languages`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// Base image with tag: `python:3.11-slim-bookworm`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base_image: String,
    /// Debian packages that are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apt_packages: Vec<String>,
    /// Commands that fill caches from the pull request's newer manifests, so that After finds its
    /// dependencies without a network. Run in a scratch copy that does not reach the image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefetch: Vec<String>,
    /// The day as of which commands resolve what no lockfile pins: commands that depend on it name it. Where dependencies
    /// are installed before the sources are there, the first of its month takes its place, so that commits of a month
    /// share them. Absent where no command depends on a day, or nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Day>,
    /// Commands that rebuild after a state's files are laid out, without network. A failure here
    /// is part of the state's log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebuild: Vec<String>,
    /// Helper programs of Atlas's toolbox that commands call; they lie in `$ATLAS_ENV/toolbox`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Programs that tests talk to, in the order of their start: databases, queues, mail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// What the build makes of sources, where a run has to show that it compiled what a state changed.
    /// Absent where compilers look at content and not at times (go), where nothing is compiled ahead of
    /// the tests, and where the test command's own log says it (cargo).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub products: Option<CompiledProducts>,
    /// Environment variables for build and tests. Values may use `$ATLAS_REPO` (the repository's
    /// root), `$ATLAS_ENV` (the folder of installed things, not to be written while tests run),
    /// `$ATLAS_CACHE` (warm caches and build products that tests may write), `$HOME`, `$PATH`. So
    /// a plan is the same wherever an engine puts these folders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The part of the suite that the test command runs; absent for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_scope: Option<TestScope>,
    /// The structured report that the test command writes, if the runner can write one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportSpec>,
    /// Where each conclusion comes from: field name -> proof lines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, Vec<Evidence>>,
    /// What may differ from the repository's state at its date: unpinned dependencies, a base
    /// image replaced by a near one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<String>,
    /// Fields of other tools, kept as they were.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Sources and what a build makes of them, by the ends of their names, without the dot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompiledProducts {
    /// Sources that become a product of their own name: `c`, `java`.
    pub sources: Vec<String>,
    /// Sources that are compiled as a part of others: `h`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// Products: `o`, `class`.
    pub products: Vec<String>,
    /// Whether each product is a text that names the sources which it was made of, one on a line with a colon behind it,
    /// from the repository's root, as cargo leaves `deps/name-1234.d`; and only products that name any of them count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub name_sources: bool,
}

/// A program that tests talk to on the machine's own address, started afresh before each run of the tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// What it is: `postgres`, `redis`.
    pub kind: String,
    /// What the repository's CI runs: `postgres:15`.
    pub image: String,
    /// The port of the machine's own address on which it answers.
    pub port: u16,
    /// The command that starts it empty and waits until it answers. A program that is not installed is said in the
    /// log, and the run goes on; one that does not come up fails the run as a failed rebuild does.
    pub start: String,
}

/// A part of a suite, chosen for a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestScope {
    /// How much.
    pub level: TestScopeLevel,
    /// Files, packages or classes, in words of the runner.
    pub places: Vec<String>,
    /// Why not all: `asked for`, or what the whole suite did.
    pub reason: String,
    /// What cannot be known from a part.
    pub risk: String,
}

/// How much of a suite runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestScopeLevel {
    /// The test files that the pull request touches.
    Touched,
    /// These and what stands beside them: the files of their folders, the packages of changed sources.
    Package,
}

impl fmt::Display for TestScopeLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Touched => "touched",
            Self::Package => "package",
        })
    }
}

/// The `log_parser_name` of a plan, and the `log_parser` of a row, that no shipped parser reads (paper 001, A.1): a
/// plan asks for a parser to be made, a row brings its own along.
pub const AGENTIC: &str = "agentic";

/// A structured report beside the console log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportSpec {
    /// File name below `$ATLAS_OUT`.
    pub file: String,
    /// Id of the parser that reads it: `junit`.
    pub parser: String,
    /// Where the run writes no report: a command that makes it out of the run's log, from standard input to standard
    /// output. It is run in the plan's environment after the run, so that it changes nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_log: Option<String>,
    /// Whether the report names what a driver ran (`CTest`, Meson) and not every test within it: a test that the
    /// console alone names is no difference then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outer: bool,
}

impl ReportSpec {
    /// A report that the run itself writes.
    pub fn new(file: impl Into<String>, parser: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            parser: parser.into(),
            from_log: None,
            outer: false,
        }
    }
}

/// Why a text is no environment plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not JSON, or a field of the wrong type; the message names line, column and field.
    #[error("environment plan is not readable")]
    Json(#[from] serde_json::Error),
    /// A field that every plan needs is empty.
    #[error("environment plan: field `{0}` is missing or empty")]
    Missing(&'static str),
}

impl EnvironmentPlan {
    /// Reads a plan and checks that it names a test command and a parser.
    ///
    /// # Errors
    /// [`PlanError`] with the place.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        let plan: Self = serde_json::from_str(text)?;
        if plan.test_cmd.trim().is_empty() {
            return Err(PlanError::Missing("test_cmd"));
        }
        if plan.log_parser_name.is_empty() {
            return Err(PlanError::Missing("log_parser_name"));
        }
        Ok(plan)
    }

    /// The paper's `build`, for readers that know no `setup`: the commands of both, in the order in which they run.
    pub fn paper_build(&self) -> Vec<String> {
        [self.setup.as_slice(), &self.build].concat()
    }

    /// Takes a `build` of somebody who knows no `setup`. Of its first commands those stay `setup` that are so already;
    /// of all others nothing is known, so they run with the sources.
    ///
    /// ```
    /// let [node, npm, make] = ["bring node", "npm ci", "make"].map(str::to_owned);
    /// let mut plan = atlas_core::EnvironmentPlan {
    ///     setup: vec![node.clone()],
    ///     build: vec![npm],
    ///     ..Default::default()
    /// };
    /// plan.set_paper_build(vec![node.clone(), make.clone()]);
    /// assert_eq!((plan.setup, plan.build), (vec![node], vec![make]));
    /// ```
    pub fn set_paper_build(&mut self, mut commands: Vec<String>) {
        let pairs = self.setup.iter().zip(&commands);
        let kept = pairs
            .take_while(|(known, command)| known == command)
            .count();
        self.setup.truncate(kept);
        self.build = commands.split_off(kept);
    }

    /// Adds a proof line for a field.
    pub fn prove(&mut self, field: &str, evidence: Evidence) {
        self.evidence
            .entry(field.to_owned())
            .or_default()
            .push(evidence);
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match Option::<OneOrMany>::deserialize(from)? {
        None => Vec::new(),
        Some(OneOrMany::One(one)) if one.trim().is_empty() => Vec::new(),
        Some(OneOrMany::One(one)) => vec![one],
        Some(OneOrMany::Many(many)) => many,
    })
}

fn joined<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(one_or_many(from)?.join(" && "))
}

fn parser_name<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    Ok(name
        .strip_prefix("parse_log_")
        .map(str::to_owned)
        .unwrap_or(name))
}
