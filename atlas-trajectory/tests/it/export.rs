//! Trajectories as training data.

use crate::samples::{CLAUDE, CODEX, mini, one, openhands, swe_agent};
use atlas_trajectory::{
    ExportError, ExportForm, ExportOptions, ExportedRow, NoLoss, Source, Step, Trajectories,
    Trajectory, export_rows,
};
use serde_json::{Value, json};

/// A failing test, a repair, a passing test, a submission; each but the repair with what it printed.
fn repair() -> Trajectory {
    let mut found = Trajectory::new("me");
    found.push(Step::new(Source::System, "You repair programs."));
    found.push(Step::new(Source::User, "Repair the cart."));
    let steps = [
        (
            "See it.",
            "bash",
            json!({"command": "pytest -q"}),
            "1 failed\nexit code: 1",
        ),
        (
            "Edit.",
            "edit",
            json!({"path": "cart.py", "new_str": "b\n", "line": 3}),
            "",
        ),
        (
            "Again.",
            "bash",
            json!({"command": "pytest -q"}),
            "3 passed\nexit code: 0",
        ),
        ("Done.", "submit", json!({}), "Submitted."),
    ];
    for (at, (thought, tool, arguments, seen)) in steps.into_iter().enumerate() {
        let mut step = Step::new(Source::Agent, thought);
        let id = format!("c{at}");
        step.call(&id, tool, arguments);
        if !seen.is_empty() {
            step.observe(Some(&id), atlas_trajectory::Content::Text(seen.to_owned()));
        }
        found.push(step);
    }
    found
}

pub(crate) fn form(form: ExportForm) -> ExportOptions {
    ExportOptions {
        form,
        ..ExportOptions::default()
    }
}

fn rows(trajectory: &Trajectory, options: &ExportOptions) -> Vec<ExportedRow> {
    export_rows(trajectory, options, None).expect("rows")
}

pub(crate) fn messages(row: &ExportedRow) -> &[Value] {
    row.columns["messages"].as_array().expect("messages")
}

/// Role, content and whether it is learnt, of each message.
fn brief(row: &ExportedRow) -> Vec<String> {
    let text = |message: &Value| {
        let mark = if message["train"] == true { "+" } else { "-" };
        format!(
            "{mark}{}: {}",
            message["role"].as_str().unwrap(),
            message["content"].as_str().unwrap()
        )
    };
    messages(row).iter().map(text).collect()
}

#[test]
fn chat_has_calls_with_their_answers_and_ends_with_the_agent() {
    let all = rows(&repair(), &form(ExportForm::Chat));
    assert_eq!(all.len(), 1);
    let expected = [
        "-system: You repair programs.",
        "-user: Repair the cart.",
        "+assistant: See it.",
        "-tool: 1 failed\nexit code: 1",
        "+assistant: Edit.",
        "-tool: ",
        "+assistant: Again.",
        "-tool: 3 passed\nexit code: 0",
        "+assistant: Done.",
    ];
    assert_eq!(
        brief(&all[0]),
        expected,
        "what comes back at the end is left out"
    );
    let call = &messages(&all[0])[4]["tool_calls"][0];
    let arguments = r#"{"path":"cart.py","new_str":"b\n","line":3}"#;
    let expected = json!({"id": "c1", "type": "function", "function": {"name": "edit", "arguments": arguments}});
    assert_eq!(*call, expected);
    assert_eq!(messages(&all[0])[5]["tool_call_id"], "c1");
    let tools: Value = serde_json::from_str(all[0].columns["tools"].as_str().unwrap()).unwrap();
    let names: Vec<&Value> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(names, ["bash", "edit", "submit"]);
    assert_eq!(
        tools[1]["function"]["parameters"]["properties"]["line"],
        json!({"type": "integer"})
    );
    // All messages have the same keys, so that a table has one schema.
    let keys = |message: &Value| {
        message
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert!(
        messages(&all[0])
            .iter()
            .all(|one| keys(one) == keys(&messages(&all[0])[0]))
    );
}

#[test]
fn xml_is_as_swe_agent_reads_it() {
    let all = rows(&repair(), &form(ExportForm::SweAgentXml));
    let brief = brief(&all[0]);
    assert!(
        brief[0].starts_with(
            "-system: You repair programs.\n\nYou have access to the following functions:\n"
        ),
        "{}",
        brief[0]
    );
    assert!(
        brief[0].contains("BEGIN FUNCTION #2: edit ----\n  (1) path (string, required)\n"),
        "{}",
        brief[0]
    );
    assert_eq!(
        brief[2],
        "+assistant: See it.\n\n<function=bash>\n<parameter=command>pytest -q</parameter>\n</function>"
    );
    let edit = "+assistant: Edit.\n\n<function=edit>\n<parameter=path>cart.py</parameter>\n<parameter=new_str>\nb\n\n</parameter>\n<parameter=line>3</parameter>\n</function>";
    assert_eq!(brief[4], edit);
    assert_eq!(
        brief[8],
        "+assistant: Done.\n\n<function=submit>\n</function>"
    );
    let roles: Vec<&str> = brief[1..]
        .iter()
        .map(|one| one[1..].split(':').next().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant"
        ]
    );
}

