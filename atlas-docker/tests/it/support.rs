//! What the engines' tests share.

use atlas_core::{
    BuildFailure, Environment, EnvironmentLock, EnvironmentPlan, ImageRef, Job, JobResult, Limits,
    Network, Overlay, Repository, RunContext, Sandbox,
};
use atlas_docker::{BuildOutcome, Builder};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn repository(folder: &Path) -> Repository {
    let checkout = folder.join("checkout");
    std::fs::create_dir_all(checkout.join("src")).unwrap();
    std::fs::write(checkout.join("src/old.txt"), "old\n").unwrap();
    std::fs::write(checkout.join("go.mod"), "base\n").unwrap();
    if !checkout.join("link").exists() {
        std::os::unix::fs::symlink("src", checkout.join("link")).unwrap();
    }
    Repository {
        name: "Atlas-Tests/engines".to_owned(),
        checkout,
        base: "0123456789abcdef0123456789abcdef01234567".parse().unwrap(),
        base_date: "2024-01-01T00:00:00Z".to_owned(),
        head_manifests: BTreeMap::from([("go.mod".to_owned(), b"head\n".to_vec())]),
        head_tests: BTreeMap::new(),
        touched: Vec::new(),
    }
}

pub(crate) fn plan(build: &[&str]) -> EnvironmentPlan {
    EnvironmentPlan {
        base_image: "debian:bookworm-slim".to_owned(),
        test_cmd: "true".to_owned(),
        log_parser_name: "tap".to_owned(),
        build: build.iter().map(|line| (*line).to_owned()).collect(),
        env: BTreeMap::from([("FROM_PLAN".to_owned(), "$ATLAS_ENV/bin".to_owned())]),
        ..EnvironmentPlan::default()
    }
}

/// Lays a plan's helper programs where an engine would.
pub(crate) fn lay_tools(plan: &EnvironmentPlan, env: &Path) {
    let folder = env.join("toolbox");
    std::fs::create_dir_all(&folder).unwrap();
    for tool in atlas_docker::tools(plan).unwrap() {
        std::fs::write(folder.join(tool.name), tool.text).unwrap();
    }
}

pub(crate) fn job(label: &str, script: &str) -> Job {
    Job {
        label: label.to_owned(),
        overlay: Overlay::default(),
        files: Vec::new(),
        script: script.to_owned(),
        collect: Vec::new(),
        env: BTreeMap::new(),
        limits: Limits {
            seconds: 60,
            memory_bytes: 256 << 20,
            processes: 200,
            ..Limits::default()
        },
        network: Network::None,
        user: atlas_core::JobUser::default(),
    }
}

pub(crate) fn environment(image: ImageRef, plan: EnvironmentPlan) -> Environment {
    Environment {
        plan,
        dockerfile: String::new(),
        image,
        lock: EnvironmentLock::default(),
        attempts: Vec::new(),
    }
}

/// Builds and expects success.
pub(crate) async fn built(
    builder: &dyn Builder,
    repository: &Repository,
    plan: &EnvironmentPlan,
    dockerfile: &str,
) -> (Environment, f64, String) {
    let cx = RunContext::new("engine-tests");
    match builder.build(&cx, repository, plan, dockerfile).await {
        Ok(BuildOutcome::Built {
            image,
            plan,
            lock,
            seconds,
            log,
        }) => {
            let mut made = environment(image, plan);
            made.lock = lock;
            (made, seconds, String::from_utf8_lossy(&log).into_owned())
        }
        Ok(BuildOutcome::Failed(failure)) => panic!("{failure:?}"),
        Err(why) => panic!("{}", why.chain()),
    }
}

/// Builds and expects the build's own failure.
pub(crate) async fn failed(
    builder: &dyn Builder,
    repository: &Repository,
    plan: &EnvironmentPlan,
    dockerfile: &str,
) -> BuildFailure {
    let cx = RunContext::new("engine-tests");
    match builder.build(&cx, repository, plan, dockerfile).await {
        Ok(BuildOutcome::Failed(failure)) => failure,
        Ok(BuildOutcome::Built { image, .. }) => panic!("built {image:?}"),
        Err(why) => panic!("{}", why.chain()),
    }
}

pub(crate) async fn run(sandbox: &dyn Sandbox, environment: &Environment, job: &Job) -> JobResult {
    let cx = RunContext::new("engine-tests");
    match sandbox.run(&cx, environment, job).await {
        Ok(result) => result,
        Err(why) => panic!("{}", why.chain()),
    }
}

pub(crate) fn text(result: &JobResult) -> String {
    String::from_utf8_lossy(&result.output).into_owned()
}

/// Prints who the script is and what it may do, one fact a line.
pub(crate) const WHO: &str = "id -u; grep -E '^(CapEff|CapBnd|NoNewPrivs):' /proc/self/status; \
     (exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null && echo connected; \
     tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; \
     touch /usr/bin/atlas-probe 2>/dev/null && echo wrote; \
     touch \"$ATLAS_ENV/probe\" 2>/dev/null && echo wrote-env; \
     echo \"$FROM_PLAN $HOME $PWD\"";

/// Memory that a shell alone can use up: a string that doubles.
pub(crate) const MEMORY_BOMB: &str =
    "x=$(head -c 1000000 /dev/zero | tr '\\0' x); while :; do x=$x$x; done";

/// Children until the limit, then a report; the shell itself survives.
pub(crate) const FORK_BOMB: &str =
    "for i in $(seq 2000); do sleep 30 & done 2>/dev/null; jobs -p | wc -l";

/// A daemon that leaves its session and keeps the output open.
pub(crate) const DAEMON: &str = "setsid nohup sleep 98765 & sleep 0.3; echo done";

/// Whether any process of this machine runs with such an argument.
pub(crate) fn runs(argument: &str) -> bool {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == argument.as_bytes())
        })
}

/// Starts this test binary again, as a process that runs one named test and is then killed.
pub(crate) fn victim(test: &str, variable: &str, value: &Path) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(variable, value)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until something holds, at most two minutes: the machine may be busy.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("waited in vain: {what}");
}
