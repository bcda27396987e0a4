//! What logs prove.

use super::AttemptClass;
use crate::given::SubjectReader;
use crate::hints::HintReport;
use crate::validation::Trajectory;
use atlas_core::{Error, Evidence, Subject};
use regex::Regex;
use std::sync::LazyLock;

/// One failed attempt with what is known of it.
#[derive(Clone, Debug, Default)]
pub struct FailedAttempt {
    /// The problem statement.
    pub issue: String,
    /// What the attempt submitted.
    pub patch: String,
    /// What the agent did.
    pub trajectory: Option<Trajectory>,
    /// How its framework says that it ended: `submitted`, `exit_cost`, `exit_error`.
    pub exit_status: Option<String>,
    /// What its grading printed.
    pub log: Option<String>,
    /// The lines of it where a message of the run may be, by the reading of its parser; absent where nobody
    /// read it, and then any line may be one.
    pub messages: Option<Vec<Evidence>>,
    /// Names that the tests need and the statement does not tell.
    pub hints: Option<HintReport>,
}

impl FailedAttempt {
    /// Reads the row's `problem_statement`, the subject's patch, and the attachments `trajectory`,
    /// `exit_status`, `log` (texts), `messages` (lines of the log as [`Evidence`]) and `hints` (a
    /// [`HintReport`]), all optional.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind) where an attachment has another form, or there is neither a trajectory
    /// nor a log.
    pub fn of(subject: &Subject) -> Result<Self, Error> {
        let given = SubjectReader::new(subject, "look at a failed attempt at");
        let patch = subject.patch.as_ref();
        let found = Self {
            issue: given.column("problem_statement")?,
            patch: patch.map_or_else(String::new, |patch| {
                String::from_utf8_lossy(patch.as_bytes()).into_owned()
            }),
            trajectory: given.read("trajectory", Trajectory::read)?,
            exit_status: given.text("exit_status")?,
            log: given.text("log")?,
            messages: given.attached("messages")?,
            hints: given.attached("hints")?,
        };
        if found.trajectory.is_none() && found.log.is_none() {
            return Err(given.wrong("neither the attachment `trajectory` nor `log` is given"));
        }
        Ok(found)
    }
}

/// Machinery that fails wherever it is printed as a line of its own.
static MACHINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \bno\ space\ left\ on\ device\b | \bdisk\ quota\ exceeded\b | \bcannot\ allocate\ memory\b | \bout\ of\ memory:\ killed\ process\b
        | \bcannot\ connect\ to\ the\ docker\ daemon\b | \berror\ response\ from\ daemon\b | \bread-only\ file\ system\b
        | \btemporary\ failure\ in\ name\ resolution\b | \bcould\ not\ resolve\ host\b | \bname\ or\ service\ not\ known\b
        | \bcontainer\b.*\b(?:is\ not\ running|was\ killed|died)\b | \bOOMKilled\b | \btoo\ many\ open\ files\b | \bnetwork\ is\ unreachable\b
        | \b(?:429|503|529)\b.*\b(?:too\ many\ requests|rate\ limit|service\ unavailable|overloaded)
        ",
    )
    .expect("the pattern is tested")
});

/// The agent's own tools.
static TOOL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(?:tool|function|command)\ `?[\w.-]+`?\ (?:is\ not\ (?:supported|available|registered|known)|crashed|not\ found\ in\ (?:the\ )?tools?)\b
        | \bunknown\ tool\b | \bunsupported\ tool\b | \bno\ such\ tool\b | \btool\ (?:call\ )?(?:crashed|failed\ to\ start|timed\ out)\b
        | \bshell\ (?:has\ )?(?:died|crashed|exited\ unexpectedly)\b | \bbash\ process\ (?:has\ )?(?:died|exited|terminated)\b
        | \benvironment\ (?:has\ )?(?:died|crashed)\b | \bsession\ (?:is\ )?(?:dead|closed\ unexpectedly)\b
        ",
    )
    .expect("the pattern is tested")
});

/// How frameworks say that the loop broke, not the agent.
static BROKEN_EXIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:exit_)?(?:error|environment_error|crash(?:ed)?|exception|tool_error|api|api_error)\b")
        .expect("the pattern is tested")
});

/// Something is missing that no patch can bring.
static LACKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        \bNo\ module\ named\ ['"]?(?<a>[\w.]+) | \bCannot\ find\ (?:module|package)\ ['"](?<b>[^./'"][^'"]*)['"]
        | \bcannot\ load\ such\ file\ --\ (?<c>[^./\s][^\s]*) | \berror\ while\ loading\ shared\ libraries:\ (?<d>[\w.+-]+)
        | \bClass\ ["'\\]*(?<e>PHPUnit\\[\w\\]+)["']*\ not\ found
        | (?:^|:\ |\ line\ \d+:\ )(?<f>[\w.+-]+):\ (?:command\ )?not\ found\s*$
        | \bPackage\ ['"]?(?<g>[\w.+-]+)['"]?,\ required\ by\ .*\ not\ found | \bfatal\ error:\ (?<h>[\w./+-]+\.h(?:pp)?):\ No\ such\ file
        "#,
    )
    .expect("the pattern is tested")
});

