//! `CMake`.

use super::listing::{self, Call};
use super::packages::{self, Wanted};
use super::{Recipe, framework, options, place, reading, within};
use crate::facts::Facts;
use crate::quote::shell_quote;
use crate::toolbox::CTEST;
use crate::tree::Tree;
use crate::versions::Version;
use atlas_core::Evidence;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// How options end that are for something beside the library and its tests.
const BESIDE_TESTS: &[&str] = &[
    "_BENCHMARK",
    "_BENCHMARKS",
    "_DOC",
    "_DOCS",
    "_DOCUMENTATION",
];

/// Calls that register tests.
const REGISTER: &[&str] = &[
    "add_test",
    "boost_discover_tests",
    "catch_discover_tests",
    "doctest_discover_tests",
    "gtest_add_tests",
    "gtest_discover_tests",
];

/// Folders of a build that is another project's, or that tests do without.
fn foreign(path: &str) -> bool {
    path.to_ascii_lowercase().split('/').any(|part| {
        matches!(
            part,
            "googletest"
                | "gtest"
                | "gmock"
                | "googlemock"
                | "unity"
                | "catch2"
                | "doctest"
                | "extern"
                | "external"
                | "deps"
                | "subprojects"
                | "thirdparty"
                | "examples"
                | "example"
                | "fuzz"
                | "fuzzing"
                | "benchmark"
                | "benchmarks"
                | "docs"
                | "doc"
        )
    })
}

fn all_calls(tree: &Tree, folder: &str) -> Vec<Call> {
    let prefix = within(folder, "");
    let mut files: Vec<&str> = tree
        .files()
        .filter(|path| {
            path.starts_with(&prefix)
                // `configure_file` makes projects that fetch others of the last kind.
                && ["CMakeLists.txt", ".cmake", ".cmake.in"]
                    .iter()
                    .any(|end| path.ends_with(end))
                && !foreign(&path[prefix.len()..])
        })
        .collect();
    // The folder's own first: the project's name and options stand there. Then those of tests.
    let own = within(folder, "CMakeLists.txt");
    files.sort_by_key(|path| (*path != own, !super::is_test(path), *path));
    files
        .into_iter()
        .flat_map(|file| listing::calls(tree, file))
        .collect()
}

/// Whether a call belongs to the tests.
fn of_tests(call: &Call) -> bool {
    super::is_test(&call.file)
        || call
            .conditions
            .iter()
            .flatten()
            .any(|word| word.to_ascii_uppercase().contains("TEST"))
}

/// The folder of tests that are a project of their own, to which no other project of the folder leads.
fn apart(tree: &Tree, folder: &str, calls: &[Call]) -> Option<String> {
    let home = |file: &str| {
        file.rsplit_once('/')
            .map_or("", |(home, _)| home)
            .to_owned()
    };
    let mut projects = calls.iter().filter(|call| {
        call.name == "project"
            && call.file.ends_with("CMakeLists.txt")
            && super::is_test(&call.file)
            && home(&call.file) != folder
    });
    projects.find_map(|project| {
        let place = home(&project.file);
        let prefix = format!("{place}/");
        let (inner, outer): (Vec<&Call>, Vec<&Call>) = calls
            .iter()
            .partition(|call| call.file.starts_with(&prefix));
        let registers = |call: &&Call| REGISTER.contains(&call.name.as_str());
        let leads = |call: &&Call| {
            let to = call
                .words
                .first()
                .map(|word| within(&home(&call.file), word));
            call.name == "add_subdirectory"
                && to.is_some_and(|to| {
                    to == place || to.contains('$') || place.starts_with(&format!("{to}/"))
                })
        };
        let is_apart = inner.iter().any(|call| registers(call) || is_program(call))
            && !outer.iter().any(registers)
            && !outer.iter().any(leads)
            && tree.has(&within(&place, "CMakeLists.txt"));
        is_apart.then_some(place)
    })
}

