//! Suites of `PHPUnit` that lie in a package which is not to be had.

use super::{Change, Repair, Symptom};
use crate::languages::xml::Element;
use regex::Regex;
use std::sync::LazyLock;

/// Where `PHPUnit` looks for its configuration, and where projects keep it besides.
const CONFIGURATIONS: &[&str] = &["phpunit.xml", "phpunit.dist.xml", "phpunit.xml.dist"];

/// A suite's folder that does not exist ends the whole run: the other suites run by name.
pub(super) fn suites(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"^Test (?:directory|path) "(?:[^"]*/)?(vendor/[^"]+)" (?:not found|does not exist)"#,
        )
        .expect("a literal pattern")
    });
    let found = symptom.text.lines().find_map(|line| {
        let folder = MISSING.captures(line.trim())?.get(1)?.as_str();
        Some((line, folder.trim_end_matches('/')))
    });
    let Some((line, folder)) = found else {
        return Vec::new();
    };
    let root = CONFIGURATIONS
        .iter()
        .find_map(|name| Element::parse(&symptom.tree.text(name)?));
    let Some(root) = root else { return Vec::new() };
    let mut names = Vec::new();
    collect(&root, folder, &mut names);
    if names.is_empty() {
        return Vec::new();
    }
    vec![Repair {
        rule: "a suite of PHPUnit whose folder is missing",
        proof: symptom.proof(line),
        change: Change::PhpunitSuites(names.join(",")),
    }]
}

/// The names of the suites that have nothing of this folder.
fn collect(element: &Element, folder: &str, names: &mut Vec<String>) {
    for child in &element.children {
        let lies_there = |part: &Element| part.text.trim_end_matches('/').ends_with(folder);
        if child.name == "testsuite" && !child.children.iter().any(lies_there) {
            let name = child.attributes.iter().find(|(key, _)| key == "name");
            names.extend(name.map(|(_, name)| name.clone()));
        } else {
            collect(child, folder, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::changes;
    use super::Change;

    #[test]
    fn the_suites_that_are_there_run_without_the_one_that_is_not() {
        let configuration = r#"<phpunit><testsuites>
            <testsuite name="Unit"><directory>tests</directory><exclude>tests/Slow</exclude></testsuite>
            <testsuite name="Slow"><directory>tests/Slow</directory></testsuite>
            <testsuite name="Shared"><directory>./vendor/an/other/test</directory></testsuite>
            </testsuites></phpunit>"#;
        let files = [("phpunit.xml.dist", configuration)];
        let text = r#"Test directory "/testbed/./vendor/an/other/test" not found"#;
        let found = changes("php:8.2-cli", &files, text);
        assert_eq!(found, [Change::PhpunitSuites("Unit,Slow".to_owned())]);
        // A folder of the repository itself is no package's.
        let text = r#"Test directory "/testbed/tests/Gone" not found"#;
        assert_eq!(changes("php:8.2-cli", &files, text), []);
    }
}
