//! The packages of a Cargo workspace, and those of them that a pull request concerns.

use super::MANIFEST;
use crate::facts::{Facts, Project, only_projects};
use crate::tree::{Tree, resolved};
use atlas_core::EnvironmentPlan;
use regex::Regex;
use std::collections::BTreeSet;

/// A package of the workspace.
#[derive(Debug, PartialEq, Eq)]
struct Member {
    /// Its folder; empty for the root.
    folder: String,
    name: String,
    /// Its features, optional dependencies among them.
    features: BTreeSet<String>,
    /// Names of the packages that it depends on.
    needs: Vec<String>,
    /// Folders of the packages that it names by their path.
    paths: Vec<String>,
}

/// Of a workspace of many packages the flags for those that the pull request concerns, in place of those for all, and
/// the features that these have: Cargo refuses others.
pub(super) fn narrow(
    facts: &Facts<'_>,
    manifest: &toml::Table,
    flags: &mut Vec<String>,
    plan: &mut EnvironmentPlan,
) -> Option<BTreeSet<String>> {
    let all = flags.iter().position(|flag| flag == "--workspace");
    if all.is_none() && manifest.contains_key("package") {
        return None;
    }
    let of = |tree: &Tree| tree.toml(MANIFEST).map(|root| members(tree, &root));
    let found = of(facts.tree)?;
    let folders = |members: &[Member]| -> Vec<String> {
        members.iter().map(|member| member.folder.clone()).collect()
    };
    // A package that a state does not have is an error for all of them.
    if of(facts.head).is_none_or(|head| folders(&head) != folders(&found)) {
        return None;
    }
    let projects: Vec<Project<'_>> = found
        .iter()
        .map(|member| Project {
            folder: &member.folder,
            name: &member.name,
            needs: member.needs.clone(),
        })
        .collect();
    let chosen = facts.concerned(&projects);
    let excluded: BTreeSet<String> = flags
        .windows(2)
        .filter(|pair| pair[0] == "--exclude")
        .map(|pair| pair[1].clone())
        .collect();
    let chosen: Vec<&Member> = chosen
        .into_iter()
        .map(|at| &found[at])
        .filter(|member| !excluded.contains(&member.name))
        .collect();
    if chosen.is_empty() || chosen.len() + excluded.len() >= found.len() {
        return None;
    }
    flags.clear();
    for member in &chosen {
        flags.extend(["--package".to_owned(), member.name.clone()]);
    }
    let folders = chosen.iter().map(|member| member.folder.clone());
    only_projects(plan, folders.collect(), found.len());
    let has = chosen.iter().flat_map(|member| {
        let named = member.features.iter();
        named.flat_map(|feature| [feature.clone(), format!("{}/{feature}", member.name)])
    });
    Some(has.collect())
}

/// Workspaces and packages of their own, in folders of their own, that hold tests and what the pull request touches;
/// of many also those that depend on such. Empty where there is but one, or nothing is known of a pull request.
pub(super) fn touched_roots(facts: &Facts<'_>) -> Vec<String> {
    let tree = facts.tree;
    let mut folders: Vec<&str> = tree
        .files()
        .filter_map(|path| path.strip_suffix(MANIFEST))
        .filter(|start| start.is_empty() || start.ends_with('/'))
        .map(|start| start.trim_end_matches('/'))
        .collect();
    if facts.touched.is_empty() || folders.len() < 2 {
        return Vec::new();
    }
    folders.sort_by_key(|folder| (folder.split('/').count(), *folder));
    let mut roots: Vec<(&str, Vec<Member>)> = Vec::new();
    // Workspaces, with what they leave to others: all else below them is theirs, or Cargo refuses it.
    let mut workspaces: Vec<(&str, Vec<Regex>)> = Vec::new();
    for folder in folders {
        let inner = tree.below_or_all(folder);
        let Some(manifest) = inner.toml(MANIFEST) else {
            continue;
        };
        let is_workspace = manifest.contains_key("workspace");
        let is_claimed = workspaces.iter().any(|(above, excluded)| {
            inside(above, folder).is_some_and(|path| {
                let mut parts = path.match_indices('/').map(|(at, _)| &path[..at]);
                let is_left = |path: &str| excluded.iter().any(|pattern| pattern.is_match(path));
                !is_left(path) && !parts.any(is_left)
            })
        });
        if !is_workspace && is_claimed {
            continue;
        }
        if is_workspace {
            workspaces.push((folder, patterns(&manifest, "exclude")));
        }
        roots.push((folder, members(&inner, &manifest)));
    }
    let projects: Vec<Project<'_>> = roots
        .iter()
        .map(|(folder, members)| {
            let own = members.iter().find(|member| member.folder.is_empty());
            Project {
                folder,
                name: own.map_or("", |member| member.name.as_str()),
                needs: members
                    .iter()
                    .flat_map(|member| member.needs.clone())
                    .collect(),
            }
        })
        .collect();
    if facts.holding(&projects).is_empty() {
        return Vec::new();
    }
    let chosen = facts.concerned_alone(&projects);
    let folders = chosen.into_iter().map(|at| projects[at].folder.to_owned());
    folders
        .filter(|folder| {
            let inner = tree.below_or_all(folder);
            inner
                .ending(".rs")
                .any(|path| super::test_place(&inner, path).is_some())
        })
        .collect()
}

