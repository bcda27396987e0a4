//! Which definitions of a source are tests, by the conventions of its language.

use crate::definition::{Definition, DefinitionKind, Lines};
use crate::language::Language;
use crate::rules;
use crate::source::Source;
use crate::test_items::is_test_attribute;
use crate::walk::{Frame, walk};

impl Source {
    /// The tests, in the order of the source: functions and blocks that [`Source::is_test`] takes for
    /// tests, unless they stand inside another function or have no title that is written out, and calls that name a test without showing its
    /// body to the grammar: `it('…', wrapped(() => …))`, `test('…', named)`, `SECTION("…")`. A test with
    /// parameters is one.
    ///
    /// ```
    /// use atlas_syntax::{Language, Source};
    /// let text = "class TestSum:\n    def test_two(self): ...\n    def helper(self): ...\n";
    /// let tests = Source::new(Language::Python, text).tests();
    /// assert_eq!(tests[0].qualified_name(), "TestSum.test_two");
    /// assert_eq!(tests.len(), 1);
    /// ```
    pub fn tests(&self) -> Vec<Definition> {
        let mut found = Vec::new();
        // Where the function around the next definition ends.
        let mut end = 0;
        for one in self.definitions() {
            let is_inside = one.bytes.start < end && one.kind != DefinitionKind::Test;
            if !is_inside && self.is_test(one) && self.is_named(one) {
                found.push(one.clone());
            }
            if one.kind.is_unit() && one.body.is_some() {
                end = end.max(one.bytes.end);
            }
        }
        self.add_calls(&mut found);
        found.sort_by_key(|one| (one.bytes.start, std::cmp::Reverse(one.bytes.end)));
        found
    }

    /// Whether a definition of this source is a test by its form (`it('…', () => …)`, `TEST(Suite, name)`),
    /// its attributes (`@Test`, `[Fact]`, `#[test]`) or its name (`test_sum`, `TestSum` in Go). A
    /// benchmark is none.
    pub fn is_test(&self, definition: &Definition) -> bool {
        let is_function = matches!(
            definition.kind,
            DefinitionKind::Function | DefinitionKind::Method
        );
        if !is_function || definition.body.is_none() {
            return definition.kind == DefinitionKind::Test;
        }
        let name = definition.name.as_str();
        // Annotations stand above the declaration, or at its beginning.
        let end = definition.declaration + definition.signature.len();
        let head = self.text().get(definition.bytes.start..end);
        let head = String::from_utf8_lossy(head.unwrap_or_default());
        match self.language() {
            Language::Python => name.starts_with("test"),
            Language::Ruby => name.starts_with("test_"),
            Language::Go => ["Test", "Example", "Fuzz"]
                .iter()
                .any(|prefix| name.starts_with(prefix)),
            Language::Rust => has_test_attribute(&head),
            Language::Java => name.starts_with("test") || marks(&head, &['@']).any(is_test_mark),
            Language::CSharp => marks(&head, &['[', ',']).any(is_test_mark),
            Language::Php => {
                name.starts_with("test") || head.contains("@test") || head.contains("#[Test")
            }
            Language::C | Language::Cpp => {
                name.starts_with("test") || name.ends_with("_test") || name.starts_with("TEST")
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx => false,
        }
    }

    /// Whether the title of a test stands in the source: not so for `it { … }` and `test(name, …)`.
    fn is_named(&self, test: &Definition) -> bool {
        let is_macro = matches!(self.language(), Language::C | Language::Cpp);
        let is_title = |quote| {
            let title = format!("{quote}{}", test.name);
            let head = &self.text()[test.declaration..test.bytes.end];
            head[..head.len().min(title.len() + 200)]
                .windows(title.len())
                .any(|here| here == title.as_bytes())
        };
        is_macro || test.kind != DefinitionKind::Test || ['"', '\'', '`'].iter().any(is_title)
    }

    fn add_calls(&self, found: &mut Vec<Definition>) {
        let Some(tree) = self.tree() else { return };
        let title = match self.language() {
            Language::JavaScript | Language::TypeScript | Language::Tsx => rules::script_test,
            Language::C | Language::Cpp => rules::macro_test,
            _ => return,
        };
        let known: Vec<usize> = found.iter().map(|one| one.declaration).collect();
        walk(tree.root_node(), |path| {
            if let Some((name, at, end)) = title(path, self.text())
                && !known.contains(&path[at].node.start_byte())
            {
                found.push(self.call(name, &path[at], end));
            }
            true
        });
    }

    fn call(&self, name: String, frame: &Frame<'_>, end: usize) -> Definition {
        let bytes = frame.attached..end;
        let mut groups = self.definitions().iter().filter(|one| {
            let is_group = matches!(one.kind, DefinitionKind::Suite | DefinitionKind::Test);
            is_group && one.bytes.start < bytes.start && bytes.end < one.bytes.end
        });
        Definition {
            name,
            container: groups
                .next_back()
                .map_or_else(String::new, Definition::qualified_name),
            kind: DefinitionKind::Test,
            lines: Lines::new(
                self.line_of(bytes.start),
                self.line_of(end.saturating_sub(1)),
            ),
            declaration: frame.node.start_byte(),
            body: None,
            signature: String::new(),
            bytes,
        }
    }
}

/// The names of annotations or attributes, each behind one of these signs.
fn marks<'a>(head: &'a str, signs: &'a [char]) -> impl Iterator<Item = &'a str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    head.split(signs).skip(1).map(move |rest| {
        let rest = rest.trim_start();
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        name.rsplit('.').next().unwrap_or(name)
    })
}

/// Whether an annotation of Java or an attribute of C# makes a method a test. Projects have their own:
/// `@RetryingTest`, `[ConditionalFact]`.
fn is_test_mark(name: &str) -> bool {
    let name = name.strip_suffix("Attribute").unwrap_or(name);
    let is_around = ["Before", "After", "TestInit", "TestClean", "TestFix"]
        .iter()
        .any(|start| name.starts_with(start));
    !is_around
        && (name.starts_with("Test")
            || ["Test", "TestMethod", "Fact", "Theory", "Property"]
                .iter()
                .any(|end| name.ends_with(end)))
}

/// Whether one of the attributes above a Rust function makes it a test.
fn has_test_attribute(head: &str) -> bool {
    let mut rest = head.trim_start();
    loop {
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 2)
        } else if rest.starts_with("#[") {
            let mut depth = 0_usize;
            rest.find(|c| {
                match c {
                    '[' => depth += 1,
                    ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && c == ']'
            })
            .map(|at| at + 1)
        } else {
            None
        };
        let Some(end) = end else { return false };
        let attribute: String = rest[..end].chars().filter(|c| !c.is_whitespace()).collect();
        let attribute = attribute.strip_prefix("#[").unwrap_or_default();
        if is_test_attribute(attribute.trim_end_matches(']')) {
            return true;
        }
        rest = rest[end..].trim_start();
    }
}
