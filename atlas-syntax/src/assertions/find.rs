//! The tests of a source, and where a failure goes in each.

use super::statement::{MESSAGE, is_assertion, may_end, of_macro};
use super::{Edit, each, text};
use crate::Language;
use tree_sitter::{Node, Tree};

/// Why a test is left that does not run, or is expected to fail: nobody can make it fail.
pub(super) const NEVER_PASSES: [&str; 5] = [
    "is expected to fail",
    "is skipped, or expected to fail",
    "is skipped",
    "is ignored",
    "is disabled",
];

/// A test that was found.
pub(super) struct Test {
    pub(super) name: String,
    /// First and last line, from 1.
    pub(super) lines: (usize, usize),
    /// Where the body begins: the order of edits.
    pub(super) at: usize,
    pub(super) has_body: bool,
    /// Its bytes, attributes that belong to it in the grammar included.
    pub(super) whole: std::ops::Range<usize>,
    pub(super) plan: Result<Planned, String>,
}

/// What is to be written.
pub(super) struct Planned {
    pub(super) edit: Edit,
    pub(super) statement: String,
    pub(super) before_assertion: bool,
}

/// A test's head, before its body is looked at.
struct Head<'t> {
    name: String,
    whole: Node<'t>,
    body: Option<Node<'t>>,
    /// The failing statement, or why there is none.
    statement: Result<String, String>,
}

pub(super) fn tests(language: Language, tree: &Tree, source: &[u8]) -> Vec<Test> {
    let mut found = Vec::new();
    each(tree.root_node(), &mut |node| {
        let head = match language {
            Language::Python => python(node, source),
            Language::JavaScript | Language::TypeScript | Language::Tsx => script(node, source),
            Language::Java => java(node, source),
            Language::CSharp => csharp(node, source),
            Language::Go => go(node, source),
            Language::Rust => rust(node, source),
            Language::Php => php(node, source),
            Language::Ruby => ruby(node, source),
            Language::C | Language::Cpp => native(node, source),
        };
        if let Some(head) = head {
            found.push(planned(head, source));
        }
        true
    });
    found
}

fn planned(head: Head<'_>, source: &[u8]) -> Test {
    let lines = (
        head.whole.start_position().row + 1,
        head.whole.end_position().row + 1,
    );
    let at = head
        .body
        .map_or(head.whole.start_byte(), |body| body.start_byte());
    let (whole, has_body) = (head.whole.byte_range(), head.body.is_some());
    let plan = match (head.statement, head.body) {
        (Err(why), _) => Err(why),
        (Ok(_), None) => Err("has no body".to_owned()),
        (Ok(statement), Some(body)) => place(body, &statement, source),
    };
    Test {
        name: head.name,
        lines,
        at,
        has_body,
        whole,
        plan,
    }
}

