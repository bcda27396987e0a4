use crate::rows::{GOLD, dumped, flat, row};
use atlas_formats::{
    Dataset, FaultKind, FileForm, Prediction, Predictions, Winner, read_predictions,
};
use std::path::Path;

fn read(text: &str, name: &str) -> Predictions {
    let all = Predictions::from_bytes(text.as_bytes(), Path::new(name));
    assert_eq!(String::from_utf8(all.to_bytes()).unwrap(), text);
    all
}

#[test]
fn every_form_of_the_field_is_read_and_written_again() {
    for (text, name, form, expected) in [
        (
            "[\n    {\"instance_id\": \"a\", \"model_name_or_path\": \"m\", \"model_patch\": \"p\"},\n    {\"instance_id\": \"b\", \"model_patch\": \"\"}\n]",
            "preds.json",
            FileForm::List,
            [("a", Some("p"), Some("m")), ("b", Some(""), None)],
        ),
        (
            "{\"a\": {\"model_name_or_path\": \"m\", \"instance_id\": \"a\", \"model_patch\": \"p\"}, \"b\": {\"model_patch\": null}}\n",
            "preds.json",
            FileForm::Dict,
            [("a", Some("p"), Some("m")), ("b", None, None)],
        ),
        (
            "{\"instance_id\": \"a\", \"patch\": \"p\", \"prefix\": \"m\"}\r\n\r\n{\"instance_id\": \"b\", \"extra\": 1.0}",
            "preds.jsonl",
            FileForm::Lines,
            [("a", Some("p"), Some("m")), ("b", None, None)],
        ),
        (
            "{\"org\": \"o\", \"repo\": \"r\", \"number\": \"7\", \"fix_patch\": \"p\"}\n{\"org\": \"o\", \"repo\": \"r\", \"number\": 8, \"fix_patch\": \"\"}\n",
            "preds.jsonl",
            FileForm::Lines,
            [("o__r-7", Some("p"), None), ("o__r-8", Some(""), None)],
        ),
    ] {
        let all = read(text, name);
        assert_eq!(all.faults, []);
        assert_eq!(all.form(), Some(form));
        let found: Vec<_> = all
            .items
            .iter()
            .map(|item| {
                (
                    item.instance_id(),
                    item.model_patch(),
                    item.model_name_or_path(),
                )
            })
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn faults_keep_the_rest() {
    let all = read(
        "{\"instance_id\": \"a\", \"model_patch\": 5}\nx\n{\"model_patch\": \"\"}\n{\"instance_id\": \"b\", \"model_patch\": \"\\ud800\"}\n{\"instance_id\": \"c\"}\n",
        "p.jsonl",
    );
    let kinds: Vec<_> = all
        .faults
        .iter()
        .map(|fault| (fault.kind, fault.place.line))
        .collect();
    assert_eq!(
        kinds,
        [
            (FaultKind::WrongType, 1),
            (FaultKind::NotJson, 2),
            (FaultKind::MissingColumn, 3),
            (FaultKind::LoneSurrogate, 4),
        ]
    );
    assert_eq!(all.items.len(), 1);
}

#[test]
fn of_two_the_caller_chooses() {
    let all = read(
        "{\"instance_id\": \"a\", \"model_patch\": \"1\"}\n{\"instance_id\": \"a\", \"model_patch\": \"2\"}\n{\"instance_id\": \"b\", \"model_patch\": \"3\"}\n",
        "p.jsonl",
    );
    assert_eq!(all.faults.len(), 1);
    assert_eq!(all.faults[0].kind, FaultKind::DuplicateId);
    let chosen = |winner| -> Vec<String> {
        all.by_instance(winner)
            .values()
            .map(|item| item.model_patch().unwrap().to_owned())
            .collect()
    };
    assert_eq!(chosen(Winner::First), ["1", "3"]);
    assert_eq!(chosen(Winner::Last), ["2", "3"]);
    assert_eq!(chosen(Winner::Neither), ["3"]);
}

#[test]
fn a_changed_prediction_keeps_the_rest() {
    let mut all = read(
        "[{\"instance_id\":\"a\", \"model_patch\":null ,\"n\":1.0}]",
        "p.json",
    );
    all.items[0].set("model_patch", "new").unwrap();
    all.items[0].set("model_patch", 5).unwrap_err();
    all.items.push(Prediction::new("b", "m", None));
    assert_eq!(
        String::from_utf8(all.to_bytes()).unwrap(),
        "[{\"instance_id\":\"a\", \"model_patch\":\"new\" ,\"n\":1.0}, {\"instance_id\": \"b\", \"model_name_or_path\": \"m\", \"model_patch\": null}]"
    );
}

#[test]
fn gold_is_each_schemas_solution_and_null_is_empty() {
    let lines: Vec<_> = flat()
        .iter()
        .enumerate()
        .map(|(n, (_, value))| {
            let mut row = row(value);
            row.set("instance_id", format!("a__b-{n}")).unwrap();
            row.line()
        })
        .collect();
    let dataset = Dataset::from_bytes(lines.join("\n").as_bytes(), Path::new("d.jsonl"));
    let gold = Predictions::gold(&dataset);
    let null = Predictions::null(&dataset);
    assert_eq!((gold.items.len(), null.items.len()), (10, 10));
    for item in &gold.items {
        // R2E does not hold its solution as a patch.
        let expected = (item.instance_id() != "a__b-9").then_some(GOLD);
        assert_eq!(item.model_patch(), expected, "{}", item.instance_id());
        assert_eq!(item.model_name_or_path(), Some("gold"));
    }
    assert!(null.items.iter().all(|item| item.model_patch() == Some("")));
    let folder = tempfile::tempdir().unwrap();
    for name in ["p.json", "p.jsonl"] {
        let path = folder.path().join(name);
        gold.write(&path).unwrap();
        let again = read_predictions(&path).unwrap();
        assert_eq!(again.faults, []);
        let patches = |all: &Predictions| -> Vec<_> {
            all.items
                .iter()
                .map(|item| item.columns().clone())
                .collect()
        };
        assert_eq!(patches(&again), patches(&gold));
    }
    assert!(dumped(&flat()[0].1).is_ascii());
}

#[test]
fn predictions_at_another_depth_are_faults_that_say_so() {
    for (text, words) in [
        (
            r#"{"a__b-1": {"m": {"model_patch": "x"}}}"#,
            "one level too deep",
        ),
        (
            r#"{"a__b-1": "diff --git a/x b/x\n"}"#,
            "no column says which instance",
        ),
        (
            r#"{"predictions": [{"instance_id": "a__b-1", "model_patch": "x"}]}"#,
            "stands in a list below",
        ),
    ] {
        let found = Predictions::from_bytes(text.as_bytes(), Path::new("preds.json"));
        assert!(found.items.is_empty(), "{text}");
        let said = found.faults[0].to_string();
        assert!(said.contains(words), "{said}");
    }
    let keyed = r#"{"a__b-1": {"model_name_or_path": "m", "model_patch": "diff --git a/x b/x\n"}}"#;
    let found = read(keyed, "preds.json");
    assert_eq!((found.items.len(), found.faults.len()), (1, 0));
}
