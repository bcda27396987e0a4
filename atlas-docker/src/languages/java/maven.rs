//! Maven: a reactor of modules, Surefire.

use super::pom::Reactor;
use super::{JUNIT, Project, collect};
use crate::ci::Placed;
use crate::facts::{self, Facts, Verdict, only_projects};
use crate::quote::shell_quote;
use crate::toolbox::{self, MAVEN_FETCH};
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use regex::Regex;
use std::sync::LazyLock;

/// Checks that say nothing about tests and fail for reasons of their own: another JDK than the
/// authors', no network, a file without a licence. Each by its plugin's own switch.
const SWITCHES: &[&str] = &[
    "animal.sniffer.skip",
    "checkstyle.skip",
    "clirr.skip",
    "cpd.skip",
    "cyclonedx.skip",
    "dependency-check.skip",
    "enforcer.skip",
    "fmt.skip",
    "forbiddenapis.skip",
    "formatter.skip",
    "gpg.skip",
    "impsort.skip",
    "jacoco.skip",
    "japicmp.skip",
    "license.skip",
    "license.skipCheckLicense",
    "maven.javadoc.skip",
    "maven.source.skip",
    "mdep.analyze.skip",
    "modernizer.skip",
    "pmd.skip",
    "rat.skip",
    "revapi.skip",
    "sort.skip",
    "spotbugs.skip",
    "spotless.apply.skip",
    "spotless.check.skip",
    "spring-javaformat.validate.skip",
];

/// The quick compiler of the virtual machine alone: a build ends before the slow one pays; where
/// fetched artifacts go; and limits for a silent connection, in seconds and milliseconds: Maven would
/// wait for half an hour. The first names are those of Maven up to 3.8.
const MAVEN_OPTS: &str = "-XX:+IgnoreUnrecognizedVMOptions -XX:TieredStopAtLevel=1 \
    -Dmaven.repo.local=$ATLAS_ENV/m2 \
    -Dmaven.wagon.httpconnectionManager.ttlSeconds=25 -Dmaven.wagon.rto=60000 \
    -Dmaven.wagon.http.retryHandler.count=3 \
    -Dmaven.wagon.http.retryHandler.nonRetryableClasses=javax.net.ssl.SSLHandshakeException \
    -Daether.connector.requestTimeout=60000 -Daether.connector.http.retryHandler.count=3";

/// The variable that holds the switches.
const CHECKS_OFF: &str = "MAVEN_CHECKS_OFF";

/// Set where the manifests alone did not bring all that tests need: then a build compiles the sources,
/// with the network.
pub(crate) const COMPILE_FIRST: &str = "MAVEN_COMPILE_FIRST";

/// A pattern that selects every class and no method: Surefire then fetches the provider of the
/// test framework and starts it, and nothing is tested.
const NO_TEST: &str = "-Dtest=*#atlasNoSuchTest -DfailIfNoTests=false \
    -Dsurefire.failIfNoSpecifiedTests=false";

/// The option of the program that fetches, where the sources fetch nothing more than the manifests do.
const MANIFESTS: &str = " --manifests";

