//! Package managers: which one, in which version, and what it is told.

use super::bun;
use super::command::major;
use super::node;
use super::package::{Package, Workspace, join};
use crate::facts::Facts;
use crate::quote::shell_quote;
use crate::toolbox::{self, HEAD_LOCK, NPM_ANYHOW, OWN_RELEASE, call};
use crate::versions;
use atlas_core::{EnvironmentPlan, Evidence};
use atlas_facts::{Family, lockfiles};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Npm,
    Yarn,
    /// Yarn 2 and later.
    Berry,
    Pnpm,
    Bun,
}

impl Kind {
    fn of(manager: &str) -> Option<Self> {
        Some(match manager {
            "npm" => Self::Npm,
            "yarn" => Self::Yarn,
            "pnpm" => Self::Pnpm,
            "bun" => Self::Bun,
            _ => return None,
        })
    }
}

/// A package manager as the repository uses it.
#[derive(Debug)]
pub(super) struct Manager {
    kind: Kind,
    /// The lockfile, from the repository's root.
    lock: Option<String>,
    evidence: Evidence,
    /// What npm's registry is asked for: `pnpm@9.1.0`.
    tool: Option<String>,
    /// Major version of the lockfile's format, where it decides something.
    format: Option<u32>,
}

const ALONE: &str = "echo 'atlas: the install failed, again for the packages with tests alone'";
const INSTALL: &str = "npm install --no-package-lock --no-audit --no-fund";

impl Manager {
    /// `packageManager` decides among several lockfiles, then what CI calls.
    pub(super) fn find(facts: &Facts<'_>, workspace: &Workspace, node: u32) -> Self {
        let tree = facts.tree;
        let main = workspace.main();
        let named = main.text("packageManager").unwrap_or_default();
        let present: Vec<(Kind, String)> = lockfiles(Family::JavaScript)
            .filter_map(|file| Some((file.name, Kind::of(file.manager)?)))
            .flat_map(|(name, kind)| [(kind, join(&main.folder, name)), (kind, name.to_owned())])
            .filter(|(_, file)| tree.has(file))
            .collect();
        let program = |kind: Kind| match kind {
            Kind::Npm => "npm",
            Kind::Yarn | Kind::Berry => "yarn",
            Kind::Pnpm => "pnpm",
            Kind::Bun => "bun",
        };
        let in_ci = |kind: Kind| {
            let installs = [
                format!("{} install", program(kind)),
                format!("{} ci", program(kind)),
                format!("{} i", program(kind)),
            ];
            facts.ci.test_commands().any(|command| {
                let text = command.text.trim();
                installs
                    .iter()
                    .any(|start| text == start || text.starts_with(&format!("{start} ")))
                    || text == program(kind)
            })
        };
        let chosen = present
            .iter()
            .find(|(kind, _)| named.starts_with(&format!("{}@", program(*kind))))
            .or_else(|| {
                present
                    .iter()
                    .find(|(kind, _)| present.len() > 1 && in_ci(*kind))
            })
            .or_else(|| present.first())
            .cloned();
        let mut kind = match &chosen {
            Some((kind, _)) => *kind,
            None if named.starts_with("bun@") || in_ci(Kind::Bun) && !in_ci(Kind::Npm) => Kind::Bun,
            None => without_lock(facts, workspace, named),
        };
        let lock = chosen.map(|(_, file)| file);
        let settings = tree.text(&join(&main.folder, ".yarnrc.yml"));
        let berry = settings.is_some()
            || named.starts_with("yarn@") && !named.starts_with("yarn@1")
            || lock
                .as_ref()
                .and_then(|lock| tree.beginning(lock))
                .is_some_and(|text| text.contains("\n__metadata:"));
        if kind == Kind::Yarn && berry {
            kind = Kind::Berry;
        }
        let evidence = match &lock {
            Some(lock) => {
                let text = match kind {
                    Kind::Npm => "pins the dependencies".to_owned(),
                    kind => format!("a lockfile of {}", program(kind)),
                };
                Evidence::of(lock.clone(), text)
            }
            None => Evidence::of(main.manifest(), "dependencies without a lockfile"),
        };
        let mut found = Self {
            kind,
            lock,
            evidence,
            tool: None,
            format: None,
        };
        found.tool = found.version(facts, main, named, settings.as_deref(), node);
        found
    }

