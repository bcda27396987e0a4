//! Where a test is defined, told from the words of its id and from the two patches.

use crate::{Evidence, FileContent, HunkLineKind, Patch};
use std::collections::BTreeMap;
use std::ops::Range;

/// The id without the source line that some runners put into it, and without the remark behind that line:
/// `src/lib.rs - f (line 12)` is `src/lib.rs - f`, and `src/lib.rs - (line 3)` is `src/lib.rs`.
///
/// Every patch shifts such lines, so the id with its line names another test in another state. Examples of
/// one item share the shortened id; it passes where all of them do.
///
/// ```
/// use atlas_core::without_source_line;
/// assert_eq!(without_source_line("src/lib.rs - Foo::f (line 12) - compile fail"), "src/lib.rs - Foo::f");
/// assert_eq!(without_source_line("reports an error (line 3)"), "reports an error (line 3)");
/// ```
pub fn without_source_line(id: &str) -> &str {
    let shortened = || {
        let (item, rest) = id.rsplit_once("(line ")?;
        let (number, remark) = rest.split_once(')')?;
        let (file, _) = item.split_once(" - ")?;
        let is_place = !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && (remark.is_empty() || remark.starts_with(" - "))
            && is_file(file);
        let item = item.trim_end();
        is_place.then(|| item.strip_suffix(" -").unwrap_or(item))
    };
    if id.contains("(line ") {
        shortened().unwrap_or(id)
    } else {
        id
    }
}

/// What the patches say of where a test is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestOrigin {
    /// A file of the test patch holds it.
    Tests,
    /// Only what the gold patch adds defines it, as this line or file shows.
    Gold(Evidence),
    /// Neither patch names it: it was there before, or its name is made at run time.
    Unknown,
}

/// The sources that an id is looked for in: what the test patch shows of its files, and what the gold patch
/// adds. It knows ids by the marks that most runners share (`::`, ` > `, `/`, `.`), no runner by name.
#[derive(Clone, Debug, Default)]
pub struct TestOrigins {
    tests: Vec<Source>,
    gold: Vec<Source>,
}

#[derive(Clone, Debug)]
struct Source {
    path: String,
    /// The patch makes the file, so all of it is known.
    is_new: bool,
    text: String,
    /// How many words the path has, without its extension.
    path_words: usize,
    /// Each word's places; those of the path come first.
    words: BTreeMap<String, Vec<usize>>,
}

impl TestOrigins {
    /// From the patches alone. One that cannot be read tells nothing.
    pub fn new(test_patch: &Patch, gold_patch: &Patch) -> Self {
        let sources = |patch: &Patch, is_gold: bool| -> Vec<Source> {
            let files = patch.files().unwrap_or_default();
            let kept = files.iter().filter(|file| file.new_path.is_some());
            kept.map(|file| {
                let mut text = String::new();
                for hunk in &file.hunks {
                    if !is_gold {
                        text.push_str(&String::from_utf8_lossy(&hunk.section));
                        text.push('\n');
                    }
                    for line in &hunk.lines {
                        let shown = match line.kind {
                            HunkLineKind::Insert => true,
                            HunkLineKind::Context => !is_gold,
                            HunkLineKind::Delete => false,
                        };
                        if shown {
                            text.push_str(String::from_utf8_lossy(&line.bytes).trim_end());
                            text.push('\n');
                        }
                    }
                }
                Source::new(file.path(), file.old_path.is_none(), text)
            })
            .collect()
        };
        Self {
            tests: sources(test_patch, false),
            gold: sources(gold_patch, true),
        }
    }

    /// The same with the whole contents of files of the test patch, where they are known.
    #[must_use]
    pub fn with_files(mut self, files: &BTreeMap<String, FileContent>) -> Self {
        for source in &mut self.tests {
            if let Some(content) = files.get(&source.path) {
                let text = String::from_utf8_lossy(&content.bytes).into_owned();
                *source = Source::new(&source.path, source.is_new, text);
            }
        }
        self
    }

