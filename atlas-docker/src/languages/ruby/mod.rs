//! Ruby: gems by bundler; `RSpec`, minitest, test-unit, Cucumber.

mod gems;
mod manifests;
mod rake;
mod runner;
mod versions;

use super::{INSTALL_SUBSTITUTES, Language, env};
use crate::facts::{Facts, Presence, Verdict};
use crate::quote::shell_quote;
use crate::system;
use crate::toolbox::{self, KEEP_GOING, LOAD, REPORT};
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence};
use gems::Gems;
use manifests::Manifests;
use runner::Runner;

/// Ruby.
#[derive(Debug)]
pub(crate) struct Ruby;

const INSTALL: &str = include_str!("install.sh");

/// Groups of a Gemfile that tests can do without, left out where the whole cannot be had.
const WITHOUT: &str = "development:lint:linting:rubocop:doc:docs:documentation:profile:profiling:benchmark:benchmarks:bench:debug:guard:local:maintenance:release:types:tools:coverage";

impl Language for Ruby {
    fn id(&self) -> &'static str {
        "ruby"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "ruby:3.3-slim-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        let sources: Vec<_> = tree.ending(".rb").collect();
        Presence {
            manifest: manifests::find(tree),
            tests: sources
                .iter()
                .filter(|path| manifests::is_test(path))
                .count(),
            sources: sources.len(),
        }
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let tree = facts.tree;
        let gems = Gems::find(tree);
        if gems.are_below() {
            return gems.plan(facts, |manifests| self.planned(facts, manifests));
        }
        let Some(main) = manifests::find(tree) else {
            return Err(Verdict::new(
                "no Gemfile, gemspec or Rakefile stands in the repository's root or in a folder with tests",
                vec![Evidence::of(".", "Gemfile is missing")],
            ));
        };
        let manifests = Manifests::read(tree, &main);
        self.planned(facts, &manifests)
    }

    fn substitutes(
        &self,
        facts: &Facts<'_>,
        _plan: &EnvironmentPlan,
    ) -> Vec<(&'static str, String)> {
        let gems = Gems::find(facts.tree);
        let all = if gems.are_below() {
            gems.chosen(facts)
        } else {
            let main = manifests::find(facts.tree).into_iter();
            main.map(|main| Manifests::read(facts.tree, &main))
                .collect()
        };
        let found: Vec<(Manifests, Runner)> = all
            .into_iter()
            .filter_map(|manifests| {
                let runner = runner::find(facts, &manifests).ok()?.runner;
                Some((manifests, runner))
            })
            .collect();
        let Some(runner) = found.first().map(|(_, runner)| runner.gems()[0]) else {
            return Vec::new();
        };
        let mut names: Vec<String> = found
            .iter()
            .flat_map(|(manifests, runner)| {
                let named = manifests.gems.keys().map(String::as_str);
                named.chain([runner.gems()[0], "rake"])
            })
            .map(|name| name.to_ascii_lowercase().replace('_', "-"))
            .filter(|name| name != "bundler")
            .collect();
        names.sort();
        names.dedup();
        let quoted: Vec<String> = names.iter().map(|name| shell_quote(name)).collect();
        let own: Vec<String> = found
            .iter()
            .flat_map(|(manifests, _)| manifests.names())
            .map(|name| shell_quote(&name))
            .collect();
        let install = include_str!("substitutes.sh")
            .replace("@GEMS@", &quoted.join(" "))
            .replace("@OWN@", &own.join(" "));
        let bundle = include_str!("substitutes.bundle.sh").replace("@RUNNER@", runner);
        vec![
            (INSTALL_SUBSTITUTES, install),
            ("bundle", bundle),
            (
                "bundle.rb",
                include_str!("substitutes.bundle.rb").to_owned(),
            ),
        ]
    }
}

impl Ruby {
    /// The plan for the tests of one folder.
    fn planned(
        &self,
        facts: &Facts<'_>,
        manifests: &Manifests,
    ) -> Result<EnvironmentPlan, Verdict> {
        let found = runner::find(facts, manifests)?;
        let mut plan = EnvironmentPlan {
            log_parser_name: found.runner.parser().to_owned(),
            env: env([
                ("BUNDLE_APP_CONFIG", "$ATLAS_ENV/bundle"),
                ("BUNDLE_PATH__SYSTEM", "true"),
                ("GEM_HOME", "$ATLAS_ENV/gems"),
                ("LANG", "C.UTF-8"),
                // Several tests at once print into each other's lines.
                ("MT_CPU", "1"),
                ("PATH", "$ATLAS_ENV/bin:$ATLAS_ENV/gems/bin:$PATH"),
            ]),
            ..EnvironmentPlan::default()
        };
        if found.runner == Runner::Cucumber {
            let quiet = ("CUCUMBER_PUBLISH_QUIET".to_owned(), "true".to_owned());
            plan.env.extend([quiet]);
        }
        versions::choose(facts, manifests, &mut plan);
        variables(facts, manifests, &mut plan);
        // Under bundler, what no manifest names is not there, even if Ruby brings it.
        let bundled = manifests.gemfile.is_none()
            || manifests.first(found.runner.gems()).is_some()
            || !matches!(found.runner, Runner::Minitest | Runner::TestUnit);
        runner::command(facts, manifests, &found, bundled, &mut plan);
        build(facts, manifests, found.runner, &mut plan);
        let mut dependencies: Vec<(String, String)> = manifests
            .gems
            .iter()
            .map(|(name, named)| (name.clone(), named.file.clone()))
            .collect();
        if let Some(lock) = &manifests.lock {
            dependencies.extend(
                manifests
                    .locked
                    .keys()
                    .map(|name| (name.clone(), lock.clone())),
            );
        }
        // A gem that is tested needs what those need that depend on it.
        let own = manifests.names().into_iter();
        dependencies.extend(own.map(|name| (name, manifests.main.clone())));
        let base = |text: &str| Evidence::of(manifests.main.clone(), text);
        let extra = [
            ("build-essential", base("gems with extensions are compiled")),
            ("libyaml-dev", base("psych compiles against it")),
            ("tzdata", base("Ruby reads the system's time zones")),
        ];
        system::packages(facts, self.id(), &dependencies, &extra, &mut plan);
        Ok(plan)
    }
}

