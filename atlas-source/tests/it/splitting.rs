//! Dividing pull requests.

use crate::support::{Lab, nasty, tree_with};
use atlas_source::{Side, SplitPullRequest, overlay, split};

async fn divide(lab: &Lab) -> SplitPullRequest {
    let repo = lab.open().await;
    let head = lab.head();
    let base = repo.parents(&head).await.expect("works").remove(0);
    split(&repo, &base, &head).await.expect("works")
}

fn side(split: &SplitPullRequest, path: &str) -> Side {
    let decision = split
        .decisions
        .iter()
        .find(|decision| decision.path == path);
    decision
        .unwrap_or_else(|| panic!("no decision about {path}"))
        .side
}

fn text(patch: &atlas_core::Patch) -> &str {
    patch.as_text().expect("UTF-8")
}

#[tokio::test]
async fn nothing_is_lost_of_a_nasty_commit() {
    let (lab, base, head) = nasty();
    let repo = lab.open().await;
    let objects = lab.git(&["count-objects", "-v"]);
    let split = split(&repo, &base, &head).await.expect("works");
    assert!(split.test_patch.as_text().is_ok() && split.gold_patch.as_text().is_ok());
    assert!(serde_json::to_string(&split.gold_patch).is_ok());
    assert!(text(&split.gold_patch).contains("rename to was moved.txt"));
    assert_eq!(side(&split, "tests/empty"), Side::Test);
    assert_eq!(side(&split, "empty_moved"), Side::Gold);

    let states = overlay(&repo, &base, &[&split.test_patch, &split.gold_patch])
        .await
        .expect("works");
    assert_eq!(states.failed, None);
    assert_eq!(
        objects,
        lab.git(&["count-objects", "-v"]),
        "the repository was written to"
    );
    let after = tree_with(&lab, &base, &states.states[1].overlay);
    assert_eq!(
        after,
        lab.git(&["rev-parse", &format!("{head}^{{tree}}")]).trim()
    );
}

async fn check_paths(paths: &[(&str, Side)]) {
    let lab = Lab::new();
    lab.commit("base");
    for (path, _) in paths {
        lab.write(path, "x\n");
    }
    lab.commit("head");
    let split = divide(&lab).await;
    for (path, expected) in paths {
        let decision = split
            .decisions
            .iter()
            .find(|decision| decision.path == *path)
            .expect("works");
        assert_eq!(decision.side, *expected, "{decision:?}");
    }
}

#[tokio::test]
async fn paths_decide() {
    use Side::{Gold, Test};
    check_paths(&[
        ("tests/test_x.py", Test),
        ("pkg/Tests/data/x.html", Test),
        ("testing/run.py", Test),
        ("src/pkg/testing/kit.py", Gold),
        ("pkg/conftest.py", Test),
        ("pkg/contest.py", Gold),
        ("latest/x.py", Gold),
        ("src/attestation.rs", Gold),
        ("lib/django/test/client.py", Gold),
        ("web/a.test.ts", Test),
        ("web/date/tests.ts", Test),
        ("web/date/latest.ts", Gold),
        ("web/a_spec.mts", Test),
        ("web/a.spec.jsx", Test),
        ("web/__snapshots__/a.snap", Test),
        ("types/a.test-d.ts", Test),
        ("pkg/x_test.go", Test),
        ("pkg/testdata/x.golden", Test),
        ("src/tests.rs", Test),
        ("src/deep/tests/mod.rs", Test),
        ("benches/tests/b.rs", Gold),
        ("core/src/test/java/AUtil.java", Test),
        ("core/src/main/ParserTest.java", Test),
        ("core/src/main/Latest.java", Gold),
        ("rb/thing_spec.rb", Test),
        ("spec/fixtures/a.yml", Test),
        ("php/ParserTest.php", Test),
        ("c/parse_test.cc", Test),
        ("c/unittest_x.cpp", Test),
        ("Parser.Tests/Some.cs", Test),
        ("src/ParserTests.cs", Test),
        ("pytest.ini", Gold),
        ("package.json", Gold),
        (".github/tests/ci.yml", Gold),
        ("docs/testing.md", Gold),
        ("CHANGELOG.md", Gold),
    ])
    .await;
}

const LIB: &str = r##"#![warn(missing_docs)]
//! A crate.

/// Adds. A brace in a comment: {
pub fn add(a: i32, b: i32) -> i32 {
    let _brace = '{';
    let _raw = r#"}"{"#;
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
}
"##;

async fn check_rust(old: &str, new: &str, expected: Side) -> SplitPullRequest {
    let lab = Lab::new();
    lab.write("src/lib.rs", old).commit("base");
    lab.write("src/lib.rs", new).commit("head");
    let split = divide(&lab).await;
    assert_eq!(
        side(&split, "src/lib.rs"),
        expected,
        "{:?}",
        split.decisions
    );
    split
}

