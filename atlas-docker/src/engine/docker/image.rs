//! Images that others made: finding them, and reading files out of them without running anything.

use super::container::{Container, remove, remove_given_up};
use super::names::places;
use super::pull::pull;
use super::{DockerEngine, JOB_LABEL, KEY_LABEL, OWNER_LABEL, RUN_LABEL, fault};
use crate::engine::is_plain_relative;
use crate::engine::owner::Owner;
use atlas_core::{Error, ErrorKind, FileContent, FileMode, RunContext};
use bollard::errors::Error as Fault;
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{
    CreateContainerOptionsBuilder, DownloadFromContainerOptionsBuilder,
};
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

/// Most bytes of one file that are read out of an image.
const FILE_BYTES: u64 = 64 << 20;

/// An image as it stands on the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundImage {
    /// `sha256:…`.
    pub id: String,
    /// The name it was asked for by.
    pub name: String,
    /// Size in bytes, with what it stands on.
    pub bytes: Option<u64>,
    /// Whether Atlas made it, so that its tests are not root.
    pub is_ours: bool,
}

impl DockerEngine {
    /// Finds an image by its name, and pulls it if it is not there and may be pulled.
    ///
    /// # Errors
    /// [`ErrorKind::ImageMissing`] when it cannot be had, with what to do.
    ///
    /// # Cancellation
    /// Dropping the future ends a pull.
    pub async fn find_image(&self, cx: &RunContext, name: &str) -> Result<FoundImage, Error> {
        if let Some(found) = self.image_here(name).await? {
            return Ok(found);
        }
        let why = if self.options().pull {
            let places = places(name, &self.options().mirrors);
            match pull(self, cx, &places).await? {
                Ok(place) => match self.image_here(&place).await? {
                    Some(found) => return Ok(found),
                    None => "the pull left no such image".to_owned(),
                },
                Err(why) => why,
            }
        } else {
            "pulling is switched off".to_owned()
        };
        Err(Error::new(
            ErrorKind::ImageMissing,
            "find image",
            format!(
                "`{name}`: not on this machine, and {why}. Build it, or `docker pull {name}` where there \
                 is a network and bring it with `docker save` and `docker load`"
            ),
        ))
    }

    async fn image_here(&self, name: &str) -> Result<Option<FoundImage>, Error> {
        match self.docker().inspect_image(name).await {
            Ok(found) => {
                let labels = found.config.and_then(|config| config.labels);
                Ok(found.id.map(|id| FoundImage {
                    id,
                    name: name.to_owned(),
                    bytes: found.size.and_then(|size| u64::try_from(size).ok()),
                    is_ours: labels.is_some_and(|labels| labels.contains_key(KEY_LABEL)),
                }))
            }
            Err(Fault::DockerResponseServerError {
                status_code: 404, ..
            }) => Ok(None),
            Err(why) => Err(fault("look for image", name, why)),
        }
    }

    /// Reads files below a folder of an image. Nothing of the image runs: the container that is read
    /// is never started. Paths that are absent, or name a folder, are absent from the answer. Podman
    /// gives the file that a symbolic link leads to in its place.
    ///
    /// # Errors
    /// Those of the engine, and [`ErrorKind::InvalidInput`] for a path that leaves the folder.
    ///
    /// # Cancellation
    /// Dropping the future leaves the container to a thread that removes it.
    pub async fn read_files(
        &self,
        cx: &RunContext,
        image: &str,
        folder: &str,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, FileContent>, Error> {
        if let Some(path) = paths.iter().find(|path| !is_plain_relative(path)) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read file of image",
                format!("`{path}`: a path below the repository is expected"),
            ));
        }
        let mut files = BTreeMap::new();
        if paths.is_empty() {
            return Ok(files);
        }
        remove_given_up(self).await;
        let name = Owner::current().unique_name();
        let mut container = Container {
            name: Some(name.clone()),
            host: self.options().host.clone(),
            image: None,
        };
        let mut labels: HashMap<String, String> =
            self.options().labels.clone().into_iter().collect();
        labels.insert(RUN_LABEL.to_owned(), cx.run_id.clone());
        labels.insert(OWNER_LABEL.to_owned(), Owner::current().to_string());
        labels.insert(JOB_LABEL.to_owned(), "read files".to_owned());
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            entrypoint: Some(vec!["true".to_owned()]),
            labels: Some(labels),
            host_config: Some(HostConfig {
                network_mode: Some("none".to_owned()),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        };
        let named = CreateContainerOptionsBuilder::default().name(&name).build();
        let created = self.docker().create_container(Some(named), body).await;
        if let Err(why) = created {
            if matches!(why, Fault::DockerResponseServerError { .. }) {
                container.name = None;
            }
            return Err(fault("create container of", image, why));
        }
        let mut failure = None;
        for path in paths {
            match self.read_file(&name, &format!("{folder}/{path}")).await {
                Ok(Some(content)) => {
                    files.insert(path.clone(), content);
                }
                Ok(None) => {}
                Err(why) => {
                    failure = Some(why);
                    break;
                }
            }
        }
        let removed = remove(self.docker(), &name).await;
        if removed.is_ok() {
            container.name = None;
        }
        if let Some(why) = failure {
            return Err(why);
        }
        removed.map_err(|why| fault("remove container", &name, why))?;
        Ok(files)
    }

    /// One file of a container, whether it runs or not.
    pub(super) async fn read_file(
        &self,
        container: &str,
        path: &str,
    ) -> Result<Option<FileContent>, Error> {
        let options = DownloadFromContainerOptionsBuilder::default()
            .path(path)
            .build();
        let mut stream = Box::pin(
            self.docker()
                .download_from_container(container, Some(options)),
        );
        let mut bytes = Vec::new();
        while let Some(piece) = stream.next().await {
            match piece {
                Ok(piece) => bytes.extend_from_slice(&piece),
                Err(Fault::DockerResponseServerError {
                    status_code: 404, ..
                }) => return Ok(None),
                Err(why) => return Err(fault("read file of image", path, why)),
            }
            if is_folder(&bytes) {
                return Ok(None);
            }
            if bytes.len() as u64 > FILE_BYTES + 4096 {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "read file of image",
                    format!("`{path}`: larger than {FILE_BYTES} bytes"),
                ));
            }
        }
        Ok(only_file(&bytes))
    }
}

/// Whether an archive begins with a folder: its files are not wanted.
fn is_folder(archive: &[u8]) -> bool {
    archive.len() > 512 && archive[156] == b'5'
}

/// The single entry of an archive of one path.
fn only_file(archive: &[u8]) -> Option<FileContent> {
    let mut archive = tar::Archive::new(archive);
    let mut entry = archive.entries().ok()?.next()?.ok()?;
    let kind = entry.header().entry_type();
    if kind.is_symlink() {
        let target = entry.link_name_bytes()?.into_owned();
        return Some(FileContent {
            mode: FileMode::Symlink,
            bytes: target,
        });
    }
    if !kind.is_file() {
        return None;
    }
    let mode = entry.header().mode().ok()?;
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).ok()?;
    Some(FileContent {
        mode: if mode & 0o100 == 0 {
            FileMode::Regular
        } else {
            FileMode::Executable
        },
        bytes,
    })
}
