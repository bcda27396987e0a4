//! Hints: what tests need and issues do not tell.

mod corpus;
mod kinds;
mod leaks;

use crate::support::{InOrder, cx, said, subject};
use atlas_core::{BuildFailureClass, ConfidenceSource, Judge as _, ModuleFailure, Patch, State};
use atlas_judge::hints::{HintJudge, HintOptions, HintReport, HintRule, HintSubject, find_hints};
use serde_json::{Value, json};

/// A file before and after; an empty text is a file that is not there.
fn diff(path: &str, old: &str, new: &str) -> String {
    let text = similar::TextDiff::from_lines(old, new);
    let (a, b) = (format!("a/{path}"), format!("b/{path}"));
    let a = if old.is_empty() { "/dev/null" } else { &a };
    text.unified_diff().header(a, &b).to_string()
}

struct Case<'a> {
    gold: (&'a str, &'a str, &'a str),
    tests: (&'a str, &'a str, &'a str),
}

impl Case<'_> {
    fn subject(&self, issue: &str) -> HintSubject {
        let ((gold, old, new), (tests, before, after)) = (self.gold, self.tests);
        HintSubject {
            issue: issue.to_owned(),
            gold_patch: Patch::new(diff(gold, old, new)),
            test_patch: Patch::new(diff(tests, before, after)),
            base: [(gold, old), (tests, before)]
                .into_iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
                .collect(),
            ..HintSubject::default()
        }
    }
}

/// The hint holds these lines and no others, each of which could not be left out, and no body.
fn check(report: &HintReport, expected: &[&str]) {
    let lines: Vec<&str> = report.hint.lines().collect();
    assert_eq!(lines, expected, "{report:#?}");
    assert_eq!(report.is_hint_needed, !expected.is_empty());
    assert!(!report.hint.contains("BODY"), "{}", report.hint);
    assert_eq!(report.needs.len(), lines.len());
    for (at, need) in report.needs.iter().enumerate() {
        assert!(!need.evidence.is_empty(), "{need:?}");
        for (other, line) in lines.iter().enumerate() {
            let is_told = line.contains(need.text().trim_start_matches("- "));
            assert_eq!(is_told, at == other, "{} and {line}", need.text());
        }
    }
}

const ISSUE: &str = "The table cannot be printed for a README. Please add it.";

/// Both with the base's files and from the patches alone.
fn check_language(case: &Case<'_>, expected: &[&str]) {
    let subject = case.subject(ISSUE);
    let report = find_hints(&subject).unwrap();
    check(&report, expected);
    assert_eq!(report.notes, Vec::<String>::new());
    assert!(
        report
            .needs
            .iter()
            .all(|need| need.rules.contains(&HintRule::GoldenRule))
    );
    // What the issue names needs no hint.
    let names: Vec<String> = report
        .needs
        .iter()
        .map(|n| format!("`{}`", n.name))
        .collect();
    let told = HintSubject {
        issue: format!("{ISSUE} It is {}.", names.join(", ")),
        ..subject
    };
    let report = find_hints(&told).unwrap();
    assert!(!report.is_hint_needed, "{report:#?}");
    assert_eq!(report.named_by_issue.len(), expected.len());
}

#[test]
fn python() {
    check_language(
        &Case {
            gold: (
                "src/table.py",
                "class Table:\n    def rows(self):\n        return 1\n",
                "LIMIT = 3\nclass Table:\n    def rows(self):\n        return 1\n\n    def to_markdown(self, align=\"left\"):\n        BODY = 1\n        return _pad(BODY)\n\ndef _pad(cell):\n    return cell\n",
            ),
            tests: (
                "tests/test_table.py",
                "from table import Table\n",
                "from table import Table, LIMIT\n\ndef test_it():\n    assert Table().to_markdown() == LIMIT\n",
            ),
        },
        &[
            "- `src/table.py`: `LIMIT`",
            "- `src/table.py`: `def to_markdown(self, align=\"left\")` in `Table`",
        ],
    );
}

