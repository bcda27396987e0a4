//! Tasks that are folders.

use crate::rows::{GOLD, SCRIPT, TEST, row, v5};
use atlas_formats::{
    ConvertOptions, Dataset, FaultKind, ReadOptions, Schema, convert, read_dataset,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Everything below a folder: path, bytes, whether it is executable.
fn tree(root: &Path) -> BTreeMap<String, (Vec<u8>, bool)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                let mode = path.metadata().unwrap().permissions().mode();
                found.insert(name, (std::fs::read(&path).unwrap(), mode & 0o100 != 0));
            }
        }
    }
    found
}

fn put(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

fn task_repo(root: &Path) {
    put(root, "sweb.yaml", "datasets: [Acme/Sum]\nsplits: [test]\n");
    put(root, "eval/Sum.yaml", "name: Sum\n");
    let task = root.join("tasks/acme__sum-12");
    put(
        &task,
        "task.yaml",
        "# a comment\ninstance_id: acme__sum-12\nrepo: acme/sum\nversion: 1.10\nbase_commit: 1234567890123456789012345678901234567890\nsplit: test\nimage: swebench/sweb.eval.x86_64.acme_1776_sum-12:latest\nlog_parser: parse_log_pytest\neval_type: pass_and_fail\ndatasets:\n  - Acme/Sum\nown: {a: [1, 2.5, null], b: \"x\"}\n",
    );
    put(
        &task,
        "tests.json",
        "{\"FAIL_TO_PASS\":[\"t\"],\n\"PASS_TO_PASS\":[]}",
    );
    put(&task, "problem_statement.md", "Sum all.\r\n");
    put(&task, "gold.patch", GOLD);
    put(&task, "test.patch", TEST);
    put(&task, "eval.sh", SCRIPT);
    put(&task, "Dockerfile", "FROM scratch\n");
    put(&task, "test_assets/pixel.png", [0x89, b'P', 0xff, 0]);
}

fn read(root: &Path) -> Dataset {
    read_dataset(root, &ReadOptions::default()).unwrap()
}

#[test]
fn a_task_repository_is_the_same_tree_again() {
    let from = tempfile::tempdir().unwrap();
    let to = tempfile::tempdir().unwrap();
    task_repo(from.path());
    let dataset = read(from.path());
    assert_eq!(dataset.faults, []);
    assert_eq!(dataset.schema(), Ok(Schema::SwebenchV5TaskRepo));
    dataset.write(to.path()).unwrap();
    assert_eq!(tree(to.path()), tree(from.path()));
    // Through version 5 and back, comments and assets included.
    let options = ConvertOptions::default();
    let (rows, _) = convert(
        &dataset.rows,
        Schema::SwebenchV5TaskRepo,
        Schema::SwebenchV5,
        &options,
    );
    assert_eq!(rows[0].text("version"), Some("1.10"));
    assert_eq!(
        rows[0].text("base_commit"),
        Some("1234567890123456789012345678901234567890")
    );
    assert_eq!(rows[0].text("FAIL_TO_PASS"), Some("[\"t\"]"));
    assert_eq!(rows[0].text("problem_statement"), Some("Sum all.\r\n"));
    let file = to.path().join("rows.jsonl");
    Dataset::new(rows).write(&file).unwrap();
    let (back, _) = convert(
        &read(&file).rows,
        Schema::SwebenchV5,
        Schema::SwebenchV5TaskRepo,
        &options,
    );
    let again = tempfile::tempdir().unwrap();
    Dataset::new(back).write(again.path()).unwrap();
    let mut expected = tree(from.path());
    expected.retain(|path, _| path.starts_with("tasks/"));
    assert_eq!(tree(again.path()), expected);
    // One task alone.
    let one = read(&from.path().join("tasks/acme__sum-12"));
    assert_eq!(one.rows[0].id().as_str(), "acme__sum-12");
}

#[test]
fn a_harbor_task_is_the_same_tree_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let from = tempfile::tempdir().unwrap();
    let to = tempfile::tempdir().unwrap();
    let task = from.path().join("sum-task");
    put(
        &task,
        "task.toml",
        "# mine\nschema_version = \"1.0\"\n\n[metadata]\ndifficulty = \"easy\"\ncreated_at = 2024-05-31\n\n[environment]\ndocker_image = \"acme/sum:1\"\n",
    );
    put(&task, "instruction.md", "Sum all.");
    put(&task, "tests/test.sh", "exit 0\n");
    put(&task, "solution/solve.sh", "true\n");
    put(&task, "environment/Dockerfile", "FROM scratch\n");
    put(&task, "environment/data.bin", [255, 0, 254]);
    for script in ["tests/test.sh", "environment/data.bin"] {
        let path = task.join(script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let dataset = read(from.path());
    assert_eq!(dataset.faults, []);
    dataset.write(to.path()).unwrap();
    assert_eq!(tree(to.path()), tree(from.path()));
    let options = ConvertOptions::default();
    let (rows, _) = convert(
        &dataset.rows,
        Schema::HarborTask,
        Schema::SwebenchV4,
        &options,
    );
    assert_eq!(rows[0].text("problem_statement"), Some("Sum all."));
    assert_eq!(rows[0].text("created_at"), Some("2024-05-31"));
    let (back, _) = convert(&rows, Schema::SwebenchV4, Schema::HarborTask, &options);
    let again = tempfile::tempdir().unwrap();
    Dataset::new(back).write(again.path()).unwrap();
    assert_eq!(tree(again.path()), tree(from.path()));
}

#[test]
fn rows_become_folders_and_rows_again() {
    let source = row(&v5());
    let options = ConvertOptions::default();
    for to in [Schema::SwebenchV5TaskRepo, Schema::HarborTask] {
        let (rows, _) = convert(
            std::slice::from_ref(&source),
            Schema::SwebenchV5,
            to,
            &options,
        );
        let folder = tempfile::tempdir().unwrap();
        Dataset::new(rows).write(folder.path()).unwrap();
        let read = read(folder.path());
        assert_eq!(read.schema(), Ok(to));
        let (back, _) = convert(&read.rows, to, Schema::SwebenchV5, &options);
        assert_eq!(back[0].json(), source.json(), "{to}");
    }
}

#[test]
fn a_harbor_verifier_made_from_a_script_tells_pass_from_fail() {
    let (rows, _) = convert(
        &[row(&v5())],
        Schema::SwebenchV5,
        Schema::HarborTask,
        &ConvertOptions::default(),
    );
    let folder = tempfile::tempdir().unwrap();
    let verify = rows[0].text("tests/test.sh").unwrap();
    for (command, reward) in [("true", "1\n"), ("false", "0\n")] {
        let logs = folder.path().join("logs");
        let eval = folder.path().join("eval.sh");
        let script = SCRIPT
            .replace("cd /testbed", "")
            .replace("pytest -rA tests/test_sum.py", command);
        std::fs::write(&eval, script).unwrap();
        let here = verify
            .replace("/tmp/", &format!("{}/", folder.path().display()))
            .replace("/logs/verifier", logs.to_str().unwrap())
            .replace("/tests/eval.sh", eval.to_str().unwrap());
        let status = std::process::Command::new("bash")
            .args(["-c", &here])
            .output()
            .unwrap();
        let found = std::fs::read_to_string(logs.join("reward.txt")).unwrap();
        assert_eq!(found, reward, "{}", String::from_utf8_lossy(&status.stderr));
    }
}

#[test]
fn what_is_no_task_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    task_repo(root);
    put(root, "tasks/empty/README", "x");
    put(root, "tasks/bad name/task.yaml", "instance_id: x\n");
    std::os::unix::fs::symlink("/etc/passwd", root.join("tasks/acme__sum-12/link")).unwrap();
    let dataset = read(root);
    assert_eq!(dataset.rows.len(), 1);
    assert_eq!(dataset.rows[0].get("link"), None);
    let found: Vec<_> = dataset
        .faults
        .iter()
        .map(|fault| (fault.kind, fault.field.clone().unwrap_or_default()))
        .collect();
    assert_eq!(
        found,
        [
            (FaultKind::UnreadableFile, "link".to_owned()),
            (FaultKind::InvalidId, "instance_id".to_owned()),
            (FaultKind::MissingColumn, "task.yaml".to_owned()),
        ]
    );
    let mut small = ReadOptions::default();
    small.max_task_bytes = 10;
    assert_eq!(read_dataset(root, &small).unwrap().rows.len(), 0);
}

#[test]
fn a_path_that_leaves_its_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["../evil", "/etc/evil", "a/../../evil"] {
        let mut row = row(&v5());
        row.set("task.toml", "").unwrap();
        row.set(path, "x").unwrap();
        let dataset = Dataset::new(vec![row]);
        let why = dataset.write(folder.path()).unwrap_err();
        assert_eq!(why.kind(), atlas_core::ErrorKind::InvalidInput);
    }
}

#[test]
fn a_folder_of_splits() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "test.jsonl", "{\"instance_id\": \"t\"}\n");
    assert_eq!(read(folder.path()).rows[0].id().as_str(), "t");
    put(folder.path(), "dev.json", "[{\"instance_id\": \"d\"}]");
    let why = read_dataset(folder.path(), &ReadOptions::default())
        .unwrap_err()
        .chain();
    assert!(why.contains("dev.json, test.jsonl"), "{why}");
    let dev = read_dataset(folder.path(), &ReadOptions::default().with_split("dev")).unwrap();
    assert_eq!(dev.rows[0].id().as_str(), "d");
    let none = tempfile::tempdir().unwrap();
    let why = read_dataset(none.path(), &ReadOptions::default())
        .unwrap_err()
        .chain();
    assert!(why.contains("task.yaml"), "{why}");
}
