//! What the repository's continuous integration does, whichever service runs it.
//!
//! One file for each service turns its configuration into [`Job`]s: versions, images, commands,
//! variables, services and packages, each with its file and line. Jobs for other systems than
//! Linux are left out. The repository's own Dockerfile and development container are read too and
//! count where no job says anything.
//!
//! What a job takes from where differs between services, so there are two pseudo actions that all
//! of them fill and [`Ci::versions`] can be asked for: `("toolchain", NAME)` for versions that a
//! step or a key names, `("image", NAME)` for the version in the tag of the image that the job
//! runs in. `NAME` is `python`, `node`, `go`, `rust`, `ruby`, `php`, `java` (the number alone: 8,
//! 17), `dotnet`, `gcc`, `clang`; an image also goes by its own name (`maven`). Travis' keys are
//! there as they are: `("travis", "rvm")`, `"php"`, `"jdk"`, `"compiler"`.

mod appveyor;
mod azure;
mod circleci;
mod cirrus;
mod container;
mod environment;
mod github;
mod gitlab;
mod image;
mod job;
mod matrix;
mod reach;
#[cfg(test)]
mod tests;
mod travis;
mod yaml;

pub use environment::ALSO_WITH;
pub(crate) use environment::{environment, variants};
pub(crate) use job::Job;
pub(crate) use reach::{Reach, is_plain};

use crate::apt;
use crate::tree::Tree;
use std::collections::BTreeSet;

/// A text with the place where it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    /// The file.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The text.
    pub(crate) text: String,
}

/// What runs beside a job: a database and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    /// The name by which a job that runs in a container reaches it; empty where there is none.
    pub(crate) name: String,
    /// The image, or a service's own word for it.
    pub(crate) image: Placed,
    /// The variables it is given.
    pub(crate) env: Vec<(String, Placed)>,
    /// Ports as written: `5433:5432`, `5432`.
    pub(crate) ports: Vec<String>,
}

impl Beside {
    /// An image of which nothing else is known.
    fn of(image: Placed) -> Self {
        Self {
            name: String::new(),
            image,
            env: Vec::new(),
            ports: Vec::new(),
        }
    }

    /// An entry of a map or list of services, as GitHub, GitLab, `CircleCI` and Compose write them.
    fn read(file: &str, name: &str, node: &yaml::Node) -> Option<Self> {
        let image = node
            .get("image")
            .or_else(|| node.get("name"))
            .unwrap_or(node);
        let mut beside = Self::of(image.scalar(file)?);
        name.clone_into(&mut beside.name);
        for key in ["env", "environment", "variables"] {
            for (name, value) in node.entries_of(key) {
                let value = value.scalar(file);
                beside
                    .env
                    .extend(value.map(|value| (name.text.clone(), value)));
            }
            for line in node.get(key).map(yaml::Node::items).unwrap_or_default() {
                let line = line.scalar(file);
                let pair = line.as_ref().and_then(|line| line.text.split_once('='));
                if let (Some(line), Some((name, value))) = (&line, pair) {
                    let text = value.to_owned();
                    let value = Placed {
                        text,
                        ..line.clone()
                    };
                    beside.env.push((name.to_owned(), value));
                }
            }
        }
        for port in node.each("ports") {
            let written = match (port.get("published"), port.get("target")) {
                (Some(outer), Some(inner)) => format!("{}:{}", outer.text(), inner.text()),
                (None, Some(inner)) => inner.text(),
                _ => port.text(),
            };
            beside.ports.push(written);
        }
        Some(beside)
    }
}

/// What a Compose file of the repository starts.
pub(crate) fn composed(tree: &Tree, file: &str) -> Vec<Beside> {
    let root = tree.text(file).and_then(|text| yaml::load(file, &text));
    let Some(root) = root else {
        return Vec::new();
    };
    let services = root.entries_of("services").iter();
    services
        .filter(|(_, node)| node.get("image").is_some())
        .filter_map(|(name, node)| {
            let mut beside = Beside::read(file, &name.text, node)?;
            watches(tree, file, node, &mut beside);
            Some(beside)
        })
        .collect()
}

/// Names a container of Redis that is started as a sentinel, which its image does not say, and what it watches:
/// `sentinel monitor NAME HOST PORT QUORUM` in a file that is mounted into it.
fn watches(tree: &Tree, file: &str, node: &yaml::Node, beside: &mut Beside) {
    let started = ["entrypoint", "command"]
        .iter()
        .filter_map(|key| node.get(key))
        .flat_map(|value| value.scalars(file));
    let is_sentinel =
        |word: &Placed| word.text.contains("redis-sentinel") || word.text.contains("--sentinel");
    if !started.into_iter().any(|word| is_sentinel(&word)) {
        return;
    }
    "redis-sentinel".clone_into(&mut beside.image.text);
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    for volume in node.each("volumes") {
        let volume = volume.text();
        let Some(path) = volume
            .split(':')
            .next()
            .and_then(|path| path.strip_prefix("./"))
        else {
            continue;
        };
        let path = if folder.is_empty() {
            path.to_owned()
        } else {
            format!("{folder}/{path}")
        };
        let text = tree.text(&path).unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let ["sentinel", "monitor", name, _, port, ..] = words[..] {
                for (key, value) in [("master", name), ("primary", port)] {
                    let value = Placed {
                        file: path.clone(),
                        line: at + 1,
                        text: value.to_owned(),
                    };
                    beside.env.push((key.to_owned(), value));
                }
            }
        }
    }
}