/// Completes a plan for the reactor below a project file.
pub(super) fn plan(
    facts: &Facts<'_>,
    project: &Project,
    plan: &mut EnvironmentPlan,
) -> Result<(), Verdict> {
    let manifest = project.manifest.as_str();
    let reactor = Reactor::read(facts.tree, manifest);
    if reactor.poms.is_empty() {
        let evidence = vec![Evidence::of(manifest, "not readable as XML")];
        return Err(Verdict::new("the Maven project file is no XML", evidence));
    }
    let mut needs = reactor.needs();
    let mut flags = flags(facts, project, &reactor, plan);
    let levels_unnamed = needs.levels.is_empty() && reactor.foreign_parent().is_none();
    if levels_unnamed {
        // Old compiler plugins default to levels that newer compilers have dropped.
        flags.extend(["-Dmaven.compiler.source=8", "-Dmaven.compiler.target=8"].map(str::to_owned));
        let why = Evidence::of(
            manifest,
            "no module names a level of the language: 8 is taken",
        );
        needs.least.push((8, why));
    }
    let jdk = super::jdk::choose(facts, &needs, plan);
    plan.base_image = format!(
        "maven:{}-eclipse-temurin-{jdk}",
        version(facts, project, plan)
    );
    plan.env
        .insert("MAVEN_OPTS".to_owned(), MAVEN_OPTS.to_owned());
    plan.env
        .insert("PATH".to_owned(), "$ATLAS_ENV/maven/bin:$PATH".to_owned());

    let goal = goal(&reactor, plan);
    let flags = flags.join(" ");
    let enter = project.enter();
    let asked = toolchains(&reactor);
    if !asked.is_empty() {
        plan.build.push(write_toolchains(&asked));
    }
    // Tests compile all anew: what is compiled here is only to see what has to be fetched for it.
    let alone = if sources_fetch_nothing(facts, &reactor) {
        MANIFESTS
    } else {
        ""
    };
    toolbox::add(plan, MAVEN_FETCH);
    plan.build.push(format!(
        "{enter}{}{alone} {} {flags} {goal}",
        toolbox::call(MAVEN_FETCH),
        newer(facts, project)
    ));
    plan.prove("build", Evidence::of(manifest, "a Maven project"));
    if facts.changes_manifests {
        plan.prefetch = vec![format!("{enter}mvn -fn {flags} {NO_TEST} {goal}")];
    }

    let hidden = hidden_console(&reactor);
    let parser = if hidden.is_none() && facts.knows("maven") {
        "maven"
    } else {
        JUNIT
    };
    if !facts.knows(parser) {
        let why = vec![Evidence::of(manifest, "a Maven project")];
        return Err(Verdict::no_parser("Surefire", why));
    }
    parser.clone_into(&mut plan.log_parser_name);
    let report =
        (parser == "maven" && facts.knows(JUNIT)).then(|| ReportSpec::new("junit.xml", JUNIT));
    let why = hidden.unwrap_or_else(|| {
        let text = "Surefire prints every test in its plain format";
        Evidence::of(manifest, text)
    });
    plan.prove("log_parser_name", why);
    let after = collect("*-reports", parser, report.is_some());
    plan.report = report;
    let part = part(facts, project, &reactor, plan);
    // The whole output folder goes first: no class and no report of another state is left.
    plan.test_cmd = format!(
        "{enter}mvn -o -fn {flags} -Dsurefire.reportFormat=plain -Dsurefire.useFile=false \
         -Dmaven.test.failure.ignore=true{part} clean {goal}{after}"
    );
    let modules = if part.is_empty() {
        "all"
    } else {
        "the concerned"
    };
    let text = format!("{modules} modules of the reactor, phase {goal}");
    plan.prove("test_cmd", Evidence::of(manifest, text));
    drift(&reactor, manifest, plan);
    Ok(())
}

/// Options for the modules that a pull request concerns, with those that they are made of; nothing where all are.
fn part(
    facts: &Facts<'_>,
    project: &Project,
    reactor: &Reactor,
    plan: &mut EnvironmentPlan,
) -> String {
    let head = Reactor::read(facts.head, &project.manifest);
    let paths = |reactor: &Reactor| -> Vec<String> {
        reactor.poms.iter().map(|pom| pom.path.clone()).collect()
    };
    // A module that a state does not have is an error for all of them.
    if paths(&head) != paths(reactor) {
        return String::new();
    }
    let needs = reactor.needs_of(facts.touched);
    let modules: Vec<facts::Project<'_>> = reactor
        .poms
        .iter()
        .zip(needs)
        .map(|(pom, needs)| facts::Project {
            folder: super::pom::folder(&pom.path),
            name: pom.root.text_at(&["artifactId"]).unwrap_or_default(),
            needs,
        })
        .collect();
    let chosen = facts.concerned(&modules);
    if chosen.len() == modules.len() {
        return String::new();
    }
    let folders: Vec<String> = chosen
        .iter()
        .map(|at| modules[*at].folder.to_owned())
        .collect();
    let prefix = project.inside("");
    let words: Vec<&str> = folders
        .iter()
        .map(|folder| folder.strip_prefix(&prefix).unwrap_or_default())
        .map(|inside| if inside.is_empty() { "." } else { inside })
        .collect();
    let words = shell_quote(&words.join(","));
    only_projects(plan, folders, modules.len());
    format!(" -pl {words} -am")
}

/// Whether what Maven fetches depends on its project files alone: each module has Java and resources
/// where they stand by Maven's custom, and nothing that a generator or another compiler takes.
fn sources_fetch_nothing(facts: &Facts<'_>, reactor: &Reactor) -> bool {
    reactor.poms.iter().all(|pom| {
        ["main", "test"].iter().all(|kind| {
            let folder = match super::pom::folder(&pom.path) {
                "" => format!("src/{kind}/"),
                folder => format!("{folder}/src/{kind}/"),
            };
            facts.tree.files().all(|path| {
                path.strip_prefix(&folder).is_none_or(|inside| {
                    let (place, _) = inside.split_once('/').unwrap_or((inside, ""));
                    // Classes for newer releases stand in `java9` and the like.
                    let release = place.strip_prefix("java").unwrap_or("x");
                    matches!(place, "javadoc" | "resources")
                        || release.bytes().all(|digit| digit.is_ascii_digit())
                            && ![".groovy", ".kt", ".scala"]
                                .iter()
                                .any(|end| inside.ends_with(end))
                })
            })
        })
    })
}