/// The end of a trajectory, in steps, where what a tool says decides.
const LAST_STEPS: usize = 2;

/// What a rule says of an attempt, with its proof; none where no rule is sure.
///
/// Of the grading's log the lines count where a message of the run may be ([`FailedAttempt::messages`]): what
/// a test prints says nothing. Of a trajectory only the last two observations count: what an agent
/// overcame did not make it fail, and it may print any text that it reads. How sure a finding is:
/// [`rule_confidence`].
pub fn attempt_by_rule(attempt: &FailedAttempt) -> Option<(AttemptClass, Evidence)> {
    if let Some(proof) = in_log(attempt, |line| MACHINE.is_match(line)) {
        return Some((AttemptClass::Infrastructure, proof));
    }
    let status = attempt.exit_status.as_deref().unwrap_or_default();
    let has_broken = BROKEN_EXIT.is_match(status);
    if let Some(trajectory) = &attempt.trajectory {
        let first = trajectory.steps.len().saturating_sub(LAST_STEPS);
        for (at, step) in trajectory.steps.iter().enumerate().skip(first) {
            let source = format!("trajectory, step {}", at + 1);
            let find =
                |form: &Regex| in_text(&step.observation, &source, |line| form.is_match(line));
            // A text that the agent only shows proves nothing, unless the attempt ended by it.
            let is_shown = step.exit_code == Some(0) && !has_broken;
            if is_shown {
                continue;
            }
            if let Some(proof) = find(&TOOL) {
                return Some((AttemptClass::ToolCrash, proof));
            }
            if let Some(proof) = find(&MACHINE) {
                return Some((AttemptClass::Infrastructure, proof));
            }
        }
    }
    if has_broken {
        let proof = Evidence::of("exit_status", status);
        return Some((AttemptClass::ToolCrash, proof));
    }
    // Before the next rule: a name that the tests import may be a module of the project.
    if let Some(proof) = untold(attempt) {
        return Some((AttemptClass::Underspecified, proof));
    }
    let lacks = |line: &str| {
        let Some(found) = LACKS.captures(line) else {
            return false;
        };
        let name = ["a", "b", "c", "d", "e", "f", "g", "h"]
            .iter()
            .find_map(|group| found.name(group));
        let name = name.map_or("", |name| name.as_str());
        let root = name.split(['.', '/']).next().unwrap_or_default();
        // What the attempt itself asks for is its own fault.
        !root.is_empty() && !attempt.patch.contains(root)
    };
    in_log(attempt, lacks).map(|proof| (AttemptClass::UnsupportedDependency, proof))
}

/// A line of the log that misses a name which the statement does not tell.
fn untold(attempt: &FailedAttempt) -> Option<Evidence> {
    let needs = &attempt.hints.as_ref()?.needs;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    needs
        .iter()
        // An attempt that has the name failed for another reason.
        .filter(|need| {
            !attempt
                .patch
                .split(|c| !is_word(c))
                .any(|word| word == need.name)
        })
        .find_map(|need| {
            in_log(attempt, |line| {
                crate::hints::is_missing(line)
                    && line.split(|c| !is_word(c)).any(|word| word == need.name)
            })
        })
}

/// Findings of a class in labelled logs: right ones of all, where only messages count and where any line
/// does. The logs and their labels are `atlas-pipeline/tests/attempts`, and the test there holds these numbers.
const MEASURED: &[(AttemptClass, [u32; 2], [u32; 2])] = &[
    (AttemptClass::Infrastructure, [9, 9], [9, 19]),
    (AttemptClass::UnsupportedDependency, [6, 6], [6, 6]),
];

/// How likely the finding of a rule is right, by the labelled logs on which it was measured (rule of
/// succession: one more right and one more wrong than were seen); nothing where it was not measured, as with
/// trajectories and names that the statement does not tell.
pub fn rule_confidence(
    attempt: &FailedAttempt,
    class: AttemptClass,
    proof: &Evidence,
) -> Option<f64> {
    let (_, messages, lines) = MEASURED.iter().find(|(known, ..)| *known == class)?;
    let [right, all] = if attempt.messages.is_some() {
        messages
    } else {
        lines
    };
    (proof.source == LOG).then(|| f64::from(right + 1) / f64::from(all + 2))
}

const LOG: &str = "log";

fn in_log(attempt: &FailedAttempt, holds: impl Fn(&str) -> bool) -> Option<Evidence> {
    let Some(messages) = &attempt.messages else {
        return in_text(attempt.log.as_deref().unwrap_or_default(), LOG, holds);
    };
    let found = messages
        .iter()
        .find(|line| line.text.len() <= 4096 && holds(&line.text))?;
    Some(Evidence {
        source: LOG.to_owned(),
        line: found.line,
        text: found.text.trim().to_owned(),
    })
}

fn in_text(text: &str, source: &str, holds: impl Fn(&str) -> bool) -> Option<Evidence> {
    let mut lines = text.lines().enumerate();
    lines
        .find(|(_, line)| line.len() <= 4096 && holds(line))
        .map(|(at, line)| Evidence::at(source, at + 1, line.trim()))
}
