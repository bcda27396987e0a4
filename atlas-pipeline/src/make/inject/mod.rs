//! Failures written into the tests of a pull request, run, and compared with what the parser sees.

mod model;

pub use model::InjectAttempt;

use atlas_core::{Environment, Error, ErrorKind, LanguageModel, OracleTask, Overlay, RunContext};
use atlas_oracle::{StateDifferentialOracle, StateRun, Variation};
use atlas_parsers::{Check, Injected, InjectionJudgement, judge_injection};
use atlas_syntax::{Language, SkippedTest, inject_failures};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most tests that a model is asked about.
const ASKED: usize = 10;

/// A test into which no failure was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftTest {
    /// The file.
    pub file: String,
    /// The test.
    #[serde(flatten)]
    pub test: SkippedTest,
}

/// What `atlas make --inject` wrote and saw: `injection.json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InjectionReport {
    /// 1.
    pub schema_version: u32,
    /// The files that were changed.
    pub files: Vec<String>,
    /// The tests that rules made fail.
    pub injected: Vec<Injected>,
    /// The tests that a model made fail, where they count.
    pub by_model: Vec<Injected>,
    /// The tests that were left, and why.
    pub left: Vec<LeftTest>,
    /// The model's answers.
    pub attempts: Vec<InjectAttempt>,
    /// What the parser saw; absent if nothing was shown.
    pub judgement: Option<InjectionJudgement>,
    /// Remarks: why nothing was shown, or less.
    pub notes: Vec<String>,
}

/// What an injection is made into.
pub(super) struct Subject<'a> {
    pub(super) oracle: &'a StateDifferentialOracle,
    pub(super) environment: &'a Environment,
    pub(super) task: &'a OracleTask,
    /// The run of After.
    pub(super) after: &'a StateRun,
    /// SWE-bench ids that do not repeat.
    pub(super) unstable: &'a BTreeSet<String>,
}

/// A test file of the pull request, as it is in After.
struct TestFile {
    path: String,
    language: Language,
    source: Vec<u8>,
}

/// Writes failures into the test files of the pull request, runs After with them, and compares. The
/// tests that no rule can rewrite are a model's, if there is one.
///
/// # Errors
/// The engine; the model, but for its budget; cancellation.
pub(super) async fn inject(
    cx: &RunContext,
    subject: &Subject<'_>,
    model: Option<&Arc<dyn LanguageModel>>,
) -> Result<(InjectionReport, Vec<Check>), Error> {
    let mut report = InjectionReport {
        schema_version: 1,
        ..InjectionReport::default()
    };
    let files = subject.test_files();
    let mut sources = BTreeMap::new();
    for file in &files {
        let made = inject_failures(file.language, &file.source, None);
        let test = |name: String| Injected {
            file: file.path.clone(),
            name,
        };
        report
            .injected
            .extend(made.injected.into_iter().map(|one| test(one.name)));
        report
            .left
            .extend(made.skipped.into_iter().map(|test| LeftTest {
                file: file.path.clone(),
                test,
            }));
        if made.source != file.source {
            sources.insert(file.path.clone(), made.source);
        }
    }
    report.files = sources.keys().cloned().collect();
    let mut checks = Vec::new();
    if report.injected.is_empty() {
        report.notes.push(
            "no test of the pull request has a form that a rule can write a failure into".into(),
        );
    } else {
        let judged = subject
            .judge(cx, &sources, &report.injected, "rules")
            .await?;
        match judged {
            Ok(judgement) => {
                checks = judgement.checks("after with failures.log");
                report.judgement = Some(judgement);
            }
            Err(why) => report.notes.push(why),
        }
    }
    let is_sound = report
        .judgement
        .as_ref()
        .map_or(report.injected.is_empty(), InjectionJudgement::is_exact);
    if let (Some(model), true) = (model, is_sound) {
        subject
            .with_model(cx, model.as_ref(), &files, (&mut report, &mut checks))
            .await?;
    }
    Ok((report, checks))
}

