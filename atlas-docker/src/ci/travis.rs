//! Travis CI.

use super::image::java;
use super::job::{Job, other_system};
use super::yaml::{Node, load};
use super::{Beside, Placed, apt_names};
use crate::tree::Tree;

/// Travis' key of versions, the toolchain.
const VERSIONS: &[(&str, &str)] = &[
    ("python", "python"),
    ("node_js", "node"),
    ("go", "go"),
    ("rust", "rust"),
    ("rvm", "ruby"),
    ("ruby", "ruby"),
    ("php", "php"),
    ("jdk", "java"),
    ("dotnet", "dotnet"),
    ("compiler", ""),
];

/// The phases before and of the tests, in their order.
const PHASES: &[&str] = &["before_install", "install", "before_script", "script"];

/// Reads `.travis.yml`: what stands at the top as one job, and each entry of the matrix as one.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let file = ".travis.yml";
    let Some(root) = tree.text(file).and_then(|text| load(file, &text)) else {
        return Vec::new();
    };
    let mut jobs = Vec::new();
    // `os: osx` alone; a list with linux has jobs here.
    let systems = root.text_of("os");
    let here = |systems: &str| !other_system(systems) || systems.contains("linux");
    if here(&systems) {
        let mut job = Job::new("travis test");
        common(&mut job, file, &root, true);
        versions(&mut job, file, &root);
        phases(&mut job, file, &root, &root);
        jobs.push(job);
    }
    for matrix in ["matrix", "jobs"] {
        let Some(include) = root.at(&[matrix, "include"]) else {
            continue;
        };
        for entry in include.items() {
            let own = entry.text_of("os");
            if !here(if own.is_empty() { &systems } else { &own }) {
                continue;
            }
            let name = match entry.get("script") {
                // Without a script of its own it runs the one of all jobs.
                None => "test".to_owned(),
                Some(_) => format!("{} {}", entry.text_of("name"), entry.text_of("stage")),
            };
            let mut job = Job::new(format!("travis {name}"));
            common(&mut job, file, &root, false);
            common(&mut job, file, entry, true);
            versions(&mut job, file, entry);
            phases(&mut job, file, entry, &root);
            jobs.push(job);
        }
    }
    jobs
}

fn versions(job: &mut Job, file: &str, node: &Node) {
    for (key, toolchain) in VERSIONS {
        let Some(value) = node.get(key) else {
            continue;
        };
        let values = value.scalars(file);
        job.uses("travis", vec![((*key).to_owned(), values.clone())]);
        for value in values {
            let text = value.text.clone();
            let (toolchain, text) = match *toolchain {
                "java" => (
                    "java",
                    java(text.trim_start_matches(|c: char| !c.is_ascii_digit())),
                ),
                // `gcc-9`; a compiler without a number says nothing.
                "" => match text.split_once('-') {
                    Some((name @ ("gcc" | "clang"), number)) => (name, number.to_owned()),
                    _ => continue,
                },
                other => (other, text),
            };
            if !text.is_empty() {
                job.toolchain(toolchain, Placed { text, ..value });
            }
        }
    }
}

/// What a job and the root have in common. `all` variables, or those for every job alone.
fn common(job: &mut Job, file: &str, node: &Node, all: bool) {
    let env = if all {
        node.get("env")
    } else {
        node.at(&["env", "global"])
    };
    if let Some(env) = env {
        environment(job, file, env);
    }
    let packages = [
        &["addons", "apt", "packages"][..],
        &["addons", "apt_packages"],
    ];
    for list in packages.iter().filter_map(|path| node.at(path)) {
        for line in list.scalars(file) {
            job.apt.extend(apt_names(&line));
        }
    }
    if let Some(services) = node.get("services") {
        let services = services.scalars(file);
        // The display and the engine belong to the machine, they are not things to talk to.
        let beside = |service: &Placed| !["xvfb", "docker"].contains(&service.text.as_str());
        let services = services.into_iter().filter(beside);
        job.services.extend(services.map(Beside::of));
    }
}

/// `A=1 B=2`, a list of such lines, a map of names, or one of `global` and `jobs`.
fn environment(job: &mut Job, file: &str, env: &Node) {
    match env {
        Node::Scalar { .. } => {
            for line in env.scalars(file) {
                job.assignments(&line);
            }
        }
        Node::List(items) => {
            for item in items {
                environment(job, file, item);
            }
        }
        Node::Map(entries) => {
            for (key, value) in entries {
                match key.text.as_str() {
                    "global" | "matrix" | "jobs" => environment(job, file, value),
                    "secure" => {}
                    _ => job.variables(file, std::slice::from_ref(&(key.clone(), value.clone()))),
                }
            }
        }
    }
}

fn phases(job: &mut Job, file: &str, own: &Node, root: &Node) {
    for phase in PHASES {
        if let Some(commands) = own.get(phase).or_else(|| root.get(phase)) {
            job.run(commands.commands(file), None);
        }
    }
}
