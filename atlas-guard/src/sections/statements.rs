//! Files that are lists of statements under headers: TOML, INI, `go.mod`, properties.

use super::Spliced;
use crate::text::normal;

/// One statement with all its lines, line end included.
#[derive(Clone, Debug)]
pub(super) struct Statement<'a> {
    /// Where it stands and what it sets: table and key. Empty for blank lines and comments between
    /// statements.
    pub(super) path: Vec<String>,
    /// Whether it opens a table.
    pub(super) header: bool,
    /// Where it begins in the text.
    pub(super) start: usize,
    /// The bytes.
    pub(super) text: &'a str,
}

impl Statement<'_> {
    pub(super) fn is_filler(&self) -> bool {
        self.path.is_empty()
    }
}

/// Cuts a text into statements; all of them together are the text. Nothing where it cannot be read.
pub(super) type Scan = fn(&str) -> Option<Vec<Statement<'_>>>;

/// Takes the steering statements out of `now` and puts those of `wanted` in.
pub(super) fn splice(
    scan: Scan,
    now: &str,
    wanted: &str,
    is_steering: &dyn Fn(&[String]) -> bool,
) -> Spliced {
    let Some(wanted) = scan(wanted) else {
        return Spliced::Foreign;
    };
    let Some(now) = scan(now) else {
        return Spliced::Broken("it cannot be read");
    };
    let (old, new) = (steering(&wanted, is_steering), steering(&now, is_steering));
    if meaning(&old) == meaning(&new) {
        return Spliced::Same;
    }
    let mut names: Vec<String> = Vec::new();
    for statement in old.iter().chain(&new) {
        let name = statement.path.join(".");
        let same = |list: &[&Statement<'_>]| -> Vec<String> {
            list.iter()
                .filter(|other| other.path == statement.path)
                .map(|other| normal(other.text))
                .collect()
        };
        if same(&old) != same(&new) && !names.contains(&name) {
            names.push(name);
        }
    }
    Spliced::New(joined(&now, &wanted, is_steering), names)
}

fn steering<'a, 'b>(
    all: &'b [Statement<'a>],
    is_steering: &dyn Fn(&[String]) -> bool,
) -> Vec<&'b Statement<'a>> {
    all.iter()
        .filter(|statement| is_steering(&statement.path))
        .collect()
}

fn meaning(list: &[&Statement<'_>]) -> Vec<(Vec<String>, String)> {
    let mut pairs: Vec<(Vec<String>, String)> = list
        .iter()
        .map(|statement| {
            let lines = statement.text.lines().map(str::trim);
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
            let text = lines.collect::<Vec<_>>().join("\n");
            (statement.path.clone(), text)
        })
        .collect();
    // Stable: repeated headers keep their order, which has a meaning in arrays of tables.
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs
}

/// A run of statements that moves as one: a header with what it opens, or one statement.
struct Unit {
    path: Vec<String>,
    /// The path of the statement before it in its file.
    after: Option<Vec<String>>,
    header: Option<Vec<String>>,
    text: String,
    /// Blank lines and comments behind it.
    tail: String,
    opens: bool,
}

/// The steering statements of a text, in units.
fn units(wanted: &[Statement<'_>], is_steering: &dyn Fn(&[String]) -> bool) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut header: Option<Vec<String>> = None;
    let mut previous: Option<Vec<String>> = None;
    let mut in_unit = false;
    for statement in wanted {
        let open = units.last_mut().filter(|_| in_unit);
        if statement.is_filler() {
            if let Some(unit) = open {
                unit.tail.push_str(statement.text);
            }
            continue;
        }
        let steers = is_steering(&statement.path);
        if statement.header {
            header = Some(statement.path.clone());
        }
        match open {
            Some(unit) if steers && !statement.header => {
                let tail = std::mem::take(&mut unit.tail);
                unit.text.push_str(&tail);
                unit.text.push_str(statement.text);
            }
            _ if steers => {
                units.push(Unit {
                    path: statement.path.clone(),
                    after: previous.clone(),
                    header: header.clone(),
                    text: statement.text.to_owned(),
                    tail: String::new(),
                    opens: statement.header,
                });
                in_unit = statement.header;
            }
            _ => in_unit = false,
        }
        previous = Some(statement.path.clone());
    }
    units
}

/// A piece of the text that comes out.
struct Piece {
    path: Vec<String>,
    text: String,
}

fn joined(
    now: &[Statement<'_>],
    wanted: &[Statement<'_>],
    is_steering: &dyn Fn(&[String]) -> bool,
) -> String {
    let units = units(wanted, is_steering);
    let mut out: Vec<Piece> = Vec::new();
    let mut placed = vec![false; units.len()];
    let push = |out: &mut Vec<Piece>, path: &[String], text: &str| {
        out.push(Piece {
            path: path.to_vec(),
            text: text.to_owned(),
        });
    };
    // Each unit takes the place of the first statement of the same path. What stands between two
    // statements of a block that goes, goes with them.
    let mut fillers: Vec<&Statement<'_>> = Vec::new();
    let mut in_block = false;
    for statement in now {
        if statement.is_filler() {
            fillers.push(statement);
            continue;
        }
        let steers = is_steering(&statement.path);
        let within = in_block && steers && !statement.header;
        for filler in fillers.drain(..).filter(|_| !within) {
            push(&mut out, &filler.path, filler.text);
        }
        if !steers {
            in_block = false;
            push(&mut out, &statement.path, statement.text);
            continue;
        }
        in_block |= statement.header;
        for (unit, placed) in units.iter().zip(&mut placed) {
            if !*placed && unit.path == statement.path && unit.opens == statement.header {
                *placed = true;
                push(&mut out, &unit.path, &unit.text);
            }
        }
    }
    for filler in fillers {
        push(&mut out, &filler.path, filler.text);
    }
    for (unit, _) in units.iter().zip(placed).filter(|(_, placed)| !placed) {
        let place = place(&out, unit);
        let text = format!("{}{}", unit.text, unit.tail);
        let path = unit.path.clone();
        out.insert(place, Piece { path, text });
    }
    let last = out.len().saturating_sub(1);
    let mut text = String::new();
    for (at, piece) in out.iter().enumerate() {
        text.push_str(&piece.text);
        // A last line without its end must not swallow what comes behind it.
        if at < last && !piece.text.is_empty() && !piece.text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// Where a unit goes that the text has no place for: a table behind the whole table that it
/// followed, a key behind the one it followed or behind its header.
fn place(out: &[Piece], unit: &Unit) -> usize {
    let behind = |path: &Option<Vec<String>>| {
        let path = path.as_ref()?;
        out.iter().rposition(|piece| piece.path == *path)
    };
    if !unit.opens {
        let found = behind(&unit.after).or_else(|| behind(&unit.header));
        let first = if unit.header.is_none() { 0 } else { out.len() };
        return found.map_or(first, |at| at + 1);
    }
    let table = unit.after.as_ref().and_then(|path| path.first());
    let found = table.and_then(|table| {
        out.iter()
            .rposition(|piece| piece.path.first() == Some(table))
    });
    let at = found.map_or(out.len(), |at| at + 1);
    let is_blank = |piece: &Piece| piece.path.is_empty() && piece.text.trim().is_empty();
    at + usize::from(out.get(at).is_some_and(is_blank))
}
