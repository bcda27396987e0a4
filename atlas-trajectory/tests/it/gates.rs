//! Gates: honest attempts pass, forged ones do not, and it is said where.

use crate::samples::{CLAUDE, CODEX, HINT, honest, mini, one, openhands, swe_agent};
use atlas_core::{Decision, RunContext, Verdict};
use atlas_trajectory::{
    Attempt, Content, FinalSubmit, HintWords, RewrittenThoughts, Source, Step, Trajectory,
    TrajectoryGate, review_page,
};
use serde_json::json;

async fn verdict(gate: &dyn TrajectoryGate, attempt: &Attempt) -> Verdict {
    let found = gate
        .check(&RunContext::new("gates"), attempt)
        .await
        .expect("no model");
    assert_eq!(found.validator, gate.id());
    for finding in &found.findings {
        assert!(!finding.evidence.is_empty(), "{finding:?} has evidence");
    }
    found
}

fn attempt(trajectory: Trajectory) -> Attempt {
    Attempt {
        trajectory,
        hint: HINT.to_owned(),
        original: None,
    }
}

/// The honest attempt, changed.
fn forged(change: impl FnOnce(&mut Trajectory)) -> Trajectory {
    let mut found = honest();
    change(&mut found);
    found
}

async fn accepts(gate: &dyn TrajectoryGate, attempt: &Attempt) {
    let found = verdict(gate, attempt).await;
    assert_eq!(found.decision, Decision::Accept, "{:?}", found.findings);
}

async fn refuses(gate: &dyn TrajectoryGate, attempt: &Attempt, code: &str, place: &str) {
    let found = verdict(gate, attempt).await;
    assert_eq!(found.decision, Decision::Reject, "{code} at {place}");
    let place_is_named = found.findings.iter().any(|finding| {
        finding.code == code && finding.evidence.iter().any(|line| line.source == place)
    });
    assert!(place_is_named, "{code} at {place}: {:?}", found.findings);
}

fn command(found: &mut Trajectory, step: usize, command: &str) {
    let calls = found.steps[step].tool_calls.as_mut().expect("it acts");
    calls[0].arguments = json!({ "command": command });
}

#[tokio::test]
async fn honest_ends_are_submits() {
    let all = [
        swe_agent(),
        mini(1),
        mini(2),
        openhands(),
        CLAUDE.to_owned(),
        CODEX.to_owned(),
    ];
    for text in all {
        accepts(&FinalSubmit, &attempt(one(&text))).await;
    }
    accepts(&FinalSubmit, &attempt(honest())).await;
}

#[tokio::test]
async fn forged_ends_are_refused() {
    let last = "step 5 action";
    let no = "no_final_submit";
    for text in [
        "echo submit",
        "submit_later",
        "git submit",
        "# submit",
        "echo \"COMPLETE_TASK\"",
        "submit; sleep 1",
    ] {
        let found = forged(|found| command(found, 4, text));
        refuses(&FinalSubmit, &attempt(found), no, last).await;
    }
    let cut = forged(|found| found.steps.truncate(4));
    refuses(&FinalSubmit, &attempt(cut), no, "step 4 action").await;
    let after = forged(|found| {
        let mut step = Step::new(Source::Agent, "One thing more.");
        step.call("x", "bash", json!({"command": "ls"}));
        found.push(step);
    });
    refuses(&FinalSubmit, &attempt(after), no, "step 6 action").await;
    let twice = forged(|found| found.steps[4].call("x", "bash", json!({"command": "rm -r ."})));
    refuses(&FinalSubmit, &attempt(twice), no, last).await;
    let said = forged(|found| found.steps[4].tool_calls = None);
    refuses(&FinalSubmit, &attempt(said), no, "step 5 thought").await;
    let empty = forged(|found| found.steps.truncate(1));
    refuses(&FinalSubmit, &attempt(empty), "no_steps", "steps").await;
    let by_scaffold = swe_agent().replace("\"submitted\"", "\"submitted (exit_cost)\"");
    refuses(
        &FinalSubmit,
        &attempt(one(&by_scaffold)),
        "exit_status",
        "exit_status",
    )
    .await;
    let limit = mini(2).replace("\"Submitted\"", "\"LimitsExceeded\"");
    refuses(
        &FinalSubmit,
        &attempt(one(&limit)),
        "exit_status",
        "exit_status",
    )
    .await;
    let aborted = CODEX.replace("task_complete", "turn_aborted");
    refuses(&FinalSubmit, &attempt(one(&aborted)), no, "step 3 thought").await;
    let cut_off = CLAUDE.replace("end_turn", "max_tokens");
    refuses(&FinalSubmit, &attempt(one(&cut_off)), no, "step 3 thought").await;
}

