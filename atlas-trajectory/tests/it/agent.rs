//! Agents in rooms whose shell is a plain one of this machine.

use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, ExitState, RunContext, Step, StepResult};
use atlas_trajectory::{
    Agent, AgentShell, AgentTask, AttemptBudget, Attempted, ProcessAgent, attempt,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Runs commands in a folder; `exit 9` ends it.
#[derive(Debug)]
struct Plain(std::path::PathBuf);

#[async_trait]
impl AgentShell for Plain {
    async fn run(&mut self, _: &RunContext, step: &Step) -> Result<StepResult, Error> {
        let done = Command::new("bash")
            .args(["-c", &step.command])
            .current_dir(&self.0)
            .output()
            .unwrap();
        let code = i64::from(done.status.code().unwrap());
        Ok(StepResult {
            exit: ExitState::Exited { code },
            output_total: done.stdout.len() as u64,
            output: done.stdout,
            seconds: 0.0,
            is_over: code == 9,
        })
    }
}

/// The shell client of tests: JSON lines by hand, for this crate has no command.
const CLIENT: &str = r#"import json, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.sendall((json.dumps({"run": sys.argv[3]}) + "\n").encode())
a = json.loads(s.makefile().readline())
if "stop" in a: print("stop", a["stop"]); sys.exit(125)
print(a["output"], end=""); sys.exit(a["exit_code"])
"#;

fn agent(command: &str) -> ProcessAgent {
    ProcessAgent {
        command: command.to_owned(),
        name: "scripted".to_owned(),
        version: "1".to_owned(),
        model: Some("none".to_owned()),
        env: BTreeMap::new(),
        client: ["python3", "-c", CLIENT].map(Into::into).to_vec(),
    }
}

async fn run(place: &Path, agent: &dyn Agent, budget: AttemptBudget) -> Result<Attempted, Error> {
    let work = place.join("work");
    let out = place.join("out");
    std::fs::create_dir_all(&work).unwrap();
    std::fs::create_dir_all(&out).unwrap();
    let task = AgentTask {
        instance_id: "o__n-1".to_owned(),
        attempt: 2,
        statement: "It's broken".to_owned(),
        folder: "/testbed".to_owned(),
        out,
    };
    attempt(
        &RunContext::new("agents"),
        agent,
        &task,
        &mut Plain(work),
        &budget,
    )
    .await
}

#[tokio::test]
async fn a_command_line_works_through_the_shell_that_it_is_given() {
    let place = tempfile::tempdir().unwrap();
    let script = "cat {statement} | grep -q broken && {shell} -c 'echo fixed > a.txt; echo done; exit 3'; \
                  test $? = 3 && PATH={shell_dir}:$PATH && bash -c 'cat a.txt' && \
                  echo {instance} $ATLAS_ATTEMPT {folder} {model}";
    let done = run(place.path(), &agent(script), AttemptBudget::default())
        .await
        .unwrap();
    assert_eq!(done.exit_status, "exited", "{done:?}");
    let seen: Vec<_> = done
        .commands
        .iter()
        .map(|done| (done.command.as_str(), done.exit_code, done.output.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("echo fixed > a.txt; echo done; exit 3", Some(3), "done\n"),
            ("cat a.txt", Some(0), "fixed\n"),
        ]
    );
    let log = std::fs::read_to_string(place.path().join("out/agent.log")).unwrap();
    assert!(log.ends_with("o__n-1 2 /testbed none\n"), "{log}");
    let made = &done.trajectory;
    assert_eq!(made.instance_id(), Some("o__n-1"));
    assert_eq!(made.steps.len(), 3);
    assert_eq!(made.steps[1].calls()[0].command(), Some(seen[0].0));
    // What is written is ATIF that can be read again.
    let text = made.to_atif();
    let read: Vec<_> = atlas_trajectory::Trajectories::new(text.as_bytes()).collect();
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].as_ref().unwrap(), made);
}

