//! The local engine: behind bubblewrap where it works, and as plain processes.

use crate::support::{
    DAEMON, FORK_BOMB, MEMORY_BOMB, WHO, built, failed, job, plan, repository, run, runs, text,
    victim, wait_until,
};
use atlas_core::{ErrorKind, ExitState, FileContent, FileMode, RunContext, Sandbox};
use atlas_docker::{
    Bubblewrap, Builder, DockerOptions, LocalBuilder, LocalEngine, LocalOptions, LocalSandbox,
    engine_status,
};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub(crate) async fn engine(root: &Path, bubblewrap: Bubblewrap) -> Option<LocalEngine> {
    let mut options = LocalOptions::new(root).with_environment(std::env::vars());
    options.bubblewrap = bubblewrap;
    options.trust = bubblewrap == Bubblewrap::Never;
    match LocalEngine::open(options).await {
        Ok(engine) => Some(engine),
        Err(why) => {
            assert_eq!(why.kind(), ErrorKind::ToolFailed, "{}", why.chain());
            println!("skipped: {}", why.chain());
            None
        }
    }
}

pub(crate) const MODES: [Bubblewrap; 2] = [Bubblewrap::Require, Bubblewrap::Never];

pub(crate) fn left_in(root: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(root.join("jobs")).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_contract() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan(&[]), "").await;
        let sandbox = LocalSandbox::new(engine);
        atlas_core::testing::sandbox_contract(&sandbox, &environment).await;
        assert_eq!(left_in(folder.path()), Vec::<std::ffi::OsString>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn builds_once_and_notes_what_differs() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let repository = repository(folder.path());
        let mut plan = plan(&[
            "test -e \"$ATLAS_ENV/ready\"; echo building; echo warn >&2; cp go.mod \"$ATLAS_ENV/installed\"",
            "test \"$FROM_PLAN\" = \"$ATLAS_ENV/bin\"",
        ]);
        plan.setup = vec!["test ! -e go.mod; touch \"$ATLAS_ENV/ready\"".to_owned()];
        plan.pre_install = vec!["apt-get install -y libfoo".to_owned()];
        plan.prefetch = vec![
            "cp go.mod \"$ATLAS_CACHE/fetched\"; echo changed >src/old.txt".to_owned(),
            "exit 4".to_owned(),
        ];
        let (environment, _, log) = built(&builder, &repository, &plan, "").await;
        assert!(log.contains("building") && log.contains("warn"), "{log}");
        let drift = environment.plan.drift.join("\n");
        assert!(
            drift.contains("libfoo") && drift.contains("exit 4"),
            "{drift}"
        );

        let sandbox = LocalSandbox::new(engine);
        let script = "cat \"$ATLAS_ENV/installed\" \"$ATLAS_CACHE/fetched\" src/old.txt";
        let seen = run(&sandbox, &environment, &job("look", script)).await;
        assert_eq!(text(&seen), "base\nhead\nold\n");

        let (again, seconds, log) = built(&builder, &repository, &plan, "").await;
        assert_eq!(again.image, environment.image);
        assert_eq!(again.plan, environment.plan);
        assert!(seconds == 0.0 && log.contains("reused"), "{seconds} {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prefetch_adds_to_the_repository_and_changes_nothing_of_it() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let repository = repository(folder.path());
        let mut plan = plan(&["echo built >src/old.txt"]);
        plan.prefetch = vec![
            "mkdir \"$ATLAS_REPO/node_modules\" && cp go.mod \"$ATLAS_REPO/node_modules/new\"; pwd >\"$ATLAS_CACHE/where\""
                .to_owned(),
            "cd \"$ATLAS_REPO\"; echo changed >src/old.txt; rm go.mod link; mkdir link go.mod".to_owned(),
        ];
        let (environment, ..) = built(&builder, &repository, &plan, "").await;
        let drift = environment.plan.drift.join("\n");
        assert!(drift.contains("go.mod, link, src/old.txt"), "{drift}");

        let script = "cat node_modules/new go.mod src/old.txt; readlink link; \
                      basename \"$(cat \"$ATLAS_CACHE/where\")\"; ls";
        let seen = run(
            &LocalSandbox::new(engine),
            &environment,
            &job("look", script),
        )
        .await;
        assert_eq!(
            text(&seen),
            "head\nbase\nbuilt\nsrc\natlas-prefetch\ngo.mod\nlink\nnode_modules\nsrc\n"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_build_is_data() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine);
        let step = "echo to-out; echo to-err >&2; exit 42";
        let failure = failed(&builder, &repository(folder.path()), &plan(&[step]), "").await;
        assert_eq!(failure.step, step);
        assert_eq!(failure.exit_code, Some(42));
        assert_eq!(failure.stderr.trim(), "to-err");
        assert_eq!(failure.stdout.trim(), "to-out");
        let left = std::fs::read_dir(folder.path().join("env")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert!(
            left.iter()
                .all(|name| name.to_string_lossy().ends_with(".lock")),
            "{left:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_toolchain_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = LocalOptions::new(folder.path());
    options.bubblewrap = Bubblewrap::Never;
    options.trust = true;
    let bin = folder.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    options.path = bin.to_string_lossy().into_owned();
    let engine = LocalEngine::open(options).await.unwrap();
    let mut plan = plan(&[]);
    plan.language = "go".to_owned();
    let builder = LocalBuilder::new(engine);
    let failure = failed(&builder, &repository(folder.path()), &plan, "").await;
    assert!(failure.step.contains("`go`"), "{failure:?}");
    assert!(failure.stderr.contains("Docker engine"), "{failure:?}");
}

/// A program of the test's own.
fn program(path: &Path, script: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A `node` that says what the engine asks.
fn node(path: &Path, version: &str) {
    let answer = format!(
        "case $1 in -p) echo '{}';; *) echo v{version};; esac",
        path.display()
    );
    program(path, &answer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_toolchain_in_the_home_folder_does_not_bring_it_along() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("me");
    node(&home.join("bin/node"), "20.1.0");
    let packages = home.join("lib/node_modules");
    program(&packages.join("npm/bin/npm-cli.js"), "echo npm runs");
    std::os::unix::fs::symlink(
        "../lib/node_modules/npm/bin/npm-cli.js",
        home.join("bin/npm"),
    )
    .unwrap();
    let python = home.join(".local/bin/python3");
    let prefix = home.join(".local");
    program(
        &python,
        &format!("echo '{}|3.11.2|{}'", prefix.display(), python.display()),
    );
    for secret in ["secret", "bin/secret", "lib/secret", ".local/secret"] {
        std::fs::write(home.join(secret), "a secret\n").unwrap();
    }

    let mut options = LocalOptions::new(folder.path());
    options.bubblewrap = Bubblewrap::Require;
    options.home = Some(home.clone());
    options.path = format!("{h}/bin:{h}/.local/bin:/usr/bin", h = home.display());
    let text_of = home.to_string_lossy().into_owned();
    options
        .build_env
        .insert("NPM_CONFIG_PREFIX".to_owned(), text_of);
    let Ok(engine) = LocalEngine::open(options).await else {
        println!("skipped: no bubblewrap");
        return;
    };
    let builder = LocalBuilder::new(engine.clone());
    let look = format!(
        "node --version; npm; find '{}' -name '*secret*'",
        home.display()
    );
    let mut plan = plan(&[&format!("{{ {look}; }} >seen")]);
    plan.language = "javascript".to_owned();
    let (environment, ..) = built(&builder, &repository(folder.path()), &plan, "").await;
    let job = job("look", &format!("cat seen; {look}"));
    let seen = run(&LocalSandbox::new(engine), &environment, &job).await;
    assert_eq!(text(&seen), "v20.1.0\nnpm runs\n".repeat(2));
    let drift = environment.plan.drift.join("\n");
    assert!(drift.contains("left out: python"), "{drift}");

    plan.language = "python".to_owned();
    let failure = failed(&builder, &repository(folder.path()), &plan, "").await;
    assert!(failure.step.contains("`python3`"), "{failure:?}");
    assert!(failure.stderr.contains("folder of its own"), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_of_the_toolchain_is_another_environment() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("own/bin/node");
    let mut plan = plan(&[]);
    plan.language = "javascript".to_owned();
    let mut images = Vec::new();
    for version in ["20.1.0", "22.2.0", "20.1.0"] {
        node(&program, version);
        let mut options = LocalOptions::new(folder.path());
        options.bubblewrap = Bubblewrap::Never;
        options.trust = true;
        options.path = format!("{}:/usr/bin", program.parent().unwrap().display());
        let builder = LocalBuilder::new(LocalEngine::open(options).await.unwrap());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan, "").await;
        images.push(environment.image);
    }
    assert_ne!(images[0], images[1]);
    assert_eq!(images[0], images[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wanted_python_is_used_or_the_difference_noted() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let status = engine_status(
            DockerOptions::default(),
            &LocalOptions::new(folder.path()).with_environment(std::env::vars()),
        )
        .await;
        if status.tools["python3"].is_none() {
            println!("skipped: no python3 here");
            return;
        }
        let mut plan = plan(&["python -m venv --without-pip \"$ATLAS_ENV\""]);
        plan.language = "python".to_owned();
        plan.docker_specs
            .insert("python_version".to_owned(), "3.1".into());
        let builder = LocalBuilder::new(engine.clone());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan, "").await;
        let drift = environment.plan.drift.join("\n");
        assert!(drift.contains("instead of 3.1 as planned"), "{drift}");
        let script = "\"$ATLAS_ENV/bin/python\" -c 'print(40 + 2)'";
        let seen = run(
            &LocalSandbox::new(engine),
            &environment,
            &job("python", script),
        )
        .await;
        assert_eq!(text(&seen), "42\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_behind_bubblewrap_can_do_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(engine) = engine(folder.path(), Bubblewrap::Require).await else {
        return;
    };
    let builder = LocalBuilder::new(engine.clone());
    let (environment, ..) = built(&builder, &repository(folder.path()), &plan(&[]), "").await;
    let sandbox = LocalSandbox::new(engine);
    let seen = run(&sandbox, &environment, &job("who", WHO)).await;
    assert_eq!(
        text(&seen),
        "1000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nlo\n\
         /opt/atlas/env/bin /home/atlas /testbed\n"
    );
    assert!(seen.isolation.network_off && seen.isolation.no_privileges);
    // Without a network the machine knows itself.
    let names = "for name in localhost \"$(hostname)\"; do getent hosts \"$name\" >/dev/null && echo known; done";
    let seen = run(&sandbox, &environment, &job("names", names)).await;
    assert_eq!(text(&seen), "known\nknown\n");
    let secrets = "cat /etc/shadow; ls /home | grep -v atlas";
    let seen = run(&sandbox, &environment, &job("secrets", secrets)).await;
    assert!(!text(&seen).contains("root:"), "{}", text(&seen));
}

#[tokio::test(flavor = "multi_thread")]
async fn bombs_are_bounded_and_daemons_die() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan(&[]), "").await;
        let sandbox = LocalSandbox::new(engine);
        let memory = run(&sandbox, &environment, &job("memory", MEMORY_BOMB)).await;
        assert_eq!(memory.exit, ExitState::OutOfMemory, "{}", text(&memory));

        let forks = run(&sandbox, &environment, &job("forks", FORK_BOMB)).await;
        let bounded = text(&forks)
            .trim()
            .parse::<u64>()
            .map_or(true, |n| n <= 200);
        assert!(bounded, "{mode:?}: {}", text(&forks));

        let daemon = run(&sandbox, &environment, &job("daemon", DAEMON)).await;
        assert_eq!(daemon.exit, ExitState::Exited { code: 0 });
        assert!(!runs("98765"), "{mode:?}: the daemon lives on");
        assert!(daemon.seconds + daemon.overhead_seconds < 20.0);

        let mut large = job(
            "large",
            "head -c 4000000 /dev/zero >file; echo $?; stat -c %s file",
        );
        large.limits.file_bytes = 1 << 20;
        let large = run(&sandbox, &environment, &large).await;
        assert!(text(&large).ends_with("1\n1048576\n"), "{}", text(&large));
        assert_eq!(left_in(folder.path()), Vec::<std::ffi::OsString>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bombs_in_a_build_are_bounded() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let mut options = LocalOptions::new(folder.path());
        options.bubblewrap = mode;
        options.trust = mode == Bubblewrap::Never;
        options.build_memory_bytes = 256 << 20;
        options.build_processes = 200;
        let Ok(engine) = LocalEngine::open(options).await else {
            println!("skipped: no bubblewrap");
            continue;
        };
        let builder = LocalBuilder::new(engine);
        let repository = repository(folder.path());
        let memory = failed(&builder, &repository, &plan(&[MEMORY_BOMB]), "").await;
        assert!(memory.stderr.contains("bytes of memory"), "{memory:?}");

        // Where processes are only looked at, the step is killed; else it ends and says how many.
        let step = format!("{{ {FORK_BOMB}; }} >&2; exit 3");
        let forks = failed(&builder, &repository, &plan(&[&step]), "").await;
        let last = forks.stderr.lines().last().unwrap_or_default();
        let bounded = last.contains("200 processes")
            || last
                .parse::<u64>()
                .map_or(forks.exit_code != Some(3), |n| n <= 200);
        assert!(bounded, "{mode:?}: {forks:?}");
        assert_eq!(left_in(folder.path()), Vec::<std::ffi::OsString>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn overlays_replace_what_was_there() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan(&[]), "").await;
        overlay_check(&LocalSandbox::new(engine), &environment).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_laid_is_newer_than_what_was_built() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let made = plan(&[MAKE_PRODUCTS]);
        let (environment, ..) = built(&builder, &repository(folder.path()), &made, "").await;
        newer_check(&LocalSandbox::new(engine), &environment).await;
    }
}

/// Products of a moment ago, and of a clock that was ahead.
pub(crate) const MAKE_PRODUCTS: &str =
    "touch made.o; touch -d '+40 minutes' ahead.o \"$ATLAS_CACHE/ahead.o\"";

/// Laid files are newer than all products by a second at least, and no time is one to come.
pub(crate) async fn newer_check(sandbox: &dyn Sandbox, environment: &atlas_core::Environment) {
    let mut change = job(
        "newer",
        "for made in made.o ahead.o \"$ATLAS_CACHE/ahead.o\"; do
           for laid in go.mod 'src/a b.c' -to; do
             [ \"$(stat -c %Y -- \"$laid\")\" -gt \"$(stat -c %Y -- \"$made\")\" ] || echo \"$laid is as old as $made\"
           done
         done
         touch later; [ -z \"$(find . -newer later)\" ] || echo 'a time to come'
         [ ! later -ot 'src/a b.c' ] || echo 'what is made is older'",
    );
    for (path, mode, bytes) in [
        ("go.mod", FileMode::Regular, &b"new\n"[..]),
        ("src/a b.c", FileMode::Executable, b"new\n"),
        ("-to", FileMode::Symlink, b"made.o"),
    ] {
        let bytes = bytes.to_vec();
        let content = FileContent { mode, bytes };
        change.overlay.write.insert(path.to_owned(), content);
    }
    change.overlay.remove.insert("src/old.txt".to_owned());
    let seen = run(sandbox, environment, &change).await;
    assert_eq!(text(&seen), "");
    assert_eq!(seen.exit, ExitState::Exited { code: 0 });
}

/// A file gives way to a folder, a link to a folder, and what is removed is gone.
pub(crate) async fn overlay_check(sandbox: &dyn Sandbox, environment: &atlas_core::Environment) {
    let mut change = job(
        "change",
        "cat go.mod/inner link/new; readlink to-old; test ! -e src/old.txt && test ! -L link; \
         touch link/by-the-script src/by-the-script && ls src",
    );
    for (path, mode, bytes) in [
        ("go.mod/inner", FileMode::Regular, &b"inner\n"[..]),
        ("link/new", FileMode::Regular, b"new\n"),
        ("to-old", FileMode::Symlink, b"src/old.txt"),
    ] {
        let bytes = bytes.to_vec();
        let content = FileContent { mode, bytes };
        change.overlay.write.insert(path.to_owned(), content);
    }
    for path in ["go.mod", "link", "src/old.txt"] {
        change.overlay.remove.insert(path.to_owned());
    }
    let seen = run(sandbox, environment, &change).await;
    assert_eq!(text(&seen), "inner\nnew\nsrc/old.txt\nby-the-script\n");
    assert_eq!(seen.exit, ExitState::Exited { code: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn without_walls_untrusted_code_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = LocalOptions::new(folder.path());
    options.bubblewrap = Bubblewrap::Never;
    let engine = LocalEngine::open(options).await.unwrap();
    let cx = RunContext::new("engine-tests");
    let repository = repository(folder.path());
    let builder = LocalBuilder::new(engine);
    let refused = builder.build(&cx, &repository, &plan(&[]), "").await;
    let refused = refused.expect_err("nothing keeps it apart");
    assert_eq!(refused.kind(), ErrorKind::NotTrusted);
    let words = refused.chain();
    assert!(
        words.contains("--trust") && words.contains("bubblewrap"),
        "{words}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_one_environment_do_not_meet() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan(&[]), "").await;
        let sandbox = LocalSandbox::new(engine);
        let script = "test ! -e mine && echo \"$NAME\" >mine && sleep 0.2 && cat mine";
        let runs = ["one", "two", "three"].map(async |name| {
            let mut job = job(name, script);
            job.env.insert("NAME".to_owned(), name.to_owned());
            text(&run(&sandbox, &environment, &job).await)
        });
        let seen = futures_util::future::join_all(runs).await;
        assert_eq!(seen, ["one\n", "two\n", "three\n"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_or_cancelled_run_leaves_nothing() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan(&[]), "").await;
        let sandbox = LocalSandbox::new(engine);
        let cx = RunContext::new("engine-tests");
        let long = job("long", "sleep 87654");
        let running = sandbox.run(&cx, &environment, &long);
        let dropped = tokio::time::timeout(std::time::Duration::from_secs(1), running).await;
        assert!(dropped.is_err(), "it was still running");
        wait_until("the folder goes", || left_in(folder.path()).is_empty());
        assert!(!runs("87654"));

        let stop = cx.cancel.clone();
        let timer = async {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            stop.cancel();
        };
        let (ended, ()) = tokio::join!(sandbox.run(&cx, &environment, &long), timer);
        assert_eq!(ended.expect_err("cancelled").kind(), ErrorKind::Cancelled);
        assert!(left_in(folder.path()).is_empty() && !runs("87654"));
    }
}

const VICTIM: &str = "ATLAS_TEST_LOCAL_VICTIM";

/// Does nothing by itself: `a_killed_process_is_swept_up` starts it and kills it.
#[tokio::test(flavor = "multi_thread")]
async fn victim_of_a_kill() {
    let Some(root) = std::env::var_os(VICTIM) else {
        return;
    };
    let root = Path::new(&root);
    let plain = root.ends_with("plain");
    let mode = if plain {
        Bubblewrap::Never
    } else {
        Bubblewrap::Require
    };
    let engine = engine(root, mode).await.unwrap();
    let builder = LocalBuilder::new(engine.clone());
    let (environment, ..) = built(&builder, &repository(root), &plan(&[]), "").await;
    let script = "echo dirty >src/old.txt; setsid sleep 76543 & sleep 76543";
    run(
        &LocalSandbox::new(engine),
        &environment,
        &job("victim", script),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_is_swept_up() {
    for (name, mode) in [
        ("walled", Bubblewrap::Require),
        ("plain", Bubblewrap::Never),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(name);
        let Some(engine) = engine(&root, mode).await else {
            continue;
        };
        let mut child = victim("local::victim_of_a_kill", VICTIM, &root);
        wait_until("the victim runs", || runs("76543"));
        assert_eq!(
            engine.sweep().await.unwrap(),
            Vec::<String>::new(),
            "its owner lives"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(engine.sweep().await.unwrap().len(), 1);
        assert!(left_in(&root).is_empty());
        wait_until("its processes end", || !runs("76543"));

        // The environment is as it was, even where the job worked in its place.
        let builder = LocalBuilder::new(engine.clone());
        let (environment, seconds, _) = built(&builder, &repository(&root), &plan(&[]), "").await;
        assert!(seconds == 0.0, "it was finished before");
        let sandbox = LocalSandbox::new(engine);
        let seen = run(&sandbox, &environment, &job("after", "cat src/old.txt")).await;
        assert_eq!(text(&seen), "old\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn status_tells_what_is_here() {
    let folder = tempfile::tempdir().unwrap();
    let options = LocalOptions::new(folder.path()).with_environment(std::env::vars());
    let nowhere = DockerOptions {
        host: Some(format!(
            "unix://{}",
            folder.path().join("none.sock").display()
        )),
        ..DockerOptions::default()
    };
    let status = engine_status(nowhere, &options).await;
    assert!(!status.docker.reachable);
    let problem = status.docker.problem.unwrap();
    assert!(problem.contains("is the daemon running?"), "{problem}");
    let git = status.tools["git"].as_deref().unwrap_or_default();
    assert!(git.starts_with("git version"), "{git}");
    assert_eq!(status.bubblewrap.works, status.bubblewrap.problem.is_none());
}
