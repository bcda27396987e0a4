//! Builds that ended by no fault of their own, and are begun again.

use super::earlier;
use atlas_core::{BuildFailure, Error, ErrorKind};

/// The engine's words for a step's image that is gone: when the next step is committed, when its
/// container is made, when its files are read.
const LOST_LAYER: [&str; 3] = [
    "unknown parent image ID",
    "No such image: sha256:",
    "layer does not exist",
];

/// The client's words for an answer that ended within a line.
const BROKEN_OFF: &str = "bytes remaining on stream";

/// Whether a build ended by no fault of its own: an image of an earlier step, which it had taken from
/// the cache, or that of an earlier commit was removed meanwhile (`docker image prune` does, and so
/// does removing the last image that stands on it), or the engine's answer broke off.
pub(super) fn is_cut_short(ended: &Result<Result<Vec<u8>, BuildFailure>, Error>) -> bool {
    match ended {
        Err(why) if why.kind() == ErrorKind::EngineFailed => {
            let chain = why.chain();
            LOST_LAYER.iter().any(|words| chain.contains(words))
        }
        Err(why) if why.kind() == ErrorKind::EngineUnreachable => why.chain().contains(BROKEN_OFF),
        Ok(Err(failure)) => earlier::is_its_step(&failure.step),
        Err(_) | Ok(Ok(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_cut_short;
    use atlas_core::{Error, ErrorKind};
    use std::io;

    #[test]
    fn a_build_that_was_cut_short_is_told_from_other_faults() {
        let gone = "Docker stream error: No such image: sha256:7cf6169faa041467cea0dee2ab0318b0f2673c550d4a7879689bb62b91557aea";
        for (kind, message, expected) in [
            (ErrorKind::EngineFailed, gone, true),
            (
                ErrorKind::EngineFailed,
                "failed to create container: unknown parent image ID sha256:7cf6",
                true,
            ),
            (ErrorKind::EngineFailed, "No such image: debian:13", false),
            (ErrorKind::EngineUnreachable, gone, false),
            (
                ErrorKind::EngineUnreachable,
                "bytes remaining on stream",
                true,
            ),
            (ErrorKind::EngineFailed, "connection reset by peer", false),
        ] {
            let error = Error::new(kind, "build image at", "`RUN true`")
                .with_source(io::Error::other(message));
            assert_eq!(is_cut_short(&Err(error)), expected, "{message}");
        }
    }
}
