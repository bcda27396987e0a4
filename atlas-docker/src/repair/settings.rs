//! Settings that a bare image lacks: locale, time zone, identity, language standard, submodules.

use super::{Change, Repair, Symptom};
use crate::languages::COMPILE_FIRST;
use crate::toolbox::{MAVEN_FETCH, call};
use regex::Regex;
use std::sync::LazyLock;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a literal pattern")
}

/// One repair of several changes if a line matches.
fn if_line(
    symptom: &Symptom<'_>,
    rule: &'static str,
    found: &Regex,
    changes: impl FnOnce(&str) -> Vec<Change>,
) -> Vec<Repair> {
    let Some(line) = symptom.text.lines().find(|line| found.is_match(line)) else {
        return Vec::new();
    };
    changes(line)
        .into_iter()
        .map(|change| Repair {
            rule,
            proof: symptom.proof(line),
            change,
        })
        .collect()
}

fn variable(name: &str, value: &str) -> Change {
    Change::Variable(name.to_owned(), value.to_owned())
}

/// Text that is no ASCII, and locales that the image has not generated.
pub(super) fn locale(symptom: &Symptom<'_>) -> Vec<Repair> {
    static ASCII: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"'ascii' codec can't|invalid byte sequence in US-ASCII|unmappable character .* for encoding (US-)?ASCII|locale: Cannot set LC_",
        )
    });
    static UNKNOWN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"locale\.Error: unsupported locale setting|setlocale: .*cannot change locale \((\w+\.[\w-]+)\)",
        )
    });
    let mut repairs = if_line(symptom, "locale", &ASCII, |_| {
        vec![variable("LANG", "C.UTF-8"), variable("LC_ALL", "C.UTF-8")]
    });
    repairs.extend(if_line(symptom, "locale", &UNKNOWN, |_| {
        vec![Change::Package("locales-all".to_owned())]
    }));
    repairs
}

/// A virtual machine that takes a quarter of the memory for its heap, or less, where tests need more.
pub(super) fn heap(symptom: &Symptom<'_>) -> Vec<Repair> {
    static JAVA: LazyLock<Regex> = LazyLock::new(|| pattern(r"Java heap space$"));
    static NODE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"FATAL ERROR: .*JavaScript heap out of memory"));
    let mut repairs = if_line(symptom, "heap", &JAVA, |_| {
        vec![variable("JAVA_TOOL_OPTIONS", "-XX:MaxRAMPercentage=70")]
    });
    repairs.extend(if_line(symptom, "heap", &NODE, |_| {
        vec![Change::Flags(
            "NODE_OPTIONS".to_owned(),
            "--max-old-space-size=3072".to_owned(),
        )]
    }));
    repairs
}

/// A chain of calls so long that javac, which follows it by recursion, leaves no stack. Maven compiles in its own process,
/// and runs tests in others.
pub(super) fn stack_of_javac(symptom: &Symptom<'_>) -> Vec<Repair> {
    const DEEP: usize = 100;
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s+at (?:jdk\.compiler/)?com\.sun\.tools\.javac\."));
    let frames = symptom.text.lines().filter(|line| FRAME.is_match(line));
    if !symptom.plan.test_cmd.contains("mvn") || frames.count() < DEEP {
        return Vec::new();
    }
    if_line(symptom, "stack of javac", &FRAME, |_| {
        vec![Change::Flags("MAVEN_OPTS".to_owned(), "-Xss16m".to_owned())]
    })
}

/// Tests that workers of pytest-xdist find in different orders, as those made of sets are: hashes are the same in each.
pub(super) fn seed_of_hashes(symptom: &Symptom<'_>) -> Vec<Repair> {
    static DIFFER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^Different tests were collected between gw\d+ and gw\d+"));
    if_line(symptom, "order of sets", &DIFFER, |_| {
        vec![variable("PYTHONHASHSEED", "0")]
    })
}

/// No database of time zones.
pub(super) fn time_zone(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"ZoneInfoNotFoundError|No time zone found with key|unknown time zone [A-Z]\w+/|TZInfo::DataSourceNotFound|Unknown or bad timezone",
        )
    });
    if_line(symptom, "time zone", &MISSING, |_| {
        vec![Change::Package("tzdata".to_owned())]
    })
}

