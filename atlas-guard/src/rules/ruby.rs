//! `RSpec`, minitest, test-unit, Cucumber.

use super::Act::{Report, Whole, WholeIf};
use super::Rule;
use crate::change::Change;
use crate::signal::SignalKind::{Dependencies, RunnerConfig, RunnerHook, Shadowing, TestScript};
use crate::signal::SignalSeverity::{Suspicious, Tamper};
use regex::Regex;
use std::sync::LazyLock;

pub(super) const RULES: &[Rule] = &[
    Rule {
        files: &[
            ".rspec",
            ".rspec-local",
            "/cucumber.yml",
            "/config/cucumber.yml",
            ".simplecov",
            ".rubyopt",
        ],
        kind: RunnerConfig,
        act: Whole(Suspicious),
        why: "the runner takes its options from this file",
    },
    // Loaded before every test, by habit or by `.rspec`.
    Rule {
        files: &[
            "spec_helper.rb",
            "rails_helper.rb",
            "test_helper.rb",
            "helper.rb",
            "minitest_helper.rb",
            "features/support/",
            "spec/support/",
            "test/support/",
        ],
        kind: RunnerHook,
        act: WholeIf(
            |change| {
                change.in_test_folder()
                    || change.path.starts_with("features/")
                    || change.folder().is_empty()
            },
            Suspicious,
        ),
        why: "the tests load this file first",
    },
    Rule {
        files: &[
            "/Rakefile",
            "/rakefile",
            "/Rakefile.rb",
            "/rakelib/",
            "/lib/tasks/*test*",
            "/lib/tasks/*spec*",
        ],
        kind: TestScript,
        act: WholeIf(|change| change.context.command.runs("rake"), Suspicious),
        why: "the test command runs tasks of this file",
    },
    Rule {
        files: &[".bundle/config", ".bundle/"],
        kind: Dependencies,
        act: Whole(Suspicious),
        why: "bundler takes libraries from where this file says",
    },
    // minitest and rake load any file of such a name that they find on the load path.
    Rule {
        files: &["*_plugin.rb"],
        kind: RunnerHook,
        act: WholeIf(
            |change| change.is_new() && change.folder().ends_with("minitest"),
            Tamper,
        ),
        why: "minitest loads a plugin of this name by itself",
    },
    Rule {
        files: &["*.rb"],
        kind: Shadowing,
        act: WholeIf(shadows_runner, Tamper),
        why: "Ruby finds this file before the runner's own of the same name",
    },
    // A Gemfile is a program; what is no plain list of gems is told.
    Rule {
        files: &["Gemfile", "*.gemspec"],
        kind: Dependencies,
        act: Report(|change| {
            static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
                Regex::new(r"^\s*(#|gem\b|gemspec\b|source\b|group\b|end\b|ruby\b|platforms?\b|git_source\b|\w+\.(add_\w*dependency|version|summary|description|files|authors?|email|homepage|license|metadata|required_ruby_version|require_paths)\b|$|[\w:\x22'\[\]{},. ~><=-]*$)")
                    .expect("a pattern of this file")
            });
            static RUNNER: LazyLock<Regex> = LazyLock::new(|| {
                Regex::new(r#"^\s*gem\s*\(?\s*['"](rspec[\w-]*|minitest[\w-]*|test-unit|rake|mocha|cucumber|simplecov|webmock)['"].*(path|git|github)\b"#)
                    .expect("a pattern of this file")
            });
            let added = change.added();
            added
                .lines()
                .any(|line| RUNNER.is_match(line) || !PLAIN.is_match(line))
        }),
        why: "bundler runs this file, and more than a list of gems was added to it",
    },
    // `-I lib` puts a new folder of the same name before a gem's.
    Rule {
        files: &["Gemfile.lock"],
        kind: Dependencies,
        act: Report(|change| {
            let lock = change.base_text();
            let changed: Vec<String> = change
                .added()
                .lines()
                .map(str::trim)
                .map(str::to_owned)
                .collect();
            changed.iter().any(|line| {
                let name = line.split(' ').next().unwrap_or_default();
                let runner = ["rspec", "minitest", "test-unit", "rake"];
                runner.iter().any(|runner| name.starts_with(runner))
                    && lock.contains(&format!(" {name} ("))
            })
        }),
        why: "another version of the runner is asked for",
    },
];

/// Libraries that a runner requires by name.
const RUNNERS: &[&str] = &[
    "minitest",
    "rspec",
    "rspec-core",
    "rspec-expectations",
    "rspec-mocks",
    "rspec-support",
    "test-unit",
    "rake",
    "bundler",
    "cucumber",
    "mocha",
    "set",
    "json",
    "optparse",
    "stringio",
    "tempfile",
    "pp",
    "prettyprint",
    "time",
    "English",
    "shellwords",
    "securerandom",
    "etc",
    "fileutils",
    "delegate",
    "diff-lcs",
    "timeout",
    "rubygems",
    "pathname",
    "erb",
    "singleton",
];

fn shadows_runner(change: &Change<'_>) -> bool {
    let places = &change.context.places;
    change.is_new()
        && ["lib", "test", "spec", ""].iter().any(|root| {
            let below = if root.is_empty() {
                Some(change.path)
            } else {
                change.path.strip_prefix(&format!("{root}/"))
            };
            let Some(first) = below.and_then(|below| below.split('/').next()) else {
                return false;
            };
            let module = first.strip_suffix(".rb").unwrap_or(first);
            // A project that has such a folder extends the runner; a lone file replaces it.
            let inside = |name: String| format!("{root}/{name}").trim_start_matches('/').to_owned();
            let own = places.is_known(&inside(format!("{module}.rb")))
                || places.is_folder(&inside(module.to_owned()));
            let replaces = first != module
                || matches!(
                    below,
                    Some(
                        "minitest/autorun.rb"
                            | "minitest/test.rb"
                            | "minitest/assertions.rb"
                            | "rspec/core.rb"
                            | "rspec/expectations.rb"
                            | "rspec/autorun.rb"
                            | "test/unit.rb"
                            | "test/unit/testcase.rb"
                    )
                );
            let unit = below == Some("test/unit.rb") || below == Some("test/unit/testcase.rb");
            replaces && (RUNNERS.contains(&module) || unit) && !own
        })
}
