//! Containers that are made, laid out, attached to and started, and wait to be told to begin.

use super::container::{Container, remove, remove_image};
use super::layout::{Keeps, layout, waiting};
use super::{DockerEngine, fault};
use atlas_core::{Environment, Error, ErrorKind, Job, Limits};
use bollard::container::AttachContainerResults;
use bollard::errors::Error as Fault;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptionsBuilder, StartContainerOptions,
    UploadToContainerOptionsBuilder,
};
use futures_util::future::join_all;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// A container whose job has not begun. Podman's has: nobody can tell it.
pub(super) struct Ready {
    /// Removes it, should nobody else.
    pub(super) container: Container,
    pub(super) name: String,
    pub(super) attached: AttachContainerResults,
    since: Instant,
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ready").field(&self.name).finish()
    }
}

impl Ready {
    /// Makes a container of this body, whose image is `image`, and everything for its job's beginning.
    pub(super) async fn make(
        engine: &DockerEngine,
        (image, body): (&str, ContainerCreateBody),
        (environment, job): (&Environment, &Job),
        keeps: Keeps,
        name: String,
    ) -> Result<Self, Error> {
        let since = Instant::now();
        let docker = engine.docker();
        let archive = layout(environment, job, &name, keeps)?;
        let mut container = Container {
            name: Some(name.clone()),
            host: engine.options().host.clone(),
            image: None,
        };
        let named = CreateContainerOptionsBuilder::default().name(&name).build();
        if let Err(why) = docker.create_container(Some(named), body).await {
            // After a call that broke off the engine may still make it: left to the thread then.
            if matches!(why, Fault::DockerResponseServerError { .. }) {
                container.name = None;
            }
            return Err(not_created(image, why));
        }
        match Self::begin(engine, &name, archive).await {
            Ok(attached) => Ok(Self {
                container,
                name,
                attached,
                since,
            }),
            Err(why) => {
                if remove(docker, &name).await.is_ok() {
                    container.name = None;
                }
                Err(why)
            }
        }
    }

    async fn begin(
        engine: &DockerEngine,
        name: &str,
        archive: Vec<u8>,
    ) -> Result<AttachContainerResults, Error> {
        let docker = engine.docker();
        let failed = |operation: &'static str| move |why| fault(operation, name, why);
        let upload = UploadToContainerOptionsBuilder::default().path("/").build();
        let attach = AttachContainerOptionsBuilder::default()
            .stream(true)
            .stdin(!engine.is_podman())
            .stdout(true)
            .stderr(true)
            .build();
        let (uploaded, attached) = tokio::join!(
            docker.upload_to_container(name, Some(upload), bollard::body_full(archive.into())),
            docker.attach_container(name, Some(attach)),
        );
        uploaded.map_err(failed("lay out files in container"))?;
        let attached = attached.map_err(failed("attach to container"))?;
        docker
            .start_container(name, None::<StartContainerOptions>)
            .await
            .map_err(failed("start container"))?;
        Ok(attached)
    }

    /// Removes the container.
    pub(super) async fn give_up(mut self, engine: &DockerEngine) -> Result<(), Error> {
        give_up(engine, &mut self.container).await
    }
}

/// Removes a container; one that cannot be removed stays its guard's.
pub(super) async fn give_up(engine: &DockerEngine, container: &mut Container) -> Result<(), Error> {
    let Some(name) = container.name.clone() else {
        return Ok(());
    };
    let removed = remove(engine.docker(), &name).await;
    removed.map_err(|why| fault("remove container", &name, why))?;
    container.name = None;
    if let Some(image) = container.image.clone() {
        let removed = remove_image(engine.docker(), &image).await;
        removed.map_err(|why| fault("remove image", &image, why))?;
        container.image = None;
    }
    Ok(())
}

fn not_created(image: &str, why: Fault) -> Error {
    let way = match &why {
        Fault::DockerResponseServerError {
            status_code: 404, ..
        } => "the image is gone: the same command builds it again",
        Fault::DockerResponseServerError { message, .. }
            if message.contains("container-init binary not found") =>
        {
            "the engine has no init program: install Debian's package `catatonit`"
        }
        _ => return fault("create container of", image, why),
    };
    let kind = match &why {
        Fault::DockerResponseServerError {
            status_code: 404, ..
        } => ErrorKind::NotFound,
        _ => ErrorKind::EngineFailed,
    };
    Error::new(kind, "create container of", format!("`{image}`: {way}")).with_source(why)
}

