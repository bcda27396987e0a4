//! Several Python projects in folders of one repository: each installed in place, each tested for itself.

use super::manifests::{Manifests, name_of};
use super::{is_test, project};
use crate::facts::{Facts, Project, Verdict, only_projects};
use crate::languages::nested;
use crate::quote::shell_quote;
use crate::toolbox::{INSTALL_PYTHON, call};
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;
use std::collections::BTreeSet;

/// Files that make a folder installable.
const INSTALLABLE: &[&str] = &["pyproject.toml", "setup.py", "setup.cfg"];

/// A project in a folder.
#[derive(Debug)]
struct Found {
    folder: String,
    name: String,
    needs: Vec<String>,
    is_tested: bool,
}

/// The projects below the root.
#[derive(Debug)]
pub(super) struct Projects(Vec<Found>);

impl Projects {
    /// Finds them; none where the root has tests of a project of its own, of which they are parts.
    pub(super) fn find(tree: &Tree) -> Self {
        let folders: BTreeSet<&str> = tree
            .files()
            .filter_map(|path| path.rsplit_once('/'))
            .filter(|(_, name)| INSTALLABLE.contains(name))
            .map(|(folder, _)| folder)
            .filter(|folder| !folder.split('/').any(is_aside))
            .collect();
        if folders.len() < 2 {
            return Self(Vec::new());
        }
        let mut found: Vec<Found> = folders
            .into_iter()
            .filter_map(|folder| {
                let inner = tree.below(folder);
                let manifests = Manifests::read(&inner);
                manifests.installable.as_ref()?;
                let last = folder.rsplit('/').next().unwrap_or(folder);
                let name = if manifests.name.is_empty() {
                    name_of(last)
                } else {
                    manifests.name.clone()
                };
                Some(Found {
                    folder: folder.to_owned(),
                    name,
                    needs: manifests.all_names(&inner).into_keys().collect(),
                    is_tested: false,
                })
            })
            .collect();
        let mut own = false;
        for path in tree.files().filter(|path| is_test(path)) {
            let holds = |found: &&mut Found| path.starts_with(&format!("{}/", found.folder));
            match found
                .iter_mut()
                .filter(holds)
                .max_by_key(|found| found.folder.len())
            {
                Some(found) => found.is_tested = true,
                None => own = true,
            }
        }
        if own && Manifests::read(tree).installable.is_some() {
            found.clear();
        }
        Self(found)
    }

    /// Whether more than one of them has tests.
    pub(super) fn are_several(&self) -> bool {
        self.0.iter().filter(|found| found.is_tested).count() > 1
    }

    /// The plan of those that the pull request concerns.
    pub(super) fn plan(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
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
        let folders: Vec<String> = tested.iter().map(|at| self.0[*at].folder.clone()).collect();
        let mut plan = nested::several(&project, facts, &folders)?;
        let beside = self.beside(&tested);
        local(&mut plan, &beside);
        let count = self.0.iter().filter(|found| found.is_tested).count();
        if folders.len() < count {
            only_projects(&mut plan, folders, count);
        }
        Ok(plan)
    }

    /// The folders of all that these are made of within the repository, and they themselves.
    fn beside(&self, chosen: &[usize]) -> Vec<String> {
        let mut all: BTreeSet<usize> = chosen.iter().copied().collect();
        let mut open = chosen.to_vec();
        while let Some(at) = open.pop() {
            for (other, found) in self.0.iter().enumerate() {
                if self.0[at].needs.contains(&found.name) && all.insert(other) {
                    open.push(other);
                }
            }
        }
        all.into_iter()
            .map(|at| self.0[at].folder.clone())
            .collect()
    }
}

/// Projects of the repository that a plan's own are made of, installed in place beside them; what comes after the
/// first installation adds to it.
fn local(plan: &mut EnvironmentPlan, folders: &[String]) {
    let program = call(INSTALL_PYTHON);
    let mut beside = String::new();
    for folder in folders {
        beside.push_str(" --beside \"$ATLAS_REPO\"/");
        beside.push_str(&shell_quote(folder));
    }
    let mut is_first = true;
    for command in &mut plan.build {
        if command.contains(&program) && !command.contains(" --add") {
            let add = if is_first { "" } else { " --add" };
            *command = command.replacen(&program, &format!("{program}{add}{beside}"), 1);
            is_first = false;
        }
    }
}

/// Folders whose projects are shown or are data of tests.
fn is_aside(name: &str) -> bool {
    matches!(
        name,
        "docs"
            | "doc"
            | "example"
            | "examples"
            | "samples"
            | "templates"
            | "template"
            | "test"
            | "tests"
            | "testing"
    ) || name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    fn files(names: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut files = vec![(
            "pyproject.toml".to_owned(),
            "[tool.uv.workspace]\nmembers = [\"libs/*\"]\n".to_owned(),
        )];
        for (name, needs) in names {
            files.push((
                format!("libs/{name}/pyproject.toml"),
                format!(
                    "[project]\nname = \"x-{name}\"\nversion = \"1\"\ndependencies = [{needs}]\n"
                ),
            ));
            files.push((
                format!("libs/{name}/tests/test_{name}.py"),
                "import pytest\n".to_owned(),
            ));
        }
        files
    }

    #[test]
    fn projects_that_are_touched_run_with_what_they_are_made_of_beside_them() {
        let few = files(&[("a", ""), ("b", "\"x_a>=1\""), ("c", "")]);
        let plan = planned(few.clone(), &["libs/b/src/x.py"]);
        assert!(
            plan.test_cmd.starts_with("cd libs/b && python -m pytest"),
            "{}",
            plan.test_cmd
        );
        let install = plan
            .build
            .iter()
            .find(|command| command.contains("install-python"));
        let beside = "--beside \"$ATLAS_REPO\"/libs/a --beside \"$ATLAS_REPO\"/libs/b";
        assert!(
            install.is_some_and(|command| command.contains(beside)),
            "{install:?}"
        );
        assert_eq!(plan.test_scope.unwrap().places, ["libs/b"]);
        let plan = planned(few, &[]);
        assert_eq!(
            plan.test_cmd.matches("cd libs/").count(),
            3,
            "{}",
            plan.test_cmd
        );
        // The second adds to what the first installed.
        let adds = |command: &&String| command.contains("install-python\" --add");
        assert_eq!(
            plan.build.iter().filter(adds).count(),
            2,
            "{:#?}",
            plan.build
        );
        assert_eq!(plan.test_scope, None);
    }

    #[test]
    fn of_many_projects_dependents_run_too() {
        let many = files(&[
            ("a", ""),
            ("b", "\"x-a\""),
            ("c", ""),
            ("d", ""),
            ("e", "\"x-b\""),
        ]);
        let plan = planned(many, &["libs/a/src/x.py", "README.md"]);
        assert_eq!(
            plan.test_scope.unwrap().places,
            ["libs/a", "libs/b", "libs/e"]
        );
    }
}
