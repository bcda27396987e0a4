//! Which tests a source holds, and which items of Rust only tests compile.

use atlas_syntax::{Source, test_items};

#[track_caller]
fn check(path: &str, text: &str, expected: &[(&str, [usize; 2])]) {
    let source = Source::of_path(path, text).expect("a known language");
    let tests = source.tests();
    let found: Vec<(String, [usize; 2])> = tests
        .iter()
        .map(|one| (one.qualified_name(), [one.lines.first, one.lines.last]))
        .collect();
    let found: Vec<(&str, [usize; 2])> = found
        .iter()
        .map(|(name, lines)| (name.as_str(), *lines))
        .collect();
    assert_eq!(found, expected, "{path}:\n{text}");
}

#[test]
fn tests_by_name() {
    let python = "class TestA:\n    @mark\n    def test_one(self):\n        def test_inner(): ...\n    def helper(self): ...\n\ndef test_two(): ...\n";
    check(
        "a.py",
        python,
        &[("TestA.test_one", [2, 4]), ("test_two", [7, 7])],
    );
    let go = "package a\n\nfunc TestA(t *testing.T) {}\nfunc BenchmarkA(b *testing.B) {}\nfunc (s *Suite) TestB() {}\nfunc help() {}\n";
    check(
        "a_test.go",
        go,
        &[("TestA", [3, 3]), ("Suite.TestB", [5, 5])],
    );
    let text_of_a_test = "package a\n\nconst text = `\nfunc TestA(t *testing.T) {\n}`\n";
    check("a_test.go", text_of_a_test, &[]);
    let c = "static void test_a(void);\nstatic bool test_a(void) { return 1; }\nint helper(void) { return 0; }\n";
    check("a.c", c, &[("test_a", [2, 2])]);
    let php = "<?php class ATest {\n  function testA() {}\n  /** @test */\n  function b() {}\n  #[Test]\n  function c() {}\n  function d() {}\n}\n";
    check(
        "ATest.php",
        php,
        &[
            ("ATest.testA", [2, 2]),
            ("ATest.b", [3, 4]),
            ("ATest.c", [5, 6]),
        ],
    );
}

#[test]
fn tests_by_attribute() {
    let java = "class A {\n  @BeforeEach void up() {}\n  @Test public void a() {}\n  @RetryingTest(3)\n  void b() {}\n  @VisibleForTesting void c() {}\n}\n";
    check("A.java", java, &[("A.a", [3, 3]), ("A.b", [4, 5])]);
    let csharp = "class A {\n  [SetUp] public void Up() {}\n  [Explicit, Test] public void B() {}\n  [ConditionalFact]\n  public async Task C() {}\n  [TestInitialize] public void D() {}\n}\n";
    check("A.cs", csharp, &[("A.B", [3, 3]), ("A.C", [4, 5])]);
    let rust = "mod tests {\n    /// Adds.\n    #[cfg_attr(not(miri), test)]\n    #[ignore = \"[slow]\"]\n    fn adds() {}\n    #[tokio::test(flavor = \"multi_thread\")]\n    async fn waits() {}\n    fn helper() {}\n}\nproptest! {\n    #[test]\n    fn any(x in 0..9) {}\n}\n";
    check(
        "a.rs",
        rust,
        &[
            ("tests.adds", [2, 5]),
            ("tests.waits", [6, 7]),
            ("any", [11, 12]),
        ],
    );
}

#[test]
fn tests_that_are_calls() {
    let script = "describe('d', () => {\n  it('does a \\'thing\\'', () => {});\n  it('waits', fakeAsync(() => {}));\n  it.todo(\"later\");\n  it(name, () => {});\n  utils.testWithUser('own', async () => {});\n});\ntest.beforeEach('no', async () => {});\n";
    check(
        "a.test.ts",
        script,
        &[
            ("d.does a \\'thing\\'", [2, 2]),
            ("d.waits", [3, 3]),
            ("d.later", [4, 4]),
            ("d.own", [6, 6]),
        ],
    );
    let ruby = "describe A do\n  it 'b' do\n  end\n  it { is_expected.to eq 1 }\nend\n";
    check("a_spec.rb", ruby, &[("A.b", [2, 3])]);
    let cpp = "TEST(Suite, Name) {}\nTEST_CASE(\"title\", \"[tag]\") {\n  SECTION(\"part\") {\n  }\n}\nBOOST_FIXTURE_TEST_CASE(grows, F) {}\n";
    check(
        "a.cpp",
        cpp,
        &[
            ("Suite.Name", [1, 1]),
            ("title", [2, 5]),
            ("title.part", [3, 4]),
            ("grows", [6, 6]),
        ],
    );
}

#[track_caller]
fn check_items(text: &str, expected: Option<&[(&str, usize, usize)]>) {
    let items = test_items(text);
    let found = items.as_ref().map(|items| {
        let items = items.iter();
        let item = items.map(|one| (one.key.as_str(), one.lines.first, one.lines.last));
        item.collect::<Vec<_>>()
    });
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn items_that_only_tests_compile() {
    for condition in [
        "test",
        "all(test, unix)",
        "all(feature = \"x\", test)",
        " test ,",
    ] {
        let text = format!(
            "fn f() {{}}\n\n/// Of tests.\n#[cfg({condition})]\npub mod tests {{\n    fn g() {{}}\n}}\n"
        );
        check_items(&text, Some(&[("mod tests", 3, 7)]));
    }
    for condition in [
        "any(test, unix)",
        "not(test)",
        "feature = \"test\"",
        "all(any(test, unix))",
    ] {
        check_items(&format!("#[cfg({condition})]\nmod tests {{}}\n"), Some(&[]));
    }
    check_items(
        "mod a {\n    mod b {\n        #[test]\n        fn t() {}\n    }\n}\n",
        Some(&[("fn t", 3, 4)]),
    );
    check_items(
        "#[cfg(test)]\npub(crate) use std::{a, b};\n#[cfg(test)]\nimpl A for B {\n}\n",
        Some(&[("use std::", 1, 2), ("impl A for B", 3, 5)]),
    );
    check_items(
        "#[cfg(test)] // only\nmade!({\n    fn a();\n});\n",
        Some(&[("", 1, 4)]),
    );
    // A line that holds something else, too.
    check_items(
        "fn a() {} #[test] fn b() {}\n#[test] fn c() {} fn d() {}\n",
        Some(&[]),
    );
    check_items(
        "const A: &str = \"\n#[cfg(test)]\nmod tests {}\n\";\n",
        Some(&[]),
    );
}

#[test]
fn errors_lose_no_module_of_tests() {
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n";
    check_items(
        &format!("fn f() {{\n    let x = (;\n}}\n\n{tests}"),
        Some(&[("mod tests", 5, 9)]),
    );
    check_items(
        &format!("fn f() {{\n    if x {{\n}}\n\n{tests}"),
        Some(&[("mod tests", 5, 9)]),
    );
    check_items(tests.trim_end_matches("}\n"), None);
}

#[test]
fn deep_nesting_ends() {
    let _ = test_items(&"#[test]\nmod a {\n".repeat(2_000));
    let closed = format!("{}// test\n{}", "mod a {".repeat(5_000), "}".repeat(5_000));
    check_items(&closed, Some(&[]));
}
