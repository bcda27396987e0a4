//! Language toolchains of this machine.

use super::walls::is_shared;
use super::width::is_too_wide;
use atlas_core::{BuildFailure, EnvironmentPlan};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The toolchains that are here, by language.
#[derive(Clone, Debug, Default)]
pub(super) struct Toolchains {
    found: BTreeMap<&'static str, Toolchain>,
    path: String,
}

/// One toolchain.
#[derive(Clone, Debug)]
pub(super) struct Toolchain {
    /// What to share so that it runs: the folder that everything of it lies in, or single parts.
    roots: Vec<PathBuf>,
    /// The folder of its programs.
    bin: PathBuf,
    /// Its version, digits and dots.
    version: String,
    /// What it says of its version: more than digits, as with Rust's nightly ones.
    line: String,
    /// The interpreter, where other names must lead to it.
    program: PathBuf,
    /// Programs that are found by these names, beside those of `bin`.
    links: BTreeMap<String, PathBuf>,
}

/// What a plan gets of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    /// Folders of programs, first one first.
    pub(super) bins: Vec<PathBuf>,
    /// Folders to share, so that these programs run.
    pub(super) roots: Vec<PathBuf>,
    /// Links to make in a folder of programs of the environment's own: name -> program.
    pub(super) links: BTreeMap<String, PathBuf>,
    /// Which toolchains these are, a line each: language, program, what it says of its version.
    pub(super) identity: Vec<String>,
    /// The version of the plan's own language, where it is another one than planned: field of `docker_specs`,
    /// version.
    pub(super) used: Option<(String, String)>,
    /// What differs from the plan.
    pub(super) drift: Vec<String>,
}

