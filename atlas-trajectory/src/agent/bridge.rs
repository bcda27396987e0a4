//! How a program of this machine reaches its room: JSON lines over a socket.
//!
//! | request | answer |
//! |---|---|
//! | `{"run": "ls", "seconds": 30}` | `{"output": "…", "exit_code": 0, "truncated": false, "over": false}` |
//! | `{"step": {…}}`, a step of ATIF | `{"ok": true}` |
//! | `{"usage": {"calls": 1, "prompt_tokens": 900, "completion_tokens": 80, "cost_usd": 0.01}}` | `{"ok": true}` |
//!
//! Where a budget is spent the answer is `{"stop": "steps"}`, `tokens`, `seconds` or `money`; to what cannot be
//! read, `{"error": "…"}`. `exit_code` is null where a limit ended the command.

use super::room::{Room, RoomAnswer};
use super::{AgentUsage, BudgetKind};
use crate::Step;
use atlas_core::{ExitState, RunContext};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream as Stream;
use std::path::Path;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// Most bytes of a request.
const MOST: u64 = 64 << 20;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
struct Request {
    run: Option<String>,
    seconds: Option<u64>,
    step: Option<Value>,
    usage: Option<AgentUsage>,
}

/// Answers one connection's requests until it is closed.
pub(super) async fn serve(cx: &RunContext, room: &Room<'_>, stream: UnixStream) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = tokio::io::BufReader::new(tokio::io::AsyncReadExt::take(reader, MOST));
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        reader.get_mut().set_limit(MOST);
        let answer = answer_request(cx, room, &line).await;
        let text = format!("{answer}\n");
        if writer.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Answers one request, a JSON object of the form above.
///
/// # Cancellation
/// As [`Room::run`].
pub async fn answer_request(cx: &RunContext, room: &Room<'_>, line: &[u8]) -> Value {
    let request: Request = match serde_json::from_slice(line) {
        Ok(Request {
            step: Some(step), ..
        }) if !step.is_object() => {
            return json!({ "error": "`step` is no object" });
        }
        Ok(request) => request,
        Err(why) => return json!({ "error": format!("the request cannot be read: {why}") }),
    };
    let spent = |kind: BudgetKind| json!({ "stop": kind });
    if let Some(mut step) = request.step {
        // Steps are numbered as they come.
        step["step_id"] = json!(0);
        match serde_json::from_value::<Step>(step) {
            Ok(step) => room.tell(step),
            Err(why) => return json!({ "error": format!("`step` is no step of ATIF: {why}") }),
        }
    }
    if let Some(usage) = request.usage
        && let Some(kind) = room.spend(usage)
    {
        return spent(kind);
    }
    let Some(command) = request.run else {
        return room.stopped().map_or_else(|| json!({ "ok": true }), spent);
    };
    match room.run(cx, &command, request.seconds).await {
        Ok(RoomAnswer::Stopped(kind)) => spent(kind),
        Ok(RoomAnswer::Ran(result)) => json!({
            "output": String::from_utf8_lossy(&result.output),
            "exit_code": match result.exit {
                ExitState::Exited { code } => Some(code),
                ExitState::TimedOut | ExitState::OutOfMemory => None,
            },
            "truncated": result.output_total > result.output.len() as u64,
            "over": result.is_over,
        }),
        Err(why) => json!({ "error": why.chain() }),
    }
}

/// The shell that agents are given, as a program: runs `-c COMMAND`, a script file or what stands on its standard input in the
/// room behind the socket, prints what comes back and returns the exit code; 124 where a limit ended the
/// command, 125 where a budget is spent or the room is gone.
///
/// # Errors
/// The arguments are no shell's, or nobody answers at the socket.
pub fn shell_client(socket: &Path, arguments: &[String]) -> std::io::Result<u8> {
    let command = command_of(arguments)?;
    let mut stream = Stream::connect(socket)?;
    let request = json!({ "run": command }).to_string();
    stream.write_all(format!("{request}\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let answer: Value = serde_json::from_str(&line).unwrap_or_default();
    let Some(output) = answer["output"].as_str() else {
        let why = answer["stop"]
            .as_str()
            .map(|kind| format!("the budget is spent: {kind}"));
        let why = why.or_else(|| answer["error"].as_str().map(str::to_owned));
        writeln!(
            std::io::stderr(),
            "atlas: {}",
            why.unwrap_or_else(|| "the sandbox is gone".to_owned())
        )?;
        return Ok(125);
    };
    let mut out = std::io::stdout();
    out.write_all(output.as_bytes())?;
    out.flush()?;
    Ok(match answer["exit_code"].as_i64() {
        Some(code) => u8::try_from(code).unwrap_or(255),
        None => 124,
    })
}

/// The command of a shell's arguments.
fn command_of(arguments: &[String]) -> std::io::Result<String> {
    let quoted = |rest: &[String]| -> String {
        let words = rest
            .iter()
            .map(|word| format!(" '{}'", word.replace('\'', r"'\''")));
        words.collect()
    };
    let mut rest = arguments;
    while let [first, more @ ..] = rest {
        match first.as_str() {
            "-c" | "-lc" | "-ic" | "-lic" | "-ec" | "-exc" => {
                let [command, more @ ..] = more else { break };
                // What follows the command are its name and its arguments.
                return Ok(match more {
                    [] => command.clone(),
                    more => format!(
                        "bash -c{}{}",
                        quoted(std::slice::from_ref(command)),
                        quoted(more)
                    ),
                });
            }
            "-l" | "-i" | "--login" | "--noprofile" | "--norc" | "-s" => rest = more,
            word if word.starts_with('-') => {
                let said = format!("`{word}`: -c COMMAND, a script or standard input is expected");
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, said));
            }
            script => {
                let text = std::fs::read_to_string(script)?;
                return Ok(format!(
                    "bash -s --{} <<'ATLAS_SCRIPT_END'\n{text}\nATLAS_SCRIPT_END",
                    quoted(more)
                ));
            }
        }
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::command_of;

    fn of(words: &[&str]) -> Option<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        command_of(&words).ok()
    }

    #[test]
    fn arguments_are_read_as_a_shell_reads_them() {
        assert_eq!(of(&["-c", "ls -a"]).as_deref(), Some("ls -a"));
        assert_eq!(of(&["-lc", "it's"]).as_deref(), Some("it's"));
        assert_eq!(of(&["--norc", "-c", "x"]).as_deref(), Some("x"));
        assert_eq!(
            of(&["-c", "echo $1", "name", "it's"]).as_deref(),
            Some(r"bash -c 'echo $1' 'name' 'it'\''s'")
        );
        assert_eq!(of(&["--unknown"]), None);
        assert_eq!(of(&["/nowhere/script.sh"]), None);
    }
}
