//! A source and what is asked of it.

use crate::definition::{Definition, DefinitionKind, Lines};
use crate::language::{Language, parse};
use crate::plain::outside_of_comments;
use crate::rules;
use crate::tokens::{self, Token};
use crate::uses::{self, Call};
use crate::values::{self, NamedValue};
use crate::walk::walk;
use crate::{mask, mend, nested};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Tree;

/// The longest text, in bytes, whose syntax errors are looked behind. That parses its blocks one by one; in text that is
/// no code at all, all of them are broken.
const LONGEST_MENDED: usize = 256 << 10;

/// Which of several functions around a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nesting {
    /// The smallest.
    #[default]
    Innermost,
    /// The largest.
    Outermost,
}

/// A source with its tree and its definitions.
///
/// ```
/// use atlas_syntax::{Language, Lines, Nesting, Source};
/// let source = Source::new(Language::Python, "@cached\ndef f(x):\n    return x\n");
/// let function = source.enclosing(Lines::new(3, 3), Nesting::Innermost).unwrap();
/// assert_eq!((function.name.as_str(), function.lines), ("f", Lines::new(1, 3)));
/// assert_eq!(function.signature, "def f(x)");
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    language: Language,
    text: Vec<u8>,
    tree: Option<Tree>,
    definitions: Vec<Definition>,
    line_starts: Vec<usize>,
    /// The text without what the preprocessor takes away, while the source is being read, if that is
    /// what the tree is of.
    masked: Option<Vec<u8>>,
}

impl Source {
    /// Reads a source. Any bytes are taken: what does not parse has fewer definitions.
    pub fn new(language: Language, text: impl Into<Vec<u8>>) -> Self {
        Self::read(language, text.into()).mended()
    }

    /// Without a look behind syntax errors.
    fn read(language: Language, text: Vec<u8>) -> Self {
        let line_starts = line_starts(&text);
        let mut source = Self {
            language,
            tree: None,
            definitions: Vec::new(),
            line_starts,
            text,
            masked: None,
        };
        source.parse();
        source
    }

    /// Reads the source of a file; none where its name tells of no known language. A `.h` file is
    /// read as C++ when the C tree has errors and the C++ tree has fewer.
    pub fn of_path(path: &str, text: impl Into<Vec<u8>>) -> Option<Self> {
        let language = Language::of_path(path)?;
        let source = Self::read(language, text.into());
        if language == Language::C && is_header(path) && source.error_bytes() > 0 {
            let other = Self::read(Language::Cpp, source.text.clone());
            if other.error_bytes() < source.error_bytes() {
                return Some(other.mended());
            }
        }
        Some(source.mended())
    }

    /// The language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The bytes.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// How many bytes the grammar could not place; 0 for a source that parses.
    pub fn error_bytes(&self) -> usize {
        self.tree
            .as_ref()
            .map_or(self.text.len(), mask::error_bytes)
    }

    /// Number of lines; text behind the last line end is a line.
    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// The bytes of lines, line ends included; what lies behind the last line is left out.
    pub fn lines(&self, lines: Lines) -> &[u8] {
        let start = self.line_start(lines.first);
        let end = self.line_start(lines.last + 1);
        &self.text[start.min(end)..end]
    }

    /// The bytes that lines span.
    pub fn bytes_of(&self, lines: Lines) -> Range<usize> {
        self.line_start(lines.first)..self.line_start(lines.last + 1)
    }

    fn line_start(&self, line: usize) -> usize {
        let known = self.line_starts.get(line.saturating_sub(1)).copied();
        known.unwrap_or(self.text.len())
    }

    /// The line of a byte.
    pub fn line_of(&self, byte: usize) -> usize {
        self.line_starts
            .partition_point(|start| *start <= byte)
            .max(1)
    }

