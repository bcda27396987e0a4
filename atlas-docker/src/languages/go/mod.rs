//! Go: modules, vendored packages, code from before modules; `go test`.

mod cgo;
mod constraint;
mod modules;

use super::{Language, env};
use crate::facts::{Facts, Presence, Project, Verdict, only_projects};
use crate::quote::shell_quote;
use crate::system;
use crate::toolbox::{self, GO_INIT, GO_SPECS, GO_TEST_EVENTS, call};
use crate::tree::Tree;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use modules::{Legacy, Module};
use regex::Regex;
use std::sync::LazyLock;

/// Go.
#[derive(Debug)]
pub(crate) struct Go;

const MANIFEST: &str = "go.mod";

static GO_LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^go\s+(\d\S*)").expect("a literal pattern"));
static TOOLCHAIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^toolchain\s+go(\d\S*)").expect("a literal pattern"));
static GOLANG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:golang|go)\s+(\d\S*)").expect("a literal pattern"));
static REQUIRE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:require\s+)?([a-z0-9][\w.-]*\.[a-z]+/\S+)\s+v\d")
        .expect("a literal pattern")
});
static GO_TEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(go test|gotestsum)\b(.*)").expect("a literal pattern"));
static TAGS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"--?tags[= ]["']?([A-Za-z0-9_, ]+)"#).expect("a literal pattern")
});

impl Language for Go {
    fn id(&self) -> &'static str {
        "go"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "golang:1.23-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        let sources: Vec<_> = tree.ending(".go").collect();
        let manifest = tree
            .first(&[MANIFEST, "go.work"])
            .or_else(|| tree.first(modules::LEGACY))
            .map(str::to_owned)
            .or_else(|| Some(modules::modules(tree).into_iter().next()?.manifest));
        Presence {
            manifest,
            tests: sources
                .iter()
                .filter(|path| path.ends_with("_test.go"))
                .count(),
            sources: sources.len(),
        }
    }

    /// `go test` needs no manifest: code from before modules has none.
    fn needs_manifest(&self) -> bool {
        false
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let tree = facts.tree;
        let Some(test_file) = tree.ending("_test.go").next() else {
            let evidence = vec![Evidence::of(".", "no file is named *_test.go")];
            return Err(Verdict::new("the repository has no Go tests", evidence));
        };
        if !facts.knows("gotest") {
            return Err(Verdict::no_parser(
                "go test",
                vec![Evidence::of(test_file, "a Go test")],
            ));
        }
        let mut plan = EnvironmentPlan {
            log_parser_name: "gotest".to_owned(),
            env: env([
                ("GOCACHE", "$ATLAS_CACHE/go-build"),
                // Module folders are made read-only by default, which keeps others from removing
                // them.
                ("GOFLAGS", "-modcacherw"),
                ("GOPATH", "$ATLAS_ENV/gopath"),
                // What a module asks for beyond the image comes through the module proxy.
                ("GOTOOLCHAIN", "auto"),
                ("LANG", "C.UTF-8"),
            ]),
            ..EnvironmentPlan::default()
        };
        plan.prove("log_parser_name", Evidence::of(test_file, "a Go test"));
        let mut modules = modules::modules(tree);
        let projects: Vec<Project<'_>> = modules
            .iter()
            .map(|module| Project {
                folder: &module.folder,
                name: &module.name,
                needs: module.required.clone(),
            })
            .collect();
        let (chosen, count) = (facts.concerned(&projects), modules.len());
        if chosen.len() < count {
            let mut at = 0..;
            modules.retain(|_| at.next().is_some_and(|at| chosen.contains(&at)));
            let folders = modules.iter().map(|module| module.folder.clone());
            only_projects(&mut plan, folders.collect(), count);
        }
        version(facts, &modules, &mut plan);
        let tags = tags(facts, &mut plan);
        let any_manifest = tree.has(MANIFEST) || !modules.is_empty();
        if any_manifest {
            with_modules(facts, &modules, &tags, &mut plan);
        } else {
            without_modules(facts, &modules::legacy(facts), &tags, &mut plan);
        }
        // Go's own reader does not know the specs of Ginkgo.
        if ginkgo(&modules).is_none() {
            toolbox::add(&mut plan, GO_TEST_EVENTS);
            plan.report = Some(ReportSpec {
                from_log: Some(call(GO_TEST_EVENTS)),
                ..ReportSpec::new("gotest.jsonl", "gotest")
            });
        }
        let required: Vec<(String, String)> = modules
            .iter()
            .flat_map(|module| {
                let named = module.required.iter();
                named.map(|name| (name.clone(), module.manifest.clone()))
            })
            .collect();
        let libraries = cgo::packages(tree);
        let extra: Vec<(&str, Evidence)> = libraries
            .iter()
            .map(|(package, at)| (*package, at.clone()))
            .collect();
        system::packages(facts, self.id(), &required, &extra, &mut plan);
        Ok(plan)
    }
}

