//! What a terminal shows in the end of lines that were written over.

use super::At;
use std::collections::VecDeque;

/// The most rows that the cursor may go back: more than terminals have.
const ROWS: usize = 400;
/// The most columns of a row that are kept.
const COLUMNS: usize = 64 << 10;

/// Rows that may still be written over.
///
/// Only rows that ended as a terminal ends them (`\r\n`) can be: of a log that was not written on one, no
/// program can take back what another printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Screen {
    rows: VecDeque<Row>,
    /// The cursor's row, and its column in characters.
    row: usize,
    column: usize,
    saved: (usize, usize),
}

#[derive(Clone, Debug, Default)]
struct Row {
    text: Vec<char>,
    /// The line that was last written here.
    at: At,
}

impl Screen {
    /// Takes a line without its `\n`; `ended` is whether it had one. Gives the rows that nothing can write over
    /// any more.
    pub(super) fn line(
        &mut self,
        line: &[u8],
        at: At,
        ended: bool,
        give: &mut impl FnMut(&str, At),
    ) {
        let is_terminals = line.ends_with(b"\r");
        let text = String::from_utf8_lossy(line);
        self.write(&text, at);
        if !ended {
            return;
        }
        while self.rows.len() > self.row + 1
            && self.rows.back().is_some_and(|row| row.text.is_empty())
        {
            self.rows.pop_back();
        }
        self.row += 1;
        self.column = 0;
        if is_terminals {
            while self.row >= ROWS {
                self.give_first(give);
            }
        } else {
            while !self.rows.is_empty() {
                self.give_first(give);
            }
        }
    }

    fn give_first(&mut self, give: &mut impl FnMut(&str, At)) {
        if let Some(row) = self.rows.pop_front() {
            let text: String = row.text.iter().collect();
            give(&text, row.at);
        }
        self.row = self.row.saturating_sub(1);
        self.saved.0 = self.saved.0.saturating_sub(1);
    }

    /// Gives what is left; the last row only if there is something in it.
    pub(super) fn finish(&mut self, give: &mut impl FnMut(&str, At)) {
        while self.rows.back().is_some_and(|row| row.text.is_empty()) {
            self.rows.pop_back();
        }
        self.row = self.rows.len();
        while !self.rows.is_empty() {
            self.give_first(give);
        }
    }

    fn write(&mut self, text: &str, at: At) {
        let mut rest = text.chars();
        self.row_here(at);
        while let Some(char) = rest.next() {
            match char {
                '\u{1b}' => {
                    let (keys, after) = escape(rest.as_str());
                    rest = after.chars();
                    if let Some((key, count)) = keys {
                        self.key(key, count, at);
                    }
                }
                '\r' => self.column = 0,
                '\u{8}' => self.column = self.column.saturating_sub(1),
                '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}' => {}
                char => self.put(char, at),
            }
        }
    }

    /// The row of the cursor.
    fn row_here(&mut self, at: At) -> &mut Row {
        while self.rows.len() <= self.row {
            self.rows.push_back(Row {
                at,
                ..Row::default()
            });
        }
        &mut self.rows[self.row]
    }

    fn put(&mut self, char: char, at: At) {
        let column = self.column;
        let row = self.row_here(at);
        if column >= COLUMNS {
            return;
        }
        row.at = at;
        while row.text.len() <= column {
            row.text.push(' ');
        }
        row.text[column] = char;
        self.column += 1;
    }

    /// A control sequence: its last character and its first number.
    fn key(&mut self, key: char, count: Option<usize>, at: At) {
        let some = count.unwrap_or(1).clamp(1, COLUMNS);
        let column = self.column;
        match key {
            'A' => self.row = self.row.saturating_sub(some),
            'M' => self.row = self.row.saturating_sub(1),
            'F' => (self.row, self.column) = (self.row.saturating_sub(some), 0),
            'B' => self.row = (self.row + some).min(ROWS),
            'E' => (self.row, self.column) = ((self.row + some).min(ROWS), 0),
            'C' => self.column = (column + some).min(COLUMNS),
            'D' => self.column = column.saturating_sub(some),
            'G' => self.column = (some - 1).min(COLUMNS),
            'K' => {
                let row = self.row_here(at);
                match count.unwrap_or(0) {
                    0 => row.text.truncate(column),
                    2 => row.text.clear(),
                    _ => {
                        for char in row.text.iter_mut().take(column + 1) {
                            *char = ' ';
                        }
                    }
                }
            }
            'J' if count.unwrap_or(0) == 0 => {
                self.row_here(at).text.truncate(column);
                self.rows.truncate(self.row + 1);
            }
            // A screen that is cleared, or written from its top: what was there has been seen.
            'J' | 'H' | 'f' => {
                let bottom = self.rows.len();
                if self.rows.back().is_some_and(|row| !row.text.is_empty()) {
                    (self.row, self.column) = (bottom.min(ROWS), 0);
                }
            }
            's' => self.saved = (self.row, column),
            'u' => (self.row, self.column) = self.saved,
            _ => {}
        }
    }
}