    /// The manager's own version: what the repository commits or names, then CI, then what writes
    /// such a lockfile.
    fn version(
        &mut self,
        facts: &Facts<'_>,
        main: &Package,
        named: &str,
        settings: Option<&str>,
        node: u32,
    ) -> Option<String> {
        let exact = |program: &str| {
            let named = named.strip_prefix(&format!("{program}@"))?;
            let named = named.split('+').next().unwrap_or(named);
            is_version(named).then(|| named.to_owned())
        };
        let volta = |program: &str| {
            let pinned = main.in_table("volta", program)?;
            is_version(pinned).then(|| pinned.to_owned())
        };
        let head: Option<String> = self
            .lock
            .as_ref()
            .and_then(|lock| facts.tree.beginning(lock));
        match self.kind {
            Kind::Npm => {
                let number = |format: u32| {
                    let head = head.as_deref().unwrap_or_default();
                    head.contains(&format!("\"lockfileVersion\": {format}"))
                };
                self.format = (1..=3).find(|format| number(*format));
                None
            }
            Kind::Yarn => {
                let version = exact("yarn").or_else(|| volta("yarn"));
                Some(format!(
                    "yarn@{}",
                    version.unwrap_or_else(|| "1".to_owned())
                ))
            }
            Kind::Berry => {
                let committed = settings.and_then(|text| {
                    let line = text.lines().find(|line| line.starts_with("yarnPath:"))?;
                    let name = line.rsplit('/').next()?;
                    let version = name.trim_matches(['"', '\'']).strip_prefix("yarn-")?;
                    Some(
                        version
                            .trim_end_matches(".cjs")
                            .trim_end_matches(".js")
                            .to_owned(),
                    )
                });
                let version = committed
                    .filter(|version| is_version(version))
                    .or_else(|| exact("yarn"))
                    .or_else(|| volta("yarn"))
                    .unwrap_or_else(|| match node {
                        0..=13 => "2".to_owned(),
                        14..=17 => "3".to_owned(),
                        _ => "4".to_owned(),
                    });
                Some(format!("@yarnpkg/cli-dist@{version}"))
            }
            Kind::Pnpm => {
                let in_ci = facts.ci.versions(&[("pnpm/action-setup", "version")]);
                let in_ci = in_ci
                    .into_iter()
                    .find(|value| value.text.starts_with(|c: char| c.is_ascii_digit()))
                    .map(|value| value.text.replace(".x", ""));
                let written = head.as_deref().and_then(|head| {
                    let line = head
                        .lines()
                        .find(|line| line.starts_with("lockfileVersion:"))?;
                    let text = line["lockfileVersion:".len()..]
                        .trim()
                        .trim_matches(['"', '\'']);
                    let major = match text {
                        "5.0" | "5.1" => "4",
                        "5.2" => "5",
                        "5.3" => "6",
                        "5.4" => "7",
                        "6.0" | "6.1" => "8",
                        _ if versions::day(facts.date) < "2025-01-07" => "9",
                        _ => "10",
                    };
                    Some(major.to_owned())
                });
                let wanted = exact("pnpm")
                    .or_else(|| volta("pnpm"))
                    .or(in_ci)
                    .or(written);
                // Each pnpm runs under some versions of Node only.
                let newest = match node {
                    0..=13 => 6,
                    14 | 15 => 7,
                    16 | 17 => 8,
                    _ => 10,
                };
                // What is named for a Node of today runs there, however new.
                let most = if node >= 22 { u32::MAX } else { newest.max(10) };
                let version = wanted
                    .filter(|wanted| major(wanted).is_some_and(|major| major <= most))
                    .unwrap_or_else(|| newest.to_string());
                Some(format!("pnpm@{version}"))
            }
            Kind::Bun => Some(bun::tool(facts, main)),
        }
    }

    /// Whether it brings Bun along.
    pub(super) fn is_bun(&self) -> bool {
        self.kind == Kind::Bun
    }

