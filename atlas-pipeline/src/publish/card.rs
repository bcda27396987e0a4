//! The dataset card.

use super::licence;
use super::release::{InstanceRecord, Release};
use atlas_formats::Row;
use atlas_judge::difficulty::{FILE_BINS, HUNK_BINS, LINE_BINS, row_difficulty};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What the rows are, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) languages: BTreeMap<String, usize>,
    repositories: BTreeSet<String>,
    kinds: BTreeMap<String, usize>,
    lines: BTreeMap<String, usize>,
    files: BTreeMap<String, usize>,
    hunks: BTreeMap<String, usize>,
    curated: BTreeMap<&'static str, BTreeMap<String, usize>>,
    gates: BTreeMap<String, BTreeMap<String, usize>>,
    fail_to_pass: usize,
    pass_to_pass: usize,
    confirmed: usize,
    with_environment: usize,
    with_image: usize,
    evidence: bool,
}

fn count(counts: &mut BTreeMap<String, usize>, name: &str) {
    let name = if name.is_empty() { "not said" } else { name };
    *counts.entry(name.to_owned()).or_default() += 1;
}

impl Figures {
    pub(super) fn add(&mut self, row: &Row, record: &InstanceRecord) {
        count(
            &mut self.languages,
            row.text("language").unwrap_or_default(),
        );
        self.repositories.insert(record.repo.clone());
        let atlas = row.get("atlas").unwrap_or(&Value::Null);
        count(&mut self.kinds, atlas["kind"].as_str().unwrap_or_default());
        if let Ok(instance) = row.instance() {
            if let Ok(found) = row_difficulty(&instance) {
                count(&mut self.lines, &found.lines_bin);
                count(&mut self.files, &found.files_bin);
                count(&mut self.hunks, &found.hunks_bin);
            }
            let len = |list: Result<atlas_core::TestList, _>| list.map_or(0, |list| list.ids.len());
            self.fail_to_pass += len(instance.fail_to_pass());
            self.pass_to_pass += len(instance.pass_to_pass());
        }
        for name in ["code_type", "issue_type", "domain"] {
            if let Some(class) = atlas["curation"][name]["class"].as_str() {
                count(self.curated.entry(name).or_default(), class);
            }
        }
        if let Some(gates) = atlas["gates"].as_object() {
            for (gate, decision) in gates {
                let decisions = self.gates.entry(gate.clone()).or_default();
                count(decisions, decision.as_str().unwrap_or_default());
            }
        }
        self.confirmed += usize::from(!atlas["confirmation"].is_null());
        self.with_environment += usize::from(record.environment);
        self.with_image += usize::from(record.image.is_some());
        self.evidence |= record.files > 0;
    }
}

/// The Hub's word for so many rows.
fn size_category(rows: usize) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "1M<n<10M",
    }
}

/// One sentence on the whole, for metadata.
pub(super) fn description(release: &Release, figures: &Figures) -> String {
    format!(
        "{} software-engineering tasks made of merged pull requests of {} repositories in {} languages, each with tests that fail \
         before its solution and pass with it.",
        release.rows,
        figures.repositories.len(),
        figures.languages.len()
    )
}

/// `README.md`.
pub(super) fn card(release: &Release, figures: &Figures) -> String {
    let mut text = front_matter(release, figures);
    let _ = write!(
        text,
        "\n# {}\n\n{}\n\nVersion {} of {}.",
        release.name,
        description(release, figures),
        release.version,
        release.date
    );
    if release.against.is_some() {
        text.push_str(" What changed since the release before is in `CHANGES.md`.");
    }
    text.push_str("\n\n");
    files(&mut text, release, figures);
    text.push_str("\n## What is in it\n\n| Split | Rows |\n|---|---:|\n");
    for (split, files) in &release.splits {
        let _ = writeln!(text, "| `{split}` | {} |", files.rows);
    }
    let _ = writeln!(
        text,
        "\n{} tests define the tasks (`FAIL_TO_PASS`), {} guard the rest (`PASS_TO_PASS`).",
        figures.fail_to_pass, figures.pass_to_pass
    );
    table(&mut text, "Language", &figures.languages, release.rows);
    table(
        &mut text,
        "Kind, by what was seen in Before",
        &figures.kinds,
        release.rows,
    );
    text.push_str(
        "\n`bug_fix`: the tests ran before the solution and failed. `feature_request`: they did not build or load without it.\n",
    );
    for (name, title) in [
        ("code_type", "Change"),
        ("issue_type", "Report"),
        ("domain", "Domain"),
    ] {
        if let Some(counts) = figures.curated.get(name) {
            table(&mut text, title, counts, release.rows);
        }
    }
    text.push_str("\n## Difficulty\n\nThe size of the whole pull request, tests included. The bins of lines and files are those of the SWE-Bench Atlas paper.\n");
    for (title, counts, bins) in [
        (
            "Lines changed",
            &figures.lines,
            LINE_BINS.map(|bin| bin.0).to_vec(),
        ),
        (
            "Files changed",
            &figures.files,
            FILE_BINS.map(|bin| bin.0).to_vec(),
        ),
        ("Hunks", &figures.hunks, HUNK_BINS.map(|bin| bin.0).to_vec()),
    ] {
        let _ = write!(text, "\n| {title} | Rows | Share |\n|---|---:|---:|\n");
        for bin in bins {
            if let Some(rows) = counts.get(bin) {
                line(&mut text, bin, *rows, release.rows);
            }
        }
    }
    verdicts(&mut text, release, figures);
    text.push_str("\n## Licences\n\nEach row holds sources of its repository, under that repository's licence (column `license`).\n");
    table(&mut text, "Licence", &release.licences, release.rows);
    if release.licences.contains_key(super::NAME_OF_UNKNOWN) {
        text.push_str("\n`unknown`: nothing that these rows were made of says a licence; look at the repository before using them.\n");
    }
    text
}

