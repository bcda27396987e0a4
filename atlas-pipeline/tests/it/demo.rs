use crate::support::{Place, ids};

#[test]
fn offline_it_makes_the_instance_it_promises() {
    let place = Place::new();
    let done = place.run(&["demo", "--offline", "--out", "out", "--format", "json"]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["source"], "builtin");
    assert_eq!(
        ids(&report["make"], "FAIL_TO_PASS"),
        ["test_long_word_is_kept (tests.test_wordwrap.WrapTest.test_long_word_is_kept)"]
    );
    assert_eq!(ids(&report["make"], "PASS_TO_PASS").len(), 4);
    let witness = &report["make"]["second_witness"];
    assert_eq!(witness["differences"], serde_json::json!([]), "{witness}");
    assert_eq!(witness["tests"], 14, "{witness}");
    let row = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    let row: serde_json::Value = serde_json::from_str(&row).unwrap();
    assert_eq!(row["repo"], "demo/wordwrap");
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());

    let text = place.run(&["demo", "--offline", "--out", "out"]);
    assert_eq!(text.code(), 0);
    assert!(
        text.stdout().contains("demo__wordwrap-1: accepted"),
        "{}",
        text.stdout()
    );
    assert!(
        text.stdout().contains("they define the task"),
        "{}",
        text.stdout()
    );
    assert!(
        !text.stderr().contains('\u{1b}'),
        "no progress where there is no terminal"
    );
}
