//! Ant: the target that runs JUnit, with Ivy where it fetches dependencies.

use super::super::xml::Element;
use super::jdk::{Needs, number};
use super::{JUNIT, Project, collect};
use crate::facts::{Facts, Verdict};
use crate::quote::shell_quote;
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use std::collections::{BTreeMap, BTreeSet};

/// Completes a plan for an Ant build.
pub(super) fn plan(
    facts: &Facts<'_>,
    project: &Project,
    plan: &mut EnvironmentPlan,
) -> Result<(), Verdict> {
    let manifest = project.manifest.as_str();
    let text = facts.tree.text(manifest).unwrap_or_default();
    let Some(root) = Element::parse(&text) else {
        let evidence = vec![Evidence::of(manifest, "not readable as XML")];
        return Err(Verdict::new("the Ant build file is no XML", evidence));
    };
    let targets: BTreeMap<&str, &Element> = root
        .all("target")
        .filter_map(|target| Some((target.attribute("name")?, target)))
        .collect();
    let Some((target, runner)) = test_target(&targets) else {
        let text = "no target has a junit or junitlauncher task";
        let evidence = vec![Evidence::of(manifest, text)];
        return Err(Verdict::new("the Ant build runs no tests", evidence));
    };
    let jdk = super::jdk::choose(facts, &needs(&root, manifest), plan);
    plan.base_image = format!("maven:3-eclipse-temurin-{jdk}");
    let text = "an image with a JDK; Ant comes from the system's packages";
    plan.prove("base_image", Evidence::of(manifest, text));
    plan.pre_install.push(
        "command -v ant > /dev/null || { apt-get update && apt-get install -y --no-install-recommends ant ant-optional ivy && rm -rf /var/lib/apt/lists/*; }"
            .to_owned(),
    );
    let ivy = text_uses_ivy(&root);
    let mut options = String::from("-noinput");
    if ivy {
        plan.env.insert(
            "ANT_OPTS".to_owned(),
            "-Divy.default.ivy.user.dir=$ATLAS_ENV/ivy".to_owned(),
        );
        options.push_str(" -lib /usr/share/java/ivy.jar");
        plan.prove("build", Evidence::of(manifest, "Ivy fetches dependencies"));
    }
    let enter = project.enter();
    let target = shell_quote(target);
    // Ant has no way to fetch and compile for tests without running them.
    plan.build = vec![format!(
        "{enter}ant {options} -k {target} || echo 'atlas: not every target succeeds'"
    )];
    plan.prove("build", Evidence::of(manifest, "an Ant build"));
    if facts.changes_manifests && ivy {
        plan.prefetch = vec![format!("{enter}ant {options} -k {target}")];
    }
    // Ant compiles by file times, which say nothing across states: everything anew.
    let clean = if targets.contains_key("clean") {
        format!("ant {options} -q clean; ")
    } else {
        let text = "no target `clean`: classes are compiled anew where their sources are newer";
        plan.drift.push(text.to_owned());
        String::new()
    };
    let console = runner.descend().any(|element| {
        let kind = element.attribute("type").unwrap_or_default();
        element.name == "formatter"
            && matches!(kind, "plain" | "brief")
            && element.attribute("usefile") == Some("false")
    });
    let xml = runner.descend().any(|element| {
        element.name == "formatter" && element.attribute("type") == Some("xml")
            || element.name == "listener" && element.attribute("type") == Some("legacy-xml")
    });
    let parser = if xml && !console || !facts.knows("ant") {
        JUNIT
    } else {
        "ant"
    };
    if !facts.knows(parser) {
        let why = vec![Evidence::at(manifest, runner.line, "the test task")];
        return Err(Verdict::no_parser("Ant", why));
    }
    parser.clone_into(&mut plan.log_parser_name);
    let text = match (console, xml) {
        (true, _) => "a formatter prints to the console",
        (false, true) => "a formatter writes XML",
        (false, false) => "no formatter: the summary names classes only",
    };
    plan.prove("log_parser_name", Evidence::at(manifest, runner.line, text));
    if parser != JUNIT && xml && facts.knows(JUNIT) {
        plan.report = Some(ReportSpec::new("junit.xml", JUNIT));
    }
    let report = plan.report.is_some();
    let after = collect("*", parser, report);
    let forget = if parser == JUNIT || report {
        "find . -name 'TEST-*.xml' -not -path '*/src/*' -delete; "
    } else {
        ""
    };
    plan.test_cmd = format!("{enter}{clean}{forget}ant {options} -k {target}{after}");
    let text = format!("target {target} runs the tests");
    plan.prove("test_cmd", Evidence::at(manifest, runner.line, text));
    Ok(())
}

/// The target to call, and the one whose task runs the tests: one named for tests before others, one
/// that leads to such a task counts too.
fn test_target<'a>(targets: &BTreeMap<&'a str, &'a Element>) -> Option<(&'a str, &'a Element)> {
    let runs = |target: &Element| {
        target
            .descend()
            .any(|task| matches!(task.name.as_str(), "junit" | "junitlauncher"))
    };
    let runner_of = |name: &'a str| -> Option<&'a Element> {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![name];
        while let Some(name) = waiting.pop() {
            if !seen.insert(name) {
                continue;
            }
            let Some(target) = targets.get(name) else {
                continue;
            };
            if runs(target) {
                return Some(target);
            }
            let depends = target.attribute("depends").unwrap_or_default();
            waiting.extend(depends.split(',').map(str::trim));
            waiting.extend(
                target
                    .descend()
                    .filter(|task| task.name == "antcall")
                    .filter_map(|task| task.attribute("target")),
            );
        }
        None
    };
    ["test", "tests", "junit", "run-tests", "unit-test", "check"]
        .into_iter()
        .find_map(|wanted| {
            let (name, _) = targets.get_key_value(wanted)?;
            Some((*name, runner_of(name)?))
        })
        .or_else(|| {
            targets
                .iter()
                .find(|(_, target)| runs(target))
                .map(|(name, target)| (*name, *target))
        })
}

fn text_uses_ivy(root: &Element) -> bool {
    let tasks = ["resolve", "retrieve", "cachepath", "configure"];
    root.descend()
        .any(|element| tasks.contains(&element.name.as_str()))
}

/// Levels that `javac` tasks compile for.
fn needs(root: &Element, manifest: &str) -> Needs {
    let properties: BTreeMap<&str, &str> = root
        .descend()
        .filter(|element| element.name == "property")
        .filter_map(|property| Some((property.attribute("name")?, property.attribute("value")?)))
        .collect();
    let mut levels: BTreeMap<u32, Evidence> = BTreeMap::new();
    for task in root.descend().filter(|element| element.name == "javac") {
        for name in ["release", "source", "target"] {
            let Some(value) = task.attribute(name) else {
                continue;
            };
            let reference = value
                .strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'));
            let value = reference
                .and_then(|name| properties.get(name).copied())
                .unwrap_or(value);
            if let Some(level) = number(value) {
                let why = Evidence::at(manifest, task.line, format!("javac {name} = {value}"));
                levels.entry(level).or_insert(why);
            }
        }
    }
    Needs {
        least: levels
            .last_key_value()
            .map(|(level, why)| (*level, why.clone()))
            .into_iter()
            .collect(),
        levels: levels
            .first_key_value()
            .map(|(level, why)| (*level, why.clone()))
            .into_iter()
            .collect(),
        ..Needs::default()
    }
}