/// The members of the workspace, by folder: those that it names, the root's package, and what these name by a path.
fn members(tree: &Tree, root: &toml::Table) -> Vec<Member> {
    let (named, excluded) = (patterns(root, "members"), patterns(root, "exclude"));
    let all: Vec<Member> = tree
        .files()
        .filter_map(|path| path.strip_suffix(MANIFEST))
        .filter(|start| start.is_empty() || start.ends_with('/'))
        .filter_map(|start| member(tree, root, start.trim_end_matches('/')))
        .collect();
    let is_named = |member: &&Member| {
        let matches = |list: &[Regex]| list.iter().any(|pattern| pattern.is_match(&member.folder));
        member.folder.is_empty() || matches(&named) && !matches(&excluded)
    };
    let mut chosen: BTreeSet<&str> = all
        .iter()
        .filter(is_named)
        .map(|member| member.folder.as_str())
        .collect();
    loop {
        let more: Vec<&str> = all
            .iter()
            .filter(|member| chosen.contains(member.folder.as_str()))
            .flat_map(|member| member.paths.iter().map(String::as_str))
            .filter(|path| {
                !chosen.contains(path) && all.iter().any(|member| member.folder == **path)
            })
            .filter(|path| !excluded.iter().any(|pattern| pattern.is_match(path)))
            .collect();
        if more.is_empty() {
            break;
        }
        chosen.extend(more);
    }
    let chosen: BTreeSet<String> = chosen.into_iter().map(str::to_owned).collect();
    all.into_iter()
        .filter(|member| chosen.contains(&member.folder))
        .collect()
}

/// The package of a folder; `None` where there is none, or a workspace of its own.
fn member(tree: &Tree, root: &toml::Table, folder: &str) -> Option<Member> {
    let path = if folder.is_empty() {
        MANIFEST.to_owned()
    } else {
        format!("{folder}/{MANIFEST}")
    };
    let manifest = tree.toml(&path)?;
    if !folder.is_empty() && manifest.contains_key("workspace") {
        return None;
    }
    let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let shared = root
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"));
    let (mut needs, mut paths) = (Vec::new(), Vec::new());
    let table = manifest.get("features").and_then(toml::Value::as_table);
    let mut features: BTreeSet<String> = table
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let scopes = std::iter::once(&manifest).chain(
        targets
            .into_iter()
            .flat_map(toml::Table::values)
            .filter_map(toml::Value::as_table),
    );
    for scope in scopes {
        for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let table = scope.get(key).and_then(toml::Value::as_table);
            for (key, value) in table.into_iter().flatten() {
                let inherits = value.get("workspace").is_some();
                let said = shared
                    .filter(|_| inherits)
                    .and_then(|shared| shared.get(key));
                let optional = |value: &toml::Value| value.get("optional")?.as_bool();
                if optional(value) == Some(true) {
                    features.insert(key.clone());
                }
                let (value, from) = said.map_or((value, folder), |value| (value, ""));
                let named = value.get("package").and_then(toml::Value::as_str);
                needs.push(named.unwrap_or(key).to_owned());
                let path = value.get("path").and_then(toml::Value::as_str);
                paths.extend(path.and_then(|path| resolved(from, path)));
            }
        }
    }
    Some(Member {
        folder: folder.to_owned(),
        name,
        features,
        needs,
        paths,
    })
}

/// The way from a folder to one below it.
fn inside<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path).filter(|path| !path.is_empty());
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// The paths that a workspace lists under a key.
fn patterns(manifest: &toml::Table, key: &str) -> Vec<Regex> {
    let list = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get(key)?.as_array());
    list.into_iter()
        .flatten()
        .filter_map(|item| pattern(item.as_str()?))
        .collect()
}

