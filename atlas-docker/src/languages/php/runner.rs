//! What runs the tests, and how it is told to name each of them.

use super::composer::{CONFIGURATIONS, Composer, is_test};
use crate::ci::Placed;
use crate::facts::{Facts, Verdict};
use crate::quote::shell_quote;
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A test runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// `PHPUnit`, a package of the project.
    Phpunit,
    /// `PHPUnit`, which nothing of the project names: installed beside it.
    Global,
    /// Symfony's bridge, which fetches a `PHPUnit` itself.
    Simple,
    Pest,
}

impl Runner {
    /// The program, below the manifest's folder.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Phpunit | Self::Global => "phpunit",
            Self::Simple => "simple-phpunit",
            Self::Pest => "pest",
        }
    }
}

/// Packages that bring a runner.
const NAMED: &[(&str, Runner)] = &[
    ("pestphp/pest", Runner::Pest),
    ("phpunit/phpunit", Runner::Phpunit),
    ("symfony/phpunit-bridge", Runner::Simple),
];

/// Whether a manifest names what runs its tests.
pub(super) fn names_runner(composer: &Composer) -> bool {
    NAMED.iter().any(|(package, _)| composer.has(package))
}

/// Runners that no parser reads.
const OTHERS: &[&str] = &[
    "atoum/atoum",
    "behat/behat",
    "codeception/codeception",
    "kahlan/kahlan",
    "phpspec/phpspec",
];

/// A runner that a parser reads (`nettetester`), but that no plan runs.
const UNPLANNED: &str = "nette/tester";

static CI_RUN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:phpunit|pest)\b(.*)").expect("a literal pattern"));
static CONFIGURATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|\s)(?:-c|--configuration)[= ]["']?([A-Za-z0-9_./-]+)"#)
        .expect("a literal pattern")
});
static EXCLUDED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"--exclude-group[= ]["']?([A-Za-z0-9_,.-]+)"#).expect("a literal pattern")
});
static SUITES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"--testsuite[= ](?:"([^"$]+)"|'([^'$]+)'|([A-Za-z0-9_,.-]+))"#)
        .expect("a literal pattern")
});
static RANDOM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"executionOrder\s*=\s*["'][^"']*random"#).expect("a literal pattern")
});
static OLD_NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bPHPUnit_Framework_TestCase\b").expect("a literal pattern"));

/// Pest, `PHPUnit`, Symfony's bridge, as the manifest names them; else the `PHPUnit` that a
/// configuration or tests speak for.
pub(super) fn find(facts: &Facts<'_>, composer: &Composer) -> Result<(Runner, Evidence), Verdict> {
    let tree = facts.tree;
    let test = tree
        .ending(".php")
        .filter_map(|path| path.strip_prefix(composer.folder.as_str()))
        .find(|path| is_test(path));
    let configuration = CONFIGURATIONS
        .iter()
        .map(|name| format!("{}{name}", composer.folder))
        .find(|path| tree.has(path));
    for (package, runner) in NAMED.iter().copied() {
        if composer.has(package) {
            return Ok((runner, composer.at(tree, package, package)));
        }
    }
    if let Some(package) = OTHERS.iter().find(|package| composer.has(package))
        && configuration.is_none()
    {
        let at = composer.at(tree, package, package);
        return Err(Verdict::no_parser(package, vec![at]));
    }
    if composer.has(UNPLANNED) && configuration.is_none() {
        return Err(Verdict::unknown(
            format!("the tests run under {UNPLANNED}, for which this version has no plan"),
            vec![composer.at(tree, UNPLANNED, UNPLANNED)],
        ));
    }
    match (configuration, test) {
        (Some(path), _) => Ok((
            Runner::Global,
            Evidence::of(path, "a configuration of PHPUnit, which no manifest names"),
        )),
        (None, Some(test)) => Ok((
            Runner::Global,
            Evidence::of(
                format!("{}{test}", composer.folder),
                "named like a test of PHPUnit",
            ),
        )),
        (None, None) => Err(Verdict::new(
            "the repository has no PHP tests",
            vec![Evidence::of(
                composer.main.clone(),
                "no PHPUnit configuration, no file named *Test.php",
            )],
        )),
    }
}

/// Whether tests are written for a `PHPUnit` before 6.
pub(super) fn old_names(facts: &Facts<'_>) -> bool {
    let tests = facts.tree.ending(".php").filter(|path| is_test(path));
    tests
        .take(50)
        .any(|path| facts.tree.line(path, &OLD_NAME).is_some())
}

