//! One module's test run: its classes and what they printed.

use super::line::{self, Counts, MethodLine};
use crate::edges::is_number;
use atlas_core::{Names, TestStatus};
use std::collections::HashSet;

/// A class, or whatever Surefire runs as one: a suite, a run of `TestNG`.
#[derive(Clone, Debug)]
struct Class {
    /// The number of its name.
    name: usize,
    /// Begun, and its totals have not come yet.
    open: bool,
    /// Begun while another class ran: beside it in another process, or printed by a test of it.
    doubtful: bool,
    /// Without failures in a log that may be one of `mvn -q`, which prints no such line.
    quiet: bool,
    dropped: bool,
    counts: Option<Counts>,
    methods: Vec<Method>,
}

#[derive(Clone, Debug)]
struct Method {
    id: String,
    /// Its class, and the nested one that a stack frame shows.
    nested: Option<(String, String)>,
    status: TestStatus,
}

/// The tries of one test, in the summary.
#[derive(Clone, Debug, Default)]
struct Tries {
    name: String,
    flakes: bool,
    passed: bool,
    mixed: bool,
}

/// What a run amounts to.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Classes that began and have no totals.
    pub(super) open: Vec<String>,
    /// Whether one of them began while no other ran: no test has printed that it did.
    pub(super) lost: bool,
    /// Whether the classes' totals agree with the module's, and the named failures with both.
    pub(super) agrees: bool,
    /// Classes that were left out, as they are in nobody's totals.
    pub(super) dropped: Vec<String>,
    pub(super) flaky: Vec<String>,
}

/// The tests of the module that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    classes: Vec<Class>,
    /// The classes' names, and for each the place of the class that bore it last.
    names: Names,
    last: Vec<usize>,
    open: usize,
    /// The class whose tests are being listed.
    listing: Option<usize>,
    /// A test may be named by the next line.
    may_name: bool,
    /// The first lines of a test's name that has several: a parameter may hold line ends.
    begun: String,
    /// The summary's tests that passed in another try.
    flaky: HashSet<String>,
    tries: Tries,
    /// Results that the summary counts together with another of the same name.
    merged: u64,
}

impl Run {
    /// Whether no class was seen.
    pub(super) fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Forgets everything; its room is used again.
    pub(super) fn clear(&mut self) {
        let Self {
            classes,
            names,
            last,
            open,
            listing,
            may_name,
            begun,
            flaky,
            tries,
            merged,
        } = self;
        classes.clear();
        names.clear();
        last.clear();
        flaky.clear();
        begun.clear();
        (*open, *listing, *may_name, *merged) = (0, None, false, 0);
        *tries = Tries::default();
    }

    pub(super) fn has_open(&self) -> bool {
        self.open > 0
    }

    /// Whether a class of this name has begun and not ended.
    pub(super) fn is_open(&self, name: &str) -> bool {
        let class = self.last_of(name).and_then(|at| self.classes.get(at));
        class.is_some_and(|class| class.open)
    }

