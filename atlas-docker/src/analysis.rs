//! Analysis of a repository by rules alone.

use crate::ci::{self, Ci};
use crate::facts::{AnalysisOptions, Facts, Presence, Verdict};
use crate::languages::{BUILTIN, Language};
use crate::prerequisites::prerequisites;
use crate::services;
use crate::toolbox::{self, SUBMODULES, call};
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Error, ErrorKind, Evidence, Fault, Repository};
use std::collections::BTreeSet;

/// What analysis came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value a repository, taken apart at once"
)]
pub enum Analysis {
    /// A plan, each of its conclusions with evidence.
    Plan(EnvironmentPlan),
    /// A verdict: no plan, and why.
    Verdict {
        /// One sentence.
        reason: String,
        /// Proof lines.
        evidence: Vec<Evidence>,
        /// [`Fault::Atlas`] where the repository has what this version does not know, else
        /// [`Fault::Repository`].
        fault: Fault,
    },
}

/// Finds out how to build and test a repository, from its files alone: manifests, lockfiles, CI
/// workflows, tool configuration, the imports of its tests. Nothing is run and no model is asked.
///
/// Reads the languages of [`languages`](crate::languages). Each conclusion of the plan has its
/// [`Evidence`]; where sources contradict
/// each other, the stated order decides and the loser is recorded as `overruled`.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for an unknown `options.language`; [`ErrorKind::Io`] or
/// [`ErrorKind::NotFound`] when the checkout cannot be listed.
pub fn analyse(repository: &Repository, options: &AnalysisOptions) -> Result<Analysis, Error> {
    with_facts(repository, options, planned)?
}

/// Calls with what the repository's files say.
pub(crate) fn with_facts<T>(
    repository: &Repository,
    options: &AnalysisOptions,
    call: impl FnOnce(&Facts<'_>) -> T,
) -> Result<T, Error> {
    if !repository.checkout.is_dir() {
        let subject = format!("`{}`: no such folder", repository.checkout.display());
        return Err(Error::new(
            ErrorKind::NotFound,
            "analyse repository",
            subject,
        ));
    }
    let tree = Tree::open(&repository.checkout)?;
    let head = tree
        .overlaid(&repository.head_tests)
        .overlaid(&repository.head_manifests);
    let ci = Ci::read(&tree);
    let facts = Facts {
        tree: &tree,
        head: &head,
        changes_manifests: !repository.head_manifests.is_empty(),
        touched: &repository.touched,
        ci: &ci,
        name: &repository.name,
        date: &repository.base_date,
        options,
    };
    Ok(call(&facts))
}

fn planned(facts: &Facts<'_>) -> Result<Analysis, Error> {
    let (tree, options) = (facts.tree, facts.options);
    let chosen = match &options.language {
        Some(id) => {
            let language = BUILTIN.iter().copied().find(|language| language.id() == id);
            let Some(language) = language else {
                let known: Vec<_> = BUILTIN.iter().map(|language| language.id()).collect();
                let subject = format!("option `language`: `{id}` is none of {}", known.join(", "));
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "analyse repository",
                    subject,
                ));
            };
            Ok((
                language,
                vec![Evidence::of("options", format!("language = {id}"))],
            ))
        }
        None => choose(tree),
    };
    let planned = chosen.and_then(|(language, why)| {
        let mut plan = language.analyse(facts)?;
        language.id().clone_into(&mut plan.language);
        for line in why {
            plan.prove("language", line);
        }
        crate::pin(&mut plan, &options.pins);
        submodules(tree, &mut plan);
        prerequisites(facts, &mut plan);
        let reaches = services::services(facts, &mut plan);
        ci::environment(facts.ci, tree, &mut plan, &reaches);
        ci::variants(facts.ci, &mut plan);
        for lines in plan.evidence.values_mut() {
            let mut seen = BTreeSet::new();
            lines.retain(|line| seen.insert(line.clone()));
        }
        Ok(plan)
    });
    Ok(match planned {
        Ok(plan) => Analysis::Plan(plan),
        Err(verdict) => Analysis::Verdict {
            reason: verdict.reason,
            evidence: verdict.evidence,
            fault: verdict.fault,
        },
    })
}

/// Builds that no plan is made for: the file in the root, the language and the tool. Kotlin, and Scala with Maven
/// or Gradle, are Java's plans.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("build.sbt", "Scala", "sbt"),
    ("build.sc", "Scala", "Mill"),
    ("build.mill", "Scala", "Mill"),
    ("Package.swift", "Swift", "Swift's package manager"),
];

