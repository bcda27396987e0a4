//! A container that stays open.

use super::container::remove_given_up;
use super::layout::{Keeps, end_mark};
use super::ready::{Ready, give_up};
use super::{
    COMMIT_LABEL, DEPENDENCIES_LABEL, DockerEngine, DockerSandbox, EARLIER_LABEL, FORK_LABEL,
    KEY_LABEL, OBJECTS_LABEL, OWNER_LABEL, STAGE_LABEL, fault,
};
use crate::engine::owner::Owner;
use crate::engine::shell::{Answer, Shell};
use crate::engine::{check_job, is_plain_relative};
use async_trait::async_trait;
use atlas_core::{
    Changed, Environment, Error, ErrorKind, ExitState, FileContent, ImageRef, Isolation, Job,
    Overlay, RunContext, Session, Step, StepResult,
};
use bollard::models::{ChangeType, ContainerConfig};
use bollard::query_parameters::{CommitContainerOptionsBuilder, KillContainerOptionsBuilder};
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use tokio::io::AsyncWriteExt as _;

/// Where the repository is in an image.
const REPOSITORY: &str = "/testbed";

/// One container and the shell in it.
#[derive(Debug)]
pub(super) struct DockerSession {
    sandbox: DockerSandbox,
    container: super::container::Container,
    name: String,
    shell: Shell,
    isolation: Isolation,
    environment: Environment,
    job: Job,
    opened: Instant,
}

impl DockerSession {
    pub(super) async fn open(
        sandbox: &DockerSandbox,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<Self, Error> {
        let operation = format!("open `{}`", job.label);
        cx.check(&operation)?;
        let ImageRef::Docker { id: image, .. } = &environment.image else {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                operation,
                "an environment that was not made by the Docker engine",
            ));
        };
        check_job(job)?;
        let engine = sandbox.engine();
        if engine.is_podman() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                operation,
                "Podman keeps no standard input of a container open: use Docker or the local engine",
            ));
        }
        engine.touch(image);
        remove_given_up(engine).await;
        Self::of_image(sandbox, cx, image, environment, job).await
    }

    async fn of_image(
        sandbox: &DockerSandbox,
        cx: &RunContext,
        image: &str,
        environment: &Environment,
        job: &Job,
    ) -> Result<Self, Error> {
        let engine = sandbox.engine();
        let name = Owner::current().unique_name();
        let body = sandbox.body(cx, image, job);
        let of = (environment, job);
        let making = Ready::make(engine, (image, body), of, Keeps::Input, name);
        let mut ready = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                return Err(Error::new(ErrorKind::Cancelled, "open", job.label.clone()));
            }
            ready = making => ready?,
        };
        let name = ready.name.clone();
        let begun = async {
            ready.attached.input.write_all(b"\n").await?;
            ready.attached.input.flush().await
        };
        begun
            .await
            .map_err(|why| fault("begin the session of container", &name, why.into()))?;
        let of = name.clone();
        let output = ready.attached.output.map(move |piece| match piece {
            Ok(piece) => Ok(piece.into_bytes().to_vec()),
            Err(why) => Err(fault("read output of container", &of, why)),
        });
        Ok(Self {
            container: std::mem::take(&mut ready.container),
            shell: Shell::new(ready.attached.input, output.boxed()).until(end_mark(&name)),
            isolation: sandbox.isolation(job),
            sandbox: sandbox.clone(),
            environment: environment.clone(),
            job: job.clone(),
            opened: Instant::now(),
            name,
        })
    }

    fn engine(&self) -> &DockerEngine {
        self.sandbox.engine()
    }

    /// What became of a container whose shell is gone.
    async fn end(&mut self) -> Result<ExitState, Error> {
        if self.opened.elapsed() >= self.job.limits.wall() {
            return Ok(ExitState::TimedOut);
        }
        match self.sandbox.exit(&self.name, 137).await {
            // Somebody removed it.
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(ExitState::Exited { code: 137 }),
            other => other,
        }
    }
}

