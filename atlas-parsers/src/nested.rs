//! Runs inside one another: what a test prints may be a whole run of its own runner.
//!
//! A run that begins while another is open may have been printed by a test of that one, or the open
//! one died and the next command's run follows. The end of the open run decides: where it comes, all
//! that began inside it was output; where it never comes, each is a run, and the open one was cut.

/// The runs of a log that are not recorded yet, except the one that is being read.
#[derive(Clone, Debug)]
pub(crate) struct Nested<R> {
    /// Open runs, the outermost first.
    open: Vec<Open<R>>,
    /// What ended inside of the run that is being read.
    inside: Vec<R>,
}

#[derive(Clone, Debug)]
struct Open<R> {
    run: R,
    /// What ended inside of it so far.
    inside: Vec<R>,
}

impl<R> Default for Nested<R> {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            inside: Vec::new(),
        }
    }
}

impl<R: Default> Nested<R> {
    /// Whether the run that is being read began inside of another.
    pub(crate) fn is_inside(&self) -> bool {
        !self.open.is_empty()
    }

    /// Another run begins inside of the one that is being read.
    pub(crate) fn begin(&mut self, run: &mut R) {
        self.open.push(Open {
            run: std::mem::take(run),
            inside: std::mem::take(&mut self.inside),
        });
    }

    /// The run that is being read has ended: what began inside of it was output. Where it is itself
    /// inside of another, it is kept until that one ends, and that one goes on.
    pub(crate) fn end(&mut self, run: &mut R) {
        self.inside.clear();
        if let Some(open) = self.open.pop() {
            self.inside = open.inside;
            self.inside.push(std::mem::replace(run, open.run));
        }
    }

    /// The run around the one that is being read.
    pub(crate) fn around(&self) -> Option<&R> {
        self.open.last().map(|open| &open.run)
    }

    /// What is being read is no run: the one around it goes on.
    pub(crate) fn abandon(&mut self, run: &mut R) {
        if let Some(open) = self.open.pop() {
            *run = open.run;
            self.inside = open.inside;
        }
    }

    /// The run that ended last inside of the one that is being read.
    pub(crate) fn last_inside(&mut self) -> Option<&mut R> {
        self.inside.last_mut()
    }

    /// All runs, in the order of their begins: no more ends come.
    pub(crate) fn finish(&mut self, run: &mut R) -> Vec<R> {
        let inside = std::mem::take(&mut self.inside);
        let mut runs = Vec::new();
        for open in std::mem::take(&mut self.open) {
            runs.push(open.run);
            runs.extend(open.inside);
        }
        runs.push(std::mem::take(run));
        runs.extend(inside);
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::Nested;

    /// Reads `(name` as a begin and `)` as an end.
    fn read(log: &str) -> (Vec<String>, Vec<String>) {
        let (mut nested, mut run, mut done) = (Nested::default(), String::new(), Vec::new());
        for word in log.split(' ') {
            match word.strip_prefix('(') {
                Some(name) => {
                    if !run.is_empty() {
                        nested.begin(&mut run);
                    }
                    name.clone_into(&mut run);
                }
                None if nested.is_inside() => nested.end(&mut run),
                None => {
                    nested.end(&mut run);
                    done.push(std::mem::take(&mut run));
                }
            }
        }
        let mut rest = nested.finish(&mut run);
        rest.retain(|run| !run.is_empty());
        (done, rest)
    }

    #[test]
    fn the_end_of_a_run_decides_about_what_began_inside() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(read("(a ) (b )"), (names(&["a", "b"]), names(&[])));
        assert_eq!(read("(a (x ) (y (z ) ) ) (b )").0, names(&["a", "b"]));
        assert_eq!(read("(a (x ) (y )"), (names(&[]), names(&["a", "x", "y"])));
        assert_eq!(
            read("(a ) (b (x ) (y"),
            (names(&["a"]), names(&["b", "x", "y"]))
        );
    }
}
