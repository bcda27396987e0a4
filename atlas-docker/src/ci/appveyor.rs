//! `AppVeyor`, as far as it runs Linux.

use super::job::Job;
use super::yaml::{Node, load};
use super::{Beside, Placed};
use crate::tree::Tree;

/// The phases before and of the tests, in their order.
const PHASES: &[&str] = &[
    "init",
    "install",
    "before_build",
    "build_script",
    "after_build",
    "before_test",
    "test_script",
];

/// Reads `appveyor.yml`; one for Windows alone gives no job.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let files = ["appveyor.yml", ".appveyor.yml"];
    let Some(file) = tree.first(&files) else {
        return Vec::new();
    };
    let Some(root) = tree.text(file).and_then(|text| load(file, &text)) else {
        return Vec::new();
    };
    let mut jobs = Vec::new();
    let images = root.get("image").map(Node::all_text).unwrap_or_default();
    let entries = root.at(&["environment", "matrix"]).map(Node::items);
    let in_matrix = entries.unwrap_or_default().iter();
    let listed = |node: &Node| linux(&node.text_of("APPVEYOR_BUILD_WORKER_IMAGE"));
    if linux(&images) || in_matrix.clone().any(listed) {
        let mut job = Job::new("appveyor test");
        let variables = root.entries_of("environment");
        job.variables(file, variables);
        for (_, group) in variables.iter().filter(|(key, _)| key.text == "global") {
            job.variables(file, group.entries());
        }
        for entry in in_matrix {
            let image = entry.text_of("APPVEYOR_BUILD_WORKER_IMAGE");
            if image.is_empty() || linux(&image) {
                job.variables(file, entry.entries());
            }
        }
        section(&mut job, file, &root);
        jobs.push(job);
    }
    for part in root.each("for") {
        let images = part.at(&["matrix", "only"]).map(Node::all_text);
        if linux(&images.unwrap_or_default()) {
            let mut job = Job::new("appveyor test");
            job.variables(file, part.entries_of("environment"));
            section(&mut job, file, part);
            jobs.push(job);
        }
    }
    jobs
}

fn linux(images: &str) -> bool {
    images.to_ascii_lowercase().contains("ubuntu")
}

fn section(job: &mut Job, file: &str, node: &Node) {
    // `stack: python 3.8, node 14, jdk 11`; services stand in the same list.
    for stack in node
        .each("stack")
        .iter()
        .flat_map(|item| item.scalars(file))
    {
        for part in stack.text.split(',').map(str::trim) {
            let (name, version) = part.split_once(' ').unwrap_or((part, ""));
            let place = |text: &str| Placed {
                text: text.trim().to_owned(),
                ..stack.clone()
            };
            match name {
                "python" | "node" | "go" | "ruby" | "php" if !version.is_empty() => {
                    job.toolchain(name, place(version));
                }
                "jdk" if !version.is_empty() => job.toolchain("java", place(version)),
                "python" | "node" | "go" | "ruby" | "php" | "jdk" => {}
                service => job.services.push(Beside::of(place(service))),
            }
        }
    }
    for phase in PHASES {
        let Some(steps) = node.get(phase) else {
            continue;
        };
        if matches!(steps, Node::Scalar { .. }) {
            job.run(steps.commands(file), None);
        }
        for step in steps.items() {
            // `cmd:` is for Windows, `ps:` and `pwsh:` are no shell's commands.
            let command = match step {
                Node::Map(_) => step.get("sh"),
                other => Some(other),
            };
            if let Some(command) = command {
                job.run(command.commands(file), None);
            }
        }
    }
}
