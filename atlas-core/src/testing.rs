//! Conformance functions: what every implementation of a core trait must do, yours included.
//!
//! Behind the feature `testing`; call them from your own tests. They panic with a sentence.

use crate::{
    BuildFailureClass, Candidate, CodeHost, CompletionRequest, Decision, EnvSynthesizer,
    Environment, ErrorKind, ExitState, Job, JobUser, Judge, LanguageModel, Limits, LogParser,
    LogParserExt, Network, Oracle, OracleOutcome, OracleTask, Overlay, Repository, RunContext,
    RunOutcome, Sandbox, SourcedPullRequest, Step, Subject, SynthesisOutcome, Validator,
};
use std::collections::{BTreeMap, BTreeSet};

/// Checks a [`LogParser`] on a short sample of its own runner's output (quadratic in its length).
///
/// # Panics
/// When the contract is broken, with the parser's id.
pub fn log_parser_contract(parser: &dyn LogParser, sample: &[u8]) {
    let id = parser.id();
    assert!(
        !id.is_empty() && !id.contains(char::is_whitespace),
        "a parser's id is one word"
    );
    let whole = parser.parse(sample);
    assert_eq!(whole, parser.parse(sample), "{id} is not pure");
    assert_eq!(whole.parser, id, "{id} signs its logs with another name");
    let mut pieces = parser.start();
    for byte in sample {
        pieces.feed(std::slice::from_ref(byte));
    }
    assert_eq!(
        whole,
        pieces.finish(),
        "{id} depends on how the log is cut into pieces"
    );
    let step = (sample.len() / 512).max(1);
    for end in (0..sample.len()).step_by(step) {
        drop(parser.parse(&sample[..end]));
    }
    let mut qualified = BTreeSet::new();
    for result in &whole.results {
        assert!(
            qualified.insert(result.qualified),
            "{id}: qualified id twice: {result:?}"
        );
        assert!(
            !result.name.is_empty(),
            "{id}: a test without a name: {result:?}"
        );
    }
    for noise in [
        &b""[..],
        b"\n\n\n",
        b"\xff\xfe\x00\x1b[31m\r",
        b"all tests passed, honestly\n",
    ] {
        let log = parser.parse(noise);
        assert!(
            log.is_empty(),
            "{id} sees tests in {:?}",
            String::from_utf8_lossy(noise)
        );
        assert!(
            log.outcome != RunOutcome::Completed,
            "{id} takes {:?} for a completed run",
            String::from_utf8_lossy(noise)
        );
    }
}

fn job(label: &str, script: &str) -> Job {
    Job {
        label: label.to_owned(),
        overlay: Overlay::default(),
        files: Vec::new(),
        script: script.to_owned(),
        collect: vec!["made.txt".to_owned()],
        env: BTreeMap::new(),
        limits: Limits {
            seconds: 60,
            ..Limits::default()
        },
        network: Network::None,
        user: JobUser::default(),
    }
}

