//! Rust: `cargo test`.

mod features;
mod members;

use super::{Language, env, nested};
use crate::facts::{Facts, Presence, Verdict};
use crate::quote::shell_quote;
use crate::system;
use crate::toolbox::{self, CARGO_FREEZE, CARGO_TEST_EACH, call};
use crate::tree::Tree;
use crate::versions::{self, Version};
use atlas_core::{CompiledProducts, EnvironmentPlan, Evidence};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Rust.
#[derive(Debug)]
pub(crate) struct Rust;

const MANIFEST: &str = "Cargo.toml";

static CHANNEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"^\s*(?:channel\s*=\s*)?"?((?:nightly|beta|stable|\d+\.\d+)[\w.-]*)"?\s*(?:#.*)?$"#,
    )
    .expect("a literal pattern")
});
static TEST_FN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*#\[(\w+::)*(test|rstest|test_case|quickcheck|wasm_bindgen_test)\b|^\s*(proptest|quickcheck)!")
        .expect("a literal pattern")
});

/// Takes the toolchain of the image where a `rust-toolchain` file asks for another one, which could
/// not be fetched without a network. Without rustup the variable means nothing.
const OWN_TOOLCHAIN: &str = r#"if t="$(cd / && rustup show active-toolchain 2>/dev/null)"; then export RUSTUP_TOOLCHAIN="${t%% *}"; fi; "#;

impl Language for Rust {
    fn id(&self) -> &'static str {
        "rust"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "rust:1.85-slim-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        let sources: Vec<_> = tree.ending(".rs").collect();
        Presence {
            manifest: if tree.has(MANIFEST) {
                Some(MANIFEST.to_owned())
            } else {
                nested(tree).map(|folder| format!("{folder}/{MANIFEST}"))
            },
            tests: sources
                .iter()
                .filter(|path| test_place(tree, path).is_some())
                .count(),
            sources: sources.len(),
        }
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let roots = members::touched_roots(facts);
        if roots.iter().any(|folder| !folder.is_empty()) {
            return nested::several(&workspace, facts, &roots);
        }
        if !facts.tree.has(MANIFEST)
            && let Some(folder) = nested(facts.tree)
        {
            return nested::within(&workspace, facts, &folder);
        }
        workspace(facts)
    }
}