fn front_matter(release: &Release, figures: &Figures) -> String {
    let mut text = String::from("---\n");
    let quoted = |text: &str| Value::from(text).to_string();
    let _ = writeln!(text, "pretty_name: {}", quoted(&release.name));
    let licences: BTreeSet<String> = release
        .licences
        .keys()
        .map(|name| licence::of_hub(name))
        .collect();
    text.push_str("license:\n");
    for licence in &licences {
        let _ = writeln!(text, "- {licence}");
    }
    text.push_str("language:\n- code\ntask_categories:\n- text-generation\ntags:\n- code\n- swe-bench\n- software-engineering\n");
    for language in figures.languages.keys().filter(|name| *name != "not said") {
        let _ = writeln!(text, "- {}", quoted(language));
    }
    let _ = writeln!(text, "size_categories:\n- {}", size_category(release.rows));
    text.push_str("configs:\n- config_name: default\n  data_files:\n");
    for (split, files) in &release.splits {
        let _ = writeln!(text, "  - split: {split}\n    path: {}", files.parquet);
    }
    text.push_str("---\n");
    text
}

fn files(text: &mut String, release: &Release, figures: &Figures) {
    text.push_str("```python\nfrom datasets import load_dataset\n\n");
    for split in release.splits.keys().take(1) {
        let _ = writeln!(
            text,
            "rows = load_dataset(\"path/to/this/folder\", split=\"{split}\")"
        );
    }
    text.push_str("```\n\n| File | What it holds |\n|---|---|\n");
    text.push_str("| `<split>.jsonl` | the rows, one a line |\n");
    text.push_str("| `data/` | the same as Parquet; objects stand in it as JSON texts |\n");
    if figures.evidence {
        text.push_str("| `instances/<instance_id>/` | what the environment is built from: the plan, its lock, the folder for `docker build` with the repository at the base commit");
        if release.evidence {
            text.push_str("; and what proves the row: patches, logs, reports, the verdict with every test in every state");
        }
        text.push_str(" |\n");
    }
    text.push_str("| `croissant.json` | Croissant metadata |\n");
    text.push_str("| `metadata/instances.jsonl` | for each row its repository, licence, image digests, and which programs and models made it |\n");
    text.push_str("| `metadata/provenance.spdx.json` | the same for the whole, as SPDX 2.3 |\n");
    text.push_str("| `SHA256SUMS` | checksums of all files; `sha256sum --check SHA256SUMS` |\n");
}

fn verdicts(text: &mut String, release: &Release, figures: &Figures) {
    text.push_str(
        "\n## How a row was verified\n\nThe tests ran three times in fresh sandboxes of one environment: at the base commit (Base), with the \
         test patch (Before), and with the solution too (After). `FAIL_TO_PASS` are the tests that do not pass in Before and pass in After; \
         `PASS_TO_PASS` pass in both. ",
    );
    let _ = writeln!(
        text,
        "Of {} rows, {} had the tests that define them run again to see whether they repeat.",
        release.rows, figures.confirmed
    );
    if !figures.gates.is_empty() {
        text.push_str("\n| Gate | Decisions |\n|---|---|\n");
        for (gate, decisions) in &figures.gates {
            let said: Vec<String> = decisions
                .iter()
                .map(|(what, n)| format!("{what} {n}"))
                .collect();
            let _ = writeln!(text, "| `{gate}` | {} |", said.join(", "));
        }
    }
    text.push_str("\n## Validate it again\n\n");
    if figures.with_environment > 0 {
        let _ = writeln!(
            text,
            "{} of {} rows come with what builds their environment. Nothing but this folder is needed for these, and a container engine or the \
             language's tools; packages are fetched from their registries.\n",
            figures.with_environment, release.rows
        );
    }
    if figures.with_image > 0 {
        let _ = writeln!(
            text,
            "{} rows name an image to run in.\n",
            figures.with_image
        );
    }
    text.push_str("```sh\n");
    for split in release.splits.keys() {
        let repos = if figures.with_environment < release.rows {
            " --repos path/to/clones"
        } else {
            ""
        };
        let _ = writeln!(text, "atlas validate {split}.jsonl --out check{repos}");
        let _ = writeln!(
            text,
            "atlas eval --dataset {split}.jsonl --predictions gold --run-id check{repos}"
        );
    }
    text.push_str("```\n");
}

/// A table of counts, the most frequent first.
fn table(text: &mut String, title: &str, counts: &BTreeMap<String, usize>, all: usize) {
    let mut counts: Vec<(&String, &usize)> = counts.iter().collect();
    counts.sort_by_key(|(name, rows)| (std::cmp::Reverse(**rows), *name));
    let _ = write!(text, "\n| {title} | Rows | Share |\n|---|---:|---:|\n");
    for (name, rows) in counts {
        line(text, name, *rows, all);
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of rows are far below 2^52"
)]
fn line(text: &mut String, name: &str, rows: usize, all: usize) {
    let share = 100.0 * rows as f64 / all.max(1) as f64;
    let name = name.replace('|', "\\|").replace(['\n', '\r'], " ");
    let _ = writeln!(text, "| {name} | {rows} | {share:.1} % |");
}