    /// The npm that goes with a Node taken from npm.
    pub(super) fn npm(&self, node: u32) -> u32 {
        // Lockfiles of format 3 say nothing to npm 6.
        let oldest = if self.format == Some(3) { 8 } else { 6 };
        super::node::npm(node).max(if node >= 12 { oldest } else { 6 })
    }

    /// Variables for the manager.
    pub(super) fn env(&self, facts: &Facts<'_>, workspace: &Workspace, plan: &mut EnvironmentPlan) {
        let mut set = |name: &str, value: &str| {
            plan.env.insert(name.to_owned(), value.to_owned());
        };
        match self.kind {
            Kind::Npm => {}
            Kind::Yarn => set("YARN_CACHE_FOLDER", "$ATLAS_ENV/yarn"),
            Kind::Berry => {
                set("YARN_GLOBAL_FOLDER", "$ATLAS_ENV/yarn");
                set("YARN_ENABLE_TELEMETRY", "0");
                let file = join(&workspace.main().folder, ".yarnrc.yml");
                let text = facts.tree.text(&file).unwrap_or_default();
                let linked = text.lines().any(|line| {
                    line.starts_with("nodeLinker:") && !line.contains("pnp")
                        || line.contains("nodeLinker: pnpm")
                });
                if !linked {
                    set("YARN_NODE_LINKER", "node-modules");
                    plan.drift.push(
                        "packages are laid out in node_modules, where the repository uses Plug'n'Play"
                            .to_owned(),
                    );
                }
            }
            Kind::Bun => set("BUN_INSTALL_CACHE_DIR", "$ATLAS_ENV/bun"),
            Kind::Pnpm => {
                set("npm_config_manage_package_manager_versions", "false");
            }
        }
    }

