//! What of a repository's tests is compiled under a condition: build tags of Go, features of Cargo.

use crate::analysis::{folder, plan, repository};
use atlas_docker::AnalysisOptions;

/// A test file behind a build tag is compiled with it where the pull request touches the file.
#[test]
fn go_is_given_the_tags_of_the_tests_that_change() {
    let files = [
        ("go.mod", "module example.org/m\n\ngo 1.21\n"),
        (
            "a_test.go",
            "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
        ),
        (
            "b_test.go",
            "// Licence.\n\n//go:build vtable || fts\n\npackage m\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {}\n",
        ),
        // No tag makes another system of this one: files of two systems do not compile together.
        (
            "c_test.go",
            "//go:build freebsd || darwin\n\npackage m\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) {}\n",
        ),
        (
            ".github/workflows/t.yml",
            "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n    - run: go test ./...\n    - run: go test -tags fts ./...\n",
        ),
    ];
    let folder = folder(&files);
    let mut repository = repository(folder.path());
    for (touched, expected) in [
        ("a_test.go", None),
        ("b_test.go", Some("fts")),
        ("c_test.go", None),
    ] {
        repository.touched = vec![touched.to_owned()];
        let plan = plan(&repository, &AnalysisOptions::default());
        let tags = plan.test_cmd.split_once("-tags=");
        let found = tags.and_then(|(_, rest)| rest.split(' ').next());
        assert_eq!(found, expected, "{touched}: {}", plan.test_cmd);
    }
}

/// Few sets of features are all wanted; of many the one that touched test targets need, else the largest.
#[test]
fn many_sets_of_cargo_features_are_alternatives() {
    let features = |commands: &[&str], touched: &[&str]| {
        let mut ci = "jobs:\n  test:\n    env:\n      FLAGS:\n      CARGO: cargo\n    runs-on: ubuntu-latest\n    steps:\n".to_owned();
        for command in commands {
            ci.push_str("    - run: ${{ env.CARGO }} test --features ");
            ci.push_str(command);
            ci.push_str(" ${{ env.FLAGS }}\n");
        }
        let files = [
            (
                "Cargo.toml",
                "[package]\nname = \"m\"\nversion = \"1.0.0\"\n[features]\na = []\nb = []\nc = []\nd = []\ne = []\n\
                 [[test]]\nname = \"of-e\"\npath = \"tests/e/all.rs\"\nrequired-features = [\"e\"]\n",
            ),
            ("Cargo.lock", "version = 3\n"),
            ("src/lib.rs", "#[test]\nfn a() {}\n"),
            ("tests/e/all.rs", "#[test]\nfn e() {}\n"),
            (".github/workflows/t.yml", ci.as_str()),
        ];
        let folder = folder(&files);
        let mut repository = repository(folder.path());
        repository.touched = touched.iter().map(|path| (*path).to_owned()).collect();
        let plan = plan(&repository, &AnalysisOptions::default());
        plan.test_cmd.rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(features(&["a", "b"], &[]), "a,b");
    assert_eq!(features(&["a", "b", "c,d", "e"], &[]), "c,d");
    assert_eq!(features(&["a", "b", "c,d", "e"], &["tests/e/all.rs"]), "e");
}
