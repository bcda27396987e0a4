//! Makefiles written by hand.

use super::packages;
use super::{Recipe, framework, place, within};
use crate::facts::Facts;
use crate::toolbox::MAKE;
use atlas_core::Evidence;
use regex::Regex;
use std::sync::LazyLock;

/// Targets that run tests, the customary first.
pub(crate) const TARGETS: &[&str] = &[
    "check",
    "test",
    "tests",
    "unittest",
    "unittests",
    "unit-test",
    "unit-tests",
    "unit_tests",
    "runtests",
    "run-tests",
    "run_tests",
    "runtest",
    "test-all",
    "testall",
];

static IN_CI: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bg?make\b([^;&|]*)").expect("a literal pattern"));
static LIBRARY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"-l([A-Za-z][\w+.-]*)").expect("a literal pattern"));
static MODULE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"pkg-config((?:\s+[\w.+-]+)+)").expect("a literal pattern"));

pub(crate) fn makefile(facts: &Facts<'_>, folder: &str) -> Option<String> {
    ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .map(|name| within(folder, name))
        .find(|file| facts.tree.has(file))
}

/// The line of a rule.
pub(crate) fn rule(facts: &Facts<'_>, file: &str, target: &str) -> Option<Evidence> {
    let text = facts.tree.text(file)?;
    let mut lines = text.lines().enumerate();
    let (at, line) = lines.find(|(_, line)| is_rule_of(line, target))?;
    Some(Evidence::at(file, at + 1, line.trim()))
}

fn is_rule_of(line: &str, target: &str) -> bool {
    line.split_once(':').is_some_and(|(targets, rest)| {
        !line.starts_with(['\t', '#', ' ', '.'])
            && !rest.starts_with('=')
            && targets.split_whitespace().any(|name| name == target)
    })
}

/// Whether a target is a program that its recipe links and does not run: `test: a.o` with `$(CC) $^ -o $@`.
fn only_links(text: &str, target: &str) -> bool {
    let mut lines = text.lines();
    let mut recipe = Vec::new();
    while lines.by_ref().any(|line| is_rule_of(line, target)) {
        recipe.extend(lines.clone().take_while(|line| line.starts_with('\t')));
    }
    let is_link = |line: &&str| {
        let command = line.trim_start().trim_start_matches(['@', '-', '+']);
        ["$(CC)", "$(CXX)", "$(LD)", "${CC}", "${CXX}", "${LD}"]
            .iter()
            .any(|start| command.starts_with(start))
            && !command.contains("&&")
            && !command.contains(';')
    };
    !recipe.is_empty() && recipe.iter().all(is_link)
}

/// The line of a rule that runs something.
fn running_rule(facts: &Facts<'_>, file: &str, target: &str) -> Option<Evidence> {
    let line = rule(facts, file, target)?;
    let text = facts.tree.text(file).unwrap_or_default();
    (!only_links(&text, target)).then_some(line)
}

