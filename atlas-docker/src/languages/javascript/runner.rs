//! Programs that tests run under, and what the other commands of a script mean.

use super::package::{Workspace, join};
use super::programs::{BUILDERS, CHECKS, INTERPRETERS, JEST_KITS, NODE_VALUED, OTHERS, is_known};
use super::script::{Step, bare, head};
use super::shell::{Loop, options, unquoted};
use crate::tree::Tree;

/// Runners that a plan can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Runner {
    Jest,
    Vitest,
    Mocha,
    Ava,
    NodeTest,
    Tap,
    Tape,
    Jasmine,
    Uvu,
    Lab,
    QUnit,
    Brittle,
    Bun,
    Karma,
    Playwright,
    Cypress,
}

/// The command of `better-node-test`, which starts node's runner with the files that have a test's ending.
const BNT: &str = "bnt";

/// A program that starts a runner.
const RUNNERS: &[(&str, Runner)] = &[
    ("jest", Runner::Jest),
    ("jest-cli", Runner::Jest),
    ("vitest", Runner::Vitest),
    ("mocha", Runner::Mocha),
    ("ts-mocha", Runner::Mocha),
    ("ava", Runner::Ava),
    ("borp", Runner::NodeTest),
    (BNT, Runner::NodeTest),
    ("tap", Runner::Tap),
    ("tape", Runner::Tape),
    ("jasmine", Runner::Jasmine),
    ("jasmine-ts", Runner::Jasmine),
    ("uvu", Runner::Uvu),
    ("lab", Runner::Lab),
    ("@hapi/lab", Runner::Lab),
    ("qunit", Runner::QUnit),
    ("brittle", Runner::Brittle),
    ("brittle-node", Runner::Brittle),
    ("karma", Runner::Karma),
    ("playwright", Runner::Playwright),
    ("cypress", Runner::Cypress),
];

impl Runner {
    /// As people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NodeTest => "node:test",
            Self::Uvu => "uvu",
            Self::QUnit => "QUnit",
            Self::Brittle => "brittle",
            Self::Bun => "bun test",
            _ => self.parser(),
        }
    }

    /// The id of its log's parser.
    pub(super) fn parser(self) -> &'static str {
        match self {
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Ava => "ava",
            Self::NodeTest => "nodetest",
            // Of Jasmine and uvu an adapter of the plan makes TAP.
            Self::Tap | Self::QUnit | Self::Brittle | Self::Jasmine | Self::Uvu => "tap",
            Self::Lab => "lab",
            Self::Tape => "tape",
            Self::Bun => "bun",
            Self::Karma => "karma",
            Self::Playwright => "playwright",
            Self::Cypress => "cypress",
        }
    }

    /// Whether it drives a browser.
    pub(super) fn needs_browser(self) -> bool {
        matches!(self, Self::Karma | Self::Playwright | Self::Cypress)
    }

    /// The runner of this name, as a dependency is called.
    pub(super) fn of_dependency(name: &str) -> Option<Self> {
        let same = |(known, runner): &(&str, Self)| (*known == name).then_some(*runner);
        RUNNERS.iter().find_map(same)
    }
}

/// A test suite: the command that runs it, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) runner: Runner,
    pub(super) package: usize,
    /// The script it stands in; empty where no script names it.
    pub(super) script: String,
    /// Where it runs, from the repository's root.
    pub(super) folder: String,
    /// `NAME=value` in front.
    pub(super) env: Vec<String>,
    /// What starts the runner: a program, or node with options and a file. For node's own runner,
    /// node's options alone.
    pub(super) program: Vec<String>,
    /// What the runner is given.
    pub(super) args: Vec<String>,
    /// The loop that runs it again and again.
    pub(super) each: Option<Loop>,
}

impl Suite {
    /// A runner without any option.
    pub(super) fn plain(runner: Runner, package: usize, folder: &str) -> Self {
        let program = match runner {
            Runner::NodeTest => Vec::new(),
            runner => RUNNERS
                .iter()
                .find(|(_, known)| *known == runner)
                .map(|(name, _)| (*name).to_owned())
                .into_iter()
                .collect(),
        };
        Self {
            runner,
            package,
            script: String::new(),
            folder: folder.to_owned(),
            env: Vec::new(),
            program,
            args: Vec::new(),
            each: None,
        }
    }
}

/// What a command of a script is for.
#[derive(Debug)]
pub(super) enum Meaning {
    /// It runs tests.
    Suite(Suite),
    /// It runs tests under something that has no parser.
    Other(String),
    /// It looks at the code, or does nothing that tests could miss.
    Check,
    /// It makes something: known to do so, or perhaps.
    Prepare {
        /// Whether it is known to make what tests import.
        known: bool,
    },
}

