//! What plans of C and C++ do, run as they stand on this machine's tools.

use crate::analysis::repository;
use crate::support;
use atlas_core::{EnvironmentPlan, Fault};
use atlas_docker::{Analysis, AnalysisOptions, analyse};
use std::fs;
use std::path::Path;
use std::process::Command;

/// An environment without an engine.
struct Place {
    folder: tempfile::TempDir,
    plan: EnvironmentPlan,
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Place {
    /// Analyses the files and builds; `None` where a tool is missing.
    fn build(tools: &[&str], files: &[(&str, &str)]) -> Option<Self> {
        for tool in tools {
            if Command::new(tool).arg("--version").output().is_err() {
                println!("skipped: no {tool} on this machine");
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let repo = folder.path().join("repo");
        write(&repo, files);
        let plan = match analyse(&repository(&repo), &AnalysisOptions::default()).unwrap() {
            Analysis::Plan(plan) => plan,
            Analysis::Verdict { reason, .. } => panic!("no plan: {reason}"),
        };
        for name in ["env", "cache", "out"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        support::lay_tools(&plan, &folder.path().join("env"));
        let place = Self { folder, plan };
        place.run("git init -q . && git add -A");
        for command in &place.plan.paper_build() {
            place.run(command);
        }
        Some(place)
    }

    fn run(&self, command: &str) -> String {
        let root = self.folder.path();
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(root.join("repo"))
            .env("ATLAS_REPO", root.join("repo"))
            .env("ATLAS_ENV", root.join("env"))
            .env("ATLAS_CACHE", root.join("cache"))
            .env("ATLAS_OUT", root.join("out"))
            .env_remove("MAKEFLAGS")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The results of a state, without what is said about them.
    fn results(&self, changed: &[(&str, &str)]) -> Vec<String> {
        // Tools that compare whole seconds have to see a change.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        write(&self.folder.path().join("repo"), changed);
        let log = self.run(&self.plan.test_cmd);
        let verdict = |line: &&str| {
            ["PASS: ", "FAIL: ", "SKIP: "]
                .iter()
                .any(|start| line.starts_with(start))
        };
        log.lines().filter(verdict).map(str::to_owned).collect()
    }
}

const GOOD: &str =
    "#include <stdio.h>\nint main(void) { puts(\"[pass] NAME works [1][1]\"); return 0; }\n";

fn program(name: &str) -> String {
    GOOD.replace("NAME", name)
}

const BROKEN: &str = "int main(void) { return missing; }\n";

#[test]
fn make_runs_no_program_that_was_built_before() {
    let (a, b) = (program("a"), program("b"));
    let rules = "test: run-a run-b\ntest-a: test-a.c\ntest-b: test-b.c\n\
        run-a: test-a\n\t./test-a\nrun-b: test-b\n\t./test-b\n";
    let files = [("Makefile", rules), ("test-a.c", &a), ("test-b.c", &b)];
    let place = Place::build(&["make", "cc", "awk"], &files).unwrap();
    let base = ["PASS: a works", "PASS: b works", "PASS: make test"];
    assert_eq!(place.results(&[]), base);
    let before = ["PASS: a works", "FAIL: make test"];
    assert_eq!(place.results(&[("test-b.c", BROKEN)]), before);
    assert_eq!(place.results(&[("test-b.c", &b)]), base);
}

#[test]
fn make_forgets_headers_that_a_state_removes() {
    let rules = "CFLAGS = -MMD\ntest: test-a\n\t./test-a\ntest-a: test-a.o\n-include test-a.d\n";
    let a = program("a");
    let with = format!("#include \"old.h\"\n{a}");
    let files = [("Makefile", rules), ("test-a.c", &*with), ("old.h", "")];
    let place = Place::build(&["make", "cc", "awk"], &files).unwrap();
    let all = ["PASS: a works", "PASS: make test"];
    assert_eq!(place.results(&[]), all);
    place.run("rm old.h");
    assert_eq!(place.results(&[("test-a.c", &a)]), all);
}

#[test]
fn cmake_runs_no_program_that_was_built_before() {
    let (a, b) = (program("a"), program("b"));
    let lists = "cmake_minimum_required(VERSION 3.5)\nproject(p C)\noption(P_TESTS \"\" OFF)\nif(P_TESTS)\n\
        enable_testing()\nforeach(name a b)\nadd_executable(test-${name} test-${name}.c)\n\
        add_test(NAME ${name} COMMAND test-${name})\nendforeach()\nendif()\n";
    let files = [
        ("CMakeLists.txt", lists),
        ("test-a.c", &a),
        ("test-b.c", &b),
    ];
    let Some(place) = Place::build(&["cmake", "ninja", "cc", "awk"], &files) else {
        return;
    };
    let base = ["PASS: a::a works", "PASS: a", "PASS: b::b works", "PASS: b"];
    assert_eq!(place.results(&[]), base);
    assert_eq!(place.results(&[("test-b.c", BROKEN)]), base[..2]);
    assert_eq!(place.results(&[("CMakeLists.txt", "project(")]), base[..0]);
    assert_eq!(
        place.results(&[("CMakeLists.txt", lists), ("test-b.c", &b)]),
        base
    );
}

/// Sources that cannot be fetched are an installed package, whose library has the name that it has when it is built along.
#[test]
fn cmake_links_an_installed_library_by_its_plain_name() {
    let lists = "cmake_minimum_required(VERSION 3.14)\nproject(p C)\nlist(APPEND CMAKE_PREFIX_PATH ${CMAKE_SOURCE_DIR}/here)\n\
        include(FetchContent)\nFetchContent_Declare(own GIT_REPOSITORY https://127.0.0.1:9/own.git)\n\
        FetchContent_MakeAvailable(own)\nenable_testing()\nadd_executable(test-a test-a.c)\n\
        target_link_libraries(test-a own)\nadd_test(NAME a COMMAND test-a)\n";
    let package = "add_library(own::own INTERFACE IMPORTED)\n\
        target_compile_definitions(own::own INTERFACE OWN=\"own\")\n";
    let a = GOOD.replace("\"[pass] NAME", "\"[pass] \" OWN \"");
    let files = [
        ("CMakeLists.txt", lists),
        ("here/ownConfig.cmake", package),
        ("test-a.c", &a),
    ];
    let Some(place) = Place::build(&["cmake", "ninja", "cc", "awk", "git"], &files) else {
        return;
    };
    assert_eq!(place.results(&[]), ["PASS: a::own works", "PASS: a"]);
}

/// A driver's own report names what it ran, with the status that its console shows.
#[test]
fn drivers_write_down_what_they_ran() {
    let good = program("a");
    let bad = "int main(void) { return 1; }\n";
    let idle = "int main(void) { return 77; }\n";
    let cmake = "cmake_minimum_required(VERSION 3.5)\nproject(p C)\nenable_testing()\nforeach(name good bad idle)\n\
        add_executable(test-${name} test-${name}.c)\nadd_test(NAME ${name} COMMAND test-${name})\nendforeach()\n\
        set_tests_properties(idle PROPERTIES SKIP_RETURN_CODE 77)\nadd_test(NAME gone COMMAND ${CMAKE_SOURCE_DIR}/gone.sh)\n";
    let meson = "project('p', 'c')\nforeach name : ['good', 'bad', 'idle']\n\
        test(name, executable('test-' + name, 'test-' + name + '.c'))\nendforeach\n\
        test('fails', executable('test-fails', 'test-bad.c'), should_fail: true)\n";
    for (manifest, text, tool, wanted) in [
        (
            "CMakeLists.txt",
            cmake,
            "cmake",
            "bad failed, gone failed, good passed, idle skipped",
        ),
        (
            "meson.build",
            meson,
            "meson",
            "bad failed, fails skipped, good passed, idle skipped",
        ),
    ] {
        let files = [
            (manifest, text),
            ("test-good.c", &good),
            ("test-bad.c", bad),
            ("test-idle.c", idle),
        ];
        let Some(place) = Place::build(&[tool, "ninja", "cc", "awk"], &files) else {
            continue;
        };
        let spec = place.plan.report.as_ref().unwrap();
        assert!(spec.outer, "{spec:?}");
        let log = place.run(&place.plan.test_cmd);
        let report = place.folder.path().join("out").join(&spec.file);
        let report = fs::read_to_string(report).unwrap_or_else(|why| panic!("{why}: {log}"));
        let mut found: Vec<String> = report
            .split("<testcase ")
            .skip(1)
            .map(|case| {
                let name = case.split('"').nth(1).unwrap();
                let status = ["skipped", "failure"]
                    .iter()
                    .find(|word| case.contains(&format!("<{word}")));
                let status = match status {
                    Some(&"skipped") => "skipped",
                    Some(_) => "failed",
                    None => "passed",
                };
                format!("{name} {status}")
            })
            .collect();
        found.sort();
        assert_eq!(found.join(", "), wanted, "{manifest}: {report}");
    }
}

/// A part of the tests: those whose programs are made of a file, of what includes it, and those that name it.
#[test]
fn cmake_runs_the_tests_that_are_made_of_files() {
    let lists = "cmake_minimum_required(VERSION 3.5)\nproject(p C)\nenable_testing()\nforeach(name a b c)\n\
        add_executable(test-${name} test-${name}.c)\nadd_test(NAME ${name} COMMAND test-${name} 1)\nendforeach()\n\
        add_test(NAME shell COMMAND sh ${CMAKE_SOURCE_DIR}/shell.sh)\n";
    let (a, b, c) = (program("a"), program("b"), program("c"));
    let with = format!("#include \"shared.h\"\n{b}");
    let files = [
        ("CMakeLists.txt", lists),
        ("test-a.c", &a),
        ("test-b.c", &with),
        ("test-c.c", &c),
        ("shared.h", ""),
        ("shell.sh", "exit 0\n"),
    ];
    let Some(mut place) = Place::build(&["cmake", "ninja", "cc", "awk"], &files) else {
        return;
    };
    let command = place.plan.test_cmd.clone();
    for (chosen, wanted) in [
        ("test-a.c", &["PASS: a::a works", "PASS: a"][..]),
        ("shared.h", &["PASS: b::b works", "PASS: b"]),
        (
            "test-c.c shell.sh",
            &["PASS: c::c works", "PASS: c", "PASS: shell"],
        ),
        ("test-new.c", &[]),
    ] {
        place.plan.test_cmd = format!("export ATLAS_TESTS='{chosen}'; {command}");
        assert_eq!(place.results(&[]), wanted, "{chosen}");
    }
}

/// A part of the tests: the targets of files, and of larger programs the modules.
#[test]
fn cargo_runs_the_targets_and_modules_of_files() {
    let package = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let test = |name: &str| format!("#[test]\nfn {name}() {{}}\n");
    let (deep, one, two) = (test("deep"), test("one"), test("two"));
    let one = format!("mod common;\n{one}");
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"a\"]\nresolver = \"2\"\n",
        ),
        ("a/Cargo.toml", package),
        (
            "a/src/lib.rs",
            "mod deep;\n#[path = \"odd.rs\"]\nmod even;\n#[test]\nfn top() {}\n",
        ),
        ("a/src/deep/mod.rs", &deep),
        ("a/src/odd.rs", "#[test]\nfn odd() {}\n"),
        ("a/tests/one.rs", &one),
        ("a/tests/two.rs", &two),
        ("a/tests/common/mod.rs", "pub fn help() {}\n"),
        // Named by no module: a macro may take it in.
        ("a/tests/two/data.rs", ""),
    ];
    let Some(place) = Place::build(&["cargo", "perl"], &files) else {
        return;
    };
    for (chosen, wanted) in [
        ("a/tests/two.rs a/tests/new.rs", &["two"][..]),
        ("a/src/deep/mod.rs", &["deep::deep"]),
        ("a/src/odd.rs", &["even::odd"]),
        ("a/tests/common/mod.rs", &["one"]),
        ("a/tests/two/data.rs", &["two"]),
        ("a", &["deep::deep", "even::odd", "one", "top", "two"]),
        ("b/src/lib.rs", &[]),
    ] {
        let log = place.run(&format!(
            "export ATLAS_TESTS='{chosen}'; {}",
            place.plan.test_cmd
        ));
        let names = log
            .lines()
            .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"));
        // Threads of a program end in any order.
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        assert_eq!(names, wanted, "{chosen}: {log}");
    }
}

#[test]
fn own_ways_to_print_results_are_read() {
    let text = "\
        [pass] A [b] [1][2]\n[fail] A [b] [1][2]\n[ OK ] same\n[ OK ] same\nok 3 - sub # SKIP none\nnot ok 4\n\
        PASS: x/y.sh\nbasic:x  ->  passed  [0.030s]\nbasic:y  ->  failed: no such file  [0.030s]\n\
        Testing V/x: OK\n#01 Format: \\033[0;32mPASSED\\033[0m\nTESTING: a.json OK\nparse .......... ok\n\
        checking for foo\nResult: FAILED\nerror: failed\n3 tests, 2 passed\nx = 3: 4\n\
        PASS: 39 of 40 tests passed.\nPASS: All 40 tests passed\nPASS: 40/40\nPASS: 8 cases of rounding\n";
    let files = [("Makefile", "test:\n\t@printf '$(TEXT)'\n"), ("test.c", "")];
    let mut place = Place::build(&["make", "awk"], &files).unwrap();
    place.plan.test_cmd = format!(
        "TEXT={} {}",
        quoted(&text.replace('\n', "\\n")),
        place.plan.test_cmd
    );
    let expected = [
        "PASS: A",
        "FAIL: A",
        "PASS: same",
        "PASS: same",
        "SKIP: sub",
        "FAIL: test 4",
        "PASS: x/y.sh",
        "PASS: basic:x",
        "FAIL: basic:y",
        "PASS: V/x",
        "PASS: Format",
        "PASS: a.json",
        "PASS: parse",
        "PASS: 8 cases of rounding",
        "PASS: make test",
    ];
    assert_eq!(place.results(&[]), expected);
}

/// A test's place among all is no part of its id: with one test more, all others would have another.
#[test]
fn ids_hold_no_counters() {
    let ctest = |total: u32, more: &str| {
        format!(
            "Test project /b\n    Start 1: api_test\n1/{total} Test #1: api_test ...................   Passed    0.05 sec\n\
             {more}{total}/{total} Test #{total}: entity_executable ......***Failed    0.01 sec\n\n\
             50%% tests passed, 1 tests failed out of {total}\n\nThe following tests FAILED:\n\
             \t  {total} - entity_executable (Failed)\n[1/{total}] first: OK\n(2/{total}) second ... ok\n"
        )
    };
    let files = [
        ("Makefile", "test:\n\t@printf \"$$TEXT\"\n"),
        ("test.c", ""),
    ];
    let mut place = Place::build(&["make", "awk"], &files).unwrap();
    let command = place.plan.test_cmd.clone();
    let mut results = |text: &str| {
        place.plan.test_cmd = format!("export TEXT={}; {command}", quoted(text));
        place.results(&[])
    };
    let base = [
        "PASS: api_test",
        "FAIL: entity_executable",
        "PASS: first",
        "PASS: second",
        "PASS: make test",
    ];
    assert_eq!(results(&ctest(2, "")), base);
    let more = "2/3 Test #2: roundtrip ..................   Passed    0.01 sec\n";
    let mut after = base.to_vec();
    after.insert(1, "PASS: roundtrip");
    assert_eq!(results(&ctest(3, more)), after);
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// nanopb: `CMake` builds it, `SCons` tests it.
#[test]
fn a_build_system_without_a_plan_is_named() {
    let reason = |files: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), files);
        match analyse(&repository(folder.path()), &AnalysisOptions::default()).unwrap() {
            Analysis::Plan(plan) => panic!("{plan:?}"),
            Analysis::Verdict {
                reason,
                evidence,
                fault,
            } => (reason, evidence[0].source.clone(), fault),
        }
    };
    let cmake = (
        "CMakeLists.txt",
        "project(pb C)\nadd_library(pb STATIC pb.c)\n",
    );
    let files = [
        cmake,
        ("pb.c", "int pb;\n"),
        ("tests/a/a.c", "int main(void) { return 0; }\n"),
        ("tests/SConstruct", "Program('a/a.c')\n"),
    ];
    let (said, by, fault) = reason(&files);
    assert!(said.contains("SCons"), "{said}");
    assert_eq!((by.as_str(), fault), ("tests/SConstruct", Fault::Atlas));
    let (said, by, fault) = reason(&files[..3]);
    assert!(said.contains("no tests that could be run"), "{said}");
    assert_eq!((by.as_str(), fault), ("CMakeLists.txt", Fault::Repository));
}
