//! Judging whole files with the `atlas` command, as a user runs it: wall time beside what the server's time allows,
//! processor time for each call, and memory over many items.
//!
//! ```text
//! cargo build --release --bin atlas
//! cargo bench -p atlas-benches --bench judges
//! ```
//!
//! The server stands in this process and answers each question after the same time. The ideal is what the calls take, so
//! many at once as are allowed; starting the command, reading its files and writing its results count against it.
//! Processor time is the command's alone, the mean over calls of a server that does not wait; memory is the command's highest.

use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const LATENCY: Duration = Duration::from_millis(200);
const AT_ONCE: u32 = 16;
const PATCHES: u32 = 200;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let place = Bench {
        atlas: atlas()?,
        folder: folder.path(),
    };
    let mut out = std::io::stdout().lock();

    let (address, runtime) = server(LATENCY)?;
    place.lay_out(PATCHES)?;
    let run = place.critic(&address, PATCHES, "slow")?;
    drop(runtime);
    let rounds = PATCHES.div_ceil(AT_ONCE);
    let ideal = LATENCY * rounds;
    writeln!(
        out,
        "{PATCHES} patches, {AT_ONCE} at once, {} ms a call: {:.2} s, ideal {:.2} s: ratio {:.2}",
        LATENCY.as_millis(),
        run.wall.as_secs_f64(),
        ideal.as_secs_f64(),
        ideal.as_secs_f64() / run.wall.as_secs_f64()
    )?;

    let (address, runtime) = server(Duration::ZERO)?;
    let (few, many) = (100, 2_100);
    place.lay_out(many)?;
    let of_few = place.critic(&address, few, "few")?;
    let of_many = place.critic(&address, many, "many")?;
    drop(runtime);
    let spent = of_many.processor.saturating_sub(of_few.processor);
    writeln!(
        out,
        "processor time of the command: {:.2} ms a call, the mean of {} calls",
        spent.as_secs_f64() * 1000.0 / f64::from(many - few),
        many - few
    )?;

    for items in [1_000, 10_000, 50_000] {
        place.lay_out(items)?;
        let args = ["abstain", "--dataset", "rows.jsonl", "--model", "noise:1"];
        let run =
            place.run(&[&args[..], &["-j", "8", "--out", &format!("{items}.jsonl")]].concat())?;
        writeln!(
            out,
            "memory over {items} tasks: {} MB at most",
            run.memory / 1024
        )?;
    }
    Ok(())
}

/// The command, built as this is.
fn atlas() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent);
    let atlas = folder.ok_or("no folder of builds")?.join("atlas");
    if !atlas.is_file() {
        let why = format!(
            "`{}` is missing: cargo build --release --bin atlas",
            atlas.display()
        );
        return Err(why.into());
    }
    Ok(atlas)
}

struct Bench<'a> {
    atlas: PathBuf,
    folder: &'a Path,
}

/// What one command took.
struct Run {
    wall: Duration,
    processor: Duration,
    /// Kilobytes.
    memory: u64,
}

impl Bench<'_> {
    /// So many tasks, each with a patch.
    fn lay_out(&self, tasks: u32) -> Result<()> {
        let patch = |name: &str, line: &str| {
            format!(
                "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-old\n+{line}\n"
            )
        };
        let statement =
            "The value that comes back is one too small where the list is empty. ".repeat(15);
        let (mut rows, mut patches) = (String::new(), String::new());
        for at in 0..tasks {
            let id = format!("example__project-{at}");
            let row = json!({
                "instance_id": id, "repo": "example/project", "base_commit": format!("{at:040x}"),
                "patch": patch("m.py", "new"), "test_patch": patch("test_m.py", "assert new"),
                "problem_statement": format!("{at}: {statement}"), "hints_text": "",
                "created_at": "2026-01-01T00:00:00Z", "version": "1",
                "FAIL_TO_PASS": ["test_m.py::test_new"], "PASS_TO_PASS": ["test_m.py::test_old"],
            });
            writeln!(rows, "{row}")?;
            let prediction = json!({
                "instance_id": id, "model_name_or_path": "m", "model_patch": patch("m.py", "other"),
            });
            writeln!(patches, "{prediction}")?;
        }
        fs::write(self.folder.join("rows.jsonl"), rows)?;
        fs::write(self.folder.join("patches.jsonl"), patches)?;
        Ok(())
    }

    fn critic(&self, address: &str, patches: u32, out: &str) -> Result<Run> {
        // Of fewer, the first ones.
        let all = fs::read_to_string(self.folder.join("patches.jsonl"))?;
        let some: String = all.split_inclusive('\n').take(patches as usize).collect();
        fs::write(self.folder.join("some.jsonl"), some)?;
        let (jobs, out) = (AT_ONCE.to_string(), format!("{out}.jsonl"));
        let args = [
            "critic",
            "--dataset",
            "rows.jsonl",
            "--predictions",
            "some.jsonl",
            "--mode",
            "problem",
        ];
        self.run(&[&args[..], &["--model", address, "-j", &jobs, "--out", &out]].concat())
    }

    fn run(&self, args: &[&str]) -> Result<Run> {
        let before = children()?;
        let started = Instant::now();
        let mut child = Command::new(&self.atlas)
            .args(args)
            .current_dir(self.folder)
            .stdout(Stdio::null())
            .spawn()?;
        let mut memory = 0;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            memory = peak(&child).unwrap_or(memory);
            std::thread::sleep(Duration::from_millis(5));
        };
        let wall = started.elapsed();
        if !status.success() {
            return Err(format!("{}: {status}", args.join(" ")).into());
        }
        Ok(Run {
            wall,
            processor: children()?.saturating_sub(before),
            memory,
        })
    }
}

/// Processor time of the commands that ended.
fn children() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let behind = stat.rsplit_once(')').ok_or("no name in /proc/self/stat")?.1;
    let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
    // Hundredths of a second: fields 16 and 17 of the whole line.
    let ticks: u64 = fields[13].parse::<u64>()? + fields[14].parse::<u64>()?;
    Ok(Duration::from_millis(10 * ticks))
}

/// The most memory that a command has held until now, in kilobytes.
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// A server that says of every patch that it passes, after this time.
fn server(latency: Duration) -> Result<(String, tokio::runtime::Runtime)> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = format!("http://{}/v1#m", listener.local_addr()?);
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, latency));
        }
    });
    Ok((address, runtime))
}

async fn serve(mut stream: TcpStream, latency: Duration) {
    let said = json!({"reasoning": "so", "verdict": "pass", "confidence": 80}).to_string();
    let body = json!({
        "id": "1", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 20, "total_tokens": 520},
    })
    .to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut buffer = Vec::new();
    loop {
        let Some(end) = request_end(&buffer) else {
            match stream.read_buf(&mut buffer).await {
                Ok(read) if read > 0 => continue,
                _ => return,
            }
        };
        buffer.drain(..end);
        tokio::time::sleep(latency).await;
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Where the first request ends, if it is whole.
fn request_end(buffer: &[u8]) -> Option<usize> {
    let head = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(Some(0), |length| length.trim().parse().ok())?;
    (buffer.len() >= head + length).then_some(head + length)
}
