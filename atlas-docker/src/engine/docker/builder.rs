//! Building images.

use super::base::{self, Base};
use super::context::{self, Context};
use super::cut_short::is_cut_short;
use super::skeleton::skeleton;
use super::{
    COMMIT_LABEL, DEPENDENCIES_LABEL, EARLIER_LABEL, FULL, KEY_LABEL, OBJECTS_LABEL, OWNER_LABEL,
};
use super::{DockerEngine, disk_full, dockerfile, earlier, fault};
use crate::build::{BuildOutcome, Builder};
use crate::engine::capture::Tail;
use crate::engine::owner::Owner;
use crate::engine::scratch::Scratch;
use crate::engine::{LOG_BYTES, STEP_BYTES, hex};
use crate::render::{context_files, script_of};
use crate::substitute;
use async_trait::async_trait;
use atlas_core::{
    BuildFailure, CommitSha, EnvironmentLock, EnvironmentPlan, Error, ErrorKind, ImageRef,
    Repository, RunContext,
};
use bollard::errors::Error as Fault;
use bollard::query_parameters::BuildImageOptionsBuilder;
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tokio::io::AsyncReadExt;

/// Builds images with a container engine's classic builder.
///
/// Room is made first ([`DockerEngine::make_room`]). An image is named after the hash of all that it is made from, so the same repository, plan and
/// base image are built once. A failed build leaves the engine's layer cache and nothing else.
///
/// A build's commands run in the engine's containers with the network, and only their time is
/// limited ([`DockerOptions::build_timeout`](super::DockerOptions)). Memory, processes, processor
/// time and disk space are not: the classic builder takes no limit on processes, and one on memory
/// only below 2 GiB, which compilers exceed. Where plans come from strangers, limit the engine
/// itself, for example the control group that it puts containers into.
///
/// Podman 4 cannot be stopped in the middle of a step: a build that is cancelled or whose service
/// dies leaves the step running there, at most as long as a build may take.
#[derive(Clone, Debug)]
pub struct DockerBuilder {
    engine: DockerEngine,
    scratch: Option<Scratch>,
}

impl DockerBuilder {
    /// A builder on this engine.
    pub fn new(engine: DockerEngine) -> Self {
        Self {
            engine,
            scratch: None,
        }
    }

    /// A builder that uses neither an image that is there nor the layers of earlier builds: each call
    /// makes an image of its own, for the caller to [`discard`](Builder::discard). Base images are
    /// not pulled again.
    pub fn from_scratch(engine: DockerEngine) -> Self {
        Self {
            engine,
            scratch: Some(Scratch::default()),
        }
    }

    /// The image with this tag, if it was made from exactly this.
    async fn existing(&self, tag: &str, key: &str) -> Result<Option<Made>, Error> {
        match self.engine.docker().inspect_image(tag).await {
            Ok(image) => {
                let labels = image.config.and_then(|config| config.labels);
                let same = labels.is_some_and(|l| l.get(KEY_LABEL).is_some_and(|k| k == key));
                let bytes = image.size.and_then(|size| u64::try_from(size).ok());
                Ok(image.id.filter(|_| same).map(|id| Made { id, bytes }))
            }
            Err(Fault::DockerResponseServerError {
                status_code: 404, ..
            }) => Ok(None),
            Err(why) => Err(fault("inspect image", tag, why)),
        }
    }

    async fn hash(&self, repository: &Repository) -> Result<Sha256, Error> {
        let repository = repository.clone();
        tokio::task::spawn_blocking(move || context::hash(&repository))
            .await
            .map_err(|why| Error::new(ErrorKind::Internal, "hash", "context").with_source(why))?
    }

