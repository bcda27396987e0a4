//! `atlas view`: the page of a folder, served to this machine while a run goes on.

use super::{PageKind, page};
use crate::store::sha256;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_report::Live;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HOST, IF_NONE_MATCH};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// What is served.
#[derive(Clone, Debug)]
pub struct ViewOptions {
    /// The folder of a run, an instance or an evaluation, or a file that a page can be made of.
    pub input: PathBuf,
    /// What it is; without it, the input tells.
    pub kind: Option<PageKind>,
    /// The port on the loopback address; 0 for any that is free. Default: 0.
    pub port: u16,
}

/// A page is made anew at most so often, and at most for a tenth of the time.
const FRESH: Duration = Duration::from_secs(2);
/// So many connections are held at once.
const CONNECTIONS: usize = 64;
/// A head of a request that takes longer is not waited for.
const HEAD: Duration = Duration::from_secs(10);
/// So many pages are kept.
const PAGES: usize = 64;

/// Serves the page of a folder on the loopback address until it is cancelled: made anew from the folder while a browser asks for it.
/// A run's candidates have pages of their own, `/instance/<name>`. `ready` is told the address.
///
/// Nobody but this machine is answered: the address is `127.0.0.1`, and a request must name it or `localhost` as its host, so that no page of
/// a stranger reads along through a name of its own that it has resolved to this machine. No file is served, and no path leaves the folder: only
/// pages are, made of what stands in it.
///
/// # Errors
/// An input that no page can be made of; a port that is taken.
///
/// # Cancellation
/// Ends the server and the answers under way, and returns.
pub async fn view(
    cx: &RunContext,
    options: &ViewOptions,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), Error> {
    let kind = match options.kind {
        Some(kind) => kind,
        None => PageKind::of(&options.input)?,
    };
    let asked = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let fail = |why| {
        let what = format!("`{asked}`: --port chooses another");
        Error::new(ErrorKind::Io, "listen on", what).with_source(why)
    };
    let listener = TcpListener::bind(asked).await.map_err(fail)?;
    let address = listener.local_addr().map_err(fail)?;
    let viewed = Arc::new(Viewed {
        input: options.input.clone(),
        kind,
        port: address.port(),
        pages: Mutex::default(),
    });
    ready(address);
    let mut answering = JoinSet::new();
    loop {
        let stream = tokio::select! {
            () = cx.cancel.cancelled() => break,
            Some(_) = answering.join_next() => continue,
            accepted = listener.accept(), if answering.len() < CONNECTIONS => {
                // A connection that went away again, or too many open files: the next one may do.
                let Ok((stream, _)) = accepted else {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                stream
            }
        };
        let viewed = Arc::clone(&viewed);
        answering.spawn(async move {
            let service = service_fn(move |request| {
                let viewed = Arc::clone(&viewed);
                async move { Ok::<_, Infallible>(viewed.answer(&request).await) }
            });
            let mut server = hyper::server::conn::http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // Who hangs up in the middle of an answer harms nobody else.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
    answering.shutdown().await;
    Ok(())
}

struct Viewed {
    input: PathBuf,
    kind: PageKind,
    port: u16,
    pages: Mutex<HashMap<String, CachedPage>>,
}

/// A page that was made, or why it could not be.
#[derive(Clone)]
struct CachedPage {
    status: StatusCode,
    body: Bytes,
    tag: String,
    ended: Instant,
    took: Duration,
}

impl Viewed {
    async fn answer(self: &Arc<Self>, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let host = request
            .headers()
            .get(HOST)
            .and_then(|host| host.to_str().ok());
        if !self.is_own(host.unwrap_or_default()) {
            return plain(
                StatusCode::FORBIDDEN,
                "only this machine is answered, by its own name",
            );
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "pages can only be read");
        }
        let path = request.uri().path().to_owned();
        let viewed = Arc::clone(self);
        let made = tokio::task::spawn_blocking(move || viewed.made(&path)).await;
        let Ok(made) = made else {
            return plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the page could not be made",
            );
        };
        let known = request
            .headers()
            .get(IF_NONE_MATCH)
            .and_then(|tag| tag.to_str().ok());
        let is_known = made.status == StatusCode::OK && known == Some(made.tag.as_str());
        let status = if is_known {
            StatusCode::NOT_MODIFIED
        } else {
            made.status
        };
        let mut answer = plain(status, "");
        if !is_known {
            *answer.body_mut() = Full::new(made.body);
        }
        let headers = answer.headers_mut();
        if made.status == StatusCode::OK {
            headers.insert(
                CONTENT_TYPE,
                "text/html; charset=utf-8"
                    .parse()
                    .expect("a header's value"),
            );
            if let Ok(tag) = made.tag.parse() {
                headers.insert(ETAG, tag);
            }
        }
        answer
    }

    /// Whether a request is meant for this server by a name that only this machine gives it.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        matches!(name, "127.0.0.1" | "localhost") && port == self.port.to_string()
    }

    /// The page at a path: the one that was just made, or a new one.
    fn made(&self, path: &str) -> CachedPage {
        let pages = || self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = pages().get(path)
            && made.ended.elapsed() < FRESH.max(made.took * 10)
        {
            return made.clone();
        }
        let began = Instant::now();
        let (status, text) = match self.page(path) {
            Some(Ok(html)) => (StatusCode::OK, html),
            Some(Err(why)) => (StatusCode::INTERNAL_SERVER_ERROR, why.chain()),
            None => (
                StatusCode::NOT_FOUND,
                "there is no such page; / has the first one".to_owned(),
            ),
        };
        let tag = format!("\"{}\"", sha256(text.as_bytes()));
        // The page tells what state of itself it is, so that it asks for what comes after.
        let named = text.replacen(
            UNTAGGED,
            &format!(
                "<meta name=\"atlas-live\" content=\"{}\">",
                tag.replace('"', "&quot;")
            ),
            1,
        );
        let made = CachedPage {
            status,
            body: Bytes::from(named),
            tag,
            ended: Instant::now(),
            took: began.elapsed(),
        };
        let mut kept = pages();
        if kept.len() >= PAGES {
            kept.clear();
        }
        if status != StatusCode::NOT_FOUND {
            kept.insert(path.to_owned(), made.clone());
        }
        made
    }

    fn page(&self, path: &str) -> Option<Result<String, Error>> {
        let live = |up: Option<&str>| Live {
            tag: String::new(),
            up: up.map(str::to_owned),
        };
        if path == "/" {
            return Some(page(&self.input, self.kind, Some(&live(None))));
        }
        let name = path
            .strip_prefix("/instance/")
            .filter(|_| self.kind == PageKind::Run)?;
        let folder = self.instance(name)?;
        Some(page(&folder, PageKind::Instance, Some(&live(Some("/")))))
    }

    /// The folder of an instance, which stands directly in that of the run's instances.
    fn instance(&self, name: &str) -> Option<PathBuf> {
        let is_name = !name.is_empty()
            && !name.starts_with('.')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_name {
            return None;
        }
        let inside = self.input.join("instances");
        let all = if inside.is_dir() {
            &inside
        } else {
            &self.input
        };
        let folder = all.join(name).canonicalize().ok()?;
        // A link to elsewhere is not followed.
        let is_inside = folder.parent() == all.canonicalize().ok().as_deref();
        (is_inside && Path::is_file(&folder.join("make.json"))).then_some(folder)
    }
}

const UNTAGGED: &str = "<meta name=\"atlas-live\" content=\"\">";

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from(text.to_owned())));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE.as_str(), "text/plain; charset=utf-8"),
        (CACHE_CONTROL.as_str(), "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        let name = hyper::header::HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        headers.insert(name, value.parse().expect("a header's value"));
    }
    answer
}
