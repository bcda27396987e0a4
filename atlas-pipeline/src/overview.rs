//! The page about a run or a folder of instances.

use crate::funnel::{Folders, Language, Made, Yield, funnel, read};
use crate::write_atomically;
use atlas_core::{Error, Evidence, Patch};
use atlas_judge::difficulty::difficulty;
use atlas_report::{Overview, PullRequest, Share, StageCost, overview};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Writes the page about folders that `make` or `run` left, beside a file of candidates; gives how many pull requests it tells of.
///
/// # Errors
/// A folder without `<instance>/make.json`; what is there cannot be read, or the page not be written.
pub fn write_overview(
    folders: &[PathBuf],
    candidates: Option<&Path>,
    title: &str,
    out: &Path,
) -> Result<u64, Error> {
    let model = model(folders, candidates, title)?;
    write_atomically(out, overview(&model)?.as_bytes())?;
    Ok(model.pull_requests.len() as u64)
}

fn model(folders: &[PathBuf], candidates: Option<&Path>, title: &str) -> Result<Overview, Error> {
    let counted = funnel(folders, candidates)?;
    let made = Folders::find(folders)?;
    let mut pull_requests = Vec::with_capacity(made.all.len());
    for folder in made.all.values() {
        pull_requests.push(pull_request(&made, folder)?);
    }
    let mut words: BTreeMap<&str, u64> = BTreeMap::new();
    for one in &pull_requests {
        *words.entry(&one.outcome).or_default() += 1;
    }
    let mut rejections: Vec<(String, u64)> = words
        .into_iter()
        .map(|(word, count)| (word.to_owned(), count))
        .collect();
    rejections.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let stages = [
        ("2, 3: built, run and read", &counted.replicated),
        ("4: instances", &counted.accepted),
    ];
    Ok(Overview {
        title: title.to_owned(),
        stages: stages.map(|(name, found)| share(name, found)).into(),
        languages: counted
            .languages
            .iter()
            .map(|(name, found)| share(name, found))
            .collect(),
        rejections,
        costs: counted
            .stages
            .into_iter()
            .map(|cost| StageCost {
                stage: cost.stage,
                steps: cost.steps,
                failed: cost.failed,
                seconds: cost.seconds,
                mebibytes: mebibytes(cost.bytes),
                money: cost.money,
            })
            .collect(),
        pull_requests,
    })
}

fn share(name: &str, found: &Yield) -> Share {
    Share {
        name: name.to_owned(),
        of: found.of,
        left: found.left,
        percent: found.percent,
        low: found.interval.low,
        high: found.interval.high,
        paper: found.paper,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a page shows whole mebibytes")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn pull_request(made: &Folders, folder: &Path) -> Result<PullRequest, Error> {
    let one: Made = read(&folder.join("make.json"))?;
    let plan = folder.join("plan.json");
    let language = if plan.is_file() {
        read::<Language>(&plan)?.language
    } else {
        String::new()
    };
    let told = made.told(folder, &one);
    // What was not parted into solution and tests has neither.
    let patch = |name| Patch::new(std::fs::read(folder.join(name)).unwrap_or_default());
    let size = difficulty(&patch("gold.patch"), &patch("test.patch"));
    let (outcome, reason) = told.no.unwrap_or_else(|| {
        let word = if told.is_validated {
            "accepted"
        } else {
            "not validated"
        };
        (word.to_owned(), one.reason.clone())
    });
    Ok(PullRequest {
        id: one.instance_id,
        language,
        outcome,
        kind: one.kind.unwrap_or_default(),
        reason,
        evidence: one.evidence.iter().map(said).collect(),
        warnings: one.warnings,
        fail_to_pass: one.fail_to_pass,
        pass_to_pass: one.pass_to_pass.len() as u64,
        lines: size.gold_lines,
        files: size.gold_files,
        seconds: one.seconds.get("total").copied().unwrap_or_default(),
        folder: folder.display().to_string(),
    })
}

/// `after.log:7: text`
fn said(evidence: &Evidence) -> String {
    let place = evidence
        .line
        .map_or(String::new(), |line| format!(":{line}"));
    format!("{}{place}: {}", evidence.source, evidence.text)
}
