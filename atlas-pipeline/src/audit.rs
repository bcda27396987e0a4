//! What is wrong with anybody's rows: all that `lint` looks for, what their texts give away, and, where
//! asked, what running them shows.

use crate::clones::clone_among;
use crate::datasets::lint_dataset;
use crate::evaluate::{EvalOptions, EvalOutcome, EvalVerdict, PredictionSource, evaluate};
use atlas_core::{Error, ErrorKind, Patch, RunContext, Severity};
use atlas_formats::{
    ConvertOptions, Dataset, Finding, LintCode, LintOptions, Row, RowFault, Schema, convert,
};
use atlas_oracle::{leak_of, unnamed_interface};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// From this share of the solution's lines on, a statement that holds them gives the solution away: the
/// integrity gate's own default.
const QUOTED_SHARE: f64 = 0.5;

/// One kind of fault, over the whole dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditCount {
    /// How much it matters.
    pub severity: Severity,
    /// How many rows have it.
    pub rows: usize,
    /// What it means.
    pub meaning: String,
}

/// What is wrong with a dataset.
#[derive(Clone, Debug, Serialize)]
pub struct AuditReport {
    /// 1.
    pub schema_version: u32,
    /// How many rows could be read.
    pub rows: usize,
    /// How many of them have a finding that is more than a note.
    pub rows_with_findings: usize,
    /// Code -> how often.
    pub counts: BTreeMap<&'static str, AuditCount>,
    /// What is wrong with each, in the order of the rows.
    pub findings: Vec<Finding>,
    /// Rows that could not be read, and what deserves a look.
    pub faults: Vec<RowFault>,
}

impl AuditReport {
    fn new(set: &Dataset, findings: Vec<Finding>) -> Self {
        let mut report = Self {
            schema_version: 1,
            rows: set.rows.len(),
            rows_with_findings: 0,
            counts: BTreeMap::new(),
            findings,
            faults: set.faults.clone(),
        };
        report.count();
        report
    }

    fn count(&mut self) {
        let mut rows: BTreeMap<LintCode, BTreeSet<&str>> = BTreeMap::new();
        let mut bad: BTreeSet<&str> = BTreeSet::new();
        for finding in &self.findings {
            rows.entry(finding.code)
                .or_default()
                .insert(&finding.instance);
            if finding.severity != Severity::Note {
                bad.insert(&finding.instance);
            }
        }
        self.rows_with_findings = bad.len();
        let counts = rows.into_iter().map(|(code, rows)| {
            let count = AuditCount {
                severity: code.severity(),
                rows: rows.len(),
                meaning: code.doc().to_owned(),
            };
            (code.as_str(), count)
        });
        self.counts = counts.collect();
    }

    /// Whether anything is wrong that is more than a note, or a row could not be read.
    pub fn is_clean(&self) -> bool {
        self.rows_with_findings == 0 && self.faults.iter().all(|fault| fault.kind.keeps_row())
    }
}

