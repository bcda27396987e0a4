//! C and C++: build systems, test frameworks, system packages.
//!
//! Each build system has a script that is put into the environment and does two things: build all
//! that compiles, and later build what a state changed and run its tests. Programs are removed
//! before that second build, so that one which does not compile any more is not run as it was.

mod autotools;
mod cmake;
mod compiler;
mod framework;
pub(crate) mod listing;
pub(crate) mod make;
mod meson;
mod options;
mod packages;

use crate::facts::{Facts, Presence, Verdict};
use crate::languages::{INSTALL_SUBSTITUTES, env};
use crate::quote::shell_quote;
use crate::system;
use crate::toolbox::{self, CTEST, MADE_OF, MESON, RESULTS};
use crate::tree::Tree;
use atlas_core::{CompiledProducts, EnvironmentPlan, Evidence, ReportSpec};
use atlas_facts::{Family, Language, PackageFile, Role, language_of, project_files};
use compiler::Needs;
use packages::Wanted;

/// What sources are named.
const SOURCES: &[&str] = &[
    "c", "cc", "cpp", "cxx", "c++", "C", "h", "hpp", "hh", "hxx", "ipp",
];

/// Those of them that others include.
const HEADERS: &[&str] = &["h", "hpp", "hh", "hxx", "ipp"];

/// How much of a language with these file name endings is there.
pub(crate) fn presence(tree: &Tree, ends: &[&str]) -> Presence {
    let sources: Vec<&str> = tree
        .files()
        .filter(|path| {
            path.rsplit_once('.')
                .is_some_and(|(_, end)| ends.contains(&end))
        })
        .collect();
    let tests = sources.iter().filter(|path| is_test(path)).count();
    let python_tests = tree
        .ending(".py")
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.starts_with("test_") || name.ends_with("_test.py")
        })
        .count();
    // An extension module is tested through the language it extends.
    let extends = tree.first(&["setup.py", "pyproject.toml"]).is_some() && python_tests > tests;
    let manifest = if sources.is_empty() || extends {
        None
    } else {
        manifest(tree)
    };
    Presence {
        manifest: manifest.map(str::to_owned),
        sources: sources.len(),
        tests,
    }
}

/// Whether a path is that of a test, by its name or its folders.
pub(crate) fn is_test(path: &str) -> bool {
    path.to_ascii_lowercase().split('/').any(|part| {
        part.split(['_', '-', '.']).any(|word| {
            matches!(
                word,
                "test" | "tests" | "unittest" | "unittests" | "testing"
            )
        }) || part.contains("test")
    })
}

/// The file that says how to build: in the root, else the one nearest to it.
fn manifest(tree: &Tree) -> Option<&str> {
    let strong = |name: &str| {
        matches!(
            name,
            "CMakeLists.txt" | "meson.build" | "configure.ac" | "configure.in"
        )
    };
    let weak = |name: &str| matches!(name, "Makefile" | "GNUmakefile" | "makefile");
    let in_root = |wanted: &dyn Fn(&str) -> bool| tree.files().find(|path| wanted(path));
    if let Some(found) = in_root(&strong) {
        return Some(found);
    }
    // A `package.json` beside no script at all is that of C's own package managers, or of a site.
    let is_served = |path: &str| {
        let is_script = |file: &str| language_of(file).is_some_and(Language::is_javascript);
        tree.has(path) && (path != "package.json" || tree.files().any(is_script))
    };
    // Settings of tools as `setup.cfg` lie beside C, too.
    let is_foreign = |file: &PackageFile| file.family != Family::C && file.role != Role::Tools;
    if project_files().any(|file| is_foreign(file) && is_served(file.name)) {
        return None;
    }
    in_root(&weak).or_else(|| {
        tree.files()
            .filter(|path| {
                path.rsplit('/')
                    .next()
                    .is_some_and(|name| strong(name) || weak(name))
                    && path.matches('/').count() <= 2
            })
            // One among the documents builds those.
            .min_by_key(|path| (path.matches('/').count(), path.starts_with("doc")))
    })
}

