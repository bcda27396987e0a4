//! Azure Pipelines, with templates of the same repository.

use super::image::java;
use super::job::{Job, other_system};
use super::yaml::{Node, load};
use super::{Beside, Placed};
use crate::tree::Tree;
use std::collections::BTreeSet;

/// Task, its input, the toolchain.
const TASKS: &[(&str, &str, &str)] = &[
    ("UsePythonVersion", "versionSpec", "python"),
    ("NodeTool", "versionSpec", "node"),
    ("UseNode", "version", "node"),
    ("GoTool", "version", "go"),
    ("UseRubyVersion", "versionSpec", "ruby"),
    ("JavaToolInstaller", "versionSpec", "java"),
    ("UseDotNet", "version", "dotnet"),
];

/// Templates within each other.
const MAX_DEPTH: usize = 8;

/// Jobs of one repository; uses of templates multiply.
const MAX_JOBS: usize = 500;

/// Reads `azure-pipelines.yml` and what stands in its folder.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let mut reader = Reader {
        tree,
        jobs: Vec::new(),
        templates: BTreeSet::new(),
        images: Vec::new(),
    };
    let names: Vec<&str> = tree
        .files()
        .filter(|path| {
            let yaml = [".yml", ".yaml"].iter().any(|end| path.ends_with(end));
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            yaml && (folder.is_empty()
                && name.trim_start_matches('.').starts_with("azure-pipelines")
                || [
                    ".azure-pipelines",
                    ".azure",
                    "azure-pipelines",
                    ".ci",
                    ".vsts",
                ]
                .contains(&folder)
                    && name.contains("pipeline"))
        })
        .collect();
    for file in names {
        if let Some(root) = tree.text(file).and_then(|text| load(file, &text)) {
            // A template has its own parameters' values only where it is used.
            let template = reader.templates.contains(file);
            if !template {
                reader.container_images(file, &root);
                reader.scope(file, &root, &Job::new(""), 0);
            }
        }
    }
    reader.jobs
}

struct Reader<'a> {
    tree: &'a Tree,
    jobs: Vec<Job>,
    templates: BTreeSet<String>,
    /// The containers of `resources`: name, image.
    images: Vec<(String, Placed)>,
}

impl Reader<'_> {
    fn container_images(&mut self, file: &str, root: &Node) {
        let containers = root.at(&["resources", "containers"]).map(Node::items);
        for container in containers.unwrap_or_default() {
            if let Some(image) = container.get("image").and_then(|image| image.scalar(file)) {
                let name = container.text_of("container");
                self.images.push((name, image));
            }
        }
    }

    /// A root, a stage or a template: stages, jobs, or the steps of a lone job.
    fn scope(&mut self, file: &str, node: &Node, outer: &Job, depth: usize) {
        if depth >= MAX_DEPTH || self.jobs.len() >= MAX_JOBS {
            return;
        }
        let mut scope = outer.clone();
        defaults(&mut scope, file, node);
        variables(&mut scope, file, node);
        if let Some(pool) = node.get("pool") {
            scope.bindings.retain(|(name, _)| name != "pool image");
            let image = pool.get("vmImage").unwrap_or(pool);
            for value in image.scalars(file) {
                scope.bindings.push(("pool image".to_owned(), value));
            }
        }
        for stage in node.each("stages") {
            self.nested(file, stage, &scope, depth);
        }
        for job in node.each("jobs") {
            if job.get("template").is_some() {
                self.nested(file, job, &scope, depth);
            } else {
                self.job(file, job, &scope, depth);
            }
        }
        if node.get("steps").is_some() {
            self.job(file, node, &scope, depth);
        }
    }

    /// A stage, or a template of stages or jobs.
    fn nested(&mut self, file: &str, node: &Node, scope: &Job, depth: usize) {
        match self.template(file, node, scope) {
            Some((path, root, inner)) => self.scope(&path, &root, &inner, depth + 1),
            None => self.scope(file, node, scope, depth + 1),
        }
    }

    /// The template that a node names, with a job that knows its parameters.
    fn template(&mut self, file: &str, node: &Node, scope: &Job) -> Option<(String, Node, Job)> {
        let named = node.get("template")?.text();
        // Relative to the file that names it, unless it begins with a slash.
        let path = match (named.strip_prefix('/'), file.rsplit_once('/')) {
            (Some(absolute), _) => absolute.to_owned(),
            (None, Some((folder, _))) => format!("{folder}/{named}"),
            (None, None) => named,
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "." | "" => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        let root = load(&path, &self.tree.text(&path)?)?;
        let mut inner = scope.clone();
        for (key, value) in node.entries_of("parameters") {
            let values = value.scalars(file);
            let values: Vec<Placed> = scope.expand_all(&values);
            inner.bindings.retain(|(name, _)| *name != key.text);
            for value in values {
                inner.bindings.push((key.text.clone(), value));
            }
        }
        self.templates.insert(path.clone());
        Some((path, root, inner))
    }

    fn job(&mut self, file: &str, node: &Node, scope: &Job, depth: usize) {
        let mut job = scope.clone();
        job.name = format!("{} {}", node.text_of("job"), node.text_of("displayName"));
        if let Some(named) = node.at(&["strategy", "matrix"]) {
            // What names another system in one value is for that system.
            let named = named.entries().iter().map(|(_, entry)| entry);
            let here = named.filter(|entry| !other_system(&entry.all_text()));
            for entry in here {
                job.combination(file, entry.entries());
            }
        }
        variables(&mut job, file, node);
        if node.get("pool").is_some() {
            job.bindings.retain(|(name, _)| name != "pool image");
        }
        let own = node
            .get("pool")
            .map(|pool| pool.get("vmImage").unwrap_or(pool));
        let own = own.map(|image| image.scalars(file)).unwrap_or_default();
        let outer = job.bindings.iter().filter(|(name, _)| name == "pool image");
        let systems: Vec<Placed> = own
            .iter()
            .chain(outer.map(|(_, value)| value))
            .flat_map(|value| job.expand(value))
            .collect();
        if !systems.is_empty() && systems.iter().all(|system| other_system(&system.text)) {
            return;
        }
        if let Some(container) = node.get("container") {
            let image = container.get("image").unwrap_or(container);
            for name in job.expand_all(&image.scalars(file)) {
                let listed = self.images.iter().find(|(known, _)| *known == name.text);
                job.image(listed.map_or(&name, |(_, image)| image));
            }
        }
        for (name, service) in node.entries_of("services") {
            let Some(of) = service.scalar(file) else {
                continue;
            };
            let listed = self.images.iter().find(|(known, _)| *known == of.text);
            let mut beside = Beside::of(listed.map_or(of, |(_, image)| image.clone()));
            beside.name.clone_from(&name.text);
            job.services.push(beside);
        }
        self.steps(&mut job, file, node, depth);
        self.jobs.push(job);
    }

    fn steps(&mut self, job: &mut Job, file: &str, node: &Node, depth: usize) {
        for step in node.each("steps") {
            if depth < MAX_DEPTH
                && let Some((path, root, known)) = self.template(file, step, job)
            {
                let mut inner = Job::new("");
                inner.bindings = known.bindings;
                defaults(&mut inner, &path, &root);
                self.steps(&mut inner, &path, &root, depth + 1);
                job.absorb(inner);
                continue;
            }
            let condition = step.text_of("condition");
            if other_system(&condition) && !condition.contains("ne(") {
                continue;
            }
            if let Some(task) = step.get("task").map(Node::text) {
                task_uses(job, file, step, &task);
            }
            for shell in ["script", "bash"] {
                if let Some(script) = step.get(shell) {
                    let commands = script.commands(file);
                    if commands.iter().any(|command| Job::is_test(&command.text)) {
                        job.variables(file, step.entries_of("env"));
                    }
                    let folder = step.get("workingDirectory").map(Node::text);
                    let folder = folder.filter(|folder| !folder.contains('$'));
                    job.run(commands, folder.as_deref());
                }
            }
        }
    }
}

