//! JavaScript and TypeScript under Node: one analysis for two language ids.

mod bun;
mod calls;
mod command;
mod manager;
mod node;
mod package;
mod prepare;
mod programs;
mod runner;
mod script;
mod shell;
mod suites;

use super::{Language, env};
use crate::facts::{Facts, LEFT_OUT, Presence, Project, Verdict, only_projects};
use crate::quote::shell_quote;
use crate::system;
use crate::toolbox::{self, AVA_TWO, MOCHA_TWO, NODE_WHOLE, PLAYWRIGHT_TWO};
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use command::{Setting, VITEST_PARTS};
use manager::Manager;
use package::{MANIFEST, Workspace, join};
use runner::{Runner, Suite};

/// JavaScript.
#[derive(Debug)]
pub(crate) struct JavaScript;

/// Endings of JavaScript.
const JAVASCRIPT: &[&str] = &[".js", ".jsx", ".mjs", ".cjs"];
/// Endings of TypeScript.
const TYPESCRIPT: &[&str] = &[".ts", ".tsx", ".mts", ".cts"];

/// The copy that comes with npm; a repository need not have its own.
const NODE_GYP: &str = r#"node "$(dirname "$(readlink -f "$(command -v npm)")")/../node_modules/node-gyp/bin/node-gyp.js" rebuild"#;

/// Builds an addon by the package's own install script, which may give its binding variables that a bare `node-gyp`
/// does not know. node-pre-gyp, prebuild-install and node-gyp-build then fetch nothing that is built already.
const OWN_INSTALL: &str = "npm_config_build_from_source=true npm run install";

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
        presence(tree, false)
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        analyse(facts)
    }
}

/// Whether a path is a test's by its name or folder.
fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let code = JAVASCRIPT.iter().chain(TYPESCRIPT);
    code.into_iter().any(|end| path.ends_with(end))
        && (name.contains(".test.")
            || name.contains(".spec.")
            || name.contains("-test.")
            || name.contains("_test.")
            || path
                .split('/')
                .any(|part| matches!(part, "__tests__" | "test" | "tests" | "spec" | "specs"))
            || name.starts_with("test."))
}

