//! Readers: what each agent writes, and what is said of what nobody writes.

use crate::samples::{CLAUDE, CODEX, honest, mini, one, openhands, swe_agent};
use atlas_trajectory::{Source, Trajectories, Trajectory};
use serde_json::{Value, json};

/// Thought, actions and observations of the agent's steps.
fn steps(found: &Trajectory) -> Vec<(String, Vec<String>, Vec<String>)> {
    let texts = |step: &atlas_trajectory::Step| {
        let thought = step.reasoning_content.clone().unwrap_or_default();
        let actions = step
            .calls()
            .iter()
            .map(atlas_trajectory::ToolCall::text)
            .collect();
        (
            thought + &step.message.text(),
            actions,
            step.observed().collect(),
        )
    };
    found.agent_steps().map(texts).collect()
}

/// The same attempt, whoever wrote it down.
fn check(text: &str, agent: &str, model: &str, seen: &str, last: (&str, &[&str])) {
    let found = one(text);
    assert_eq!(found.agent.name, agent);
    assert_eq!(found.agent.model_name.as_deref(), Some(model), "{agent}");
    let told: Vec<_> = found
        .steps
        .iter()
        .filter(|step| step.source == Source::User)
        .collect();
    assert_eq!(told.len(), 1, "{agent}");
    assert_eq!(told[0].message.text(), "Repair the cart.", "{agent}");
    let first = (
        "Look first.".to_owned(),
        vec!["ls".to_owned()],
        vec![seen.to_owned()],
    );
    let actions = last.1.iter().map(|action| (*action).to_owned()).collect();
    assert_eq!(
        steps(&found),
        [first, (last.0.to_owned(), actions, vec![])],
        "{agent}"
    );
    let call = &found
        .agent_steps()
        .next()
        .expect("the first")
        .observation
        .as_ref()
        .expect("seen")
        .results[0];
    assert!(
        call.source_call_id.is_some(),
        "{agent}: the result is that of the call"
    );

    // What is written as ATIF is read again as it was, as a document and as a line.
    assert_eq!(one(&found.to_atif()), found);
    assert_eq!(one(&serde_json::to_string(&found).expect("maps")), found);
}

#[test]
fn each_agent_is_known_by_its_content() {
    let end = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat patch.txt";
    let answered = "<returncode>0</returncode>\ncart.py";
    check(
        &swe_agent(),
        "swe-agent",
        "claude-x",
        "cart.py",
        ("Done.", &["submit"]),
    );
    check(
        &mini(1),
        "mini-swe-agent",
        "gpt-x",
        answered,
        ("Done.", &[end]),
    );
    check(
        &mini(2),
        "mini-swe-agent",
        "gpt-x",
        answered,
        ("Done.", &[end]),
    );
    check(
        &openhands(),
        "openhands",
        "claude-x",
        "cart.py",
        ("Done.", &["finish {}"]),
    );
    check(
        CLAUDE,
        "claude-code",
        "claude-x",
        "cart.py",
        ("The cart is repaired.", &[]),
    );
    check(
        CODEX,
        "codex",
        "gpt-x",
        "cart.py",
        ("The cart is repaired.", &[]),
    );
}

#[test]
fn tokens_cost_and_ends_are_kept() {
    let sums = |text: &str| one(text).final_metrics.expect("sums");
    let agent = sums(&swe_agent());
    assert_eq!(
        (agent.total_prompt_tokens, agent.total_completion_tokens),
        (Some(900), Some(80))
    );
    assert_eq!(agent.total_cost_usd, Some(0.25));
    let claude = sums(CLAUDE);
    assert_eq!(
        (claude.total_prompt_tokens, claude.total_completion_tokens),
        (Some(35), Some(10))
    );
    assert_eq!(claude.total_cached_tokens, Some(5));
    let codex = sums(CODEX);
    assert_eq!(
        (codex.total_prompt_tokens, codex.total_cached_tokens),
        (Some(100), Some(40))
    );
    assert_eq!(one(&mini(1)).extra["exit_status"], "Submitted");
    assert_eq!(one(&openhands()).instance_id(), Some("shop__cart-1"));
    assert_eq!(
        one(&openhands()).agent_steps().next().expect("one").extra["exit_code"],
        0
    );
}