/// The test command, parser and report. `major` is that of `PHPUnit`, where it is known.
pub(super) fn command(
    facts: &Facts<'_>,
    composer: &Composer,
    runner: Runner,
    major: Option<u32>,
    plan: &mut EnvironmentPlan,
) -> Result<(), Verdict> {
    use std::fmt::Write as _;
    let tree = facts.tree;
    // Before version 6 the console names no tests; the report does, in the form of today.
    let by_report = major.is_some_and(|major| major < 6) && runner != Runner::Pest;
    let parser = if by_report { "junit" } else { "phpunit" };
    if !facts.knows(parser) {
        let evidence = plan
            .evidence
            .get("log_parser_name")
            .cloned()
            .unwrap_or_default();
        return Err(Verdict::no_parser("PHPUnit", evidence));
    }
    parser.clone_into(&mut plan.log_parser_name);
    let mut words = format!("php -d memory_limit=-1 {}", program(runner));
    let script = composer.script("test").or_else(|| composer.script("tests"));
    let in_ci: Vec<_> = facts
        .ci
        .test_commands()
        .filter_map(|command| {
            let run = CI_RUN.captures(&command.text)?.get(1)?.as_str().to_owned();
            Some((run, command))
        })
        .collect();
    let usual = CONFIGURATIONS
        .iter()
        .map(|name| (*name).to_owned())
        .find(|name| tree.has(&format!("{}{name}", composer.folder)));
    let files: BTreeSet<&str> = in_ci
        .iter()
        .filter_map(|(run, _)| Some(CONFIGURATION.captures(run)?.get(1)?.as_str()))
        .collect();
    let is_varied = script.is_none() && files.len() > 1;
    let named = script
        .as_deref()
        .into_iter()
        .map(|text| (text.to_owned(), composer.at(tree, "\"scripts\"", text)))
        .chain(in_ci.iter().map(|(run, at)| {
            (
                run.clone(),
                Evidence::at(at.file.clone(), at.line, at.text.clone()),
            )
        }))
        // A plain call of it speaks for the usual file, whatever further calls name, and so do several files in turn:
        // each is for a database, or another machine, of CI's.
        .take_while(|(text, _)| usual.is_none() || !is_varied && CONFIGURATION.is_match(text))
        .find_map(|(text, why)| {
            let path = CONFIGURATION.captures(&text)?[1]
                .trim_start_matches("./")
                .to_owned();
            tree.has(&format!("{}{path}", composer.folder))
                .then_some((path, why))
        });
    let nested = ["tests", "test", "build"].iter().find_map(|folder| {
        let mut paths = CONFIGURATIONS.iter().map(|name| format!("{folder}/{name}"));
        paths.find(|name| tree.has(&format!("{}{name}", composer.folder)))
    });
    let configuration = match (named, usual, nested) {
        (Some((path, why)), ..) => {
            plan.prove("test_cmd", why);
            let _ = write!(words, " --configuration {}", shell_quote(&path));
            Some(path)
        }
        (None, Some(path), _) => Some(path),
        (None, None, Some(path)) => {
            let _ = write!(words, " --configuration {}", shell_quote(&path));
            Some(path)
        }
        (None, None, None) => None,
    };
    let full = configuration
        .as_ref()
        .map(|path| format!("{}{path}", composer.folder));
    if let Some(path) = &full {
        plan.prove(
            "test_cmd",
            Evidence::of(path.clone(), "PHPUnit's configuration"),
        );
        if let Some((line, text)) = tree.line(path, &RANDOM)
            && major.is_none_or(|major| major >= 8)
        {
            words.push_str(" --order-by=default");
            plan.prove("test_cmd", Evidence::at(path.clone(), line, text));
        }
    }
    // What CI leaves out needs services that are not there.
    let whole = in_ci
        .iter()
        .find(|(run, _)| !run.contains(" --group") && !run.contains("--filter"));
    if let Some((run, at)) = whole
        && let Some(groups) = EXCLUDED.captures(run)
    {
        for group in groups[1].split(',') {
            let _ = write!(words, " --exclude-group={}", shell_quote(group));
        }
        plan.prove(
            "test_cmd",
            Evidence::at(at.file.clone(), at.line, at.text.clone()),
        );
    }
    if let Some((names, at)) = suites_of_ci(&in_ci) {
        let _ = write!(words, " --testsuite {}", shell_quote(&names));
        plan.prove("test_cmd", at);
    }
    // Several would write over each other's.
    let report = facts.knows("junit") && (by_report || !composer.are_several);
    if report {
        words.push_str(" --log-junit \"$ATLAS_OUT/junit.xml\"");
    }
    if runner == Runner::Pest {
        words.push_str(" --colors=never");
    } else if !by_report {
        words.push_str(" --teamcity");
    }
    if configuration.is_none() && runner != Runner::Pest {
        let folder = ["tests", "test", "Tests", "Test"]
            .into_iter()
            .find(|folder| tree.has_folder(&format!("{}{folder}", composer.folder)));
        if composer.is_there {
            words.push_str(" --bootstrap vendor/autoload.php");
        }
        words.push(' ');
        words.push_str(folder.unwrap_or("."));
    }
    let enter = enter(composer);
    plan.test_cmd = if by_report {
        format!("{enter}{{ {words}; code=$?; cat \"$ATLAS_OUT/junit.xml\"; (exit $code); }}")
    } else {
        plan.report = report.then(|| ReportSpec::new("junit.xml", "junit"));
        format!("{enter}{words}")
    };
    Ok(())
}

/// The suites that CI's commands name, where each of them names some: what is in none of them is not run by CI either.
fn suites_of_ci(in_ci: &[(String, &Placed)]) -> Option<(String, Evidence)> {
    let mut names: Vec<&str> = Vec::new();
    for (run, _) in in_ci {
        let found = SUITES.captures(run)?;
        let listed = found.iter().skip(1).flatten().next()?.as_str();
        for name in listed.split(',') {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let (_, at) = in_ci.first()?;
    let why = Evidence::at(at.file.clone(), at.line, at.text.clone());
    Some((names.join(","), why))
}

/// The program as a word of the shell.
pub(super) fn program(runner: Runner) -> String {
    match runner {
        Runner::Global => "\"$ATLAS_ENV/phpunit/vendor/bin/phpunit\"".to_owned(),
        other => format!("vendor/bin/{}", other.name()),
    }
}

/// The command that enters the manifest's folder.
pub(super) fn enter(composer: &Composer) -> String {
    match composer.folder.trim_end_matches('/') {
        "" => String::new(),
        folder => format!("cd {} && ", shell_quote(folder)),
    }
}