    /// The build commands that install.
    ///
    /// Install scripts run: some packages compile or fetch what their tests need. Where one fails,
    /// it mostly does something that tests do not need, so the packages are installed without. A
    /// package of the workspace that is not tested (an example, a website) may need what cannot be
    /// had; then those with tests are served alone. `tested` are their folders.
    pub(super) fn install(
        &self,
        facts: &Facts<'_>,
        workspace: &Workspace,
        tested: &[&str],
        plan: &mut EnvironmentPlan,
    ) {
        let folder = &workspace.main().folder;
        if let Some(tool) = &self.tool {
            node::install(tool, plan);
        }
        if self.lock.is_none()
            && workspace.dependencies().is_empty()
            && workspace.packages.len() == 1
        {
            plan.prove(
                "build",
                Evidence::of(workspace.main().manifest(), "no dependencies"),
            );
            return;
        }
        let bare = skips_scripts(facts);
        let quiet = if let Some(line) = &bare {
            plan.prove("build", line.clone());
            " --ignore-scripts"
        } else {
            ""
        };
        let date = versions::day(facts.date);
        let age = format!("$(( ($(date +%s) - $(date -d {date} +%s)) / 60 ))");
        // Lockfiles of npm 6 were written when peer conflicts were warnings.
        let peers = if self.format == Some(1) {
            " --legacy-peer-deps"
        } else {
            ""
        };
        let (first, second) = match (self.kind, &self.lock) {
            (Kind::Npm, Some(_)) => (
                format!("npm ci --no-audit --no-fund{peers}{quiet}"),
                format!("{} ci", call(NPM_ANYHOW)),
            ),
            (Kind::Npm, None) => {
                let before = facts.day().map(|day| format!(" --before={day}"));
                let before = before.unwrap_or_default();
                (
                    format!("{INSTALL}{before}{quiet}"),
                    format!("{} install{before}", call(NPM_ANYHOW)),
                )
            }
            (Kind::Yarn, lock) => {
                let frozen = if lock.is_some() {
                    " --frozen-lockfile"
                } else {
                    ""
                };
                let yarn = "yarn install --non-interactive --ignore-engines";
                (
                    format!("{yarn}{frozen}{quiet}"),
                    format!("{yarn} --ignore-scripts"),
                )
            }
            (Kind::Berry, Some(_)) => {
                let quiet = if bare.is_some() {
                    " --mode=skip-build"
                } else {
                    ""
                };
                (
                    format!("yarn install --immutable{quiet}"),
                    "YARN_ENABLE_IMMUTABLE_INSTALLS=false YARN_ENABLE_SCRIPTS=false yarn install"
                        .to_owned(),
                )
            }
            (Kind::Berry, None) => (
                format!(
                    "YARN_NPM_MINIMAL_AGE_GATE=\"{age}\" YARN_ENABLE_IMMUTABLE_INSTALLS=false yarn install"
                ),
                "YARN_ENABLE_IMMUTABLE_INSTALLS=false YARN_ENABLE_SCRIPTS=false yarn install"
                    .to_owned(),
            ),
            (Kind::Pnpm, lock) => {
                let store = "--store-dir \"$ATLAS_ENV/pnpm-store\"";
                let frozen = if lock.is_some() {
                    "--frozen-lockfile".to_owned()
                } else {
                    format!("--no-frozen-lockfile --config.minimumReleaseAge=\"{age}\"")
                };
                (
                    format!("pnpm install {frozen} {store}{quiet}"),
                    format!(
                        "pnpm install --no-frozen-lockfile {store} --ignore-scripts --strict-peer-dependencies=false"
                    ),
                )
            }
            (Kind::Bun, lock) => {
                let frozen = if lock.is_some() {
                    "--frozen-lockfile"
                } else {
                    "--no-save"
                };
                (
                    format!("bun install {frozen}{quiet}"),
                    "bun install --no-save --ignore-scripts".to_owned(),
                )
            }
        };
        // What was laid out from the manifests alone is whole: only the project's own scripts run.
        let first = match self.kind {
            Kind::Npm => format!(
                "{{ [ -e node_modules/.package-lock.json ] && npm install --offline --no-package-lock --no-audit --no-fund{peers}{quiet}; }} ||\n{first}"
            ),
            _ => first,
        };
        let first = match self.of_tested(workspace, tested) {
            Some(alone) => format!("{first} || {{\n  {ALONE}\n  {alone}\n}}"),
            None => first,
        };
        let mut install = if self.kind == Kind::Npm {
            toolbox::add(plan, NPM_ANYHOW);
            format!("{first} ||\n{second}")
        } else {
            let said = "echo 'atlas: the install failed, again without install scripts'";
            format!("{first} || {{\n  {said}\n  {second}\n}}")
        };
        if self.kind == Kind::Pnpm {
            // The packages are linked or copied from it, where it is not their place itself.
            install = format!(
                "{{\n{install}\n}} && {{ ls -d \"$ATLAS_ENV\"/pnpm-store/*/links > /dev/null 2>&1 || rm -rf \"$ATLAS_ENV/pnpm-store\"; }}"
            );
        }
        plan.build.push(in_folder(folder, &install));
        if self.lock.is_none() {
            if let Some(call) = without_own_releases(workspace, plan) {
                plan.build.push(in_folder(folder, &call));
            }
            plan.drift.push(if matches!(self.kind, Kind::Yarn | Kind::Bun) {
                "no lockfile, and this package manager knows no dates: dependencies resolve as of the build".to_owned()
            } else {
                plan.as_of = facts.day();
                format!("no lockfile: dependencies resolve as of {date}, or as of the build where the registry or the package manager knows no dates")
            });
        }
        plan.prove("build", self.evidence.clone());
    }

    /// The command that installs what the packages with tests need and no more.
    fn of_tested(&self, workspace: &Workspace, tested: &[&str]) -> Option<String> {
        let mut names: Vec<&str> = workspace
            .packages
            .iter()
            .filter(|package| tested.contains(&package.folder.as_str()))
            .map(Package::name)
            .collect();
        let main = workspace.main().name();
        let whole = names.is_empty() || names.len() == workspace.packages.len();
        if whole || main.is_empty() || names.iter().any(|name| name.is_empty()) {
            return None;
        }
        // What all packages share, as runners often are, belongs to the root.
        if !names.contains(&main) {
            names.push(main);
        }
        let quoted: Vec<String> = names.iter().map(|name| shell_quote(name)).collect();
        match self.kind {
            Kind::Berry => Some(format!("yarn workspaces focus {}", quoted.join(" "))),
            Kind::Pnpm => {
                let filters: Vec<String> = names
                    .iter()
                    .map(|name| format!("--filter {}", shell_quote(&format!("{name}..."))))
                    .collect();
                Some(format!(
                    "pnpm install --frozen-lockfile --store-dir \"$ATLAS_ENV/pnpm-store\" {}",
                    filters.join(" ")
                ))
            }
            Kind::Npm | Kind::Yarn | Kind::Bun => None,
        }
    }

