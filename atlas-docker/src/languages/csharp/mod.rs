//! C#, and F# and Visual Basic beside it: `dotnet test`, and Mono for what needs .NET Framework.
//!
//! Of `dotnet test` plans only samples and rendering are tested: no engine of this project's own tests
//! has an image with the .NET SDK.

mod mono;
mod old;
mod project;

use super::{INSTALL_SUBSTITUTES, Language, env};
use crate::facts::{Facts, Presence, Verdict};
use crate::quote::shell_quote;
use crate::system;
use crate::tree::Tree;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use project::{Project, test_projects};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// C#.
#[derive(Debug)]
pub(crate) struct CSharp;

const PROJECTS: &[&str] = &[".sln", ".slnx", ".csproj", ".fsproj", ".vbproj"];

impl Language for CSharp {
    fn id(&self) -> &'static str {
        "csharp"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "mcr.microsoft.com/dotnet/sdk:8.0"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        static TEST: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?i)(?:tests?|specs?)[^/]*/.*\.(?:cs|fs|vb)$|tests?\.(?:cs|fs|vb)$")
                .expect("a literal pattern")
        });
        let source = |path: &&str| [".cs", ".fs", ".vb"].iter().any(|end| path.ends_with(end));
        // The manifest nearest to the root; a solution or a project may stand anywhere.
        let manifest = tree
            .files()
            .filter(|path| PROJECTS.iter().any(|end| path.ends_with(end)))
            .min_by_key(|path| (path.matches('/').count(), *path));
        Presence {
            manifest: manifest.map(str::to_owned),
            sources: tree.files().filter(source).count(),
            tests: tree
                .files()
                .filter(|path| source(path) && TEST.is_match(path))
                .count(),
        }
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let tree = facts.tree;
        let found = test_projects(tree);
        if found.is_empty() {
            let manifest = self
                .presence(tree)
                .manifest
                .unwrap_or_else(|| ".".to_owned());
            let evidence = vec![Evidence::of(
                manifest,
                "no project refers to a test framework",
            )];
            return Err(Verdict::new("the repository has no .NET tests", evidence));
        }
        let (usable, other): (Vec<Project>, Vec<Project>) = found
            .into_iter()
            .partition(|project| !project.old && !project.frameworks.is_empty());
        if usable.is_empty() {
            return mono::plan(facts, &other);
        }
        if !facts.knows("dotnet") {
            let why = vec![usable[0].why.clone()];
            return Err(Verdict::no_parser("dotnet test", why));
        }
        let mut plan = EnvironmentPlan {
            log_parser_name: "dotnet".to_owned(),
            env: env([
                ("DOTNET_CLI_HOME", "$ATLAS_CACHE/dotnet"),
                ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
                ("DOTNET_CLI_UI_LANGUAGE", "en"),
                ("DOTNET_NOLOGO", "1"),
                // Tests of an older framework run on the image's newer one.
                ("DOTNET_ROLL_FORWARD", "Major"),
                ("LANG", "C.UTF-8"),
                ("MSBUILDDISABLENODEREUSE", "1"),
                // The audit of packages asks a server.
                ("NuGetAudit", "false"),
                ("NUGET_PACKAGES", "$ATLAS_ENV/nuget"),
            ]),
            ..EnvironmentPlan::default()
        };
        for project in &other {
            let text = "overruled: its tests do not run on Linux";
            plan.prove("test_cmd", Evidence::of(&project.path, text));
        }
        let sdk = sdk(facts, &usable, &mut plan);
        commands(facts, &usable, sdk, &mut plan);
        plan.prove("log_parser_name", usable[0].why.clone());
        drift(tree, &mut plan);
        system::packages(facts, self.id(), &[], &[], &mut plan);
        Ok(plan)
    }

    fn substitutes(
        &self,
        facts: &Facts<'_>,
        _plan: &EnvironmentPlan,
    ) -> Vec<(&'static str, String)> {
        let packages = mono::substitutes(facts.tree);
        if packages.is_empty() {
            return Vec::new();
        }
        let lines: Vec<String> = packages.iter().map(|name| format!("lay {name}")).collect();
        let install = include_str!("substitutes.sh").replace("@PACKAGES@", &lines.join("\n"));
        vec![(INSTALL_SUBSTITUTES, install)]
    }
}