/// Tests that commit need somebody who commits.
pub(super) fn git_identity(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"Please tell me who you are|empty ident name|unable to auto-detect email address")
    });
    if_line(symptom, "git identity", &MISSING, |_| {
        ["AUTHOR", "COMMITTER"]
            .iter()
            .flat_map(|who| {
                [
                    variable(&format!("GIT_{who}_NAME"), "nobody"),
                    variable(&format!("GIT_{who}_EMAIL"), "nobody@localhost"),
                ]
            })
            .collect()
    })
}

/// A compiler that takes an older standard by default than the code needs.
pub(super) fn language_standard(symptom: &Symptom<'_>) -> Vec<Repair> {
    static CXX: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"requires (?:at least )?C\+\+(\d\d)\b|C\+\+(\d\d) or (?:later|newer|greater) (?:is )?required|compiler support for the ISO C\+\+ 20(\d\d) standard|only available (?:with|from) .?-std=c\+\+(\d\d)|C\+\+ versions less than C\+\+(\d\d) are not supported",
        )
    });
    static C: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"only allowed in C(99) (?:mode|or C11 mode)|use option .?-std=(?:c|gnu)(99|11)\b")
    });
    let standard = |found: &Regex, line: &str| {
        found
            .captures(line)
            .and_then(|c| c.iter().flatten().nth(1).map(|m| m.as_str().to_owned()))
    };
    let mut repairs = if_line(symptom, "language standard", &CXX, |line| {
        standard(&CXX, line)
            .map(|year| Change::Flags("CXXFLAGS".to_owned(), format!("-std=gnu++{year}")))
            .into_iter()
            .collect()
    });
    repairs.extend(if_line(symptom, "language standard", &C, |line| {
        standard(&C, line)
            .map(|year| Change::Flags("CFLAGS".to_owned(), format!("-std=gnu{year}")))
            .into_iter()
            .collect()
    }));
    repairs
}

/// Files that only a submodule brings. Plans fetch submodules by themselves; this is for those of
/// other writers.
pub(super) fn submodules(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)git submodule (update|init)|submodules? (are|is) (missing|not (initialized|checked out))|does not contain a CMakeLists\.txt file",
        )
    });
    if !symptom.tree.has(".gitmodules")
        || symptom
            .plan
            .build
            .iter()
            .any(|command| command.contains("submodule"))
    {
        return Vec::new();
    }
    if_line(symptom, "missing submodule", &MISSING, |_| {
        vec![Change::Submodules]
    })
}

/// Hashes that OpenSSL 3 no longer has by default, in bundlers older than it.
pub(super) fn openssl_of_old_node(symptom: &Symptom<'_>) -> Vec<Repair> {
    static FAILED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"ERR_OSSL_EVP_UNSUPPORTED|digital envelope routines::unsupported")
    });
    if_line(symptom, "OpenSSL of old bundlers", &FAILED, |_| {
        vec![Change::Flags(
            "NODE_OPTIONS".to_owned(),
            "--openssl-legacy-provider".to_owned(),
        )]
    })
}

/// The loader of ts-node, which works up to Node 18.18: since then loaders have a thread of their own.
pub(super) fn loader_of_ts_node(symptom: &Symptom<'_>) -> Vec<Repair> {
    const NAME: &str = "ts-node/esm";
    static FAILED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"ERR_UNKNOWN_FILE_EXTENSION\]: Unknown file extension "\.[cm]?tsx?"|SyntaxError: Cannot use import statement outside a module"#,
        )
    });
    let files = [
        "package.json",
        ".taprc",
        ".mocharc.json",
        ".mocharc.cjs",
        ".mocharc.js",
        ".mocharc.yml",
        ".mocharc.yaml",
    ];
    let is_used = symptom.text.contains(NAME)
        || files
            .iter()
            .filter_map(|file| symptom.tree.text(file))
            .any(|text| text.contains(NAME));
    if !is_used {
        return Vec::new();
    }
    if_line(symptom, "loader of ts-node", &FAILED, |_| {
        vec![Change::Node("18.18")]
    })
}

/// Headers of Node that node-gyp cannot fetch from Node's own site: npm has them, too.
pub(super) fn node_headers(symptom: &Symptom<'_>) -> Vec<Repair> {
    static FAILED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"gyp (?:ERR!|http GET) .*(?:nodejs\.org|node-v[\d.]+-headers|iojs\.org)")
    });
    if !symptom.text.contains("gyp ERR!") {
        return Vec::new();
    }
    if_line(symptom, "headers of Node", &FAILED, |_| {
        vec![Change::NodeHeaders]
    })
}

