//! Several gems in folders of one repository: each tested in its folder, with the Gemfile that is nearest above it.

use super::manifests::{self, Manifests, is_test};
use crate::facts::{Facts, Project, Verdict};
use crate::languages::nested;
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;
use std::collections::BTreeSet;

/// A folder with a gemspec or a Gemfile.
#[derive(Debug)]
struct Found {
    folder: String,
    /// Names of its gems; none of an application.
    names: Vec<String>,
    /// Gems that it names.
    needs: Vec<String>,
    /// Folders that it names them in.
    paths: Vec<String>,
    is_tested: bool,
}

/// The gems and applications of a repository, the root's among them.
#[derive(Debug)]
pub(super) struct Gems(Vec<Found>);

impl Gems {
    pub(super) fn find(tree: &Tree) -> Self {
        let folders: BTreeSet<&str> = tree
            .files()
            .filter(|path| manifests::is_manifest(path))
            .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder))
            .chain(tree.first(&["Rakefile"]).map(|_| ""))
            .filter(|folder| !is_aside(folder))
            .collect();
        let mut found: Vec<Found> = folders
            .into_iter()
            .map(|folder| {
                let own = Manifests::read(tree, &main(tree, folder));
                Found {
                    folder: folder.to_owned(),
                    names: own.names(),
                    needs: own.needs(tree),
                    paths: own.paths(tree),
                    is_tested: false,
                }
            })
            .collect();
        // Gems that are data of tests have tests that nobody runs.
        let data: Vec<String> = tree
            .ending(".gemspec")
            .filter_map(|path| path.rsplit_once('/'))
            .filter(|(folder, _)| is_aside(folder))
            .map(|(folder, _)| format!("{folder}/"))
            .collect();
        for path in tree.files() {
            if data.iter().any(|folder| path.starts_with(folder)) {
                continue;
            }
            let owner = found
                .iter_mut()
                .filter(|found| below(path, &found.folder).is_some())
                .max_by_key(|found| found.folder.len());
            if let Some(owner) = owner
                && below(path, &owner.folder).is_some_and(is_test)
            {
                owner.is_tested = true;
            }
        }
        // A lone Gemfile is a tool's or an appliance's.
        found.retain(|found| found.is_tested || found.folder.is_empty() || !found.names.is_empty());
        Self(found)
    }

    /// Whether gems below the root have tests of their own.
    pub(super) fn are_below(&self) -> bool {
        self.0
            .iter()
            .any(|found| found.is_tested && !found.folder.is_empty())
    }

    /// The manifests of those that the pull request concerns.
    pub(super) fn chosen(&self, facts: &Facts<'_>) -> Vec<Manifests> {
        let projects: Vec<Project<'_>> = self
            .0
            .iter()
            .map(|found| Project {
                folder: &found.folder,
                name: &found.folder,
                needs: self.needed(found),
            })
            .collect();
        let tested = nested::tested(facts, &projects, |at| self.0[at].is_tested);
        let are_several = tested.len() > 1;
        let read = |at: usize| {
            let folder = &self.0[at].folder;
            Manifests {
                are_several,
                beside: self.beside(folder),
                ..Manifests::read(facts.tree, &main(facts.tree, folder))
            }
        };
        tested.into_iter().map(read).collect()
    }

    /// One plan of theirs, each made by `analyse`.
    pub(super) fn plan(
        &self,
        facts: &Facts<'_>,
        analyse: impl Fn(&Manifests) -> Result<EnvironmentPlan, Verdict>,
    ) -> Result<EnvironmentPlan, Verdict> {
        let of = self.0.iter().filter(|found| found.is_tested).count();
        let chosen = self.chosen(facts);
        nested::of_chosen(&chosen, of, |manifests| &manifests.folder, analyse)
    }

    /// Folders of the repository's gems that one of them asks for, by name or by folder.
    fn needed(&self, of: &Found) -> Vec<String> {
        let asks = |found: &&Found| {
            let named = |need: &String| found.names.contains(need);
            of.needs.iter().any(named) || of.paths.contains(&found.folder)
        };
        let found = self.0.iter().filter(|found| found.folder != of.folder);
        found
            .filter(asks)
            .map(|found| found.folder.clone())
            .collect()
    }

    /// The repository's gems that one in this folder is made of: name and folder.
    fn beside(&self, folder: &str) -> Vec<(String, String)> {
        let mut all = BTreeSet::from([folder.to_owned()]);
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            for found in self.0.iter().filter(|found| found.folder == next) {
                let new = self.needed(found).into_iter();
                open.extend(new.filter(|folder| all.insert(folder.clone())));
            }
        }
        let others = self.0.iter().filter(|found| found.folder != folder);
        others
            .filter(|found| all.contains(&found.folder))
            .flat_map(|found| {
                let folder = &found.folder;
                found
                    .names
                    .iter()
                    .map(|name| (name.clone(), folder.clone()))
            })
            .collect()
    }
}