/// What CI sets for its tests and the repository's own configuration asks for.
fn variables(facts: &Facts<'_>, manifests: &Manifests, plan: &mut EnvironmentPlan) {
    let tree = facts.tree;
    let asking: Vec<String> = manifests
        .bundles(tree)
        .into_iter()
        .chain(manifests.near("Rakefile"))
        .chain(tree.ending("_helper.rb").map(str::to_owned))
        .chain(tree.ending("/helper.rb").map(str::to_owned))
        .filter_map(|path| tree.text(&path))
        .collect();
    for (name, value) in facts.ci.test_variables() {
        let forms = [format!("ENV['{name}']"), format!("ENV[\"{name}\"]")];
        let fetched = [
            format!("ENV.fetch('{name}'"),
            format!("ENV.fetch(\"{name}\""),
        ];
        let asked = asking
            .iter()
            .any(|text| forms.iter().chain(&fetched).any(|form| text.contains(form)));
        let measures = ["COVERAGE", "COVERALLS", "CODECOV", "TOKEN"];
        if !asked || measures.iter().any(|word| name.contains(word)) || plan.env.contains_key(&name)
        {
            continue;
        }
        let text = format!("{name}: {}", value.text);
        plan.prove("env", Evidence::at(value.file, value.line, text));
        plan.env.insert(name, value.text);
    }
}

fn build(facts: &Facts<'_>, manifests: &Manifests, runner: Runner, plan: &mut EnvironmentPlan) {
    let enter = runner::enter(manifests);
    let scripts: &[&str] = match runner {
        Runner::Rspec => &[KEEP_GOING],
        Runner::Minitest | Runner::TestUnit => &[LOAD, REPORT],
        Runner::Cucumber => &[],
    };
    let write =
        |name: &str, text: &str| format!("printf %s {} > \"$ATLAS_ENV/{name}\"", shell_quote(text));
    for name in scripts {
        toolbox::add(plan, name);
    }
    let own_gem = runner.gems()[0];
    if manifests.gemfile.is_none() {
        // Bundler wants a Gemfile; the repository's is that of its gemspecs, or of the runner alone.
        let mut lines = vec!["source \"https://rubygems.org\"".to_owned()];
        for path in &manifests.gemspecs {
            let name = path
                .rsplit('/')
                .next()
                .unwrap_or(path)
                .trim_end_matches(".gemspec");
            let folder = manifests.folder.trim_end_matches('/');
            lines.push(format!(
                "gemspec path: File.join(ENV.fetch(\"ATLAS_REPO\"), {folder:?}), name: {name:?}"
            ));
        }
        for (name, folder) in &manifests.beside {
            lines.push(format!(
                "gem {name:?}, path: File.join(ENV.fetch(\"ATLAS_REPO\"), {folder:?})"
            ));
        }
        for gem in ["rake", own_gem] {
            if !manifests.has(gem) {
                lines.push(format!("gem {gem:?}"));
            }
        }
        let text = format!("{}\n", lines.join("\n"));
        if manifests.are_several {
            let file = runner::made_gemfile(manifests.folder.trim_end_matches('/'));
            let text = shell_quote(&text);
            plan.build.push(format!(
                "mkdir -p \"$(dirname {file})\" && printf %s {text} > {file}"
            ));
        } else {
            plan.build.push(write("Gemfile", &text));
            plan.env
                .insert("BUNDLE_GEMFILE".to_owned(), "$ATLAS_ENV/Gemfile".to_owned());
        }
        plan.prove(
            "build",
            Evidence::of(
                manifests.main.clone(),
                "there is no Gemfile: one is made of the gemspec",
            ),
        );
    }
    if let Some((version, file, line)) = manifests.bundler(facts.tree) {
        let quoted = shell_quote(&version);
        plan.build.push(format!(
            "gem install --no-document bundler -v {quoted} || echo 'atlas: bundler of that version is not installed'"
        ));
        plan.prove(
            "build",
            Evidence::at(file, line, format!("bundler {version}")),
        );
    }
    let install = INSTALL.replace("@WITHOUT@", WITHOUT);
    let enter_bundle = runner::enter_bundle(manifests);
    plan.build
        .push(format!("{enter_bundle}{}", install.trim_end()));
    let (source, text) = if let Some(lock) = &manifests.lock {
        (lock, "gems as locked")
    } else {
        let text =
            "there is no Gemfile.lock: gems are resolved as of today, the registry knows no date";
        plan.drift.push(text.to_owned());
        let source = manifests.gemfile.as_ref().unwrap_or(&manifests.main);
        (source, "gems as the manifest names them")
    };
    plan.prove("build", Evidence::of(source.clone(), text));
    for (task, file, line, text) in rake::generators(facts.tree, manifests) {
        let command = format!("{enter}bundle exec rake {}", shell_quote(&task));
        plan.build.push(format!(
            "{command} || echo 'atlas: rake did not make what tests need'"
        ));
        plan.rebuild.push(command);
        plan.prove("rebuild", Evidence::at(file, line, text));
    }
    if facts.changes_manifests {
        plan.prefetch = vec![format!("{enter_bundle}bundle install --jobs 4 --retry 3")];
    }
}