/// Packages that name a newer compiler than the environment has: they are compiled all the same, for the number is
/// often more than what the code needs.
pub(super) fn newer_rust(symptom: &Symptom<'_>) -> Vec<Repair> {
    static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^error: rustc \S+ is not supported by the following packages?:")
    });
    if_line(symptom, "newer Rust asked for", &REFUSED, |_| {
        vec![Change::CargoFlag("--ignore-rust-version")]
    })
}

/// Warnings that the sources deny and that only a newer compiler has: they are warnings again, as those of dependencies
/// always are. Flags of the environment would take the place of those in cargo's configuration.
pub(super) fn denied_lints(symptom: &Symptom<'_>) -> Vec<Repair> {
    static DENIED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"= note: `[^`]+` implied by `(?:#\[deny\(warnings\)\]|-D warnings)`")
    });
    let configured = [".cargo/config.toml", ".cargo/config"];
    let configured = configured.iter().filter_map(|file| symptom.tree.text(file));
    if configured
        .into_iter()
        .any(|text| text.contains("rustflags"))
    {
        return Vec::new();
    }
    if_line(symptom, "lints of a newer Rust", &DENIED, |_| {
        vec![Change::Flags(
            "RUSTFLAGS".to_owned(),
            "--cap-lints warn".to_owned(),
        )]
    })
}

/// How Maven without a network says that an artifact is not there, and Surefire 2 of its provider.
pub(crate) static NOT_FETCHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"in offline mode and the artifact \S+ has not been downloaded|repository system is offline|ArtifactsNotFoundException: Missing:",
    )
});