/// `global.json`, then CI, then the newest framework of the tests, then the calendar; never below
/// what the tests target.
fn sdk(facts: &Facts<'_>, projects: &[Project], plan: &mut EnvironmentPlan) -> Version {
    let target = projects
        .iter()
        .filter_map(|project| {
            let mut frameworks = project.frameworks.iter();
            frameworks.rfind(|framework| {
                versions::is_released(versions::DOTNET, framework.version, facts.date)
            })
        })
        .max();
    let least = target.map_or(Version::new(0, 0), |framework| framework.version);
    let tagged = |(version, why): (Version, Evidence)| ((version, version.to_string()), why);
    let mut candidates: Vec<((Version, String), Evidence)> = Vec::new();
    candidates.extend(pinned(facts.tree));
    let keys = [
        ("actions/setup-dotnet", "dotnet-version"),
        ("travis", "dotnet"),
        ("toolchain", "dotnet"),
        ("image", "dotnet"),
    ];
    let best = versions::in_ci(facts, ".NET", &keys, Version::parse)
        .filter(|(version, _)| versions::is_released(versions::DOTNET, *version, facts.date))
        .max_by_key(|(version, _)| *version);
    candidates.extend(best.map(tagged));
    candidates.extend(target.map(|framework| tagged((framework.version, framework.why.clone()))));
    if candidates.is_empty() {
        let newest = versions::released(versions::DOTNET, facts.date)
            .next_back()
            .unwrap_or(Version::new(2, 1));
        let text = format!(
            "nothing names an SDK: the newest at {}",
            versions::day(facts.date)
        );
        candidates.push(tagged((newest, Evidence::of("calendar", text))));
    }
    let fits = |(version, _): &(Version, String)| *version >= least;
    let (version, tag) = versions::choose(candidates, fits, |one, other| one.0 == other.0, plan)
        .unwrap_or_else(|| (least, least.to_string()));
    plan.base_image = format!("mcr.microsoft.com/dotnet/sdk:{tag}");
    plan.docker_specs
        .insert("dotnet_version".to_owned(), tag.into());
    version
}

/// The SDK of `global.json`: the very one, unless the file lets later feature bands stand in for it,
/// as images of a line have the latest of them.
fn pinned(tree: &Tree) -> Option<((Version, String), Evidence)> {
    let file = "global.json";
    let root: Value = serde_json::from_str(&tree.text(file)?).ok()?;
    let sdk = root.get("sdk")?;
    let text = sdk.get("version")?.as_str()?;
    let plain =
        text.split('.').count() == 3 && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let version = Version::parse(text.split('-').next()?)?;
    let forward = sdk.get("rollForward").and_then(Value::as_str);
    let moves = matches!(
        forward,
        Some("feature" | "latestFeature" | "minor" | "latestMinor" | "major" | "latestMajor")
    );
    let tag = if plain && !moves {
        text.to_owned()
    } else {
        version.to_string()
    };
    let at = tree.line_with(file, text).unwrap_or(1);
    let text = format!(
        "sdk {text}, rollForward {}",
        forward.unwrap_or("latestPatch")
    );
    Some(((version, tag), Evidence::at(file, at, text)))
}