#[tokio::test]
async fn steps_and_costs_that_are_told_count() {
    let place = tempfile::tempdir().unwrap();
    let told = r#"python3 - <<'END'
import json, os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["ATLAS_SOCKET"]); f = s.makefile()
def ask(x):
    s.sendall((json.dumps(x) + "\n").encode()); return json.loads(f.readline())
assert ask({"step": {"source": "agent", "message": "I look"}}) == {"ok": True}
assert ask({"usage": {"calls": 1, "prompt_tokens": 90, "cost_usd": 0.5}}) == {"ok": True}
assert "error" in ask({"step": 3}) and "error" in ask({"dance": 1})
assert ask({"run": "true", "seconds": 5})["exit_code"] == 0
print(ask({"usage": {"completion_tokens": 20}}), ask({"run": "true"}))
END"#;
    let budget = AttemptBudget {
        tokens: Some(100),
        ..AttemptBudget::default()
    };
    let done = run(place.path(), &agent(told), budget).await.unwrap();
    let log = std::fs::read_to_string(place.path().join("out/agent.log")).unwrap();
    assert_eq!(log, "{'stop': 'tokens'} {'stop': 'tokens'}\n");
    assert_eq!(done.exit_status, "budget_tokens");
    assert_eq!((done.usage.tokens(), done.usage.calls), (110, 1));
    assert_eq!(done.trajectory.steps[1].message.text(), "I look");
    assert_eq!(done.commands.len(), 1);
}

#[tokio::test]
async fn budgets_end_attempts() {
    let steps = AttemptBudget {
        steps: 2,
        ..AttemptBudget::default()
    };
    let seconds = AttemptBudget {
        seconds: 1,
        ..AttemptBudget::default()
    };
    let three = "for i in 1 2 3; do {shell} -c \"echo $i\"; done; true";
    let endless =
        "echo $$ >pid; sleep 600 & while {shell} -c true; do sleep 0.05; done; echo ended";
    for (budget, script, status, commands) in [
        (steps, three, "budget_steps", Some(2)),
        (seconds, endless, "budget_seconds", None),
        (
            AttemptBudget::default(),
            "{shell} -c 'exit 9'; sleep 0.1",
            "session_over",
            Some(1),
        ),
    ] {
        let place = tempfile::tempdir().unwrap();
        let begun = std::time::Instant::now();
        let done = run(place.path(), &agent(script), budget).await.unwrap();
        assert_eq!(done.exit_status, status, "{done:?}");
        assert!(begun.elapsed().as_secs() < 30);
        if let Some(commands) = commands {
            assert_eq!(done.commands.len(), commands);
        }
    }
}

#[tokio::test]
async fn an_agents_own_recording_is_its_trajectory() {
    let place = tempfile::tempdir().unwrap();
    let own = r#"{shell} -c true; echo '{"schema_version":"ATIF-v1.7","agent":{"name":"own","version":"3"},
        "steps":[{"step_id":1,"source":"agent","message":"hello"}],"extra":{"exit_status":"Submitted"}}' >"$ATLAS_RECORDINGS/a.json"
        echo nonsense >{recordings}/b.json"#;
    let done = run(place.path(), &agent(own), AttemptBudget::default())
        .await
        .unwrap();
    assert_eq!(done.trajectory.agent.name, "own");
    assert_eq!(done.exit_status, "Submitted");
    assert_eq!(done.trajectory.instance_id(), Some("o__n-1"));
}

#[tokio::test]
async fn failures_are_told_apart() {
    let place = tempfile::tempdir().unwrap();
    let missing = run(
        place.path(),
        &agent("no-such-program-here"),
        AttemptBudget::default(),
    )
    .await;
    let missing = missing.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::ToolFailed);
    assert!(
        missing.chain().contains("no-such-program-here"),
        "{}",
        missing.chain()
    );
    let place = tempfile::tempdir().unwrap();
    let failing = agent("{shell} -c true; echo 'no key' >&2; exit 4");
    let failed = run(place.path(), &failing, AttemptBudget::default())
        .await
        .unwrap();
    assert_eq!(failed.exit_status, "exit_code_4");
    assert!(failed.notes[0].contains("no key"), "{failed:?}");
}
