//! Which base image a build really starts from.

use super::names::{digest, familiar, overridden, places, split};
use super::pull::pull;
use super::{DockerEngine, fault};
use atlas_core::{EnvironmentPlan, Error, ErrorKind, RunContext};
use bollard::errors::Error as Fault;
use bollard::query_parameters::ListImagesOptionsBuilder;

/// A base image that is on the engine's machine.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// What `FROM` is given: name and digest where the image has one, else its id.
    pub(super) reference: String,
    /// Digest in its registry, or its id.
    pub(super) id: String,
}

/// Finds the plan's base image, or what the configuration puts in its place: on this machine, at a
/// mirror or its registry, or as the nearest version of the same image that is here. The plan is
/// changed to what was taken. An image named by its digest is
/// that one or none.
///
/// # Errors
/// [`ErrorKind::ImageMissing`] when none can be had: never a property of the repository.
pub(super) async fn resolve(
    engine: &DockerEngine,
    cx: &RunContext,
    plan: &mut EnvironmentPlan,
) -> Result<Base, Error> {
    let options = engine.options();
    if let Some(other) = overridden(&plan.base_image, &options.base_images) {
        plan.drift.push(format!(
            "base image `{}` replaced by `{other}`: configured",
            plan.base_image
        ));
        plan.base_image = other;
    }
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
    let places = places(&wanted, &options.mirrors);
    for place in &places {
        if let Some(base) = local(engine, place).await? {
            return Ok(base);
        }
    }
    let why = if options.pull {
        match pull(engine, cx, &places).await? {
            Ok(place) => match local(engine, &place).await? {
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
    let level = plan
        .docker_specs
        .get("java_level")
        .and_then(|level| level.as_str()?.parse::<u64>().ok())
        // A newer JDK is among the substitutes.
        .filter(|_| options.registries.substitute.is_none());
    let tags = tags.iter().map(String::as_str);
    let near = match jdk(&wanted) {
        Some(goal) => nearest_jdk(&wanted, goal, level.unwrap_or(0), tags),
        None => nearest(&wanted, tags),
    };
    let Some(near) = near else {
        return Err(match (jdk(&wanted), level) {
            (Some(_), Some(level)) => missing(&format!(
                "; no JDK that takes language level {level} is here"
            )),
            _ => missing("; no other version of it is here"),
        });
    };
    let base = local(engine, near)
        .await?
        .ok_or_else(|| missing("; a near version vanished meanwhile"))?;
    tracing::debug!(%wanted, %near, "base image replaced");
    plan.drift
        .push(format!("base image `{wanted}` replaced by `{near}`: {why}"));
    specify(plan, near);
    near.clone_into(&mut plan.base_image);
    Ok(base)
}

/// Names in a plan's specs the toolchain that is used, as the image in its place has it.
fn specify(plan: &mut EnvironmentPlan, image: &str) {
    let (repository, tag) = split(image);
    let field = match repository.rsplit('/').next().unwrap_or(repository) {
        "golang" => "go_version".to_owned(),
        "maven" | "gradle" | "eclipse-temurin" | "openjdk" | "amazoncorretto" => {
            "java_version".to_owned()
        }
        name => format!("{name}_version"),
    };
    let found = if let Some(jdk) = jdk(image) {
        jdk.to_string()
    } else {
        let parts: Vec<String> = version(tag.unwrap_or_default())
            .0
            .iter()
            .map(u64::to_string)
            .collect();
        parts.join(".")
    };
    if let Some(spec) = plan.docker_specs.get_mut(&field)
        && !found.is_empty()
    {
        *spec = found.into();
    }
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
                    // One under `localhost/` was computed here: no registry knows it.
                    .filter(|digest| !digest.starts_with("localhost/"))
                    .find(|digest| {
                        digest.split('@').next().map(familiar) == Some(familiar(repository))
                    })
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

async fn local_tags(engine: &DockerEngine) -> Result<Vec<String>, Error> {
    let options = ListImagesOptionsBuilder::default().build();
    let images = engine
        .docker()
        .list_images(Some(options))
        .await
        .map_err(|why| fault("list images of", "the engine", why))?;
    let mut tags: Vec<_> = images
        .into_iter()
        .flat_map(|image| image.repo_tags)
        .map(|tag| familiar(&tag).to_owned())
        .collect();
    tags.sort();
    Ok(tags)
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
/// wanted one is taken, else the largest. Python, Node, Ruby and PHP break between versions in both
/// directions: the same major version, then the nearest minor one; another major version is taken
/// for want of a better one, of Python never (2 and 3 are two languages).
fn nearest<'a>(wanted: &str, tags: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (repository, tag) = split(wanted);
    let (goal, variant) = version(tag.unwrap_or("latest"));
    let image = repository.rsplit('/').next().unwrap_or(repository);
    let by_major = matches!(image, "python" | "node" | "ruby" | "php");
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

/// The JDK in a tag (`3-eclipse-temurin-17`, `8.5-jdk21`), or of an image that is one
/// (`eclipse-temurin:17-jdk`).
fn jdk(name: &str) -> Option<u64> {
    let (repository, tag) = split(name);
    let tag = tag?;
    let image = repository.rsplit('/').next().unwrap_or(repository);
    let after = match image {
        "eclipse-temurin" | "openjdk" | "amazoncorretto" if !tag.contains("jre") => tag,
        "maven" | "gradle" => ["temurin-", "corretto-", "openjdk-", "jdk-", "jdk"]
            .iter()
            .find_map(|mark| Some(tag.split_once(mark)?.1))?,
        _ => return None,
    };
    let digits = after.find(|c: char| !c.is_ascii_digit());
    after[..digits.unwrap_or(after.len())].parse().ok()
}

/// The local image with the JDK nearest to the wanted one.
///
/// A newer JDK compiles older code, so the smallest one not below the goal is taken, else the largest
/// one that still knows the level that the code is written for (`level`, 0 where nothing names one).
/// Where a build brings its own tool, as Gradle's wrapper does, any image with a JDK will do.
fn nearest_jdk<'a>(
    wanted: &str,
    goal: u64,
    level: u64,
    tags: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let (repository, tag) = split(wanted);
    let (place, image) = repository.rsplit_once('/').unwrap_or(("", repository));
    let (numbers, _) = version(tag.unwrap_or_default());
    tags.filter_map(|name| {
        let (other, tag) = split(name);
        let (other_place, other_image) = other.rsplit_once('/').unwrap_or(("", other));
        let usable = other_place == place
            && (other_image == image
                || image == "gradle" && matches!(other_image, "maven" | "eclipse-temurin"))
            && tag?.contains("alpine") == wanted.contains("alpine");
        let found = jdk(name).filter(|found| usable && *found >= level)?;
        let order = if found >= goal {
            (0, found - goal)
        } else {
            (1, goal - found)
        };
        let same_tool = version(tag?).0 == numbers;
        Some(((order, other_image != image, !same_tool), name))
    })
    .min()
    .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use atlas_core::EnvironmentPlan;

    use super::{jdk, nearest, nearest_jdk, specify};

    fn check(wanted: &str, tags: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(wanted, tags.iter().copied()), expected, "{wanted}");
    }

    #[test]
    fn specs_name_the_toolchain_that_is_used() {
        for (field, planned, image, used) in [
            (
                "python_version",
                "3.14",
                "python:3.11-slim-bookworm",
                "3.11",
            ),
            ("go_version", "1.25", "golang:1.23-bookworm", "1.23"),
            ("java_version", "11", "maven:3-eclipse-temurin-17", "17"),
            ("node_version", "26", "registry.example/node:20.1", "20.1"),
            ("node_version", "26", "node:latest", "26"),
        ] {
            let mut plan = EnvironmentPlan::default();
            plan.docker_specs.insert(field.to_owned(), planned.into());
            specify(&mut plan, image);
            assert_eq!(plan.docker_specs[field], used, "{image}");
            assert_eq!(plan.docker_specs.len(), 1);
        }
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
        let php = ["php:7.4-cli", "php:8.2-cli-bookworm"];
        check("php:8.3-cli-bookworm", &php, Some("php:8.2-cli-bookworm"));
        check("php:5.6-cli", &php, Some("php:7.4-cli"));
    }

    #[test]
    fn the_jdk_of_a_tag_decides() {
        let tags = [
            "eclipse-temurin:21-jdk",
            "gradle:8.5-jdk21",
            "maven:3-eclipse-temurin-17",
            "maven:3-eclipse-temurin-21-alpine",
            "maven:3.9-eclipse-temurin-11",
        ];
        for (wanted, level, expected) in [
            (
                "maven:3-eclipse-temurin-8",
                7,
                Some("maven:3.9-eclipse-temurin-11"),
            ),
            (
                "maven:3.8-eclipse-temurin-17",
                8,
                Some("maven:3-eclipse-temurin-17"),
            ),
            (
                "maven:3-eclipse-temurin-21",
                17,
                Some("maven:3-eclipse-temurin-17"),
            ),
            ("maven:3-eclipse-temurin-21", 21, None),
            ("gradle:7.6-jdk17", 0, Some("maven:3-eclipse-temurin-17")),
            ("gradle:8.2-jdk20", 0, Some("gradle:8.5-jdk21")),
            ("host/gradle:8.2-jdk20", 0, None),
        ] {
            let goal = jdk(wanted).unwrap();
            let found = nearest_jdk(wanted, goal, level, tags.into_iter());
            assert_eq!(found, expected, "{wanted}");
        }
        for name in ["maven:3", "python:3.17", "eclipse-temurin:17-jre"] {
            assert_eq!(jdk(name), None, "{name}");
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
