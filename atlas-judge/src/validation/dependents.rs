//! Which files a test depends on directly.

use atlas_syntax::Language;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Those of `files` that a test file depends on directly (paper 002, section 3.2.1: "test targets that directly depend on
/// the modified files"): itself, and what it imports by its own text. What is imported is a file or, where that is how a
/// language or its build takes code, a whole folder or package:
///
/// | | |
/// |---|---|
/// | Python | a module; of a package all modules directly in it |
/// | JavaScript, TypeScript | a file by a relative path; of a folder its `index` |
/// | Go | its own package; packages whose import path ends with the folder |
/// | Java | its own package, in whichever source folder; imported classes and packages |
/// | Rust | its crate |
/// | Ruby | what it requires |
/// | PHP | classes that it uses, by the end of their names |
/// | C, C++ | headers that it includes, and sources of the same name |
///
/// Nothing is resolved: a module that two folders have is both. Other languages have no dependencies but the file itself.
///
/// ```
/// use atlas_judge::validation::direct_dependencies;
/// let found = direct_dependencies("tests/test_a.py", "from pkg.a import f\n", ["src/pkg/a.py", "src/pkg/b.py"]);
/// assert_eq!(found.into_iter().collect::<Vec<_>>(), ["src/pkg/a.py"]);
/// ```
pub fn direct_dependencies<'a>(
    test: &str,
    source: &str,
    files: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<String> {
    let imports = Imports::read(test, source);
    let found = files
        .into_iter()
        .filter(|file| *file == test || imports.hold(file));
    found.map(str::to_owned).collect()
}

/// What a test file imports.
enum Imports {
    /// Dotted names of modules and packages: absolute ones from any folder, relative ones from the root.
    Python {
        absolute: BTreeSet<String>,
        relative: BTreeSet<String>,
    },
    /// Paths from the root.
    Script(BTreeSet<String>),
    /// Its own folder, and import paths.
    Go {
        folder: String,
        paths: BTreeSet<String>,
    },
    /// The package's folder below its source folder, and imported names with slashes.
    Java {
        package: String,
        names: BTreeSet<String>,
    },
    /// The crate's folder, with a slash behind it.
    Rust(String),
    /// Ends of paths without their endings.
    Ends(BTreeSet<String>),
    /// Ends of the paths of headers.
    Headers(BTreeSet<String>),
    /// Nothing is known.
    None,
}

macro_rules! patterns {
    ($($name:ident = $text:literal;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect("a literal pattern"));)*
    };
}

patterns! {
    PYTHON_IMPORT = r"(?m)^[ \t]*import[ \t]+([\w., \t]+)";
    PYTHON_FROM = r"(?m)^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n#]*))";
    SCRIPT = r#"(?:\brequire\(|\bfrom|\bimport|\bimport\()\s*['"`](\.{1,2}(?:/[^'"`]*)?)['"`]"#;
    GO = r#"(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"\s]+)"\s*(?://.*)?$"#;
    JAVA = r"(?m)^\s*import\s+(?:static\s+)?([\w.]+(?:\.\*)?)\s*;";
    RUBY = r#"(?m)^\s*require(_relative)?[\s(]+['"]([^'"]+)['"]"#;
    PHP = r"(?m)^\s*use\s+(?:function\s+|const\s+)?\\?([\w\\]+)";
    INCLUDE = r#"(?m)^\s*#\s*include\s*["<]([^">]+)[">]"#;
}

impl Imports {
    fn read(test: &str, source: &str) -> Self {
        let folder = folder_of(test);
        let first = |pattern: &Regex| -> BTreeSet<String> {
            let found = pattern.captures_iter(source);
            found.map(|found| found[1].to_owned()).collect()
        };
        match Language::of_path(test) {
            Some(Language::Python) => Self::python(folder, source),
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => Self::Script(
                first(&SCRIPT)
                    .iter()
                    .filter_map(|path| resolved(folder, path))
                    .collect(),
            ),
            Some(Language::Go) => Self::Go {
                folder: folder.to_owned(),
                paths: first(&GO),
            },
            Some(Language::Java) => Self::Java {
                package: package(folder).to_owned(),
                names: first(&JAVA)
                    .iter()
                    .map(|name| name.replace('.', "/"))
                    .collect(),
            },
            Some(Language::Rust) => Self::Rust(crate_of(test).to_owned()),
            Some(Language::Ruby) => Self::Ends(
                RUBY.captures_iter(source)
                    .filter_map(|found| match found.get(1) {
                        Some(_) => resolved(folder, &found[2]),
                        None => Some(found[2].to_owned()),
                    })
                    .map(|path| path.trim_end_matches(".rb").to_owned())
                    .collect(),
            ),
            Some(Language::Php) => Self::Ends(
                first(&PHP)
                    .iter()
                    .map(|name| {
                        let parts: Vec<&str> = name.split('\\').collect();
                        parts[parts.len().saturating_sub(2)..].join("/")
                    })
                    .collect(),
            ),
            Some(Language::C | Language::Cpp) => Self::Headers(
                first(&INCLUDE)
                    .iter()
                    .map(|path| path.trim_start_matches("../").to_owned())
                    .collect(),
            ),
            Some(Language::CSharp) | None => Self::None,
        }
    }

