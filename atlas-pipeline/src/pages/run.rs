//! The page of a run, from its store and what stands in its instances' folders.

use super::{read, read_if_any};
use crate::run::{Standing, is_run, standings};
use crate::{FunnelReport, Yield, funnel, run_status};
use atlas_core::{Error, ErrorKind, Patch};
use atlas_report::{
    CandidateRow, FilterRow, ReasonRow, RunPage, Share, SharedCount, StageRow, TestQuality,
    YieldRow,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::path::Path;

/// So many candidates are listed.
const ROWS: usize = 20_000;
/// So many instances' strengths are drawn.
const STRENGTHS: usize = 60;

/// Paper 001's shares of instances by lines changed, and by files changed, in percent.
const BY_LINES: [(u64, &str, Option<f64>); 4] = [
    (30, "1–30", Some(24.5)),
    (100, "31–100", Some(45.6)),
    (300, "101–300", Some(22.3)),
    (u64::MAX, "301 and more", Some(7.6)),
];
const BY_FILES: [(u64, &str, Option<f64>); 5] = [
    (1, "1", None),
    (4, "2–4", Some(39.3)),
    (8, "5–8", Some(36.9)),
    (15, "9–15", Some(17.1)),
    (u64::MAX, "16 and more", Some(6.7)),
];

/// What is read of `make.json`; lists of tests are counted, not kept.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MakeJson {
    outcome: String,
    reason: String,
    kind: Option<String>,
    #[serde(rename = "FAIL_TO_PASS")]
    fail_to_pass: Vec<IgnoredAny>,
    #[serde(rename = "PASS_TO_PASS")]
    pass_to_pass: Vec<IgnoredAny>,
    confirmation: Option<Confirmed>,
    seconds: BTreeMap<String, f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Confirmed {
    contradicted: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Planned {
    language: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Validated {
    verdicts: Vec<Gate>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Gate {
    validator: String,
    decision: String,
    measurements: BTreeMap<String, serde_json::Value>,
}

/// What is read of the funnel that `atlas source` writes beside its candidates.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Sourced {
    steps: Vec<SourcedStep>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SourcedStep {
    filter: String,
    seen: u64,
    dropped: u64,
    reasons: BTreeMap<String, u64>,
    examples: Vec<SourcedExample>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SourcedExample {
    name: String,
    reason: String,
}

pub(super) fn collect(folder: &Path) -> Result<RunPage, Error> {
    let mut page = RunPage {
        name: super::place_of(folder),
        ..RunPage::default()
    };
    let standing = if is_run(folder) {
        of_store(folder, &mut page)?
    } else {
        of_folders(folder, &mut page)?
    };
    let sourced = read_if_any::<Sourced>(&folder.join("source/candidates.funnel.json"))?;
    let filters = sourced.unwrap_or_default().steps.into_iter();
    page.filters = filters.map(filter).collect();
    match funnel(&[folder.to_owned()], None) {
        Ok(found) => of_funnel(found, &mut page),
        Err(why) if why.kind() == ErrorKind::NotFound => {
            page.notes
                .push("No pull request has a verdict of `make` yet.".to_owned());
        }
        Err(why) => return Err(why),
    }
    let inside = folder.join("instances");
    let instances = if inside.is_dir() {
        inside.as_path()
    } else {
        folder
    };
    let mut counts = Counts::default();
    for standing in standing {
        let row = row(standing, instances, &mut counts, &mut page.quality)?;
        page.rows.push(row);
    }
    page.quality
        .strength
        .sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    if page.quality.strength.len() > STRENGTHS {
        page.notes.push(format!(
            "Of {} strengths the {STRENGTHS} smallest are drawn.",
            page.quality.strength.len()
        ));
        page.quality.strength.truncate(STRENGTHS);
    }
    page.classes = counts.classes();
    Ok(page)
}

fn filter(step: SourcedStep) -> FilterRow {
    let examples = step.examples.into_iter().map(|one| (one.name, one.reason));
    FilterRow {
        name: step.filter,
        seen: step.seen,
        dropped: step.dropped,
        reasons: step.reasons,
        examples: examples.collect(),
    }
}

fn of_store(folder: &Path, page: &mut RunPage) -> Result<Vec<Standing>, Error> {
    let status = run_status(folder)?;
    page.candidates = status.candidates;
    page.dataset_rows = status.dataset_rows;
    page.seconds = status.seconds;
    page.money = status.money;
    page.artefact_bytes = status.artefact_bytes;
    page.image_bytes = status.image_bytes;
    let stages = status.stages.into_iter().map(|stage| StageRow {
        name: stage.stage,
        pending: stage.pending,
        running: stage.running,
        passed: stage.passed,
        rejected: stage.rejected,
        failed: stage.failed,
        seconds: stage.seconds,
        bytes: stage.bytes,
        money: stage.money,
    });
    page.stages = stages.collect();
    if let Some(held) = status.held {
        page.notes.push(format!("Nothing new starts: {held}"));
    }
    let (found, begun) = standings(folder, ROWS)?;
    if begun > found.len() as u64 {
        page.notes.push(format!(
            "Of {begun} candidates that were begun the first {} by name are listed.",
            found.len()
        ));
    }
    Ok(found)
}

/// The output folder of `atlas make`: every folder with a `make.json`.
fn of_folders(folder: &Path, page: &mut RunPage) -> Result<Vec<Standing>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|why| Error::io("read", folder, why))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|why| Error::io("read", folder, why))?;
        // A link to elsewhere is not followed.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && entry.path().join("make.json").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    page.candidates = names.len() as u64;
    if names.len() > ROWS {
        page.notes.push(format!(
            "Of {} pull requests the first {ROWS} by name are listed.",
            names.len()
        ));
        names.truncate(ROWS);
    }
    let mut found = Vec::new();
    for id in names {
        let made: MakeJson = read(&folder.join(&id).join("make.json"))?;
        let passed = made.outcome == "instance";
        page.dataset_rows += u64::from(passed);
        let seconds: f64 = made.seconds.values().sum();
        page.seconds += seconds;
        found.push(Standing {
            repo: id
                .rsplit_once('-')
                .map_or("", |(repo, _)| repo)
                .replacen("__", "/", 1),
            id,
            stage: "make".to_owned(),
            state: "done".to_owned(),
            passed,
            outcome: made.outcome,
            reason: made.reason,
            seconds,
            ..Standing::default()
        });
    }
    Ok(found)
}

fn of_funnel(found: FunnelReport, page: &mut RunPage) {
    let row = |name: &str, of: &Yield| YieldRow {
        name: name.to_owned(),
        of: of.of,
        left: of.left,
        share: Share {
            percent: of.percent,
            interval: of.percent.map(|_| (of.interval.low, of.interval.high)),
        },
        paper: of.paper,
    };
    page.funnel = vec![
        YieldRow {
            name: "1 sourced".to_owned(),
            of: found.sourced,
            left: found.sourced,
            share: Share {
                percent: Some(100.0),
                interval: None,
            },
            paper: Some(100.0),
        },
        row("2, 3 built, run, read", &found.replicated),
        row("4 accepted", &found.accepted),
    ];
    page.languages = found
        .languages
        .iter()
        .map(|(name, of)| row(name, of))
        .collect();
    let reasons = found
        .rejections
        .into_iter()
        .map(|(word, reason)| ReasonRow {
            word,
            count: reason.count,
            examples: reason.examples.into_iter().collect(),
        });
    page.reasons = reasons.collect();
    page.reasons
        .sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.word.cmp(&b.word)));
    // The sum of the steps is no step.
    page.step_seconds = found
        .seconds
        .into_iter()
        .filter(|(step, _)| step != "total")
        .collect();
    if found.not_validated > 0 {
        page.notes.push(format!(
            "{} instances have not been through the gates.",
            found.not_validated
        ));
    }
}

