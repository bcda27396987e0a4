//! `CircleCI`: jobs, executors, commands and their parameters, the matrices of workflows.

use super::image::java;
use super::job::Job;
use super::yaml::{Node, load};
use super::{Beside, Placed};
use crate::tree::Tree;

/// Orb, its parameter, the toolchain.
const ORBS: &[(&str, &str, &str)] = &[
    ("circleci/python", "version", "python"),
    ("circleci/python", "python-version", "python"),
    ("circleci/node", "node-version", "node"),
    ("circleci/go", "version", "go"),
    ("circleci/rust", "version", "rust"),
    ("circleci/ruby", "version", "ruby"),
    ("circleci/php", "version", "php"),
    ("circleci/openjdk-install", "version", "java"),
];

/// Commands within each other.
const MAX_DEPTH: usize = 8;

/// Reads `.circleci/config.yml`.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let files = [
        ".circleci/config.yml",
        ".circleci/config.yaml",
        "circle.yml",
    ];
    let Some(file) = tree.first(&files) else {
        return Vec::new();
    };
    let Some(root) = tree.text(file).and_then(|text| load(file, &text)) else {
        return Vec::new();
    };
    let config = Config { file, root };
    let jobs = config.root.entries_of("jobs");
    jobs.iter()
        .filter_map(|(name, node)| config.job(&name.text, node))
        .collect()
}

struct Config<'a> {
    file: &'a str,
    root: Node,
}

