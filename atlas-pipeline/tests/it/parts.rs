//! Suites of which a part says more than the whole, and programs that are not what lies there.

use crate::support::{Place, ids, make_args};
use std::process::Command;

/// A test that kills its process takes the suite along, in every state alike; the files that the pull request touches
/// do not need it.
#[test]
fn a_suite_that_dies_is_run_in_part() {
    let place = Place::new();
    let test = |name: &str, body: &str| {
        format!(
            "import os\nimport unittest\nimport calc\n\n\nclass {name}(unittest.TestCase):\n{body}"
        )
    };
    let first = test(
        "FirstTest",
        "    def test_one(self):\n        self.assertEqual(calc.double(1), 2)\n",
    );
    let kills = test(
        "KillsTest",
        "    def test_kills(self):\n        os.kill(os.getpid(), 9)\n",
    );
    let old = "    def test_two(self):\n        self.assertEqual(calc.double(2), 4)\n";
    let new = "\n    def test_less(self):\n        self.assertEqual(calc.double(-2), -4)\n";
    let (last, changed) = (
        test("LastTest", old),
        test("LastTest", &format!("{old}{new}")),
    );
    let base = [
        ("calc.py", "def double(a):\n    return abs(a) * 2\n"),
        ("tests/__init__.py", ""),
        ("tests/test_a.py", first.as_str()),
        ("tests/test_b.py", kills.as_str()),
        ("tests/test_c.py", last.as_str()),
    ];
    let head = [
        ("calc.py", "def double(a):\n    return a * 2\n"),
        ("tests/test_c.py", changed.as_str()),
    ];
    let repo = place.repository("repo", &[&base, &head]);
    let more = ["--instance-id", "me__calc-1"];
    let report = place.run(&make_args(repo.to_str().unwrap(), &more)).json();
    assert_eq!(report["outcome"], "instance", "{report}");
    assert_eq!(
        ids(&report, "FAIL_TO_PASS"),
        ["test_less (tests.test_c.LastTest.test_less)"]
    );
    assert_eq!(
        ids(&report, "PASS_TO_PASS"),
        ["test_two (tests.test_c.LastTest.test_two)"]
    );
    let row = std::fs::read_to_string(place.path("out/me__calc-1/instance.json")).unwrap();
    assert!(row.contains("does not come to its end in After"), "{row}");
}

/// A macro takes in what a folder holds when it is compiled, and cargo does not look into the folder: Before had the
/// program of Base, without the new test.
#[test]
fn a_new_test_that_a_macro_takes_in_is_compiled() {
    if Command::new("cargo").arg("--version").output().is_err() {
        eprintln!("skipped: no cargo on this machine");
        return;
    }
    let place = Place::new();
    let takes_in = "use proc_macro::TokenStream;\n\n#[proc_macro]\npub fn all(_: TokenStream) -> TokenStream {\n    \
        let home = std::env::var(\"CARGO_MANIFEST_DIR\").unwrap();\n    \
        let folder = std::path::Path::new(&home).join(\"tests/cases\");\n    \
        let mut text = String::new();\n    for entry in std::fs::read_dir(folder).unwrap() {\n        \
        let path = entry.unwrap().path();\n        let name = path.file_stem().unwrap().to_str().unwrap();\n        \
        text += &format!(\"#[path = {path:?}] mod {name};\");\n    }\n    text.parse().unwrap()\n}\n";
    let case = |a: i32, sum: i32| {
        format!("#[test]\nfn test() {{\n    assert_eq!(sums::double({a}), {sum});\n}}\n")
    };
    let (two, less) = (case(2, 4), case(-2, -4));
    let base = [
        (
            "Cargo.toml",
            "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dev-dependencies]\ntakes-in = { path = \"takes-in\" }\n",
        ),
        (
            "Cargo.lock",
            "version = 3\n\n[[package]]\nname = \"sums\"\nversion = \"0.1.0\"\ndependencies = [\n \"takes-in\",\n]\n\n[[package]]\nname = \"takes-in\"\nversion = \"0.1.0\"\n",
        ),
        (
            "src/lib.rs",
            "pub fn double(a: i32) -> i32 {\n    a.abs() * 2\n}\n",
        ),
        (
            "takes-in/Cargo.toml",
            "[package]\nname = \"takes-in\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\nproc-macro = true\n",
        ),
        ("takes-in/src/lib.rs", takes_in),
        ("tests/all.rs", "mod cases {\n    takes_in::all!();\n}\n"),
        ("tests/cases/two.rs", two.as_str()),
    ];
    let head = [
        (
            "src/lib.rs",
            "pub fn double(a: i32) -> i32 {\n    a * 2\n}\n",
        ),
        ("tests/cases/less.rs", less.as_str()),
    ];
    let repo = place.repository("repo", &[&base, &head]);
    let report = place.run(&make_args(repo.to_str().unwrap(), &[])).json();
    assert_eq!(report["outcome"], "instance", "{report}");
    assert_eq!(ids(&report, "FAIL_TO_PASS"), ["cases::less::test"]);
    assert_eq!(ids(&report, "PASS_TO_PASS"), ["cases::two::test"]);
}