/// Where in a body the statement goes.
fn place(body: Node<'_>, statement: &str, source: &[u8]) -> Result<Planned, String> {
    let planned = |edit, before_assertion| Planned {
        edit,
        statement: statement.to_owned(),
        before_assertion,
    };
    let is_block = matches!(
        body.kind(),
        "block"
            | "statement_block"
            | "compound_statement"
            | "body_statement"
            | "block_body"
            | "statement_list"
    );
    if !is_block {
        // `() => expect(…)`: the expression is what it was, behind a statement.
        let closing = Some((body.end_byte(), "); }".to_owned()));
        let edit = Edit {
            at: body.start_byte(),
            text: format!("{{ {statement} return ("),
            closing,
        };
        return Ok(planned(edit, true));
    }
    let mut cursor = body.walk();
    let mut statements: Vec<Node<'_>> = body
        .named_children(&mut cursor)
        .filter(|node| !node.is_extra())
        .collect();
    if let [only] = statements[..]
        && only.kind() == "statement_list"
    {
        let mut cursor = only.walk();
        statements = only
            .named_children(&mut cursor)
            .filter(|node| !node.is_extra())
            .collect();
    }
    // A docstring stays in front.
    if statements.len() > 1 && statements[0].kind() == "expression_statement" {
        let first = text(statements[0], source);
        if first.starts_with(['"', '\'']) {
            statements.remove(0);
        }
    }
    let asserting = statements
        .iter()
        .position(|node| is_assertion(&text(*node, source)))
        // What may end the test before its assertion must not end it before the failure.
        .filter(|at| {
            let ahead = &statements[..*at];
            !ahead.iter().any(|node| may_end(&text(*node, source)))
        });
    let Some(target) = asserting.map(|at| &statements[at]).or(statements.first()) else {
        let open = source.get(body.start_byte()) == Some(&b'{');
        return if open {
            let edit = Edit {
                at: body.start_byte() + 1,
                text: format!(" {statement} "),
                closing: None,
            };
            Ok(planned(edit, false))
        } else {
            Err("has no statement".to_owned())
        };
    };
    let start = target.start_byte();
    let line = source[..start]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let indent = &source[line..start];
    let own_line = indent.iter().all(u8::is_ascii_whitespace);
    let between = if own_line {
        format!("\n{}", String::from_utf8_lossy(indent))
    } else if statement.ends_with([';', '}']) {
        " ".to_owned()
    } else {
        "; ".to_owned()
    };
    let edit = Edit {
        at: start,
        text: format!("{statement}{between}"),
        closing: None,
    };
    Ok(planned(edit, asserting.is_some()))
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// What stands in front of a node and belongs to it: comments and attributes.
fn ahead(node: Node<'_>, source: &[u8], kinds: &[&str]) -> String {
    let mut all = String::new();
    let mut before = node.prev_sibling();
    while let Some(one) = before {
        if !kinds.contains(&one.kind()) {
            break;
        }
        all.push_str(&text(one, source));
        all.push('\n');
        before = one.prev_sibling();
    }
    all
}

fn python<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if node.kind() != "function_definition" {
        return None;
    }
    let name = text(field(node, "name")?, source);
    if !name.starts_with("test") {
        return None;
    }
    let parent = node
        .parent()
        .filter(|parent| parent.kind() == "decorated_definition");
    let decorators = parent.map_or_else(String::new, |parent| {
        let mut cursor = parent.walk();
        parent
            .children(&mut cursor)
            .filter(|child| child.kind() == "decorator")
            .map(|child| text(child, source))
            .collect()
    });
    let statement = if decorators.contains("xfail") || decorators.contains("expectedFailure") {
        Err("is expected to fail".to_owned())
    } else if decorators.contains("fixture") {
        return None;
    } else {
        Ok(format!("assert False, \"{MESSAGE}\""))
    };
    Some(Head {
        name,
        whole: parent.unwrap_or(node),
        body: field(node, "body"),
        statement,
    })
}

/// The text of a string literal without its quotes.
fn literal(node: Node<'_>, source: &[u8]) -> Option<String> {
    let kinds = [
        "string",
        "template_string",
        "encapsed_string",
        "string_literal",
    ];
    if !kinds.contains(&node.kind()) {
        return None;
    }
    let text = text(node, source);
    let inner = text.trim_matches(['"', '\'', '`']);
    (!inner.is_empty()).then(|| inner.to_owned())
}

/// `it("title", () => { … })`
fn script<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if node.kind() != "call_expression" {
        return None;
    }
    let callee = text(field(node, "function")?, source);
    let first = callee.split(['.', '(', '`', ' ', '\n']).next()?;
    if !matches!(first, "it" | "test" | "specify") {
        return None;
    }
    let arguments = field(node, "arguments")?;
    let mut cursor = arguments.walk();
    let given: Vec<Node<'_>> = arguments.named_children(&mut cursor).collect();
    let name = literal(*given.first()?, source)?;
    let function = given.iter().skip(1).find(|node| {
        matches!(
            node.kind(),
            "arrow_function" | "function_expression" | "function" | "generator_function"
        )
    })?;
    let marks = callee.split('(').next().unwrap_or_default();
    let statement = if [".skip", ".todo", ".fails", ".failing"]
        .iter()
        .any(|mark| marks.contains(mark))
    {
        Err("is skipped, or expected to fail".to_owned())
    } else if callee.starts_with("test.describe")
        || callee.starts_with("test.before")
        || callee.starts_with("test.after")
    {
        return None;
    } else {
        // A condition that no compiler sees through: what follows stays reachable.
        Ok(format!(
            "if (Date.now() > 0) throw new Error(\"{MESSAGE}\");"
        ))
    };
    Some(Head {
        name,
        whole: node,
        body: field(*function, "body"),
        statement,
    })
}

