//! Rows with what judges know of them.

use super::*;

#[test]
fn rows_are_written_with_what_is_known_of_them() {
    let place = Place::new();
    let rows = [
        r#"{"instance_id":"a__a-1","repo":"a/a","patch":"--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n import torch\n+b\n","test_patch":"--- a/t.py\n+++ b/t.py\n@@ -1 +1,2 @@\n a\n+b\n","problem_statement":"[BUG] x","labels":["bug"],"n":1.0,"atlas":{"kind":"bug_fix"}}"#,
        r#"{"instance_id":"a__a-2","repo":"a/a","patch":"--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n a\n+b\n","problem_statement":"x"}"#,
    ];
    std::fs::write(place.path("rows.jsonl"), rows.join("\n") + "\n").unwrap();
    let args = [
        "judge",
        "--question",
        "classes",
        "--dataset",
        "rows.jsonl",
        "--out",
        "classes.jsonl",
        "--rows-out",
        "curated.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["curated"]["rows"], 2);
    assert_eq!(
        report["curated"]["tables"]["files"]["rows"][0]["class"],
        "1"
    );
    assert_eq!(report["tables"]["domain"]["total"], 2);
    let text = std::fs::read_to_string(place.path("curated.jsonl")).unwrap();
    assert!(
        text.contains(r#""n":1.0,"#),
        "other columns keep their bytes: {text}"
    );
    let found: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let first = &found[0]["atlas"];
    assert_eq!(
        (&first["kind"], &found[0]["domain"]),
        (&json!("bug_fix"), &json!("ai-ml"))
    );
    let curation = &first["curation"];
    assert_eq!(curation["code_type"]["class"], "bug-fix");
    assert_eq!(curation["code_type"]["evidence"]["source"], "labels");
    assert_eq!(curation["domain"]["evidence"]["text"], "import torch");
    assert_eq!(curation["difficulty"]["files_bin"], "2-4");
    let second = &found[1];
    assert_eq!(second["atlas"]["curation"]["code_type"]["source"], "nobody");
    assert!(second.get("domain").is_none());
    // Again: nothing is asked, and the same bytes come out.
    assert_eq!(place.run(&args).code(), 0);
    assert_eq!(
        std::fs::read_to_string(place.path("curated.jsonl")).unwrap(),
        text
    );
    let wrong = place.run(&[
        "judge",
        "--question",
        "alignment",
        "--dataset",
        "rows.jsonl",
        "--out",
        "x",
        "--rows-out",
        "y",
    ]);
    assert_eq!(wrong.code(), 1);
    assert!(
        wrong.stderr().contains("--question classes"),
        "{}",
        wrong.stderr()
    );
}
