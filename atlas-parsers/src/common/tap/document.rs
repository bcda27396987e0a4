//! The points of one TAP document, and which of them are real.
//!
//! Any program may print a line that looks like a point. Plan and numbers tell: a document whose
//! points are whole and in order without a line does not need that line.

use atlas_core::TestStatus;

/// A point as its line tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) number: Option<u64>,
    /// The title; empty where there is none.
    pub(crate) name: &'a str,
    /// What the reader wants back with it.
    pub(crate) group: &'a str,
    pub(crate) status: TestStatus,
}

/// A point out of order, kept until it is clear whether it belongs to the document.
#[derive(Clone, Debug)]
struct Held {
    number: Option<u64>,
    /// The number that a point without one has here.
    place: u64,
    name: String,
    group: String,
    status: TestStatus,
    /// Whether points in order followed.
    passed_by: bool,
}

/// Most points that are kept in doubt at a time.
const MAX_HELD: usize = 1 << 20;

/// One document that is being read.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    plan: Option<u64>,
    /// A plan besides the first: that of the next document, if its first point follows.
    next_plan: Option<u64>,
    /// The number that the next point in order bears.
    next: u64,
    held: Vec<Held>,
    /// How many of those kept last bear no number.
    bare: usize,
    /// The last point was another first one.
    restarted: bool,
    /// Whether the document announced itself.
    version: bool,
    /// Points whose number was there before.
    doubtful: u64,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            plan: None,
            next_plan: None,
            next: 1,
            held: Vec::new(),
            bare: 0,
            restarted: false,
            version: false,
            doubtful: 0,
        }
    }
}

/// How a document ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) plan: Option<u64>,
    /// Whether there was anything of a document.
    pub(crate) any: bool,
    /// Whether all that was planned is there.
    pub(crate) complete: bool,
    /// Whether points were left out, or could not be told from others.
    pub(crate) doubtful: bool,
}

impl Document {
    /// The plan, as far as it is known.
    pub(crate) fn plan(&self) -> Option<u64> {
        self.plan
    }

    /// How many points there are, those in doubt without a number included.
    pub(crate) fn points(&self) -> u64 {
        self.next - 1 + self.bare as u64
    }

    /// Whether anything was seen of it.
    pub(crate) fn any(&self) -> bool {
        self.version || self.plan.is_some() || self.next > 1 || !self.held.is_empty()
    }

    /// Whether it announced itself by its version.
    pub(crate) fn announced(&self) -> bool {
        self.version
    }

    /// The number of the point that comes next in order.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whether all points of a known plan were seen.
    pub(crate) fn complete(&self) -> bool {
        self.plan
            .is_some_and(|plan| self.next > plan || self.points() == plan)
    }

    /// Whether a point of this number is the one that comes next.
    pub(crate) fn expects(&self, number: Option<u64>) -> bool {
        !self.complete() && number.is_none_or(|n| n == self.next || n == self.points() + 1)
    }

