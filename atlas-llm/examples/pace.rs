//! What the shared pace costs who is not limited: `cargo run --release -p atlas-llm --example pace`.
//!
//! 200 calls, 16 at once, against a server that answers in 200 ms: 13 rounds, so at best 2.6 s.
#![expect(clippy::print_stdout, reason = "it is run to be read")]

use atlas_core::{ChatMessage, CompletionRequest, LanguageModel, Role, RunContext};
use atlas_llm::{ModelConfig, Provider, open_model};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const CALLS: usize = 200;
const AT_ONCE: usize = 16;
const ANSWER: Duration = Duration::from_millis(200);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}/v1", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(serve(socket));
        }
    });
    let ideal = ANSWER * u32::try_from(CALLS.div_ceil(AT_ONCE))?;
    for (name, requests_per_minute) in [("no limit", None), ("a limit out of reach", Some(100_000))]
    {
        let config = ModelConfig {
            base_url: Some(base.clone()),
            requests_per_minute,
            ..ModelConfig::new(Provider::Compatible, name)
        };
        let model = open_model(&config)?;
        let next = Arc::new(AtomicUsize::new(0));
        let started = Instant::now();
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..AT_ONCE {
            let (model, next) = (Arc::clone(&model), Arc::clone(&next));
            callers.spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < CALLS {
                    ask(model.as_ref()).await?;
                }
                Ok::<(), atlas_core::Error>(())
            });
        }
        while let Some(done) = callers.join_next().await {
            done??;
        }
        let took = started.elapsed().as_secs_f64();
        let more = (took / ideal.as_secs_f64() - 1.0) * 100.0;
        println!("{name}: {CALLS} calls in {took:.2} s, {more:.1} % above {ideal:?}");
    }
    Ok(())
}

async fn ask(model: &dyn LanguageModel) -> Result<(), atlas_core::Error> {
    let request = CompletionRequest {
        messages: vec![ChatMessage {
            role: Role::User,
            content: "Is it fixed?".to_owned(),
        }],
        max_tokens: 10,
        temperature: 0.0,
        seed: None,
        top_logprobs: None,
        json_schema: None,
    };
    model.complete(&RunContext::new("pace"), &request).await?;
    Ok(())
}

/// Answers what comes in one piece each, as these requests do, on one connection.
async fn serve(mut socket: TcpStream) -> std::io::Result<()> {
    let body = r#"{"choices":[{"finish_reason":"stop","message":{"content":"yes"}}]}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut seen = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let read = socket.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        seen.extend_from_slice(&buffer[..read]);
        if seen.ends_with(b"}") {
            seen.clear();
            tokio::time::sleep(ANSWER).await;
            socket.write_all(answer.as_bytes()).await?;
        }
    }
}
