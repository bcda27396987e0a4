//! Sources with syntax errors: what stands before and behind the error is found all the same.

use atlas_syntax::{Language, Source};

/// Functions, methods and tests with a body, as `name first-last`.
fn found(language: Language, text: &str) -> Vec<String> {
    let source = Source::new(language, text);
    let unit = |one: &atlas_syntax::Definition| {
        format!("{} {}-{}", one.name, one.lines.first, one.lines.last)
    };
    source.units().map(unit).collect()
}

#[track_caller]
fn check(language: Language, text: &str, expected: &[&str]) {
    assert_eq!(found(language, text), expected, "{language:?}\n{text}");
    let windows = text.replace('\n', "\r\n");
    assert_eq!(
        found(language, &windows),
        expected,
        "{language:?} with CRLF"
    );
}

#[test]
fn a_string_without_its_end() {
    check(
        Language::Python,
        "\
class A:
    def first(self):
        \"\"Doc.\"\"\"
        return 1

    @property
    def second(self, a,
               b=2):
        return 2

    def third(self):
        return '''
at the margin
'''


def fourth():
    return 4
",
        &["first 2-4", "second 6-9", "third 11-14", "fourth 17-18"],
    );
    check(
        Language::JavaScript,
        "\
class A {
  first() {
    const b = `x;
    return b;
  }

  second() {
    return 2;
  }
}

function third() {
  return 3;
}
",
        &["first 2-5", "second 7-9", "third 12-14"],
    );
    // Braces on lines of their own; the condition is broken, not the class.
    check(
        Language::Php,
        "\
<?php
final class A
{
    public function first(array $b)
    {
        foreach ($b as $c) {
            throw new E('message of $c);
        }
    }

    public function second(): int
    {
        return 2;
    }
}
",
        &["first 4-9", "second 11-14"],
    );
}

#[test]
fn brackets_that_are_not_closed() {
    check(
        Language::Go,
        "\
package a

func first(x int) int {
\tif x > 0 {
\t\treturn g(x
\t}
\treturn 1
}

func second() int {
\treturn 2
}
",
        &["first 3-8", "second 10-12"],
    );
    check(
        Language::Rust,
        "\
impl A {
    fn first(&self) -> u8 {
        match self {
            Self::B => 1,
            Self::C => 2,
    }

    fn second(
        &self,
        b: u8,
    ) -> u8 {
        b
    }
}

fn third() {}
",
        &["first 2-6", "second 8-13", "third 16-16"],
    );
    check(
        Language::Java,
        "\
class A {
    int first(int b) {
        if (b > 0) {
            return 1;
        return 0;
    }

    @Test
    void second() {
        call(() -> {
            run();
        });
    }
}
",
        &["first 2-6", "second 8-13"],
    );
    check(
        Language::Ruby,
        "\
class A
  def first(b)
    if b
      c(
    end
  end

  def second
    <<~TEXT
at the margin
    TEXT
  end
end
",
        &["first 2-6", "second 8-12"],
    );
    check(
        Language::Python,
        "\
def first(a):
    return g(a

def second(
    a,
):
    return 2
",
        &["first 1-2", "second 4-7"],
    );
}

#[test]
fn marks_of_a_failed_merge() {
    check(
        Language::TypeScript,
        "\
export class A {
  first(): number {
<<<<<<< HEAD
    return 1;
=======
    return 2;
>>>>>>> other
  }

  second(): number {
    return 2;
  }
}
",
        &["first 2-8", "second 10-12"],
    );
}

#[test]
fn names_in_a_broken_function_are_still_read() {
    let text = "def f(a):\n    return g(a\n\ndef h():\n    return k()\n";
    let source = Source::new(Language::Python, text);
    assert!(source.error_bytes() > 0, "the error is told");
    assert!(source.identifiers(0..text.len()).contains("g"));
}

#[test]
fn a_long_source_is_not_looked_behind_its_errors() {
    let with_comments = |lines: usize| {
        let class = "\
<?php
final class A
{
    public function first(array $b)
    {
        throw new E('message of $b);
    }

    public function second(): int
    {
        return 2;
    }
}
";
        let comment = "// nothing of note stands here\n".repeat(lines);
        found(Language::Php, &format!("{class}{comment}"))
    };
    assert_eq!(with_comments(1000), ["first 4-7", "second 9-12"]);
    // Known to be wrong: in a text of 300 KiB, a string without its end takes its class along.
    assert!(with_comments(10_000).is_empty());
}