    /// `TAP version 13`. Returns the document before it, if there was one.
    pub(crate) fn begin(&mut self, out: &mut impl FnMut(Seen<'_>)) -> Option<Ended> {
        let ended = self.any().then(|| self.end(out));
        self.version = true;
        ended
    }

    /// A plan, before the points or behind them. Returns the document before it, if it is
    /// another's.
    pub(crate) fn planned(&mut self, plan: u64, out: &mut impl FnMut(Seen<'_>)) -> Option<Ended> {
        if self.plan.is_none() {
            self.plan = Some(plan);
            return None;
        }
        if self.complete() {
            let ended = self.end(out);
            self.plan = Some(plan);
            return Some(ended);
        }
        self.next_plan = Some(plan);
        None
    }

    /// A point. Returns the document before it, if it is another's first.
    pub(crate) fn point(
        &mut self,
        seen: Seen<'_>,
        out: &mut impl FnMut(Seen<'_>),
    ) -> Option<Ended> {
        let mut ended = None;
        let restarted = std::mem::take(&mut self.restarted);
        let next_plan = self.next_plan.take();
        if seen.number == Some(1) && self.any() && self.points() > 0 {
            if self.complete() || next_plan.is_some() {
                let announced = self.version;
                ended = Some(self.end(out));
                self.plan = next_plan;
                // Whoever announces one document announces the next one, too.
                self.doubtful = u64::from(announced);
            } else if self.next > 1 {
                self.restarted = true;
                self.doubtful += 1;
                out(seen);
                return None;
            }
        } else if seen.number == Some(2) && restarted && self.next != 2 {
            // The first point that was no other's was that of another document.
            self.doubtful -= 1;
            ended = Some(self.end(out));
            self.next = 2;
        }
        let bare = self.bare as u64;
        match seen.number {
            Some(number) if bare > 0 && number == self.next + bare => {
                let from = self.held.len() - self.bare;
                for held in self.held.drain(from..) {
                    held.give(out);
                }
                self.accept(number, seen, out);
            }
            Some(number) if number == self.next => {
                self.held.truncate(self.held.len() - self.bare);
                self.accept(number, seen, out);
            }
            Some(number) if number < self.next => {
                self.doubtful += 1;
                out(seen);
            }
            _ => self.hold(seen),
        }
        ended
    }

    fn accept(&mut self, number: u64, seen: Seen<'_>, out: &mut impl FnMut(Seen<'_>)) {
        self.bare = 0;
        if let Some(last) = self.held.last_mut() {
            // Those before the last were passed by earlier or by the same point.
            last.passed_by = true;
        }
        self.next = number.saturating_add(1);
        out(seen);
    }

    fn hold(&mut self, seen: Seen<'_>) {
        if self.held.len() == MAX_HELD {
            return;
        }
        let place = self.points() + 1;
        self.bare = if seen.number.is_none() {
            self.bare + 1
        } else {
            0
        };
        self.held.push(Held {
            number: seen.number,
            place,
            name: seen.name.to_owned(),
            group: seen.group.to_owned(),
            status: seen.status,
            passed_by: false,
        });
    }

    /// Ends the document and begins another.
    pub(crate) fn end(&mut self, out: &mut impl FnMut(Seen<'_>)) -> Ended {
        let ended = std::mem::take(self);
        let mut held = ended.held;
        let in_order = ended.next - 1;
        let mut count = in_order;
        let mut complete = ended.plan.is_some_and(|plan| in_order >= plan);
        let mut left_out = false;
        // What follows a point that was passed by is told by its own mark.
        let mut passed_by = false;
        for point in held.iter_mut().rev() {
            passed_by |= point.passed_by;
            point.passed_by = passed_by;
        }
        if complete && ended.plan.is_some_and(|plan| plan > 0) {
            left_out = !held.is_empty();
            held.clear();
        }
        held.sort_by_key(|point| point.number.unwrap_or(point.place));
        let mut last = 0;
        for point in held {
            let believed = match (point.number, ended.plan) {
                (Some(number), Some(plan)) => {
                    number <= plan || in_order == 0 || last > 0 && number == last + 1
                }
                (Some(number), None) => number == count + 1 || !point.passed_by && in_order > 0,
                (None, Some(plan)) => in_order == 0 || count < plan,
                (None, None) => ended.version && in_order == 0,
            };
            if believed {
                count += 1;
                last = point.number.unwrap_or(0);
                point.give(out);
            } else {
                left_out = true;
            }
        }
        complete |= ended.plan.is_some_and(|plan| count >= plan);
        Ended {
            plan: ended.plan,
            any: ended.version || ended.plan.is_some() || count > 0,
            complete,
            doubtful: ended.doubtful > 0 || left_out && !complete,
        }
    }
}

impl Held {
    fn give(self, out: &mut impl FnMut(Seen<'_>)) {
        out(Seen {
            number: Some(self.number.unwrap_or(self.place)),
            name: &self.name,
            group: &self.group,
            status: self.status,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> (Vec<String>, Vec<bool>) {
        let mut document = Document::default();
        let mut names = Vec::new();
        let mut complete = Vec::new();
        let mut out = |seen: Seen<'_>| {
            names.push(format!("{}{}", seen.number.unwrap_or_default(), seen.name));
        };
        for word in lines.split(' ') {
            let ended = if let Some(plan) = word.strip_prefix("p") {
                document.planned(plan.parse().unwrap(), &mut out)
            } else if word == "v" {
                document.begin(&mut out)
            } else {
                let digits = word.trim_end_matches(char::is_alphabetic);
                document.point(
                    Seen {
                        number: digits.parse().ok(),
                        name: &word[digits.len()..],
                        group: "",
                        status: TestStatus::Passed,
                    },
                    &mut out,
                )
            };
            complete.extend(ended.map(|ended| ended.complete));
        }
        let ended = document.end(&mut out);
        if ended.any {
            complete.push(ended.complete);
        }
        (names, complete)
    }

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn numbers_beyond_a_whole_plan_are_output() {
        let (names, complete) = read("p3 1a 99x 2b 3c");
        assert_eq!((names, complete), (list(&["1a", "2b", "3c"]), vec![true]));
        let (names, _) = read("1a 3x 2b 3c p3");
        assert_eq!(names, list(&["1a", "2b", "3c"]));
        let (names, complete) = read("1a 2b 99x 3c");
        assert_eq!((names, complete), (list(&["1a", "2b", "3c"]), vec![false]));
    }

    #[test]
    fn points_without_numbers_fill_the_gap_they_leave() {
        assert_eq!(read("p4 1a b c 4d").0, list(&["1a", "2b", "3c", "4d"]));
        assert_eq!(read("p3 1a x 2b 3c").0, list(&["1a", "2b", "3c"]));
        assert_eq!(read("a b p2").0, list(&["1a", "2b"]));
        assert!(read("a b").0.is_empty());
        assert_eq!(read("v a b").0, list(&["1a", "2b"]));
    }

    #[test]
    fn points_may_come_in_another_order() {
        assert_eq!(read("p4 2b 1a 4d 3c").0.len(), 4);
        assert_eq!(read("2b 1a 3c").0.len(), 3);
    }

    #[test]
    fn documents_follow_one_another() {
        assert_eq!(read("p2 1a 2b p1 1c").1, vec![true, true]);
        assert_eq!(read("1a 2b p2 1c p1").1, vec![true, true]);
        assert_eq!(read("p3 1a p1 1c").1, vec![false, true]);
        assert_eq!(read("v p2 1a v p1 1c").1, vec![false, true]);
        assert_eq!(read("1a 2b 3c 1d 2e p2").1, vec![false, true]);
    }
}