/// The plan of the workspace or package in the root.
fn workspace(facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
    let tree = facts.tree;
    let Some(manifest) = tree.toml(MANIFEST) else {
        let evidence = vec![Evidence::of(MANIFEST, "missing, or not readable as TOML")];
        return Err(Verdict::new(
            "no readable Cargo.toml in the repository's root",
            evidence,
        ));
    };
    let Some(test) = tree.ending(".rs").find_map(|path| test_place(tree, path)) else {
        let evidence = vec![Evidence::of(MANIFEST, "no source file has a #[test]")];
        return Err(Verdict::new("the repository has no Rust tests", evidence));
    };
    if !facts.knows("cargo") {
        return Err(Verdict::no_parser("cargo test", vec![test]));
    }
    let mut plan = EnvironmentPlan {
        log_parser_name: "cargo".to_owned(),
        env: env([
            // Where nothing is locked, no dependency younger than the compiler is taken.
            ("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "fallback"),
            ("CARGO_HOME", "$ATLAS_ENV/cargo"),
            ("CARGO_TARGET_DIR", "$ATLAS_CACHE/target"),
            ("CARGO_TERM_COLOR", "never"),
            ("LANG", "C.UTF-8"),
        ]),
        products: Some(CompiledProducts {
            name_sources: true,
            ..crate::languages::native::products(&["rs"], &[], &["d"])
        }),
        ..EnvironmentPlan::default()
    };
    plan.prove("log_parser_name", test);
    version(facts, &manifest, &mut plan);

    let own = if tree
        .first(&["rust-toolchain.toml", "rust-toolchain"])
        .is_some()
    {
        OWN_TOOLCHAIN
    } else {
        ""
    };
    let flags = features::flags(facts, &manifest, &mut plan);
    let run = features::arguments(facts);
    if !plan.evidence.contains_key("test_cmd") {
        let defaults = "nothing names packages or features: the defaults of cargo";
        plan.prove("test_cmd", Evidence::of(MANIFEST, defaults));
    }
    toolbox::add(&mut plan, CARGO_TEST_EACH);
    let fetch = resolve(facts, own, &mut plan);
    plan.build.push(fetch.clone());
    plan.build.push(format!(
        "{own}cargo test --no-run --no-fail-fast{flags} || echo 'atlas: not every target compiles'"
    ));
    if facts.changes_manifests {
        // A lockfile that the build wrote is for Base's manifests. One that the pull request brings is its own.
        let again = if tree.has("Cargo.lock") {
            fetch
        } else if facts.head.has("Cargo.lock") {
            format!("{own}cargo fetch")
        } else {
            format!("rm -f Cargo.lock && {{ {fetch}; }}")
        };
        plan.prefetch = vec![again];
    }
    plan.test_cmd = format!("{own}{}{flags}{run}", call(CARGO_TEST_EACH));
    system::packages(facts, Rust.id(), &dependencies(tree), &[], &mut plan);
    Ok(plan)
}

/// The command that resolves and fetches dependencies.
fn resolve(facts: &Facts<'_>, own: &str, plan: &mut EnvironmentPlan) -> String {
    let fetch = format!("{own}cargo fetch");
    if facts.tree.has("Cargo.lock") {
        plan.prove("build", Evidence::of("Cargo.lock", "pins the dependencies"));
        return fetch;
    }
    plan.prove("build", Evidence::of(MANIFEST, "no Cargo.lock beside it"));
    let Some(day) = facts.frozen() else {
        plan.drift.push(
            "no Cargo.lock: the build resolves dependencies to what the registry has then"
                .to_owned(),
        );
        return fetch;
    };
    plan.as_of = Some(day.clone());
    plan.drift.push(format!(
        "no Cargo.lock: dependencies are resolved as of {day}, but for what has no date of publication: git repositories, other registries"
    ));
    toolbox::add(plan, CARGO_FREEZE);
    // Writes a Cargo.lock; the file stays untracked.
    format!("{own}{} {day} && cargo fetch", call(CARGO_FREEZE))
}

/// The folder of the package or workspace nearest to the root.
fn nested(tree: &Tree) -> Option<String> {
    nested::folder(tree, &[MANIFEST], |path| {
        path.strip_suffix(".rs").is_some() && test_place(tree, path).is_some()
    })
}

/// The line that shows a file to hold tests.
fn test_place(tree: &Tree, path: &str) -> Option<Evidence> {
    tree.line(path, &TEST_FN)
        .map(|(line, text)| Evidence::at(path, line, text))
}

/// `rust-toolchain`, then numbered versions of CI where CI has no `stable`, then the newest stable
/// at the date. `rust-version` is a lower bound: the manifest's promise, not what its tests need.
fn version(facts: &Facts<'_>, manifest: &toml::Table, plan: &mut EnvironmentPlan) {
    let newest = versions::rust_at(facts.date);
    let at_date = || {
        let text = format!("the newest stable Rust at {}", versions::day(facts.date));
        (newest, Evidence::of("release calendar", text))
    };
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    if let Some(file) = facts.tree.first(&["rust-toolchain.toml", "rust-toolchain"])
        && let Some((line, text)) = facts.tree.line(file, &CHANNEL)
        && let Some(channel) = CHANNEL.captures(&text).map(|found| found[1].to_owned())
    {
        let at = Evidence::at(file, line, text);
        if let Some(nightly) = channel.strip_prefix("nightly") {
            // A nightly is what comes out as stable two releases later, and the variable makes a
            // stable compiler take what a nightly takes.
            let day = nightly.strip_prefix('-').unwrap_or(facts.date);
            let stable = versions::rust_at(day);
            let stable = Version::new(stable.major, stable.minor + 2);
            plan.env
                .insert("RUSTC_BOOTSTRAP".to_owned(), "1".to_owned());
            plan.prove("env", at.clone());
            plan.drift.push(format!(
                "toolchain {channel} replaced by stable Rust {stable} with unstable features allowed"
            ));
            candidates.push((stable, at.clone()));
        }
        candidates.push((Version::parse(&channel).unwrap_or(newest), at));
    }
    let in_ci = facts.ci.versions(&[
        ("dtolnay/rust-toolchain", "toolchain"),
        ("dtolnay/rust-toolchain", "@"),
        ("actions-rs/toolchain", "toolchain"),
        ("actions-rust-lang/setup-rust-toolchain", "toolchain"),
        ("hecrj/setup-rust-action", "rust-version"),
        ("travis", "rust"),
        ("toolchain", "rust"),
        ("image", "rust"),
    ]);
    let stable = in_ci.iter().find(|value| value.text == "stable");
    let numbered = in_ci
        .iter()
        .filter_map(|value| Some((Version::parse(&value.text)?, value)))
        .filter(|(version, _)| version.major == 1 && version.minor > 0 && *version <= newest)
        .max_by_key(|(version, _)| *version);
    match (stable, numbered) {
        (Some(value), _) => {
            let text = "CI runs stable Rust".to_owned();
            candidates.push((newest, Evidence::at(value.file.clone(), value.line, text)));
        }
        (None, Some((version, value))) => {
            let text = format!("CI runs Rust {}", value.text);
            candidates.push((version, Evidence::at(value.file.clone(), value.line, text)));
        }
        (None, None) => candidates.push(at_date()),
    }
    let floor = ["package", "workspace"].iter().find_map(|key| {
        let table = manifest.get(*key)?;
        let table = table.get("package").unwrap_or(table);
        Version::parse(table.get("rust-version")?.as_str()?)
    });
    if let Some(floor) = floor
        && floor > candidates[0].0
    {
        let line = facts.tree.line_with(MANIFEST, "rust-version").unwrap_or(1);
        let text = format!("rust-version {floor} is newer");
        candidates.insert(0, (floor, Evidence::at(MANIFEST, line, text)));
    }
    let version = versions::first(candidates, PartialEq::eq, plan);
    let named = version.to_string();
    let debian = match version.minor {
        0..=55 => "buster",
        56..=69 => "bullseye",
        _ => "bookworm",
    };
    plan.base_image = format!("rust:{named}-slim-{debian}");
    plan.docker_specs
        .insert("rust_version".to_owned(), named.into());
}

/// Names of all dependencies that the lockfile or the manifests name, with the file.
fn dependencies(tree: &Tree) -> Vec<(String, String)> {
    let mut found = BTreeSet::new();
    let locked = tree.toml("Cargo.lock");
    let packages = locked.as_ref().and_then(|lock| lock.get("package"));
    for package in packages
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(name) = package.get("name").and_then(toml::Value::as_str) {
            found.insert((name.to_owned(), "Cargo.lock".to_owned()));
        }
    }
    let manifests: Vec<&str> = tree
        .files()
        .filter(|path| *path == MANIFEST || path.ends_with("/Cargo.toml"))
        .collect();
    for path in manifests {
        let Some(manifest) = tree.toml(path) else {
            continue;
        };
        let scopes = std::iter::once(&manifest)
            .chain(manifest.get("workspace").and_then(toml::Value::as_table));
        for scope in scopes {
            for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let table = scope.get(key).and_then(toml::Value::as_table);
                for name in table.into_iter().flat_map(toml::Table::keys) {
                    found.insert((name.clone(), path.to_owned()));
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Words of a command that are safe to repeat: no shell syntax, no variable.
fn plain_words(text: &str) -> Vec<String> {
    let mut quote = None;
    let end = text.find(|c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        quote.is_none() && matches!(c, ';' | '|' | '&' | '>' | '#')
    });
    let mut words = shlex::split(&text[..end.unwrap_or(text.len())]).unwrap_or_default();
    let plain = |word: &String| !word.contains(['$', '`', '(']);
    words.truncate(words.iter().take_while(|word| plain(word)).count());
    words
}

/// Words joined for a shell, with a blank in front of each.
fn spaced(words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        text.push(' ');
        text.push_str(&shell_quote(word));
    }
    text
}
