//! `atlas images push`: images to registries, and what they are called there into rows.

use crate::store::lock;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_docker::{DockerEngine, PushedImage, RegistryLogin};
use atlas_formats::{Dataset, ReadOptions, read_dataset};
use docker_credential::{CredentialRetrievalError, DockerCredential, get_credential};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The column that names a row's image.
const COLUMN: &str = "image";

/// Docker's own name for its hub in the configuration of logins.
const HUB: &str = "https://index.docker.io/v1/";

/// Where logins for registries come from: three environment variables for one registry, else what
/// `docker login` left (`config.json` below `DOCKER_CONFIG`, else below `~/.docker`, with credential helpers).
#[derive(Clone, Debug, Default)]
pub struct RegistryLogins {
    own: Option<(String, RegistryLogin)>,
}

impl RegistryLogins {
    /// Reads `ATLAS_REGISTRY`, `ATLAS_REGISTRY_USER` and `ATLAS_REGISTRY_PASSWORD`. The first is the
    /// registry's name as it stands in names of images; no other registry is told these.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] where some of them are set and others are not.
    pub fn read_environment() -> Result<Self, Error> {
        let read = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let names = [
            "ATLAS_REGISTRY",
            "ATLAS_REGISTRY_USER",
            "ATLAS_REGISTRY_PASSWORD",
        ];
        match names.map(read) {
            [None, None, None] => Ok(Self::default()),
            [Some(host), Some(user), Some(password)] => Ok(Self {
                own: Some((host, RegistryLogin::Password { user, password })),
            }),
            values => {
                let missing = names
                    .iter()
                    .zip(values)
                    .filter(|(_, value)| value.is_none());
                let missing: Vec<&str> = missing.map(|(name, _)| *name).collect();
                Err(Error::new(
                    ErrorKind::InvalidInput,
                    "read the login for a registry:",
                    format!("the environment lacks {}", missing.join(" and ")),
                ))
            }
        }
    }

    /// The login for a registry, if one is known.
    ///
    /// # Errors
    /// A configuration that is there and cannot be used.
    fn of(&self, host: &str) -> Result<Option<RegistryLogin>, Error> {
        if let Some((_, login)) = self.own.as_ref().filter(|(known, _)| known == host) {
            return Ok(Some(login.clone()));
        }
        let asked = if host == "docker.io" { HUB } else { host };
        match get_credential(asked) {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                Ok(Some(RegistryLogin::Password { user, password }))
            }
            Ok(DockerCredential::IdentityToken(token)) => Ok(Some(RegistryLogin::Token(token))),
            // Helpers say so, too, in words of their own.
            Err(
                CredentialRetrievalError::NoCredentialConfigured
                | CredentialRetrievalError::ConfigNotFound
                | CredentialRetrievalError::ConfigReadError,
            ) => Ok(None),
            Err(CredentialRetrievalError::HelperFailure { stdout, stderr, .. })
                if format!("{stdout}{stderr}").contains("not found") =>
            {
                Ok(None)
            }
            Err(why) => {
                // What a helper printed may be anything: it is not passed on.
                let why = match why {
                    CredentialRetrievalError::HelperFailure { helper, .. } => {
                        format!("the helper `{helper}` failed")
                    }
                    why => why.to_string(),
                };
                let what = format!("`{host}` in docker's configuration");
                Err(
                    Error::new(ErrorKind::InvalidInput, "read the login for", what)
                        .with_source(why),
                )
            }
        }
    }
}

/// What `atlas images push` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PushReport {
    /// The images that registries have now, in the order in which they were named.
    pub pushed: Vec<PushedImage>,
    /// Rows whose image is a digest now, and before: their registry gave it when they were pushed.
    pub rows: usize,
    /// Rows that name no image.
    pub rows_without_image: usize,
}

