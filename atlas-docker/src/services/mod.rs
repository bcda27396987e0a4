//! Databases and the like that a repository's CI runs beside its tests, started in the sandbox from the
//! distribution's packages.

mod found;
mod kinds;

use crate::ci::{Job, Placed, Reach, is_plain};
use crate::facts::Facts;
use crate::languages::{Database, database};
use crate::quote::shell_quote;
use crate::toolbox::{self, SERVICE, call};
use atlas_core::{EnvironmentPlan, Evidence, Service};
use found::{Found, found};
use kinds::Kind;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Adds to a plan what the CI's jobs with tests have beside them, as far as the distribution has it, and the
/// job's own commands that set it up. Tells of each such job what its variables may speak of.
pub(crate) fn services(facts: &Facts<'_>, plan: &mut EnvironmentPlan) -> Vec<Reach> {
    let mut reaches = Vec::new();
    let mut packages = BTreeSet::new();
    let mut folders = BTreeSet::new();
    let mut lacking = BTreeSet::new();
    for job in facts.ci.jobs.iter().filter(|job| job.tests()) {
        let mut reach = Reach::of(job);
        for found in found(job, facts.tree) {
            let Some(kind) = Kind::of(&found.image.text) else {
                if found.sure {
                    reach.lacks();
                }
                if found.sure && lacking.insert(found.image.text.clone()) {
                    let text = format!(
                        "CI has {} beside the tests, which the distribution does not have: tests that need it fail",
                        found.image.text
                    );
                    plan.drift.push(text);
                }
                continue;
            };
            let port = found.port(job, kind);
            reach.has(&found.name, kind.port, port);
            let twin = |known: &Service| known.port == port;
            if plan.services.iter().any(twin) {
                continue;
            }
            packages.extend(kind.packages(&found.image.text));
            folders.extend(kind.folder);
            if let Some(other) = kind.stands_for(&found.image.text) {
                plan.drift.push(other);
            }
            let at = &found.image;
            let text = format!("{} runs beside the tests", at.text);
            plan.prove("services", Evidence::at(at.file.clone(), at.line, text));
            let start = start(kind, port, &found, job);
            plan.services.push(Service {
                kind: kind.name.to_owned(),
                image: at.text.clone(),
                port,
                start,
            });
        }
        reaches.push(reach);
        in_background(job, plan);
    }
    if plan.services.is_empty() {
        if plan.language == "python"
            && let Some(database) = database(facts)
        {
            of_settings(plan, database);
        }
        return reaches;
    }
    install(plan, &packages, &folders);
    reaches
}

/// Adds the programs that a job starts in the background before its tests, where the command names the port: a
/// server of the tests' own, whose address stands in a variable mostly.
fn in_background(job: &Job, plan: &mut EnvironmentPlan) {
    static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^([^&;|<>$`]*[:=\s]([0-9]{4,5})\b[^&;|<>$`]*)&$").expect("a literal pattern")
    });
    let before = job
        .commands
        .iter()
        .take_while(|command| !Job::is_test(&command.text));
    for command in before {
        let Some(found) = COMMAND.captures(command.text.trim()) else {
            continue;
        };
        let Ok(port) = found[2].parse() else {
            continue;
        };
        if plan.services.iter().any(|known| known.port == port) {
            continue;
        }
        let text = found[1].trim();
        let at = Evidence::at(command.file.clone(), command.line, command.text.clone());
        plan.prove("services", at);
        let setting = shell_quote(&format!("command={text}"));
        plan.services.push(Service {
            kind: "command".to_owned(),
            image: text.to_owned(),
            port,
            start: format!("{} command {port} {setting}", call(SERVICE)),
        });
    }
}

/// Adds the packages of services, the folders for their sockets and the program that starts them.
fn install(
    plan: &mut EnvironmentPlan,
    packages: &BTreeSet<&'static str>,
    folders: &BTreeSet<&'static str>,
) {
    let words = |names: &BTreeSet<&'static str>| {
        let names: Vec<&str> = names.iter().copied().collect();
        names.join(" ")
    };
    if !packages.is_empty() {
        plan.pre_install.push(format!(
            "apt-get update && apt-get install -y --no-install-recommends {} && rm -rf /var/lib/apt/lists/*",
            words(packages)
        ));
    }
    if !folders.is_empty() {
        plan.pre_install
            .push(format!("install -d -m 1777 {}", words(folders)));
    }
    let names = packages.iter().map(|name| (*name).to_owned());
    plan.apt_packages.extend(names);
    plan.apt_packages.sort();
    plan.apt_packages.dedup();
    toolbox::add(plan, SERVICE);
}

/// Adds a service of this kind on its usual port, without users and passwords of its own; false if one is there.
pub(crate) fn add(plan: &mut EnvironmentPlan, kind: &str) -> bool {
    let Some(kind) = Kind::named(kind) else {
        return false;
    };
    if plan.services.iter().any(|known| known.port == kind.port) {
        return false;
    }
    let folders = kind.folder.into_iter().collect();
    install(
        plan,
        &kind.packages(kind.name).into_iter().collect(),
        &folders,
    );
    plan.services.push(Service {
        kind: kind.name.to_owned(),
        image: kind.name.to_owned(),
        port: kind.port,
        start: format!("{} {} {}", call(SERVICE), kind.name, kind.port),
    });
    plan.drift.push(format!(
        "{} is started because tests ask for it on its usual port; no CI says how it is set up",
        kind.name
    ));
    true
}

/// Adds the database that Django's settings name.
fn of_settings(plan: &mut EnvironmentPlan, database: Database) {
    if !add(plan, database.kind) {
        return;
    }
    let Some(service) = plan.services.last_mut() else {
        return;
    };
    // Who names no user is its own.
    let user = database.user.unwrap_or_else(|| "atlas".to_owned());
    let mut settings = vec![("user", user)];
    settings.extend(database.password.map(|password| ("password", password)));
    for (name, value) in settings {
        service.start.push(' ');
        service
            .start
            .push_str(&shell_quote(&format!("{name}={value}")));
    }
    plan.prove("services", database.evidence);
}

/// The kind that answers on a port by itself.
pub(crate) fn kind_at(port: u16) -> Option<&'static str> {
    Kind::at(port).map(|kind| kind.name)
}

/// The command that starts one, with what CI gives it, and then the job's commands that set it up.
fn start(kind: &Kind, port: u16, found: &Found, job: &Job) -> String {
    let mut command = format!("{} {} {port}", call(SERVICE), kind.name);
    for (setting, names) in kind.settings {
        // Whoever trusts everybody asks for no password.
        let trusts = found.setting("postgreshostauthmethod") == Some("trust");
        if trusts && *setting == "password" {
            continue;
        }
        let given = names.iter().find_map(|name| found.setting(name));
        let value = given.filter(|value| is_plain(value));
        if let Some(value) = value {
            command.push(' ');
            command.push_str(&shell_quote(&format!("{setting}={value}")));
        }
    }
    for line in kind.preparations(job) {
        command.push('\n');
        command.push_str(&line);
    }
    command
}

/// The first literal that a text of a job comes to.
fn literal(job: &Job, text: &Placed) -> Option<String> {
    let mut values = job.expand(text).into_iter().map(|value| value.text);
    values.find(|value| is_plain(value))
}

#[cfg(test)]
mod tests;
