//! GitHub's workflows, with the repository's own composite actions and reusable workflows.

use super::image::java;
use super::job::{Job, other_system};
use super::yaml::{Node, load};
use super::{Beside, Placed, apt_names, matrix};
use crate::tree::Tree;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Setup action, its key, the toolchain.
const SETUP: &[(&str, &str, &str)] = &[
    ("actions/setup-python", "python-version", "python"),
    ("astral-sh/setup-uv", "python-version", "python"),
    (
        "conda-incubator/setup-miniconda",
        "python-version",
        "python",
    ),
    ("actions/setup-node", "node-version", "node"),
    ("actions/setup-go", "go-version", "go"),
    ("dtolnay/rust-toolchain", "toolchain", "rust"),
    ("dtolnay/rust-toolchain", "@", "rust"),
    ("actions-rs/toolchain", "toolchain", "rust"),
    (
        "actions-rust-lang/setup-rust-toolchain",
        "toolchain",
        "rust",
    ),
    ("hecrj/setup-rust-action", "rust-version", "rust"),
    ("moonrepo/setup-rust", "channel", "rust"),
    ("ruby/setup-ruby", "ruby-version", "ruby"),
    ("actions/setup-ruby", "ruby-version", "ruby"),
    ("shivammathur/setup-php", "php-version", "php"),
    ("actions/setup-java", "java-version", "java"),
    ("graalvm/setup-graalvm", "java-version", "java"),
    ("actions/setup-dotnet", "dotnet-version", "dotnet"),
    ("egor-tensin/setup-gcc", "version", "gcc"),
    ("egor-tensin/setup-clang", "version", "clang"),
];

/// Setup action, the key that names a version file, the key of a version.
const FILES: &[(&str, &str, &str)] = &[
    (
        "actions/setup-python",
        "python-version-file",
        "python-version",
    ),
    ("actions/setup-node", "node-version-file", "node-version"),
    ("actions/setup-go", "go-version-file", "go-version"),
    ("actions/setup-java", "java-version-file", "java-version"),
    ("actions/setup-dotnet", "global-json-file", "dotnet-version"),
    ("shivammathur/setup-php", "php-version-file", "php-version"),
];

/// Actions and workflows within each other; GitHub's own limit for workflows.
const MAX_DEPTH: usize = 4;

/// Jobs of one repository; calls of reusable workflows multiply.
const MAX_JOBS: usize = 500;

/// Reads all workflows.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let workflow = |path: &&str| {
        path.strip_prefix(".github/workflows/")
            .is_some_and(|name| !name.contains('/'))
            && is_yaml(path)
    };
    let roots: Vec<(&str, Node)> = tree
        .files()
        .filter(workflow)
        .filter_map(|file| Some((file, load(file, &tree.text(file)?)?)))
        .collect();
    let mut reader = Reader {
        tree,
        jobs: Vec::new(),
    };
    let called: BTreeSet<String> = roots
        .iter()
        .flat_map(|(_, root)| root.entries_of("jobs"))
        .filter_map(|(_, job)| local(&job.text_of("uses")))
        .collect();
    for (file, root) in &roots {
        // What only others call is read where they do, with what they give it.
        let triggers = root.get("on").map(|on| match on {
            Node::Map(entries) => entries.iter().map(|(key, _)| key.text.clone()).collect(),
            other => vec![other.text()],
        });
        let only_called = triggers.is_some_and(|names| names == ["workflow_call"]);
        if !(only_called && called.contains(*file)) {
            reader.workflow(file, root, &[], 0);
        }
    }
    reader.jobs
}

fn is_yaml(path: &str) -> bool {
    [".yml", ".yaml"].iter().any(|end| path.ends_with(end))
}

/// The path of an action or workflow of the same repository.
fn local(uses: &str) -> Option<String> {
    let path = uses.trim().strip_prefix("./")?;
    (!path.split('/').any(|part| part == "..")).then(|| path.trim_end_matches('/').to_owned())
}

struct Reader<'a> {
    tree: &'a Tree,
    jobs: Vec<Job>,
}

