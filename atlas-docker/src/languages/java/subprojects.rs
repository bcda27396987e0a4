//! The projects of a Gradle build, and those of them that a pull request concerns.

use super::{Project, below, is_test};
use crate::facts::{self, Facts, only_projects};
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The settings that name a build's projects.
const SETTINGS: &[&str] = &["settings.gradle", "settings.gradle.kts"];

/// The test tasks of the projects that the pull request concerns; `task` of all projects where that is all of them, or
/// where the settings do not say where the projects are.
pub(super) fn tasks(
    facts: &Facts<'_>,
    project: &Project,
    task: &str,
    plan: &mut EnvironmentPlan,
) -> String {
    let all = task.to_owned();
    let named = names(facts.tree, project);
    // A project that a state does not have is an error for all of them.
    if named.is_empty() || names(facts.head, project) != named {
        return all;
    }
    let found: Vec<(String, String)> = std::iter::once((":".to_owned(), project.folder.clone()))
        .chain(named.into_iter().filter_map(|name| {
            let folder = project.inside(&name.trim_start_matches(':').replace(':', "/"));
            facts.tree.has_folder(&folder).then_some((name, folder))
        }))
        .collect();
    let projects: Vec<facts::Project<'_>> = found
        .iter()
        .map(|(name, folder)| facts::Project {
            folder,
            name,
            needs: needs(facts.tree, folder, &found),
        })
        .collect();
    let chosen = facts.concerned(&projects);
    let count = projects.len();
    if chosen.len() == count {
        return all;
    }
    let tested = |at: &usize| {
        let mut tests = facts.tree.files().filter(|path| is_test(path));
        tests.any(|path| {
            let holds = |(_, folder): &&(String, String)| below(folder, path);
            let owner = found
                .iter()
                .filter(holds)
                .max_by_key(|(_, folder)| folder.len());
            owner.is_some_and(|(name, _)| *name == found[*at].0)
        })
    };
    let chosen: Vec<&(String, String)> = chosen
        .iter()
        .filter(|at| tested(at))
        .map(|at| &found[*at])
        .collect();
    if chosen.is_empty() {
        return all;
    }
    let folders = chosen.iter().map(|(_, folder)| folder.clone()).collect();
    only_projects(plan, folders, count);
    let words: Vec<String> = chosen
        .iter()
        .map(|(name, _)| format!("{}:{task}", name.trim_end_matches(':')))
        .collect();
    words.join(" ")
}

/// The projects that the settings include, as Gradle calls them; none where a folder is not where its name says.
fn names(tree: &Tree, project: &Project) -> BTreeSet<String> {
    static INCLUDE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)^\s*include\b\s*\(?((?:\s*["'][\w:./-]+["']\s*,?)+)"#)
            .expect("a literal pattern")
    });
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"["']:?([\w:.-]+)["']"#).expect("a literal pattern"));
    let text = SETTINGS
        .iter()
        .find_map(|file| tree.text(&project.inside(file)))
        .unwrap_or_default();
    if text.contains("projectDir") {
        return BTreeSet::new();
    }
    INCLUDE
        .captures_iter(&text)
        .flat_map(|call| {
            let names = NAME.captures_iter(call.get(1).map_or("", |list| list.as_str()));
            names
                .map(|name| format!(":{}", &name[1]))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The projects that a project's build script names.
fn needs(tree: &Tree, folder: &str, all: &[(String, String)]) -> Vec<String> {
    static PROJECT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\bproject\s*\(\s*(?:path\s*[:=]\s*)?["'](:?[\w:.-]+)["']"#)
            .expect("a literal pattern")
    });
    static ACCESSOR: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bprojects\.([A-Za-z][\w.]*)").expect("a literal pattern"));
    // `:my-lib:core` is `projects.myLib.core`.
    let plain = |name: &str| -> String {
        let signs = name.chars().filter(char::is_ascii_alphanumeric);
        signs.collect::<String>().to_ascii_lowercase()
    };
    let last = folder.rsplit('/').next().unwrap_or(folder);
    let scripts = ["build.gradle", "build.gradle.kts"].map(str::to_owned);
    // Some name the script as its project.
    let own = [format!("{last}.gradle"), format!("{last}.gradle.kts")];
    let mut found = Vec::new();
    for script in scripts.into_iter().chain(own) {
        let path = if folder.is_empty() {
            script
        } else {
            format!("{folder}/{script}")
        };
        let text = tree.text(&path).unwrap_or_default();
        for call in PROJECT.captures_iter(&text) {
            found.push(format!(":{}", call[1].trim_start_matches(':')));
        }
        for call in ACCESSOR.captures_iter(&text) {
            let wanted = plain(&call[1]);
            let named = all.iter().find(|(name, _)| plain(name) == wanted);
            found.extend(named.map(|(name, _)| name.clone()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    #[test]
    fn of_many_projects_those_that_are_touched_and_their_dependents_run() {
        let mut files = vec![(
            "settings.gradle.kts".to_owned(),
            "rootProject.name = \"x\"\ninclude(\"core\", \"my-io\")\ninclude(\":web:api\")\ninclude(\"tools\",\n  \"docs\")\n".to_owned(),
        )];
        for (folder, script) in [
            ("core", ""),
            (
                "my-io",
                "dependencies { implementation(project(\":core\")) }\n",
            ),
            (
                "web/api",
                "dependencies { implementation(projects.myIo) }\n",
            ),
            ("tools", ""),
        ] {
            files.push((
                format!("{folder}/build.gradle.kts"),
                format!("plugins {{ java }}\n{script}"),
            ));
            files.push((
                format!("{folder}/src/test/java/ATest.java"),
                "class ATest {}".to_owned(),
            ));
        }
        files.push(("docs/build.gradle.kts".to_owned(), String::new()));
        let plan = planned(files.clone(), &["my-io/src/main/java/A.java", "README.md"]);
        assert!(
            plan.test_cmd
                .contains(" --offline :my-io:test :web:api:test;"),
            "{}",
            plan.test_cmd
        );
        assert_eq!(plan.test_scope.unwrap().places, ["my-io", "web/api"]);
        for all in [&[][..], &["docs/a.md"]] {
            let plan = planned(files.clone(), all);
            assert!(
                plan.test_cmd.contains(" --offline test;"),
                "{}",
                plan.test_cmd
            );
        }
    }
}