    /// Where this test is defined.
    pub fn of(&self, id: &str) -> TestOrigin {
        let id = without_source_line(id);
        let stem = stem(id);
        let (file, rest) = file_of(stem);
        if let Some(file) = file {
            return self.in_file(file, rest);
        }
        let mut known = parts(stem);
        let is_known = |part: &str| self.sources().any(|source| source.has(part));
        // What a macro numbers (`case_1`) stands in no source.
        while known
            .last()
            .is_some_and(|part| part.contains(|c: char| c.is_ascii_digit()) && !is_known(part))
        {
            known.pop();
        }
        let Some(leaf) = known.last().copied().filter(|leaf| is_known(leaf)) else {
            return TestOrigin::Unknown;
        };
        known.retain(|part| is_known(part));
        let fit = |source: &Source| source.fit(&known);
        let gold = self
            .gold
            .iter()
            .filter(|source| source.defines_test(leaf).is_some());
        let gold = gold
            .map(|source| (fit(source), source))
            .max_by_key(|found| found.0);
        let tests = self.tests.iter().filter(|source| source.has(leaf));
        let tests = tests.map(fit).max().unwrap_or_default();
        // One word that both sides have says nothing of a definition's place.
        let is_closer = |best: (usize, usize)| {
            best.0 > tests.0 || (best.0 == tests.0 && best.0 > 1 && best.1 > tests.1)
        };
        // A table in a test's unseen lines may name what the solution has too.
        let around = self.tests.iter().map(|source| fit(source).0).max();
        match gold {
            Some((best, _)) if tests.0 == 0 && around >= Some(best.0) => TestOrigin::Unknown,
            Some((best, source)) if is_closer(best) => source.shown(leaf),
            _ if tests.0 > 0 => TestOrigin::Tests,
            _ => TestOrigin::Unknown,
        }
    }

    /// Whether what the test patch shows of its files defines this test, or holds its title.
    pub fn is_shown(&self, id: &str) -> bool {
        let stem = stem(without_source_line(id));
        let leaf = parts(stem).last().copied().unwrap_or_default();
        let is_title = stem.contains(' ');
        let mut sources = self.tests.iter();
        sources.any(|source| {
            source.defines(leaf).is_some() || (is_title && source.text.contains(stem))
        })
    }

    /// Where a test is whose id begins with a file.
    fn in_file(&self, file: &str, rest: &str) -> TestOrigin {
        let among = |sources: &'_ [Source]| -> Option<usize> {
            sources
                .iter()
                .position(|source| is_same_file(&source.path, file))
        };
        let parts = parts(rest);
        let leaf = parts.last().copied().unwrap_or_default();
        match (among(&self.tests), among(&self.gold)) {
            (Some(tests), Some(gold)) => {
                let gold = &self.gold[gold];
                let is_golds =
                    gold.defines(leaf).is_some() && self.tests[tests].defines(leaf).is_none();
                if is_golds {
                    gold.shown(leaf)
                } else {
                    TestOrigin::Tests
                }
            }
            (Some(_), None) => TestOrigin::Tests,
            (None, Some(gold)) => {
                let gold = &self.gold[gold];
                let is_golds = gold.is_new || gold.defines(leaf).is_some();
                if is_golds {
                    gold.shown(leaf)
                } else {
                    TestOrigin::Unknown
                }
            }
            (None, None) => TestOrigin::Unknown,
        }
    }

    /// The part of an id from its first to its last word that only the gold patch has: in what it adds or in
    /// the names of its files, and in no file of the test patch. Words of fewer than three letters and the
    /// names of truth and of nothing say nothing.
    pub fn golds_words(&self, id: &str) -> Option<Range<usize>> {
        const COMMON: &[&str] = &[
            "True",
            "False",
            "None",
            "true",
            "false",
            "null",
            "undefined",
        ];
        let in_any = |sources: &[Source], word: &str| {
            let mut sources = sources.iter();
            sources.any(|source| source.words.contains_key(word))
        };
        let mut found: Option<Range<usize>> = None;
        for word in words(id) {
            let letters = word.chars().filter(|c| c.is_alphabetic()).count();
            let is_golds = letters >= 3
                && !COMMON.contains(&word)
                && in_any(&self.gold, word)
                && !in_any(&self.tests, word);
            if is_golds {
                let start = word.as_ptr().addr() - id.as_ptr().addr();
                let from = found.map_or(start, |found| found.start);
                found = Some(from..start + word.len());
            }
        }
        found
    }

    fn sources(&self) -> impl Iterator<Item = &Source> {
        self.tests.iter().chain(&self.gold)
    }
}

