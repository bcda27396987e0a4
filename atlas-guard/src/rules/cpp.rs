//! `CTest` and the runners of C and C++.

use super::Act::{Part, Report, Whole, WholeIf};
use super::Rule;
use crate::sections::{Fragments, Section};
use crate::signal::SignalKind::{BuildProduct, Dependencies, RunnerConfig, Shadowing};
use crate::signal::SignalSeverity::{Suspicious, Tamper};

pub(super) const RULES: &[Rule] = &[
    // Sources and targets of the solution stand in the same file.
    Rule {
        files: &["CMakeLists.txt", "*.cmake"],
        kind: RunnerConfig,
        act: Part(|_| Some(Section::Fragments(Fragments::Cmake))),
        why: "CTest runs the tests as these calls say",
    },
    Rule {
        files: &[
            "CTestConfig.cmake",
            "CTestCustom.cmake",
            "CTestCustom.cmake.in",
            "CTestTestfile.cmake",
            "CTestCustom.ctest",
            "DartConfiguration.tcl",
            "CMakePresets.json",
            "CMakeUserPresets.json",
        ],
        kind: RunnerConfig,
        act: WholeIf(
            |change| !change.name().ends_with("Presets.json") || change.is_new(),
            Suspicious,
        ),
        why: "CTest takes its options from this file",
    },
    // A test framework that is carried along decides what an assertion means.
    Rule {
        files: &[
            "gtest/",
            "googletest/",
            "googlemock/",
            "gmock/",
            "catch.hpp",
            "catch2/",
            "catch_amalgamated.*",
            "doctest.h",
            "unity.c",
            "unity.h",
            "unity_internals.h",
            "munit.c",
            "munit.h",
            "greatest.h",
            "utest.h",
            "acutest.h",
            "minunit.h",
            "Unity/",
            "Catch2/",
            "doctest/",
            "cmocka/",
            "cutest.h",
        ],
        kind: Dependencies,
        act: WholeIf(|change| change.in_base() && !is_its_own(change), Tamper),
        why: "a library that decides whether tests pass",
    },
    // The preprocessor finds such a header before the installed one.
    Rule {
        files: &[
            "gtest/gtest.h",
            "gmock/gmock.h",
            "catch2/*.hpp",
            "catch.hpp",
            "doctest.h",
            "unity.h",
            "cmocka.h",
            "check.h",
            "CUnit/*.h",
            "boost/test/*",
            "boost/test/included/*",
            "assert.h",
            "cassert",
        ],
        kind: Shadowing,
        act: WholeIf(
            |change| {
                let known = |path: &str| crate::places::name_of(path) == change.name();
                change.is_new() && !change.context.places.below("").any(known)
            },
            Tamper,
        ),
        why: "the tests may be compiled with this header instead of the framework's",
    },
    Rule {
        files: &[
            "meson.build",
            "configure.ac",
            "wscript",
            "SConstruct",
            "BUILD.bazel",
            "BUILD",
        ],
        kind: RunnerConfig,
        act: Report(|change| {
            let added = change.added();
            ["test(", "should_fail", "TESTS", "_test("]
                .iter()
                .any(|word| added.contains(word))
        }),
        why: "the build runs the tests as this file says, and lines about tests were added",
    },
    Rule {
        files: &[
            "*.o",
            "*.a",
            "*.gcda",
            "*.gcno",
            "/build/Testing/",
            "/Testing/Temporary/",
        ],
        kind: BuildProduct,
        act: Whole(Suspicious),
        why: "a product of a build can stand in for what the tests' sources say",
    },
];

/// Whether the repository is the framework: then its files are what a solution changes.
fn is_its_own(change: &crate::change::Change<'_>) -> bool {
    let carried = [
        "third_party",
        "third-party",
        "thirdparty",
        "3rdparty",
        "external",
        "extern",
        "vendor",
        "deps",
        "contrib",
        "ext",
        "lib",
        "libs",
        "submodules",
    ];
    !change
        .folder()
        .split('/')
        .any(|part| carried.contains(&part))
}
