//! A second look at sources with syntax errors. An error can take everything behind it along: an
//! unclosed bracket, a string without its end. Most sources are indented as they are nested, so the
//! indentation tells where the harm ends: blocks that do not parse by themselves are blanked, byte for
//! byte, and the rest is read again.

use crate::language::{Language, readable};
use std::ops::Range;
use tree_sitter::Parser;

/// How many times the source's length may be parsed in pieces: blocks within blocks are parsed again
/// for each block around them.
const BUDGET: usize = 6;

/// Most lines of a header, and of a text within a block.
const HEADER_LINES: usize = 40;
const TEXT_LINES: usize = 400;

/// A source without the inside of its broken blocks.
pub(crate) struct Mended {
    /// As long as the source, line ends in the same places.
    pub(crate) text: Vec<u8>,
    /// What was blanked, in order.
    pub(crate) blanked: Vec<Range<usize>>,
}

/// A line that is not empty.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    /// Without the line end.
    end: usize,
    indent: usize,
    /// First byte that is no blank.
    first: usize,
}

/// A line and the deeper lines below it.
struct Block {
    header: usize,
    /// The last deeper line.
    last: usize,
    /// The line that closes it, as deep as the header.
    closer: Option<usize>,
    /// The header of the first block inside.
    holds_blocks: Option<usize>,
}

/// Blanks the blocks of a source that do not parse by themselves, inner ones first; none if there are
/// none.
pub(crate) fn mend(language: Language, source: &[u8]) -> Option<Mended> {
    let mut text = readable(source).into_owned();
    let is_marked = blank_conflict_marks(&mut text);
    let lines = lines(language, &text);
    let mut pieces = Pieces::new(language, text.len())?;
    let broken = broken(&text, &lines, &mut pieces)?;
    let mut blanked: Vec<Range<usize>> = Vec::new();
    // Where a text of several lines, whose indentation tells nothing, ends.
    let mut behind = 0;
    for (block, place) in broken {
        if block.last < behind && block.holds_blocks.is_none_or(|inner| inner < behind) {
            continue;
        }
        let header = lines[place.start].first..lines[place.first - 1].end;
        if block.holds_blocks.is_some() && is_container(&text[header]) {
            continue;
        }
        let inside = place.inside(&lines, &block);
        // What was found broken inside is blanked by now.
        let is_mended = blanked.iter().any(|one| inside.contains(&one.start));
        if is_mended && pieces.is_block_sound(&text, &lines, &block, &place)? {
            continue;
        }
        let mut last = block.last;
        if let Some(further) = further(language, &text, &lines, &block, inside) {
            let whole = lines[place.start].start..lines[further.end - 1].end;
            if pieces.is_sound(&text[whole])? {
                behind = further.start;
                continue;
            }
            // One quotation mark too many is itself the fault; a heredoc is one by its first line.
            if further.is_certain {
                behind = further.start;
                last = further.start - 1;
            }
        }
        fill(language, &mut text, &[lines[place.first], lines[last]]);
        let inside = lines[place.first].start..lines[last].end;
        blanked.retain(|one| !inside.contains(&one.start));
        blanked.push(inside);
    }
    (is_marked || !blanked.is_empty()).then(|| {
        blanked.sort_by_key(|one| one.start);
        Mended { text, blanked }
    })
}

/// Where a block's header begins, and its inside.
#[derive(Clone, Copy)]
struct Extent {
    start: usize,
    first: usize,
}

impl Extent {
    fn inside(self, lines: &[Line], block: &Block) -> Range<usize> {
        lines[self.first].start..lines[block.last].end
    }
}

/// The blocks that do not parse by themselves, inner before outer. Outer ones are looked at first: in one
/// that is sound all are.
fn broken(text: &[u8], lines: &[Line], pieces: &mut Pieces) -> Option<Vec<(Block, Extent)>> {
    let mut blocks: Vec<(usize, Block)> = blocks(text, lines).into_iter().enumerate().collect();
    blocks.sort_by_key(|(_, block)| (block.header, std::cmp::Reverse(block.last)));
    let mut broken = Vec::new();
    let mut sound_until = 0;
    for (order, block) in blocks {
        let place = Extent {
            start: beginning(text, lines, block.header),
            first: behind_header(text, lines, &block),
        };
        if block.last < sound_until || place.first > block.last {
            continue;
        }
        if pieces.is_block_sound(text, lines, &block, &place)? {
            sound_until = block.last + 1;
        } else {
            broken.push((order, block, place));
        }
    }
    broken.sort_by_key(|(order, ..)| *order);
    Some(
        broken
            .into_iter()
            .map(|(_, block, place)| (block, place))
            .collect(),
    )
}

