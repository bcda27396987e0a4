//! The engine's disk: what images of Atlas take up, and making room.

use super::{DockerEngine, KEY_LABEL, STAGE_LABEL, fault};
use atlas_core::{EnvironmentLock, Error, ErrorKind};
use bollard::errors::Error as Fault;
use bollard::models::ImageSummary;
use bollard::query_parameters::{ListImagesOptionsBuilder, RemoveImageOptionsBuilder};
use futures_util::StreamExt;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::AsyncWriteExt;

/// An image that was used this recently is kept: its user may be between two runs.
const FRESH: Duration = Duration::from_secs(15 * 60);

/// What images of Atlas take up on an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// Images of Atlas, with kept stages of their builds.
    pub images: usize,
    /// Bytes of layers that only they have; a layer that several have counts once.
    pub bytes: u64,
    /// Bytes free where the engine stores images, as far as that can be seen from here.
    pub free_bytes: Option<u64>,
    /// Images that were removed to make room: tags, or ids where there is none.
    pub evicted: Vec<String>,
}

/// An image of Atlas as it stands on an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredImage {
    /// Its first tag, or its id.
    pub name: String,
    /// `sha256:…`.
    pub id: String,
    /// When it was made or last used, in seconds since 1970.
    pub used: u64,
    /// Bytes of layers that no other image has: what removing it gives back.
    pub own_bytes: u64,
    /// Bytes of layers that it shares with other images of Atlas; those of base images are not counted.
    pub shared_bytes: u64,
}

/// A layer of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImageLayer {
    /// A hash over the image's history up to it: two images share what has the same one.
    pub hash: String,
    /// Its bytes.
    pub bytes: u64,
}

/// A layer: hash over the history up to it, so that two images share what has the same number.
type Layer = [u8; 32];

/// One of Atlas' images.
#[derive(Clone, Debug)]
struct Stored {
    id: String,
    name: String,
    used: SystemTime,
    layers: Vec<(Layer, u64)>,
}

