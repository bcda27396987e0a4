//! `atlas abstain`, `atlas review`, and what commands that ask a model have in common.

use super::combine::{EnsembleArgs, members_text};
use super::shared::{BudgetArgs, ConfigArgs, DatasetArgs, JobsArgs};
use super::{DONE, ERROR, Format, dry_run, output};
use crate::words::word;
use atlas_core::{ChatMessage, Error, ErrorKind, Role, RunContext};
use atlas_judge::abstention::{AbstentionOptions, AgentTool, FeatureOptions, Representation};
use atlas_judge::answer::{AskOptions, LabelForm, Labels};
use atlas_judge::validation::{PromptLimits, ReviewOptions};
use atlas_pipeline::{
    AbstainOptions, AbstainReport, Config, JudgeReport, ModelSession, ReviewMode, ReviewRunOptions,
    ReviewRunReport, SessionOptions, abstain, abstain_prompts, exchanges_beside, review,
    review_prompts,
};
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// How batches are waited for.
#[derive(Debug, Args)]
pub(super) struct PollArgs {
    /// Seconds between two looks at a batch.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60.0,
        requires = "batch"
    )]
    pub(super) batch_poll: f64,
}

/// What every command needs that asks a model over a file.
#[derive(Debug, Args)]
pub(super) struct ModelArgs {
    /// The model: a name from `[models]` of the configuration, PROVIDER:MODEL, an address, replay:FILE,
    /// scripted:FILE or noise:SEED. Where several judge together, NAME= before it names it.
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Vec<String>,
    #[command(flatten)]
    pub(super) spending: BudgetArgs,
    /// What all runs that write to `--out` may spend together, kills and continuations included, such as
    /// calls=100,tokens=2M,money=1.50; `--budget` is of this run alone.
    #[arg(long, value_name = "LIMITS", conflicts_with = "no_exchanges")]
    pub(super) total_budget: Option<String>,
    /// The file of results, one JSON object a line. What it holds already is not asked again.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["show_prompt", "dry_run"])]
    pub(super) out: Option<PathBuf>,
    /// The file of exchanges with the model (`SQLite`): no answer in it is paid again, also where a run was stopped in
    /// the middle of an item [default: beside the file of results, with `.exchanges` behind its name].
    #[arg(long, value_name = "FILE", conflicts_with = "no_exchanges")]
    pub(super) exchanges: Option<PathBuf>,
    /// Ask everything anew, and keep no exchanges.
    #[arg(long)]
    pub(super) no_exchanges: bool,
    /// Ask in batches (OpenAI, servers with its `/v1/batches`, Anthropic), mostly at half the price and within a day:
    /// all questions that are known go out together, and those that follow from answers in later rounds. The same
    /// command again goes on waiting for the same batch.
    #[arg(long, conflicts_with_all = ["no_exchanges", "dry_run", "show_prompt"])]
    pub(super) batch: bool,
    #[command(flatten)]
    pub(super) poll: PollArgs,
    #[command(flatten)]
    pub(super) jobs: JobsArgs,
    /// Ask nothing, write nothing, and print how many questions there are, about how many tokens they have, and what
    /// they cost at most. What `--out` and the kept exchanges hold already is not counted.
    #[arg(long, conflicts_with = "show_prompt")]
    pub(super) dry_run: bool,
    /// Print what the model would be told, and ask nothing.
    #[arg(long)]
    pub(super) show_prompt: bool,
    #[command(flatten)]
    pub(super) format: Format,
    /// A file with prices and context windows of models, in the place of the shipped one; a `price` in the model's
    /// table of the configuration goes before.
    #[arg(long, value_name = "FILE")]
    pub(super) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

impl ModelArgs {
    /// The configuration, with the prices that are named.
    pub(super) fn configuration(&self) -> Result<Config, Error> {
        let mut config = self.config.read()?;
        if self.prices.is_some() {
            config.prices.clone_from(&self.prices);
        }
        Ok(config)
    }

    /// Opens the model within its budget.
    pub(super) fn session(&self) -> Result<ModelSession, Error> {
        let (model, config) = (self.named()?, self.configuration()?);
        ModelSession::open_with(model, &config, &self.payment())
    }

