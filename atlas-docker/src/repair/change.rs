//! What a repair does to a plan.

use crate::quote::shell_quote;
use crate::services;
use crate::toolbox;
use atlas_core::{Day, EnvironmentPlan};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// Another version of the toolchain: the version, as tags spell it.
    Toolchain(String),
    /// A Debian package.
    Package(String),
    /// A program that tests talk to, on its usual port: what [`services`](crate::services) calls it.
    Service(String),
    /// Whatever Debian package brings this header.
    HeaderSearch(String),
    /// A Python distribution beside those that were planned.
    PythonPackage(String),
    /// Python's distributions as of a later day.
    PythonDay(Day),
    /// A package of npm that the root asks for is not installed.
    WithoutNpmPackage(String),
    /// A variable for build and tests.
    Variable(String, String),
    /// Words added to a variable of flags.
    Flags(String, String),
    /// The suites of `PHPUnit` that run, by name.
    PhpunitSuites(String),
    /// An option of a `CMake` project is off.
    CmakeOptionOff(String),
    /// A flag of `cargo test`.
    CargoFlag(&'static str),
    /// The level of Java that Maven compiles for.
    JavaLevel(String),
    /// A version of Node, from npm.
    Node(&'static str),
    /// Submodules are fetched before the build.
    Submodules,
    /// Node's headers are laid where node-gyp looks for them.
    NodeHeaders,
}

impl Change {
    /// Whether only an engine with its own system can do it.
    pub(crate) fn needs_image(&self) -> bool {
        matches!(
            self,
            Self::Toolchain(_) | Self::Package(_) | Self::Service(_) | Self::HeaderSearch(_)
        )
    }

    /// Applies it; false if the plan already says so.
    pub(crate) fn apply(&self, plan: &mut EnvironmentPlan) -> bool {
        match self {
            Self::Toolchain(version) => {
                let Some(image) = with_version(&plan.base_image, version) else {
                    return false;
                };
                let known = plan.base_image == image;
                plan.base_image = image;
                let key = format!("{}_version", plan.language);
                if let Some(spec) = plan.docker_specs.get_mut(&key) {
                    *spec = version.clone().into();
                }
                !known
            }
            Self::Package(name) => {
                if plan.apt_packages.contains(name) {
                    return false;
                }
                plan.apt_packages.push(name.clone());
                plan.apt_packages.sort();
                plan.pre_install.push(format!(
                    "apt-get update && apt-get install -y --no-install-recommends {} && rm -rf /var/lib/apt/lists/*",
                    shell_quote(name)
                ));
                true
            }
            Self::Service(kind) => services::add(plan, kind),
            Self::HeaderSearch(header) => {
                let ending: String = header
                    .chars()
                    .map(|c| match c {
                        '.' | '+' => format!("[{c}]"),
                        c => c.to_string(),
                    })
                    .collect();
                let pattern = shell_quote(&format!("/usr/include/(.*/)?{ending}$"));
                // Finding none is no failure. What the release does not have may be among its backports.
                let search = format!(
                    "name=\"$(apt-file search --package-only --regexp {pattern} | head -n 1 || true)\""
                );
                let command = format!(
                    "apt-get update && apt-get install -y --no-install-recommends apt-file && apt-file update \
                     && {search} && from= && if [ -z \"$name\" ]; then \
                     from=\"$(. /etc/os-release && echo \"$VERSION_CODENAME\")-backports\" \
                     && echo \"deb http://deb.debian.org/debian $from main\" > /etc/apt/sources.list.d/backports.list \
                     && apt-get update && apt-file update && {search}; fi \
                     && if [ -n \"$name\" ]; then apt-get install -y --no-install-recommends ${{from:+-t \"$from\"}} \"$name\"; \
                     else echo 'atlas: no package has the header'; fi && rm -rf /var/lib/apt/lists/*"
                );
                push_new(&mut plan.pre_install, command)
            }
            Self::PythonPackage(name) => {
                let day = python_day(plan).cloned();
                let command = match &day {
                    Some(day) => format!(
                        "{} --add --day {day} {}",
                        toolbox::call(toolbox::INSTALL_PYTHON),
                        shell_quote(name)
                    ),
                    None => format!("python -m pip install {}", shell_quote(name)),
                };
                let added = push_new(&mut plan.build, command);
                if added {
                    plan.drift.push(match day {
                        Some(day) => {
                            format!("`{name}`, which a repair installs, is taken as of {day}")
                        }
                        None => format!(
                            "`{name}`, which a repair installs, is what the index has at the build"
                        ),
                    });
                }
                added
            }
            Self::PythonDay(day) => {
                let Some(known) = python_day(plan).cloned().filter(|known| known != day) else {
                    return false;
                };
                for command in plan.build.iter_mut().chain(&mut plan.prefetch) {
                    *command = command.replace(known.as_str(), day.as_str());
                }
                plan.as_of = Some(day.clone());
                plan.drift.push(format!(
                    "dependencies are resolved as of {day}: those of {known} do not run on this Python"
                ));
                true
            }
            Self::WithoutNpmPackage(name) => without_npm_package(plan, name),
            Self::Variable(name, value) => {
                plan.env.insert(name.clone(), value.clone()).as_ref() != Some(value)
            }
            Self::Flags(name, words) => {
                let known = plan.env.entry(name.clone()).or_default();
                if known.contains(words.as_str()) {
                    return false;
                }
                if !known.is_empty() {
                    known.push(' ');
                }
                known.push_str(words);
                true
            }
            Self::PhpunitSuites(there) => phpunit_suites(plan, there),
            Self::CmakeOptionOff(name) => cmake_option_off(plan, name),
            Self::CargoFlag(flag) => {
                let each = toolbox::call(toolbox::CARGO_TEST_EACH);
                let commands = plan.build.iter_mut().chain(&mut plan.rebuild);
                let mut changed = false;
                for command in commands.chain([&mut plan.test_cmd]) {
                    if command.contains(flag) {
                        continue;
                    }
                    for call in ["cargo test --no-run", each.as_str()] {
                        if command.contains(call) {
                            *command = command.replace(call, &format!("{call} {flag}"));
                            changed = true;
                        }
                    }
                }
                changed
            }
            Self::JavaLevel(level) => {
                let [source, target] =
                    ["source", "target"].map(|what| format!("-Dmaven.compiler.{what}={level}"));
                let added =
                    Self::Flags("MAVEN_CHECKS_OFF".to_owned(), format!("{source} {target}"))
                        .apply(plan);
                if added {
                    plan.drift.push(format!(
                        "Maven compiles for Java {level}: the JDK here takes no older level"
                    ));
                }
                added
            }
            Self::Node(version) => node(plan, version),
            Self::Submodules => {
                toolbox::add(plan, toolbox::SUBMODULES);
                let command = toolbox::call(toolbox::SUBMODULES);
                let added = !plan.build.contains(&command);
                if added {
                    plan.build.insert(0, command);
                }
                added
            }
            Self::NodeHeaders => node_headers(plan),
        }
    }

    /// In words, for reports.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Toolchain(version) => format!("toolchain {version}"),
            Self::Package(name) => format!("Debian package {name}"),
            Self::Service(kind) => format!("service {kind}"),
            Self::HeaderSearch(header) => format!("the Debian package that has {header}"),
            Self::PythonPackage(name) => format!("Python package {name}"),
            Self::PythonDay(day) => format!("Python's distributions as of {day}"),
            Self::WithoutNpmPackage(name) => format!("npm package {name} left out"),
            Self::Variable(name, value) => format!("{name}={value}"),
            Self::Flags(name, words) => format!("{name}: {words} added"),
            Self::PhpunitSuites(names) => format!("PHPUnit's suites {names} alone"),
            Self::CmakeOptionOff(name) => format!("CMake option {name} off"),
            Self::CargoFlag(flag) => format!("cargo test {flag}"),
            Self::JavaLevel(level) => format!("Java's level {level}"),
            Self::Node(version) => format!("Node {version}"),
            Self::Submodules => format!("`{}` first", toolbox::SUBMODULES),
            Self::NodeHeaders => format!("`{}` first", toolbox::NODE_HEADERS),
        }
    }
}

