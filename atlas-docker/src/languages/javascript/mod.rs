//! JavaScript and TypeScript under Node.

mod script;

use super::{Language, env};
use crate::analysis::{Facts, Presence, Verdict};
use crate::render::shell_quote;
use crate::system;
use crate::tree::Tree;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use script::Runner;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// JavaScript and TypeScript.
#[derive(Debug)]
pub(crate) struct JavaScript;

const MANIFEST: &str = "package.json";
const ENDINGS: &[&str] = &[".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"];
const INSTALL: &str = "npm install --no-package-lock --no-audit --no-fund";

/// The copy that comes with npm; a repository need not have its own.
const NODE_GYP: &str = r#"node "$(npm root -g)/npm/node_modules/node-gyp/bin/node-gyp.js" rebuild"#;

impl Language for JavaScript {
    fn id(&self) -> &'static str {
        "javascript"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "node:20-bookworm-slim"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        let sources: Vec<_> = tree
            .files()
            .filter(|path| ENDINGS.iter().any(|end| path.ends_with(end)))
            .collect();
        let is_test = |path: &&&str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.contains(".test.")
                || name.contains(".spec.")
                || path
                    .split('/')
                    .any(|part| matches!(part, "__tests__" | "test" | "tests" | "spec"))
                || name.starts_with("test.")
        };
        Presence {
            manifest: tree.has(MANIFEST).then(|| MANIFEST.to_owned()),
            tests: sources.iter().filter(is_test).count(),
            sources: sources.len(),
        }
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let Some(package) = manifest(facts.tree) else {
            let evidence = vec![Evidence::of(MANIFEST, "missing, or not readable as JSON")];
            return Err(Verdict::new(
                "no readable package.json in the repository's root",
                evidence,
            ));
        };
        let suite = script::find(facts.tree, &package)?;
        let mut plan = EnvironmentPlan {
            env: env([
                ("CI", "1"),
                ("LANG", "C.UTF-8"),
                ("NO_COLOR", "1"),
                ("npm_config_cache", "$ATLAS_ENV/npm"),
                // Headers of node, fetched when an addon is first built.
                ("npm_config_devdir", "$ATLAS_ENV/node-gyp"),
                ("npm_config_update_notifier", "false"),
            ]),
            ..EnvironmentPlan::default()
        };
        let node = version(facts, &package, &mut plan);
        let (parser, report) = match suite.runner {
            Runner::Jest => ("jest", Some(("jest.json", "jest"))),
            // Several reporters at once came with Node 20.
            Runner::NodeTest if node.major >= 20 => ("nodetest", Some(("report.tap", "nodetest"))),
            Runner::NodeTest => ("nodetest", None),
        };
        if !facts.knows(parser) {
            return Err(Verdict::no_parser(
                suite.runner.name(),
                suite.evidence.clone(),
            ));
        }
        parser.clone_into(&mut plan.log_parser_name);
        plan.report = report
            .filter(|(_, reader)| facts.knows(reader))
            .map(|(file, reader)| ReportSpec {
                file: file.to_owned(),
                parser: reader.to_owned(),
            });
        plan.test_cmd = suite.command(plan.report.is_some());
        for line in suite.evidence {
            plan.prove("log_parser_name", line.clone());
            plan.prove("test_cmd", line);
        }
        install(facts, &package, &mut plan);
        plan.build.extend(suite.builds.iter().cloned());
        plan.rebuild = suite.builds;
        prefetch(facts, &package, &mut plan);
        let dependencies: Vec<(String, String)> = dependencies(&package)
            .into_keys()
            .map(|name| (name, MANIFEST.to_owned()))
            .collect();
        let gyp = Evidence::of("binding.gyp", "a native addon");
        let native: &[(&str, Evidence)] = if facts.tree.has("binding.gyp") {
            plan.rebuild.insert(0, NODE_GYP.to_owned());
            &[("build-essential", gyp.clone()), ("python3", gyp)]
        } else {
            &[]
        };
        system::packages(facts, self.id(), &dependencies, native, &mut plan);
        Ok(plan)
    }
}