/// Checks a [`Sandbox`] in an environment whose repository root is writable.
///
/// # Panics
/// When the contract is broken.
pub async fn sandbox_contract(sandbox: &dyn Sandbox, environment: &Environment) {
    let cx = RunContext::new("conformance");
    let run = async |job: Job| {
        sandbox
            .run(&cx, environment, &job)
            .await
            .unwrap_or_else(|why| panic!("{}", why.chain()))
    };

    let first = run(job(
        "first",
        "printf 'out\\xff'; printf err >&2; echo kept > \"$ATLAS_OUT/made.txt\"; echo x > left-behind; exit 7",
    ))
    .await;
    assert_eq!(
        first.exit,
        ExitState::Exited { code: 7 },
        "the exit code is the script's"
    );
    assert!(
        first.output.windows(4).any(|w| w == b"out\xff"),
        "bytes stay bytes: {:?}",
        String::from_utf8_lossy(&first.output)
    );
    assert!(
        first.output.windows(3).any(|w| w == b"err"),
        "standard error is in the stream"
    );
    assert_eq!(
        first.files.get("made.txt").map(Vec::as_slice),
        Some(&b"kept\n"[..]),
        "collected files come back"
    );

    let second = run(job(
        "second",
        "test ! -e left-behind && test ! -e \"$ATLAS_OUT/made.txt\"",
    ))
    .await;
    assert_eq!(
        second.exit,
        ExitState::Exited { code: 0 },
        "each job starts fresh"
    );

    let named = "test \"$PWD\" -ef \"$ATLAS_REPO\" && test -d \"$ATLAS_ENV\" && test -d \"$ATLAS_CACHE\" && echo \"$GIVEN\"";
    let mut named = job("variables", named);
    let value = "in $ATLAS_REPO".to_owned();
    named.env.insert("GIVEN".to_owned(), value);
    let named = run(named).await;
    assert_eq!(
        named.exit,
        ExitState::Exited { code: 0 },
        "scripts start in `$ATLAS_REPO` and know `$ATLAS_ENV` and `$ATLAS_CACHE`"
    );
    assert!(
        named.output.starts_with(b"in /"),
        "values of variables may use them: {:?}",
        String::from_utf8_lossy(&named.output)
    );

    let mut overlaid = job(
        "overlay",
        "cat nested/new.txt; cat \"$ATLAS_IN/given\"; rm \"$ATLAS_IN/given\" && test -x run.sh",
    );
    overlaid.files.push(crate::JobFile {
        name: "given".to_owned(),
        bytes: b"given".to_vec(),
    });
    for (path, mode, bytes) in [
        ("nested/new.txt", crate::FileMode::Regular, &b"new"[..]),
        ("run.sh", crate::FileMode::Executable, &b"#!/bin/sh\n"[..]),
    ] {
        let content = crate::FileContent {
            mode,
            bytes: bytes.to_vec(),
        };
        overlaid.overlay.write.insert(path.to_owned(), content);
    }
    let overlaid = run(overlaid).await;
    assert_eq!(
        overlaid.exit,
        ExitState::Exited { code: 0 },
        "overlay modes are kept"
    );
    assert_eq!(
        overlaid.output, b"newgiven",
        "overlay and job files are laid out"
    );

    let mut slow = job("slow", "echo started; sleep 60 & sleep 60");
    slow.limits.seconds = 1;
    let slow = run(slow).await;
    assert_eq!(slow.exit, ExitState::TimedOut, "the time limit holds");
    assert!(
        slow.seconds < 30.0,
        "and is not waited out: {} s",
        slow.seconds
    );
    assert!(
        slow.output.starts_with(b"started"),
        "what was printed until then is kept"
    );

    let mut loud = job("loud", "head -c 3000000 /dev/zero | tr '\\0' x; exit 3");
    loud.limits.output_bytes = 1000;
    let loud = run(loud).await;
    assert_eq!(loud.output.len(), 1000, "output is cut at the limit");
    assert_eq!(loud.output_total, 3_000_000, "and drained to its end");
    assert_eq!(
        loud.exit,
        ExitState::Exited { code: 3 },
        "and the script still ends by itself"
    );

    let expected = job(
        "expected",
        "test ! -e left-behind && test \"$(<\"$ATLAS_IN/given\")\" = given; echo $?; echo x > left-behind",
    );
    let expected = Job {
        files: vec![crate::JobFile {
            name: "given".to_owned(),
            bytes: b"given".to_vec(),
        }],
        ..expected
    };
    sandbox.expect(&cx, environment, &expected).await;
    let never = job("never run", "exit 9");
    sandbox.expect(&cx, environment, &never).await;
    let meanwhile = run(job("meanwhile", "echo x > left-behind")).await;
    assert_eq!(meanwhile.exit, ExitState::Exited { code: 0 });
    for _ in 0..2 {
        let expected = run(expected.clone()).await;
        assert_eq!(
            expected.output, b"0\n",
            "an expected job runs as any other, and fresh each time"
        );
    }
    if let Err(why) = sandbox.settle().await {
        panic!("nothing is left of expected jobs: {}", why.chain());
    }

    let stopped = RunContext::new("conformance");
    stopped.cancel.cancel();
    let refused = sandbox
        .run(&stopped, environment, &job("cancelled", "true"))
        .await;
    assert_eq!(
        refused.expect_err("a cancelled run is an error").kind(),
        ErrorKind::Cancelled
    );
}

/// A command's parent keeps its time, and that one's parent is the session's shell.
const KILL_SHELL: &str = "read -r _ _ _ shell _ </proc/$PPID/stat; kill -9 \"$shell\"; sleep 1";