/// Parses pieces of a source until the budget is spent.
struct Pieces {
    parser: Parser,
    left: usize,
}

impl Pieces {
    fn new(language: Language, length: usize) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar_of_pieces()).ok()?;
        Some(Self {
            parser,
            left: length.saturating_mul(BUDGET),
        })
    }

    /// Whether a block parses by itself: what is inside, or all of it.
    fn is_block_sound(
        &mut self,
        text: &[u8],
        lines: &[Line],
        block: &Block,
        place: &Extent,
    ) -> Option<bool> {
        let end = block.closer.unwrap_or(block.last);
        let whole = lines[place.start].start..lines[end].end;
        Some(self.is_sound(&text[whole])? || self.is_sound(&text[place.inside(lines, block)])?)
    }

    /// Whether a piece parses by itself; none where too much was parsed already.
    fn is_sound(&mut self, piece: &[u8]) -> Option<bool> {
        self.left = self.left.checked_sub(piece.len())?;
        let tree = self.parser.parse(piece, None)?;
        Some(!tree.root_node().has_error())
    }
}

/// Takes away the lines that a failed merge leaves: they stand at the margin, wherever they are.
fn blank_conflict_marks(text: &mut [u8]) -> bool {
    let mut found = false;
    for line in text.split_mut(|byte| *byte == b'\n') {
        let is_mark = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"]
            .iter()
            .any(|mark| {
                line.strip_prefix(*mark)
                    .is_some_and(|rest| rest.is_empty() || matches!(rest[0], b' ' | b'\r'))
            });
        if is_mark {
            line.fill(b' ');
            found = true;
        }
    }
    found
}

fn lines(language: Language, text: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split(|byte| *byte == b'\n') {
        let blanks = line
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
            .count();
        // Directives stand at the margin, wherever they are.
        let is_directive = language.has_directives() && line.get(blanks) == Some(&b'#');
        if blanks < line.len() && !is_directive {
            let indent = line[..blanks]
                .iter()
                .map(|byte| if *byte == b'\t' { 8 } else { 1 })
                .sum();
            lines.push(Line {
                start,
                end: start + line.len(),
                indent,
                first: start + blanks,
            });
        }
        start += line.len() + 1;
    }
    lines
}

/// All blocks, inner before outer.
fn blocks(text: &[u8], lines: &[Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    // Headers of blocks that are open, and of the first block inside.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    for at in 0..=lines.len() {
        let indent = lines.get(at).map_or(0, |line| line.indent);
        while let Some((header, holds_blocks)) = open.pop() {
            if at < lines.len() && lines[header].indent < indent {
                open.push((header, holds_blocks));
                break;
            }
            if at > header + 1 {
                let closes = |line: &&Line| closes(text, line, lines[header].indent);
                blocks.push(Block {
                    header,
                    last: at - 1,
                    closer: lines.get(at).filter(closes).map(|_| at),
                    holds_blocks,
                });
                if let Some(around) = open.last_mut() {
                    around.1.get_or_insert(header);
                }
            }
        }
        open.push((at, None));
    }
    blocks
}

/// Whether a line ends a block of this depth.
fn closes(text: &[u8], line: &Line, indent: usize) -> bool {
    let words = &text[line.first..line.end];
    line.indent == indent && (words.starts_with(b"end") || matches!(words[0], b'}' | b')' | b']'))
}

/// The line on which the header of a block begins: above an opening brace that stands alone.
fn beginning(text: &[u8], lines: &[Line], header: usize) -> usize {
    let line = lines[header];
    if text[line.first..line.end].trim_ascii_end() != b"{" {
        return header;
    }
    let above = (header.saturating_sub(HEADER_LINES)..header).rev();
    let mut above = above.take_while(|at| lines[*at].indent >= line.indent);
    above
        .find(|at| lines[*at].indent == line.indent)
        .unwrap_or(header)
}

