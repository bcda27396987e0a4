//! Which base image a build really starts from.

use super::{DockerEngine, fault};
use atlas_core::{EnvironmentPlan, Error, ErrorKind, RunContext};
use bollard::errors::Error as Fault;
use bollard::query_parameters::{CreateImageOptionsBuilder, ListImagesOptionsBuilder};
use futures_util::StreamExt;

/// A base image that is on the engine's machine.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// What `FROM` is given: name and digest where the image has one, else its id.
    pub(super) reference: String,
    /// Digest in its registry, or its id.
    pub(super) id: String,
}

/// Finds the plan's base image: on this machine, by one pull, or as the nearest version of the
/// same image that is here. The plan is changed to what was taken. An image named by its digest is
/// that one or none.
///
/// # Errors
/// [`ErrorKind::ImageMissing`] when none can be had: never a property of the repository.
pub(super) async fn resolve(
    engine: &DockerEngine,
    cx: &RunContext,
    plan: &mut EnvironmentPlan,
) -> Result<Base, Error> {
    let wanted = plan.base_image.clone();
    if wanted.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "environment plan",
            "field `base_image` is empty: the Docker engine needs an image to start from",
        ));
    }
    if let Some(base) = local(engine, &wanted).await? {
        return Ok(base);
    }
    let why = if engine.options().pull {
        match pull(engine, cx, &wanted).await? {
            Ok(()) => match local(engine, &wanted).await? {
                Some(base) => return Ok(base),
                None => "the pull left no such image".to_owned(),
            },
            Err(why) => why,
        }
    } else {
        "pulling is switched off".to_owned()
    };
    let pinned = digest(&wanted).is_some();
    let missing = |note: &str| {
        let way = if pinned {
            // An archive of `docker save` holds no digests.
            "here where there is a network, or name the base image by a tag"
        } else {
            "where there is a network, then `docker save` and `docker load`, or name another base image"
        };
        Error::new(
            ErrorKind::ImageMissing,
            "base image",
            format!(
                "`{wanted}`: not on this machine, and {why}{note}. `docker pull {wanted}` {way}"
            ),
        )
    };
    if pinned {
        return Err(missing("; a digest names one image, no near version of it"));
    }
    if engine.options().exact {
        return Err(missing("; a near version was not allowed"));
    }
    let tags = local_tags(engine).await?;
    let Some(near) = nearest(&wanted, tags.iter().map(String::as_str)) else {
        return Err(missing("; no other version of it is here"));
    };
    let base = local(engine, near)
        .await?
        .ok_or_else(|| missing("; a near version vanished meanwhile"))?;
    tracing::debug!(%wanted, %near, "base image replaced");
    plan.drift
        .push(format!("base image `{wanted}` replaced by `{near}`: {why}"));
    near.clone_into(&mut plan.base_image);
    Ok(base)
}

async fn local(engine: &DockerEngine, name: &str) -> Result<Option<Base>, Error> {
    let (repository, _) = split(name);
    // Of tag and digest the digest decides; engines differ in what they make of both.
    let exact = digest(name).map(|digest| format!("{repository}@{digest}"));
    let asked = exact.as_deref().unwrap_or(name);
    match engine.docker().inspect_image(asked).await {
        Ok(image) => {
            let id = image.id.unwrap_or_default();
            let digest = exact.or_else(|| {
                image
                    .repo_digests
                    .unwrap_or_default()
                    .into_iter()
                    .find(|digest| digest.split('@').next() == Some(repository))
            });
            let reference = digest.unwrap_or_else(|| id.clone());
            Ok(Some(Base {
                id: reference
                    .split_once('@')
                    .map_or_else(|| id, |(_, digest)| digest.to_owned()),
                reference,
            }))
        }
        Err(Fault::DockerResponseServerError {
            status_code: 404, ..
        }) => Ok(None),
        Err(why) => Err(fault("inspect image", name, why)),
    }
}

/// Pulls; the inner error says in words why there is no image.
async fn pull(
    engine: &DockerEngine,
    cx: &RunContext,
    name: &str,
) -> Result<Result<(), String>, Error> {
    cx.progress.detail(&format!("pull {name}"));
    let (repository, version) = offered(name);
    let options = CreateImageOptionsBuilder::default()
        .from_image(repository)
        .tag(version);
    let mut stream = Box::pin(
        engine
            .docker()
            .create_image(Some(options.build()), None, None),
    );
    let work = async {
        while let Some(item) = stream.next().await {
            item?;
        }
        Ok::<(), Fault>(())
    };
    let ended = tokio::select! {
        () = cx.cancel.cancelled() => {
            return Err(Error::new(ErrorKind::Cancelled, "pull", format!("`{name}`")));
        }
        ended = tokio::time::timeout(engine.options().pull_timeout, work) => ended,
    };
    Ok(match ended {
        Err(_) => Err(format!(
            "its pull did not end within {} s",
            engine.options().pull_timeout.as_secs()
        )),
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => {
            let message = why.to_string();
            let lower = message.to_lowercase();
            let unknown = [
                "manifest unknown",
                "not found",
                "does not exist",
                "access denied",
                "no such image",
            ];
            let network = ["lookup ", "dial tcp", "timeout", "refused", "unreachable"];
            Err(if network.iter().any(|word| lower.contains(word)) {
                format!("its registry could not be reached ({message})")
            } else if unknown.iter().any(|word| lower.contains(word)) {
                format!("its registry does not offer it ({message})")
            } else {
                format!("its pull failed ({message})")
            })
        }
    })
}

