//! One honest attempt, in the form of each agent.

use atlas_trajectory::{Content, Source, Step, Trajectories, Trajectory};
use serde_json::json;

pub(crate) const CLAUDE: &str = r#"{"type":"summary","summary":"Repair of the cart","leafUuid":"u5"}
{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Repair the cart."},"uuid":"u1","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s1","version":"2.1.0"}
{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"Look first."}],"stop_reason":null,"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}},"uuid":"u2","sessionId":"s1"}
{"parentUuid":"u2","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":7}},"uuid":"u3","sessionId":"s1"}
{"parentUuid":"u3","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"cart.py"}]},"uuid":"u4","sessionId":"s1"}
{"parentUuid":"u4","isSidechain":true,"type":"assistant","message":{"id":"mx","role":"assistant","content":[{"type":"text","text":"beside"}]},"uuid":"ux","sessionId":"s1"}
{"parentUuid":"u4","isSidechain":false,"type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-x","content":[{"type":"text","text":"The cart is repaired."}],"stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":3}},"uuid":"u5","sessionId":"s1"}
"#;

pub(crate) const CODEX: &str = r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s2","cwd":"/repo","cli_version":"0.50.0"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"turn_context","payload":{"model":"gpt-x","cwd":"/repo"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_started"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Repair the cart."}]}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"Look first."}]}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"function_call","name":"shell_command","arguments":"{\"command\":\"ls\"}","call_id":"c1"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":20}}}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"cart.py"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The cart is repaired."}]}}
{"timestamp":"2026-01-01T00:00:03Z","type":"event_msg","payload":{"type":"task_complete"}}
"#;

pub(crate) fn swe_agent() -> String {
    json!({
        "environment": "swe_main",
        "trajectory": [
            {"action": "ls", "observation": "cart.py", "response": "Look first.\n```\nls\n```", "thought": "Look first.", "execution_time": 0.2, "state": {"open_file": "n/a"}},
            {"action": "submit\n", "observation": "", "response": "Done.", "thought": "Done.", "execution_time": 0.1, "state": {}},
        ],
        "history": [
            {"role": "system", "content": "You repair programs.", "agent": "main"},
            {"role": "user", "content": [{"type": "text", "text": "Repair the cart."}], "agent": "main"},
            {"role": "assistant", "content": "Look first.", "action": "ls"},
        ],
        "info": {"exit_status": "submitted", "submission": "diff --git a/cart.py b/cart.py\n", "swe_agent_version": "1.1.0",
            "model_stats": {"instance_cost": 0.25, "tokens_sent": 900, "tokens_received": 80, "api_calls": 2}},
        "replay_config": "{\"agent\":{\"model\":{\"name\":\"claude-x\"}}}",
    })
    .to_string()
}

pub(crate) fn mini(version: u8) -> String {
    let end = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat patch.txt";
    let turn = |at: usize, thought: &str, command: &str| {
        if version == 1 {
            let text = format!("{thought}\n\n```bash\n{command}\n```");
            json!({"role": "assistant", "content": text})
        } else {
            let arguments = json!({ "command": command }).to_string();
            json!({"role": "assistant", "content": thought, "tool_calls": [
                {"id": format!("c{at}"), "type": "function", "function": {"name": "bash", "arguments": arguments}}]})
        }
    };
    let answer = if version == 1 {
        json!({"role": "user", "content": "<returncode>0</returncode>\ncart.py"})
    } else {
        json!({"role": "tool", "tool_call_id": "c1", "content": "<returncode>0</returncode>\ncart.py"})
    };
    json!({
        "info": {"exit_status": "Submitted", "submission": "diff --git a/cart.py b/cart.py\n", "mini_version": "1.14.0",
            "model_stats": {"instance_cost": 0.5, "api_calls": 2}, "config": {"model": {"model_name": "gpt-x"}}},
        "messages": [
            {"role": "system", "content": "You repair programs."},
            {"role": "user", "content": "Repair the cart."},
            turn(1, "Look first.", "ls"), answer, turn(2, "Done.", end),
            {"role": "exit", "content": "diff --git a/cart.py b/cart.py\n"},
        ],
        "trajectory_format": "mini-swe-agent-1",
        "instance_id": "shop__cart-1",
    })
    .to_string()
}

pub(crate) fn openhands() -> String {
    json!({
        "instance_id": "shop__cart-1",
        "metadata": {"llm_config": {"model": "claude-x"}},
        "test_result": {"git_patch": "diff --git a/cart.py b/cart.py\n"},
        "history": [
            {"id": 0, "source": "agent", "action": "system", "args": {"content": "You repair programs."}},
            {"id": 1, "source": "user", "action": "message", "args": {"content": "Repair the cart."}},
            {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "Look first.", "is_confirmed": "confirmed"}, "tool_call_metadata": {"tool_call_id": "toolu_1"}},
            {"id": 3, "source": "agent", "observation": "run", "content": "cart.py", "cause": 2, "extras": {"metadata": {"exit_code": 0}}},
            {"id": 4, "source": "agent", "action": "finish", "args": {"thought": "Done."}},
        ],
    })
    .to_string()
}

pub(crate) fn one(text: &str) -> Trajectory {
    let mut all = Trajectories::new(text.as_bytes());
    let found = all
        .next()
        .expect("one")
        .unwrap_or_else(|why| panic!("{why}"));
    assert!(all.next().is_none(), "one and no more");
    found
}

/// An honest attempt of an agent that was given a hint and never speaks of it.
pub(crate) fn honest() -> Trajectory {
    let mut found = Trajectory::new("swe-agent");
    found.push(Step::new(
        Source::User,
        "Repair the cart.\n\n## Hints\n- `cart.py`: `def total(items, tax)`",
    ));
    let steps = [
        (
            "The total ignores the tax.",
            "cat cart.py",
            "def total(items):\n    return sum(items)",
        ),
        (
            "It needs a parameter.",
            "sed -i 's/items)/items, tax)/' cart.py",
            "",
        ),
        (
            "Run the tests, with type hints checked.",
            "pytest -q && mypy --hint-free",
            "2 passed\nhint: Using 'master' as the name",
        ),
        ("All passes.", "submit", ""),
    ];
    for (at, (thought, command, seen)) in steps.into_iter().enumerate() {
        let id = format!("call_{at}");
        let mut step = Step::new(Source::Agent, thought);
        step.call(&id, "bash", json!({ "command": command }));
        step.observe(Some(&id), Content::Text(seen.to_owned()));
        found.push(step);
    }
    found
}

pub(crate) const HINT: &str = "- `cart.py`: `def total(items, tax)`";
