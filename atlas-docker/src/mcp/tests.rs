//! What is served of a folder, and what is not.

use super::answers::{Kind, ListArgs, ReadArgs, SearchArgs};
use super::{files, search};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A checkout beside a file that is none of its business.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("repo");
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::write(folder.path().join("secret"), "password\n").unwrap();
    fs::write(root.join(".git/config"), "[core]\n").unwrap();
    fs::write(root.join("README.md"), "one\ntwo\nthree\n").unwrap();
    fs::write(root.join("src/a.py"), "import os\nTESTS = 'x'\n").unwrap();
    fs::write(root.join("src/deep/b.rs"), "fn tests() {}\n// x+y\n").unwrap();
    fs::write(root.join("binary"), b"\x7fELF\0tests").unwrap();
    fs::write(root.join("latin"), b"caf\xe9\n").unwrap();
    fs::write(root.join("empty"), "").unwrap();
    symlink("../secret", root.join("out")).unwrap();
    symlink(folder.path(), root.join("up")).unwrap();
    symlink(".git", root.join("git")).unwrap();
    symlink("README.md", root.join("in")).unwrap();
    symlink("nowhere", root.join("broken")).unwrap();
    (folder, root)
}

fn read(
    root: &Path,
    path: &str,
    first: Option<usize>,
    last: Option<usize>,
) -> Result<String, String> {
    let args = ReadArgs {
        path: path.to_owned(),
        first_line: first,
        last_line: last,
        checkout: None,
    };
    files::read(root, &args)
        .map(|page| {
            format!(
                "{}-{}/{} {:?} {}",
                page.first_line, page.last_line, page.total_lines, page.next_line, page.text
            )
        })
        .map_err(|why| why.chain())
}

fn listed(root: &Path, path: &str, depth: usize) -> Result<Vec<String>, String> {
    let args = ListArgs {
        path: Some(path.to_owned()),
        depth: Some(depth),
        ..ListArgs::default()
    };
    files::list(root, &args)
        .map(|listing| {
            listing
                .entries
                .into_iter()
                .map(|entry| entry.path)
                .collect()
        })
        .map_err(|why| why.chain())
}

fn asked(pattern: &str) -> SearchArgs {
    SearchArgs {
        pattern: pattern.to_owned(),
        literal: false,
        ignore_case: false,
        path: None,
        glob: None,
        context: None,
        offset: None,
        limit: None,
        checkout: None,
    }
}

#[test]
fn nothing_outside_of_the_checkout_is_served() {
    let (folder, root) = place();
    let absolute = folder.path().join("secret");
    for (path, says) in [
        ("../secret", "`..` leads out"),
        ("src/../../secret", "`..` leads out"),
        (
            absolute.to_str().unwrap(),
            "relative to the repository's root",
        ),
        ("/etc/passwd", "relative to the repository's root"),
        ("~/x", "relative to the repository's root"),
        ("out", "leads out of the checkout"),
        ("up/secret", "leads out of the checkout"),
        (".git/config", "git's own files"),
        ("./.GIT/config", "git's own files"),
        ("git/config", "git's own files"),
        ("broken", "not there"),
        ("a\0b", "zero byte"),
        ("absent", "no such file"),
        ("README.md/x", "no such file"),
        ("binary", "binary file"),
        ("src", "call `list`"),
    ] {
        let why = read(&root, path, None, None).unwrap_err();
        assert!(why.contains(says), "{path:?}: {why}");
        let here = folder.path().to_string_lossy();
        assert!(
            path.starts_with('/') || !why.contains(&*here),
            "tells this machine's folders: {why}"
        );
    }
    for path in ["..", "up", ".git", "git", "/", "absent"] {
        assert!(listed(&root, path, 1).is_err(), "{path}");
        let args = SearchArgs {
            path: Some(path.to_owned()),
            ..asked("password")
        };
        assert!(
            path == "/" || search::search(&root, &args).is_err(),
            "{path}"
        );
    }
    let found = search::search(&root, &asked("password|core")).unwrap();
    assert!(found.matches.is_empty(), "{:?}", found.matches);
    let file = fs::File::create(root.join("huge")).unwrap();
    file.set_len((8 << 20) + 1).unwrap();
    let why = read(&root, "huge", None, None).unwrap_err();
    assert!(why.contains("8388609 bytes"), "{why}");
}