#[test]
fn rust() {
    check_language(
        &Case {
            gold: (
                "src/lib.rs",
                "pub struct Table;\nimpl Table {\n    pub fn rows(&self) -> u8 { 1 }\n}\n",
                "pub struct Table;\nimpl Table {\n    pub fn rows(&self) -> u8 { 1 }\n    /// Prints.\n    pub fn to_markdown(&self, align: Align) -> String {\n        let BODY = helper();\n        BODY\n    }\n}\npub enum Align {\n    Left,\n}\nfn helper() -> String { String::new() }\n",
            ),
            tests: (
                "tests/it.rs",
                "use table::*;\n",
                "use table::*;\n#[test]\nfn prints() {\n    let t = Table;\n    assert_eq!(t.to_markdown(Align::Left), \"\");\n}\n",
            ),
        },
        &[
            "- `src/lib.rs`: `pub fn to_markdown(&self, align: Align) -> String` in `Table`",
            "- `src/lib.rs`: `pub enum Align`",
            "- `src/lib.rs`: `Left` in `Align`",
        ],
    );
}

#[test]
fn go() {
    check_language(
        &Case {
            gold: (
                "table.go",
                "package t\n\ntype Table struct{}\n",
                "package t\n\ntype Table struct{}\n\nfunc (t *Table) ToMarkdown(align string) (string, error) {\n\tBODY := pad(align)\n\treturn BODY, nil\n}\n\nfunc pad(s string) string { return s }\n",
            ),
            tests: (
                "table_test.go",
                "",
                "package t\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {\n\ttable := &Table{}\n\ttable.ToMarkdown(\"left\")\n}\n",
            ),
        },
        &["- `table.go`: `func (t *Table) ToMarkdown(align string) (string, error)` in `Table`"],
    );
}

#[test]
fn java() {
    check_language(
        &Case {
            gold: (
                "src/main/java/Table.java",
                "class Table {\n    int rows() { return 1; }\n}\n",
                "class Table {\n    int rows() { return 1; }\n\n    static String toMarkdown(Table t, String... align) {\n        String BODY = \"\";\n        return BODY;\n    }\n}\n",
            ),
            tests: (
                "src/test/java/TableTest.java",
                "class TableTest {\n}\n",
                "class TableTest {\n    @Test\n    void prints() {\n        assertEquals(\"\", Table.toMarkdown(new Table()));\n    }\n}\n",
            ),
        },
        &[
            "- `src/main/java/Table.java`: `static String toMarkdown(Table t, String... align)` in `Table`",
        ],
    );
}

#[test]
fn javascript() {
    check_language(
        &Case {
            gold: (
                "src/table.js",
                "export function rows() { return 1; }\n",
                "export function rows() { return 1; }\nexport const toMarkdown = (table, { align } = {}) => {\n  const BODY = pad(table);\n  return BODY;\n};\nfunction pad(x) { return x; }\n",
            ),
            tests: (
                "test/table.test.js",
                "import { rows } from '../src/table';\n",
                "import { rows, toMarkdown } from '../src/table';\nit('prints', () => {\n  expect(toMarkdown(rows())).toBe('');\n});\n",
            ),
        },
        &["- `src/table.js`: `export const toMarkdown = (table, { align } = {})`"],
    );
}

#[test]
fn typescript() {
    check_language(
        &Case {
            gold: (
                "src/table.ts",
                "export interface Options {\n  width: number;\n}\n",
                "export interface Options {\n  width: number;\n  padding?: number;\n}\nexport function toMarkdown(rows: string[], options?: Options): string {\n  const BODY = '';\n  return BODY;\n}\n",
            ),
            tests: (
                "test/table.test.ts",
                "import { Options } from '../src/table';\n",
                "import { Options, toMarkdown } from '../src/table';\ntest('prints', () => {\n  expect(toMarkdown([], { width: 1, padding: 2 })).toBe('');\n});\n",
            ),
        },
        &[
            "- `src/table.ts`: `padding?: number` in `Options`",
            "- `src/table.ts`: `function toMarkdown(rows: string[], options?: Options): string`",
        ],
    );
}

