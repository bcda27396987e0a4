//! Lists of tests: names that a run can print again.

use super::columns::column_of;
use super::{LintCode, LintedRow, counted, shown};
use crate::convert::{Field, list, text};
use crate::schema::Schema;
use atlas_core::{HunkLineKind, Patch, TestOrigin, TestOrigins, test_file};
use std::collections::BTreeSet;

/// Words that are statuses, not names. In small letters alone they may be names: Rust has tests
/// that are called `error` and `none`.
const STATUSES: &[&str] = &[
    "PASSED", "FAILED", "SKIPPED", "ERROR", "ERRORS", "XFAIL", "XPASS", "PASS", "FAIL", "SKIP",
    "OK", "NOT OK", "NONE",
];

pub(super) fn look(looked: &mut LintedRow<'_>) {
    let fail = list(&looked.view, Field::FailToPass);
    let pass = list(&looked.view, Field::PassToPass);
    let deprecated = looked
        .view
        .get(&Field::Split)
        .is_some_and(|split| split == "deprecated");
    let separated = looked.schema != Schema::R2e && looked.schema != Schema::HarborTask;
    if fail.is_empty() && separated && !deprecated {
        let field = column_of(looked, Field::FailToPass);
        looked.add(
            LintCode::EmptyFailToPass,
            field,
            "no test must come to pass, so every patch resolves the task",
            "run the states again, or leave the row out",
        );
    }
    for (field, tests) in [(Field::FailToPass, &fail), (Field::PassToPass, &pass)] {
        let column = column_of(looked, field);
        names(looked, column, tests);
    }
    origin(looked, &fail);
    added(looked, &fail, &pass);
    selected(looked, [&fail, &pass]);
    let both: Vec<&String> = {
        let pass: BTreeSet<&String> = pass.iter().collect();
        fail.iter().filter(|name| pass.contains(name)).collect()
    };
    if let Some(first) = both.first() {
        let field = column_of(looked, Field::FailToPass);
        let message = format!(
            "both lists have {}, as `{}`",
            counted(both.len(), "test"),
            shown(first)
        );
        looked.add(
            LintCode::TestInBothLists,
            field,
            message,
            "a test that passed before belongs to PASS_TO_PASS only",
        );
    }
}

/// Tests that only the solution defines.
fn origin(looked: &mut LintedRow<'_>, fail: &[String]) {
    let patch = |field| Patch::new(text(&looked.view, field).unwrap_or_default());
    let (gold, test) = (patch(Field::GoldPatch), patch(Field::TestPatch));
    if gold.is_empty() {
        return;
    }
    let origins = TestOrigins::new(&test, &gold);
    let found: Vec<_> = fail
        .iter()
        .filter_map(|id| match origins.of(id) {
            TestOrigin::Gold(line) => Some((id, line)),
            _ => None,
        })
        .collect();
    if let Some((first, line)) = found.first() {
        let message = format!(
            "only the solution defines {} of {}, as `{}` ({}: `{}`)",
            found.len(),
            fail.len(),
            shown(first),
            line.source,
            shown(&line.text)
        );
        let field = column_of(looked, Field::FailToPass);
        let way_out = "take them out, or move their source to the test patch";
        looked.add(LintCode::UnsatisfiableTest, field, message, way_out);
    }
}

/// Tests that the test patch adds, where the lists know none of them.
fn added(looked: &mut LintedRow<'_>, fail: &[String], pass: &[String]) {
    let test = Patch::new(text(&looked.view, Field::TestPatch).unwrap_or_default());
    let added = added_tests(&test);
    let Some((first, mark)) = added.first() else {
        return;
    };
    // Lists of files, packages or programs name no single test.
    let is_whole = |id: &String| test_file(id) == Some(id.as_str());
    if !fail.iter().any(|id| id.contains(mark)) || fail.iter().any(is_whole) {
        return;
    }
    let ids = fail.iter().chain(pass);
    let known: BTreeSet<&str> = ids.flat_map(|id| id.split(|c| !is_word(c))).collect();
    if added.iter().any(|(name, _)| known.contains(name.as_str())) {
        return;
    }
    // A listed test that the patch changes, or one that is listed by its title.
    let origins = TestOrigins::new(&test, &Patch::default());
    if fail.iter().any(|id| origins.is_shown(id)) {
        return;
    }
    let message = format!(
        "the test patch adds {}, as `{}`; no list has it, nor another that the patch shows",
        counted(added.len(), "test"),
        shown(first)
    );
    let field = column_of(looked, Field::FailToPass);
    let way_out = "run the states again so that the changed tests are run, or leave the row out";
    looked.add(LintCode::AddedTestsUnlisted, field, message, way_out);
}