#[tokio::test]
async fn rust_files_are_divided_by_item() {
    let in_test = LIB.replace("add(1, 2), 3", "add(2, 2), 4");
    let split = check_rust(LIB, &in_test, Side::Test).await;
    assert!(split.gold_patch.is_empty());
    assert_eq!(split.modified_tests, ["tests::adds"]);

    let in_code = LIB.replace("a + b", "b + a");
    let split = check_rust(LIB, &in_code, Side::Gold).await;
    assert!(split.test_patch.is_empty() && split.modified_tests.is_empty());

    let both = in_test.replace("a + b", "b + a");
    let split = check_rust(LIB, &both, Side::Both).await;
    assert!(text(&split.test_patch).contains("+        assert_eq!(add(2, 2), 4);"));
    assert!(!text(&split.test_patch).contains("b + a"));
    assert!(text(&split.gold_patch).contains("+    b + a"));
    assert!(!text(&split.gold_patch).contains("\n+        assert"));
}

#[tokio::test]
async fn rust_test_modules_come_and_go() {
    let code = LIB.split("#[cfg(test)]").next().expect("works");
    let new = LIB.replace("a + b", "b + a");
    let split = check_rust(code, &new, Side::Both).await;
    assert!(text(&split.test_patch).contains("+mod tests {"));
    assert!(!text(&split.gold_patch).contains("\n+mod tests"));
    let split = check_rust(&new, code, Side::Both).await;
    assert!(text(&split.test_patch).contains("-mod tests {"));

    let no_newline = code.trim_end();
    let split = check_rust(
        no_newline,
        &format!("{code}\n#[test]\nfn t() {{}}"),
        Side::Both,
    )
    .await;
    assert_eq!(split.modified_tests, ["t"]);
    // The line that declares a test file must be there when the file is.
    check_rust(
        code,
        &format!("{code}#[cfg(test)]\nmod tests;\n"),
        Side::Test,
    )
    .await;
    // Not only for tests.
    check_rust(
        code,
        &format!("{code}#[cfg(any(test, feature = \"x\"))]\nmod y {{}}\n"),
        Side::Gold,
    )
    .await;
}

#[tokio::test]
async fn a_moved_rust_file_is_divided_too() {
    let lab = Lab::new();
    lab.write("src/a.rs", LIB).commit("base");
    lab.git(&["mv", "src/a.rs", "src/b.rs"]);
    lab.write("src/b.rs", LIB.replace("add(1, 2), 3", "add(2, 2), 4"))
        .commit("head");
    let split = divide(&lab).await;
    assert_eq!(side(&split, "src/a.rs"), Side::Both);
    assert!(text(&split.gold_patch).contains("rename to src/b.rs"));
}

#[tokio::test]
async fn a_test_takes_the_place_of_a_folder() {
    let lab = Lab::new();
    lab.write("test", "a script\n")
        .write("x/y.txt", "y\n")
        .commit("base");
    lab.git(&["rm", "-q", "test"]);
    lab.write("test/test_a.py", "def test_a(): pass\n")
        .commit("head");
    let split = divide(&lab).await;
    assert_eq!(side(&split, "test"), Side::Test);
    assert!(split.gold_patch.is_empty());
}

async fn check_modified(path: &str, old: &str, new: &str, expected: &[&str]) {
    let lab = Lab::new();
    lab.write(path, old).commit("base");
    lab.write(path, new).commit("head");
    assert_eq!(divide(&lab).await.modified_tests, expected, "{path}");
}

#[tokio::test]
async fn javascript_that_declares_tests_is_a_test_whatever_its_name() {
    let lab = Lab::new();
    let tests = "import { sum } from './sum.js';\n\ndescribe('sum', () => {\n  it('adds', () => {});\n});\n";
    let files = [
        ("src/sum-checks.ts", tests.to_owned()),
        // Vitest runs tests beside what they test.
        (
            "src/sum.ts",
            format!("{tests}if (import.meta.vitest) {{}}\n"),
        ),
        ("src/suite.ts", tests.replace('\n', "\n  ")),
        ("benches/sum.ts", tests.to_owned()),
    ];
    lab.commit("base");
    for (path, text) in &files {
        lab.write(path, text);
    }
    lab.commit("head");
    let split = divide(&lab).await;
    let sides = files.map(|(path, _)| side(&split, path));
    let expected = [Side::Test, Side::Gold, Side::Gold, Side::Gold];
    assert_eq!(sides, expected);
}

#[tokio::test]
async fn a_test_program_defines_main() {
    let lab = Lab::new();
    lab.commit("base");
    lab.write(
        "xmltest.cpp",
        "#include \"x.h\"\nint main( int argc, const char** argv )\n{\n}\n",
    )
    .write("latest.cpp", "int latest() { return 1; }\n")
    .commit("head");
    let split = divide(&lab).await;
    assert_eq!(side(&split, "xmltest.cpp"), Side::Test);
    assert_eq!(side(&split, "latest.cpp"), Side::Gold);
}

