//! Images for other machines: giving them a name that says a registry, and pushing them there.

use super::names::{digest, familiar, offered, registry, split};
use super::pull::{Answer, asked, chance, pause};
use super::{DockerEngine, fault};
use atlas_core::{Error, ErrorKind, RunContext};
use bollard::auth::DockerCredentials;
use bollard::errors::Error as Fault;
use bollard::query_parameters::{PushImageOptionsBuilder, TagImageOptionsBuilder};
use futures_util::StreamExt;
use regex::Regex;
use serde::Serialize;
use std::fmt;
use std::sync::LazyLock;

/// How a push authenticates itself at a registry. Its `Debug` shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub enum RegistryLogin {
    /// A user's name and password, or what stands for one.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token that an earlier login gave.
    Token(String),
}

impl fmt::Debug for RegistryLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryLogin(***)")
    }
}

/// An image that a registry has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PushedImage {
    /// The name that it was pushed by.
    pub image: String,
    /// What the registry calls this very content: `sha256:…`.
    pub digest: String,
    /// The name by which any machine pulls exactly it: `registry/name@sha256:…`.
    pub reference: String,
}

impl DockerEngine {
    /// Gives an image a further name, and takes it from the image that has it. Where that is another image, its
    /// id is returned.
    ///
    /// A name that was given so is no reason to keep an image when room is made, as other people's names are.
    ///
    /// # Errors
    /// No such image, and what the engine refuses.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn name_image(&self, id: &str, name: &str) -> Result<Option<String>, Error> {
        let before = match self.docker().inspect_image(name).await {
            Ok(image) => image.id.filter(|old| old != id),
            Err(Fault::DockerResponseServerError {
                status_code: 404, ..
            }) => None,
            Err(why) => return Err(fault("inspect image", name, why)),
        };
        let (repository, tag) = offered(name);
        let options = TagImageOptionsBuilder::default().repo(repository).tag(tag);
        self.docker()
            .tag_image(id, Some(options.build()))
            .await
            .map_err(|why| fault("name image", name, why))?;
        self.note_name(id, name);
        Ok(before)
    }

    /// Pushes an image to the registry that its name says, and returns the digest that the registry gave it. A
    /// registry that is busy or unwell is asked again as for a pull
    /// ([`DockerOptions::pull_attempts`](super::DockerOptions)). What the registry has already is not sent.
    ///
    /// # Errors
    /// [`ErrorKind::ImageMissing`] where no such image is here; [`ErrorKind::InvalidInput`] for a name without a
    /// registry and for a login that the registry does not take; [`ErrorKind::EngineFailed`] for a registry
    /// that is not there. Each names the image and the way out.
    ///
    /// # Cancellation
    /// Dropping the future ends the push; layers that arrived stay at the registry.
    pub async fn push(
        &self,
        cx: &RunContext,
        name: &str,
        login: Option<&RegistryLogin>,
    ) -> Result<PushedImage, Error> {
        let host = pushable(name)?;
        match self.docker().inspect_image(name).await {
            Ok(_) => {}
            Err(Fault::DockerResponseServerError {
                status_code: 404, ..
            }) => {
                let what = format!(
                    "`{name}`: no such image on this machine; `atlas images ls` names those of Atlas, and \
                     `docker tag` gives one a further name"
                );
                return Err(Error::new(ErrorKind::ImageMissing, "push image", what));
            }
            Err(why) => return Err(fault("inspect image", name, why)),
        }
        let attempts = self.options().pull_attempts.max(1);
        let mut round = 1;
        let digest = loop {
            let message = match self.push_once(cx, name, login).await? {
                Ok(digest) => break digest,
                Err(message) => message,
            };
            let answer = Answer::of(&message);
            if !answer.may_pass() || round >= attempts {
                return Err(refused(name, host, &message, login.is_some()));
            }
            tracing::debug!(%name, round, why = message, "not pushed");
            let wait = asked(&message.to_lowercase());
            let pause = pause(self.options().pull_pause, round, wait, chance());
            cx.progress
                .detail(&format!("push again in {:.0} s", pause.as_secs_f64()));
            tokio::select! {
                () = cx.cancel.cancelled() => return Err(cancelled(name)),
                () = tokio::time::sleep(pause) => {}
            }
            round += 1;
        };
        let digest = match digest {
            Some(digest) => digest,
            None => self.known_digest(name).await?,
        };
        let (repository, _) = split(name);
        Ok(PushedImage {
            image: name.to_owned(),
            reference: format!("{repository}@{digest}"),
            digest,
        })
    }

    /// One push; the inner error is what the registry or the engine said.
    async fn push_once(
        &self,
        cx: &RunContext,
        name: &str,
        login: Option<&RegistryLogin>,
    ) -> Result<Result<Option<String>, String>, Error> {
        static DIGEST: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"digest: (sha256:[0-9a-f]{64})").expect("a literal pattern")
        });
        cx.progress.detail(&format!("push {name}"));
        let (repository, tag) = offered(name);
        let options = PushImageOptionsBuilder::default().tag(tag).build();
        let timeout = self.options().pull_timeout;
        // The engine may be silent for as long as a layer takes.
        let docker = self.docker().clone().with_timeout(timeout);
        let credentials = login.map(credentials);
        let mut stream = Box::pin(docker.push_image(repository, Some(options), credentials));
        let work = async {
            let mut digest = None;
            while let Some(item) = stream.next().await {
                let status = item?.status.unwrap_or_default();
                let found = DIGEST.captures(&status).map(|found| found[1].to_owned());
                digest = found.or(digest);
            }
            Ok::<_, Fault>(digest)
        };
        let ended = tokio::select! {
            () = cx.cancel.cancelled() => return Err(cancelled(name)),
            ended = tokio::time::timeout(timeout, work) => ended,
        };
        match ended {
            Err(_) => {
                let what = format!("`{name}`: it did not end within {} s", timeout.as_secs());
                Err(Error::new(ErrorKind::TimedOut, "push image", what))
            }
            Ok(Ok(digest)) => Ok(Ok(digest)),
            Ok(Err(why)) => match why {
                Fault::DockerResponseServerError { message, .. } => Ok(Err(message)),
                Fault::DockerStreamError { error } => Ok(Err(error)),
                why => Err(fault("push image", name, why)),
            },
        }
    }

    /// The digest that the engine noted for a name, where the answer to the push did not tell it.
    async fn known_digest(&self, name: &str) -> Result<String, Error> {
        let (repository, _) = split(name);
        let image = self.docker().inspect_image(name).await;
        let image = image.map_err(|why| fault("inspect image", name, why))?;
        let known = image.repo_digests.unwrap_or_default();
        let mut known = known
            .iter()
            .filter(|known| familiar(split(known).0) == familiar(repository));
        known
            .next_back()
            .and_then(|known| digest(known))
            .map(str::to_owned)
            .ok_or_else(|| {
                let what =
                    format!("`{name}`: the engine does not tell the digest of what it pushed");
                Error::new(ErrorKind::EngineFailed, "push image", what)
            })
    }
}