/// The first executable of this name on a search path.
pub(super) fn look_up(name: &str, path: &str) -> Option<PathBuf> {
    path.split(':')
        .filter(|folder| folder.starts_with('/'))
        .map(|folder| Path::new(folder).join(name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// First line that a program prints with this search path; nothing if it fails or hangs.
pub(super) async fn ask(program: &Path, arguments: &[&str], path: &str) -> Option<String> {
    let output = tokio::process::Command::new(program)
        .args(arguments)
        .env("PATH", path)
        .current_dir("/")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(20), output)
        .await
        .ok()?
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}

/// The digits and dots of a version: `go1.22.3` -> `1.22.3`.
fn digits(text: &str) -> String {
    let start = text
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(text.len());
    text[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect::<String>()
        .trim_end_matches('.')
        .to_owned()
}

/// Looks for every toolchain. Shims (pyenv, rustup) are followed to the real thing, which still
/// works in a home folder that is not theirs.
pub(super) async fn find(path: &str) -> Toolchains {
    let (python, node, go, rust) =
        tokio::join!(python("python3", path), node(path), go(path), rust(path));
    let found = [
        ("python", python),
        ("node", node),
        ("go", go),
        ("rust", rust),
    ];
    Toolchains {
        found: found
            .into_iter()
            .filter_map(|(name, toolchain)| Some((name, toolchain?)))
            .collect(),
        path: path.to_owned(),
    }
}

const PYTHON: &str = "import sys; print(sys.base_prefix + '|%d.%d.%d' % sys.version_info[:3] + '|' + sys.executable)";

async fn python(name: &str, path: &str) -> Option<Toolchain> {
    python_at(&look_up(name, path)?, path).await
}

async fn python_at(program: &Path, path: &str) -> Option<Toolchain> {
    let answer = ask(program, &["-I", "-c", PYTHON], path).await?;
    let mut parts = answer.split('|');
    let (prefix, version, executable) = (parts.next()?, parts.next()?, parts.next()?);
    let root = PathBuf::from(prefix);
    let short: Vec<_> = version.split('.').take(2).collect();
    let own = root.join("bin").join(format!("python{}", short.join(".")));
    let program = if is_program(&own) {
        own
    } else {
        PathBuf::from(executable)
    };
    Some(Toolchain {
        bin: program.parent()?.to_owned(),
        links: ["python", "python3"]
            .map(|name| (name.to_owned(), program.clone()))
            .into(),
        program,
        version: version.to_owned(),
        line: answer.clone(),
        roots: vec![root],
    })
}

async fn node(path: &str) -> Option<Toolchain> {
    let program = look_up("node", path)?;
    let line = ask(&program, &["--version"], path).await?;
    let exec = ask(&program, &["-p", "process.execPath"], path).await?;
    let program = PathBuf::from(exec);
    let bin = program.parent()?.to_owned();
    // Whoever unpacks Node into a folder like `~/.local` shares that folder with everything else.
    let prefix = bin.parent()?;
    let packages = prefix.join("lib/node_modules");
    let mut roots = vec![program.clone(), prefix.join("include/node")];
    roots.extend(
        std::fs::read_dir(prefix.join("lib"))
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("libnode."))
            .map(|entry| entry.path()),
    );
    let mut links = BTreeMap::from([("node".to_owned(), program.clone())]);
    // Package managers find their own files from where their links lead.
    if let Ok(real) = packages.canonicalize() {
        for name in ["npm", "npx", "corepack", "yarn", "yarnpkg", "pnpm", "pnpx"] {
            let target = bin.join(name).canonicalize().ok();
            if let Some(inside) = target.as_ref().and_then(|to| to.strip_prefix(&real).ok()) {
                links.insert(name.to_owned(), packages.join(inside));
            }
        }
    }
    roots.push(packages);
    roots.retain(|root| root.exists());
    Some(Toolchain {
        roots,
        bin,
        version: digits(&line),
        line,
        program,
        links,
    })
}

async fn go(path: &str) -> Option<Toolchain> {
    let program = look_up("go", path)?;
    let root = PathBuf::from(ask(&program, &["env", "GOROOT"], path).await?);
    let line = ask(&program, &["env", "GOVERSION"], path).await?;
    let bin = root.join("bin");
    Some(Toolchain {
        program: bin.join("go"),
        bin,
        version: digits(&line),
        line,
        roots: vec![root],
        links: BTreeMap::new(),
    })
}

async fn rust(path: &str) -> Option<Toolchain> {
    let program = look_up("rustc", path)?;
    let root = PathBuf::from(ask(&program, &["--print", "sysroot"], path).await?);
    let line = ask(&program, &["--version"], path).await?;
    let bin = root.join("bin");
    is_program(&bin.join("cargo")).then(|| Toolchain {
        program: bin.join("cargo"),
        bin,
        version: digits(&line),
        line,
        roots: vec![root],
        links: BTreeMap::new(),
    })
}

impl Toolchain {
    /// What scripts cannot read anyway.
    fn unshared(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().filter(|root| !is_shared(root))
    }

    /// A folder that it needs and that holds more than it.
    fn too_wide(&self, home: Option<&Path>) -> Option<&PathBuf> {
        self.unshared().find(|root| is_too_wide(root, home))
    }
}

impl Toolchains {
    /// What this plan gets; all other toolchains come along, as extensions may need them.
    ///
    /// With `walled`, a toolchain that does not run without sharing a folder of more than itself is
    /// left out. `home` is this user's folder.
    ///
    /// # Errors
    /// The plan's own toolchain is not here or left out: a failure of the build, which names it.
    pub(super) async fn choose(
        &self,
        plan: &EnvironmentPlan,
        walled: bool,
        home: Option<&Path>,
    ) -> Result<Chosen, BuildFailure> {
        let (name, program) = match plan.language.as_str() {
            "python" => ("python", "python3"),
            "javascript" | "typescript" | "node" => ("node", "node"),
            "go" => ("go", "go"),
            "rust" => ("rust", "cargo"),
            _ => ("", ""),
        };
        let mut found = self.found.clone();
        let wanted = wanted(plan, name);
        let mut chosen = Chosen::default();
        let agrees_already = |own: &Toolchain| agrees(&own.version, &wanted);
        if name == "python"
            && !wanted.is_empty()
            && !found.get(name).is_some_and(agrees_already)
            && let Some(exact) = self.python_of(&wanted).await
        {
            found.insert("python", exact);
        }
        let unusable = |why: String| BuildFailure {
            step: format!("toolchain `{program}`"),
            exit_code: None,
            stderr: why,
            stdout: String::new(),
        };
        if !name.is_empty() && !found.contains_key(name) {
            return Err(unusable(format!(
                "`{program}` is not on this machine's search path, and the local engine installs \
                 no toolchains: install it, or build with the Docker engine"
            )));
        }
        if walled {
            for language in found.keys().copied().collect::<Vec<_>>() {
                let Some(root) = found[language].too_wide(home) else {
                    continue;
                };
                let why = format!(
                    "{language} at `{}` needs `{}`, a folder of more than this toolchain, which \
                     scripts must not read: install it in a folder of its own, put another one \
                     first on the search path, or build with the Docker engine",
                    found[language].program.display(),
                    root.display(),
                );
                if language == name {
                    return Err(unusable(why));
                }
                chosen.drift.push(format!("left out: {why}"));
                found.remove(language);
            }
        }
        if let Some(own) = found.get(name) {
            if !wanted.is_empty() && !agrees(&own.version, &wanted) {
                chosen.drift.push(format!(
                    "{name} {} of this machine instead of {wanted} as planned",
                    own.version
                ));
                let parts = own.version.split('.').take(wanted.split('.').count());
                let version = parts.collect::<Vec<_>>().join(".");
                chosen.used = Some((format!("{name}_version"), version));
            }
            chosen.bins.push(own.bin.clone());
        }
        for (language, other) in &found {
            let program = other.program.canonicalize();
            let program = program.as_ref().unwrap_or(&other.program);
            let identity = format!("{language} {} {}", program.display(), other.line);
            chosen.identity.push(identity);
            chosen.links.extend(other.links.clone());
            if !chosen.bins.contains(&other.bin) {
                chosen.bins.push(other.bin.clone());
            }
            chosen.roots.extend(other.unshared().cloned());
        }
        Ok(chosen)
    }

    /// `python3.9` by its name on the search path, else beside the other installed versions.
    async fn python_of(&self, wanted: &str) -> Option<Toolchain> {
        let short: Vec<_> = wanted.split('.').take(2).collect();
        if short.len() < 2 {
            return None;
        }
        let short = short.join(".");
        let name = format!("python{short}");
        if let Some(found) = python(&name, &self.path).await
            && agrees(&found.version, &short)
        {
            return Some(found);
        }
        // Version managers keep each version in a folder of its own, named after it.
        let beside = self.found.get("python")?.roots.first()?.parent()?;
        let mut versions: Vec<_> = std::fs::read_dir(beside)
            .ok()?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|version| agrees(version, &short))
            .collect();
        versions.sort();
        let program = beside.join(versions.pop()?).join("bin").join(name);
        python_at(&program, &self.path).await
    }
}

/// The version that a plan wants: from its specs, else from its base image's tag.
fn wanted(plan: &EnvironmentPlan, name: &str) -> String {
    let spec = plan.docker_specs.get(&format!("{name}_version"));
    let text = match spec {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Number(number)) => number.to_string(),
        _ => {
            let image = if name == "go" { "golang" } else { name };
            let (repository, tag) = plan.base_image.rsplit_once(':').unwrap_or_default();
            let named = repository.rsplit('/').next() == Some(image);
            if named { tag.to_owned() } else { String::new() }
        }
    };
    digits(&text)
}

/// Whether `found` is `wanted` as far as `wanted` says.
fn agrees(found: &str, wanted: &str) -> bool {
    let mut found = found.split('.');
    wanted.split('.').all(|part| found.next() == Some(part))
}

#[cfg(test)]
mod tests {
    use super::{agrees, digits, wanted};
    use atlas_core::EnvironmentPlan;

    #[test]
    fn versions_are_compared_by_their_parts() {
        assert!(agrees("3.11.7", "3.11"));
        assert!(agrees("3.1", "3.1"));
        assert!(!agrees("3.11.7", "3.1"));
        assert!(!agrees("3", "3.1"));
        assert_eq!(digits("go1.22.3 linux"), "1.22.3");
        assert_eq!(digits("latest"), "");
    }

    #[test]
    fn the_wanted_version_comes_from_specs_or_image() {
        let mut plan = EnvironmentPlan {
            base_image: "golang:1.22-bookworm".to_owned(),
            ..EnvironmentPlan::default()
        };
        assert_eq!(wanted(&plan, "go"), "1.22");
        assert_eq!(wanted(&plan, "node"), "");
        plan.docker_specs
            .insert("go_version".to_owned(), "1.21".into());
        assert_eq!(wanted(&plan, "go"), "1.21");
    }
}
