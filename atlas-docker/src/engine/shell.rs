//! The host's end of a session's shell.

use atlas_core::{Error, ErrorKind, ExitState, RunContext, Step, StepResult};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use std::fmt;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// The script at the other end.
pub(super) const SCRIPT: &str = include_str!("session.sh");

/// How a line begins that says how a step ended.
const MARK: &str = "\u{1}atlas: step ";

/// How long an answer is waited for once a step's own time is over.
const GRACE: Duration = Duration::from_secs(20);

/// A shell that is kept: steps go in, one at a time, and what they did comes out.
///
/// The shell writes a step's output to a file and sends it, with its length, when the step has ended: what processes in
/// the background print later cannot mix with the next answer. The shell runs as the same user as the steps. A step may
/// therefore kill it, which ends the session, or print a false answer, which deceives only the agent that runs the step.
pub(super) struct Shell {
    input: Pin<Box<dyn AsyncWrite + Send>>,
    output: BoxStream<'static, Result<Vec<u8>, Error>>,
    /// What came and was not read yet.
    pending: Vec<u8>,
    /// What is said when the script at the other end is done, though nothing is closed.
    end: Option<Vec<u8>>,
    number: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// A step was begun and not waited for.
    Busy,
    Over,
}

/// How a step ended.
#[derive(Debug)]
pub(super) enum Answer {
    Done(StepResult),
    /// The shell is gone, or does not answer.
    Over(Silence),
}

/// What is known of a step whose shell did not answer.
#[derive(Debug)]
pub(super) struct Silence {
    /// What the shell printed that was no answer.
    pub(super) said: Vec<u8>,
    seconds: f64,
}

impl Silence {
    /// The step's result, once the engine knows what became of the shell.
    pub(super) fn result(self, exit: ExitState) -> StepResult {
        StepResult {
            exit,
            output_total: self.said.len() as u64,
            output: self.said,
            seconds: self.seconds,
            is_over: true,
        }
    }
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shell({}, {:?})", self.number, self.state)
    }
}

impl Shell {
    pub(super) fn new(
        input: Pin<Box<dyn AsyncWrite + Send>>,
        output: BoxStream<'static, Result<Vec<u8>, Error>>,
    ) -> Self {
        Self {
            input,
            output,
            pending: Vec::new(),
            end: None,
            number: 0,
            state: State::Ready,
        }
    }

    /// Takes these words for the end of the script.
    pub(super) fn until(mut self, end: String) -> Self {
        self.end = Some(end.into_bytes());
        self
    }