/// Checks the [`Session`](crate::Session)s of a [`Sandbox`] in an environment whose repository root is
/// writable and has this file. With `forks` they are forked, too.
///
/// # Panics
/// When the contract is broken.
pub async fn session_contract(
    sandbox: &dyn Sandbox,
    environment: &Environment,
    file: &str,
    forks: bool,
) {
    let cx = RunContext::new("conformance");
    let failed = |why: crate::Error| -> ! { panic!("{}", why.chain()) };
    let mut opening = job("session", "exit 1");
    opening.env.insert("GIVEN".to_owned(), "value".to_owned());
    let mut session = sandbox
        .open(&cx, environment, &opening)
        .await
        .unwrap_or_else(|why| failed(why));
    let unchanged = session.changed(&cx).await.unwrap_or_else(|why| failed(why));
    assert_eq!(
        unchanged,
        crate::Changed::default(),
        "nothing has changed yet"
    );

    let first = session
        .step(
            &cx,
            &Step::new(
                "cd /; GIVEN=other; printf 'out\\xff'; printf err >&2; (sleep 600 &); exit 7",
            ),
        )
        .await
        .unwrap_or_else(|why| failed(why));
    assert_eq!(
        first.exit,
        ExitState::Exited { code: 7 },
        "the exit code is the command's"
    );
    assert_eq!(
        first.output, b"out\xfferr",
        "bytes stay bytes, of both streams"
    );
    assert!(
        first.seconds < 30.0,
        "what goes on in the background is not waited for"
    );
    assert!(!first.is_over, "the session goes on");

    let run = async |session: &mut dyn crate::Session, command: &str| {
        let result = session.step(&cx, &Step::new(command)).await;
        let result = result.unwrap_or_else(|why| failed(why));
        (
            result.exit,
            String::from_utf8_lossy(&result.output).into_owned(),
        )
    };
    let second = run(
        &mut *session,
        &format!(
            "test -f {file} && echo \"$GIVEN\" && mkdir -p sub && echo new > sub/new.txt && rm {file} && \
             echo x > 'odd name' && chmod +x 'odd name' && ln -s sub/new.txt linked"
        ),
    )
    .await;
    assert_eq!(
        second,
        (ExitState::Exited { code: 0 }, "value\n".to_owned()),
        "each command starts in the repository with the job's variables"
    );
    let changed = session.changed(&cx).await.unwrap_or_else(|why| failed(why));
    for path in ["sub/new.txt", "odd name", "linked"] {
        let is_new = changed.written.contains(path) && changed.new.contains(path);
        assert!(is_new, "{path} is new: {changed:?}");
    }
    assert!(
        changed.removed.contains(file),
        "{file} is gone: {changed:?}"
    );
    let files = session
        .read(&cx, &changed.written)
        .await
        .unwrap_or_else(|why| failed(why));
    let modes: Vec<_> = ["sub/new.txt", "odd name", "linked"]
        .iter()
        .map(|path| {
            files
                .get(*path)
                .map(|file| (file.mode, file.bytes.as_slice()))
        })
        .collect();
    assert_eq!(
        modes,
        [
            Some((crate::FileMode::Regular, &b"new\n"[..])),
            Some((crate::FileMode::Executable, &b"x\n"[..])),
            Some((crate::FileMode::Symlink, &b"sub/new.txt"[..])),
        ],
        "files are read as they are"
    );
    let outside = session
        .read(&cx, &BTreeSet::from(["../in".to_owned()]))
        .await;
    assert_eq!(
        outside.map_err(|why| why.kind()).err(),
        Some(ErrorKind::InvalidInput),
        "nothing outside the repository is read"
    );

    let mut slow = Step::new("echo begun; sleep 60 & sleep 60");
    slow.seconds = 1;
    let slow = session
        .step(&cx, &slow)
        .await
        .unwrap_or_else(|why| failed(why));
    assert_eq!(
        slow.exit,
        ExitState::TimedOut,
        "a command's time limit holds"
    );
    assert_eq!(slow.output, b"begun\n", "and what it printed is kept");
    let mut loud = Step::new("head -c 3000000 /dev/zero | tr '\\0' x");
    loud.output_bytes = 1000;
    let loud = session
        .step(&cx, &loud)
        .await
        .unwrap_or_else(|why| failed(why));
    assert_eq!(
        (loud.output.len(), loud.output_total),
        (1000, 3_000_000),
        "output is cut and counted"
    );
    let long = format!("cat <<'END' | wc -c\n{}\nEND", "x".repeat(300_000));
    assert_eq!(
        run(&mut *session, &long).await.1.trim(),
        "300001",
        "commands may be long"
    );

    if forks {
        let mut fork = session.fork(&cx).await.unwrap_or_else(|why| failed(why));
        let seen = run(
            &mut *fork,
            &format!("cat sub/new.txt; test ! -e {file}; echo $?"),
        )
        .await;
        assert_eq!(
            seen.1, "new\n0\n",
            "a fork begins with the files as they are"
        );
        run(&mut *fork, "echo fork > sub/new.txt").await;
        assert_eq!(
            run(&mut *session, "cat sub/new.txt").await.1,
            "new\n",
            "and is no part of the first"
        );
        let changed = fork.changed(&cx).await.unwrap_or_else(|why| failed(why));
        let files = fork
            .read(&cx, &changed.written)
            .await
            .unwrap_or_else(|why| failed(why));
        assert_eq!(
            files.get("sub/new.txt").map(|file| file.bytes.as_slice()),
            Some(&b"fork\n"[..]),
            "what differs is read of a fork too"
        );
        fork.close().await.unwrap_or_else(|why| failed(why));
    }

    let over = session
        .step(&cx, &Step::new(KILL_SHELL))
        .await
        .unwrap_or_else(|why| failed(why));
    assert!(over.is_over, "a session whose shell is killed is over");
    let after = session.step(&cx, &Step::new("true")).await;
    assert_eq!(
        after.map_err(|why| why.kind()).err(),
        Some(ErrorKind::NotFound),
        "and runs nothing more"
    );
    let files = session
        .read(&cx, &BTreeSet::from(["sub/new.txt".to_owned()]))
        .await
        .unwrap_or_else(|why| failed(why));
    assert!(files.contains_key("sub/new.txt"), "but can still be read");
    session.close().await.unwrap_or_else(|why| failed(why));

    let mut second = sandbox
        .open(&cx, environment, &opening)
        .await
        .unwrap_or_else(|why| failed(why));
    let fresh = run(
        &mut *second,
        &format!("test -f {file} && test ! -e sub/new.txt; echo $?"),
    )
    .await;
    assert_eq!(fresh.1, "0\n", "each session starts fresh");
    second.close().await.unwrap_or_else(|why| failed(why));
}

