//! What compilers, linkers and loaders print when something is missing.
//!
//! One table for all languages: a form says which part of the line is the name that is missing. No
//! form decides by itself: whether the pull request brings that name is asked of the patches.

use regex::{Regex, RegexSet};
use std::sync::LazyLock;

/// What a line says is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A function, type, field, constant.
    Symbol,
    /// Nothing is missing by name, but something is called as it cannot be called.
    Signature,
    /// A module, package, library or file.
    Module,
}

use Sort::{Module, Signature, Symbol};

/// The forms, the narrower ones first: a line is read by the first that fits. `n` is the name; `o`
/// is a second name, looked for where the first is not found.
const FORMS: &[(Sort, &str)] = &[
    // Python
    (Symbol, r#"cannot import name ['"](?<n>\w+)"#),
    (Module, r#"No module named ['"]?(?<n>[\w.]+)"#),
    (Symbol, r"has no attribute '(?<n>\w+)'"),
    (
        Signature,
        r"(?<o>[\w.]+)\(\) got an unexpected keyword argument '(?<n>\w+)'",
    ),
    (
        Signature,
        r"TypeError: (?<n>[\w.]+)\(\) (?:takes|missing|got) ",
    ),
    (Symbol, r"name '(?<n>\w+)' is not defined"),
    // Go
    (
        Module,
        r"no required module provides package (?<n>[^\s;:]+)",
    ),
    (
        Module,
        r"cannot find module providing package (?<n>[^\s;:]+)",
    ),
    (Module, r"package (?<n>\S+) is not in (?:std|GOROOT)"),
    (Module, r#"cannot find package "(?<n>[^"]+)""#),
    (Symbol, r"undefined: (?<n>[\w.]+)"),
    (Symbol, r"\.(?<n>\w+) undefined \(type "),
    (Symbol, r"has no field or method (?<n>\w+)"),
    (Symbol, r"unknown field '?(?<n>\w+)'? in struct literal"),
    (Symbol, r"\(missing method (?<n>\w+)\)"),
    (
        Signature,
        r"(?:too many|not enough) arguments in call to (?<n>[\w.]+)",
    ),
    (
        Signature,
        r"assignment mismatch: .* but (?<n>[\w.]+)(?:\(.*\))? returns? ",
    ),
    (Signature, r"cannot use .* in argument to (?<n>[\w.]+)"),
    // Rust
    (Module, r"cannot find (?:module or )?crate `(?<n>\w+)`"),
    (Module, r"can't find crate for `(?<n>\w+)`"),
    (
        Module,
        r"use of (?:undeclared|unresolved|unlinked)[a-z ]* `(?<n>\w+)`",
    ),
    (
        Module,
        r"no matching package (?:named )?`(?<n>[\w-]+)` found",
    ),
    // The root of a path that is all one word is a crate; what stands below one is a symbol.
    (Module, r"unresolved import `(?<n>\w+)`"),
    (Symbol, r"unresolved imports? `(?<n>[^`]+)`"),
    (Module, r"couldn't read `(?<n>[^`]+)`"),
    (
        Symbol,
        r"cannot find (?:[a-z]+,? )*(?:macro )?`(?<n>[^`]+)`",
    ),
    (Symbol, r"could not find `(?<n>\w+)` in"),
    (
        Symbol,
        r"no (?:[a-z]+,? )*(?:named )?`(?<n>\w+)` (?:found|in|on) ",
    ),
    (Symbol, r"has no (?:[a-z]+ )+named `(?<n>\w+)`"),
    (
        Symbol,
        r"the trait bound `(?<o>[^`]+): (?<n>[^`]+)` is not satisfied",
    ),
    (Signature, r"missing (?:structure )?fields? `(?<n>\w+)`"),
    (
        Signature,
        r"this (?:function|method|closure|[a-z ]*struct|enum variant|associated function) takes ",
    ),
    // Java, Kotlin, Scala
    (
        Symbol,
        r"symbol:\s+(?:static )?(?:class|method|variable|constructor|interface|enum|record) (?<n>\w+)",
    ),
    (Module, r"package (?<n>[\w.]+) does not exist"),
    (Symbol, r"cannot find symbol$"),
    (
        Signature,
        r"(?:method|constructor) (?<n>\w+) in (?:class|interface|enum|record) (?<o>\S+) cannot be applied",
    ),
    (
        Signature,
        r"no suitable (?:method|constructor) found for (?<n>\w+)",
    ),
    (Symbol, r"does not override abstract method (?<n>\w+)"),
    (Symbol, r"[Uu]nresolved reference:? '?(?<n>\w+)"),
    (Symbol, r"value (?<n>\w+) is not a member of"),
    (Symbol, r"not found: (?:value|type|object) (?<n>\w+)"),
    // C#
    (
        Symbol,
        r"The (?:type or namespace )?name '(?<n>\w+)' (?:does not exist|could not be found)",
    ),
    (Symbol, r"does not contain a definition for '(?<n>\w+)'"),
    (Signature, r"No overload for method '(?<n>\w+)' takes"),
    // C and C++
    (
        Module,
        r"fatal error: [‘']?(?<n>[^:'’]+?)[’']?(?: file not found|: No such file or directory)",
    ),
    (Module, r"No rule to make target [`'‘](?<n>[^'’]+)['’]"),
    (Module, r"cannot find -l(?<n>[\w.+-]+)"),
    (Symbol, r"[‘'](?<n>\w+)[’'] undeclared"),
    (Symbol, r"undeclared identifier [‘'](?<n>\w+)"),
    (Symbol, r"no member (?:function )?named [‘'](?<n>\w+)"),
    (Symbol, r"undefined reference to [`‘'](?<n>[^'’`]+)"),
    (Symbol, r"undefined symbol: (?<n>[\w:]+)"),
    (Symbol, r"[‘'](?<n>[^‘’']+)[’'] is not a member of"),
    (
        Symbol,
        r"[‘'](?<n>[^‘’']+)[’'] was not declared in this scope",
    ),
    (
        Symbol,
        r"[‘'](?<n>[^‘’']+)[’'] (?:has not been declared|does not name a type|is not a type|has incomplete type)",
    ),
    (Symbol, r"unknown type name [‘'](?<n>\w+)"),
    (Symbol, r"incomplete type [‘'](?<n>[^‘’']+)"),
    (Symbol, r"implicit declaration of function [‘'](?<n>\w+)"),
    (
        Signature,
        r"too (?:many|few) arguments to (?:function|method|constructor) [‘'](?<n>[^‘’']+)",
    ),
    (
        Signature,
        r"no matching (?:member )?(?:function|constructor) for (?:call to|initialization of) [‘'](?<n>[^‘’']+)",
    ),
    // JavaScript and TypeScript
    (Symbol, r#"has no exported member (?:named )?['"](?<n>\w+)"#),
    (Symbol, r"has no default export"),
    (Symbol, r"Property '(?<n>\w+)' does not exist on type"),
    (Symbol, r"Cannot find name '(?<n>\w+)'"),
    (Symbol, r"'(?<n>\w+)' does not exist in type"),
    (
        Signature,
        r"Expected [\w -]+ (?:type )?arguments?, but got ",
    ),
    (Signature, r"is not assignable to (?:parameter of )?type"),
    (
        Symbol,
        r#"does not provide an export named ['"](?<n>[\w$]+)"#,
    ),
    (
        Symbol,
        r#"No matching export in "[^"]+" for import "(?<n>[\w$]+)""#,
    ),
    (Module, r#"Cannot find (?:module|package) ['"](?<n>[^'"]+)"#),
    (
        Module,
        r#"(?:Failed to resolve import|Could not resolve) ['"](?<n>[^'"]+)"#,
    ),
    (Module, r"Package subpath '(?<n>[^']+)' is not defined"),
    (
        Symbol,
        r"(?<n>[\w.$]+)\)? is not a (?:function|constructor)",
    ),
    (Symbol, r"\(reading '(?<n>[\w$]+)'\)"),
    (Symbol, r"ReferenceError: (?<n>[\w$]+) is not defined"),
    // Ruby
    (Symbol, r"uninitialized constant (?<n>[\w:]+)"),
    (
        Symbol,
        r"undefined (?:local variable or )?method [`'](?<n>\w+[?!=]?)'",
    ),
    (Module, r"cannot load such file -- (?<n>\S+)"),
    // PHP
    (
        Symbol,
        r#"(?:Class|Interface|Trait|Enum) ['"](?<n>[^'"]+)['"] not found"#,
    ),
    (
        Symbol,
        r"[Cc]all to undefined (?:static )?(?:method|function) (?<n>[\w\\:]+)",
    ),
    (Symbol, r#"Undefined constant ['"]?(?<n>[\w\\:]+)"#),
    (Module, r"Failed opening required '(?<n>[^']+)'"),
    (
        Signature,
        r"Too few arguments to (?:function|method) (?<n>[\w\\:]+)",
    ),
];

/// Signs of an environment that failed, whatever the pull request says: what a machine lacks, not
/// what a program lacks.
const BROKEN: &[&str] = &[
    // Room and other limits
    r"(?i)no space left on device",
    r"\bENOSPC\b|(?i)disk quota exceeded",
    r"(?i)cannot allocate memory|virtual memory exhausted|\bout of memory\b|OutOfMemoryError",
    r"Killed signal terminated program|ld terminated with signal",
    r"(?i)too many open files|resource temporarily unavailable",
    // Shared libraries
    r"error while loading shared libraries",
    r"cannot open shared object file",
    r"version `(?:GLIBC|GLIBCXX|CXXABI)_\S+' not found",
    // Tools
    r"(?i)\bcommand not found\b",
    r"sh: (?:line )?(?:\d+: )?\S+: not found",
    r"executable file not found in \$?%?PATH",
    r"linker `[^`]+` not found",
    r"\bspawn \S+ ENOENT",
    r"The JAVA_HOME environment variable is not defined|Unable to locate a Java Runtime",
    r"No CMAKE_\w+_COMPILER could be found|no acceptable C compiler found",
    r"failed to (?:execute|find tool)\b",
    // The wrong version of a tool
    r"requires go >= |does not match go tool version|note: module requires Go ",
    r"requires rustc [\d.]+|is not supported by the following package|lock file version .* requires ",
    r"(?i)release version \S+ not supported|invalid target release|invalid source release",
    r"Unsupported class file major version|compiled by a more recent version of the Java Runtime",
    r#"The engine "\w+" is incompatible"#,
    r"requires a different Python|requires Python \W*\d|Your Ruby version is |Your PHP version",
    // Network
    r"(?i)could not resolve host|temporary failure in name resolution|network is unreachable",
    r"\bEAI_AGAIN\b|\bENOTFOUND\b|\bECONNREFUSED\b|\bgetaddrinfo\b|\bdial tcp\b",
    r"(?i)in offline mode|could not transfer artifact|could not resolve dependencies for project",
    r"you're using offline mode|failed to download from ",
    // Rights
    r"(?i)\bpermission denied\b|read-only file system|\bEACCES\b|\bEROFS\b",
    // Type definitions of a test runner
    r"Do you need to install type definitions",
];

/// Signs of source that does not parse.
const SYNTAX: &[&str] = &[
    r"\b(?:SyntaxError|IndentationError|TabError)\b",
    r"(?i)\bsyntax error\b|\bparse error\b",
    r"(?i)unexpected (?:token|end of|identifier|closing delimiter|indent)|\bunterminated\b",
    r"\bunclosed (?:delimiter|string literal|character literal|comment)|mismatched closing delimiter",
    // rustc, gcc, go, javac, TypeScript (whose errors from 1000 on are the parser's)
    r"^error: expected .*, found |^error: unknown start of token",
    r"error: (?:expected .* (?:before|at end of input)|expected '[^']+'|stray [‘'\\]|missing terminating)",
    r"\.go:\d+:\d+: (?:expected .*, found |missing .* in |illegal )",
    r"(?:error:|\]) .{1,60} expected$|reached end of file while parsing|illegal start of ",
    r"error TS1\d{3}:",
];

/// Folders of what others wrote.
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:site|dist)-packages/|node_modules/|/\.cargo/registry/|/pkg/mod/|/gems/|/\.m2/|/usr/(?:lib|include|local/lib)/",
    )
    .expect("a constant pattern")
});

static FORM_SET: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(FORMS.iter().map(|(_, pattern)| *pattern)).expect("constant patterns")
});