    /// Runs one step, of at most so many seconds as `left` has.
    pub(super) async fn step(
        &mut self,
        cx: &RunContext,
        step: &Step,
        left: Duration,
    ) -> Result<Answer, Error> {
        cx.check("run a step")?;
        match self.state {
            State::Ready => {}
            State::Busy => {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "run a step of a session",
                    "whose last step was given up: it can only be read and closed",
                ));
            }
            State::Over => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    "run a step of a session",
                    "that is over",
                ));
            }
        }
        self.state = State::Busy;
        self.number += 1;
        let begun = Instant::now();
        let limit = step.seconds.min(left.as_secs()).max(1);
        let line = format!(
            "{} {} {} {}\n",
            self.number,
            limit,
            step.output_bytes,
            STANDARD.encode(&step.command)
        );
        let within = Duration::from_secs(limit) + GRACE;
        let answered = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                return Err(Error::new(ErrorKind::Cancelled, "run a step", ""));
            }
            answered = tokio::time::timeout(within, self.ask(&line, step.output_bytes)) => answered,
        };
        let seconds = begun.elapsed().as_secs_f64();
        let answer = match answered {
            Ok(Ok(Some(found))) => found,
            Ok(Ok(None)) | Err(_) => {
                self.state = State::Over;
                let said = std::mem::take(&mut self.pending);
                return Ok(Answer::Over(Silence { said, seconds }));
            }
            Ok(Err(why)) => return Err(why),
        };
        self.state = State::Ready;
        // The program that ends a step at its limit dies with it, as of the same signal.
        let is_late = answer.code == 137 && begun.elapsed() >= Duration::from_secs(limit);
        Ok(Answer::Done(StepResult {
            exit: if is_late {
                ExitState::TimedOut
            } else {
                ExitState::Exited { code: answer.code }
            },
            output: answer.output,
            output_total: answer.total,
            seconds,
            is_over: false,
        }))
    }

    /// Sends a line and reads its answer; nothing where the other end is gone.
    async fn ask(&mut self, line: &str, most: u64) -> Result<Option<Told>, Error> {
        let sent = async {
            self.input.write_all(line.as_bytes()).await?;
            self.input.flush().await
        };
        if sent.await.is_err() {
            // What the shell said before it went may still be on its way.
            while let Some(Ok(piece)) = self.output.next().await {
                self.keep(&piece);
            }
            return Ok(None);
        }
        let mark = format!("{MARK}{} ", self.number);
        loop {
            if let Some(told) = find(&self.pending, mark.as_bytes(), most) {
                let (told, end) = told;
                self.pending.drain(..end);
                return Ok(Some(told));
            }
            let end = self.end.as_deref();
            if end.is_some_and(|end| memchr::memmem::find(&self.pending, end).is_some()) {
                return Ok(None);
            }
            match self.output.next().await {
                Some(piece) => self.keep(&piece?),
                None => return Ok(None),
            }
        }
    }

    /// Adds what came, within bounds: no answer is longer than what was asked for.
    fn keep(&mut self, piece: &[u8]) {
        const MOST: usize = 1 << 30;
        if self.pending.len() + piece.len() <= MOST {
            self.pending.extend_from_slice(piece);
        }
    }
}

/// What an answer tells.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    code: i64,
    total: u64,
    output: Vec<u8>,
}

/// The answer in `bytes` that begins with `mark`, once it is whole, and where it ends.
fn find(bytes: &[u8], mark: &[u8], most: u64) -> Option<(Told, usize)> {
    let begin = memchr::memmem::find(bytes, mark)? + mark.len();
    let line = bytes[begin..].iter().position(|byte| *byte == b'\n')?;
    let text = String::from_utf8_lossy(&bytes[begin..begin + line]);
    let mut numbers = text.split(' ').map(|word| word.parse::<i64>().ok());
    let mut next = || numbers.next().flatten();
    let (code, total, kept) = (next()?, next()?, next()?);
    let kept = usize::try_from(u64::try_from(kept).ok()?.min(most)).ok()?;
    let from = begin + line + 1;
    let output = bytes.get(from..from + kept)?.to_vec();
    let total = u64::try_from(total).ok()?;
    Some((
        Told {
            code,
            total,
            output,
        },
        from + kept,
    ))
}

#[cfg(test)]
mod tests {
    use super::{Told, find};

    #[test]
    fn an_answer_is_read_once_it_is_whole_whatever_stands_before_it() {
        let mark = b"\x01atlas: step 2 ";
        let whole = b"noise\n\x01atlas: step 1 0 0 0\n\x01atlas: step 2 7 9 3\nabcrest";
        for end in 0..whole.len() - 4 {
            assert_eq!(find(&whole[..end], mark, 100), None, "{end}");
        }
        let told = Told {
            code: 7,
            total: 9,
            output: b"abc".to_vec(),
        };
        assert_eq!(find(whole, mark, 100), Some((told, whole.len() - 4)));
    }

    #[test]
    fn a_lie_about_lengths_is_bounded_by_what_was_asked_for() {
        let text = b"\x01atlas: step 1 0 5 99999999999\nabc";
        let (told, _) = find(text, b"\x01atlas: step 1 ", 3).unwrap();
        assert_eq!(told.output, b"abc");
    }
}