    /// What the pull request's manifests add or change goes into the same `node_modules`, as there
    /// is one for all states.
    pub(super) fn prefetch(
        &self,
        facts: &Facts<'_>,
        workspace: &Workspace,
        plan: &mut EnvironmentPlan,
    ) {
        if !facts.changes_manifests {
            return;
        }
        let date = versions::day(facts.date);
        let mut beside = Vec::new();
        for package in &workspace.packages {
            let base = package.dependencies();
            let head = Package::read(facts.head, &package.folder);
            let added: BTreeMap<String, String> = head
                .map(|package| package.dependencies())
                .unwrap_or_default()
                .into_iter()
                .filter(|(name, range)| {
                    base.get(name) != Some(range)
                        && !["workspace:", "catalog:", "link:", "file:", "portal:"]
                            .iter()
                            .any(|start| range.starts_with(start))
                })
                .collect();
            if added.is_empty() {
                continue;
            }
            let words: Vec<String> = added
                .iter()
                .map(|(name, range)| shell_quote(&format!("{name}@{range}")))
                .collect();
            let words = words.join(" ");
            if self.kind == Kind::Npm && package.folder == workspace.main().folder {
                let prefix = target(&package.folder);
                let mut command = format!(
                    "npm install --no-save --no-package-lock --no-audit --no-fund --prefix \"{prefix}\" -- {words}"
                );
                if let Some(call) = without_own_releases(workspace, plan) {
                    let _ = write!(command, "; cd \"{prefix}\" && {call}");
                }
                plan.prefetch.push(command);
            } else {
                // Another manager's folder is not npm's to change: the packages are put beside it
                // and linked.
                let mut command = format!(
                    "npm install --prefix \"$ATLAS_ENV/added\" --before={date} --no-audit --no-fund -- {words} || npm install --prefix \"$ATLAS_ENV/added\" --no-audit --no-fund -- {words}"
                );
                for name in added.keys() {
                    let place = target(&join(&package.folder, &format!("node_modules/{name}")));
                    let from = shell_quote(name);
                    let place = place.replace("$ATLAS_REPO/", "");
                    let _ = write!(
                        command,
                        "; at=\"$ATLAS_REPO\"/{}; mkdir -p \"$(dirname \"$at\")\"; rm -rf \"$at\"; ln -s \"$ATLAS_ENV/added/node_modules\"/{from} \"$at\"",
                        shell_quote(&place)
                    );
                }
                beside.push(command);
            }
            let shown: Vec<String> = added
                .iter()
                .map(|(name, range)| format!("{name}@{range}"))
                .collect();
            plan.drift.push(format!(
                "Base runs with dependencies that the pull request adds or changes: {}",
                shown.join(", ")
            ));
            plan.prove(
                "prefetch",
                Evidence::of(package.manifest(), "changed by the pull request"),
            );
        }
        if beside.is_empty() {
            return;
        }
        match self.of_head(facts, workspace, plan) {
            // A link beside the tree would be a second copy of a package that others in the tree share.
            Some(locked) => {
                let beside = beside.join("\n");
                plan.prefetch.push(format!("{locked} || {{\n{beside}\n}}"));
            }
            None => plan.prefetch.extend(beside),
        }
    }