impl Source {
    fn new(path: &str, is_new: bool, text: String) -> Self {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, word) in words(stem).chain(words(&text)).enumerate() {
            match found.get_mut(word) {
                Some(places) => places.push(at),
                None => {
                    found.insert(word.to_owned(), vec![at]);
                }
            }
        }
        Self {
            path: path.to_owned(),
            is_new,
            path_words: words(stem).count(),
            text,
            words: found,
        }
    }

    fn has(&self, part: &str) -> bool {
        self.words.contains_key(part) || self.has_phrase(part)
    }

    /// A title; `go test` writes its blanks as underscores.
    fn has_phrase(&self, part: &str) -> bool {
        let is_title = !part.chars().all(is_word);
        is_title && self.text.contains(part)
            || part.contains('_') && self.text.contains(&part.replace('_', " "))
    }

    /// How well the file fits an id: how many of the id's parts it holds, in their order, and how many its
    /// path or a definition has.
    fn fit(&self, parts: &[&str]) -> (usize, usize) {
        let is_firm = |part: &&&str| {
            let first = self.words.get(**part).and_then(|places| places.first());
            first.is_some_and(|place| *place < self.path_words) || self.defines(part).is_some()
        };
        (self.score(parts), parts.iter().filter(is_firm).count())
    }

    /// How many of an id's parts the file holds, in the order of the id.
    fn score(&self, parts: &[&str]) -> usize {
        // The end of the earliest row of so many parts.
        let mut ends: Vec<Option<usize>> = vec![None];
        let mut titles = 0;
        for part in parts {
            let Some(places) = self.words.get(*part) else {
                titles += usize::from(self.has_phrase(part));
                continue;
            };
            for length in (0..ends.len()).rev() {
                let from = ends[length].map_or(0, |end| end + 1);
                let next = places.partition_point(|place| *place < from);
                let Some(end) = places.get(next).copied() else {
                    continue;
                };
                match ends.get_mut(length + 1) {
                    Some(known) => *known = known.map(|known| known.min(end)),
                    None => ends.push(Some(end)),
                }
            }
        }
        ends.len() - 1 + titles
    }

    /// The line that defines something of this name: behind a word that defines, or a title behind a word
    /// that begins a test.
    fn defines(&self, name: &str) -> Option<&str> {
        self.definitions(name).next().map(|(line, _)| line)
    }

    /// The line that defines something of this name which can be a test by itself.
    fn defines_test(&self, name: &str) -> Option<&str> {
        let mut definitions = self.definitions(name);
        let found = definitions
            .find(|(line, at)| !is_no_test(&line[..*at], name, &line[at + name.len()..]));
        found.map(|(line, _)| line)
    }

    /// The lines that define this name, and where on them it stands.
    fn definitions<'a, 'n>(
        &'a self,
        name: &'n str,
    ) -> impl Iterator<Item = (&'a str, usize)> + use<'a, 'n> {
        let places = self.text.match_indices(name).filter(|_| !name.is_empty());
        places.filter_map(|(at, _)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !is_word(c));
            let whole = edge(self.text[..at].chars().next_back())
                && edge(self.text[at + name.len()..].chars().next());
            let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let end = self.text[at..]
                .find('\n')
                .map_or(self.text.len(), |end| at + end);
            (whole && is_defining(&self.text[start..at]))
                .then(|| (&self.text[start..end], at - start))
        })
    }

    fn shown(&self, leaf: &str) -> TestOrigin {
        let line = self.defines_test(leaf).or_else(|| self.defines(leaf));
        let line = line.unwrap_or("the gold patch adds the file");
        TestOrigin::Gold(Evidence::of(&self.path, line.trim()))
    }
}

