//! What the repository's continuous integration does: GitHub workflows and Travis.
//!
//! Workflows are read as YAML whose scalars are left unresolved: a version `3.10` must not become
//! the number 3.1. Other services (GitLab, `CircleCI`, Azure) are not read.

use crate::apt;
use crate::tree::Tree;
use regex::Regex;
use saphyr::{MarkedYaml, ScalarStyle, YamlData, YamlLoader};
use std::sync::LazyLock;

/// A text with the place where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The file.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The text.
    pub(crate) text: String,
}

/// One use of an action.
#[derive(Clone, Debug)]
struct Uses {
    action: String,
    with: Vec<(String, Vec<Placed>)>,
}

/// One job that runs on Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    name: String,
    uses: Vec<Uses>,
    /// The values of the matrix, `include` entries for other systems left out.
    matrix: Vec<(String, Placed)>,
    /// The shell commands, one a line, without those of conditional matrix entries.
    pub(crate) commands: Vec<Placed>,
}

/// All jobs that run on Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ci {
    /// In the order of files and jobs.
    pub(crate) jobs: Vec<Job>,
}

static TESTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)\b(pytest|py\.test|unittest|tox|nox|nosetests|(make|just|task|hatch|pdm|uv)\ (run\ )?(\w+\ )?(test|check)\w*
        |go\ test|gotestsum|cargo\ (\S+\ )?(nextest|test|hack)|(npm|yarn|pnpm)\ (run\ |run-script\ )?t(est)?\b|npm\ cit?\b
        |jest|vitest|mocha|ava|node\ .*--test)|(^|[/_-])test\S*\.sh\b",
    )
    .expect("a literal pattern")
});

impl Job {
    /// Whether it runs tests.
    pub(crate) fn tests(&self) -> bool {
        self.commands
            .iter()
            .any(|command| TESTS.is_match(&command.text))
            || self.name.to_ascii_lowercase().contains("test")
    }

    /// The values an action is given, matrix expressions resolved.
    fn values(&self, action: &str, key: &str) -> Vec<Placed> {
        let mut found = Vec::new();
        for uses in &self.uses {
            if uses.action != action {
                continue;
            }
            for (name, values) in &uses.with {
                if name == key {
                    for value in values {
                        self.resolve(value, &mut found);
                    }
                }
            }
        }
        found
    }

    fn resolve(&self, value: &Placed, into: &mut Vec<Placed>) {
        static MATRIX: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"matrix\.([A-Za-z0-9_-]+)").expect("a literal pattern"));
        if !value.text.contains("${{") {
            into.push(value.clone());
            return;
        }
        for name in MATRIX.captures_iter(&value.text) {
            into.extend(
                self.matrix
                    .iter()
                    .filter(|(key, _)| *key == name[1])
                    .map(|(_, value)| value.clone()),
            );
        }
    }
}

impl Ci {
    /// Reads all workflows of a repository; one that is no YAML is left out.
    pub(crate) fn read(tree: &Tree) -> Self {
        let mut ci = Self::default();
        let workflow = |path: &&str| {
            path.strip_prefix(".github/workflows/")
                .is_some_and(|name| !name.contains('/'))
                && [".yml", ".yaml"].iter().any(|end| path.ends_with(end))
        };
        let files: Vec<&str> = tree.files().filter(workflow).collect();
        for file in files {
            if let Some(root) = tree.text(file).and_then(|text| load(file, &text)) {
                ci.workflow(file, &root);
            }
        }
        let travis = ".travis.yml";
        if let Some(root) = tree.text(travis).and_then(|text| load(travis, &text)) {
            ci.travis(travis, &root);
        }
        ci
    }