/// Says what is wrong with a dataset's rows from their data alone: the findings of [`lint`](atlas_formats::lint),
/// and statements that give the solution away by the integrity gate's rules. With `repos`, a clone or a
/// folder of clones, the patches are tried too.
///
/// Must not be called from asynchronous code, which it would block.
///
/// # Errors
/// Those of [`lint_dataset`].
pub fn audit_dataset(
    cx: &RunContext,
    set: &Dataset,
    options: &LintOptions<'_>,
    repos: Option<&Path>,
) -> Result<AuditReport, Error> {
    cx.progress.phase("look at the rows");
    let mut findings = lint_dataset(cx, set, options, repos)?.findings;
    cx.progress.phase("look at the statements");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|why| Error::new(ErrorKind::Io, "start the runtime", "").with_source(why))?;
    for (at, row) in set.rows.iter().enumerate() {
        cx.check("audit")?;
        cx.progress
            .detail(&format!("{} of {}", at + 1, set.rows.len()));
        cx.progress.counted(at + 1, set.rows.len());
        let Some(schema) = options.schema.or_else(|| Schema::detect(row)) else {
            continue;
        };
        let (rows, _) = convert(
            std::slice::from_ref(row),
            schema,
            Schema::SwebenchV4,
            &ConvertOptions::default(),
        );
        let Some(plain) = rows.first() else { continue };
        let text = |column: &str| plain.text(column).unwrap_or_default();
        let [gold, tests] = ["patch", "test_patch"].map(|column| Patch::new(text(column)));
        let statement = text("problem_statement");
        let leak = leak_of(statement, &gold, &tests);
        let repo = format!("/{}/", text("repo").to_ascii_lowercase());
        let change = Change::of(row);
        let mut own = leak.links.iter();
        let own = own.find(|link| {
            let link = link.to_ascii_lowercase();
            let place = link.split_once(&repo).map(|(_, place)| place);
            place.is_some_and(|place| change.may_be_at(place))
        });
        let has_diff = leak.has_diff && is_of_files(statement, &gold);
        let line = row.place().map_or(0, |place| place.line);
        let mut add = |code: LintCode, message: String, way_out: &str| {
            findings.push(Finding {
                code,
                severity: code.severity(),
                instance: row.id().to_string(),
                field: "problem_statement".to_owned(),
                line,
                message,
                way_out: way_out.to_owned(),
            });
        };
        if let Some(link) = own {
            let message = format!("it links to `{link}`");
            add(LintCode::LinkInProblem, message, "take the link out");
        }
        if has_diff {
            let way_out = "take the diff out, or say that the task gives the answer";
            add(
                LintCode::DiffInProblem,
                "it holds a diff".to_owned(),
                way_out,
            );
        } else if leak
            .quoted_share()
            .is_some_and(|share| share >= QUOTED_SHARE)
        {
            let message = format!(
                "it holds {} of the {} lines of the solution that say something",
                leak.quoted_lines.len(),
                leak.solution_lines
            );
            let way_out = "take the lines out, or say that the task gives the answer";
            add(LintCode::DiffInProblem, message, way_out);
        }
        // What is shown beside the statement in rows that have it.
        let shown =
            ["requirements", "interface"].map(|column| row.text(column).unwrap_or_default());
        let shown = [&[statement], shown.as_slice()].concat().join("\n");
        let mut unnamed = unnamed_interface(&shown, &gold, &tests);
        if let Some(repos) = repos.filter(|_| !unnamed.is_empty()) {
            let [repo, base] = ["repo", "base_commit"].map(text);
            let known = runtime.block_on(words_at(repos, repo, base, &unnamed));
            unnamed.retain(|name| !known.contains(name));
        }
        if let Some(first) = unnamed.first() {
            let names = if unnamed.len() == 1 { "name" } else { "names" };
            let message = format!(
                "tests use {} {names} that it does not give and that only the solution makes, as `{first}`",
                unnamed.len()
            );
            let way_out = "say what they are, as an interface that the solution must offer";
            add(LintCode::UnnamedInterface, message, way_out);
        }
    }
    findings.retain(|finding| !options.ignored.contains(&finding.code));
    in_order(set, &mut findings);
    Ok(AuditReport::new(set, findings))
}

/// Which names stand in the repository at the base commit: those are not the solution's alone. None where there
/// is no clone or no such commit, which the patches' own try has said.
async fn words_at(repos: &Path, repo: &str, base: &str, names: &[String]) -> BTreeSet<String> {
    let Ok(clone) = clone_among(repos, repo).await else {
        return BTreeSet::new();
    };
    let Ok(commit) = clone.resolve(base).await else {
        return BTreeSet::new();
    };
    clone.words_among(&commit, names).await.unwrap_or_default()
}

/// What a row says of the change that solves it.
struct Change {
    /// The pull request, where the row's name or a column says it.
    number: Option<u64>,
    /// The issues that it answers.
    issues: Vec<u64>,
}

impl Change {
    fn of(row: &Row) -> Self {
        let number_of = |value: &Value| match value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            Value::Object(map) => map.get("number").and_then(Value::as_u64),
            _ => None,
        };
        let by_name = || row.id().as_str().rsplit_once('-')?.1.parse().ok();
        let issues = ["resolved_issues", "issue_numbers"].iter();
        let issues = issues.filter_map(|column| row.get(column)?.as_array());
        Self {
            number: ["pull_number", "number"]
                .iter()
                .find_map(|column| row.get(column).and_then(number_of))
                .or_else(by_name),
            issues: issues.flatten().filter_map(number_of).collect(),
        }
    }

    /// Whether a link behind the repository's name can lead to the change: statements mostly name older ones,
    /// which brought the fault. A pull request that is younger than the issue was made for it. Of a commit
    /// nothing tells its place from data alone, so one that stands by itself is taken for an older one.
    fn may_be_at(&self, place: &str) -> bool {
        let mut parts = place.split('/');
        let kind = parts.next().unwrap_or_default();
        let kind = if kind == "-" {
            parts.next().unwrap_or_default()
        } else {
            kind
        };
        let rest = parts.next().unwrap_or_default();
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        match (kind, rest[..digits].parse::<u64>(), self.number) {
            ("commit", ..) => false,
            ("pull" | "pulls" | "merge_requests", Ok(named), Some(own)) => {
                let issue = self.issues.iter().max();
                named == own || issue.is_some_and(|issue| named > *issue)
            }
            _ => true,
        }
    }
}

