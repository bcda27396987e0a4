//! Several packages in folders of one repository: each installed and tested in its folder.

use super::composer::{CONFIGURATIONS, Composer, is_test};
use super::runner::names_runner;
use crate::facts::{Facts, Project, Verdict};
use crate::languages::nested;
use crate::quote::shell_quote;
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"<(?:directory|file)\b[^>]*>\s*([^<]+?)\s*</").expect("a literal pattern")
});
static BOOTSTRAP_ABOVE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\bbootstrap\s*=\s*["']\.\./"#).expect("a literal pattern"));

/// A folder with a manifest.
#[derive(Debug)]
struct Found {
    folder: String,
    name: String,
    needs: Vec<String>,
    is_tested: bool,
}

/// The packages of a repository, the root's among them.
#[derive(Debug)]
pub(super) struct Packages(Vec<Found>);

impl Packages {
    pub(super) fn find(tree: &Tree) -> Self {
        let suites = suites(tree);
        let folders: BTreeSet<&str> = tree
            .ending("composer.json")
            .filter(|path| *path == "composer.json" || path.ends_with("/composer.json"))
            .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder))
            .filter(|folder| !is_aside(folder))
            // What the root's own suites run is the root's.
            .filter(|folder| folder.is_empty() || !suites.iter().any(|place| meets(place, folder)))
            .collect();
        let mut found: Vec<Found> = folders
            .into_iter()
            .map(|folder| {
                let composer = Composer::read(tree, &main(folder));
                Found {
                    folder: folder.to_owned(),
                    // Where nobody can ask for it by name, its place serves.
                    name: composer.name().unwrap_or_else(|| format!("./{folder}")),
                    needs: composer.required().into_keys().collect(),
                    is_tested: false,
                }
            })
            .collect();
        for path in tree.ending(".php").filter(|path| is_test(path)) {
            let holds = |found: &&mut Found| {
                found.folder.is_empty() || path.starts_with(&format!("{}/", found.folder))
            };
            let owner = found.iter_mut().filter(holds);
            if let Some(owner) = owner.max_by_key(|found| found.folder.len()) {
                owner.is_tested = owner.is_tested || has_runner(tree, &owner.folder);
            }
        }
        Self(found)
    }

    /// Whether packages below the root have tests of their own.
    pub(super) fn are_below(&self) -> bool {
        self.0
            .iter()
            .any(|found| found.is_tested && !found.folder.is_empty())
    }

    /// The manifests of those that the pull request concerns.
    pub(super) fn chosen(&self, facts: &Facts<'_>) -> Vec<Composer> {
        let projects: Vec<Project<'_>> = self
            .0
            .iter()
            .map(|found| Project {
                folder: &found.folder,
                name: &found.name,
                needs: found.needs.clone(),
            })
            .collect();
        let tested = nested::tested(facts, &projects, |at| self.0[at].is_tested);
        let are_several = tested.len() > 1;
        let read = |at: usize| {
            let mut composer = Composer::read(facts.tree, &main(&self.0[at].folder));
            composer.are_several = are_several;
            composer
        };
        tested.into_iter().map(read).collect()
    }

    /// One plan of theirs, each made by `analyse`.
    pub(super) fn plan(
        &self,
        facts: &Facts<'_>,
        analyse: impl Fn(&Composer) -> Result<EnvironmentPlan, Verdict>,
    ) -> Result<EnvironmentPlan, Verdict> {
        let of = self.0.iter().filter(|found| found.is_tested).count();
        let chosen = self.chosen(facts);
        nested::of_chosen(&chosen, of, |composer| &composer.folder, analyse)
    }
}

/// What the root's manifest takes from folders of the repository, packages in these folders take from there, too: a
/// released one may be younger than the base.
pub(super) fn from_folders(tree: &Tree, plan: &mut EnvironmentPlan) {
    let root = Composer::read(tree, "composer.json");
    let mut repositories = root.path_repositories();
    if repositories.is_empty() {
        return;
    }
    // A checkout of a commit has no branch, so composer would take a package for one that no range allows.
    let versions: Map<String, Value> = tree
        .ending("/composer.json")
        .filter(|path| !is_aside(path))
        .filter_map(|path| {
            let composer = Composer::read(tree, path);
            Some((composer.name()?, composer.branch()?.0.into()))
        })
        .collect();
    for repository in repositories.iter_mut().filter_map(Value::as_object_mut) {
        let options = repository
            .entry("options")
            .or_insert_with(|| Map::new().into());
        if let Some(options) = options.as_object_mut() {
            options
                .entry("versions")
                .or_insert_with(|| versions.clone().into());
        }
    }
    let settings = serde_json::json!({ "repositories": repositories }).to_string();
    plan.build.push(format!(
        "mkdir -p \"$ATLAS_ENV/composer\" && printf %s {} > \"$ATLAS_ENV/composer/config.json\"",
        shell_quote(&settings)
    ));
    let text = "packages of these folders are taken from there";
    plan.prove("build", root.at(tree, "\"repositories\"", text));
}

fn main(folder: &str) -> String {
    match folder {
        "" => "composer.json".to_owned(),
        folder => format!("{folder}/composer.json"),
    }
}

/// Whether a package brings what runs its tests. One whose configuration starts with what is installed above it does not.
fn has_runner(tree: &Tree, folder: &str) -> bool {
    let composer = Composer::read(tree, &main(folder));
    let configured = CONFIGURATIONS
        .iter()
        .filter_map(|name| tree.text(&format!("{}{name}", composer.folder)))
        .any(|text| !BOOTSTRAP_ABOVE.is_match(&text));
    names_runner(&composer) || configured
}

