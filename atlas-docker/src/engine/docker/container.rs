//! Containers that must go, whatever happens to whoever made them.

use super::{DockerEngine, open};
use bollard::Docker;
use bollard::errors::Error as Fault;
use bollard::query_parameters::{RemoveContainerOptionsBuilder, RemoveImageOptionsBuilder};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(super) async fn remove(docker: &Docker, name: &str) -> Result<(), Fault> {
    let options = RemoveContainerOptionsBuilder::default()
        .force(true)
        .v(true)
        .build();
    match docker.remove_container(name, Some(options)).await {
        Err(Fault::DockerResponseServerError {
            status_code: 404, ..
        }) => Ok(()),
        other => other,
    }
}

/// Removes an image that only one container was made of.
pub(super) async fn remove_image(docker: &Docker, image: &str) -> Result<(), Fault> {
    let options = RemoveImageOptionsBuilder::default().force(true).build();
    match docker.remove_image(image, Some(options), None).await {
        Ok(_)
        | Err(Fault::DockerResponseServerError {
            status_code: 404, ..
        }) => Ok(()),
        Err(why) => Err(why),
    }
}

/// Containers that this process could not remove, with their engine's address: it went away. Their
/// owner lives, so a sweep alone would leave them.
fn given_up() -> MutexGuard<'static, Vec<(Option<String>, String)>> {
    static NAMES: Mutex<Vec<(Option<String>, String)>> = Mutex::new(Vec::new());
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what earlier runs of this process could not.
pub(super) async fn remove_given_up(engine: &DockerEngine) {
    let host = &engine.options().host;
    let names: Vec<String> = given_up()
        .extract_if(.., |(of, _)| of == host)
        .map(|(_, name)| name)
        .collect();
    for name in names {
        if let Err(why) = remove(engine.docker(), &name).await {
            tracing::debug!(container = %name, cause = %why, "still not removed");
            given_up().push((host.clone(), name));
        }
    }
}

/// A container that must not outlive its job.
#[derive(Debug, Default)]
pub(super) struct Container {
    pub(super) name: Option<String>,
    pub(super) host: Option<String>,
    /// An image that was made for it alone and goes with it.
    pub(super) image: Option<String>,
}

impl Drop for Container {
    /// Never blocks: a thread with its own connection removes what a dropped future left, because
    /// the runtime that ran the future may be on its way down. Should it fail, the sweep follows.
    fn drop(&mut self) {
        let (Some(name), host, image) = (self.name.take(), self.host.take(), self.image.take())
        else {
            return;
        };
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else {
                given_up().push((host, name));
                return;
            };
            runtime.block_on(async {
                // A call to create it may still be under way: "no such container" is asked again.
                for pause in [0, 200, 1000, 3000] {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    // A dead engine's socket may be gone with it.
                    let Ok(docker) = open(host.as_deref()) else {
                        continue;
                    };
                    let options = RemoveContainerOptionsBuilder::default()
                        .force(true)
                        .v(true)
                        .build();
                    if docker.remove_container(&name, Some(options)).await.is_ok() {
                        if let Some(image) = &image {
                            // Failing that, the sweep follows.
                            remove_image(&docker, image).await.ok();
                        }
                        return;
                    }
                }
                tracing::debug!(container = %name, "left to the next run or sweep");
                given_up().push((host.clone(), name));
            });
        };
        let spawned = std::thread::Builder::new()
            .name("atlas-reaper".to_owned())
            .spawn(work);
        if let Err(why) = spawned {
            tracing::debug!(cause = %why, "no thread to remove a container: left to the next sweep");
        }
    }
}
