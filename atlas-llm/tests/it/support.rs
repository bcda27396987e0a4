//! Requests, configurations and servers that misbehave.

use atlas_core::{ChatMessage, CompletionRequest, Role};
use atlas_llm::{ModelConfig, Provider, RetryPolicy};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub(crate) fn request(text: &str) -> CompletionRequest {
    CompletionRequest {
        messages: vec![ChatMessage {
            role: Role::User,
            content: text.to_owned(),
        }],
        max_tokens: 10,
        temperature: 0.0,
        seed: Some(0),
        top_logprobs: None,
        json_schema: None,
    }
}

/// A model of an OpenAI-compatible server, which is asked again at once.
pub(crate) fn served(base: &str) -> ModelConfig {
    ModelConfig {
        base_url: Some(base.to_owned()),
        timeout: 20.0,
        retry: RetryPolicy {
            first_wait: 0.01,
            longest_wait: 0.02,
            seed: Some(1),
            ..RetryPolicy::default()
        },
        ..ModelConfig::new(Provider::Compatible, "m")
    }
}

/// A whole answer with the tokens it cost.
pub(crate) fn answer(text: &str, prompt: u64, completion: u64) -> Value {
    json!({
        "model": "served",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion},
    })
}

/// What a raw server does with its connections, one after the other; the last one is repeated.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Reads the request and resets the connection.
    Reset,
    /// Sends these bytes as they are and closes.
    Send(String),
    /// Sends these bytes and keeps the connection open.
    Stall(String),
}

/// The head of a response whose body ends with the connection.
pub(crate) fn head(kind: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")
}

/// A server below HTTP: its base URL, and how many requests it has read.
pub(crate) async fn raw(acts: Vec<Act>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut socket, _)) = listener.accept().await {
            let at = counted.fetch_add(1, Ordering::SeqCst);
            read_request(&mut socket).await;
            match &acts[at.min(acts.len() - 1)] {
                Act::Reset => socket.set_zero_linger().unwrap(),
                Act::Send(text) => socket.write_all(text.as_bytes()).await.unwrap(),
                Act::Stall(text) => {
                    socket.write_all(text.as_bytes()).await.unwrap();
                    held.push(socket);
                }
            }
        }
    });
    (base, count)
}

async fn read_request(socket: &mut TcpStream) {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = socket.read(&mut buffer).await.unwrap();
        seen.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&seen);
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_lowercase()
                        .strip_prefix("content-length: ")?
                        .parse()
                        .ok()
                })
                .unwrap_or(0_usize);
            body.len() >= length
        });
        if whole || read == 0 {
            return;
        }
    }
}
