//! Gradle: the wrapper's version, test tasks named on the console by an init script.

use super::jdk::{Needs, number};
use super::{JUNIT, Project, below, collect, is_source};
use crate::facts::{Facts, Verdict};
use crate::quote::shell_quote;
use crate::toolbox::{self, GRADLE_INIT, GRADLE_LAUNCHER, GRADLE_RESOLVE};
use crate::tree::Tree;
use crate::versions;
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use regex::Regex;
use std::sync::LazyLock;

/// First Gradle that runs on a JDK, newest first, from Gradle's table of compatibility.
const RUNS_ON: &[((u32, u32), u32)] = &[
    ((9, 1), 25),
    ((8, 14), 24),
    ((8, 10), 23),
    ((8, 8), 22),
    ((8, 5), 21),
    ((8, 3), 20),
    ((7, 6), 19),
    ((7, 5), 18),
    ((7, 3), 17),
    ((7, 0), 16),
    ((6, 7), 15),
    ((6, 3), 14),
    ((6, 0), 13),
    ((5, 4), 12),
    ((5, 0), 11),
    ((4, 7), 10),
    ((4, 3), 9),
];

/// Releases of Gradle, for builds without a wrapper.
const RELEASES: &[((u32, u32), &str)] = &[
    ((4, 10), "2018-08-27"),
    ((5, 6), "2019-08-14"),
    ((6, 9), "2021-05-07"),
    ((7, 6), "2022-11-25"),
    ((8, 5), "2023-11-29"),
    ((8, 10), "2024-08-14"),
    ((8, 14), "2025-04-25"),
    ((9, 1), "2025-09-18"),
];

/// The newest JDK that a Gradle runs on.
fn newest_jdk(gradle: (u32, u32)) -> u32 {
    RUNS_ON
        .iter()
        .find(|(from, _)| gradle >= *from)
        .map_or(8, |(_, jdk)| *jdk)
}

/// Completes a plan for a Gradle build.
pub(super) fn plan(
    facts: &Facts<'_>,
    project: &Project,
    plan: &mut EnvironmentPlan,
) -> Result<(), Verdict> {
    let manifest = project.manifest.as_str();
    let files = build_files(facts.tree, &project.folder);
    let mut needs = needs(facts.tree, &files);
    let gradle = version(facts, project, plan);
    let text = format!(
        "Gradle {}.{} runs on JDK {} and older",
        gradle.0,
        gradle.1,
        newest_jdk(gradle)
    );
    needs
        .most
        .push((newest_jdk(gradle), Evidence::of(manifest, text)));
    if gradle >= (9, 0) {
        let text = "Gradle 9 runs on JDK 17 and newer";
        needs.least.push((17, Evidence::of(manifest, text)));
    }
    let jdk = super::jdk::choose(facts, &needs, plan);
    for (other, why) in &needs.pins {
        if *other != jdk {
            plan.drift.push(format!(
                "the toolchain JDK {other} is fetched while building: {}",
                why.text
            ));
        }
    }
    plan.base_image = format!("gradle:{}.{}-jdk{jdk}", gradle.0, gradle.1);
    plan.docker_specs.insert(
        "gradle_version".to_owned(),
        format!("{}.{}", gradle.0, gradle.1).into(),
    );
    plan.env.insert(
        "GRADLE_USER_HOME".to_owned(),
        "$ATLAS_CACHE/gradle".to_owned(),
    );

    let task = task(facts.tree, &files, plan);
    let enter = project.enter();
    let call = "\"$ATLAS_ENV/gradle\" --no-daemon --continue --console=plain --no-build-cache \
        -Dorg.gradle.configuration-cache=false -I \"$ATLAS_ENV/toolbox/init.gradle\"";
    // Names tests on the console; see the file.
    toolbox::add(plan, GRADLE_INIT);
    let mut launcher = toolbox::call(GRADLE_LAUNCHER);
    if facts.tree.has(&project.inside("gradlew")) {
        launcher.push(' ');
        launcher.push_str(&shell_quote(&project.inside("")));
    }
    for tool in [GRADLE_LAUNCHER, GRADLE_RESOLVE] {
        toolbox::add(plan, tool);
    }
    plan.build = vec![
        launcher,
        format!("{enter}{} {call} {task}", toolbox::call(GRADLE_RESOLVE)),
    ];
    plan.prove("build", Evidence::of(manifest, "a Gradle build"));
    if facts.changes_manifests {
        plan.prefetch = vec![format!("{enter}ATLAS_RESOLVE=1 {call} {task}")];
    }
    let parser = if facts.knows("gradle") {
        "gradle"
    } else {
        JUNIT
    };
    if !facts.knows(parser) {
        let why = vec![Evidence::of(manifest, "a Gradle build")];
        return Err(Verdict::no_parser("Gradle", why));
    }
    parser.clone_into(&mut plan.log_parser_name);
    let text = "an init script lets Gradle name every test on the console";
    plan.prove("log_parser_name", Evidence::of(manifest, text));
    plan.report =
        (parser != JUNIT && facts.knows(JUNIT)).then(|| ReportSpec::new("junit.xml", JUNIT));
    let after = collect("test-results", parser, plan.report.is_some());
    let tasks = super::subprojects::tasks(facts, project, task, plan);
    // Gradle compiles by content and tests nothing where that failed; reports of an earlier run
    // would stay.
    plan.test_cmd = format!(
        "{enter}find . -path '*/test-results/*' -name 'TEST-*.xml' -not -path '*/src/*' -delete; \
         {call} --offline {tasks}{after}"
    );
    let text = if tasks == task {
        format!("task {task} of all projects")
    } else {
        format!("task {task} of the concerned projects")
    };
    plan.prove("test_cmd", Evidence::of(manifest, text));
    drift(facts.tree, &files, plan);
    Ok(())
}

