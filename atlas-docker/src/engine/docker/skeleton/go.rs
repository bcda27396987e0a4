//! What Go sources import: compiled once for all commits that import the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most sources of a module that are looked into.
const MOST: usize = 20_000;

/// The folder of a module that imports for all of it. Its name is no package of anybody's.
const FOLDER: &str = "atlas-imports";

/// Small packages of Go's own library. They are compiled for every module, whether or not its sources
/// import them: the next commit may, and would share nothing for want of one of them. One that this Go does not
/// have yet is no fault.
const SMALL: [&str; 50] = [
    "bufio",
    "bytes",
    "cmp",
    "container/heap",
    "container/list",
    "context",
    "embed",
    "encoding",
    "encoding/base64",
    "encoding/binary",
    "encoding/csv",
    "encoding/hex",
    "encoding/json",
    "errors",
    "flag",
    "fmt",
    "hash",
    "hash/fnv",
    "io",
    "io/fs",
    "io/ioutil",
    "iter",
    "log",
    "log/slog",
    "maps",
    "math",
    "math/bits",
    "math/rand",
    "math/rand/v2",
    "os",
    "os/exec",
    "os/signal",
    "path",
    "path/filepath",
    "reflect",
    "regexp",
    "runtime",
    "runtime/debug",
    "slices",
    "sort",
    "strconv",
    "strings",
    "sync",
    "sync/atomic",
    "syscall",
    "text/tabwriter",
    "time",
    "unicode",
    "unicode/utf8",
    "unsafe",
];

/// Adds packages to each module that import what its sources do from elsewhere: one package for each
/// import, as one that does not compile here (another system's) must not take the others with it.
pub(super) fn imports(checkout: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    let modules: BTreeMap<String, String> = files
        .iter()
        .filter_map(|(path, bytes)| {
            let folder = path.strip_suffix("go.mod")?;
            let text = String::from_utf8_lossy(bytes);
            let name = text.lines().find_map(|line| line.strip_prefix("module "))?;
            let name = name.split("//").next()?.trim().trim_matches('"');
            (folder.is_empty() || folder.ends_with('/'))
                .then(|| (folder.to_owned(), name.to_owned()))
        })
        .collect();
    for folder in modules.keys() {
        let root = checkout.join(folder);
        let mut found = BTreeSet::new();
        let walk = walkdir::WalkDir::new(&root).into_iter();
        let sources = walk
            .filter_entry(|entry| {
                let name = entry.file_name().to_str().unwrap_or(".");
                let skipped =
                    name.starts_with(['.', '_']) || ["vendor", "testdata"].contains(&name);
                entry.depth() == 0 || !skipped && !entry.path().join("go.mod").is_file()
            })
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "go"));
        for source in sources.take(MOST) {
            if let Ok(text) = std::fs::read(source.path()) {
                read(&String::from_utf8_lossy(&text), &mut found);
            }
        }
        let own = |import: &str| {
            modules
                .values()
                .any(|name| import == name || import.starts_with(&format!("{name}/")))
        };
        found.retain(|import| !own(import) && import != "C" && !import.starts_with('.'));
        if found.is_empty() {
            continue;
        }
        found.extend(SMALL.map(str::to_owned));
        let test = b"package imports\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n";
        files.insert(format!("{folder}{FOLDER}/x_test.go"), test.to_vec());
        for import in found {
            let name: String = import
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .collect();
            files.insert(
                format!("{folder}{FOLDER}/{name}/x.go"),
                format!("package imports\n\nimport _ \"{import}\"\n").into_bytes(),
            );
        }
    }
}

/// The imports of one source. They stand before everything else.
fn read(text: &str, found: &mut BTreeSet<String>) {
    let mut open = false;
    for line in text.lines() {
        let line = line.trim();
        let rest = if open {
            line
        } else if let Some(rest) = line.strip_prefix("import") {
            let rest = rest.trim_start();
            open = rest.starts_with('(');
            rest
        } else if ["func ", "type ", "var ", "const "]
            .iter()
            .any(|word| line.starts_with(word))
        {
            return;
        } else {
            continue;
        };
        if open && line.starts_with(')') {
            open = false;
        }
        let mut quoted = rest.split('"');
        if let (Some(before), Some(path)) = (quoted.next(), quoted.next())
            && !before.contains("//")
            && !path.is_empty()
            && path
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "./_-~+".contains(c))
        {
            found.insert(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SMALL, imports};
    use std::collections::BTreeMap;

    #[test]
    fn what_comes_from_elsewhere_is_imported_once() {
        let folder = tempfile::tempdir().unwrap();
        let source = "package a\n\nimport (\n\t\"fmt\"\n\tx \"example.com/y/z\" // why\n\t\"example.com/own/b\"\n\t// \"no\"\n)\n\nimport \"os\"\n\nfunc f() string { return \"import\" }\n";
        std::fs::write(folder.path().join("a.go"), source).unwrap();
        std::fs::write(
            folder.path().join("a_test.go"),
            "package a\nimport . \"net/http\"\n",
        )
        .unwrap();
        let mut files = BTreeMap::from([(
            "go.mod".to_owned(),
            b"module example.com/own // here\n".to_vec(),
        )]);
        imports(folder.path(), &mut files);
        let first = files.clone();
        // Those that every module gets say nothing of this one.
        for import in SMALL {
            let name = import.replace('/', "_");
            let path = format!("atlas-imports/{name}/x.go");
            assert!(files.remove(&path).is_some(), "{path}");
        }
        let names: Vec<_> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "atlas-imports/example_com_y_z/x.go",
                "atlas-imports/net_http/x.go",
                "atlas-imports/x_test.go",
                "go.mod"
            ]
        );

        // One more small package of Go's own is no news; a large one is, and so is somebody else's.
        let changed = |import: &str| {
            let text = format!("package a\nimport \"{import}\"\n");
            std::fs::write(folder.path().join("b.go"), text).unwrap();
            let mut files = BTreeMap::from([("go.mod".to_owned(), files["go.mod"].clone())]);
            imports(folder.path(), &mut files);
            files != first
        };
        assert!(!changed("slices") && !changed("net/http"));
        assert!(changed("go/ast") && changed("example.com/other"));
    }
}