#[test]
fn ruby() {
    check_language(
        &Case {
            gold: (
                "lib/table.rb",
                "class Table\n  def rows\n    1\n  end\nend\n",
                "class Table\n  def rows\n    1\n  end\n\n  def to_markdown(align: :left)\n    body = 'BODY'\n    body\n  end\nend\n",
            ),
            tests: (
                "test/table_test.rb",
                "require 'table'\n",
                "require 'table'\nclass TableTest < Minitest::Test\n  def test_prints\n    assert_equal '', Table.new.to_markdown(align: :left)\n  end\nend\n",
            ),
        },
        &["- `lib/table.rb`: `def to_markdown(align: :left)` in `Table`"],
    );
}

#[test]
fn php() {
    check_language(
        &Case {
            gold: (
                "src/Table.php",
                "<?php\nclass Table\n{\n    public function rows() { return 1; }\n}\n",
                "<?php\nclass Table\n{\n    public function rows() { return 1; }\n\n    public function toMarkdown(string $align = 'left'): string\n    {\n        $BODY = '';\n        return $BODY;\n    }\n}\n",
            ),
            tests: (
                "tests/TableTest.php",
                "<?php\n",
                "<?php\nclass TableTest extends TestCase\n{\n    public function testPrints()\n    {\n        $table = new Table();\n        $this->assertSame('', $table->toMarkdown());\n    }\n}\n",
            ),
        },
        &[
            "- `src/Table.php`: `public function toMarkdown(string $align = 'left'): string` in `Table`",
        ],
    );
}

#[test]
fn c() {
    check_language(
        &Case {
            gold: (
                "table.h",
                "int table_rows(void);\n",
                "#define TABLE_LEFT 1\nint table_rows(void);\nchar *table_to_markdown(int align);\n",
            ),
            tests: (
                "tests/test_table.c",
                "#include \"table.h\"\n",
                "#include \"table.h\"\nstatic void prints(void) {\n    TEST_ASSERT_NULL(table_to_markdown(TABLE_LEFT));\n}\n",
            ),
        },
        &[
            "- `table.h`: `TABLE_LEFT`",
            "- `table.h`: `char *table_to_markdown(int align)`",
        ],
    );
}

#[test]
fn cpp() {
    check_language(
        &Case {
            gold: (
                "include/table.hpp",
                "namespace t {\nclass Table {\npublic:\n  int rows();\n};\n}\n",
                "namespace t {\nclass Table {\npublic:\n  enum Align { ALIGN_LEFT, ALIGN_RIGHT };\n  int rows();\n  std::string to_markdown(Align align = ALIGN_LEFT) const { auto BODY = 1; return pad(BODY); }\n};\n}\n",
            ),
            tests: (
                "test/table.cpp",
                "#include \"table.hpp\"\n",
                "#include \"table.hpp\"\nTEST_CASE(\"prints\") {\n  t::Table table;\n  REQUIRE(table.to_markdown(t::Table::ALIGN_RIGHT) == \"\");\n}\n",
            ),
        },
        &[
            "- `include/table.hpp`: `ALIGN_RIGHT` in `t::Table::Align`",
            "- `include/table.hpp`: `std::string to_markdown(Align align = ALIGN_LEFT) const` in `t::Table`",
        ],
    );
}

#[test]
fn csharp() {
    check_language(
        &Case {
            gold: (
                "src/Table.cs",
                "class Table\n{\n    int Rows() { return 1; }\n}\n",
                "class Table\n{\n    int Rows() { return 1; }\n\n    public static string ToMarkdown(Table t, string align = \"left\")\n    {\n        var BODY = \"\";\n        return BODY;\n    }\n}\n",
            ),
            tests: (
                "tests/TableTests.cs",
                "class TableTests\n{\n}\n",
                "class TableTests\n{\n    [Fact]\n    public void Prints()\n    {\n        Assert.Equal(\"\", Table.ToMarkdown(new Table()));\n    }\n}\n",
            ),
        },
        &[
            "- `src/Table.cs`: `public static string ToMarkdown(Table t, string align = \"left\")` in `Table`",
        ],
    );
}

