//! Methods of a test class: `JUnit` 3 to 5, `TestNG`, xUnit, NUnit, `MSTest`; Java, Kotlin, C#.

use super::names::Names;
use super::{Added, indent, insert};
use crate::text::{Syntax, closing, mask};
use regex::Regex;

/// A way to write a test: what the file shows, the annotation, the assertion.
struct TestTemplate {
    shows: &'static str,
    annotation: &'static str,
    /// With `A` for the actual and `E` for the expected value.
    assertion: &'static str,
}

const JAVA: &[TestTemplate] = &[
    TestTemplate {
        shows: r"org\.junit\.jupiter\.api\.",
        annotation: "@org.junit.jupiter.api.Test",
        assertion: "org.junit.jupiter.api.Assertions.assertEquals(E, A)",
    },
    TestTemplate {
        shows: r"org\.testng\.annotations\.",
        annotation: "@org.testng.annotations.Test",
        assertion: "org.testng.Assert.assertEquals(A, E)",
    },
    TestTemplate {
        shows: r"import\s+org\.junit\.(Test|\*|Before|Assert)\b|static\s+org\.junit\.Assert\.|import\s+org\.junit\.\*",
        annotation: "@org.junit.Test",
        assertion: "org.junit.Assert.assertEquals(E, A)",
    },
    TestTemplate {
        shows: r"extends\s+(junit\.framework\.)?TestCase\b",
        annotation: "",
        assertion: "assertEquals(E, A)",
    },
];

const CSHARP: &[TestTemplate] = &[
    TestTemplate {
        shows: r"(?m)\[(Xunit\.)?(Fact|Theory)\b",
        annotation: "[Xunit.Fact]",
        assertion: "Xunit.Assert.Equal(E, A)",
    },
    TestTemplate {
        shows: r"using\s+NUnit\.Framework|\[TestFixture\b",
        annotation: "[NUnit.Framework.Test]",
        assertion: "NUnit.Framework.Assert.That(A, NUnit.Framework.Is.EqualTo(E))",
    },
    TestTemplate {
        shows: r"\[TestClass\b|\[TestMethod\b",
        annotation: "[Microsoft.VisualStudio.TestTools.UnitTesting.TestMethod]",
        assertion: "Microsoft.VisualStudio.TestTools.UnitTesting.Assert.AreEqual(E, A)",
    },
];

pub(super) fn add(ending: &str, text: &str, names: &Names) -> Added {
    let ways = if ending == "cs" { CSHARP } else { JAVA };
    let way = ways.iter().find(|way| is(way.shows, text))?;
    let end = class_end(text, ending, way)?;
    let at = text[..end].trim_end_matches([' ', '\t']).len();
    let both = match (ending, way.annotation) {
        ("cs", _) => names.pascal(),
        (_, "") => {
            let (pass, fail) = names.pascal();
            (format!("test{pass}"), format!("test{fail}"))
        }
        _ => names.camel(),
    };
    let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
        let check = way
            .assertion
            .replace("(E, A)", &format!("({sum}, total)"))
            .replace("(A, E)", &format!("(total, {sum})"))
            .replace("(A, ", "(total, ")
            .replace("(E)", &format!("({sum})"));
        let head = match (ending, way.annotation) {
            ("kt", _) => format!("fun {name}()"),
            ("java", "@org.junit.jupiter.api.Test") => format!("void {name}()"),
            _ => format!("public void {name}()"),
        };
        let annotation = if way.annotation.is_empty() {
            String::new()
        } else {
            format!("{}\n", way.annotation)
        };
        match ending {
            "kt" => format!(
                "{annotation}{head} {{\n    val total = listOf({a}, {b}, {c}).sum()\n    {check}\n}}\n"
            ),
            "cs" => format!(
                "{annotation}{head}\n{{\n    var total = {a};\n    foreach (var value in new[] {{ {b}, {c} }}) total += value;\n    {check};\n}}\n"
            ),
            _ => format!(
                "{annotation}{head} {{\n    int total = 0;\n    for (int value : new int[] {{{a}, {b}, {c}}}) {{\n        total += value;\n    }}\n    {check};\n}}\n"
            ),
        }
    };
    // As deep as the class's closing brace, and one step.
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let outer = &text[line..end];
    let outer = if outer.trim().is_empty() { outer } else { "" };
    let piece = indent(&names.both(&both, write, "\n"), &format!("{outer}    "));
    Some((insert(text, at, 1, &piece), both.0, both.1))
}

/// Where the closing brace of the first class with tests stands.
fn class_end(text: &str, ending: &str, way: &TestTemplate) -> Option<usize> {
    let masked = mask(text, Syntax::Braces);
    let class = Regex::new(r"(?m)^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]*)*((?:(?:public|protected|internal|private|sealed|final|open|static|partial|strictfp|abstract)\s+)*)class\s+\w+[^{;]*\{").ok()?;
    let is_test = Regex::new(r"@(?:\w+\.)*(?:Test|ParameterizedTest)\b|\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestMethod)\b|\bvoid\s+test\w+\s*\(").ok()?;
    for found in class.captures_iter(text) {
        let (whole, modifiers) = (found.get(0)?, found.get(1)?);
        // In a comment or a string.
        let word = whole.end() - 1;
        if masked.get(word) != Some(&b'{') {
            continue;
        }
        let end = closing(&masked, word)? - 1;
        let inside = &text[word..end];
        // An abstract class runs nothing by itself; one with parameters runs each test many times.
        let skipped =
            modifiers.as_str().contains("abstract") || modifiers.as_str().contains("static");
        let many = text.contains("Parameterized.class") || text.contains("TestFixtureSource");
        if skipped || many || !is_test.is_match(inside) {
            continue;
        }
        // A Kotlin class closes as a Java class does; a JUnit 3 class must be the one that extends.
        let old = way.annotation.is_empty() && !is(way.shows, whole.as_str());
        if old && ending == "java" {
            continue;
        }
        // A brace that stands elsewhere than its class closes something that was read wrongly.
        let aligned = indentation(text, whole.start()) == indentation(text, end);
        return (aligned || !inside.contains('\n')).then_some(end);
    }
    None
}

/// The white space that the line of a place begins with.
fn indentation(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let length = text[line..].len() - text[line..].trim_start_matches([' ', '\t']).len();
    &text[line..line + length]
}

fn is(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}
