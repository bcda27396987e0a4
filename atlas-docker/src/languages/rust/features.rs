//! Which packages and features the tests are run with.

use super::{MANIFEST, members, plain_words, spaced};
use crate::ci::Placed;
use crate::facts::Facts;
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static CARGO_TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[A-Z_]+=\S+\s+)*cargo\s+(?:\+stable\s+)?(?:nextest\s+run|test|t)\b(.*)$")
        .expect("a literal pattern")
});
/// cargo-hack's tests of many sets of features; its own options may stand before and behind `test`.
static CARGO_HACK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[A-Z_]+=\S+\s+)*cargo\s+(?:\+stable\s+)?hack\b((?:\s+-\S+(?:\s+[^-\s]\S*)?)*?)\s+(?:nextest\s+run|test|t)\b(.*)$")
        .expect("a literal pattern")
});
/// An attribute that switches language features on under a condition; it may take several lines.
static NIGHTLY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"#!\[cfg_attr\(([^\[\]]{0,500}?),\s*feature\(").expect("a literal pattern")
});
static FEATURE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"feature\s*=\s*"([^"]+)""#).expect("a literal pattern"));
static FILE_NEEDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*#!\[cfg\((all\()?feature\s*=").expect("a literal pattern"));

/// The `cargo test` commands of CI that run on a stable toolchain for the machine's own target,
/// with their arguments.
fn in_ci(facts: &Facts<'_>) -> Vec<(Vec<String>, Placed)> {
    facts
        .ci
        .test_commands_of_all_entries()
        .filter_map(|command| {
            let rest = if let Some(found) = CARGO_TEST.captures(&command.text) {
                found[1].to_owned()
            } else {
                let found = CARGO_HACK.captures(&command.text)?;
                format!("{} {}", &found[1], &found[2])
            };
            let words = plain_words(&rest);
            let elsewhere = rest.contains("--target") || words.iter().any(|w| w == "--no-run");
            let special = command.text.contains("--cfg") || command.text.contains("nightly");
            let narrow = words
                .iter()
                .any(|word| matches!(word.as_str(), "-p" | "--package" | "--manifest-path"));
            (!elsewhere && !special && !narrow).then_some((words, command))
        })
        .collect()
}

/// Flags for packages and features.
///
/// Order: what CI's `cargo test` commands say (`--all-features` over the union of `--features`
/// over none); without any such command, what `docs.rs` metadata and the tests' own conditions
/// say. Features behind which the sources enable unstable language features never come in: where
/// all are wanted, all others are named.
pub(super) fn flags(
    facts: &Facts<'_>,
    manifest: &toml::Table,
    plan: &mut EnvironmentPlan,
) -> String {
    let commands = in_ci(facts);
    let unstable = unstable(facts.tree);
    let mut flags = Vec::new();
    workspace(facts, manifest, &commands, &mut flags, plan);
    let of_members = members::narrow(facts, manifest, &mut flags, plan);

    let all = commands
        .iter()
        .find(|(words, _)| words.iter().any(|word| word == "--all-features") || tries_sets(words));
    let left_out: BTreeSet<String> = commands
        .iter()
        .filter(|(words, _)| tries_sets(words))
        .flat_map(|(words, _)| features_behind(words, &["--exclude-features", "--skip"]))
        .collect();
    let mut named = together(&commands, &needed_by_touched_targets(facts, manifest), plan);
    let documented = (commands.is_empty() && docs_all_features(manifest)).then(|| {
        let line = facts.tree.line_with(MANIFEST, "all-features").unwrap_or(1);
        Evidence::at(MANIFEST, line, "documented with all features")
    });
    if let Some((_, command)) = all {
        prove(plan, command, "");
    }
    if let Some(at) = &documented {
        plan.prove("test_cmd", at.clone());
    }
    if all.is_some() || documented.is_some() {
        if unstable.is_empty() && left_out.is_empty() {
            flags.push("--all-features".to_owned());
            return spaced(&flags);
        }
        let barred = unstable.keys().chain(&left_out);
        named.extend(all_without(manifest, barred.map(String::as_str).collect()));
    } else if !commands.is_empty() {
        if named.is_empty() {
            prove(plan, &commands[0].1, "");
        }
    } else {
        named = needed_by_tests(facts.tree, manifest, plan);
    }
    named.extend(needed_by_new_tests(facts, manifest, plan));
    for (name, at) in unstable {
        named.remove(&name);
        let text = format!(
            "overruled: feature `{name}` needs a nightly compiler: {}",
            at.text
        );
        plan.prove("test_cmd", Evidence { text, ..at });
    }
    if let Some(known) = of_members {
        named.retain(|name| known.contains(name));
    }
    if !named.is_empty() {
        flags.push("--features".to_owned());
        flags.push(named.into_iter().collect::<Vec<_>>().join(","));
    }
    spaced(&flags)
}

/// The features that CI names: of a few commands all, of many those of one, for many sets are alternatives (one TLS
/// library or the other), which need not compile together: the one that names most of what test targets ask for that
/// the pull request touches, and of equals the one that names most.
fn together(
    commands: &[(Vec<String>, Placed)],
    wanted: &BTreeSet<String>,
    plan: &mut EnvironmentPlan,
) -> BTreeSet<String> {
    const FEW: usize = 3;
    let mut sets: Vec<(BTreeSet<String>, &Placed)> = Vec::new();
    for (words, command) in commands {
        let set: BTreeSet<String> = named_features(words);
        if !set.is_empty() && sets.iter().all(|(known, _)| *known != set) {
            sets.push((set, command));
        }
    }
    if sets.len() > FEW {
        // The first of equals.
        sets.sort_by_key(|(set, _)| {
            std::cmp::Reverse((set.intersection(wanted).count(), set.len()))
        });
        sets.truncate(1);
    }
    let mut named = BTreeSet::new();
    for (set, command) in sets {
        prove(plan, command, "");
        named.extend(set);
    }
    named
}

/// What CI hands to the test binaries, as far as it is about how to run and what to leave out.
pub(super) fn arguments(facts: &Facts<'_>) -> String {
    for (words, _) in in_ci(facts) {
        let Some(at) = words.iter().position(|word| word == "--") else {
            continue;
        };
        let mut kept = Vec::new();
        let mut rest = words[at + 1..].iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "--test-threads" | "--skip" => {
                    kept.push(word.clone());
                    kept.extend(rest.next().cloned());
                }
                word if word.starts_with("--test-threads=") || word.starts_with("--skip=") => {
                    kept.push(word.to_owned());
                }
                _ => {}
            }
        }
        if !kept.is_empty() {
            return format!(" --{}", spaced(&kept));
        }
    }
    String::new()
}