#[tokio::test]
async fn tests_whose_source_changes() {
    let python = "import x\n\nclass TestA:\n    @mark\n    def test_one(self):\n        text = '''\nflush left\n'''\n        assert 1\n\n    def test_two(self):\n        assert 2\n\ndef helper():\n    return 1\n\nasync def test_three():\n    assert 3\n";
    check_modified(
        "tests/test_a.py",
        python,
        &python.replace("assert 1", "assert 11"),
        &["TestA::test_one"],
    )
    .await;
    // A comment of people changes no test, one that a program reads may.
    for (comment, expected) in [
        ("# Once more", &[][..]),
        ("# type: ignore", &["TestA::test_two"]),
    ] {
        let commented = format!("{comment}\n        assert 2");
        check_modified(
            "tests/test_a.py",
            python,
            &python.replace("assert 2", &commented),
            expected,
        )
        .await;
    }
    check_modified(
        "tests/test_a.py",
        python,
        &python.replace("return 1", "return 2"),
        &[],
    )
    .await;
    check_modified(
        "tests/test_a.py",
        python,
        &python
            .replace("@mark", "@other")
            .replace("assert 3", "assert 33"),
        &["TestA::test_one", "test_three"],
    )
    .await;
    check_modified(
        "tests/test_a.py",
        python,
        &python.replace(
            "        assert 2\n",
            "        pass\n\n    def test_new(self):\n        pass\n",
        ),
        &["TestA::test_new", "TestA::test_two"],
    )
    .await;
    let go = "package a\n\nfunc TestA(t *testing.T) {\n\tx(\"}\")\n}\n\nfunc help() {\n\ty()\n}\n";
    check_modified("a_test.go", go, &go.replace("x(", "z("), &["TestA"]).await;
    check_modified("a_test.go", go, &go.replace("y(", "z("), &[]).await;
    // Not run without `-bench`.
    let measured = go.replace("TestA", "BenchmarkA");
    check_modified("a_test.go", &measured, &measured.replace("x(", "z("), &[]).await;
    let js = "describe('d', () => {\n  it('does a \\'thing\\'', () => {\n    a();\n  });\n  test.only(\"other\", async () => {\n    b();\n  });\n});\n";
    check_modified("a.test.js", js, &js.replace("b()", "c()"), &["other"]).await;
    check_modified(
        "a.test.js",
        js,
        &js.replace("a()", "c()"),
        &["does a \\'thing\\'"],
    )
    .await;
    // A helper of the project's own that makes a test.
    let own = js.replace("test.only(", "utils.testWithClient(");
    check_modified("a.test.js", &own, &own.replace("b()", "c()"), &["other"]).await;
    let ruby = "class T\n  def test_a\n    if x\n      y\n    end\n  end\n  it \"b\" do\n    z\n  end\nend\n";
    check_modified(
        "test/a_test.rb",
        ruby,
        &ruby.replace('y', "yy").replace("  z", "  zz"),
        &["b", "test_a"],
    )
    .await;
    let cpp = "TEST(Suite, Name) {\n  a();\n}\n";
    check_modified(
        "tests/a.cpp",
        cpp,
        &cpp.replace("a()", "b()"),
        &["Suite.Name"],
    )
    .await;
    for (head, name) in [
        ("TYPED_TEST(Suite, Name)", "Suite.Name"),
        ("TEST_CASE(\"a title\", \"[tag]\")", "a title"),
        (
            "TEMPLATE_TEST_CASE(\"a title\", \"\", int, long)",
            "a title",
        ),
        ("TEST_CASE_METHOD(Fixture<int>, \"a title\")", "a title"),
        ("  TEST_CASE_FIXTURE(Fixture, \"a title\")", "a title"),
        (
            "BOOST_AUTO_TEST_CASE(grows, * boost::unit_test::timeout(2))",
            "grows",
        ),
        ("BOOST_AUTO_TEST_CASE_TEMPLATE(grows, T, all)", "grows"),
        ("BOOST_FIXTURE_TEST_CASE(grows, F)", "grows"),
    ] {
        let text = cpp.replace("TEST(Suite, Name)", head);
        check_modified("tests/a.cpp", &text, &text.replace("a()", "b()"), &[name]).await;
    }
}

