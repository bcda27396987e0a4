//! The JVM: Java, and Kotlin, Groovy or Scala where Maven, Gradle or Ant builds them.

mod ant;
mod gradle;
mod jdk;
mod maven;
mod pom;
mod subprojects;

pub(crate) use maven::COMPILE_FIRST;

use super::{INSTALL_SUBSTITUTES, Language, env};
use crate::facts::{Facts, Presence, Verdict};
use crate::quote::shell_quote;
use crate::system;
use crate::tree::Tree;
use atlas_core::{Environment, EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// Java.
#[derive(Debug)]
pub(crate) struct Java;

/// The reader of the XML reports that Surefire, Gradle and Ant write.
const JUNIT: &str = "junit";

/// What builds a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Maven,
    Gradle,
    Ant,
}

/// Manifests, the first one found in a folder named as its proof.
const MANIFESTS: &[(Tool, &[&str])] = &[
    (Tool::Maven, &["pom.xml"]),
    (
        Tool::Gradle,
        &[
            "settings.gradle",
            "settings.gradle.kts",
            "build.gradle",
            "build.gradle.kts",
        ],
    ),
    (Tool::Ant, &["build.xml"]),
];

/// A folder with a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Project {
    /// The folder, empty for the root.
    folder: String,
    /// The manifest's path.
    manifest: String,
    tool: Tool,
}

impl Project {
    /// A path within the project.
    fn inside(&self, path: &str) -> String {
        if self.folder.is_empty() {
            path.to_owned()
        } else {
            format!("{}/{path}", self.folder)
        }
    }

    /// What a command begins with to stand in the project's folder.
    fn enter(&self) -> String {
        if self.folder.is_empty() {
            String::new()
        } else {
            format!("cd {} && ", shell_quote(&self.folder))
        }
    }
}

impl Language for Java {
    fn id(&self) -> &'static str {
        "java"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "maven:3-eclipse-temurin-17"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        Presence {
            manifest: projects(tree)
                .into_iter()
                .next()
                .map(|found| found.manifest),
            sources: tree.files().filter(|path| is_source(path)).count(),
            tests: tree.files().filter(|path| is_test(path)).count(),
        }
    }

    fn name_substitutes(&self, environment: &mut Environment) {
        let java = environment.lock.tools.get("java");
        let major = java.and_then(|version| version.split('.').next());
        if let Some(major) = major
            && let Some(spec) = environment.plan.docker_specs.get_mut("java_version")
        {
            *spec = major.into();
        }
    }

    fn substitutes(
        &self,
        facts: &Facts<'_>,
        plan: &EnvironmentPlan,
    ) -> Vec<(&'static str, String)> {
        let number = |plan: &EnvironmentPlan, spec: &str| -> Option<u32> {
            plan.docker_specs.get(spec)?.as_str()?.parse().ok()
        };
        let Ok(wanted) = self.analyse(facts) else {
            return Vec::new();
        };
        let (jdk, level) = (
            number(&wanted, "java_version"),
            number(&wanted, "java_level"),
        );
        match (jdk, number(plan, "java_version")) {
            (Some(jdk), Some(found)) if found < jdk => {
                let install = include_str!("substitutes.sh")
                    .replace("@JDK@", &jdk.to_string())
                    .replace("@LEVEL@", &level.unwrap_or(0).to_string());
                vec![(INSTALL_SUBSTITUTES, install)]
            }
            _ => Vec::new(),
        }
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let tree = facts.tree;
        let found = projects(tree);
        let Some(first) = found.first() else {
            return Err(Verdict::new(
                "no build of Maven, Gradle or Ant was found",
                vec![Evidence::of(
                    ".",
                    "pom.xml, build.gradle and build.xml are missing",
                )],
            ));
        };
        let (project, why) = decide(facts, &found, first);
        if !tree
            .files()
            .any(|path| is_test(path) && below(&project.folder, path))
        {
            let text = "no test source below it";
            let evidence = vec![Evidence::of(&project.manifest, text)];
            return Err(Verdict::new("the repository has no JVM tests", evidence));
        }
        let mut plan = EnvironmentPlan {
            env: env([("LANG", "C.UTF-8")]),
            products: Some(crate::languages::native::products(
                &["java"],
                &[],
                &["class"],
            )),
            ..EnvironmentPlan::default()
        };
        match project.tool {
            Tool::Maven => maven::plan(facts, project, &mut plan)?,
            Tool::Gradle => gradle::plan(facts, project, &mut plan)?,
            Tool::Ant => ant::plan(facts, project, &mut plan)?,
        }
        for line in why {
            plan.prove("build", line);
        }
        system::packages(facts, self.id(), &[], &[], &mut plan);
        Ok(plan)
    }
}

fn below(folder: &str, path: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

fn is_source(path: &str) -> bool {
    [".java", ".kt", ".groovy", ".scala"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// By folder or by name, as Surefire, Gradle and most Ant files find them.
fn is_test(path: &str) -> bool {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|/)(?:Test\w*|\w+(?:Tests?|TestCase|Spec|IT))\.(?:java|kt|groovy|scala)$")
            .expect("a literal pattern")
    });
    is_source(path)
        && (NAME.is_match(path) || path.contains("src/test/") || path.contains("/test/java/"))
}