/// Brings the headers of the Node that is taken: where that comes from npm with the sources, behind the call.
fn node_headers(plan: &mut EnvironmentPlan) -> bool {
    toolbox::add(plan, toolbox::NODE_HEADERS);
    let command = toolbox::call(toolbox::NODE_HEADERS);
    let node = toolbox::call(toolbox::NODE_VERSION);
    match plan.build.iter().rposition(|call| call.contains(&node)) {
        None => push_new(&mut plan.setup, command),
        Some(_) if plan.build.contains(&command) => false,
        Some(at) => {
            plan.build.insert(at + 1, command);
            true
        }
    }
}

/// Takes another Node, by the call that takes one already or by one more.
fn node(plan: &mut EnvironmentPlan, version: &str) -> bool {
    /// npm's major where the plan has the image's.
    const NPM: &str = "10";
    let call = toolbox::call(toolbox::NODE_VERSION);
    let mut commands = plan.setup.iter_mut().chain(&mut plan.build);
    let known = commands.find(|command| command.starts_with(&call));
    let npm = known
        .as_ref()
        .and_then(|command| command.rsplit(' ').next())
        .unwrap_or(NPM);
    let command = format!("{call} {version} {npm}");
    let changed = if let Some(known) = known {
        std::mem::replace(known, command.clone()) != command
    } else {
        toolbox::add(plan, toolbox::NODE_VERSION);
        push_new(&mut plan.setup, command)
    };
    if changed {
        plan.drift.push(format!(
            "Node is {version}: the sources are read by a loader that newer ones do not have"
        ));
    }
    changed
}

