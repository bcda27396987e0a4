//! The commands that install what the lists name, and the project.

use super::cython;
use super::lists::choose;
use super::locks::locked;
use super::manifests::{Manifests, name_of};
use super::prefetch::prefetch;
use super::runner::Runner;
use crate::facts::Facts;
use crate::quote::shell_quote;
use crate::toolbox::{self, INSTALL_PYTHON, PYTHON_UV, PYTHON_VENV, call};
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

static EXTENSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bext_modules\b|\bExtension\(|\bcythonize\(|\bcffi_modules\b|\brust_extensions\b")
        .expect("a literal pattern")
});

/// Whether an installation runs `setup.py`: not where `pyproject.toml` names another backend, as
/// projects do that keep the file for something else.
fn runs_setup_py(manifests: &Manifests) -> bool {
    manifests
        .pyproject
        .as_ref()
        .and_then(|root| root.get("build-system")?.get("build-backend")?.as_str())
        .is_none_or(|backend| backend.starts_with("setuptools"))
}

/// Writes the build commands. Returns the proof that an extension module gets compiled, if one is.
pub(super) fn plan(
    facts: &Facts<'_>,
    manifests: &Manifests,
    runner: Runner,
    plan: &mut EnvironmentPlan,
) -> Option<Evidence> {
    let chosen = choose(facts, manifests, plan);
    let extension = ["setup.py", "pyproject.toml", "meson.build"]
        .into_iter()
        .filter(|file| *file != "setup.py" || runs_setup_py(manifests))
        .find_map(|file| {
            let (line, text) = facts.tree.line(file, &EXTENSION)?;
            Some(Evidence::at(file, line, text))
        });
    toolbox::add(plan, PYTHON_VENV);
    plan.setup.push(call(PYTHON_VENV));
    let mut constraint = String::new();
    if let Some((file, pins)) = locked(facts.tree, manifests) {
        let words: Vec<String> = pins.iter().map(|pin| shell_quote(pin)).collect();
        plan.build.push(format!(
            "printf '%s\\n' {} > \"$ATLAS_ENV/constraints.txt\"",
            words.join(" ")
        ));
        plan.prove(
            "build",
            Evidence::of(file, format!("pins {} packages", pins.len())),
        );
        " --constraint \"$ATLAS_ENV/constraints.txt\"".clone_into(&mut constraint);
    }
    let mut words: Vec<String> = Vec::new();
    if let Some(file) = &manifests.installable {
        plan.prove("build", Evidence::of(file.clone(), "can be installed"));
    }
    for file in &chosen.files {
        words.extend(["-r".to_owned(), file.clone()]);
    }
    words.extend(chosen.requirements.iter().cloned());
    let has_pytest = chosen
        .requirements
        .iter()
        .chain(&manifests.dependencies)
        .any(|requirement| name_of(requirement) == "pytest");
    // Installed once more it changes nothing where a list has it already.
    if runner == Runner::Pytest && !has_pytest {
        words.push("pytest".to_owned());
    }
    let backend = backend(manifests);
    let made = cython::sources(facts);
    if !words.is_empty() || manifests.installable.is_some() {
        toolbox::add(plan, INSTALL_PYTHON);
        toolbox::add(plan, PYTHON_UV);
        plan.setup.push(call(PYTHON_UV));
        plan.as_of = facts.frozen();
        let mut command = format!("{}{}{constraint}", call(INSTALL_PYTHON), day(facts));
        if manifests.installable.is_some() {
            command.push_str(" --project .");
            if !chosen.extras.is_empty() {
                command.push_str(" --extras ");
                command.push_str(&shell_quote(&chosen.extras.join(",")));
            }
            for word in &backend {
                command.push_str(" --backend ");
                command.push_str(&shell_quote(word));
            }
        }
        for word in &words {
            command.push(' ');
            command.push_str(&shell_quote(word));
        }
        if !made.commands.is_empty() {
            plan.build.push(cython::install(facts, manifests, &chosen));
            plan.build.extend(made.commands.iter().cloned());
            for proof in made.proofs {
                plan.prove("build", proof);
            }
        }
        plan.build.push(command);
        if constraint.is_empty() {
            plan.drift.push(match &plan.as_of {
                Some(day) => format!(
                    "no lockfile: dependencies are resolved as of {day} or the first day of its month, \
                     but for what stands on no index"
                ),
                None => "no lockfile: dependencies resolve to what the index has at the build"
                    .to_owned(),
            });
        }
    }
    if extension.is_some() && manifests.installable.is_some() {
        let mut command = format!("{} --add{}", call(INSTALL_PYTHON), day(facts));
        for word in &backend {
            command.push(' ');
            command.push_str(&shell_quote(word));
        }
        plan.build.push(command);
        // In place, because what is installed may not be written while tests run. Backends other
        // than setuptools know no such build.
        let rebuild = if facts.tree.text("setup.py").is_some() {
            "python setup.py --quiet build_ext --inplace"
        } else {
            "python -m pip install --no-build-isolation --no-deps --no-index -e ."
        };
        plan.rebuild.extend(made.commands);
        plan.rebuild.push(rebuild.to_owned());
    }
    prefetch(facts, manifests, &chosen, plan);
    extension
}

/// The option for the day as of which dependencies resolve, with a blank in front.
pub(super) fn day(facts: &Facts<'_>) -> String {
    facts
        .frozen()
        .map(|day| format!(" --day {day}"))
        .unwrap_or_default()
}

/// What the project's build itself needs.
fn backend(manifests: &Manifests) -> Vec<String> {
    let named: Vec<String> = manifests
        .pyproject
        .as_ref()
        .and_then(|root| root.get("build-system")?.get("requires")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect();
    if named.is_empty() {
        return ["setuptools", "wheel"].map(str::to_owned).to_vec();
    }
    named
}