/// What one build system makes of the repository.
struct Recipe {
    /// The script that builds and tests.
    script: &'static str,
    /// The script's first argument when it tests: how results are read.
    mode: &'static str,
    parser: String,
    /// The script's other arguments, when it builds and when it tests.
    build: Vec<String>,
    test: Vec<String>,
    /// Commands before the script builds.
    before: Vec<String>,
    needs: Needs,
    wanted: Wanted,
    /// Parts of a script of root that installs [`substitutes`].
    fallbacks: Vec<String>,
    /// Proof: field and line.
    proof: Vec<(&'static str, Evidence)>,
    drift: Vec<String>,
}

impl Recipe {
    fn new(script: &'static str, mode: &'static str, parser: String) -> Self {
        Self {
            script,
            mode,
            parser,
            build: Vec::new(),
            test: Vec::new(),
            before: Vec::new(),
            needs: Needs::default(),
            wanted: Vec::new(),
            fallbacks: Vec::new(),
            proof: Vec::new(),
            drift: Vec::new(),
        }
    }
}

/// What a build makes of sources, by the ends of names.
pub(crate) fn products(sources: &[&str], headers: &[&str], made: &[&str]) -> CompiledProducts {
    let owned = |ends: &[&str]| ends.iter().map(|end| (*end).to_owned()).collect();
    let own: Vec<&str> = sources
        .iter()
        .copied()
        .filter(|end| !headers.contains(end))
        .collect();
    CompiledProducts {
        sources: owned(&own),
        headers: owned(headers),
        products: owned(made),
        name_sources: false,
    }
}

type Planner = fn(&Facts<'_>, &str) -> Option<Recipe>;

/// Build systems with words of commands that test by them, the one most to be trusted first.
const SYSTEMS: &[(&str, Planner, &[&str])] = &[
    (
        "CMake",
        cmake::plan,
        &["ctest", "cmake --build", "cmake -", "cmake ."],
    ),
    ("Meson", meson::plan, &["meson test", "meson "]),
    (
        "autotools",
        autotools::plan,
        &["./configure", "autogen.sh", "autoreconf", "bootstrap"],
    ),
    ("make", make::plan, &["make test", "make check", "make -C"]),
];

/// A build system with its recipe and the command of CI that uses it.
type Known = (&'static str, Recipe, Option<Evidence>);

/// Build systems without a plan, by their files.
const UNPLANNED: &[(&str, &str)] = &[
    ("SConstruct", "SCons"),
    ("MODULE.bazel", "Bazel"),
    ("WORKSPACE", "Bazel"),
    ("wscript", "waf"),
    ("xmake.lua", "xmake"),
    ("premake5.lua", "Premake"),
    ("build.zig", "Zig"),
];

/// What may be said where none of the known build systems has tests, and another is there.
fn unplanned(tree: &Tree) -> Option<Verdict> {
    let (file, system) = UNPLANNED.iter().find_map(|(name, system)| {
        let is_it = |path: &&str| path.rsplit('/').next() == Some(*name);
        Some((tree.files().find(is_it)?, *system))
    })?;
    let reason = format!("the tests run under {system}, for which this version has no plan");
    Some(Verdict::unknown(reason, vec![Evidence::of(file, system)]))
}

/// The build systems that a repository can be tested by, the one to take first.
fn recipes(facts: &Facts<'_>) -> Result<Vec<Known>, Verdict> {
    let Some(manifest) = manifest(facts.tree) else {
        if let Some(verdict) = unplanned(facts.tree) {
            return Err(verdict);
        }
        let evidence = vec![Evidence::of(
            ".",
            "neither CMakeLists.txt, meson.build, configure.ac nor a Makefile",
        )];
        return Err(Verdict::new(
            "nothing says how the sources are built",
            evidence,
        ));
    };
    let folder = manifest.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found: Vec<Known> = SYSTEMS
        .iter()
        .filter_map(|(name, planner, words)| {
            let recipe = planner(facts, folder)?;
            let in_ci = words.iter().find_map(|word| {
                facts
                    .ci
                    .test_commands()
                    .find(|command| command.text.contains(word))
            });
            let in_ci = in_ci.map(|at| Evidence::at(at.file.clone(), at.line, at.text.clone()));
            Some((*name, recipe, in_ci))
        })
        .collect();
    if found.is_empty() {
        if let Some(verdict) = unplanned(facts.tree) {
            return Err(verdict);
        }
        let text = "no test is registered, no target `test` or `check`, no program is named a test";
        let evidence = vec![Evidence::of(manifest, text)];
        return Err(Verdict::new(
            "the build files have no tests that could be run",
            evidence,
        ));
    }
    // CI's way, where it uses one of them and not the first.
    let at = found
        .iter()
        .position(|(_, _, in_ci)| in_ci.is_some())
        .unwrap_or(0);
    let first = found.remove(at);
    found.insert(0, first);
    Ok(found)
}

/// Debian's packages of what a build fetches, where its own place cannot be reached.
pub(crate) fn substitutes(facts: &Facts<'_>) -> Vec<(&'static str, String)> {
    let found = recipes(facts).unwrap_or_default().into_iter().next();
    let script = found.map_or_else(String::new, |(_, recipe, _)| recipe.fallbacks.concat());
    if script.is_empty() {
        return Vec::new();
    }
    vec![(INSTALL_SUBSTITUTES, script)]
}

/// The plan of a repository in C or C++.
pub(crate) fn analyse(facts: &Facts<'_>, language: &str) -> Result<EnvironmentPlan, Verdict> {
    let mut found = recipes(facts)?;
    let (name, recipe, in_ci) = found.remove(0);
    let mut plan = assemble(facts, language, recipe);
    if let Some(line) = in_ci {
        plan.prove("test_cmd", line);
    }
    for (other, recipe, _) in found {
        if let Some((_, line)) = recipe.proof.iter().find(|(field, _)| *field == "test_cmd") {
            let mut line = line.clone();
            line.text = format!("overruled: {other}, for {name} is taken: {}", line.text);
            plan.prove("test_cmd", line);
        }
    }
    Ok(plan)
}

fn assemble(facts: &Facts<'_>, language: &str, recipe: Recipe) -> EnvironmentPlan {
    // A driver writes down what it runs; within that, only some frameworks' programs do.
    let writes = [CTEST, MESON].contains(&recipe.script) && facts.knows("junit");
    let mut plan = EnvironmentPlan {
        report: writes.then(|| ReportSpec {
            outer: recipe.mode != "ctest",
            ..ReportSpec::new("junit.xml", "junit")
        }),
        log_parser_name: recipe.parser,
        env: env([("LANG", "C.UTF-8")]),
        products: Some(products(SOURCES, HEADERS, &["o", "obj", "lo"])),
        ..EnvironmentPlan::default()
    };
    compiler::choose(facts, &recipe.needs, &mut plan);
    let mut wanted: Vec<(&str, Evidence)> = recipe.wanted;
    let text = "what was compiled for an earlier commit is taken again";
    wanted.push(("ccache", Evidence::of(".", text)));
    system::packages_but(
        packages::is_needless,
        facts,
        language,
        &[],
        &wanted,
        &mut plan,
    );
    toolbox::add(&mut plan, recipe.script);
    toolbox::add(&mut plan, RESULTS);
    if [CTEST, MESON].contains(&recipe.script) {
        toolbox::add(&mut plan, MADE_OF);
    }
    plan.build.extend(recipe.before);
    let command = |mode: &str, words: &[String]| {
        let mut command = format!("{} {mode}", toolbox::call(recipe.script));
        for word in words {
            command.push(' ');
            command.push_str(&shell_quote(word));
        }
        command
    };
    plan.build.push(command("build", &recipe.build));
    plan.test_cmd = command(recipe.mode, &recipe.test);
    for (field, line) in recipe.proof {
        plan.prove(field, line);
    }
    plan.drift.extend(recipe.drift);
    plan
}

/// The mode of a script and its parser, for programs that a driver with a parser of its own runs.
fn reading(
    facts: &Facts<'_>,
    folder: &str,
    driver: &str,
    proof: &mut Vec<(&'static str, Evidence)>,
) -> (&'static str, String) {
    if let Some((found, why)) = framework::find(facts, folder) {
        proof.push(("log_parser_name", why));
        return ("split", format!("{driver}+{}", found.parser));
    }
    let text = "no test framework is included: what programs print of single tests is read";
    let source = if folder.is_empty() { "." } else { folder };
    proof.push(("log_parser_name", Evidence::of(source, text)));
    ("own", "automake".to_owned())
}

/// A folder as a script's argument.
fn place(folder: &str) -> String {
    if folder.is_empty() {
        ".".to_owned()
    } else {
        folder.to_owned()
    }
}

/// A file of a folder.
fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
