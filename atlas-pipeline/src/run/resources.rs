//! What the machine has left.

use atlas_core::{Error, ErrorKind};
use std::error::Error as StdError;
use std::path::{Path, PathBuf};

/// What programs print when the disk is full.
pub(super) const NO_SPACE: &str = "No space left on device";

/// What must be left before something new starts.
#[derive(Clone, Debug)]
pub(super) struct Resources {
    pub(super) min_free: u64,
    pub(super) min_memory: u64,
    /// Folders on the disks that are looked at.
    pub(super) places: Vec<PathBuf>,
}

/// What is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shortage {
    Disk(String),
    Memory(String),
}

impl std::fmt::Display for Shortage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Disk(said) | Self::Memory(said) => f.write_str(said),
        }
    }
}

impl Resources {
    /// What is missing, if something is. What cannot be found out is not.
    pub(super) fn lack(&self) -> Option<Shortage> {
        for place in &self.places {
            if let Some(free) = free_bytes(place).filter(|free| *free < self.min_free) {
                return Some(Shortage::Disk(format!(
                    "{} MiB free in `{}`, and `run.min_free` is {} MiB",
                    free >> 20,
                    place.display(),
                    self.min_free >> 20
                )));
            }
        }
        available_memory()
            .filter(|memory| *memory < self.min_memory)
            .map(|memory| {
                Shortage::Memory(format!(
                    "{} MiB of memory available, and `run.min_memory` is {} MiB",
                    memory >> 20,
                    self.min_memory >> 20
                ))
            })
    }
}

/// Bytes free on the disk of a folder, or of the nearest one above it that is there.
pub(super) fn free_bytes(place: &Path) -> Option<u64> {
    let place = std::path::absolute(place).ok()?;
    let there = place.ancestors().find(|folder| folder.exists())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Whether an error tells of a full disk: by its cause, or by the words of a program that failed for it.
pub(super) fn is_disk_full(why: &Error) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = Some(why);
    while let Some(cause) = next {
        if let Some(io) = cause.downcast_ref::<std::io::Error>()
            && matches!(
                io.kind(),
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
            )
        {
            return true;
        }
        if let Some(rusqlite::Error::SqliteFailure(fault, _)) = cause.downcast_ref()
            && fault.code == rusqlite::ErrorCode::DiskFull
        {
            return true;
        }
        if cause.to_string().contains(NO_SPACE) {
            return true;
        }
        next = cause.source();
    }
    false
}

/// Whether the same step may well succeed later: a fault of the machine, not of the candidate.
pub(super) fn is_of_machine(why: &Error) -> bool {
    matches!(
        why.kind(),
        ErrorKind::EngineUnreachable
            | ErrorKind::EngineFailed
            | ErrorKind::Io
            | ErrorKind::ToolFailed
            | ErrorKind::Model
    )
}
