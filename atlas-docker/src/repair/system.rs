//! What is missing of the system: programs, headers, libraries.

use super::tables::{LIBRARIES, TOOLS};
use super::{Change, Repair, Symptom};
use regex::Regex;
use std::sync::LazyLock;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a literal pattern")
}

/// The packages of the names that a pattern's first group finds.
fn packages(
    symptom: &Symptom<'_>,
    rule: &'static str,
    found: &Regex,
    package: impl Fn(&str) -> Option<&'static str>,
) -> Vec<Repair> {
    let mut repairs = Vec::new();
    for line in symptom.text.lines() {
        let Some(name) = found.captures(line).and_then(|c| c.iter().flatten().nth(1)) else {
            continue;
        };
        if let Some(package) = package(name.as_str()) {
            repairs.push(Repair {
                rule,
                proof: symptom.proof(line),
                change: Change::Package(package.to_owned()),
            });
        }
    }
    repairs
}

/// A program that a command needs is not there.
pub(super) fn tools(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?x)
            :\s(?:line\s\d+:\s|\d+:\s)?([\w.+-]+):\s(?:command\s)?not\sfound\s*$
            |exec:\s"([\w.+-]+)":\sexecutable\sfile\snot\sfound
            |No\ssuch\sfile\sor\sdirectory:\s'([\w.+-]+)'
            |[Cc]annot\srun\sprogram\s"([\w.+-]+)"
            |[Ff]ailed\sto\s(?:execute|run|spawn)\s(?:command:\s)?[`'"]([\w.+-]+)
            |[Ii]s\s[`'"]([\w.+-]+)[`'"]\snot\sinstalled
            |Command\s[`'"]([\w.+-]+)[`'"]\snot\sfound
            |linker\s`([\w.+-]+)`\snot\sfound
            |spawn\s([\w.+-]+)\sENOENT
            |(?:[Pp]rogram|[Tt]ool|[Cc]ould\snot\sfind|Unable\sto\sfind|missing|requires)\s[`'"]([\w.+-]+)[`'"]\s(?:not\sfound|is\smissing|is\srequired)"#,
        )
    });
    let mut repairs = packages(symptom, "missing program", &MISSING, |name| {
        lookup(TOOLS, name)
    });
    let lines: Vec<&str> = symptom.text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(said) = asked_before(&lines[..at], line) else {
            continue;
        };
        let (proof, name) = said;
        if let Some(package) = lookup(TOOLS, name) {
            repairs.push(Repair {
                rule: "missing program",
                proof: symptom.proof(proof),
                change: Change::Package(package.to_owned()),
            });
        }
    }
    repairs
}

/// The program that an earlier line names, where this one says that it is missing: what `configure`
/// looked for right before it gave up, and what a build script of Rust wanted to run.
fn asked_before<'a>(before: &[&'a str], line: &str) -> Option<(&'a str, &'a str)> {
    static LOOKED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s*checking\sfor\s([\w.+-]+)\.\.\.\sno$"));
    static RUNNING: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"^\s*running: (?:cd "[^"]*" && )?"([\w.+-]+)""#));
    let named = |found: &Regex, line: &'a str| {
        let name = found.captures(line)?.get(1)?;
        Some((line, name.as_str()))
    };
    if line.trim_start().starts_with("configure: error:") {
        named(&LOOKED, before.last()?)
    } else if line.contains("failed to execute command: No such file or directory") {
        before.iter().rev().find_map(|line| named(&RUNNING, line))
    } else {
        None
    }
}

/// A C or C++ header is not there. One that the tables do not have is looked for in Debian's
/// contents, unless the repository has a file of this name itself.
pub(super) fn headers(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?x)(?:fatal\serror|error):\s'?([\w./+-]+\.(?:h|hh|hpp|hxx))'?(?::\sNo\ssuch\sfile|\sfile\snot\sfound)
            |Cannot\sopen\sinclude\sfile:\s'([\w./+-]+)'",
        )
    });
    let mut repairs = Vec::new();
    for line in symptom.text.lines() {
        let Some(name) = MISSING
            .captures(line)
            .and_then(|c| c.iter().flatten().nth(1))
        else {
            continue;
        };
        let name = name.as_str();
        let file = name.rsplit('/').next().unwrap_or(name);
        let change = if let Some(package) = lookup(LIBRARIES, name).or_else(|| boost(name)) {
            Change::Package(package.to_owned())
        } else {
            let ends = [format!("/{file}"), format!("/{file}.in")];
            let own = symptom.tree.files().any(|path| {
                path == file || path == &ends[1][1..] || ends.iter().any(|end| path.ends_with(end))
            });
            if own || name.contains("..") {
                continue;
            }
            Change::HeaderSearch(name.to_owned())
        };
        repairs.push(Repair {
            rule: "missing header",
            proof: symptom.proof(line),
            change,
        });
    }
    repairs
}