/// A function that was there and takes more.
const CHANGED: Case<'_> = Case {
    gold: (
        "area.py",
        "def area(width):\n    return width\n",
        "def area(width, height=1, unit=\"m\"):\n    return width * height\n",
    ),
    tests: (
        "test_area.py",
        "from area import area\n\ndef test_area():\n    assert area(2) == 2\n",
        "from area import area\n\ndef test_area():\n    assert area(3) == 3\n    assert area(2, 3) == 6\n",
    ),
};

#[test]
fn a_changed_signature_counts_where_a_call_needs_it() {
    let line = "- `area.py`: `def area(width, height=1, unit=\"m\")`";
    check(
        &find_hints(&CHANGED.subject("Areas are wrong")).unwrap(),
        &[line],
    );
    let keyword = "from area import area\n\ndef test_area():\n    assert area(unit=\"m\") == 2\n";
    let case = Case {
        tests: ("test_area.py", CHANGED.tests.1, keyword),
        ..CHANGED
    };
    check(
        &find_hints(&case.subject("Areas are wrong")).unwrap(),
        &[line],
    );
    // A call that was always allowed needs nothing.
    let old = "from area import area\n\ndef test_area():\n    assert area(5) == 5\n";
    let case = Case {
        tests: ("test_area.py", CHANGED.tests.1, old),
        ..CHANGED
    };
    check(&find_hints(&case.subject("Areas are wrong")).unwrap(), &[]);
}

#[test]
fn what_moved_what_the_tests_bring_and_what_others_have_is_not_new() {
    // `pad` only moved, `Fake` is the tests' own, `get` was used on something else before.
    let gold = [
        diff("a.py", "def pad(x):\n    return x\n", "import b\n"),
        diff(
            "b.py",
            "class Store:\n    pass\n",
            "class Store:\n    def get(self, key):\n        return key\n\ndef pad(x):\n    return x\n\nclass Fake:\n    pass\n",
        ),
    ];
    let (before, after) = (
        "def test_a():\n    assert {}.get(1) is None\n",
        "class Fake:\n    pass\n\ndef test_a():\n    assert {}.get(2) is None\n    pad(Fake())\n",
    );
    let subject = HintSubject {
        issue: "Something is wrong".to_owned(),
        gold_patch: Patch::new(gold.concat()),
        test_patch: Patch::new(diff("test_a.py", before, after)),
        base: [
            ("a.py", "def pad(x):\n    return x\n"),
            ("b.py", "class Store:\n    pass\n"),
            ("test_a.py", before),
        ]
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .into(),
        ..HintSubject::default()
    };
    check(&find_hints(&subject).unwrap(), &[]);
}