    /// Everything defined, in the order of the source, outer before inner.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Everything that is called: functions, methods, tests, suites, closures, macros.
    pub fn functions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter().filter(|one| one.kind.is_callable())
    }

    /// Functions, methods and types, with or without a body, exported or not: what a hint about
    /// names and parameters is made of. Closures, tests and scopes are left out.
    pub fn signatures(&self) -> impl Iterator<Item = &Definition> {
        use DefinitionKind::{Function, Macro, Method, Type};
        self.definitions.iter().filter(|one| {
            matches!(one.kind, Function | Method | Type | Macro) && !one.name.is_empty()
        })
    }

    /// The function around all of these lines: a function, method, test or macro with a body. A
    /// closure belongs to the function around it; a suite of tests is none.
    pub fn enclosing(&self, lines: Lines, nesting: Nesting) -> Option<&Definition> {
        let around = self.units().filter(|one| one.lines.holds(lines));
        match nesting {
            Nesting::Innermost => around.min_by_key(|one| one.bytes.len()),
            Nesting::Outermost => around.max_by_key(|one| one.bytes.len()),
        }
    }

    /// Functions, methods, tests and macros with a body.
    pub fn units(&self) -> impl Iterator<Item = &Definition> {
        self.definitions
            .iter()
            .filter(|one| one.kind.is_unit() && one.body.is_some())
    }

    /// The names used or defined in these bytes.
    pub fn identifiers(&self, bytes: Range<usize>) -> BTreeSet<String> {
        self.tree
            .as_ref()
            .map(|tree| uses::identifiers(tree, &self.text, &bytes))
            .unwrap_or_default()
    }

    /// The calls whose first byte lies in these bytes, in their order.
    pub fn calls(&self, bytes: Range<usize>) -> Vec<Call> {
        self.tree
            .as_ref()
            .map(|tree| uses::calls(tree, &self.text, &bytes))
            .unwrap_or_default()
    }

    /// Names that hold values: constants, fields, enumerators, exports, in the order of the source. Local
    /// variables are none.
    pub fn values(&self) -> Vec<NamedValue> {
        self.tree
            .as_ref()
            .map(|tree| values::values(self.language, tree, &self.text, &self.definitions))
            .unwrap_or_default()
    }

    /// The words, literals and comments that begin in these bytes, in their order.
    pub fn tokens(&self, bytes: Range<usize>) -> Vec<Token> {
        self.tree
            .as_ref()
            .map(|tree| tokens::tokens(tree, &self.text, &bytes))
            .unwrap_or_default()
    }

    /// The tree, if the grammar could be loaded.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    fn parse(&mut self) {
        self.tree = parse(self.language, &self.text);
        let Some(tree) = &self.tree else { return };
        self.definitions = self.collect(tree);
        let errors = mask::error_bytes(tree);
        if !self.language.has_directives() || errors == 0 {
            return;
        }
        let text = mask::mask(self.language, &self.text);
        // The grammar of C# knows directives; only where all is well without them do they harm.
        let allowed = if self.language == Language::CSharp {
            1
        } else {
            errors
        };
        if let Some(other) = parse(self.language, &text)
            && mask::error_bytes(&other) < allowed
        {
            let better = self.collect(&other);
            self.definitions = merge(better, std::mem::take(&mut self.definitions), &[]);
            self.tree = Some(other);
            self.masked = Some(text);
        }
    }

    /// Also looks behind syntax errors and into the macro calls of Rust.
    fn mended(mut self) -> Self {
        let masked = self.masked.take();
        let errors = self.error_bytes();
        if errors > 0
            && self.text.len() <= LONGEST_MENDED
            && self.is_harmed(&self.definitions)
            && let Some(mended) = mend::mend(self.language, masked.as_deref().unwrap_or(&self.text))
            && let Some(other) = parse(self.language, &mended.text)
            && mask::error_bytes(&other) < errors
        {
            let is_whole = mask::error_bytes(&other) == 0;
            let known = self.definitions.clone();
            let better = merge(self.collect(&other), known, &mended.blanked);
            // A wrong guess makes one function of several. The tree stays the one in which nothing is
            // blanked: names and calls are read from it.
            if is_whole || units(&better) >= units(&self.definitions) {
                self.definitions = better;
            }
        }
        if self.language == Language::Rust {
            for tree in nested::trees(&self.text, self.tree.as_ref()) {
                let inside = self.collect(&tree);
                self.definitions = merge(std::mem::take(&mut self.definitions), inside, &[]);
            }
        }
        self
    }

    /// Whether an error may have taken more along than the function in which it stands: it lies outside
    /// of all functions, or in one that does not end where its indentation says.
    fn is_harmed(&self, definitions: &[Definition]) -> bool {
        let Some(tree) = &self.tree else { return false };
        let indent = |line: usize| {
            let text = self.lines(Lines::new(line, line));
            let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
            (!text.trim_ascii().is_empty()).then(|| blanks.count())
        };
        let mut units: Vec<(Range<usize>, Option<bool>)> = definitions
            .iter()
            .filter(|one| one.kind.is_unit() && one.body.is_some())
            .map(|one| (one.declaration..one.bytes.end, None))
            .collect();
        mask::errors(tree).iter().any(|error| {
            let around = units
                .iter_mut()
                .filter(|(bytes, _)| bytes.start <= error.start && error.end < bytes.end)
                .min_by_key(|(bytes, _)| bytes.len());
            let Some((bytes, is_ragged)) = around else {
                return true;
            };
            *is_ragged.get_or_insert_with(|| {
                let lines = Lines::new(self.line_of(bytes.start), self.line_of(bytes.end - 1));
                let own = indent(lines.first).unwrap_or(0);
                let inside = lines.first + 1..lines.last;
                let is_deeper = |line| indent(line).is_none_or(|deep| deep > own);
                indent(lines.last) != Some(own) && self.language != Language::Python
                    || !inside.clone().all(is_deeper)
            })
        })
    }

    fn collect(&self, tree: &Tree) -> Vec<Definition> {
        struct Open {
            depth: usize,
            end: usize,
            qualified: String,
            parts: usize,
            holds_methods: bool,
            in_function: bool,
        }
        let separator = match self.language {
            Language::Cpp | Language::C | Language::Rust | Language::Ruby | Language::Php => "::",
            _ => ".",
        };
        let mut open: Vec<Open> = Vec::new();
        let mut definitions = Vec::new();
        walk(tree.root_node(), |path| {
            let depth = path.len();
            // The body of a macro call is its sibling, so the end counts as well as the depth.
            let start = path.last().map_or(0, |frame| frame.node.start_byte());
            while open
                .last()
                .is_some_and(|last| last.depth >= depth && last.end <= start)
            {
                open.pop();
            }
            let in_function = open.last().is_some_and(|last| last.in_function);
            let Some(found) = rules::find(self.language, path, &self.text, in_function) else {
                return true;
            };
            let around = open.last();
            let mut container = around.map_or_else(String::new, |last| last.qualified.clone());
            let mut parts = around.map_or(0, |last| last.parts);
            let mut kind = found.kind;
            if kind == DefinitionKind::Function && around.is_some_and(|last| last.holds_methods) {
                kind = DefinitionKind::Method;
            }
            if let Some(qualifier) = &found.qualifier {
                extend(&mut container, &mut parts, qualifier, separator);
            }
            let definition = self.definition(found.outer, path, &found, kind, &container);
            let is_closure = kind == DefinitionKind::Closure;
            let mut qualified = container;
            if !is_closure && !rules::is_alias_of_named(found.node) {
                extend(&mut qualified, &mut parts, &found.name, separator);
            }
            open.push(Open {
                depth,
                end: found
                    .body
                    .as_ref()
                    .map_or(0, |body| body.end)
                    .max(start + 1),
                qualified,
                parts,
                holds_methods: found.holds_methods,
                in_function: kind.is_callable() && kind != DefinitionKind::Suite,
            });
            definitions.push(definition);
            true
        });
        // An arrow function's statement begins before what stands inside; a later, larger one may
        // begin before an earlier one.
        definitions.sort_by_key(|one| (one.bytes.start, std::cmp::Reverse(one.bytes.end)));
        definitions
    }

    fn definition(
        &self,
        outer: usize,
        path: &[crate::walk::Frame<'_>],
        found: &rules::RawDefinition<'_>,
        kind: DefinitionKind,
        container: &str,
    ) -> Definition {
        let frame = &path[outer];
        let end = frame
            .node
            .end_byte()
            .max(found.body.as_ref().map_or(0, |body| body.end));
        let mut end = end.min(self.text.len());
        let start = frame.attached.min(end);
        let trim = |mut end: usize| {
            while end > start && self.text[end - 1].is_ascii_whitespace() {
                end -= 1;
            }
            end
        };
        end = trim(end);
        // Without semicolons, `;[1].map(f)` on a line of its own lends its own to what stands above.
        if self.text[start..end].last() == Some(&b';') {
            let bare = trim(end - 1);
            if self.text[bare..end].contains(&b'\n') {
                end = bare;
            }
        }
        let declaration = found.node.start_byte();
        let until = found.signature_end.min(end);
        let signature = outside_of_comments(&self.text, declaration..until, found.node);
        let signature = signature
            .trim()
            .trim_end_matches(['{', ';', ':', '='])
            .trim_end_matches("=>")
            .trim_end();
        Definition {
            name: found.name.clone(),
            container: container.to_owned(),
            kind,
            lines: Lines::new(
                self.line_of(start),
                self.line_of(end.saturating_sub(1).max(start)),
            ),
            bytes: start..end,
            declaration,
            body: found.body.clone(),
            signature: signature.to_owned(),
        }
    }
}