fn task_uses(job: &mut Job, file: &str, step: &Node, task: &str) {
    let name = task.split('@').next().unwrap_or(task);
    let inputs = step.entries_of("inputs");
    for (of, input, toolchain) in TASKS {
        let named = inputs
            .iter()
            .filter(|(key, _)| *of == name && key.text == *input);
        for value in named.flat_map(|(_, value)| value.scalars(file)) {
            for value in job.expand(&value) {
                let text = if *toolchain == "java" {
                    java(&value.text)
                } else {
                    value.text.clone()
                };
                job.toolchain(toolchain, Placed { text, ..value });
            }
        }
    }
    let script = inputs.iter().find(|(key, _)| key.text == "script");
    if let Some((_, script)) = script.filter(|_| matches!(name, "Bash" | "CmdLine")) {
        job.run(script.commands(file), None);
    }
    // Tasks that are a tool's command: `Maven@3` with goals, `DotNetCoreCLI@2` with a command.
    let words = match name {
        "Maven" => Some(("mvn", "goals", "package")),
        "Gradle" => Some(("gradle", "tasks", "build")),
        "DotNetCoreCLI" => Some(("dotnet", "command", "build")),
        "Npm" => Some(("npm", "command", "install")),
        _ => None,
    };
    if let Some((tool, input, default)) = words {
        let given = inputs.iter().find(|(key, _)| key.text == input);
        let line = given
            .and_then(|(_, value)| value.scalar(file))
            .or_else(|| step.get("task").and_then(|task| task.scalar(file)));
        if let Some(line) = line {
            let words = given.map_or_else(|| default.to_owned(), |(_, value)| value.text());
            let text = format!("{tool} {words}");
            job.run(vec![Placed { text, ..line }], None);
        }
    }
    let with = inputs
        .iter()
        .map(|(key, value)| (key.text.clone(), value.scalars(file)))
        .collect();
    job.uses(name, with);
}

/// Variables as a map, or as a list of names and values.
fn variables(job: &mut Job, file: &str, node: &Node) {
    job.variables(file, node.entries_of("variables"));
    for entry in node.get("variables").map(Node::items).unwrap_or_default() {
        let (name, value) = (entry.text_of("name"), entry.get("value"));
        if let Some(value) = value.and_then(|value| value.scalar(file)) {
            job.bindings.push((name.clone(), value.clone()));
            job.env.push((name, value));
        }
    }
}

/// Gives parameters their default where nothing was given: a map of names, or a list of
/// declarations.
fn defaults(job: &mut Job, file: &str, node: &Node) {
    let Some(parameters) = node.get("parameters") else {
        return;
    };
    let mut default = |name: &str, value: &Node| {
        if job.bindings.iter().all(|(known, _)| known != name) {
            job.bind(file, name, value);
        }
    };
    for (key, value) in parameters.entries() {
        default(&key.text, value);
    }
    for declared in parameters.items() {
        if let Some(value) = declared.get("default") {
            default(&declared.text_of("name"), value);
        }
    }
}
