//! Which candidates of a repository are taken, and that they stay.

use super::line;
use atlas_core::RunContext;
use atlas_pipeline::take_candidates;
use std::num::NonZeroUsize;

/// Takes from these lines and tells the numbers of the pull requests that were taken, and whether the file was written.
fn taken(folder: &std::path::Path, lines: &[String], most: usize) -> (Vec<u64>, bool) {
    let (from, to) = (folder.join("all.jsonl"), folder.join("taken.jsonl"));
    std::fs::write(&from, lines.concat()).unwrap();
    let cx = RunContext::new("test");
    let report = take_candidates(&cx, &[from], NonZeroUsize::new(most), &to).unwrap();
    let text = std::fs::read_to_string(&to).unwrap();
    let numbers: Vec<u64> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .map(|line| line["number"].as_u64().unwrap())
        .collect();
    assert_eq!(report.taken, text.lines().count() as u64);
    assert_eq!(report.offered, lines.len() as u64);
    (numbers, report.written)
}

#[test]
fn the_newest_of_each_repository_are_taken_and_stay_when_newer_ones_come() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines: Vec<String> = (1..=5).map(|number| line("a/a", number, "")).collect();
    lines.push(line("b/b", 9, ""));
    assert_eq!(taken(folder.path(), &lines, 2), (vec![4, 5, 9], true));
    assert_eq!(taken(folder.path(), &lines, 2), (vec![4, 5, 9], false));
    // Two newer ones come beside the older; the order is that of the file.
    lines.insert(0, line("a/a", 7, ""));
    lines.insert(0, line("a/a", 6, ""));
    assert_eq!(taken(folder.path(), &lines, 2), (vec![6, 7, 4, 5, 9], true));
    // A larger number takes older ones; a smaller one gives none back.
    assert_eq!(taken(folder.path(), &lines, 5).0, [6, 7, 3, 4, 5, 9]);
    assert_eq!(
        taken(folder.path(), &lines, 1),
        (vec![6, 7, 3, 4, 5, 9], false)
    );
    // What no line tells of any more is gone.
    lines.remove(0);
    assert_eq!(taken(folder.path(), &lines, 1).0, [7, 3, 4, 5, 9]);
}

#[test]
fn a_repeated_name_takes_one_place_and_what_is_no_candidate_is_left_to_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        line("a/a", 3, "first"),
        line("a/a", 3, "again"),
        line("a/a", 2, ""),
        line("a/a", 1, ""),
        "{\"number\": 0}\n".to_owned(),
    ];
    assert_eq!(taken(folder.path(), &lines, 2).0, [3, 2, 0]);
    // Without a number all are taken, those too.
    let (from, to) = (
        folder.path().join("all.jsonl"),
        folder.path().join("whole.jsonl"),
    );
    let cx = RunContext::new("test");
    let report = take_candidates(&cx, &[from], None, &to).unwrap();
    assert_eq!((report.offered, report.taken), (5, 5));
}
