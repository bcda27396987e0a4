//! Under which conditions changed tests run, as their sources say it: an operating system, a toolchain, a feature, a
//! version. Where a run does not fulfil them the test has no result, or a skipped one, and a person wants to know why.

use crate::apply::entries;
use crate::scratch::{Scratch, TreeSide};
use crate::spans::{Span, spans};
use atlas_core::{Error, Evidence, Patch};
use atlas_facts::ending_of;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Attributes, decorators and annotations, above a test or above what encloses it.
static ABOVE: LazyLock<Regex> = LazyLock::new(|| {
    let rust = r"#!?\[\s*(?:cfg|cfg_attr|ignore|rustversion::\w+)\b";
    let python = r"@(?:\w+\.)*(?:skip|skipif|skipIf|skipUnless|skip_\w+|requires?_\w+)\b";
    let java = r"@(?:Enabled|Disabled|Ignore|Requires)\w*";
    let php = r"(?:\*\s*@requires\b|\#\[\s*(?:\w+\\)*Requires\w+)";
    let csharp = r"\[(?:\w*(?:Fact|Theory)\w*\(.*\bSkip\b|Ignore\b|Platform\w*\()";
    Regex::new(&format!(r"^\s*(?:{rust}|{python}|{java}|{php}|{csharp})"))
        .expect("a literal pattern")
});

/// A condition around a test, or in its own first line.
static AROUND: LazyLock<Regex> = LazyLock::new(|| {
    let script = r"\.(?:skip|skipIf|runIf|if|todo)\b\s*[.(]|^\s*x(?:it|describe|test|specify)\b";
    let ruby = r"^\s*(?:unless|x?(?:it|describe|context)\b.*\b(?:if|unless|skip|pending):)";
    let any = r"^\s*(?:if|elif)\b.*(?:platform|version|VERSION|ENGINE|os\.name|environ|process\.env|ENV\b|defined\?|respond_to)";
    Regex::new(&format!("{script}|{ruby}|{any}")).expect("a literal pattern")
});

/// A test that skips itself.
static WITHIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b[tb]\.Skip(?:f|Now)?\(|\bpytest\.(?:skip|importorskip)\(|\.skipTest\(|\bassum(?:e|ing)(?:True|False|That|Not)?\(|\bmarkTest(?:Skipped|Incomplete)\(|\bGTEST_SKIP\b|\bthis\.skip\(|^\s*(?:skip|omit|pend|pending)\b|\bAssert\.(?:Ignore|Skip|Inconclusive)\w*\(",
    )
    .expect("a literal pattern")
});

/// What a whole file asks for.
static OF_FILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?://go:build |// \+build |#!\[cfg|pytestmark\s*=.*skip|(?:\w+\s*=\s*)?pytest\.importorskip\()")
        .expect("a literal pattern")
});

/// Systems and machines that Go's files may be named for.
const GO_NAMES: &[&str] = &[
    "windows", "darwin", "freebsd", "netbsd", "openbsd", "solaris", "plan9", "js", "wasip1",
    "android", "ios", "aix", "arm", "arm64", "386", "ppc64le", "s390x", "riscv64", "wasm",
    "mips64",
];

/// So many files beside changed data are read for the tests that name its folder.
const MAX_READ: usize = 60;

/// A file that may hold tests, and the folders of changed data that its tests may name.
struct Source<'a> {
    side: &'a TreeSide,
    path: String,
    folders: Vec<String>,
}

/// Tests that the test patch changes, and those that name the folder of data which it changes, as far as they run
/// under a condition; each with the line that says so.
pub(crate) async fn conditions(
    scratch: &Scratch,
    tree: &str,
    test_patch: &Patch,
    modified: &[String],
) -> Result<BTreeMap<String, Evidence>, Error> {
    let Ok(files) = test_patch.files() else {
        return Ok(BTreeMap::new());
    };
    let entries = entries(scratch, tree).await?;
    let mut sources: BTreeMap<String, Source<'_>> = BTreeMap::new();
    let mut add = |path: &str, side, folder: Option<&str>| {
        let source = sources.entry(path.to_owned()).or_insert_with(|| Source {
            side,
            path: path.to_owned(),
            folders: Vec::new(),
        });
        source.folders.extend(folder.map(str::to_owned));
    };
    for file in &files {
        let path = file.path();
        if let Some(side) = entries.get(path.as_bytes()) {
            add(path, side, None);
        }
        let Some(folder) = path.rsplit('/').nth(1) else {
            continue;
        };
        // Beside the folder of data, or above that.
        for (beside, side) in &entries {
            let Ok(beside) = std::str::from_utf8(beside) else {
                continue;
            };
            let home = beside.rsplit_once('/').map_or("", |(home, _)| home);
            let above = home.is_empty() || path.starts_with(&format!("{home}/"));
            if above && beside != path && is_read(beside) {
                add(beside, side, Some(folder));
            }
        }
    }
    let sources: Vec<Source<'_>> = sources
        .into_values()
        .filter(|source| source.side.is_text_candidate() && is_read(&source.path))
        .take(MAX_READ)
        .collect();
    let ids = sources.iter().map(|source| source.side.oid.as_str());
    let contents = scratch.contents(ids).await?;
    let mut found = BTreeMap::new();
    for (source, content) in sources.iter().zip(contents) {
        let text = String::from_utf8_lossy(&content);
        let last = |name: &String| name.rsplit(['.', ':']).next().map(str::to_owned);
        let mut wanted = source
            .folders
            .iter()
            .cloned()
            .chain(modified.iter().filter_map(last));
        if !wanted.any(|word| text.contains(&word)) {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        for span in spans(&source.path, &text) {
            let body = lines.get(span.start..span.end.min(lines.len()));
            let names = |folder: &String| {
                let mut body = body.unwrap_or_default().iter();
                body.any(|line| names_folder(line, folder))
            };
            if !modified.contains(&span.name) && !source.folders.iter().any(names) {
                continue;
            }
            if let Some(why) = condition(&source.path, &lines, &span) {
                found.entry(span.name).or_insert(why);
            }
        }
    }
    Ok(found)
}

/// Whether the file is one in which tests are written.
fn is_read(path: &str) -> bool {
    ending_of(path).is_some_and(|ending| ending.holds_tests)
}

/// Whether a line names the folder in a path: `"tests/compile-fail/**/*.rs"`.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        matches!(before, Some('/' | '"' | '\'' | '`'))
            && matches!(after, Some('/' | '"' | '\'' | '`'))
    })
}