#[test]
fn what_would_end_its_own_form_is_refused() {
    let refused = |change: fn(&mut Step), name: &str| {
        let mut found = repair();
        change(&mut found.steps[2]);
        let options = form(ExportForm::SweAgentXml);
        match export_rows(&found, &options, None) {
            Err(ExportError::EndsItself {
                step_id: 3,
                name: told,
                ..
            }) => assert_eq!(told, name),
            other => panic!("{other:?}"),
        }
        assert!(export_rows(&found, &form(ExportForm::Chat), None).is_ok());
    };
    refused(
        |step| {
            step.tool_calls.as_mut().unwrap()[0].arguments =
                json!({"command": "echo '</parameter>'"});
        },
        "command",
    );
    refused(
        |step| step.tool_calls.as_mut().unwrap()[0].arguments = json!({"command": ["</function>"]}),
        "command",
    );
    refused(
        |step| {
            step.message = atlas_trajectory::Content::Text("I write <function=bash>.".to_owned());
        },
        "message",
    );
}

#[test]
fn each_step_can_have_a_row_of_its_own() {
    for kind in [ExportForm::Chat, ExportForm::SweAgentXml] {
        let options = ExportOptions {
            per_step: true,
            ..form(kind)
        };
        let all = rows(&repair(), &options);
        assert_eq!(
            all.iter().map(|row| row.step_id).collect::<Vec<_>>(),
            [3, 4, 5, 6].map(Some)
        );
        let whole = rows(&repair(), &form(kind));
        for row in &all {
            let (last, before) = messages(row).split_last().unwrap();
            assert_eq!((&last["train"], row.learnt), (&json!(true), 1));
            assert!(before.iter().all(|message| message["train"] == false));
            assert_eq!(
                last["content"],
                messages(&whole[0])[before.len()]["content"]
            );
        }
    }
    let options = ExportOptions {
        per_step: true,
        ..form(ExportForm::Atif)
    };
    let all = rows(&repair(), &options);
    assert_eq!(all.len(), 4);
    let steps = all[1].columns["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert_eq!(
        (&steps[2]["extra"]["train"], &steps[3]["extra"]["train"]),
        (&json!(false), &json!(true))
    );
    assert!(
        steps[3].get("observation").is_none(),
        "what came back is not told beforehand"
    );
}

#[test]
fn failed_steps_and_those_after_them_can_be_left_out_of_the_loss() {
    let learnt = |no_loss: &[NoLoss], kind| {
        let options = ExportOptions {
            no_loss: no_loss.to_vec(),
            ..form(kind)
        };
        let row = rows(&repair(), &options).remove(0);
        assert_eq!(row.learnt + row.not_learnt, 4);
        let flags: Vec<bool> = if kind == ExportForm::Atif {
            let steps = row.columns["steps"].as_array().unwrap();
            steps
                .iter()
                .filter_map(|step| step["extra"]["train"].as_bool())
                .collect()
        } else {
            let agents = messages(&row)
                .iter()
                .filter(|one| one["role"] == "assistant");
            agents.map(|one| one["train"] == true).collect()
        };
        flags
    };
    for kind in [ExportForm::Chat, ExportForm::SweAgentXml, ExportForm::Atif] {
        assert_eq!(learnt(&[], kind), [true, true, true, true]);
        assert_eq!(learnt(&[NoLoss::Failed], kind), [false, true, true, true]);
        assert_eq!(
            learnt(&[NoLoss::AfterFailed], kind),
            [true, false, true, true]
        );
        assert_eq!(
            learnt(&[NoLoss::Failed, NoLoss::AfterFailed], kind),
            [false, false, true, true]
        );
    }
    // A last step that failed is cut off: nothing is learnt from it.
    let mut found = repair();
    found.steps.truncate(3);
    let options = ExportOptions {
        no_loss: vec![NoLoss::Failed],
        ..ExportOptions::default()
    };
    assert!(matches!(
        export_rows(&found, &options, None),
        Err(ExportError::NothingToLearn)
    ));
}