static FORM_LIST: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    FORMS
        .iter()
        .map(|(_, pattern)| Regex::new(pattern).expect("a constant pattern"))
        .collect()
});

static BROKEN_SET: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(BROKEN).expect("constant patterns"));

static SYNTAX_SET: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(SYNTAX).expect("constant patterns"));

static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"['"`‘“]([^'"`’”\s]{2,200})['"`’”]"#).expect("a constant pattern")
});

/// A complaint that names, or at least places, what is missing.
#[derive(Debug)]
pub(super) struct Complaint {
    pub(super) sort: Sort,
    /// As the line has them, the likelier first; may be empty.
    pub(super) names: Vec<String>,
}

/// The most of a line that is looked at; messages are shorter.
const LONGEST: usize = 2000;

fn cut(line: &str) -> &str {
    if line.len() <= LONGEST {
        return line;
    }
    let end = (0..=LONGEST).rev().find(|at| line.is_char_boundary(*at));
    &line[..end.unwrap_or(0)]
}

/// What a line says is missing.
pub(super) fn complaint(line: &str) -> Option<Complaint> {
    let line = cut(line);
    let form = FORM_SET.matches(line).iter().next()?;
    let found = FORM_LIST[form].captures(line)?;
    let sort = FORMS[form].0;
    let mut names: Vec<String> = ["n", "o"]
        .iter()
        .filter_map(|group| found.name(group))
        .map(|name| bare(name.as_str()))
        .collect();
    if names.is_empty() {
        names = quoted(line);
    }
    Some(Complaint { sort, names })
}

/// Names in quotes, for lines of no known form.
pub(super) fn quoted(line: &str) -> Vec<String> {
    QUOTED
        .captures_iter(cut(line))
        .map(|found| bare(&found[1]))
        .collect()
}

/// Whether the line shows an environment that failed.
pub(super) fn is_environment(line: &str) -> bool {
    BROKEN_SET.is_match(cut(line))
}

/// Whether the line shows source that does not parse. Loaders call a missing export a syntax error
/// too: a line that says what is missing is none, unless it is the parser's.
pub(super) fn is_syntax_error(line: &str) -> bool {
    SYNTAX_SET.is_match(cut(line)) && complaint(line).is_none()
}

/// Whether the line places the error in what the project only uses.
pub(super) fn is_foreign(line: &str) -> bool {
    FOREIGN.is_match(cut(line))
}

/// `int ledger::convert<T>(int)` -> `ledger::convert`.
fn bare(name: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' => break,
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    let last = kept.split_whitespace().next_back().unwrap_or_default();
    last.trim_matches(|c: char| "&*;,".contains(c)).to_owned()
}