    /// Whether a class of this name has begun.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.last_of(name).is_some()
    }

    /// `Running C`.
    pub(super) fn begin(&mut self, name: &str) {
        self.listing = None;
        let mut others = self
            .classes
            .iter()
            .rev()
            .take(32)
            .filter(|class| class.open);
        let names = &self.names;
        let doubtful = self.open > 0
            && !others.any(|class| {
                name.strip_prefix(names.name(class.name))
                    .is_some_and(|rest| rest.starts_with('$'))
            });
        self.add(name, true, doubtful);
    }

    fn add(&mut self, name: &str, open: bool, doubtful: bool) -> usize {
        let at = self.classes.len();
        let (number, new) = self.names.add(name);
        if new {
            self.last.push(at);
        } else {
            // Begun once more: a second try, or a second fork.
            let before = std::mem::replace(&mut self.last[number], at);
            if let Some(class) = self.classes.get_mut(before)
                && class.open
            {
                class.open = false;
                self.open = self.open.saturating_sub(1);
            }
        }
        self.open += usize::from(open);
        self.classes.push(Class {
            name: number,
            open,
            doubtful,
            quiet: false,
            dropped: false,
            counts: None,
            methods: Vec::new(),
        });
        at
    }

    /// The class that bore this name last: nearly always that which began last.
    fn last_of(&self, name: &str) -> Option<usize> {
        let last = self.classes.len().checked_sub(1)?;
        if self.names.name(self.classes[last].name) == name {
            return Some(last);
        }
        Some(self.last[self.names.find(name)?])
    }

    /// A class's totals. Returns whether they are believed.
    ///
    /// `announced` says that this run names its classes before they run, so that totals of a class
    /// that was not named are no totals.
    pub(super) fn end(
        &mut self,
        name: Option<&str>,
        counts: Counts,
        announced: bool,
        quiet: bool,
    ) -> bool {
        let at = match name {
            Some(name) => match self.last_of(name) {
                Some(at) => at,
                None if announced => return false,
                None => self.add(name, false, false),
            },
            // Surefire before 2.13: the class that began last.
            None => match self.classes.len().checked_sub(1) {
                Some(at) => at,
                None => return false,
            },
        };
        if let Some(class) = self.classes.get_mut(at) {
            if let Some(known) = class.counts
                && counts.failing() <= known.failing()
                && (self.open > 0 && !class.open || class.is_told(at, self.listing))
            {
                // A test of the class that runs has printed it, or a line of this class's failure holds it.
                return false;
            }
            if class.open {
                class.open = false;
                self.open = self.open.saturating_sub(1);
            }
            // Totals that came before were printed by one of its tests, and so were the classes behind them.
            let was_told = class.counts.replace(counts).is_some();
            class.quiet = quiet;
            class.methods.clear();
            if was_told {
                for class in self.classes.iter_mut().skip(at.saturating_add(1)) {
                    class.doubtful = true;
                }
            }
        }
        self.listing = Some(at);
        self.may_name = true;
        self.begun.clear();
        true
    }

    /// The list of a class's tests has ended.
    pub(super) fn close_list(&mut self) {
        self.listing = None;
        self.begun.clear();
    }

    /// A line below a class's totals. Returns whether it names a test, which it can only if
    /// `may_name`.
    #[inline]
    pub(super) fn listed(&mut self, text: &[u8], may_name: bool) -> bool {
        match self.listing {
            Some(at) => self.listed_of(at, text, may_name),
            None => false,
        }
    }

    fn listed_of(&mut self, at: usize, text: &[u8], may_name: bool) -> bool {
        let Some(class) = self.classes.get_mut(at) else {
            return false;
        };
        if text.is_empty() {
            self.may_name = true;
            self.begun.clear();
            return false;
        }
        if self.may_name && may_name {
            if let Some(found) = line::method(text) {
                let name = self.names.name(class.name);
                class.methods.push(Method::new(&found, name));
                // Below stands what was thrown, whose message may look like a result.
                self.may_name = !found.status.is_failing();
                return true;
            }
            if line::open_brackets(text) > 0 {
                self.begun = String::from_utf8_lossy(text).into_owned();
            }
        } else if !self.begun.is_empty() {
            if let Some(found) = line::method(text)
                && line::open_brackets(found.name.as_bytes()) < 0
            {
                let whole = std::mem::take(&mut self.begun) + "\n" + found.name;
                if line::open_brackets(whole.as_bytes()) == 0 {
                    let found = MethodLine {
                        name: &whole,
                        ..found
                    };
                    let name = self.names.name(class.name);
                    class.methods.push(Method::new(&found, name));
                    return true;
                }
            } else if text.first() != Some(&b'\t') && self.begun.len() < 1000 {
                self.begun.push('\n');
                self.begun.push_str(&String::from_utf8_lossy(text));
            } else {
                self.begun.clear();
            }
        }
        self.may_name = false;
        if text.first() == Some(&b'\t') || text.starts_with(b"    ") {
            class.frame(text);
        }
        false
    }

    /// A line of the module's summary, below `Flakes:` or not.
    pub(super) fn summary(&mut self, text: &[u8], flakes: bool) {
        if let Some(run) = text.strip_prefix(b"  Run ") {
            let mut parts = run.splitn(2, |byte| *byte == b':');
            let number = parts.next().unwrap_or_default();
            if is_number(number) {
                if number != b"1" {
                    self.merged = self.merged.saturating_add(1);
                }
                let pass = parts.next() == Some(b" PASS");
                // A test is run again until it passes; one that goes on was another of that name.
                self.tries.mixed |= self.tries.passed;
                self.tries.passed = pass;
            }
        } else if !text.starts_with(b" ") {
            let tries = std::mem::take(&mut self.tries);
            if tries.passed && !tries.mixed && tries.flakes {
                self.flaky.insert(plain_id(&tries.name));
            }
            self.tries.flakes = flakes;
            self.tries.name = String::from_utf8_lossy(text.trim_ascii_end()).into_owned();
        }
    }

    /// Ends the run, with the module's totals if there are any. `record` is given each result: its
    /// SWE-bench id, the same or, where that depends on the outcome, an id that does not, and its
    /// status.
    pub(super) fn finish(
        mut self,
        declared: Option<Counts>,
        all_named: bool,
        parallel: bool,
        mut record: impl FnMut(&str, &str, TestStatus),
    ) -> Summary {
        self.summary(b"", false);
        let mut summary = Summary {
            agrees: true,
            ..Summary::default()
        };
        if let Some(declared) = declared {
            self.doubt(declared, parallel);
        }
        let mut sum = Counts::default();
        let mut flaky_seen: HashSet<String> = HashSet::new();
        for mut class in self.classes {
            let name = self.names.name(class.name);
            if class.dropped {
                if class.counts.is_some() {
                    summary.dropped.push(name.to_owned());
                }
                continue;
            }
            let Some(counts) = class.counts else {
                if class.open {
                    summary.lost |= !class.doubtful;
                    summary.open.push(name.to_owned());
                }
                continue;
            };
            sum.add(counts);
            if class.methods.is_empty() {
                // So nearly every class is.
                summary.agrees &= counts.failing() == 0;
                if counts.run > 0 || counts.failing() > 0 {
                    record(name, name, whole(counts));
                }
                continue;
            }
            summary.agrees &= class.believe(name, counts);
            class.results(name, counts, &self.flaky, &mut flaky_seen, &mut record);
        }
        if let Some(declared) = declared {
            let skipped = declared.skipped.saturating_add(self.merged) >= sum.skipped;
            let exact = sum.failing() == declared.failing();
            let merges = self.merged > 0 && sum.failing() >= declared.failing();
            let run = sum.run.saturating_sub(self.merged);
            summary.agrees &= (exact || merges || declared.flakes > 0)
                && (!all_named || skipped && (run == declared.run || declared.flakes > 0));
        }
        summary.flaky = flaky_seen.into_iter().collect();
        summary.flaky.sort_unstable();
        summary
    }

    /// Leaves out classes that began inside another one if the module's totals speak against them.
    fn doubt(&mut self, declared: Counts, parallel: bool) {
        let (mut sure, mut all) = (Counts::default(), Counts::default());
        let mut doubtful: Vec<(usize, Counts)> = Vec::new();
        for (at, class) in self.classes.iter().enumerate() {
            let counts = class.counts.unwrap_or_default();
            all.add(counts);
            if !class.doubtful {
                sure.add(counts);
            } else if counts.run > 0 {
                doubtful.push((at, counts));
            }
        }
        let run = declared.run.saturating_add(self.merged);
        if all.run != run {
            for class in &mut self.classes {
                class.dropped |= class.quiet;
            }
        }
        if doubtful.is_empty() || all.run == run {
            return;
        }
        let exact = self.to_drop(&doubtful, all, declared);
        let fewer = sure.run.abs_diff(run) < all.run.abs_diff(run) && !parallel;
        let drop = exact.unwrap_or(if fewer { u32::MAX } else { 0 });
        for (nth, (at, _)) in doubtful.iter().enumerate() {
            if let Some(class) = self.classes.get_mut(*at) {
                class.dropped = drop == u32::MAX || nth < 32 && drop & (1 << nth) != 0;
            }
        }
    }

    /// The fewest classes without which all sums are right, as bits.
    fn to_drop(&self, doubtful: &[(usize, Counts)], all: Counts, declared: Counts) -> Option<u32> {
        const MANY: usize = 12;
        if doubtful.len() > MANY {
            return None;
        }
        // What the module counts once has several results in its class.
        let fits = |dropped: u64, all: u64, declared: u64| {
            all.checked_sub(declared)
                .and_then(|excess| excess.checked_sub(dropped))
                .is_some_and(|merged| merged <= self.merged)
        };
        let right = |bits: u32| {
            let mut sum = Counts::default();
            for (nth, (_, counts)) in doubtful.iter().enumerate() {
                if bits & (1 << nth) != 0 {
                    sum.add(*counts);
                }
            }
            all.run.checked_sub(sum.run) == Some(declared.run.saturating_add(self.merged))
                && fits(sum.failing(), all.failing(), declared.failing())
                && fits(sum.skipped, all.skipped, declared.skipped)
        };
        (0..1_u32 << doubtful.len())
            .filter(|bits| right(*bits))
            .min_by_key(|bits| bits.count_ones())
    }
}

