//! Copies of an instance's own tests that expect something else.

use super::names::SplitMix64;
use atlas_facts::{Language, ending_of};
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A test file in which some tests stand twice, the second time with another expected value.
///
/// Code gives one value for one call: where a test passes, its twin fails. If both pass, the value
/// was made to equal anything, was read from the test, or the outcome was not the test's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twins {
    /// The file's new content.
    pub content: Vec<u8>,
    /// The twins, by name of the test that each was made from.
    pub pairs: Vec<Twin>,
}

/// A test and its twin, each by its own name, without file, module or class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// The instance's test.
    pub of: String,
    /// Its twin, which fails where the test itself passes.
    pub must_fail: String,
}

/// The most tests of a file that get a twin.
const MOST: usize = 3;

/// Gives tests of a file a twin: a copy under another name that expects another value.
///
/// `preferred` are ids of tests that come first, as those that define a task; three at most are
/// taken. Only tests are taken that compare with a number, text or list that is written out, for of
/// those it is certain that both cannot hold. Names are put together from words of the file's own
/// test names, and a twin stands before or behind its test, as the `seed` says. Files of Python,
/// Ruby (minitest's methods, and `RSpec`), PHP, JavaScript, Java, Rust, Go (with specs of Ginkgo) and C++ are known; nothing comes back
/// where no test has such a comparison.
///
/// ```
/// let tests = b"def test_sum():\n    assert sum([1, 2]) == 3\n";
/// let made = atlas_guard::twins("tests/test_sum.py", tests, "7d1f", &[]).expect("a comparison");
/// assert_eq!(made.pairs[0].of, "test_sum");
/// let text = String::from_utf8(made.content)?;
/// assert_eq!(text.matches("assert sum([1, 2]) == ").count(), 2);
/// assert_eq!(text.matches("== 3\n").count(), 1);
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
pub fn twins(file: &str, content: &[u8], seed: &str, preferred: &[String]) -> Option<Twins> {
    let text = std::str::from_utf8(content).ok()?;
    let style = Style::of(file)?;
    let mut dice = SplitMix64::new(&format!("{seed}{file}"));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let blocks = style.blocks(&lines);
    let count = |name: &str| blocks.iter().filter(|block| block.name == name).count();
    let words: Vec<String> = pool(&blocks);
    let is_preferred = |block: &Block| {
        let twin = Twin {
            of: block.name.clone(),
            must_fail: String::new(),
        };
        preferred.iter().any(|id| !twin.ids(id).is_empty())
    };
    let mut taken = BTreeSet::new();
    let mut made: Vec<(usize, bool, String, Twin)> = Vec::new();
    for wanted in [true, false] {
        for block in &blocks {
            if made.len() == MOST || is_preferred(block) != wanted || count(&block.name) > 1 {
                continue;
            }
            let body = lines[block.head..block.end].concat();
            let Some(body) = style.contradict(&body, &mut dice) else {
                continue;
            };
            let Some(name) = rename(&block.name, &words, text, &taken, &mut dice) else {
                continue;
            };
            let above = lines[block.start..block.head].concat();
            let mut piece = above + &body.replacen(&block.name, &name, 1);
            if !piece.ends_with('\n') {
                piece.push('\n');
            }
            let behind = dice.below(2) == 0;
            taken.insert(name.clone());
            let twin = Twin {
                of: block.name.clone(),
                must_fail: name,
            };
            let at = if behind { block.end } else { block.start };
            made.push((at, behind, piece, twin));
        }
    }
    if made.is_empty() {
        return None;
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = end.repeat(style.gap(&blocks, &lines));
    let mut new = String::new();
    for at in 0..=lines.len() {
        for (_, behind, piece, _) in made.iter().filter(|(place, ..)| *place == at) {
            if *behind {
                if !new.ends_with('\n') {
                    new.push_str(end);
                }
                new.push_str(&gap);
                new.push_str(piece);
            } else {
                new.push_str(piece);
                new.push_str(&gap);
            }
        }
        new.push_str(lines.get(at).copied().unwrap_or_default());
    }
    Some(Twins {
        content: new.into_bytes(),
        pairs: made.into_iter().map(|(.., twin)| twin).collect(),
    })
}

impl Twin {
    /// What the twin of the test with this id, as a log parser gives it, may be called; nothing if the id
    /// is another test's. The name stands in an id as a whole, its parameters aside; some runners name a
    /// test twice, and a file may be named as its test.
    pub fn ids(&self, id: &str) -> Vec<String> {
        let end = id.find('[').unwrap_or(id.len());
        let (bare, parameters) = id.split_at(end);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let found: Vec<usize> = bare
            .match_indices(&self.of)
            .filter(|(at, name)| {
                !bare[..*at].ends_with(is_word) && !bare[at + name.len()..].starts_with(is_word)
            })
            .map(|(at, _)| at)
            .collect();
        let renamed = |places: &[usize]| {
            let mut new = bare.to_owned();
            for at in places.iter().rev() {
                new.replace_range(*at..at + self.of.len(), &self.must_fail);
            }
            new + parameters
        };
        match found.as_slice() {
            [] => Vec::new(),
            [one] => vec![renamed(&[*one])],
            [.., last] => vec![renamed(&[*last]), renamed(&found)],
        }
    }
}

/// Words of the tests' names.
fn pool(blocks: &[Block]) -> Vec<String> {
    let words: BTreeSet<String> = blocks
        .iter()
        .flat_map(|block| parts(&block.name).into_iter().skip(1))
        .filter(|word| word.len() > 2 && word.chars().all(char::is_alphabetic))
        .collect();
    words.into_iter().collect()
}

/// A name in pieces that put together are the name again: `test`, `_sum`, `testSum` as `test`, `Sum`.
fn parts(name: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| regex(r"[A-Z]?[a-z]+|[0-9]+|[A-Z]+|[^A-Za-z0-9]+"));
    WORD.find_iter(name)
        .map(|part| part.as_str().to_owned())
        .collect()
}

