//! Removing what killed processes left.

use super::container::{remove_given_up, remove_image};
use super::{DockerEngine, FORK_LABEL, KEY_LABEL, OWNER_LABEL, RUN_LABEL, STAGE_LABEL, fault};
use crate::engine::owner::{Life, Owner};
use atlas_core::Error;
use bollard::errors::Error as Fault;
use bollard::models::{ContainerSummary, ContainerSummaryStateEnum as State};
use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListImagesOptionsBuilder, PruneContainersOptionsBuilder,
    RemoveContainerOptionsBuilder,
};
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// After this a container that does not run and whose owner cannot be seen counts as left behind.
const FORGOTTEN: Duration = Duration::from_secs(3600);

impl DockerEngine {
    /// Removes containers of Atlas whose owner has ended; returns their names, sorted.
    ///
    /// A container belongs to the process in its label. It is never removed while that process
    /// runs. Where the process cannot be seen from here (another machine on the same engine, a
    /// reboot), only a container that is not running and over an hour old goes. Build contexts
    /// need no sweep: they are unnamed files that vanish with their process.
    ///
    /// # Errors
    /// When the engine does not answer.
    ///
    /// # Cancellation
    /// Dropping the future leaves the rest to the next sweep.
    pub async fn sweep(&self) -> Result<Vec<String>, Error> {
        remove_given_up(self).await;
        // Containers inherit their image's labels, and an image has an owner too: only a job's
        // container has a run, so one that a person started from an image of ours is left alone.
        let mut found = self.labelled(RUN_LABEL).await?;
        // A daemon that died in the middle of a build leaves the step's container behind. It has no
        // owner, so only its age speaks.
        let steps = self.labelled(STAGE_LABEL).await?;
        found.extend(steps.into_iter().filter(|container| {
            let labels = container.labels.as_ref();
            labels.is_some_and(|labels| !labels.contains_key(KEY_LABEL))
        }));
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut removed = Vec::new();
        for container in found {
            let labels = container.labels.unwrap_or_default();
            let owner = labels.get(OWNER_LABEL).and_then(|text| Owner::parse(text));
            let age = container
                .created
                .and_then(|at| u64::try_from(at).ok())
                .map_or(Duration::ZERO, |at| {
                    now.saturating_sub(Duration::from_secs(at))
                });
            let runs = matches!(
                container.state,
                Some(State::RUNNING | State::PAUSED | State::RESTARTING)
            );
            let leftover = match owner.map(|owner| owner.life()) {
                Some(Life::Alive) => false,
                Some(Life::Dead) => true,
                Some(Life::Unknown) | None => !runs && age > FORGOTTEN,
            };
            let Some(id) = container.id.filter(|_| leftover) else {
                continue;
            };
            let options = RemoveContainerOptionsBuilder::default()
                .force(true)
                .v(true)
                .build();
            match self.docker().remove_container(&id, Some(options)).await {
                Ok(()) => {
                    let name = container.names.unwrap_or_default().into_iter().next();
                    let name = name.unwrap_or(id);
                    removed.push(name.trim_start_matches('/').to_owned());
                }
                // Gone, or another sweep is at it.
                Err(Fault::DockerResponseServerError {
                    status_code: 404 | 409,
                    ..
                }) => {}
                Err(why) => return Err(fault("remove container", &id, why)),
            }
        }
        self.sweep_forks().await?;
        removed.sort();
        Ok(removed)
    }

    /// Removes images of sessions' files whose owner has ended.
    async fn sweep_forks(&self) -> Result<(), Error> {
        let filter = HashMap::from([("label".to_owned(), vec![FORK_LABEL.to_owned()])]);
        let options = ListImagesOptionsBuilder::default()
            .all(true)
            .filters(&filter)
            .build();
        let found = self.docker().list_images(Some(options)).await;
        let found = found.map_err(|why| fault("list images of", "the engine", why))?;
        for image in found {
            let owner = image.labels.get(OWNER_LABEL);
            let owner = owner.and_then(|text| Owner::parse(text));
            if owner.map(|owner| owner.life()) != Some(Life::Dead) {
                continue;
            }
            if let Err(why) = remove_image(self.docker(), &image.id).await {
                // One that another was made of goes after that one.
                tracing::debug!(image = image.id, cause = %why, "left to the next sweep");
            }
        }
        Ok(())
    }

    /// Containers with a label, of this process or another.
    async fn labelled(&self, label: &str) -> Result<Vec<ContainerSummary>, Error> {
        let list = async |states: Vec<String>| {
            let mut filter = HashMap::from([("label".to_owned(), vec![label.to_owned()])]);
            if !states.is_empty() {
                filter.insert("status".to_owned(), states);
            }
            let options = ListContainersOptionsBuilder::default()
                .all(true)
                .filters(&filter)
                .build();
            self.docker().list_containers(Some(options)).await
        };
        let failed = |why| fault("list containers of", "the engine", why);
        match list(Vec::new()).await {
            // Podman calls a container `stopped` whose end its service missed because it was dead
            // itself, a word that the API does not have, and lists it among the `exited` too. Such
            // ones are done with after an hour, as others whose owner cannot be seen.
            Err(Fault::JsonDataError { .. }) => {
                let filter = HashMap::from([
                    ("label".to_owned(), vec![RUN_LABEL.to_owned()]),
                    ("until".to_owned(), vec!["1h".to_owned()]),
                ]);
                let options = PruneContainersOptionsBuilder::default()
                    .filters(&filter)
                    .build();
                self.docker()
                    .prune_containers(Some(options))
                    .await
                    .map_err(failed)?;
                let known = ["created", "running", "paused"].map(str::to_owned);
                list(known.to_vec()).await.map_err(failed)
            }
            other => other.map_err(failed),
        }
    }
}
