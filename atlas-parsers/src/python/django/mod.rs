//! Django's test runner: `manage.py test`, and `runtests.py` of Django itself.
//!
//! Results are printed by Python's unittest and read by its reader; ids are the same. Around them
//! stand databases and migrations, and with `--parallel` the workers write to the console while
//! the parent tells their results.
//!
//! What keeps the whole run from starting, a failed system check or settings that cannot be
//! imported, is told by a traceback and no run.

use super::unittest::State as Run;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{Evidence, LineState, LogWarning, ParsedLog, RunOutcome};
use memchr::memmem;

/// The parser.
pub(crate) static DJANGO: Shipped = Shipped::new(
    "django",
    &About {
        languages: &["python"],
        aliases: &["python_django", "django_test"],
        commands: &[
            &["manage.py", "test"],
            &["runtests.py"],
            &["django-admin", "test"],
        ],
        contains: &["unittest"],
        ..About::new(
            "verbose and plain output of every version, `--parallel`, `--reverse`, \
             `--buffer` and `--timing` included",
            "passing and skipped tests without -v 2; with `--parallel`, which of two lines is \
             a worker's where a test prints a whole result of its own",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["CDSTF", "*"], "", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'C' if line.starts_with(b"Creating test database for alias '")
            || line.starts_with(b"Cloning test database for alias '") =>
        {
            Place::Start.certain("Django's test database")
        }
        b'D' if line.starts_with(b"Destroying test database for alias '")
            || line.starts_with(b"Destroying old test database for alias '") =>
        {
            Place::End.certain("Django's test database")
        }
        b'S' if line.starts_with(b"System check identified ") => {
            Place::Start.certain("Django's system check")
        }
        b'T' if line.starts_with(b"Testing against Django installed in ") => {
            Place::Start.certain("Django's own `runtests.py`")
        }
        b'F' if found(line) => Place::Start.hint("a `Found N test(s).` line"),
        _ => None,
    }
}

#[derive(Clone, Default)]
struct State {
    run: Run,
    line: usize,
    /// A traceback stands at the start of the lines.
    traceback: bool,
    /// The error that ended it.
    failure: Option<Evidence>,
    /// Tests were found.
    found: bool,
}

/// `Found 3 test(s).`
fn found(line: &[u8]) -> bool {
    let number = line
        .strip_prefix(b"Found ")
        .and_then(|rest| rest.strip_suffix(b" test(s)."));
    number.is_some_and(|number| {
        number.iter().all(u8::is_ascii_digit) && number.iter().any(|byte| *byte != b'0')
    })
}

/// Errors that keep Django from starting: `django.core.exceptions.ImproperlyConfigured: …`.
fn is_fatal(line: &[u8]) -> bool {
    line.starts_with(b"django.")
        || line.starts_with(b"SystemCheckError: ")
        || line.starts_with(b"CommandError: ")
        || line.starts_with(b"ImportError: ")
        || line.starts_with(b"ModuleNotFoundError: ")
        || memmem::find(line, b"Error: ")
            .is_some_and(|at| memmem::find(&line[..at], b" ").is_none())
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        self.run.line(line);
        let line = clean(line);
        match line.first() {
            None | Some(b' ') => {}
            Some(b'T') if line.starts_with(b"Traceback (most recent call last)") => {
                self.traceback = true;
            }
            Some(_) if self.traceback => {
                self.traceback = false;
                self.failure = is_fatal(&line).then(|| {
                    let text = String::from_utf8_lossy(&line).into_owned();
                    Evidence::at("log", self.line, text)
                });
            }
            Some(b'C' | b'S')
                if line.starts_with(b"CommandError: ")
                    || line.starts_with(b"SystemCheckError: ") =>
            {
                let text = String::from_utf8_lossy(&line).into_owned();
                self.failure = Some(Evidence::at("log", self.line, text));
            }
            Some(b'F') => self.found |= found(&line),
            Some(_) => {}
        }
    }

    fn finish(self) -> ParsedLog {
        let ended = self.run.ended();
        let mut log = self.run.finish();
        if log.outcome == RunOutcome::NothingRan && !ended {
            if let Some(failure) = self.failure {
                log.outcome = RunOutcome::BuildFailed;
                log.warnings.push(LogWarning {
                    line: failure.line.map(|line| line as u64),
                    text: failure.text,
                });
            } else if self.found {
                log.outcome = RunOutcome::Truncated;
            }
        }
        log
    }
}
