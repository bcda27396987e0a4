//! The server: connections, and how it stops.

use crate::http::routes;
use crate::server::Episodes;
use crate::{EpisodeHost, ServeOptions};
use atlas_core::{Error, ErrorKind, RunContext};
use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// So many connections are held at once.
const CONNECTIONS: usize = 1024;
/// A head of a request that takes longer is not waited for, nor a connection that asks nothing.
const HEAD: Duration = Duration::from_secs(60);
/// How long answers may still be on their way when all work is done.
const LAST: Duration = Duration::from_secs(5);

/// Instances as environments over HTTP. Requests and answers: [`wire`](crate::wire) and `docs/serve.md`.
#[derive(Debug)]
pub struct Server {
    episodes: Episodes,
    listener: TcpListener,
    address: SocketAddr,
    is_local: bool,
}

impl Server {
    /// Opens the folder and listens. Episodes that another server's process left open have ended, and what was
    /// submitted to it and has no verdict is graded.
    ///
    /// # Errors
    /// An address that others reach without [`allow_remote`](ServeOptions::allow_remote) and
    /// [`bearer`](ServeOptions::bearer); one that is taken; a folder that another server uses.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn open(
        cx: &RunContext,
        host: Arc<dyn EpisodeHost>,
        options: ServeOptions,
    ) -> Result<Self, Error> {
        let listen = options.listen;
        let is_local = listen.ip().is_loopback();
        if !(is_local || options.allow_remote && options.bearer.is_some()) {
            let said = "others reach it: that must be allowed, and resets must bring a token";
            let what = format!("`{listen}`: {said}");
            return Err(Error::new(ErrorKind::InvalidInput, "listen on", what));
        }
        let fail =
            |why| Error::new(ErrorKind::Io, "listen on", format!("`{listen}`")).with_source(why);
        let listener = TcpListener::bind(listen).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        Ok(Self {
            episodes: Episodes::open(&cx.run_id, host, options).await?,
            listener,
            address,
            is_local,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `cx.cancel` is raised. Then no episode begins, open ones have
    /// [`drain_time`](ServeOptions::drain_time) left, and what was submitted gets its verdict.
    ///
    /// # Errors
    /// None so far.
    ///
    /// # Cancellation
    /// As said. Dropping the future is as killing the process: the next server goes on from the journal.
    pub async fn run(self, cx: &RunContext) -> Result<(), Error> {
        let routes = routes(self.episodes.clone(), self.is_local);
        let (stop, stopped) = watch::channel(false);
        let mut background = JoinSet::new();
        let episodes = self.episodes.clone();
        background.spawn(async move { episodes.keep_ready().await });
        let episodes = self.episodes.clone();
        background.spawn(async move { episodes.watch().await });
        let mut connections = JoinSet::new();
        let drained = async {
            cx.cancel.cancelled().await;
            self.episodes.drain().await;
        };
        let mut drained = std::pin::pin!(drained);
        loop {
            tokio::select! {
                () = &mut drained => break,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS => {
                    match accepted {
                        Ok((stream, _)) => {
                            connections.spawn(connection(stream, routes.clone(), stopped.clone()));
                        }
                        // A connection that went away again, or too many open files: the next one may do.
                        Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                    }
                }
            }
        }
        drop(self.listener);
        stop.send_replace(true);
        let _ = tokio::time::timeout(LAST, async {
            while connections.join_next().await.is_some() {}
        })
        .await;
        connections.shutdown().await;
        background.shutdown().await;
        Ok(())
    }
}

/// Answers the requests of one connection; those under way are answered when the server stops.
async fn connection(stream: TcpStream, routes: Router, mut stopped: watch::Receiver<bool>) {
    // Small answers must not wait for more.
    let _ = stream.set_nodelay(true);
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let service = TowerToHyperService::new(routes);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    let mut serving = std::pin::pin!(serving);
    // Who hangs up in the middle of an answer harms nobody else.
    tokio::select! {
        _ = serving.as_mut() => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    serving.as_mut().graceful_shutdown();
    let _ = serving.await;
}