/// `go test` for all packages, without vet: its findings are no test's, and a newer compiler has
/// more of them.
fn go_test(tags: &str, more: &str) -> String {
    format!("go test -vet=off{more}{tags} -count=1")
}

/// A requirement of Ginkgo, and the module that has it.
fn ginkgo(modules: &[Module]) -> Option<(&String, &Module)> {
    modules.iter().find_map(|module| {
        let mut names = module.required.iter();
        let name = names.find(|name| name.starts_with("github.com/onsi/ginkgo"))?;
        Some((name, module))
    })
}

/// How the test programs of modules with Ginkgo are started: with flags that programs without it refuse.
fn specs(modules: &[Module], plan: &mut EnvironmentPlan) -> String {
    let Some((name, module)) = ginkgo(modules) else {
        return String::new();
    };
    toolbox::add(plan, GO_SPECS);
    plan.prove(
        "test_cmd",
        Evidence::of(module.manifest.clone(), format!("{name} names its specs")),
    );
    format!(" -exec \"bash '$ATLAS_ENV/toolbox/{GO_SPECS}'\"")
}

/// Each module with tests, one after the other.
fn with_modules(facts: &Facts<'_>, modules: &[Module], tags: &str, plan: &mut EnvironmentPlan) {
    let tree = facts.tree;
    let workspace = tree.has("go.work");
    let flag = |module: &Module| -> &'static str {
        if workspace {
            ""
        } else if module.vendored {
            // The go command does so by itself from level 1.14 on.
            if module
                .level
                .is_some_and(|level| level >= Version::new(1, 14))
            {
                ""
            } else {
                " -mod=vendor"
            }
        } else if !module.required.is_empty() && !module.summed {
            " -mod=mod"
        } else {
            ""
        }
    };
    for module in modules {
        let text = if module.vendored {
            "a Go module with vendored dependencies"
        } else {
            "a Go module"
        };
        plan.prove("build", Evidence::of(module.manifest.clone(), text));
        if flag(module) == " -mod=mod" {
            plan.drift.push(format!(
                "{}: go.sum is missing: module contents are not pinned by hash",
                module.manifest
            ));
            plan.prove(
                "test_cmd",
                Evidence::of(module.manifest.clone(), "requirements without a go.sum"),
            );
        }
    }
    let fallback = Module {
        name: String::new(),
        folder: String::new(),
        manifest: MANIFEST.to_owned(),
        required: Vec::new(),
        level: None,
        vendored: false,
        summed: true,
    };
    let single;
    let modules = if modules.is_empty() {
        single = [fallback];
        &single
    } else {
        modules
    };
    // Dependencies of the first module are needed; another's that cannot be had are for its tests
    // to tell.
    for (at, module) in modules.iter().enumerate() {
        let inside = inside(&module.folder);
        let download = format!("{inside}go mod download");
        if !module.vendored {
            plan.build.push(if at == 0 {
                download.clone()
            } else {
                format!("( {download} ) || echo 'atlas: a module lacks dependencies'")
            });
            if facts.changes_manifests {
                plan.prefetch.push(download);
            }
        }
    }
    for module in modules {
        // Compiles what the tests will need; a package that does not compile is for the tests to
        // tell, not for the build.
        plan.build.push(format!(
            "( {}{} -run '^$' ./... ) || echo 'atlas: not every package compiles'",
            inside(&module.folder),
            go_test(tags, flag(module)),
        ));
    }
    let specs = specs(modules, plan);
    plan.test_cmd = match modules {
        [module] => format!(
            "{}{}{specs} -v ./...",
            inside(&module.folder),
            go_test(tags, flag(module))
        ),
        several => {
            let runs: Vec<String> = several
                .iter()
                .map(|module| {
                    let test = format!("{}{specs} -v ./...", go_test(tags, flag(module)));
                    format!("( {}{test} ) || failed=1", inside(&module.folder))
                })
                .collect();
            format!("( failed=0; {}; exit $failed )", runs.join("; "))
        }
    };
    for module in modules {
        let text = "all packages of the module";
        plan.prove("test_cmd", Evidence::of(module.manifest.clone(), text));
    }
}