/// Whether a diff in a statement is of files that the solution changes. One without names of files is.
fn is_of_files(statement: &str, gold: &Patch) -> bool {
    let files = gold.files().unwrap_or_default();
    let paths: Vec<&str> = files
        .iter()
        .flat_map(atlas_core::FilePatch::paths)
        .collect();
    let heads = ["diff --git ", "--- ", "+++ "];
    let mut named = statement
        .lines()
        .filter_map(|line| heads.iter().find_map(|head| line.strip_prefix(head)))
        .flat_map(str::split_whitespace)
        .filter(|word| word.contains('/') && *word != "/dev/null")
        .peekable();
    named.peek().is_none()
        || named.any(|word| {
            // `a/src/x.c`, `old/src/x.c`
            let (_, below) = word.split_once('/').unwrap_or(("", word));
            paths.iter().any(|path| *path == word || *path == below)
        })
}

/// Builds and runs the rows: with their own solutions, which must resolve them, and with a file that no test
/// looks at in the place of one, which must leave every test of `FAIL_TO_PASS` failing. What that shows is
/// added to the report. The options' predictions are not looked at.
///
/// # Errors
/// Those of [`evaluate`].
///
/// # Cancellation
/// As [`evaluate`].
pub async fn audit_runs(
    cx: &RunContext,
    set: &Dataset,
    options: &EvalOptions,
    report: &mut AuditReport,
) -> Result<(), Error> {
    let run_id = &options.run_id;
    for (predictions, name) in [
        (PredictionSource::Gold, "gold"),
        (PredictionSource::Content(without_solution(set)), "none"),
    ] {
        let options = EvalOptions {
            predictions,
            run_id: format!("{run_id}.{name}"),
            ..options.clone()
        };
        let found = evaluate(cx, &options).await?;
        let is_gold = name == "gold";
        report.findings.extend(
            found
                .verdicts
                .iter()
                .filter_map(|verdict| of_run(verdict, is_gold)),
        );
    }
    in_order(set, &mut report.findings);
    report.count();
    Ok(())
}

/// A prediction for every row that changes nothing a test looks at. An empty one is graded without a run.
fn without_solution(set: &Dataset) -> Vec<u8> {
    const PATCH: &str = "diff --git a/.atlas-audit b/.atlas-audit\nnew file mode 100644\n--- /dev/null\n\
                         +++ b/.atlas-audit\n@@ -0,0 +1 @@\n+no solution\n";
    let line = |row: &Row| {
        let prediction = serde_json::json!({
            "instance_id": row.id().as_str(),
            "model_name_or_path": "none",
            "model_patch": PATCH,
        });
        format!("{prediction}\n")
    };
    set.rows.iter().map(line).collect::<String>().into_bytes()
}

/// What a run with the row's own solution, or without any, says against the row.
fn of_run(verdict: &EvalVerdict, is_gold: bool) -> Option<Finding> {
    let first = verdict
        .reasons
        .first()
        .map_or("no reason is known", String::as_str);
    let passing = &verdict.fail_to_pass.success;
    let (code, message, way_out) = if verdict.outcome == EvalOutcome::NoEvidence {
        let which = if is_gold { "with" } else { "without" };
        let message = format!("nothing is known of the run {which} the solution: {first}");
        (LintCode::NotRun, message, "see the run's verdict and log")
    } else if is_gold && !verdict.resolved {
        let missed = verdict.fail_to_pass.failure.len() + verdict.pass_to_pass.failure.len();
        let message = format!("{missed} listed tests do not pass with the solution: {first}");
        (
            LintCode::GoldNotResolved,
            message,
            "run the states again, or leave the row out",
        )
    } else if !is_gold && !passing.is_empty() {
        let message = format!(
            "{} tests of FAIL_TO_PASS pass without a solution, as `{}`",
            passing.len(),
            passing.first().unwrap_or_default()
        );
        (
            LintCode::PassesWithoutGold,
            message,
            "take them out of FAIL_TO_PASS",
        )
    } else {
        return None;
    };
    Some(Finding {
        code,
        severity: code.severity(),
        instance: verdict.instance_id.clone(),
        field: "FAIL_TO_PASS".to_owned(),
        line: 0,
        message,
        way_out: way_out.to_owned(),
    })
}

/// Findings in the order of the rows.
fn in_order(set: &Dataset, findings: &mut [Finding]) {
    let rows = set.rows.iter().enumerate().rev();
    let places: BTreeMap<&str, usize> = rows.map(|(at, row)| (row.id().as_str(), at)).collect();
    findings.sort_by_key(|finding| places.get(finding.instance.as_str()).copied());
}
