//! `dotnet test` and its adapters.

use super::Act::{Part, Whole, WholeIf};
use super::Rule;
use crate::sections::{Fragments, Section, paths};
use crate::signal::SignalKind::{BuildProduct, Dependencies, RunnerConfig};
use crate::signal::SignalSeverity::Suspicious;

pub(super) const RULES: &[Rule] = &[
    Rule {
        files: &[
            "*.runsettings",
            "*.testsettings",
            "xunit.runner.json",
            "*.xunit.runner.json",
            "testconfig.json",
            "*.testconfig.json",
            "nunit.config",
            "Directory.Build.rsp",
        ],
        kind: RunnerConfig,
        act: Whole(Suspicious),
        why: "the runner takes its options from this file",
    },
    // Versions and compiler settings of the solution stand in the same file.
    Rule {
        files: &[
            "Directory.Build.props",
            "Directory.Build.targets",
            "*.csproj",
            "*.fsproj",
            "*.vbproj",
            "*.props",
            "*.targets",
        ],
        kind: RunnerConfig,
        act: Part(|_| Some(Section::Fragments(Fragments::MsBuild))),
        why: "`dotnet test` takes this part",
    },
    Rule {
        files: &[
            "Directory.Build.props",
            "Directory.Build.targets",
            "Directory.Packages.props",
        ],
        kind: RunnerConfig,
        act: WholeIf(
            |change| change.is_new() && change.in_test_folder(),
            Suspicious,
        ),
        why: "MSBuild reads this file for every project below it, the tests' among them",
    },
    Rule {
        files: &["global.json"],
        kind: RunnerConfig,
        act: Part(|_| Some(Section::Json(paths(&["test", "sdk"])))),
        why: "another toolchain or runner would be taken",
    },
    Rule {
        files: &["nuget.config", "NuGet.Config", "NuGet.config"],
        kind: Dependencies,
        act: Whole(Suspicious),
        why: "packages, the runner among them, come from where this file says",
    },
    Rule {
        files: &["bin/*.dll", "obj/", "bin/Debug/", "bin/Release/"],
        kind: BuildProduct,
        act: Whole(Suspicious),
        why: "a product of a build can stand in for what the tests' sources say",
    },
];
