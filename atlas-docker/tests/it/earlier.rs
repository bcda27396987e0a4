//! What a build takes of the image of an earlier commit.

use crate::engines::Engine;
use crate::support::{built, plan, repository};
use atlas_docker::{Builder, DockerBuilder};
use std::path::Path;

/// Runs a script in a checkout that is a repository, and gives what it prints.
fn git_in(checkout: &Path) -> impl Fn(&str) -> String + use<> {
    let checkout = checkout.to_owned();
    move |script| {
        let script = format!("git config user.name a && git config user.email a@b.c && {script}");
        let done = std::process::Command::new("bash")
            .args(["-ec", &format!("[ -d .git ] || git init -q .; {script}")])
            .current_dir(&checkout)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "{script}: {done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }
}

/// A template that keeps objects, with a note in the place of each.
const OBJECTS: &str = r#"ARG BASE=debian:bookworm-slim
ARG EARLIER=dependencies

FROM ${BASE} AS base
SHELL ["/bin/bash", "-eo", "pipefail", "-c"]
RUN mkdir -p /testbed /opt/atlas/objects

FROM base AS dependencies
RUN echo TOOLCHAIN

FROM ${EARLIER} AS earlier

FROM dependencies AS build
COPY --from=earlier /opt/atlas/objects/ /opt/atlas/objects/
ADD repo.tar /testbed/
RUN echo "found $(ls /opt/atlas/objects | tr '\n' ' ')"; touch "/opt/atlas/objects/$(cat /testbed/name)"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_build_takes_objects_of_an_ancestor_and_of_no_other() {
    for engine in Engine::all("objects").await {
        let folder = tempfile::tempdir().unwrap();
        let mut repository = repository(folder.path());
        let git = git_in(&repository.checkout);
        let commit = |name: &str, parent: &str| {
            git(&format!(
                "{{ [ -z '{parent}' ] || git checkout -q '{parent}'; }} && echo {name} > name && \
                 git add . && git commit -q -m {name} && git rev-parse HEAD"
            ))
        };
        let first = commit("first", "");
        let second = commit("second", &first);
        let third = commit("third", &second);
        let beside = commit("beside", &first);
        let dockerfile = format!("# {}\n{OBJECTS}", engine.label);
        let other = dockerfile.replace("TOOLCHAIN", "another");
        let builder = DockerBuilder::new(engine.connection.clone());
        let anew = DockerBuilder::from_scratch(engine.connection.clone());
        let rows: [(&DockerBuilder, &str, &str, &str); 7] = [
            (&builder, &third, &dockerfile, ""),
            // What is younger is not taken.
            (&builder, &first, &dockerfile, ""),
            (&builder, &second, &dockerfile, "first "),
            (&builder, &beside, &dockerfile, "first "),
            (&builder, &third, &other, ""),
            (
                &builder,
                &third,
                &dockerfile.replace("found", "once more: found"),
                "third ",
            ),
            (&anew, &second, &dockerfile, ""),
        ];
        for (builder, at, dockerfile, expected) in rows {
            git(&format!("git checkout -q {at}"));
            repository.base = at.parse().unwrap();
            let (environment, _, log) = built(builder, &repository, &plan(&[]), dockerfile).await;
            let line = log
                .lines()
                .rfind(|line| line.contains("found ") && !line.contains("RUN"));
            let found = line.and_then(|line| line.split_once("found ")).unwrap().1;
            assert_eq!(found.trim_end(), expected.trim_end(), "{at}: {log}");
            if std::ptr::eq(builder, &raw const anew) {
                builder.discard(&environment.image).await.unwrap();
            }
        }
    }
}

/// A template whose dependencies are compiled upon those of an earlier commit, with a note in the place of each.
/// Its first step is no other test's: one that builds without the cache makes newer layers of the steps that it has,
/// and the engine takes the newest.
const CACHE: &str = r#"ARG BASE=debian:bookworm-slim
ARG EARLIER=base

FROM ${BASE} AS base
LABEL atlas.tests=cache
SHELL ["/bin/bash", "-eo", "pipefail", "-c"]
RUN mkdir -p /testbed /opt/atlas/cache

FROM ${EARLIER} AS earlier

FROM base AS dependencies
COPY --from=earlier /opt/atlas/cache/ /opt/atlas/cache/
COPY manifests/ /testbed/
RUN echo "found $(ls /opt/atlas/cache | tr '\n' ' ')"; touch "/opt/atlas/cache/$(cat /testbed/go.mod)"

FROM dependencies AS build
ADD repo.tar /testbed/
RUN echo "sources of $(cat /testbed/name)"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn dependencies_of_an_ancestor_are_taken_and_layers_with_the_same_are_shared() {
    for engine in Engine::all("cache").await {
        let folder = tempfile::tempdir().unwrap();
        let mut repository = repository(folder.path());
        let git = git_in(&repository.checkout);
        let mut parent = String::new();
        let mut commit = |name: &str, manifest: &str| {
            let from = std::mem::take(&mut parent);
            parent = git(&format!(
                "{{ [ -z '{from}' ] || git checkout -q '{from}'; }} && echo {name} > name && \
                 echo {manifest} > go.mod && git add . && git commit -q -m {name} && git rev-parse HEAD"
            ));
            parent.clone()
        };
        let first = commit("first", "a");
        let second = commit("second", "b");
        let third = commit("third", "b");
        let fourth = commit("fourth", "a");
        let dockerfile = format!("# {}\n{CACHE}", engine.label);
        let builder = DockerBuilder::new(engine.connection.clone());
        let rows: [(&str, Option<&str>); 4] = [
            (&first, Some("")),
            (&second, Some("a")),
            // The layers of the second and of the first: nothing is compiled.
            (&third, None),
            (&fourth, None),
        ];
        for (at, expected) in rows {
            git(&format!("git checkout -q {at}"));
            repository.base = at.parse().unwrap();
            let (.., log) = built(&builder, &repository, &plan(&[]), &dockerfile).await;
            let found = log
                .lines()
                .filter(|line| !line.contains("RUN"))
                .find_map(|line| line.split_once("found "))
                .map(|(_, found)| found.trim_end());
            assert_eq!(found, expected, "{at}: {log}");
            assert!(log.contains("sources of "), "{at}: {log}");
        }
    }
}