/// Places that the suites of the root's configuration name.
fn suites(tree: &Tree) -> Vec<String> {
    let Some(text) = tree.first(CONFIGURATIONS).and_then(|path| tree.text(path)) else {
        return Vec::new();
    };
    let part = text
        .find("<testsuite")
        .zip(text.rfind("</testsuite"))
        .and_then(|(from, to)| text.get(from..to));
    PLACE
        .captures_iter(part.unwrap_or_default())
        .map(|found| found[1].trim_start_matches("./").to_owned())
        .collect()
}

/// Whether a place with wildcards is above a folder, within it or the folder itself.
fn meets(place: &str, folder: &str) -> bool {
    let parts = |path: &'_ str| -> Vec<String> {
        path.split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .map(str::to_owned)
            .collect()
    };
    let same = |part: &str, name: &str| {
        let pattern = regex::escape(part).replace(r"\*", ".*");
        Regex::new(&format!("^{pattern}$")).is_ok_and(|pattern| pattern.is_match(name))
    };
    let (place, folder) = (parts(place), parts(folder));
    let known = place.iter().take_while(|part| *part != "**");
    known.zip(&folder).all(|(part, name)| same(part, name))
}

/// Whether what stands in a folder is shown or is data of tests.
fn is_aside(folder: &str) -> bool {
    folder.split('/').any(|name| {
        name.starts_with('.')
            || matches!(
                name.to_ascii_lowercase().as_str(),
                "demo"
                    | "doc"
                    | "docs"
                    | "example"
                    | "examples"
                    | "fixtures"
                    | "stubs"
                    | "test"
                    | "tests"
                    | "vendor-bin"
            )
    })
}

#[cfg(test)]
mod tests {
    use super::meets;
    use crate::analysis::testing::planned;

    const SUITES: &str = "<phpunit><testsuites><testsuite name=\"a\"><directory suffix=\"Test.php\">./PLACE</directory></testsuite></testsuites></phpunit>";

    /// A package with a test of its own; `more` is of its manifest.
    fn package(folder: &str, name: &str, more: &str) -> [(String, String); 2] {
        let manifest = format!(
            "{{\"name\": \"acme/{name}\", \"require-dev\": {{\"phpunit/phpunit\": \"^10\"}}{more}}}"
        );
        [
            (format!("{folder}composer.json"), manifest),
            (
                format!("{folder}tests/{name}Test.php"),
                "<?php\n".to_owned(),
            ),
        ]
    }

    fn root(place: &str) -> Vec<(String, String)> {
        let paths = r#", "repositories": [{"type": "path", "url": "packages/*"}, {"type": "vcs", "url": "https://x.example/y"}]"#;
        let mut files = package("", "app", paths).to_vec();
        files.push(("phpunit.xml".to_owned(), SUITES.replace("PLACE", place)));
        files
    }

    #[test]
    fn a_package_that_the_root_s_suites_leave_out_is_run_where_it_is_touched() {
        let mut files = root("tests");
        let branch = r#", "extra": {"branch-alias": {"dev-main": "2.x-dev"}}"#;
        files.extend(package("packages/cart/", "cart", branch));
        files.extend(package("tests/fixtures/data/", "data", ""));
        let cart = "cd packages/cart && php -d memory_limit=-1 vendor/bin/phpunit";
        for (touched, wanted, places) in [
            ("src/App.php", "php -d memory", &[""][..]),
            ("packages/cart/src/Cart.php", cart, &["packages/cart"]),
            ("tests/fixtures/data/x.php", "php -d memory", &[""]),
        ] {
            let plan = planned(files.clone(), &[touched]);
            assert!(plan.test_cmd.starts_with(wanted), "{}", plan.test_cmd);
            assert_eq!(plan.test_scope.unwrap().places, places, "{touched}");
            // What the root takes from its folders, its packages take from there.
            let told = r#""url":"$ATLAS_REPO/packages/*","options":{"versions":{"acme/cart":"dev-main"}}}]"#;
            let is_told = plan.build.iter().any(|command| command.contains(told));
            assert_eq!(is_told, places == ["packages/cart"], "{:#?}", plan.build);
        }
    }

    #[test]
    fn a_package_that_the_root_s_suites_hold_is_the_root_s() {
        for place in ["packages/*/tests", "packages", "."] {
            let mut files = root(place);
            files.extend(package("packages/cart/", "cart", ""));
            let plan = planned(files, &["packages/cart/src/Cart.php"]);
            assert!(plan.test_cmd.starts_with("php -d"), "{}", plan.test_cmd);
            assert_eq!(plan.test_scope, None);
        }
        assert!(!meets("packages/core/tests", "packages/cart"));
        assert!(!meets("tests", "packages/cart"));
    }

    #[test]
    fn a_package_that_is_tested_with_what_is_above_it_is_no_project() {
        let mut files = root("tests");
        let manifest = r#"{"name": "acme/cart"}"#.to_owned();
        let configuration = r#"<phpunit bootstrap="../../vendor/autoload.php"/>"#.to_owned();
        files.push(("packages/cart/composer.json".to_owned(), manifest));
        files.push(("packages/cart/phpunit.xml".to_owned(), configuration));
        files.push(("packages/cart/tests/CartTest.php".to_owned(), String::new()));
        let plan = planned(files, &["packages/cart/src/Cart.php"]);
        assert!(plan.test_cmd.starts_with("php -d"), "{}", plan.test_cmd);
    }
}
