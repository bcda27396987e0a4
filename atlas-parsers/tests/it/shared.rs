//! A larger corpus with known truth, scored where it lies beside the workspace.
//!
//! A case is `<framework>/<case>/` with `log.txt` and `expected.json`; it is exact when every
//! expected id has its status (or an accepted one) and nothing else is reported but optional ids
//! and aliases. `ATLAS_ONLY=jest` looks at one framework.

use crate::support::{crate_root, entries, name};
use atlas_core::{LogParserExt, ParsedLog, TestStatus};
use atlas_parsers::Parsers;
use serde::Deserialize;
use std::collections::BTreeMap;

type Statuses = BTreeMap<String, TestStatus>;
type Choices = BTreeMap<String, Vec<TestStatus>>;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Truth {
    pub(crate) tests: Statuses,
    qualified: Option<Statuses>,
    pub(crate) accept: Choices,
    pub(crate) optional: Choices,
    pub(crate) aliases: BTreeMap<String, String>,
}

/// Cases with tests whose ids cannot be read from the log: framework, case, parts of those ids.
///
/// Jest prints `has (parens) (12 ms)` both for a test of that title that took no time and for
/// `has (parens)` that took 12 ms. Surefire 2.22 prints the tests of nested classes under the outer
/// class, without theirs: `[ERROR] inner  Time elapsed: 0 s` below `in com.example.JupTest`. The truth
/// knows better than the log. Of phpunit's, it knows worse: the class is printed as `AFatal`, not
/// `A Fatal`; the error list of the `TeamCity` log names both tests of `SetupFailsTest`, and a
/// `testIgnored` message the test whose dependency failed. Boost.Test's log tells of an expected
/// failure as of any other, and its `JUnit` log has the escaped names of template instances, which the
/// truth leaves out. `CppUnit` prints `testPrint` and that test's output `output here` as one word.
const UNREADABLE: &[(&str, &str, &[&str])] = &[
    ("boost", "junit_log", &["tmpl<int>", "tmpl<double>"]),
    ("boost", "test_suite", &["top_expected_fail"]),
    ("cppunit", "brief_progress", &["MathTest::testPrint"]),
    ("jest", "coverage", &["has (parens)"]),
    ("jest", "verbose-ci", &["has (parens)"]),
    ("maven", "j5_plain_console", SUREFIRE_NESTED),
    ("maven", "reactor_plain_console", SUREFIRE_NESTED),
    ("phpunit", "v9_fatal_testdox", &["Fatal > "]),
    (
        "phpunit",
        "v11_teamcity",
        &["SetupFailsTest::test", "NastyTest::testDepends\""],
    ),
];

const SUREFIRE_NESTED: &[&str] = &[
    "JupTest$NamedNested.x\"",
    "JupTest$WhenNested.inner\"",
    "JupTest$WhenNested$Deeper.deep",
    "JupTest.x\"",
    "JupTest.inner\"",
    "JupTest.deep",
];

/// The parts of ids about which this case's truth is disputed, each as it stands in a quoted id.
pub(crate) fn unreadable(framework: &str, case: &str) -> &'static [&'static str] {
    let known = UNREADABLE.iter().find(|k| k.0 == framework && k.1 == case);
    known.map_or(&[], |known| known.2)
}

/// Mocha's list reporter prints suites and test in one text, `Calculator add adds numbers`, where
/// the truth has the parts: nothing in such a log tells where one ends and the next begins.
pub(crate) fn in_one_text(framework: &str, text: &str, log: &ParsedLog, truth: &mut Truth) {
    if framework != "mocha" || !text.contains("\r  ✔ ") {
        return;
    }
    let plain = |id: &str| id.replace(" >", "");
    let tests = std::mem::take(&mut truth.tests).into_iter();
    let named = |id: String| {
        let result = log.results.iter().find(|r| plain(r.name) == plain(&id));
        result.map_or(id, |result| result.name.to_owned())
    };
    truth.tests = tests.map(|(id, status)| (named(id), status)).collect();
}

