//! Names of images, as far as engines and registries disagree on them.

use std::collections::BTreeMap;

/// The registry that a name without one means.
const HUB: &str = "docker.io";

/// A name as people write it: Podman says `docker.io/library/python:3.12` for one that was pulled
/// and `localhost/python:3.12` for one that was loaded, Docker says `python:3.12` for both.
pub(super) fn familiar(name: &str) -> &str {
    for prefix in ["docker.io/library/", "docker.io/", "localhost/"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            return rest;
        }
    }
    name
}

/// Repository and tag; a colon before a slash belongs to a port, a digest is no tag.
pub(super) fn split(name: &str) -> (&str, Option<&str>) {
    let name = name.split('@').next().unwrap_or(name);
    match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (name, None),
    }
}

/// The digest in `name@sha256:…` and `name:tag@sha256:…`.
pub(super) fn digest(name: &str) -> Option<&str> {
    name.split_once('@').map(|(_, digest)| digest)
}

/// What to ask a registry for: a repository, and a digest or a tag of it, which engines take in
/// the same place.
pub(super) fn offered(name: &str) -> (&str, &str) {
    let (repository, tag) = split(name);
    (repository, digest(name).or(tag).unwrap_or("latest"))
}

/// The registry that an image's name says: `docker.io` where it says none.
pub fn registry(name: &str) -> &str {
    match name.split_once('/') {
        Some((first, _)) if first.contains(['.', ':']) || first == "localhost" => first,
        _ => HUB,
    }
}

/// Where an image can be had: at the mirrors of its registry in their order, then at its own.
pub(super) fn places(name: &str, mirrors: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let name = familiar(name);
    let registry = registry(name);
    let path = match name.split_once('/') {
        Some((first, rest)) if first == registry => rest.to_owned(),
        Some(_) => name.to_owned(),
        None => format!("library/{name}"),
    };
    let mut places: Vec<String> = mirrors
        .get(registry)
        .into_iter()
        .flatten()
        .map(|mirror| format!("{}/{path}", mirror.trim_end_matches('/')))
        .collect();
    places.push(name.to_owned());
    places
}

/// What the configuration puts in the place of an image: an entry for the whole name, else one for
/// its repository, which keeps the tag unless it has its own.
pub(super) fn overridden(name: &str, overrides: &BTreeMap<String, String>) -> Option<String> {
    let name = familiar(name);
    if let Some(other) = overrides.get(name) {
        return Some(other.clone());
    }
    let (repository, _) = split(name);
    let other = overrides.get(repository)?;
    let own = split(other).1.is_some() || digest(other).is_some();
    let rest = if own { "" } else { &name[repository.len()..] };
    Some(format!("{other}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::{familiar, offered, overridden, places};
    use std::collections::BTreeMap;

    #[test]
    fn engines_names_become_people_s() {
        for (name, expected) in [
            ("docker.io/library/python:3.12", "python:3.12"),
            ("docker.io/owner/image", "owner/image"),
            ("localhost/python:3.12", "python:3.12"),
            ("quay.io/owner/image", "quay.io/owner/image"),
        ] {
            assert_eq!(familiar(name), expected);
        }
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
    fn mirrors_come_first_and_only_for_their_registry() {
        let mirrors = BTreeMap::from([(
            "docker.io".to_owned(),
            vec!["one.example/hub/".to_owned(), "127.0.0.1:5000".to_owned()],
        )]);
        assert_eq!(
            places("python:3.12", &mirrors),
            [
                "one.example/hub/library/python:3.12",
                "127.0.0.1:5000/library/python:3.12",
                "python:3.12"
            ]
        );
        assert_eq!(
            places("owner/image@sha256:0a", &mirrors)[1],
            "127.0.0.1:5000/owner/image@sha256:0a"
        );
        assert_eq!(places("quay.io/a:1", &mirrors), ["quay.io/a:1"]);
        assert_eq!(
            places("localhost:5000/a:1", &mirrors),
            ["localhost:5000/a:1"]
        );
    }

    #[test]
    fn overrides_are_for_a_name_or_for_a_repository() {
        let overrides = BTreeMap::from(
            [
                ("python:3.8-slim", "corp.example/old-python:1"),
                ("python", "corp.example/python"),
                ("node", "corp.example/node:lts"),
            ]
            .map(|(from, to)| (from.to_owned(), to.to_owned())),
        );
        let check = |name| overridden(name, &overrides);
        assert_eq!(
            check("python:3.8-slim").unwrap(),
            "corp.example/old-python:1"
        );
        assert_eq!(check("python:3.12").unwrap(), "corp.example/python:3.12");
        assert_eq!(check("node:20").unwrap(), "corp.example/node:lts");
        assert_eq!(check("golang:1.23"), None);
        assert_eq!(check("other/python:3.12"), None);
    }
}