    async fn pack(
        &self,
        repository: &Repository,
        dockerfile: &str,
        files: &BTreeMap<String, String>,
    ) -> Result<Context, Error> {
        let (repository, dockerfile) = (repository.clone(), dockerfile.to_owned());
        let files = files.clone();
        let scratch = self.engine.options().scratch.clone();
        tokio::task::spawn_blocking(move || {
            context::pack(&repository, &dockerfile, &files, scratch.as_deref())
        })
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, "pack", "context").with_source(why))?
    }

    /// The image's labels as one instruction: the engine makes one of each label that it is given,
    /// and an image for each of them.
    fn labels(&self, key: &str, objects: Option<&Objects<'_>>) -> String {
        let quoted = |text: &str| {
            let mut quoted = String::from("\"");
            for c in text.chars() {
                match c {
                    '"' | '\\' | '$' => quoted.extend(['\\', c]),
                    '\n' | '\r' => quoted.push(' '),
                    c => quoted.push(c),
                }
            }
            quoted.push('"');
            quoted
        };
        let mut labels = self.engine.options().labels.clone();
        labels.insert(KEY_LABEL.to_owned(), key.to_owned());
        labels.insert(OWNER_LABEL.to_owned(), Owner::current().to_string());
        if let Some(objects) = objects {
            labels.insert(COMMIT_LABEL.to_owned(), objects.commit.to_string());
            labels.insert(OBJECTS_LABEL.to_owned(), objects.toolchain.to_owned());
            if let Some(hash) = objects.dependencies {
                labels.insert(DEPENDENCIES_LABEL.to_owned(), hash.to_owned());
                let earlier = objects.earlier.unwrap_or_default();
                labels.insert(EARLIER_LABEL.to_owned(), earlier.to_owned());
            }
        }
        let mut line = String::from("LABEL");
        for (name, value) in &labels {
            line.extend([" ", &quoted(name), "=", &quoted(value)]);
        }
        line.push('\n');
        line
    }

    /// Hash of what the image's dependencies are compiled from, where that tells whose objects to take.
    async fn dependencies(
        &self,
        repository: &Repository,
        toolchain: String,
        dockerfile: &str,
        files: &BTreeMap<String, String>,
    ) -> Result<Option<String>, Error> {
        let checkout = repository.checkout.clone();
        let (dockerfile, files) = (dockerfile.to_owned(), files.clone());
        tokio::task::spawn_blocking(move || {
            earlier::dependencies(&toolchain, &dockerfile, &files, &skeleton(&checkout))
        })
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, "read", "manifests").with_source(why))
    }

    /// An image whose objects are taken again.
    async fn earlier(
        &self,
        repository: &Repository,
        toolchain: Option<&str>,
        dependencies: Option<&str>,
    ) -> Result<Option<String>, Error> {
        match toolchain {
            Some(toolchain) if self.scratch.is_none() => {
                earlier::find(&self.engine, repository, toolchain, dependencies).await
            }
            _ => Ok(None),
        }
    }

    fn lock(&self, plan: &EnvironmentPlan, base: &Base, made: &Made) -> EnvironmentLock {
        EnvironmentLock {
            engine: "docker".to_owned(),
            engine_version: self.engine.version().to_owned(),
            base_image: plan.base_image.clone(),
            base_image_id: base.id.clone(),
            image_id: made.id.clone(),
            image_bytes: made.bytes,
            ..EnvironmentLock::default()
        }
    }
}

