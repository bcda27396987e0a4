//! For each kind of report: what is said of it first, its facts, its drawing, its tables.

use super::cells::said;
use super::charts::{counts, groups, outcomes, ranks, tally};
use atlas_report::BarChart;
use serde_json::Value;

/// The columns of a table: head, place in a row, and whether true there is good news. Or all that its rows have.
pub(super) enum Columns {
    Named(&'static [(&'static str, &'static str, bool)]),
    Found,
}

/// How a report is shown. Places are JSON pointers.
pub(crate) struct View {
    pub(super) title: &'static str,
    pub(super) said: fn(&Value) -> String,
    pub(super) tone: fn(&Value) -> Option<bool>,
    pub(super) facts: &'static [(&'static str, &'static str)],
    pub(super) chart: Option<fn(&Value) -> Option<BarChart>>,
    /// What its rows are, where they stand, their columns, whether it is folded.
    pub(super) tables: &'static [(&'static str, &'static str, Columns, bool)],
    /// Where rows for data frames stand that no table shows.
    rows: &'static str,
    /// Lists of texts, which are folded.
    pub(super) lists: &'static [(&'static str, &'static str)],
}

impl View {
    /// Where rows for data frames stand: those of the first table.
    pub(crate) fn rows(&self) -> &'static str {
        self.tables
            .first()
            .map_or(self.rows, |(_, place, ..)| place)
    }
}

/// The view of a class of reports; an empty one of any other.
pub(crate) fn of(class: &str) -> &'static View {
    let found = REPORTS.iter().find(|view| view.title == class);
    found.unwrap_or(&PLAIN)
}

static REPORTS: [View; 16] = [
    EVALUATION,
    REGRADE,
    VALIDATION,
    MAKE,
    CLASSIFICATION,
    LINT,
    AUDIT,
    ABSTENTION,
    REVIEW,
    CRITIC,
    JUDGE,
    ATTEMPTS,
    ANALYSIS,
    LEADERBOARD,
    CONVERSION,
    PARSER,
];

const PLAIN: View = View {
    title: "",
    said: |_| String::new(),
    tone: |_| None,
    facts: &[],
    chart: None,
    tables: &[],
    rows: "",
    lists: &[],
};

const FAULTS: (&str, &str, Columns, bool) =
    ("faults of the inputs", "/faults", Columns::Found, true);
const TEST_LISTS: &[(&str, &str)] = &[
    ("tests in FAIL_TO_PASS", "/FAIL_TO_PASS"),
    ("tests in PASS_TO_PASS", "/PASS_TO_PASS"),
    ("proof lines", "/evidence"),
    ("warnings", "/warnings"),
];

const EVALUATION: View = View {
    title: "EvalReport",
    said: |report| {
        let (resolved, all) = resolved(&report["verdicts"], "/resolved");
        format!("{resolved} of {all} predictions resolve their instance")
    },
    facts: &[
        ("run", "/run_id"),
        ("rules", "/mode"),
        ("seconds", "/ledger/seconds"),
    ],
    chart: Some(|report| Some(outcomes(&report["verdicts"], "/resolved", "/cause"))),
    tables: &[
        (
            "verdicts",
            "/verdicts",
            Columns::Named(&[
                ("instance", "/instance_id", false),
                ("model", "/model_name_or_path", false),
                ("resolved", "/resolved", true),
                ("cause", "/cause", false),
                ("why", "/reasons", false),
                ("FAIL_TO_PASS missed", "/FAIL_TO_PASS/failure", false),
                ("PASS_TO_PASS missed", "/PASS_TO_PASS/failure", false),
            ]),
            false,
        ),
        FAULTS,
    ],
    ..PLAIN
};

const REGRADE: View = View {
    title: "RegradeReport",
    said: |report| {
        let (resolved, all) = resolved(&report["instances"], "/verdict/resolved");
        format!("{resolved} of {all} predictions resolve their instance")
    },
    facts: &[("rules", "/mode")],
    chart: Some(|report| {
        Some(outcomes(
            &report["instances"],
            "/verdict/resolved",
            "/verdict/cause",
        ))
    }),
    tables: &[
        (
            "verdicts",
            "/instances",
            Columns::Named(&[
                ("instance", "/instance_id", false),
                ("model", "/model_name_or_path", false),
                ("resolved", "/verdict/resolved", true),
                ("cause", "/verdict/cause", false),
                ("why", "/verdict/reasons", false),
                ("log", "/log", false),
            ]),
            false,
        ),
        (
            "tests that the rules see differently",
            "/changes",
            Columns::Found,
            true,
        ),
        FAULTS,
    ],
    ..PLAIN
};

