//! `atlas source`.

use super::shared::ConfigArgs;
use super::{DONE, Format};
use crate::words::word;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_pipeline::source::{FilterConfig, FilterFunnel, FilterPreset, UnknownFacts};
use atlas_pipeline::{
    CloneSource, SourceConfig, SourceReport, filter_candidates, source_candidates,
};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// A clone whose history is read, without any API. Can be given several times. Sources on the command line go before those
    /// of the configuration.
    #[arg(long = "clone", value_name = "PATH")]
    clones: Vec<PathBuf>,
    /// The clone's repository [default: by its remote, else its folder].
    #[arg(long, value_name = "OWNER/NAME", requires = "clones")]
    repo: Option<String>,
    /// The branch whose history is read [default: HEAD].
    #[arg(long, value_name = "BRANCH", requires = "clones")]
    branch: Option<String>,
    /// Issues as JSON lines: Atlas's own form, or an export of GitHub's REST API.
    #[arg(long, value_name = "FILE", requires = "clones")]
    issues: Option<PathBuf>,
    /// A repository at GitHub, with a token in `GITHUB_TOKEN`. Can be given several times.
    #[arg(long, value_name = "OWNER/NAME")]
    github: Vec<String>,
    /// Ask GitHub without a token: sixty requests an hour.
    #[arg(long)]
    anonymous: bool,
    /// A project at GitLab, with a token in `GITLAB_TOKEN` where it needs one. Can be given several times.
    #[arg(long, value_name = "GROUP/PROJECT")]
    gitlab: Vec<String>,
    /// A folder with clones of what GitHub and GitLab are asked for, for what changes and how large repositories are.
    #[arg(long, value_name = "DIR")]
    clones_in: Option<PathBuf>,
    /// A file of archived events of GitHub, `.json` or `.json.gz`. Can be given several times.
    #[arg(long = "archive", value_name = "FILE")]
    archives: Vec<PathBuf>,
    /// Filter a file of pull requests that were sourced before; nobody is asked.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["clones", "github", "gitlab", "archives"])]
    sourced: Option<PathBuf>,
    /// The filters of a paper, in the place of the configuration's: stars, a test framework, lines of code, an issue and
    /// tests (paper 001); one issue, no screenshots, small changes of code (paper 002, appendix A).
    #[arg(long, value_parser = word::<FilterPreset>())]
    preset: Option<FilterPreset>,
    /// Drop pull requests of which a filter cannot tell [default: keep them].
    #[arg(long)]
    drop_unknown: bool,
    #[command(flatten)]
    config: ConfigArgs,
    /// The file with the candidates, one a line.
    #[arg(long, value_name = "FILE.jsonl")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn command(cx: &RunContext, args: SourceArgs) -> Result<u8, Error> {
    let mut settings = args.config.read()?.source;
    if let Some(preset) = args.preset {
        settings.filters = FilterConfig::preset(preset);
    }
    if args.drop_unknown {
        settings.filters.unknown = UnknownFacts::Drop;
    }
    if let Some(file) = &args.sourced {
        let funnel = filter_candidates(cx, file, &settings.filters, &args.out)?;
        cx.progress.phase("");
        args.format.show(&funnel, || funnel_text(&funnel))?;
        return Ok(DONE);
    }
    let (out, format) = (args.out.clone(), args.format);
    let settings = args.sources(settings)?;
    let hosts = settings.hosts().await?;
    let report = source_candidates(cx, &hosts, &settings.filters, &out).await?;
    cx.progress.phase("");
    format.show(&report, || text(&report))?;
    Ok(DONE)
}

impl SourceArgs {
    /// The settings with the sources of the command line, where it names any.
    fn sources(self, settings: SourceConfig) -> Result<SourceConfig, Error> {
        let named = [&self.github, &self.gitlab]
            .iter()
            .any(|names| !names.is_empty());
        let mut settings = if named || !self.clones.is_empty() || !self.archives.is_empty() {
            settings.without_sources()
        } else {
            settings
        };
        if self.clones.len() > 1 && (self.repo.is_some() || self.issues.is_some()) {
            let why =
                "--repo and --issues are of one clone; several are named in `[[source.clones]]`";
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read the arguments:",
                why,
            ));
        }
        settings
            .clones
            .extend(self.clones.into_iter().map(|path| CloneSource {
                path,
                repo: self.repo.clone(),
                branch: self.branch.clone(),
                issues: self.issues.clone(),
                keywords: None,
            }));
        settings.github.repos.extend(self.github);
        settings.github.anonymous |= self.anonymous;
        settings.gitlab.projects.extend(self.gitlab);
        settings.archive.files.extend(self.archives);
        if self.clones_in.is_some() {
            settings.github.clones.clone_from(&self.clones_in);
            settings.gitlab.clones = self.clones_in;
        }
        Ok(settings)
    }
}

fn text(report: &SourceReport) -> String {
    let mut text = String::new();
    for (name, host) in &report.hosts {
        let _ = write!(
            text,
            "{name}: {} pull requests on {} pages",
            host.told, host.pages
        );
        if host.requests > 0 {
            let _ = write!(text, " by {} requests", host.requests);
        }
        text.push('\n');
        if host.skipped > 0 {
            let _ = writeln!(text, "  {} could not be told of:", host.skipped);
            for skipped in &host.skipped_examples {
                let _ = writeln!(text, "    {}: {}", skipped.name, skipped.reason);
            }
        }
    }
    for (name, news) in &report.news {
        let _ = match &news.anew {
            Some(why) => writeln!(
                text,
                "{name}: read anew, as {why}: {} in the place of {}",
                news.added, news.gone
            ),
            None => writeln!(
                text,
                "{name}: since the last reading {} new, {} changed, {} gone",
                news.added, news.changed, news.gone
            ),
        };
    }
    text.push_str(&funnel_text(&report.funnel));
    let _ = writeln!(
        text,
        "candidates in {}, all that was told in {}",
        report.out.display(),
        report.sourced.display()
    );
    text
}

fn funnel_text(funnel: &FilterFunnel) -> String {
    let mut text = format!(
        "{} of {} pull requests are candidates\n",
        funnel.kept, funnel.sourced
    );
    if funnel.steps.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "{:<16} {:>9} {:>9} {:>9} {:>9}",
        "filter", "seen", "dropped", "unknown", "left"
    );
    for step in &funnel.steps {
        let left = step.seen - step.dropped;
        let name = step.filter.as_str();
        let _ = writeln!(
            text,
            "{name:<16} {:>9} {:>9} {:>9} {left:>9}",
            step.seen, step.dropped, step.unknown
        );
    }
    for step in funnel.steps.iter().filter(|step| step.dropped > 0) {
        let _ = writeln!(text, "dropped by {}:", step.filter.as_str());
        for (reason, count) in &step.reasons {
            let _ = writeln!(text, "  {count} {reason}");
        }
        for example in &step.examples {
            let _ = writeln!(text, "    as {} ({})", example.name, example.reason);
        }
    }
    text
}