/// How much of one of the two languages is there. A repository is the one or the other: TypeScript
/// with a `tsconfig.json` and at least as many sources of it, tests and settings not counted.
pub(super) fn presence(tree: &Tree, typescript: bool) -> Presence {
    let ends = |path: &str, endings: &[&str]| endings.iter().any(|end| path.ends_with(end));
    let declares = |path: &str| {
        [".d.ts", ".d.mts", ".d.cts"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    let mut sources = 0;
    let mut tests = 0;
    let (mut plain, mut typed) = ([0, 0], [0, 0]);
    for path in tree.files() {
        let is_typed = ends(path, TYPESCRIPT);
        if !is_typed && !ends(path, JAVASCRIPT) {
            continue;
        }
        let test = is_test(path);
        sources += 1;
        tests += usize::from(test);
        let settings = path.contains(".config.") || path.starts_with('.') || path.contains("/.");
        if !settings && !declares(path) {
            let counted = if is_typed { &mut typed } else { &mut plain };
            counted[usize::from(test)] += 1;
        }
    }
    let configured = tree.ending(".json").any(|path| {
        path.rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("tsconfig"))
    });
    let more = if plain[0] + typed[0] > 0 {
        typed[0] >= plain[0]
    } else {
        typed[1] > plain[1]
    };
    if (configured && more) != typescript {
        return Presence::default();
    }
    Presence {
        manifest: package::main_folder(tree).map(|folder| join(&folder, MANIFEST)),
        sources,
        tests,
    }
}

/// The plan, for either language.
pub(super) fn analyse(facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
    let Some(workspace) = Workspace::open(facts.tree) else {
        let evidence = vec![Evidence::of(MANIFEST, "missing, or not readable as JSON")];
        return Err(Verdict::new(
            "no readable package.json in the repository's root",
            evidence,
        ));
    };
    let mut found = suites::find(facts, &workspace)?;
    let projects: Vec<Project<'_>> = found
        .suites
        .iter()
        .map(|suite| {
            let package = &workspace.packages[suite.package];
            Project {
                folder: &suite.folder,
                name: package.name(),
                needs: package.dependencies().into_keys().collect(),
            }
        })
        .collect();
    let (chosen, count) = (facts.concerned(&projects), found.suites.len());
    let mut plan = EnvironmentPlan {
        env: env([
            ("CI", "1"),
            ("LANG", "C.UTF-8"),
            ("NO_COLOR", "1"),
            ("PATH", "$ATLAS_ENV/tools/node_modules/.bin:$PATH"),
            ("npm_config_cache", "$ATLAS_ENV/npm"),
            // Headers of node, fetched when an addon is first built.
            ("npm_config_devdir", "$ATLAS_ENV/node-gyp"),
            // Of a host that is out of reach npm would ask again after ten seconds, and a minute.
            ("npm_config_fetch_retry_mintimeout", "1000"),
            ("npm_config_update_notifier", "false"),
        ]),
        ..EnvironmentPlan::default()
    };
    if chosen.len() < count {
        let mut at = 0..;
        found
            .suites
            .retain(|_| at.next().is_some_and(|at| chosen.contains(&at)));
        let folders = found.suites.iter().map(|suite| suite.folder.clone());
        only_projects(&mut plan, folders.collect(), count);
    }
    let node = node::version(facts, workspace.main(), &mut plan).major;
    let manager = Manager::find(facts, &workspace, node);
    runners(facts, &workspace, &found, node, &mut plan);
    node::ensure(node, manager.npm(node), &mut plan);
    manager.env(facts, &workspace, &mut plan);
    prepare::variables(&workspace, &found.suites, node, &mut plan);
    let browsers = prepare::browsers(&workspace, &found.suites, &mut plan);
    let tested: Vec<&str> = found
        .suites
        .iter()
        .map(|suite| suite.folder.as_str())
        .collect();
    let runs_bun = |suite: &Suite| suite.runner == Runner::Bun;
    if !manager.is_bun() && found.suites.iter().any(runs_bun) {
        let tool = bun::tool(facts, workspace.main());
        node::install(&tool, &mut plan);
    }
    manager.install(facts, &workspace, &tested, &mut plan);
    prepare::fetch_browsers(&workspace, &found.suites, &mut plan);
    prepare::assemble_tap(facts.tree, &workspace, &found.suites, &mut plan);
    prepare::adapters(&found.suites, &mut plan);
    let mut native: Vec<(&str, Evidence)> = browsers;
    let gyp = join(&workspace.main().folder, "binding.gyp");
    if facts.tree.has(&gyp) {
        let own = workspace.main().script("install").is_some();
        let command = if own { OWN_INSTALL } else { NODE_GYP };
        plan.rebuild
            .push(manager::in_folder(&workspace.main().folder, command));
        for package in ["build-essential", "python3"] {
            native.push((package, Evidence::of(gyp.clone(), "a native addon")));
        }
    }
    for (at, script, line) in suites::unbuilt(facts.tree, &workspace, &found.suites) {
        let folder = &workspace.packages[at].folder;
        // The scripts make it themselves.
        let made = |preparation: &suites::Preparation| {
            preparation.needed
                && preparation.folder == *folder
                && !programs::only_tidies(&preparation.command)
        };
        if found.preparations.iter().any(made) {
            continue;
        }
        let command = manager::in_folder(folder, &format!("npm run {}", shell_quote(&script)));
        let shown = workspace.packages[at].name();
        let said = shell_quote(&format!("atlas: the build of {shown} failed"));
        let command = format!("{command} || echo {said}");
        plan.build.push(command.clone());
        plan.rebuild.push(command);
        plan.prove("build", line);
    }
    prepare::preparations(&workspace, &found.preparations, &mut plan);
    manager.prefetch(facts, &workspace, &mut plan);
    let dependencies: Vec<(String, String)> = workspace
        .dependencies()
        .into_iter()
        .map(|(name, (_, file))| (name, file))
        .collect();
    system::packages(facts, "javascript", &dependencies, &native, &mut plan);
    Ok(plan)
}

/// Test command, parser and report of the suites.
fn runners(
    facts: &Facts<'_>,
    workspace: &Workspace,
    found: &suites::Found,
    node: u32,
    plan: &mut EnvironmentPlan,
) {
    let mut parsers: Vec<&str> = Vec::new();
    for suite in &found.suites {
        if !parsers.contains(&suite.runner.parser()) {
            parsers.push(suite.runner.parser());
        }
    }
    plan.log_parser_name = parsers.join("+");
    let is_vitest = |suite: &Suite| suite.runner == Runner::Vitest;
    // A report is one file; several suites would write over each other's.
    plan.report = match found.suites.as_slice() {
        several if several.len() > 1 && several.iter().all(is_vitest) => facts
            .knows("junit")
            .then(|| ReportSpec::new(VITEST_PARTS, "junit")),
        [only] => only
            .report(node, workspace)
            .filter(|(_, reader)| facts.knows(reader))
            .filter(|_| only.runner != Runner::Bun || bun::writes_reports(facts, workspace.main()))
            .map(|(file, reader)| ReportSpec::new(file, reader)),
        _ => None,
    };
    let setting = Setting {
        tree: facts.tree,
        workspace,
        node,
        report: plan.report.is_some(),
        part: None,
    };
    let suite = found.suites.first().filter(|_| setting.report);
    let script = suite.and_then(|suite| match suite.runner {
        Runner::Mocha => Some(MOCHA_TWO),
        Runner::Ava => Some(AVA_TWO),
        Runner::Playwright => Some(PLAYWRIGHT_TWO),
        Runner::NodeTest if !suite.is_borp() => Some(NODE_WHOLE),
        _ => None,
    });
    if let Some(name) = script {
        toolbox::add(plan, name);
    }
    let commands: Vec<(String, String)> = found
        .suites
        .iter()
        .enumerate()
        .map(|(at, suite)| {
            let part = (found.suites.len() > 1).then_some(at + 1);
            let command = suite.command(Setting { part, ..setting });
            (suite.folder.clone(), command)
        })
        .collect();
    plan.test_cmd = prepare::test_command(workspace, &commands, plan.report.as_ref());
    for line in &found.evidence {
        plan.prove("log_parser_name", line.clone());
        plan.prove("test_cmd", line.clone());
    }
    for line in &found.left_out {
        plan.drift.push(format!("{LEFT_OUT}{line}"));
    }
}