/// Reads what stands behind an escape character: what it asks for, if that moves or clears, and the rest.
fn escape(text: &str) -> (Option<(char, Option<usize>)>, &str) {
    let mut chars = text.chars();
    match chars.next() {
        Some('[') => {
            let body = chars.as_str();
            let Some(end) = body.find(|c: char| !matches!(c, ' '..='?')) else {
                return (None, "");
            };
            let (numbers, last) = body.split_at(end);
            let mut last = last.chars();
            let first = numbers.split(';').next().unwrap_or_default();
            let key = last.next().map(|key| (key, first.parse().ok()));
            // A private sequence (`?25l`) moves nothing.
            let key = key.filter(|_| !numbers.starts_with(['?', '<', '=', '>']));
            (key, last.as_str())
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let body = chars.as_str();
            let end = body.find(['\u{7}', '\u{1b}']);
            match end.map(|end| body.split_at(end).1) {
                Some(rest) => match rest.strip_prefix("\u{1b}\\") {
                    Some(rest) => (None, rest),
                    None => (None, rest.strip_prefix('\u{7}').unwrap_or(body)),
                },
                None => (None, body),
            }
        }
        Some('(' | ')' | '#') => {
            chars.next();
            (None, chars.as_str())
        }
        Some('7') => (Some(('s', None)), chars.as_str()),
        Some('8') => (Some(('u', None)), chars.as_str()),
        Some('M') => (Some(('M', None)), chars.as_str()),
        Some(' '..='~') => (None, chars.as_str()),
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::Screen;
    use crate::front::At;

    fn shown(log: &str) -> Vec<(u64, String)> {
        let mut screen = Screen::default();
        let mut rows = Vec::new();
        let mut give = |text: &str, at: At| rows.push((at.line, text.to_owned()));
        let lines: Vec<&str> = log.split('\n').collect();
        let last = lines.len() - 1;
        for (number, line) in lines.iter().enumerate() {
            let at = At {
                line: number as u64 + 1,
                ..At::default()
            };
            if number < last || !line.is_empty() {
                screen.line(line.as_bytes(), at, number < last, &mut give);
            }
        }
        screen.finish(&mut give);
        rows
    }

    #[test]
    fn rows_are_as_they_were_left() {
        for (log, rows) in [
            (
                "a\r\nb\r\n\x1b[2A\x1b[2Kc\r\n\x1b[Kd\r\n",
                vec![(3, "c"), (4, "d")],
            ),
            (
                "RUNS a\r\n\x1b[1A\x1b[2KPASS a\r\nend\r\n",
                vec![(2, "PASS a"), (3, "end")],
            ),
            ("a\r\nb\r\nc\r\n\x1b[3A\x1b[Jd\r\n", vec![(4, "d")]),
            ("a\x1b7b\r\n\x1b8c\r\nd\r\n", vec![(2, "ac"), (3, "d")]),
            ("10%\r20%\r\x1b[Kok\r\n", vec![(1, "ok")]),
            ("a b\x1b[3Dx\x1b]0;t\x07y\r\n", vec![(1, "xyb")]),
            ("\x1b]never closed\r\n", vec![(1, "never closed")]),
            ("a\x1b[1Gb\x1b[2Cc\r\n", vec![(1, "b  c")]),
            // Far above the top; nothing at all.
            ("a\r\n\x1b[99Ab\r\n", vec![(2, "b")]),
            ("\x1b[1A\x1b[2K\r\n", vec![]),
        ] {
            let shown = shown(log);
            let shown: Vec<(u64, &str)> = shown.iter().map(|(at, row)| (*at, &**row)).collect();
            assert_eq!(shown, rows, "{log:?}");
        }
    }

    #[test]
    fn what_was_not_written_on_a_terminal_is_not_taken_back() {
        let shown = shown("FAILED a\nx\r\n\x1b[9A\x1b[2Kok a\r\n\x1b[9Aok b\n");
        let shown: Vec<&str> = shown.iter().map(|(_, row)| &**row).collect();
        assert_eq!(shown, ["FAILED a", "ok b"]);
    }
}