/// Whether a call makes a program that is named as tests are.
fn is_program(call: &Call) -> bool {
    call.name == "add_executable" && call.words.first().is_some_and(|name| super::is_test(name))
}

/// The programs of tests of a project that registers none, as far as their names are literal: CI starts them itself.
fn programs<'a>(calls: &'a [Call], folder: &str) -> Vec<&'a str> {
    // What a module of another project registers is not seen here, but nothing is without this.
    let is_testing = |call: &Call| {
        REGISTER.contains(&call.name.as_str())
            || call.name == "enable_testing"
            || call.name == "include" && call.words.first().is_some_and(|name| name == "CTest")
    };
    if calls.iter().any(is_testing) {
        return Vec::new();
    }
    let prefix = within(folder, "");
    let of_folder = calls
        .iter()
        .filter(|call| call.file.starts_with(&prefix) && is_program(call));
    let mut names: Vec<&str> = of_folder
        .filter_map(|call| call.words.first().map(String::as_str))
        .filter(|name| {
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c))
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub(super) fn plan(facts: &Facts<'_>, folder: &str) -> Option<Recipe> {
    let tree = facts.tree;
    if !tree.has(&within(folder, "CMakeLists.txt")) {
        return None;
    }
    let all = all_calls(tree, folder);
    let apart = apart(tree, folder, &all);
    let folder = apart.as_deref().unwrap_or(folder);
    let own = within(folder, "CMakeLists.txt");
    let calls = if apart.is_some() {
        all_calls(tree, folder)
    } else {
        all.clone()
    };
    let project = calls
        .iter()
        .find(|call| call.name == "project")
        .and_then(|call| call.words.first())
        .map_or("", String::as_str);
    let registered = calls
        .iter()
        .find(|call| REGISTER.contains(&call.name.as_str()));
    let named = calls.iter().find(|call| is_program(call));
    let proof = registered.or(named)?;
    let at = |call: &Call| Evidence::at(call.file.clone(), call.line, call.text());
    let mut lines = vec![("test_cmd", at(proof))];
    let discovers = calls
        .iter()
        .find(|call| call.name.ends_with("_discover_tests") || call.name == "gtest_add_tests");
    let (mode, parser) = match discovers {
        // Each test of a program is a test of CTest.
        Some(call) => {
            lines.push(("log_parser_name", at(call)));
            ("ctest", "ctest".to_owned())
        }
        None => reading(facts, folder, "ctest", &mut lines),
    };
    let known = parser.split('+').all(|id| facts.knows(id));
    if !known {
        return None;
    }
    let mut recipe = Recipe::new(CTEST, mode, parser);
    recipe.proof = lines;
    let mut arguments = vec![place(folder)];
    let (configuration, why) = options::configuration(facts);
    arguments.extend(configuration.map(|name| format!("-DCMAKE_BUILD_TYPE={name}")));
    let (needed, wished) = switches(facts, folder, &calls, project, &mut recipe);
    arguments.extend(needed);
    arguments.extend(
        programs(&calls, folder)
            .into_iter()
            .map(|name| format!("--program={name}")),
    );
    if !wished.is_empty() {
        arguments.push("--".to_owned());
        arguments.extend(wished);
    }
    recipe.build.clone_from(&arguments);
    recipe.test = arguments;
    // Tests apart may take the other project in.
    needs(&all, &mut recipe);
    libraries(facts, &all, project, &own, &mut recipe);
    recipe
        .proof
        .extend(why.into_iter().map(|line| ("build", line)));
    Some(recipe)
}

