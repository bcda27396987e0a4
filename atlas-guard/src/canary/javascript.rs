//! Jest, Vitest, Bun, Jasmine, Mocha, `node:test`, AVA, lab, `QUnit`, brittle, tape, node-tap, uvu.

use super::names::Names;
use super::{Added, insert};
use regex::Regex;
use std::sync::LazyLock;

pub(super) fn add(parser: &str, file: &str, text: &str, names: &Names) -> Added {
    let imports = Imports::read(text);
    let uses = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
    let arrow = text.contains("=>");
    let semicolon = text.lines().any(|line| line.trim_end().ends_with(';'));
    let end = if semicolon { ";" } else { "" };
    let style = style(parser, text, &imports)?;
    // What declares a test: an imported name, or a global that the file uses.
    let global = if uses(r"(?m)^\s*it(\.\w+)?\s*\(") || matches!(parser, "jasmine" | "tap") {
        Some("it")
    } else if uses(r"(?m)^\s*test(\.\w+)?\s*\(") {
        Some("test")
    } else {
        None
    };
    let from_runner = |modules: &[&str]| {
        let default = modules.iter().find_map(|module| imports.whole(module));
        ["test", "it"]
            .iter()
            .find_map(|name| {
                modules
                    .iter()
                    .find_map(|module| imports.named(module, name))
            })
            .or(default)
    };
    let (declare, argument) = match style {
        Style::Ava => (imports.whole("ava")?, "t"),
        Style::Brittle => (from_runner(&["brittle"])?, "t"),
        Style::QUnit if uses(r"\bQUnit\.test\s*\(") => ("QUnit.test".to_owned(), "assert"),
        Style::QUnit => (imports.named("qunit", "test")?, "assert"),
        Style::Lab => (global?.to_owned(), ""),
        Style::Tape => (from_runner(&["tape", "tape-promise/tape"])?, "t"),
        Style::Tap => {
            let whole = imports.whole("tap").map(|tap| format!("{tap}.test"));
            (imports.named("tap", "test").or(whole)?, "t")
        }
        Style::Uvu => (RUN.captures_iter(text).last()?[1].to_owned(), ""),
        Style::NodeTest => (from_runner(&["node:test"])?, ""),
        Style::Vitest => {
            let imported = from_runner(&["vitest"]);
            (imported.or(global.map(str::to_owned))?, "")
        }
        Style::Jest => {
            let imported = from_runner(&["@jest/globals", "bun:test"]);
            (imported.or(global.map(str::to_owned))?, "")
        }
        Style::Mocha => {
            let imported = from_runner(&["mocha"]);
            (imported.or(global.map(str::to_owned))?, "")
        }
    };
    let (assertion, import) = assertion(&style, file, text, &imports)?;
    let both = names.spaced();
    let one = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
        let computed = format!("[{a}, {b}, {c}].reduce((x, y) => x + y, 0)");
        let head = if arrow && argument.is_empty() {
            "() =>".to_owned()
        } else if arrow {
            format!("{argument} =>")
        } else {
            format!("function ({argument})")
        };
        let check = assertion
            .replace("ACTUAL", "total")
            .replace("EXPECTED", &sum.to_string())
            .replace("NAME", name)
            .replace('\n', &format!("{end}\n"));
        let quote = if text.matches('"').count() > text.matches('\'').count() {
            '"'
        } else {
            '\''
        };
        let keyword = if text.contains("const ") || arrow {
            "const"
        } else {
            "var"
        };
        format!(
            "{declare}({quote}{name}{quote}, {head} {{\n  {keyword} total = {computed}{end}\n  {check}{end}\n}}){end}\n"
        )
    };
    let mut piece = names.both(&both, one, "\n");
    if let Some(import) = import {
        piece = format!("{import}{end}\n\n{piece}");
    }
    if !semicolon {
        // A file without semicolons must not end in what an opening bracket continues.
        piece.insert(0, ';');
        piece = piece.replacen(";import", "import", 1);
    }
    let (at, blank) = match style {
        // Tests that are declared behind it do not run.
        Style::Uvu => (RUN.find_iter(text).last()?.start(), 0),
        _ => (text.len(), 1),
    };
    Some((insert(text, at, blank, &piece), both.0, both.1))
}

/// An expectation in a file that need not import what makes it.
static JASMINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bexpect(?:Async)?\(").expect("a pattern of this file"));

/// The line that runs the tests of a file of uvu's.
static RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^([\w$]+)\.run\(\);?[ \t]*$").expect("a pattern of this file")
});

