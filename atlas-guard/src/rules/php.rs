//! PHPUnit and Pest.

use super::Act::{Judge, Part, Whole, WholeIf};
use super::{Rule, Ruling, everywhere};
use crate::change::Change;
use crate::command::join;
use crate::places::folder_of;
use crate::sections::Section;
use crate::signal::SignalKind::{Dependencies, RunnerConfig, RunnerHook, StartupHook};
use crate::signal::SignalSeverity::{Suspicious, Tamper};
use regex::Regex;
use std::sync::LazyLock;

pub(super) const RULES: &[Rule] = &[
    Rule {
        files: &[
            "phpunit.xml",
            "phpunit.xml.dist",
            "phpunit.dist.xml",
            "phpunit.*.xml",
            "paratest.xml",
            "behat.yml",
            "behat.yml.dist",
            "codeception.yml",
            "codeception.dist.yml",
        ],
        kind: RunnerConfig,
        act: Whole(Suspicious),
        why: "the runner takes its options from this file",
    },
    // Scripts of the test command, and files that composer loads for tests alone.
    Rule {
        files: &["composer.json"],
        kind: RunnerConfig,
        act: Part(|change| {
            let mut wanted = vec![vec!["autoload-dev".to_owned()]];
            for script in change.context.command.targets("composer") {
                wanted.push(vec!["scripts".to_owned(), script.to_owned()]);
            }
            (!change.in_test_folder()).then_some(Section::Json(wanted))
        }),
        why: "the test command or the autoloader of the tests takes this part",
    },
    // `auto_prepend_file` runs before any script.
    Rule {
        files: &[
            ".user.ini",
            "php.ini",
            ".php.ini",
            "php-cli.ini",
            ".php-version",
        ],
        kind: StartupHook,
        act: Whole(Tamper),
        why: "PHP may run code before any script as this file says",
    },
    // Pest loads them before the tests.
    Rule {
        files: &[
            "tests/Pest.php",
            "tests/Datasets.php",
            "tests/Helpers.php",
            "tests/Expectations.php",
            "tests/bootstrap.php",
            "test/bootstrap.php",
        ],
        kind: RunnerHook,
        act: Whole(Suspicious),
        why: "the runner loads this file before the tests",
    },
    Rule {
        files: &["/vendor/"],
        kind: Dependencies,
        act: Whole(Suspicious),
        why: "a file among the installed packages, where the runner lies",
    },
    Rule {
        files: &["*.php"],
        kind: RunnerHook,
        act: Judge(bootstrap),
        why: "the runner's configuration loads this file before the tests",
    },
    Rule {
        files: &[".phpunit.result.cache", ".phpunit.cache/"],
        kind: RunnerConfig,
        act: WholeIf(|_| true, Suspicious),
        why: "the runner orders tests as this file says",
    },
];

/// `bootstrap="…"` and extensions of Base's configuration.
fn bootstrap(change: &Change<'_>) -> Option<Ruling> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?:bootstrap|printerFile|testSuiteLoaderFile|file)\s*=\s*['"]([^'"]+)['"]"#)
            .expect("a pattern of this file")
    });
    let files = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"];
    let base = change.context.base;
    let named = files.iter().any(|file| {
        let text = base
            .read(file)
            .map(String::from_utf8_lossy)
            .unwrap_or_default();
        NAMED
            .captures_iter(&text)
            .any(|found| join(folder_of(file), &found[1]).as_deref() == Some(change.path))
    });
    let why = "the runner's configuration loads this file before the tests";
    named.then(|| everywhere::script(change, why))
}