/// The mistakes of one map, and how many expected tests were right.
fn compare(
    got: &BTreeMap<&str, TestStatus>,
    want: &Statuses,
    accept: &Choices,
    allowed: impl Fn(&str) -> bool,
    aliases: &BTreeMap<String, String>,
) -> (usize, Vec<String>) {
    let (mut right, mut mistakes) = (0, Vec::new());
    for (id, status) in want {
        let have = got.get(id.as_str()).copied().or_else(|| {
            aliases
                .iter()
                .filter(|(_, real)| *real == id)
                .find_map(|(alias, _)| got.get(alias.as_str()).copied())
        });
        let fine = have == Some(*status)
            || have.is_some_and(|have| accept.get(id).is_some_and(|a| a.contains(&have)));
        if fine {
            right += 1;
        } else {
            mistakes.push(format!("{id:?}: expected {status}, got {have:?}"));
        }
    }
    for (id, status) in got {
        if !want.contains_key(*id) && !allowed(id) && !aliases.contains_key(*id) {
            mistakes.push(format!("{id:?}: reported {status}, not in the log"));
        }
    }
    (right, mistakes)
}

#[test]
fn the_corpus_beside_the_workspace_is_read_exactly() {
    let shared = crate_root().join("../../shared");
    let parsers = Parsers::builtin();
    let mut failing = Vec::new();
    let only = std::env::var("ATLAS_ONLY").ok();
    let mut seen = false;
    for corpus in ["corpus", "corpus-public"] {
        for framework in entries(&shared.join(corpus)) {
            seen = true;
            let id = name(&framework);
            let Ok(parser) = parsers.get(&id) else {
                continue;
            };
            if only.as_ref().is_some_and(|only| *only != id) {
                continue;
            }
            let (mut cases, mut exact, mut tests, mut tests_right) = (0, 0, 0, 0);
            for case in entries(&framework) {
                let Ok(truth) = std::fs::read(case.join("expected.json")) else {
                    continue;
                };
                let mut truth: Truth = serde_json::from_slice(&truth)
                    .unwrap_or_else(|why| panic!("{}/expected.json: {why}", case.display()));
                let text = std::fs::read(case.join("log.txt")).unwrap();
                let log = parser.parse(&text);
                in_one_text(&id, &String::from_utf8_lossy(&text), &log, &mut truth);
                let (right, mut mistakes) = compare(
                    &log.tests(),
                    &truth.tests,
                    &truth.accept,
                    |id| truth.optional.contains_key(id),
                    &truth.aliases,
                );
                if let Some(qualified) = &truth.qualified {
                    let lenient = !truth.optional.is_empty() || !truth.accept.is_empty();
                    let none = BTreeMap::new();
                    let (_, more) = compare(
                        &log.qualified(),
                        qualified,
                        &Choices::new(),
                        |_| lenient,
                        &none,
                    );
                    mistakes.extend(more.into_iter().map(|m| format!("qualified {m}")));
                }
                let disputed = unreadable(&id, &name(&case));
                mistakes.retain(|mistake| !disputed.iter().any(|test| mistake.contains(test)));
                cases += 1;
                tests += truth.tests.len();
                tests_right += right;
                if mistakes.is_empty() {
                    exact += 1;
                } else {
                    let shown: Vec<_> = mistakes
                        .iter()
                        .take(8)
                        .map(|m| format!("     {m}"))
                        .collect();
                    failing.push(format!(
                        "-- {corpus}/{id}/{}: {} mistakes\n{}",
                        name(&case),
                        mistakes.len(),
                        shown.join("\n")
                    ));
                }
            }
            println!("{id:18} exact {exact}/{cases}  tests {tests_right}/{tests}");
        }
    }
    if !seen {
        println!("skipped: ../shared is not here");
    }
    assert!(
        failing.is_empty(),
        "{} cases are not exact\n{}",
        failing.len(),
        failing.join("\n")
    );
}
