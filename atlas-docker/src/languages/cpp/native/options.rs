//! Options of a build that switch its tests on.

use crate::ci::Placed;
use crate::facts::Facts;
use atlas_core::Evidence;
use regex::Regex;
use std::sync::LazyLock;

/// Words that say no more than that tests are meant.
const PLAIN: &[&str] = &[
    "all",
    "and",
    "build",
    "compile",
    "enable",
    "enabled",
    "include",
    "make",
    "run",
    "test",
    "testing",
    "tests",
    "unit",
    "unittest",
    "unittests",
    "use",
    "with",
];

/// Words of options for other builds than the plain one.
const SPECIAL: &[&str] = &[
    "32bit",
    "analyzer",
    "asan",
    "bench",
    "benchmark",
    "clang",
    "coverage",
    "cov",
    "cuda",
    "debug",
    "disable",
    "docs",
    "expensive",
    "fuzz",
    "fuzzer",
    "fuzzing",
    "gcov",
    "libcxx",
    "module",
    "modules",
    "msan",
    "no",
    "pedantic",
    "perf",
    "performance",
    "sanitize",
    "sanitizer",
    "sanitizers",
    "single",
    "skip",
    "slow",
    "stack",
    "strict",
    "tidy",
    "tsan",
    "ubsan",
    "valgrind",
    "werror",
    "without",
];

fn words(name: &str) -> Vec<String> {
    name.split(['_', '-', '.', ':'])
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// Whether an option is the one for the tests of this project: it names tests, and beside that at
/// most the project.
pub(super) fn switches_tests_on(option: &str, project: &str) -> bool {
    let words = words(option);
    let tests = words.iter().any(|word| {
        matches!(
            &**word,
            "test" | "tests" | "testing" | "unittest" | "unittests"
        )
    });
    if !tests || words.iter().any(|word| SPECIAL.contains(&&**word)) {
        return false;
    }
    let rest: String = words
        .iter()
        .filter(|word| !PLAIN.contains(&&***word))
        .map(String::as_str)
        .collect();
    let project: String = project
        .to_ascii_lowercase()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    // An option that says more than that (`FOO_TEST_INSTALLED_VERSION`) asks for another kind of tests.
    let says_no_more = |rest: &str| {
        matches!(
            rest,
            "" | "c" | "cpp" | "cxx" | "lib" | "opt" | "option" | "project"
        )
    };
    rest.is_empty()
        || (!project.is_empty()
            && (project.contains(&rest) || says_no_more(&rest.replacen(&project, "", 1))))
}

/// An option without the project's name before it, which says nothing of a build: that of google/benchmark is a word of
/// [`SPECIAL`].
pub(super) fn own<'a>(option: &'a str, project: &str) -> &'a str {
    let is_project = |start: &str| start.eq_ignore_ascii_case(project);
    let rest = option
        .get(..project.len())
        .filter(|start| is_project(start));
    let rest = rest.and_then(|start| option[start.len()..].strip_prefix('_'));
    rest.filter(|_| !project.is_empty()).unwrap_or(option)
}

/// Whether an option is for a special build, that tests do without.
pub(super) fn is_special(option: &str) -> bool {
    words(option).iter().any(|word| SPECIAL.contains(&&**word))
}

/// The place where CI switches an option on: `-DNAME=ON` or `-Dname=true`.
pub(super) fn on_in_ci(facts: &Facts<'_>, option: &str) -> Option<Placed> {
    static SET: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"-D\s*([A-Za-z0-9_.-]+)(?::[A-Za-z]+)?=(\w+)").expect("a literal pattern")
    });
    facts
        .ci
        .test_commands()
        .chain(facts.ci.build_options())
        .find(|command| {
            SET.captures_iter(&command.text)
                .any(|found| &found[1] == option && is_on(&found[2]))
        })
        .cloned()
}

