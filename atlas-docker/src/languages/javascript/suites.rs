//! Which suites a repository has, and what must be made before they run.

use super::package::{Workspace, join};
use super::runner::{Meaning, Runner, Suite, meaning};
use super::script::{Expansion, Step};
use super::shell::again;
use crate::facts::{Facts, Verdict};
use crate::tree::Tree;
use atlas_core::Evidence;
use std::collections::{BTreeMap, BTreeSet};

/// Scripts that run tests where `test` does not, likeliest first.
const NAMES: &[&str] = &[
    "test:unit",
    "unit",
    "unit-test",
    "unit-tests",
    "tests",
    "tests-only",
    "test-only",
    "test:only",
    "test:node",
    "test:all",
    "test:ci",
    "test:run",
    "test:vitest",
    "test:jest",
    "test:mocha",
    "jest",
    "vitest",
    "mocha",
    "test:coverage",
    "coverage",
    "ci",
];

/// A command that makes something before the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Preparation {
    pub(super) folder: String,
    pub(super) command: String,
    /// Whether what it makes is known to be needed.
    pub(super) needed: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) suites: Vec<Suite>,
    pub(super) preparations: Vec<Preparation>,
    pub(super) evidence: Vec<Evidence>,
    /// Runners that the scripts call and that are left out, each with its reason.
    pub(super) left_out: Vec<String>,
}

/// Finds the suites behind the script `test`; where it runs none, behind what CI calls, behind
/// scripts of other names, behind the packages' own scripts, and at last of a runner that is
/// declared without a script.
pub(super) fn find(facts: &Facts<'_>, workspace: &Workspace) -> Result<Found, Verdict> {
    let tree = facts.tree;
    let main = workspace.main();
    let mut others: Vec<(String, Evidence)> = Vec::new();
    let mut tried: Vec<Evidence> = Vec::new();
    let written = |name: &str| {
        main.script(name)
            .is_some_and(|script| !script.contains("no test specified"))
    };
    let mut attempt = |steps: Vec<Step>, evidence: Vec<Evidence>| -> Option<Found> {
        let mut found = sorted(&steps, tree, workspace, facts);
        for (name, at) in &found.1 {
            let line = workspace.packages[at.0].placed(tree, &at.1);
            others.push((name.clone(), line));
        }
        if found.0.suites.is_empty() {
            tried.extend(evidence);
            return None;
        }
        found.0.evidence.splice(0..0, evidence);
        Some(found.0)
    };
    if written("test") {
        let steps = Expansion::new(tree, workspace).of(0, "test");
        if let Some(found) = attempt(steps, vec![main.placed(tree, "test")]) {
            return Ok(found);
        }
    }
    for command in facts.ci.test_commands() {
        let steps = Expansion::new(tree, workspace).of_line(&command.text);
        let at = Evidence::at(command.file.clone(), command.line, command.text.clone());
        if let Some(found) = attempt(steps, vec![at]) {
            return Ok(found);
        }
    }
    for name in NAMES.iter().filter(|name| written(name)) {
        let steps = Expansion::new(tree, workspace).of(0, name);
        if let Some(found) = attempt(steps, vec![main.placed(tree, name)]) {
            return Ok(found);
        }
    }
    let mut steps = Vec::new();
    let mut evidence: Vec<Evidence> = workspace.evidence.iter().cloned().collect();
    for (at, package) in workspace.packages.iter().enumerate().skip(1) {
        if package.script("test").is_some() {
            steps.extend(Expansion::new(tree, workspace).of(at, "test"));
            evidence.push(package.placed(tree, "test"));
        }
    }
    if let Some(found) = attempt(steps, evidence) {
        return Ok(found);
    }
    if let Some(found) = declared(facts, workspace, others.is_empty()) {
        return Ok(found);
    }
    if let Some((runner, at)) = others.first() {
        let mut evidence = tried;
        evidence.retain(|line| line != at);
        evidence.push(at.clone());
        return Err(Verdict::no_parser(runner, evidence));
    }
    if tried.is_empty() {
        let evidence = vec![Evidence::of(main.manifest(), "no script `test`")];
        return Err(Verdict::new("package.json has no test script", evidence));
    }
    Err(Verdict::unknown(
        "the test scripts start no test runner that is known",
        tried,
    ))
}

/// A runner that is declared and configured needs no script.
fn declared(facts: &Facts<'_>, workspace: &Workspace, alone: bool) -> Option<Found> {
    let main = workspace.main();
    let dependencies = main.dependencies();
    [
        Runner::Jest,
        Runner::Vitest,
        Runner::Ava,
        Runner::Mocha,
        Runner::Tap,
        Runner::Lab,
    ]
    .into_iter()
    .find_map(|runner| {
        let name = runner.name();
        let configured = main.json.contains_key(name);
        let known = facts.knows(runner.parser());
        // Beside another runner's script, a declaration may serve something else.
        if !known || !(configured || alone && dependencies.contains_key(name)) {
            return None;
        }
        let text = format!("{name} is declared, no test script");
        Some(Found {
            suites: vec![Suite::plain(runner, 0, &main.folder)],
            evidence: vec![Evidence::of(main.manifest(), text)],
            ..Found::default()
        })
    })
}