    /// How the session is paid for.
    pub(super) fn payment(&self) -> SessionOptions {
        SessionOptions {
            budget: self.spending.budget.clone(),
            total_budget: self.total_budget.clone(),
            exchanges: self.kept(),
            out: self.out.clone(),
            batch_poll: self.batch.then_some(self.poll.batch_poll),
        }
    }

    /// The name of the one model.
    pub(super) fn named(&self) -> Result<&str, Error> {
        let why = match self.model.as_slice() {
            [model] => return Ok(model),
            [] => "name one with --model",
            _ => {
                "several are named, and this asks one; `abstain`, `review` and `critic` ask several"
            }
        };
        Err(Error::new(ErrorKind::InvalidInput, "open the model:", why))
    }

    /// The file of exchanges.
    pub(super) fn kept(&self) -> Option<PathBuf> {
        let beside = || self.out.as_deref().map(exchanges_beside);
        let kept = self.exchanges.clone().or_else(beside);
        kept.filter(|_| !self.no_exchanges)
    }

    /// The same where rules do without a model.
    pub(super) fn session_if_asked(&self) -> Result<Option<ModelSession>, Error> {
        let is_asked = !self.model.is_empty();
        is_asked.then(|| self.session()).transpose()
    }
}

/// How long answers may be.
#[derive(Debug, Args)]
struct LengthArgs {
    /// Most tokens of an answer.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: Option<u32>,
    /// Most characters of a text within an answer of a set form, and then twelve entries of a list, for servers whose
    /// schemas may say so.
    #[arg(long, value_name = "N")]
    max_text: Option<u32>,
}

impl LengthArgs {
    fn options(&self, ask: &AskOptions) -> AskOptions {
        AskOptions {
            max_tokens: self.max_tokens.unwrap_or(ask.max_tokens),
            max_text: self.max_text,
            ..ask.clone()
        }
    }
}

/// How judges are asked that take no samples unless they are told to.
#[derive(Debug, Args)]
pub(super) struct FormAskArgs {
    #[command(flatten)]
    length: LengthArgs,
    /// Samples where the model gives no log-probabilities, for how sure it is; 0 takes none.
    #[arg(long, value_name = "N", default_value_t = 0)]
    samples: u32,
    /// How often the model is asked again after an answer that cannot be used.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) ask_again: u32,
}

impl FormAskArgs {
    pub(super) fn options(&self, ask: &AskOptions) -> AskOptions {
        AskOptions {
            samples: self.samples,
            ..self.length.options(ask)
        }
    }
}

/// How answers are asked for.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    #[command(flatten)]
    length: LengthArgs,
    /// Samples where the model gives no log-probabilities; 0 takes none.
    #[arg(long, value_name = "N", default_value_t = AskOptions::default().samples)]
    samples: u32,
    /// Temperature of these samples.
    #[arg(long, value_name = "T", default_value_t = AskOptions::default().temperature)]
    temperature: f64,
    /// Do not ask the model for a number where nothing else tells how sure it is.
    #[arg(long)]
    no_verbalised: bool,
    /// How often a model is told what is wrong with the form of its answer, and asked again.
    #[arg(long, value_name = "N", default_value_t = AskOptions::default().corrections)]
    corrections: u32,
    /// Seed, for models that take one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl AskArgs {
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn options(&self, ask: &AskOptions) -> AskOptions {
        AskOptions {
            samples: self.samples,
            temperature: self.temperature,
            verbalised: !self.no_verbalised,
            corrections: self.corrections,
            seed: self.seed,
            ..self.length.options(ask)
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct AbstainArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    /// How a report is put: r1, or r2 with guidelines.
    #[arg(long, value_parser = word::<Representation>(), default_value = "r2")]
    representation: Representation,
    /// A tool of the agent and what it is for, instead of the usual ones. Can be given several times.
    #[arg(long, value_name = "NAME=PURPOSE", value_parser = tool)]
    tool: Vec<AgentTool>,
    /// Steps that the agent may take.
    #[arg(long, value_name = "N", default_value_t = AbstentionOptions::default().max_steps)]
    max_steps: u32,
    /// Attempt from this probability on.
    #[arg(long, value_name = "P", default_value_t = AbstentionOptions::default().tau)]
    tau: f64,
    /// The two words between which the model chooses.
    #[arg(long, value_name = "YES,NO", value_parser = labels, default_value = "success,failure")]
    labels: Labels,
    /// Least probability that must be on the two words together.
    #[arg(long, value_name = "P", default_value_t = AskOptions::default().mass_floor)]
    mass_floor: f64,
    /// How the word is asked for: alone, or as a JSON object under a schema, for models that answer in
    /// sentences; its probability is then read where the value begins.
    #[arg(long, value_parser = word::<LabelForm>(), default_value = "word")]
    answer_form: LabelForm,
    /// Most tokens (of four bytes) of the report, as report=TOKENS; what is longer is cut in its middle [default: what fits
    /// into the model's context, where that is known].
    #[arg(long, value_name = "PART=TOKENS", value_parser = report_limit)]
    limit: Option<(String, usize)>,
    /// A text that stands for the repository's root, of which the averages over reports say how many name it. Can be given
    /// several times [default: paths that name a file].
    #[arg(long, value_name = "TEXT")]
    root: Vec<String>,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    #[command(flatten)]
    model: ModelArgs,
}

fn tool(text: &str) -> Result<AgentTool, String> {
    match text.split_once('=') {
        Some((name, purpose)) if !name.trim().is_empty() && !purpose.trim().is_empty() => {
            Ok(AgentTool::new(name.trim(), purpose.trim()))
        }
        _ => Err("NAME=PURPOSE expected, such as `grep=find code`".to_owned()),
    }
}

fn report_limit(text: &str) -> Result<(String, usize), String> {
    limit_among(&["report"], text)
}

fn labels(text: &str) -> Result<Labels, String> {
    let (yes, no) = text
        .split_once(',')
        .ok_or_else(|| "two words with a comma between them expected".to_owned())?;
    Labels::new(yes, no).map_err(|why| why.to_string())
}

pub(super) async fn abstain_command(cx: &RunContext, args: AbstainArgs) -> Result<u8, Error> {
    let defaults = AbstentionOptions::default();
    let rehearsal = args.model.rehearsal(&args.ensemble)?;
    let window = args.model.least_window()?;
    let mut options = AbstainOptions {
        dataset: args.rows.dataset,
        instances: args.rows.only.instance_ids,
        policy: AbstentionOptions {
            report_limit: args.limit.map(|(_, tokens)| tokens),
            features: FeatureOptions { roots: args.root },
            representation: args.representation,
            tools: if args.tool.is_empty() {
                defaults.tools
            } else {
                args.tool
            },
            max_steps: args.max_steps,
            tau: args.tau,
            labels: args.labels,
            ask: AskOptions {
                mass_floor: args.mass_floor,
                label_form: args.answer_form,
                ..args.ask.options(&defaults.ask)
            },
        },
        out: dry_run::out(rehearsal.as_ref(), args.model.out.as_ref()),
        jobs: args.model.jobs.jobs,
    };
    if let Some(window) = window {
        options.policy = options.policy.within(window);
    }
    if args.model.show_prompt {
        return prompts(&abstain_prompts(&options)?, args.model.format);
    }
    if let Some(rehearsal) = &rehearsal {
        let report = abstain(cx, &options, &rehearsal.session).await?;
        return rehearsal.finish(cx, args.model.format, &report.run);
    }
    let session = args.ensemble.session(&args.model)?;
    let report = paying(Some(&session), abstain(cx, &options, &session)).await?;
    finish(cx, args.model.format, &report, &report.run, abstain_text)
}

/// Prints a line for each result, and gives what stands below them.
fn abstain_text(report: &AbstainReport) -> Result<String, Error> {
    output::lines(report.results.iter().map(|one| {
        let one = one?;
        let p = one
            .probability
            .map_or_else(|| "  -  ".to_owned(), |p| format!("{p:.3}"));
        Ok(format!(
            "{:<8} {p}  {}  [{}]",
            one.label, one.instance_id, one.source
        ))
    }))?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n{} to attempt, {} to abstain from",
        report.attempt, report.abstain
    );
    for (label, means) in &report.features {
        let _ = writeln!(
            text,
            "{label}: {} reports; on average {:.2} code-like identifiers, {:.0} characters; {:.0} % name a path, {:.0} % \
             a build rule, {:.0} % have code blocks",
            means.reports,
            means.code_like_identifiers,
            means.characters,
            means.repository_root * 100.0,
            means.build_rule * 100.0,
            means.code_ticks * 100.0
        );
    }
    output::input_faults(&mut text, &report.faults);
    run_text(&mut text, &report.run, &report.ledger);
    Ok(text)
}

#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    #[command(flatten)]
    options: ReviewRunOptions,
    /// A tool of the agent that runs tests, beside the commands that are known. Can be given several
    /// times.
    #[arg(long, value_name = "NAME")]
    test_tool: Vec<String>,
    /// Most tokens (of four bytes) of a part of the prompt: report, patch, files, tests or trajectory. What is longer is
    /// cut in its middle. Can be given several times [default: 16000, 16000, 48000, 16000, 96000; all smaller by one
    /// factor where the model's known context is too small for that].
    #[arg(long, value_name = "PART=TOKENS", value_parser = limit)]
    limit: Vec<(String, usize)>,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) fn limit(text: &str) -> Result<(String, usize), String> {
    limit_among(&PromptLimits::PARTS, text)
}