/// A library that the linker, `pkg-config`, `CMake` or Meson does not find.
pub(super) fn libraries(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?x)
            cannot\sfind\s-l([\w.+-]+)
            |[Ll]ibrary\snot\sfound\sfor\s-l([\w.+-]+)
            |Package\s'?([\w.+-]+)'?,?\s(?:required\sby\s.*,\s)?(?:was\s)?not\sfound
            |No\spackage\s'([\w.+-]+)'\sfound
            |Could\s(?:NOT|not)\sfind\s([A-Z][\w+-]*)\b
            |Could\snot\sfind\sa\spackage\sconfiguration\sfile\sprovided\sby\s"([\w+-]+)"
            |Dependency\s"([\w.+-]+)"\snot\sfound
            |system\slibrary\s`([\w.+-]+)`\srequired\sby
            |error\swhile\sloading\sshared\slibraries:\slib([\w+-]+)\.so"#,
        )
    });
    static PKG_CONFIG: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(pkg-config|pkgconf)\b.*(not found|could not be found|too old|command could not|no such file)|macro: PKG_\w+",
        )
    });
    let mut repairs = packages(symptom, "missing library", &MISSING, |name| {
        lookup(LIBRARIES, name).or_else(|| boost(name))
    });
    let line = symptom.text.lines().find(|line| PKG_CONFIG.is_match(line));
    if let Some(line) = line {
        repairs.push(Repair {
            rule: "missing program",
            proof: symptom.proof(line),
            change: Change::Package("pkg-config".to_owned()),
        });
    }
    repairs
}

fn boost(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    (lower.starts_with("boost/") || lower.starts_with("boost_")).then_some("libboost-all-dev")
}

fn lookup(table: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let bare = lower.strip_prefix("lib").unwrap_or(&lower);
    table
        .iter()
        .find(|(known, _)| *known == lower || *known == bare)
        .map(|(_, package)| *package)
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::super::testing::changes;

    fn package(text: &str) -> Vec<Change> {
        changes("gcc:12-bookworm", &[("src/own.h", "")], text)
    }

    #[test]
    fn a_missing_part_of_the_system_is_a_package() {
        for (text, name) in [
            ("/bin/bash: line 1: cmake: command not found", "cmake"),
            ("/bin/sh: 1: flex: not found", "flex"),
            ("./autogen.sh: 4: libtoolize: not found", "libtool"),
            ("exec: \"gcc\": executable file not found in $PATH", "gcc"),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'less'",
                "less",
            ),
            ("error: linker `cc` not found", "gcc"),
            ("Error: spawn unzip ENOENT", "unzip"),
            ("  Command 'make' not found. Is make installed?", "make"),
            (
                "main.c:3:10: fatal error: zlib.h: No such file or directory",
                "zlib1g-dev",
            ),
            (
                "/src/x.c:1:10: fatal error: 'openssl/ssl.h' file not found",
                "libssl-dev",
            ),
            (
                "x.cpp:1:10: fatal error: boost/test/unit_test.hpp: No such file or directory",
                "libboost-all-dev",
            ),
            (
                "/usr/bin/ld: cannot find -lyaml: No such file or directory",
                "libyaml-dev",
            ),
            (
                "No package 'libxml-2.0' found\nPackage 'glib-2.0', required by 'virtual:world', not found",
                "libglib2.0-dev",
            ),
            (
                "  Could NOT find CURL (missing: CURL_LIBRARY CURL_INCLUDE_DIR)",
                "libcurl4-openssl-dev",
            ),
            (
                "  Could not find a package configuration file provided by \"Catch2\" with any",
                "catch2",
            ),
            (
                "checking for gawk... no\nchecking for bison... no\nconfigure: error: bison is needed",
                "bison",
            ),
            (
                "  running: cd \"/t/out\" && \"sh\" \"configure\"\n  checking for gawk... no\n  running: cd \"/t/out\" && \"make\" \"-j\" \"2\"\n\n  --- stderr\n  failed to execute command: No such file or directory (os error 2)",
                "make",
            ),
            (
                "meson.build:12:0: ERROR: Dependency \"check\" not found, tried pkgconfig",
                "check",
            ),
        ] {
            assert_eq!(package(text), [Change::Package(name.to_owned())], "{text}");
        }
    }

    #[test]
    fn an_unknown_header_is_looked_for_unless_it_is_the_repositorys_own() {
        let missing =
            |name: &str| format!("a.c:1:10: fatal error: {name}: No such file or directory");
        assert_eq!(
            package(&missing("strange/thing.h")),
            [Change::HeaderSearch("strange/thing.h".to_owned())]
        );
        assert_eq!(package(&missing("own.h")), []);
        assert_eq!(package(&missing("../../etc/x.h")), []);
    }

    #[test]
    fn names_that_no_table_has_lead_nowhere() {
        assert_eq!(package("sh: 1: our-own-script: not found"), []);
        assert_eq!(package("cannot find -levil"), []);
    }
}
