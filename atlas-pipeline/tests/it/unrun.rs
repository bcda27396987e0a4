//! Programs in C that die or cannot be built: each is one program, and the others keep their results.

use crate::support::{Place, ids, make_args};
use serde_json::Value;
use std::process::Command;

const LISTS: &str = "cmake_minimum_required(VERSION 3.10)\nproject(sums C)\nenable_testing()\nadd_library(sums sums.c)\n\
    foreach(name add carry)\nadd_executable(test_${name} tests/test_${name}.c)\n\
    target_link_libraries(test_${name} sums)\nadd_test(NAME ${name} COMMAND test_${name})\nendforeach()\n";

const SUMS: &str = "#include <stddef.h>\nint add(const int *a, int b) { return *a + b; }\nint carry(int a) { return a + 1; }\n";

const FIXED: &str = "#include <stddef.h>\nint add(const int *a, int b) { return a == NULL ? b : *a + b; }\nint carry(int a) { return a + 1; }\n";

/// A program whose output is still in its pipe's buffer when it dies.
fn test_add(more: &str) -> String {
    format!(
        "#include <stddef.h>\n#include <stdio.h>\nint add(const int *a, int b);\nint main(void) {{\n  int one = 1;\n  \
         puts(add(&one, 1) == 2 ? \"PASS: adds\" : \"FAIL: adds\");\n  \
         puts(add(&one, 0) == 1 ? \"PASS: adds nothing\" : \"FAIL: adds nothing\");\n{more}  return 0;\n}}\n"
    )
}

const CARRY: &str = "#include <stdio.h>\nint carry(int a);\nint main(void) {\n  puts(carry(1) == 2 ? \"PASS: carries\" : \"FAIL: carries\");\n  return 0;\n}\n";

/// What `make` says; nothing where a tool is missing on this machine.
fn made(place: &Place, base: &[(&str, &str)], head: &[(&str, &str)]) -> Option<Value> {
    for tool in ["cmake", "ninja", "cc", "awk"] {
        if Command::new(tool).arg("--version").output().is_err() {
            eprintln!("skipped: no {tool} on this machine");
            return None;
        }
    }
    let repo = place.repository("repo", &[base, head]);
    let more = ["--instance-id", "me__sums-1"];
    Some(place.run(&make_args(repo.to_str().unwrap(), &more)).json())
}

#[test]
fn one_program_that_dies_loses_only_itself() {
    let place = Place::new();
    let (old, new) = (
        test_add(""),
        test_add("  puts(add(NULL, 2) == 2 ? \"PASS: takes none\" : \"FAIL: takes none\");\n"),
    );
    let base = [
        ("CMakeLists.txt", LISTS),
        ("sums.c", SUMS),
        ("tests/test_add.c", &old),
        ("tests/test_carry.c", CARRY),
    ];
    let head = [("sums.c", FIXED), ("tests/test_add.c", &new)];
    let Some(report) = made(&place, &base, &head) else {
        return;
    };
    assert_eq!(report["outcome"], "instance", "{report}");
    assert_eq!(ids(&report, "FAIL_TO_PASS"), ["add::takes none"]);
    assert_eq!(
        ids(&report, "PASS_TO_PASS"),
        ["add::adds", "add::adds nothing", "carry", "carry::carries"]
    );
    // Each state shows that its own sources were compiled.
    let oracle = std::fs::read_to_string(place.path("out/me__sums-1/oracle.json")).unwrap();
    let oracle: Value = serde_json::from_str(&oracle).unwrap();
    for (state, laid) in [("before", 1), ("after", 2)] {
        let build = &oracle["states"][state]["build"];
        assert_eq!(build["laid"], laid, "{state}: {build}");
        assert_eq!(build["stale"].as_array().unwrap().len(), 0, "{build}");
        assert!(build["made"].as_u64().unwrap() >= 1, "{build}");
    }
}

#[test]
fn an_assertion_that_ends_after_is_not_a_lack_of_failing_tests() {
    let place = Place::new();
    let sums = SUMS.replace("{ return *a", "{ assert(b > 0); return *a");
    let sums = format!("#include <assert.h>\n{sums}");
    let fixed = format!(
        "#include <assert.h>\n{}",
        FIXED.replacen("{ return a", "{ assert(b > 0); return a", 1)
    );
    let add = test_add("").replace("add(&one, 0) == 1", "add(&one, 2) == 3");
    let dying = add.replace(
        "  return 0;",
        "  puts(add(NULL, 0) == 0 ? \"PASS: takes none\" : \"FAIL: takes none\");\n  return 0;",
    );
    let base = [
        ("CMakeLists.txt", LISTS),
        ("sums.c", &*sums),
        ("tests/test_add.c", &*add),
        ("tests/test_carry.c", CARRY),
        (
            ".github/workflows/ci.yml",
            "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      \
             - run: cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build && ctest --test-dir build\n      \
             - run: cmake -B release -DCMAKE_BUILD_TYPE=Release && cmake --build release && ctest --test-dir release\n",
        ),
    ];
    let head = [("sums.c", &*fixed), ("tests/test_add.c", &*dying)];
    let Some(report) = made(&place, &base, &head) else {
        return;
    };
    assert_eq!(report["outcome"], "no_evidence", "{report}");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.starts_with("`add` passes in Base"), "{reason}");
    let plan = std::fs::read_to_string(place.path("out/me__sums-1/plan.json")).unwrap();
    assert!(plan.contains("-DCMAKE_BUILD_TYPE=Debug"), "{plan}");
    assert!(
        plan.contains("overruled: Release, which CI tests after Debug"),
        "{plan}"
    );
}
