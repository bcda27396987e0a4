//! Engines: where plans are built and scripts run.
//!
//! Two engines keep one set of conventions, so that a plan means the same on both: a script finds
//! the repository in `$ATLAS_REPO`, installed things in `$ATLAS_ENV`, warm writable caches in
//! `$ATLAS_CACHE`, its inputs in `$ATLAS_IN` and a folder for its reports in `$ATLAS_OUT`, and it
//! runs as user 1000. [`docker`] puts these folders into an image, [`local`] into a work folder.

mod capture;
mod docker;
mod local;
mod owner;
mod prelude;
mod scratch;
mod shell;
mod status;
mod usage;

pub use docker::{
    DiskUse, DockerBuilder, DockerEngine, DockerOptions, DockerSandbox, FoundImage, ImageLayer,
    PushedImage, RegistryLogin, StoredImage, registry, write_context,
};
pub use local::{Bubblewrap, LocalBuilder, LocalEngine, LocalOptions, LocalSandbox};
pub use prelude::{Places, double_quoted};
pub use status::{BubblewrapStatus, DockerStatus, EngineStatus, engine_status};

/// Most bytes of one build's log that are kept.
const LOG_BYTES: usize = 8 << 20;

/// Most bytes of a failed step's standard output and of its standard error that are kept.
const STEP_BYTES: usize = 64 << 10;

/// Most bytes of one collected file; a larger one is treated as absent, because half a report
/// reads as another report.
const COLLECT_BYTES: u64 = 256 << 20;

/// Whether `path` names something strictly below the folder it is relative to.
fn is_plain_relative(path: &str) -> bool {
    !path.is_empty()
        && !path.contains('\0')
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Checks what a job asks an engine to lay out, so that no name can reach outside its folder.
fn check_job(job: &atlas_core::Job) -> Result<(), atlas_core::Error> {
    let refuse = |what: &str, name: &str| {
        Err(atlas_core::Error::new(
            atlas_core::ErrorKind::InvalidInput,
            format!("job `{}`", job.label),
            format!("{what} `{name}`: a path below its folder is expected"),
        ))
    };
    if let Err(path) = job.overlay.check_paths() {
        return refuse("overlay path", &path);
    }
    for file in &job.files {
        let plain = is_plain_relative(&file.name) && !file.name.contains('/');
        if !plain || file.name == prelude::OWN_FOLDER {
            return refuse("job file", &file.name);
        }
    }
    for name in &job.collect {
        if !is_plain_relative(name) {
            return refuse("file to collect", name);
        }
    }
    Ok(())
}

/// Lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