fn java<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if node.kind() != "method_declaration" {
        return None;
    }
    let name = text(field(node, "name")?, source);
    let mut cursor = node.walk();
    let modifiers = node
        .children(&mut cursor)
        .find(|child| child.kind() == "modifiers")
        .map_or_else(String::new, |child| text(child, source));
    let annotated = [
        "@Test",
        "@ParameterizedTest",
        "@RepeatedTest",
        "@Theory",
        "@Property",
    ]
    .iter()
    .any(|annotation| modifiers.contains(annotation));
    let by_name = name.starts_with("test") && modifiers.contains("public");
    if !annotated && !by_name {
        return None;
    }
    let statement = if modifiers.contains("expected") {
        Err("expects an exception".to_owned())
    } else if modifiers.contains("@Disabled") || modifiers.contains("@Ignore") {
        Err("is skipped".to_owned())
    } else {
        Ok(format!(
            "if (System.nanoTime() != 0L) throw new AssertionError(\"{MESSAGE}\");"
        ))
    };
    Some(Head {
        name,
        whole: node,
        body: field(node, "body"),
        statement,
    })
}

fn csharp<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if node.kind() != "method_declaration" {
        return None;
    }
    let name = text(field(node, "name")?, source);
    let mut cursor = node.walk();
    let attributes: String = node
        .children(&mut cursor)
        .filter(|child| child.kind() == "attribute_list")
        .map(|child| text(child, source))
        .collect();
    let words: Vec<&str> = attributes
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let is_test = words.iter().any(|word| {
        matches!(
            *word,
            "Test"
                | "TestCase"
                | "TestCaseSource"
                | "TestMethod"
                | "DataTestMethod"
                | "Fact"
                | "Theory"
        )
    });
    if !is_test {
        return None;
    }
    let statement = if words.contains(&"ExpectedException") {
        Err("expects an exception".to_owned())
    } else if words.contains(&"Ignore") || words.contains(&"Skip") {
        Err("is skipped".to_owned())
    } else {
        Ok(format!(
            "if (System.Environment.TickCount != int.MinValue) throw new System.Exception(\"{MESSAGE}\");"
        ))
    };
    let body = field(node, "body").filter(|body| body.kind() == "block");
    Some(Head {
        name,
        whole: node,
        body,
        statement,
    })
}

fn go<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if !matches!(node.kind(), "function_declaration" | "method_declaration") {
        return None;
    }
    let name = text(field(node, "name")?, source);
    let is_suite = node.kind() == "method_declaration";
    if !name.starts_with("Test") {
        return None;
    }
    let parameters = text(field(node, "parameters")?, source);
    let inner = parameters.trim_matches(['(', ')']).trim().to_owned();
    let statement = if is_suite && inner.is_empty() {
        // testify's suites: the receiver has the test.
        let receiver = text(field(node, "receiver")?, source);
        let word = receiver
            .trim_matches(['(', ')', ' '])
            .split_whitespace()
            .next()?
            .to_owned();
        Ok(format!("{word}.T().Fatal(\"{MESSAGE}\")"))
    } else {
        let (variable, kind) = inner
            .split_once(char::is_whitespace)
            .unwrap_or(("", &inner));
        if !kind.trim().starts_with("*testing.T") || kind.trim() != "*testing.T" {
            return None;
        }
        if matches!(variable, "" | "_") {
            Err("does not name its testing.T".to_owned())
        } else {
            Ok(format!("{variable}.Fatal(\"{MESSAGE}\")"))
        }
    };
    Some(Head {
        name,
        whole: node,
        body: field(node, "body"),
        statement,
    })
}