/// The language whose tests exist; among several, the one with most sources. A manifest in the
/// root is needed, or tests where the language can do without one.
fn choose(tree: &Tree) -> Result<(&'static dyn Language, Vec<Evidence>), Verdict> {
    let found: Vec<_> = BUILTIN
        .iter()
        .map(|language| (*language, language.presence(tree)))
        .filter(|(_, presence)| presence.manifest.is_some() || presence.tests > 0)
        .collect();
    let line = |language: &dyn Language, presence: &Presence, verdict: &str| {
        let source = presence.manifest.clone().unwrap_or_else(|| ".".to_owned());
        let text = format!(
            "{verdict}{}: {} source files, {} of them tests",
            language.id(),
            presence.sources,
            presence.tests
        );
        Evidence::of(source, text)
    };
    // Ties go to the earlier entry of the table.
    let best = found
        .iter()
        .enumerate()
        .filter(|(_, (language, presence))| {
            presence.manifest.is_some() || !language.needs_manifest()
        })
        .max_by_key(|(at, (_, presence))| {
            // A manifest in the root speaks louder than one below it; one of a language without any source serves
            // something else, as a POM does that makes a site.
            let named = presence
                .manifest
                .as_ref()
                .filter(|_| presence.sources > 0 || presence.tests > 0)
                .map_or(0, |path| if path.contains('/') { 1 } else { 2 });
            (named, presence.tests > 0, presence.sources, usize::MAX - at)
        });
    let speaks = |(_, (_, presence)): &(usize, &(_, Presence))| {
        presence
            .manifest
            .as_ref()
            .is_none_or(|path| !path.contains('/'))
    };
    let in_root = best.as_ref().is_some_and(speaks);
    if !in_root
        && let Some((file, language, tool)) = NOT_RUN.iter().find(|(file, ..)| tree.has(file))
    {
        return Err(Verdict::unknown(
            format!("not run: {language} with {tool}, for which this version has no plan"),
            vec![Evidence::of(*file, format!("a build of {tool}"))],
        ));
    }
    let Some((best, _)) = best else {
        let evidence = found
            .iter()
            .map(|(language, presence)| {
                line(*language, presence, "without a manifest in the root: ")
            })
            .collect();
        return Err(Verdict::unknown(
            format!(
                "no manifest of a language that this version reads ({}) is in the repository's root",
                crate::languages().collect::<Vec<_>>().join(", ")
            ),
            evidence,
        ));
    };
    let mut evidence = vec![line(found[best].0, &found[best].1, "")];
    for (at, (language, presence)) in found.iter().enumerate() {
        if at != best {
            evidence.push(line(*language, presence, "overruled: "));
        }
    }
    Ok((found[best].0, evidence))
}