#[test]
fn a_document_over_lines_and_many_a_line_are_read() {
    let value: Value = serde_json::from_str(&swe_agent()).expect("JSON");
    assert_eq!(
        one(&serde_json::to_string_pretty(&value).expect("JSON")),
        one(&swe_agent())
    );
    let rows = format!("{}\n{{\"no\": 1}}\n\n{}\n", openhands(), openhands());
    let found: Vec<_> = Trajectories::new(rows.as_bytes()).collect();
    assert_eq!(found.len(), 3);
    assert!(found[0].is_ok() && found[2].is_ok());
    let why = found[1].as_ref().expect_err("no recording").to_string();
    assert!(
        why.starts_with("line 2: an object with `no` is no recording"),
        "{why}"
    );
}

#[test]
fn messages_without_anything_beside_them_are_mini_swe_agents() {
    let whole: Value = serde_json::from_str(&mini(1)).expect("JSON");
    let found = one(&serde_json::to_string_pretty(&whole["messages"]).expect("JSON"));
    assert_eq!(found.agent.name, "mini-swe-agent");
    assert_eq!(found.steps, one(&mini(1)).steps);
}

#[test]
fn unknown_fields_are_kept() {
    let mut value = serde_json::to_value(honest()).expect("maps");
    value["future"] = json!({"a": [1]});
    value["steps"][1]["future"] = json!(true);
    value["steps"][1]["tool_calls"][0]["future"] = json!("x");
    value["agent"]["future"] = json!(2);
    let again = serde_json::to_value(one(&value.to_string())).expect("maps");
    assert_eq!(again, value);
}

/// What is said of a broken recording.
fn refused(text: &str, said: &str) {
    let why = Trajectories::new(text.as_bytes()).find_map(Result::err);
    let why = why.unwrap_or_else(|| panic!("read: {text}")).to_string();
    assert!(why.contains(said), "{why}");
}

#[test]
fn faults_name_line_and_field() {
    refused("", "the recording is empty");
    refused("{\n\"trajectory\": [\n}", "line 3: no JSON");
    refused(
        "[1, 2]",
        "a list that begins with neither an event nor a message",
    );
    refused(&format!("{CLAUDE}{{\"type\":"), "line 8: no JSON");
    let orphan = CLAUDE.replace("\"tool_use_id\":\"t1\"", "\"tool_use_id\":\"t9\"");
    refused(&orphan, "line 5: `message.content`: a result of `t9`");
    let orphan = CODEX.replace("output\",\"call_id\":\"c1\"", "output\",\"call_id\":\"c9\"");
    refused(&orphan, "line 8: `payload.call_id`: an output of `c9`");
    refused(
        r#"{"trajectory": [1]}"#,
        "`trajectory[0]`: an object is wanted",
    );
    refused(
        r#"{"info": {}, "messages": [{"role": "dog"}]}"#,
        "`messages[0].role`: `dog` is none of",
    );

    let broken = |change: fn(&mut Value)| {
        let mut value = serde_json::to_value(honest()).expect("maps");
        change(&mut value);
        value.to_string()
    };
    refused(
        &broken(|value| value["steps"][2]["step_id"] = json!(7)),
        "`steps[2].step_id`: is 7",
    );
    refused(
        &broken(|value| value["steps"][0]["source"] = json!("dog")),
        "`steps[0].source`: unknown variant `dog`",
    );
    refused(
        &broken(|value| value["steps"][1]["source"] = json!("user")),
        "`steps[1].source`: only steps of `agent`",
    );
    refused(
        &broken(|value| {
            value["steps"][1]["observation"]["results"][0]["source_call_id"] = json!("x");
        }),
        "`steps[1].observation`: `source_call_id` names `x`",
    );
}

#[test]
fn recordings_that_are_cut_off_anywhere_do_not_panic() {
    for text in [
        CLAUDE,
        CODEX,
        &swe_agent(),
        &mini(1),
        &mini(2),
        &openhands(),
        &honest().to_atif(),
    ] {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            Trajectories::new(&text.as_bytes()[..end]).for_each(drop);
        }
    }
}
