//! .NET Framework's tests on Mono: projects of the kind before SDKs, compiled by xbuild and run by a
//! console runner of `NUnit` or xUnit.net.
//!
//! Mono and `NUnit` 2's runner are Debian's; the runner of anything newer must stand in the repository
//! or among the packages that it names.

use super::super::env;
use super::super::xml::Element;
use super::old::{Framework, Suite};
use super::project::Project;
use crate::facts::{Facts, Verdict};
use crate::quote::shell_quote;
use crate::system;
use crate::toolbox::{self, MONO_TARGET, MONO_TEST, NUGET_RESTORE, call};
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use std::collections::BTreeSet;

/// The console runner of a plan's tests.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Runner {
    /// Debian's, which runs tests of `NUnit` 2.2 to 2.7.
    NUnit2,
    /// A program of the repository or of a package.
    NUnit3(String),
    XUnit(String),
}

impl Runner {
    fn parser(&self) -> &'static str {
        match self {
            Self::NUnit2 => "nunit2",
            Self::NUnit3(_) => "nunit3",
            // The console of version 1 names failures only; the report names all.
            Self::XUnit(_) => "nunitxml",
        }
    }

    fn words(&self) -> String {
        match self {
            Self::NUnit2 => "nunit2".to_owned(),
            Self::NUnit3(program) => format!("nunit3 {}", shell_quote(program)),
            Self::XUnit(program) => format!("xunit {}", shell_quote(program)),
        }
    }
}

/// The plan for projects that need .NET Framework.
pub(super) fn plan(facts: &Facts<'_>, projects: &[Project]) -> Result<EnvironmentPlan, Verdict> {
    let (suites, refused) = suites(facts, projects);
    let Some(first) = suites.first() else {
        let evidence = refused.into_iter().map(|(_, why)| why).collect();
        return Err(Verdict::new(
            "the tests need .NET Framework, and Mono cannot stand in for it",
            evidence,
        ));
    };
    let mut plan = EnvironmentPlan {
        base_image: "debian:bookworm-slim".to_owned(),
        env: env([("LANG", "C.UTF-8")]),
        ..EnvironmentPlan::default()
    };
    plan.docker_specs
        .insert("mono_version".to_owned(), "6".into());
    plan.prove("docker_specs", first.0.level.clone());
    plan.prove("base_image", first.0.level.clone());
    let runner = first.1.clone();
    let (chosen, other): (Vec<_>, Vec<_>) = suites
        .into_iter()
        .partition(|(_, theirs)| *theirs == runner);
    let chosen: Vec<Suite> = chosen.into_iter().map(|(suite, _)| suite).collect();
    for (path, why) in refused {
        let text = format!("overruled: {}", why.text);
        plan.prove(
            "test_cmd",
            Evidence {
                source: path,
                text,
                ..why
            },
        );
    }
    for (suite, _) in other {
        let text = "overruled: its tests run under another runner";
        plan.prove("test_cmd", Evidence::of(suite.path, text));
    }
    if !facts.knows(runner.parser()) {
        return Err(Verdict::no_parser(
            "a console runner of .NET Framework",
            vec![chosen[0].why.clone()],
        ));
    }
    commands(facts, &chosen, &runner, &mut plan);
    packages(facts, &chosen, &runner, &mut plan);
    Ok(plan)
}

/// A project that is left out, and why.
type Refused = (String, Evidence);

/// What Mono can run and with what; and what it cannot, with the reason.
fn suites(facts: &Facts<'_>, projects: &[Project]) -> (Vec<(Suite, Runner)>, Vec<Refused>) {
    let mut good: Vec<(Suite, Runner)> = Vec::new();
    let mut refused = Vec::new();
    // The shortest name first: others of its folder are the same tests for another framework.
    let mut projects: Vec<&Project> = projects.iter().collect();
    projects.sort_by_key(|project| (project.path.len(), &project.path));
    for project in projects {
        let found = Suite::read(facts.tree, project).and_then(|suite| {
            let runner = runner(facts, &suite)?;
            Ok((suite, runner))
        });
        match found {
            Ok((suite, _)) if good.iter().any(|(known, _)| known.same_as(&suite)) => {
                let text = "the same tests for another framework";
                refused.push((suite.path.clone(), Evidence::of(suite.path, text)));
            }
            Ok(found) => good.push(found),
            Err(why) => refused.push((project.path.clone(), why)),
        }
    }
    good.sort_by(|a, b| a.0.path.cmp(&b.0.path));
    (good, refused)
}

/// The runner of a suite, or why there is none.
fn runner(facts: &Facts<'_>, suite: &Suite) -> Result<Runner, Evidence> {
    let program = |names: &[&str], package: &str, inside: &str| {
        let carried = names.iter().find_map(|name| {
            let end = format!("/{name}");
            facts
                .tree
                .files()
                .filter(|path| path.ends_with(&end))
                .min_by_key(|path| (path.matches('/').count(), *path))
        });
        carried.map(str::to_owned).or_else(|| {
            let fetched = suite
                .packages
                .iter()
                .find(|known| known.id.eq_ignore_ascii_case(package))?;
            Some(format!("{}/{inside}", fetched.folder))
        })
    };
    let none = |what: &str| {
        let text = format!(
            "{what}, whose console runner stands neither in the repository nor in Debian: {}",
            suite.why.text
        );
        Err(Evidence {
            text,
            ..suite.why.clone()
        })
    };
    match suite.framework {
        Framework::NUnit(major) if major < 3 => Ok(Runner::NUnit2),
        Framework::NUnit(_) => {
            let names = ["nunit3-console.exe"];
            program(&names, "NUnit.ConsoleRunner", "tools/nunit3-console.exe")
                .map_or_else(|| none("NUnit 3"), |program| Ok(Runner::NUnit3(program)))
        }
        Framework::XUnit => {
            let names = ["xunit.console.clr4.exe", "xunit.console.exe"];
            program(&names, "xunit.runner.console", "tools/xunit.console.exe")
                .map_or_else(|| none("xUnit.net"), |program| Ok(Runner::XUnit(program)))
        }
        Framework::MsTest => none("MSTest"),
    }
}

