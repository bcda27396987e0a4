//! The runs of a log, their files and the points of each.

use super::line::{self, End, Header};
use crate::common::tap::{Document, Ended, Seen, line as tap};
use atlas_core::{
    Evidence, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};

/// What stands behind a line that looks like the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Behind {
    Nothing,
    /// Points that do not go on with its numbers, which are not read.
    Points,
    /// Such points, and then the file's own next one.
    More,
}

/// A file whose line was read.
#[derive(Clone, Debug)]
struct Section {
    file: String,
    width: usize,
    document: Document,
    block: tap::Block,
    /// A plan or a passing point was shown.
    verbose: bool,
    /// A bare `ok`: its end, unless a point follows.
    perhaps_ok: bool,
    status: Option<TestStatus>,
    dubious: bool,
    behind: Behind,
    /// The harness says how many points there should have been.
    should: Option<u64>,
    lines: Vec<Evidence>,
    points: Vec<Point>,
    /// A cause was seen before it: its script does not compile.
    broken: bool,
}

#[derive(Clone, Debug)]
struct Point {
    name: String,
    status: TestStatus,
}

/// A file that ended.
#[derive(Clone, Debug)]
struct File {
    name: String,
    width: usize,
    status: TestStatus,
    points: Vec<Point>,
    verbose: bool,
    lost: Option<LostReason>,
    lines: Vec<Evidence>,
    doubtful: bool,
}

/// One run of the harness: to its `Result:`.
#[derive(Clone, Debug, Default)]
struct Run {
    files: Vec<File>,
    /// `Files=`, `Tests=`.
    declared: Option<(u64, u64)>,
    /// Such a line came twice.
    declared_twice: bool,
    /// Inside `Test Summary Report`.
    summary: bool,
    /// The files it names, and whether they failed: `-Q` names no others.
    summed_up: Vec<(String, bool)>,
    /// How many lines looked like its end.
    checks: u32,
    /// `All tests successful.`
    successful: bool,
    /// `Result:` was read: the end, unless the next point of the open file follows.
    ended: bool,
    interrupted: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    log: Option<Log>,
    run: Run,
    section: Option<Section>,
    /// Why scripts do not compile, since the last file ended.
    causes: Vec<Evidence>,
}

#[derive(Clone, Debug, Default)]
struct Log {
    builder: ParsedLogBuilder,
    ended: u64,
    open: bool,
    interrupted: bool,
    disagrees: bool,
    /// How many runs there were, and whether one had other files than it counts.
    runs: u64,
    strange_files: bool,
    lost: u64,
}

/// Most lines that are looked into as the end of a run: each is compared with all its files.
const MAX_CHECKS: u32 = 256;
/// Most lines kept as the reason why a file was lost.
const MAX_LINES: usize = 8;

/// What perl says of a script that it cannot compile.
fn cause(line: &[u8]) -> bool {
    match line.first() {
        Some(b'E') => line.ends_with(b" aborted due to compilation errors."),
        Some(b'B') => line.starts_with(b"BEGIN failed--compilation aborted "),
        Some(b'C') => {
            line.starts_with(b"Compilation failed in require ")
                || line.starts_with(b"Can't locate ")
        }
        Some(b's') => line.starts_with(b"syntax error at "),
        _ => false,
    }
}

fn evidence(number: usize, line: &[u8]) -> Evidence {
    Evidence::at(
        "log",
        number,
        String::from_utf8_lossy(line).trim().to_owned(),
    )
}