type Others = Vec<(String, (usize, String))>;

/// Sorts steps into suites and what must be made before them.
fn sorted(
    steps: &[Step],
    tree: &Tree,
    workspace: &Workspace,
    facts: &Facts<'_>,
) -> (Found, Others) {
    let mut found = Found::default();
    let mut others: Others = Vec::new();
    let mut pending: Vec<Preparation> = Vec::new();
    let mut suites: Vec<(Suite, Vec<Preparation>)> = Vec::new();
    for step in steps {
        match meaning(step, tree, workspace) {
            Meaning::Check => {}
            Meaning::Other(name) => others.push((name, (step.package, step.script.clone()))),
            Meaning::Prepare { known } => {
                let mut words = step.env.clone();
                words.extend(step.words.iter().cloned());
                let mut command = outputs(again(&words));
                if let Some(each) = &step.each {
                    command = each.around(&command);
                }
                let next = Preparation {
                    folder: step.folder.clone(),
                    command,
                    needed: known,
                };
                if !pending.contains(&next) {
                    pending.push(next);
                }
            }
            Meaning::Suite(suite) if !facts.knows(suite.runner.parser()) => {
                let name = suite.runner.name().to_owned();
                others.push((name, (suite.package, suite.script)));
            }
            Meaning::Suite(suite) => {
                let before = std::mem::take(&mut pending);
                let same = |other: &Suite| {
                    (&other.folder, &other.program, &other.args)
                        == (&suite.folder, &suite.program, &suite.args)
                        && other.runner == suite.runner
                };
                match suites.iter_mut().find(|(other, _)| same(other)) {
                    Some(_) => {}
                    None => suites.push((suite, before)),
                }
            }
        }
    }
    // A browser is brought for those who have nothing else.
    let all_in_browser = suites.iter().all(|(suite, _)| suite.runner.needs_browser());
    // And Bun beside node would mostly run the same files once more.
    let under_node: BTreeSet<String> = suites
        .iter()
        .map(|(suite, _)| suite)
        .filter(|suite| suite.runner != Runner::Bun && !suite.runner.needs_browser())
        .map(|suite| suite.folder.clone())
        .collect();
    let mut seen = BTreeSet::new();
    for (suite, before) in suites {
        if suite.runner == Runner::Bun && under_node.contains(&suite.folder) {
            let why = "bun test runs beside another runner";
            found.left_out.push(why.to_owned());
            continue;
        }
        if suite.runner.needs_browser() && !all_in_browser {
            found
                .left_out
                .push(format!("{} needs a browser", suite.runner.name()));
            continue;
        }
        if seen.insert((suite.package, suite.script.clone())) && !suite.script.is_empty() {
            let line = workspace.packages[suite.package].placed(tree, &suite.script);
            found.evidence.push(line);
        }
        for preparation in before {
            if !found.preparations.contains(&preparation) {
                found.preparations.push(preparation);
            }
        }
        found.suites.push(suite);
    }
    for (name, _) in &others {
        let text = format!("{name} has no parser");
        if !found.left_out.contains(&text) {
            found.left_out.push(text);
        }
    }
    (found, others)
}

/// The TypeScript compiler writes its output even where types do not fit, and says so by code 2.
fn outputs(command: String) -> String {
    let compiles = command
        .split_whitespace()
        .any(|word| word == "tsc" || word.ends_with("/tsc"));
    if compiles {
        format!("{command} || test $? = 2")
    } else {
        command
    }
}

/// Scripts that build a package, those that do nothing else first.
const SCRIPTS: &[&str] = &[
    "build",
    "compile",
    "build:lib",
    "dist",
    "prepare",
    "prepack",
    "prepublishOnly",
];

/// The packages whose build the tests need, in the order to build them, with the script: those
/// that a tested package depends on or that its own tests import, where importing leads to a file
/// that is not committed.
pub(super) fn unbuilt(
    tree: &Tree,
    workspace: &Workspace,
    suites: &[Suite],
) -> Vec<(usize, String, Evidence)> {
    let tested: BTreeSet<usize> = suites.iter().map(|suite| suite.package).collect();
    let tests = tests(tree, workspace);
    let tested: Vec<usize> = (0..workspace.packages.len())
        .filter(|at| tested.contains(at) || tested.contains(&0) && tests.contains_key(at))
        .collect();
    let mut order: Vec<usize> = Vec::new();
    let mut open = BTreeSet::new();
    for at in &tested {
        let files = tests.get(at).map_or(&[][..], Vec::as_slice);
        let own = imports_itself(tree, workspace, *at, files);
        visit(workspace, *at, own, &mut open, &mut order, tree);
    }
    let mut builds: Vec<(usize, String, Evidence)> = Vec::new();
    for at in order {
        let Some(absent) = absent(tree, workspace, at) else {
            continue;
        };
        // A package without a script of its own is built by the root's, with the others.
        let own = |of: usize, names: &[&'static str]| {
            let package = &workspace.packages[of];
            let found = names.iter().find(|name| package.script(name).is_some())?;
            Some((of, *found))
        };
        let Some((of, script)) = own(at, SCRIPTS).or_else(|| own(0, &SCRIPTS[..3])) else {
            continue;
        };
        if builds.iter().any(|(known, ..)| *known == of) {
            continue;
        }
        let mut line = workspace.packages[of].placed(tree, script);
        line.text = format!("{} (makes {absent}, which tests import)", line.text);
        builds.push((of, script.to_owned(), line));
    }
    builds
}

