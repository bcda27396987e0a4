//! What is read out of a container.

use super::fault;
use crate::engine::COLLECT_BYTES;
use atlas_core::Error;
use bollard::Docker;
use bollard::errors::Error as Fault;
use bollard::query_parameters::DownloadFromContainerOptionsBuilder;
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::io::Read;

/// Most bytes of the archive of `$ATLAS_OUT` that are read back.
const ARCHIVE_BYTES: usize = 512 << 20;

/// Whether a container has this file.
pub(super) async fn exists(docker: &Docker, name: &str, path: &str) -> Result<bool, Error> {
    let options = DownloadFromContainerOptionsBuilder::default()
        .path(path)
        .build();
    match Box::pin(docker.download_from_container(name, Some(options)))
        .next()
        .await
    {
        Some(Ok(_)) => Ok(true),
        None
        | Some(Err(Fault::DockerResponseServerError {
            status_code: 404, ..
        })) => Ok(false),
        Some(Err(why)) => Err(fault("look into container", name, why)),
    }
}

/// Brings back regular files below `$ATLAS_OUT`; links are not followed.
pub(super) async fn collect(
    docker: &Docker,
    name: &str,
    wanted: &[String],
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let options = DownloadFromContainerOptionsBuilder::default()
        .path("/opt/atlas/out")
        .build();
    let mut stream = Box::pin(docker.download_from_container(name, Some(options)));
    let mut bytes = Vec::new();
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(piece) if bytes.len() + piece.len() <= ARCHIVE_BYTES => {
                bytes.extend_from_slice(&piece);
            }
            Ok(_) => {
                tracing::debug!(container = name, "reports beyond the limit are not read");
                break;
            }
            // The script removed the folder.
            Err(Fault::DockerResponseServerError {
                status_code: 404, ..
            }) => return Ok(BTreeMap::new()),
            Err(why) => return Err(fault("collect files from container", name, why)),
        }
    }
    Ok(pick(&bytes, wanted))
}

/// The wanted regular files of an archive of `out/`, as far as it is readable.
fn pick(archive: &[u8], wanted: &[String]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(archive);
    let Ok(entries) = archive.entries() else {
        return files;
    };
    for entry in entries {
        let Ok(mut entry) = entry else { break };
        let regular = entry.header().entry_type().is_file();
        let path = entry.path().ok().and_then(|path| {
            let inside = path.strip_prefix("out").ok()?;
            Some(inside.to_str()?.to_owned())
        });
        let Some(path) = path.filter(|path| regular && wanted.contains(path)) else {
            continue;
        };
        let mut bytes = Vec::new();
        let complete = entry.size() <= COLLECT_BYTES
            && entry
                .read_to_end(&mut bytes)
                .is_ok_and(|read| read as u64 == entry.size());
        if complete {
            files.insert(path, bytes);
        }
    }
    files
}