/// The change into a module's folder.
fn inside(folder: &str) -> String {
    if folder.is_empty() {
        String::new()
    } else {
        format!("cd {} && ", shell_quote(folder))
    }
}

/// Vendored packages are built as they were, below `GOPATH`; for others a module is made.
fn without_modules(facts: &Facts<'_>, legacy: &Legacy, tags: &str, plan: &mut EnvironmentPlan) {
    plan.prove("build", legacy.evidence.clone());
    let test = format!("{} -v ./...", go_test(tags, ""));
    let compile = format!(
        "{} -run '^$' ./... || echo 'atlas: not every package compiles'",
        go_test(tags, "")
    );
    if legacy.vendored {
        plan.env.insert("GO111MODULE".to_owned(), "off".to_owned());
        plan.env.remove("GOFLAGS");
        plan.prove(
            "build",
            Evidence::of("vendor", "packages from before modules"),
        );
        let place = format!("\"$GOPATH\"/src/{}", shell_quote(&legacy.import));
        let parent = legacy
            .import
            .rsplit_once('/')
            .map_or("", |(parent, _)| parent);
        plan.build.push(format!(
            "mkdir -p \"$GOPATH\"/src/{} && ln -sfn \"$ATLAS_REPO\" {place}",
            shell_quote(parent)
        ));
        plan.build.push(format!("cd {place} && {{ {compile}; }}"));
        plan.test_cmd = format!("cd {place} && {test}");
        plan.prove(
            "test_cmd",
            Evidence::of("vendor", "all packages, below GOPATH"),
        );
        return;
    }
    plan.as_of = facts.frozen();
    let day = plan.as_of.as_ref().map(|day| format!(" {day}"));
    toolbox::add(plan, GO_INIT);
    plan.build.push(format!(
        "{} {}{}",
        call(GO_INIT),
        shell_quote(&legacy.import),
        day.as_deref().unwrap_or_default()
    ));
    plan.build.push("go mod download".to_owned());
    plan.build.push(compile);
    plan.test_cmd = test;
    let drift = match legacy.lock {
        Some(lock) => {
            plan.prove("build", Evidence::of(lock, "pins revisions"));
            format!("code from before modules: a go.mod is made of {lock}")
        }
        None => {
            "code from before modules without a lockfile: a go.mod is made, with releases of the \
             base commit's date where they have versions"
                .to_owned()
        }
    };
    plan.drift.push(drift);
    plan.prove("test_cmd", legacy.evidence.clone());
}