/// Checks an [`EnvSynthesizer`]: a repository it can build, and one whose build must fail.
///
/// # Panics
/// When the contract is broken.
pub async fn env_synthesizer_contract(
    synthesizer: &dyn EnvSynthesizer,
    buildable: &Repository,
    broken: &Repository,
) {
    let cx = RunContext::new("conformance");
    match synthesizer.synthesize(&cx, buildable).await {
        Ok(SynthesisOutcome::Ready { environment }) => {
            assert!(
                !environment.plan.test_cmd.is_empty(),
                "an environment knows its test command"
            );
            assert!(
                !environment.dockerfile.is_empty(),
                "and how to build it again"
            );
            assert!(
                environment
                    .attempts
                    .last()
                    .is_some_and(|last| last.failure.is_none()),
                "the last attempt is the successful one"
            );
        }
        Ok(SynthesisOutcome::NotBuildable { reason, .. }) => panic!("not buildable: {reason}"),
        Err(why) => panic!("{}", why.chain()),
    }
    match synthesizer.synthesize(&cx, broken).await {
        Ok(SynthesisOutcome::NotBuildable { reason, .. }) => {
            assert!(!reason.is_empty(), "a verdict has a reason");
        }
        Ok(SynthesisOutcome::Ready { .. }) => panic!("a repository that cannot be built was built"),
        Err(why) => panic!(
            "a defect of the repository is a verdict, not an error: {}",
            why.chain()
        ),
    }
    let stopped = RunContext::new("conformance");
    stopped.cancel.cancel();
    let refused = synthesizer.synthesize(&stopped, buildable).await;
    assert_eq!(
        refused
            .expect_err("a cancelled synthesis is an error")
            .kind(),
        ErrorKind::Cancelled
    );
}

/// Checks an [`Oracle`] on a task with a known verdict.
///
/// # Panics
/// When the contract is broken.
pub async fn oracle_contract(
    oracle: &dyn Oracle,
    environment: &Environment,
    task: &OracleTask,
    expected: OracleOutcome,
) {
    let cx = RunContext::new("conformance");
    let report = oracle
        .judge(&cx, environment, task)
        .await
        .unwrap_or_else(|why| panic!("{}", why.chain()));
    assert_eq!(report.outcome, expected, "{}", report.reason);
    assert!(!report.reason.is_empty(), "a verdict has a reason");
    assert!(
        report.outcome != OracleOutcome::Instance || !report.fail_to_pass.is_empty(),
        "no instance without FAIL_TO_PASS"
    );
    let f2p: BTreeSet<_> = report.fail_to_pass.iter().collect();
    assert!(
        report.pass_to_pass.iter().all(|id| !f2p.contains(id)),
        "no test is in both lists"
    );
    for failure in &report.module_failures {
        assert!(
            failure.class == BuildFailureClass::Unknown || !failure.proof.is_empty(),
            "a class has proof lines: {failure:?}"
        );
    }
}