/// Options of every call.
fn flags(
    facts: &Facts<'_>,
    project: &Project,
    reactor: &Reactor,
    plan: &mut EnvironmentPlan,
) -> Vec<String> {
    let mut flags: Vec<String> = ["-B", "-ntp"].map(str::to_owned).to_vec();
    let config = project.inside(".mvn/maven.config");
    if facts
        .tree
        .text(&config)
        .is_some_and(|text| text.split_whitespace().any(|word| word.starts_with("-T")))
    {
        // Modules side by side print into one another's lines.
        flags.push("-T1".to_owned());
        let why = Evidence::of(&config, "builds modules side by side: switched off");
        plan.prove("test_cmd", why);
    }
    if let Some((profiles, at)) = profiles(facts) {
        flags.push(format!("-P{}", shell_quote(&profiles)));
        plan.prove("test_cmd", Evidence::at(at.file, at.line, at.text));
    }
    if !toolchains(reactor).is_empty() {
        flags.push("-t \"$ATLAS_ENV/toolchains.xml\"".to_owned());
    }
    let switches: Vec<String> = SWITCHES
        .iter()
        .map(|switch| format!("-D{switch}=true"))
        .collect();
    plan.env.insert(CHECKS_OFF.to_owned(), switches.join(" "));
    flags.push(format!("${CHECKS_OFF}"));
    for pom in &reactor.poms {
        for name in ["maven.test.skip", "skipTests"] {
            let set = pom.root.at(&["properties", name]);
            if let Some(found) = set.filter(|found| found.text == "true") {
                let flag = format!("-D{name}=false");
                if !flags.contains(&flag) {
                    flags.push(flag);
                    let text = format!("overruled: {name} = true");
                    plan.prove("test_cmd", Evidence::at(&pom.path, found.line, text));
                }
            }
        }
    }
    flags
}

/// Profiles that every Maven call of CI's tests asks for.
fn profiles(facts: &Facts<'_>) -> Option<(String, Placed)> {
    static MAVEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\bmvnw?\b.*\b(?:test|verify|install|package)\b").expect("a literal pattern")
    });
    static PROFILES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:\s-P\s*|\s--activate-profiles[ =])([A-Za-z0-9_.,!+-]+)(?:\s|$)")
            .expect("a literal pattern")
    });
    let mut found = None;
    let calls = facts.ci.test_commands();
    for command in calls.filter(|command| MAVEN.is_match(&command.text)) {
        match PROFILES.captures(&command.text) {
            None => return None,
            Some(profiles) => {
                found.get_or_insert_with(|| (profiles[1].to_owned(), command.clone()));
            }
        }
    }
    found
}

/// The Maven to fetch where the image's is too old: the wrapper's, if it is of a line that newer
/// plugins ask for, else the last of that line by the time of writing.
fn newer(facts: &Facts<'_>, project: &Project) -> String {
    static EXACT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^distributionUrl.*apache-maven-(3\.9\.\d+)-").expect("a literal pattern")
    });
    let file = project.inside(WRAPPER);
    facts
        .tree
        .line(&file, &EXACT)
        .and_then(|(_, text)| Some(EXACT.captures(&text)?[1].to_owned()))
        .unwrap_or_else(|| "3.9.9".to_owned())
}

const WRAPPER: &str = ".mvn/wrapper/maven-wrapper.properties";

/// The wrapper's minor version, where there are images of it, else whichever Maven is current.
fn version(facts: &Facts<'_>, project: &Project, plan: &mut EnvironmentPlan) -> &'static str {
    static DISTRIBUTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^distributionUrl.*apache-maven-(\d+)\.(\d+)").expect("a literal pattern")
    });
    let file = project.inside(WRAPPER);
    let Some((line, text)) = facts.tree.line(&file, &DISTRIBUTION) else {
        return "3";
    };
    let version = match DISTRIBUTION.captures(&text) {
        Some(found) if &found[1] == "4" => "4",
        Some(found) if &found[1] == "3" && &found[2] == "8" => "3.8",
        Some(found) if &found[1] == "3" && &found[2] == "9" => "3.9",
        _ => "3",
    };
    plan.prove("base_image", Evidence::at(file, line, text));
    version
}