const PROPERTIES: &str = "gradle/wrapper/gradle-wrapper.properties";

/// The wrapper's version, else that of CI's set-up step, else the newest at the date.
fn version(facts: &Facts<'_>, project: &Project, plan: &mut EnvironmentPlan) -> (u32, u32) {
    static DISTRIBUTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^distributionUrl.*gradle-(\d+)\.(\d+)").expect("a literal pattern")
    });
    static NUMBERS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(\d+)\.(\d+)").expect("a literal pattern"));
    let numbers = |pattern: &Regex, text: &str| -> Option<(u32, u32)> {
        let found = pattern.captures(text)?;
        Some((found[1].parse().ok()?, found[2].parse().ok()?))
    };
    let file = project.inside(PROPERTIES);
    if let Some((line, text)) = facts.tree.line(&file, &DISTRIBUTION)
        && let Some(version) = numbers(&DISTRIBUTION, &text)
    {
        plan.prove("base_image", Evidence::at(file, line, text));
        return version;
    }
    let in_ci = facts.ci.versions(&[
        ("gradle/actions/setup-gradle", "gradle-version"),
        ("gradle/gradle-build-action", "gradle-version"),
    ]);
    for value in in_ci {
        if let Some(version) = numbers(&NUMBERS, &value.text) {
            let text = format!("CI runs Gradle {}", value.text);
            plan.prove("base_image", Evidence::at(value.file, value.line, text));
            return version;
        }
    }
    let day = versions::day(facts.date);
    let newest = RELEASES.iter().rfind(|(_, born)| *born <= day);
    let version = newest.map_or(RELEASES[0].0, |(version, _)| *version);
    let text = format!("no wrapper: Gradle {}.{} as of {day}", version.0, version.1);
    plan.prove("base_image", Evidence::of(&project.manifest, text));
    plan.drift
        .push("no wrapper pins the version of Gradle".to_owned());
    version
}

/// Build scripts of all projects, and what they apply.
fn build_files(tree: &Tree, folder: &str) -> Vec<String> {
    tree.files()
        .filter(|path| below(folder, path))
        .filter(|path| {
            let script = [".gradle", ".gradle.kts"];
            script.iter().any(|end| path.ends_with(end))
                || path.contains("buildSrc/src/") && is_source(path)
        })
        .map(str::to_owned)
        .collect()
}