/// Checks a [`Judge`] on one subject and the set of labels it documents.
///
/// # Panics
/// When the contract is broken.
pub async fn judge_contract(judge: &dyn Judge, subject: &Subject, labels: &[&str]) {
    let cx = RunContext::new("conformance");
    assert!(!judge.id().is_empty(), "a judge has a name");
    let judgement = judge
        .judge(&cx, subject)
        .await
        .unwrap_or_else(|why| panic!("{}", why.chain()));
    assert!(
        labels.contains(&judgement.label.as_str()),
        "undocumented label {}",
        judgement.label
    );
    if let Some(value) = judgement.confidence.value {
        assert!(
            (0.0..=1.0).contains(&value),
            "confidence {value} is outside 0 to 1"
        );
    }
    assert_eq!(
        judgement.confidence.value.is_none(),
        judgement.confidence.source == crate::ConfidenceSource::Missing,
        "a confidence and its source go together"
    );
}

/// Checks a [`Validator`] on one candidate with a known decision.
///
/// # Panics
/// When the contract is broken.
pub async fn validator_contract(
    validator: &dyn Validator,
    candidate: &Candidate,
    expected: Decision,
) {
    let cx = RunContext::new("conformance");
    let verdict = validator
        .validate(&cx, candidate)
        .await
        .unwrap_or_else(|why| panic!("{}", why.chain()));
    assert_eq!(verdict.validator, validator.id(), "a verdict is signed");
    assert_eq!(verdict.decision, expected, "{:?}", verdict.findings);
    assert!(
        !matches!(verdict.decision, Decision::Reject | Decision::Repair)
            || !verdict.findings.is_empty(),
        "a refusal has a finding"
    );
}

/// Checks a [`LanguageModel`] with one small request.
///
/// # Panics
/// When the contract is broken.
pub async fn language_model_contract(model: &dyn LanguageModel, request: &CompletionRequest) {
    let cx = RunContext::new("conformance");
    assert!(!model.name().is_empty(), "a model has a name");
    let answer = model
        .complete(&cx, request)
        .await
        .unwrap_or_else(|why| panic!("{}", why.chain()));
    for token in answer.logprobs.iter().flatten() {
        assert!(
            token.logprob <= 1e-9,
            "a log-probability above 0: {token:?}"
        );
    }
    let stopped = RunContext::new("conformance");
    stopped.cancel.cancel();
    let refused = model.complete(&stopped, request).await;
    assert_eq!(
        refused.expect_err("a cancelled call is an error").kind(),
        ErrorKind::Cancelled
    );
}

/// Checks a [`CodeHost`] over all its pages and gives what they tell. Every page is asked twice.
///
/// # Panics
/// When the contract is broken.
pub async fn code_host_contract(host: &dyn CodeHost) -> Vec<SourcedPullRequest> {
    let cx = RunContext::new("conformance");
    let page = async |cursor: Option<&str>| {
        let page = host.page(&cx, cursor).await;
        page.unwrap_or_else(|why| panic!("{}", why.chain()))
    };
    assert!(!host.name().is_empty(), "a host has a name");
    let (mut cursor, mut cursors): (Option<String>, BTreeSet<String>) = (None, BTreeSet::new());
    let (mut told, mut heads) = (Vec::new(), BTreeSet::new());
    loop {
        let first = page(cursor.as_deref()).await;
        let mut again = page(cursor.as_deref()).await;
        again.requests = first.requests;
        assert_eq!(
            first, again,
            "{cursor:?} gives another page when asked again"
        );
        for pull_request in &first.pull_requests {
            let head = (pull_request.repo.clone(), pull_request.head.to_string());
            assert!(
                heads.insert(head),
                "{} comes twice",
                pull_request.instance_name()
            );
            let times = [
                &pull_request.created_at,
                &pull_request.first_commit_at,
                &pull_request.merged_at,
            ];
            for time in times.into_iter().flatten() {
                let utc = time.len() == 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T';
                assert!(utc, "`{time}` is no time as 2024-03-01T12:00:00Z");
            }
        }
        told.extend(first.pull_requests);
        let Some(next) = first.next else {
            return told;
        };
        assert!(!next.contains('\n'), "a cursor is one line");
        assert!(
            cursors.insert(next.clone()),
            "the cursor `{next}` comes twice"
        );
        cursor = Some(next);
    }
}