impl Runs {
    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        let Some(first) = line.first() else {
            return;
        };
        if let Some(section) = &mut self.section
            && let Some(real) = section.tap(line, *first)
        {
            if real && self.run.declared.is_some() {
                // The file goes on: a script printed what looked like the end.
                self.run.declared = None;
                self.run.ended = false;
                self.run.summary = false;
            }
            return;
        }
        match first {
            b'#' | b' ' | b'\t' => return,
            b'R' if line.starts_with(b"Result: ") && self.run.declared.is_some() => {
                self.run.ended = true;
                self.run.summary = false;
                return;
            }
            b'F' => {
                if let Some((files, tests)) = line::files(line)
                    && self.all_closed()
                {
                    // Before it, the harness says that all is well, or what is not.
                    let told = self.run.summary || self.run.successful || tests == 0;
                    self.run.checks = self.run.checks.saturating_add(1);
                    if told && self.run.checks <= MAX_CHECKS && self.fits(files) {
                        let first = self.run.declared.replace((files, tests));
                        self.run.declared_twice |= first.is_some();
                    }
                    return;
                }
            }
            b'A' if line == b"All tests successful." => self.run.successful = self.all_closed(),
            b'T' if line == b"Test Summary Report" && self.all_closed() => {
                self.run.summary = true;
                return;
            }
            b'T' if line == b"Test run interrupted!" => self.run.interrupted = true,
            b'B' if line.starts_with(b"Bailout called.  Further testing stopped:") => {
                self.run.interrupted = true;
                // Without -v a file is named when it is over: then this tells of the next one.
                if let Some(section) = self.section.as_mut().filter(|s| s.status.is_none()) {
                    section.status = Some(TestStatus::Failed);
                    section.dubious = true;
                    section.keep(number, line);
                }
                return;
            }
            _ => {}
        }
        if self.run.summary {
            if let Some((file, failed)) = line::summary(line) {
                let name = String::from_utf8_lossy(file).into_owned();
                self.run.summed_up.push((name, failed));
            }
            return;
        }
        if let Some(end) = line::end(line) {
            if let Some(section) = &mut self.section {
                section.end(end, number, line);
            }
            return;
        }
        if let Some(header) = line::header(line) {
            self.header(&header, number, line);
        } else if self.causes.len() < MAX_LINES && cause(line) {
            self.causes.push(evidence(number, line));
        }
    }

    fn all_closed(&self) -> bool {
        self.section
            .as_ref()
            .is_none_or(|section| section.status.is_some() || section.perhaps_ok)
    }

    /// Whether a run of so many files may end here.
    fn fits(&self, files: u64) -> bool {
        let open = self.section.as_ref().map(|section| section.width);
        let known = self.run.files.len() as u64 + u64::from(open.is_some());
        files == known
            || known == 0
            || self.run.of_width(files, open).is_some()
            || self.run.summary
            || self.run.successful
    }

    fn header(&mut self, header: &Header<'_>, number: usize, line: &[u8]) {
        if self.run.ended {
            self.end_run(true);
        }
        let name = String::from_utf8_lossy(header.file);
        if let Some(section) = &self.section {
            let empty = section.status.is_none() && !section.document.any();
            let again = section.file == name && section.status.is_none();
            let closed = section.status.is_some() || section.perhaps_ok;
            if !(empty || closed || again) {
                return;
            }
            if section.document.any() && header.width != section.width {
                return;
            }
            if again {
                if let (Some(end), Some(section)) = (header.end, &mut self.section) {
                    section.end(end, number, line);
                }
                return;
            }
            if empty {
                self.section = None;
            }
        }
        self.close();
        let mut section = Section {
            file: name.into_owned(),
            width: header.width,
            document: Document::default(),
            block: tap::Block::default(),
            verbose: false,
            perhaps_ok: false,
            status: None,
            dubious: false,
            behind: Behind::Nothing,
            should: None,
            lines: std::mem::take(&mut self.causes),
            points: Vec::new(),
            broken: false,
        };
        section.broken = !section.lines.is_empty();
        if let Some(end) = header.end {
            section.end(end, number, line);
        }
        self.section = Some(section);
    }

    /// Ends the open file, if it has a result.
    fn close(&mut self) {
        let Some(section) = self.section.take() else {
            return;
        };
        if section.perhaps_ok || section.status.is_some() || section.document.any() {
            self.run.files.push(section.close());
        }
    }

    fn end_run(&mut self, ended: bool) {
        self.close();
        let run = std::mem::take(&mut self.run);
        if run.files.is_empty() && run.declared.is_none() {
            return;
        }
        let log = self.log.get_or_insert_with(Log::default);
        run.record(log, ended);
    }

    pub(super) fn finish(mut self) -> ParsedLog {
        let open = self
            .section
            .as_ref()
            .filter(|section| section.status.is_none() && !section.perhaps_ok)
            .map(|section| section.file.clone());
        let ended = self.run.ended;
        self.end_run(ended);
        let Some(mut log) = self.log else {
            return ParsedLogBuilder::default().finish(RunOutcome::NothingRan);
        };
        if let Some(file) = open {
            log.builder.still_running(file);
        }
        let outcome = if log.open {
            RunOutcome::Truncated
        } else if log.interrupted {
            RunOutcome::Crashed
        } else if log.builder.recorded() == 0 && log.lost > 0 {
            RunOutcome::BuildFailed
        } else if log.builder.recorded() == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        // One of several runs may have been printed within another: then files of the two are mixed.
        let is_mixed = log.strange_files && log.runs > 1;
        if log.ended > 0 || is_mixed {
            log.builder
                .set_consistent(!log.disagrees && !log.open && !is_mixed);
        }
        log.builder.finish(outcome)
    }
}

