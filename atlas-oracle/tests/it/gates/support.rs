//! A small repository with shell tests, run for real in temporary folders.

use crate::lines::Lines;
use async_trait::async_trait;
use atlas_core::{
    Applied, Candidate, Environment, EnvironmentLock, EnvironmentPlan, Error, ExitState, ImageRef,
    Instance, Isolation, Job, JobResult, Oracle, OracleTask, Overlay, Patch, PatchApplier,
    ResourceUsage, RunContext, Sandbox, SandboxInfo,
};
use atlas_oracle::{Evaluator, StateDifferentialOracle};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs jobs with bash over a copy of a folder; `$RUN` counts them from 0.
#[derive(Debug)]
pub(crate) struct Shell {
    base: BTreeMap<String, String>,
    pub(crate) runs: AtomicU32,
}

#[async_trait]
impl Sandbox for Shell {
    fn info(&self) -> SandboxInfo {
        SandboxInfo {
            engine: "shell".to_owned(),
            version: String::new(),
        }
    }

    async fn run(&self, _: &RunContext, _: &Environment, job: &Job) -> Result<JobResult, Error> {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["repo", "in", "out", "env", "cache"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        lay(&at("repo"), &self.base);
        for (path, content) in &job.overlay.write {
            let path = at("repo").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &content.bytes).unwrap();
        }
        for path in &job.overlay.remove {
            std::fs::remove_file(at("repo").join(path)).unwrap();
        }
        for file in &job.files {
            std::fs::write(at("in").join(&file.name), &file.bytes).unwrap();
        }
        let output = Command::new("bash")
            .args(["-c", &job.script])
            .env("ATLAS_REPO", at("repo"))
            .env("ATLAS_IN", at("in"))
            .env("ATLAS_OUT", at("out"))
            .env("ATLAS_ENV", at("env"))
            .env("ATLAS_CACHE", at("cache"))
            .env("NONCE", String::from_utf8_lossy(&job.files[0].bytes).trim())
            .env("RUN", self.runs.fetch_add(1, Ordering::Relaxed).to_string())
            .envs(&job.env)
            .output()
            .unwrap();
        // A script that ends with 99 stands for one whose time was up.
        let code = output.status.code().unwrap();
        let exit = if code == 99 {
            ExitState::TimedOut
        } else {
            ExitState::Exited { code: code.into() }
        };
        Ok(JobResult {
            exit,
            output_total: output.stdout.len() as u64,
            output: output.stdout,
            files: BTreeMap::new(),
            seconds: 0.0,
            overhead_seconds: 0.0,
            usage: ResourceUsage::default(),
            isolation: Isolation::default(),
        })
    }
}

fn lay(folder: &Path, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Lays patches on the same files with `git apply`.
#[derive(Debug)]
struct GitApply {
    base: BTreeMap<String, String>,
}

#[async_trait]
impl PatchApplier for GitApply {
    async fn apply(&self, _: &RunContext, patches: &[&Patch]) -> Result<Applied, Error> {
        let folder = tempfile::tempdir().unwrap();
        lay(folder.path(), &self.base);
        for (place, patch) in patches.iter().enumerate() {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), patch.as_bytes()).unwrap();
            let done = Command::new("git")
                .arg("apply")
                .arg(file.path())
                .current_dir(folder.path())
                .output()
                .unwrap();
            if !done.status.success() {
                return Ok(Applied::No {
                    patch: place,
                    reasons: vec![String::from_utf8_lossy(&done.stderr).into_owned()],
                });
            }
        }
        let mut overlay = Overlay::default();
        for entry in walk(folder.path()) {
            let path = entry.strip_prefix(folder.path()).unwrap();
            let path = path.to_str().unwrap().to_owned();
            let bytes = std::fs::read(&entry).unwrap();
            if self.base.get(&path).map(String::as_bytes) != Some(&bytes) {
                let content = atlas_core::FileContent {
                    mode: atlas_core::FileMode::Regular,
                    bytes,
                };
                overlay.write.insert(path, content);
            }
        }
        for path in self.base.keys() {
            if !folder.path().join(path).exists() {
                overlay.remove.insert(path.clone());
            }
        }
        Ok(Applied::Yes {
            overlay,
            notes: Vec::new(),
        })
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// A pull request over the small repository, judged by the oracle.
pub(crate) struct Case {
    pub(crate) shell: Arc<Shell>,
    pub(crate) oracle: StateDifferentialOracle,
    pub(crate) evaluator: Evaluator,
    pub(crate) candidate: Candidate,
}

/// The tests are `tests/*.sh`, each sourced with the functions of `lib.sh`; a test passes where its
/// last command does.
const RUNNER: &str = r#"for test in tests/*.sh; do
  if ( . ./lib.sh && . "$test" ) >/dev/null 2>&1; then echo "ok $test"; else echo "bad $test"; fi
done
echo done
"#;

impl Case {
    pub(crate) async fn new(base: &[(&str, &str)], gold: &str, tests: &str) -> Self {
        let base: BTreeMap<String, String> = base
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        let shell = Arc::new(Shell {
            base: base.clone(),
            runs: AtomicU32::new(0),
        });
        let sandbox: Arc<dyn Sandbox> = Arc::<Shell>::clone(&shell);
        let oracle = StateDifferentialOracle::new(sandbox, Arc::new(Lines));
        let applier: Arc<dyn PatchApplier> = Arc::new(GitApply { base });
        let (gold_patch, test_patch) = (Patch::new(gold), Patch::new(tests));
        let cx = RunContext::new("t");
        let mut overlays = Vec::new();
        for patches in [vec![&test_patch], vec![&gold_patch, &test_patch]] {
            match applier.apply(&cx, &patches).await.unwrap() {
                Applied::Yes { overlay, .. } => overlays.push(overlay),
                Applied::No { reasons, .. } => panic!("{reasons:?}"),
            }
        }
        let after = overlays.pop().unwrap();
        let before = overlays.pop().unwrap();
        let task = OracleTask {
            instance_id: "a__b-1".parse().unwrap(),
            test_patch,
            gold_patch,
            before,
            after,
            modified_tests: Vec::new(),
            conditions: BTreeMap::new(),
        };
        let environment = Environment {
            plan: EnvironmentPlan {
                test_cmd: RUNNER.to_owned(),
                ..EnvironmentPlan::default()
            },
            dockerfile: String::new(),
            image: ImageRef::Other {
                name: "shell".to_owned(),
            },
            lock: EnvironmentLock::default(),
            attempts: Vec::new(),
        };
        let report = oracle.judge(&cx, &environment, &task).await.unwrap();
        let mut instance = Instance::new(&task.instance_id);
        instance.set("problem_statement", "It is broken.");
        Self {
            shell,
            evaluator: Evaluator::new(oracle.clone(), applier),
            oracle,
            candidate: Candidate {
                instance,
                environment,
                task,
                oracle: report,
            },
        }
    }
}