/// Where steps stand.
struct Scope<'a> {
    file: &'a str,
    /// The folder of their commands, if it is not the root.
    folder: Option<String>,
    depth: usize,
}

impl Reader<'_> {
    fn workflow(&mut self, file: &str, root: &Node, inputs: &[(String, Placed)], depth: usize) {
        let folder = |node: &Node| {
            let found = node.at(&["defaults", "run", "working-directory"]);
            found.map(Node::text)
        };
        for (name, node) in root.entries_of("jobs") {
            if self.jobs.len() >= MAX_JOBS {
                return;
            }
            let mut job = Job::new(format!("{} {}", name.text, node.text_of("name")));
            job.bindings = inputs.to_vec();
            let defaults = root.at(&["on", "workflow_call", "inputs"]);
            bind_defaults(&mut job, file, defaults);
            if let Some(matrix) = node.at(&["strategy", "matrix"]) {
                matrix::bind(&mut job, file, matrix::of_github(matrix));
            }
            if elsewhere(&job, file, node.get("runs-on")) {
                continue;
            }
            if let Some(runs_on) = node.get("runs-on") {
                job.runs_on(&runs_on.scalars(file));
            }
            if let Some(path) = local(&node.text_of("uses")) {
                if depth < MAX_DEPTH
                    && let Some(called) = self.tree.text(&path).and_then(|text| load(&path, &text))
                {
                    let given = given(&job, file, node);
                    self.workflow(&path, &called, &given, depth + 1);
                }
                continue;
            }
            job.variables(file, root.entries_of("env"));
            job.new_variables(file, node.entries_of("env"));
            if let Some(container) = node.get("container") {
                let image = container.get("image").unwrap_or(container);
                if let Some(image) = image.scalar(file) {
                    job.image(&image);
                }
                job.variables(file, container.entries_of("env"));
                job.in_container = true;
            }
            for (name, service) in node.entries_of("services") {
                job.services.extend(Beside::read(file, &name.text, service));
            }
            let scope = Scope {
                file,
                folder: folder(node).or_else(|| folder(root)),
                depth,
            };
            // A step for some entries of the matrix is an extra beside one for all (fuzzing, coverage,
            // a nightly build); without that it is how the job tests.
            let chosen = |step: &Node| step.text_of("if").contains("matrix.");
            let steps = node.each("steps");
            let plain = |step: &Node| runs_tests(step, file) && !chosen(step);
            let extras = steps.iter().any(plain);
            for step in steps {
                if !chosen(step) || !extras && runs_tests(step, file) {
                    self.step(&mut job, &scope, step);
                } else {
                    self.uses(&mut job, &scope, step);
                }
            }
            forget_variants(&mut job, steps, file);
            self.jobs.push(job);
        }
    }

    fn uses(&self, job: &mut Job, scope: &Scope<'_>, step: &Node) {
        let file = scope.file;
        if let Some(place) = step.get("uses").and_then(|uses| uses.scalar(file)) {
            if let Some(path) = local(&place.text) {
                self.composite(job, scope, step, &path);
            } else {
                self.action(job, file, step, &place);
            }
        }
    }

    fn step(&self, job: &mut Job, scope: &Scope<'_>, step: &Node) {
        let file = scope.file;
        self.uses(job, scope, step);
        if other_system(&step.text_of("if")) {
            return;
        }
        if let Some(run) = step.get("run") {
            let folder = step.get("working-directory").map(Node::text);
            let folder = folder.or_else(|| scope.folder.clone());
            let commands = run.commands(file);
            let values = step.entries_of("env").iter();
            let values = values.filter_map(|(_, value)| value.scalar(file));
            job.options
                .extend(values.filter(|value| value.text.contains("-D")));
            if commands.iter().any(|command| Job::is_test(&command.text)) {
                job.variables(file, step.entries_of("env"));
            }
            job.run(commands, folder.as_deref());
        }
    }

    fn action(&self, job: &mut Job, file: &str, step: &Node, place: &Placed) {
        let (action, version) = place.text.split_once('@').unwrap_or((&place.text, ""));
        let mut with: Vec<(String, Vec<Placed>)> = step
            .entries_of("with")
            .iter()
            .map(|(key, value)| (key.text.clone(), value.scalars(file)))
            .collect();
        // `dtolnay/rust-toolchain@1.70`: the version of the action is the argument.
        let text = version.to_owned();
        with.push((
            "@".to_owned(),
            vec![Placed {
                text,
                ..place.clone()
            }],
        ));
        for (of, key, version_key) in FILES {
            if *of == action && with.iter().all(|(name, _)| name != version_key) {
                let named = with.iter().filter(|(name, _)| name == key);
                let files: Vec<Placed> = named.flat_map(|(_, values)| values.clone()).collect();
                let found: Vec<Placed> = job
                    .expand_all(&files)
                    .iter()
                    .filter_map(|path| version_file(self.tree, &path.text, version_key))
                    .collect();
                if !found.is_empty() {
                    with.push(((*version_key).to_owned(), found));
                }
            }
        }
        // Without a version this action reads the file that Ruby's version managers use.
        if action == "ruby/setup-ruby" && with.iter().all(|(name, _)| name != "ruby-version") {
            let files = [".ruby-version", ".tool-versions"];
            let found = files
                .iter()
                .find_map(|path| version_file(self.tree, path, "ruby-version"));
            with.push(("ruby-version".to_owned(), found.into_iter().collect()));
        }
        for (of, key, toolchain) in SETUP {
            if *of != action {
                continue;
            }
            let named = with.iter().filter(|(name, _)| name == key);
            for value in named.flat_map(|(_, values)| values) {
                let mut values = job.expand(value);
                if *toolchain == "java" {
                    for value in &mut values {
                        value.text = java(&value.text);
                    }
                }
                for value in values {
                    job.toolchain(toolchain, value);
                }
            }
        }
        if action.contains("apt") {
            let packages = with.iter().filter(|(name, _)| name == "packages");
            for line in packages.flat_map(|(_, values)| values) {
                job.apt.extend(apt_names(line));
            }
        }
        if action.contains("cmake") {
            let given = with.iter().filter(|(name, _)| name.contains("option"));
            let lines = given.flat_map(|(_, values)| job.expand_all(values));
            let options: Vec<Placed> = lines.filter_map(cmake_option).collect();
            job.options.extend(options);
        }
        job.uses(action, with);
    }

    /// The steps of an action of the repository itself, as if they stood here.
    fn composite(&self, job: &mut Job, scope: &Scope<'_>, step: &Node, path: &str) {
        let join = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}/{name}")
            }
        };
        let files = [join("action.yml"), join("action.yaml")];
        let Some(file) = files.iter().find(|file| self.tree.has(file)) else {
            return;
        };
        let Some(root) = self.tree.text(file).and_then(|text| load(file, &text)) else {
            return;
        };
        if scope.depth >= MAX_DEPTH {
            return;
        }
        let mut inner = Job::new("");
        inner.bindings = given(job, scope.file, step);
        bind_defaults(&mut inner, file, root.get("inputs"));
        let scope = Scope {
            file,
            folder: None,
            depth: scope.depth + 1,
        };
        for step in root
            .at(&["runs", "steps"])
            .map(Node::items)
            .unwrap_or_default()
        {
            self.step(&mut inner, &scope, step);
        }
        job.absorb(inner);
    }
}