impl Run {
    /// The width that just so many files have, where not all have one.
    fn of_width(&self, files: u64, open: Option<usize>) -> Option<usize> {
        let mut counts = std::collections::BTreeMap::<usize, u64>::new();
        for width in self.files.iter().map(|file| file.width).chain(open) {
            *counts.entry(width).or_default() += 1;
        }
        counts
            .into_iter()
            .find(|(_, count)| *count == files)
            .map(|(width, _)| width)
    }

    /// Whether the report at the end is all there is: names before it were a script's.
    fn summary_tells(&self) -> bool {
        !self.summed_up.is_empty() || self.successful
    }

    fn record(mut self, log: &mut Log, ended: bool) {
        let mut quiet = self.files.is_empty();
        log.runs += 1 + u64::from(self.declared_twice);
        if let Some((files, _)) = self.declared
            && files != self.files.len() as u64
        {
            log.strange_files |= !quiet;
            if let Some(width) = self.of_width(files, None) {
                self.files.retain(|file| file.width == width);
            } else if self.summary_tells() {
                quiet = true;
                self.files.clear();
            }
        }
        if quiet {
            let files = std::mem::take(&mut self.summed_up);
            self.files.extend(files.into_iter().map(File::summed_up));
        }
        if !ended {
            // Without an end to count them, only what has a script's name is believed.
            self.files
                .retain(|file| file.name.contains(['.', '/']) || file.verbose);
            if self.files.is_empty() {
                return;
            }
        }
        let verbose = self.files.iter().any(|file| file.verbose);
        let (mut points, mut files) = (0_u64, 0_u64);
        for file in self.files {
            files += 1;
            points += file.points.len() as u64;
            log.disagrees |= verbose && file.doubtful;
            if let Some(reason) = file.lost {
                log.lost += u64::from(reason == LostReason::LoadFailed);
                log.builder.lose(&file.name, reason, file.lines);
            }
            if verbose {
                for point in file.points {
                    let id = [&*file.name, &*point.name].join(" > ");
                    log.builder.record(&file.name, &id, &id, point.status);
                }
            } else {
                log.builder
                    .record(&file.name, &file.name, &file.name, file.status);
            }
        }
        if let Some((declared_files, tests)) = self.declared {
            let (total, known) = if verbose {
                (tests, points)
            } else {
                (declared_files, files)
            };
            // With -Q, passing files have no names.
            log.disagrees |= !quiet && total != known;
            log.builder.add_totals(Totals {
                total: Some(total),
                ..Totals::default()
            });
        }
        log.ended += u64::from(ended && !quiet);
        log.open |= !ended;
        log.interrupted |= self.interrupted;
    }
}

impl File {
    fn summed_up((name, failed): (String, bool)) -> Self {
        Self {
            name,
            width: 0,
            status: if failed {
                TestStatus::Failed
            } else {
                TestStatus::Passed
            },
            points: Vec::new(),
            verbose: false,
            lost: None,
            lines: Vec::new(),
            doubtful: false,
        }
    }
}

