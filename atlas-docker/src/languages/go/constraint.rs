//! Build constraints of Go's files.

use crate::facts::Facts;
use atlas_core::Evidence;
use std::collections::BTreeSet;

/// Tags that hold on this machine by themselves; so does every `go1.x`.
const OWN: &[&str] = &["linux", "amd64", "unix", "cgo", "gc"];

/// Words that name a system, a processor or a way to compile: no tag that a command gives makes them hold.
const OF_THE_MACHINE: &[&str] = &[
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
    "zos",
    "386",
    "amd64p32",
    "arm",
    "armbe",
    "arm64",
    "arm64be",
    "loong64",
    "mips",
    "mipsle",
    "mips64",
    "mips64le",
    "mips64p32",
    "mips64p32le",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv",
    "riscv64",
    "s390",
    "s390x",
    "sparc",
    "sparc64",
    "wasm",
    "asan",
    "boringcrypto",
    "gccgo",
    "msan",
    "race",
];

/// The tags without which test files that the pull request touches are not compiled, each with the line that
/// asks for it. `tags` are those that are given already.
pub(super) fn missing(facts: &Facts<'_>, tags: &[&str]) -> Vec<(String, Evidence)> {
    let mut found: Vec<(String, Evidence)> = Vec::new();
    let in_ci = |tag: &str| {
        let mut commands = facts.ci.test_commands();
        commands.any(|command| {
            command
                .text
                .split(|c: char| !is_word(c))
                .any(|word| word == tag)
        })
    };
    for path in facts
        .touched
        .iter()
        .filter(|path| path.ends_with("_test.go"))
    {
        let text = facts.head.text(path).unwrap_or_default();
        let Some((line, constraint)) = text
            .lines()
            .take_while(|line| !line.starts_with("package "))
            .enumerate()
            .find_map(|(at, line)| Some((at + 1, line.strip_prefix("//go:build ")?)))
        else {
            continue;
        };
        let given: BTreeSet<&str> = OWN
            .iter()
            .chain(tags)
            .copied()
            .chain(found.iter().map(|(tag, _)| tag.as_str()))
            .collect();
        if holds(constraint, &given) {
            continue;
        }
        let mut words: Vec<&str> = constraint
            .split(|c: char| !is_word(c))
            .filter(|word| !word.is_empty() && *word != "ignore" && !OF_THE_MACHINE.contains(word))
            .collect();
        words.sort_by_key(|word| !in_ci(word));
        let enough = words.into_iter().find(|word| {
            let mut with = given.clone();
            with.insert(word);
            holds(constraint, &with)
        });
        if let Some(tag) = enough {
            let tag = tag.to_owned();
            found.push((
                tag,
                Evidence::at(path.clone(), line, format!("//go:build {constraint}")),
            ));
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

/// Whether a constraint holds with these tags; one that cannot be read does.
fn holds(constraint: &str, tags: &BTreeSet<&str>) -> bool {
    let mut rest = constraint.trim();
    either(&mut rest, tags).unwrap_or(true)
}

fn either(rest: &mut &str, tags: &BTreeSet<&str>) -> Option<bool> {
    let mut value = both(rest, tags)?;
    while let Some(more) = rest.trim_start().strip_prefix("||") {
        *rest = more;
        value |= both(rest, tags)?;
    }
    Some(value)
}

fn both(rest: &mut &str, tags: &BTreeSet<&str>) -> Option<bool> {
    let mut value = one(rest, tags)?;
    while let Some(more) = rest.trim_start().strip_prefix("&&") {
        *rest = more;
        value &= one(rest, tags)?;
    }
    Some(value)
}

fn one(rest: &mut &str, tags: &BTreeSet<&str>) -> Option<bool> {
    let text = rest.trim_start();
    if let Some(more) = text.strip_prefix('!') {
        *rest = more;
        return Some(!one(rest, tags)?);
    }
    if let Some(more) = text.strip_prefix('(') {
        *rest = more;
        let value = either(rest, tags)?;
        *rest = rest.trim_start().strip_prefix(')')?;
        return Some(value);
    }
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let (word, more) = text.split_at(end);
    *rest = more;
    (!word.is_empty()).then(|| tags.contains(word) || word.starts_with("go1."))
}

#[cfg(test)]
mod tests {
    use super::holds;
    use std::collections::BTreeSet;

    #[test]
    fn constraints_are_read_as_go_reads_them() {
        let tags = BTreeSet::from(["linux", "fts5"]);
        for (constraint, expected) in [
            ("linux", true),
            ("!linux", false),
            ("sqlite_vtable || vtable", false),
            ("fts5 && !windows", true),
            ("(a || fts5) && (linux && go1.21)", true),
            ("!(a || fts5)", false),
            ("a ||", true),
        ] {
            assert_eq!(holds(constraint, &tags), expected, "{constraint}");
        }
    }
}
