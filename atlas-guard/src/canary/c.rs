//! C: Unity, Check, cmocka, CUnit. A test is a function, and a list says that it is run.

use super::Added;
use super::names::Names;
use regex::Regex;

/// A framework.
struct Style {
    /// What its files hold.
    known: &'static str,
    /// The line by which a test is run; the tests are named in the same form, in front of it or behind.
    run: &'static str,
    /// That line for another test: `${1}` and `$2` are what the first one has around its name.
    again: &'static str,
    /// What a test's function looks like: its head, its assertion, its end.
    test: [&'static str; 3],
    /// Where the first of them begins.
    first: &'static str,
}

const STYLES: &[Style] = &[
    Style {
        known: r"\bcmocka_unit_test\(",
        run: r"(?m)^([ \t]*)cmocka_unit_test\(\w+\),?[ \t]*$",
        again: "${1}cmocka_unit_test(NAME),",
        test: [
            "static void NAME(void **state)\n{\n  (void)state;\n",
            "  assert_int_equal(total, SUM);\n",
            "}\n",
        ],
        first: r"(?m)^(?:static\s+)?void\s+\w+\s*\(\s*void\s*\*\*\s*\w+\s*\)",
    },
    Style {
        known: r"\bSTART_TEST\s*\(",
        run: r"(?m)^([ \t]*)tcase_add_test\(([^,\n]+),\s*\w+\);[ \t]*$",
        again: "${1}tcase_add_test($2, NAME);",
        test: [
            "START_TEST(NAME)\n{\n",
            "  ck_assert_int_eq(total, SUM);\n",
            "}\nEND_TEST\n",
        ],
        first: r"(?m)^START_TEST\s*\(",
    },
    Style {
        known: r"\bTEST_ASSERT",
        run: r"(?m)^([ \t]*)RUN_TEST\(\w+\);[ \t]*$",
        again: "${1}RUN_TEST(NAME);",
        test: [
            "static void NAME(void)\n{\n",
            "  TEST_ASSERT_EQUAL_INT(SUM, total);\n",
            "}\n",
        ],
        first: r"(?m)^(?:static\s+)?void\s+test\w*\s*\(",
    },
    Style {
        known: r"\bCU_ASSERT",
        run: r#"(?m)^([ \t]*)CU_add_test\(([^,\n]+),\s*"[^"\n]*",\s*\w+\);[ \t]*$"#,
        again: "${1}CU_add_test($2, \"NAME\", NAME);",
        test: [
            "static void NAME(void)\n{\n",
            "  CU_ASSERT_EQUAL(total, SUM);\n",
            "}\n",
        ],
        first: r"(?m)^(?:static\s+)?void\s+\w+\s*\(\s*(?:void)?\s*\)",
    },
];

pub(super) fn add(text: &str, names: &Names) -> Added {
    let pattern = |pattern: &str| Regex::new(pattern).expect("a pattern of this file");
    let style = STYLES
        .iter()
        .find(|style| pattern(style.known).is_match(text))?;
    let run = pattern(style.run).captures(text)?;
    let line = run.get(0)?;
    // A function that is only declared before its use stands somewhere else.
    let first = pattern(style.first).find(text)?;
    if first.start() > line.start() {
        return None;
    }
    let both = names.snake();
    let piece = names.both(
        &both,
        |name, [a, b, c], sum| {
            let [head, check, end] = style.test;
            let sums = format!(
                "  int values[] = {{{a}, {b}, {c}}};\n  int total = 0;\n  for (int at = 0; at < 3; at += 1) {{\n    total += values[at];\n  }}\n"
            );
            format!("{head}{sums}{check}{end}")
                .replace("NAME", name)
                .replace("SUM", &sum.to_string())
        },
        "\n",
    );
    let mut runs = String::new();
    run.expand(style.again, &mut runs);
    let listed = names.both(&both, |name, _, _| runs.replace("NAME", name), "\n");
    let mut last = line.as_str().trim_end().to_owned();
    // The list's last entry may have no comma yet.
    if style.again.ends_with(',') && !last.ends_with(',') {
        last.push(',');
    }
    let new = format!(
        "{}{piece}\n{}{last}\n{listed}{}",
        &text[..first.start()],
        &text[first.start()..line.start()],
        &text[line.end()..]
    );
    let new = if text.contains("\r\n") {
        new.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        new
    };
    Some((new, both.0, both.1))
}
