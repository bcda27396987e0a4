//! Which crates know which, as ARCHITECTURE.md tells it: a pipeline of traits in the core, and those who compose.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What every crate may know; it knows nothing of the workspace itself.
const GROUND: [&str; 2] = ["atlas-core", "atlas-facts"];
/// Who may know more of the workspace than that.
const ALSO: [(&str, &[&str]); 2] = [
    ("atlas-judge", &["atlas-syntax"]),
    ("atlas-source", &["atlas-syntax"]),
];
/// Who composes, and may know every crate that does not.
const COMPOSE: [&str; 4] = [
    "atlas-pipeline",
    "atlas-py",
    "atlas-examples",
    "atlas-benches",
];
/// What the core must not know: engines, servers, runtimes, databases, command lines, languages.
const FRAMEWORKS: [&str; 11] = [
    "axum",
    "bollard",
    "clap",
    "hyper",
    "pyo3",
    "regex",
    "reqwest",
    "rusqlite",
    "rustix",
    "tokio",
    "tree-sitter",
];

/// Crate -> what it needs to be compiled; what only its tests need is left out.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let told = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(workspace)
        .output()
        .unwrap();
    assert!(
        told.status.success(),
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let needs = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap();
        let own = all.iter().filter(|needed| needed["kind"].is_null());
        own.map(|needed| text(&needed["name"])).collect()
    };
    let packages = told["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| (text(&package["name"]), needs(package)))
        .collect()
}

#[test]
fn arrows_point_one_way() {
    let dependencies = dependencies();
    assert!(dependencies.len() > COMPOSE.len(), "{dependencies:?}");
    for (name, needed) in &dependencies {
        let own = needed
            .iter()
            .filter(|other| dependencies.contains_key(*other));
        for other in own {
            let may = match COMPOSE.iter().position(|composer| composer == name) {
                // The command's library is what Python and examples are made of.
                Some(0) => !COMPOSE.contains(&other.as_str()),
                Some(_) => other == COMPOSE[0] || !COMPOSE.contains(&other.as_str()),
                None => {
                    GROUND.contains(&other.as_str()) && !GROUND.contains(&name.as_str())
                        || ALSO
                            .iter()
                            .any(|(who, also)| who == name && also.contains(&other.as_str()))
                }
            };
            assert!(
                may,
                "{name} must not know {other}: a trait in atlas-core goes between them"
            );
        }
    }
}

#[test]
fn the_core_knows_no_framework() {
    let core = &dependencies()["atlas-core"];
    for framework in FRAMEWORKS {
        assert!(!core.contains(framework), "{framework}");
    }
}