fn manifest(tree: &Tree) -> Option<Map<String, Value>> {
    let text = tree.text(MANIFEST)?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

/// All that gets installed for development: name -> range.
fn dependencies(package: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for key in ["dependencies", "devDependencies", "optionalDependencies"] {
        let table = package.get(key).and_then(Value::as_object);
        for (name, range) in table.into_iter().flatten() {
            if let Some(range) = range.as_str() {
                found.insert(name.clone(), range.to_owned());
            }
        }
    }
    found
}

/// `.nvmrc` and its like, then CI (the newest even major that was released), then `engines`, then
/// the newest even major at the date. Even majors are the ones with long support.
fn version(facts: &Facts<'_>, package: &Map<String, Value>, plan: &mut EnvironmentPlan) -> Version {
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    let even = |version: &Version| version.major.is_multiple_of(2);
    let newest = versions::released(versions::NODE, facts.date)
        .rfind(even)
        .unwrap_or(Version::new(8, 0));
    if let Some(file) = facts.tree.first(&[".nvmrc", ".node-version"])
        && let Some(text) = facts.tree.text(file)
    {
        let text = text.trim();
        let found = if text.starts_with("lts/") || text == "node" {
            Some(newest)
        } else {
            Version::parse(text)
        };
        if let Some(version) = found {
            candidates.push((version, Evidence::at(file, 1, text)));
        }
    }
    let in_ci: Vec<_> = facts
        .ci
        .versions(&[
            ("actions/setup-node", "node-version"),
            ("travis", "node_js"),
        ])
        .into_iter()
        .filter_map(|value| {
            let version = match value.text.as_str() {
                "lts/*" | "lts" | "stable" | "node" | "latest" | "current" | "*" => newest,
                text => Version::parse(text)?,
            };
            let text = format!("CI runs Node {}", value.text);
            let line = Version::new(version.major, 0);
            versions::is_released(versions::NODE, line, facts.date)
                .then(|| (version, Evidence::at(value.file, value.line, text)))
        })
        .collect();
    let best = in_ci
        .iter()
        .filter(|(version, _)| even(version))
        .max_by_key(|(version, _)| version.major)
        .or_else(|| in_ci.iter().max_by_key(|(version, _)| version.major));
    candidates.extend(best.cloned());
    let engines = package
        .get("engines")
        .and_then(|engines| engines.get("node")?.as_str());
    if let Some(range) = engines {
        let fits = versions::released(versions::NODE, facts.date)
            .filter(even)
            .rfind(|version| versions::node_allows(range, *version));
        if let Some(version) = fits {
            let line = facts.tree.line_with(MANIFEST, "\"engines\"").unwrap_or(1);
            let text = format!("engines: node {range}");
            candidates.push((version, Evidence::at(MANIFEST, line, text)));
        }
    }
    if candidates.is_empty() {
        let text = format!(
            "nothing names a Node version: the newest with long support at {}",
            versions::day(facts.date)
        );
        candidates.push((newest, Evidence::of(MANIFEST, text)));
    }
    let version = candidates[0].0;
    for (at, (other, mut evidence)) in candidates.into_iter().enumerate() {
        if at > 0 && other.major != version.major {
            evidence.text = format!("overruled: {}", evidence.text);
        }
        plan.prove("docker_specs", evidence);
    }
    plan.base_image = match version.major {
        0..=10 => format!("node:{}-buster-slim", version.major),
        11..=15 => format!("node:{}-bullseye-slim", version.major),
        _ => format!("node:{}-bookworm-slim", version.major),
    };
    plan.docker_specs
        .insert("node_version".to_owned(), version.major.to_string().into());
    version
}

/// Install scripts run: some packages compile or fetch what their tests need.
fn install(facts: &Facts<'_>, package: &Map<String, Value>, plan: &mut EnvironmentPlan) {
    let tree = facts.tree;
    if let Some(lock) = tree.first(&["npm-shrinkwrap.json", "package-lock.json"]) {
        // Lockfiles of npm 6 were written when peer conflicts were warnings.
        let old = tree.line_with(lock, "\"lockfileVersion\": 1").is_some();
        let peers = if old { " --legacy-peer-deps" } else { "" };
        plan.build
            .push(format!("npm ci --no-audit --no-fund{peers}"));
        plan.prove("build", Evidence::of(lock, "pins the dependencies"));
        return;
    }
    let manager = package
        .get("packageManager")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let other = [
        ("yarn.lock", "yarn", "--frozen-lockfile"),
        ("pnpm-lock.yaml", "pnpm", "--frozen-lockfile"),
    ]
    .into_iter()
    .find(|(lock, ..)| tree.has(lock));
    if let Some((lock, program, frozen)) = other {
        let berry = tree.has(".yarnrc.yml")
            || manager.starts_with("yarn@") && !manager.starts_with("yarn@1");
        let (before, frozen) = if program == "yarn" && berry {
            ("YARN_NODE_LINKER=node-modules ", "--immutable")
        } else {
            ("", frozen)
        };
        plan.build.push(format!(
            "if command -v {program} > /dev/null; then {before}{program} install {frozen}; \
             else echo 'atlas: {program} is absent, npm resolves afresh'; {INSTALL} --legacy-peer-deps; fi"
        ));
        plan.drift.push(format!(
            "where {program} is absent, npm resolves the dependencies afresh and {lock} does not pin them"
        ));
        plan.prove(
            "build",
            Evidence::of(lock, format!("a lockfile of {program}")),
        );
        return;
    }
    if dependencies(package).is_empty() {
        plan.prove("build", Evidence::of(MANIFEST, "no dependencies"));
        return;
    }
    let date = versions::day(facts.date);
    plan.build.push(if date.starts_with("9999") {
        INSTALL.to_owned()
    } else {
        format!(
            "{INSTALL} --before={date} || {{ echo 'atlas: npm cannot resolve as of {date}, takes the newest'; {INSTALL}; }}"
        )
    });
    plan.drift.push(format!(
        "no lockfile: dependencies resolve as of {date}, or as of the build where the registry knows no dates"
    ));
    plan.prove(
        "build",
        Evidence::of(MANIFEST, "dependencies without a lockfile"),
    );
}

/// What the pull request's manifest adds or changes goes into the same `node_modules`, as there is
/// one for all states.
fn prefetch(facts: &Facts<'_>, package: &Map<String, Value>, plan: &mut EnvironmentPlan) {
    if !facts.changes_manifests {
        return;
    }
    let base = dependencies(package);
    let head = manifest(facts.head).map(|package| dependencies(&package));
    let added: Vec<String> = head
        .into_iter()
        .flatten()
        .filter(|(name, range)| base.get(name) != Some(range))
        .map(|(name, range)| format!("{name}@{range}"))
        .collect();
    if added.is_empty() {
        return;
    }
    let words: Vec<String> = added.iter().map(|word| shell_quote(word)).collect();
    plan.prefetch.push(format!(
        "npm install --no-save --no-package-lock --no-audit --no-fund --prefix \"$ATLAS_REPO\" -- {}",
        words.join(" ")
    ));
    plan.drift.push(format!(
        "Base runs with dependencies that the pull request adds or changes: {}",
        added.join(", ")
    ));
    plan.prove(
        "prefetch",
        Evidence::of(MANIFEST, "changed by the pull request"),
    );
}