fn rust<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if node.kind() != "function_item" {
        return None;
    }
    let kinds = ["attribute_item", "line_comment", "block_comment"];
    let mut attributes = Vec::new();
    let mut before = node.prev_sibling();
    while let Some(one) = before.filter(|one| kinds.contains(&one.kind())) {
        if one.kind() == "attribute_item" {
            attributes.push(text(one, source));
        }
        before = one.prev_sibling();
    }
    let path = |attribute: &String| -> String {
        let inner = attribute.trim_start_matches("#[").trim_end_matches(']');
        let path = inner.split(['(', '=', ' ']).next().unwrap_or_default();
        path.rsplit("::")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let has = |wanted: &[&str]| {
        attributes
            .iter()
            .any(|one| wanted.contains(&path(one).as_str()))
    };
    if !has(&[
        "test",
        "rstest",
        "test_case",
        "case",
        "wasm_bindgen_test",
        "traced_test",
    ]) {
        return None;
    }
    let returns = field(node, "return_type").is_some();
    let statement = match (has(&["should_panic"]), returns) {
        _ if has(&["ignore"]) => Err("is ignored".to_owned()),
        (true, true) => Err("expects a panic and returns a value".to_owned()),
        (true, false) => Ok("if core::hint::black_box(true) { return; }".to_owned()),
        (false, _) => Ok(format!(
            "if core::hint::black_box(true) {{ panic!(\"{MESSAGE}\"); }}"
        )),
    };
    Some(Head {
        name: text(field(node, "name")?, source),
        whole: node,
        body: field(node, "body"),
        statement,
    })
}

fn php<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if node.kind() == "function_call_expression" {
        let callee = text(field(node, "function")?, source);
        if !matches!(callee.as_str(), "it" | "test") {
            return None;
        }
        let arguments = field(node, "arguments")?;
        let mut cursor = arguments.walk();
        let given: Vec<Node<'_>> = arguments
            .named_children(&mut cursor)
            .filter_map(|argument| argument.named_child(0))
            .collect();
        let name = literal(*given.first()?, source)?;
        let function = given
            .iter()
            .skip(1)
            .find(|node| node.kind().starts_with("anonymous_function"))?;
        return Some(Head {
            name,
            whole: node,
            body: field(*function, "body"),
            statement: Ok(format!(
                "\\PHPUnit\\Framework\\Assert::fail(\"{MESSAGE}\");"
            )),
        });
    }
    if node.kind() != "method_declaration" {
        return None;
    }
    let name = text(field(node, "name")?, source);
    let notes = ahead(node, source, &["comment"]);
    let own = text(node, source);
    let head = own.split('{').next().unwrap_or_default();
    if !name.starts_with("test") && !notes.contains("@test") && !head.contains("#[Test]") {
        return None;
    }
    Some(Head {
        name,
        whole: node,
        body: field(node, "body"),
        statement: Ok(format!(
            "\\PHPUnit\\Framework\\Assert::fail(\"{MESSAGE}\");"
        )),
    })
}

fn ruby<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    let statement = Ok(format!("raise \"{MESSAGE}\""));
    if node.kind() == "method" {
        let name = text(field(node, "name")?, source);
        return name.starts_with("test_").then(|| Head {
            name,
            whole: node,
            body: field(node, "body"),
            statement,
        });
    }
    if node.kind() != "call" {
        return None;
    }
    let method = text(field(node, "method")?, source);
    if !matches!(
        method.as_str(),
        "it" | "specify" | "test" | "should" | "scenario" | "example"
    ) {
        return None;
    }
    let arguments = field(node, "arguments")?;
    let name = literal(arguments.named_child(0)?, source)?;
    let block = field(node, "block")?;
    let body = field(block, "body")?;
    Some(Head {
        name,
        whole: node,
        body: Some(body),
        statement,
    })
}

