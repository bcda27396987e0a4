//! The list of failures that ends a run.

use super::line;

/// Most lines of one title that are looked at.
const DEEPEST: usize = 200;

/// The list as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures {
    /// How many the runner announced.
    pub(super) declared: u64,
    /// The path of each, in order. Before Mocha 4 a path has one part, the whole title.
    pub(super) paths: Vec<Vec<String>>,
    open: Option<Vec<String>>,
    /// The last line was empty.
    blank: bool,
}

impl Failures {
    pub(super) fn new(declared: u64) -> Self {
        Self {
            declared,
            blank: true,
            ..Self::default()
        }
    }

    /// Whether each announced failure has begun.
    pub(super) fn all_begun(&self) -> bool {
        self.paths.len() as u64 + u64::from(self.open.is_some()) >= self.declared
    }

    /// Whether no announced failure has begun.
    pub(super) fn none_begun(&self) -> bool {
        self.paths.is_empty() && self.open.is_none()
    }

    /// The number of the next failure.
    pub(super) fn next(&self) -> u64 {
        self.paths.len() as u64 + u64::from(self.open.is_some()) + 1
    }

    /// The next line stands behind an empty one.
    pub(super) fn after_blank(&mut self) {
        self.close();
        self.blank = true;
    }

    /// Takes the next line; returns whether it is a part of a title.
    pub(super) fn line(&mut self, line: &[u8]) -> bool {
        if let Some(open) = &mut self.open {
            // Each further title is two blanks deeper; five stand before the message.
            let at = 5 + 2 * open.len();
            let next = line::indent(line) == at && line.len() > at;
            if next && open.len() < DEEPEST {
                open.push(String::from_utf8_lossy(&line[at..]).into_owned());
                self.blank = false;
                return true;
            }
            self.close();
        }
        let expected = self.paths.len() as u64 + 1;
        let blank = std::mem::replace(&mut self.blank, line.is_empty());
        if blank
            && expected <= self.declared
            && let Some((number, rest)) = line.strip_prefix(b"  ").and_then(line::number)
            && number == expected
            && let Some(title) = rest.strip_prefix(b") ")
        {
            self.open = Some(vec![String::from_utf8_lossy(title).into_owned()]);
            return true;
        }
        false
    }

    /// Ends a title: its last line is the last one that ends with a colon, what follows is the
    /// message.
    fn close(&mut self) {
        let Some(mut path) = self.open.take() else {
            return;
        };
        if let Some(last) = path.iter().rposition(|part| part.ends_with(':')) {
            path.truncate(last + 1);
            path[last].pop();
        }
        self.paths.push(path);
    }

    pub(super) fn finish(&mut self) {
        // A log that stops inside a title says nothing of its failure.
        let whole = |path: &Vec<String>| path.last().is_some_and(|part| part.ends_with(':'));
        if self.open.as_ref().is_some_and(whole) {
            self.close();
        }
        self.open = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(declared: u64, text: &str) -> Vec<String> {
        let mut failures = Failures::new(declared);
        for line in text.lines() {
            failures.line(line.as_bytes());
        }
        failures.finish();
        failures.paths.iter().map(|path| path.join(" > ")).collect()
    }

    #[test]
    fn a_title_ends_with_its_last_colon() {
        let text = "\n  1) A: b:\n       c:\n         d:\n     Error: x\n\n  2) top:\n     Error\n";
        assert_eq!(read(2, text), ["A: b: > c: > d", "top"]);
        assert_eq!(read(1, text), ["A: b: > c: > d"]);
        assert_eq!(
            read(1, "\n  1) A whole title:\n     Error: x\n"),
            ["A whole title"]
        );
        assert_eq!(read(1, "\n  1) A\n       cut of"), Vec::<String>::new());
    }

    #[test]
    fn numbers_follow_each_other_behind_empty_lines() {
        let text =
            "\n  1) A:\n     Error: x\n  2) fake:\n     y\n\n  3) fake:\n\n  2) B:\n     z\n";
        assert_eq!(read(2, text), ["A", "B"]);
    }
}
