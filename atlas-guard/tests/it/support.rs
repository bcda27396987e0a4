//! A prediction against a base commit, in a few words.

use atlas_core::{FileContent, FileMode, Overlay, Patch};
use atlas_guard::{GuardInput, Guarded, Signal, SignalAction, SignalKind, SignalSeverity, guard};
use std::collections::BTreeMap;

/// What is guarded, and against what.
#[derive(Clone, Default)]
pub(crate) struct Case {
    parser: &'static str,
    command: &'static str,
    pub(crate) base: BTreeMap<String, Vec<u8>>,
    gold: String,
    tests: String,
    pub(crate) prediction: Overlay,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) guarded: Guarded,
    prediction: Overlay,
}

pub(crate) fn file(bytes: impl Into<Vec<u8>>) -> FileContent {
    FileContent {
        mode: FileMode::Regular,
        bytes: bytes.into(),
    }
}

pub(crate) fn case(parser: &'static str, command: &'static str) -> Case {
    Case {
        parser,
        command,
        ..Case::default()
    }
}

impl Case {
    pub(crate) fn base(mut self, path: &str, text: &str) -> Self {
        self.base.insert(path.to_owned(), text.into());
        self
    }

    pub(crate) fn write(mut self, path: &str, text: &str) -> Self {
        self.prediction.write.insert(path.to_owned(), file(text));
        self
    }

    pub(crate) fn link(mut self, path: &str, target: &str) -> Self {
        let link = FileContent {
            mode: FileMode::Symlink,
            bytes: target.into(),
        };
        self.prediction.write.insert(path.to_owned(), link);
        self
    }

    pub(crate) fn remove(mut self, path: &str) -> Self {
        self.prediction.remove.insert(path.to_owned());
        self
    }

    pub(crate) fn gold(mut self, patch: &str) -> Self {
        self.gold.push_str(patch);
        self
    }

    pub(crate) fn tests(mut self, patch: &str) -> Self {
        self.tests.push_str(patch);
        self
    }

    pub(crate) fn run(self) -> Outcome {
        let (gold_patch, test_patch) = (Patch::new(self.gold), Patch::new(self.tests));
        let input = GuardInput {
            parser: self.parser,
            language: "",
            test_cmd: self.command,
            rebuild: &[],
            base: &self.base,
            test_patch: &test_patch,
            gold_patch: &gold_patch,
        };
        Outcome {
            guarded: guard(&input, self.prediction.clone()),
            prediction: self.prediction,
        }
    }
}

impl Outcome {
    #[track_caller]
    pub(crate) fn signal(&self, path: &str) -> &Signal {
        let found = self.guarded.signals.iter().find(|one| one.path == path);
        found.unwrap_or_else(|| panic!("no signal for {path}: {:?}", self.guarded.signals))
    }

    fn touches(&self, path: &str) -> bool {
        let overlay = &self.guarded.overlay;
        overlay.write.contains_key(path) || overlay.remove.contains(path)
    }

    /// The change to this file is gone, for this reason.
    #[track_caller]
    pub(crate) fn taken(&self, path: &str, kind: SignalKind) -> &Self {
        assert!(!self.touches(path), "{path} stays: {:?}", self.guarded);
        let signal = self.signal(path);
        assert_eq!(signal.kind, kind, "{signal:?}");
        assert!(
            matches!(
                signal.action,
                SignalAction::Restored | SignalAction::Removed
            ),
            "{signal:?}"
        );
        self
    }

    /// The change stays as it was, and nothing is told.
    #[track_caller]
    pub(crate) fn silent(&self, path: &str) -> &Self {
        self.stays(path);
        let signals = &self.guarded.signals;
        assert!(signals.iter().all(|one| one.path != path), "{signals:?}");
        self
    }

    /// The change stays and is told.
    #[track_caller]
    pub(crate) fn told(&self, path: &str, kind: SignalKind, severity: SignalSeverity) -> &Self {
        self.stays(path);
        let signal = self.signal(path);
        assert_eq!(
            (signal.kind, signal.action, signal.severity),
            (kind, SignalAction::Kept, severity),
            "{signal:?}"
        );
        self
    }

    #[track_caller]
    fn stays(&self, path: &str) {
        let (now, before) = (&self.guarded.overlay, &self.prediction);
        assert!(
            now.write.get(path).map(|file| &file.bytes)
                == before.write.get(path).map(|file| &file.bytes)
                && now.remove.contains(path) == before.remove.contains(path)
                && self.touches(path),
            "{path} does not stay: {:?}",
            self.guarded
        );
    }

    /// The file has this text now, and a section of it is told as restored.
    #[track_caller]
    pub(crate) fn rewritten(&self, path: &str, text: &str) -> &Self {
        let file = self.guarded.overlay.write.get(path);
        let file = file.unwrap_or_else(|| panic!("{path} is gone: {:?}", self.guarded.signals));
        assert_eq!(String::from_utf8_lossy(&file.bytes), text);
        assert_eq!(self.signal(path).action, SignalAction::SectionRestored);
        self
    }
}