/// A member's path, in which `*` stands for any name.
fn pattern(path: &str) -> Option<Regex> {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let text = regex::escape(path)
        .replace(r"\*\*", ".*")
        .replace(r"\*", "[^/]*");
    Regex::new(&format!("^{text}$")).ok()
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    fn files() -> Vec<(String, String)> {
        let package = |name: &str, more: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
        };
        let mut files = vec![(
            "Cargo.toml".to_owned(),
            "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/odd\"]\n\
             [workspace.dependencies]\nbee = { path = \"crates/b\", package = \"b\" }\n"
                .to_owned(),
        )];
        for (name, more) in [
            ("a", ""),
            ("b", "[dependencies]\na = { path = \"../a\" }\n"),
            ("c", "[dev-dependencies]\nbee = { workspace = true }\n"),
            (
                "d",
                "[dependencies]\nhelp = { path = \"../../tools/help\" }\n",
            ),
            ("e", ""),
            ("odd", ""),
        ] {
            files.push((format!("crates/{name}/Cargo.toml"), package(name, more)));
            files.push((
                format!("crates/{name}/src/lib.rs"),
                "#[test]\nfn t() {}\n".to_owned(),
            ));
        }
        files.push(("tools/help/Cargo.toml".to_owned(), package("help", "")));
        files.push(("tools/help/src/lib.rs".to_owned(), String::new()));
        files
    }

    #[test]
    fn a_touched_workspace_beside_the_root_s_runs_too() {
        let mut files = files();
        let own = "[package]\nname = \"odd\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        // Within the root's workspace and yet no member: Cargo refuses it.
        files.push(("stray/Cargo.toml".to_owned(), own.replace("odd", "stray")));
        files.push((
            "stray/src/lib.rs".to_owned(),
            "#[test]\nfn t() {}\n".to_owned(),
        ));
        let plan = planned(files.clone(), &["stray/src/lib.rs"]);
        assert!(!plan.test_cmd.contains("cd "), "{}", plan.test_cmd);
        let plan = planned(files.clone(), &["crates/odd/src/lib.rs"]);
        assert!(
            plan.test_cmd.starts_with("cd crates/odd && "),
            "{}",
            plan.test_cmd
        );
        let plan = planned(files, &["crates/odd/src/lib.rs", "crates/e/src/lib.rs"]);
        let both = ["--package e ) || failed=1", "( cd crates/odd && "];
        assert!(
            both.iter().all(|part| plan.test_cmd.contains(part)),
            "{}",
            plan.test_cmd
        );
    }

    #[test]
    fn of_features_those_of_the_packages_that_run_are_named() {
        let mut files = files();
        let own = "\n[features]\nfast = []\n";
        for (path, text) in &mut files {
            if path == "crates/e/Cargo.toml" {
                text.push_str(own);
            }
        }
        let ci = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: cargo test --workspace --features fast,a/slow\n";
        files.push((".github/workflows/ci.yml".to_owned(), ci.to_owned()));
        let plan = planned(files.clone(), &["crates/e/src/lib.rs"]);
        assert!(
            plan.test_cmd.ends_with("--package e --features fast"),
            "{}",
            plan.test_cmd
        );
        let plan = planned(files, &["crates/b/src/lib.rs"]);
        assert!(
            plan.test_cmd.ends_with("--package b --package c"),
            "{}",
            plan.test_cmd
        );
    }

    #[test]
    fn of_many_packages_those_that_are_touched_and_their_dependents_run() {
        for (touched, wanted) in [
            ("crates/b/src/lib.rs", "--package b --package c"),
            ("crates/a/src/lib.rs", "--package a --package b --package c"),
            ("tools/help/src/lib.rs", "--package d --package help"),
        ] {
            let plan = planned(files(), &[touched]);
            assert!(
                plan.test_cmd.ends_with(wanted),
                "{touched}: {}",
                plan.test_cmd
            );
            let scope = plan.test_scope.unwrap();
            assert!(scope.reason.contains("has 6 projects"), "{}", scope.reason);
        }
        for all in [&[][..], &["README.md"]] {
            let plan = planned(files(), all);
            assert!(!plan.test_cmd.contains("--package"), "{}", plan.test_cmd);
            assert_eq!(plan.test_scope, None);
        }
    }
}
