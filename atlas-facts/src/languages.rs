//! Programming languages, and the endings of their files.

/// A programming language, or a form of files with code of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Tests of Bats: shell with `@test` blocks.
    Bats,
    /// C, headers that C++ reads too included.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Cython: Python that is compiled to C.
    Cython,
    /// F#.
    FSharp,
    /// Go.
    Go,
    /// Build scripts of Gradle in Groovy.
    Gradle,
    /// Groovy.
    Groovy,
    /// Java.
    Java,
    /// JavaScript, with JSX.
    JavaScript,
    /// Kotlin.
    Kotlin,
    /// PHP.
    Php,
    /// Python.
    Python,
    /// Ruby.
    Ruby,
    /// Rust.
    Rust,
    /// Scala.
    Scala,
    /// Scripts of Unix shells.
    Shell,
    /// Components of Svelte.
    Svelte,
    /// TypeScript, with JSX.
    TypeScript,
    /// Visual Basic .NET.
    VisualBasic,
    /// Components of Vue.
    Vue,
}

/// Languages that share package managers and test runners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// C and C++.
    C,
    /// C#, F#, Visual Basic.
    DotNet,
    /// Go.
    Go,
    /// Java, Kotlin, Scala, Groovy.
    Java,
    /// JavaScript, TypeScript, and components that are compiled to them.
    JavaScript,
    /// PHP.
    Php,
    /// Python and Cython.
    Python,
    /// Ruby.
    Ruby,
    /// Rust.
    Rust,
    /// Shells and Bats.
    Shell,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::C,
        Self::DotNet,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Php,
        Self::Python,
        Self::Ruby,
        Self::Rust,
        Self::Shell,
    ];
}

/// What languages are called in plans, rows and settings, in lower case.
const CALLED: &[(Family, &str)] = &[
    (Family::C, "c|c++|cpp"),
    (Family::DotNet, "c#|csharp|f#|fsharp|vb|visual basic"),
    (Family::Go, "go|golang"),
    (Family::Java, "groovy|java|kotlin|scala"),
    (Family::JavaScript, "javascript|js|typescript|ts"),
    (Family::Php, "php"),
    (Family::Python, "cython|python"),
    (Family::Ruby, "ruby"),
    (Family::Rust, "rust"),
    (Family::Shell, "bash|shell"),
];

impl Family {
    /// The family of a language by its name, whatever its case: `TypeScript`.
    pub fn of_language(name: &str) -> Option<Self> {
        let same = |known: &str| known.eq_ignore_ascii_case(name);
        let mut rows = CALLED.iter();
        let row = rows.find(|(_, names)| names.split('|').any(same))?;
        Some(row.0)
    }
}

impl Language {
    /// The family it belongs to.
    pub fn family(self) -> Family {
        match self {
            Self::C | Self::Cpp => Family::C,
            Self::CSharp | Self::FSharp | Self::VisualBasic => Family::DotNet,
            Self::Go => Family::Go,
            Self::Java | Self::Kotlin | Self::Scala | Self::Groovy | Self::Gradle => Family::Java,
            Self::JavaScript | Self::TypeScript | Self::Svelte | Self::Vue => Family::JavaScript,
            Self::Php => Family::Php,
            Self::Python | Self::Cython => Family::Python,
            Self::Ruby => Family::Ruby,
            Self::Rust => Family::Rust,
            Self::Shell | Self::Bats => Family::Shell,
        }
    }

    /// Whether it is JavaScript or TypeScript, which one engine runs.
    pub fn is_javascript(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript)
    }
}

/// What the ending of a file's name says of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What stands behind the last dot, or the whole name of a file that is named without one.
    pub text: &'static str,
    /// The language of the file.
    pub language: Language,
    /// Whether tests are written in such files with the test libraries of the language. Not so: headers, stubs, templates,
    /// build scripts.
    pub holds_tests: bool,
}

/// Language, endings of files that hold tests, endings of others; parted by spaces.
const ENDINGS: &[(Language, &str, &str)] = &[
    (Language::Bats, "bats", ""),
    (Language::C, "c", "h"),
    (Language::Cpp, "C c++ cc cpp cxx", "hh hpp hxx inl ipp tpp"),
    (Language::CSharp, "cs", ""),
    (Language::Cython, "", "pyx"),
    (Language::FSharp, "fs", ""),
    (Language::Go, "go", ""),
    (Language::Gradle, "", "gradle"),
    (Language::Groovy, "groovy", ""),
    (Language::Java, "java", ""),
    (Language::JavaScript, "cjs js jsx mjs", ""),
    (Language::Kotlin, "kt", "kts"),
    (Language::Php, "php", "phpt phtml"),
    (Language::Python, "py", "pyi pyw"),
    (Language::Ruby, "rb", "gemspec rake"),
    (Language::Rust, "rs", ""),
    (Language::Scala, "scala", ""),
    (Language::Shell, "", "bash sh zsh"),
    (Language::Svelte, "", "svelte"),
    (Language::TypeScript, "cts mts ts tsx", ""),
    (Language::VisualBasic, "vb", ""),
    (Language::Vue, "", "vue"),
];

/// Names without an ending.
const NAMES: &[(Language, &str, &str)] = &[(Language::Ruby, "", "Gemfile Rakefile")];

/// What is known of a file by the ending of its name; `None` for what is no source of these languages. `A.PY` is Python
/// too, but of one letter alone the case counts: `a.c` is C and `a.C` is C++.
pub fn ending_of(path: &str) -> Option<Ending> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (rows, text) = match name.rsplit_once('.') {
        Some((_, end)) => (ENDINGS, end),
        None => (NAMES, name),
    };
    let same = |known: &&str| *known == text || known.len() > 1 && known.eq_ignore_ascii_case(text);
    for &(language, tests, others) in rows {
        for (endings, holds_tests) in [(tests, true), (others, false)] {
            if let Some(text) = endings.split_whitespace().find(same) {
                return Some(Ending {
                    text,
                    language,
                    holds_tests,
                });
            }
        }
    }
    None
}

/// The language of a file by the ending of its name.
pub fn language_of(path: &str) -> Option<Language> {
    ending_of(path).map(|ending| ending.language)
}