/// Pushes images, and those that rows name; the rows then name them by the digests that the
/// registries gave. A dataset is written whole, or not at all where nothing changed. A row that names its image by
/// a digest was pushed before and stays.
///
/// # Errors
/// The first image that cannot be pushed, after the rows of those before it are written; a dataset
/// that cannot be read or written, or of which no row names an image.
///
/// # Cancellation
/// Raising `cx.cancel` ends the push in flight; rows of images that were pushed are written.
pub async fn push_images(
    cx: &RunContext,
    engine: &DockerEngine,
    logins: &RegistryLogins,
    images: &[String],
    datasets: &[PathBuf],
) -> Result<PushReport, Error> {
    let mut report = PushReport::default();
    let mut names: Vec<String> = images.to_vec();
    for path in datasets {
        let set = read_dataset(path, &ReadOptions::default())?;
        let of_rows = images_of(&set);
        if of_rows.is_empty() {
            let what = format!("`{}`", path.display());
            let why = "no row of it names an image: rows of the local engine have none";
            return Err(
                Error::new(ErrorKind::InvalidInput, "push the images of", what).with_source(why),
            );
        }
        report.rows_without_image += set.rows.len() - of_rows.len();
        names.extend(of_rows.into_iter().filter(|name| !name.contains('@')));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let mut ended = Ok(());
    for name in names {
        match push(cx, engine, logins, &name).await {
            Ok(pushed) => report.pushed.push(pushed),
            Err(why) => {
                ended = Err(why);
                break;
            }
        }
    }
    let known: BTreeMap<&str, &str> = report
        .pushed
        .iter()
        .map(|pushed| (pushed.image.as_str(), pushed.reference.as_str()))
        .collect();
    for path in datasets {
        report.rows += name_by_digest(path, &known)?;
    }
    ended.map(|()| report)
}

async fn push(
    cx: &RunContext,
    engine: &DockerEngine,
    logins: &RegistryLogins,
    name: &str,
) -> Result<PushedImage, Error> {
    cx.check("push image")?;
    let (logins, host) = (logins.clone(), atlas_docker::registry(name).to_owned());
    // A helper is a program that may wait.
    let login = tokio::task::spawn_blocking(move || logins.of(&host))
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, "read", "logins").with_source(why))??;
    engine.push(cx, name, login.as_ref()).await
}

/// The images that rows name, with those of other rows.
fn images_of(set: &Dataset) -> Vec<String> {
    let named = set.rows.iter().filter_map(|row| row.text(COLUMN));
    named
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Writes the new names into a dataset; how many rows name their image by a digest then. It is read
/// anew: while images were on their way, somebody may have added rows.
fn name_by_digest(path: &Path, known: &BTreeMap<&str, &str>) -> Result<usize, Error> {
    let folder = path.parent().unwrap_or(Path::new(".")).join(".atlas");
    let _lock = folder
        .is_dir()
        .then(|| lock(&folder.join("dataset.lock")))
        .transpose()?;
    let mut set = read_dataset(path, &ReadOptions::default())?;
    let (mut changed, mut pinned) = (false, 0);
    for row in &mut set.rows {
        let Some(name) = row.text(COLUMN) else {
            continue;
        };
        if name.contains('@') {
            pinned += 1;
        } else if let Some(reference) = known.get(name) {
            row.set(COLUMN, *reference).map_err(|why| {
                let what = format!("`{}`", path.display());
                Error::new(ErrorKind::Internal, "name the images of", what).with_source(why)
            })?;
            (changed, pinned) = (true, pinned + 1);
        }
    }
    if changed {
        set.write(path)?;
    }
    Ok(pinned)
}

#[cfg(test)]
mod tests {
    use super::name_by_digest;
    use std::collections::BTreeMap;

    #[test]
    fn rows_name_what_was_pushed_and_nothing_else_of_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let text = "{\"instance_id\": \"a__a-1\", \"image\": \"r.example/a:1\", \"n\": 1.0}\n\
                    {\"instance_id\":\"a__a-2\",\"image\":\"r.example/a@sha256:0b\"}\n\
                    {\"instance_id\":\"a__a-3\",\"image\":\"r.example/other:1\"}\n\
                    {\"instance_id\":\"a__a-4\",\"image\":\"\"}\n";
        std::fs::write(&path, text).unwrap();
        let known = BTreeMap::from([("r.example/a:1", "r.example/a@sha256:0a")]);
        assert_eq!(name_by_digest(&path, &known).unwrap(), 2);
        let expected = text.replace("r.example/a:1", "r.example/a@sha256:0a");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        // Once more there is nothing to do.
        assert_eq!(name_by_digest(&path, &known).unwrap(), 2);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }
}