fn commands(facts: &Facts<'_>, suites: &[Suite], runner: &Runner, plan: &mut EnvironmentPlan) {
    toolbox::add(plan, MONO_TEST);
    toolbox::add(plan, MONO_TARGET);
    let names: Vec<String> = suites
        .iter()
        .map(|suite| shell_quote(&suite.path))
        .collect();
    let names = names.join(" ");
    // A folder comes before the files in it.
    let fetched: BTreeSet<&str> = suites.iter().flat_map(Suite::fetched).collect();
    if !fetched.is_empty() {
        toolbox::add(plan, NUGET_RESTORE);
        let fetched: Vec<String> = fetched.into_iter().map(shell_quote).collect();
        plan.build
            .push(format!("{} {}", call(NUGET_RESTORE), fetched.join(" ")));
    }
    plan.build
        .push(format!("{} build {names}", call(MONO_TEST)));
    plan.test_cmd = format!("{} {} {names}", call(MONO_TEST), runner.words());
    runner.parser().clone_into(&mut plan.log_parser_name);
    plan.prove("log_parser_name", suites[0].why.clone());
    for suite in suites {
        plan.prove("build", suite.level.clone());
        plan.prove("test_cmd", suite.why.clone());
        for missing in &suite.missing {
            plan.prove("drift", missing.clone());
        }
    }
    if suites.iter().any(|suite| !suite.missing.is_empty()) {
        let text = "assemblies that projects refer to are neither in the repository nor NuGet's: \
                    Mono's own are taken where it has them";
        plan.drift.push(text.to_owned());
    }
    let text = "Mono stands in for .NET Framework: its libraries and its compiler are not the same";
    plan.drift.push(text.to_owned());
    if !matches!(runner, Runner::XUnit(_)) && facts.knows("nunitxml") {
        plan.report = Some(ReportSpec::new("nunit.xml", "nunitxml"));
    }
}

fn packages(facts: &Facts<'_>, suites: &[Suite], runner: &Runner, plan: &mut EnvironmentPlan) {
    let level = &suites[0].level;
    let mut extra = vec![
        ("mono-devel", level.clone()),
        ("mono-xbuild", level.clone()),
    ];
    if *runner == Runner::NUnit2 {
        extra.push(("nunit-console", suites[0].why.clone()));
    }
    let bare = suites.iter().find(|suite| suite.bare_nunit);
    if let Some(suite) = bare {
        extra.push(("libnunit-cil-dev", suite.why.clone()));
    }
    if let Some(package) = suites.iter().flat_map(|suite| &suite.packages).next() {
        extra.push(("curl", package.why.clone()));
        extra.push(("ca-certificates", package.why.clone()));
        extra.push(("unzip", package.why.clone()));
    }
    // Programs of Mono that tests start.
    for program in ["pedump", "monodis"] {
        if let Some(why) = started(facts, program) {
            extra.push(("mono-utils", why));
            break;
        }
    }
    system::packages(facts, "csharp", &[], &extra, plan);
}

/// What Debian has of the packages of `NuGet`: an id, the major version where another would not do, and Debian's name.
const DEBIAN: &[(&str, &str, &str)] = &[
    ("nunit", "2", "libnunit-framework2.6.3-cil"),
    ("nunit.mocks", "2", "libnunit-mocks2.6.3-cil"),
    ("newtonsoft.json", "", "libnewtonsoft-json5.0-cil"),
    ("mono.cecil", "", "libmono-cecil-cil"),
    ("sharpziplib", "", "libmono-sharpzip4.84-cil"),
];

/// Debian's packages that may stand in for what a repository's `packages.config` name.
pub(super) fn substitutes(tree: &Tree) -> Vec<&'static str> {
    let mut found: Vec<&str> = tree
        .files()
        .filter(|path| path.rsplit('/').next() == Some("packages.config"))
        .filter_map(|path| Element::parse(&tree.text(path)?))
        .flat_map(|list| {
            let named = list.all("package").filter_map(|package| {
                let id = package.attribute("id")?.to_lowercase();
                let version = package.attribute("version")?;
                let of_debian = DEBIAN.iter().find(|(known, major, _)| {
                    *known == id && (major.is_empty() || version.split('.').next() == Some(*major))
                })?;
                Some(of_debian.2)
            });
            named.collect::<Vec<_>>()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Where a source names a program between quotation marks.
fn started(facts: &Facts<'_>, program: &str) -> Option<Evidence> {
    let needle = format!("\"{program}\"");
    let mut sources = facts.tree.ending(".cs");
    sources.find_map(|path| {
        let line = facts.tree.line_with(path, &needle)?;
        Some(Evidence::at(path, line, format!("starts {program}")))
    })
}
