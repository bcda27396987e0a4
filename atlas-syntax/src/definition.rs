//! What a source defines.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Lines of a source, counted from 1, both ends included. Lines end at `\n`, as in patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lines {
    /// The first.
    pub first: usize,
    /// The last; never before the first.
    pub last: usize,
}

impl Lines {
    /// Lines `first` to `last`, in whichever order they are given.
    pub fn new(first: usize, last: usize) -> Self {
        Self {
            first: first.min(last),
            last: first.max(last),
        }
    }

    /// Whether every line of `other` is one of these.
    pub fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// Whether a line belongs to both.
    pub fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// How many they are.
    pub fn count(self) -> usize {
        self.last - self.first + 1
    }
}

/// What kind of thing is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionKind {
    /// A function by itself; a closure that has a name because it is assigned to one.
    Function,
    /// A function of a type: methods, constructors, operators, properties with code.
    Method,
    /// A test that is a block given to a test library: `it('…', () => …)`, `test "…" do`,
    /// `TEST(Suite, name)`. Its name is the title.
    Test,
    /// A group of such tests: `describe('…', () => …)`.
    Suite,
    /// A closure, lambda or block without a name of its own.
    Closure,
    /// A macro: `#define f(x) …`, `macro_rules!`.
    Macro,
    /// A class, structure, interface, enumeration or named type.
    Type,
    /// What only groups others: a namespace, a module, an `impl` block.
    Scope,
}

impl DefinitionKind {
    /// Whether it is code that is called: all but types and scopes.
    pub fn is_callable(self) -> bool {
        !matches!(self, Self::Type | Self::Scope)
    }

    /// Whether it stands for itself when one asks for "the function around a line": neither a
    /// closure, which belongs to the function around it, nor a suite, which may be a whole file.
    pub fn is_unit(self) -> bool {
        matches!(
            self,
            Self::Function | Self::Method | Self::Test | Self::Macro
        )
    }
}

/// A function, a type or a scope of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The name as written; the title of a [`DefinitionKind::Test`]; empty for a closure.
    pub name: String,
    /// The names around it, outermost first, joined with the language's sign (`::` or `.`); empty
    /// at the top. At most 32 of them.
    pub container: String,
    /// What it is.
    pub kind: DefinitionKind,
    /// Its bytes, with the decorators, attributes and comments that belong to it: those directly
    /// above it without an empty line between.
    pub bytes: Range<usize>,
    /// The same in lines.
    pub lines: Lines,
    /// Where the declaration itself begins, behind comments and decorators.
    pub declaration: usize,
    /// The bytes of the body; none for what is only declared: prototypes, abstract methods.
    pub body: Option<Range<usize>>,
    /// The text from the declaration to the body, without comments, white space at the ends removed.
    pub signature: String,
}

impl Definition {
    /// The container and the name, joined with `.`.
    pub fn qualified_name(&self) -> String {
        if self.container.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.container, self.name)
        }
    }
}