#[async_trait]
impl Builder for DockerBuilder {
    fn engine(&self) -> &'static str {
        "docker"
    }

    async fn build(
        &self,
        cx: &RunContext,
        repository: &Repository,
        plan: &EnvironmentPlan,
        dockerfile: &str,
    ) -> Result<BuildOutcome, Error> {
        cx.check("build image")?;
        let started = Instant::now();
        // What the Dockerfile copies follows from the plan that it was written for, not from the image that takes the
        // place of the planned one.
        let mut files = context_files(plan).map_err(|why| {
            let name = repository.name.clone();
            Error::new(ErrorKind::InvalidInput, "build image", name).with_source(why)
        })?;
        let mut plan = plan.clone();
        let (base, mut hash) = tokio::try_join!(
            base::resolve(&self.engine, cx, &mut plan),
            self.hash(repository)
        )?;
        let mut dockerfile = dockerfile.to_owned();
        let setup = self.engine.options().registries.setup()?;
        dockerfile = dockerfile::with_settings(&dockerfile, &setup.stage, &setup.root);
        files.extend(setup.files);
        if let Some(what) = self.engine.options().registries.substitute {
            let substitutes = substitute::files(repository, &plan, what)?;
            if !substitutes.is_empty() {
                dockerfile = dockerfile::with_root_steps(&dockerfile, substitute::INSTRUCTIONS);
                files.extend(substitutes);
            }
        }
        let named = dockerfile::with_base(&dockerfile, &base.reference);
        let sent = if self.engine.is_podman() {
            dockerfile::with_time_limit(&named, self.engine.options().build_timeout)
        } else {
            named
        };
        hash.update(format!("\n{}\n{sent}", base.id));
        for (path, text) in &files {
            hash.update(format!("\n{path}\n{}\n{text}", text.len()));
        }
        let mut key = hex(&hash.finalize());
        if let Some(scratch) = &self.scratch {
            key = hex(&Sha256::digest(format!("{key}\n{}", scratch.next())));
        }
        let tag = format!("atlas/{}:{}", slug(&repository.name), &key[..16]);

        let (made, seconds, log) = if let Some(made) = self.existing(&tag, &key).await? {
            cx.progress.detail(&format!("{tag} is there already"));
            (made, 0.0, format!("reused {tag}\n").into_bytes())
        } else {
            self.engine.make_room().await?;
            let toolchain = earlier::toolchain(&base.id, &sent, &files);
            let dependencies = match toolchain.clone() {
                Some(toolchain) => {
                    self.dependencies(repository, toolchain, &sent, &files)
                        .await?
                }
                None => None,
            };
            let earlier = self
                .earlier(repository, toolchain.as_deref(), dependencies.as_deref())
                .await?;
            let objects = toolchain.as_deref().map(|toolchain| Objects {
                commit: &repository.base,
                toolchain,
                dependencies: dependencies.as_deref(),
                earlier: earlier.as_deref(),
            });
            let labelled = format!("{sent}{}", self.labels(&key, objects.as_ref()));
            let mut build = Build {
                engine: &self.engine,
                cx,
                tag: &tag,
                base: &base,
                dockerfile: &dockerfile,
                sent: &sent,
                files: &files,
                arguments: &setup.arguments,
                anew: self.scratch.is_some(),
                earlier,
                steps: Mutex::default(),
            };
            let context = self.pack(repository, &labelled, &files).await?;
            let mut ended = build.run(context).await;
            for turn in 1..=REBUILDS {
                if !is_cut_short(&ended) {
                    break;
                }
                // An engine may go on taking a layer for cached that is not there.
                build.anew |= turn == REBUILDS;
                cx.progress
                    .detail("a layer was removed by somebody, or the engine's answer broke off; building again");
                build.earlier = None;
                ended = build
                    .run(self.pack(repository, &labelled, &files).await?)
                    .await;
            }
            match ended? {
                Ok(log) => {
                    let made = self.existing(&tag, &key).await?.ok_or_else(|| {
                        let missing = format!("`{tag}`: built, but not there");
                        Error::new(ErrorKind::EngineFailed, "find image", missing)
                    })?;
                    if let Some(scratch) = &self.scratch {
                        scratch.remember(&made.id, build.steps_alone());
                    }
                    (made, started.elapsed().as_secs_f64(), log)
                }
                Err(failure) => return Ok(BuildOutcome::Failed(failure)),
            }
        };
        self.engine.touch(&made.id);
        let image = ImageRef::Docker {
            id: made.id.clone(),
            tag,
        };
        let lock = self.lock(&plan, &base, &made);
        Ok(BuildOutcome::Built {
            image,
            plan,
            lock,
            seconds,
            log,
        })
    }

    async fn discard(&self, image: &ImageRef) -> Result<(), Error> {
        match image {
            ImageRef::Docker { id, .. } => {
                self.engine.evict(id).await?;
                let left = self.scratch.as_ref().map(|scratch| scratch.forget(id));
                for step in left.unwrap_or_default() {
                    // One that another image stands on stays, and so does one that went with it.
                    self.engine.evict(&step).await?;
                }
                Ok(())
            }
            ImageRef::Local { .. } | ImageRef::Other { .. } => Ok(()),
        }
    }
}

/// How often a build is begun again because a layer that it stood on was removed: where many builds
/// share their first steps and each image is removed after its use, this can happen twice.
const REBUILDS: usize = 3;

/// What an image says of the objects that it holds.
struct Objects<'a> {
    commit: &'a CommitSha,
    toolchain: &'a str,
    dependencies: Option<&'a str>,
    /// The image that some of them are from.
    earlier: Option<&'a str>,
}

/// An image that is there.
struct Made {
    id: String,
    bytes: Option<u64>,
}

/// A repository's name as part of an image's name.
fn slug(name: &str) -> String {
    let mapped: String = name
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let parts: Vec<_> = mapped.split('-').filter(|part| !part.is_empty()).collect();
    let mut slug = parts.join("-");
    slug.truncate(100);
    if slug.is_empty() {
        slug.push_str("repository");
    }
    slug
}

/// One build in progress.
struct Build<'a> {
    engine: &'a DockerEngine,
    cx: &'a RunContext,
    tag: &'a str,
    base: &'a Base,
    dockerfile: &'a str,
    /// The Dockerfile as this engine is given it.
    sent: &'a str,
    /// What it copies beside the repository's files.
    files: &'a BTreeMap<String, String>,
    /// Arguments beside those that the Dockerfile declares.
    arguments: &'a BTreeMap<String, String>,
    /// Whether layers of earlier builds are left alone.
    anew: bool,
    /// The image whose objects are taken again.
    earlier: Option<String>,
    /// The images of the steps so far, as the engine names them.
    steps: Mutex<Vec<String>>,
}