#[test]
fn the_log_of_before_tells_what_helpers_use() {
    let case = Case {
        gold: (
            "src/store.py",
            "",
            "def open_store(path):\n    BODY = 1\n    return BODY\n",
        ),
        tests: (
            "tests/test_store.py",
            "",
            "from helpers import store\n\ndef test_store(store):\n    assert store\n",
        ),
    };
    let quiet = case.subject("Stores cannot be opened");
    check(&find_hints(&quiet).unwrap(), &[]);
    let logged = HintSubject {
        before_log: Some(
            "collecting\nE   ImportError: cannot import name 'open_store' from 'src.store'\nopen_store is mentioned\n"
                .to_owned(),
        ),
        ..quiet.clone()
    };
    let report = find_hints(&logged).unwrap();
    check(&report, &["- `src/store.py`: `def open_store(path)`"]);
    assert_eq!(report.rules, [HintRule::BeforeLog].into());
    assert_eq!(report.needs[0].evidence.len(), 1);
    assert_eq!(report.needs[0].evidence[0].line, Some(2));
    // The oracle's own word does as well; a missing name that the pull request does not bring does not.
    let failure = |symbol: &str, class| ModuleFailure {
        state: State::Before,
        module: "tests/test_store.py".to_owned(),
        class,
        symbol: Some(symbol.to_owned()),
        proof: Vec::new(),
    };
    let told = |failure| HintSubject {
        module_failures: vec![failure],
        ..quiet.clone()
    };
    let missing = BuildFailureClass::MissingSymbol;
    let report = find_hints(&told(failure("store::open_store", missing))).unwrap();
    check(&report, &["- `src/store.py`: `def open_store(path)`"]);
    let report = find_hints(&told(failure("numpy", missing))).unwrap();
    check(&report, &[]);
    let other = failure("open_store", BuildFailureClass::Environment);
    check(&find_hints(&told(other)).unwrap(), &[]);
    // A file that the tests load by its name.
    let logged = HintSubject {
        before_log: Some("E   ModuleNotFoundError: No module named 'src.store'\n".to_owned()),
        ..quiet
    };
    check(
        &find_hints(&logged).unwrap(),
        &["- `src/store.py`, a new file"],
    );
}

#[test]
fn without_the_base_the_patches_are_read_and_a_note_says_so() {
    let mut subject = CHANGED.subject("Areas are wrong");
    subject.base.clear();
    let report = find_hints(&subject).unwrap();
    check(
        &report,
        &["- `area.py`: `def area(width, height=1, unit=\"m\")`"],
    );
    assert_eq!(report.notes.len(), 2);
    assert!(report.notes[0].starts_with("area.py: only what the patch shows"));
}

#[test]
fn a_patch_that_is_none_is_refused_and_an_empty_one_is_not() {
    let report = find_hints(&HintSubject::default()).unwrap();
    check(&report, &[]);
    assert_eq!(report.notes.len(), 3);
    let broken = HintSubject {
        gold_patch: Patch::new("--- a/x.py\n+++ b/x.py\n@@ -1,9 +1 @@\n-a\n"),
        ..HintSubject::default()
    };
    let why = find_hints(&broken).unwrap_err().chain();
    assert!(why.contains("the gold patch"), "{why}");
}

fn row(issue: &str) -> atlas_core::Subject {
    let gold = diff(
        "store.py",
        "",
        "def open_store(path):\n    return path\n\ndef close_store(s):\n    return s\n",
    );
    let tests = diff(
        "test_store.py",
        "",
        "def test_store():\n    assert getattr(store, \"open_store\")(1)\n",
    );
    let mut subject = subject(issue, None, json!({}));
    subject.instance.set("patch", gold);
    subject.instance.set("test_patch", tests);
    subject
}

fn answer(needed: bool, names: &[&str]) -> atlas_core::Completion {
    said(&json!({"reasoning": "why", "is_hint_needed": needed, "names": names}).to_string())
}

#[tokio::test]
async fn a_model_adds_names_but_no_signatures_of_its_own() {
    let model = InOrder::new([answer(
        true,
        &["`open_store`", "drop_tables", "def f(): return 1"],
    )]);
    let judge = HintJudge::new(&model, HintOptions::default());
    let judgement = judge
        .judge(&cx(), &row("Stores cannot be opened"))
        .await
        .unwrap();
    assert_eq!(judgement.label, "needed");
    assert_eq!(
        judgement.details["hint"],
        "- `store.py`: `def open_store(path)`"
    );
    assert_eq!(
        judgement.details["unknown_names"],
        json!(["def f(): return 1", "drop_tables"])
    );
    assert_eq!(judgement.details["report"]["rules"], json!(["model"]));
    assert_eq!(judgement.details["prompt_version"], "hint-needed.v1");
    assert_eq!(judgement.confidence.source, ConfidenceSource::Missing);
    let statement = judgement.details["problem_statement"].as_str().unwrap();
    assert!(
        statement.starts_with("Stores cannot be opened\n\n## "),
        "{statement}"
    );
    let asked = model.asked.lock().unwrap();
    let question = &asked[0].messages.last().unwrap().content;
    assert!(question.contains("- `close_store`: `def close_store(s)` (store.py)"));
}