/// The builds of the repository: those of the root, else those of the folder nearest to it that has
/// tests below it.
fn projects(tree: &Tree) -> Vec<Project> {
    let of = |folder: &str| -> Vec<Project> {
        MANIFESTS
            .iter()
            .filter_map(|(tool, names)| {
                let mut project = Project {
                    folder: folder.to_owned(),
                    manifest: String::new(),
                    tool: *tool,
                };
                let found = names.iter().map(|name| project.inside(name));
                project.manifest = found.into_iter().find(|path| tree.has(path))?;
                Some(project)
            })
            .collect()
    };
    let root = of("");
    if !root.is_empty() {
        return root;
    }
    let mut folders: Vec<&str> = tree
        .files()
        .filter_map(|path| path.rsplit_once('/'))
        .filter(|(_, name)| MANIFESTS.iter().any(|(_, names)| names.contains(name)))
        .map(|(folder, _)| folder)
        .collect();
    folders.sort_by_key(|folder| (folder.matches('/').count(), *folder));
    folders.dedup();
    folders
        .into_iter()
        .find(|folder| {
            tree.files()
                .any(|path| is_test(path) && below(folder, path))
        })
        .map(of)
        .unwrap_or_default()
}

/// Of several builds of one folder the one that CI's tests call, else the one with a wrapper. Where that holds for
/// several, the first of the table: Maven asks for no distribution of its own beside the registry.
fn decide<'a>(
    facts: &Facts<'_>,
    found: &'a [Project],
    first: &'a Project,
) -> (&'a Project, Vec<Evidence>) {
    static CALLS: LazyLock<[(Tool, Regex); 3]> = LazyLock::new(|| {
        [
            (Tool::Maven, r"(?:^|[\s/;&|])mvnw?\s"),
            (Tool::Gradle, r"(?:^|[\s/;&|])gradlew?\s"),
            (Tool::Ant, r"(?:^|[\s/;&|])ant(?:\s|$)"),
        ]
        .map(|(tool, pattern)| (tool, Regex::new(pattern).expect("a literal pattern")))
    });
    let called = |project: &Project| {
        let (_, call) = CALLS.iter().find(|(tool, _)| *tool == project.tool)?;
        facts
            .ci
            .test_commands()
            .find(|command| call.is_match(&command.text))
    };
    let mut why = Vec::new();
    let mut chosen = None;
    if found.len() > 1
        && let Some((project, command)) = found
            .iter()
            .find_map(|project| Some((project, called(project)?)))
    {
        let at = Evidence::at(command.file.clone(), command.line, command.text.clone());
        why.push(at);
        chosen = Some(project);
    }
    let chosen = chosen.unwrap_or_else(|| {
        let wrapped = |project: &&Project| match project.tool {
            Tool::Maven => facts.tree.has(&project.inside("mvnw")),
            Tool::Gradle => facts.tree.has(&project.inside("gradlew")),
            Tool::Ant => false,
        };
        found.iter().find(wrapped).unwrap_or(first)
    });
    for other in found.iter().filter(|other| *other != chosen) {
        let text = format!("overruled: {:?} could build it too", other.tool);
        why.push(Evidence::of(&other.manifest, text));
    }
    (chosen, why)
}

/// What follows a test command: the XML reports, into `$ATLAS_OUT` beside a console that names tests,
/// or onto the console where that is what gets parsed. `folders` is the pattern of their folders.
fn collect(folders: &str, parser: &str, report: bool) -> String {
    let into = match (parser, report) {
        (JUNIT, _) => "",
        (_, true) => " > \"$ATLAS_OUT/junit.xml\"",
        (_, false) => return String::new(),
    };
    format!(
        "; code=$?; find . -path '*/{folders}/*' -name 'TEST-*.xml' -not -path '*/src/*' \
         | LC_ALL=C sort | while IFS= read -r file; do cat \"$file\"; echo; done{into}; (exit \"$code\")"
    )
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    #[test]
    fn of_two_builds_that_ci_tests_with_it_is_maven() {
        let files = [
            ("build.gradle", "plugins { id 'java' }\n"),
            ("gradlew", "#!/bin/sh\n"),
            ("pom.xml", "<project><artifactId>x</artifactId></project>\n"),
            ("src/test/java/XTest.java", "class XTest {}\n"),
        ];
        let workflow = |run: &str| {
            format!(
                "on: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n      - run: {run}\n"
            )
        };
        let (gradle, maven) = (workflow("./gradlew build"), workflow("mvn -B verify"));
        let with = |workflows: &[(&'static str, &str)]| {
            let all: Vec<(&str, &str)> = files.iter().chain(workflows).copied().collect();
            planned(all, &[]).base_image
        };
        let gradle = (".github/workflows/a.yml", gradle.as_str());
        let maven = (".github/workflows/b.yml", maven.as_str());
        assert!(with(&[gradle]).starts_with("gradle:"));
        assert!(with(&[gradle, maven]).starts_with("maven:"));
    }
}