/// The manifest that speaks for a folder.
fn main(tree: &Tree, folder: &str) -> String {
    let here = |path: &&str| below(path, folder).is_some_and(|name| !name.contains('/'));
    let mut found = tree.files().filter(|path| manifests::is_manifest(path));
    found.find(here).unwrap_or("Rakefile").to_owned()
}

/// A path as seen from a folder, if it is below it.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Whether what stands in a folder is shown, measured or data of tests.
pub(super) fn is_aside(folder: &str) -> bool {
    folder.split('/').any(|name| {
        name.starts_with('.')
            || matches!(
                name,
                "bench"
                    | "benchmark"
                    | "benchmarks"
                    | "demo"
                    | "doc"
                    | "docs"
                    | "dummy"
                    | "example"
                    | "examples"
                    | "features"
                    | "fixtures"
                    | "gemfiles"
                    | "sample"
                    | "samples"
                    | "spec"
                    | "specs"
                    | "template"
                    | "templates"
                    | "test"
                    | "tests"
                    | "website"
            )
    })
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    fn file(path: &str, text: &str) -> (String, String) {
        (path.to_owned(), text.to_owned())
    }

    /// A gem with a test of its own.
    fn gem(folder: &str, name: &str, text: &str) -> [(String, String); 2] {
        [
            file(&format!("{folder}{name}.gemspec"), text),
            file(
                &format!("{folder}spec/{name}_spec.rb"),
                "RSpec.describe(1) {}\n",
            ),
        ]
    }

    #[test]
    fn a_gem_below_another_is_run_where_it_is_touched() {
        let mut files = gem("", "outer", "s.add_dependency 'inner'\n").to_vec();
        files.push(file("Gemfile", "gemspec\ngem 'rspec'\n"));
        files.extend(gem("adapters/inner/", "inner", ""));
        // Data of the outer gem's tests, and a tool without tests.
        files.extend(gem("spec/fixtures/data/", "data", ""));
        files.push(file("tools/Gemfile", "gem 'rubocop'\n"));
        let inner = "cd adapters/inner && bundle exec rspec";
        for (touched, wanted, places) in [
            ("lib/outer.rb", "bundle exec rspec", &[""][..]),
            ("adapters/inner/lib/inner.rb", inner, &["adapters/inner"]),
            ("spec/fixtures/data/data.rb", "bundle exec rspec", &[""]),
        ] {
            let plan = planned(files.clone(), &[touched]);
            assert!(plan.test_cmd.starts_with(wanted), "{}", plan.test_cmd);
            assert_eq!(plan.test_scope.unwrap().places, places, "{touched}");
        }
        let plan = planned(files.clone(), &[]);
        assert!(plan.test_cmd.contains("( bundle exec rspec"));
        assert!(plan.test_cmd.contains(&format!("( {inner}")));
        assert_eq!(plan.test_scope, None);
        // The one Gemfile is that of both.
        let installs = plan.build.iter().filter(|c| c.contains("bundle install"));
        assert_eq!(installs.count(), 1, "{:#?}", plan.build);
    }

    #[test]
    fn the_only_gem_with_tests_is_run_though_the_root_has_a_gemfile() {
        let mut files = gem("core/", "core", "").to_vec();
        files.push(file("Gemfile", "gem 'core', path: 'core'\ngem 'rspec'\n"));
        let plan = planned(files, &["core/lib/core.rb"]);
        assert!(plan.test_cmd.starts_with("cd core && bundle exec rspec"));
        assert_eq!(plan.test_scope, None);
    }

    #[test]
    fn of_many_gems_those_that_take_a_touched_one_from_its_folder_run_too() {
        let mut files = Vec::new();
        for (name, gemfile) in [
            ("a", "gem 'rspec'\n"),
            ("b", "gem 'rspec'\ngemspec path: '../a'\n"),
            ("c", "gem 'rspec'\n"),
            ("d", "gem 'rspec'\n"),
            ("e", "gem 'rspec'\n"),
        ] {
            files.extend(gem(&format!("gems/{name}/"), name, ""));
            files.push(file(&format!("gems/{name}/Gemfile"), gemfile));
        }
        let plan = planned(files, &["gems/a/lib/a.rb"]);
        assert_eq!(plan.test_scope.unwrap().places, ["gems/a", "gems/b"]);
    }
}