/// Options to set: those for tests, and those that CI sets and tests are registered under.
fn switches(
    facts: &Facts<'_>,
    folder: &str,
    calls: &[Call],
    project: &str,
    recipe: &mut Recipe,
) -> (Vec<String>, Vec<String>) {
    let mut declared: BTreeMap<&str, (&Call, &str)> = BTreeMap::new();
    for call in calls {
        let Some(name) = call.words.first() else {
            continue;
        };
        let default = match call.name.as_str() {
            "option" | "cmake_dependent_option" => call.words.get(2).map_or("OFF", String::as_str),
            "set" if call.has("CACHE") && call.has("BOOL") => {
                call.words.get(1).map_or("OFF", String::as_str)
            }
            _ => continue,
        };
        declared.entry(name).or_insert((call, default));
    }
    let gates: BTreeSet<&str> = calls
        .iter()
        .filter(|call| {
            REGISTER.contains(&call.name.as_str())
                || call.name == "enable_testing"
                || (call.name == "add_subdirectory"
                    && call.words.first().is_some_and(|name| super::is_test(name)))
        })
        .flat_map(|call| call.conditions.iter().flatten())
        .map(|word| word.trim_start_matches("${").trim_end_matches('}'))
        .collect();
    let preset = presets(facts.tree, folder);
    let (mut needed, mut wished) = (Vec::new(), Vec::new());
    let uses_standard = calls
        .iter()
        .any(|call| call.name == "include" && call.has("CTest"))
        || gates.contains("BUILD_TESTING");
    if uses_standard && !declared.contains_key("BUILD_TESTING") {
        needed.push("-DBUILD_TESTING=ON".to_owned());
    }
    for (name, (call, default)) in &declared {
        let why = Evidence::at(call.file.clone(), call.line, call.text());
        if options::switches_tests_on(name, project) {
            if !options::is_on(default) {
                needed.push(format!("-D{name}=ON"));
                recipe.proof.push(("build", why));
            }
        } else if options::is_on(default)
            && BESIDE_TESTS.iter().any(|end| name.ends_with(end))
            && !gates.contains(name)
        {
            // They are no tests, and often need a library or a program more.
            needed.push(format!("-D{name}=OFF"));
            recipe.proof.push(("build", why));
        } else if !options::is_on(default) && !options::is_special(options::own(name, project)) {
            // What CI tests with may decide what tests see, even where no test stands behind it.
            let in_ci = options::on_in_ci(facts, name)
                .map(|place| Evidence::at(place.file, place.line, place.text));
            let preset = preset.get(*name).filter(|_| gates.contains(name));
            if let Some(line) = in_ci.or_else(|| preset.cloned()) {
                wished.push(format!("-D{name}=ON"));
                recipe.proof.push(("build", line));
            }
        }
    }
    if recipe.proof.iter().all(|(field, _)| *field != "build") {
        let line = calls.iter().find(|call| call.name == "project");
        if let Some(call) = line {
            let why = Evidence::at(call.file.clone(), call.line, call.text());
            recipe.proof.push(("build", why));
        }
    }
    (needed, wished)
}

/// Options that a preset switches on.
fn presets(tree: &Tree, folder: &str) -> BTreeMap<String, Evidence> {
    let mut found = BTreeMap::new();
    let file = within(folder, "CMakePresets.json");
    let Some(text) = tree.text(&file) else {
        return found;
    };
    let json: serde_json::Value = match serde_json::from_str(&text) {
        Ok(json) => json,
        Err(why) => {
            tracing::warn!(file, %why, "presets are no JSON");
            return found;
        }
    };
    let presets = json
        .get("configurePresets")
        .and_then(|list| list.as_array());
    for preset in presets.into_iter().flatten() {
        let variables = preset.get("cacheVariables").and_then(|map| map.as_object());
        for (name, value) in variables.into_iter().flatten() {
            let value = value.get("value").unwrap_or(value);
            let on = value.as_bool().unwrap_or(false) || value.as_str().is_some_and(options::is_on);
            if on {
                let line = tree.line_with(&file, name).unwrap_or(1);
                let why = Evidence::at(file.clone(), line, format!("a preset sets {name}"));
                found.entry(name.clone()).or_insert(why);
            }
        }
    }
    found
}

