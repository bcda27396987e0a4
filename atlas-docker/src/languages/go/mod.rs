//! Go: modules, `go test`.

use super::{Language, env};
use crate::analysis::{Facts, Presence, Verdict};
use crate::render::shell_quote;
use crate::system;
use crate::tree::Tree;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// Go.
#[derive(Debug)]
pub(crate) struct Go;

const MANIFEST: &str = "go.mod";

static GO_LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^go\s+(\d\S*)").expect("a literal pattern"));
static TOOLCHAIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^toolchain\s+go(\d\S*)").expect("a literal pattern"));
static REQUIRE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:require\s+)?([a-z0-9][\w.-]*\.[a-z]+/\S+)\s+v\d")
        .expect("a literal pattern")
});
static GO_TEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(go test|gotestsum)\b(.*)").expect("a literal pattern"));
static TAGS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"--?tags[= ]["']?([A-Za-z0-9_, ]+)"#).expect("a literal pattern")
});

impl Language for Go {
    fn id(&self) -> &'static str {
        "go"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "golang:1.23-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        let sources: Vec<_> = tree.ending(".go").collect();
        Presence {
            manifest: tree.has(MANIFEST).then(|| MANIFEST.to_owned()),
            tests: sources
                .iter()
                .filter(|path| path.ends_with("_test.go"))
                .count(),
            sources: sources.len(),
        }
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let tree = facts.tree;
        let Some(manifest) = tree.text(MANIFEST) else {
            return Err(Verdict::new(
                "no go.mod in the repository's root: code from before Go modules is not built",
                vec![Evidence::of(".", "go.mod is missing")],
            ));
        };
        let Some(test_file) = tree.ending("_test.go").next() else {
            let evidence = vec![Evidence::of(MANIFEST, "no file is named *_test.go")];
            return Err(Verdict::new("the repository has no Go tests", evidence));
        };
        if !facts.knows("gotest") {
            return Err(Verdict::no_parser(
                "go test",
                vec![Evidence::of(test_file, "a Go test")],
            ));
        }
        let mut plan = EnvironmentPlan {
            log_parser_name: "gotest".to_owned(),
            env: env([
                ("GOCACHE", "$ATLAS_CACHE/go-build"),
                ("GOPATH", "$ATLAS_ENV/gopath"),
                ("GOTOOLCHAIN", "local"),
                ("LANG", "C.UTF-8"),
            ]),
            ..EnvironmentPlan::default()
        };
        plan.prove("log_parser_name", Evidence::of(test_file, "a Go test"));
        version(facts, &mut plan);

        let required: Vec<(String, String)> = manifest
            .lines()
            .filter_map(|line| REQUIRE.captures(line))
            .map(|found| (found[1].to_owned(), MANIFEST.to_owned()))
            .collect();
        // Module folders are made read-only by default, which keeps others from removing them.
        let mut flags = vec!["-modcacherw"];
        if !required.is_empty() && !tree.has("go.sum") && !tree.has("go.work") {
            flags.push("-mod=mod");
            plan.drift
                .push("go.sum is missing: module contents are not pinned by hash".to_owned());
            plan.prove(
                "env",
                Evidence::of(MANIFEST, "requirements without a go.sum"),
            );
        }
        plan.env.insert("GOFLAGS".to_owned(), flags.join(" "));

        let tags = tags(facts, &mut plan);
        plan.build = vec![
            "go mod download".to_owned(),
            // Compiles what the tests will need; a package that does not compile is for the tests
            // to tell, not for the build.
            format!(
                "go test{tags} -count=1 -run '^$' ./... || echo 'atlas: not every package compiles'"
            ),
        ];
        plan.prove("build", Evidence::of(MANIFEST, "a Go module"));
        if facts.changes_manifests {
            plan.prefetch = vec!["go mod download".to_owned()];
        }
        plan.test_cmd = format!("go test -v -count=1{tags} ./...");
        let text = "all packages of the module in the root";
        plan.prove("test_cmd", Evidence::of(MANIFEST, text));
        system::packages(facts, self.id(), &required, &[], &mut plan);
        Ok(plan)
    }
}

/// `toolchain`, then a `go` line of 1.21 or later (from then on it names a toolchain, before only
/// a level of the language), then CI, then the newest release at the date.
fn version(facts: &Facts<'_>, plan: &mut EnvironmentPlan) {
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    for (pattern, lowest) in [
        (&*TOOLCHAIN, Version::new(1, 0)),
        (&*GO_LINE, Version::new(1, 21)),
    ] {
        if let Some((line, text)) = facts.tree.line(MANIFEST, pattern)
            && let Some(version) = pattern
                .captures(&text)
                .and_then(|found| Version::parse(&found[1]))
            && version >= lowest
        {
            candidates.push((version, Evidence::at(MANIFEST, line, text)));
        }
    }
    let in_ci = facts
        .ci
        .versions(&[("actions/setup-go", "go-version"), ("travis", "go")]);
    let newest = versions::released(versions::GO, facts.date)
        .next_back()
        .unwrap_or(Version::new(1, 11));
    let best = in_ci
        .into_iter()
        .filter_map(|value| {
            let version = match value.text.as_str() {
                "stable" | "oldstable" | "^1" | "1.x" | "1" => newest,
                text => Version::parse(text)?,
            };
            let at = Evidence::at(value.file, value.line, format!("CI runs Go {}", value.text));
            versions::is_released(versions::GO, version, facts.date).then_some((version, at))
        })
        .max_by_key(|(version, _)| *version);
    // A matrix that ended before the module's own level is out of use.
    let level = facts
        .tree
        .line(MANIFEST, &GO_LINE)
        .and_then(|(_, text)| Version::parse(GO_LINE.captures(&text)?.get(1)?.as_str()));
    candidates.extend(best.filter(|(version, _)| level.is_none_or(|level| *version >= level)));
    if candidates.is_empty() {
        let text = format!(
            "nothing names a Go toolchain: the newest at {}",
            versions::day(facts.date)
        );
        candidates.push((newest, Evidence::of(MANIFEST, text)));
    }
    let version = candidates[0].0;
    for (at, (other, mut evidence)) in candidates.into_iter().enumerate() {
        if at > 0 && other != version {
            evidence.text = format!("overruled: {}", evidence.text);
        }
        plan.prove("docker_specs", evidence);
    }
    let named = format!("{}.{}", version.major, version.minor);
    let debian = match version.minor {
        0..=13 => "buster",
        14..=18 => "bullseye",
        _ => "bookworm",
    };
    plan.base_image = format!("golang:{named}-{debian}");
    plan.docker_specs
        .insert("go_version".to_owned(), named.into());
}

/// Build tags of CI, unless CI also tests without any.
fn tags(facts: &Facts<'_>, plan: &mut EnvironmentPlan) -> String {
    let mut first = None;
    for command in facts.ci.test_commands() {
        let Some(run) = GO_TEST.captures(&command.text) else {
            continue;
        };
        match TAGS.captures(&run[2]) {
            None => return String::new(),
            Some(found) => {
                first.get_or_insert_with(|| (found[1].trim().replace(' ', ","), command.clone()));
            }
        }
    }
    let Some((tags, command)) = first else {
        return String::new();
    };
    let at = Evidence::at(command.file, command.line, command.text);
    plan.prove("test_cmd", at);
    format!(" -tags={}", shell_quote(&tags))
}