/// `toolchain`, then a file that pins a version, then a `go` line of 1.21 or later (from then on it names a toolchain, before only
/// a level of the language), then CI, then the newest release at the date.
fn version(facts: &Facts<'_>, modules: &[Module], plan: &mut EnvironmentPlan) {
    static PINNED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:golang\s+)?(?:go)?(\d\S*)").expect("a literal pattern")
    });
    let manifest = facts
        .tree
        .first(&[MANIFEST])
        .or_else(|| modules.first().map(|module| module.manifest.as_str()))
        .unwrap_or(MANIFEST);
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    for (file, pattern, lowest) in [
        ("go.work", &*TOOLCHAIN, Version::new(1, 0)),
        (manifest, &*TOOLCHAIN, Version::new(1, 0)),
        (".go-version", &*PINNED, Version::new(1, 0)),
        (".tool-versions", &*GOLANG, Version::new(1, 0)),
        ("go.work", &*GO_LINE, Version::new(1, 21)),
        (manifest, &*GO_LINE, Version::new(1, 21)),
    ] {
        if let Some((line, text)) = facts.tree.line(file, pattern)
            && let Some(version) = pattern
                .captures(&text)
                .and_then(|found| Version::parse(&found[1]))
            && version >= lowest
        {
            candidates.push((version, Evidence::at(file, line, text)));
        }
    }
    let newest = versions::released(versions::GO, facts.date)
        .next_back()
        .unwrap_or(Version::new(1, 11));
    let keys = [("toolchain", "go"), ("image", "go")];
    let in_ci = versions::in_ci(facts, "Go", &keys, |text| match text {
        "stable" | "oldstable" | "^1" | "1.x" | "1" => Some(newest),
        text => Version::parse(text),
    });
    let best = in_ci
        .filter(|(version, _)| versions::is_released(versions::GO, *version, facts.date))
        .max_by_key(|(version, _)| *version);
    // A matrix that ended before the module's own level is out of use.
    let level = facts
        .tree
        .line(manifest, &GO_LINE)
        .and_then(|(_, text)| Version::parse(GO_LINE.captures(&text)?.get(1)?.as_str()));
    candidates.extend(best.filter(|(version, _)| level.is_none_or(|level| *version >= level)));
    if candidates.is_empty() {
        let text = format!(
            "nothing names a Go toolchain: the newest at {}",
            versions::day(facts.date)
        );
        candidates.push((newest, Evidence::of(manifest, text)));
    }
    // No module may ask for more than there is.
    let highest = modules
        .iter()
        .filter_map(|module| Some((module.level?, module)))
        .filter(|(level, _)| *level >= Version::new(1, 21))
        .max_by_key(|(level, _)| *level);
    if let Some((level, module)) = highest
        && level > candidates[0].0
    {
        let text = format!("needs Go {level}");
        candidates.insert(0, (level, Evidence::of(module.manifest.clone(), text)));
    }
    let version = versions::first(candidates, PartialEq::eq, plan);
    let named = version.to_string();
    let debian = match version.minor {
        0..=13 => "buster",
        14..=18 => "bullseye",
        _ => "bookworm",
    };
    plan.base_image = format!("golang:{named}-{debian}");
    plan.docker_specs
        .insert("go_version".to_owned(), named.into());
}

/// Build tags of CI, unless CI also tests without any.
fn tags(facts: &Facts<'_>, plan: &mut EnvironmentPlan) -> String {
    let mut tags = tags_of_ci(facts, plan);
    let given: Vec<&str> = tags.split(',').collect();
    for (tag, line) in constraint::missing(facts, &given) {
        plan.prove("test_cmd", line);
        if !tags.is_empty() {
            tags.push(',');
        }
        tags.push_str(&tag);
    }
    if tags.is_empty() {
        return tags;
    }
    format!(" -tags={}", shell_quote(&tags))
}

fn tags_of_ci(facts: &Facts<'_>, plan: &mut EnvironmentPlan) -> String {
    let mut first = None;
    for command in facts.ci.test_commands() {
        let Some(run) = GO_TEST.captures(&command.text) else {
            continue;
        };
        match TAGS.captures(&run[2]) {
            None => return String::new(),
            Some(found) => {
                first.get_or_insert_with(|| (found[1].trim().replace(' ', ","), command.clone()));
            }
        }
    }
    let Some((tags, command)) = first else {
        return String::new();
    };
    let at = Evidence::at(command.file, command.line, command.text);
    plan.prove("test_cmd", at);
    tags
}