fn row(
    standing: Standing,
    instances: &Path,
    counts: &mut Counts,
    quality: &mut TestQuality,
) -> Result<CandidateRow, Error> {
    let folder = instances.join(&standing.id);
    let evidence = standing.evidence.iter().map(|one| match one.line {
        Some(line) => format!("{}:{line}: {}", one.source, one.text),
        None => format!("{}: {}", one.source, one.text),
    });
    let mut row = CandidateRow {
        standing: match (standing.state.as_str(), standing.passed) {
            ("done", true) if standing.stage == "accept" || standing.stage == "make" => "accepted",
            ("done", true) => "under way",
            ("done", false) => "rejected",
            (state, _) => state,
        }
        .to_owned(),
        evidence: evidence.collect(),
        id: standing.id,
        repo: standing.repo,
        stage: standing.stage,
        outcome: standing.outcome,
        reason: standing.reason,
        seconds: standing.seconds,
        bytes: standing.bytes,
        ..CandidateRow::default()
    };
    let Some(made) = read_if_any::<MakeJson>(&folder.join("make.json"))? else {
        return Ok(row);
    };
    row.has_page = true;
    if row.reason.is_empty() {
        row.reason.clone_from(&made.reason);
    }
    row.language = read_if_any::<Planned>(&folder.join("plan.json"))?
        .unwrap_or_default()
        .language;
    if made.outcome != "instance" {
        return Ok(row);
    }
    row.kind = made.kind.unwrap_or_default();
    let aside = made.confirmation.unwrap_or_default().contradicted;
    let unstable = aside.len() as u64;
    row.tests = Some((
        made.fail_to_pass.len() as u64,
        made.pass_to_pass.len() as u64,
        unstable,
    ));
    quality.with_unstable += u64::from(unstable > 0);
    quality.unstable += unstable;
    quality.tests += (made.fail_to_pass.len() + made.pass_to_pass.len()) as u64;
    for why in aside.values() {
        let class = why
            .split([':', '('])
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
        *quality.reasons.entry(class).or_default() += 1;
    }
    row.size = size(&folder.join("gold.patch"));
    for gate in read_if_any::<Validated>(&folder.join("validate.json"))?
        .unwrap_or_default()
        .verdicts
    {
        if let (true, Some(score)) = (
            gate.validator == "strength",
            gate.measurements
                .get("score")
                .and_then(serde_json::Value::as_f64),
        ) {
            quality.strength.push((row.id.clone(), score * 100.0));
        }
        let of = quality.gates.entry(gate.validator).or_default();
        *of.entry(gate.decision).or_default() += 1;
    }
    counts.add(&row, &folder)?;
    Ok(row)
}