/// Tells what a command is for.
pub(super) fn meaning(step: &Step, tree: &Tree, workspace: &Workspace) -> Meaning {
    let mut env = step.env.clone();
    let mut words = &step.words[..];
    let mut is_bun = false;
    // `yarn jest`, `pnpm exec vitest run`, `npm exec -- mocha`.
    while let Some(first) = words.first().map(|word| head(word)) {
        let rest = &words[1..];
        let (_, after) = options(rest, &["--filter", "-F", "-C", "--dir", "-p", "--package"]);
        match first.as_str() {
            "yarn" | "pnpm" | "npm" | "bun" => match after.first().map(String::as_str) {
                Some("exec" | "x" | "run") => words = options(&after[1..], &[]).1,
                Some("dlx" | "create" | "pack" | "publish" | "install" | "ci" | "i" | "add") => {
                    return Meaning::Check;
                }
                Some("test") if first == "bun" => {
                    is_bun = true;
                    break;
                }
                Some(name) if first != "npm" && is_known(&head(name)) => words = after,
                _ => return Meaning::Check,
            },
            _ => {
                let (more, rest) = bare(words);
                env.extend(more);
                if rest.len() == words.len() {
                    break;
                }
                words = rest;
            }
        }
    }
    env.retain(|word| {
        let name = word.split('=').next().unwrap_or(word);
        !matches!(name, "CI" | "NODE_V8_COVERAGE" | "COVERAGE")
    });
    // Tests may look at colours that the script asks for; the plan's variable would overrule it.
    let coloured = |word: &String| word.starts_with("FORCE_COLOR=") && word != "FORCE_COLOR=0";
    if env.iter().any(coloured) {
        env.insert(0, "NO_COLOR=".to_owned());
    }
    let Some((first, rest)) = words.split_first() else {
        return Meaning::Check;
    };
    if head(first) == BNT {
        env.push("NODE_ENV=test".to_owned());
    }
    let suite = |runner, program: &[String], args: &[String]| {
        Meaning::Suite(Suite {
            runner,
            package: step.package,
            script: step.script.clone(),
            folder: step.folder.clone(),
            env: env.clone(),
            program: program.to_vec(),
            args: args.to_vec(),
            each: step.each.clone(),
        })
    };
    if is_bun {
        let upto = words.iter().position(|word| word == "test").unwrap_or(0) + 1;
        return suite(Runner::Bun, &words[..upto], &words[upto..]);
    }
    let name = head(first);
    let kit = JEST_KITS.iter().find(|(known, _)| *known == name);
    if let Some((_, command)) = kit {
        let given = rest.first().map(String::as_str).unwrap_or_default();
        return if command.is_empty() {
            suite(Runner::Jest, &words[..1], rest)
        } else if given == *command {
            suite(Runner::Jest, &words[..2], &rest[1..])
        } else {
            Meaning::Prepare { known: true }
        };
    }
    if let Some(runner) = Runner::of_dependency(&name) {
        let first = rest.first().map(String::as_str).unwrap_or_default();
        return match (runner, first) {
            (Runner::Playwright, "install" | "install-deps")
            | (Runner::Cypress, "install" | "verify" | "open")
            | (Runner::Vitest, "bench" | "list" | "typecheck") => Meaning::Check,
            (Runner::NodeTest, _) if name == BNT => {
                let (program, args) = of_bnt(rest, tree, &step.folder);
                suite(runner, &program, &args)
            }
            // Before its second major version, the package was another runner.
            (Runner::QUnit, _)
                if major(workspace, step, "qunit").is_some_and(|major| major < 2) =>
            {
                Meaning::Other(name)
            }
            _ => suite(runner, &words[..1], rest),
        };
    }
    if INTERPRETERS.contains(&name.as_str()) {
        return interpreted(&name, words, &suite, tree, workspace, step);
    }
    let own_test = |name: &str| name.contains("test") && !is_known(name);
    if OTHERS.contains(&name.as_str()) || own_test(&name) {
        return Meaning::Other(name);
    }
    let looks = [
        "lint",
        "types",
        "typecheck",
        "type-check",
        "dts",
        "check",
        "size",
        "format",
    ];
    let looks = step
        .script
        .split([':', '-', '_', '.'])
        .any(|part| looks.contains(&part));
    if CHECKS.contains(&name.as_str()) || name == "tsc" && !emits(rest, tree, &step.folder) || looks
    {
        return Meaning::Check;
    }
    Meaning::Prepare {
        known: makes(&step.script) || BUILDERS.contains(&name.as_str()),
    }
}

/// What `bnt` gives node: options, and what its runner is given.
fn of_bnt(words: &[String], tree: &Tree, folder: &str) -> (Vec<String>, Vec<String>) {
    let measuring = ["--coverage", "--coverage-include", "--coverage-exclude"];
    let (set, files) = options(words, &[&measuring[..], &["-t"]].concat());
    let names = set.iter().filter(|(option, _)| option == "-t");
    let mut args: Vec<String> = names
        .map(|(_, pattern)| format!("--test-name-pattern={pattern}"))
        .collect();
    if files.is_empty() {
        args.push("'**/*.{test,spec}.{js,ts}'".to_owned());
    }
    args.extend(files.iter().cloned());
    let ends = [".test.ts", ".spec.ts"];
    let inside = if folder.is_empty() {
        String::new()
    } else {
        format!("{folder}/")
    };
    let is_typed = tree
        .files()
        .any(|file| file.starts_with(&inside) && ends.iter().any(|end| file.ends_with(end)));
    let program = is_typed.then(|| "--experimental-strip-types".to_owned());
    (program.into_iter().collect(), args)
}

