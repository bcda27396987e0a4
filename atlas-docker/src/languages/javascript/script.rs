//! What `npm test` really runs.

use super::MANIFEST;
use crate::analysis::Verdict;
use crate::render::shell_quote;
use crate::tree::Tree;
use atlas_core::Evidence;
use serde_json::{Map, Value};

/// Runners that a plan can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    Jest,
    NodeTest,
}

impl Runner {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Jest => "jest",
            Self::NodeTest => "node:test",
        }
    }
}

/// A test suite: the command that runs it, taken apart.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) runner: Runner,
    /// `NAME=value` in front.
    env: Vec<String>,
    /// Options of node itself.
    node: Vec<String>,
    /// What the runner is given.
    args: Vec<String>,
    /// Commands that must have run before.
    pub(super) builds: Vec<String>,
    pub(super) evidence: Vec<Evidence>,
}

/// Programs that run tests and have no parser.
const OTHERS: &[&str] = &[
    "mocha",
    "vitest",
    "ava",
    "tap",
    "tape",
    "nyc-tape",
    "karma",
    "jasmine",
    "lab",
    "uvu",
    "qunit",
    "bun",
    "deno",
    "wtr",
    "web-test-runner",
    "cypress",
    "playwright",
    "borp",
    "zora",
    "brittle",
    "intern",
    "nodeunit",
    "vows",
    "react-scripts",
    "vue-cli-service",
    "ng",
    "_mocha",
    "tsd",
    "poku",
    "faucet",
];

/// Programs that only measure or prepare what follows them.
const WRAPPERS: &[&str] = &[
    "npx",
    "nyc",
    "c8",
    "cross-env",
    "env",
    "dotenv",
    "exec",
    "time",
];

/// Programs that make what the tests import.
const BUILDERS: &[&str] = &[
    "tsc",
    "babel",
    "rollup",
    "esbuild",
    "tsup",
    "webpack",
    "swc",
    "unbuild",
    "vite",
    "pkgroll",
    "microbundle",
    "tshy",
    "parcel",
    "node-gyp",
    "grunt",
    "gulp",
    "ncc",
];

/// One step of a script after all scripts it calls were put in its place.
#[derive(Clone, Debug)]
struct Step {
    /// The script it stands in.
    script: String,
    words: Vec<String>,
}

/// Finds the suite behind the script `test`, or the script that CI calls in its place.
pub(super) fn find(tree: &Tree, package: &Map<String, Value>) -> Result<Suite, Verdict> {
    let scripts = package.get("scripts").and_then(Value::as_object);
    let text = |name: &str| scripts.and_then(|scripts| scripts.get(name)?.as_str());
    let placed = |name: &str| {
        let line = tree
            .line_with(MANIFEST, &format!("\"{name}\":"))
            .unwrap_or(1);
        let text = text(name).unwrap_or_default();
        Evidence::at(MANIFEST, line, format!("{name}: {text}"))
    };
    let Some(entry) = [
        "test",
        "test:unit",
        "unit",
        "tests",
        "tests-only",
        "test-only",
    ]
    .into_iter()
    .find(|name| text(name).is_some_and(|script| !script.contains("no test specified"))) else {
        // Jest's own configuration is as good as a script.
        if package.contains_key("jest") || declares(package, "jest") {
            return Ok(Suite {
                runner: Runner::Jest,
                env: Vec::new(),
                node: Vec::new(),
                args: Vec::new(),
                builds: Vec::new(),
                evidence: vec![Evidence::of(MANIFEST, "jest is declared, no test script")],
            });
        }
        let evidence = vec![Evidence::of(MANIFEST, "no script `test`")];
        return Err(Verdict::new("package.json has no test script", evidence));
    };
    let mut steps = Vec::new();
    let mut budget = 200;
    for name in [format!("pre{entry}"), entry.to_owned()] {
        if let Some(script) = text(&name) {
            let mut open = vec![name.clone()];
            expand(&name, script, &text, &mut open, &mut budget, &mut steps);
        }
    }
    let mut builds = Vec::new();
    let mut others: Option<(String, Evidence)> = None;
    for step in &steps {
        if let Some(mut suite) = take_apart(step) {
            suite.builds = builds;
            suite.evidence.push(placed(entry));
            if step.script != entry {
                suite.evidence.push(placed(&step.script));
            }
            return Ok(suite);
        }
        let program = program(&step.words).unwrap_or_default();
        if OTHERS.contains(&program.as_str()) {
            others.get_or_insert((program, placed(&step.script)));
        } else if BUILDERS.contains(&program.as_str())
            && !step.words.iter().any(|word| word == "--noEmit")
        {
            builds.push(build_command(step));
        }
    }
    if let Some((runner, at)) = others {
        let mut evidence = vec![placed(entry)];
        if evidence[0] != at {
            evidence.push(at);
        }
        return Err(Verdict::no_parser(&runner, evidence));
    }
    Err(Verdict::new(
        format!("the script `{entry}` starts no test runner that is known"),
        vec![placed(entry)],
    ))
}