#[test]
fn files_come_in_pages() {
    let (_folder, root) = place();
    assert_eq!(
        read(&root, "./README.md", None, None).unwrap(),
        "1-3/3 None one\ntwo\nthree\n"
    );
    assert_eq!(
        read(&root, "in", Some(2), Some(2)).unwrap(),
        "2-2/3 None two\n"
    );
    assert_eq!(read(&root, "empty", None, None).unwrap(), "1-0/0 None ");
    assert_eq!(
        read(&root, "latin", None, None).unwrap(),
        "1-1/1 None caf\u{fffd}\n"
    );
    assert!(
        read(&root, "in", Some(4), None)
            .unwrap_err()
            .contains("no line 4")
    );
    assert!(
        read(&root, "in", Some(3), Some(2))
            .unwrap_err()
            .contains("before")
    );
    fs::write(root.join("long"), "x\n".repeat(5_000)).unwrap();
    fs::write(
        root.join("wide"),
        format!("{}\n", "y".repeat(100_000)).repeat(40),
    )
    .unwrap();
    for path in ["long", "wide"] {
        let mut first = 1;
        let mut lines = 0;
        loop {
            let args = ReadArgs {
                path: path.to_owned(),
                first_line: Some(first),
                last_line: None,
                checkout: None,
            };
            let page = files::read(&root, &args).unwrap();
            assert!(page.text.len() < 70_000 && page.altered == (path == "wide"));
            lines += page.last_line + 1 - page.first_line;
            match page.next_line {
                Some(next) => first = next,
                None => break,
            }
        }
        assert_eq!(lines, if path == "long" { 5_000 } else { 40 });
    }
}

#[test]
fn folders_are_listed_with_what_is_in_them() {
    let (_folder, root) = place();
    let all = files::list(&root, &ListArgs::default()).unwrap();
    let told: Vec<String> = all
        .entries
        .iter()
        .map(|entry| match (entry.kind, &entry.target) {
            (Kind::Symlink, Some(target)) => format!("{} -> {target}", entry.path),
            (Kind::Folder, _) => format!("{}/", entry.path),
            _ => format!("{} {}", entry.path, entry.bytes.unwrap()),
        })
        .filter(|line| !line.starts_with("up "))
        .collect();
    assert_eq!(
        told,
        [
            "README.md 14",
            "binary 10",
            "broken -> nowhere",
            "empty 0",
            "git -> .git",
            "in -> README.md",
            "latin 5",
            "out -> ../secret",
            "src/"
        ]
    );
    assert_eq!(
        listed(&root, "src/", 2).unwrap(),
        ["src/a.py", "src/deep", "src/deep/b.rs"]
    );
    assert!(
        listed(&root, "README.md", 1)
            .unwrap_err()
            .contains("call `read`")
    );
    let args = ListArgs {
        offset: Some(2),
        limit: Some(3),
        ..ListArgs::default()
    };
    let page = files::list(&root, &args).unwrap();
    assert_eq!(
        (page.entries.len(), page.total, page.next_offset),
        (3, 10, Some(5))
    );
}

