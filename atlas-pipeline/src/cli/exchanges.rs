//! `atlas exchanges`: what was asked and answered, as JSON lines.

use super::{DONE, output};
use atlas_core::{Error, ErrorKind};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ExchangesArgs {
    /// The file that a judging command kept beside its results, or that `--exchanges` named.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the batches that a server works on instead: their names, runs and numbers of questions.
    #[arg(long, conflicts_with = "forget_batch")]
    batches: bool,
    /// Give up a batch by its name: its questions are asked anew, and those of its calls that were not collected go on
    /// counting against a total budget.
    #[arg(long, value_name = "NAME")]
    forget_batch: Option<String>,
}

pub(super) fn command(args: &ExchangesArgs) -> Result<u8, Error> {
    if !args.file.is_file() {
        let place = format!("`{}`", args.file.display());
        return Err(Error::new(ErrorKind::NotFound, "read exchanges:", place));
    }
    let exchanges = atlas_llm::Exchanges::open(&args.file)?;
    if let Some(name) = &args.forget_batch {
        if !exchanges.forget_batch(name)? {
            let place = format!("`{name}` in `{}`", args.file.display());
            return Err(Error::new(ErrorKind::NotFound, "give up the batch", place));
        }
    } else if args.batches {
        for batch in exchanges.waiting()? {
            let line = serde_json::to_string(&batch).map_err(|why| {
                Error::new(ErrorKind::Internal, "write", "a batch").with_source(why)
            })?;
            output::print(&format!("{line}\n"))?;
        }
    } else {
        exchanges.export(std::io::stdout().lock())?;
    }
    Ok(DONE)
}
