//! `atlas doctor`: what is here, and what will work with it.

use crate::Config;
use crate::engine::{docker_options, local_options};
use atlas_docker::{EngineStatus, LocalOptions, engine_status};
use serde::Serialize;

/// Something that Atlas can do here, or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ability {
    /// What.
    pub what: String,
    /// Whether it will work.
    pub works: bool,
    /// Why not, or with what; and the way out.
    pub note: String,
}

/// What `atlas doctor` found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DoctorReport {
    /// Version of Atlas.
    pub version: String,
    /// Engines and tools.
    pub status: EngineStatus,
    /// What follows from them.
    pub abilities: Vec<Ability>,
    /// Whether `atlas make` will work with at least one engine.
    pub ready: bool,
}

/// Looks at this machine. Changes nothing on it.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn doctor(config: &Config) -> DoctorReport {
    let local = local_options(config, true).unwrap_or_else(|_| LocalOptions::new("atlas"));
    let status = engine_status(docker_options(config), &local).await;
    let has = |tool: &str| status.tools.get(tool).is_some_and(Option::is_some);
    let ability = |what: &str, works: bool, note: String| Ability {
        what: what.to_owned(),
        works,
        note,
    };
    let mut abilities = vec![ability(
        "read repositories and patches",
        has("git"),
        if has("git") {
            "with git".into()
        } else {
            "git is missing: install it".into()
        },
    )];
    let docker = &status.docker;
    abilities.push(ability(
        "atlas make --engine docker",
        docker.reachable && has("git"),
        if docker.reachable {
            format!("engine {}, API {}", docker.version, docker.api_version)
        } else {
            format!(
                "no engine answers ({}); start one, or set DOCKER_HOST",
                docker.problem.as_deref().unwrap_or("it does not say why")
            )
        },
    ));
    let bubblewrap = &status.bubblewrap;
    let isolated = bubblewrap.version.is_some() && bubblewrap.works;
    abilities.push(ability(
        "atlas make --engine local",
        has("git") && isolated,
        if isolated {
            format!(
                "under bubblewrap {}",
                bubblewrap.version.as_deref().unwrap_or("")
            )
        } else {
            "without bubblewrap nothing keeps a repository's code apart from this machine: install \
             it, or pass --trust for code that you trust"
                .to_owned()
        },
    ));
    for (language, tools) in [
        ("Python", &["python3"][..]),
        ("Node", &["node", "npm"]),
        ("Go", &["go"]),
        ("Rust", &["cargo"]),
    ] {
        let missing: Vec<&str> = tools.iter().copied().filter(|tool| !has(tool)).collect();
        let note = if missing.is_empty() {
            "toolchain found".to_owned()
        } else {
            format!(
                "{} not found; only the docker engine can",
                missing.join(", ")
            )
        };
        abilities.push(ability(
            &format!("local environments for {language}"),
            missing.is_empty(),
            note,
        ));
    }
    let ready = abilities[0].works && (abilities[1].works || abilities[2].works);
    DoctorReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        status,
        abilities,
        ready,
    }
}