    /// Versions that jobs with tests give to one of these actions or Travis keys; those of all
    /// jobs where no job with tests names any.
    pub(crate) fn versions(&self, actions: &[(&str, &str)]) -> Vec<Placed> {
        for only_tests in [true, false] {
            let found: Vec<Placed> = self
                .jobs
                .iter()
                .filter(|job| !only_tests || job.tests())
                .flat_map(|job| {
                    actions
                        .iter()
                        .flat_map(|(action, key)| job.values(action, key))
                })
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The commands of jobs that run tests.
    pub(crate) fn test_commands(&self) -> impl Iterator<Item = &Placed> {
        self.jobs
            .iter()
            .filter(|job| job.tests())
            .flat_map(|job| &job.commands)
    }

    /// Debian packages that jobs with tests install, with the line that does.
    pub(crate) fn apt_packages(&self) -> Vec<(String, Placed)> {
        self.test_commands()
            .flat_map(|command| {
                let names = apt::installed(&command.text).into_iter();
                names.map(|name| (name, command.clone()))
            })
            .collect()
    }

    fn workflow(&mut self, file: &str, root: &Node) {
        for (name, job) in root.get("jobs").map(Node::entries).unwrap_or_default() {
            let runs_on = job.get("runs-on").map(Node::text).unwrap_or_default();
            if other_system(&runs_on) {
                continue;
            }
            let title = job.get("name").map(Node::text).unwrap_or_default();
            let mut read = Job {
                name: format!("{} {title}", name.text),
                ..Job::default()
            };
            if let Some(matrix) = job.get("strategy").and_then(|found| found.get("matrix")) {
                read.read_matrix(file, matrix);
            }
            for step in job.get("steps").map(Node::items).unwrap_or_default() {
                read.step(file, step);
            }
            self.jobs.push(read);
        }
    }

    fn travis(&mut self, file: &str, root: &Node) {
        let mut job = Job {
            name: "travis test".to_owned(),
            ..Job::default()
        };
        for key in ["python", "node_js", "go", "rust"] {
            if let Some(node) = root.get(key) {
                let with = vec![(key.to_owned(), node.scalars(file))];
                let action = "travis".to_owned();
                job.uses.push(Uses { action, with });
            }
        }
        for key in ["before_install", "install", "before_script", "script"] {
            for line in root
                .get(key)
                .map(|node| node.commands(file))
                .unwrap_or_default()
            {
                job.commands.push(line);
            }
        }
        self.jobs.push(job);
    }
}

impl Job {
    fn read_matrix(&mut self, file: &str, matrix: &Node) {
        for (key, value) in matrix.entries() {
            match key.text.as_str() {
                "exclude" => {}
                "include" => {
                    for entry in value.items() {
                        let elsewhere = entry
                            .entries()
                            .iter()
                            .any(|(_, value)| other_system(&value.text()));
                        if !elsewhere {
                            for (key, value) in entry.entries() {
                                for value in value.scalars(file) {
                                    self.matrix.push((key.text.clone(), value));
                                }
                            }
                        }
                    }
                }
                _ => {
                    for value in value.scalars(file) {
                        self.matrix.push((key.text.clone(), value));
                    }
                }
            }
        }
    }

    fn step(&mut self, file: &str, step: &Node) {
        if let Some(action) = step.get("uses").map(Node::text) {
            let (action, version) = action.split_once('@').unwrap_or((&action, ""));
            let mut with: Vec<(String, Vec<Placed>)> = step
                .get("with")
                .map(Node::entries)
                .unwrap_or_default()
                .iter()
                .map(|(key, value)| (key.text.clone(), value.scalars(file)))
                .collect();
            // `dtolnay/rust-toolchain@1.70`: the version of the action is the argument.
            if let Some(place) = step.get("uses") {
                let line = place.line();
                with.push((
                    "@".to_owned(),
                    vec![Placed {
                        file: file.to_owned(),
                        line,
                        text: version.to_owned(),
                    }],
                ));
            }
            let action = action.to_owned();
            self.uses.push(Uses { action, with });
        }
        // A step for some entries of the matrix is an extra: fuzzing, coverage, a nightly build.
        let condition = step.get("if").map(Node::text).unwrap_or_default();
        if condition.contains("matrix.") || other_system(&condition) {
            return;
        }
        if let Some(run) = step.get("run") {
            self.commands.extend(run.commands(file));
        }
    }
}

fn other_system(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["windows", "macos", "osx", "freebsd"]
        .iter()
        .any(|name| text.contains(name))
}

/// YAML as far as workflows need it: scalars are text.
#[derive(Clone, Debug)]
enum Node {
    Scalar {
        text: String,
        line: usize,
        block: bool,
    },
    List(Vec<Node>),
    Map(Vec<(Placed, Node)>),
}

fn load(file: &str, text: &str) -> Option<Node> {
    let mut loader = YamlLoader::<MarkedYaml<'_>>::default();
    loader.early_parse(false);
    loader.allow_duplicate_keys(true);
    let parsed = saphyr_parser::Parser::new_from_str(text).load(&mut loader, true);
    if let Some(why) = parsed.err().or_else(|| loader.error().cloned()) {
        tracing::warn!(file, %why, "workflow is no YAML");
        return None;
    }
    loader
        .into_documents()
        .first()
        .map(|root| Node::from_yaml(root, file))
}

impl Node {
    fn from_yaml(yaml: &MarkedYaml<'_>, file: &str) -> Self {
        let line = yaml.span.start.line();
        match &yaml.data {
            YamlData::Representation(text, style, _) => Self::Scalar {
                text: text.to_string(),
                line,
                block: matches!(style, ScalarStyle::Literal | ScalarStyle::Folded),
            },
            YamlData::Tagged(_, inner) => Self::from_yaml(inner, file),
            YamlData::Sequence(items) => Self::List(
                items
                    .iter()
                    .map(|item| Self::from_yaml(item, file))
                    .collect(),
            ),
            YamlData::Mapping(entries) => Self::Map(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let key_line = key.span.start.line();
                        let mut value = Self::from_yaml(value, file);
                        // A block's text begins on the line after its key.
                        if let Self::Scalar {
                            line, block: true, ..
                        } = &mut value
                        {
                            *line = key_line + 1;
                        }
                        let key = Placed {
                            file: file.to_owned(),
                            line: key_line,
                            text: Self::from_yaml(key, file).text(),
                        };
                        (key, value)
                    })
                    .collect(),
            ),
            YamlData::Value(_) | YamlData::Alias(_) | YamlData::BadValue => Self::Scalar {
                text: String::new(),
                line,
                block: false,
            },
        }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .find(|(name, _)| name.text == key)
            .map(|(_, value)| value)
    }