fn prove(plan: &mut EnvironmentPlan, command: &Placed, before: &str) {
    let text = format!("{before}{}", command.text);
    plan.prove(
        "test_cmd",
        Evidence::at(command.file.clone(), command.line, text),
    );
}

fn workspace(
    facts: &Facts<'_>,
    manifest: &toml::Table,
    commands: &[(Vec<String>, Placed)],
    flags: &mut Vec<String>,
    plan: &mut EnvironmentPlan,
) {
    let said = commands.iter().find(|(words, _)| {
        words
            .iter()
            .any(|word| word == "--workspace" || word == "--all")
    });
    if let Some((words, command)) = said {
        prove(plan, command, "");
        flags.push("--workspace".to_owned());
        for pair in words.windows(2) {
            if pair[0] == "--exclude" {
                flags.extend(pair.iter().cloned());
            }
        }
    } else if commands.is_empty()
        && manifest.contains_key("package")
        && manifest
            .get("workspace")
            .is_some_and(|workspace| workspace.get("members").is_some())
    {
        let line = facts.tree.line_with(MANIFEST, "[workspace]").unwrap_or(1);
        plan.prove("test_cmd", Evidence::at(MANIFEST, line, "[workspace]"));
        flags.push("--workspace".to_owned());
    }
    if flags.iter().any(|flag| flag == "--workspace") {
        foreign_members(facts, flags, plan);
    }
}

