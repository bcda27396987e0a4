use crate::support::file;
use atlas_core::{Overlay, Patch};
use atlas_guard::{GuardInput, canary, guard, suspicious_code};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Names that rules look at, and others.
const PATHS: &[&str] = &[
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "package.json",
    "tsconfig.json",
    "composer.json",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "gradle.properties",
    "CMakeLists.txt",
    "Makefile",
    "vite.config.ts",
    "Directory.Build.props",
    "src/lib.rs",
    "conftest.py",
    "tests/test_a.py",
    "tests/json.py",
    "a_test.go",
    "Gemfile",
    "phpunit.xml",
    "src/main.py",
    "spec/a_spec.rb",
    "jest.config.js",
    "x.pth",
    "../up",
    ".git/config",
];

const PIECES: &[&str] = &[
    "[tool.pytest]\n",
    "[tool.pytest.ini_options]\naddopts = \"\"\"\n",
    "a = [\n",
    "]\n",
    "{",
    "}",
    "\"scripts\": {\"test\": ",
    "\"",
    "'",
    "\\",
    ",",
    "test {",
    "<plugin>",
    "</plugin>",
    "<artifactId>maven-surefire-plugin</artifactId>",
    "add_test(NAME a ",
    ")",
    "replace (\n",
    "#[cfg(test)]\nmod tests {\n",
    "/*",
    "*/",
    "//",
    "<!--",
    "test: ",
    "\n",
    "\t",
    "é",
    "\u{feff}",
    "[pytest]\n",
    "x = 1\n",
    "func TestMain(",
    "r#\"",
    "import os\n",
    "target test:\n\ttrue\n",
];

fn text() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..14);
    prop_oneof![
        4 => pieces.prop_map(|pieces| pieces.concat().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..60),
    ]
}

fn files() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let path = prop::sample::select(PATHS).prop_map(str::to_owned);
    prop::collection::btree_map(path, text(), 0..8)
}

fn input<'a>(
    base: &'a BTreeMap<String, Vec<u8>>,
    parser: &'a str,
    command: &'a str,
    patch: &'a Patch,
) -> GuardInput<'a> {
    GuardInput {
        parser,
        language: "",
        test_cmd: command,
        rebuild: &[],
        base,
        test_patch: patch,
        gold_patch: patch,
    }
}

const PARSERS: &[&str] = &[
    "",
    "pytest",
    "jest+mocha",
    "gotest",
    "cargo",
    "rspec",
    "phpunit",
    "maven",
    "ctest",
    "dotnet",
    "nonsense",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn guarding_never_panics_and_is_done_once(
        base in files(),
        write in files(),
        remove in prop::collection::btree_set(prop::sample::select(PATHS).prop_map(str::to_owned), 0..3),
        parser in prop::sample::select(PARSERS),
        command in "(npm test|make test|tox|cd a && ./b.sh 'c|python -m pytest|[ -~]{0,20})",
    ) {
        let mut prediction = Overlay { remove, ..Overlay::default() };
        for (path, bytes) in write {
            prediction.remove.remove(&path);
            prediction.write.insert(path, file(bytes));
        }
        let patch = Patch::default();
        let input = input(&base, parser, &command, &patch);
        let once = guard(&input, prediction.clone());
        prop_assert_eq!(once.overlay.check_paths(), Ok(()));
        prop_assert!(once.overlay.write.keys().all(|path| prediction.write.contains_key(path)));
        prop_assert!(once.overlay.remove.is_subset(&prediction.remove));
        // A second pass finds nothing more to take back.
        let twice = guard(&input, once.overlay.clone());
        prop_assert_eq!(&twice.overlay, &once.overlay);
        let _ = suspicious_code(&prediction, &base);
    }

    #[test]
    fn what_touches_nothing_guarded_comes_back_identical(
        base in files(),
        names in prop::collection::btree_set("(lib|shop|docs)/[a-z]{3,9}\\.(c|txt|md|css)", 0..5),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        parser in prop::sample::select(PARSERS),
    ) {
        let mut prediction = Overlay::default();
        for name in names {
            prediction.write.insert(name, file(bytes.clone()));
        }
        let patch = Patch::default();
        let guarded = guard(&input(&base, parser, "pytest tests", &patch), prediction.clone());
        prop_assert_eq!(guarded.overlay, prediction);
        prop_assert_eq!(guarded.signals, vec![]);
    }

    #[test]
    fn the_base_commit_itself_gives_no_signals(base in files(), parser in prop::sample::select(PARSERS)) {
        let mut prediction = Overlay::default();
        let base: BTreeMap<String, Vec<u8>> = base
            .into_iter()
            .filter(|(path, _)| !path.starts_with('.'))
            .collect();
        for (path, bytes) in &base {
            prediction.write.insert(path.clone(), file(bytes.clone()));
        }
        let patch = Patch::default();
        let guarded = guard(&input(&base, parser, "npm test", &patch), prediction.clone());
        prop_assert_eq!(guarded.overlay, prediction);
        prop_assert_eq!(guarded.signals, vec![]);
    }

    #[test]
    fn a_canary_never_panics_and_takes_nothing_away(
        content in text(),
        parser in prop::sample::select(PARSERS),
        file in prop::sample::select(&["a.py", "a.test.js", "a_test.go", "tests/a.rs", "a_spec.rb", "ATest.php", "ATest.java", "A.cs", "a.cc", "a.bats", "a"][..]),
        seed in "[a-z0-9]{0,8}",
    ) {
        if let Some(made) = canary(parser, file, &content, &seed) {
            let text = String::from_utf8(made.content).unwrap();
            let mut old = content.iter().copied();
            let mut next = old.next();
            for byte in text.bytes() {
                if Some(byte) == next {
                    next = old.next();
                }
            }
            prop_assert_eq!(next, None);
            prop_assert_ne!(Some(made.must_pass), made.must_fail);
        }
    }

    #[test]
    fn twins_never_panic(
        content in text(),
        file in prop::sample::select(&["a.py", "a.test.js", "tests/a.rs", "a_spec.rb", "ATest.php"][..]),
        body in r#"(def test_a\(\):|  it "a b" do|fn a\(\) \{|it\('a', \(\) => \{|public function testA\(\)\{)?\n[ a-z"'0-9=(),.\n{}é]{0,80}"#,
    ) {
        for bytes in [content.clone(), body.into_bytes()] {
            if let Some(made) = atlas_guard::twins(file, &bytes, "seed", &[]) {
                prop_assert!(made.content.len() > bytes.len());
                prop_assert!(!made.pairs.is_empty());
            }
        }
    }
}