/// Words before a name that they define.
const DEFINING: &[&str] = &[
    "fn",
    "def",
    "func",
    "fun",
    "function",
    "sub",
    "class",
    "struct",
    "enum",
    "trait",
    "union",
    "interface",
    "mod",
    "module",
    "macro_rules",
    "void",
    "Task",
    "it",
    "test",
    "specify",
    "scenario",
    "Scenario",
    "describe",
    "context",
    "deftest",
];

/// Whether what stands before a name on its line defines it.
fn is_defining(before: &str) -> bool {
    let last_word = |text: &str| -> String {
        let text = text.trim_end_matches(['!', ':']);
        let word = text.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        word.to_owned()
    };
    let bare = before.trim_end();
    // A macro that makes a test takes its name, or its suite and its name.
    if let Some((front, arguments)) = bare.rsplit_once('(')
        && !bare.ends_with(['"', '\'', '`', ')'])
    {
        let word = last_word(front.trim_end());
        let is_second = arguments
            .strip_suffix(',')
            .is_some_and(|suite| suite.trim().chars().all(is_word));
        let is_name = arguments.is_empty() || arguments.trim() == "NAME" || is_second;
        return is_name && (word.contains("TEST") || word == "add_test");
    }
    let mut before = bare.trim_end_matches(['"', '\'', '`', '(', ' ', '\t']);
    // The receiver of a method.
    if before.ends_with(')')
        && let Some((front, _)) = before.rsplit_once('(')
    {
        before = front.trim_end();
    }
    DEFINING.contains(&last_word(before).as_str())
}

