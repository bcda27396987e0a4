//! Hints that tell too much, and honest ones, in every language.

use super::{HintSubject, answer, diff};
use crate::support::{InOrder, candidate, cx, subject};
use atlas_core::{Decision, Judge as _, Patch, Subject, Validator as _};
use atlas_judge::hints::{HintJudge, HintOptions, LeakCheck, LeakJudge, LeakKind, leak_verdict};
use serde_json::json;

/// A task, its honest hint, and hints that leak, each with what gives it away.
struct Forged {
    gold: (&'static str, &'static str),
    tests: (&'static str, &'static str),
    honest: &'static [&'static str],
    leaks: &'static [(LeakKind, &'static str)],
}

fn check(case: &Forged) {
    let subject = HintSubject {
        issue: "Cells cannot be padded.".to_owned(),
        gold_patch: Patch::new(diff(case.gold.0, "", case.gold.1)),
        test_patch: Patch::new(diff(case.tests.0, "", case.tests.1)),
        ..HintSubject::default()
    };
    for honest in case.honest {
        let verdict = leak_verdict(&subject, honest).unwrap();
        assert_eq!(
            verdict.decision,
            Decision::Accept,
            "{honest}: {:#?}",
            verdict.findings
        );
    }
    let found = super::find_hints(&subject).unwrap();
    assert_eq!(found.hint, case.honest[0]);
    assert!(case.leaks.len() >= 5);
    for (kind, leaking) in case.leaks {
        // Alone and behind an honest hint.
        for hint in [leaking, format!("{}\n{leaking}", case.honest[0]).as_str()] {
            let verdict = leak_verdict(&subject, hint).unwrap();
            assert_eq!(verdict.decision, Decision::Reject, "{hint}");
            let codes: Vec<&str> = verdict
                .findings
                .iter()
                .map(|one| one.code.as_str())
                .collect();
            assert!(codes.contains(&kind.code()), "{hint}: {codes:?}");
            assert!(verdict.findings.iter().all(|one| !one.evidence.is_empty()));
        }
    }
}

use LeakKind::{Comment, Line, Name, Number, Shape, Statement, Text};

#[test]
fn python() {
    check(&Forged {
        gold: (
            "pkg/table.py",
            "def pad(cell, fill=' '):\n    # Wide signs take the room of two letters.\n    missing = max(72 - display_width(cell), len(fill))\n    if missing > limit_of(cell):\n        raise ValueError('cell is too wide for it')\n    return cell + fill * missing\n",
        ),
        tests: (
            "tests/test_table.py",
            "from pkg.table import pad\n\ndef test():\n    assert pad('a', fill='-')\n",
        ),
        honest: &[
            "- `pkg/table.py`: `def pad(cell, fill=' ')`",
            "The tests call `pad` of `pkg/table.py` with the keyword `fill`.",
        ],
        leaks: &[
            (Line, "return cell + fill * missing"),
            (
                Line,
                "Try `missing=max(72-display_width( cell ),len(fill))`.",
            ),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It calls display_width."),
            (Number, "A cell is 72 wide."),
            (Text, "It says 'cell is too wide for it'."),
            (
                Comment,
                "Remember: wide signs take the room of two letters!",
            ),
            (Statement, "`for c in cell: total += c`"),
            (Shape, "`left = min(9 - room(text), size(text2))`"),
        ],
    });
}

#[test]
fn ruby() {
    check(&Forged {
        gold: (
            "lib/table.rb",
            "class Table\n  def self.pad(cell, fill: ' ')\n    # Wide signs take the room of two letters.\n    missing = [72 - display_width(cell), fill.length].max\n    raise ArgumentError, 'cell is too wide for it' if missing.negative?\n    cell + fill * missing\n  end\nend\n",
        ),
        tests: (
            "test/table_test.rb",
            "class TableTest < Minitest::Test\n  def test_pads\n    assert Table.pad('a', fill: '-')\n  end\nend\n",
        ),
        honest: &[
            "- `lib/table.rb`: `class Table`\n- `lib/table.rb`: `def self.pad(cell, fill: ' ')` in `Table`",
            "The tests call `Table.pad` with `fill:`.",
        ],
        leaks: &[
            (Line, "cell + fill * missing"),
            (Line, "`cell+fill   *   missing`"),
            (Name, "It keeps what is left in `missing`."),
            (Name, "Ask display_width first."),
            (Number, "A cell is 72 wide."),
            (Text, "It says \"cell is too wide for it\"."),
            (Comment, "Wide signs take the room\nof two letters"),
            (Statement, "`total += 1 unless cell`"),
            (Shape, "`left = [9 - room(text), text2.size].min`"),
        ],
    });
}