enum Style {
    Ava,
    NodeTest,
    Vitest,
    Jest,
    Mocha,
    Lab,
    QUnit,
    Brittle,
    Tape,
    Tap,
    Uvu,
}

fn style(parser: &str, text: &str, imports: &Imports) -> Option<Style> {
    // What the file imports tells more than the log's parser.
    for (module, style) in [
        ("ava", Style::Ava),
        ("node:test", Style::NodeTest),
        ("vitest", Style::Vitest),
        ("@jest/globals", Style::Jest),
        ("bun:test", Style::Jest),
        ("@hapi/lab", Style::Lab),
        ("lab", Style::Lab),
        ("qunit", Style::QUnit),
        ("brittle", Style::Brittle),
        ("tape", Style::Tape),
        ("tap", Style::Tap),
        ("uvu", Style::Uvu),
    ] {
        if imports.has(module) {
            return Some(style);
        }
    }
    let first = parser.split('+').next()?;
    Some(match first {
        "jest" | "jasmine" | "bun" => Style::Jest,
        "vitest" => Style::Vitest,
        "mocha" | "karma" => Style::Mocha,
        // What QUnit and Jasmine give the tests are globals.
        "tap" if text.contains("QUnit.test(") => Style::QUnit,
        "tap" if JASMINE.is_match(text) => Style::Jest,
        _ => return None,
    })
}

/// The assertion with `ACTUAL` and `EXPECTED` in their places, and what has to be imported for it.
fn assertion(
    style: &Style,
    file: &str,
    text: &str,
    imports: &Imports,
) -> Option<(String, Option<String>)> {
    let assert = [
        "assert",
        "node:assert",
        "assert/strict",
        "node:assert/strict",
        "power-assert",
    ];
    let own = |what: &str| Some((what.to_owned(), None));
    match style {
        Style::Ava | Style::Brittle => return own("t.is(ACTUAL, EXPECTED)"),
        Style::QUnit => return own("assert.strictEqual(ACTUAL, EXPECTED)"),
        // What tape prints of an assertion is its message alone.
        Style::Tape => return own("t.equal(ACTUAL, EXPECTED, 'NAME')\n  t.end()"),
        Style::Tap => return own("t.equal(ACTUAL, EXPECTED)\n  t.end()"),
        Style::Uvu => {
            if let Some(assert) = imports.whole("uvu/assert") {
                return own(&format!("{assert}.is(ACTUAL, EXPECTED)"));
            }
        }
        Style::Lab => {
            let code = ["@hapi/code", "code"];
            let named = code.iter().find_map(|code| imports.named(code, "expect"));
            let whole = code.iter().find_map(|code| imports.whole(code));
            let expect = named.or_else(|| whole.map(|code| format!("{code}.expect")));
            if let Some(expect) = expect {
                return own(&format!("{expect}(ACTUAL).to.equal(EXPECTED)"));
            }
        }
        Style::Jest => {
            let expect = imports.named("@jest/globals", "expect");
            let expect = expect.or_else(|| imports.named("bun:test", "expect"));
            let expect = expect.unwrap_or_else(|| "expect".to_owned());
            return own(&format!("{expect}(ACTUAL).toBe(EXPECTED)"));
        }
        Style::Vitest => {
            let named = imports.named("vitest", "expect");
            if named.is_some() || !imports.has("vitest") {
                let expect = named.unwrap_or_else(|| "expect".to_owned());
                return own(&format!("{expect}(ACTUAL).toBe(EXPECTED)"));
            }
            if let Some(assert) = imports.named("vitest", "assert") {
                return own(&format!("{assert}.strictEqual(ACTUAL, EXPECTED)"));
            }
        }
        Style::NodeTest | Style::Mocha => {}
    }
    if let Some(whole) = assert.iter().find_map(|module| imports.whole(module)) {
        return own(&format!("{whole}.strictEqual(ACTUAL, EXPECTED)"));
    }
    let chai = |name: &str| {
        let chain = Regex::new(&format!(r"require\(['\x22]chai['\x22]\)\.{name}\b"));
        let whole = imports.named("chai", name);
        whole.or_else(|| {
            chain
                .is_ok_and(|chain| chain.is_match(text))
                .then(|| name.to_owned())
        })
    };
    if let Some(expect) = chai("expect") {
        return own(&format!("{expect}(ACTUAL).to.equal(EXPECTED)"));
    }
    if let Some(assert) = chai("assert") {
        return own(&format!("{assert}.strictEqual(ACTUAL, EXPECTED)"));
    }
    if imports.whole("expect.js").is_some() || imports.whole("chai").is_some() {
        let member = imports.whole("chai").filter(|_| !text.contains("expect ="));
        let expect = member.map_or_else(|| "expect".to_owned(), |chai| format!("{chai}.expect"));
        return own(&format!("{expect}(ACTUAL).to.equal(EXPECTED)"));
    }
    if imports.whole("expect").is_some() {
        return own("expect(ACTUAL).toBe(EXPECTED)");
    }
    // Nothing known is imported: the platform's own, in the file's module system.
    let name = "strictEqual";
    if text.contains(name) {
        return None;
    }
    let modules = Imports::is_module(file, text);
    let import = if modules {
        format!("import {{ {name} }} from 'assert'")
    } else if text.contains("require(") || matches!(file.rsplit('.').next(), Some("cjs" | "js")) {
        return own("require('assert').strictEqual(ACTUAL, EXPECTED)");
    } else {
        return None;
    };
    Some((format!("{name}(ACTUAL, EXPECTED)"), Some(import)))
}