pub(super) fn plan(facts: &Facts<'_>, folder: &str) -> Option<Recipe> {
    let root = makefile(facts, folder);
    let mut chosen: Option<(String, String, &str, Evidence)> = None;
    // A target that CI names, perhaps in a folder below.
    for command in facts.ci.test_commands() {
        for found in IN_CI.captures_iter(&command.text) {
            let words: Vec<&str> = found[1].split_whitespace().collect();
            let below = words
                .iter()
                .position(|word| *word == "-C")
                .and_then(|at| words.get(at + 1))
                .filter(|name| !name.contains(['$', '"', '\'']) && !name.starts_with('/'));
            let place = match below {
                Some(name) => within(folder, name.trim_start_matches("./").trim_end_matches('/')),
                None => folder.to_owned(),
            };
            let Some(file) = makefile(facts, &place) else {
                continue;
            };
            let target = TARGETS.iter().find(|target| words.contains(target));
            if let Some(target) = target
                && running_rule(facts, &file, target).is_some()
            {
                let line = Evidence::at(command.file.clone(), command.line, command.text.clone());
                chosen.get_or_insert((place, file, target, line));
            }
        }
    }
    let places = [folder.to_owned()]
        .into_iter()
        .chain(["test", "tests"].map(|name| within(folder, name)));
    for place in places {
        if chosen.is_none()
            && let Some(file) = makefile(facts, &place)
        {
            chosen = TARGETS.iter().find_map(|target| {
                let line = running_rule(facts, &file, target)?;
                Some((place.clone(), file.clone(), *target, line))
            });
        }
    }
    let (below, file, target, line) = chosen?;
    let found = framework::find(facts, folder)
        // These name passing tests only when asked by an argument.
        .filter(|(found, _)| !matches!(found.parser, "catch2" | "doctest"));
    let (mode, parser) = match &found {
        Some((found, _)) => ("split", found.parser.to_owned()),
        None => ("own", "automake".to_owned()),
    };
    if !facts.knows(&parser) {
        return None;
    }
    let mut recipe = Recipe::new(MAKE, mode, parser);
    recipe.proof.push(("test_cmd", line.clone()));
    let read = found.as_ref().map_or_else(
        || {
            let text = "no test framework is included: what programs print of single tests is read";
            Evidence::of(file.clone(), text)
        },
        |(_, why)| why.clone(),
    );
    recipe.proof.push(("log_parser_name", read));
    recipe.proof.push((
        "build",
        Evidence::of(file.clone(), "a Makefile written by hand"),
    ));
    recipe.build = vec![place(if root.is_some() { folder } else { &below })];
    recipe.test = vec![place(&below), target.to_owned()];
    recipe
        .wanted
        .push(("make", Evidence::of(file.clone(), "a build with make")));
    if let Some((found, why)) = found
        && !framework::is_bundled(facts, found)
    {
        packages::want(&mut recipe.wanted, found.library, &why);
    }
    let texts = [root, Some(file)].into_iter().flatten();
    for file in texts {
        let text = facts.tree.text(&file).unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let why = Evidence::at(file.clone(), at + 1, line.trim());
            for found in LIBRARY.captures_iter(line) {
                packages::want(&mut recipe.wanted, &found[1], &why);
            }
            for found in MODULE.captures_iter(line) {
                recipe.wanted.push(("pkg-config", why.clone()));
                for word in found[1].split_whitespace() {
                    packages::want(&mut recipe.wanted, word, &why);
                }
            }
        }
    }
    Some(recipe)
}

#[cfg(test)]
mod tests {
    use super::only_links;
    use crate::analysis::testing::planned;

    #[test]
    fn a_library_of_headers_that_is_listed_for_c_is_tested_by_make() {
        let files = [
            (
                "package.json",
                "{\"name\": \"ut\", \"src\": [\"src/ut.h\"]}\n",
            ),
            ("doc/Makefile", "all:\n\tasciidoc userguide.txt\n"),
            ("src/ut.h", "int ut(void);\n"),
            ("tests/test1.c", "int main(void) { return 0; }\n"),
            (
                "tests/Makefile",
                "PROGS = test1\n\nall: $(PROGS) run_tests\n\nrun_tests: $(PROGS)\n\tperl do_tests\n",
            ),
        ];
        let plan = planned(files, &[]);
        assert_eq!(plan.language, "c");
        assert!(plan.test_cmd.contains("run_tests"), "{}", plan.test_cmd);
    }

    #[test]
    fn a_program_that_is_named_as_a_test_is_not_run_by_its_rule() {
        let linked =
            "all: test\n\ntest: test.o data.o\n\t$(CC) $^ $(LDFLAGS) -o $@\n\nclean:\n\trm test\n";
        assert!(only_links(linked, "test"));
        assert!(!only_links(linked, "clean"));
        for text in [
            "test: test.o\n\t$(CC) $^ -o $@\n\t./test\n",
            "test: test.o\n\t$(CC) $^ -o $@ && ./$@\n",
            "test: program\n",
            ".PHONY: test\ntest:\n\t$(MAKE) -C tests $@\n",
            "test := a\ncheck:\n\t$(CC) a.c\n",
        ] {
            assert!(!only_links(text, "test"), "{text}");
        }
    }
}