fn declares(package: &Map<String, Value>, name: &str) -> bool {
    super::dependencies(package).contains_key(name)
}

/// Splits a script into steps, calls of other scripts replaced by their steps.
fn expand<'a>(
    name: &str,
    script: &str,
    text: &impl Fn(&str) -> Option<&'a str>,
    open: &mut Vec<String>,
    budget: &mut usize,
    into: &mut Vec<Step>,
) {
    // `open` cuts rings; the budget bounds scripts that call each other many times over.
    if *budget == 0 {
        return;
    }
    *budget -= 1;
    for part in split(script) {
        if *budget == 0 {
            return;
        }
        let words = words(&part);
        let called = calls(&words);
        if called.is_empty() {
            if !words.is_empty() {
                let script = name.to_owned();
                into.push(Step { script, words });
            }
            continue;
        }
        for (target, args) in called {
            if text(&target).is_none() {
                // `yarn jest` starts a program; a pattern of `run-s` starts nothing that is known.
                if matches!(words[0].as_str(), "yarn" | "pnpm") {
                    let script = name.to_owned();
                    let words = words.clone();
                    into.push(Step { script, words });
                }
                continue;
            }
            for stage in [format!("pre{target}"), target] {
                let Some(script) = text(&stage) else { continue };
                if open.contains(&stage) {
                    continue;
                }
                let script = if stage.starts_with("pre") || args.is_empty() {
                    script.to_owned()
                } else {
                    format!("{script} {}", args.join(" "))
                };
                open.push(stage.clone());
                expand(&stage, &script, text, open, budget, into);
                open.pop();
            }
        }
    }
}

/// Parts between `&&`, `||`, `;`, `|` and `&`, quotes respected.
fn split(script: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in script.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '&' | '|' | ';' | '\n') => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Words of a part; what is quoted keeps its quotes, so that it means the same in a shell again.
fn words(part: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in part.chars() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    found.push(std::mem::take(&mut word));
                }
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        word.push(c);
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

/// The scripts that a part calls, with the arguments each gets.
fn calls(words: &[String]) -> Vec<(String, Vec<String>)> {
    let strs: Vec<&str> = words.iter().map(String::as_str).collect();
    let (names, rest): (Vec<&str>, &[&str]) = match strs.as_slice() {
        ["npm" | "yarn" | "pnpm", "run" | "run-script", rest @ ..]
        | ["npm", "-s" | "--silent", "run", rest @ ..] => {
            let rest = skip_flags(rest);
            (
                rest.iter().take(1).copied().collect(),
                rest.get(1..).unwrap_or_default(),
            )
        }
        ["npm", "t" | "test" | "tst", rest @ ..] => (vec!["test"], rest),
        ["yarn" | "pnpm", name, rest @ ..] if !matches!(*name, "exec" | "dlx") => {
            (vec![name], rest)
        }
        ["run-s" | "npm-run-all" | "run-p", rest @ ..] => (
            rest.iter()
                .filter(|word| !word.starts_with('-'))
                .copied()
                .collect(),
            &[],
        ),
        _ => return Vec::new(),
    };
    let args: Vec<String> = rest
        .iter()
        .filter(|word| **word != "--")
        .map(|word| (*word).to_owned())
        .collect();
    names
        .into_iter()
        .map(|name| (name.trim_matches(['"', '\'']).to_owned(), args.clone()))
        .collect()
}