    fn entries(&self) -> &[(Placed, Self)] {
        match self {
            Self::Map(entries) => entries,
            Self::Scalar { .. } | Self::List(_) => &[],
        }
    }

    fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            Self::Scalar { .. } | Self::Map(_) => &[],
        }
    }

    /// A scalar's text; of a list, its scalars joined by a blank; of a map, nothing.
    fn text(&self) -> String {
        match self {
            Self::Scalar { text, .. } => text.clone(),
            Self::List(items) => items.iter().map(Self::text).collect::<Vec<_>>().join(" "),
            Self::Map(_) => String::new(),
        }
    }

    fn line(&self) -> usize {
        match self {
            Self::Scalar { line, .. } => *line,
            Self::List(items) => items.first().map_or(1, Self::line),
            Self::Map(entries) => entries.first().map_or(1, |(key, _)| key.line),
        }
    }

    /// The scalars of a scalar or a list; a scalar of several lines counts as several.
    fn scalars(&self, file: &str) -> Vec<Placed> {
        match self {
            Self::Scalar { text, line, .. } => text
                .lines()
                .enumerate()
                .map(|(at, text)| Placed {
                    file: file.to_owned(),
                    line: line + at,
                    text: text.trim().to_owned(),
                })
                .filter(|value| !value.text.is_empty())
                .collect(),
            Self::List(items) => items.iter().flat_map(|item| item.scalars(file)).collect(),
            Self::Map(_) => Vec::new(),
        }
    }

    /// Shell commands, lines joined where they end in a backslash.
    fn commands(&self, file: &str) -> Vec<Placed> {
        let mut found: Vec<Placed> = Vec::new();
        let mut open = false;
        for line in self.scalars(file) {
            if line.text.starts_with('#') {
                continue;
            }
            let (text, continues) = match line.text.strip_suffix('\\') {
                Some(text) => (text.trim_end().to_owned(), true),
                None => (line.text.clone(), false),
            };
            match found.last_mut() {
                Some(last) if open => {
                    last.text.push(' ');
                    last.text.push_str(&text);
                }
                _ => found.push(Placed { text, ..line }),
            }
            open = continues;
        }
        found
    }
}
