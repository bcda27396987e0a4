//! Control groups, where this user may make them: the kernel's own memory and process limits.

use crate::engine::prelude::single_quoted;
use crate::engine::usage::cpu_seconds;
use atlas_core::{Limits, ResourceUsage};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MOUNT: &str = "/sys/fs/cgroup";

/// One job's groups: one folder with version 2, one a controller with version 1.
#[derive(Debug)]
pub(super) struct Groups {
    folders: Vec<PathBuf>,
    memory: PathBuf,
    before: u64,
    cpus: bool,
}

/// Where groups with limits on memory and processes can be made on this machine.
fn parents() -> Vec<Vec<PathBuf>> {
    let mount = Path::new(MOUNT);
    if !mount.join("cgroup.controllers").exists() {
        let own = ["memory", "pids", "cpu"].map(|name| mount.join(name));
        return vec![own.into_iter().filter(|path| path.exists()).collect()];
    }
    // A group with processes in it cannot have children with limits, so its parent comes next.
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own.trim().strip_prefix("0::/").unwrap_or_default();
    let own = mount.join(own);
    own.ancestors()
        .take_while(|path| path.starts_with(mount))
        .filter(|path| {
            fs::read_to_string(path.join("cgroup.subtree_control")).is_ok_and(|text| {
                let has = |name| text.split_whitespace().any(|word| word == name);
                has("memory") && has("pids")
            })
        })
        .map(|path| vec![path.to_owned()])
        .collect()
}

impl Groups {
    /// Groups with these limits, or nothing where the kernel or this user's rights forbid it.
    pub(super) fn make(name: &str, limits: &Limits) -> Option<Self> {
        parents()
            .into_iter()
            .find_map(|parents| Self::make_below(&parents, name, limits))
    }

    fn make_below(parents: &[PathBuf], name: &str, limits: &Limits) -> Option<Self> {
        let folders: Vec<_> = parents.iter().map(|parent| parent.join(name)).collect();
        let made = folders.iter().all(|folder| fs::create_dir(folder).is_ok());
        let set = |file: &str, value: &str| {
            folders.iter().any(|folder| {
                let path = folder.join(file);
                path.exists() && fs::write(path, value).is_ok()
            })
        };
        let memory = limits.memory_bytes.to_string();
        let quota = cpu_quota(limits.cpus);
        let bounded = made
            && (set("memory.max", &memory) || set("memory.limit_in_bytes", &memory))
            && set("pids.max", &limits.processes.to_string());
        if !bounded {
            remove_folders(&folders);
            return None;
        }
        // Swap cannot be limited on every kernel; the memory limit holds without it.
        let _ = set("memory.swap.max", "0") || set("memory.memsw.limit_in_bytes", &memory);
        let cpus = limits.cpus.is_finite()
            && (set("cpu.max", &format!("{quota} 100000"))
                || (set("cpu.cfs_period_us", "100000")
                    && set("cpu.cfs_quota_us", &quota.to_string())));
        let memory = folders
            .iter()
            .find(|folder| {
                folder.join("memory.events").exists() || folder.join("memory.oom_control").exists()
            })?
            .clone();
        let mut groups = Self {
            folders,
            memory,
            before: 0,
            cpus,
        };
        groups.before = groups.kills();
        Some(groups)
    }

    /// Whether processor time is limited too.
    pub(super) fn limits_cpus(&self) -> bool {
        self.cpus
    }

    /// Lines of bash that put the shell, and so its children, into the groups.
    pub(super) fn enter(&self) -> String {
        self.folders.iter().fold(String::new(), |mut text, folder| {
            let file = folder.join("cgroup.procs");
            let file = single_quoted(&file.to_string_lossy());
            let _ = writeln!(text, "echo $$ >{file} || exit 125");
            text
        })
    }

    /// Whether the memory limit killed anything.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        self.kills() > self.before
    }

    /// What the job has taken so far.
    pub(super) fn usage(&self) -> ResourceUsage {
        let text = |file: &str| {
            let paths = self.folders.iter().map(|folder| folder.join(file));
            paths
                .map(fs::read_to_string)
                .find_map(Result::ok)
                .unwrap_or_default()
        };
        ResourceUsage {
            peak_memory_bytes: ["memory.peak", "memory.max_usage_in_bytes"]
                .iter()
                .find_map(|file| text(file).trim().parse().ok()),
            cpu_seconds: cpu_seconds(&text("cpuacct.usage"), &text("cpu.stat")),
        }
    }

    fn kills(&self) -> u64 {
        ["memory.events", "memory.oom_control"]
            .iter()
            .filter_map(|file| fs::read_to_string(self.memory.join(file)).ok())
            .flat_map(|text| {
                text.lines()
                    .filter_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
                    .collect::<Vec<u64>>()
            })
            .max()
            .unwrap_or(0)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        remove_folders(&self.folders);
    }
}

/// Kills what is left in groups of this name, wherever they can be, and removes them.
pub(super) fn remove_named(name: &str) {
    for parents in parents() {
        let folders: Vec<_> = parents.iter().map(|parent| parent.join(name)).collect();
        remove_folders(&folders);
    }
}

fn remove_folders(folders: &[PathBuf]) {
    for folder in folders {
        // A group goes when its last process is gone, which takes a moment after the kill.
        for _ in 0..50 {
            if fs::remove_dir(folder).is_ok() || !folder.exists() {
                break;
            }
            let inside = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            for pid in inside.lines().filter_map(|line| line.parse().ok()) {
                super::process::kill(pid);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn cpu_quota(cpus: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a positive number that any machine holds"
    )]
    let quota = (cpus.clamp(0.01, 1e6) * 100_000.0) as u64;
    quota
}