/// The first line behind the header of a block: parameters may go on for some lines.
fn behind_header(text: &[u8], lines: &[Line], block: &Block) -> usize {
    let mut depth = 0_usize;
    for at in (block.header..=block.last).take(HEADER_LINES) {
        let line = text[lines[at].first..lines[at].end].trim_ascii_end();
        for byte in line {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth == 0 || line.ends_with(b"{") {
            return at + 1;
        }
    }
    block.header + 1
}

/// Where a block goes on whose inside opens a text of several lines.
struct Further {
    /// The line that closes the block, or the first one behind it.
    start: usize,
    /// The line behind the block.
    end: usize,
    /// Whether the text is one for sure.
    is_certain: bool,
}

/// The rest of a block whose inside opens a text of several lines: it may stand at the margin.
fn further(
    language: Language,
    text: &[u8],
    lines: &[Line],
    block: &Block,
    inside: Range<usize>,
) -> Option<Further> {
    let indent = lines[block.header].indent;
    let mut below = (block.last + 1..lines.len()).take(TEXT_LINES);
    if language == Language::Python {
        let signs: [&[u8]; 2] = [b"\"\"\"", b"'''"];
        let sign = signs
            .iter()
            .find(|sign| count(&text[inside.clone()], sign) % 2 == 1)?;
        let holds = |at: &usize| count(&text[lines[*at].first..lines[*at].end], sign) > 0;
        let end = below.find(holds)?;
        let deeper = lines[end + 1..]
            .iter()
            .take_while(|line| line.indent > indent);
        let end = end + 1 + deeper.count();
        return Some(Further {
            start: end,
            end,
            is_certain: false,
        });
    }
    if block.closer.is_some() {
        return None;
    }
    let last = lines[block.last];
    let line = &text[last.first..last.end];
    let is_certain = match language {
        Language::Ruby => [b"<<~", b"<<-"].iter().any(|sign| count(line, *sign) > 0),
        Language::Php => count(line, b"<<<") > 0,
        _ => false,
    };
    let signs: &[&[u8]] = match language {
        Language::Go | Language::JavaScript | Language::TypeScript | Language::Tsx => &[b"`"],
        Language::Rust | Language::CSharp | Language::C | Language::Cpp => &[b"\""],
        _ => &[],
    };
    let is_open = |sign: &&[u8]| count(&text[inside.clone()], sign) % 2 == 1;
    if !is_certain && !signs.iter().any(is_open) {
        return None;
    }
    let closer = below.find(|at| closes(text, &lines[*at], indent))?;
    Some(Further {
        start: closer,
        end: closer + 1,
        is_certain,
    })
}

/// How often a sign stands in a text.
fn count(text: &[u8], sign: &[u8]) -> usize {
    text.windows(sign.len())
        .filter(|here| *here == sign)
        .count()
}

/// Words in the first line of what holds functions, and is not to be lost because of one line.
const CONTAINERS: &[&[u8]] = &[
    b"class",
    b"interface",
    b"struct",
    b"enum",
    b"union",
    b"record",
    b"trait",
    b"impl",
    b"mod",
    b"module",
    b"namespace",
    b"extern",
    b"describe",
    b"context",
    b"suite",
    b"declare",
];

/// Whether a block behind this line may hold functions that are none of a function's own: a type, a
/// namespace, a suite of tests, an object, a call.
fn is_container(header: &[u8]) -> bool {
    let header = header.trim_ascii_end();
    let mut words = header.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    if words.any(|word| CONTAINERS.contains(&word)) {
        return true;
    }
    let Some(before) = header.strip_suffix(b"{") else {
        return matches!(header.last(), Some(b'(' | b'['));
    };
    let before = before.trim_ascii_end();
    matches!(before.last(), Some(b'=' | b'(' | b'[' | b',' | b':'))
        || before.ends_with(b"return")
        || before.ends_with(b"default")
}

/// Blanks the lines from the first to the last. Where a block needs something inside, numbers stand for
/// its first and its last line.
fn fill(language: Language, text: &mut [u8], lines: &[Line; 2]) {
    let [first, last] = *lines;
    for byte in &mut text[first.start..last.end] {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    if language != Language::Python {
        return;
    }
    let depth = first.first - first.start;
    for line in [first, last] {
        let from = line.start + depth;
        if from < line.end {
            text[from..line.end].fill(b'0');
        }
    }
}
