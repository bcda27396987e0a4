//! The languages, and their grammars.

use atlas_facts::{Language as Facts, ending_of};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tree_sitter::{Parser, Tree};

/// A language whose sources can be read as syntax trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C, headers included where nothing says otherwise.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Go.
    Go,
    /// Java.
    Java,
    /// JavaScript, with JSX.
    JavaScript,
    /// PHP.
    Php,
    /// Python.
    Python,
    /// Ruby.
    Ruby,
    /// Rust.
    Rust,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Php,
        Self::Python,
        Self::Ruby,
        Self::Rust,
        Self::TypeScript,
        Self::Tsx,
    ];

    /// The language of a file by its name; none for what is no source of these languages.
    pub fn of_path(path: &str) -> Option<Self> {
        let ending = ending_of(path)?;
        Some(match ending.language {
            Facts::C => Self::C,
            Facts::Cpp => Self::Cpp,
            Facts::CSharp => Self::CSharp,
            Facts::Go => Self::Go,
            Facts::Java => Self::Java,
            Facts::JavaScript => Self::JavaScript,
            Facts::Php => Self::Php,
            Facts::Python => Self::Python,
            Facts::Ruby => Self::Ruby,
            Facts::Rust => Self::Rust,
            Facts::TypeScript if ending.text == "tsx" => Self::Tsx,
            Facts::TypeScript => Self::TypeScript,
            _ => return None,
        })
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Php => tree_sitter_php::LANGUAGE_PHP.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }
}

impl Language {
    /// The grammar for a piece of a source that stands by itself.
    pub(crate) fn grammar_of_pieces(self) -> tree_sitter::Language {
        match self {
            // Without an opening tag the piece would be a text around code.
            Self::Php => tree_sitter_php::LANGUAGE_PHP_ONLY.into(),
            _ => self.grammar(),
        }
    }

    /// Whether lines that begin with `#` speak to a preprocessor.
    pub(crate) fn has_directives(self) -> bool {
        matches!(self, Self::C | Self::Cpp | Self::CSharp)
    }
}

/// The tree of a source. Code that does not parse gives a tree with error nodes; none only where the
/// grammar and the library do not fit each other. Bytes that are no UTF-8, and NUL, which the
/// grammars take for the end, are read as letters, so that every place stays where it is.
pub fn parse(language: Language, source: &[u8]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    parser.parse(readable(source).as_ref(), None)
}

/// The bytes as the grammars can read them, each in its place: what is no UTF-8, and NUL, as letters.
pub(crate) fn readable(source: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(source).is_ok() && !source.contains(&0) {
        return Cow::Borrowed(source);
    }
    let mut readable = source.to_vec();
    let mut at = 0;
    while let Err(why) = std::str::from_utf8(&readable[at..]) {
        at += why.valid_up_to();
        let bad = why.error_len().unwrap_or(readable.len() - at);
        readable[at..at + bad].fill(b'_');
        at += bad;
    }
    for byte in &mut readable {
        if *byte == 0 {
            *byte = b'_';
        }
    }
    Cow::Owned(readable)
}
