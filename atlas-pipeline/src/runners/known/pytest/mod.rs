//! pytest.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, file};
use crate::runners::order::Other;
use crate::runners::scope::{Operands, Scoping};

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["pytest"],
        place: |test| {
            file(
                test.name
                    .split_once("::")
                    .map_or(test.module, |(file, _)| file),
            )
        },
        spelling: Spelling::Lines,
        edits: &[
            Edit::File("atlas_only.py", include_str!("only.py")),
            Edit::Before(
                "export ATLAS_ONLY={} PYTHONPATH=\"$ATLAS_IN${PYTHONPATH:+:$PYTHONPATH}\" \
                     PYTEST_ADDOPTS=\"${PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }-p atlas_only\"",
            ),
        ],
    }],
    orders: &[Other {
        parsers: &["pytest"],
        what: "reverse",
        edits: &[
            Edit::File("atlas_order.py", include_str!("order.py")),
            Edit::Before(
                "export PYTHONPATH=\"$ATLAS_IN${PYTHONPATH:+:$PYTHONPATH}\" \
                     PYTEST_ADDOPTS=\"${PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }-p atlas_order\"",
            ),
        ],
    }],
    scopings: &[Scoping {
        parsers: &["pytest"],
        ends: &[".py"],
        place: |path| {
            let name = path.rsplit('/').next()?;
            (!["conftest.py", "__init__.py"].contains(&name)).then(|| path.to_owned())
        },
        // A file that a state does not have is an error for all of them.
        edits: &[Edit::Insert(
            r#"--junitxml="\$ATLAS_OUT/junit\.xml""#,
            " $(ls -d -- {} 2>/dev/null)",
        )],
        operands: Operands::Existing,
        ..Scoping::FILES
    }],
    ..Known::NOTHING
};
