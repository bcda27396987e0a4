//! A toolchain of the wrong version, by what it says itself.

use super::{Change, Repair, Symptom};
use crate::versions::{self, Version, python_allows};
use regex::Regex;
use std::sync::LazyLock;

struct Pattern {
    /// Names of base images it is about.
    images: &'static [&'static str],
    found: LazyLock<Regex>,
    /// The version to take, of what the pattern's first group holds.
    version: fn(&str) -> Option<String>,
}

fn plain(text: &str) -> Option<String> {
    let version = Version::parse(text)?;
    Some(if text.contains('.') {
        version.to_string()
    } else {
        version.major.to_string()
    })
}

/// The oldest Python that a range allows: the one that its author has certainly seen.
fn python(range: &str) -> Option<String> {
    versions::PYTHON
        .iter()
        .map(|(version, _)| *version)
        .find(|version| version.major == 3 && python_allows(range, *version))
        .map(|version| version.to_string())
}

/// Class files of version 52 are Java 8's.
fn class_file(text: &str) -> Option<String> {
    let number: u32 = text.parse().ok()?;
    Some(number.checked_sub(44)?.to_string())
}

/// The newest JDK that still compiles a source level.
fn last_with_source(text: &str) -> Option<String> {
    let level = text.strip_prefix("1.").unwrap_or(text);
    match level.parse::<u32>().ok()? {
        5 => Some("8".to_owned()),
        6 => Some("11".to_owned()),
        7 => Some("17".to_owned()),
        _ => None,
    }
}

macro_rules! pattern {
    ($images:expr, $regex:literal, $version:expr) => {
        Pattern {
            images: &$images,
            found: LazyLock::new(|| Regex::new($regex).expect("a literal pattern")),
            version: $version,
        }
    };
}

static PATTERNS: [Pattern; 16] = [
    pattern!(
        ["python"],
        r"requires a different Python: \S+ not in '([^']+)'",
        python
    ),
    pattern!(
        ["python"],
        r"[Rr]equires Python '?([<>=!~^][^']*?)'?(?:$| but| \()",
        python
    ),
    pattern!(
        ["rust"],
        r"requires rustc (\d+\.\d+(?:\.\d+)?) or newer",
        plain
    ),
    pattern!(
        ["rust"],
        r"rustc (\d+\.\d+(?:\.\d+)?) or newer is required",
        plain
    ),
    pattern!(["rust"], r"(feature `edition2024` is required)", |_| Some(
        "1.85".to_owned()
    )),
    pattern!(["golang"], r"requires go >= (\d+\.\d+(?:\.\d+)?)", plain),
    pattern!(["golang"], r"^go: download go(\d+\.\d+)", plain),
    pattern!(["golang"], r"note: module requires Go (\d+\.\d+)", plain),
    pattern!(
        ["node"],
        r#"engine "node" is incompatible with this module\. Expected version "[>=^~ ]*(\d+)"#,
        plain
    ),
    pattern!(
        ["node"],
        r"(?:requires?|at least|minimum) [Nn]ode(?:\.js)?(?: version)? [v>=^~ ]*(\d+)",
        plain
    ),
    pattern!(
        ["maven", "gradle", "eclipse-temurin"],
        r"release version (\d+) not supported",
        plain
    ),
    pattern!(
        ["maven", "gradle", "eclipse-temurin"],
        r"invalid (?:target|source) release: (\d+)$",
        plain
    ),
    pattern!(
        ["maven", "gradle", "eclipse-temurin"],
        r"class file version (\d+)\.0, this version of the Java Runtime only recognizes",
        class_file
    ),
    pattern!(
        ["maven", "gradle", "eclipse-temurin"],
        r"(?:Source|Target) option (1\.\d|\d) is no longer supported",
        last_with_source
    ),
    pattern!(["php"], r"requires php [\^>=~ ]*(\d+\.\d+)", plain),
    pattern!(
        ["ruby"],
        r"(?:your Gemfile specified|requires [Rr]uby(?: version)?) [>=~ ]*(\d+\.\d+)",
        plain
    ),
];

/// Another version of the same toolchain, where the output names the one it needs.
pub(super) fn versions(symptom: &Symptom<'_>) -> Vec<Repair> {
    let image = symptom.plan.base_image.split([':', '@']).next();
    let image = image.and_then(|name| name.rsplit('/').next());
    let patterns = PATTERNS
        .iter()
        .filter(|pattern| image.is_some_and(|image| pattern.images.contains(&image)));
    let mut wanted: Vec<(Vec<u32>, Repair)> = Vec::new();
    for pattern in patterns {
        for line in symptom.text.lines() {
            let found = pattern.found.captures(line).and_then(|c| c.get(1));
            let Some(version) = found.and_then(|text| (pattern.version)(text.as_str())) else {
                continue;
            };
            let order = version
                .split('.')
                .filter_map(|part| part.parse().ok())
                .collect();
            let repair = Repair {
                rule: "toolchain version",
                proof: symptom.proof(line),
                change: Change::Toolchain(version),
            };
            wanted.push((order, repair));
        }
    }
    // Of several demands the highest meets the others too.
    wanted.sort();
    wanted.pop().map(|(_, repair)| repair).into_iter().collect()
}