/// Another name of the same kind: the words of this one, with one more of the file's other tests among them. Whoever
/// looks for a test by words of its name finds its twin, too.
fn rename(
    name: &str,
    words: &[String],
    text: &str,
    taken: &BTreeSet<String>,
    dice: &mut SplitMix64,
) -> Option<String> {
    let parts = parts(name);
    let is_word = |part: &String| part.chars().all(char::is_alphabetic);
    let mut places: Vec<usize> = (1..parts.len()).filter(|at| is_word(&parts[*at])).collect();
    // Behind all words.
    places.push(parts.len());
    let camel = !name.contains(['_', ' ']);
    let spare = [
        "other", "again", "more", "given", "both", "next", "same", "plain",
    ];
    for round in 0..64 {
        let mut new = parts.clone();
        let word = match dice.among(words) {
            Some(word) if round < 48 => word.as_str(),
            _ => dice.among(&spare)?,
        };
        let first = new.last()?.chars().next()?;
        let word = if camel && !first.is_lowercase() {
            let (head, rest) = word.split_at(1);
            format!("{}{rest}", head.to_uppercase())
        } else {
            word.to_lowercase()
        };
        let sign = match (camel, name.contains(' ')) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => "_",
        };
        match dice.among(&places) {
            Some(at) if round < 32 && *at < parts.len() => new.insert(*at, format!("{word}{sign}")),
            _ => new.push(format!("{sign}{word}")),
        }
        let new = new.concat();
        if !text.contains(&new)
            && !taken
                .iter()
                .any(|other| other.contains(&new) || new.contains(other))
        {
            return Some(new);
        }
    }
    None
}

/// One test, by lines.
#[derive(Debug)]
struct Block {
    name: String,
    /// With decorators and comments.
    start: usize,
    /// The line that names it.
    head: usize,
    end: usize,
}