/// Runs those of `PHPUnit`'s suites that are there: all of them, or of those that the command names.
fn phpunit_suites(plan: &mut EnvironmentPlan, there: &str) -> bool {
    const PROGRAM: &str = "bin/phpunit";
    const OPTION: &str = " --testsuite ";
    let is_there = |name: &&str| there.split(',').any(|known| known == *name);
    let command = &plan.test_cmd;
    let (at, end, names) = if let Some(at) = command.find(OPTION) {
        let value = &command[at + OPTION.len()..];
        let named = shlex::Shlex::new(value).next().unwrap_or_default();
        let kept: Vec<&str> = named.split(',').filter(is_there).collect();
        if kept.is_empty() || kept.len() == named.split(',').count() {
            return false;
        }
        let end = at + OPTION.len() + shell_quote(&named).len();
        (at, end, kept.join(","))
    } else if let Some(at) = command.find(PROGRAM) {
        let end = at + PROGRAM.len();
        let end = end + usize::from(command[end..].starts_with('"'));
        (end, end, there.to_owned())
    } else {
        return false;
    };
    let option = format!("{OPTION}{}", shell_quote(&names));
    plan.test_cmd.replace_range(at..end, option.trim_end());
    plan.drift.push(format!(
        "only the suites {names} of PHPUnit's configuration run: the folder of another is not there"
    ));
    true
}

/// Configures without what an option switches on. What the plan itself sets, its tests need; what CI sets goes.
fn cmake_option_off(plan: &mut EnvironmentPlan, name: &str) -> bool {
    let call = toolbox::call(toolbox::CTEST);
    let off = format!("-D{name}=OFF");
    let wanted = format!("-D{name}=");
    let commands = plan.build.iter_mut().chain(&mut plan.rebuild);
    let mut changed = false;
    for command in commands.chain([&mut plan.test_cmd]) {
        let Some(at) = command.find(&call) else {
            continue;
        };
        let words: Vec<&str> = command[at + call.len()..].split(' ').collect();
        let ci = words.iter().position(|word| *word == "--");
        let own = &words[..ci.unwrap_or(words.len())];
        // An empty word, what is done, the folder.
        if own.len() < 3 || own.iter().any(|word| word.starts_with(&wanted)) {
            return false;
        }
        let after = &words[own.len()..];
        let kept = after.iter().filter(|word| !word.starts_with(&wanted));
        let mut words = own.to_vec();
        words.push(&off);
        words.extend(kept);
        let words = words.join(" ");
        command.replace_range(at + call.len().., &words);
        changed = true;
    }
    if changed {
        plan.drift.push(format!(
            "the project's option `{name}` is off: what it fetches cannot be reached"
        ));
    }
    changed
}

/// Installs without a package: the manifest is another while npm runs, and the repository's own afterwards.
fn without_npm_package(plan: &mut EnvironmentPlan, name: &str) -> bool {
    const SAVE: &str = "saved=\"$(mktemp -d)\"; cp -p package.json package-lock.json pnpm-lock.yaml \"$saved\" 2> /dev/null || :; ";
    const RESTORE: &str = "code=$?; cp -p \"$saved\"/* .; exit $code";
    let drop = format!(
        "npm pkg delete {}; ",
        ["devDependencies", "optionalDependencies"]
            .map(|section| shell_quote(&format!("{section}[{name}]")))
            .join(" ")
    );
    let installs =
        |command: &&mut String| command.contains("npm ci") || command.contains("npm install --no-");
    let Some(command) = plan.build.iter_mut().find(installs) else {
        return false;
    };
    if command.contains(&drop) {
        return false;
    }
    *command = match command
        .strip_prefix("( ")
        .and_then(|rest| rest.strip_prefix(SAVE))
    {
        Some(rest) => format!("( {SAVE}{drop}{rest}"),
        // A lockfile no longer agrees with the manifest.
        None if command.contains("npm ci") => format!(
            "( {SAVE}{drop}npm install --no-audit --no-fund || {{ {command}; }}; {RESTORE} )"
        ),
        None => format!("( {SAVE}{drop}{{ {command}; }}; {RESTORE} )"),
    };
    plan.drift.push(format!(
        "`{name}`, a development dependency that nothing which is tested names, cannot be had and is left out"
    ));
    true
}