/// The line that says under which condition a test runs.
fn condition(path: &str, lines: &[&str], span: &Span) -> Option<Evidence> {
    let said = |at: usize| Evidence::at(path, at + 1, lines[at].trim());
    let first = attached(lines, span.start);
    let end = span.end.min(lines.len());
    let together = |places: &[usize]| {
        let text: Vec<&str> = places.iter().map(|at| lines[*at].trim()).collect();
        let first = places.first()?;
        Some(Evidence::at(path, first + 1, text.join(" ")))
    };
    let above = |from: usize, to: usize| -> Option<Evidence> {
        let found: Vec<usize> = (from..to).filter(|at| is_above(lines[*at])).collect();
        together(&found)
    };
    // Some spans begin with what stands above a test, some with its name.
    if let Some(found) = above(first, end.min(span.start + 8)) {
        return Some(found);
    }
    if let Some(at) = (span.start..end).find(|at| WITHIN.is_match(lines[*at])) {
        let asks = |at: &usize| {
            lines[*at].trim_start().starts_with("if")
                || lines[*at].trim_start().starts_with("unless ")
        };
        let asked = at.checked_sub(1).filter(|at| *at > span.start && asks(at));
        let places: Vec<usize> = asked.into_iter().chain([at]).collect();
        return together(&places);
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut inner = usize::MAX;
    for at in (0..=span.start.min(lines.len().saturating_sub(1))).rev() {
        let line = lines[at];
        if line.trim().is_empty() || indent(line) >= inner {
            continue;
        }
        inner = indent(line);
        if AROUND.is_match(line) {
            return Some(said(at));
        }
        if let Some(found) = above(attached(lines, at), at) {
            return Some(found);
        }
    }
    if let Some(at) = lines.iter().position(|line| OF_FILE.is_match(line)) {
        return Some(said(at));
    }
    let stem = path.strip_suffix("_test.go")?;
    let system = stem.rsplit_once('_')?.1;
    GO_NAMES
        .contains(&system)
        .then(|| Evidence::of(path, format!("the file is for {system}, by its name")))
}

/// The first of the attributes, decorators and comments right above a line.
fn attached(lines: &[&str], at: usize) -> usize {
    let is_attached = |line: &str| {
        line.trim_start()
            .starts_with(['#', '@', '/', '*', '[', ')'])
    };
    let above = lines[..at.min(lines.len())].iter().rev();
    at - above.take_while(|line| is_attached(line)).count()
}

fn is_above(line: &str) -> bool {
    let bare: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    !bare.starts_with("#[cfg(test)]") && ABOVE.is_match(line)
}

#[cfg(test)]
mod tests {
    use super::condition;
    use crate::spans::spans;

    #[test]
    fn the_line_that_says_when_a_test_runs() {
        for (path, text, wanted) in [
            (
                "tests/compile.rs",
                "#[cfg(not(miri))]\n#[rustversion::attr(beta, test)]\nfn fail() {}\n",
                Some((1, "#[cfg(not(miri))] #[rustversion::attr(beta, test)]")),
            ),
            (
                "tests/compile.rs",
                "#[rustversion::attr(beta, test)]\n#[allow(dead_code)]\nfn fail() {}\n",
                Some((1, "#[rustversion::attr(beta, test)]")),
            ),
            (
                "src/lib.rs",
                "#[cfg(test)]\nmod tests {\n    #[test]\n    fn plain() {}\n}\n",
                None,
            ),
            (
                "src/lib.rs",
                "#[cfg(all(test, feature = \"x\"))]\nmod tests {\n    #[test]\n    fn plain() {}\n}\n",
                Some((1, "#[cfg(all(test, feature = \"x\"))]")),
            ),
            (
                "a_test.go",
                "//go:build integration\n\npackage a\n\nfunc TestX(t *testing.T) {\n}\n",
                Some((1, "//go:build integration")),
            ),
            (
                "a_windows_test.go",
                "package a\n\nfunc TestX(t *testing.T) {\n}\n",
                Some((0, "the file is for windows, by its name")),
            ),
            (
                "a_test.go",
                "package a\n\nfunc TestX(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n}\n",
                Some((4, "if testing.Short() { t.Skip()")),
            ),
            (
                "test_a.py",
                "class TestA:\n    @pytest.mark.skipif(sys.platform == 'win32', reason='x')\n    def test_x(self):\n        pass\n",
                Some((
                    2,
                    "@pytest.mark.skipif(sys.platform == 'win32', reason='x')",
                )),
            ),
            (
                "test_a.py",
                "@unittest.skipUnless(HAS, '')\nclass TestA:\n    def test_x(self):\n        pass\n",
                Some((1, "@unittest.skipUnless(HAS, '')")),
            ),
            (
                "ATest.java",
                "class ATest {\n  @Test\n  @EnabledOnOs(OS.WINDOWS)\n  void runs() {\n  }\n}\n",
                Some((3, "@EnabledOnOs(OS.WINDOWS)")),
            ),
            (
                "a_spec.rb",
                "describe A do\n  if RUBY_VERSION >= '3.4'\n    it 'runs' do\n    end\n  end\nend\n",
                Some((2, "if RUBY_VERSION >= '3.4'")),
            ),
            (
                "a_test.rb",
                "class A\n  def test_x\n    skip unless Etc.respond_to?(:x)\n  end\nend\n",
                Some((3, "skip unless Etc.respond_to?(:x)")),
            ),
            (
                "a.test.ts",
                "describe('a', () => {\n  it.runIf(isWindows)('runs', () => {\n  })\n})\n",
                Some((2, "it.runIf(isWindows)('runs', () => {")),
            ),
            (
                "ATest.php",
                "<?php class ATest {\n    #[RequiresPhp('8.4')]\n    public function testX() {\n    }\n}\n",
                Some((2, "#[RequiresPhp('8.4')]")),
            ),
            (
                "a.test.ts",
                "describe('a', () => {\n  it('runs', () => {\n  })\n})\n",
                None,
            ),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            let spans = spans(path, text);
            assert_eq!(spans.len(), 1, "{path}: {spans:?}");
            let found = condition(path, &lines, &spans[0]);
            let found = found.map(|why| (why.line.unwrap_or(0), why.text));
            let wanted = wanted.map(|(line, text)| (line, text.to_owned()));
            assert_eq!(found, wanted, "{path}:\n{text}");
        }
    }
}