/// Members that this machine's target cannot run are left out: programs without a standard library
/// or a `main`, which are for bare metal or for a fuzzer, and code that refuses any other system.
fn foreign_members(facts: &Facts<'_>, flags: &mut Vec<String>, plan: &mut EnvironmentPlan) {
    static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^#!\[no_main\]|^#!\[cfg\((?:windows|target_os\s*=\s*"(?:windows|macos|ios|android|none)")\)\]|^#\[cfg\(not\((?:windows|target_os\s*=\s*"(?:windows|macos)")\)\)\]\s*compile_error!"#)
            .expect("a literal pattern")
    });
    let tree = facts.tree;
    let roots: Vec<&str> = tree
        .files()
        .filter(|path| path.ends_with("/src/main.rs") || path.ends_with("/src/lib.rs"))
        .collect();
    for path in roots {
        let Some((line, text)) = tree.line(path, &FOREIGN) else {
            continue;
        };
        let folder = path.rsplit("/src/").nth(1).unwrap_or_default();
        let name = tree
            .toml(&format!("{folder}/{MANIFEST}"))
            .and_then(|manifest| Some(manifest.get("package")?.get("name")?.as_str()?.to_owned()));
        if let Some(name) = name
            && !flags.contains(&name)
        {
            let text = format!("`{name}` is for another system: {text}");
            plan.prove("test_cmd", Evidence::at(path, line, text));
            flags.extend(["--exclude".to_owned(), name]);
        }
    }
}

fn named_features(words: &[String]) -> BTreeSet<String> {
    features_behind(words, &["--features", "-F"])
}

/// Whether cargo-hack tries the features in many sets, one of which has all of them. Where some exclude one another
/// there is no such set.
fn tries_sets(words: &[String]) -> bool {
    let mut words = words.iter().take_while(|word| *word != "--");
    let mut tries = false;
    let excludes = words.any(|word| {
        tries |= matches!(word.as_str(), "--feature-powerset" | "--each-feature");
        word.starts_with("--mutually-exclusive-features")
    });
    tries && !excludes
}

/// The features that stand behind these options.
fn features_behind(words: &[String], options: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let list = match word.split_once('=') {
            _ if options.contains(&word.as_str()) => words.next().map(String::as_str),
            Some((option, list)) if options.contains(&option) => Some(list),
            _ => None,
        };
        found.extend(
            list.unwrap_or_default()
                .split([',', ' '])
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
        );
    }
    found
}

/// Features that switch on unstable language features, each with its line.
fn unstable(tree: &Tree) -> BTreeMap<String, Evidence> {
    let mut found = BTreeMap::new();
    let roots = tree.files().filter(|path| {
        path.ends_with("src/lib.rs") || path.ends_with("src/main.rs") || *path == "lib.rs"
    });
    for path in roots {
        let Some(text) = tree.text(path) else {
            continue;
        };
        for attribute in NIGHTLY.captures_iter(&text) {
            let condition = &attribute[1];
            let start = attribute.get(0).map_or(0, |whole| whole.start());
            let line = text[..start].matches('\n').count() + 1;
            for name in FEATURE.captures_iter(condition) {
                let said = condition.split_whitespace().collect::<Vec<_>>().join(" ");
                let at = Evidence::at(path, line, format!("cfg_attr({said}, feature(…))"));
                found.entry(name[1].to_owned()).or_insert(at);
            }
        }
    }
    found
}

/// All features of the manifest that need none of the barred, directly or by another.
fn all_without<'a>(manifest: &'a toml::Table, mut barred: BTreeSet<&'a str>) -> BTreeSet<String> {
    let Some(table) = manifest.get("features").and_then(toml::Value::as_table) else {
        return BTreeSet::new();
    };
    let needs = |name: &str| -> Vec<&str> {
        let list = table.get(name).and_then(toml::Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(toml::Value::as_str)
            .collect()
    };
    loop {
        let more: Vec<&str> = table
            .keys()
            .map(String::as_str)
            .filter(|name| !barred.contains(name))
            .filter(|name| needs(name).iter().any(|needed| barred.contains(needed)))
            .collect();
        if more.is_empty() {
            break;
        }
        barred.extend(more);
    }
    let kept = table
        .keys()
        .filter(|name| *name != "default" && !barred.contains(name.as_str()));
    kept.cloned().collect()
}

