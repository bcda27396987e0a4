//! Who started a container: what lets the next start tell a leftover from another's live work.

use std::fs;
use std::sync::OnceLock;

/// A process, named so that a reused process id is not mistaken for it.
///
/// Written as `<pid>:<start time in clock ticks>:<boot id>:<pid namespace>`. The namespace is there
/// because two containers that share one engine may both be process 7 of the same boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pid: u32,
    started: u64,
    boot: String,
    namespace: String,
}

/// What is known of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// It runs.
    Alive,
    /// It has ended.
    Dead,
    /// It belongs to another boot, machine or process namespace, or was started where there is no
    /// `/proc`: this process cannot see it.
    Unknown,
}

impl Owner {
    /// This process.
    pub(super) fn current() -> &'static Self {
        static CURRENT: OnceLock<Owner> = OnceLock::new();
        CURRENT.get_or_init(|| {
            let pid = std::process::id();
            Self {
                pid,
                started: start_time(pid).unwrap_or(0),
                boot: here().0.clone(),
                namespace: here().1.clone(),
            }
        })
    }

    /// Reads a label.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let owner = Self {
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
            boot: parts.next()?.to_owned(),
            namespace: parts.next()?.to_owned(),
        };
        parts.next().is_none().then_some(owner)
    }

    /// Whether it still runs.
    pub(super) fn life(&self) -> Life {
        let seen = self.started > 0 && (&self.boot, &self.namespace) == (&here().0, &here().1);
        if !seen {
            Life::Unknown
        } else if start_time(self.pid) == Some(self.started) {
            Life::Alive
        } else {
            Life::Dead
        }
    }

    /// A name that no other process gives: for containers and folders, with a counter behind it.
    pub(super) fn unique_name(&self) -> String {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = self.boot.get(..8).unwrap_or("0");
        format!(
            "atlas-{place}-{}-{}-{}-{number}",
            self.namespace, self.pid, self.started
        )
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}:{}:{}:{}",
            self.pid, self.started, self.boot, self.namespace
        )
    }
}

fn here() -> &'static (String, String) {
    static HERE: OnceLock<(String, String)> = OnceLock::new();
    HERE.get_or_init(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map(|text| text.trim().to_owned())
            .unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid")
            .map(|link| {
                let text = link.to_string_lossy().into_owned();
                text.chars().filter(char::is_ascii_digit).collect()
            })
            .unwrap_or_default();
        (boot, namespace)
    })
}

/// Field 22 of `/proc/<pid>/stat`; the command before it may hold spaces and brackets.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Life, Owner};

    #[test]
    fn this_process_lives_and_its_label_reads_back() {
        let me = Owner::current();
        assert_eq!(Owner::parse(&me.to_string()).as_ref(), Some(me));
        assert_eq!(me.life(), Life::Alive);
    }

    #[test]
    fn another_start_time_is_another_process() {
        let mut gone = Owner::current().clone();
        gone.started += 1;
        assert_eq!(gone.life(), Life::Dead);
        gone.boot = "another".to_owned();
        assert_eq!(gone.life(), Life::Unknown);
    }

    #[test]
    fn nothing_is_known_of_an_owner_without_a_start_time() {
        let mut anyone = Owner::current().clone();
        anyone.started = 0;
        assert_eq!(anyone.life(), Life::Unknown);
    }

    #[test]
    fn other_labels_are_no_owner() {
        for text in ["", "1:2:3", "x:2:b:n", "1:2:b:n:more"] {
            assert_eq!(Owner::parse(text), None, "{text}");
        }
    }
}