/// The configuration to build with `CMake`, none for the project's own default, and why: the first one
/// that CI's jobs with tests name, and else the one that CI gets by naming none. A Debug build may abort
/// on an assertion that a Release build does not have, and Release may not compile what Debug does.
pub(super) fn configuration(facts: &Facts<'_>) -> (Option<String>, Vec<Evidence>) {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?:CMAKE_BUILD_TYPE(?::[A-Z]+)?=|--config[ =]|--build-config |ctest .*-C )["']?([A-Za-z]+)\b"#,
        )
        .expect("a literal pattern")
    });
    static CONFIGURES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|[\s;&(])cmake (?:[^-]|-[^-PEh])").expect("a literal pattern")
    });
    let proof = |command: &Placed, said: &str| {
        let text = format!("{said}{}", command.text);
        Evidence::at(command.file.clone(), command.line, text)
    };
    let options = facts.ci.build_options().cloned();
    let commands: Vec<Placed> = facts
        .ci
        .test_commands_of_all_entries()
        .chain(options)
        .collect();
    let mut named: Vec<(&str, &Placed)> = Vec::new();
    for command in &commands {
        for found in NAMED.captures_iter(&command.text) {
            let name = found.get(1).map_or("", |name| name.as_str());
            let special = is_special(name) && !name.eq_ignore_ascii_case("debug");
            let known = |(known, _): &(&str, &Placed)| known.eq_ignore_ascii_case(name);
            if !special && !named.iter().any(known) {
                named.push((name, command));
            }
        }
    }
    if let Some((first, rest)) = named.split_first() {
        let mut why = vec![proof(first.1, "")];
        why.extend(rest.iter().map(|(name, command)| {
            proof(
                command,
                &format!("overruled: {name}, which CI tests after {}: ", first.0),
            )
        }));
        return (Some(first.0.to_owned()), why);
    }
    let is_computed = commands
        .iter()
        .any(|command| command.text.contains("CMAKE_BUILD_TYPE"));
    let configures = |command: &&Placed| !is_computed && CONFIGURES.is_match(&command.text);
    if let Some(command) = commands.iter().find(configures) {
        let said = "no build type, so the project's default is built: ";
        return (None, vec![proof(command, said)]);
    }
    let said = "CI does not say which configuration it tests: Debug, with assertions";
    (Some("Debug".to_owned()), vec![Evidence::of(".", said)])
}

/// Whether a value means yes.
pub(super) fn is_on(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "on" | "yes" | "true" | "1" | "y" | "enabled"
    )
}

#[cfg(test)]
mod tests {
    use super::{is_special, own, switches_tests_on};

    #[test]
    fn a_project_s_name_says_nothing_of_a_build() {
        for (option, project, expected) in [
            ("BENCHMARK_DOWNLOAD_DEPENDENCIES", "benchmark", false),
            ("BENCHMARK_ENABLE_WERROR", "benchmark", true),
            ("FOO_BENCHMARK", "foo", true),
            ("BENCHMARKS", "benchmark", false),
        ] {
            assert_eq!(is_special(own(option, project)), expected, "{option}");
        }
    }

    #[test]
    fn the_option_for_the_tests() {
        for (option, project, expected) in [
            ("BUILD_TESTS", "x", true),
            ("ENABLE_CJSON_TEST", "cJSON", true),
            ("LIBUV_BUILD_TESTS", "libuv", true),
            ("FOO_WITH_TESTS", "libfoo", true),
            ("tests", "x", true),
            ("MAGIC_ENUM_OPT_BUILD_TESTS", "magic_enum", true),
            ("MAGIC_ENUM_OPT_TEST_INSTALLED_VERSION", "magic_enum", false),
            ("FOO_TEST_INSTALLED_VERSION", "foo", false),
            ("ENABLE_SSL_TESTS", "hiredis", false),
            ("FOO_CUDA_TEST", "foo", false),
            ("DISABLE_TESTS", "foo", false),
            ("FOO_BENCH", "foo", false),
            ("LATEST", "foo", false),
        ] {
            assert_eq!(switches_tests_on(option, project), expected, "{option}");
        }
    }
}
