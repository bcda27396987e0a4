//! Maven's Surefire and Failsafe, Gradle, and `JUnit`'s own files.

use super::Act::{Part, Report, Whole, WholeIf};
use super::Rule;
use crate::sections::{Fragments, Section};
use crate::signal::SignalKind::{BuildProduct, RunnerConfig, RunnerHook, TestScript, Toolchain};
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