#[tokio::test]
async fn a_model_that_contradicts_itself_is_asked_again_and_then_refused() {
    let contradiction = || answer(true, &["unheard_of"]);
    let model = InOrder::new([contradiction(), answer(false, &[])]);
    let judge = HintJudge::new(&model, HintOptions::default());
    let judgement = judge.judge(&cx(), &row("No store")).await.unwrap();
    assert_eq!(judgement.label, "not_needed");
    assert_eq!(judgement.details["faults"].as_array().unwrap().len(), 1);
    assert!(
        model.asked.lock().unwrap()[1]
            .messages
            .last()
            .unwrap()
            .content
            .contains("could not be used")
    );
    let model = InOrder::new([contradiction(), answer(false, &["open_store"])]);
    let judge = HintJudge::new(&model, HintOptions::default());
    let why = judge.judge(&cx(), &row("No store")).await.unwrap_err();
    assert_eq!(why.kind(), atlas_core::ErrorKind::Model);
    assert!(why.chain().contains("is not empty"), "{}", why.chain());
}

#[tokio::test]
async fn what_a_rule_has_shown_no_model_is_asked_about() {
    let model = InOrder::new([]);
    let judge = HintJudge::new(&model, HintOptions::default());
    let mut subject = row("No store");
    let log = "NameError: name 'close_store' is not defined";
    subject
        .attachments
        .insert("before_log".to_owned(), json!(log));
    let judgement = judge.judge(&cx(), &subject).await.unwrap();
    assert_eq!(judgement.label, "needed");
    assert_eq!(judgement.confidence.source, ConfidenceSource::Rule);
    assert_eq!(model.calls(), 0);
    let rules = HintJudge::rules().judge(&cx(), &subject).await.unwrap();
    assert_eq!(rules, judgement);
    // Wrong attachments are named.
    subject
        .attachments
        .insert("files".to_owned(), Value::from(3));
    let why = HintJudge::rules().judge(&cx(), &subject).await.unwrap_err();
    assert!(why.chain().contains("`files`"), "{}", why.chain());
}

#[test]
fn texts_may_stop_anywhere() {
    let whole = CHANGED.subject("Areas `are` wrong: area(\n```\n");
    let cut = |text: &[u8], at: usize| Patch::new(&text[..at.min(text.len())]);
    let (gold, tests) = (
        whole.gold_patch.as_bytes().to_vec(),
        whole.test_patch.as_bytes().to_vec(),
    );
    let mut read = 0;
    for at in 0..gold.len().max(tests.len()) {
        for (gold_patch, test_patch) in [
            (cut(&gold, at), whole.test_patch.clone()),
            (whole.gold_patch.clone(), cut(&tests, at)),
        ] {
            let subject = HintSubject {
                gold_patch,
                test_patch,
                before_log: Some("no attribute 'area\u{e9}".chars().take(at % 20).collect()),
                ..whole.clone()
            };
            read += usize::from(find_hints(&subject).is_ok());
        }
    }
    assert!(read > 0);
}

#[test]
fn a_generated_table_is_not_read() {
    let rows: Vec<String> = (0..11_000).map(|at| format!("  v{at},\n")).collect();
    let rows = rows.concat();
    let case = Case {
        gold: (
            "src/table.js",
            "",
            &format!("export const table = [\n{rows}];\n"),
        ),
        tests: ("test/a.test.js", "", "it('x', () => { table(v7); });\n"),
    };
    let report = find_hints(&case.subject("Tables")).unwrap();
    check(&report, &[]);
    assert!(
        report.notes[0].contains("taken for data"),
        "{:?}",
        report.notes
    );
}