/// All jobs that run on Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ci {
    /// In the order of services, files and jobs, those last that test another project with this one.
    pub(crate) jobs: Vec<Job>,
    /// The repository's own container files, which are no evidence for what tests run in as long
    /// as a job says it.
    containers: Vec<Job>,
}

impl Ci {
    /// Reads the files of all services; one that is not readable is left out.
    pub(crate) fn read(tree: &Tree) -> Self {
        let services = [
            github::read,
            gitlab::read,
            circleci::read,
            travis::read,
            azure::read,
            appveyor::read,
            cirrus::read,
        ];
        let mut jobs: Vec<Job> = services.iter().flat_map(|read| read(tree)).collect();
        jobs.sort_by_key(|job| job.tests_another(tree));
        Self {
            jobs,
            containers: container::read(tree),
        }
    }

    /// Versions that jobs with tests give to one of these actions or keys; those of all jobs
    /// where no job with tests names any, and those of container files where no job does.
    pub(crate) fn versions(&self, actions: &[(&str, &str)]) -> Vec<Placed> {
        let tests: Vec<&Job> = self.jobs.iter().filter(|job| job.tests()).collect();
        let tiers = [
            tests,
            self.jobs.iter().collect(),
            self.containers.iter().collect(),
        ];
        for jobs in tiers {
            let mut seen = BTreeSet::new();
            let found: Vec<Placed> = jobs
                .into_iter()
                .flat_map(|job| {
                    actions
                        .iter()
                        .flat_map(|(action, key)| job.values(action, key))
                })
                .filter(|value| seen.insert(value.clone()))
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

    /// The same, once for each value of the expressions in them: what all entries of a matrix say.
    pub(crate) fn test_commands_of_all_entries(&self) -> impl Iterator<Item = Placed> {
        self.jobs.iter().filter(|job| job.tests()).flat_map(|job| {
            job.commands.iter().flat_map(|command| {
                let mut expanded = job.expand(command);
                if expanded.is_empty() {
                    expanded.push(command.clone());
                }
                expanded
            })
        })
    }

    /// Values of variables, in jobs that run tests, that hold options of a build.
    pub(crate) fn build_options(&self) -> impl Iterator<Item = &Placed> {
        let jobs = self.jobs.iter().filter(|job| job.tests());
        jobs.flat_map(|job| job.env.iter().map(|(_, value)| value).chain(&job.options))
    }

    /// Variables that jobs with tests set: name and value, expressions resolved to their first value.
    /// What cannot be resolved (a secret, a path of the CI machine) is left out, and of several values
    /// for a name the first stays.
    pub(crate) fn test_variables(&self) -> Vec<(String, Placed)> {
        let mut found: Vec<(String, Placed)> = Vec::new();
        for job in self.jobs.iter().filter(|job| job.tests()) {
            for (name, value) in &job.env {
                let resolved = job.expand(value);
                let literal = resolved
                    .into_iter()
                    .find(|value| !value.text.contains("${{"));
                if let Some(value) = literal
                    && found.iter().all(|(known, _)| known != name)
                {
                    found.push((name.clone(), value));
                }
            }
        }
        found
    }

    /// The path from the repository's root of what a command names relative to its own folder.
    pub(crate) fn path(&self, command: &Placed, relative: &str) -> String {
        let folder = self.jobs.iter().find_map(|job| job.directory(command));
        match folder {
            Some(folder) => format!("{folder}/{}", relative.trim_start_matches("./")),
            None => relative.to_owned(),
        }
    }

    /// Debian packages that jobs with tests install, with the line that does; those of container
    /// files where no such job installs any.
    pub(crate) fn apt_packages(&self) -> Vec<(String, Placed)> {
        let of = |job: &Job| {
            let commands = job.commands.iter().flat_map(|command| {
                let names = apt::installed(&command.text).into_iter();
                names.map(|name| (name, command.clone()))
            });
            commands.chain(job.apt.iter().cloned()).collect::<Vec<_>>()
        };
        let found: Vec<_> = self
            .jobs
            .iter()
            .filter(|job| job.tests())
            .flat_map(of)
            .collect();
        if found.is_empty() {
            self.containers.iter().flat_map(of).collect()
        } else {
            found
        }
    }
}

/// The package names in a list of them.
fn apt_names(line: &Placed) -> Vec<(String, Placed)> {
    let command = format!("apt-get install {}", line.text.replace(',', " "));
    let names = apt::installed(&command).into_iter();
    names.map(|name| (name, line.clone())).collect()
}