fn cancelled(name: &str) -> Error {
    Error::new(ErrorKind::Cancelled, "push image", format!("`{name}`"))
}

/// The registry of an image's name, where it can be pushed there.
fn pushable(name: &str) -> Result<&str, Error> {
    let refused = |why: &str| {
        let what = format!("`{name}`: {why}");
        Err(Error::new(ErrorKind::InvalidInput, "push image", what))
    };
    let way = "`atlas make --image-name 'registry.example/tasks/{instance_id}:{key}'` gives images such a name";
    if digest(name).is_some() || name.starts_with("sha256:") {
        return refused("a digest or an id is no name that a registry can be given; push the tag");
    }
    if familiar(name).starts_with("atlas/") || !familiar(name).contains('/') {
        return refused(&format!("the name says no registry; {way}"));
    }
    Ok(registry(name))
}

fn credentials(login: &RegistryLogin) -> DockerCredentials {
    match login {
        RegistryLogin::Password { user, password } => DockerCredentials {
            username: Some(user.clone()),
            password: Some(password.clone()),
            ..DockerCredentials::default()
        },
        RegistryLogin::Token(token) => DockerCredentials {
            identitytoken: Some(token.clone()),
            ..DockerCredentials::default()
        },
    }
}

/// Why a registry did not take an image, with what to do about it.
fn refused(name: &str, host: &str, message: &str, with_login: bool) -> Error {
    let message = message.trim();
    let lower = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let answer = Answer::of(message);
    let (kind, why) = if has(&[
        "unauthorized",
        "authentication required",
        "no basic auth",
        "denied",
        "forbidden",
    ]) {
        let why = if with_login {
            format!(
                "`{host}` does not take this login, or it may not push there: `docker login {host}` with \
                 another one"
            )
        } else {
            format!(
                "`{host}` wants a login, and none for it is known here: `docker login {host}`, or the \
                 variables ATLAS_REGISTRY={host}, ATLAS_REGISTRY_USER and ATLAS_REGISTRY_PASSWORD"
            )
        };
        (ErrorKind::InvalidInput, why)
    } else if has(&["http response to https client"]) {
        let why = format!(
            "`{host}` speaks HTTP without TLS: name it in `insecure-registries` of the engine's daemon.json"
        );
        (ErrorKind::InvalidInput, why)
    } else {
        let why = match answer {
            Answer::Busy => format!("`{host}` turns pushes away; try again later"),
            Answer::Unwell => format!("`{host}` is not well; try again later"),
            Answer::Nameless => {
                format!("there is no registry `{host}`: look at the name's first part")
            }
            Answer::Network => format!(
                "`{host}` could not be reached from the engine's machine: is the registry up, and is this its name?"
            ),
            Answer::Unknown | Answer::Other => format!("`{host}` did not take it"),
        };
        (ErrorKind::EngineFailed, why)
    };
    let what = format!("`{name}`: {why} ({message})");
    Error::new(kind, "push image", what)
}