/// What a file imports, by module.
struct Imports {
    list: Vec<Import>,
}

struct Import {
    module: String,
    /// The local name of the module or its default.
    whole: Option<String>,
    /// Members with their local names.
    named: Vec<(String, String)>,
}

impl Imports {
    fn read(text: &str) -> Self {
        static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r"(?m)^\s*import\s+(?:type\s+)?(?:([\w$]+)\s*,?\s*)?(?:\*\s+as\s+([\w$]+)\s*)?(?:\{([^}]*)\}\s*)?from\s*['\x22]([^'\x22]+)['\x22]",
            )
            .expect("a pattern of this file")
        });
        static REQUIRE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r"(?:const|let|var|,)\s+(?:([\w$]+)|\{([^}]*)\})\s*=\s*require\(\s*['\x22]([^'\x22]+)['\x22]\s*\)(\s*\.\s*[\w$]+|\s*\()?",
            )
            .expect("a pattern of this file")
        });
        let named = |list: Option<regex::Match<'_>>| -> Vec<(String, String)> {
            let list = list.map_or("", |list| list.as_str());
            list.split(',')
                .map(|item| item.trim().trim_start_matches("type "))
                .filter(|item| !item.is_empty())
                .map(|item| {
                    let parts = item.split_once(" as ").or_else(|| item.split_once(':'));
                    let (name, local) = parts.unwrap_or((item, item));
                    (name.trim().to_owned(), local.trim().to_owned())
                })
                .collect()
        };
        let word = |found: Option<regex::Match<'_>>| found.map(|found| found.as_str().to_owned());
        let mut list = Vec::new();
        for found in IMPORT.captures_iter(text) {
            let whole = word(found.get(1)).or_else(|| word(found.get(2)));
            list.push(Import {
                module: found[4].to_owned(),
                whole,
                named: named(found.get(3)),
            });
        }
        for found in REQUIRE.captures_iter(text) {
            // `require('chai').expect` and `require('x')()` bind something else; the first is told
            // by its name.
            let member = found.get(4).map(|member| member.as_str().trim().to_owned());
            let whole = word(found.get(1));
            let (whole, named) = match (member, whole) {
                (Some(member), Some(local)) if member.starts_with('.') => {
                    let name = member.trim_start_matches('.').trim().to_owned();
                    let is_strict = name == "strict" && found[3].contains("assert");
                    let whole = is_strict.then(|| local.clone());
                    (whole, vec![(name, local)])
                }
                (Some(_), _) => (None, Vec::new()),
                (None, whole) => (whole, named(found.get(2))),
            };
            list.push(Import {
                module: found[3].to_owned(),
                whole,
                named,
            });
        }
        Self { list }
    }

    fn of<'a>(&'a self, module: &'a str) -> impl Iterator<Item = &'a Import> {
        self.list.iter().filter(move |one| one.module == module)
    }

    fn has(&self, module: &str) -> bool {
        self.of(module).next().is_some()
    }

    fn whole(&self, module: &str) -> Option<String> {
        self.of(module).find_map(|one| one.whole.clone())
    }

    fn named(&self, module: &str, name: &str) -> Option<String> {
        let mut named = self.of(module).flat_map(|one| &one.named);
        named
            .find(|(of, _)| of == name)
            .map(|(_, local)| local.clone())
    }

    /// Whether the file is a module with `import`.
    fn is_module(file: &str, text: &str) -> bool {
        let ending = matches!(file.rsplit('.').next(), Some("mjs" | "mts"));
        ending
            || text
                .lines()
                .any(|line| line.starts_with("import ") || line.starts_with("export "))
    }
}
