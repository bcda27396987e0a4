//! What a patch may do to a test run beside changing the code under test.
//!
//! A benchmark asks whether a patch solves a task, and lets a test runner answer. The patch and the
//! runner live in one tree, so a patch can also answer for itself: a `conftest.py` that turns
//! failures round, a `package.json` whose `test` script prints `ok`, a `json.py` that the runner
//! imports instead of the real one, a deleted test. Four things are offered against that:
//!
//! - [`guard`] takes back what steers the runner and is no solution, before anything runs. Each
//!   file it looks at closer gives a [`Signal`].
//! - [`suspicious_code`] reads the solution itself for what solutions seldom do. It only tells.
//! - [`canary`] adds a test that must pass and one that must fail to a test file. A run that shows
//!   anything else does not tell the truth, however it was made to.
//! - [`twins`] copies some of the instance's own tests and has the copies expect another value. Code
//!   gives one value for one call, so where a test passes and its twin does too, the value equals
//!   anything, was read from the test, or the outcome is not the test's own.
//!
//! The rule behind the rules: an honest solution must never be lost. Whole files are taken back
//! only where no solution lives in them; of manifests (`package.json`, `pyproject.toml`,
//! `CMakeLists.txt`, …) only the steering part, as text, so that a dependency added beside it stays
//! byte for byte. What the instance's own solution changes, a prediction may have to change, and
//! stays. In doubt a change stays and is told. So no prediction is safe because it gave no signals:
//! code under test runs in the runner's process and can do there what it likes; that is what the
//! canaries are for.
//!
//! The crate is pure: it reads no files and knows no clock. Whoever lays patches out gives it the
//! base commit's files through [`BaseFiles`].
//!
//! ```
//! use atlas_core::{FileContent, FileMode, Overlay, Patch};
//! use atlas_guard::{GuardInput, SignalAction, guard};
//! use std::collections::BTreeMap;
//!
//! let base = BTreeMap::from([
//!     ("shop/cart.py".to_owned(), b"def total(x):\n    return 0\n".to_vec()),
//!     ("tests/test_cart.py".to_owned(), b"def test_total():\n    pass\n".to_vec()),
//! ]);
//! let file = |text: &str| FileContent { mode: FileMode::Regular, bytes: text.into() };
//! let mut prediction = Overlay::default();
//! prediction.write.insert("shop/cart.py".into(), file("def total(x):\n    return sum(x)\n"));
//! prediction.write.insert("conftest.py".into(), file("import os\nos._exit(0)\n"));
//!
//! let (test_patch, gold_patch) = (Patch::default(), Patch::default());
//! let input = GuardInput {
//!     parser: "pytest",
//!     language: "python",
//!     test_cmd: "pytest -rA tests",
//!     rebuild: &[],
//!     base: &base,
//!     test_patch: &test_patch,
//!     gold_patch: &gold_patch,
//! };
//! let guarded = guard(&input, prediction);
//! assert!(guarded.overlay.write.contains_key("shop/cart.py"));
//! assert_eq!(guarded.signals[0].path, "conftest.py");
//! assert_eq!(guarded.signals[0].action, SignalAction::Removed);
//! ```

mod base;
mod signal;

mod guard;

mod change;
mod command;
mod family;
mod places;
mod rules;
mod sections;
mod text;
mod upstream;

mod code;

mod canary;

pub use base::BaseFiles;
pub use canary::{Canary, Twin, Twins, canary, twins};
pub use code::suspicious_code;
pub use guard::{GuardInput, Guarded, guard};
pub use signal::{Signal, SignalAction, SignalKind, SignalSeverity};