/// Whether what a line defines is no test by itself: a method, a module or a type of Rust, a function of Go
/// or Swift that is not named or marked as a test.
fn is_no_test(before: &str, name: &str, after: &str) -> bool {
    let mut front = before.trim_end();
    if front.ends_with(')')
        && let Some((receiver, _)) = front.rsplit_once('(')
    {
        front = receiver.trim_end();
    }
    let word = front.rsplit(|c| !is_word(c)).next();
    match word.unwrap_or_default() {
        "func" => {
            let is_named = ["Test", "Benchmark", "Example", "Fuzz", "test"]
                .iter()
                .any(|start| name.starts_with(start));
            !is_named && !front.contains("@Test")
        }
        "mod" | "struct" | "enum" | "trait" | "union" => true,
        "fn" => {
            let arguments = after.split_once('(').map_or("", |(_, arguments)| arguments);
            let first = arguments.split([',', ')', ':']).next().unwrap_or_default();
            first.rsplit(|c| !is_word(c)).next() == Some("self")
        }
        _ => false,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// The id without its parameters: `t.py::test_a[1-x]` is `t.py::test_a`.
pub fn stem(id: &str) -> &str {
    match id.find('[') {
        Some(at) if at > 0 && id.ends_with(']') => &id[..at],
        _ => id,
    }
}

/// The marks between the parts of an id.
const MARKS: [&str; 6] = ["::", " > ", " | ", " › ", " » ", " - "];

/// The parts of an id without its file: modules, classes, titles, the test.
fn parts(id: &str) -> Vec<&str> {
    // `test_x (pkg.mod.Class)`
    if let Some((name, class)) = id.strip_suffix(')').and_then(|id| id.split_once(" ("))
        && class.contains('.')
        && class.chars().all(|c| is_word(c) || c == '.')
    {
        return parts(class).into_iter().chain([name]).collect();
    }
    let mut pieces = vec![id];
    for mark in MARKS {
        pieces = pieces
            .into_iter()
            .flat_map(|piece| piece.split(mark))
            .collect();
    }
    let pieces = pieces.into_iter().flat_map(|piece| {
        let piece = piece.trim();
        let is_title = piece.contains(' ');
        piece.split(move |c| !is_title && matches!(c, '.' | '/' | '#' | ':' | '$'))
    });
    pieces
        .map(|piece| piece.split('(').next().unwrap_or(piece).trim())
        .filter(|piece| piece.chars().any(char::is_alphabetic))
        .collect()
}

/// The file that an id begins with, and the rest.
fn file_of(id: &str) -> (Option<&str>, &str) {
    let end = MARKS
        .iter()
        .filter_map(|mark| Some((id.find(mark)?, mark.len())))
        .min();
    let (file, rest) = match end {
        Some((at, length)) => (&id[..at], &id[at + length..]),
        None => (id, ""),
    };
    if is_file(file) {
        (Some(file), rest)
    } else {
        (None, id)
    }
}

/// The file that an id begins with: `tests/a.py` of `tests/a.py::test_x`.
pub fn test_file(id: &str) -> Option<&str> {
    file_of(stem(without_source_line(id))).0
}

/// Whether a text is a path with an extension: `src/lib.rs`, `README.md`, no dotted name.
fn is_file(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let is_extension = (1..=4).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_lowercase())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_known = matches!(
        extension,
        "rs" | "md" | "py" | "js" | "ts" | "rb" | "php" | "go" | "rst" | "txt"
    );
    !stem.is_empty() && !text.contains(' ') && is_extension && (is_known || text.contains('/'))
}

/// Whether two paths name one file, where one may be relative to a folder of the repository.
fn is_same_file(path: &str, file: &str) -> bool {
    let within = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|front| front.is_empty() || front.ends_with('/'))
    };
    within(path, file) || within(file, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(path: &str, text: &str) -> String {
        let count = text.lines().count();
        let lines = text.lines().flat_map(|line| ["+", line, "\n"]);
        let lines: String = lines.collect();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}"
        )
    }

    fn origins(test: &[(&str, &str)], gold: &[(&str, &str)]) -> TestOrigins {
        let patch = |files: &[(&str, &str)]| {
            let added = files.iter().map(|(path, text)| added(path, text));
            Patch::new(added.collect::<String>())
        };
        TestOrigins::new(&patch(test), &patch(gold))
    }

    fn is_gold(origin: &TestOrigin) -> bool {
        matches!(origin, TestOrigin::Gold(_))
    }

    #[test]
    fn inline_tests_of_a_file_that_gold_adds_are_golds() {
        let origins = origins(
            &[(
                "tests/it.rs",
                "use k::parser;\nmod tests {}\n#[test]\nfn works() { parser::parse(); }",
            )],
            &[(
                "src/parser.rs",
                "pub fn parse() {}\n#[cfg(test)]\nmod tests {\n#[test]\nfn works() {}\n}",
            )],
        );
        assert!(is_gold(&origins.of("parser::tests::works")));
        assert_eq!(origins.of("works"), TestOrigin::Tests);
        assert_eq!(origins.of("old::tests::never_heard"), TestOrigin::Unknown);
        assert_eq!(origins.of("works/parse"), TestOrigin::Tests);
    }

    #[test]
    fn a_method_or_a_module_of_golds_is_no_test() {
        let gold = "trait T {\nfn enabled(&self) -> bool;\nfn enter<'a>(&'a mut self, id: u8) {}\n}\nmod chunks;\nfn works(selfish: u8) {}";
        let origins = origins(&[("tests/it.rs", "fn other() {}")], &[("src/lib.rs", gold)]);
        for id in ["enabled", "enter", "slice::chunks"] {
            assert_eq!(origins.of(id), TestOrigin::Unknown, "{id}");
        }
        assert!(is_gold(&origins.of("works")));
        assert!(is_gold(&origins.of("src/lib.rs - T::enabled (line 2)")));
    }

    #[test]
    fn a_function_of_go_is_a_test_by_its_name() {
        let gold = "func (f *Forwarder) exec(w io.Writer) {}\nfunc list() {}\nfunc TestOwn(t *testing.T) {}\n@Test func adds() {}";
        let origins = origins(
            &[("a/b_test.go", "func TestOther(t *testing.T) {}")],
            &[("a/b.go", gold)],
        );
        for id in ["TestForward/pods/foo/exec", "TestForward/list"] {
            assert_eq!(origins.of(id), TestOrigin::Unknown, "{id}");
        }
        for id in ["TestOwn", "adds"] {
            assert!(is_gold(&origins.of(id)), "{id}");
        }
    }

    #[test]
    fn a_test_is_shown_by_its_definition_or_its_title() {
        let text = "def test_a(self):\n    'Old ones are kept.'\n    assert test_b";
        let origins = origins(&[("t.py", text)], &[]);
        for id in ["t.py::T::test_a[1]", "test_a (t.T)", "Old ones are kept."] {
            assert!(origins.is_shown(id), "{id}");
        }
        for id in ["test_b (t.T)", "kept", "Old ones are lost."] {
            assert!(!origins.is_shown(id), "{id}");
        }
    }

    #[test]
    fn examples_in_documentation_belong_to_the_file_they_stand_in() {
        let origins = origins(
            &[("tests/test_m.py", "def test_brand_new(): pass")],
            &[
                (
                    "pkg/m.py",
                    "def brand_new():\n    '''\n    >>> 1\n    1\n    '''",
                ),
                ("src/lib.rs", "pub fn f() {}"),
            ],
        );
        assert!(is_gold(&origins.of("pkg/m.py::pkg.m.brand_new")));
        assert!(is_gold(&origins.of("src/lib.rs - f (line 3)")));
        assert_eq!(
            origins.of("tests/test_m.py::test_brand_new"),
            TestOrigin::Tests
        );
        assert_eq!(
            origins.of("tests/test_other.py::test_x"),
            TestOrigin::Unknown
        );
    }

    #[test]
    fn what_a_test_file_names_is_the_tests_whatever_gold_says() {
        let origins = origins(
            &[
                (
                    "a_test.go",
                    "func TestParse(t *testing.T) { t.Run(\"empty input\", f) }",
                ),
                (
                    "src/test/java/p/FooTest.java",
                    "class FooTest { @Test void parses() {} }",
                ),
                ("test/x.js", "it('parses a list', () => {})"),
            ],
            &[
                ("a.go", "func Parse() {}\nfunc parses() {}\n// empty input"),
                ("x.js", "function parses() {}"),
            ],
        );
        for id in [
            "TestParse/empty_input",
            "p.FooTest.parses",
            "p.FooTest#parses()",
            "List > parses a list",
            "parses (p.FooTest)",
        ] {
            assert_eq!(origins.of(id), TestOrigin::Tests, "{id}");
        }
    }

    #[test]
    fn a_table_in_unseen_lines_of_a_test_may_name_what_gold_defines() {
        let hunk = "diff --git a/a_test.go b/a_test.go\n--- a/a_test.go\n+++ b/a_test.go\n@@ -9,1 +9,1 @@ func TestParse(t *testing.T) {\n-\tx()\n+\ty()\n";
        let gold = Patch::new(added("a.go", "func parse() {}"));
        let origins = TestOrigins::new(&Patch::new(hunk), &gold);
        assert_eq!(origins.of("TestParse/parse"), TestOrigin::Unknown);
        assert_eq!(origins.of("TestParse"), TestOrigin::Tests);
    }

    #[test]
    fn definitions_are_known_by_the_word_before_them() {
        let source = Source::new(
            "x",
            true,
            "func (s *Suite) TestA() {}\nTEST_F(Suite, Deep)\nadd_test(NAME cli COMMAND x)\nit('says so', f)\nreturn call(arg)\nBOOST_AUTO_TEST_CASE(one)\n"
                .to_owned(),
        );
        for name in ["TestA", "Deep", "cli", "says so", "one"] {
            assert!(source.defines(name).is_some(), "{name}");
        }
        for name in ["call", "arg", "s", "Sui", ""] {
            assert!(source.defines(name).is_none(), "{name}");
        }
    }

    #[test]
    fn words_of_parameters() {
        let origins = origins(
            &[("tests/t.py", "for rule in RULES: yield 'common'")],
            &[("rules/new_rule.py", "ID = 'shiny'\nx = 'common'")],
        );
        assert_eq!(origins.golds_words("t.py::test[1-shiny-x]"), Some(13..18));
        assert_eq!(origins.golds_words("new_rule and shiny"), Some(0..18));
        assert_eq!(origins.golds_words("t.py::test[common-None-12]"), None);
    }
}
