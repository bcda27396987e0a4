//! From each schema to each other, and back.

use crate::rows::{BASE, GOLD, SCRIPT, TEST, dumped, flat, multi, row, v4, v5};
use atlas_formats::{ConvertOptions, Loss, LossKind, Row, Schema, convert};
use proptest::prelude::*;
use serde_json::{Value, json};

fn one(row: &Row, from: Schema, to: Schema) -> (Row, Vec<Loss>) {
    let (mut rows, losses) = convert(
        std::slice::from_ref(row),
        from,
        to,
        &ConvertOptions::default(),
    );
    assert_eq!(rows.len(), 1, "{from} -> {to}: {losses:?}");
    (rows.remove(0), losses)
}

/// Rows of all schemas, the folders' made from a row.
fn all() -> Vec<(Schema, Row)> {
    let mut all: Vec<_> = flat()
        .into_iter()
        .map(|(schema, value)| (schema, row(&value)))
        .collect();
    for folder in [Schema::SwebenchV5TaskRepo, Schema::HarborTask] {
        let options = {
            let mut options = ConvertOptions::default();
            options.keep_source = false;
            options
        };
        let (rows, _) = convert(&[row(&v5())], Schema::SwebenchV5, folder, &options);
        all.push((folder, rows[0].clone()));
    }
    all
}

#[test]
fn there_and_back_is_the_same_bytes_for_every_pair() {
    for (from, row) in all() {
        for to in Schema::ALL {
            let (there, losses) = one(&row, from, to);
            if from != to {
                assert_eq!(Schema::detect(&there), Some(to), "{from} -> {to}");
            }
            for loss in &losses {
                assert!(!loss.message.is_empty() && !loss.column.is_empty());
            }
            // The row goes through a file on its way.
            let there: Row = there.line().parse().unwrap();
            let (back, _) = one(&there, to, from);
            assert_eq!(back.json(), row.json(), "{from} -> {to} -> {from}");
        }
    }
}

#[test]
fn a_way_through_a_third_schema_comes_back_too() {
    for (from, row) in all() {
        for (over, last) in [
            (Schema::MultiSwebench, Schema::Pro),
            (Schema::HarborTask, Schema::SwebenchV4),
            (Schema::R2e, Schema::SwebenchV5TaskRepo),
        ] {
            if [over, last].contains(&from) {
                continue;
            }
            let (second, _) = one(&row, from, over);
            let (third, _) = one(&second, over, last);
            let (second_again, _) = one(&third, last, over);
            assert_eq!(second_again.json(), second.json(), "{from} {over} {last}");
            let (first_again, _) = one(&second_again, over, from);
            assert_eq!(first_again.json(), row.json(), "{from} {over} {last}");
        }
    }
}

#[test]
fn odd_spelling_comes_back_too() {
    let columns = dumped(&v4());
    let rest = columns.strip_prefix('{').unwrap();
    for text in [
        format!("{{ \"big\":123456789012345678901234567890,{rest}"),
        format!("{{\"one\": 1.0, \"tiny\":1e-400, {rest}"),
        format!("{{\"esc\": \"\\/\\u0041\", {rest}"),
        format!("{{\"twice\": 1, \"twice\": 2, {rest}"),
        format!("{{\"ascii\": \"\\u00fc\", \"raw\": \"ü\", {rest}"),
        serde_json::to_string(&v4()).unwrap(),
        serde_json::to_string_pretty(&v4()).unwrap(),
    ] {
        let row: Row = text.parse().unwrap();
        for to in Schema::ALL {
            if to == Schema::SwebenchV4 {
                continue;
            }
            let (there, _) = one(&row, Schema::SwebenchV4, to);
            let there: Row = there.line().parse().unwrap();
            let (back, _) = one(&there, to, Schema::SwebenchV4);
            assert_eq!(back.json(), text, "{to}");
        }
    }
}

