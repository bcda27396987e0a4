//! What the name of a container image says of the toolchain within.

use regex::Regex;
use std::sync::LazyLock;

/// Image name -> toolchain, where they differ. The last part of the image's path counts, so that
/// `cimg/go`, `library/golang` and a mirror's copy are all the same.
const TOOLCHAINS: &[(&str, &str)] = &[
    ("golang", "go"),
    ("javascript-node", "node"),
    ("typescript-node", "node"),
    ("maven", "java"),
    ("gradle", "java"),
    ("openjdk", "java"),
    ("eclipse-temurin", "java"),
    ("amazoncorretto", "java"),
    ("adoptopenjdk", "java"),
    ("ibm-semeru-runtimes", "java"),
    ("sdk", "dotnet"),
    ("dotnet-sdk", "dotnet"),
    ("dotnetcore-sdk", "dotnet"),
    ("clang", "clang"),
];

/// An image's name and what is known of the versions in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Image {
    /// The last part of its path.
    pub(super) name: String,
    /// The toolchain it is for: the name, or the one that the table knows.
    pub(super) toolchain: String,
    /// The toolchain's version; `None` for a tag without any.
    pub(super) version: Option<String>,
    /// The version of the image's own name: Maven's where the toolchain is Java.
    pub(super) own: Option<String>,
}

/// Reads `python:3.8-slim`, `registry.example.org:5000/mirror/cimg/go:1.20@sha256:…`,
/// `mcr.microsoft.com/devcontainers/python:1-3.11-bookworm`, `maven:3.9-eclipse-temurin-17`.
pub(super) fn read(reference: &str) -> Option<Image> {
    static JAVA: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:jdk|temurin|corretto|openjdk|semeru|zulu|sapmachine|liberica)-?(\d+)")
            .expect("a literal pattern")
    });
    static VERSION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^v?(\d+(?:\.\d+)*)(?:$|[-_+.a-z])").expect("a literal pattern")
    });
    // Development containers carry the version of the container first: `1-3.11-bookworm`.
    static CONTAINER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\d+(?:\.\d+)*-(\d.*)$").expect("a literal pattern"));

    let reference = reference.trim().trim_start_matches("docker://");
    let reference = reference
        .split_once('@')
        .map_or(reference, |(name, _)| name);
    if reference.is_empty() || reference.contains(['$', '<', '{', ' ']) {
        return None;
    }
    let (path, tag) = match reference.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (reference, None),
    };
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let known = TOOLCHAINS.iter().find(|(image, _)| *image == name);
    let toolchain = known.map_or(name.as_str(), |(_, toolchain)| *toolchain);
    let tag = tag.unwrap_or_default().to_ascii_lowercase();
    let plain = match CONTAINER.captures(&tag) {
        Some(found) if path.contains("devcontainers/") => found[1].to_owned(),
        _ => tag.clone(),
    };
    let version = if toolchain == "java" {
        let own = !matches!(name.as_str(), "maven" | "gradle");
        JAVA.captures(&tag)
            .map(|found| found[1].to_owned())
            .or_else(|| {
                let found = VERSION.captures(&plain).filter(|_| own)?;
                Some(java(&found[1]))
            })
    } else {
        VERSION
            .captures(&plain)
            .map(|found| found[1].to_owned())
            // `rust:nightly` has no number and is a version nonetheless.
            .or_else(|| (plain == "nightly").then(|| plain.clone()))
    };
    Some(Image {
        toolchain: toolchain.to_owned(),
        name,
        version,
        own: VERSION.captures(&plain).map(|found| found[1].to_owned()),
    })
}

/// The number by which a Java release is known: of `1.8` it is 8, of `17.0.2` 17.
pub(super) fn java(text: &str) -> String {
    let text = text.strip_prefix("1.").unwrap_or(text);
    text.split('.').next().unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn names_and_versions() {
        for (reference, expected) in [
            ("python:3.8", "python 3.8"),
            ("python:3.12.1-slim-bookworm@sha256:00", "python 3.12.1"),
            ("host.example:5000/mirror/python:3.10-alpine", "python 3.10"),
            ("host.example:5000/python", "python -"),
            ("python", "python -"),
            ("cimg/go:1.20", "go 1.20"),
            ("circleci/node:14-browsers", "node 14"),
            ("golang:1.21rc2", "go 1.21"),
            (
                "mcr.microsoft.com/devcontainers/python:1-3.11-bookworm",
                "python 3.11",
            ),
            ("mcr.microsoft.com/devcontainers/python:3.11", "python 3.11"),
            (
                "mcr.microsoft.com/vscode/devcontainers/javascript-node:0-18",
                "node 18",
            ),
            ("mcr.microsoft.com/dotnet/sdk:8.0-jammy", "dotnet 8.0"),
            ("maven:3.9-eclipse-temurin-17", "java 17"),
            ("maven:3.6-jdk-11-slim", "java 11"),
            ("maven:3.6", "java -"),
            ("gradle:7.6-jdk17", "java 17"),
            ("openjdk:8-jdk", "java 8"),
            ("eclipse-temurin:21.0.2_13-jdk", "java 21"),
            ("cimg/openjdk:17.0", "java 17"),
            ("rustlang/rust:nightly", "rust nightly"),
            ("gcc:12", "gcc 12"),
            ("docker://ruby:3.2", "ruby 3.2"),
            ("php:8.2-cli", "php 8.2"),
            ("ubuntu:22.04", "ubuntu 22.04"),
        ] {
            let image = read(reference).unwrap();
            let version = image.version.as_deref().unwrap_or("-");
            assert_eq!(
                format!("{} {version}", image.toolchain),
                expected,
                "{reference}"
            );
        }
        for none in ["", "python:$VERSION", "<< parameters.image >>", "a b"] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
