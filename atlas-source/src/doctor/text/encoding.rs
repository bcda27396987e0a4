//! Bytes and line ends.

use crate::doctor::fault::{PatchFault, PatchFaultKind as Kind};
use crate::doctor::scan::Scan;

pub(super) fn examine(patch: &[u8], scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    if patch.starts_with(&[0xff, 0xfe]) || patch.starts_with(&[0xfe, 0xff]) {
        faults.push(
            PatchFault::new(
                Kind::Utf16,
                "the text is UTF-16",
                "write it as UTF-8 without a byte order mark",
            )
            .breaking(),
        );
        return;
    }
    if let Some(rest) = patch.strip_prefix(b"\xef\xbb\xbf") {
        let fault = PatchFault::new(
            Kind::ByteOrderMark,
            "a byte order mark stands before the first line",
            "remove the first three bytes",
        )
        .at(0);
        // Behind the mark a `diff --git` line is still found; the others are not.
        let hidden = !rest.starts_with(b"diff --git ");
        faults.push(if hidden { fault.breaking() } else { fault });
    }
    if let Err(why) = std::str::from_utf8(patch) {
        faults.push(
            PatchFault::new(
                Kind::InvalidUtf8,
                "the bytes here are no UTF-8, which a JSON file of predictions cannot hold",
                "make the patch with `git diff --binary`, or write the file as UTF-8",
            )
            .at(line_of(patch, why.valid_up_to())),
        );
    }
    if let Some(at) = memchr::memchr(0, patch) {
        faults.push(
            PatchFault::new(
                Kind::NulBytes,
                "a zero byte stands in the text",
                "make the patch with `git diff --binary`",
            )
            .at(line_of(patch, at)),
        );
    }
    line_ends(scan, faults);
    final_newline(scan, faults);
    characters(scan, faults);
}

fn line_of(patch: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &patch[..at]).count()
}

fn line_ends(scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let ended = scan.lines.iter().filter(|line| line.newline).count();
    let with_cr = scan
        .lines
        .iter()
        .filter(|line| line.cr && line.newline)
        .count();
    let lone = scan
        .lines
        .iter()
        .position(|line| line.text.contains(&b'\r') || (line.cr && !line.newline));
    if let Some(at) = lone {
        let no_ends = ended == 0;
        let fault = PatchFault::new(
            Kind::LoneCr,
            if no_ends {
                "lines end with a carriage return alone"
            } else {
                "a carriage return stands inside the line"
            },
            "keep carriage returns only where the file has them",
        )
        .at(at);
        faults.push(if no_ends { fault.breaking() } else { fault });
    }
    if with_cr == 0 {
        return;
    }
    // Where only `diff --git` names a file, git reads the CR as a part of the name.
    let in_name = scan.sections.iter().any(|section| {
        let nameless = section.old.is_none() && section.new.is_none();
        nameless && section.git.is_some_and(|at| scan.lines[at].cr)
    });
    let judged = |fault: PatchFault| if in_name { fault.breaking() } else { fault };
    if with_cr == ended {
        faults.push(judged(PatchFault::new(
            Kind::CrlfEverywhere,
            "every line ends with CR LF; the context then fits only files that do so too",
            "write LF, except in lines of files with CR LF",
        )));
        return;
    }
    let in_body = scan.bodies();
    let (mut header, mut body) = (None, None);
    for (at, line) in scan.lines.iter().enumerate().filter(|(_, line)| line.cr) {
        if header.is_some() && body.is_some() {
            break;
        }
        let slot = if in_body[at] { &mut body } else { &mut header };
        if line.newline {
            slot.get_or_insert(at);
        }
    }
    if let Some(at) = header {
        let fault = PatchFault::new(
            Kind::CrInHeaders,
            "a line outside the hunks ends with CR LF",
            "end header lines with LF",
        );
        faults.push(judged(fault.at(at)));
    }
    if let Some(at) = body {
        faults.push(
            PatchFault::new(
                Kind::CrlfInPlaces,
                format!("{with_cr} of {ended} lines end with CR LF, this one first"),
                "right for a file with CR LF, wrong for one with LF",
            )
            .at(at),
        );
    }
}

fn final_newline(scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let last = scan.lines.len() - 1;
    if scan.lines[last].newline {
        return;
    }
    let fault = PatchFault::new(
        Kind::NoFinalNewline,
        "the last line has no line end",
        "end the patch with a line end; do not strip it",
    )
    .at(last);
    let in_section = scan
        .sections
        .last()
        .is_some_and(|section| section.span.contains(&last) || section.span.end > last);
    // Git takes the marker line without its end.
    let marker = scan.lines[last].starts("\\");
    faults.push(if in_section && !marker {
        fault.breaking()
    } else {
        fault
    });
}

fn characters(scan: &Scan<'_>, faults: &mut Vec<PatchFault>) {
    let coloured = scan
        .lines
        .iter()
        .position(|line| memchr::memmem::find(line.text, b"\x1b[").is_some());
    if let Some(at) = coloured {
        let leads = scan.lines.iter().any(|line| line.starts("\x1b["));
        let fault = PatchFault::new(
            Kind::AnsiColours,
            "the line has colour codes of a terminal",
            "make the patch with `git --no-pager diff --no-color`",
        )
        .at(at);
        faults.push(if leads { fault.breaking() } else { fault });
    }
    let odd = [
        "\u{a0}", "\u{200b}", "\u{feff}", "\u{202f}", "\u{2007}", "\u{3000}", "\u{2060}",
    ];
    for section in &scan.sections {
        let file = scan.path(section);
        for hunk in &section.hunks {
            let lost = hunk
                .bare
                .iter()
                .find(|at| odd.iter().any(|odd| scan.lines[**at].starts(odd)));
            if let Some(at) = lost {
                faults.push(
                    PatchFault::new(
                        Kind::OddSpaces,
                        "the line begins with a character that only looks like a space",
                        "write a plain space in the first column",
                    )
                    .at(*at)
                    .of(file.clone())
                    .breaking(),
                );
            }
        }
        for at in [section.old, section.new].into_iter().flatten() {
            let text = scan.lines[at].text;
            if text.ends_with(b" ") {
                let fault = PatchFault::new(
                    Kind::OddSpaces,
                    "a space stands behind the path and is read as a part of it",
                    "end the line behind the path",
                )
                .at(at)
                .of(file.clone());
                // Behind the new path it only makes a file of another name.
                let is_old = section.old == Some(at);
                faults.push(if is_old { fault.breaking() } else { fault });
            }
        }
    }
}