#[test]
fn what_python_writes_needs_no_copy_of_the_row() {
    let columns = dumped(&v5());
    let text = format!(
        "{}, \"own\": \"\\u007f\\u00e9\\ud83d\\ude00\\b\\u001b\"}}",
        columns.strip_suffix('}').unwrap()
    );
    let row: Row = text.parse().unwrap();
    let (there, _) = one(&row, Schema::SwebenchV5, Schema::SwebenchV4);
    let kept = there.get("_atlas_source").unwrap();
    assert_eq!(kept.get("text"), None);
    let names: Vec<_> = kept["kept"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        names,
        ["image", "eval_script", "log_parser", "eval_type", "own"]
    );
}

#[test]
fn the_options_of_one_call_need_not_be_those_of_another() {
    let options = |namespace: &str, workdir: &str| {
        let mut options = ConvertOptions::default();
        options.image_namespace = namespace.to_owned();
        options.workdir = workdir.to_owned();
        options
    };
    for (from, row) in all() {
        for to in Schema::ALL {
            let rows = std::slice::from_ref(&row);
            for (first, second) in [
                (options("own", "/app"), ConvertOptions::default()),
                (ConvertOptions::default(), options("own", "/app")),
            ] {
                let (there, _) = convert(rows, from, to, &first);
                let (back, _) = convert(&there, to, from, &second);
                assert_eq!(back[0].json(), row.json(), "{from} -> {to}");
            }
        }
    }
}