/// Project by project, each for one framework: one that does not compile leaves the others running,
/// and `dotnet test` does not start what it could not build.
fn commands(facts: &Facts<'_>, projects: &[Project], sdk: Version, plan: &mut EnvironmentPlan) {
    let tree = facts.tree;
    let platform = uses_testing_platform(tree);
    let locked = tree
        .files()
        .any(|path| path.ends_with("packages.lock.json"));
    let names: Vec<String> = projects
        .iter()
        .map(|project| shell_quote(&project.path))
        .collect();
    let restore = if locked {
        "dotnet restore --locked-mode"
    } else {
        "dotnet restore"
    };
    if tree.has(".config/dotnet-tools.json") {
        plan.build.push(
            "dotnet tool restore || echo 'atlas: not every tool of the repository is there'"
                .to_owned(),
        );
    }
    plan.build
        .extend(names.iter().map(|name| format!("{restore} {name}")));
    let mut tests = Vec::new();
    let mut compile = Vec::new();
    for (at, (project, name)) in projects.iter().zip(&names).enumerate() {
        let framework = project
            .frameworks
            .iter()
            .rfind(|framework| framework.version <= sdk)
            .or(project.frameworks.first());
        let Some(framework) = framework else { continue };
        let target = &framework.name;
        compile.push(format!(
            "dotnet build {name} -f {target} --no-restore || echo 'atlas: does not compile: '{name}"
        ));
        let number = at + 1;
        tests.push(if platform {
            format!("dotnet test --project {name} -f {target} --no-restore --output Detailed --report-trx --report-trx-filename {number}.trx --results-directory \"$ATLAS_OUT/trx\"")
        } else {
            format!("dotnet test {name} -f {target} --no-restore --logger 'console;verbosity=normal' --logger 'trx;LogFileName={number}.trx' --results-directory \"$ATLAS_OUT/trx\"")
        });
        plan.prove("test_cmd", project.why.clone());
        plan.prove("test_cmd", framework.why.clone());
    }
    plan.build.extend(compile);
    plan.prove(
        "build",
        Evidence::of(&projects[0].path, "restored, then compiled"),
    );
    // A state may change a project: what it refers to is in the folder of packages by now.
    plan.rebuild = names
        .iter()
        .map(|name| format!("dotnet restore --ignore-failed-sources {name} > /dev/null || echo 'atlas: not restored: '{name}"))
        .collect();
    if facts.changes_manifests {
        plan.prefetch = names
            .iter()
            .map(|name| format!("dotnet restore --force-evaluate {name}"))
            .collect();
    }
    let report = facts.knows("trx");
    if report {
        plan.report = Some(ReportSpec::new("results.trx", "trx"));
    }
    let after = if report {
        "; cat \"$ATLAS_OUT\"/trx/*.trx > \"$ATLAS_OUT/results.trx\" 2> /dev/null"
    } else {
        ""
    };
    plan.test_cmd = format!(
        "code=0; {}{after}; (exit \"$code\")",
        tests
            .iter()
            .map(|test| format!("{test} || code=$?"))
            .collect::<Vec<_>>()
            .join("; ")
    );
}

/// Whether `global.json` switches `dotnet test` to Microsoft.Testing.Platform, whose options differ.
fn uses_testing_platform(tree: &Tree) -> bool {
    tree.text("global.json")
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
        .and_then(|root| {
            Some(root.get("test")?.get("runner")?.as_str()? == "Microsoft.Testing.Platform")
        })
        .unwrap_or(false)
}

/// Versions that `NuGet` chooses anew each time.
fn drift(tree: &Tree, plan: &mut EnvironmentPlan) {
    static FLOATING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"<Package(?:Reference|Version)\b[^>]*\bVersion="[^"]*(?:\*|,)[^"]*""#)
            .expect("a literal pattern")
    });
    if tree
        .files()
        .any(|path| path.ends_with("packages.lock.json"))
    {
        return;
    }
    let files: Vec<&str> = tree
        .files()
        .filter(|path| ["proj", ".props"].iter().any(|end| path.ends_with(end)))
        .collect();
    let mut floating = false;
    for file in files {
        if let Some((line, text)) = tree.line(file, &FLOATING) {
            plan.prove("drift", Evidence::at(file, line, text));
            floating = true;
        }
    }
    if floating {
        plan.drift
            .push("floating package versions without a lockfile".to_owned());
    }
    plan.drift.push(
        "packages that others refer to are not pinned: NuGet takes the lowest version that fits"
            .to_owned(),
    );
}
