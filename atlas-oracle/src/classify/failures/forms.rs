//! What compilers, linkers and loaders print when something is missing.
//!
//! One table for all languages: a form says which part of the line is the name that is missing. No
//! form decides by itself: whether the pull request brings that name is asked of the patches.

use memchr::memmem::Finder;
use regex::Regex;
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
    // C#; Mono's compiler has another opening quotation mark.
    (
        Symbol,
        r"The (?:type or namespace )?name [`'](?<n>\w+)' (?:does not exist|could not be found)",
    ),
    (Symbol, r"does not contain a definition for [`'](?<n>\w+)'"),
    (Signature, r"No overload for method [`'](?<n>\w+)' takes"),
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
    r"\bENOSPC\b",
    r"(?i)disk quota exceeded",
    r"(?i)cannot allocate memory",
    r"(?i)virtual memory exhausted",
    r"(?i)\bout of memory\b",
    r"(?i)OutOfMemoryError",
    r"Killed signal terminated program",
    r"ld terminated with signal",
    r"(?i)too many open files",
    r"(?i)resource temporarily unavailable",
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
    r"The JAVA_HOME environment variable is not defined",
    r"Unable to locate a Java Runtime",
    r"No CMAKE_\w+_COMPILER could be found",
    r"no acceptable C compiler found",
    r"failed to (?:execute|find tool)\b",
    // The wrong version of a tool
    r"requires go >= ",
    r"^go: download go\d\S*(?: for \S+)?: ",
    r"does not match go tool version",
    r"note: module requires Go ",
    r"requires rustc [\d.]+",
    r"is not supported by the following package",
    r"lock file version .* requires ",
    r"(?i)release version \S+ not supported",
    r"(?i)invalid target release",
    r"(?i)invalid source release",
    r"Unsupported class file major version",
    r"compiled by a more recent version of the Java Runtime",
    r#"The engine "\w+" is incompatible"#,
    r"requires a different Python",
    r"requires Python \W*\d",
    r"Your Ruby version is ",
    r"Your PHP version",
    // Network
    r"(?i)could not resolve host",
    r"(?i)temporary failure in name resolution",
    r"(?i)network is unreachable",
    r"\bEAI_AGAIN\b",
    r"\bENOTFOUND\b",
    r"\bECONNREFUSED\b",
    r"\bgetaddrinfo\b",
    r"\bdial tcp\b",
    r"(?i)in offline mode",
    r"(?i)could not transfer artifact",
    r"(?i)could not resolve dependencies for project",
    r"you're using offline mode",
    r"failed to download from ",
    // Rights
    r"(?i)\bpermission denied\b",
    r"(?i)read-only file system",
    r"(?i)\bEACCES\b",
    r"(?i)\bEROFS\b",
    // Type definitions of a test runner
    r"Do you need to install type definitions",
];

/// Signs of source that does not parse.
const SYNTAX: &[&str] = &[
    r"\b(?:SyntaxError|IndentationError|TabError)\b",
    r"(?i)\bsyntax error\b",
    r"(?i)\bparse error\b",
    r"(?i)unexpected (?:token|end of|identifier|closing delimiter|indent)",
    r"(?i)\bunterminated\b",
    r"\bunclosed (?:delimiter|string literal|character literal|comment)",
    r"mismatched closing delimiter",
    // rustc, gcc, go, javac, TypeScript (whose errors from 1000 on are the parser's)
    r"^error: expected .*, found ",
    r"^error: unknown start of token",
    r"error: (?:expected .* (?:before|at end of input)|expected '[^']+'|stray [‘'\\]|missing terminating)",
    r"\.go:\d+:\d+: (?:expected .*, found |missing .* in |illegal )",
    r"(?:error:|\]) .{1,60} expected$",
    r"reached end of file while parsing",
    r"illegal start of ",
    r"error TS1\d{3}:",
];

/// Folders of what others wrote.
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:site|dist)-packages/|node_modules/|/\.cargo/registry/|/pkg/mod/|/gems/|/\.m2/|/usr/(?:lib|include|local/lib)/",
    )
    .expect("a constant pattern")
});

/// A pattern and a text that every match of it holds, in lower case: looking for the text first
/// keeps long logs cheap, for nearly no line fits any pattern.
struct Pattern {
    needle: Finder<'static>,
    regex: LazyLock<Regex, Box<dyn FnOnce() -> Regex + Send>>,
}

impl Pattern {
    fn new(pattern: &'static str) -> Self {
        Self {
            needle: Finder::new(&needle(pattern)).into_owned(),
            regex: LazyLock::new(Box::new(|| {
                Regex::new(pattern).expect("a constant pattern")
            })),
        }
    }

    fn all(patterns: impl IntoIterator<Item = &'static str>) -> Vec<Self> {
        patterns.into_iter().map(Self::new).collect()
    }

    /// Whether a line, given in lower case too, can fit.
    fn may_fit(&self, lower: &str) -> bool {
        self.needle.find(lower.as_bytes()).is_some()
    }

    fn fits(&self, line: &str, lower: &str) -> bool {
        self.may_fit(lower) && self.regex.is_match(line)
    }
}

/// The longest text that stands in every match of a pattern: letters of its own level that nothing
/// makes optional. A pattern with alternatives on that level has none.
fn needle(pattern: &str) -> String {
    let (mut best, mut run) = (String::new(), String::new());
    let (mut depth, mut in_class) = (0_usize, false);
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        let literal = match letter {
            '\\' => letters.next().filter(|next| !next.is_alphanumeric()),
            '[' if !in_class => {
                in_class = true;
                None
            }
            ']' if in_class => {
                in_class = false;
                None
            }
            '(' if !in_class => {
                depth += 1;
                None
            }
            ')' if !in_class => {
                depth = depth.saturating_sub(1);
                None
            }
            '|' if !in_class && depth == 0 => return String::new(),
            '.' | '^' | '$' | '*' | '+' | '?' | '{' | '}' | '|' => None,
            plain => Some(plain),
        };
        let optional = matches!(letters.peek(), Some('?' | '*' | '{'));
        match literal {
            Some(plain) if depth == 0 && !in_class && !optional => run.push(plain),
            _ => run.clear(),
        }
        if run.len() > best.len() {
            best.clone_from(&run);
        }
    }
    best.to_lowercase()
}

static FORM_LIST: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| Pattern::all(FORMS.iter().map(|(_, pattern)| *pattern)));

static BROKEN_LIST: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::all(BROKEN.iter().copied()));

static SYNTAX_LIST: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::all(SYNTAX.iter().copied()));

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
    let lower = line.to_lowercase();
    let (found, sort) = FORM_LIST
        .iter()
        .zip(FORMS)
        .find_map(|(pattern, (sort, _))| {
            let fits = pattern.may_fit(&lower);
            let found = fits.then(|| pattern.regex.captures(line)).flatten()?;
            Some((found, *sort))
        })?;
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

fn fits_any(patterns: &[Pattern], line: &str) -> bool {
    let lower = line.to_lowercase();
    patterns.iter().any(|pattern| pattern.fits(line, &lower))
}

/// Whether the line shows an environment that failed.
pub(super) fn is_environment(line: &str) -> bool {
    fits_any(&BROKEN_LIST, cut(line))
}

/// Whether the line shows source that does not parse.
pub(super) fn is_syntax_error(line: &str) -> bool {
    fits_any(&SYNTAX_LIST, cut(line))
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
