//! Pieces of build files that steer tests: calls, blocks, rules, elements.

use super::Spliced;
use crate::text::{Syntax, closing, mask, normal};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

/// Which scanner finds the pieces.
#[derive(Debug)]
pub(crate) enum Fragments {
    /// Rules of these targets in a makefile, and the variables that name the shell.
    Make(BTreeSet<String>),
    /// Calls that define tests in a `CMakeLists.txt`.
    Cmake,
    /// `test { … }` and its kin in a Gradle script.
    Gradle,
    /// Plugins that run tests and their properties in a `pom.xml`.
    Maven,
    /// Elements of `MSBuild` files that steer `dotnet test`.
    MsBuild,
    /// The `test: { … }` member of a Vite configuration.
    Vite,
}

/// One piece.
#[derive(Clone, Debug)]
struct Fragment {
    /// What it defines: pieces of the same key stand for each other.
    key: String,
    span: Range<usize>,
    /// A piece that the instance does not have may stay: it defines something of its own.
    may_be_new: bool,
    /// Whether a run without it would be another run that still succeeds.
    must_stay: bool,
}

impl Fragments {
    pub(super) fn splice(&self, now: &str, wanted: &str) -> Spliced {
        let index = |text: &str| {
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            let mut found = BTreeMap::new();
            for fragment in self.scan(text) {
                let number = seen.entry(fragment.key.clone()).or_default();
                *number += 1;
                found.insert((fragment.key.clone(), *number), fragment);
            }
            found
        };
        let (old, new) = (index(wanted), index(now));
        let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (key, fragment) in &new {
            let replacement = match old.get(key) {
                Some(old) => &wanted[old.span.clone()],
                None if fragment.may_be_new => continue,
                None => "",
            };
            if normal(&now[fragment.span.clone()]) != normal(replacement) {
                edits.push((fragment.span.clone(), replacement));
                names.push(key.0.clone());
            }
        }
        let is_lost =
            |(key, old): (&(String, usize), &Fragment)| old.must_stay && !new.contains_key(key);
        if old.iter().any(is_lost) {
            return Spliced::Impossible("a part of it that steers the tests is gone");
        }
        if edits.is_empty() {
            return Spliced::Same;
        }
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut text = now.to_owned();
        let mut before = usize::MAX;
        for (span, replacement) in edits {
            // A piece inside another one goes with it.
            if span.end > before {
                return Spliced::Impossible("its steering parts overlap");
            }
            before = span.start;
            text.replace_range(span, replacement);
        }
        names.dedup();
        Spliced::New(text, names)
    }

    fn scan(&self, text: &str) -> Vec<Fragment> {
        match self {
            Self::Make(targets) => make(text, targets),
            Self::Cmake => cmake(text),
            Self::Gradle => blocks(text, &GRADLE),
            Self::Maven => elements(text, &MAVEN),
            Self::MsBuild => elements(text, &MSBUILD),
            Self::Vite => blocks(text, &VITE),
        }
    }
}

/// Variables of make that change how every recipe runs.
const SHELL_VARIABLES: &[&str] = &[
    "SHELL",
    ".SHELLFLAGS",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MAKEFILES",
    "LD_PRELOAD",
    "PYTHONPATH",
    "NODE_OPTIONS",
    "RUBYOPT",
    "PYTEST_ADDOPTS",
    // Automake's: which tests run, under what, and which may fail.
    "TESTS",
    "XFAIL_TESTS",
    "TESTS_ENVIRONMENT",
    "AM_TESTS_ENVIRONMENT",
    "LOG_COMPILER",
    "TEST_EXTENSIONS",
    ".ONESHELL",
    ".IGNORE",
];