/// A level of Java that the JDK does not take, although the plan asks for one that does: another stands in for it. The
/// lowest that this one takes, as the compiler names it; settings of the compiler's plugin in the project itself stay.
pub(super) fn language_level(symptom: &Symptom<'_>) -> Vec<Repair> {
    static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:Source|Target) option (?:1\.)?(\d) is no longer supported\. Use (?:1\.)?(\d+) or later")
            .expect("a literal pattern")
    });
    let asked = symptom.plan.base_image.rsplit(['-', ':']).next();
    let Some(asked) = asked.and_then(|jdk| jdk.parse::<u32>().ok()) else {
        return Vec::new();
    };
    let repair = |line| {
        let found = REFUSED.captures(line)?;
        let newest = last_with_source(&found[1])?.parse().ok()?;
        let is_due = asked <= newest && symptom.plan.test_cmd.contains("mvn");
        is_due.then(|| Repair {
            rule: "language level",
            proof: symptom.proof(line),
            change: Change::JavaLevel(found[2].to_owned()),
        })
    };
    symptom.text.lines().find_map(repair).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::super::testing::changes;

    #[test]
    fn the_output_names_the_version() {
        for (image, text, version) in [
            (
                "python:3.9",
                "ERROR: Package 'x' requires a different Python: 3.9.2 not in '>=3.10'",
                "3.10",
            ),
            (
                "rust:1.70-slim",
                "  rustc 1.70.0 is not supported\nerror: package `a v1` cannot be built because it requires rustc 1.81 or newer, while the currently active rustc version is 1.70.0\npackage `b` requires rustc 1.74 or newer",
                "1.81",
            ),
            (
                "golang:1.20",
                "go: go.mod requires go >= 1.22.1 (running go 1.20.14; GOTOOLCHAIN=local)",
                "1.22",
            ),
            (
                "node:14",
                "error b@2.0.0: The engine \"node\" is incompatible with this module. Expected version \">=18.12\". Got \"14.21.3\"",
                "18",
            ),
            (
                "golang:1.23",
                "go: download go1.99.0 for linux/amd64: toolchain not available",
                "1.99",
            ),
            (
                "maven:3-eclipse-temurin-17",
                "[ERROR] Fatal error compiling: error: release version 21 not supported",
                "21",
            ),
            (
                "maven:3-eclipse-temurin-11",
                "X has been compiled by a more recent version of the Java Runtime (class file version 61.0, this version of the Java Runtime only recognizes class file versions up to 55.0",
                "",
            ),
            (
                "maven:3-eclipse-temurin-21",
                "error: Source option 5 is no longer supported. Use 8 or later.",
                "8",
            ),
            (
                "ruby:3.1-slim",
                "Your Ruby version is 3.1.2, but your Gemfile specified ~> 3.3",
                "3.3",
            ),
        ] {
            let expected: Vec<_> = match version {
                // The phrase has another order there: class file 61 is Java 17.
                "" => vec![Change::Toolchain("17".to_owned())],
                version => vec![Change::Toolchain(version.to_owned())],
            };
            let text = text.replace("(class file version", "class file version");
            assert_eq!(changes(image, &[], &text), expected, "{text}");
        }
    }

    /// Joda-Time, where JDK 17 stands in for 8.
    #[test]
    fn a_level_that_no_jdk_here_takes_becomes_the_lowest_that_one_does() {
        const REFUSED: &str = "[ERROR] error: Source option 5 is no longer supported. Use 7 or later.\n\
                               [ERROR] error: Target option 5 is no longer supported. Use 7 or later.\n";
        let raised = |image: &str, test_cmd: &str, text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let mut plan = atlas_core::EnvironmentPlan {
                base_image: image.to_owned(),
                test_cmd: test_cmd.to_owned(),
                ..atlas_core::EnvironmentPlan::default()
            };
            let found = super::language_level(&super::Symptom {
                plan: &plan,
                tree: &crate::tree::Tree::open(folder.path()).unwrap(),
                text,
                source: "build log",
            });
            let applied = found.iter().all(|repair| repair.change.apply(&mut plan));
            assert!(applied && plan.drift.len() == found.len());
            plan.env.remove("MAVEN_CHECKS_OFF")
        };
        let flags = "-Dmaven.compiler.source=7 -Dmaven.compiler.target=7";
        let jdk = "maven:3-eclipse-temurin-8";
        assert_eq!(raised(jdk, "mvn test", REFUSED).as_deref(), Some(flags));
        // Another JDK is the better way out, another tool has no such properties, and level 7 is refused by none of these.
        for (image, command, text) in [
            ("maven:3-eclipse-temurin-17", "mvn test", REFUSED),
            (jdk, "gradle test", REFUSED),
            (jdk, "mvn test", "[WARNING] source value 7 is obsolete"),
        ] {
            assert_eq!(raised(image, command, text), None, "{image}: {text}");
        }
    }

    #[test]
    fn another_toolchains_words_change_nothing() {
        assert_eq!(
            changes("python:3.9", &[], "it requires rustc 1.81 or newer"),
            []
        );
    }
}