/// The major version of a dependency that a step's package asks for.
fn major(workspace: &Workspace, step: &Step, dependency: &str) -> Option<u32> {
    super::command::major(&workspace.range(step.package, dependency)?)
}

/// Whether a script's name says that it makes something.
fn makes(script: &str) -> bool {
    let words = [
        "build",
        "compile",
        "bundle",
        "generate",
        "codegen",
        "transpile",
        "dist",
        "prepare",
    ];
    words.iter().any(|word| script.contains(word))
}

/// Makes a suite of a runner, the words that start it and its arguments.
type Making<'a> = dyn Fn(Runner, &[String], &[String]) -> Meaning + 'a;

/// A file run by node or its like: a runner's, the tests themselves, or a tool of the project.
fn interpreted(
    name: &str,
    words: &[String],
    suite: &Making<'_>,
    tree: &Tree,
    workspace: &Workspace,
    step: &Step,
) -> Meaning {
    if let Some(at) = words.iter().position(|word| word == "--test") {
        let mut program: Vec<String> = Vec::new();
        match name {
            "node" => {}
            "tsx" => program.extend(["--import", "tsx"].map(str::to_owned)),
            "ts-node" => program.extend(["--require", "ts-node/register"].map(str::to_owned)),
            _ => return Meaning::Other(format!("{name} --test")),
        }
        program.extend(words[1..at].iter().cloned());
        return suite(Runner::NodeTest, &program, &words[at + 1..]);
    }
    let (_, rest) = options(&words[1..], NODE_VALUED);
    let Some(file) = rest.first() else {
        return Meaning::Check;
    };
    let upto = words.len() - rest.len() + 1;
    if let Some(runner) = Runner::of_dependency(&head(file))
        .filter(|_| file.contains("node_modules/") || file.contains("bin/"))
    {
        return suite(runner, &words[..upto], &rest[1..]);
    }
    let path = unquoted(file);
    let found = ["", ".js", ".cjs", ".mjs", ".ts", "/index.js"]
        .iter()
        .map(|end| join(&step.folder, &format!("{path}{end}")))
        .find(|path| tree.has(path));
    // What makes fixtures lies among the tests and is none.
    let is_test = step.script.contains("test")
        || !makes(&step.script) && (path.contains("test") || path.contains("spec"));
    if !is_test {
        return Meaning::Prepare {
            known: makes(&step.script),
        };
    }
    let text = found.and_then(|path| tree.text(&path)).unwrap_or_default();
    let imports = |module: &str| {
        [
            format!("'{module}'"),
            format!("\"{module}\""),
            format!("'{module}/"),
            format!("\"{module}/"),
        ]
        .iter()
        .any(|quoted| text.contains(quoted.as_str()))
    };
    let runner = if imports("node:test") {
        Some(Runner::NodeTest)
    } else {
        [
            ("tape", Runner::Tape),
            ("tap", Runner::Tap),
            ("mocha", Runner::Mocha),
            ("jest", Runner::Jest),
            ("uvu", Runner::Uvu),
            ("brittle", Runner::Brittle),
            ("karma", Runner::Karma),
        ]
        .into_iter()
        .find(|(module, _)| imports(module))
        .or_else(|| {
            // A file that only loads the others: their library speaks.
            let dependencies = workspace.packages[step.package].dependencies();
            let loads = path.contains("test")
                && (text.is_empty() || imports("glob") || text.contains("require("));
            [("tape", Runner::Tape), ("tap", Runner::Tap)]
                .into_iter()
                .find(|(module, _)| loads && dependencies.contains_key(*module))
        })
        .map(|(_, runner)| runner)
    };
    match runner {
        Some(runner) => suite(runner, words, &[]),
        None if path.contains("test") || path.contains("spec") => {
            Meaning::Other(format!("{name} {path}"))
        }
        None => Meaning::Prepare { known: false },
    }
}

/// Whether this call of the TypeScript compiler writes files.
fn emits(args: &[String], tree: &Tree, folder: &str) -> bool {
    if args
        .iter()
        .any(|word| matches!(word.as_str(), "--noEmit" | "--version" | "-v"))
    {
        return false;
    }
    let named = args
        .iter()
        .position(|word| matches!(word.as_str(), "-p" | "--project" | "-b" | "--build"))
        .and_then(|at| args.get(at + 1))
        .filter(|word| !word.starts_with('-'))
        .map_or_else(|| "tsconfig.json".to_owned(), |word| unquoted(word));
    let file = join(folder, &named);
    let text = tree
        .text(&file)
        .or_else(|| tree.text(&join(&file, "tsconfig.json")))
        .unwrap_or_default();
    let silent = regex::Regex::new(r#""noEmit"\s*:\s*true"#);
    !silent.is_ok_and(|silent| silent.is_match(&text))
}