#[async_trait]
impl Session for DockerSession {
    fn isolation(&self) -> Isolation {
        self.isolation.clone()
    }

    async fn step(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error> {
        let left = self.job.limits.wall().saturating_sub(self.opened.elapsed());
        match self.shell.step(cx, step, left).await? {
            Answer::Done(result) => Ok(result),
            Answer::Over(silence) => {
                let exit = self.end().await?;
                // A shell that does not answer may run on.
                let kill = KillContainerOptionsBuilder::default()
                    .signal("SIGKILL")
                    .build();
                let killed = self
                    .engine()
                    .docker()
                    .kill_container(&self.name, Some(kill));
                if let Err(why) = killed.await {
                    tracing::debug!(container = self.name, cause = %why, "not running any more");
                }
                Ok(silence.result(exit))
            }
        }
    }

    async fn changed(&mut self, _: &RunContext) -> Result<Changed, Error> {
        let found = self.engine().docker().container_changes(&self.name).await;
        let found = found.map_err(|why| fault("compare container", &self.name, why))?;
        let mut changed = Changed::default();
        for change in found.unwrap_or_default() {
            let below = change.path.strip_prefix(REPOSITORY);
            let Some(path) = below.and_then(|path| path.strip_prefix('/')) else {
                continue;
            };
            if path.split('/').next() == Some(".git") {
                continue;
            }
            let into = match change.kind {
                ChangeType::_2 => &mut changed.removed,
                ChangeType::_0 => &mut changed.written,
                ChangeType::_1 => {
                    changed.new.insert(path.to_owned());
                    &mut changed.written
                }
            };
            into.insert(path.to_owned());
        }
        Ok(changed)
    }

    async fn read(
        &mut self,
        cx: &RunContext,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, FileContent>, Error> {
        let mut files = BTreeMap::new();
        for path in paths {
            cx.check("read files of a session")?;
            if !is_plain_relative(path) {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "read file of a session",
                    format!("`{path}`: a path below the repository is expected"),
                ));
            }
            let place = format!("{REPOSITORY}/{path}");
            if let Some(content) = self.engine().read_file(&self.name, &place).await? {
                files.insert(path.clone(), content);
            }
        }
        Ok(files)
    }

    async fn fork(&mut self, cx: &RunContext) -> Result<Box<dyn Session>, Error> {
        cx.check("fork a session")?;
        let options = CommitContainerOptionsBuilder::default()
            .container(&self.name)
            .pause(true)
            .build();
        // What an image says of its making is not true of this one, and cannot be taken away.
        let labels = [
            KEY_LABEL,
            STAGE_LABEL,
            COMMIT_LABEL,
            OBJECTS_LABEL,
            DEPENDENCIES_LABEL,
            EARLIER_LABEL,
            FORK_LABEL,
        ];
        let mut labels: std::collections::HashMap<String, String> = labels
            .map(|label| (label.to_owned(), "fork".to_owned()))
            .into();
        labels.insert(OWNER_LABEL.to_owned(), Owner::current().to_string());
        let config = ContainerConfig {
            labels: Some(labels),
            ..ContainerConfig::default()
        };
        let made = self.engine().docker().commit_container(options, config);
        let image = made
            .await
            .map_err(|why| fault("keep the files of container", &self.name, why))?
            .id;
        let job = Job {
            overlay: Overlay::default(),
            ..self.job.clone()
        };
        let forked = Self::of_image(&self.sandbox, cx, &image, &self.environment, &job).await;
        match forked {
            Ok(mut forked) => {
                forked.container.image = Some(image);
                Ok(Box::new(forked))
            }
            Err(why) => {
                super::container::remove_image(self.engine().docker(), &image)
                    .await
                    .ok();
                Err(why)
            }
        }
    }

    async fn close(mut self: Box<Self>) -> Result<(), Error> {
        let engine = self.engine().clone();
        give_up(&engine, &mut self.container).await
    }
}