/// What the step in progress is and has printed.
struct Step {
    number: Option<usize>,
    text: String,
    stdout: Tail,
    stderr: Tail,
}

impl Build<'_> {
    /// Sends the context and follows the log; the inner error is the build's own failure.
    ///
    /// Dropping the response ends the build: the engine stops and removes its container.
    async fn run(&self, context: Context) -> Result<Result<Vec<u8>, BuildFailure>, Error> {
        let options = self.engine.options();
        let mut arguments = HashMap::from([("BASE".to_owned(), self.base.reference.clone())]);
        arguments.extend(self.arguments.clone());
        if let Some(image) = &self.earlier {
            arguments.insert(earlier::ARGUMENT.to_owned(), image.clone());
        }
        let request = BuildImageOptionsBuilder::default()
            .dockerfile("Dockerfile")
            .t(self.tag)
            .nocache(self.anew)
            .rm(true)
            .forcerm(true)
            .buildargs(&arguments)
            .build();
        let file = tokio::fs::File::from_std(context.file);
        let body = futures_util::stream::try_unfold(file, |mut file| async move {
            let mut buffer = Vec::with_capacity(1 << 18);
            let count = (&mut file).take(1 << 18).read_to_end(&mut buffer).await?;
            Ok((count > 0).then(|| (buffer.into(), file)))
        });
        // The answer starts after the whole context was read, which may take longer than a call.
        let docker = self
            .engine
            .docker()
            .clone()
            .with_timeout(options.build_timeout);
        let mut stream = docker.build_image(request, None, Some(bollard::body_try_stream(body)));

        let mut log = Tail::new(LOG_BYTES);
        let mut step = Step {
            number: None,
            text: "the Dockerfile".to_owned(),
            stdout: Tail::end_only(STEP_BYTES),
            stderr: Tail::end_only(STEP_BYTES),
        };
        let follow = async {
            while let Some(item) = stream.next().await {
                match item {
                    Ok(info) => {
                        if let Some(text) = info.stream {
                            log.push(without_colour(&text).0.as_bytes());
                            self.hear(&text, &mut step);
                        }
                    }
                    Err(why) => return Err(why),
                }
            }
            Ok(())
        };
        let ended = tokio::select! {
            biased;
            () = self.cx.cancel.cancelled() => {
                return Err(Error::new(ErrorKind::Cancelled, "build image", format!("`{}`", self.tag)));
            }
            ended = tokio::time::timeout(options.build_timeout, follow) => ended,
        };
        match ended {
            Ok(Ok(())) => Ok(Ok(log.to_bytes())),
            Ok(Err(why)) => self.judge(why, &step).map(Err),
            Err(_) => {
                let note = format!(
                    "the build did not end within {} s",
                    options.build_timeout.as_secs()
                );
                Ok(Err(self.failure(&step, None, &note)))
            }
        }
    }

    /// The images of this build's steps without the base image, which others made.
    fn steps_alone(&self) -> Vec<String> {
        let base = self.base.id.trim_start_matches("sha256:");
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps
            .iter()
            .filter(|step| !base.starts_with(step.as_str()))
            .cloned()
            .collect()
    }

    fn hear(&self, text: &str, step: &mut Step) {
        if let Some(id) = step_image(text) {
            let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            if !steps.iter().any(|known| known == id) {
                steps.push(id.to_owned());
            }
        }
        if let Some(header) = dockerfile::step(text.trim_end()) {
            self.cx.progress.detail(text.trim_end());
            // Podman announces steps of later stages ahead; only a command prints.
            if header.number.is_some() || header.text.starts_with("RUN ") {
                step.stdout.clear();
                step.stderr.clear();
            }
            step.number = header.number;
            header.text.clone_into(&mut step.text);
            return;
        }
        if self.engine.is_podman() {
            // One stream for both.
            if !text.starts_with("--> ") {
                step.stderr.push(text.as_bytes());
            }
            return;
        }
        match without_colour(text) {
            (text, true) => step.stderr.push(text.as_bytes()),
            (text, false) if is_builders_own(text) => {}
            (text, false) => step.stdout.push(text.as_bytes()),
        }
    }

    /// Whether a fault of the stream is the build's own failure, and if so which.
    fn judge(&self, why: Fault, step: &Step) -> Result<BuildFailure, Error> {
        let message = match &why {
            Fault::DockerStreamError { error } => error.clone(),
            Fault::DockerResponseServerError {
                status_code: 400..500,
                message,
            } => message.clone(),
            _ => return Err(fault("build image", self.tag, why)),
        };
        let printed = step.stderr.to_text().to_lowercase();
        if message.to_lowercase().contains(FULL) || printed.contains(FULL) {
            return Err(disk_full("build image", self.tag).with_source(why));
        }
        // Podman's words for a container that it could not start: no command has run.
        // Likewise where another of its services took away what a build stands on.
        let lost = ["identifier is not a container", "layer not known"];
        if self.engine.is_podman()
            && (printed.contains("error running container: from ")
                || lost.iter().any(|words| message.contains(words)))
        {
            return Err(Error::new(
                ErrorKind::EngineFailed,
                "start a container for",
                format!("`{}`: {}", step.text, step.stderr.to_text().trim()),
            )
            .with_source(why));
        }
        let no_base = if self.engine.is_podman() {
            message.starts_with("creating build container")
        } else {
            step.text.starts_with("FROM ")
        };
        if no_base {
            return Err(
                Error::new(ErrorKind::ImageMissing, "build image", step.text.clone())
                    .with_source(why),
            );
        }
        let code = dockerfile::exit_code(&message);
        // What has no exit code is no command that ran: the engine could not start its container or
        // keep its layer, unless what is missing is the program or the file itself.
        let absent = [
            "executable file not found",
            "no such file or directory",
            "file not found in build context",
            "no items matching glob",
            // Podman reads a Dockerfile while it builds.
            "Unknown instruction",
        ];
        // A Dockerfile that cannot be read is refused before any step.
        let refused = matches!(why, Fault::DockerResponseServerError { .. });
        let started =
            code.is_some() || refused || absent.iter().any(|words| message.contains(words));
        if !started {
            return Err(Error::new(
                ErrorKind::EngineFailed,
                "build image at",
                format!("`{}`", step.text),
            )
            .with_source(why));
        }
        Ok(self.failure(step, code, &message))
    }

    /// The failed instruction as the Dockerfile has it, where it can be told.
    fn written(&self, step: &Step, message: &str) -> Option<String> {
        let first = |text: &str| text.split_whitespace().next().map(str::to_owned);
        let instructions = dockerfile::instructions(self.dockerfile);
        if let Some(number) = step.number {
            let found = instructions.get(number.checked_sub(1)?)?;
            // Numbers could disagree (a here-document); the engine's own words then.
            return (first(found) == first(&step.text)).then(|| found.clone());
        }
        let sent = dockerfile::instructions(self.sent);
        let text = dockerfile::failed_at(message).unwrap_or(&step.text);
        instructions
            .get(dockerfile::position(&sent, text)?)
            .cloned()
    }

    fn failure(&self, step: &Step, exit_code: Option<i64>, message: &str) -> BuildFailure {
        let written = self.written(step, message);
        let step_text = written.as_deref().unwrap_or(&step.text);
        let written = match script_of(self.files, step_text) {
            Some((path, text)) => format!("{path}: {}", text.trim_end()),
            None => step_text.to_owned(),
        };
        let mut stderr = step.stderr.to_text();
        if exit_code.is_none() || stderr.is_empty() {
            stderr.push_str(message);
        }
        BuildFailure {
            step: written,
            exit_code,
            stderr,
            stdout: step.stdout.to_text(),
        }
    }
}

/// The classic builder wraps what a command writes to standard error in red.
fn without_colour(text: &str) -> (&str, bool) {
    match text.strip_prefix("\x1b[91m") {
        Some(rest) => (rest.strip_suffix("\x1b[0m").unwrap_or(rest), true),
        None => (text, false),
    }
}

/// The image that a step led to: ` ---> 0123456789ab`, Podman's `--> 0123456789ab`.
fn step_image(text: &str) -> Option<&str> {
    let id = text
        .strip_prefix(" ---> ")
        .or_else(|| text.strip_prefix("--> "))?
        .trim_end();
    let is_id = (12..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(id)
}

/// Whether a piece of the log is the builder speaking, not the command.
fn is_builders_own(text: &str) -> bool {
    text.starts_with(" ---> ") || text.starts_with("Removing intermediate container ")
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_become_image_names() {
        for (name, expected) in [
            ("Owner/Some_Repo.js", "owner-some-repo-js"),
            ("--x--", "x"),
            ("…", "repository"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }
}
