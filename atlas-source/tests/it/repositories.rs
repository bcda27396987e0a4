//! Opening repositories, naming commits, finding pull requests.

use crate::support::Lab;
use atlas_core::ErrorKind;
use atlas_source::{ChangeKind, EntryKind, GitRepo, LogEntry, LogQuery, problem_statement};

#[tokio::test]
async fn opens_what_is_a_repository() {
    let lab = Lab::new();
    let head = lab.write("sub/a", "a\n").commit("one");
    let bare = tempfile::tempdir().unwrap();
    let url = format!("file://{}", lab.path().display());
    let cloned = GitRepo::clone_url(&url, bare.path().join("c"))
        .await
        .unwrap();
    let worktree = bare.path().join("w");
    lab.git(&[
        "worktree",
        "add",
        "-q",
        "--detach",
        &worktree.display().to_string(),
    ]);
    for repo in [
        lab.open().await,
        GitRepo::open(lab.path().join(".git")).await.unwrap(),
        GitRepo::open(&worktree).await.unwrap(),
        cloned,
    ] {
        assert_eq!(repo.resolve("HEAD").await.unwrap(), head);
        assert_eq!(
            repo.read_file(&head, "sub/a").await.unwrap().as_deref(),
            Some(&b"a\n"[..])
        );
        assert!(repo.diff(&head, &head).await.unwrap().is_empty());
    }
    for path in [
        lab.path().join("sub"),
        lab.path().join("nowhere"),
        lab.path().join("sub/a"),
    ] {
        let error = GitRepo::open(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{}", error.chain());
    }
    let error = GitRepo::clone_url("../x", bare.path().join("d"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let error = GitRepo::clone_url("file:///nowhere/at/all", bare.path().join("e"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ToolFailed);
}

#[tokio::test]
async fn commits_and_files() {
    let lab = Lab::new();
    let one = lab.write("a b", "1\n").write("ü", "x\n").commit("one");
    std::os::unix::fs::symlink("a b", lab.path().join("l")).unwrap();
    lab.git(&["rm", "-q", "ü"]);
    let two = lab.write("a b", "2\n").commit("two\n\nbody");
    let repo = lab.open().await;
    assert_eq!(
        repo.parents(&two).await.unwrap(),
        std::slice::from_ref(&one)
    );
    assert!(repo.parents(&one).await.unwrap().is_empty());
    assert_eq!(repo.resolve("main~1").await.unwrap(), one);
    assert_eq!(repo.resolve(one.short()).await.unwrap(), one);
    for rev in ["nope", "--all", "", "HEAD:a b", &"0".repeat(40)] {
        assert_eq!(
            repo.resolve(rev).await.unwrap_err().kind(),
            ErrorKind::NotFound,
            "{rev}"
        );
    }
    assert_eq!(
        repo.commit_messages(&one, &two).await.unwrap(),
        ["two\n\nbody"]
    );
    assert!(repo.commit_date(&one).await.unwrap().contains('T'));
    assert_eq!(
        repo.merge_base(&one, &two).await.unwrap(),
        Some(one.clone())
    );
    let listed: Vec<_> = repo
        .list_files(&two)
        .await
        .unwrap()
        .into_iter()
        .map(|entry| (entry.path, entry.kind))
        .collect();
    assert_eq!(
        listed,
        [
            ("a b".to_owned(), EntryKind::File),
            ("l".to_owned(), EntryKind::Symlink)
        ]
    );
    let changed: Vec<_> = repo
        .changed_files(&one, &two)
        .await
        .unwrap()
        .into_iter()
        .map(|file| (file.path, file.kind))
        .collect();
    assert_eq!(
        changed,
        [
            ("a b".to_owned(), ChangeKind::Modified),
            ("l".to_owned(), ChangeKind::Added),
            ("ü".to_owned(), ChangeKind::Deleted)
        ]
    );
    assert_eq!(repo.read_file(&two, "none").await.unwrap(), None);
    let unknown = "1".repeat(40).parse().unwrap();
    for kind in [
        repo.read_file(&unknown, "a b").await.unwrap_err().kind(),
        repo.list_files(&unknown).await.unwrap_err().kind(),
        repo.diff(&one, &unknown).await.unwrap_err().kind(),
        repo.merge_base(&one, &unknown).await.unwrap_err().kind(),
        repo.commit_messages(&unknown, &one)
            .await
            .unwrap_err()
            .kind(),
        repo.commit_date(&unknown).await.unwrap_err().kind(),
    ] {
        assert_eq!(kind, ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn names_of_remotes() {
    let lab = Lab::new();
    let repo = lab.open().await;
    assert_eq!(repo.remote_name().await, None);
    lab.git(&["remote", "add", "origin", "x"]);
    for (url, name) in [
        ("https://example.org/own/name.git", Some("own/name")),
        ("https://example.org/own/name/", Some("own/name")),
        ("git@example.org:own/name.git", Some("own/name")),
        ("ssh://git@example.org:22/own/name", Some("own/name")),
        ("/srv/own/name", None),
        ("https://example.org/name", None),
    ] {
        lab.git(&["remote", "set-url", "origin", url]);
        assert_eq!(repo.remote_name().await.as_deref(), name, "{url}");
    }
}

#[tokio::test]
async fn pull_requests_by_merge_squash_and_ref() {
    let lab = Lab::new();
    let root = lab.write("a", "1\n").commit("root");
    lab.git(&["checkout", "-q", "-b", "feature"]);
    lab.write("b", "1\n").commit("feature");
    lab.git(&["checkout", "-q", "main"]);
    lab.git(&[
        "merge",
        "-q",
        "--no-ff",
        "-m",
        "Merge pull request #7 from x/feature",
        "feature",
    ]);
    let merge = lab.head();
    let squash = lab.write("a", "2\n").commit("Do it (#12)");
    lab.write("a", "3\n").commit("Revert \"Do it (#12)\"");
    lab.write("a", "4\n").commit("Port (#12) (#13)");
    lab.git(&["checkout", "-q", "-b", "open"]);
    let open = lab.write("c", "1\n").commit("open");
    lab.git(&["update-ref", "refs/pull/99/head", "HEAD"]);
    lab.git(&["update-ref", "refs/remotes/up/pr/98", "feature"]);
    lab.git(&["checkout", "-q", "main"]);
    let repo = lab.open().await;
    let find = async |number| repo.pull_request(number).await.unwrap();
    let found = find(7).await;
    assert_eq!((found.base, found.head), (root.clone(), merge.clone()));
    let found = find(12).await;
    assert_eq!((found.base, found.head), (merge.clone(), squash));
    let found = find(99).await;
    assert_eq!((found.base, found.head), (lab.head(), open));
    let found = find(98).await;
    assert_eq!((found.base, found.head), (root, merge), "{}", found.how);
    let error = repo.pull_request(1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("(#1)"), "{error}");
}

#[test]
fn problem_statements() {
    let text = problem_statement(&[
        "Fix a (#12)\n\nWhy: because.\n\nCo-authored-by: X <x@x>\nSigned-off-by: Y <y@y>\n",
        "Merge pull request #3 from a/b\n\nTitle of it",
        "Use (#x)",
    ]);
    assert_eq!(text, "Fix a\n\nWhy: because.\n\nTitle of it\n\nUse (#x)");
    assert_eq!(problem_statement::<&str>(&[]), "");
}

/// What merging leaves in messages says nothing of the task, and names files that the solution changes.
#[test]
fn problem_statements_without_merge_noise() {
    for (message, text) in [
        (
            "Merge branch 'main' into fix\n\n# Conflicts:\n#\tsrc/a.rs\n#\tsrc/b c.rs\n",
            "",
        ),
        (
            "Keep order (#4)\n\nConflicts:\n\tlib/a.rb\n\n\tlib/b.rb\n\nIt was lost.",
            "Keep order\n\nIt was lost.",
        ),
        (
            "Keep order (#4)\n\n* Keep it\n\n* Merge branch 'main' into fix\n\n# Conflicts:\n#   a.py\n\n\
             * Say why\n\n---------\n\nCo-authored-by: X <x@x>",
            "Keep order\n\n* Keep it\n\n* Say why",
        ),
        (
            "Merge remote-tracking branch 'up/1.x' into fix\n\nReal text",
            "Real text",
        ),
        ("Merge branch main of github.com:a/b into fix", ""),
        ("Merge 0123abc into 4567def", ""),
        ("Merge pull request #3 from a/b", ""),
        // Words of an author.
        (
            "Merge branch lists before sorting",
            "Merge branch lists before sorting",
        ),
        (
            "Merge tags that repeat\n\nWhy\n-----\n\n# Conflicts of names",
            "Merge tags that repeat\n\nWhy\n-----\n\n# Conflicts of names",
        ),
        ("Conflicts: say which", "Conflicts: say which"),
    ] {
        assert_eq!(problem_statement(&[message]), text, "{message}");
    }
}

#[tokio::test]
async fn a_log_ends_at_its_commit() {
    let lab = Lab::new();
    let one = lab.write("a[1]", "1\n").write("d/b b", "x\n").commit("one");
    let two = lab.write("a1", "2\n").commit("two\n\nbody  \n");
    let three = lab.write("ü", "3\n").commit("three");
    let repo = lab.open().await;
    let told = |entries: Vec<LogEntry>| -> Vec<String> {
        entries
            .iter()
            .map(|entry| format!("{} {}", entry.message, entry.paths.join(",")))
            .collect()
    };
    let all = repo.log(&two, &LogQuery::default()).await.unwrap();
    assert_eq!(all[0].commit, two);
    assert_eq!(all[0].date, repo.commit_date(&two).await.unwrap());
    assert!(!all[0].author.is_empty());
    assert_eq!(told(all), ["two\n\nbody a1", "one a[1],d/b b"]);
    let query = LogQuery {
        path: "a[1]".to_owned(),
        ..LogQuery::default()
    };
    let found = repo.log(&three, &query).await.unwrap();
    assert_eq!(found.len(), 1, "no pattern");
    assert_eq!(found[0].commit, one);
    let query = LogQuery {
        skip: 1,
        limit: 1,
        ..LogQuery::default()
    };
    assert_eq!(
        told(repo.log(&three, &query).await.unwrap()),
        ["two\n\nbody a1"]
    );
    let absent = "0".repeat(40).parse().unwrap();
    let why = repo.log(&absent, &LogQuery::default()).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::NotFound);
}