impl DockerEngine {
    /// What images of Atlas take up.
    ///
    /// # Errors
    /// When the engine does not answer.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn disk_use(&self) -> Result<DiskUse, Error> {
        let stored = self.stored().await?;
        Ok(DiskUse {
            images: stored.len(),
            bytes: size(&stored),
            free_bytes: self.free_bytes(),
            evicted: Vec::new(),
        })
    }

    /// The images of Atlas, the ones unused for longest first.
    ///
    /// # Errors
    /// When the engine does not answer.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn images(&self) -> Result<Vec<StoredImage>, Error> {
        let mut stored = self.stored().await?;
        stored.sort_by(|a, b| (a.used, &a.id).cmp(&(b.used, &b.id)));
        let mut count: BTreeMap<Layer, usize> = BTreeMap::new();
        for (layer, _) in stored.iter().flat_map(|image| &image.layers) {
            *count.entry(*layer).or_default() += 1;
        }
        let told = stored.into_iter().map(|image| {
            let (own, shared): (Vec<_>, Vec<_>) = image
                .layers
                .into_iter()
                .partition(|(layer, _)| count.get(layer) == Some(&1));
            let bytes = |layers: Vec<(Layer, u64)>| layers.into_iter().map(|(_, size)| size).sum();
            let used = image.used.duration_since(UNIX_EPOCH).unwrap_or_default();
            StoredImage {
                name: image.name,
                id: image.id,
                used: used.as_secs(),
                own_bytes: bytes(own),
                shared_bytes: bytes(shared),
            }
        });
        Ok(told.collect())
    }

    /// The layers of an image from the lowest, without those of the base image that its environment stands on; layers that
    /// hold nothing are left out. None if the image is gone.
    ///
    /// # Errors
    /// When the engine does not answer.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn layers_above(&self, lock: &EnvironmentLock) -> Result<Vec<ImageLayer>, Error> {
        let (base, digest) = (&lock.base_image, &lock.base_image_id);
        let name = base
            .rsplit_once('@')
            .map_or(base.as_str(), |(name, _)| name);
        let mut below = Vec::new();
        // A digest is known to the engine beside the image's name, an id alone.
        for name in [format!("{name}@{digest}"), digest.clone(), base.clone()] {
            if below.is_empty() && !name.is_empty() {
                below = self.layers(&name).await?;
            }
        }
        let below: BTreeSet<Layer> = below.into_iter().map(|(layer, _)| layer).collect();
        let own = self.layers(&lock.image_id).await?.into_iter();
        let own = own.filter(|(layer, _)| !below.contains(layer));
        let told = own.map(|(layer, bytes)| {
            let mut hash = String::with_capacity(2 * layer.len());
            for byte in layer {
                let _ = write!(hash, "{byte:02x}");
            }
            ImageLayer { hash, bytes }
        });
        Ok(told.collect())
    }

    /// Removes images of Atlas that were not used for so long. Images of others, images that a container
    /// uses and images used in the last quarter of an hour stay.
    ///
    /// # Errors
    /// When the engine does not answer or cannot remove one.
    ///
    /// # Cancellation
    /// Dropping the future may leave some of the images removed.
    pub async fn remove_unused(&self, unused: Duration) -> Result<DiskUse, Error> {
        let mut stored = self.stored().await?;
        stored.sort_by(|a, b| (a.used, &a.id).cmp(&(b.used, &b.id)));
        let now = SystemTime::now();
        let mut evicted = Vec::new();
        let mut left = Vec::new();
        for image in stored {
            let age = now.duration_since(image.used).unwrap_or_default();
            if age >= unused.max(FRESH) && self.evict(&image.id).await? {
                evicted.push(image.name);
            } else {
                left.push(image);
            }
        }
        Ok(DiskUse {
            images: left.len(),
            bytes: size(&left),
            free_bytes: self.free_bytes(),
            evicted,
        })
    }

    /// Writes an image into a file, as `docker save` does, for `docker load` on another machine. Returns its
    /// size in bytes. A file that was begun and not ended is removed.
    ///
    /// # Errors
    /// No such image, a full disk.
    ///
    /// # Cancellation
    /// Dropping the future leaves a file `….part`.
    pub async fn export(&self, name: &str, file: &Path) -> Result<u64, Error> {
        self.docker()
            .inspect_image(name)
            .await
            .map_err(|why| fault("export image", name, why))?;
        let mut part = file.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let written = |why| Error::io("write", &part, why);
        let mut out = tokio::fs::File::create(&part).await.map_err(written)?;
        let mut stream = std::pin::pin!(self.docker().export_image(name));
        let mut bytes = 0;
        let ended = async {
            while let Some(piece) = stream.next().await {
                let piece = piece.map_err(|why| fault("export image", name, why))?;
                bytes += piece.len() as u64;
                out.write_all(&piece).await.map_err(written)?;
            }
            out.sync_all().await.map_err(written)
        };
        let ended = ended.await;
        let ended = match ended {
            Ok(()) => std::fs::rename(&part, file).map_err(|why| Error::io("write", file, why)),
            Err(why) => Err(why),
        };
        if ended.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        ended.map(|()| bytes)
    }

    /// Makes room before something is built: removes images of Atlas, those unused for longest
    /// first, until they are within [`DockerOptions::disk_budget`](super::DockerOptions) and
    /// [`DockerOptions::min_free`](super::DockerOptions) is free. Images of others, images that a
    /// container uses and images used in the last quarter of an hour stay.
    ///
    /// # Errors
    /// [`ErrorKind::EngineFailed`] if too little is free after that; the message says what helps.
    ///
    /// # Cancellation
    /// Dropping the future may leave some of the images removed.
    pub async fn make_room(&self) -> Result<DiskUse, Error> {
        let options = self.options();
        let (budget, min_free) = (options.disk_budget, options.min_free);
        let lacks = |free: Option<u64>| free.is_some_and(|free| free < min_free);
        if budget.is_none() && !lacks(self.free_bytes()) {
            return Ok(DiskUse {
                free_bytes: self.free_bytes(),
                ..DiskUse::default()
            });
        }
        let mut stored = self.stored().await?;
        stored.sort_by(|a, b| (a.used, &a.id).cmp(&(b.used, &b.id)));
        let mut evicted = Vec::new();
        let now = SystemTime::now();
        let mut next = 0;
        while next < stored.len()
            && (budget.is_some_and(|budget| size(&stored) > budget) || lacks(self.free_bytes()))
        {
            let image = &stored[next];
            let fresh = now.duration_since(image.used).unwrap_or_default() < FRESH;
            if !fresh && self.evict(&image.id).await? {
                evicted.push(image.name.clone());
                stored.remove(next);
            } else {
                next += 1;
            }
        }
        if !evicted.is_empty() {
            tracing::info!(images = evicted.len(), "removed images to make room");
        }
        let free = self.free_bytes();
        if lacks(free) {
            return Err(Error::new(
                ErrorKind::EngineFailed,
                "make room on the engine's disk:",
                format!(
                    "{} of {} free in `{}`, and no image of Atlas is left to remove: free some with \
                     `docker system prune`, or set a lower `engine.min_free` in atlas.toml",
                    people(free.unwrap_or_default()),
                    people(min_free),
                    self.data_folder()
                ),
            ));
        }
        let bytes = size(&stored);
        if let Some(budget) = budget.filter(|budget| bytes > *budget) {
            // In use: the next build finds them unused.
            tracing::warn!(
                "images of Atlas take up {} of a budget of {}, and all are in use",
                people(bytes),
                people(budget)
            );
        }
        Ok(DiskUse {
            images: stored.len(),
            bytes,
            free_bytes: free,
            evicted,
        })
    }

    /// Notes that an image is being used.
    pub(super) fn touch(&self, id: &str) {
        let Some(folder) = &self.options().uses else {
            return;
        };
        let noted = std::fs::create_dir_all(folder).and_then(|()| {
            let file = std::fs::File::create(folder.join(file_name(id)))?;
            file.set_modified(SystemTime::now())
        });
        if let Err(why) = noted {
            tracing::debug!(cause = %why, "the use of an image is not noted");
        }
    }

    /// Notes that an image was given a further name by Atlas.
    pub(super) fn note_name(&self, id: &str, name: &str) {
        let Some(folder) = &self.options().uses else {
            return;
        };
        let noted = std::fs::create_dir_all(folder).and_then(|()| {
            let file = folder.join(names_file(id));
            let mut file = std::fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(file)?;
            file.write_all(format!("{}\n", super::names::familiar(name)).as_bytes())
        });
        if let Err(why) = noted {
            tracing::debug!(cause = %why, "the name of an image is not noted");
        }
    }

    /// The names that Atlas gave an image beside its own.
    fn given_names(&self, id: &str) -> Vec<String> {
        let folder = self.options().uses.as_deref();
        folder
            .and_then(|folder| std::fs::read_to_string(folder.join(names_file(id))).ok())
            .map(|text| text.lines().map(str::to_owned).collect())
            .unwrap_or_default()
    }

    /// Bytes free where the engine stores images, if that is on this machine.
    pub fn free_bytes(&self) -> Option<u64> {
        rustix::fs::statvfs(self.data_folder_here()?)
            .ok()
            .map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The folder in which the engine stores images, if it is on this machine.
    pub fn data_folder_here(&self) -> Option<&Path> {
        let host = self.options().host.as_deref();
        let is_elsewhere = host.is_some_and(|host| !host.starts_with("unix://"));
        let folder = Path::new(self.data_folder());
        (!is_elsewhere && folder.is_dir()).then_some(folder)
    }

    /// Removes an image unless it is in use; whether it went.
    pub(super) async fn evict(&self, id: &str) -> Result<bool, Error> {
        // Several tags are no reason to keep it; a container is, even one that has ended, for
        // which force would not help.
        let inspected = match self.docker().inspect_image(id).await {
            Ok(image) => image,
            Err(Fault::DockerResponseServerError {
                status_code: 404, ..
            }) => return Ok(true),
            Err(why) => return Err(fault("inspect image", id, why)),
        };
        let tags = inspected.repo_tags.unwrap_or_default();
        let given = self.given_names(id);
        let foreign = |tag: &String| {
            let tag = super::names::familiar(tag);
            !tag.starts_with("atlas/") && !given.iter().any(|name| name == tag)
        };
        if tags.iter().any(foreign) {
            return Ok(false);
        }
        let names = if tags.is_empty() {
            vec![id.to_owned()]
        } else {
            tags
        };
        for name in names {
            let options = RemoveImageOptionsBuilder::default().build();
            match self.docker().remove_image(&name, Some(options), None).await {
                Ok(_)
                | Err(Fault::DockerResponseServerError {
                    status_code: 404, ..
                }) => {}
                Err(Fault::DockerResponseServerError {
                    status_code: 409, ..
                }) => return Ok(false),
                Err(why) => return Err(fault("remove image", &name, why)),
            }
        }
        if let Some(folder) = &self.options().uses {
            let _ = std::fs::remove_file(folder.join(file_name(id)));
            let _ = std::fs::remove_file(folder.join(names_file(id)));
        }
        Ok(true)
    }

    /// Images of Atlas with the layers that no other image has.
    async fn stored(&self) -> Result<Vec<Stored>, Error> {
        let options = ListImagesOptionsBuilder::default().build();
        let listed = self
            .docker()
            .list_images(Some(options))
            .await
            .map_err(|why| fault("list images of", "the engine", why))?;
        let labels = &self.options().labels;
        let (own, others): (Vec<_>, Vec<_>) = listed.into_iter().partition(|image| {
            is_own(image)
                && labels
                    .iter()
                    .all(|(key, value)| image.labels.get(key) == Some(value))
        });
        let mut shared = BTreeSet::new();
        for image in others {
            shared.extend(
                self.layers(&image.id)
                    .await?
                    .into_iter()
                    .map(|(layer, _)| layer),
            );
        }
        let mut stored = Vec::new();
        for image in own {
            let mut layers = self.layers(&image.id).await?;
            layers.retain(|(layer, _)| !shared.contains(layer));
            let name = image.repo_tags.first().map_or_else(
                || image.id.clone(),
                |tag| super::names::familiar(tag).to_owned(),
            );
            stored.push(Stored {
                used: self.used(&image),
                id: image.id,
                name,
                layers,
            });
        }
        Ok(stored)
    }

    /// When an image was made or last used.
    fn used(&self, image: &ImageSummary) -> SystemTime {
        let made = u64::try_from(image.created).unwrap_or_default();
        let made = UNIX_EPOCH + Duration::from_secs(made);
        let noted = self
            .options()
            .uses
            .as_deref()
            .and_then(|folder| modified(&folder.join(file_name(&image.id))));
        noted.unwrap_or(made)
    }

    /// Layers of an image from the lowest, with their sizes; none if it is gone meanwhile.
    async fn layers(&self, id: &str) -> Result<Vec<(Layer, u64)>, Error> {
        let history = match self.docker().image_history(id).await {
            Ok(history) => history,
            Err(Fault::DockerResponseServerError {
                status_code: 404, ..
            }) => return Ok(Vec::new()),
            Err(why) => return Err(fault("read history of image", id, why)),
        };
        let mut hash = Sha256::new();
        let mut layers = Vec::new();
        for item in history.iter().rev() {
            hash.update(item.created.to_le_bytes());
            hash.update(item.size.to_le_bytes());
            hash.update(item.created_by.as_bytes());
            hash.update([0]);
            if let Ok(size @ 1..) = u64::try_from(item.size) {
                layers.push((hash.clone().finalize().into(), size));
            }
        }
        Ok(layers)
    }
}

/// An environment, or a stage of one's build that serves as a cache for the next.
fn is_own(image: &ImageSummary) -> bool {
    image.labels.contains_key(KEY_LABEL) || image.labels.contains_key(STAGE_LABEL)
}

fn size(stored: &[Stored]) -> u64 {
    let layers: BTreeMap<_, _> = stored
        .iter()
        .flat_map(|image| &image.layers)
        .map(|l| (l.0, l.1))
        .collect();
    layers.values().sum()
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// `sha256:0a…` as a file's name.
fn file_name(id: &str) -> PathBuf {
    PathBuf::from(id.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
}

/// The file of the names that Atlas gave an image.
fn names_file(id: &str) -> PathBuf {
    file_name(id).with_extension("names")
}

/// Bytes for people.
fn people(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) >> 30;
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}