/// `Class.method` of the summary's `com.example.C.method(com.example.C)` and its like.
fn plain_id(name: &str) -> String {
    if let Some(open) = name.rfind('(')
        && let Some(class) = name[open + 1..].strip_suffix(')')
        && line::is_class(class)
        && name.starts_with(class)
    {
        return name[..open].to_owned();
    }
    name.to_owned()
}

impl Method {
    fn new(found: &MethodLine<'_>, class: &str) -> Self {
        let name = found.name;
        let mut method = Self {
            id: String::new(),
            nested: None,
            status: found.status,
        };
        method.id = if is_within(name, class) {
            name.to_owned()
        } else if let Some((title, owner)) = with_class(name).filter(|_| !found.full) {
            format!("{owner}.{title}")
        } else if found.full || has_class(name) {
            name.to_owned()
        } else {
            format!("{class}.{name}")
        };
        method
    }

    /// The class before its name.
    fn class(&self) -> Option<&str> {
        let head = self.id.split(['{', '(', '[', ' ']).next()?;
        Some(head.rsplit_once('.')?.0)
    }

    /// Its name without parameters.
    fn method<'a>(&'a self, class: &str) -> Option<&'a str> {
        let name = self.id.strip_prefix(class)?.strip_prefix('.')?;
        name.split(['{', '(', '[']).next()
    }

    fn failing(&self) -> bool {
        self.status.is_failing()
    }
}