impl Config<'_> {
    fn job(&self, name: &str, node: &Node) -> Option<Job> {
        if node.get("macos").is_some() {
            return None;
        }
        let mut job = Job::new(name);
        self.called(&mut job, name);
        defaults(&mut job, self.file, node);
        let executor = node.get("executor");
        if !self.machine(&mut job, node, executor) {
            return None;
        }
        job.variables(self.file, node.entries_of("environment"));
        let folder = node.get("working_directory").map(Node::text);
        // Most write the place of the whole checkout here.
        let folder = folder.filter(|folder| !folder.starts_with(['~', '/', '$']));
        for step in node.each("steps") {
            self.step(&mut job, step, folder.as_deref(), 0);
        }
        Some(job)
    }

    /// What workflows give a job: parameters, alone or as a matrix.
    fn called(&self, job: &mut Job, name: &str) {
        for (_, workflow) in self.root.entries_of("workflows") {
            for call in workflow.each("jobs") {
                for (called, given) in call.entries() {
                    if called.text != name {
                        continue;
                    }
                    let matrix = given.at(&["matrix", "parameters"]).map(Node::entries);
                    let own = given.entries().iter();
                    for (key, value) in matrix.unwrap_or_default().iter().chain(own) {
                        let known = ["matrix", "requires", "filters", "context", "name", "type"];
                        if !known.contains(&key.text.as_str()) {
                            job.bind(self.file, &key.text, value);
                        }
                    }
                }
            }
        }
    }

    /// What it runs in; `false` where that is no Linux.
    fn machine(&self, job: &mut Job, node: &Node, executor: Option<&Node>) -> bool {
        let mut places = vec![node];
        let mut scope = Vec::new();
        if let Some(executor) = executor {
            let name = executor.get("name").unwrap_or(executor);
            let name = name.scalars(self.file);
            let names = job.expand_all(&name);
            let names: Vec<String> = names.into_iter().map(|name| name.text).collect();
            for name in &names {
                if name.starts_with("win/") || name.starts_with("macos") {
                    return false;
                }
                if let Some(found) = self.root.at(&["executors", name]) {
                    places.push(found);
                }
                // `python/default` with a tag.
                if let Some((orb, _)) = name.split_once('/') {
                    self.orb(job, orb, executor.entries());
                }
            }
            for (key, value) in executor.entries() {
                let values = value.scalars(self.file);
                for value in job.expand_all(&values) {
                    scope.push((key.text.clone(), value));
                }
            }
        }
        for place in places {
            if place.get("macos").is_some() {
                return false;
            }
            // The parameters of an executor are its own.
            let mut inner = Job::new("");
            inner.bindings.clone_from(&scope);
            defaults(&mut inner, self.file, place);
            if executor.is_none() || place.get("parameters").is_none() {
                inner.bindings.extend(job.bindings.iter().cloned());
            }
            for (at, image) in place.each("docker").iter().enumerate() {
                let Some(name) = image.get("image").and_then(|name| name.scalar(self.file)) else {
                    continue;
                };
                // The first one is where the steps run, the others run beside it.
                if at == 0 {
                    inner.image(&name);
                    inner.variables(self.file, image.entries_of("environment"));
                } else {
                    let alias = image.text_of("name");
                    let service = Beside::read(self.file, &alias, image);
                    inner.services.extend(service);
                }
            }
            inner.variables(self.file, place.entries_of("environment"));
            job.absorb(inner);
        }
        true
    }

    fn step(&self, job: &mut Job, step: &Node, folder: Option<&str>, depth: usize) {
        if depth >= MAX_DEPTH {
            return;
        }
        if let Node::Scalar { text, .. } = step {
            self.command(job, text, &[], folder, depth);
        }
        for (key, value) in step.entries() {
            match key.text.as_str() {
                "run" => {
                    let command = value.get("command").unwrap_or(value);
                    let own = value.get("working_directory").map(Node::text);
                    let commands = command.commands(self.file);
                    if commands.iter().any(|command| Job::is_test(&command.text)) {
                        job.variables(self.file, value.entries_of("environment"));
                    }
                    let own = own.filter(|own| !own.starts_with(['~', '/', '$']));
                    job.run(commands, own.as_deref().or(folder));
                }
                // What runs in some cases is an extra.
                "when" | "unless" => {}
                name => self.command(job, name, value.entries(), folder, depth),
            }
        }
    }

    /// A command of the file itself, its steps as if they stood here, or one of an orb.
    fn command(
        &self,
        job: &mut Job,
        name: &str,
        given: &[(Placed, Node)],
        folder: Option<&str>,
        depth: usize,
    ) {
        if let Some((orb, _)) = name.split_once('/') {
            self.orb(job, orb, given);
        }
        let Some(command) = self.root.at(&["commands", name]) else {
            return;
        };
        let mut inner = Job::new("");
        for (key, value) in given {
            let values = value.scalars(self.file);
            for value in job.expand_all(&values) {
                inner.bindings.push((key.text.clone(), value));
            }
        }
        defaults(&mut inner, self.file, command);
        for step in command.each("steps") {
            self.step(&mut inner, step, folder, depth + 1);
        }
        job.absorb(inner);
    }

    /// A use of an orb, under the name that it has in the registry: `circleci/python`.
    fn orb(&self, job: &mut Job, alias: &str, given: &[(Placed, Node)]) {
        let name = self.root.at(&["orbs", alias]).map(Node::text);
        let name = name.unwrap_or_else(|| alias.to_owned());
        let name = name.split('@').next().unwrap_or_default();
        let with: Vec<(String, Vec<Placed>)> = given
            .iter()
            .map(|(key, value)| (key.text.clone(), value.scalars(self.file)))
            .collect();
        for (orb, parameter, toolchain) in ORBS {
            // An executor's tag names the image's version, which is the toolchain's.
            let named = |key: &str| key == *parameter || key == "tag";
            for (_, values) in with.iter().filter(|(key, _)| *orb == name && named(key)) {
                for value in job.expand_all(values) {
                    let text = if *toolchain == "java" {
                        java(&value.text)
                    } else {
                        value.text.clone()
                    };
                    job.toolchain(toolchain, Placed { text, ..value });
                }
            }
        }
        job.uses(name, with);
    }
}

/// Gives parameters their default where nothing was given.
fn defaults(job: &mut Job, file: &str, node: &Node) {
    for (key, parameter) in node.entries_of("parameters") {
        if job.bindings.iter().all(|(known, _)| *known != key.text)
            && let Some(default) = parameter.get("default")
        {
            job.bind(file, &key.text, default);
        }
    }
}