/// Reads the limit of one of these parts.
pub(super) fn limit_among(parts: &[&str], text: &str) -> Result<(String, usize), String> {
    let expected = || {
        let (first, all) = (parts[0], parts.join(", "));
        format!("PART=TOKENS expected, such as `{first}=20000`; the parts are {all}")
    };
    let (part, tokens) = text.split_once('=').ok_or_else(expected)?;
    let tokens: usize = tokens.trim().parse().map_err(|_| expected())?;
    let part = part.trim();
    let is_known = parts.contains(&part) && tokens > 0;
    is_known
        .then(|| (part.to_owned(), tokens))
        .ok_or_else(expected)
}

pub(super) async fn review_command(cx: &RunContext, args: ReviewArgs) -> Result<u8, Error> {
    let mode = args.options.mode;
    let ask = args.ask.options(&AskOptions::default());
    let window = match mode {
        ReviewMode::Deterministic => None,
        _ => args.model.least_window()?,
    };
    let mut limits = PromptLimits::default();
    if let Some(window) = window {
        limits = limits.within(window, ask.max_tokens);
    }
    for (part, tokens) in &args.limit {
        if let Some(limit) = limits.part_mut(part) {
            *limit = *tokens;
        }
    }
    let rehearsal = match mode {
        ReviewMode::Deterministic if args.model.dry_run => {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "review:",
                "--mode deterministic asks no model; leave --dry-run out",
            ));
        }
        _ => args.model.rehearsal(&args.ensemble)?,
    };
    let options = ReviewRunOptions {
        dataset: args.rows.dataset,
        instances: args.rows.only.instance_ids,
        review: ReviewOptions {
            ask,
            test_tools: args.test_tool,
            limits,
        },
        out: dry_run::out(rehearsal.as_ref(), args.model.out.as_ref()),
        jobs: args.model.jobs.jobs,
        ..args.options
    };
    if args.model.show_prompt {
        return prompts(&review_prompts(&options).await?, args.model.format);
    }
    if let Some(rehearsal) = &rehearsal {
        let report = review(cx, &options, Some(&rehearsal.session)).await?;
        return rehearsal.finish(cx, args.model.format, &report.run);
    }
    let session = match mode {
        ReviewMode::Deterministic => None,
        _ => Some(args.ensemble.session(&args.model)?),
    };
    let report = paying(session.as_ref(), review(cx, &options, session.as_ref())).await?;
    finish(cx, args.model.format, &report, &report.run, |report| {
        Ok(review_text(report))
    })
}

