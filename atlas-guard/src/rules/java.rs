//! Maven's Surefire and Failsafe, Gradle, and `JUnit`'s own files.

use super::Act::{Part, Report, Whole, WholeIf};
use super::Rule;
use crate::change::Change;
use crate::sections::{Fragments, Section};
use crate::signal::SignalKind::{
    BuildProduct, RunnerConfig, RunnerHook, Shadowing, TestScript, Toolchain,
};
use crate::signal::SignalSeverity::{Suspicious, Tamper};
use regex::Regex;
use std::sync::LazyLock;

pub(super) const RULES: &[Rule] = &[
    Rule {
        files: &["pom.xml"],
        kind: RunnerConfig,
        act: Part(|change| {
            let carried = change.in_test_folder();
            (!carried).then_some(Section::Fragments(Fragments::Maven))
        }),
        why: "Maven takes this part to decide which tests run, and how",
    },
    // Options and extensions of Maven itself, and the scripts that start it.
    Rule {
        files: &[".mvn/", "/mvnw", "/mvnw.cmd", "/.mavenrc"],
        kind: Toolchain,
        act: Whole(Suspicious),
        why: "Maven is started as this file says",
    },
    Rule {
        files: &[
            "junit-platform.properties",
            "testng.properties",
            "simplelogger.properties",
        ],
        kind: RunnerConfig,
        act: WholeIf(
            |change| change.name() != "simplelogger.properties" || change.in_test_folder(),
            Suspicious,
        ),
        why: "the runner takes its options from this file",
    },
    // A service file registers listeners, engines and filters; main code's own services are other.
    Rule {
        files: &[
            "META-INF/services/org.junit*",
            "META-INF/services/junit*",
            "META-INF/services/org.testng*",
            "META-INF/services/org.apache.maven*",
            "META-INF/services/org.spockframework*",
            "META-INF/services/io.kotest*",
        ],
        kind: RunnerHook,
        act: Whole(Tamper),
        why: "the runner loads a listener or an extension that this file names",
    },
    // Classes of the project come before those of libraries.
    Rule {
        files: &[
            "org/junit/",
            "junit/framework/",
            "org/testng/",
            "org/hamcrest/",
            "org/assertj/",
            "org/mockito/",
            "org/apache/maven/surefire/",
            "com/google/common/truth/",
        ],
        kind: Shadowing,
        act: WholeIf(replaces_library, Tamper),
        why: "Java finds this class before the one of the same name that the tests need",
    },
    Rule {
        files: &[
            "build.gradle",
            "build.gradle.kts",
            "*.gradle",
            "*.gradle.kts",
        ],
        kind: RunnerConfig,
        act: Part(|_| Some(Section::Fragments(Fragments::Gradle))),
        why: "Gradle takes this part to decide which tests run, and how",
    },
    Rule {
        files: &[
            "init.gradle",
            "init.gradle.kts",
            "init.d/",
            "/gradlew",
            "/gradlew.bat",
            "gradle/wrapper/",
        ],
        kind: Toolchain,
        act: Whole(Suspicious),
        why: "Gradle is started as this file says",
    },
    Rule {
        files: &["gradle.properties"],
        kind: RunnerConfig,
        act: Part(|_| {
            static KEY: LazyLock<Regex> = LazyLock::new(|| {
                Regex::new(r"^(systemProp\.|org\.gradle\.(jvmargs|java|daemon|parallel|caching|init)|.*[tT]est(s|ng)?\.(ignore|skip|fail))")
                    .expect("a pattern of this file")
            });
            Some(Section::Properties(KEY.clone()))
        }),
        why: "Gradle and its tests are started with these properties",
    },
    Rule {
        files: &[
            "buildSrc/",
            "settings.gradle",
            "settings.gradle.kts",
            "build-logic/",
        ],
        kind: TestScript,
        act: Report(|_| true),
        why: "this code runs as part of the build that runs the tests",
    },
    Rule {
        files: &[
            "target/classes/",
            "target/test-classes/",
            "build/classes/",
            "target/surefire-reports/",
            "build/test-results/",
            ".gradle/",
        ],
        kind: BuildProduct,
        act: Whole(Suspicious),
        why: "a product of a build can stand in for what the tests' sources say",
    },
    Rule {
        files: &["/build.xml"],
        kind: TestScript,
        act: Report(|change| change.context.command.runs("ant")),
        why: "ant runs the tests as this file says",
    },
];

/// Whether the base commit has no such package: one that has it is the library.
fn replaces_library(change: &Change<'_>) -> bool {
    let packages = ["org/", "junit/framework/", "com/google/"];
    let start = packages.iter().filter_map(|package| {
        let at = change.path.find(package)?;
        // Two components behind the source folder: `org/junit`.
        let second = change.path[at..].match_indices('/').nth(1)?;
        Some(&change.path[..at + second.0])
    });
    let places = &change.context.places;
    change.is_new() && start.into_iter().all(|folder| !places.is_folder(folder))
}
