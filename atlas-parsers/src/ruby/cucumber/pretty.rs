//! The pretty formatter: features and scenarios as they are written, with what went wrong.

use atlas_core::TestStatus;

/// A scenario, or one row of an outline's examples.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) feature: String,
    pub(super) name: String,
    /// `features/a.feature` and the line, where the source is printed.
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) outline: bool,
    /// The steps' own words: an error, or one that is pending or undefined.
    pub(super) said: Option<TestStatus>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pretty {
    pub(super) scenarios: Vec<Scenario>,
    feature: Option<String>,
    /// The outline whose examples follow.
    outline: Option<(String, String, u64)>,
    /// The head of an examples table has been read; its rows are scenarios.
    table: Table,
    /// What the background's steps said, for the scenario that it is printed for.
    background: Option<TestStatus>,
    in_background: bool,
    /// The step's word was that it is pending or undefined.
    excused: bool,
    /// The line before was a scenario's.
    headed: bool,
    /// Inside a doc string.
    quoted: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Table {
    #[default]
    None,
    Head,
    Rows,
}

impl Pretty {
    pub(super) fn line(&mut self, line: &[u8]) {
        let blanks = line.iter().take_while(|b| **b == b' ').count();
        let text = &line[blanks..];
        if text.starts_with(b"\"\"\"") && blanks >= 6 {
            self.quoted = !self.quoted;
            return;
        }
        let headed = std::mem::take(&mut self.headed);
        if text.is_empty() {
            return;
        }
        if blanks == 0 {
            if let Some(name) = keyword(text, FEATURE) {
                self.feature = Some(name.to_owned());
                self.outline = None;
                self.table = Table::None;
                self.background = None;
                self.in_background = false;
                self.quoted = false;
            }
            return;
        }
        if self.feature.is_none() || self.quoted && blanks > 2 {
            return;
        }
        self.quoted = false;
        match blanks {
            2 => self.heading(text, headed),
            4 if keyword(text, EXAMPLES).is_some() => self.table = Table::Head,
            // Rows in the expanded form.
            6 if self.table != Table::None
                && keyword(text, SCENARIO).is_some_and(|name| name.starts_with('|')) =>
            {
                self.table = Table::Rows;
                self.row();
            }
            6.. if text[0] == b'|' && self.table != Table::None => self.row(),
            6 | 8 if self.table == Table::Rows || self.table == Table::None => self.word(text),
            4 => self.step(text),
            _ => {}
        }
    }

    fn heading(&mut self, text: &[u8], headed: bool) {
        if let Some(rest) = keyword(text, OUTLINE) {
            let (name, file, line) = located(rest);
            self.outline = Some((name, file, line));
            self.table = Table::None;
            self.in_background = false;
        } else if let Some(rest) = keyword(text, SCENARIO) {
            let (name, file, line) = located(rest);
            self.outline = None;
            self.table = Table::None;
            self.in_background = false;
            if headed {
                // No scenario follows another one without a blank line: a test has printed it.
                self.scenarios.pop();
            }
            self.headed = true;
            let said = self.background.take();
            self.push(name, file, line, false, said);
        } else if keyword(text, BACKGROUND).is_some() {
            self.in_background = true;
            self.background = None;
        }
    }

    fn row(&mut self) {
        self.excused = false;
        if self.table == Table::Head {
            self.table = Table::Rows;
            return;
        }
        if let Some((name, file, line)) = self.outline.clone() {
            let said = self.background.take();
            self.push(name, file, line, true, said);
        }
    }

    fn push(
        &mut self,
        name: String,
        file: String,
        line: u64,
        outline: bool,
        said: Option<TestStatus>,
    ) {
        let Some(feature) = self.feature.clone() else {
            return;
        };
        self.scenarios.push(Scenario {
            feature,
            name,
            file,
            line,
            outline,
            said,
        });
    }

    /// `When nobody defined this # features/a.feature:14`: no definition, and so its own place.
    fn step(&mut self, text: &[u8]) {
        self.excused = false;
        if self.outline.is_some() && self.table == Table::None {
            return;
        }
        let Some(at) = memchr::memmem::rfind(text, b" # ") else {
            return;
        };
        let place = &text[at + 3..];
        let undefined = memchr::memmem::find(place, b".feature:").is_some()
            && place.last().is_some_and(u8::is_ascii_digit);
        if undefined {
            self.say(TestStatus::Skipped);
        }
    }

    /// Lines below a step that did not pass: `failed on purpose (RuntimeError)`, and where.
    fn word(&mut self, text: &[u8]) {
        let place = memchr::memmem::find(text, b".feature:");
        if place.is_some_and(|at| memchr::memmem::find(&text[at..], b":in `").is_some()) {
            // Pending steps have a place too, behind a word of their own.
            if !self.excused {
                self.say(TestStatus::Failed);
            }
            return;
        }
        let Some(rest) = text.strip_suffix(b")") else {
            return;
        };
        let Some(at) = memchr::memrchr(b'(', rest) else {
            return;
        };
        let class = &rest[at + 1..];
        let named = class.first().is_some_and(u8::is_ascii_uppercase)
            && class
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_'));
        if !named {
            return;
        }
        self.excused = matches!(
            class,
            b"Cucumber::Pending"
                | b"Cucumber::Undefined"
                | b"Cucumber::Core::Test::Result::Pending"
                | b"Cucumber::Core::Test::Result::Undefined"
                | b"Cucumber::Core::Test::Result::Skipped"
        );
        self.say(if self.excused {
            TestStatus::Skipped
        } else {
            TestStatus::Failed
        });
    }

    fn say(&mut self, status: TestStatus) {
        let said = if self.in_background {
            &mut self.background
        } else if let Some(last) = self.scenarios.last_mut() {
            &mut last.said
        } else {
            return;
        };
        *said = Some(said.map_or(status, |known| known.worst(status)));
    }
}

const FEATURE: &[&str] = &["Feature", "Business Need", "Ability"];
const SCENARIO: &[&str] = &["Scenario", "Example"];
const OUTLINE: &[&str] = &["Scenario Outline", "Scenario Template"];
const BACKGROUND: &[&str] = &["Background"];
const EXAMPLES: &[&str] = &["Examples", "Scenarios"];

/// What stands behind `Scenario: `.
fn keyword<'a>(text: &'a [u8], words: &[&str]) -> Option<&'a str> {
    words.iter().find_map(|word| {
        let rest = text.strip_prefix(word.as_bytes())?.strip_prefix(b":")?;
        Some(std::str::from_utf8(rest).ok()?.trim_start())
    })
}

/// Takes `adds two # features/a.feature:5` apart.
fn located(text: &str) -> (String, String, u64) {
    // A scenario need not have a name.
    let nameless = text.strip_prefix("# ").map(|place| ("", place));
    if let Some((name, place)) = text.rsplit_once(" # ").or(nameless)
        && let Some((file, line)) = place.trim_end().rsplit_once(':')
        && let Ok(line) = line.parse()
    {
        return (name.trim_end().to_owned(), file.to_owned(), line);
    }
    (text.trim_end().to_owned(), String::new(), 0)
}
