//! Which files a test depends on directly.

use atlas_judge::validation::direct_dependencies;

fn check(test: &str, source: &str, expected: &[&str], others: &[&str]) {
    let files = expected.iter().chain(others).copied();
    let found = direct_dependencies(test, source, files);
    let mut expected: Vec<&str> = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{test}");
}

#[test]
fn of_python() {
    check(
        "tests/sub/test_a.py",
        "import os, pkg.core as core\nfrom pkg.more import one, two\nfrom ..helpers import make\nfrom other import (\n    x,\n    y,\n)\n",
        &[
            "src/pkg/core.py",
            "src/pkg/more/__init__.py",
            "src/pkg/more/deep.py",
            "tests/helpers.py",
            "other/x.py",
            "other/z.py",
            "tests/sub/test_a.py",
        ],
        &[
            "src/pkg/last.py",
            "src/pkg/__init__.py",
            "helpers.py",
            "other/deeper/w.py",
            "pkg/core.txt",
            "mypkg/cores.py",
        ],
    );
}

#[test]
fn of_scripts() {
    check(
        "test/a.test.js",
        "const one = require('../lib/one');\nimport two from \"../two.mjs\";\nimport './setup';\nvar all = require('../');\nimport ext from 'qs';\n",
        &["lib/one.js", "two.mjs", "test/setup.ts", "index.js"],
        &["lib/two.js", "one.js", "qs.js", "test/index.js"],
    );
}

#[test]
fn of_go_and_java_and_rust() {
    check(
        "store/store_test.go",
        "package store_test\n\nimport (\n\t\"testing\"\n\tkv \"example.org/me/app/kv\"\n)\n",
        &["store/store.go", "kv/kv.go"],
        &["main.go", "store/disk/disk.go", "store/README.md"],
    );
    check(
        "core/src/test/java/org/x/ATest.java",
        "package org.x;\nimport org.y.Tool;\nimport static org.z.Rules.one;\nimport org.all.*;\n",
        &[
            "core/src/main/java/org/x/B.java",
            "core/src/main/java/org/y/Tool.java",
            "src/main/java/org/z/Rules.java",
            "core/src/main/java/org/all/Any.java",
        ],
        &[
            "core/src/main/java/org/y/Other.java",
            "core/src/main/java/org/x/deep/C.java",
        ],
    );
    check(
        "crates/a/tests/it.rs",
        "use a::f;\n",
        &[
            "crates/a/src/lib.rs",
            "crates/a/src/deep/m.rs",
            "crates/a/tests/it.rs",
        ],
        &[
            "crates/b/src/lib.rs",
            "crates/a/tests/other.rs",
            "src/lib.rs",
        ],
    );
}

#[test]
fn of_ruby_php_and_c() {
    check(
        "spec/a_spec.rb",
        "require 'gem/one'\nrequire_relative \"../lib/gem/two\"\n",
        &["lib/gem/one.rb", "lib/gem/two.rb"],
        &["lib/gem/three.rb"],
    );
    check(
        "tests/ATest.php",
        "<?php\nnamespace Tests;\nuse My\\Lib\\Thing;\n",
        &["src/Lib/Thing.php"],
        &["src/Thing.php", "src/Lib/Other.php"],
    );
    check(
        "tests/misc.c",
        "#include <stdio.h>\n#include \"../cJSON.h\"\n",
        &["cJSON.h", "cJSON.c"],
        &["cJSON_Utils.c", "other.c"],
    );
}