fn skip_flags<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let at = words
        .iter()
        .position(|word| !word.starts_with('-'))
        .unwrap_or(words.len());
    &words[at..]
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}

/// Words after wrappers and assignments, which come back apart.
fn bare(words: &[String]) -> (Vec<String>, &[String]) {
    let mut env = Vec::new();
    let mut at = 0;
    let mut wrapped = false;
    while let Some(word) = words.get(at) {
        if is_assignment(word) {
            env.push(word.clone());
        } else if WRAPPERS.contains(&word.as_str()) || word == "yarn" || word == "pnpm" {
            wrapped = true;
        } else if !(wrapped && word.starts_with('-')) {
            break;
        }
        at += 1;
    }
    (env, &words[at..])
}

fn program(words: &[String]) -> Option<String> {
    let (_, rest) = bare(words);
    let first = rest.first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let name = name.trim_end_matches(".js").trim_end_matches(".mjs");
    if name == "node" {
        // `node --flag node_modules/mocha/bin/mocha.js`
        let path = rest.iter().skip(1).find(|word| !word.starts_with('-'))?;
        let package = path.split("node_modules/").nth(1)?;
        let package = package.trim_start_matches(".bin/");
        return package.split('/').next().map(str::to_owned);
    }
    Some(name.to_owned())
}

fn take_apart(step: &Step) -> Option<Suite> {
    let (env, rest) = bare(&step.words);
    let (first, args) = rest.split_first()?;
    let suite = |runner, node: &[String], args: Vec<String>| Suite {
        runner,
        env: env.clone(),
        node: node.to_vec(),
        args,
        builds: Vec::new(),
        evidence: Vec::new(),
    };
    let name = first.rsplit('/').next().unwrap_or(first);
    if name == "jest" || name == "jest.js" {
        return Some(suite(Runner::Jest, &[], jest_args(args)));
    }
    if !matches!(name, "node" | "tsx") {
        return None;
    }
    if let Some(at) = args
        .iter()
        .position(|word| word.contains("node_modules/") && word.contains("jest"))
    {
        return Some(suite(Runner::Jest, &args[..at], jest_args(&args[at + 1..])));
    }
    let at = args.iter().position(|word| word == "--test")?;
    let mut kept: Vec<String> = Vec::new();
    if name == "tsx" {
        kept.extend(["--import".to_owned(), "tsx".to_owned()]);
    }
    kept.extend(args[..at].iter().cloned());
    kept.extend(args[at + 1..].iter().cloned());
    // A second reporter would print what no parser expects.
    drop_options(
        &mut kept,
        &["--test-reporter", "--test-reporter-destination"],
    );
    kept.retain(|word| {
        word != "--watch"
            && !word.starts_with("--experimental-test-coverage")
            && !word.starts_with("--test-coverage")
            && !word.starts_with("--enable-source-maps=")
    });
    Some(suite(Runner::NodeTest, &[], kept))
}

