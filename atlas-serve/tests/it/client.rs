//! A server in a runtime of its own, which can be killed, and requests to it.

use crate::host::{Memory, State};
use atlas_core::{Cancellation, RunContext};
use atlas_serve::{ServeOptions, Server};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// A running server. Dropping it kills it in the midst of whatever it does.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) state: Arc<State>,
    cancel: Cancellation,
    runtime: Option<Runtime>,
    ended: Option<JoinHandle<()>>,
}

/// Options for tests: no session waits ready.
pub(crate) fn options(folder: &Path) -> ServeOptions {
    ServeOptions {
        ready: 0,
        ..ServeOptions::new(folder)
    }
}

pub(crate) async fn start(state: &Arc<State>, options: ServeOptions) -> Running {
    let runtime = Runtime::new().expect("a runtime");
    let host = Memory::new(state);
    let cx = RunContext::new("test");
    let cancel = cx.cancel.clone();
    let opening = runtime.spawn(async move {
        let server = Server::open(&cx, host, options).await.expect("a server");
        let address = server.address();
        let serving = tokio::spawn(async move { server.run(&cx).await.expect("served") });
        (address, serving)
    });
    let (address, ended) = opening.await.expect("opened");
    Running {
        address,
        state: Arc::clone(state),
        cancel,
        runtime: Some(runtime),
        ended: Some(ended),
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // All its tasks are dropped where they wait.
            std::thread::spawn(move || {
                runtime.shutdown_timeout(std::time::Duration::from_secs(10));
            })
            .join()
            .expect("a thread");
        }
    }
}

/// An answer: status, `Retry-After`, JSON.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: Value,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        self.body
    }

    #[track_caller]
    pub(crate) fn refused(self, status: u16, kind: &str) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.body["error"]["kind"], kind, "{}", self.text);
        self.body["error"]["message"]
            .as_str()
            .expect("a message")
            .to_owned()
    }
}

/// An episode as a client holds it.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) token: String,
}

impl Held {
    pub(crate) fn of(answer: &Value) -> Self {
        Self {
            id: answer["episode"].as_str().expect("a name").to_owned(),
            token: answer["token"].as_str().expect("a token").to_owned(),
        }
    }
}

impl Running {
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<Value>,
    ) -> Answer {
        self.ask_as(method, path, token, body, "localhost").await
    }

    pub(crate) async fn ask_as(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<Value>,
        host: &str,
    ) -> Answer {
        let stream = tokio::net::TcpStream::connect(self.address)
            .await
            .expect("it listens");
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .expect("HTTP");
        tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", host);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = request
            .body(Full::new(Bytes::from(body)))
            .expect("a request");
        let response = sender.send_request(request).await.expect("an answer");
        let status = response.status();
        let header = response.headers().get("retry-after");
        let retry_after = header.map(|it| it.to_str().expect("text").to_owned());
        let bytes = response
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        Answer {
            status,
            retry_after,
            body: serde_json::from_str(&text).unwrap_or_default(),
            text,
        }
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask(Method::POST, path, "", Some(body)).await
    }

    pub(crate) async fn reset(&self, instance: &str) -> Held {
        let answer = self
            .post("/episodes", serde_json::json!({"instance_id": instance}))
            .await;
        Held::of(&answer.ok())
    }

    pub(crate) async fn on(&self, held: &Held, what: &str, body: Value) -> Answer {
        let path = format!("/episodes/{}/{what}", held.id);
        self.ask(Method::POST, &path, &held.token, Some(body)).await
    }

    pub(crate) async fn step(&self, held: &Held, command: &str) -> Answer {
        self.on(held, "step", serde_json::json!({"command": command}))
            .await
    }

    pub(crate) async fn submit(&self, held: &Held) -> Answer {
        let path = format!("/episodes/{}/submit", held.id);
        self.ask(Method::POST, &path, &held.token, None).await
    }

    pub(crate) async fn state_of(&self, held: &Held) -> Answer {
        let path = format!("/episodes/{}", held.id);
        self.ask(Method::GET, &path, &held.token, None).await
    }

    pub(crate) async fn end(&self, held: &Held) -> Answer {
        let path = format!("/episodes/{}", held.id);
        self.ask(Method::DELETE, &path, &held.token, None).await
    }

    /// Asks something and hangs up after a while, without reading.
    pub(crate) async fn vanish(&self, path: &str, token: &str, body: Value) {
        let asked = self.ask(Method::POST, path, token, Some(body));
        let late = tokio::time::timeout(std::time::Duration::from_millis(100), asked).await;
        assert!(
            late.is_err(),
            "it was answered before the client went: {late:?}"
        );
    }

    /// Tells it to stop, as SIGTERM does.
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) {
        let ended = self.ended.take().expect("asked once");
        ended.await.expect("no panic");
    }
}