#[test]
fn how_a_call_ended_is_read_from_fields_and_texts() {
    let failed = |seen: &str, change: fn(&mut Step)| {
        let mut found = Trajectory::new("me");
        let mut step = Step::new(Source::Agent, "Look.");
        step.call("c", "bash", json!({"command": "ls"}));
        step.observe(Some("c"), atlas_trajectory::Content::Text(seen.to_owned()));
        change(&mut step);
        found.push(step);
        let options = ExportOptions {
            no_loss: vec![NoLoss::Failed],
            ..ExportOptions::default()
        };
        export_rows(&found, &options, None).is_err()
    };
    for (seen, expected) in [
        ("<returncode>2</returncode>\nno such file", true),
        ("<returncode>0</returncode>\nreturn code", false),
        ("Exit code 127", true),
        ("Process exited with code 0", false),
        ("exit code: -1", true),
        ("it says: exit code 1 is bad", false),
        ("", false),
    ] {
        assert_eq!(failed(seen, |_| {}), expected, "{seen}");
    }
    assert!(failed("ok", |step| drop(
        step.extra.insert("exit_code".to_owned(), json!(1))
    )));
    let claude = one(&CLAUDE.replace(
        r#""content":"cart.py""#,
        r#""content":"cart.py","is_error":true"#,
    ));
    let options = ExportOptions {
        no_loss: vec![NoLoss::Failed],
        ..ExportOptions::default()
    };
    let row = rows(&claude, &options).remove(0);
    assert_eq!((row.learnt, row.not_learnt), (1, 1));
    let mark = |step: &mut Step| {
        let result = &mut step.observation.as_mut().unwrap().results[0];
        result
            .other
            .insert("extra".to_owned(), json!({"is_error": true}));
    };
    assert!(failed("ok", mark));
}

#[test]
fn speakers_alternate_whatever_was_recorded() {
    let mut found = Trajectory::new("me");
    found.push(Step::new(Source::User, "Repair it."));
    found.push(Step::new(Source::System, "You have 10 steps."));
    found.push(Step::new(Source::Agent, "Let me think."));
    found.push(Step::new(Source::Agent, ""));
    found.push(Step::new(Source::Agent, "It is the tax."));
    let mut seen = Step::new(Source::Agent, "Look.");
    seen.observe(
        None,
        atlas_trajectory::Content::Text("Call a tool.".to_owned()),
    );
    found.push(seen);
    found.push(Step::new(Source::Agent, "Done."));
    let row = rows(&found, &form(ExportForm::Chat)).remove(0);
    let expected = [
        "-user: Repair it.\n\nYou have 10 steps.",
        "+assistant: Let me think.\n\nIt is the tax.\n\nLook.",
        "-user: Call a tool.",
        "+assistant: Done.",
    ];
    assert_eq!(brief(&row), expected);
    let options = ExportOptions {
        system: Some("Be quick.".to_owned()),
        ..form(ExportForm::Chat)
    };
    assert_eq!(
        brief(&rows(&repair(), &options)[0])[0],
        "-system: Be quick."
    );
    let atif = rows(
        &found,
        &ExportOptions {
            form: ExportForm::Atif,
            ..options
        },
    )
    .remove(0);
    let text = Value::Object(atif.columns).to_string();
    let read = Trajectories::new(text.as_bytes()).next().unwrap().unwrap();
    assert_eq!(
        (read.steps.len(), read.steps[0].message.text()),
        (found.steps.len() + 1, "Be quick.".to_owned())
    );
}

#[test]
fn recordings_of_all_agents_become_rows_of_all_forms() {
    let recordings = [
        swe_agent(),
        mini(1),
        mini(2),
        openhands(),
        CLAUDE.to_owned(),
        CODEX.to_owned(),
    ];
    for recording in recordings {
        let trajectory = one(&recording);
        for kind in [ExportForm::Chat, ExportForm::SweAgentXml, ExportForm::Atif] {
            for per_step in [false, true] {
                let options = ExportOptions {
                    per_step,
                    ..form(kind)
                };
                let all = rows(&trajectory, &options);
                assert_eq!(
                    all.len(),
                    if per_step { 2 } else { 1 },
                    "{}",
                    trajectory.agent.name
                );
                assert_eq!(all.iter().map(|row| row.learnt).sum::<usize>(), 2);
            }
        }
    }
    assert!(export_rows(&Trajectory::new("me"), &ExportOptions::default(), None).is_err());
}