#[cfg(test)]
mod tests {
    use super::{RegistryLogin, pushable, refused};
    use atlas_core::ErrorKind;

    #[test]
    fn a_name_without_a_registry_is_not_pushed() {
        for (name, host) in [
            ("127.0.0.1:5000/me/task:1", Some("127.0.0.1:5000")),
            ("localhost/task", None),
            ("quay.io/me/task", Some("quay.io")),
            ("me/task:1", Some("docker.io")),
            ("atlas/me-task:0a", None),
            ("localhost/atlas/me-task:0a", None),
            ("task", None),
            ("quay.io/me/task@sha256:0a", None),
            ("sha256:0a", None),
        ] {
            match (pushable(name), host) {
                (Ok(found), Some(host)) => assert_eq!(found, host),
                (Err(why), None) => assert!(why.chain().contains(name), "{why}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }

    #[test]
    fn refusals_name_the_image_and_the_way_out() {
        let host = "127.0.0.1:5000";
        for (message, with_login, kind, words) in [
            (
                "no basic auth credentials",
                false,
                ErrorKind::InvalidInput,
                "docker login 127.0.0.1:5000",
            ),
            (
                "unauthorized: authentication required",
                true,
                ErrorKind::InvalidInput,
                "does not take this login",
            ),
            (
                "Get \"https://r:5000/v2/\": http: server gave HTTP response to HTTPS client",
                false,
                ErrorKind::InvalidInput,
                "insecure-registries",
            ),
            (
                "Get \"https://r/v2/\": dial tcp: lookup r: no such host",
                false,
                ErrorKind::EngineFailed,
                "no registry",
            ),
            (
                "Get \"http://127.0.0.1:5000/v2/\": dial tcp 127.0.0.1:5000: connect: connection refused",
                false,
                ErrorKind::EngineFailed,
                "could not be reached",
            ),
        ] {
            let why = refused("127.0.0.1:5000/a:1", host, message, with_login);
            assert_eq!(why.kind(), kind, "{message}");
            let text = why.chain();
            assert!(
                text.contains("`127.0.0.1:5000/a:1`") && text.contains(words),
                "{text}"
            );
        }
    }

    #[test]
    fn a_login_is_not_printed() {
        let login = RegistryLogin::Password {
            user: "me".to_owned(),
            password: "hunter2".to_owned(),
        };
        let token = RegistryLogin::Token("hunter2".to_owned());
        for login in [login, token] {
            assert_eq!(format!("{login:?}"), "RegistryLogin(***)");
        }
    }
}