/// The day as of which a plan resolves Python's distributions, if it does so by a day.
pub(super) fn python_day(plan: &EnvironmentPlan) -> Option<&Day> {
    let installs = plan
        .tools
        .iter()
        .any(|tool| tool == toolbox::INSTALL_PYTHON);
    plan.as_of.as_ref().filter(|_| installs)
}

fn push_new(commands: &mut Vec<String>, command: String) -> bool {
    if commands.contains(&command) {
        return false;
    }
    commands.push(command);
    true
}

/// The same image with another version: `rust:1.70-slim` -> `rust:1.81-slim`. Where the tag's first
/// number is not the toolchain's (`maven:3-eclipse-temurin-17`), it is the last one.
pub(crate) fn with_version(image: &str, version: &str) -> Option<String> {
    let (name, tag) = image.rsplit_once(':')?;
    if tag.contains('/') || name.contains('@') {
        return None;
    }
    let jdk = ["temurin-", "openjdk-", "jdk"]
        .iter()
        .find_map(|mark| tag.find(mark).map(|at| at + mark.len()));
    let (before, rest) = match jdk {
        Some(at) => tag.split_at(at),
        None => ("", tag),
    };
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    if end == 0 {
        return None;
    }
    Some(format!("{name}:{before}{version}{}", &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repairs_distribution_is_as_old_as_the_others() {
        let mut plan = EnvironmentPlan {
            build: vec![
                "cd a && bash \"$ATLAS_ENV/toolbox/install-python\" --day 2020-02-03 --project . x"
                    .to_owned(),
            ],
            as_of: Some("2020-02-03".parse().unwrap()),
            tools: vec![toolbox::INSTALL_PYTHON.to_owned()],
            ..EnvironmentPlan::default()
        };
        assert!(Change::PythonPackage("PyYAML".to_owned()).apply(&mut plan));
        assert_eq!(
            plan.build[1],
            "bash \"$ATLAS_ENV/toolbox/install-python\" --add --day 2020-02-03 PyYAML"
        );
    }

    #[test]
    fn an_option_of_cmake_is_off_where_ci_had_it_on() {
        let command =
            "bash \"$ATLAS_ENV/toolbox/ctest.sh\" build . -DP_TEST=ON -- -DP_DATA=ON -DP_MORE=ON";
        let mut plan = EnvironmentPlan {
            build: vec![command.to_owned()],
            test_cmd: command.replace(" build ", " split "),
            ..EnvironmentPlan::default()
        };
        let off = Change::CmakeOptionOff("P_DATA".to_owned());
        assert!(off.apply(&mut plan));
        let changed =
            "bash \"$ATLAS_ENV/toolbox/ctest.sh\" build . -DP_TEST=ON -DP_DATA=OFF -- -DP_MORE=ON";
        assert_eq!(plan.build, [changed]);
        assert_eq!(plan.test_cmd, changed.replace(" build ", " split "));
        let told = plan.drift.join("\n");
        assert!(told.contains("`P_DATA` is off"), "{told}");
        // Neither again, nor what the tests need.
        assert!(!off.apply(&mut plan));
        assert!(!Change::CmakeOptionOff("P_TEST".to_owned()).apply(&mut plan));
    }

    #[test]
    fn of_the_suites_that_a_command_names_those_that_are_there_stay() {
        let there = Change::PhpunitSuites("Unit,Slow ones".to_owned());
        for (command, expected) in [
            (
                "vendor/bin/phpunit --teamcity",
                "vendor/bin/phpunit --testsuite 'Unit,Slow ones' --teamcity",
            ),
            (
                "\"$ATLAS_ENV/phpunit/vendor/bin/phpunit\" --teamcity",
                "\"$ATLAS_ENV/phpunit/vendor/bin/phpunit\" --testsuite 'Unit,Slow ones' --teamcity",
            ),
            (
                "vendor/bin/phpunit --testsuite 'Slow ones,Shared' --teamcity",
                "vendor/bin/phpunit --testsuite 'Slow ones' --teamcity",
            ),
        ] {
            let mut plan = EnvironmentPlan {
                test_cmd: command.to_owned(),
                ..EnvironmentPlan::default()
            };
            assert!(there.apply(&mut plan));
            assert_eq!(plan.test_cmd, expected);
            assert!(!there.apply(&mut plan));
        }
    }

    #[test]
    fn packages_are_left_out_one_after_the_other() {
        let mut plan = EnvironmentPlan {
            build: vec!["npm ci --no-audit --no-fund || true".to_owned()],
            ..EnvironmentPlan::default()
        };
        for name in ["top-sites", "@a/b"] {
            let change = Change::WithoutNpmPackage(name.to_owned());
            assert!(change.apply(&mut plan));
            assert!(!change.apply(&mut plan));
        }
        let command = &plan.build[0];
        for part in ["[top-sites]'", "[@a/b]'"] {
            assert_eq!(command.matches(part).count(), 2, "{command}");
        }
        assert_eq!(command.matches("mktemp").count(), 1, "{command}");
        assert!(command.contains("npm install --no-audit --no-fund || { npm ci"));
        assert_eq!(plan.drift.len(), 2);
    }

    #[test]
    fn a_package_is_left_out_where_no_lockfile_pins_any() {
        let install = "npm install --no-package-lock --no-audit --no-fund --before=2025-01-01";
        let mut plan = EnvironmentPlan {
            build: vec!["node --version".to_owned(), install.to_owned()],
            ..EnvironmentPlan::default()
        };
        let change = Change::WithoutNpmPackage("typescript".to_owned());
        assert!(change.apply(&mut plan));
        assert!(!change.apply(&mut plan));
        let command = &plan.build[1];
        assert!(
            command.contains(&format!("; {{ {install}; }}; code=$?")),
            "{command}"
        );
        assert_eq!(command.matches("npm install").count(), 1, "{command}");
        // The script that holds it ends at the first command that fails, and there is no lock file to save.
        assert!(
            command.contains("\"$saved\" 2> /dev/null || :;"),
            "{command}"
        );
    }

    #[test]
    fn a_version_is_replaced_where_the_tag_has_it() {
        for (image, version, expected) in [
            (
                "rust:1.70-slim-bookworm",
                "1.81",
                Some("rust:1.81-slim-bookworm"),
            ),
            (
                "maven:3-eclipse-temurin-17",
                "21",
                Some("maven:3-eclipse-temurin-21"),
            ),
            ("golang:1.20", "1.22", Some("golang:1.22")),
            (
                "host:5000/python:3.9",
                "3.12",
                Some("host:5000/python:3.12"),
            ),
            ("debian:bookworm", "3", None),
            ("host:5000/python", "3.12", None),
        ] {
            assert_eq!(with_version(image, version).as_deref(), expected, "{image}");
        }
    }

    #[test]
    fn headers_are_of_the_node_that_is_brought_before() {
        let mut plan = EnvironmentPlan::default();
        let node = format!("{} 22 10", toolbox::call(toolbox::NODE_VERSION));
        plan.setup = vec![node.clone()];
        plan.build = vec!["npm ci".to_owned()];
        // Plans without `setup` bring Node with the sources.
        let mut whole = EnvironmentPlan {
            build: plan.paper_build(),
            ..EnvironmentPlan::default()
        };
        assert!(Change::NodeHeaders.apply(&mut plan));
        assert!(Change::NodeHeaders.apply(&mut whole));
        let headers = toolbox::call(toolbox::NODE_HEADERS);
        assert_eq!(plan.setup, [node, headers]);
        assert_eq!(plan.build, ["npm ci"]);
        assert_eq!(whole.build, plan.paper_build());
        assert_eq!(plan.tools, [toolbox::NODE_HEADERS]);
    }

    #[test]
    fn a_change_that_is_there_already_changes_nothing() {
        for change in [
            Change::Package("cmake".to_owned()),
            Change::Service("redis".to_owned()),
            Change::HeaderSearch("a+b.h".to_owned()),
            Change::PythonPackage("PyYAML".to_owned()),
            Change::Variable("TZ".to_owned(), "UTC".to_owned()),
            Change::Flags("CXXFLAGS".to_owned(), "-std=gnu++17".to_owned()),
            Change::Submodules,
            Change::NodeHeaders,
            Change::PhpunitSuites("Unit".to_owned()),
        ] {
            let mut plan = EnvironmentPlan {
                test_cmd: "vendor/bin/phpunit".to_owned(),
                ..EnvironmentPlan::default()
            };
            assert!(change.apply(&mut plan), "{change:?}");
            let once = plan.clone();
            assert!(!change.apply(&mut plan), "{change:?}");
            assert_eq!(plan, once);
        }
    }
}