    fn python(folder: &str, source: &str) -> Self {
        let (mut absolute, mut relative) = (BTreeSet::new(), BTreeSet::new());
        for found in PYTHON_IMPORT.captures_iter(source) {
            let names = found[1].split(',');
            let names = names.filter_map(|name| name.split_whitespace().next());
            absolute.extend(names.map(str::to_owned));
        }
        for found in PYTHON_FROM.captures_iter(source) {
            let (dots, module) = (found[1].len(), &found[2]);
            let mut base: Vec<&str> = Vec::new();
            if dots > 0 {
                base.extend(folder.split('/').filter(|part| !part.is_empty()));
                base.truncate(base.len().saturating_sub(dots - 1));
            }
            base.extend(module.split('.').filter(|part| !part.is_empty()));
            let module = base.join(".");
            let known = if dots > 0 {
                &mut relative
            } else {
                &mut absolute
            };
            let names = found
                .get(3)
                .or(found.get(4))
                .map_or("", |names| names.as_str());
            for name in names
                .split(',')
                .filter_map(|name| name.split_whitespace().next())
            {
                known.insert(
                    format!("{module}.{name}")
                        .trim_start_matches('.')
                        .to_owned(),
                );
            }
            if !module.is_empty() {
                known.insert(module);
            }
        }
        Self::Python { absolute, relative }
    }

    /// Whether a file is imported.
    fn hold(&self, file: &str) -> bool {
        let folder = folder_of(file);
        let bare = file.rsplit_once('.').map_or(file, |(bare, _)| bare);
        let (stem, ending) = (
            name_of(bare),
            file.rsplit_once('.').map_or("", |(_, end)| end),
        );
        match self {
            Self::Python { absolute, relative } => {
                if !matches!(ending, "py" | "pyi" | "pyx") {
                    return false;
                }
                let dotted = |path: &str| path.replace('/', ".");
                let module = dotted(bare);
                // A package is all modules directly in it.
                let names = [
                    module.trim_end_matches(".__init__").to_owned(),
                    dotted(folder),
                ];
                names.iter().filter(|name| !name.is_empty()).any(|name| {
                    relative.contains(name)
                        || absolute.iter().any(|wanted| ends_with(name, wanted, '.'))
                })
            }
            Self::Script(paths) => paths.iter().any(|path| {
                let is_index = stem == "index" && folder == path;
                path == file || path == bare || is_index
            }),
            Self::Go { folder: own, paths } => {
                ending == "go"
                    && (folder == own
                        || !folder.is_empty()
                            && paths.iter().any(|path| ends_with(path, folder, '/')))
            }
            Self::Java {
                package: own,
                names,
            } => {
                ending == "java"
                    && (package(folder) == own
                        || names.iter().any(|name| match name.strip_suffix("/*") {
                            Some(wanted) => ends_with(folder, wanted, '/'),
                            // The last part of a static import is a member.
                            None => {
                                ends_with(bare, name, '/')
                                    || name
                                        .rsplit_once('/')
                                        .is_some_and(|(class, _)| ends_with(bare, class, '/'))
                            }
                        }))
            }
            Self::Rust(own) => {
                ending == "rs"
                    && crate_of(file) == own
                    && !file.starts_with(&format!("{own}tests/"))
            }
            Self::Ends(names) => names.iter().any(|name| ends_with(bare, name, '/')),
            Self::Headers(names) => names.iter().any(|name| {
                let header = name
                    .rsplit_once('.')
                    .map_or(name.as_str(), |(bare, _)| bare);
                ends_with(file, name, '/')
                    || matches!(ending, "c" | "cc" | "cpp" | "cxx") && name_of(header) == stem
            }),
            Self::None => false,
        }
    }
}

/// Whether a path or dotted name is, or ends with, another one, part by part.
fn ends_with(whole: &str, end: &str, sign: char) -> bool {
    whole
        .strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(sign))
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A relative path from the root; none that leaves it.
fn resolved(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

/// The folder of a Java package below its source folder: behind the last `java/`.
fn package(folder: &str) -> &str {
    folder
        .rsplit_once("java/")
        .map_or(folder, |(_, package)| package)
}

/// The folder of the crate that a Rust file is of, with a slash behind it: before the last `src` or `tests`.
fn crate_of(path: &str) -> &str {
    let at = ["src/", "tests/", "benches/", "examples/"]
        .iter()
        .filter_map(|name| {
            let inner = path.rfind(&format!("/{name}")).map(|at| at + 1);
            inner.or_else(|| path.starts_with(name).then_some(0))
        })
        .max();
    &path[..at.unwrap_or(0)]
}
