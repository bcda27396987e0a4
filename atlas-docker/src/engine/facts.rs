//! What a built environment is made of, asked from inside it.

use super::prelude::single_quoted;
use atlas_core::{
    Environment, EnvironmentLock, EnvironmentPlan, Error, ErrorKind, ImageRef, Job, Limits,
    Network, Overlay, RunContext, Sandbox,
};
use std::collections::BTreeMap;

const SCRIPT: &str = include_str!("facts.sh");

/// Adds tools and dependencies to a lock by running a script in the environment, without network.
///
/// An environment that cannot answer leaves the lock as it is: facts serve reports, and a build
/// that worked is not undone for want of them.
///
/// # Errors
/// Only when the caller cancelled.
pub(super) async fn ask(
    sandbox: &dyn Sandbox,
    cx: &RunContext,
    plan: &EnvironmentPlan,
    image: &ImageRef,
    mut lock: EnvironmentLock,
) -> Result<EnvironmentLock, Error> {
    let environment = Environment {
        plan: plan.clone(),
        dockerfile: String::new(),
        image: image.clone(),
        lock: EnvironmentLock::default(),
        attempts: Vec::new(),
    };
    let job = Job {
        label: "facts".to_owned(),
        overlay: Overlay::default(),
        files: Vec::new(),
        script: format!("set -- {}\n{SCRIPT}", single_quoted(&plan.language)),
        collect: Vec::new(),
        env: BTreeMap::new(),
        limits: Limits {
            seconds: 60,
            output_bytes: 4 << 20,
            ..Limits::default()
        },
        network: Network::None,
    };
    match sandbox.run(cx, &environment, &job).await {
        Ok(result) => read(&String::from_utf8_lossy(&result.output), &mut lock),
        Err(why) if why.kind() == ErrorKind::Cancelled => return Err(why),
        Err(why) => tracing::debug!(cause = %why.chain(), "environment did not say what it holds"),
    }
    Ok(lock)
}

fn read(text: &str, lock: &mut EnvironmentLock) {
    for line in text.lines() {
        let mut fields = line.splitn(3, '\t');
        match (fields.next(), fields.next(), fields.next()) {
            (Some("tool"), Some(tool), Some(version)) => {
                let name = tool.rsplit('/').next().unwrap_or(tool);
                lock.tools.insert(name.to_owned(), version.to_owned());
            }
            (Some("dependency"), Some(dependency), None) => {
                lock.dependencies.push(dependency.to_owned());
            }
            _ => {}
        }
    }
    lock.dependencies.sort();
    lock.dependencies.dedup();
}