/// What build scripts say of the JDK.
fn needs(tree: &Tree, files: &[String]) -> Needs {
    static TOOLCHAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?:JavaLanguageVersion\.of\(\s*|jvmToolchain\(\s*)["']?(\d+)"#)
            .expect("a literal pattern")
    });
    static LEVEL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?x)\b(?:(?:source|target)Compatibility (?:\.set\()? [\s=(]* (?:JavaVersion\.(?:VERSION_|toVersion\())?
            |options\.release (?:\.set\()? [\s=(]*
            |jvmTarget (?:\.set\()? [\s=(]* (?:JvmTarget\.JVM_)?) ["']?(1[._]\d|\d{1,2})\b"#,
        )
        .expect("a literal pattern")
    });
    let mut needs = Needs::default();
    let mut lowest: Option<(u32, Evidence)> = None;
    let mut highest: Option<(u32, Evidence)> = None;
    for file in files {
        let Some(text) = tree.text(file) else {
            continue;
        };
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with("//") {
                continue;
            }
            let why = || Evidence::at(file, at + 1, line);
            if let Some(found) = TOOLCHAIN.captures(line) {
                needs.pins.extend(number(&found[1]).map(|jdk| (jdk, why())));
            } else if let Some(found) = LEVEL.captures(line)
                && let Some(level) = number(&found[1].replace('_', "."))
            {
                if lowest.as_ref().is_none_or(|(low, _)| level < *low) {
                    lowest = Some((level, why()));
                }
                if highest.as_ref().is_none_or(|(high, _)| level > *high) {
                    highest = Some((level, why()));
                }
            }
        }
    }
    // Several toolchains: the newest compiles for the others' levels.
    needs.pins.sort_by_key(|(jdk, _)| std::cmp::Reverse(*jdk));
    needs.pins.dedup_by_key(|(jdk, _)| *jdk);
    needs.levels.extend(lowest);
    needs.least.extend(highest);
    needs
}

/// The task that runs the tests on a JVM.
fn task(tree: &Tree, files: &[String], plan: &mut EnvironmentPlan) -> &'static str {
    static MULTIPLATFORM: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"kotlin\(["']multiplatform|kotlin[.-]multiplatform"#)
            .expect("a literal pattern")
    });
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"\b(?:java|java-library|groovy|scala|org\.jetbrains\.kotlin\.jvm)\b["'`)]|`java|kotlin\(["']jvm|^\s*java(?:-library)?\s*$"#,
        )
        .expect("a literal pattern")
    });
    let find = |pattern: &Regex| {
        files.iter().find_map(|file| {
            let (line, text) = tree.line(file, pattern)?;
            Some(Evidence::at(file, line, text))
        })
    };
    match find(&MULTIPLATFORM) {
        Some(why) if find(&PLAIN).is_none() => {
            plan.prove("test_cmd", why);
            "jvmTest"
        }
        _ => "test",
    }
}

fn drift(tree: &Tree, files: &[String], plan: &mut EnvironmentPlan) {
    static MOVING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"["'][\w.-]+:[\w.-]+:(?:[\w.-]*\+|latest\.\w+|[\[(][^"']*|[\w.-]+-SNAPSHOT)["']"#,
        )
        .expect("a literal pattern")
    });
    let mut found = Vec::new();
    for file in files {
        let Some(text) = tree.text(file) else {
            continue;
        };
        for (at, line) in text.lines().enumerate() {
            if let Some(moving) = MOVING.find(line) {
                found.push(moving.as_str().trim_matches(['"', '\'']).to_owned());
                plan.prove("drift", Evidence::at(file, at + 1, line.trim()));
            }
        }
    }
    let locked = tree.files().any(|path| path.ends_with("gradle.lockfile"));
    if !found.is_empty() && !locked {
        found.sort();
        found.dedup();
        plan.drift
            .push(format!("versions that move: {}", found.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::newest_jdk;

    #[test]
    fn jdks_by_gradle() {
        for (gradle, jdk) in [
            ((9, 2), 25),
            ((8, 5), 21),
            ((7, 6), 19),
            ((7, 2), 16),
            ((6, 9), 15),
            ((4, 10), 10),
            ((2, 14), 8),
        ] {
            assert_eq!(newest_jdk(gradle), jdk, "{gradle:?}");
        }
    }
}
