//! What a job has beside it, however it says so.

use super::kinds::Kind;
use super::literal;
use crate::ci::is_plain;
use crate::ci::{Beside, Job, Placed, composed};
use crate::tree::Tree;
use regex::Regex;
use std::sync::LazyLock;

/// Something beside a job, its expressions resolved.
#[derive(Debug)]
pub(super) struct Found {
    /// The name by which a job in a container reaches it.
    pub(super) name: String,
    /// The image.
    pub(super) image: Placed,
    /// What it is given.
    settings: Vec<(String, String)>,
    /// The port that CI's machine and the port that the container has.
    ports: Vec<(Option<u16>, u16)>,
    /// Whether it was asked for as a service, rather than being some container that is run.
    pub(super) sure: bool,
}

impl Found {
    fn new(job: &Job, beside: &Beside, sure: bool) -> Self {
        let image = literal(job, &beside.image).unwrap_or_else(|| beside.image.text.clone());
        let settings = beside.env.iter();
        let settings =
            settings.filter_map(|(name, value)| Some((name.clone(), literal(job, value)?)));
        let ports = beside.ports.iter().filter_map(|port| ports(port));
        Self {
            name: beside.name.clone(),
            image: Placed {
                text: image,
                ..beside.image.clone()
            },
            settings: settings.collect(),
            ports: ports.collect(),
            sure,
        }
    }

    /// What it is given under a name, without case, blanks, `_` and `-`.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        let found = self
            .settings
            .iter()
            .find(|(known, _)| squeezed(known) == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The port on which the job finds it.
    pub(super) fn port(&self, job: &Job, kind: &Kind) -> u16 {
        let own = self.ports.iter().find(|(_, inner)| *inner == kind.port);
        let (outer, inner) = own
            .or(self.ports.first())
            .copied()
            .unwrap_or((None, kind.port));
        if job.in_container {
            inner
        } else {
            outer.unwrap_or(inner)
        }
    }
}

fn squeezed(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.collect::<String>().to_ascii_lowercase()
}

/// `5433:5432`, `127.0.0.1:5433:5432`, `5432`, `5432/tcp`.
fn ports(written: &str) -> Option<(Option<u16>, u16)> {
    let written = written.trim().split('/').next()?;
    let mut parts = written.rsplit(':');
    let inner = parts.next()?.parse().ok()?;
    Some((parts.next().and_then(|outer| outer.parse().ok()), inner))
}

/// All that a job has beside it: its services, what actions and commands start.
pub(super) fn found(job: &Job, tree: &Tree) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for beside in &job.services {
        // An image out of the matrix is several: the first that is known stands for all.
        let mut images = job.expand(&beside.image);
        images.push(beside.image.clone());
        let known = images
            .iter()
            .position(|image| Kind::of(&image.text).is_some());
        let beside = Beside {
            image: images.swap_remove(known.unwrap_or(0)),
            ..beside.clone()
        };
        all.push(Found::new(job, &beside, true));
    }
    all.extend(
        job.actions()
            .filter_map(|(action, with)| of_action(action, &with)),
    );
    for command in &job.commands {
        all.extend(of_system(command));
        all.extend(of_run(job, command));
        all.extend(of_compose(job, command, tree));
    }
    all
}

/// An action that is there to start one: `ankane/setup-postgres`, `supercharge/redis-github-action`.
fn of_action(action: &str, with: &[(&str, Placed)]) -> Option<Found> {
    let name = action.rsplit('/').next()?.to_ascii_lowercase();
    let starts = ["setup", "action", "start"]
        .iter()
        .any(|word| name.contains(word));
    let kind = Kind::of(&name).filter(|_| starts)?;
    let place = with
        .iter()
        .find(|(key, _)| *key == "@")
        .map(|(_, value)| value)?;
    let mut settings = Vec::new();
    let mut port = None;
    for (key, value) in with.iter().filter(|(_, value)| is_plain(&value.text)) {
        if squeezed(key).ends_with("port") {
            port = port.or(value.text.parse().ok());
        }
        settings.push(((*key).to_owned(), value.text.clone()));
    }
    Some(Found {
        name: String::new(),
        image: Placed {
            text: kind.name.to_owned(),
            ..place.clone()
        },
        settings,
        ports: port
            .map(|port| (Some(port), kind.port))
            .into_iter()
            .collect(),
        sure: true,
    })
}

