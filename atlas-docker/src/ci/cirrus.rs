//! Cirrus CI, as far as it runs Linux containers.

use super::job::Job;
use super::yaml::{Node, load};
use super::{Beside, Placed, container};
use crate::tree::Tree;

/// Reads `.cirrus.yml`.
pub(super) fn read(tree: &Tree) -> Vec<Job> {
    let files = [".cirrus.yml", ".cirrus.yaml"];
    let Some(file) = tree.first(&files) else {
        return Vec::new();
    };
    let Some(root) = tree.text(file).and_then(|text| load(file, &text)) else {
        return Vec::new();
    };
    let task = |key: &Placed| key.text == "task" || key.text.ends_with("_task");
    root.entries()
        .iter()
        .filter(|(key, _)| task(key))
        .filter_map(|(key, node)| read_task(tree, file, &root, &key.text, node))
        .collect()
}

fn read_task(tree: &Tree, file: &str, root: &Node, key: &str, node: &Node) -> Option<Job> {
    let mut job = Job::new(format!(
        "{key} {} {}",
        node.text_of("name"),
        node.text_of("alias")
    ));
    // A matrix can stand anywhere below the task and holds alternatives of what is around it.
    let parts: Vec<&Node> = std::iter::once(node).chain(node.each("matrix")).collect();
    let is_container = |key: &str| ["container", "docker_builder", "arm_container"].contains(&key);
    let containers = |node: &&Node| {
        node.entries()
            .iter()
            .any(|(key, _)| is_container(&key.text))
    };
    let machines = |node: &&Node| {
        let names = node.entries().iter().map(|(key, _)| key.text.as_str());
        names
            .clone()
            .any(|key| key.ends_with("_instance") || key.ends_with("windows_container"))
    };
    let own = parts.iter().any(containers);
    if !own && (parts.iter().any(machines) || machines(&root) || !containers(&root)) {
        return None;
    }
    for part in [root].into_iter().chain(parts.iter().copied()) {
        for group in ["env", "environment"] {
            let env = part.get(group);
            job.variables(file, env.map(Node::entries).unwrap_or_default());
            for entry in env.map(|env| env.each("matrix")).unwrap_or_default() {
                job.variables(file, entry.entries());
            }
        }
    }
    let places: Vec<&Node> = if own { parts.clone() } else { vec![root] };
    for place in places {
        for (_, around) in place
            .entries()
            .iter()
            .filter(|(key, _)| is_container(&key.text))
        {
            for found in std::iter::once(around).chain(around.each("matrix")) {
                for image in found.each("image") {
                    for image in image.scalars(file) {
                        job.image(&image);
                    }
                }
                let path = found.text_of("dockerfile");
                if !path.is_empty() {
                    container::dockerfile(&mut job, tree, path.trim_start_matches("./"));
                }
                for beside in found.each("additional_containers") {
                    let name = beside.text_of("name");
                    job.services.extend(Beside::read(file, &name, beside));
                }
            }
        }
    }
    for (key, value) in parts.iter().flat_map(|part| part.entries()) {
        if key.text == "script" || key.text.ends_with("_script") {
            job.run(value.commands(file), None);
        }
    }
    Some(job)
}
