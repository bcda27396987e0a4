//! What an environment was made of.

use crate::languages::{inventory_script, name_substitutes};
use atlas_core::{
    Environment, Error, ExitState, Job, JobUser, Limits, Network, Overlay, RunContext, Sandbox,
};
use std::collections::{BTreeMap, BTreeSet};

/// What every environment has, in the form of an inventory script.
const COMMON_TOOLS: &str = "for tool in bash git gcc make; do \
    command -v $tool > /dev/null && printf 'tool\\t%s\\t%s\\n' $tool \"$($tool --version 2>&1 | head -n 1)\"; \
    done\n\
    [ ! -e /opt/atlas/substitutes/used ] || sed 's/^/substitute\\t/' /opt/atlas/substitutes/used\n\
    [ ! -e \"$ATLAS_ENV/drift\" ] || sed 's/^/drift\\t/' \"$ATLAS_ENV/drift\"\n";

/// Asks the environment what it was made of. An answer that does not come is a gap in the lock
/// and a note in the plan, no reason to throw a built environment away.
pub(crate) async fn take_stock(
    cx: &RunContext,
    sandbox: &dyn Sandbox,
    environment: &mut Environment,
) -> Result<(), Error> {
    let job = Job {
        label: "inventory".to_owned(),
        overlay: Overlay::default(),
        files: Vec::new(),
        script: format!(
            "{COMMON_TOOLS}{}",
            inventory_script(&environment.plan.language)
        ),
        collect: Vec::new(),
        env: BTreeMap::new(),
        limits: Limits {
            seconds: 300,
            ..Limits::default()
        },
        network: Network::None,
        user: JobUser::default(),
    };
    let result = sandbox.run(cx, environment, &job).await?;
    if result.exit != (ExitState::Exited { code: 0 }) {
        let note = format!("the inventory is not complete: {:?}", result.exit);
        environment.plan.drift.push(note);
    }
    enter(&String::from_utf8_lossy(&result.output), environment);
    name_substitutes(environment);
    Ok(())
}

/// Enters into lock and plan what an inventory lists.
fn enter(inventory: &str, environment: &mut Environment) {
    let mut dependencies: BTreeSet<String> = environment.lock.dependencies.drain(..).collect();
    for line in inventory.lines() {
        let mut fields = line.trim_end().splitn(3, '\t');
        match (fields.next(), fields.next(), fields.next()) {
            (Some("tool"), Some(name), Some(version)) => {
                environment
                    .lock
                    .tools
                    .insert(name.to_owned(), version.trim().to_owned());
            }
            (Some("substitute"), Some(text), None) => {
                let text = text.trim().to_owned();
                if !environment.lock.substitutes.contains(&text) {
                    environment.lock.substitutes.push(text);
                }
            }
            // What a helper program of the build could not have as it is asked for.
            (Some("drift"), Some(text), None) => {
                let text = text.trim().to_owned();
                if !environment.plan.drift.contains(&text) {
                    environment.plan.drift.push(text);
                }
            }
            (Some("dependency"), Some(text), None) => {
                dependencies.insert(text.trim().to_owned());
            }
            _ => {}
        }
    }
    environment.lock.dependencies = dependencies.into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::enter;
    use atlas_core::{Environment, EnvironmentLock, EnvironmentPlan, ImageRef};

    #[test]
    fn an_inventory_is_entered_into_lock_and_plan() {
        let mut environment = Environment {
            plan: EnvironmentPlan::default(),
            dockerfile: String::new(),
            image: ImageRef::Local { path: "x".into() },
            lock: EnvironmentLock::default(),
            attempts: Vec::new(),
        };
        let lines = "tool\tjava\t21.0.1\ndrift\tx is taken from after 2020-01-01\ndrift\tx is taken from after 2020-01-01\n\
                     substitute\tjdk 21\ndependency\ta@1\nnothing\n";
        enter(lines, &mut environment);
        assert_eq!(environment.plan.drift, ["x is taken from after 2020-01-01"]);
        assert_eq!(environment.lock.substitutes, ["jdk 21"]);
        assert_eq!(environment.lock.dependencies, ["a@1"]);
        assert_eq!(environment.lock.tools["java"], "21.0.1");
    }
}