/// Jest's arguments without those that the plan sets itself, that stop early or that only measure.
fn jest_args(args: &[String]) -> Vec<String> {
    let mut kept = args.to_vec();
    drop_options(
        &mut kept,
        &[
            "--outputFile",
            "--coverageReporters",
            "--reporters",
            "--coverageDirectory",
        ],
    );
    kept.retain(|word| {
        let name = word.split('=').next().unwrap_or(word);
        !matches!(
            name,
            "--coverage"
                | "--collectCoverage"
                | "--watch"
                | "--watchAll"
                | "--silent"
                | "--bail"
                | "-b"
                | "--ci"
                | "--verbose"
                | "--json"
                | "-o"
                | "--onlyChanged"
                | "--notify"
                | "-u"
                | "--updateSnapshot"
                | "--colors"
                | "--color"
                | "--passWithNoTests"
        )
    });
    kept
}

/// Removes options that take a value, written with `=` or a blank.
fn drop_options(words: &mut Vec<String>, options: &[&str]) {
    let mut kept = Vec::new();
    let mut rest = words.drain(..);
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or(&word);
        if options.contains(&name) {
            if !word.contains('=') {
                rest.next();
            }
        } else {
            kept.push(word);
        }
    }
    drop(rest);
    *words = kept;
}

fn build_command(step: &Step) -> String {
    let (env, rest) = bare(&step.words);
    let mut words = env;
    words.extend(["npx".to_owned(), "--no-install".to_owned()]);
    words.extend(rest.iter().cloned());
    again(&words)
}

/// Words as a command again. Words that carry quotes or a pattern of plain characters stay as the
/// script has them; anything that a shell could take for more is quoted.
fn again(words: &[String]) -> String {
    let safe = |word: &String| {
        let inner = ['"', '\'']
            .iter()
            .find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(word);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,*?{}[]!^".contains(c);
        if inner.chars().all(plain) {
            word.clone()
        } else {
            match word.split_once('=').filter(|_| is_assignment(word)) {
                Some((name, value)) => format!("{name}={}", shell_quote(&unquoted(value))),
                None => shell_quote(&unquoted(word)),
            }
        }
    };
    words.iter().map(safe).collect::<Vec<_>>().join(" ")
}

/// A word without the quotes that a shell would take off.
fn unquoted(word: &str) -> String {
    let mut quote = None;
    let mut text = String::new();
    for c in word.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (_, c) => text.push(c),
        }
    }
    text
}

impl Suite {
    /// The command, with a report if one is wanted (Jest always writes one).
    pub(super) fn command(&self, report: bool) -> String {
        let mut words = self.env.clone();
        match self.runner {
            Runner::Jest => {
                if self.node.is_empty() {
                    words.extend(["npx", "--no-install", "jest"].map(str::to_owned));
                } else {
                    words.push("node".to_owned());
                    words.extend(self.node.iter().cloned());
                    words.push("node_modules/jest/bin/jest.js".to_owned());
                }
                words.extend(self.args.iter().cloned());
                format!(
                    "{} --ci --verbose --json --outputFile=\"$ATLAS_OUT/jest.json\"",
                    again(&words)
                )
            }
            Runner::NodeTest => {
                words.extend(["node", "--test"].map(str::to_owned));
                let reporters = if report {
                    // Without force-exit, a failing test that leaves a server open hangs the run. What
                    // goes to standard error is written at once, so it is complete even then.
                    " $(node --help | grep -o -m1 -e --test-force-exit) \
                     --test-reporter=spec --test-reporter-destination=stdout \
                     --test-reporter=tap --test-reporter-destination=stderr"
                } else {
                    ""
                };
                let mut command = again(&words) + reporters;
                if !self.args.is_empty() {
                    command.push(' ');
                    command.push_str(&again(&self.args));
                }
                if report {
                    // A runner that could not start says so there, and a person should see it.
                    command.push_str(
                        " 2>\"$ATLAS_OUT/report.tap\" || (code=$?; grep -q '^TAP version' \
                         \"$ATLAS_OUT/report.tap\" || cat \"$ATLAS_OUT/report.tap\"; exit $code)",
                    );
                }
                command
            }
        }
    }
}