async fn local_tags(engine: &DockerEngine) -> Result<Vec<String>, Error> {
    let options = ListImagesOptionsBuilder::default().build();
    let images = engine
        .docker()
        .list_images(Some(options))
        .await
        .map_err(|why| fault("list images of", "the engine", why))?;
    let mut tags: Vec<_> = images.into_iter().flat_map(|i| i.repo_tags).collect();
    tags.sort();
    Ok(tags)
}

/// Repository and tag; a colon before a slash belongs to a port, a digest is no tag.
fn split(name: &str) -> (&str, Option<&str>) {
    let name = name.split('@').next().unwrap_or(name);
    match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (name, None),
    }
}

/// The digest in `name@sha256:…` and `name:tag@sha256:…`.
fn digest(name: &str) -> Option<&str> {
    name.split_once('@').map(|(_, digest)| digest)
}

/// What to ask a registry for: a repository, and a digest or a tag of it, which engines take in
/// the same place.
fn offered(name: &str) -> (&str, &str) {
    let (repository, tag) = split(name);
    (repository, digest(name).or(tag).unwrap_or("latest"))
}

/// Version numbers that a tag starts with, and what follows: `3.11-slim` -> `[3, 11]`, `slim`.
fn version(tag: &str) -> (Vec<u64>, &str) {
    let (numbers, variant) = tag.split_once('-').unwrap_or((tag, ""));
    let parsed: Option<Vec<u64>> = numbers.split('.').map(|part| part.parse().ok()).collect();
    match parsed {
        Some(parsed) => (parsed, variant),
        None => (Vec::new(), tag),
    }
}

/// The local image nearest to the wanted one.
///
/// Go and Rust compile older code with newer toolchains, so the smallest version not below the
/// wanted one is taken, else the largest. Python and Node break between versions in both
/// directions: the same major version, then the nearest minor one; another major version of Node
/// is taken for want of a better one, of Python never (2 and 3 are two languages).
fn nearest<'a>(wanted: &str, tags: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (repository, tag) = split(wanted);
    let (goal, variant) = version(tag.unwrap_or("latest"));
    let image = repository.rsplit('/').next().unwrap_or(repository);
    let by_major = matches!(image, "python" | "node");
    let musl = |variant: &str| variant.contains("alpine");
    let windows = |variant: &str| variant.contains("windows") || variant.contains("nanoserver");
    tags.filter_map(|name| {
        let (other, tag) = split(name);
        let (found, found_variant) = version(tag?);
        let usable = other == repository
            && !found.is_empty()
            && musl(found_variant) == musl(variant)
            && windows(found_variant) == windows(variant);
        if !usable {
            return None;
        }
        let part = |numbers: &[u64], at: usize| numbers.get(at).copied().unwrap_or(0);
        let newest_first = || found.iter().map(|n| u64::MAX - n).collect::<Vec<_>>();
        let rank = if goal.is_empty() {
            (0, newest_first())
        } else if by_major {
            let majors = part(&found, 0).abs_diff(part(&goal, 0));
            if majors > 0 && image == "python" {
                return None;
            }
            let minors = part(&found, 1).abs_diff(part(&goal, 1));
            // Of two minor versions equally far away the newer one.
            let older = u64::from(part(&found, 1) < part(&goal, 1));
            (majors, vec![minors, older])
        } else if found >= goal {
            (0, found.clone())
        } else {
            (1, newest_first())
        };
        Some(((rank, u8::from(found_variant != variant)), name))
    })
    .min()
    .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{nearest, offered};

    fn check(wanted: &str, tags: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(wanted, tags.iter().copied()), expected, "{wanted}");
    }

    #[test]
    fn newer_toolchains_compile_older_code() {
        let tags = [
            "golang:1.20",
            "golang:1.23-bookworm",
            "golang:1.25",
            "go:1.22",
        ];
        check("golang:1.21-bookworm", &tags, Some("golang:1.23-bookworm"));
        check("golang:1.26", &tags, Some("golang:1.25"));
        check("rust:1.70", &tags, None);
    }

    #[test]
    fn the_variant_decides_between_equal_versions() {
        let tags = ["rust:1.80", "rust:1.80-slim-bookworm", "rust:1.80-alpine"];
        check(
            "rust:1.75-slim-bookworm",
            &tags,
            Some("rust:1.80-slim-bookworm"),
        );
        check("rust:1.75", &tags, Some("rust:1.80"));
        check("rust:1.75-alpine3.20", &tags, Some("rust:1.80-alpine"));
    }

    #[test]
    fn python_and_node_stay_within_their_major_version() {
        let tags = [
            "python:2.7",
            "python:3.9-slim",
            "python:3.11-slim",
            "python:latest",
        ];
        check("python:3.8-slim", &tags, Some("python:3.9-slim"));
        check("python:3.10-slim", &tags, Some("python:3.11-slim"));
        check("python:4.0", &tags, None);
        check(
            "node:18-slim",
            &["node:20-slim", "node:24-slim"],
            Some("node:20-slim"),
        );
    }

    #[test]
    fn a_digest_is_pulled_as_it_is() {
        for (name, expected) in [
            ("python@sha256:0a", ("python", "sha256:0a")),
            ("python:3.12@sha256:0a", ("python", "sha256:0a")),
            ("host:5000/a/b@sha256:0a", ("host:5000/a/b", "sha256:0a")),
            ("host:5000/a/b", ("host:5000/a/b", "latest")),
            ("python:3.12", ("python", "3.12")),
        ] {
            assert_eq!(offered(name), expected);
        }
    }

    #[test]
    fn a_registry_port_is_no_tag() {
        check(
            "host:5000/golang",
            &["host:5000/golang:1.22"],
            Some("host:5000/golang:1.22"),
        );
        check("debian:bullseye-slim", &["debian:bookworm-slim"], None);
    }
}
