//! The numbered lists that end a run: failures, errors and pending specs.

/// What stands between a number and the next in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// `  Message:`, below a failure of the default reporter.
    Message,
    /// A line that is indented by two: a reason, or a message of the spec reporter.
    Indented,
    /// Anything.
    Anything,
}

/// A list that is being read: `1) full name`, and what follows it.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) names: Vec<String>,
    open: Vec<String>,
}

/// Most lines of one name.
const TALLEST: usize = 20;

impl List {
    /// Takes the next line of the list.
    pub(super) fn line(&mut self, line: &[u8], follows: Follows) {
        if !self.open.is_empty() {
            let whole = match follows {
                Follows::Message => line == b"  Message:",
                Follows::Indented => line.starts_with(b"  "),
                Follows::Anything => true,
            };
            if whole {
                self.names.push(self.open.join("\n"));
                self.open.clear();
            } else if self.open.len() < TALLEST && !line.is_empty() {
                // A name with line ends in it.
                self.open.push(String::from_utf8_lossy(line).into_owned());
            } else {
                self.open.clear();
            }
            if follows != Follows::Anything {
                return;
            }
        }
        let next = self.names.len() as u64 + 1;
        if let Some((number, name)) = numbered(line)
            && number == next
        {
            self.open.push(String::from_utf8_lossy(name).into_owned());
        }
    }
}

/// `12) name`
fn numbered(line: &[u8]) -> Option<(u64, &[u8])> {
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((number, rest.strip_prefix(b") ")?))
}
