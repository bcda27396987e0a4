//! What this machine offers, for a report to its user.

use super::docker::{DockerEngine, DockerOptions};
use super::local::{LocalOptions, probe_bubblewrap, program_version};
use serde::Serialize;
use std::collections::BTreeMap;

/// What can build and run here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EngineStatus {
    /// The container engine.
    pub docker: DockerStatus,
    /// bubblewrap.
    pub bubblewrap: BubblewrapStatus,
    /// Tool -> its version line; absent where it is not installed or does not start.
    pub tools: BTreeMap<String, Option<String>>,
}

/// A container engine, as it answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DockerStatus {
    /// Whether it answered.
    pub reachable: bool,
    /// Why it did not, with the way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Its version.
    pub version: String,
    /// The newest API version it speaks.
    pub api_version: String,
    /// Its storage driver.
    pub storage_driver: String,
    /// Its control group version.
    pub cgroup_version: String,
    /// Bytes free in its data folder, where that is on this machine.
    pub free_bytes: Option<u64>,
}

/// bubblewrap, as it works here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BubblewrapStatus {
    /// Whether a sandbox can be made.
    pub works: bool,
    /// Its version.
    pub version: Option<String>,
    /// Why it does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Looks at the engine, at bubblewrap and at the tools; never fails.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn engine_status(docker: DockerOptions, local: &LocalOptions) -> EngineStatus {
    let tools = ["python3", "node", "npm", "go", "cargo", "git", "patch"].map(async |tool| {
        let version = program_version(tool, &local.path).await;
        (tool.to_owned(), version)
    });
    let (docker, bubblewrap, tools) = tokio::join!(
        docker_status(docker),
        bubblewrap_status(&local.path),
        futures_util::future::join_all(tools),
    );
    EngineStatus {
        docker,
        bubblewrap,
        tools: tools.into_iter().collect(),
    }
}

async fn docker_status(options: DockerOptions) -> DockerStatus {
    match DockerEngine::connect(options).await {
        Ok(engine) => DockerStatus {
            reachable: true,
            problem: None,
            version: engine.version().to_owned(),
            api_version: engine.api_version().to_owned(),
            storage_driver: engine.storage_driver().to_owned(),
            cgroup_version: engine.cgroup_version().to_owned(),
            free_bytes: engine.free_bytes(),
        },
        Err(why) => DockerStatus {
            problem: Some(why.chain()),
            ..DockerStatus::default()
        },
    }
}

async fn bubblewrap_status(path: &str) -> BubblewrapStatus {
    match probe_bubblewrap(path).await {
        Ok(version) => BubblewrapStatus {
            works: true,
            version: Some(version),
            problem: None,
        },
        Err(why) => BubblewrapStatus {
            works: false,
            version: program_version("bwrap", path).await,
            problem: Some(why),
        },
    }
}