fn docs_all_features(manifest: &toml::Table) -> bool {
    let metadata = manifest
        .get("package")
        .and_then(|package| package.get("metadata"))
        .and_then(|metadata| metadata.get("docs")?.get("rs")?.get("all-features"));
    metadata.and_then(toml::Value::as_bool) == Some(true)
}

/// Features that test files of the pull request ask for as a whole: without them such a file is
/// empty, and CI's command at the base commit need not name them yet.
fn needed_by_new_tests(
    facts: &Facts<'_>,
    manifest: &toml::Table,
    plan: &mut EnvironmentPlan,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let changed: Vec<&str> = facts
        .head
        .ending(".rs")
        .filter(|path| path.starts_with("tests/"))
        .filter(|path| facts.head.text(path) != facts.tree.text(path))
        .collect();
    for path in changed {
        if let Some((line, text)) = facts.head.line(path, &FILE_NEEDS) {
            let names = FEATURE.captures_iter(&text).map(|name| name[1].to_owned());
            let names: BTreeSet<String> = names.filter(|name| has(manifest, name)).collect();
            if !names.is_empty() {
                let text = format!("of the pull request: {text}");
                plan.prove("test_cmd", Evidence::at(path, line, text));
            }
            found.extend(names);
        }
    }
    found
}

/// Features without which cargo does not build the test targets that the pull request touches.
fn needed_by_touched_targets(facts: &Facts<'_>, manifest: &toml::Table) -> BTreeSet<String> {
    let targets = manifest.get("test").and_then(toml::Value::as_array);
    let is_touched = |target: &&toml::Value| {
        let text = |key: &str| target.get(key).and_then(toml::Value::as_str);
        let usual = text("name").map(|name| format!("tests/{name}.rs"));
        let path = text("path").map(str::to_owned).or(usual);
        path.is_some_and(|path| facts.touched.contains(&path))
    };
    let required = targets
        .into_iter()
        .flatten()
        .filter(is_touched)
        .filter_map(|target| target.get("required-features")?.as_array());
    required
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

/// Whether the manifest has this feature, by its own or as an optional dependency's name.
fn has(manifest: &toml::Table, name: &str) -> bool {
    let known = manifest.get("features").and_then(toml::Value::as_table);
    let optional = manifest
        .get("dependencies")
        .and_then(|all| all.get(name)?.get("optional")?.as_bool());
    known.is_some_and(|known| known.contains_key(name)) || optional == Some(true)
}

/// Features that a test target or a whole test file asks for and that are no default.
fn needed_by_tests(
    tree: &Tree,
    manifest: &toml::Table,
    plan: &mut EnvironmentPlan,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let targets = manifest.get("test").and_then(toml::Value::as_array);
    for target in targets.into_iter().flatten() {
        let required = target
            .get("required-features")
            .and_then(toml::Value::as_array);
        for name in required.into_iter().flatten() {
            found.extend(name.as_str().map(str::to_owned));
        }
    }
    if !found.is_empty() {
        let line = tree.line_with(MANIFEST, "required-features").unwrap_or(1);
        let text = "test targets with required-features";
        plan.prove("test_cmd", Evidence::at(MANIFEST, line, text));
    }
    let files: Vec<&str> = tree
        .ending(".rs")
        .filter(|path| path.starts_with("tests/"))
        .collect();
    for path in files {
        if let Some((line, text)) = tree.line(path, &FILE_NEEDS) {
            found.extend(FEATURE.captures_iter(&text).map(|name| name[1].to_owned()));
            plan.prove("test_cmd", Evidence::at(path, line, text));
        }
    }
    found.retain(|name| has(manifest, name));
    found
}