/// Lines and files that a patch changes; none where there is none, or it cannot be read as one.
fn size(path: &Path) -> Option<(u64, u64)> {
    let bytes = std::fs::read(path).ok()?;
    let files = Patch::new(bytes.clone()).files().ok()?;
    let changed = bytes.split(|byte| *byte == b'\n').filter(|line| {
        let is_head = line.starts_with(b"+++ ") || line.starts_with(b"--- ");
        matches!(line.first(), Some(b'+' | b'-')) && !is_head
    });
    Some((changed.count() as u64, files.len() as u64))
}

#[derive(Default)]
struct Counts {
    lines: [u64; BY_LINES.len()],
    files: [u64; BY_FILES.len()],
    kinds: BTreeMap<String, u64>,
    /// Title -> class -> instances.
    classes: BTreeMap<&'static str, BTreeMap<String, u64>>,
}

/// What `curation/classify.json` tells of.
const CLASSES: [(&str, &str); 3] = [
    ("code_type", "Type of code"),
    ("issue_type", "Type of issue"),
    ("domain", "Domain"),
];

impl Counts {
    fn add(&mut self, row: &CandidateRow, folder: &Path) -> Result<(), Error> {
        if let Some((lines, files)) = row.size {
            let place = |bounds: &[(u64, &str, Option<f64>)], value: u64| {
                bounds
                    .iter()
                    .position(|(most, _, _)| value <= *most)
                    .unwrap_or_default()
            };
            self.lines[place(&BY_LINES, lines)] += 1;
            self.files[place(&BY_FILES, files)] += 1;
        }
        *self.kinds.entry(row.kind.replace('_', " ")).or_default() += 1;
        let said: Option<serde_json::Value> = read_if_any(&folder.join("curation/classify.json"))?;
        for (key, title) in CLASSES {
            let class = said
                .as_ref()
                .and_then(|said| said.pointer(&format!("/judgement/details/classes/{key}/class")))
                .and_then(serde_json::Value::as_str);
            if let Some(class) = class {
                *self
                    .classes
                    .entry(title)
                    .or_default()
                    .entry(class.to_owned())
                    .or_default() += 1;
            }
        }
        Ok(())
    }

    fn classes(self) -> Vec<SharedCount> {
        let bounded = |title: &str,
                       said: &str,
                       bounds: &[(u64, &str, Option<f64>)],
                       counts: &[u64]| SharedCount {
            title: title.to_owned(),
            said: said.to_owned(),
            classes: if counts.iter().all(|n| *n == 0) {
                Vec::new()
            } else {
                let named = bounds.iter().zip(counts);
                named
                    .map(|((_, name, paper), n)| ((*name).to_owned(), *n, *paper))
                    .collect()
            },
        };
        let counted = |title: &str, counts: BTreeMap<String, u64>| SharedCount {
            title: title.to_owned(),
            said: String::new(),
            classes: counts
                .into_iter()
                .map(|(name, n)| (name, n, None))
                .collect(),
        };
        let mut all = vec![
            bounded(
                "Lines that the gold patch changes",
                "Added and removed lines.",
                &BY_LINES,
                &self.lines,
            ),
            bounded(
                "Files that the gold patch changes",
                "The paper has no share for one file.",
                &BY_FILES,
                &self.files,
            ),
            counted("Kind", self.kinds),
        ];
        all.extend(
            self.classes
                .into_iter()
                .map(|(title, counts)| counted(title, counts)),
        );
        all
    }
}