/// `sudo systemctl start mysql`, `service postgresql start`: what CI's machines have installed, with what it has there.
fn of_system(command: &Placed) -> Option<Found> {
    static START: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?x)\bsystemctl\s+(?:enable\s+--now|start|restart)\s+(?P<a>[\w-]+)
            |\bservice\s+(?P<b>[\w-]+)\s+(?:re)?start\b
            |/etc/init\.d/(?P<c>[\w-]+)\s+(?:re)?start\b",
        )
        .expect("a literal pattern")
    });
    let found = START.captures(&command.text)?;
    let name = ["a", "b", "c"]
        .iter()
        .find_map(|name| found.name(name))?
        .as_str();
    let kind = Kind::of(name)?;
    let settings = match kind.name {
        "mariadb" => vec![("root_password".to_owned(), "root".to_owned())],
        _ => Vec::new(),
    };
    Some(Found {
        name: String::new(),
        image: Placed {
            text: kind.name.to_owned(),
            ..command.clone()
        },
        settings,
        ports: Vec::new(),
        sure: true,
    })
}

/// `docker run -d -p 6379:6379 redis:7`.
fn of_run(job: &Job, command: &Placed) -> Option<Found> {
    let (_, rest) = command.text.split_once("docker run ")?;
    let mut beside = Beside {
        name: String::new(),
        image: command.clone(),
        env: Vec::new(),
        ports: Vec::new(),
    };
    let mut words = rest
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']));
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (word, None),
        };
        let takes = matches!(
            option,
            "-p" | "--publish"
                | "-e"
                | "--env"
                | "--name"
                | "-v"
                | "--volume"
                | "--network"
                | "--net"
                | "--health-cmd"
                | "-h"
                | "--hostname"
                | "--restart"
                | "--platform"
                | "--ulimit"
                | "--mount"
                | "-u"
                | "--user"
                | "--tmpfs"
        );
        if option.starts_with('-') {
            let value = value.or_else(|| takes.then(|| words.next()).flatten());
            match (option, value) {
                ("-p" | "--publish", Some(value)) => beside.ports.push(value.to_owned()),
                ("-e" | "--env", Some(value)) => {
                    if let Some((name, text)) = value.split_once('=') {
                        let text = text.to_owned();
                        beside.env.push((
                            name.to_owned(),
                            Placed {
                                text,
                                ..command.clone()
                            },
                        ));
                    }
                }
                _ => {}
            }
            continue;
        }
        word.clone_into(&mut beside.image.text);
        return Kind::of(word).map(|_| Found::new(job, &beside, false));
    }
    None
}

/// `docker compose -f FILE up -d NAMES`.
fn of_compose(job: &Job, command: &Placed, tree: &Tree) -> Vec<Found> {
    static UP: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\bdocker(?:-|\s+)compose\s+(?P<before>(?:\S+\s+)*?)up\b(?P<after>[^&|;]*)")
            .expect("a literal pattern")
    });
    let Some(found) = UP.captures(&command.text) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    let mut before = found["before"].split_whitespace();
    while let Some(word) = before.next() {
        let value = word.strip_prefix("--file=").or_else(|| {
            matches!(word, "-f" | "--file")
                .then(|| before.next())
                .flatten()
        });
        files.extend(value.map(|file| file.trim_start_matches("./").to_owned()));
    }
    let folder = job
        .directory(command)
        .map(|folder| format!("{folder}/"))
        .unwrap_or_default();
    if files.is_empty() {
        let known = [
            "compose.yaml",
            "compose.yml",
            "docker-compose.yaml",
            "docker-compose.yml",
        ];
        let first = known
            .iter()
            .find(|name| tree.has(&format!("{folder}{name}")));
        files.extend(first.map(|name| (*name).to_owned()));
    }
    let named: Vec<&str> = found["after"]
        .split_whitespace()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let all = files
        .iter()
        .flat_map(|file| composed(tree, &format!("{folder}{file}")));
    all.filter(|beside| named.is_empty() || named.contains(&beside.name.as_str()))
        .map(|beside| Found::new(job, &beside, false))
        .collect()
}