fn needs(calls: &[Call], recipe: &mut Recipe) {
    static STANDARD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:cxx_std_)?(11|14|17|20|23|26)$").expect("a literal pattern")
    });
    for call in calls {
        let why = || Evidence::at(call.file.clone(), call.line, call.text());
        match call.name.as_str() {
            "cmake_minimum_required" => {
                let lowest = call
                    .after("VERSION")
                    .and_then(|range| range.split("...").next())
                    .and_then(Version::parse);
                if let Some(version) = lowest
                    && recipe
                        .needs
                        .cmake
                        .as_ref()
                        .is_none_or(|(known, _)| version > *known)
                {
                    recipe.needs.cmake = Some((version, why()));
                }
            }
            "set" | "target_compile_features" | "set_target_properties" | "set_property" => {
                let about = call.has("CMAKE_CXX_STANDARD")
                    || call.has("CXX_STANDARD")
                    || call.name == "target_compile_features";
                let year = call
                    .words
                    .iter()
                    .filter_map(|word| STANDARD.captures(word)?[1].parse::<u32>().ok())
                    .max();
                if let (true, Some(year)) = (about, year)
                    && recipe
                        .needs
                        .cxx
                        .as_ref()
                        .is_none_or(|(known, _)| year > *known)
                {
                    recipe.needs.cxx = Some((year, why()));
                }
            }
            _ => {}
        }
    }
}

fn libraries(facts: &Facts<'_>, calls: &[Call], project: &str, own: &str, recipe: &mut Recipe) {
    let line = facts.tree.line_with(own, "project").unwrap_or(1);
    let why = Evidence::at(own, line, "a build with CMake, by ninja");
    let mut wanted: Wanted = ["cmake", "ninja-build", "pkg-config"]
        .map(|package| (package, why.clone()))
        .to_vec();
    for call in calls {
        // A test of the installed project looks for the project itself.
        let itself = call.name == "find_package"
            && call
                .words
                .first()
                .is_some_and(|name| name.eq_ignore_ascii_case(project));
        if !itself {
            packages::of_call(call, of_tests(call), &mut wanted);
        }
    }
    let mut seen = BTreeSet::new();
    for call in calls {
        let Some((name, url)) = fetched(call) else {
            continue;
        };
        recipe.drift.push(format!("sources are fetched: {url}"));
        let text = format!("{}: {url}", call.name);
        let line = Evidence::at(call.file.clone(), call.line, text);
        recipe.proof.push(("build", line));
        let last = url
            .trim_end_matches(".git")
            .rsplit('/')
            .next()
            .unwrap_or("");
        let known = [name, last]
            .into_iter()
            .map(packages::of)
            .chain(url.split('/').map(packages::of))
            .find(|packages| !packages.is_empty());
        if let Some(packages) = known
            && seen.insert(packages)
        {
            recipe.fallbacks.push(fallback(&url, packages));
        }
    }
    for url in submodules(facts.tree) {
        let parts = url.trim_end_matches(".git").rsplit('/');
        let known = parts
            .map(packages::of)
            .find(|packages| !packages.is_empty() && !seen.contains(packages));
        recipe
            .fallbacks
            .extend(known.map(|packages| fallback(&url, packages)));
    }
    recipe.wanted = wanted;
    // A framework that neither a package nor a download brings.
    if let Some((found, why)) = framework::find(facts, "") {
        let brought = recipe
            .wanted
            .iter()
            .any(|(package, _)| packages::of(found.library).contains(package))
            || !seen.is_empty()
            || framework::is_bundled(facts, found);
        if !brought {
            packages::want(&mut recipe.wanted, found.library, &why);
        }
    }
}

/// Addresses of submodules that hold libraries.
fn submodules(tree: &Tree) -> Vec<String> {
    let text = tree.text(".gitmodules").unwrap_or_default();
    let urls = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "url").then(|| value.trim().to_owned())
    });
    urls.filter(|url| url.starts_with("https://")).collect()
}