/// The verdict on one patch.
pub(crate) const VERDICT: View = View {
    title: "PatchVerdict",
    said: |verdict| {
        let solves = if is_true(&verdict["resolved"]) {
            "resolves"
        } else {
            "does not resolve"
        };
        let first = verdict.pointer("/reasons/0").map(said);
        let first = first.map(|first| format!(": {first}")).unwrap_or_default();
        format!("{solves} {}{first}", said(&verdict["instance_id"]))
    },
    tone: |verdict| verdict["resolved"].as_bool(),
    facts: &[
        ("cause", "/cause"),
        ("outcome", "/outcome"),
        ("resolution", "/resolution"),
        ("model", "/model_name_or_path"),
        ("rules", "/mode"),
    ],
    lists: &[
        ("reasons", "/reasons"),
        (
            "tests of FAIL_TO_PASS that do not pass",
            "/FAIL_TO_PASS/failure",
        ),
        ("tests of FAIL_TO_PASS that pass", "/FAIL_TO_PASS/success"),
        (
            "tests of PASS_TO_PASS that do not pass",
            "/PASS_TO_PASS/failure",
        ),
        ("tests of PASS_TO_PASS that pass", "/PASS_TO_PASS/success"),
        ("proof lines", "/evidence"),
        ("signs of meddling", "/tampering"),
        ("notes", "/notes"),
    ],
    ..PLAIN
};

const VALIDATION: View = View {
    title: "ValidateReport",
    said: |report| {
        format!(
            "{} of {} instances pass as they are",
            said(&report["accepted"]),
            said(&report["total"])
        )
    },
    facts: &[
        ("repaired", "/repaired"),
        ("need repair", "/needs_repair"),
        ("rejected", "/rejected"),
        ("no evidence", "/no_evidence"),
        ("errors", "/errors"),
        ("seconds", "/seconds"),
    ],
    chart: Some(|report| {
        Some(groups(
            "Instances that come to each gate, and those it lets through",
            &report["funnel"],
            "/gate",
            &[
                ("entered", "/entered"),
                ("accepted", "/accepted"),
                ("repaired", "/repaired"),
            ],
        ))
    }),
    tables: &[
        (
            "instances",
            "/instances",
            Columns::Named(&[
                ("instance", "/instance_id", false),
                ("decision", "/decision", false),
                ("reason", "/reason", false),
                ("seconds", "/seconds", false),
                ("error", "/error", false),
            ]),
            false,
        ),
        ("gates", "/funnel", Columns::Found, true),
        FAULTS,
    ],
    ..PLAIN
};

const MAKE: View = View {
    title: "MakeReport",
    said: |report| {
        format!(
            "{}: {}",
            said(&report["instance_id"]),
            said(&report["reason"])
        )
    },
    tone: |report| Some(report["outcome"] == "instance"),
    facts: &[
        ("outcome", "/outcome"),
        ("kind", "/kind"),
        ("engine", "/engine"),
        ("row", "/row"),
        ("artefacts", "/artefacts"),
    ],
    chart: Some(|report| {
        Some(counts(
            "Seconds by step",
            "seconds",
            &report["seconds"],
            " s",
        ))
    }),
    lists: TEST_LISTS,
    ..PLAIN
};

const CLASSIFICATION: View = View {
    title: "Classification",
    said: |found| said(&found["reason"]),
    tone: |found| Some(found["outcome"] == "instance"),
    facts: &[
        ("outcome", "/outcome"),
        ("kind", "/kind"),
        ("not run in Before", "/before_failure_extent"),
    ],
    chart: Some(|found| {
        Some(counts(
            "Tests by transition",
            "tests",
            &found["transition_counts"],
            "",
        ))
    }),
    tables: &[(
        "tests over the three states",
        "/transitions",
        Columns::Found,
        true,
    )],
    lists: TEST_LISTS,
    ..PLAIN
};

/// A log: of its tests `tests` has a table's rows.
pub(crate) const LOG: View = View {
    title: "ParsedLog",
    facts: &[
        ("parser", "/parser"),
        ("outcome", "/outcome"),
        ("totals agree", "/consistent"),
    ],
    chart: Some(|log| Some(counts("Tests by status", "tests", &log["statuses"], ""))),
    tables: &[
        (
            "modules that did not load",
            "/modules_not_loaded",
            Columns::Found,
            true,
        ),
        ("warnings", "/warnings", Columns::Found, true),
    ],
    lists: &[("tests that were running at the end", "/in_flight")],
    ..PLAIN
};

const FINDINGS: (&str, &str, Columns, bool) = (
    "findings",
    "/findings",
    Columns::Named(&[
        ("severity", "/severity", false),
        ("code", "/code", false),
        ("row", "/instance", false),
        ("column", "/field", false),
        ("line", "/line", false),
        ("what is wrong", "/message", false),
        ("way out", "/way_out", false),
    ]),
    false,
);