/// A header may hold C as well as C++.
fn is_header(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| extension == "h")
}

fn extend(qualified: &mut String, parts: &mut usize, name: &str, separator: &str) {
    if name.is_empty() || *parts >= 32 {
        return;
    }
    if !qualified.is_empty() {
        qualified.push_str(separator);
    }
    qualified.push_str(name);
    *parts += 1;
}

fn units(definitions: &[Definition]) -> usize {
    let units = definitions.iter();
    units
        .filter(|one| one.kind.is_unit() && one.body.is_some())
        .count()
}

/// The definitions of `first`, and those of `second` that share no byte with a callable of it, or lie
/// where it could see nothing.
fn merge(
    mut first: Vec<Definition>,
    second: Vec<Definition>,
    unseen: &[Range<usize>],
) -> Vec<Definition> {
    let mut taken: Vec<Range<usize>> = Vec::new();
    for one in first.iter().filter(|one| one.kind.is_callable()) {
        match taken.last_mut() {
            Some(last) if one.bytes.start < last.end => last.end = last.end.max(one.bytes.end),
            _ => taken.push(one.bytes.clone()),
        }
    }
    let is_free = |range: &Range<usize>| {
        let at = taken.partition_point(|other| other.end <= range.start);
        taken.get(at).is_none_or(|other| other.start >= range.end)
    };
    let is_unseen = |range: &Range<usize>| {
        let at = unseen.partition_point(|other| other.end < range.end);
        unseen
            .get(at)
            .is_some_and(|other| other.start <= range.start)
    };
    let added: Vec<Definition> = second
        .into_iter()
        .filter(|one| one.kind.is_callable() && (is_free(&one.bytes) || is_unseen(&one.bytes)))
        .collect();
    first.extend(added);
    first.sort_by_key(|one| (one.bytes.start, std::cmp::Reverse(one.bytes.end)));
    first
}

fn line_starts(text: &[u8]) -> Vec<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut starts: Vec<usize> = std::iter::once(0)
        .chain(ends.map(|(at, _)| at + 1))
        .collect();
    if starts.last() == Some(&text.len()) {
        starts.pop();
    }
    starts
}

/// Everything that is called in a source: [`Source::functions`] without keeping the source.
pub fn functions(language: Language, source: &[u8]) -> Vec<Definition> {
    let source = Source::new(language, source);
    source.functions().cloned().collect()
}
