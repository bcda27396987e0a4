//! GitLab CI: `.gitlab-ci.yml` and the files of the same repository that it includes.

use super::job::{Job, other_system};
use super::yaml::{Node, load};
use super::{Beside, Placed, matrix};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// Keys of the root that are no jobs.
const RESERVED: &[&str] = &[
    "default",
    "include",
    "stages",
    "types",
    "variables",
    "workflow",
    "spec",
    "image",
    "services",
    "before_script",
    "after_script",
    "cache",
];

/// Templates within each other: GitLab's own limit is 11.
const MAX_DEPTH: usize = 11;

/// Reads the pipeline.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let mut pipeline = Pipeline::default();
    pipeline.include(tree, ".gitlab-ci.yml", &mut BTreeSet::new());
    let visible: Vec<String> = pipeline
        .order
        .iter()
        .filter(|name| !name.starts_with('.') && !RESERVED.contains(&name.as_str()))
        .cloned()
        .collect();
    visible
        .iter()
        .filter_map(|name| pipeline.job(name))
        .collect()
}

/// All files as one: a key of a later file replaces an earlier one.
#[derive(Default)]
struct Pipeline {
    keys: BTreeMap<String, (String, Node)>,
    order: Vec<String>,
}

impl Pipeline {
    fn include(&mut self, tree: &Tree, file: &str, seen: &mut BTreeSet<String>) {
        if seen.len() > 50 || !seen.insert(file.to_owned()) {
            return;
        }
        let Some(root) = tree.text(file).and_then(|text| load(file, &text)) else {
            return;
        };
        for include in root.each("include") {
            let local = include.get("local").unwrap_or(include).text();
            let path = local.trim_start_matches('/');
            if [".yml", ".yaml"].iter().any(|end| path.ends_with(end)) && !local.contains("://") {
                self.include(tree, path, seen);
            }
        }
        for (key, value) in root.entries() {
            let name = key.text.clone();
            let value = (file.to_owned(), value.clone());
            if self.keys.insert(name.clone(), value).is_none() {
                self.order.push(name);
            }
        }
    }

    /// A job with the templates that it extends, itself first.
    fn lineage<'a>(&'a self, name: &str, depth: usize, into: &mut Vec<&'a (String, Node)>) {
        let Some(found) = self.keys.get(name) else {
            return;
        };
        if depth >= MAX_DEPTH || into.len() > 50 {
            return;
        }
        into.push(found);
        // Of several templates the last one wins.
        for parent in found.1.each("extends").iter().rev() {
            self.lineage(&parent.text(), depth + 1, into);
        }
    }

    /// A key of a job: its own, of a template, of `default`, of the root.
    fn find<'a>(
        &'a self,
        lineage: &[&'a (String, Node)],
        key: &str,
    ) -> Option<(&'a str, &'a Node)> {
        let own = lineage
            .iter()
            .find_map(|(file, node)| Some((file.as_str(), node.get(key)?)));
        let default = || {
            let (file, node) = self.keys.get("default")?;
            Some((file.as_str(), node.get(key)?))
        };
        let root = || {
            let (file, node) = self.keys.get(key)?;
            Some((file.as_str(), node))
        };
        own.or_else(default).or_else(root)
    }

    fn job(&self, name: &str) -> Option<Job> {
        let mut lineage = Vec::new();
        self.lineage(name, 0, &mut lineage);
        let is_job = lineage.iter().any(|(_, node)| node.get("script").is_some());
        let tags = self.find(&lineage, "tags").map(|(_, tags)| tags.all_text());
        if !is_job || other_system(&tags.unwrap_or_default()) {
            return None;
        }
        let stage = self.find(&lineage, "stage").map(|(_, stage)| stage.text());
        let mut job = Job::new(format!("{name} {}", stage.unwrap_or_default()));
        if let Some((file, parallel)) = self.find(&lineage, "parallel") {
            for entry in parallel.each("matrix") {
                matrix::bind(&mut job, file, matrix::product(entry.entries().iter()));
            }
        }
        // The first one counts: a job's own before its templates' before the root's.
        let root = self.keys.get("variables");
        let own = lineage.iter().filter_map(|(file, node)| {
            let variables = node.get("variables")?;
            Some((file.as_str(), variables))
        });
        let root = root.map(|(file, node)| (file.as_str(), node));
        let mut named: BTreeSet<String> =
            job.bindings.iter().map(|(name, _)| name.clone()).collect();
        for (file, variables) in own.chain(root) {
            for entry in variables.entries() {
                if named.insert(entry.0.text.clone()) {
                    job.variables(file, std::slice::from_ref(entry));
                }
            }
        }
        if let Some((file, image)) = self.find(&lineage, "image") {
            let image = image.get("name").unwrap_or(image);
            if let Some(image) = image.scalar(file) {
                job.image(&image);
            }
        }
        job.in_container = true;
        if let Some((file, services)) = self.find(&lineage, "services") {
            for service in services.items() {
                let alias = service.text_of("alias");
                let Some(mut beside) = Beside::read(file, &alias, service) else {
                    continue;
                };
                if beside.name.is_empty() {
                    // `registry.example/group/postgres:15` is reached as `postgres` there and as its path here.
                    let path = beside.image.text.split([':', '@']).next();
                    let name = path.unwrap_or_default().replace('/', "-");
                    name.trim_start_matches("docker.io-")
                        .clone_into(&mut beside.name);
                }
                // The job's variables are the services' too.
                beside.env.extend(job.env.iter().cloned());
                job.services.push(beside);
            }
        }
        for key in ["before_script", "script"] {
            if let Some((file, script)) = self.find(&lineage, key) {
                let commands = self.script(file, script, 0);
                job.run(commands, None);
            }
        }
        Some(job)
    }

    /// Commands, references to other jobs' scripts followed.
    fn script(&self, file: &str, node: &Node, depth: usize) -> Vec<Placed> {
        if let Some(path) = node.get("!reference") {
            let keys: Vec<String> = path.items().iter().map(Node::text).collect();
            let [job, rest @ ..] = &keys[..] else {
                return Vec::new();
            };
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            let found = self.keys.get(job).filter(|_| depth < MAX_DEPTH);
            return found
                .and_then(|(file, node)| Some(self.script(file, node.at(&rest)?, depth + 1)))
                .unwrap_or_default();
        }
        match node {
            Node::List(items) => items
                .iter()
                .flat_map(|item| self.script(file, item, depth))
                .collect(),
            other => other.commands(file),
        }
    }
}