fn review_text(report: &ReviewRunReport) -> String {
    let mut text = String::new();
    for one in &report.results {
        let score = one
            .score
            .map_or_else(|| "  -  ".to_owned(), |score| format!("{score:.3}"));
        let reason: String = one
            .reason
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(100)
            .collect();
        let _ = writeln!(
            text,
            "{:<9} {score}  {} {} by {}  {reason}",
            one.label, one.instance_id, one.patch_id, one.agent
        );
    }
    let _ = writeln!(
        text,
        "\n{} accepted, {} rejected, {} of instances abstained from",
        report.accepted, report.rejected, report.abstained
    );
    for step in &report.funnel {
        let _ = writeln!(
            text,
            "{:<26} {:>5} patches of {:>4} bugs (removed {} of {})",
            step.step, step.patches, step.bugs, step.removed_patches, step.removed_bugs
        );
    }
    if let Some(cutoff) = report.cutoff {
        let _ = writeln!(text, "cut-off {cutoff:.4}");
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    output::input_faults(&mut text, &report.faults);
    run_text(&mut text, &report.run, &report.ledger);
    text
}

/// How the run went, what it cost, and how to go on.
pub(super) fn run_text(text: &mut String, run: &JudgeReport, ledger: &Value) {
    for failed in &run.failed {
        let _ = writeln!(text, "failed: {}: {}", failed.key, failed.message);
    }
    let _ = writeln!(
        text,
        "{} items: {} known from earlier runs, {} done, {} failed, {} left; {}",
        run.items,
        run.known,
        run.done,
        run.failed.len(),
        run.left,
        run.out.display()
    );
    members_text(text, run);
    text.push_str(&spent(ledger));
    if let Some(why) = &run.stopped {
        let _ = writeln!(text, "stopped: {why}");
    }
    if !run.failed.is_empty() {
        text.push_str("run the same command again to try the failed ones again\n");
    }
}

/// The bill, as a line.
fn spent(ledger: &Value) -> String {
    let number = |name: &str| ledger[name].as_u64().unwrap_or_default();
    let mut text = format!(
        "spent: {} calls, {} tokens read, {} written",
        number("calls"),
        number("prompt_tokens"),
        number("completion_tokens")
    );
    match ledger["money"].as_f64() {
        Some(money) if money > 0.0 => drop(write!(text, ", {money:.4} in money")),
        None if number("calls") > 0 => text.push_str(", money unknown (no price)"),
        _ => {}
    }
    let models = ledger["models"].as_object().into_iter().flatten();
    let in_batches: u64 = models
        .filter(|(name, _)| name.ends_with(" (batch)"))
        .filter_map(|(_, account)| account["calls"].as_u64())
        .sum();
    if in_batches > 0 {
        let _ = write!(text, "; {in_batches} of the calls in batches");
    }
    let all = &ledger["in_all"];
    if let (Some(calls), Some(tokens)) = (all["calls"].as_u64(), all["tokens"].as_u64()) {
        let _ = write!(
            text,
            "; by all runs together: {calls} calls, {tokens} tokens"
        );
        if let Some(money) = all["money"].as_f64().filter(|money| *money > 0.0) {
            let _ = write!(text, ", {money:.4} in money");
        }
    }
    text.push('\n');
    text
}

/// Does work that asks a model. Where it ends with an error, Ctrl-C too, the bill is on standard error.
pub(super) async fn paying<R>(
    session: Option<&ModelSession>,
    work: impl Future<Output = Result<R, Error>>,
) -> Result<R, Error> {
    let done = work.await;
    if done.is_err()
        && let Some(ledger) = session.map(ModelSession::ledger)
        && ledger["calls"] != 0
    {
        let bill = spent(&ledger);
        let _ = std::io::Write::write_all(&mut std::io::stderr(), bill.as_bytes());
    }
    done
}

/// Prints a report. The exit code is 0 where every item has its result, whatever it is: a file of judgements
/// is no verdict of "no".
pub(super) fn finish<R: Serialize>(
    cx: &RunContext,
    format: Format,
    report: &R,
    run: &JudgeReport,
    text: impl FnOnce(&R) -> Result<String, Error>,
) -> Result<u8, Error> {
    cx.progress.phase("");
    if format.is_json() {
        output::json(report)?;
    } else {
        output::print(&text(report)?)?;
    }
    Ok(if run.is_complete() { DONE } else { ERROR })
}

/// Prints prompts by the names of their items.
pub(super) fn prompts(prompts: &[(String, Vec<ChatMessage>)], format: Format) -> Result<u8, Error> {
    if format.is_json() {
        let list: Vec<Value> = prompts
            .iter()
            .map(|(name, messages)| json!({"item": name, "messages": messages}))
            .collect();
        output::json(&list)?;
        return Ok(DONE);
    }
    let mut text = String::new();
    for (name, messages) in prompts {
        let _ = writeln!(text, "##### {name}");
        for message in messages {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            let _ = writeln!(text, "--- {role}\n{}\n", message.content);
        }
    }
    output::print(&text)?;
    Ok(DONE)
}