/// An artifact that nothing but the sources asks for: the build compiles them, with the network.
pub(super) fn artifact_not_fetched(symptom: &Symptom<'_>) -> Vec<Repair> {
    let build = &symptom.plan.build;
    let fetch = format!("{} --manifests", call(MAVEN_FETCH));
    if !build.iter().any(|command| command.contains(&fetch)) {
        return Vec::new();
    }
    if_line(symptom, "artifact not fetched", &NOT_FETCHED, |_| {
        vec![variable(COMPILE_FIRST, "yes")]
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::changes;
    use super::super::{Change, Symptom};
    use super::{artifact_not_fetched, stack_of_javac, variable};
    use crate::toolbox;
    use crate::tree::Tree;
    use atlas_core::EnvironmentPlan;

    #[test]
    fn each_setting_has_its_words() {
        for (text, expected) in [
            (
                "UnicodeDecodeError: 'ascii' codec can't decode byte 0xc3",
                variable("LANG", "C.UTF-8"),
            ),
            (
                "locale.Error: unsupported locale setting",
                Change::Package("locales-all".to_owned()),
            ),
            (
                "zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key Europe/Paris'",
                Change::Package("tzdata".to_owned()),
            ),
            (
                "panic: unknown time zone America/New_York",
                Change::Package("tzdata".to_owned()),
            ),
            (
                "[ERROR] Java heap space",
                variable("JAVA_TOOL_OPTIONS", "-XX:MaxRAMPercentage=70"),
            ),
            (
                "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
                Change::Flags(
                    "NODE_OPTIONS".to_owned(),
                    "--max-old-space-size=3072".to_owned(),
                ),
            ),
            (
                "Different tests were collected between gw0 and gw1. The difference is:",
                variable("PYTHONHASHSEED", "0"),
            ),
            (
                "gyp ERR! stack FetchError: request to https://nodejs.org/download/release/v18.20.8/node-v18.20.8-headers.tar.gz failed, reason: getaddrinfo EAI_AGAIN nodejs.org",
                Change::NodeHeaders,
            ),
            (
                "  = note: `#[deny(unexpected_cfgs)]` implied by `#[deny(warnings)]`",
                Change::Flags("RUSTFLAGS".to_owned(), "--cap-lints warn".to_owned()),
            ),
            (
                "*** Please tell me who you are.",
                variable("GIT_AUTHOR_NAME", "nobody"),
            ),
            (
                "#error This file requires compiler support for the ISO C++ 2011 standard",
                Change::Flags("CXXFLAGS".to_owned(), "-std=gnu++11".to_owned()),
            ),
            (
                "#error \"C++ versions less than C++17 are not supported.\"",
                Change::Flags("CXXFLAGS".to_owned(), "-std=gnu++17".to_owned()),
            ),
            (
                "error: 'for' loop initial declarations are only allowed in C99 or C11 mode",
                Change::Flags("CFLAGS".to_owned(), "-std=gnu99".to_owned()),
            ),
            (
                "  code: 'ERR_OSSL_EVP_UNSUPPORTED'",
                Change::Flags(
                    "NODE_OPTIONS".to_owned(),
                    "--openssl-legacy-provider".to_owned(),
                ),
            ),
        ] {
            let found = changes("gcc:12", &[], text);
            assert_eq!(found.first(), Some(&expected), "{text}");
        }
    }

    #[test]
    fn a_deep_recursion_of_javac_under_maven_gets_more_stack() {
        let folder = tempfile::tempdir().unwrap();
        let frame = "\tat jdk.compiler/com.sun.tools.javac.comp.Attr.attribTree(Attr.java:677)\n";
        let with = |test_cmd: &str, frames: usize| {
            let plan = EnvironmentPlan {
                test_cmd: test_cmd.to_owned(),
                ..EnvironmentPlan::default()
            };
            let found = stack_of_javac(&Symptom {
                plan: &plan,
                tree: &Tree::open(folder.path()).unwrap(),
                text: &frame.repeat(frames),
                source: "test log",
            });
            found
                .into_iter()
                .map(|repair| repair.change)
                .collect::<Vec<_>>()
        };
        let more = Change::Flags("MAVEN_OPTS".to_owned(), "-Xss16m".to_owned());
        assert_eq!(with("mvn -o test", 500), [more]);
        assert_eq!(with("mvn -o test", 20), []);
        assert_eq!(with("gradle test", 500), []);
    }

    #[test]
    fn sources_are_compiled_first_where_that_was_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let maven = "[ERROR] Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact a:b:jar:1 has not been downloaded from it before.";
        let surefire = "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:2.19.1:test (default-test) on project guice: Unable to generate classpath: org.apache.maven.artifact.resolver.MultipleArtifactsNotFoundException: Missing:";
        let with = |text: &str, build: &[&str]| {
            let plan = EnvironmentPlan {
                build: build.iter().map(|&command| command.to_owned()).collect(),
                ..EnvironmentPlan::default()
            };
            artifact_not_fetched(&Symptom {
                plan: &plan,
                tree: &Tree::open(folder.path()).unwrap(),
                text,
                source: "test log",
            })
        };
        let fetch = "bash \"$ATLAS_ENV/toolbox/maven-fetch\" --manifests 3.9.9 -B test";
        for text in [maven, surefire] {
            assert_eq!(with(text, &["mvn test"]), []);
            let found = with(text, &[fetch]);
            assert_eq!(found[0].change, variable("MAVEN_COMPILE_FIRST", "yes"));
        }
    }

    #[test]
    fn sources_that_the_loader_of_ts_node_reads_get_an_older_node() {
        let text = "SyntaxError: Cannot use import statement outside a module";
        assert_eq!(changes("node:20", &[], text), []);
        let files = [(
            "package.json",
            "{\"tap\": {\"node-arg\": [\"--loader\", \"ts-node/esm\"]}}",
        )];
        let found = changes("node:20", &files, text);
        assert_eq!(found, [Change::Node("18.18")]);
        let call = toolbox::call(toolbox::NODE_VERSION);
        for (build, wanted) in [
            (vec![format!("{call} 18 9")], format!("{call} 18.18 9")),
            (vec!["npm ci".to_owned()], format!("{call} 18.18 10")),
        ] {
            let mut plan = EnvironmentPlan {
                build,
                ..EnvironmentPlan::default()
            };
            assert!(found[0].apply(&mut plan));
            assert_eq!(plan.paper_build()[0], wanted);
            assert!(!found[0].apply(&mut plan));
        }
    }

    #[test]
    fn submodules_only_where_there_are_some() {
        let text = "CMake Error: The source directory third_party/x does not contain a CMakeLists.txt file.";
        assert_eq!(changes("gcc:12", &[], text), []);
        let files = [(".gitmodules", "[submodule \"x\"]\n")];
        assert_eq!(changes("gcc:12", &files, text).len(), 1);
    }
}