#[test]
fn edits_on_the_way_win_and_the_rest_comes_back() {
    let original = row(&flat()[6].1);
    assert_eq!(Schema::detect(&original), Some(Schema::Pro));
    let (mut there, _) = one(&original, Schema::Pro, Schema::SwebenchV5);
    there.set("problem_statement", "new words").unwrap();
    there.set("FAIL_TO_PASS", "[\"test_b\"]").unwrap();
    there.set("mine", json!({"k": 1})).unwrap();
    let (back, _) = one(&there, Schema::SwebenchV5, Schema::Pro);
    let mut expected = original.clone();
    expected.set("problem_statement", "new words").unwrap();
    expected.set("fail_to_pass", "['test_b']").unwrap();
    let kept = back.get("_atlas_source").unwrap();
    assert_eq!(kept["kept"]["mine"], json!({"k": 1}));
    let mut bare = back.clone();
    bare.remove("_atlas_source").unwrap();
    assert_eq!(bare.json(), expected.json());
    let (again, _) = one(&back, Schema::Pro, Schema::SwebenchV5);
    assert_eq!(again.get("mine"), Some(&json!({"k": 1})));

    // A test that is added to a row of statuses gets statuses.
    let original = row(&multi());
    let (mut there, _) = one(&original, Schema::MultiSwebench, Schema::SwebenchV4);
    assert_eq!(
        there.text("FAIL_TO_PASS"),
        Some(r#"["all", "skipped", "new"]"#)
    );
    there.set("FAIL_TO_PASS", r#"["all", "more"]"#).unwrap();
    let (back, _) = one(&there, Schema::SwebenchV4, Schema::MultiSwebench);
    assert_eq!(back.get("f2p_tests").unwrap()["more"]["fix"], "PASS");
    assert_eq!(back.get("n2p_tests"), Some(&json!({})));
    assert_eq!(back.text("title"), Some("Sum all"));
}

#[test]
fn each_schema_says_the_same_of_the_task() {
    // What is asked of version 4, from every schema that knows it.
    for (from, source) in all() {
        let (made, _) = one(&source, from, Schema::SwebenchV4);
        let text = |column: &str| made.text(column).unwrap_or_default();
        let expected_repo = match from {
            Schema::Smith => "swesmith/acme__sum.1234abcd",
            Schema::R2e => "sum",
            _ => "acme/sum",
        };
        assert_eq!(text("repo"), expected_repo, "{from}");
        if from != Schema::R2e {
            assert_eq!(text("patch"), GOLD, "{from}");
        }
        if !matches!(from, Schema::R2e | Schema::Smith) {
            assert_eq!(text("test_patch"), TEST, "{from}");
            assert_eq!(text("base_commit"), BASE, "{from}");
            assert_eq!(text("instance_id"), "acme__sum-12", "{from}");
        }
        assert!(!text("problem_statement").is_empty(), "{from}");
        let lists: Vec<Vec<String>> = ["FAIL_TO_PASS", "PASS_TO_PASS"]
            .map(|list| serde_json::from_str(text(list)).unwrap())
            .into();
        assert!(!lists.concat().is_empty(), "{from}");
    }
    let (made, _) = one(&row(&multi()), Schema::MultiSwebench, Schema::SwebenchV5);
    assert_eq!(
        made.text("problem_statement"),
        Some("total() is wrong\nIt forgets one.")
    );
    assert_eq!(made.text("PASS_TO_PASS"), Some(r#"["none"]"#));
    assert_eq!(made.text("version"), Some("12"));
    assert_eq!(
        made.text("image"),
        Some("swebench/sweb.eval.x86_64.acme_1776_sum-12:latest")
    );
    let (made, _) = one(&row(&v5()), Schema::SwebenchV5, Schema::MultiSwebench);
    assert_eq!(made.get("number"), Some(&json!(12)));
    assert_eq!(made.get("base").unwrap()["sha"], BASE);
    let result = made.get("fix_patch_result").unwrap();
    assert_eq!(result["passed_count"], json!(3));
    let (made, _) = one(&row(&flat()[6].1), Schema::Pro, Schema::Rebench);
    assert_eq!(made.get("FAIL_TO_PASS"), Some(&json!(["test_all", "it's"])));
    assert_eq!(
        made.text("image_name"),
        Some("jefzda/sweap-images:acme.sum-12")
    );
    let (made, _) = one(&made, Schema::Rebench, Schema::SwebenchV4);
    assert_eq!(made.text("FAIL_TO_PASS"), Some(r#"["test_all", "it's"]"#));
}

#[test]
fn losses_name_the_columns() {
    let of = |from: Schema, to: Schema| {
        let source = all()
            .into_iter()
            .find(|(schema, _)| *schema == from)
            .unwrap();
        let (_, losses) = one(&source.1, from, to);
        losses
    };
    let kinds = |losses: &[Loss], kind: LossKind| -> Vec<String> {
        losses
            .iter()
            .filter(|loss| loss.kind == kind)
            .map(|loss| loss.column.clone())
            .collect()
    };
    let down = of(Schema::SwebenchV5, Schema::SwebenchV4);
    assert_eq!(
        kinds(&down, LossKind::NoPlace),
        ["image", "eval_script", "log_parser", "eval_type"]
    );
    assert_eq!(down.len(), 4, "{down:?}");
    let up = of(Schema::SwebenchV4, Schema::SwebenchV5);
    assert_eq!(kinds(&up, LossKind::Missing), ["eval_script", "log_parser"]);
    assert_eq!(kinds(&up, LossKind::Made), ["eval_type", "image"]);
    let live = of(Schema::SwebenchLive, Schema::SwebenchV5);
    assert_eq!(
        kinds(&live, LossKind::NoPlace),
        [
            "pull_number",
            "issue_numbers",
            "all_hints_text",
            "commit_urls",
            "rebuild_cmds",
            "test_cmds",
            "print_cmds"
        ]
    );
    let multi = of(Schema::MultiSwebench, Schema::SwebenchV4);
    for column in ["f2p_tests", "s2p_tests", "n2p_tests", "run_result"] {
        assert!(
            kinds(&multi, LossKind::Inexact).contains(&column.to_owned()),
            "{multi:?}"
        );
    }
    for column in ["state", "tag", "number", "lang"] {
        assert!(
            kinds(&multi, LossKind::NoPlace).contains(&column.to_owned()),
            "{multi:?}"
        );
    }
    assert_eq!(of(Schema::SwebenchV4, Schema::SwebenchV4), []);
}

#[test]
fn scripts_are_made_from_commands_and_commands_from_scripts() {
    let (made, _) = one(&row(&flat()[2].1), Schema::SwebenchPp, Schema::SwebenchV5);
    let script = made.text("eval_script").unwrap();
    assert!(script.starts_with("#!/bin/bash\nset -uxo pipefail\ncd /testbed\n"));
    let restore = format!("git checkout {BASE} -- tests/test_sum.py\n");
    assert_eq!(script.matches(&restore).count(), 2);
    assert!(script.contains(&format!("<<'EOF_114329324912'\n{TEST}EOF_114329324912\n")));
    assert!(
        script.contains(": '>>>>> Start Test Output'\npytest -rA\n: '>>>>> End Test Output'\n")
    );
    let (made, _) = one(&row(&v5()), Schema::SwebenchV5, Schema::SwebenchPp);
    let config: Value = serde_json::from_str(made.text("environment_config").unwrap()).unwrap();
    assert_eq!(
        config,
        json!({"test_cmd": ["pytest -rA tests/test_sum.py"], "log_parser_name": "parse_log_pytest"})
    );
    let (made, _) = one(&row(&v5()), Schema::SwebenchV5, Schema::SwebenchLive);
    assert_eq!(
        made.get("test_cmds"),
        Some(&json!(["pytest -rA tests/test_sum.py"]))
    );
    assert!(SCRIPT.contains("pytest -rA tests/test_sum.py"));
}

#[test]
fn without_a_source_there_is_none() {
    let mut options = ConvertOptions::default();
    options.keep_source = false;
    options.image_namespace = String::new();
    let (rows, _) = convert(
        &[row(&multi())],
        Schema::MultiSwebench,
        Schema::SwebenchV5,
        &options,
    );
    assert_eq!(rows[0].get("_atlas_source"), None);
    assert_eq!(
        rows[0].text("image"),
        Some("sweb.eval.x86_64.acme_1776_sum-12:latest")
    );
}

#[test]
fn values_of_the_wrong_kind_are_kept_and_said() {
    let value = json!({"instance_id": "a__b-1", "repo": "a/b", "base_commit": "x", "patch": "no patch",
        "test_patch": null, "problem_statement": "", "FAIL_TO_PASS": "not a list", "PASS_TO_PASS": "[1]",
        "created_at": {"odd": []}, "image_assets": [], "version": null});
    let source = row(&value);
    for to in Schema::ALL {
        let (there, losses) = one(&source, Schema::SwebenchV4, to);
        let (back, _) = one(&there, to, Schema::SwebenchV4);
        assert_eq!(back.json(), source.json(), "{to}");
        if to != Schema::SwebenchV4 {
            let names = |column: &str| losses.iter().any(|loss| loss.column == column);
            assert!(
                names("FAIL_TO_PASS") && names("PASS_TO_PASS"),
                "{to}: {losses:?}"
            );
        }
    }
}

fn odd_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        4 => any::<String>().prop_map(Value::from),
        1 => Just(Value::from("\u{0}\u{85}\u{2028}\u{feff}\u{ffff}\u{10ffff}---\n...\n# x: [")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|items| Value::Object(items.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_columns_come_back_from_every_schema(
        which in 0..10_usize,
        own in prop::collection::vec((any::<prop::sample::Index>(), odd_value()), 0..4),
        extra in prop::collection::vec((any::<String>(), odd_value()), 0..4),
        spaced in any::<bool>(),
    ) {
        let (from, mut value) = flat().swap_remove(which);
        let columns = value.as_object_mut().unwrap();
        for (at, odd) in own {
            let name = columns.keys().nth(at.index(columns.len())).unwrap().clone();
            if !["instance_id", "org", "repo", "number", "repo_name", "commit_hash"].contains(&name.as_str()) {
                columns.insert(name, odd);
            }
        }
        for (name, odd) in extra {
            columns.insert(format!("x{name}"), odd);
        }
        let text = if spaced { dumped(&value) } else { value.to_string() };
        let row: Row = text.parse().unwrap();
        for to in Schema::ALL {
            let (there, _) = one(&row, from, to);
            let there: Row = there.line().parse().unwrap();
            let (back, _) = one(&there, to, from);
            prop_assert_eq!(back.json(), row.json(), "{} -> {}", from, to);
        }
    }
}
