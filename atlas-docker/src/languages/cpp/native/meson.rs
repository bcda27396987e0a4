//! Meson.

use super::packages;
use super::{Recipe, options, place, within};
use crate::facts::Facts;
use crate::toolbox::MESON;
use crate::versions::Version;
use atlas_core::Evidence;
use regex::Regex;
use std::sync::LazyLock;

static TEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(^|[^\w.])test\s*\(").expect("a literal pattern"));
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"meson_version\s*:\s*'[>=\s]*([\d.]+)").expect("a literal pattern")
});
static STANDARD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"cpp_std=(?:c|gnu)\+\+(\w+)").expect("a literal pattern"));
static DEPENDENCY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:dependency|find_library|find_program)\s*\(\s*'([^']+)'")
        .expect("a literal pattern")
});
static OPTION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"option\s*\(\s*'([^']+)'([^)]*)").expect("a literal pattern"));

pub(super) fn plan(facts: &Facts<'_>, folder: &str) -> Option<Recipe> {
    let tree = facts.tree;
    let own = within(folder, "meson.build");
    let text = tree.text(&own)?;
    let prefix = within(folder, "");
    let files: Vec<&str> = tree
        .ending("meson.build")
        .filter(|path| path.starts_with(&prefix) && !path.contains("subprojects/"))
        .collect();
    let registered = files.iter().find_map(|file| {
        let (line, text) = tree.line(file, &TEST)?;
        Some(Evidence::at(*file, line, text))
    })?;
    let mut proof = vec![("test_cmd", registered)];
    let (mode, parser) = super::reading(facts, folder, "meson", &mut proof);
    let parser = if mode == "own" {
        "meson+automake".to_owned()
    } else {
        parser
    };
    if !parser.split('+').all(|id| facts.knows(id)) {
        return None;
    }
    let mut recipe = Recipe::new(MESON, mode, parser);
    recipe.proof = proof;
    let project = text.split('\'').nth(1).unwrap_or("").to_owned();
    let why = Evidence::at(
        own.clone(),
        tree.line_with(&own, "project").unwrap_or(1),
        "a build with Meson",
    );
    recipe.proof.push(("build", why.clone()));
    let mut arguments = vec![place(folder)];
    for name in ["meson.options", "meson_options.txt"] {
        let file = within(folder, name);
        let text = tree.text(&file).unwrap_or_default();
        for found in OPTION.captures_iter(&text) {
            if !options::switches_tests_on(&found[1], &project) {
                continue;
            }
            let value = if found[2].contains("'feature'") {
                "enabled"
            } else if found[2].contains("'boolean'") {
                "true"
            } else {
                continue;
            };
            arguments.push(format!("-D{}={value}", &found[1]));
            let line = tree.line_with(&file, &found[1]).unwrap_or(1);
            let shown = format!("option {}", &found[1]);
            let line = Evidence::at(file.clone(), line, shown);
            recipe.proof.push(("build", line));
        }
    }
    recipe.build.clone_from(&arguments);
    recipe.test = arguments;
    recipe.wanted = ["meson", "ninja-build", "pkg-config"]
        .map(|package| (package, why.clone()))
        .to_vec();
    for file in files {
        let text = tree.text(file).unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let why = Evidence::at(file, at + 1, line.trim());
            for found in DEPENDENCY.captures_iter(line) {
                packages::want(&mut recipe.wanted, &found[1], &why);
            }
            if let Some(version) = VERSION
                .captures(line)
                .and_then(|found| Version::parse(&found[1]))
            {
                recipe.needs.meson = Some((version, why.clone()));
            }
            if let Some(found) = STANDARD.captures(line) {
                let year = match &found[1] {
                    "2a" => Some(20),
                    "2b" => Some(23),
                    year => year.parse().ok(),
                };
                recipe.needs.cxx = year.map(|year| (year, why.clone()));
            }
        }
    }
    let wraps = format!("{prefix}subprojects/");
    if let Some(wrap) = tree.ending(".wrap").find(|path| path.starts_with(&wraps)) {
        recipe.drift.push(format!("sources are fetched: {wrap}"));
    }
    Some(recipe)
}