fn visit(
    workspace: &Workspace,
    at: usize,
    wanted: bool,
    open: &mut BTreeSet<usize>,
    order: &mut Vec<usize>,
    tree: &Tree,
) {
    if open.insert(at) {
        for name in workspace.packages[at].dependencies().keys() {
            let needed = (0..workspace.packages.len())
                .find(|other| *other != at && workspace.packages[*other].name() == name);
            if let Some(needed) = needed {
                visit(
                    workspace,
                    needed,
                    !is_mapped(tree, workspace, at, needed),
                    open,
                    order,
                    tree,
                );
            }
        }
    }
    if wanted && !order.contains(&at) {
        order.push(at);
    }
}

/// A file that importing the package leads to and that is not there.
fn absent(tree: &Tree, workspace: &Workspace, at: usize) -> Option<String> {
    let package = &workspace.packages[at];
    package.entries().into_iter().find(|entry| {
        let path = join(&package.folder, entry);
        let there = ["", ".js", ".cjs", ".json", "/index.js"]
            .iter()
            .any(|end| tree.has(&format!("{path}{end}")));
        !there && !entry.contains('*') && !tree.has_folder(&path) && entry.contains(['.', '/'])
    })
}

/// The test files of each package.
fn tests<'a>(tree: &'a Tree, workspace: &Workspace) -> BTreeMap<usize, Vec<&'a str>> {
    let folders: BTreeMap<&str, usize> = workspace
        .packages
        .iter()
        .enumerate()
        .map(|(at, package)| (package.folder.as_str(), at))
        .collect();
    let mut found: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for path in tree.files().filter(|path| super::is_test(path)) {
        let mut folder = path;
        let owner = loop {
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
            match folders.get(folder) {
                Some(owner) => break Some(*owner),
                None if folder.is_empty() => break None,
                None => {}
            }
        };
        if let Some(owner) = owner {
            found.entry(owner).or_default().push(path);
        }
    }
    found
}

/// Whether a package's tests import its own output.
fn imports_itself(tree: &Tree, workspace: &Workspace, at: usize, tests: &[&str]) -> bool {
    let package = &workspace.packages[at];
    let Some(absent) = absent(tree, workspace, at) else {
        return false;
    };
    let mut wanted = Vec::new();
    if let Some((folder, _)) = absent.split_once('/')
        && !tree.has_folder(&join(&package.folder, folder))
    {
        wanted.push(format!(
            r"(?:\.\./|\./){}(?:/[^'\x22]*)?",
            regex::escape(folder)
        ));
    }
    if !package.name().is_empty() && !is_mapped(tree, workspace, at, at) {
        wanted.push(format!("{}(?:/[^'\\x22]*)?", regex::escape(package.name())));
    }
    let pattern = format!(r"['\x22](?:\.\./)*(?:{})['\x22]", wanted.join("|"));
    let Ok(pattern) = regex::Regex::new(&pattern) else {
        return false;
    };
    !wanted.is_empty()
        && tests
            .iter()
            .take(1000)
            .filter_map(|path| tree.text(path))
            .any(|text| pattern.is_match(&text))
}

/// Whether the configuration of a package's tests leads the name of another to its sources.
fn is_mapped(tree: &Tree, workspace: &Workspace, at: usize, other: usize) -> bool {
    let name = workspace.packages[other].name();
    let short = name.split('/').next().unwrap_or(name);
    let folders = [&workspace.packages[at].folder, &workspace.main().folder];
    let tools = [
        "jest.config",
        "vitest.config",
        "vite.config",
        "vitest.workspace",
        "vitest.root",
    ];
    let endings = [".js", ".ts", ".mjs", ".mts", ".cjs", ".cts", ".json"];
    let mut configs: Vec<String> = Vec::new();
    for folder in folders {
        for tool in tools {
            configs.extend(endings.map(|end| join(folder, &format!("{tool}{end}"))));
        }
        configs.push(join(folder, "package.json"));
    }
    configs
        .into_iter()
        .filter_map(|file| Some((tree.text(&file)?, file)))
        .any(|(text, file)| {
            let mapped = ["moduleNameMapper", "alias"]
                .iter()
                .any(|word| text.contains(word));
            let always = ["conditions", "tsconfigPaths", "tsconfig-paths"]
                .iter()
                .any(|word| text.contains(word));
            mapped && text.contains(short) || always && !file.ends_with("package.json")
        })
}