    /// The command that installs by the pull request's lockfile, where it changes that.
    fn of_head(
        &self,
        facts: &Facts<'_>,
        workspace: &Workspace,
        plan: &mut EnvironmentPlan,
    ) -> Option<String> {
        let changes = |lock: &&String| facts.head.text(lock) != facts.tree.text(lock);
        let lock = self.lock.as_ref().filter(changes)?;
        let install = match self.kind {
            Kind::Npm => return None,
            Kind::Yarn => "yarn install --non-interactive --ignore-engines --frozen-lockfile",
            Kind::Berry => "yarn install --immutable",
            Kind::Bun => "bun install --frozen-lockfile",
            Kind::Pnpm => {
                "bash -c 'pnpm install --frozen-lockfile --store-dir \"$ATLAS_ENV/pnpm-store\" && \
                 { ls -d \"$ATLAS_ENV\"/pnpm-store/*/links > /dev/null 2>&1 || rm -rf \"$ATLAS_ENV/pnpm-store\"; }'"
            }
        };
        let folder = lock.rsplit_once('/').map_or("", |(folder, _)| folder);
        let manifests = workspace.packages.iter().map(Package::manifest);
        let settings = join(folder, "pnpm-workspace.yaml");
        let files: BTreeSet<String> = manifests
            .chain([lock.clone(), settings])
            .filter(|file| facts.head.has(file) || facts.tree.has(file))
            .map(|file| shell_quote(&file))
            .collect();
        let files: Vec<String> = files.into_iter().collect();
        toolbox::add(plan, HEAD_LOCK);
        Some(format!(
            "{} {} {} -- {install}",
            call(HEAD_LOCK),
            shell_quote(folder),
            files.join(" ")
        ))
    }
}

/// Dependencies that are not locked may bring later releases of the project itself: the command that takes them out.
fn without_own_releases(workspace: &Workspace, plan: &mut EnvironmentPlan) -> Option<String> {
    let releases = workspace.releases();
    if releases.is_empty() {
        return None;
    }
    toolbox::add(plan, OWN_RELEASE);
    let words: Vec<String> = releases.iter().map(|word| shell_quote(word)).collect();
    Some(format!(
        "node {} {}",
        toolbox::path(OWN_RELEASE),
        words.join(" ")
    ))
}

/// A path of the repository between double quotes.
pub(super) fn target(folder: &str) -> String {
    if folder.is_empty() {
        return "$ATLAS_REPO".to_owned();
    }
    let escaped: String = folder
        .chars()
        .flat_map(|c| {
            let escape = matches!(c, '"' | '\\' | '$' | '`').then_some('\\');
            escape.into_iter().chain([c])
        })
        .collect();
    format!("$ATLAS_REPO/{escaped}")
}

/// A command in a folder below the repository's root.
pub(super) fn in_folder(folder: &str, command: &str) -> String {
    if folder.is_empty() {
        command.to_owned()
    } else {
        format!("( cd {} || exit 1; {command} )", shell_quote(folder))
    }
}

pub(super) fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
}

/// Without a lockfile npm is asked, as it knows dates, unless the manifests speak another
/// manager's language.
fn without_lock(facts: &Facts<'_>, workspace: &Workspace, named: &str) -> Kind {
    let foreign = workspace.packages.iter().any(|package| {
        package.dependencies().values().any(|range| {
            ["workspace:", "catalog:", "portal:", "patch:"]
                .iter()
                .any(|start| range.starts_with(start))
        })
    });
    let pnpm = facts
        .tree
        .has(&join(&workspace.main().folder, "pnpm-workspace.yaml"));
    if pnpm || foreign && !named.starts_with("yarn@") {
        Kind::Pnpm
    } else if foreign {
        Kind::Berry
    } else {
        Kind::Npm
    }
}

/// The line by which CI installs without install scripts, if all its installs do.
fn skips_scripts(facts: &Facts<'_>) -> Option<Evidence> {
    let installs: BTreeSet<(bool, String, usize, String)> = facts
        .ci
        .test_commands()
        .filter(|command| {
            let words: Vec<&str> = command.text.split_whitespace().collect();
            matches!(
                words.as_slice(),
                ["npm" | "yarn" | "pnpm" | "bun", "ci" | "i" | "install" | "clean-install", rest @ ..]
                    if rest.iter().all(|word| word.starts_with('-'))
            )
        })
        .map(|command| {
            let without = command.text.contains("--ignore-scripts");
            (
                without,
                command.file.clone(),
                command.line,
                command.text.clone(),
            )
        })
        .collect();
    if installs.iter().any(|(without, ..)| !without) {
        return None;
    }
    installs
        .into_iter()
        .next()
        .map(|(_, file, line, text)| Evidence::at(file, line, text))
}