/// `test`, or `package` where a module needs what another one packs: such artifacts are not there
/// before.
fn goal(reactor: &Reactor, plan: &mut EnvironmentPlan) -> &'static str {
    let own = reactor.artifacts();
    let packs = reactor.packs_optional();
    for (at, dependency) in reactor.dependencies() {
        let artifact = dependency.text_at(&["artifactId"]);
        if !artifact.is_some_and(|artifact| own.contains(artifact)) {
            continue;
        }
        let kind = dependency.text_at(&["type"]).unwrap_or("jar");
        let classifier = dependency.text_at(&["classifier"]);
        if let Some((_, packed)) = packs.iter().find(|(name, _)| Some(*name) == artifact) {
            plan.prove("test_cmd", packed.clone());
            return "package";
        }
        if !matches!(kind, "jar" | "pom" | "test-jar")
            || classifier.is_some_and(|name| name != "tests")
        {
            let text = format!(
                "module {} is needed as packed: {kind} {}",
                artifact.unwrap_or_default(),
                classifier.unwrap_or_default()
            );
            let path = reactor.poms[at].path.clone();
            plan.prove("test_cmd", Evidence::at(path, dependency.line, text.trim()));
            return "package";
        }
    }
    "test"
}

/// A setting of Surefire that keeps tests from being named on the console.
fn hidden_console(reactor: &Reactor) -> Option<Evidence> {
    reactor
        .configurations("maven-surefire-plugin")
        .find_map(|(at, configuration)| {
            let of = |name: &str, value: &str| {
                configuration
                    .child(name)
                    .filter(|found| reactor.expand(at, &found.text) == value)
            };
            let found = of("printSummary", "false")
                .or_else(|| of("useFile", "true"))
                .or_else(|| of("reportFormat", "brief"))
                // Another reporter, which draws trees.
                .or_else(|| configuration.child("statelessTestsetInfoReporter"))?;
            let value = reactor.expand(at, found.text.trim());
            let is = if value.is_empty() { "" } else { " = " };
            let text = format!(
                "{}{is}{value}: tests are read from Surefire's XML reports",
                found.name
            );
            Some(Evidence::at(&reactor.poms[at].path, found.line, text))
        })
}

fn drift(reactor: &Reactor, manifest: &str, plan: &mut EnvironmentPlan) {
    let mut moving = Vec::new();
    let own = reactor.artifacts();
    for (at, dependency) in reactor.dependencies() {
        let version = dependency.text_at(&["version"]).unwrap_or_default();
        let version = reactor.expand(at, version);
        let artifact = dependency.text_at(&["artifactId"]).unwrap_or_default();
        let range = version.starts_with(['[', '(']) || matches!(&*version, "LATEST" | "RELEASE");
        if range || version.ends_with("-SNAPSHOT") && !own.contains(artifact) {
            moving.push(format!("{artifact} {version}"));
            let why = Evidence::at(&reactor.poms[at].path, dependency.line, version);
            plan.prove("drift", why);
        }
    }
    if let Some(pom) = reactor.poms.iter().find(|pom| {
        let version = pom.root.text_at(&["parent", "version"]).unwrap_or_default();
        version.starts_with(['[', '('])
    }) {
        moving.push(format!("the parent of {}", pom.path));
    }
    if !moving.is_empty() {
        moving.sort();
        moving.dedup();
        plan.drift
            .push(format!("versions that move: {}", moving.join(", ")));
    }
    let plugins = reactor.unpinned_plugins();
    if !plugins.is_empty() && reactor.foreign_parent().is_none() {
        let names: Vec<&str> = plugins.iter().map(String::as_str).collect();
        plan.drift.push(format!(
            "plugins without a version, as Maven itself has them: {}",
            names.join(", ")
        ));
        plan.prove("drift", Evidence::of(manifest, "plugins without a version"));
    }
}

/// The versions of JDKs that the build asks its toolchains for, as it names them.
fn toolchains(reactor: &Reactor) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut versions: Vec<String> = reactor
        .configurations("maven-toolchains-plugin")
        .filter_map(|(at, configuration)| {
            let asked = configuration.at(&["toolchains", "jdk", "version"])?;
            let text = reactor.expand(at, &asked.text);
            let low = text
                .trim_start_matches(['[', '('])
                .split([',', ']'])
                .next()?;
            Some(low.trim().to_owned()).filter(|low| !low.is_empty() && low.chars().all(plain))
        })
        .collect();
    versions.sort();
    versions.dedup();
    versions
}

/// Writes a toolchains file in which the image's own JDK goes by these versions.
fn write_toolchains(versions: &[String]) -> String {
    format!(
        "home=\"${{JAVA_HOME:-$(dirname \"$(dirname \"$(readlink -f \"$(command -v javac)\")\")\")}}\"; \
         {{ echo '<toolchains>'; for version in {}; do \
         echo \"<toolchain><type>jdk</type><provides><version>$version</version></provides><configuration><jdkHome>$home</jdkHome></configuration></toolchain>\"; \
         done; echo '</toolchains>'; }} > \"$ATLAS_ENV/toolchains.xml\"",
        versions.join(" ")
    )
}