fn make(text: &str, targets: &BTreeSet<String>) -> Vec<Fragment> {
    let mut out: Vec<Fragment> = Vec::new();
    let mut in_rule = false;
    let mut continued = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_end();
        let recipe = line.starts_with('\t');
        if in_rule && (recipe || continued) {
            if let Some(last) = out.last_mut() {
                last.span.end = at;
            }
        } else if !continued && !recipe && !bare.is_empty() {
            let code = bare.trim_start();
            let code = ["export ", "override "]
                .into_iter()
                .fold(code, |code, word| code.strip_prefix(word).unwrap_or(code));
            let end = code.find([':', '=', '?', '+']).unwrap_or(code.len());
            let left = code[..end].trim();
            let rest = &code[end..];
            let sets = rest.starts_with(['=', '?', '+'])
                || rest.starts_with(":=")
                || rest.starts_with("::=");
            let key = if sets || left.starts_with('.') {
                let known = SHELL_VARIABLES.contains(&left);
                known.then(|| format!("variable {left}"))
            } else {
                let target = left.split_whitespace().find(|name| targets.contains(*name));
                target
                    .filter(|_| rest.starts_with(':') && !code.starts_with('#'))
                    .map(|target| format!("target {target}"))
            };
            in_rule = key.is_some();
            if let Some(key) = key {
                out.push(Fragment {
                    key,
                    span: start..at,
                    may_be_new: false,
                    must_stay: false,
                });
            }
        }
        continued = bare.ends_with('\\');
    }
    out
}

fn cmake(text: &str) -> Vec<Fragment> {
    static CALL: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?im)^[ \t]*(add_test|set_tests_properties|set_property|gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests|enable_testing|create_test_sourcelist|ctest_[a-z_]+)[ \t\r\n]*\(",
        )
    });
    let masked = mask(text, Syntax::Hash);
    let mut out = Vec::new();
    for call in CALL.captures_iter(text) {
        let (Some(whole), Some(name)) = (call.get(0), call.get(1)) else {
            continue;
        };
        if masked.get(name.start()) == Some(&b' ') {
            continue;
        }
        let open = whole.end() - 1;
        let Some(end) = closing(&masked, open) else {
            continue;
        };
        let arguments = &text[open + 1..end - 1];
        let name = name.as_str().to_ascii_lowercase();
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let is_property = name.starts_with("set_");
        if name == "set_property" && !words.iter().any(|word| word.eq_ignore_ascii_case("TEST")) {
            continue;
        }
        // The test a call is about; of `add_test(NAME x …)` the second word.
        let subject = match words.first() {
            Some(first) if *first == "NAME" => words.get(1).copied().unwrap_or_default(),
            Some(first) => first,
            None => "",
        };
        // Properties turn results round: labels and time limits of a test of its own are all that
        // a new call may set.
        let turns = [
            "WILL_FAIL",
            "_REGULAR_EXPRESSION",
            "SKIP_RETURN_CODE",
            "DISABLED",
            "ENVIRONMENT",
        ];
        let harmless = !is_property || !turns.iter().any(|turn| arguments.contains(turn));
        out.push(Fragment {
            key: format!("{name}({subject})"),
            span: whole.start()..end,
            may_be_new: harmless,
            must_stay: false,
        });
    }
    out
}

static GRADLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?m)^[ \t]*((?:project\.)?(?:(?:tasks\.)?(?:named|withType|register|getByName|configureEach|matching)?[ \t]*(?:\([ \t]*["']?(?:test|Test)["']?[^{\n]*\)|<Test>[^{\n]*)(?:[ \t]*\.[ \t]*(?:configureEach|all))?|(?:tasks\.)?(?:test|integrationTest|check)|testOptions|testing|(?:tasks\.)?withType<Test>[^{\n]*))[ \t]*\{"#,
    )
});

static VITE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?m)(?:^|[{,(\s])(["']?test["']?[ \t]*:)\s*\{"#));

/// Blocks in braces behind a head that the pattern's first group names.
fn blocks(text: &str, head: &Regex) -> Vec<Fragment> {
    let masked = mask(text, Syntax::Braces);
    let mut out: Vec<Fragment> = Vec::new();
    for found in head.captures_iter(text) {
        let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else {
            continue;
        };
        let open = whole.end() - 1;
        if masked.get(open) != Some(&b'{') {
            continue;
        }
        let Some(end) = closing(&masked, open) else {
            continue;
        };
        if out.last().is_some_and(|last| last.span.end > name.start()) {
            continue;
        }
        let key = name.as_str().replace([' ', '\t', '"', '\''], "");
        out.push(Fragment {
            key,
            span: name.start()..end,
            may_be_new: false,
            must_stay: true,
        });
    }
    out
}

/// Elements that steer, by name and by what has to stand in them.
struct Elements {
    names: Regex,
    /// For element names that are no proof by themselves.
    inside: fn(&str, &str) -> bool,
}

static MAVEN: LazyLock<Elements> = LazyLock::new(|| Elements {
    names: regex(
        r"<(plugin|testSourceDirectory|testOutputDirectory|testResources|skipTests|skipITs|skip\.tests|maven\.test\.[\w.]+|surefire\.[\w.-]+|failsafe\.[\w.-]+|argLine|failIfNoTests|trimStackTrace)(?:\s[^>]*)?>",
    ),
    inside: |name, text| {
        static RUNNER: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r"<artifactId>\s*(?:maven-surefire-plugin|maven-failsafe-plugin|pitest-maven|junit-platform-maven-plugin)\s*<",
            )
        });
        // Plugins that run anything do so for code generation too: the phase tells.
        static PHASE: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r"<phase>\s*(?:process-test-\w+|test|test-compile|prepare-package|\w*-?integration-test|verify)\s*<",
            )
        });
        let runs_anything = ["antrun", "exec-maven", "groovy", "gmavenplus"];
        name != "plugin"
            || RUNNER.is_match(text)
            || runs_anything.iter().any(|word| text.contains(word)) && PHASE.is_match(text)
    },
});

static MSBUILD: LazyLock<Elements> = LazyLock::new(|| Elements {
    names: regex(
        r"<(RunSettingsFilePath|VSTest\w*|TestingPlatform\w*|IsTestProject|UseMicrosoftTestingPlatformRunner|Target|EnableMSTestRunner)(?:\s[^>]*)?>",
    ),
    inside: |name, text| {
        static TEST: LazyLock<Regex> = LazyLock::new(|| {
            regex(r#"(?i)(?:Name|BeforeTargets|AfterTargets|DependsOnTargets)\s*=\s*"[^"]*test"#)
        });
        let head = text.split('>').next().unwrap_or_default();
        name != "Target" || TEST.is_match(head)
    },
});

fn elements(text: &str, which: &Elements) -> Vec<Fragment> {
    static ARTIFACT: LazyLock<Regex> =
        LazyLock::new(|| regex(r"<artifactId>\s*([^<\s]+)|Name\s*=\s*.([^\x22]+)"));
    let mut out: Vec<Fragment> = Vec::new();
    let comments = xml_comments(text);
    for found in which.names.captures_iter(text) {
        let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else {
            continue;
        };
        let in_comment = comments.iter().any(|span| span.contains(&whole.start()));
        let inside = out.last().is_some_and(|last| last.span.end > whole.start());
        if in_comment || inside {
            continue;
        }
        let name = name.as_str();
        let end = if whole.as_str().ends_with("/>") {
            whole.end()
        } else {
            let close = format!("</{name}>");
            match text[whole.end()..].find(&close) {
                Some(at) => whole.end() + at + close.len(),
                None => continue,
            }
        };
        let element = &text[whole.start()..end];
        if !(which.inside)(name, element) {
            continue;
        }
        let subject = ARTIFACT.captures(element).and_then(|found| {
            let group = found.get(1).or_else(|| found.get(2))?;
            Some(group.as_str())
        });
        out.push(Fragment {
            key: format!("{name} {}", subject.unwrap_or_default())
                .trim_end()
                .to_owned(),
            span: whole.start()..end,
            may_be_new: false,
            must_stay: true,
        });
    }
    out
}

fn xml_comments(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("<!--") {
        let start = at + start;
        let end = text[start..]
            .find("-->")
            .map_or(text.len(), |end| start + end + 3);
        out.push(start..end);
        at = end;
    }
    out
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}