/// The name and address of sources that a call fetches, where they are literal.
fn fetched(call: &Call) -> Option<(&str, String)> {
    let fetches = matches!(
        call.name.as_str(),
        "fetchcontent_declare" | "externalproject_add" | "cpmaddpackage"
    );
    let first = call.words.first().map_or("", String::as_str);
    let given = call.after("GIT_REPOSITORY").or_else(|| call.after("URL"));
    let (name, url) = match given {
        Some(url) => (call.after("NAME").unwrap_or(first), url.to_owned()),
        None if call.name == "cpmaddpackage" => hosted(call, first)?,
        None => return None,
    };
    let plain = url
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-._~:/@+%".contains(c));
    (fetches && url.starts_with("https://") && plain).then_some((name, url))
}

/// What CPM is told by a repository's name on a known host: as an option, or as `gh:owner/name@version`.
fn hosted<'a>(call: &'a Call, first: &'a str) -> Option<(&'a str, String)> {
    const HOSTS: [(&str, &str, &str); 3] = [
        ("GITHUB_REPOSITORY", "gh", "github.com"),
        ("GITLAB_REPOSITORY", "gl", "gitlab.com"),
        ("BITBUCKET_REPOSITORY", "bb", "bitbucket.org"),
    ];
    let (host, repository) = HOSTS.iter().find_map(|(option, scheme, host)| {
        let short = first.split_once(':').filter(|(name, _)| name == scheme);
        let repository = call.after(option).or(short.map(|(_, rest)| rest))?;
        Some((host, repository.split(['@', '#']).next()?))
    })?;
    let name = call.after("NAME").unwrap_or("");
    Some((name, format!("https://{host}/{repository}")))
}