#[tokio::test]
async fn words_of_the_hint_are_found() {
    let gate = HintWords::default();
    accepts(&gate, &attempt(honest())).await;
    // Names in a hint are the solution's, and types have hints of their own.
    let names = forged(|found| {
        command(
            found,
            2,
            "grep -rn 'def total(items, tax)' && get_type_hints(x); f(hint=1)",
        );
    });
    accepts(&gate, &attempt(names)).await;

    for text in [
        "echo 'as the hint says'",
        "python - <<'E'\n# the hints name this\nE",
        "git commit -m 'Hinted signature'",
        "cat HINTS",
        "echo '-   `cart.py`:  `def total(items, tax)`'",
    ] {
        let found = forged(|found| command(found, 2, text));
        refuses(&gate, &attempt(found), "hint_in_action", "step 3 action").await;
    }
    let edit = forged(|found| {
        found.steps[2].tool_calls.as_mut().expect("calls")[0].arguments =
            json!({"path": "cart.py", "edits": [{"new": "# see hint\n"}]});
    });
    refuses(&gate, &attempt(edit), "hint_in_action", "step 3 action").await;
    for text in [
        "read the hint",
        "## Hints",
        "ok\nHINT",
        "- `cart.py`: `def total(items, tax)`",
        "hint: - `cart.py`: `def total(items, tax)`",
    ] {
        let found = forged(|found| {
            let seen = found.steps[1].observation.as_mut().expect("seen");
            seen.results[0].content = Some(Content::Text(text.to_owned()));
        });
        refuses(
            &gate,
            &attempt(found),
            "hint_in_observation",
            "step 2 observation",
        )
        .await;
    }
    let own = HintWords {
        words: vec!["SCAFFOLD".to_owned()],
    };
    let found = forged(|found| command(found, 1, "cat scaffold.md"));
    refuses(&own, &attempt(found), "hint_in_action", "step 2 action").await;

    let thought =
        forged(|found| found.steps[1].message = Content::Text("The hint tells.".to_owned()));
    let found = verdict(&gate, &attempt(thought)).await;
    assert_eq!(found.decision, Decision::Repair);
    assert_eq!(found.findings[0].code, "hint_in_thought");
}

#[tokio::test]
async fn rewriting_changes_thoughts_and_nothing_else() {
    let gate = RewrittenThoughts::default();
    let original = forged(|found| {
        found.steps[2].message = Content::Text("The hint names a parameter.".to_owned());
        found.steps[3].reasoning_content = Some("As hinted, it passes.".to_owned());
    });
    let rewritten = |change: fn(&mut Trajectory)| {
        let mut found = original.clone();
        found.steps[2].message = Content::Text("A parameter is missing.".to_owned());
        found.steps[3].reasoning_content = Some("It should pass.".to_owned());
        change(&mut found);
        Attempt {
            original: Some(original.clone()),
            ..attempt(found)
        }
    };
    accepts(&gate, &rewritten(|_| ())).await;
    accepts(&gate, &attempt(honest())).await;

    let more = "more_than_thoughts";
    let action = rewritten(|found| command(found, 2, "sed -i 's/items)/items, tax) /' cart.py"));
    refuses(&gate, &action, more, "step 3 action").await;
    let seen = rewritten(|found| found.steps[3].observation = None);
    refuses(&gate, &seen, more, "step 4 action").await;
    let fewer = rewritten(|found| found.steps.truncate(4));
    refuses(&gate, &fewer, more, "steps").await;
    let told = rewritten(|found| found.steps[0].message = Content::default());
    refuses(&gate, &told, more, "step 1 action").await;
    let number = rewritten(|found| {
        found.steps[1].tool_calls.as_mut().expect("calls")[0].tool_call_id = "x".to_owned();
    });
    refuses(&gate, &number, more, "step 2 action").await;
    let left = rewritten(|found| {
        found.steps[2].message = Content::Text("Following the hints.".to_owned());
    });
    refuses(&gate, &left, "hint_in_thought", "step 3 thought").await;
    let reasoning =
        rewritten(|found| found.steps[3].reasoning_content = Some("The hint.".to_owned()));
    refuses(&gate, &reasoning, "hint_in_thought", "step 4 thought").await;
    let lost = rewritten(|found| found.steps[2].message = Content::default());
    refuses(&gate, &lost, "thought_lost", "step 3 thought").await;
    let needless = rewritten(|found| found.steps[1].message = Content::Text("Nicer.".to_owned()));
    refuses(&gate, &needless, "needless", "step 2 thought").await;
}

#[tokio::test]
async fn a_page_for_people_holds_every_step_and_cannot_be_broken_out_of() {
    let found =
        forged(|found| found.steps[1].message = Content::Text("a\n```\n# Review\n````".to_owned()));
    let said = verdict(&FinalSubmit, &attempt(found.clone())).await;
    let page = review_page(&found, &[said]);
    assert!(page.contains("- final_submit: Accept"));
    for step in &found.steps {
        assert!(
            page.contains(&format!("## Step {} ", step.step_id)),
            "{page}"
        );
    }
    assert!(
        page.contains("`````text\na\n```\n# Review\n````\n`````\n"),
        "{page}"
    );
}