/// How tests of a language look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Python,
    Ruby,
    Php,
    JavaScript,
    Java,
    Rust,
    Go,
    Cpp,
}

impl Style {
    fn of(file: &str) -> Option<Self> {
        let ending = ending_of(file).filter(|ending| ending.holds_tests)?;
        Some(match ending.language {
            Language::Python => Self::Python,
            Language::Ruby => Self::Ruby,
            Language::Php => Self::Php,
            Language::JavaScript | Language::TypeScript => Self::JavaScript,
            Language::Java => Self::Java,
            Language::Rust => Self::Rust,
            Language::Cpp => Self::Cpp,
            Language::Go if file.ends_with("_test.go") => Self::Go,
            _ => return None,
        })
    }

    /// The line that begins a test: its indentation, then its name.
    fn heading(self) -> &'static Regex {
        static PYTHON: LazyLock<Regex> =
            LazyLock::new(|| regex(r"^(\s*)(?:async\s+)?def\s+(test\w*)\s*\([^()]*\)[^:#]*:\s*$"));
        static RUBY: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r#"^(\s*)(?:def\s+(test_\w+)|(?:it|specify|example)\s+["']([^"'#\\]+)["']\s+do)\s*$"#,
            )
        });
        static PHP: LazyLock<Regex> = LazyLock::new(|| {
            regex(r"^(\s*)public\s+function\s+(test\w*)\s*\([^()]*\)(?:\s*:\s*void)?\s*\{?\s*$")
        });
        static JAVASCRIPT: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r#"^(\s*)(?:QUnit\.)?(?:it|test)\(\s*["'`]([^"'`\\$]+)["'`]\s*,\s*(?:async\s*)?(?:(?:\([\w\s]*\)|\w+)\s*=>|function\s*\([\w\s]*\))\s*\{\s*$"#,
            )
        });
        static JAVA: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r"^(\s*)(?:public\s+)?void\s+(\w+)\s*\(\s*\)\s*(?:throws\s+[\w.]+(?:\s*,\s*[\w.]+)*\s*)?\{\s*$",
            )
        });
        static RUST: LazyLock<Regex> = LazyLock::new(|| regex(r"^(\s*)fn\s+(\w+)\s*\(\)\s*\{\s*$"));
        // Go's own tests, and specs of Ginkgo.
        static GO: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r#"^(\s*)(?:func\s+(Test\w+)\(\w+ \*testing\.T\) \{|(?:\w+\.)?(?:It|Specify)\("([^"\\]+)", func\(\) \{)\s*$"#,
            )
        });
        // `GoogleTest`, Boost.Test; Catch2, doctest.
        static CPP: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r#"^(\s*)(?:(?:TEST(?:_F)?\s*\(\s*\w+\s*,|BOOST_AUTO_TEST_CASE\s*\()\s*(\w+)\s*\)|TEST_CASE\s*\(\s*"([^"\\]+)"[^{]*\))\s*\{?\s*$"#,
            )
        });
        match self {
            Self::Python => &PYTHON,
            Self::Ruby => &RUBY,
            Self::Php => &PHP,
            Self::JavaScript => &JAVASCRIPT,
            Self::Java => &JAVA,
            Self::Rust => &RUST,
            Self::Go => &GO,
            Self::Cpp => &CPP,
        }
    }

    fn blocks(self, lines: &[&str]) -> Vec<Block> {
        let heading = self.heading();
        let mut blocks = Vec::new();
        // minitest numbers its specifications, so that one more gives the others another id.
        let numbered = self == Self::Ruby && lines.iter().any(|line| line.contains("minitest"));
        for (head, line) in lines.iter().enumerate() {
            let Some(found) = heading.captures(line.trim_end_matches(['\n', '\r'])) else {
                continue;
            };
            let indent = &found[1];
            let name = found
                .get(2)
                .or_else(|| found.get(3))
                .map_or("", |name| name.as_str());
            if numbered && found.get(3).is_some() {
                continue;
            }
            let start = self.top(lines, head, indent);
            let above = lines[start..head].concat();
            let is_test = match self {
                Self::Rust => above.contains("#[test]"),
                // Since JUnit 4 the annotation, before it the name.
                Self::Java => {
                    above.contains("@Test") || above.contains(".Test") || name.starts_with("test")
                }
                _ => true,
            };
            if !is_test {
                continue;
            }
            let Some(end) = self.end(lines, head, indent) else {
                continue;
            };
            blocks.push(Block {
                name: name.to_owned(),
                start,
                head,
                end,
            });
        }
        blocks
    }

    /// Where decorators, attributes and comments directly above a test begin.
    fn top(self, lines: &[&str], head: usize, indent: &str) -> usize {
        let belongs = |line: &str| {
            let bare = line.trim();
            let deeper = line.starts_with(indent);
            deeper
                && match self {
                    // A decorator may go on over lines, and ends in a bracket then.
                    Self::Python => {
                        bare.starts_with(['@', ')', '#', ']', '}'])
                            || line[indent.len()..].starts_with([' ', '\t']) && !bare.is_empty()
                    }
                    Self::Php => bare.starts_with(['*', '#', '/']),
                    Self::Java => bare.starts_with(['@', '*', '/']),
                    Self::Rust => bare.starts_with("#[") || bare.starts_with("//"),
                    Self::Ruby | Self::JavaScript | Self::Go | Self::Cpp => false,
                }
        };
        let mut start = head;
        while start > 0 && belongs(lines[start - 1]) {
            start -= 1;
        }
        // Above the first decorator everything is something else's.
        if self == Self::Python {
            let first = (start..head).find(|at| lines[*at][indent.len()..].starts_with('@'));
            return first.unwrap_or(head);
        }
        start
    }

    fn end(self, lines: &[&str], head: usize, indent: &str) -> Option<usize> {
        let after = head + 1;
        if self == Self::Python {
            let inside = |line: &str| {
                line.trim().is_empty()
                    || line.starts_with(indent) && line[indent.len()..].starts_with([' ', '\t'])
            };
            let mut end = (after..lines.len())
                .find(|at| !inside(lines[*at]))
                .unwrap_or(lines.len());
            while end > after && lines[end - 1].trim().is_empty() {
                end -= 1;
            }
            return (end > after).then_some(end);
        }
        let closes = match self {
            Self::Ruby => ["end", "end"],
            Self::JavaScript => ["});", "})"],
            Self::Go => ["}", "})"],
            _ => ["}", "}"],
        };
        let is_close = |line: &str| {
            line.strip_prefix(indent)
                .is_some_and(|rest| closes.contains(&rest.trim_end()))
        };
        (after..lines.len())
            .find(|at| is_close(lines[*at]))
            .map(|at| at + 1)
    }

    /// How many empty lines stand between tests.
    fn gap(self, blocks: &[Block], lines: &[&str]) -> usize {
        let between = blocks.windows(2).map(|pair| {
            let lines = &lines[pair[0].end.min(pair[1].start)..pair[1].start];
            lines.iter().filter(|line| line.trim().is_empty()).count()
        });
        let top_level = blocks
            .iter()
            .any(|block| !lines[block.head].starts_with([' ', '\t']));
        let usual = if self == Self::Python && top_level {
            2
        } else {
            1
        };
        between.min().unwrap_or(usual).min(2)
    }

    /// Comparisons of a language with a written value, as `(before)(value)(behind)`.
    fn comparisons(self) -> &'static [Regex] {
        /// A number, a text without escapes, a truth, or a list on one line.
        const VALUE: &str = r#"-?\d+(?:\.\d+)?|"[^"\\#$]*"|'[^'\\]*'|[Tt]rue|[Ff]alse|\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)"#;
        static PYTHON: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            vec![
                regex(&format!(
                    r"(?m)^(\s*assert\s+.*\w\(.*\).*\s==\s*)({VALUE})(\s*)$"
                )),
                regex(&format!(r"(?m)^(\s*assert\s+)({VALUE})(\s*==\s+.*\w\(.*)$")),
                regex(&format!(
                    r"(?m)^(\s*self\.assertEquals?\(.*\),\s*)({VALUE})(\)\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*self\.assertEquals?\()({VALUE})(,\s*\w.*\(.*\)\)\s*)$"
                )),
            ]
        });
        static RUBY: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            vec![
                regex(&format!(
                    r"(?m)^(\s*assert_equal[ (]\s*)({VALUE})(,\s*\w.*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*expect\(.*\)\.to\s+eql?[ (]\s*)({VALUE})(\)?\s*)$"
                )),
            ]
        });
        static PHP: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            vec![regex(&format!(
                r"(?m)^(\s*(?:\$this->|self::|static::)assert(?:Same|Equals)\(\s*)({VALUE})(,\s*.+\);\s*)$"
            ))]
        });
        static JAVASCRIPT: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            vec![
                regex(&format!(
                    r"(?m)^(\s*expect\(.*\)\.(?:toBe|toEqual|toStrictEqual|to\.(?:deep\.)?equal|to\.eql)\()({VALUE})(\);?\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*(?:assert|t)\.(?:is|alike|equal|strictEqual|deepEqual|deepStrictEqual)\(.*\),\s*)({VALUE})((?:,\s*'[^']*')?\);?\s*)$"
                )),
            ]
        });
        // JUnit has the expected value first, TestNG second; AssertJ reads as English.
        static JAVA: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            let value = format!(r"(?:{VALUE})[LlFfDd]?|(?:new\s+)?[\w.]+(?:<[\w., ]*>)?\([^()]*\)");
            vec![
                regex(&format!(
                    r"(?m)^(\s*(?:\w+\.)*assertEquals\(\s*)({value})(,\s*[A-Za-z_].*\w\(.*\);\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*(?:\w+\.)*assertEquals\([A-Za-z_].*\w\(.*\),\s*)({value})(\);\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*(?:\w+\.)*assertThat\(.*\)\.isEqualTo\()({value})(\);\s*)$"
                )),
            ]
        });
        // Also a value with fields: `Sum { count: 1 }`, `Money::new(180)`.
        static RUST: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            vec![regex(&format!(
                r"(?m)^(\s*assert_eq!\(.*\),\s*)({VALUE}|[\w:]+\s?\{{[^{{}}]*\}}|[\w:]+\([^()]*\))(\);\s*)$"
            ))]
        });
        static GO: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            vec![
                regex(&format!(r"(?m)^(\tif\b.*\w\(.*\s!=\s)({VALUE})(\s\{{\s*)$")),
                regex(&format!(
                    r"(?m)^(\t(?:want|wanted|expected|expect|exp)\w*\s:?=\s)({VALUE}|[\w.]+\{{[^{{}}]*\}})(\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\t(?:assert|require)\.Equal\(\w+,\s)({VALUE})(,\s.*\)\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*(?:\w+\.)?Expect\(.*\)\.(?:To|Should)\((?:\w+\.)?Equal\()({VALUE}|[\w.]+\{{[^{{}}]*\}})(\)\)\s*)$"
                )),
            ]
        });
        static CPP: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            let value = format!(r"(?:{VALUE})[uUlLfF]*");
            let equal = r"(?:(?:EXPECT|ASSERT)_(?:EQ|STREQ|FLOAT_EQ|DOUBLE_EQ)|(?:CHECK|REQUIRE)_EQ|BOOST_(?:CHECK|REQUIRE)_EQUAL)";
            vec![
                regex(&format!(
                    r"(?m)^(\s*{equal}\(.*\w\(.*\).*,\s*)({value})(\s*\);\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*{equal}\(\s*)({value})(,.*\w\(.*\).*\);\s*)$"
                )),
                regex(&format!(
                    r"(?m)^(\s*(?:CHECK|REQUIRE|BOOST_TEST)\(.*\w\(.*\).*\s==\s*)({value})(\s*\);\s*)$"
                )),
            ]
        });
        match self {
            Self::Python => &PYTHON,
            Self::Ruby => &RUBY,
            Self::Php => &PHP,
            Self::JavaScript => &JAVASCRIPT,
            Self::Java => &JAVA,
            Self::Rust => &RUST,
            Self::Go => &GO,
            Self::Cpp => &CPP,
        }
    }

    /// The test with one comparison that expects something else.
    fn contradict(self, body: &str, dice: &mut SplitMix64) -> Option<String> {
        // What repeats or catches failures may not fail as a whole.
        let odd = [
            "raises",
            "xfail",
            "pytest.fail",
            "subTest",
            "except",
            "rescue",
            "catch",
            "skip",
            ".Skip",
            "recover(",
            ".Run(",
        ];
        let head = body.lines().next().unwrap_or_default().len();
        if odd.iter().any(|word| body[head..].contains(word)) {
            return None;
        }
        let mut inside = body[head..].lines().map(str::trim_end);
        let level = inside
            .find(|line| !matches!(line.trim(), "" | "{"))
            .map(indentation)?;
        self.comparisons().iter().find_map(|comparison| {
            let found = comparison.captures_iter(&body[head..]).find(|found| {
                // `a == 1 or b == 2` may hold either way.
                let line = &found[0];
                let is_one = [
                    " or ", " and ", " not ", " if ", " in ", "||", "&&", "approx",
                ]
                .iter()
                .all(|word| !line.contains(word));
                // Deeper than the test's first level it may not run at all.
                is_one
                    && indentation(line.trim_start_matches(['\r', '\n'])) == level
                    && line.matches("==").count() < 2
                    && line.matches("!=").count()
                        == usize::from(self == Self::Go && line.contains("if "))
            })?;
            let other = other_value(&found[2], dice)?;
            let whole = found.get(0)?.range();
            let new = format!("{}{other}{}", &found[1], &found[3]);
            let (start, end) = (head + whole.start, head + whole.end);
            Some(format!("{}{new}{}", &body[..start], &body[end..]))
        })
    }
}

