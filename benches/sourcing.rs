//! What filters cost: synthetic candidates through all of them, as many as paper 001 has (137,048) and ten times as many.
//!
//! ```text
//! cargo bench -p atlas-benches --bench sourcing
//! ```
//!
//! The candidates are lines of a file, as `atlas source --sourced` reads them: reading JSON is part of it. Peak memory is that of the
//! whole process, so the smaller number runs first.

use atlas_core::RunContext;
use atlas_pipeline::filter_candidates;
use atlas_pipeline::source::FilterConfig;
use serde_json::json;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// A number that looks like chance and is the same in every run.
fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}

/// One line: about 2 KiB, of which a third does not pass one filter or another.
fn candidate(number: u64) -> String {
    let chance = mixed(number);
    let words: Vec<String> = (0..80)
        .map(|at| format!("word{}", mixed(chance ^ at) % 5000))
        .collect();
    let issues = if chance.is_multiple_of(5) {
        json!([])
    } else {
        json!([{
            "repo": "o/n", "number": number, "title": words[..8].join(" "), "body": words.join(" "),
            "labels": ["bug"], "created_at": "2024-01-01T00:00:00Z", "evidence": [{"source": "body", "line": 1, "text": "Fixes #1"}],
        }])
    };
    // One in a hundred is the change of an earlier one.
    let patch = if chance.is_multiple_of(100) {
        mixed(number / 2)
    } else {
        chance
    };
    json!({
        "repo": format!("owner{}/name", chance % 4000), "clone": "https://example.org/x.git", "source": "github", "number": number,
        "base": format!("{chance:040x}"), "head": format!("{:040x}", mixed(chance)), "title": words[..6].join(" "),
        "body": words[..40].join(" "), "author": {"name": "ann", "class": if chance.is_multiple_of(11) { "bot" } else { "contributor" }},
        "created_at": "2024-03-02T00:00:00Z", "first_commit_at": "2024-03-01T00:00:00Z", "merged_at": "2024-03-05T00:00:00Z",
        "issues": issues,
        "change": {"files": 2, "hunks": 5, "added": chance % 300, "removed": 5, "test_files": chance % 3, "test_added": 20,
                   "paths": ["src/a.py", "src/b.py", "tests/test_a.py"], "patch_id": format!("{patch:016x}{:024x}", 0)},
        "repository": {"stars": chance % 2000, "licence": "MIT", "language": "Python", "lines_of_code": 5000 + chance % 50_000,
                       "test_frameworks": ["pytest"], "pushed_at": "2024-05-01T00:00:00Z"},
    })
    .to_string()
}

/// Bytes of memory that this process held at most.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib << 10)
}

fn write(path: &Path, count: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer = BufWriter::new(std::fs::File::create(path)?);
    for number in 1..=count {
        writeln!(writer, "{}", candidate(number))?;
    }
    Ok(writer.flush()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filters: FilterConfig = serde_json::from_value(json!({
        "preset": "paper-001", "merged": {"after": "2024-01-01"}, "cut_off": {"model": "2024-01-01"},
        "licences": ["MIT", "Apache-2.0"], "no_bots": true, "no_backports": true, "changed_lines": {"below": 250},
        "changed_files": {"at_most": 31}, "hunks": {"at_most": 50}, "endings": {"any_of": ["py"]},
        "no_screenshots": true, "no_duplicates": true, "near_duplicates": {},
    }))?;
    let folder = tempfile::tempdir()?;
    let cx = RunContext::new("bench");
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "candidates     kept   seconds   a second   microseconds each   peak MiB"
    )?;
    for count in [10_000, 100_000, 137_048, 1_370_480] {
        let sourced = folder.path().join("sourced.jsonl");
        write(&sourced, count)?;
        let started = Instant::now();
        let funnel = filter_candidates(&cx, &sourced, &filters, &folder.path().join("out.jsonl"))?;
        let seconds = started.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a number to look at")]
        let (rate, each) = (count as f64 / seconds, seconds * 1e6 / count as f64);
        let peak = peak().map_or(0, |bytes| bytes >> 20);
        writeln!(
            out,
            "{count:>10} {:>8} {seconds:>9.2} {rate:>10.0} {each:>19.1} {peak:>10}",
            funnel.kept
        )?;
    }
    Ok(())
}