#[test]
fn php() {
    check(&Forged {
        gold: (
            "src/Table.php",
            "<?php\nclass Table\n{\n    public static function pad(string $cell, string $fill = ' '): string\n    {\n        // Wide signs take the room of two letters.\n        $missing = max(72 - $this->displayWidth($cell), strlen($fill));\n        if ($missing < 0) {\n            throw new RangeException('cell is too wide for it');\n        }\n        return $cell . str_repeat($fill, $missing);\n    }\n}\n",
        ),
        tests: (
            "tests/TableTest.php",
            "<?php\nclass TableTest extends TestCase\n{\n    public function testPads(): void\n    {\n        $this->assertSame('a', Table::pad('a', fill: '-'));\n    }\n}\n",
        ),
        honest: &[
            "- `src/Table.php`: `class Table`\n- `src/Table.php`: `public static function pad(string $cell, string $fill = ' '): string` in `Table`",
            "The tests call `Table::pad`.",
        ],
        leaks: &[
            (Line, "return $cell . str_repeat($fill, $missing);"),
            (Line, "`return $cell.str_repeat( $fill,$missing )`"),
            (Name, "It keeps what is left in `$missing`."),
            (Name, "It asks displayWidth()."),
            (Number, "A cell is 72 wide."),
            (Text, "It says 'cell is too wide for it'."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`foreach ($a as $b) { $c .= $b; }`"),
            (
                Shape,
                "`$left = min(9 - $that->room($text), size($text2));`",
            ),
        ],
    });
}

#[test]
fn javascript() {
    check(&Forged {
        gold: (
            "lib/table.js",
            "export function pad(cell, fill = ' ') {\n  // Wide signs take the room of two letters.\n  const missing = Math.max(72 - displayWidth(cell), fill.length);\n  if (missing < 0) {\n    throw new RangeError('cell is too wide for it');\n  }\n  return cell + fill.repeat(missing);\n}\n",
        ),
        tests: (
            "test/table.test.js",
            "import { pad } from '../lib/table.js';\nit('pads', () => { assert(pad('a', '-')); });\n",
        ),
        honest: &[
            "- `lib/table.js`: `function pad(cell, fill = ' ')`",
            "The tests import `pad` from `lib/table.js`.",
        ],
        leaks: &[
            (Line, "return cell + fill.repeat(missing);"),
            (Line, "`return cell+fill.repeat( missing )`"),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It asks displayWidth."),
            (Number, "A cell is 72 wide."),
            (Text, "It says `cell is too wide for it`."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "```js\nfor (const c of cells) { n += c; }\n```"),
            (Shape, "`const left = Num.min(9 - room(text), text2.size);`"),
        ],
    });
}

#[test]
fn typescript() {
    check(&Forged {
        gold: (
            "src/table.ts",
            "export interface Options {\n  fill?: string;\n}\n\nexport const pad = (cell: string, options: Options = {}): string => {\n  /* Wide signs take the room of two letters. */\n  const missing = Math.max(72 - displayWidth(cell), cell.length);\n  if (missing < 0) {\n    throw new RangeError(`cell is too wide: ${cell}`);\n  }\n  return cell.padEnd(missing);\n};\n",
        ),
        tests: (
            "test/table.test.ts",
            "import { pad, type Options } from '../src/table';\nconst options: Options = { fill: '-' };\nit('pads', () => { expect(pad('a', options)).toBe('a'); });\n",
        ),
        honest: &[
            "- `src/table.ts`: `interface Options`\n- `src/table.ts`: `fill?: string` in `Options`\n- `src/table.ts`: `export const pad = (cell: string, options: Options = {}): string`",
            "`Options` has `fill?: string`.",
        ],
        leaks: &[
            (Line, "return cell.padEnd(missing);"),
            (Line, "`return cell.padEnd( missing )`"),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It asks displayWidth, then padEnd."),
            (Number, "A cell is 72 wide."),
            (Text, "It says `cell is too wide: ${cell}`."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`if (cell) return cell`"),
            (Shape, "`const left = Num.min(9 - room(text), text.size);`"),
        ],
    });
}

#[test]
fn go() {
    check(&Forged {
        gold: (
            "table.go",
            "package table\n\nfunc Pad(cell string, fill rune) (string, error) {\n	// Wide signs take the room of two letters.\n	missing := maximum(72-displayWidth(cell), len(cell))\n	if missing < 0 {\n		return \"\", errors.New(\"cell is too wide for it\")\n	}\n	return cell + strings.Repeat(string(fill), missing), nil\n}\n",
        ),
        tests: (
            "table_test.go",
            "package table\n\nfunc TestPad(t *testing.T) {\n	Pad(\"a\", '-')\n}\n",
        ),
        honest: &[
            "- `table.go`: `func Pad(cell string, fill rune) (string, error)`",
            "The tests call `Pad` with a string and a `rune`.",
        ],
        leaks: &[
            (
                Line,
                "return cell + strings.Repeat(string(fill), missing), nil",
            ),
            (Line, "`missing:=maximum(72-displayWidth(cell),len(cell))`"),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It asks displayWidth."),
            (Number, "A cell is 72 wide."),
            (Text, "It says \"cell is too wide for it\"."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`for _, c := range cell { n += c }`"),
            (Shape, "`left := minimum(9-room(text), size(text))`"),
        ],
    });
}

#[test]
fn rust() {
    check(&Forged {
        gold: (
            "src/table.rs",
            "pub fn pad(cell: &str, fill: char) -> Result<String, Wide> {\n    // Wide signs take the room of two letters.\n    let missing = cmp::max(72 - display_width(cell), cell.len());\n    if missing > 999 {\n        return Err(Wide::new(\"cell is too wide for it\"));\n    }\n    Ok(format!(\"{cell}{}\", fill.to_string().repeat(missing)))\n}\n",
        ),
        tests: (
            "tests/table.rs",
            "use table::pad;\n#[test]\nfn pads() {\n    assert!(pad(\"a\", '-').is_ok());\n}\n",
        ),
        honest: &[
            "- `src/table.rs`: `pub fn pad(cell: &str, fill: char) -> Result<String, Wide>`",
            "The tests call `pad` with a `&str` and a `char`.",
        ],
        leaks: &[
            (Line, "return Err(Wide::new(\"cell is too wide for it\"));"),
            (
                Line,
                "`let missing=cmp::max(72-display_width(cell),cell.len())`",
            ),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It asks display_width."),
            (Number, "The limit is 999."),
            (Text, "It says \"cell is too wide for it\"."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`match cell { a => b, _ => c }`"),
            (Shape, "`let left = num::min(9 - room(text), text.size());`"),
        ],
    });
}

#[test]
fn java() {
    check(&Forged {
        gold: (
            "src/main/java/Table.java",
            "public class Table {\n  public static String pad(String cell, char fill) {\n    // Wide signs take the room of two letters.\n    int missing = Math.max(72 - displayWidth(cell), cell.length());\n    if (missing > 999) {\n      throw new IllegalStateException(\"cell is too wide for it\");\n    }\n    return cell + Strings.repeat(fill, missing);\n  }\n}\n",
        ),
        tests: (
            "src/test/java/TableTest.java",
            "class TableTest {\n  @Test void pads() { assertEquals(\"a\", Table.pad(\"a\", '-')); }\n}\n",
        ),
        honest: &[
            "- `src/main/java/Table.java`: `public class Table`\n- `src/main/java/Table.java`: `public static String pad(String cell, char fill)` in `Table`",
            "The tests call `Table.pad`.",
        ],
        leaks: &[
            (Line, "return cell + Strings.repeat(fill, missing);"),
            (
                Line,
                "`int missing=Math.max(72-displayWidth(cell),cell.length())`",
            ),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It throws an IllegalStateException."),
            (Number, "The limit is 999."),
            (Text, "It says \"cell is too wide for it\"."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`while (cell) { n++; }`"),
            (Shape, "`int left = Num.min(9 - room(text), text.size());`"),
        ],
    });
}

#[test]
fn csharp() {
    check(&Forged {
        gold: (
            "src/Table.cs",
            "public class Table\n{\n    public static string Pad(string cell, char fill)\n    {\n        // Wide signs take the room of two letters.\n        var missing = Math.Max(72 - DisplayWidth(cell), cell.Length);\n        if (missing > 999)\n            throw new InvalidOperationException($\"cell is too wide: {cell}\");\n        return cell.PadRight(missing, fill);\n    }\n}\n",
        ),
        tests: (
            "tests/TableTests.cs",
            "class TableTests\n{\n    [Fact]\n    public void Pads() { Assert.Equal(\"a\", Table.Pad(\"a\", '-')); }\n}\n",
        ),
        honest: &[
            "- `src/Table.cs`: `public class Table`\n- `src/Table.cs`: `public static string Pad(string cell, char fill)` in `Table`",
            "The tests call `Table.Pad`.",
        ],
        leaks: &[
            (Line, "return cell.PadRight(missing, fill);"),
            (Line, "`return cell.PadRight( missing,fill )`"),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It asks DisplayWidth, then PadRight."),
            (Number, "The limit is 999."),
            (Text, "It says \"cell is too wide: {cell}\"."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`foreach (var c in cell) { n += c; }`"),
            (Shape, "`var left = Num.Min(9 - Room(text), text.Size);`"),
        ],
    });
}

#[test]
fn c() {
    check(&Forged {
        gold: (
            "table.c",
            "char *pad(const char *cell, char fill) {\n  /* Wide signs take the room of two letters. */\n  size_t missing = maximum(72 - display_width(cell), strlen(cell));\n  if (missing > 999) {\n    fprintf(stderr, \"cell is too wide for it\");\n    abort();\n  }\n  return repeat_into(buffer, fill, missing);\n}\n",
        ),
        tests: (
            "tests/table.c",
            "#include \"table.h\"\nvoid pads(void) {\n  assert(pad(\"a\", '-'));\n}\n",
        ),
        honest: &[
            "- `table.c`: `char *pad(const char *cell, char fill)`",
            "The tests call `pad`.",
        ],
        leaks: &[
            (Line, "return repeat_into(buffer, fill, missing);"),
            (Line, "`return repeat_into( buffer,fill,missing )`"),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It asks display_width."),
            (Number, "The limit is 999."),
            (Text, "It says \"cell is too wide for it\"."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`while (*p) { n += 1; p++; }`"),
            (Shape, "`long left = minimum(9 - room(text), size(text));`"),
        ],
    });
}

#[test]
fn cpp() {
    check(&Forged {
        gold: (
            "include/table.hpp",
            "namespace t {\ntemplate <typename T>\nstd::string pad(const T &cell, char fill = ' ') {\n  // Wide signs take the room of two letters.\n  auto missing = std::max(72 - display_width(cell), cell.size());\n  if (missing > 999) {\n    throw std::length_error(\"cell is too wide for it\");\n  }\n  return cell + std::string(missing, fill);\n}\n}\n",
        ),
        tests: (
            "test/table.cpp",
            "#include \"table.hpp\"\nTEST_CASE(\"pads\") {\n  REQUIRE(t::pad(\"a\", '-') == \"a\");\n}\n",
        ),
        honest: &[
            "- `include/table.hpp`: `template <typename T> std::string pad(const T &cell, char fill = ' ')` in `t`",
            "The tests call `t::pad`.",
        ],
        leaks: &[
            (Line, "return cell + std::string(missing, fill);"),
            (Line, "`return cell+std::string( missing,fill )`"),
            (Name, "It keeps what is left in `missing`."),
            (Name, "It throws a length_error."),
            (Number, "The limit is 999."),
            (Text, "It says \"cell is too wide for it\"."),
            (Comment, "wide signs take the room of two letters"),
            (Statement, "`for (auto c : cell) n += c;`"),
            (
                Shape,
                "`auto left = num::min(9 - room(text), text.count());`",
            ),
        ],
    });
}

const GOLD: &str = "--- /dev/null\n+++ b/store.py\n@@ -0,0 +1,5 @@\n+def open_store(path):\n+    return _connect(path)\n+\n+def _connect(path):\n+    return path\n";
const TESTS: &str = "--- /dev/null\n+++ b/test_store.py\n@@ -0,0 +1,2 @@\n+def test_store():\n+    assert open_store(1)\n";

fn row(hint: &str) -> Subject {
    let mut row = subject("No store", None, json!({}));
    row.instance.set("patch", GOLD);
    row.instance.set("test_patch", TESTS);
    row.instance.set("hint", hint);
    row
}

#[tokio::test]
async fn as_a_gate_it_reads_the_row_or_the_hint_that_it_is_given() {
    let gate = LeakCheck::default();
    for (hint, decision) in [
        ("- `store.py`: `def open_store(path)`", Decision::Accept),
        ("Use `_connect`.", Decision::Reject),
        ("", Decision::NoEvidence),
    ] {
        let of_row = candidate(&row(hint), GOLD, TESTS);
        let verdict = gate.validate(&cx(), &of_row).await.unwrap();
        assert_eq!(
            (verdict.validator.as_str(), verdict.decision),
            ("hint_leaks", decision)
        );
        let given = LeakCheck::default().with_hint(hint);
        let other = candidate(&row("Use `_connect`."), GOLD, TESTS);
        assert_eq!(given.validate(&cx(), &other).await.unwrap(), verdict);
        assert_eq!(verdict.findings.is_empty(), decision != Decision::Reject);
    }
    // What stands in the repository already is no secret.
    let base = [("store.py".to_owned(), b"from db import _connect\n".to_vec())];
    let gate = gate.with_base(base.into());
    let known = candidate(&row("Use `_connect`."), GOLD, TESTS);
    let verdict = gate.validate(&cx(), &known).await.unwrap();
    assert_eq!(verdict.decision, Decision::Accept);
}

#[tokio::test]
async fn a_helper_that_a_model_names_is_refused_with_its_place() {
    let model = InOrder::new([answer(true, &["_connect", "open_store"])]);
    let options = HintOptions {
        always_ask: true,
        ..HintOptions::default()
    };
    let judge = HintJudge::new(&model, options);
    let judgement = judge.judge(&cx(), &row("")).await.unwrap();
    assert_eq!(judgement.label, "refused");
    assert_eq!(judgement.details["hint"], "");
    assert!(!judgement.details.contains_key("problem_statement"));
    let leaks = judgement.details["leaks"]["findings"].as_array().unwrap();
    let named = leaks
        .iter()
        .find(|leak| leak["code"] == "own_name")
        .unwrap();
    assert_eq!(named["evidence"][1]["source"], "store.py");
    assert_eq!(judgement.evidence.len(), 2 * leaks.len());
}

#[tokio::test]
async fn hints_from_elsewhere_are_judged() {
    for (hint, label) in [
        (json!("- `store.py`: `def open_store(path)`"), "clean"),
        (json!("Use `_connect`."), "leaks"),
        (json!(""), "no_hint"),
    ] {
        let mut subject = row("");
        subject.attachments.insert("hint".to_owned(), hint);
        let judgement = LeakJudge.judge(&cx(), &subject).await.unwrap();
        assert_eq!(judgement.label, label);
        assert_eq!(judgement.evidence.is_empty(), label != "leaks");
    }
}

#[test]
fn what_is_too_long_is_no_hint_and_anything_may_be_looked_at() {
    let task = HintSubject {
        gold_patch: Patch::new(GOLD),
        test_patch: Patch::new(TESTS),
        ..HintSubject::default()
    };
    let verdict = leak_verdict(&task, &"open_store ".repeat(10_000)).unwrap();
    assert_eq!(verdict.findings[0].code, "too_long");
    let hint = "- `store.py`: \u{e9}`def open_store(path)`\n```\nx = \"\u{1f600}\n";
    for (at, _) in hint.char_indices() {
        leak_verdict(&task, &hint[..at]).unwrap();
    }
}