/// Debian's packages of a library, only where its own sources cannot be reached; `ctest.sh` reads
/// that they could not.
fn fallback(url: &str, packages: &[&str]) -> String {
    let archive = [".tar.gz", ".tgz", ".tar.xz", ".zip"]
        .iter()
        .any(|end| url.ends_with(end));
    let probe = if archive || url.contains("/archive/") {
        format!("curl -fsIL --max-time 30 {}", shell_quote(url))
    } else {
        format!(
            "GIT_TERMINAL_PROMPT=0 timeout 30 git ls-remote -q {} HEAD",
            shell_quote(url)
        )
    };
    let names = packages.join(" ");
    let url = shell_quote(url);
    format!(
        "if ! {probe} > /dev/null 2>&1; then\n  say {url} \"cannot be reached: Debian's {names}\"\n  apt-get update\n  \
         apt-get install -y --no-install-recommends {names}\n  rm -rf /var/lib/apt/lists/*\n  \
         echo {url} >> unreachable\nfi\n"
    )
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    #[test]
    fn tests_that_are_a_project_of_their_own_are_built_there() {
        let root = "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_library(x x.c)\n";
        let tests = "cmake_minimum_required(VERSION 3.10)\nproject(x_tests C)\nenable_testing()\n\
            add_subdirectory(.. x)\nadd_executable(t t.c)\nadd_test(NAME t COMMAND t)\n";
        for (root, wanted) in [
            (root.to_owned(), "\" own tests"),
            (format!("{root}add_subdirectory(tests)\n"), "\" own ."),
        ] {
            let files = [
                ("CMakeLists.txt", root.as_str()),
                ("x.c", "int x;"),
                ("tests/CMakeLists.txt", tests),
                ("tests/t.c", "int main(void) { return 0; }"),
            ];
            let plan = planned(files, &[]);
            assert!(plan.test_cmd.contains(wanted), "{}", plan.test_cmd);
        }
    }

    #[test]
    fn what_is_for_documentation_or_benchmarks_is_off() {
        let lists = "project(x C)\noption(X_BUILD_DOCS \"\" ON)\noption(X_BUILD_BENCHMARKS \"\" ON)\noption(X_FAST \"\" ON)\n\
            enable_testing()\nadd_executable(t t.c)\nadd_test(NAME t COMMAND t)\n";
        let files = [("CMakeLists.txt", lists), ("t.c", "int main(void) {}")];
        let command = planned(files, &[]).test_cmd;
        for (option, is_off) in [
            ("X_BUILD_DOCS", true),
            ("X_BUILD_BENCHMARKS", true),
            ("X_FAST", false),
        ] {
            assert_eq!(
                command.contains(&format!("-D{option}=OFF")),
                is_off,
                "{command}"
            );
        }
    }

    /// The script that installs packages in place of what cannot be reached.
    fn install_script(sources: &[(&str, &str)]) -> String {
        use crate::substitute::{Substitute, files};
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in sources {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let repository = atlas_core::Repository {
            name: "example/x".to_owned(),
            checkout: folder.path().to_owned(),
            base: "0123456789012345678901234567890123456789".parse().unwrap(),
            base_date: "2026-01-01T00:00:00Z".to_owned(),
            head_manifests: std::collections::BTreeMap::new(),
            head_tests: std::collections::BTreeMap::new(),
            touched: Vec::new(),
        };
        let plan = atlas_core::EnvironmentPlan {
            language: "cpp".to_owned(),
            ..atlas_core::EnvironmentPlan::default()
        };
        let mut made = files(&repository, &plan, Substitute::Debian).unwrap();
        made.remove("substitutes/install.sh").unwrap_or_default()
    }

    #[test]
    fn a_submodule_that_is_a_known_library_has_a_package_in_its_place() {
        let modules = "[submodule \"a\"]\n\tpath = lib/doctest\n\turl = https://git.example/doctest/doctest.git\n\
            [submodule \"b\"]\n\tpath = lib/json\n\turl = https://git.example/nlohmann/json\n";
        let lists = "project(x CXX)\nenable_testing()\nadd_executable(t t.cpp)\nadd_test(NAME t COMMAND t)\n";
        let install = install_script(&[
            (".gitmodules", modules),
            ("CMakeLists.txt", lists),
            ("t.cpp", "#include <doctest.h>\n"),
        ]);
        for part in [
            "ls-remote -q https://git.example/doctest/doctest.git",
            "install -y --no-install-recommends doctest-dev",
            "install -y --no-install-recommends nlohmann-json3-dev",
        ] {
            assert!(install.contains(part), "{install}");
        }
    }

    #[test]
    fn what_cpm_fetches_by_a_name_on_a_host_has_a_package_in_its_place() {
        let lists = "project(x CXX)\nenable_testing()\ninclude(cmake/CPM.cmake)\n\
            CPMAddPackage(NAME GTest GITHUB_REPOSITORY google/googletest VERSION 1.15.2)\n\
            CPMAddPackage(\"gh:fmtlib/fmt@10.1.0\")\nCPMAddPackage(NAME Eigen GITLAB_REPOSITORY libeigen/eigen)\n\
            CPMAddPackage(NAME own SOURCE_DIR ${PROJECT_SOURCE_DIR}/own)\n\
            add_executable(t t.cpp)\nadd_test(NAME t COMMAND t)\n";
        let install = install_script(&[("CMakeLists.txt", lists), ("t.cpp", "int main() {}\n")]);
        for part in [
            "ls-remote -q https://github.com/google/googletest HEAD",
            "install -y --no-install-recommends googletest libgmock-dev libgtest-dev",
            "ls-remote -q https://github.com/fmtlib/fmt HEAD",
            "install -y --no-install-recommends libfmt-dev",
            "ls-remote -q https://gitlab.com/libeigen/eigen HEAD",
        ] {
            assert!(install.contains(part), "{part}\n{install}");
        }
        assert_eq!(install.matches("cannot be reached").count(), 3, "{install}");
    }
}