/// Whether the id is the class, or something in it.
fn is_within(id: &str, class: &str) -> bool {
    id.strip_prefix(class)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '$']))
}

/// Splits `method(com.example.C)`.
fn with_class(name: &str) -> Option<(&str, &str)> {
    let open = name.rfind('(')?;
    let class = name[open + 1..].strip_suffix(')')?;
    (open > 0 && line::is_class(class)).then_some((&name[..open], class))
}

/// Whether a class stands before the method: `com.example.C.method[1.5]`.
fn has_class(name: &str) -> bool {
    let head = name.split(['{', '(', '[', ' ']).next().unwrap_or_default();
    head.contains('.') && !head.ends_with('.') && line::is_class(head)
}

impl Class {
    /// Whether failures of this class, which has this place, are being told.
    fn is_told(&self, at: usize, listing: Option<usize>) -> bool {
        let mut methods = self.methods.iter();
        listing == Some(at) && methods.any(|method| method.status.is_failing())
    }

    /// A stack frame of the failure that was listed last.
    fn frame(&mut self, text: &[u8]) {
        let Some(method) = self.methods.last_mut() else {
            return;
        };
        if method.nested.is_some() || !method.failing() {
            return;
        }
        let Some(outer) = method.class() else {
            return;
        };
        let class = method
            .method(outer)
            .and_then(|name| line::inner_class(text, outer, name));
        if let Some(class) = class {
            method.nested = Some((outer.to_owned(), class.to_owned()));
        }
    }

    /// Leaves out failures that a failure's message made up, where there are more than the totals
    /// say. Returns whether their number agrees.
    fn believe(&mut self, name: &str, counts: Counts) -> bool {
        let failing = |methods: &[Method]| methods.iter().filter(|m| m.failing()).count() as u64;
        if counts.failing() == 0 {
            self.methods.retain(|method| !method.failing());
        }
        if failing(&self.methods) > counts.failing() {
            let root = name.split('$').next().unwrap_or_default();
            if self
                .methods
                .iter()
                .any(|method| is_within(&method.id, root))
            {
                self.methods.retain(|method| is_within(&method.id, root));
            }
        }
        failing(&self.methods) == counts.failing()
    }

    fn results(
        self,
        class: &str,
        counts: Counts,
        flaky: &HashSet<String>,
        flaky_seen: &mut HashSet<String>,
        mut record: impl FnMut(&str, &str, TestStatus),
    ) {
        // With `reportFormat=plain` every test is listed.
        let plain = self.methods.iter().any(|method| !method.failing());
        let mut failed = false;
        let mut named = false;
        let mut classes: HashSet<String> = self
            .methods
            .iter()
            .filter_map(|method| method.class().map(str::to_owned))
            .collect();
        for method in self.methods {
            let whole = method.id == class && counts.skipped >= counts.run;
            if method.status == TestStatus::Skipped && classes.contains(&method.id) && !whole {
                // Surefire 3 names a skipped test by its class alone.
                named = true;
                continue;
            }
            let mut name = method.id;
            let mut stable = name.clone();
            if let Some((outer, nested)) = method.nested
                && let Some(rest) = name.strip_prefix(outer.as_str())
            {
                name = format!("{nested}{rest}");
                if !plain {
                    stable.clone_from(&name);
                }
            }
            let mut status = method.status;
            if status.is_failing() && flaky.contains(&name) {
                flaky_seen.insert(name.clone());
                status = TestStatus::Passed;
            }
            failed |= status.is_failing();
            named = true;
            record(&name, &stable, status);
        }
        classes.clear();
        if plain && named || failed || counts.run == 0 && counts.failing() == 0 {
            return;
        }
        let status = if named {
            TestStatus::Passed
        } else {
            whole(counts)
        };
        record(class, class, status);
    }
}

/// The status of a class that stands for its tests.
fn whole(counts: Counts) -> TestStatus {
    if counts.failures > 0 {
        TestStatus::Failed
    } else if counts.errors > 0 {
        TestStatus::Error
    } else if counts.skipped >= counts.run {
        TestStatus::Skipped
    } else {
        TestStatus::Passed
    }
}