impl Section {
    fn keep(&mut self, number: usize, line: &[u8]) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(evidence(number, line));
        }
    }

    /// Reads a line of TAP. `None` where it is none, else whether it belongs to the file.
    fn tap(&mut self, line: &[u8], first: u8) -> Option<bool> {
        if self.block.holds(line) {
            return Some(false);
        }
        let points = &mut self.points;
        let mut out = |seen: Seen<'_>| points.push(Point::of(seen));
        match first {
            b'o' | b'n' => {
                let point = tap::point(line)?;
                let closed = self.status.is_some() || self.perhaps_ok;
                if line::end(line).is_some() {
                    if self.document.complete() || self.status.is_some() {
                        return None;
                    }
                    // A second one: the first was a point.
                    if self.perhaps_ok {
                        self.document.point(bare(), &mut out);
                    }
                    self.perhaps_ok = true;
                    return Some(false);
                }
                if closed {
                    let number = point.number;
                    let after_ok = self.document.points() + 2;
                    if self.perhaps_ok && number.is_none_or(|n| n == after_ok) {
                        self.document.point(bare(), &mut out);
                        self.perhaps_ok = false;
                    } else if number.is_some() && self.document.expects(number) {
                        // What looked like the end of the file was printed by its script.
                        self.status = None;
                        self.perhaps_ok = false;
                        self.dubious = false;
                        if self.behind != Behind::Nothing {
                            self.behind = Behind::More;
                        }
                        self.should = None;
                        self.lines.clear();
                    } else {
                        self.behind = self.behind.max(Behind::Points);
                        return Some(false);
                    }
                }
                let (title, directive) = tap::title(point.rest);
                self.verbose |= point.passed && directive.is_none();
                self.document.point(
                    Seen {
                        number: point.number,
                        name: &tap::name(title),
                        group: "",
                        status: tap::status(point.passed, directive),
                    },
                    &mut out,
                );
                self.block.point();
                Some(true)
            }
            b'1' => {
                let plan = tap::plan(line)?;
                if self.status.is_none() && self.document.plan().is_none() {
                    if self.perhaps_ok && self.document.points() + 1 == plan {
                        self.document.point(bare(), &mut out);
                        self.perhaps_ok = false;
                    }
                    self.document.planned(plan, &mut out);
                    self.verbose = true;
                }
                Some(false)
            }
            _ => None,
        }
    }

    fn end(&mut self, end: End<'_>, number: usize, line: &[u8]) {
        match end {
            End::Ok => {
                if self.status.is_none() {
                    self.status = Some(TestStatus::Passed);
                }
            }
            End::Skipped => self.status = Some(TestStatus::Skipped),
            End::Progress(_) => {}
            _ => {
                self.settle_ok();
                self.status = Some(TestStatus::Failed);
                self.dubious |= end == End::Dubious;
                if let End::Failed(should) = end {
                    self.should = Some(should);
                }
                self.keep(number, line);
            }
        }
    }

    /// A bare `ok` before the harness tells how the file came out was a point.
    fn settle_ok(&mut self) {
        if self.perhaps_ok {
            self.perhaps_ok = false;
            let points = &mut self.points;
            self.document
                .point(bare(), &mut |seen| points.push(Point::of(seen)));
        }
    }

    fn close(mut self) -> File {
        let points = &mut self.points;
        let Ended {
            plan,
            complete,
            doubtful,
            ..
        } = self.document.end(&mut |seen| points.push(Point::of(seen)));
        let status = self.status.unwrap_or(TestStatus::Passed);
        let count = self.points.len() as u64;
        let short = self.should.is_some_and(|should| should > count);
        let lost = if status != TestStatus::Failed {
            None
        } else if self.broken && (count == 0 || !self.verbose) {
            Some(LostReason::LoadFailed)
        } else if self.verbose && short
            || self.dubious && self.verbose && plan.is_none()
            || self.dubious && !self.verbose && self.should.is_none()
        {
            Some(LostReason::Crashed)
        } else {
            None
        };
        File {
            name: self.file,
            width: self.width,
            status,
            points: self.points,
            verbose: self.verbose,
            lost,
            lines: self.lines,
            doubtful: doubtful
                || self.behind == Behind::More
                || !complete && self.verbose && status == TestStatus::Passed,
        }
    }
}

/// A point without number and title.
fn bare() -> Seen<'static> {
    Seen {
        number: None,
        name: "",
        group: "",
        status: TestStatus::Passed,
    }
}

impl Point {
    fn of(seen: Seen<'_>) -> Self {
        Self {
            name: if seen.name.is_empty() {
                seen.number.unwrap_or_default().to_string()
            } else {
                seen.name.to_owned()
            },
            status: seen.status,
        }
    }
}
