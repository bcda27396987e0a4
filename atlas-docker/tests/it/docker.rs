//! What every engine behind the Docker API does alike: Docker and Podman, one suite.

use crate::engines::{Engine, options};
use crate::local::{MAKE_PRODUCTS, newer_check, overlay_check};
use crate::support::{
    DAEMON, FORK_BOMB, MEMORY_BOMB, WHO, built, failed, job, plan, repository, run, runs, text,
    victim, wait_until,
};
use atlas_core::{
    EnvironmentPlan, ErrorKind, ExitState, FileMode, ImageRef, JobFile, JobUser, RunContext,
    Sandbox,
};
use atlas_docker::{Builder, DockerBuilder, DockerEngine, DockerOptions, DockerSandbox};
use std::time::Duration;

/// Each test's own, so that no test reuses or removes another's image.
pub(crate) fn dockerfile(label: &str) -> String {
    format!("# {label}\n{DOCKERFILE}")
}

pub(crate) const DOCKERFILE: &str = r#"ARG BASE=debian:bookworm-slim
FROM ${BASE}
SHELL ["/bin/bash", "-eo", "pipefail", "-c"]
RUN useradd --uid 1000 --create-home atlas && \
    mkdir -p /testbed /opt/atlas/env /opt/atlas/cache /opt/atlas/in /opt/atlas/out && \
    chown atlas:atlas /testbed /opt/atlas/cache /opt/atlas/out
ADD --chown=1000:1000 repo.tar /testbed/
COPY head/ /opt/atlas/head/
WORKDIR /testbed
USER atlas
"#;

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_contract() {
    for engine in Engine::all("contract").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let (environment, ..) = built(
            &builder,
            &repository(folder.path()),
            &plan(&[]),
            &dockerfile(&engine.label),
        )
        .await;
        let sandbox = DockerSandbox::new(engine.connection.clone());
        atlas_core::testing::sandbox_contract(&sandbox, &environment).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn builds_once_and_keeps_scripts_apart() {
    for engine in Engine::all("apart").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let repository = repository(folder.path());
        let (environment, _, log) = built(
            &builder,
            &repository,
            &plan(&[]),
            &dockerfile(&engine.label),
        )
        .await;
        assert!(log.to_lowercase().contains("step 1/"), "{log}");
        let (again, seconds, log) = built(
            &builder,
            &repository,
            &plan(&[]),
            &dockerfile(&engine.label),
        )
        .await;
        assert_eq!(again.image, environment.image);
        assert!(seconds == 0.0 && log.contains("reused"), "{seconds} {log}");

        let sandbox = DockerSandbox::new(engine.connection.clone());
        let seen = run(&sandbox, &environment, &job("who", WHO)).await;
        assert_eq!(
            text(&seen),
            "1000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nlo\n\
         /opt/atlas/env/bin /home/atlas /testbed\n"
        );
        let isolation = &seen.isolation;
        assert!(isolation.network_off && isolation.no_privileges && isolation.non_root);
        let head = run(
            &sandbox,
            &environment,
            &job("head", "cat /opt/atlas/head/go.mod go.mod"),
        )
        .await;
        assert_eq!(text(&head), "head\nbase\n");
        overlay_check(&sandbox, &environment).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_laid_is_newer_than_what_was_built() {
    for engine in Engine::all("newer").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let made = format!(
            "{}RUN ATLAS_CACHE=/opt/atlas/cache; {MAKE_PRODUCTS}\n",
            dockerfile(&engine.label)
        );
        let repository = repository(folder.path());
        let (environment, ..) = built(&builder, &repository, &plan(&[]), &made).await;
        let sandbox = DockerSandbox::new(engine.connection.clone());
        newer_check(&sandbox, &environment).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bombs_are_bounded_and_daemons_die() {
    for engine in Engine::all("bombs").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let (environment, ..) = built(
            &builder,
            &repository(folder.path()),
            &plan(&[]),
            &dockerfile(&engine.label),
        )
        .await;
        let sandbox = DockerSandbox::new(engine.connection.clone());
        let memory = run(&sandbox, &environment, &job("memory", MEMORY_BOMB)).await;
        assert_eq!(memory.exit, ExitState::OutOfMemory, "{}", text(&memory));
        let child = format!("bash -c {}; exit 1", shell_word(MEMORY_BOMB));
        let memory = run(&sandbox, &environment, &job("memory of a child", &child)).await;
        assert_eq!(memory.exit, ExitState::OutOfMemory, "{}", text(&memory));

        let forks = run(&sandbox, &environment, &job("forks", FORK_BOMB)).await;
        let bounded = text(&forks)
            .trim()
            .parse::<u64>()
            .map_or(true, |n| n <= 200);
        assert!(bounded, "{}", text(&forks));

        let daemon = DAEMON.replace("98765", "98764");
        let daemon = run(&sandbox, &environment, &job("daemon", &daemon)).await;
        assert_eq!(daemon.exit, ExitState::Exited { code: 0 });
        assert!(!runs("98764"), "the daemon lives on");

        let mut large = job(
            "large",
            "head -c 4000000 /dev/zero >file; echo $?; stat -c %s file",
        );
        large.limits.file_bytes = 1 << 20;
        let large = run(&sandbox, &environment, &large).await;
        assert!(text(&large).ends_with("1\n1048576\n"), "{}", text(&large));

        let script = "ln -s /etc/passwd \"$ATLAS_OUT/link\"; mkdir \"$ATLAS_OUT/sub\"; \
                  echo x >\"$ATLAS_OUT/sub/report\"";
        let mut collect = job("collect", script);
        collect.collect = ["link", "sub/report", "absent"].map(str::to_owned).to_vec();
        let collect = run(&sandbox, &environment, &collect).await;
        let names: Vec<_> = collect.files.keys().map(String::as_str).collect();
        assert_eq!(names, ["sub/report"]);
    }
}

/// An engine waits two seconds for a reader once a container has ended, and drops the rest.
#[tokio::test]
async fn a_slow_reader_loses_nothing() {
    for engine in Engine::all("slow").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let (environment, ..) = built(
            &builder,
            &repository(folder.path()),
            &plan(&[]),
            &dockerfile(&engine.label),
        )
        .await;
        let sandbox = DockerSandbox::new(engine.connection.clone());
        let loud = job(
            "loud",
            "sleep 2; head -c 1280000 /dev/zero | tr '\\0' 'x'; echo; echo last; exit 3",
        );
        // One thread does both: nothing is read while it sleeps.
        let (seen, ()) = tokio::join!(run(&sandbox, &environment, &loud), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            std::thread::sleep(Duration::from_secs(8));
        });
        assert_eq!(seen.exit, ExitState::Exited { code: 3 });
        assert_eq!(seen.output_total, 1_280_006);
        assert!(seen.output.ends_with(b"x\nlast\n"));
    }
}

fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expected_job_waits_for_its_turn() {
    for engine in Engine::all("expected").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let (environment, ..) = built(
            &builder,
            &repository(folder.path()),
            &plan(&[]),
            &dockerfile(&engine.label),
        )
        .await;
        let cx = RunContext::new("engine-tests");
        let sandbox = DockerSandbox::new(engine.connection.clone());
        let next = job("next", "date +%s%N; sleep 0.2");
        sandbox.expect(&cx, &environment, &next).await;
        sandbox.expect(&cx, &environment, &next).await;
        let is_podman = engine.is_podman();
        let running = || {
            let filter = format!("label=atlas.test={}", engine.label);
            engine.docker(&["ps", "-q", "--filter", &filter]).len()
        };
        if !is_podman {
            wait_until("it is made ready, once", || running() == 1);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let told = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let seen = run(&sandbox, &environment, &next).await;
        let began: u128 = text(&seen).trim().parse().unwrap();
        assert!(began > told.as_nanos(), "nothing runs before its turn");
        assert!(seen.seconds >= 0.2, "{}", seen.seconds);
        sandbox.settle().await.unwrap();
        assert_eq!(engine.containers(), Vec::<String>::new());

        // Of another environment, and never run.
        let mut other = environment.clone();
        other.plan.env.insert("OTHER".to_owned(), "yes".to_owned());
        sandbox.expect(&cx, &other, &next).await;
        let script = job("other", "echo ${OTHER:-no}");
        assert_eq!(text(&run(&sandbox, &environment, &script).await), "no\n");
        sandbox.settle().await.unwrap();
        assert_eq!(engine.containers(), Vec::<String>::new());

        // A sandbox that is dropped leaves nothing either.
        sandbox.expect(&cx, &environment, &next).await;
        if !is_podman {
            wait_until("it is made ready again", || running() == 1);
        }
        drop(sandbox);
        wait_until("it is gone", || engine.containers().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_build_is_data() {
    for engine in Engine::all("failures").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let repository = repository(folder.path());
        let step = "RUN echo to-out && \\\n    echo to-err >&2 && exit 42";
        let broken = format!("# comment\n{}{step}\nRUN true\n", dockerfile(&engine.label));
        let failure = failed(&builder, &repository, &plan(&[]), &broken).await;
        assert_eq!(failure.step, step);
        assert_eq!(failure.exit_code, Some(42));
        // Podman does not tell the two apart: everything is in the one that people read first.
        if engine.is_podman() {
            let mut lines: Vec<_> = failure.stderr.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines, ["to-err", "to-out"]);
        } else {
            assert_eq!(failure.stderr.trim(), "to-err");
            assert_eq!(failure.stdout.trim(), "to-out");
        }
        let left = engine.docker(&["ps", "-a", "--no-trunc", "--format", "{{.Command}}"]);
        assert!(!left.iter().any(|line| line.contains("to-err")), "{left:?}");

        let missing = format!("{}COPY nothing /x\n", dockerfile(&engine.label));
        let failure = failed(&builder, &repository, &plan(&[]), &missing).await;
        assert_eq!(failure.step, "COPY nothing /x");
        let step = "RUN sleep 9 & kill -9 $!; wait $!";
        let killed = format!("{}{step}\n", dockerfile(&engine.label));
        let failure = failed(&builder, &repository, &plan(&[]), &killed).await;
        assert_eq!(
            (failure.step.as_str(), failure.exit_code),
            (step, Some(137))
        );
        let syntax = format!("{}RUNN x\n", dockerfile(&engine.label));
        let failure = failed(&builder, &repository, &plan(&[]), &syntax).await;
        assert!(failure.stderr.contains("RUNN"), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_base_image_is_replaced_or_named() {
    for engine in Engine::all("base").await {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        // Two versions of an image that exists nowhere else, both the same small base.
        let name = format!("atlas-test-{}/golang", std::process::id());
        for version in ["1.20", "1.23"] {
            engine.docker(&[
                "tag",
                "debian:bookworm-slim",
                &format!("{name}:{version}-bookworm"),
            ]);
        }
        let with_base = |base: String| EnvironmentPlan {
            base_image: base,
            ..plan(&[])
        };
        let wanted = with_base(format!("{name}:1.21-bookworm"));
        let builder = DockerBuilder::new(engine.connection.clone());
        let (environment, ..) =
            built(&builder, &repository, &wanted, &dockerfile(&engine.label)).await;
        assert_eq!(environment.plan.base_image, format!("{name}:1.23-bookworm"));
        let drift = environment.plan.drift.join("\n");
        assert!(
            drift.contains("1.21-bookworm") && drift.contains("1.23-bookworm"),
            "{drift}"
        );

        // The Dockerfile of an image of an old Debian copies a script that others do without.
        let old = with_base(format!("{name}:1.21-buster"));
        let copies = dockerfile(&engine.label).replacen(
            "\nWORKDIR",
            "\nCOPY scripts/archive.sh /opt/atlas/scripts/\nWORKDIR",
            1,
        );
        let (environment, ..) = built(&builder, &repository, &old, &copies).await;
        assert_eq!(environment.plan.base_image, format!("{name}:1.23-bookworm"));

        let cx = RunContext::new("engine-tests");
        let exact = DockerOptions {
            exact: true,
            ..engine.options()
        };
        let exact = DockerBuilder::new(DockerEngine::connect(exact).await.unwrap());
        let refused = exact
            .build(&cx, &repository, &wanted, &dockerfile(&engine.label))
            .await;
        assert_eq!(
            refused.expect_err("not replaced").kind(),
            ErrorKind::ImageMissing
        );

        // A digest names one image: neither `latest` nor a near version stands in for it.
        for tag in ["", ":1.21-bookworm"] {
            let pinned = with_base(format!("{name}{tag}@sha256:{}", "0".repeat(64)));
            let refused = builder
                .build(&cx, &repository, &pinned, &dockerfile(&engine.label))
                .await
                .expect_err("not replaced");
            assert_eq!(refused.kind(), ErrorKind::ImageMissing);
            let words = refused.chain();
            assert!(words.contains("by a tag"), "{words}");
        }

        let nowhere = with_base("atlas-test.invalid/nothing:1.0".to_owned());
        let pulling = DockerOptions {
            pull: true,
            ..engine.options()
        };
        let pulling = DockerBuilder::new(DockerEngine::connect(pulling).await.unwrap());
        let refused = pulling.build(&cx, &repository, &nowhere, DOCKERFILE).await;
        let refused = refused.expect_err("nowhere to be had");
        assert_eq!(refused.kind(), ErrorKind::ImageMissing);
        let words = refused.chain();
        assert!(words.contains("atlas-test.invalid/nothing:1.0"), "{words}");
        assert!(
            words.contains("docker pull") && words.contains("registry"),
            "{words}"
        );
        for version in ["1.20", "1.23"] {
            engine.docker(&["rmi", &format!("{name}:{version}-bookworm")]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_or_cancelled_run_leaves_nothing() {
    for engine in Engine::all("dropped").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let repository = repository(folder.path());
        let (environment, ..) = built(
            &builder,
            &repository,
            &plan(&[]),
            &dockerfile(&engine.label),
        )
        .await;
        let sandbox = DockerSandbox::new(engine.connection.clone());
        let cx = RunContext::new("engine-tests");
        let long = job("long", "sleep 300");
        let running = sandbox.run(&cx, &environment, &long);
        let dropped = tokio::time::timeout(std::time::Duration::from_secs(3), running).await;
        assert!(dropped.is_err(), "it was still running");
        wait_until("the container goes", || engine.containers().is_empty());

        let stop = cx.cancel.clone();
        let timer = async {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            stop.cancel();
        };
        let (ended, ()) = tokio::join!(sandbox.run(&cx, &environment, &long), timer);
        assert_eq!(ended.expect_err("cancelled").kind(), ErrorKind::Cancelled);
        assert_eq!(engine.containers(), Vec::<String>::new());

        // A build that is cancelled stops its container too.
        let cx = RunContext::new("engine-tests");
        let stop = cx.cancel.clone();
        let timer = async {
            tokio::task::spawn_blocking(|| wait_until("the step runs", || runs("65432")))
                .await
                .unwrap();
            stop.cancel();
        };
        let slow = format!("{}RUN sleep 65432\n", dockerfile(&engine.label));
        let plan = plan(&[]);
        // Podman cannot be stopped: the step ends with the time that a build may take.
        let brief = DockerOptions {
            build_timeout: Duration::from_secs(20),
            ..engine.options()
        };
        let builder = DockerBuilder::new(DockerEngine::connect(brief).await.unwrap());
        let (ended, ()) = tokio::join!(builder.build(&cx, &repository, &plan, &slow), timer);
        assert_eq!(ended.expect_err("cancelled").kind(), ErrorKind::Cancelled);
        wait_until("the step ends", || !runs("65432"));
    }
}

const VICTIM: &str = "ATLAS_TEST_DOCKER_VICTIM";

/// Does nothing by itself: `a_killed_process_is_swept_up` starts it and kills it.
#[tokio::test(flavor = "multi_thread")]
async fn victim_of_a_kill() {
    let Ok(told) = std::env::var(VICTIM) else {
        return;
    };
    let (label, host) = told.split_once(' ').unwrap();
    let host = Some(host.to_owned()).filter(|host| !host.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let engine = DockerEngine::connect(options(label, host)).await.unwrap();
    let builder = DockerBuilder::new(engine.clone());
    let repository = repository(folder.path());
    let (environment, ..) = built(&builder, &repository, &plan(&[]), &dockerfile(label)).await;
    let sandbox = DockerSandbox::new(engine);
    let cx = RunContext::new("engine-tests");
    let next = job("next", "true");
    sandbox.expect(&cx, &environment, &next).await;
    run(&sandbox, &environment, &job("victim", "sleep 54321")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_is_swept_up() {
    for engine in Engine::all("swept").await {
        let told = format!("{} {}", engine.label, engine.host().unwrap_or_default());
        let mut child = victim("docker::victim_of_a_kill", VICTIM, told.as_ref());
        wait_until("the victim runs", || runs("54321"));
        // Docker's container of the job that is expected next is there too, and waits.
        let count = if engine.is_podman() { 1 } else { 2 };
        let filter = format!("label=atlas.test={}", engine.label);
        let running = || engine.docker(&["ps", "-q", "--filter", &filter]).len();
        wait_until("both run", || running() == count);
        let mine = engine.containers();
        assert_eq!(mine.len(), count);
        let other = engine.docker(&[
            "create",
            "--label",
            &format!("atlas.test={}", engine.label),
            "debian:bookworm-slim",
            "true",
        ]);
        engine.connection.sweep().await.unwrap();
        let all = engine.containers();
        let has = |name: &String| all.contains(name);
        assert!(mine.iter().all(has), "their owner lives");
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("who waits stops waiting", || running() == 1);
        let removed = engine.connection.sweep().await.unwrap();
        assert!(
            removed.iter().any(|name| name.starts_with("atlas-")),
            "{removed:?}"
        );
        let left = engine.containers();
        assert!(
            left.len() == 1 && other[0].starts_with(&left[0]),
            "{left:?} {other:?}"
        );
        engine.docker(&["rm", &other[0]]);
        wait_until("its process ends", || !runs("54321"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_of_another_engine_is_refused() {
    for engine in Engine::all("foreign").await {
        let image = atlas_core::ImageRef::Local {
            path: "/nowhere".into(),
        };
        let environment = crate::support::environment(image, plan(&[]));
        let cx = RunContext::new("engine-tests");
        let sandbox = DockerSandbox::new(engine.connection.clone());
        let refused = sandbox.run(&cx, &environment, &job("x", "true")).await;
        assert_eq!(
            refused.expect_err("refused").kind(),
            ErrorKind::InvalidInput
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_of_others_is_found_read_and_run_as_root() {
    for engine in Engine::all("foreign").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let dockerfile = format!(
            "{}USER root\nRUN printf kept > /testbed/made && chmod 755 /testbed/made && \
             ln -s made /testbed/soft && chown -R root:root /testbed\n",
            dockerfile(&engine.label)
        );
        let (environment, ..) = built(
            &builder,
            &repository(folder.path()),
            &plan(&[]),
            &dockerfile,
        )
        .await;
        let cx = RunContext::new("foreign");
        let ImageRef::Docker { id, tag } = &environment.image else {
            panic!("{:?}", environment.image)
        };
        let found = engine.connection.find_image(&cx, tag).await.unwrap();
        assert_eq!(&found.id, id);
        assert!(found.is_ours && found.bytes.is_some());
        let missing = engine.connection.find_image(&cx, "no.such.host/x:1").await;
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::ImageMissing);

        let mut wanted = vec!["made", "src/old.txt", "src", "absent"];
        // Podman gives a link's target in its place.
        let keeps_links = !engine.connection.version().starts_with("podman");
        if keeps_links {
            wanted.push("soft");
        }
        let wanted = wanted.into_iter().map(str::to_owned).collect();
        let files = engine
            .connection
            .read_files(&cx, id, "/testbed", &wanted)
            .await
            .unwrap();
        let seen: Vec<_> = files
            .iter()
            .map(|(path, content)| (path.as_str(), content.mode, content.bytes.as_slice()))
            .collect();
        let mut expected = vec![
            ("made", FileMode::Executable, &b"kept"[..]),
            ("src/old.txt", FileMode::Regular, b"old\n"),
        ];
        if keeps_links {
            expected.insert(1, ("soft", FileMode::Symlink, b"made"));
        }
        assert_eq!(seen, expected);
        let outside = ["../etc/passwd".to_owned()].into();
        let refused = engine
            .connection
            .read_files(&cx, id, "/testbed", &outside)
            .await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);

        let sandbox = DockerSandbox::new(engine.connection.clone());
        let who = "id -u; grep CapEff /proc/self/status; echo new > made && cat made; \
                   echo x 2>/dev/null > \"$ATLAS_IN/.atlas/script.sh\" || echo kept apart; cat \"$ATLAS_IN/note\"";
        let mut job = job("root", who);
        job.files.push(JobFile {
            name: "note".to_owned(),
            bytes: b"read".to_vec(),
        });
        job.user = JobUser::BareRoot;
        let bare = run(&sandbox, &environment, &job).await;
        assert_eq!(
            text(&bare),
            "0\nCapEff:\t0000000000000000\nnew\nkept apart\nread"
        );
        assert!(bare.isolation.no_privileges && !bare.isolation.non_root);
        job.user = JobUser::Root;
        let root = run(&sandbox, &environment, &job).await;
        assert!(!text(&root).contains("CapEff:\t0000000000000000"));
        assert!(!root.isolation.no_privileges);
    }
}