const LINT: View = View {
    title: "LintReport",
    said: |report| {
        format!(
            "{} findings in {} rows",
            length(&report["findings"]),
            said(&report["rows"])
        )
    },
    chart: Some(|report| {
        Some(tally(
            "Findings by code",
            "findings",
            &report["findings"],
            "/code",
        ))
    }),
    tables: &[FINDINGS, FAULTS],
    ..PLAIN
};

const AUDIT: View = View {
    title: "AuditReport",
    said: |report| {
        format!(
            "{} of {} rows have something wrong with them",
            said(&report["rows_with_findings"]),
            said(&report["rows"])
        )
    },
    ..LINT
};

/// What runs of judges have in common.
const JUDGING: View = View {
    said: |report| {
        let settled = report["known"].as_u64().unwrap_or(0) + report["done"].as_u64().unwrap_or(0);
        format!(
            "{settled} of {} items have a result",
            said(&report["items"])
        )
    },
    tone: |report| (length(&report["failed"]) > 0 || report["left"] != 0).then_some(false),
    facts: &[
        ("failed", "/failed"),
        ("left", "/left"),
        ("stopped", "/stopped"),
        ("calls", "/ledger/calls"),
        ("tokens", "/ledger/tokens"),
        ("money", "/ledger/money"),
        ("file", "/out"),
    ],
    chart: Some(|report| {
        Some(tally(
            "Results by label",
            "results",
            &report["results"],
            "/label",
        ))
    }),
    tables: RESULTS,
    ..PLAIN
};

const RESULTS: &[(&str, &str, Columns, bool)] = &[
    ("results", "/results", Columns::Found, false),
    ("failed items", "/failed", Columns::Found, true),
    FAULTS,
];

const ABSTENTION: View = View {
    title: "AbstainReport",
    ..JUDGING
};

const REVIEW: View = View {
    title: "ReviewReport",
    chart: Some(|report| {
        let steps = groups(
            "What each step leaves",
            &report["funnel"],
            "/step",
            &[("patches", "/patches"), ("tasks", "/bugs")],
        );
        Some(steps)
    }),
    tables: &[
        RESULTS_OPEN,
        ("steps of the funnel", "/funnel", Columns::Found, true),
        ("failed items", "/failed", Columns::Found, true),
        FAULTS,
    ],
    lists: &[("notes", "/notes")],
    ..JUDGING
};

const RESULTS_OPEN: (&str, &str, Columns, bool) = ("results", "/results", Columns::Found, false);

const CRITIC: View = View {
    title: "CriticReport",
    ..JUDGING
};

const JUDGE: View = View {
    title: "JudgeReport",
    ..JUDGING
};

const ATTEMPTS: View = View {
    title: "AttemptReport",
    ..JUDGING
};

const ANALYSIS: View = View {
    title: "Analysis",
    said: |found| {
        format!(
            "{} results on {} tasks",
            said(&found["lines"]),
            said(&found["instances"])
        )
    },
    rows: "/policies",
    lists: &[("notes", "/notes")],
    ..PLAIN
};

const LEADERBOARD: View = View {
    title: "Leaderboard",
    said: |board| {
        let table = &board["leaderboard"];
        format!(
            "{} models, {} instances",
            length(&table["rows"]),
            said(&table["instances"])
        )
    },
    facts: &[("k", "/leaderboard/k")],
    chart: Some(ranks),
    tables: &[(
        "models",
        "/leaderboard/rows",
        Columns::Named(&[
            ("rank", "/rank", false),
            ("model", "/model", false),
            ("pass@k", "/overall", false),
            ("from", "/interval/low", false),
            ("to", "/interval/high", false),
            ("without prediction", "/missing", false),
        ]),
        false,
    )],
    ..PLAIN
};

const CONVERSION: View = View {
    title: "Conversion",
    said: |report| format!("{} to {}", said(&report["from"]), said(&report["to"])),
    facts: &[("rows", "/rows"), ("losses", "/losses")],
    tables: &[("losses", "/losses", Columns::Found, false), FAULTS],
    ..PLAIN
};

const PARSER: View = View {
    title: "SynthParserReport",
    said: |report| said(&report["outcome"]),
    tone: |report| Some(report["outcome"] == "certified" || report["outcome"] == "known"),
    facts: &[
        ("known as", "/known"),
        ("decision", "/certificate/decision"),
        ("score", "/certificate/score"),
    ],
    tables: &[("answers of the model", "/attempts", Columns::Found, true)],
    lists: &[("reasons", "/certificate/reasons"), ("notes", "/notes")],
    ..PLAIN
};

fn is_true(value: &Value) -> bool {
    value == &Value::Bool(true)
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

pub(super) fn resolved(rows: &Value, pointer: &str) -> (usize, usize) {
    let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
    let resolved = rows
        .iter()
        .filter(|row| row.pointer(pointer).is_some_and(is_true));
    (resolved.count(), rows.len())
}
