//! The repository's own Dockerfile and development container.

use super::job::Job;
use super::yaml::{Node, load};
use super::{Placed, apt_names};
use crate::tree::Tree;
use regex::Regex;
use std::sync::LazyLock;

/// Development container's feature, the toolchain.
const FEATURES: &[(&str, &str)] = &[
    ("python", "python"),
    ("node", "node"),
    ("go", "go"),
    ("rust", "rust"),
    ("ruby", "ruby"),
    ("php", "php"),
    ("java", "java"),
    ("dotnet", "dotnet"),
];

/// Reads the files that a repository keeps for people who work on it, strongest first: the
/// development container, then Dockerfiles for tests and development, then the one in the root.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let mut jobs = Vec::new();
    let files = [".devcontainer/devcontainer.json", ".devcontainer.json"];
    if let Some(file) = tree.first(&files) {
        jobs.extend(development(tree, file));
    }
    let ranked = |path: &&str| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let lower = name.to_ascii_lowercase();
        let known = lower == "dockerfile"
            || lower.starts_with("dockerfile.")
            || lower.ends_with(".dockerfile")
            || lower == "containerfile";
        let near = ["", "docker", ".docker", ".ci", "ci", ".gitpod"].contains(&folder);
        known && near
    };
    let mut found: Vec<&str> = tree.files().filter(ranked).collect();
    let for_tests = |path: &str| {
        let path = path.to_ascii_lowercase();
        ["test", "dev", "ci"].iter().any(|word| path.contains(word))
    };
    found.sort_by_key(|path| (!for_tests(path), path.contains('/'), *path));
    for path in found.into_iter().take(3) {
        let mut job = Job::new(path);
        dockerfile(&mut job, tree, path);
        jobs.push(job);
    }
    jobs
}

/// Adds what a Dockerfile says: the images it builds on, its commands. Stages that build on
/// earlier ones name no image.
pub(super) fn dockerfile(job: &mut Job, tree: &Tree, path: &str) {
    static FROM: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^\s*FROM\s+(?:--platform=\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?")
            .expect("a literal pattern")
    });
    static ARG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)^\s*(?:ARG|ENV)\s+([A-Za-z_]\w*)[= ]"?([^"\s]+)"?\s*$"#)
            .expect("a literal pattern")
    });
    static RUN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^\s*RUN\s+(?:--\S+\s+)*(.*)$").expect("a literal pattern")
    });
    let Some(text) = tree.text(path) else {
        return;
    };
    let mut stages: Vec<String> = Vec::new();
    for line in joined(path, &text) {
        if let Some(found) = ARG.captures(&line.text) {
            let value = Placed {
                text: found[2].to_owned(),
                ..line.clone()
            };
            // What is given from outside goes before the default.
            if job.bindings.iter().all(|(name, _)| *name != found[1]) {
                job.bindings.push((found[1].to_owned(), value));
            }
        } else if let Some(found) = FROM.captures(&line.text) {
            let image = Placed {
                text: found[1].to_owned(),
                ..line.clone()
            };
            if !stages.contains(&image.text.to_ascii_lowercase()) {
                job.image(&image);
            }
            stages.extend(found.get(2).map(|name| name.as_str().to_ascii_lowercase()));
        } else if let Some(found) = RUN.captures(&line.text) {
            let text = found[1].to_owned();
            job.run(vec![Placed { text, ..line }], None);
        }
    }
}

/// Instructions, each on the line where it begins; comments go.
fn joined(path: &str, text: &str) -> Vec<Placed> {
    let mut found: Vec<Placed> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let (part, continues) = match line.strip_suffix('\\') {
            Some(part) => (part.trim_end(), true),
            None => (line, false),
        };
        match found.last_mut() {
            Some(last) if open => {
                last.text.push(' ');
                last.text.push_str(part);
            }
            _ => found.push(Placed {
                file: path.to_owned(),
                line: at + 1,
                text: part.to_owned(),
            }),
        }
        open = continues;
    }
    found
}

/// `devcontainer.json`: JSON with comments, which YAML reads once these are gone.
fn development(tree: &Tree, file: &str) -> Option<Job> {
    let root = load(file, &without_comments(&tree.text(file)?))?;
    let mut job = Job::new(file);
    if let Some(image) = root.get("image").and_then(|image| image.scalar(file)) {
        job.image(&image);
    }
    let named = root
        .at(&["build", "dockerfile"])
        .or_else(|| root.get("dockerFile"));
    if let Some(named) = named.map(Node::text) {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = match named.strip_prefix("../") {
            Some(above) => above.to_owned(),
            None if folder.is_empty() => named,
            None => format!("{folder}/{named}"),
        };
        for (key, value) in root
            .at(&["build", "args"])
            .map(Node::entries)
            .unwrap_or_default()
        {
            job.bind(file, &key.text, value);
        }
        dockerfile(&mut job, tree, &path);
    }
    for (key, options) in root.entries_of("features") {
        let feature = key.text.rsplit('/').next().unwrap_or_default();
        let feature = feature.split(':').next().unwrap_or_default();
        let version = options.get("version").and_then(|value| value.scalar(file));
        let known = FEATURES.iter().find(|(name, _)| *name == feature);
        if let (Some((_, toolchain)), Some(version)) = (known, version) {
            job.toolchain(toolchain, version);
        }
        if feature == "apt-packages" {
            let packages = options.get("packages").and_then(|value| value.scalar(file));
            job.apt.extend(packages.iter().flat_map(apt_names));
        }
    }
    for key in ["onCreateCommand", "postCreateCommand"] {
        if let Some(command) = root.get(key) {
            job.run(command.commands(file), None);
        }
    }
    Some(job)
}

/// Comments of `//` and `/* */` and tabs as blanks, so that lines keep their numbers.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' if quoted => {
                plain.push(c);
                plain.extend(rest.next());
            }
            '"' => {
                quoted = !quoted;
                plain.push(c);
            }
            '/' if !quoted && rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '/' if !quoted && rest.peek() == Some(&'*') => {
                let mut last = ' ';
                for c in rest.by_ref() {
                    if c == '\n' {
                        plain.push(c);
                    }
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '\t' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}
