//! `atlas serve`.

use super::shared::{EvaluationArgs, InstanceArgs};
use super::{DONE, Format};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_judge::critic::CriticOptions;
use atlas_pipeline::{EvalOptions, ModelSession, PredictionSource, ServeCritic, serve};
use atlas_serve::{RewardKind, Secret, ServeOptions};
use clap::Args;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The dataset: a file, or a folder of tasks.
    #[arg(value_name = "FILE|DIR")]
    dataset: PathBuf,
    /// Where to listen; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Listen on an address that others reach, too; --token-file must be given.
    #[arg(long, requires = "token_file")]
    allow_remote: bool,
    /// A file with the bearer token that each reset must bring [default: none, on the loopback address].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The folder of the journal, and of the verdicts' files.
    #[arg(long, value_name = "DIR", default_value = "serve")]
    folder: PathBuf,
    /// The reward, where a reset names none: `resolved`, `fail_to_pass` or `critic`.
    #[arg(long, value_name = "KIND", default_value_t)]
    reward: RewardKind,
    /// The model of a critic whose word may be a reward: API/NAME, or a name of the configuration.
    #[arg(long, value_name = "MODEL")]
    critic: Option<String>,
    /// What the critic may spend, as calls=100,tokens=2M,money=5usd.
    #[arg(long, value_name = "LIMITS", requires = "critic")]
    critic_budget: Option<String>,
    #[command(flatten)]
    bounds: BoundsArgs,
    #[command(flatten)]
    only: InstanceArgs,
    #[command(flatten)]
    runs: EvaluationArgs,
    /// Leave out the canary tests and the gold patch's run that shows them to work.
    #[arg(long)]
    no_canaries: bool,
    #[command(flatten)]
    format: Format,
}

/// How much is allowed.
#[derive(Debug, Args)]
struct BoundsArgs {
    /// Episodes that are open at once; with more, resets are answered with 429.
    #[arg(long, value_name = "N", default_value_t = 8)]
    episodes: usize,
    /// Submissions that are graded at once.
    #[arg(long, value_name = "N", default_value_t = 2)]
    graders: usize,
    /// Sessions that wait ready for each instance that was asked for lately.
    #[arg(long, value_name = "N", default_value_t = 1)]
    ready: usize,
    /// Sessions that wait ready in all.
    #[arg(long, value_name = "N", default_value_t = 4)]
    ready_in_all: usize,
    /// Instances whose sessions are made ready before the first reset.
    #[arg(long, value_name = "ID", num_args = 1.., value_delimiter = ',')]
    warm: Vec<String>,
    /// Wall time of an episode.
    #[arg(long, value_name = "S", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..))]
    episode_seconds: u64,
    /// An episode that nobody asks anything of for so long is ended.
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    idle_seconds: u64,
    /// Commands in an episode.
    #[arg(long, value_name = "N", default_value_t = 500)]
    steps: u32,
    /// Seconds of a command that names none.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    step_seconds: u64,
    /// Most seconds that a command may name.
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    step_seconds_most: u64,
    /// Bytes of a command's output that are told.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 10)]
    output_bytes: u64,
    /// How long episodes may still go on after SIGTERM or Ctrl-C.
    #[arg(long, value_name = "S", default_value_t = 30)]
    drain_seconds: u64,
}

fn token(path: &Path) -> Result<Secret, Error> {
    let text =
        std::fs::read_to_string(path).map_err(|why| Error::io("read the token in", path, why))?;
    let text = text.trim();
    if text.is_empty() {
        let said = format!("`{}`: it is empty", path.display());
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read the token in",
            said,
        ));
    }
    Ok(Secret::new(text))
}

pub(super) async fn command(cx: &RunContext, args: ServeArgs) -> Result<u8, Error> {
    let bounds = args.bounds;
    let options = ServeOptions {
        listen: args.listen,
        allow_remote: args.allow_remote,
        bearer: args.token_file.as_deref().map(token).transpose()?,
        reward: args.reward,
        episodes: bounds.episodes,
        graders: bounds.graders,
        ready: bounds.ready,
        ready_in_all: bounds.ready_in_all,
        warm: bounds.warm,
        episode_time: Duration::from_secs(bounds.episode_seconds),
        idle_time: Duration::from_secs(bounds.idle_seconds),
        steps: bounds.steps,
        step_seconds: bounds.step_seconds,
        step_seconds_most: bounds.step_seconds_most,
        output_bytes: bounds.output_bytes,
        drain_time: Duration::from_secs(bounds.drain_seconds),
        ..ServeOptions::new(&args.folder)
    };
    let eval = args.runs.of(EvalOptions {
        instances: args.only.instance_ids,
        out: args.folder,
        canaries: !args.no_canaries,
        ..EvalOptions::new(args.dataset, PredictionSource::Null, "serve")
    })?;
    let critic = args.critic.as_deref().map(|model| {
        let session = ModelSession::open(model, args.critic_budget.as_deref(), &eval.config)?;
        Ok::<_, Error>(ServeCritic {
            session,
            options: CriticOptions::default(),
        })
    });
    let critic = critic.transpose()?;
    let ready = |address| {
        let told = serde_json::json!({ "address": address });
        let text = || format!("http://{address}/\nCtrl-C ends it.\n");
        args.format.show(&told, text)
    };
    Box::pin(serve(cx, eval, options, critic, ready)).await?;
    Ok(DONE)
}