/// How many blanks and tabs a line begins with.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A value of the same type that is not equal.
fn other_value(value: &str, dice: &mut SplitMix64) -> Option<String> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| regex(r"\d+"));
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| regex(r#""[^"\\#$]*"|'[^'\\]*'"#));
    let more = |found: &Captures<'_>, by: u32| -> Option<String> {
        let number: u64 = found[0].parse().ok()?;
        Some((number.checked_add(u64::from(by))?).to_string())
    };
    match value {
        "True" => return Some("False".to_owned()),
        "False" => return Some("True".to_owned()),
        "true" => return Some("false".to_owned()),
        "false" => return Some("true".to_owned()),
        _ => {}
    }
    let by = 1 + dice.below(4);
    if let Some(quoted) = QUOTED.find_iter(value).last() {
        let text = &value[quoted.start() + 1..quoted.end() - 1];
        let changed = match text
            .char_indices()
            .rfind(|(_, c)| c.is_ascii_alphanumeric())
        {
            Some((at, c)) => {
                let next = match c {
                    '9' | 'z' | 'Z' => char::from(c as u8 - 1),
                    c => char::from(c as u8 + 1),
                };
                format!("{}{next}{}", &text[..at], &text[at + 1..])
            }
            None => format!("{text}x"),
        };
        let (start, end) = (quoted.start() + 1, quoted.end() - 1);
        return Some(format!("{}{changed}{}", &value[..start], &value[end..]));
    }
    // The whole part of a number: the first digits of it, so that no fraction can hide it.
    let found = NUMBER.captures(value)?;
    let at = found.get(0)?;
    let new = more(&found, by)?;
    // A name with a digit (`x1`) is no number.
    let glued = value[..at.start()].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    (!glued).then(|| format!("{}{new}{}", &value[..at.start()], &value[at.end()..]))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}
