//! What a job took of the machine, as control groups tell it.

use atlas_core::ResourceUsage;

/// What stands before the two numbers that a container prints.
const WORD: &str = "atlas: used";

/// Most bytes behind the end mark that are looked at.
pub(super) const LINE_BYTES: usize = 4 << 10;

/// Lines of bash that put the numbers of the container's own control groups, of version 2 or 1, into
/// `$used`. Nothing else is needed than the shell itself, and what is not there stays a `?`.
pub(super) fn measure() -> String {
    format!(
        "{{ memory= cpu= accounted=\n\
         for file in memory.peak memory/memory.max_usage_in_bytes; do \
         read -r memory </sys/fs/cgroup/$file && break; done\n\
         read -r accounted </sys/fs/cgroup/cpuacct/cpuacct.usage || \
         while read -r key value; do test $key = usage_usec && cpu=$value; done </sys/fs/cgroup/cpu.stat\n\
         }} 2>/dev/null\n\
         used=\"{WORD} ${{memory:-?}} ${{accounted:-?}} ${{cpu:-?}}\"\n"
    )
}

/// Reads what a container printed behind its end mark.
pub(super) fn read(after: &[u8]) -> ResourceUsage {
    let text = String::from_utf8_lossy(after);
    let line = text.lines().find_map(|line| line.strip_prefix(WORD));
    let mut words = line.unwrap_or_default().split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let (memory, accounted, cpu) = (word(), word(), word());
    ResourceUsage {
        peak_memory_bytes: memory.parse().ok(),
        cpu_seconds: cpu_seconds(accounted, &format!("usage_usec {cpu}")),
    }
}

/// Processor seconds from `cpuacct.usage` (nanoseconds) of version 1, or from `cpu.stat` of version 2.
pub(super) fn cpu_seconds(accounted: &str, stat: &str) -> Option<f64> {
    let nanoseconds = accounted.trim().parse::<u64>().ok();
    let nanoseconds = nanoseconds.or_else(|| {
        let line = stat
            .lines()
            .find_map(|line| line.strip_prefix("usage_usec "));
        line?.trim().parse::<u64>().ok()?.checked_mul(1_000)
    });
    nanoseconds.map(seconds)
}

/// Nanoseconds as seconds.
pub(super) fn seconds(nanoseconds: u64) -> f64 {
    std::time::Duration::from_nanos(nanoseconds).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::{cpu_seconds, measure, read};
    use atlas_core::ResourceUsage;

    #[test]
    fn what_is_not_told_is_absent() {
        let of = |memory, cpu| ResourceUsage {
            peak_memory_bytes: memory,
            cpu_seconds: cpu,
        };
        for (text, usage) in [
            (
                "atlas: used 1048576 2500000000 ?\n",
                of(Some(1 << 20), Some(2.5)),
            ),
            (
                "atlas: used 1048576 ? 2500000\n",
                of(Some(1 << 20), Some(2.5)),
            ),
            ("atlas: used ? ? ?\n", of(None, None)),
            ("atlas: used -1 x 99999999999999999999\n", of(None, None)),
            ("words\natlas: used 5", of(Some(5), None)),
            ("", of(None, None)),
        ] {
            assert_eq!(read(text.as_bytes()), usage, "{text}");
        }
        assert_eq!(
            cpu_seconds("", "nr_periods 0\nusage_usec 1500000\n"),
            Some(1.5)
        );
    }

    #[test]
    fn any_shell_prints_the_line() {
        let script = format!("{}echo \"$used\"", measure());
        let done = std::process::Command::new("bash")
            .args(["-euc", &script])
            .output()
            .unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(said.starts_with("atlas: used "), "{said}");
        assert_eq!(said.split_whitespace().count(), 5, "{said}");
        assert!(done.stderr.is_empty());
    }
}
