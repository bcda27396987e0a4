//! `atlas view`.

use super::{DONE, output};
use atlas_core::{Error, RunContext};
use atlas_pipeline::{PageKind, ViewOptions, view};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ViewArgs {
    /// The folder of a run (also while it goes on), of an instance or of an evaluation.
    #[arg(value_name = "FOLDER")]
    input: PathBuf,
    /// What it is: run, instance, evaluation, comparison or trajectory [default: as the input tells].
    #[arg(long, value_name = "KIND")]
    kind: Option<PageKind>,
    /// The port on the loopback address; 0 is any free one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

pub(super) async fn command(cx: &RunContext, args: ViewArgs) -> Result<u8, Error> {
    let options = ViewOptions {
        input: args.input,
        kind: args.kind,
        port: args.port,
    };
    let mut told = Ok(());
    view(cx, &options, |address| {
        told = output::print(&format!("http://{address}/\nCtrl-C ends it.\n"));
    })
    .await?;
    told?;
    Ok(DONE)
}