/// What a container was made ready for.
#[derive(Debug, PartialEq)]
struct For {
    image: String,
    env: BTreeMap<String, String>,
    job: Job,
}

impl For {
    /// Whether it does for a job: a job of less time ends in it at its own limit, which is watched from outside.
    fn is(&self, image: &str, environment: &Environment, job: &Job) -> bool {
        // Taken apart, so that a new field of a job cannot be passed over.
        let Job {
            label,
            overlay,
            files,
            script,
            collect,
            env,
            limits,
            network,
            user,
        } = &self.job;
        let is_long_enough = job.limits.seconds <= limits.seconds;
        let in_its_time = Limits {
            seconds: job.limits.seconds,
            ..limits.clone()
        };
        self.image == image
            && self.env == environment.plan.env
            && is_long_enough
            && in_its_time == job.limits
            && (label, script, env) == (&job.label, &job.script, &job.env)
            && (files, collect) == (&job.files, &job.collect)
            && (network, user) == (&job.network, &job.user)
            && *overlay == job.overlay
    }
}

/// A container on its way.
type Making = JoinHandle<Result<Ready, Error>>;

/// Containers that are being made ready, and those of expected jobs that have ended.
///
/// While a job runs the engine is left alone: making or removing a container beside it takes processor
/// and disk from tests that look at the clock.
///
/// Dropped, it leaves them to their guards: each removes its container.
#[derive(Debug, Default)]
pub(super) struct Expected {
    ready: Mutex<Vec<(For, Making)>>,
    ended: Mutex<Vec<Container>>,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Expected {
    /// Whether a container is there for this job, or on its way.
    pub(super) fn has(&self, image: &str, environment: &Environment, job: &Job) -> bool {
        let ready = locked(&self.ready);
        ready.iter().any(|(of, _)| of.is(image, environment, job))
    }

    /// Keeps what is made for this job until somebody takes it.
    pub(super) fn keep(&self, image: &str, environment: &Environment, job: &Job, making: Making) {
        let of = For {
            image: image.to_owned(),
            env: environment.plan.env.clone(),
            job: job.clone(),
        };
        locked(&self.ready).push((of, making));
    }

    /// The container that was made ready for this job, if one was. What it failed with, if it failed,
    /// is said again by whoever tries it anew.
    pub(super) async fn take(
        &self,
        engine: &DockerEngine,
        image: &str,
        environment: &Environment,
        job: &Job,
    ) -> Option<Result<Ready, Error>> {
        let making = {
            let mut ready = locked(&self.ready);
            let at = ready
                .iter()
                .position(|(of, _)| of.is(image, environment, job))?;
            ready.swap_remove(at).1
        };
        let made = making.await.unwrap_or_else(|why| {
            Err(Error::new(ErrorKind::Internal, "make ready", "a container").with_source(why))
        });
        match made {
            // It may stop waiting in the moment in which it is told.
            Ok(ready) if ready.since.elapsed() + Duration::from_secs(60) > waiting(job) => {
                Some(match ready.give_up(engine).await {
                    Ok(()) => Err(Error::new(
                        ErrorKind::TimedOut,
                        "begin the job of",
                        "a container that waited too long",
                    )),
                    Err(why) => Err(why),
                })
            }
            other => Some(other),
        }
    }

    /// Waits until no container is being made any more.
    pub(super) async fn quiet(&self) {
        while locked(&self.ready)
            .iter()
            .any(|(_, making)| !making.is_finished())
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Keeps a container whose job has ended, to be removed when nothing runs.
    pub(super) fn let_go(&self, container: Container) {
        locked(&self.ended).push(container);
    }

    /// Removes what nobody took and what has ended.
    pub(super) async fn settle(&self, engine: &DockerEngine) -> Result<(), Error> {
        let ready = std::mem::take(&mut *locked(&self.ready));
        let ended = std::mem::take(&mut *locked(&self.ended));
        let unused = join_all(ready.into_iter().map(|(_, making)| async {
            match making.await {
                Ok(Ok(ready)) => ready.give_up(engine).await,
                _ => Ok(()),
            }
        }));
        let ended = ended
            .into_iter()
            .map(|mut container| async move { give_up(engine, &mut container).await });
        let (unused, ended) = tokio::join!(unused, join_all(ended));
        unused.into_iter().chain(ended).collect()
    }
}