#[test]
fn lines_are_found() {
    let (_folder, root) = place();
    let told = |args: &SearchArgs| -> Vec<String> {
        let found = search::search(&root, args).unwrap();
        found
            .matches
            .iter()
            .map(|found| format!("{}:{}:{}", found.path, found.line, found.text))
            .collect()
    };
    let tests = SearchArgs {
        ignore_case: true,
        ..asked("tests")
    };
    assert_eq!(
        told(&tests),
        ["src/a.py:2:TESTS = 'x'", "src/deep/b.rs:1:fn tests() {}"]
    );
    let literal = SearchArgs {
        literal: true,
        context: Some(1),
        ..asked("x+y")
    };
    assert_eq!(told(&literal), ["src/deep/b.rs:2:fn tests() {}\n// x+y"]);
    assert!(told(&asked("x+y")).is_empty());
    let narrow = SearchArgs {
        glob: Some("*.py".to_owned()),
        path: Some("src".to_owned()),
        ..asked(".")
    };
    assert_eq!(told(&narrow).len(), 2);
    let paged = SearchArgs {
        limit: Some(1),
        ..asked(".")
    };
    let first = search::search(&root, &paged).unwrap();
    assert_eq!((first.matches.len(), first.next_offset), (1, Some(1)));
    let rest = SearchArgs {
        offset: Some(1),
        limit: Some(200),
        ..asked(".")
    };
    assert_eq!(told(&rest).len() + 1, told(&asked(".")).len());
    assert_eq!(search::search(&root, &asked(".")).unwrap().files_skipped, 1);
    for bad in ["", "(", r"\p{L}{1000}{1000}"] {
        assert!(search::search(&root, &asked(bad)).is_err(), "{bad}");
    }
}

/// A checkout that is there already.
#[derive(Debug)]
struct Here(PathBuf);

#[async_trait::async_trait]
impl super::Repositories for Here {
    async fn checkout(
        &self,
        _: Option<&str>,
        base: Option<&str>,
    ) -> Result<super::Checkout, atlas_core::Error> {
        if base.is_some() {
            return Err(super::refuse("clone", "only its base commit may be seen"));
        }
        Ok(super::Checkout {
            repository: "me/it".to_owned(),
            base: "0".repeat(40).parse().unwrap(),
            base_date: "2024-01-01T00:00:00Z".to_owned(),
            root: self.0.clone(),
            remarks: Vec::new(),
        })
    }

    async fn history(
        &self,
        _: &super::Checkout,
        _: &super::HistoryQuery,
    ) -> Result<Vec<super::HistoryEntry>, atlas_core::Error> {
        Ok(Vec::new())
    }
}

/// Called without a connection, every tool that the server offers answers, and refuses as it does over one.
#[tokio::test]
async fn a_model_of_this_program_is_served_as_any_client() {
    use crate::RepositoryTools as _;
    use serde_json::{Value, json};
    let (_folder, root) = place();
    let server = super::RepositoryServer::new(std::sync::Arc::new(Here(root)));
    let names: Vec<String> = server.offers().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["clone", "history", "list", "read", "search"]);
    let call = async |tool: &str, arguments: Value| {
        let Value::Object(arguments) = arguments else {
            panic!("{arguments}")
        };
        server.call(tool, arguments).await
    };
    let why = call("list", json!({})).await.unwrap_err();
    assert!(why.contains("call `clone` first"), "{why}");
    for tool in &names {
        let arguments = match tool.as_str() {
            "read" => json!({"path": "README.md"}),
            "search" => json!({"pattern": "TESTS"}),
            _ => json!({}),
        };
        let answer = call(tool, arguments).await.unwrap();
        assert!(answer.is_object(), "{tool}: {answer}");
        if tool == "read" {
            assert_eq!(answer["text"], "one\ntwo\nthree\n");
        }
    }
    for (tool, arguments, says) in [
        ("read", json!({"path": "../secret"}), "`..` leads out"),
        ("read", json!({"path": ".git/config"}), "git's own files"),
        ("read", json!({"file": "README.md"}), "unknown field `file`"),
        ("read", json!({}), "missing field `path`"),
        ("clone", json!({"base": "main"}), "only its base commit"),
        ("write", json!({}), "there are: clone, history, list"),
    ] {
        let why = call(tool, arguments).await.unwrap_err();
        assert!(why.contains(says), "{tool}: {why}");
    }
}
