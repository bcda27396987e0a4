//! `atlas synth-parser`.

use super::shared::{BudgetArgs, EngineArgs};
use super::{DONE, Format, NO, output};
use atlas_core::{Error, ErrorKind, Role, RunContext};
use atlas_parsers::{Certificate, Decision, Form};
use atlas_pipeline::{
    CertifyParserOptions, ModelSession, SynthParserOptions, SynthParserOutcome, SynthParserReport,
    certify_parser, synth_parser, synth_question,
};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(mut_arg("engine", |engine| engine.help("Where parsers in Python run: auto, docker or local")))]
#[command(mut_arg("trust", |trust| trust.help("Run parsers in Python even where nothing keeps them apart from this machine")))]
pub(super) struct SynthParserArgs {
    /// Logs of one runner, best with passed, failed and skipped tests.
    #[arg(
        required_unless_present = "certify",
        conflicts_with = "certify",
        value_name = "LOG"
    )]
    logs: Vec<PathBuf>,
    /// Certify a parser on these logs instead of making one.
    #[arg(long, value_name = "LOG", num_args = 1.., requires = "parser")]
    certify: Vec<PathBuf>,
    /// The parser to certify: a shipped one's id, or a file.
    #[arg(long, value_name = "ID|FILE.json", requires = "certify")]
    parser: Option<String>,
    /// The exit code of the command that printed a log; once for each log, in their order.
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    exit_code: Vec<i64>,
    /// What another witness says of a log's run: a report that a shipped parser reads, or JSON
    /// {id: status}; once for each log, in their order.
    #[arg(long, value_name = "FILE")]
    truth: Vec<PathBuf>,
    /// About how many tests the sources have.
    #[arg(long, value_name = "N")]
    tests_in_source: Option<u64>,
    /// The command that printed the logs.
    #[arg(long)]
    command: Option<String>,
    /// The parser's name.
    #[arg(long, default_value = "synthesised", value_name = "ID")]
    id: String,
    /// The model: a name from `[models]` of the configuration, PROVIDER:MODEL, an address, replay:FILE or
    /// scripted:FILE.
    #[arg(long, required_unless_present_any = ["certify", "show_prompt"], value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    spending: BudgetArgs,
    /// Where the parser goes.
    #[arg(long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// Print what the model would be asked, and ask nothing.
    #[arg(long)]
    show_prompt: bool,
    /// Make a parser even where a shipped one knows the log.
    #[arg(long)]
    anyway: bool,
    #[command(flatten)]
    place: EngineArgs,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn command(cx: &RunContext, args: SynthParserArgs) -> Result<u8, Error> {
    let config = args.place.config.read()?;
    if let Some(parser) = args.parser {
        let options = CertifyParserOptions {
            logs: args.certify,
            exit_codes: args.exit_code,
            truths: args.truth,
            parser,
            engine: args.place.engine,
            config,
            trust: args.place.trust,
        };
        let certificate = certify_parser(cx, &options).await?;
        cx.progress.phase("");
        args.format
            .show(&certificate, || certificate_text(&certificate))?;
        let refused = certificate.decision == Decision::Refused;
        return Ok(if refused { NO } else { DONE });
    }
    let options = SynthParserOptions {
        logs: args.logs,
        exit_codes: args.exit_code,
        truths: args.truth,
        id: args.id,
        tests_in_sources: args.tests_in_source,
        command: args.command,
        anyway: args.anyway,
        engine: args.place.engine,
        config,
        trust: args.place.trust,
        ..SynthParserOptions::default()
    };
    if args.show_prompt {
        let mut text = String::new();
        for form in [Form::Rules, Form::Script] {
            let _ = writeln!(text, "# {}", form.prompt_version());
            for message in synth_question(&options, form)? {
                let role = match message.role {
                    Role::System => "system",
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                let _ = write!(text, "\n## {role}\n\n{}\n", message.content);
            }
            text.push('\n');
        }
        output::print(&text)?;
        return Ok(DONE);
    }
    let model = args.model.as_deref().ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidInput,
            "open the model:",
            "name one with --model",
        )
    })?;
    let session = ModelSession::open(model, args.spending.budget.as_deref(), &options.config)?;
    let report = synth_parser(cx, &options, session.model()).await?;
    cx.progress.phase("");
    if let (Some(path), Some(_)) = (&args.out, &report.parser) {
        report.write_parser(path)?;
    }
    args.format.show(&report, || text(&report))?;
    let refused = report.outcome == SynthParserOutcome::Refused;
    Ok(if refused { NO } else { DONE })
}

fn text(report: &SynthParserReport) -> String {
    let mut text = String::new();
    if let Some(known) = &report.known {
        let _ = writeln!(
            text,
            "the shipped parser `{known}` knows this log; nothing was asked"
        );
    }
    for attempt in &report.attempts {
        let form = match attempt.form {
            Form::Rules => "rules",
            Form::Script => "Python",
        };
        let what = if attempt.problems.is_empty() {
            "taken"
        } else {
            "does not do"
        };
        let _ = writeln!(text, "{form}, correction {}: {what}", attempt.correction);
        for problem in &attempt.problems {
            let first = problem.lines().next().unwrap_or_default();
            let _ = writeln!(text, "    {first}");
        }
    }
    for note in &report.notes {
        let _ = writeln!(text, "{note}");
    }
    match &report.certificate {
        Some(certificate) => text.push_str(&certificate_text(certificate)),
        None if report.known.is_none() => text.push_str("refused: no parser was made\n"),
        None => {}
    }
    text
}

fn certificate_text(certificate: &Certificate) -> String {
    let decision = match certificate.decision {
        Decision::Certified => "certified",
        Decision::Insufficient => "not certified",
        Decision::Refused => "refused",
    };
    let mut text = format!(
        "{decision}: `{}`, score {:.3}, {} logs\n",
        certificate.parser, certificate.score, certificate.logs
    );
    for reason in &certificate.reasons {
        let _ = writeln!(text, "    {reason}");
    }
    for (kind, summary) in &certificate.checks {
        let _ = writeln!(
            text,
            "  {:<16} {}/{}",
            kind.as_str(),
            summary.passed,
            summary.done
        );
        for failure in &summary.failures {
            let line = failure
                .line
                .map_or_else(String::new, |line| format!(":{line}"));
            let _ = writeln!(text, "      {}{line}: {}", failure.source, failure.text);
        }
    }
    text
}