/// An option as an action that runs `CMake` takes it (`NAME=VALUE`), as the command line has it.
fn cmake_option(mut line: Placed) -> Option<Placed> {
    let (name, _) = line.text.split_once('=')?;
    if !name.starts_with('-') {
        line.text = format!("-D{}", line.text);
    }
    Some(line)
}

/// Inputs with what `with` gives them, resolved where they are given.
fn given(job: &Job, file: &str, node: &Node) -> Vec<(String, Placed)> {
    node.entries_of("with")
        .iter()
        .flat_map(|(key, value)| {
            let values = value.scalars(file);
            let values: Vec<Placed> = job.expand_all(&values);
            values
                .into_iter()
                .map(|value| (key.text.clone(), value))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Gives inputs their default where nothing was given.
fn bind_defaults(job: &mut Job, file: &str, inputs: Option<&Node>) {
    for (key, input) in inputs.map(Node::entries).unwrap_or_default() {
        if job.bindings.iter().all(|(known, _)| *known != key.text)
            && let Some(default) = input.get("default")
        {
            job.bind(file, &key.text, default);
        }
    }
}

/// Whether a job runs on other systems alone.
fn elsewhere(job: &Job, file: &str, runs_on: Option<&Node>) -> bool {
    let Some(runs_on) = runs_on else {
        return false;
    };
    if other_system(&runs_on.all_text()) {
        return true;
    }
    let named = runs_on.scalars(file);
    let systems: Vec<Placed> = job.expand_all(&named);
    !systems.is_empty() && systems.iter().all(|system| other_system(&system.text))
}

/// Forgets what a step sets for the very commands that another step of the job runs without it: that is how a
/// second way is tested (`PURE_PYTHON=1` beside a compiled extension), not how the tests run.
fn forget_variants(job: &mut Job, steps: &[Node], file: &str) {
    let tests: Vec<(Vec<String>, &Node)> = steps
        .iter()
        .filter(|step| runs_tests(step, file))
        .filter_map(|step| {
            let commands = step.get("run")?.commands(file);
            let mut texts: Vec<String> = commands.into_iter().map(|line| line.text).collect();
            texts.retain(|text| Job::is_test(text));
            Some((texts, step))
        })
        .collect();
    for (commands, step) in &tests {
        for (key, value) in step.entries_of("env") {
            let sets = |other: &Node| {
                let mut entries = other.entries_of("env").iter();
                entries.any(|(name, _)| name.text == key.text)
            };
            let mut others = tests.iter().filter(|(same, _)| same == commands);
            if others.all(|(_, other)| sets(other)) {
                continue;
            }
            if let Some(value) = value.scalar(file) {
                let here = |known: &Placed| known.file == value.file && known.line == value.line;
                job.env
                    .retain(|(name, known)| *name != key.text || !here(known));
            }
        }
    }
}

fn runs_tests(step: &Node, file: &str) -> bool {
    let commands = step.get("run").map(|run| run.commands(file));
    let mut commands = commands.into_iter().flatten();
    commands.any(|command| Job::is_test(&command.text))
}

/// The version in a file that a setup action is pointed to.
fn version_file(tree: &Tree, path: &str, key: &str) -> Option<Placed> {
    static GO: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^go\s+(\d[\w.]*)").expect("a literal pattern"));
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:ruby-)?(v?\d[\w.-]*|lts\S*|pypy\S*)\s*$").expect("a literal pattern")
    });
    static TOOLS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(\w+)\s+(v?\d\S*)").expect("a literal pattern"));
    static JSON: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#""(node|version|php)"\s*:\s*"[\^~>=v ]*(\d[\w.-]*)"#)
            .expect("a literal pattern")
    });
    let path = path.trim_start_matches("./");
    let text = tree.text(path)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let tool = key.strip_suffix("-version").unwrap_or(key);
    let find = |line: &str| -> Option<String> {
        let found = match name {
            "go.mod" | "go.work" => GO.captures(line)?.get(1)?,
            ".tool-versions" => {
                let found = TOOLS.captures(line)?;
                let named = match &found[1] {
                    "golang" => "go",
                    "nodejs" => "node",
                    other => other,
                };
                if named != tool {
                    return None;
                }
                found.get(2)?
            }
            "package.json" | "global.json" | "composer.json" => {
                let found = JSON.captures(line)?;
                let wanted = if name == "global.json" {
                    "version"
                } else {
                    tool
                };
                if &found[1] != wanted {
                    return None;
                }
                found.get(2)?
            }
            // Of other manifests the languages know more than one line says.
            _ if name.contains(".toml") || name.contains(".cfg") => return None,
            _ => PLAIN.captures(line)?.get(1)?,
        };
        Some(found.as_str().to_owned())
    };
    text.lines().enumerate().find_map(|(at, line)| {
        Some(Placed {
            file: path.to_owned(),
            line: at + 1,
            text: find(line)?,
        })
    })
}