/// Names of tests that a patch adds, in the languages where a definition is known as a test's, and what ids of
/// single tests hold there.
fn added_tests(patch: &Patch) -> Vec<(String, &'static str)> {
    let mut names = Vec::new();
    for file in patch.files().unwrap_or_default() {
        let mark = match file.path().rsplit_once('.') {
            Some((_, "py")) => "test_",
            Some((stem, "go")) if stem.ends_with("_test") => "Test",
            Some((_, "rs")) => "::",
            _ => continue,
        };
        for hunk in &file.hunks {
            let mut is_marked = false;
            for line in &hunk.lines {
                let text = String::from_utf8_lossy(&line.bytes);
                let text = text.trim();
                let name = match mark {
                    "test_" => {
                        let text = text.strip_prefix("async ").unwrap_or(text);
                        let name = text.strip_prefix("def ");
                        name.filter(|name| name.starts_with(mark))
                    }
                    "Test" => text
                        .strip_prefix("func ")
                        .filter(|name| name.starts_with(mark)),
                    _ => {
                        let at = text.find("fn ").filter(|_| is_marked);
                        // `#[test]`, `#[tokio::test(start_paused = true)]`
                        let attribute = text.strip_prefix("#[").unwrap_or_default();
                        let attribute = attribute.split([']', '(']).next().unwrap_or_default();
                        let is_test = attribute.rsplit("::").next() == Some("test");
                        is_marked = is_test || (is_marked && text.starts_with("#["));
                        at.map(|at| &text[at + "fn ".len()..])
                    }
                };
                let name = name.map(|name| name.split(|c| !is_word(c)).next().unwrap_or_default());
                if let Some(name) = name.filter(|name| !name.is_empty())
                    && line.kind == HunkLineKind::Insert
                {
                    names.push((name.to_owned(), mark));
                }
            }
        }
    }
    names
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Tests of files that a harness does not run which runs the test patch's files, or those that the row
/// names.
fn selected(looked: &mut LintedRow<'_>, lists: [&[String]; 2]) {
    let named = list(&looked.view, Field::TestFiles);
    let runs_files = match looked.schema {
        Schema::Pro => !named.is_empty(),
        Schema::SwebenchV4 => true,
        _ => false,
    };
    let test = Patch::new(text(&looked.view, Field::TestPatch).unwrap_or_default());
    let Some(patched) = test
        .files()
        .ok()
        .filter(|files| runs_files && !files.is_empty())
    else {
        return;
    };
    let known: Vec<&str> = patched
        .iter()
        .flat_map(atlas_core::FilePatch::paths)
        .chain(named.iter().map(String::as_str))
        .collect();
    let is_known = |id: &str, file: &str| {
        known.iter().any(|path| {
            // Jest and Vitest take patterns: `a-test.ts` asks for `a-test.tsx`, too.
            let is_matched = is_script(path) && is_script(file) && file.contains(path);
            // `test/user.js` may be what loads the files in `test/user`.
            let folder = path.rsplit_once('.').map_or(*path, |(stem, _)| stem);
            let is_loaded = is_script(path)
                && is_script(file)
                && file
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/'));
            // Plugins of pytest read cases from files of their own: `t.py::Suite::cases.test::one`.
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_case = id.split("::").any(|part| part == name);
            path.ends_with(file) || file.ends_with(path) || is_matched || is_loaded || is_case
        })
    };
    // The harness's commands for languages other than Python name no files of the test patch.
    let is_pro = looked.schema == Schema::Pro;
    let is_asked_by_file = |id: &str| is_pro || id.contains(".py::");
    for (field, tests) in [Field::FailToPass, Field::PassToPass]
        .into_iter()
        .zip(lists)
    {
        let left: Vec<&String> = tests
            .iter()
            .filter(|id| is_asked_by_file(id))
            .filter(|id| test_file(id).is_some_and(|file| !is_known(id, file)))
            .collect();
        if let Some(first) = left.first() {
            let message = format!(
                "{} of {} are in files that are not run, as `{}`",
                left.len(),
                tests.len(),
                shown(first)
            );
            let way_out = "take them out, or run their files";
            let field = column_of(looked, field);
            looked.add(LintCode::UnselectedTest, field, message, way_out);
        }
    }
}

fn is_script(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(
        extension,
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts"
    )
}

/// An address of memory, a file below a folder for temporary ones.
fn is_unstable(name: &str) -> bool {
    let address = name.match_indices("0x").any(|(at, _)| {
        let digits = name[at + 2..]
            .bytes()
            .take_while(u8::is_ascii_hexdigit)
            .count();
        let is_object = name[..at].ends_with(" at ") && digits >= 6;
        is_object || (11..=16).contains(&digits)
    });
    let folders = ["/tmp/tmp", "/tmp/pytest-", "/var/folders/", "/private/var/"];
    address || folders.iter().any(|folder| name.contains(folder))
}

/// One finding a kind and column: a list of thousands of bad names has one cause.
fn names(looked: &mut LintedRow<'_>, column: &str, tests: &[String]) {
    let mut seen = BTreeSet::new();
    let twice: Vec<&String> = tests.iter().filter(|name| !seen.insert(*name)).collect();
    let kinds: [(LintCode, Vec<&String>, &str, &str); 6] = [
        (
            LintCode::DuplicateTest,
            twice,
            "stand there twice",
            "keep one of each; where two tests print one name, neither can be told apart",
        ),
        (
            LintCode::TruncatedTest,
            tests.iter().filter(|name| is_truncated(name)).collect(),
            "are cut off",
            "parse the log again with a reader that keeps blanks in names",
        ),
        (
            LintCode::LocationAsTest,
            tests.iter().filter(|name| is_location(name)).collect(),
            "are places in files",
            "parse the log again; a line of a report was taken for a result",
        ),
        (
            LintCode::ProseAsTest,
            tests.iter().filter(|name| is_no_name(name)).collect(),
            "are no names of tests",
            "parse the log again; a line of a summary was taken for a result",
        ),
        (
            LintCode::TimingInTest,
            tests.iter().filter(|name| has_timing(name)).collect(),
            "hold a duration",
            "take the duration out: no second run prints the same",
        ),
        (
            LintCode::UnstableTest,
            tests.iter().filter(|name| is_unstable(name)).collect(),
            "hold an address or a temporary path",
            "leave them out: no second run prints the same",
        ),
    ];
    for (code, found, what, way_out) in kinds {
        if let Some(first) = found.first() {
            let message = format!(
                "{} of {} {what}, as `{}`",
                found.len(),
                tests.len(),
                shown(first)
            );
            looked.add(code, column, message, way_out);
        }
    }
}

/// A bracket of parameters that is not closed, or a quote within it: cut at a blank or a quote. Parameters
/// hold any text, brackets and quotes too, so a name that ends with the closing bracket is whole.
fn is_truncated(name: &str) -> bool {
    if is_no_name(name) || (name.contains('[') && name.ends_with(']')) {
        return false;
    }
    // `not strip '['`: a test that is about brackets. `\"` is within a quote.
    let name = ["'['", "\"[\"", "`[`", "\\\""]
        .iter()
        .fold(name.to_owned(), |name, quoted| name.replace(quoted, ""));
    let count = |c: char| name.matches(c).count();
    if count('[') > count(']') {
        return true;
    }
    // `test_x("a` or `case 'b`: an odd quote at the start of a last word. An apostrophe stands
    // within or behind a word.
    let last = name.rsplit([' ', '(', '[', ',']).next().unwrap_or(&name);
    ['"', '\'', '`']
        .into_iter()
        .any(|quote| last.len() > 1 && last.starts_with(quote) && count(quote) % 2 == 1)
}

/// `[1] tests/x.py:3`, `tests/x.py:3: AssertionError`, `at lib/x.js:3:5`.
fn is_location(name: &str) -> bool {
    let rest = match name
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
    {
        Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => name,
    };
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let word = rest.split([' ', '(']).next().unwrap_or(rest);
    let mut parts = word.trim_end_matches(':').split(':');
    let file = parts.next().unwrap_or_default();
    let numbers: Vec<&str> = parts.collect();
    let has_extension = file
        .rsplit('/')
        .next()
        .and_then(|base| base.rsplit_once('.'))
        .is_some_and(|(stem, extension)| {
            !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.starts_with(|c: char| c.is_ascii_alphabetic())
                && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        });
    let numbered = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    has_extension && !numbers.is_empty() && numbers.iter().all(numbered)
}

/// A status, a number, nothing, several lines, colours of a terminal, or a count of tests. Other
/// control characters occur in names: parameters that are about them.
fn is_no_name(name: &str) -> bool {
    let trimmed = name.trim();
    // pytest's progress behind a status: `PASSED [ 14%]`.
    let shown = trimmed.strip_suffix("%]").and_then(|front| {
        let front = front.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        front.strip_suffix('[')
    });
    let trimmed = shown.map_or(trimmed, str::trim_end);
    let word = trimmed.trim_end_matches([':', '.', '!']);
    let upper = word.to_uppercase();
    let is_status = STATUSES.contains(&upper.as_str())
        && (word == upper || word != trimmed || upper.ends_with("OK"));
    // Fixtures are named for the reports that they are about: `9496`. A count has fewer digits.
    let is_number = trimmed.len() > 2 && trimmed.bytes().all(|b| b.is_ascii_digit());
    if is_status
        || !(is_number || trimmed.chars().any(char::is_alphabetic))
        || name.contains(['\n', '\r', '\u{1b}'])
    {
        return true;
    }
    // `3 passed in 0.12s`, `Tests: 2 failed, 5 passed`, `5 examples, 0 failures`
    let words: Vec<String> = trimmed
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_count = |pair: &[String]| {
        let counted = [
            "passed", "failed", "skipped", "passing", "failing", "pending", "tests", "examples",
            "failures", "errors", "warnings", "suites",
        ];
        pair[0].bytes().all(|b| b.is_ascii_digit()) && counted.contains(&pair[1].as_str())
    };
    let begins = words.first().is_some_and(|first| {
        first.ends_with(':') || first.starts_with('=') || first.bytes().all(|b| b.is_ascii_digit())
    });
    let counts = words.windows(2).filter(|pair| is_count(pair)).count();
    begins
        && counts > 0
        && (counts > 1 || words.iter().any(|word| word == "in") || words.len() <= 3)
}

/// `(0.02s)`, `[1.3 ms]`, ` in 29 msec` at the end of a name.
fn has_timing(name: &str) -> bool {
    if is_no_name(name) {
        return false;
    }
    let name = name.trim_end();
    let inner = match (name.rsplit_once(" ("), name.rsplit_once(" [")) {
        (Some((_, inner)), _) if name.ends_with(')') => inner.trim_end_matches(')'),
        (_, Some((_, inner))) if name.ends_with(']') => inner.trim_end_matches(']'),
        _ => match name.rsplit_once(" in ") {
            Some((_, inner)) => inner,
            None => return false,
        },
    };
    let digits = inner
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(inner.len());
    let unit = inner[digits..].trim();
    digits > 0
        && inner.starts_with(|c: char| c.is_ascii_digit())
        && [
            "s",
            "ms",
            "us",
            "µs",
            "ns",
            "sec",
            "msec",
            "secs",
            "seconds",
            "milliseconds",
        ]
        .contains(&unit)
}