/// Submodules are fetched first; one that cannot be is noted in the log and in the tests.
fn submodules(tree: &Tree, plan: &mut EnvironmentPlan) {
    static URL: std::sync::LazyLock<regex::Regex> =
        std::sync::LazyLock::new(|| regex::Regex::new(r"^\s*url\s*=").expect("a literal pattern"));
    if let Some((line, text)) = tree.line(".gitmodules", &URL) {
        toolbox::add(plan, SUBMODULES);
        plan.build.insert(0, call(SUBMODULES));
        plan.drift
            .push("submodules are fetched from where .gitmodules points".to_owned());
        plan.prove("build", Evidence::at(".gitmodules", line, text));
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Analysis, analyse};
    use crate::facts::AnalysisOptions;
    use atlas_core::{EnvironmentPlan, Repository};
    use std::collections::BTreeMap;
    use std::path::Path;

    /// The plan for a repository of these files and a pull request that touches these paths.
    pub(crate) fn planned(
        files: impl IntoIterator<Item = (impl AsRef<Path>, impl AsRef<[u8]>)>,
        touched: &[&str],
    ) -> EnvironmentPlan {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let repository = Repository {
            name: "example/x".to_owned(),
            checkout: folder.path().to_owned(),
            base: "0123456789012345678901234567890123456789".parse().unwrap(),
            base_date: "2026-01-01T00:00:00Z".to_owned(),
            head_manifests: BTreeMap::new(),
            head_tests: BTreeMap::new(),
            touched: touched.iter().map(|path| (*path).to_owned()).collect(),
        };
        match analyse(&repository, &AnalysisOptions::default()).unwrap() {
            Analysis::Plan(plan) => plan,
            Analysis::Verdict { reason, .. } => panic!("{reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::planned;

    fn file(path: &str, content: &str) -> (String, String) {
        (path.to_owned(), content.to_owned())
    }

    #[test]
    fn a_change_log_touches_no_project_and_many_dependents_are_not_run() {
        let with = |modules: usize, touched: &[&str]| {
            let root = [
                file("go.mod", "module example.org/x\n\ngo 1.22\n"),
                file("x_test.go", "package x\n"),
            ];
            let others = (0..modules).flat_map(|at| {
                let manifest = format!(
                    "module example.org/x/m{at}\n\ngo 1.22\n\nrequire example.org/x v1.0.0\n"
                );
                [
                    file(&format!("m{at}/go.mod"), &manifest),
                    file(&format!("m{at}/m_test.go"), "package m\n"),
                ]
            });
            let plan = planned(root.into_iter().chain(others), touched);
            plan.test_scope.map(|scope| scope.places)
        };
        let only = |folder: &str| Some(vec![folder.to_owned()]);
        assert_eq!(
            with(6, &["CHANGELOG.md", ".github/x.yml", "m3/m.go"]),
            only("m3")
        );
        // All six depend on it, and are run.
        assert_eq!(with(6, &["x.go"]), None);
        assert_eq!(with(14, &["x.go"]), only(""));
    }

    #[test]
    fn a_manifest_in_the_root_without_sources_says_nothing() {
        let files = [
            file("pom.xml", "<project><packaging>pom</packaging></project>"),
            file("src/go.mod", "module example.org/x\n\ngo 1.22\n"),
            file("src/x.go", "package x\n"),
            file("src/x_test.go", "package x\n"),
        ];
        assert_eq!(planned(files, &[]).language, "go");
    }

    #[test]
    fn a_language_without_a_plan_is_named() {
        use super::{Analysis, analyse};
        use crate::facts::AnalysisOptions;
        for (file, expected) in [
            ("build.sbt", "not run: Scala with sbt"),
            (
                "Package.swift",
                "not run: Swift with Swift's package manager",
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(file), "").unwrap();
            std::fs::create_dir(folder.path().join("docs")).unwrap();
            std::fs::write(folder.path().join("docs/package.json"), "{}").unwrap();
            let repository = atlas_core::Repository {
                name: "example/x".to_owned(),
                checkout: folder.path().to_owned(),
                base: "0123456789012345678901234567890123456789".parse().unwrap(),
                base_date: "2026-01-01T00:00:00Z".to_owned(),
                head_manifests: std::collections::BTreeMap::new(),
                head_tests: std::collections::BTreeMap::new(),
                touched: Vec::new(),
            };
            let Analysis::Verdict {
                reason, evidence, ..
            } = analyse(&repository, &AnalysisOptions::default()).unwrap()
            else {
                panic!("{file} has a plan");
            };
            assert!(reason.starts_with(expected), "{reason}");
            assert_eq!(evidence[0].source, file);
        }
    }

    #[test]
    fn of_many_modules_those_that_are_touched_and_their_dependents_run() {
        let module = |folder: &str, needs: &str| {
            [
                file(
                    &format!("{folder}go.mod"),
                    &format!("module example.org/x/{folder}m\n\ngo 1.22\n{needs}"),
                ),
                file(&format!("{folder}x.go"), "package x\n"),
                file(&format!("{folder}x_test.go"), "package x\n"),
            ]
        };
        let needs = "require example.org/x/b/m v0.0.0\n";
        let mut files = Vec::new();
        for (folder, needs) in [
            ("", ""),
            ("a/", ""),
            ("b/", ""),
            ("c/", needs),
            ("d/", ""),
            ("e/", ""),
        ] {
            files.extend(module(folder, needs));
        }
        let plan = planned(files.iter().cloned(), &["b/x.go", "x.go"]);
        let scope = plan.test_scope.unwrap();
        // The root's file is the root's.
        assert_eq!(scope.places, ["", "b", "c"]);
        assert!(
            plan.test_cmd.contains("cd b") && plan.test_cmd.contains("cd c"),
            "{}",
            plan.test_cmd
        );
        assert!(!plan.test_cmd.contains("cd d"), "{}", plan.test_cmd);
        for all in [&[][..], &["elsewhere/y"]] {
            let plan = planned(files[3..].iter().cloned(), all);
            assert!(
                plan.test_cmd.contains("cd a") && plan.test_cmd.contains("cd e"),
                "{}",
                plan.test_cmd
            );
            assert_eq!(plan.test_scope, None);
        }
    }

    #[test]
    fn packages_without_a_build_of_their_own_are_built_by_the_root() {
        let manifest =
            |name: &str, more: &str| format!(r#"{{"name": "{name}", "version": "1.0.0"{more}}}"#);
        let files = [
            file(
                "package.json",
                &manifest(
                    "all",
                    r#", "private": true, "workspaces": ["packages/*"], "scripts": {"test": "vitest run", "build": "tsdown"}, "devDependencies": {"vitest": "^2.0.0"}"#,
                ),
            ),
            file(
                "packages/a/package.json",
                &manifest("@x/a", r#", "exports": {".": "./dist/index.mjs"}"#),
            ),
            file("packages/a/src/index.js", ""),
            file(
                "packages/b/package.json",
                &manifest(
                    "@x/b",
                    r#", "exports": {".": "./dist/index.mjs"}, "dependencies": {"@x/a": "*"}"#,
                ),
            ),
            file(
                "packages/b/src/index.test.js",
                "import '@x/a'; import {test} from 'vitest'",
            ),
        ];
        let plan = planned(files.iter().cloned(), &[]);
        let builds = |commands: &[String]| {
            commands
                .iter()
                .filter(|c| c.contains("npm run build"))
                .count()
        };
        assert_eq!(
            (builds(&plan.build), builds(&plan.rebuild)),
            (1, 1),
            "{:#?}",
            plan.build
        );
        assert!(
            plan.evidence["build"]
                .iter()
                .any(|line| line.text.contains("dist/index.mjs"))
        );
    }
}