#[tokio::test]
async fn manifests_and_odd_bases() {
    let lab = Lab::new();
    let root = lab
        .write("a.py", "1\n")
        .write("package.json", "{}\n")
        .commit("root");
    lab.git(&["checkout", "-q", "-b", "feature"]);
    let head = lab
        .write("b.py", "2\n")
        .write("package.json", "{ }\n")
        .write("web/requirements/dev.txt", "x==1\n")
        .commit("feature");
    lab.git(&["checkout", "-q", "main"]);
    let base = lab.write("a.py", "3\n").commit("other");
    let split = split(&lab.open().await, &base, &head).await.expect("works");
    assert_eq!(split.base, root);
    assert!(split.notes[0].contains("merge base"), "{:?}", split.notes);
    assert!(!text(&split.gold_patch).contains("a.py"));
    let manifests: Vec<_> = split.head_manifests.keys().map(String::as_str).collect();
    assert_eq!(manifests, ["package.json", "web/requirements/dev.txt"]);
    assert_eq!(split.head_manifests["package.json"], b"{ }\n");
}

#[tokio::test]
async fn submodules_are_noted() {
    let lab = Lab::new();
    let other = Lab::new();
    other.write("x", "x\n").commit("other");
    lab.write("a", "a\n").commit("base");
    lab.git(&[
        "submodule",
        "--quiet",
        "add",
        &other.path().display().to_string(),
        "sub",
    ]);
    lab.commit("head");
    let split = divide(&lab).await;
    assert!(text(&split.gold_patch).contains("+Subproject commit "));
    assert!(
        split
            .notes
            .iter()
            .any(|note| note.contains("submodule `sub`")),
        "{:?}",
        split.notes
    );
}

/// A pull request that moves a submodule: its files change in After, where the clone has them.
#[tokio::test]
async fn a_submodule_that_moves_changes_its_files() {
    let lab = Lab::new();
    let other = Lab::new();
    other
        .write("keep", "k\n")
        .write("gone", "g\n")
        .write("x", "old\n")
        .commit("one");
    lab.write("a", "a\n").commit("start");
    let address = other.path().display().to_string();
    lab.git(&["submodule", "--quiet", "add", &address, "deps/sub"]);
    let base = lab.commit("base");
    other.write("x", "new\n").write("more/y", "y\n");
    other.git(&["rm", "-q", "gone"]);
    other.commit("two");
    lab.git(&["submodule", "--quiet", "update", "--remote"]);
    let head = lab.commit("head");
    let repo = lab.open().await;
    let patch = repo.diff(&base, &head).await.expect("a diff");
    let outcome = overlay(&repo, &base, &[&patch]).await.expect("works");
    let moved = &outcome.states[0].overlay;
    let written: Vec<(&str, &[u8])> = moved
        .write
        .iter()
        .map(|(path, content)| (path.as_str(), content.bytes.as_slice()))
        .collect();
    assert_eq!(
        written,
        [("deps/sub/more/y", &b"y\n"[..]), ("deps/sub/x", b"new\n")]
    );
    assert_eq!(moved.remove.iter().collect::<Vec<_>>(), ["deps/sub/gone"]);
    assert_eq!(outcome.notes, Vec::<String>::new());
}

#[tokio::test]
async fn data_that_only_tests_name_goes_with_them() {
    let lab = Lab::new();
    let read = |name: &str| format!("import data from \"{name}\";\n");
    lab.write(
        "src/index.ts",
        "export const page = load(`locales/${tag}.json`);\n",
    );
    lab.write("src/used.ts", read("../shared/used.json"));
    let all = [
        "../scripts/cookies.json",
        "../shared/used.json",
        "../locales/de.json",
        "../rules.json",
    ];
    lab.write("src/a.spec.ts", all.map(read).concat());
    lab.write("src/a.bench.ts", read("../scripts/cookies.json"));
    lab.write("scripts/update.ts", "write(\"cookies.json\");\n");
    lab.write("package.json", "{\"scripts\": {\"test\": \"vitest\"}}\n");
    lab.write(
        "tsconfig.json",
        "{\"extends\": \"@a/ts-scripts/configs/tsconfig.json\"}\n",
    );
    lab.write("src/other.ts", "import \"@a/ts-scripts/configs\";\n");
    lab.commit("base");
    for path in [
        "scripts/cookies.json",
        "scripts/unread.json",
        "shared/used.json",
        "locales/de.json",
        "rules.json",
    ] {
        lab.write(path, "{}\n");
    }
    lab.commit("head");
    let split = divide(&lab).await;
    assert_eq!(side(&split, "scripts/cookies.json"), Side::Test);
    // Nobody names it, a source does, one names its folder, and at the root lie settings.
    for path in [
        "scripts/unread.json",
        "shared/used.json",
        "locales/de.json",
        "rules.json",
    ] {
        assert_eq!(side(&split, path), Side::Gold, "{path}");
    }
    let decision = split
        .decisions
        .iter()
        .find(|decision| decision.rule == "test-data");
    assert!(decision.expect("one").evidence.contains("src/a.spec.ts"));
}