impl Subject<'_> {
    fn test_files(&self) -> Vec<TestFile> {
        let files = self.task.test_patch.files().unwrap_or_default();
        let paths: BTreeSet<String> = files.into_iter().filter_map(|file| file.new_path).collect();
        paths
            .into_iter()
            .filter_map(|path| {
                Some(TestFile {
                    language: Language::of_path(&path)?,
                    source: self.task.after.write.get(&path)?.bytes.clone(),
                    path,
                })
            })
            .collect()
    }

    /// Runs After with these sources and compares; or why nothing can be told by it.
    async fn judge(
        &self,
        cx: &RunContext,
        sources: &BTreeMap<String, Vec<u8>>,
        injected: &[Injected],
        by: &str,
    ) -> Result<Result<InjectionJudgement, String>, Error> {
        let mut overlay: Overlay = self.task.after.clone();
        for (path, source) in sources {
            if let Some(content) = overlay.write.get_mut(path) {
                content.bytes.clone_from(source);
            }
        }
        let files = (&self.task.instance_id, &overlay);
        let label = format!("after with failures by {by}");
        let plain = Variation::plain(0);
        let run = self
            .oracle
            .run(cx, self.environment, files, &label, &plain)
            .await?;
        if run.is_unfinished() {
            return Ok(Err(format!("{label}: the run did not come to its end")));
        }
        // A source that no longer builds says nothing of who reads the log.
        let lost = |run: &StateRun| run.parsed.modules_not_loaded.len();
        if lost(&run) > lost(self.after) || run.parsed.results.is_empty() {
            return Ok(Err(format!(
                "{label}: the changed tests do not build or load"
            )));
        }
        let unstable: BTreeSet<String> = [&self.after.parsed, &run.parsed]
            .iter()
            .flat_map(|log| log.results.iter())
            .filter(|test| self.unstable.contains(test.name))
            .map(|test| test.qualified.to_owned())
            .collect();
        let judgement = judge_injection(&self.after.parsed, &run.parsed, injected, &unstable);
        if judgement.seen.is_empty() && judgement.missed.is_empty() && judgement.vanished.is_empty()
        {
            return Ok(Err(format!(
                "{label}: none of these tests is in the log under its own name"
            )));
        }
        Ok(Ok(judgement))
    }

    /// The tests that no rule can rewrite. Failures of a model count only if with them, too, exactly
    /// what was written is seen: a parser is not refused for what a model did to a suite.
    async fn with_model(
        &self,
        cx: &RunContext,
        model: &dyn LanguageModel,
        files: &[TestFile],
        (report, checks): (&mut InjectionReport, &mut Vec<Check>),
    ) -> Result<(), Error> {
        let mut sources = BTreeMap::new();
        let mut by_model = Vec::new();
        let mut asked = 0;
        'files: for file in files {
            let mut source = file.source.clone();
            // From the end on, so that earlier tests stay in their lines.
            let mut left: Vec<SkippedTest> = report
                .left
                .iter()
                .filter(|left| left.file == file.path && left.test.could_fail)
                .map(|left| left.test.clone())
                .collect();
            left.sort_by_key(|test| std::cmp::Reverse(test.line));
            for test in &left {
                if asked == ASKED {
                    break 'files;
                }
                asked += 1;
                cx.progress.phase("ask the model for a failure");
                let place = (file.path.as_str(), file.language);
                let attempts = &mut report.attempts;
                match model::propose(cx, model, place, &source, test, attempts).await {
                    Ok(Some(made)) => {
                        source = made;
                        by_model.push(Injected {
                            file: file.path.clone(),
                            name: test.name.clone(),
                        });
                    }
                    Ok(None) => {}
                    Err(why) if why.kind() == ErrorKind::BudgetExceeded => {
                        report.notes.push(why.chain());
                        asked = ASKED;
                    }
                    Err(why) => return Err(why),
                }
            }
            sources.insert(
                file.path.clone(),
                inject_failures(file.language, &source, None).source,
            );
        }
        // Files that were not come to keep what rules wrote.
        for file in files {
            let by_rules = || inject_failures(file.language, &file.source, None).source;
            sources.entry(file.path.clone()).or_insert_with(by_rules);
        }
        if by_model.is_empty() {
            return Ok(());
        }
        let all: Vec<Injected> = report.injected.iter().chain(&by_model).cloned().collect();
        match self.judge(cx, &sources, &all, "rules and a model").await? {
            Ok(judgement) if judgement.is_exact() => {
                *checks = judgement.checks("after with failures.log");
                report.judgement = Some(judgement);
                report.by_model = by_model;
                report.files = sources.into_keys().collect();
            }
            Ok(judgement) => {
                let strange =
                    judgement.missed.len() + judgement.vanished.len() + judgement.extra.len();
                report.notes.push(format!(
                    "the model's failures do not count: with them {strange} tests are not as they should be"
                ));
            }
            Err(why) => report.notes.push(why),
        }
        Ok(())
    }
}
