//! What keeps a script apart from this machine: bubblewrap, or nothing.

use super::launch::{HOSTS, PASSWD};
use super::toolchain::look_up;
use crate::engine::prelude::{OWN_FOLDER, Places};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The walls of this engine.
#[derive(Clone, Debug)]
pub(super) enum Walls {
    /// bubblewrap.
    Bubblewrap(Bwrap),
    /// Plain processes.
    None,
}

/// A bubblewrap that works here.
#[derive(Clone, Debug)]
pub(super) struct Bwrap {
    program: PathBuf,
    pub(super) version: String,
    no_nested_namespaces: bool,
}

/// Where the folders of the convention lie on this machine.
#[derive(Clone, Debug)]
pub(super) struct Real {
    pub(super) repo: PathBuf,
    pub(super) env: PathBuf,
    pub(super) cache: PathBuf,
    pub(super) home: PathBuf,
    /// Links to the interpreters that the plan wants.
    pub(super) tools: PathBuf,
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
    pub(super) temporary: PathBuf,
    /// Whether a script may write to `env`: builds only.
    pub(super) env_writable: bool,
}

impl Real {
    /// The places as a script sees them without walls.
    pub(super) fn places(&self) -> Places {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Places {
            repo: text(&self.repo),
            env: text(&self.env),
            cache: text(&self.cache),
            input: text(&self.input),
            output: text(&self.output),
            home: text(&self.home),
        }
    }
}

/// System folders and files that every script may read. Of `/etc` only what programs need to
/// find libraries, names and certificates: a work machine keeps secrets there too.
const SYSTEM: [&str; 24] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/gai.conf",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/pki",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl",
    "/etc/timezone",
];

/// Where [`Real::tools`] lies inside.
pub(super) const TOOLS: &str = "/opt/atlas/tools";

/// What a build needs beyond that, to reach package indexes.
const NETWORK: [&str; 4] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/pip.conf",
    "/etc/npmrc",
];

/// Whether every script can read a path anyway.
pub(super) fn is_shared(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

impl Bwrap {
    /// The command line up to the program: `shared` are more folders to read, at their own path; `own` has
    /// files of `/etc`.
    pub(super) fn command(
        &self,
        real: &Real,
        shared: &[PathBuf],
        network: bool,
        own: &Path,
    ) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec![self.program.clone().into()];
        let mut add = |words: &[&std::ffi::OsStr]| line.extend(words.iter().map(OsString::from));
        macro_rules! add {
            ($($word:expr),+) => { add(&[$(std::ffi::OsStr::new($word)),+]) };
        }
        add!("--unshare-user", "--unshare-all");
        if network {
            add!("--share-net");
        }
        if self.no_nested_namespaces {
            add!("--disable-userns");
        }
        add!("--die-with-parent", "--new-session", "--cap-drop", "ALL");
        add!("--uid", "1000", "--gid", "1000", "--hostname", "atlas");
        for path in SYSTEM {
            match fs::symlink_metadata(path) {
                Ok(meta) if meta.is_symlink() => {
                    if let Ok(target) = fs::read_link(path) {
                        // `/bin -> usr/bin`; a file like localtime is bound by its content.
                        if fs::metadata(path).is_ok_and(|meta| meta.is_dir()) {
                            add!("--symlink", &target, path);
                        } else {
                            add!("--ro-bind-try", path, path);
                        }
                    }
                }
                Ok(_) => add!("--ro-bind-try", path, path),
                Err(_) => {}
            }
        }
        if network {
            for path in NETWORK {
                add!("--ro-bind-try", path, path);
            }
        } else {
            add!("--ro-bind", &own.join(HOSTS.0), "/etc/hosts");
        }
        add!("--proc", "/proc", "--dev", "/dev");
        // On disk, not in memory: what tests leave there must not fill the memory.
        add!("--bind", &real.temporary, "/tmp");
        add!("--symlink", "../tmp", "/var/tmp", "--dir", "/run");
        for path in shared {
            add!("--ro-bind-try", path, path);
        }
        add!("--ro-bind", &own.join(PASSWD.0), "/etc/passwd");
        let env = if real.env_writable {
            "--bind"
        } else {
            "--ro-bind"
        };
        let places = Places::container();
        add!("--bind", &real.repo, &places.repo);
        add!(env, &real.env, &places.env);
        add!("--ro-bind", &real.tools, TOOLS);
        add!("--bind", &real.cache, &places.cache);
        add!("--bind", &real.home, &places.home);
        // A script may delete what it was given, but not change what runs it.
        let own = format!("{}/{OWN_FOLDER}", places.input);
        add!("--bind", &real.input, &places.input);
        add!("--ro-bind", &real.input.join(OWN_FOLDER), &own);
        add!("--bind", &real.output, &places.output);
        add!("--chdir", &places.repo);
        line
    }
}

/// Finds bubblewrap and tries it, because a kernel may forbid what it needs.
pub(super) async fn probe(path: &str) -> Result<Bwrap, String> {
    let program = look_up("bwrap", path).ok_or("`bwrap` is not installed")?;
    let run = async |arguments: &[&str]| {
        tokio::process::Command::new(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|why| format!("`{}`: {why}", program.display()))
    };
    let version = run(&["--version"]).await?;
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.trim().trim_start_matches("bubblewrap ").to_owned();
    let base = [
        "--unshare-user",
        "--unshare-all",
        "--uid",
        "1000",
        "--gid",
        "1000",
    ];
    let rest = ["--ro-bind", "/", "/", "--proc", "/proc", "true"];
    let strict: Vec<_> = [&base[..], &["--disable-userns"], &rest].concat();
    if run(&strict).await?.status.success() {
        return Ok(Bwrap {
            program,
            version,
            no_nested_namespaces: true,
        });
    }
    let plain = run(&[&base[..], &rest].concat()).await?;
    if plain.status.success() {
        return Ok(Bwrap {
            program,
            version,
            no_nested_namespaces: false,
        });
    }
    let said = String::from_utf8_lossy(&plain.stderr);
    Err(format!(
        "bubblewrap {version} is installed, but user namespaces do not work here: {}",
        said.trim()
    ))
}