/// C and C++: macros that make a function, and functions whose assertions tell the framework.
fn native<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    if node.kind() == "call_expression" {
        return case_macro(node, source);
    }
    if node.kind() != "function_definition" {
        return None;
    }
    let body = field(node, "body")?;
    let mut declarator = field(node, "declarator")?;
    while matches!(
        declarator.kind(),
        "pointer_declarator" | "reference_declarator"
    ) {
        declarator = field(declarator, "declarator")?;
    }
    if declarator.kind() != "function_declarator" {
        return None;
    }
    let full = text(field(declarator, "declarator")?, source);
    let parameters = text(field(declarator, "parameters")?, source);
    let names: Vec<String> = parameters
        .trim_matches(['(', ')'])
        .split(',')
        .map(|part| part.trim().to_owned())
        .collect();
    let head = |name: String, statement: Result<String, String>| {
        Some(Head {
            name,
            whole: node,
            body: Some(body),
            statement,
        })
    };
    match full.as_str() {
        "TEST" | "TEST_F" | "TEST_P" | "TYPED_TEST" | "TYPED_TEST_P" if names.len() == 2 => {
            let disabled = names.iter().any(|name| name.starts_with("DISABLED_"));
            let statement = if disabled {
                Err("is disabled".to_owned())
            } else {
                Ok("ADD_FAILURE();".to_owned())
            };
            return head(format!("{}.{}", names[0], names[1]), statement);
        }
        "BOOST_AUTO_TEST_CASE" | "BOOST_FIXTURE_TEST_CASE" => {
            return head(names[0].clone(), Ok(format!("BOOST_ERROR(\"{MESSAGE}\");")));
        }
        "START_TEST" => {
            return head(
                names[0].clone(),
                Ok(format!("ck_abort_msg(\"{MESSAGE}\");")),
            );
        }
        "TEST_CASE" | "SCENARIO" => {
            let name = names[0].trim_matches('"').to_owned();
            return head(name, Ok("CHECK(false);".to_owned()));
        }
        _ => {}
    }
    let name = full.rsplit("::").next().unwrap_or(&full).to_owned();
    let plain = name.to_ascii_lowercase();
    if !plain.starts_with("test") && !plain.ends_with("_test") {
        return None;
    }
    head(name, of_assertions(body, source))
}

/// `TEST_CASE("title") { … }`, which the grammar takes for a call and a block.
fn case_macro<'t>(node: Node<'t>, source: &[u8]) -> Option<Head<'t>> {
    let callee = text(field(node, "function")?, source);
    let fail = match callee.as_str() {
        "TEST_CASE" | "SCENARIO" | "TEST_CASE_METHOD" | "TEST_CASE_FIXTURE" => {
            "CHECK(false);".to_owned()
        }
        "START_TEST" => format!("ck_abort_msg(\"{MESSAGE}\");"),
        "BOOST_AUTO_TEST_CASE" => format!("BOOST_ERROR(\"{MESSAGE}\");"),
        _ => return None,
    };
    let arguments = field(node, "arguments")?;
    let mut cursor = arguments.walk();
    let given: Vec<Node<'_>> = arguments.named_children(&mut cursor).collect();
    let name = given
        .iter()
        .find_map(|argument| literal(*argument, source))
        .or_else(|| given.first().map(|argument| text(*argument, source)))?;
    let mut around = node;
    while let Some(parent) = around.parent().filter(|parent| {
        parent.end_byte() == around.end_byte() || parent.kind() == "expression_statement"
    }) {
        around = parent;
    }
    let body = around
        .next_named_sibling()
        .filter(|next| next.kind() == "compound_statement")?;
    Some(Head {
        name,
        whole: body,
        body: Some(body),
        statement: Ok(fail),
    })
}

/// The failing statement of the first assertion in a body whose macro is understood.
fn of_assertions(body: Node<'_>, source: &[u8]) -> Result<String, String> {
    let mut found = None;
    each(body, &mut |node| {
        if found.is_none()
            && node.kind() == "call_expression"
            && let Some(function) = field(node, "function")
            && let Some(arguments) = field(node, "arguments")
        {
            found = of_macro(&text(function, source), arguments.named_child_count());
        }
        found.is_none()
    });
    found.ok_or_else(|| "has no assertion of a known form".to_owned())
}
