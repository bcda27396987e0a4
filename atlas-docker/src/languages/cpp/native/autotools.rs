//! Autoconf and automake.

use super::packages;
use super::{Recipe, framework, place, within};
use crate::facts::Facts;
use crate::quote::shell_quote;
use crate::toolbox::MAKE;
use atlas_core::Evidence;
use regex::Regex;
use std::sync::LazyLock;

static TESTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\s*(TESTS|check_PROGRAMS|check_SCRIPTS|TESTSUITE)\s*\+?=|^(check|test)(-local)?\s*:",
    )
    .expect("a literal pattern")
});
static LIBRARY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"AC_(?:CHECK_LIB|SEARCH_LIBS|CHECK_HEADERS?|CHECK_PROGS?|PATH_PROGS?)\s*\(\s*(.+)")
        .expect("a literal pattern")
});
static MODULES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"PKG_CHECK_(?:MODULES|EXISTS)\s*\(\s*(.+)").expect("a literal pattern")
});
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z][\w./+-]*").expect("a literal pattern"));
static SWITCH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"--(?:disable|enable|with|without)-[A-Za-z0-9_-]+(?:=[A-Za-z0-9_.-]+)?")
        .expect("a literal pattern")
});

/// Scripts that make `configure`.
const BOOTSTRAP: &[&str] = &[
    "autogen.sh",
    "bootstrap",
    "bootstrap.sh",
    "buildconf",
    "buildconf.sh",
];

pub(super) fn plan(facts: &Facts<'_>, folder: &str) -> Option<Recipe> {
    let tree = facts.tree;
    let file = [
        within(folder, "configure.ac"),
        within(folder, "configure.in"),
    ]
    .into_iter()
    .find(|file| tree.has(file))?;
    let prefix = within(folder, "");
    let rules: Vec<&str> = tree
        .files()
        .filter(|path| {
            path.starts_with(&prefix)
                && ["Makefile.am", "Makefile.in"]
                    .iter()
                    .any(|name| path.ends_with(name))
        })
        .collect();
    let tests = rules.iter().find_map(|path| {
        let (line, text) = tree.line(path, &TESTS)?;
        Some(Evidence::at(*path, line, text))
    })?;
    let found = framework::find(facts, folder).filter(|(found, _)| facts.knows(found.parser));
    let (mode, parser) = match &found {
        Some((found, _)) => ("automake-split", format!("automake+{}", found.parser)),
        None => ("automake", "automake".to_owned()),
    };
    if !facts.knows("automake") {
        return None;
    }
    let mut recipe = Recipe::new(MAKE, mode, parser);
    let line = found
        .as_ref()
        .map_or_else(|| tests.clone(), |(_, why)| why.clone());
    recipe.proof.push(("log_parser_name", line));
    recipe.proof.push(("test_cmd", tests));
    recipe.build = vec![place(folder)];
    recipe.test = vec![place(folder), "check".to_owned()];
    configure(facts, folder, &mut recipe);
    let why = Evidence::of(file.clone(), "a build with autoconf");
    recipe.proof.push(("build", why.clone()));
    recipe.wanted = ["autoconf", "automake", "libtool", "m4", "pkg-config"]
        .map(|package| (package, why.clone()))
        .to_vec();
    if let Some((found, why)) = found
        && !framework::is_bundled(facts, found)
    {
        packages::want(&mut recipe.wanted, found.library, &why);
    }
    for (end, tool) in [
        (".y", "bison"),
        (".l", "flex"),
        (".yy", "bison"),
        (".ll", "flex"),
    ] {
        if let Some(path) = tree.ending(end).find(|path| path.starts_with(&prefix)) {
            let why = Evidence::of(path, format!("{tool} reads it"));
            packages::want(&mut recipe.wanted, tool, &why);
        }
    }
    let text = tree.text(&file).unwrap_or_default();
    for (at, line) in text.lines().enumerate() {
        let code = line.split("dnl").next().unwrap_or("");
        let why = Evidence::at(file.clone(), at + 1, line.trim());
        if code.contains("AX_") {
            recipe.wanted.push(("autoconf-archive", why.clone()));
        }
        if code.contains("AM_GNU_GETTEXT") || code.contains("AM_ICONV") {
            recipe.wanted.push(("gettext", why.clone()));
            recipe.wanted.push(("autopoint", why.clone()));
        }
        for pattern in [&*LIBRARY, &*MODULES] {
            let Some(found) = pattern.captures(code) else {
                continue;
            };
            for word in WORD.find_iter(&found[1]) {
                packages::want(&mut recipe.wanted, word.as_str(), &why);
            }
        }
    }
    Some(recipe)
}

/// The commands that make the Makefiles.
fn configure(facts: &Facts<'_>, folder: &str, recipe: &mut Recipe) {
    let inside = if folder.is_empty() {
        String::new()
    } else {
        format!("cd {} && ", shell_quote(folder))
    };
    if !facts.tree.has(&within(folder, "configure")) {
        let script = BOOTSTRAP
            .iter()
            .find(|name| facts.tree.has(&within(folder, name)));
        recipe.before.push(match script {
            Some(name) => {
                let why = Evidence::of(within(folder, name), "makes configure");
                recipe.proof.push(("build", why));
                format!(
                    "{inside}NOCONFIGURE=1 sh ./{name} || {{ echo 'atlas: {name} fails, autoreconf instead'; autoreconf -fi; }}"
                )
            }
            None => format!("{inside}autoreconf -fi"),
        });
    }
    // What CI's first configure line without special builds sets.
    let in_ci = facts
        .ci
        .test_commands()
        .filter(|command| command.text.contains("configure"))
        .map(|command| {
            let words: Vec<&str> = SWITCH
                .find_iter(&command.text)
                .map(|word| word.as_str())
                .filter(|word| {
                    let kind = ["static", "shared", "host", "maintainer"];
                    let less = word.starts_with("--disable") || word.starts_with("--without");
                    !kind.iter().any(|kind| word.contains(kind))
                        && (less || !super::options::is_special(word))
                })
                .collect();
            (words, command)
        })
        .find(|(words, _)| !words.is_empty());
    let mut command = format!("{inside}./configure");
    if let Some((words, place)) = in_ci {
        for word in words {
            command.push(' ');
            command.push_str(&shell_quote(word));
        }
        command = format!(
            "{command} || {{ echo 'atlas: configure fails with the options of CI'; ./configure; }}"
        );
        let line = Evidence::at(place.file.clone(), place.line, place.text.clone());
        recipe.proof.push(("build", line));
    }
    recipe.before.push(command);
}
