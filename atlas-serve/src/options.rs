//! What a server allows.

use crate::RewardKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// How a server is run.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The folder of journal and secret. One server at a time uses it.
    pub folder: PathBuf,
    /// Where to listen; port 0 is any free one. Default: `127.0.0.1:0`.
    pub listen: SocketAddr,
    /// Whether an address that others reach may be listened on; [`bearer`](Self::bearer) is needed then.
    /// Default: no.
    pub allow_remote: bool,
    /// What a reset must bring as bearer token. Default: nothing, on the loopback address.
    pub bearer: Option<Secret>,
    /// The reward of episodes whose reset names none. Default: resolved.
    pub reward: RewardKind,
    /// Episodes that are open at once. Default: 8.
    pub episodes: usize,
    /// Submissions that are graded at once. Default: 2.
    pub graders: usize,
    /// Submissions that may wait for a grader before resets are turned away. Default: 64.
    pub waiting: usize,
    /// Sessions that wait ready for each instance that was asked for lately. Default: 1; 0 is none.
    pub ready: usize,
    /// Sessions that wait ready in all. Default: 4.
    pub ready_in_all: usize,
    /// Instances whose sessions are made ready before the first reset. Default: none.
    pub warm: Vec<String>,
    /// A ready session that waited longer is replaced. Default: 10 minutes.
    pub ready_time: Duration,
    /// Wall time of an episode. Default: 1 hour.
    pub episode_time: Duration,
    /// An episode that nobody asks anything of for so long is ended. Default: 10 minutes.
    pub idle_time: Duration,
    /// Commands in an episode. Default: 500.
    pub steps: u32,
    /// Seconds of a command that names none, at most [`step_seconds_most`](Self::step_seconds_most). Default: 60.
    pub step_seconds: u64,
    /// Most seconds that a command may name. Default: 600.
    pub step_seconds_most: u64,
    /// Bytes of a command's output that are kept and told. Default: 256 KiB.
    pub output_bytes: u64,
    /// How long episodes may still go on when the server was told to stop. Default: 30 seconds.
    pub drain_time: Duration,
    /// How long ended episodes stay in the journal. Default: 7 days.
    pub keep_time: Duration,
    /// How often a submission is graded before "nothing could be found out" is its result. Default: 3.
    pub grade_attempts: u32,
}

impl ServeOptions {
    /// The defaults, with a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            allow_remote: false,
            bearer: None,
            reward: RewardKind::Resolved,
            episodes: 8,
            graders: 2,
            waiting: 64,
            ready: 1,
            ready_in_all: 4,
            warm: Vec::new(),
            ready_time: Duration::from_secs(600),
            episode_time: Duration::from_secs(3600),
            idle_time: Duration::from_secs(600),
            steps: 500,
            step_seconds: 60,
            step_seconds_most: 600,
            output_bytes: 256 << 10,
            drain_time: Duration::from_secs(30),
            keep_time: Duration::from_secs(7 * 24 * 3600),
            grade_attempts: 3,
        }
    }

    /// The wall time that a host's session needs: as ready, as episode, and while its patch is read.
    pub fn session_time(&self) -> Duration {
        self.ready_time + self.episode_time + Duration::from_secs(120)
    }
}

/// A text that is not printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}
